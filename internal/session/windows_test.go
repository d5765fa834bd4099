package session_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// TestWindows compares queries with window functions, most of them drawn at random, with the answers of Apache Spark 4.2.0 in
// testdata/windows.jsonl (made by record_windows.py).
func TestWindows(t *testing.T) {
	f, err := os.Open("testdata/windows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newShell(t)
	ask := func(query string) ([]types.Row, error) {
		r, err := s.SQL(context.Background(), query, nil, nil)
		if err != nil {
			return nil, err
		}
		rows, _, err := s.Rows(context.Background(), r.Plan)
		return rows, err
	}
	if _, err := ask("SET TIME ZONE 'UTC'"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			Views        []string
			Query        string
			Rows         []string
			Class, State string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		for _, v := range c.Views {
			if _, err := ask(v); err != nil {
				t.Fatal(err)
			}
		}
		if c.Query == "" {
			continue
		}
		rows, err := ask("SELECT to_json(struct(*), map('ignoreNullFields', 'false')) j FROM (" + c.Query + ")")
		if err != nil || c.Class != "" {
			got := errclass.Error{}
			if err != nil {
				got = *errclass.Internal(err)
			}
			if got.Class != c.Class || got.SQLState != c.State {
				t.Errorf("%s:\ngot %v, want %s (%s)", c.Query, err, c.Class, c.State)
			}
			continue
		}
		got := make([]string, len(rows))
		for i, r := range rows {
			got[i] = r[0].(string)
		}
		slices.Sort(got)
		if d := cmp.Diff(c.Rows, got); d != "" && len(c.Rows)+len(got) > 0 {
			t.Errorf("%s (-Spark +got):\n%s", c.Query, d)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
