package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace/millrace"
)

// Whatever is asked, the engine answers with rows or with an error that has a condition, and how the work is spread changes neither.
func TestEveryQuestionHasOneAnswer(t *testing.T) {
	ctx := t.Context()
	connectTo := func(address, partitions string) *millrace.Session {
		s, err := millrace.Connect(ctx, address, millrace.WithConf("spark.sql.shuffle.partitions", partitions))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	one, many := connectTo("local[1]", "1"), connectTo("local[3]", "5")
	r := rand.New(rand.NewPCG(7, 7))
	answered := 0
	for range 4 {
		for _, table := range []string{view(r, "t", 12), view(r, "u", 9)} {
			for _, s := range []*millrace.Session{one, many} {
				if _, err := s.SQL(ctx, table); err != nil {
					t.Fatal(err)
				}
			}
		}
		g := &generator{r: r}
		for i := range 30 {
			query := asQuery(g.expression("any", 3))
			if i%2 == 0 {
				query = g.query()
			}
			a := ask(ctx, one, query)
			if a.class == noCondition || strings.HasPrefix(a.class, "INTERNAL_ERROR") {
				t.Errorf("%s: %v", query, a.err)
				continue
			}
			if a.err == nil {
				answered++
				if diff := differ(a, ask(ctx, many, query)); diff != "" {
					t.Errorf("%s: one and several workers: %s", query, diff)
				}
			}
		}
	}
	if answered < 40 {
		t.Errorf("only %d questions of 120 have rows: the others say little", answered)
	}
}

// Spark answered the questions of testdata/*.jsonl as written there (-record). They are what differed once, and what is near to it.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s, err := connect(t.Context(), "local[2]")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for lines := json.NewDecoder(f); lines.More(); {
				var want recorded
				if err := lines.Decode(&want); err != nil {
					t.Fatal(err)
				}
				if want.Setup != "" {
					if _, err := s.SQL(t.Context(), want.Setup); err != nil {
						t.Fatal(err)
					}
					continue
				}
				a := ask(t.Context(), s, want.Query)
				if strings.HasPrefix(want.Class, numbered) && a.err != nil || reasonOf(want.Query, "", 1) != "" {
					continue
				}
				got := a.recorded(want.Query)
				if want.Place == "" {
					got.Place = "" // one that Spark does not tell is no loss
				}
				for k := range got.Params {
					if _, ok := want.Params[k]; !ok {
						delete(got.Params, k)
					}
				}
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("%s (-want +got): %v\n%s", want.Query, a.err, d)
				}
			}
		})
	}
}

// The same seed asks the same.
func TestSeedsSettleTheQuestions(t *testing.T) {
	ask := func() string {
		g := &generator{r: rand.New(rand.NewPCG(1, 2))}
		return view(g.r, "t", 5) + g.expression("any", 4).String() + g.query()
	}
	if a, b := ask(), ask(); a != b {
		t.Errorf("%s\nthen %s", a, b)
	}
}
