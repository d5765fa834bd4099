package stream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// TestRepartition restarts queries with other numbers of partitions than their state has: the rows of every batch stay the same.
func TestRepartition(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		for _, c := range providerQueries {
			t.Run(provider+" "+c.query, func(t *testing.T) {
				want := repartitionRun(t, provider, c.query, c.mode, copyRows, []int{5, 5, 5, 5, 5, 5})
				for _, rows := range []int64{copyRows, 20} { // in one file, in several
					got := repartitionRun(t, provider, c.query, c.mode, rows, []int{5, 3, 1, 1, 40, 2})
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("%d rows a file (-always 5 +changing)\n%s", rows, d)
					}
				}
			})
		}
	}
}

func repartitionRun(t *testing.T, provider, query, mode string, rowsPerFile int64, partitions []int) string {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	sources := map[string]*streamtest.Source{}
	for _, name := range []string{"e", "f"} {
		s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
		s.PerBatch = 1
		sources[name] = s
		w.views[name] = marked(streamOf(s), "ts", "2m")
	}
	for unit, n := range partitions {
		for _, name := range []string{"e", "f"} {
			var rows [][]any
			for range 200 {
				var k any = fmt.Sprintf("k%d", r.IntN(60))
				if r.IntN(20) == 0 {
					k = nil
				}
				rows = append(rows, []any{fmt.Sprintf("10:%02d:%02d", 5*unit+r.IntN(8), r.IntN(60)), k, int32(r.IntN(1000))})
			}
			sources[name].Add(rows...)
		}
		w.conf = streamtest.Conf{keyPartitions: strconv.Itoa(n), keyProvider: provider, keyRepartition: "true"}
		w.rt = engine.New(engine.Runtime{FS: w.mem, Parallelism: 2})
		w.m = NewManager(w.rt, NewRegistry())
		w.m.copyRows = rowsPerFile
		q := w.run(w.query(query), mode)
		if got := q.LastProgress().StateOperators[0].NumShufflePartitions; got != int64(n) {
			t.Errorf("%d partitions, want %d", got, n)
		}
	}
	var got []string
	for _, id := range w.sink.Batches() {
		got = append(got, fmt.Sprintf("batch %d", id))
		got = append(got, w.sink.Rows(id)...)
	}
	return strings.Join(got, "\n")
}

// TestRepartitionWithoutBeingAsked: the number stays that of the checkpoint, as in Spark.
func TestRepartitionWithoutBeingAsked(t *testing.T) {
	w, s := simple(t)
	partitions := func(conf streamtest.Conf) int64 {
		t.Helper()
		w.conf = conf
		s.Add(row("a", 1))
		return w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update").LastProgress().StateOperators[0].NumShufflePartitions
	}
	for i, c := range []struct {
		conf streamtest.Conf
		want int64
	}{
		{streamtest.Conf{keyPartitions: "2"}, 2},
		{streamtest.Conf{keyPartitions: "3"}, 2},
		{streamtest.Conf{keyRepartition: "true"}, 2},
		{streamtest.Conf{keyRepartition: "true", keyPartitions: "3"}, 3},
		{streamtest.Conf{keyPartitions: "2"}, 3},
	} {
		if got := partitions(c.conf); got != c.want {
			t.Errorf("run %d has %d partitions, want %d", i, got, c.want)
		}
	}
	ck := w.look()
	ops, err := ck.Operators()
	if err != nil || ops[0].Stores[0].NumPartitions != 3 {
		t.Errorf("operators: %v %v", ops, err)
	}
	if err := ck.RequestRepartition(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the request is met and forgotten
		if got := partitions(streamtest.Conf{}); got != 7 {
			t.Errorf("asked for 7 partitions, got %d", got)
		}
	}
	if _, err := w.mem.Stat(checkpointDir + "/state/_repartition"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the request is still there: %v", err)
	}
	if d := cmp.Diff([]string{"a 7"}, w.sink.Rows(6)); d != "" {
		t.Error(d)
	}
}

// look opens the checkpoint for looking.
func (w *world) look() *checkpoint.Checkpoint {
	w.t.Helper()
	ck, err := checkpoint.Open(w.t.Context(), w.mem, checkpointDir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return ck
}

// TestRepartitionCrash lets power fail at every change of the file system while a restart deals the state out anew. Whatever is left
// goes on, with the old number or the new one.
func TestRepartitionCrash(t *testing.T) {
	const query = "SELECT k, sum(v), collect_list(v) FROM a GROUP BY k"
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		t.Run(provider, func(t *testing.T) {
			step := 3
			if provider == "millrace.lsm" {
				step = 11 // most changes are those of its scratch
			}
			outcome := func(k int, after string) (rows string, hit bool) {
				w := newWorld(t)
				w.conf = w.conf.With(streamtest.Conf{keyProvider: provider})
				w.feed("A")
				w.run(w.query(query), "update")
				w.closing()
				before := w.conf
				w.conf = w.conf.With(streamtest.Conf{keyPartitions: "3", keyRepartition: "true"})
				w.revive()
				if k > 0 {
					hit = w.crashing(query, "update", k)
					w.revive()
					if after == "old" {
						w.conf = before
					}
				}
				w.run(w.query(query), "update")
				w.closing()
				w.revive()
				w.run(w.query(query), "update")
				if d := w.sink.Differences(); len(d) > 0 {
					t.Fatalf("crash at %d: a batch that ran twice differs: %s", k, d[0])
				}
				return strings.Join(final(w.sink, "update"), "\n"), hit
			}
			want, _ := outcome(0, "new")
			for _, after := range []string{"new", "old"} {
				for k := 1; ; k += step {
					got, hit := outcome(k, after)
					if d := cmp.Diff(want, got); d != "" {
						t.Fatalf("crash at %d, then %s (-without +with)\n%s", k, after, d)
					}
					if !hit {
						break
					}
				}
			}
		})
	}
}

// TestRepartitionOfPlannedBatch: a batch that was planned before the restart runs as it was planned, and the state moves after it.
func TestRepartitionOfPlannedBatch(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1))
	const query = "SELECT k, count(*) FROM e GROUP BY k"
	w.run(w.query(query), "update")
	if err := errors.Join(w.mem.Remove(checkpointDir+"/commits/0"), w.mem.SyncDir(checkpointDir+"/commits")); err != nil {
		t.Fatal(err)
	}
	w.revive()
	w.conf = streamtest.Conf{keyPartitions: "5", keyRepartition: "true"}
	s.Add(row("a", 1))
	q := w.run(w.query(query), "update")
	var got []int64
	for _, p := range q.RecentProgress() {
		if len(p.StateOperators) > 0 {
			got = append(got, p.StateOperators[0].NumShufflePartitions)
		}
	}
	if d := cmp.Diff([]int64{2, 5}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a 2"}, w.sink.Rows(1)); d != "" {
		t.Error(d)
	}
}

// TestOldGenerationsGo: what the state was before is kept as long as batches that need it, and no longer.
func TestOldGenerationsGo(t *testing.T) {
	w, s := simple(t)
	s.PerBatch = 1
	w.conf = streamtest.Conf{keyPartitions: "2", "spark.sql.streaming.minBatchesToRetain": "3", keyRepartition: "true"}
	run := func(n string, batches int) {
		for range batches {
			s.Add(row("a", 1))
		}
		w.conf = w.conf.With(streamtest.Conf{keyPartitions: n})
		w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
	}
	folders := func() string {
		out := map[string]bool{}
		for name := range w.mem.Tree() {
			if _, rest, ok := strings.Cut(name, "/state/"); ok && !strings.Contains(rest, "_metadata") {
				top, _, _ := strings.Cut(rest, "/")
				out[top] = true
			}
		}
		return fmt.Sprint(out)
	}
	run("2", 2)
	run("3", 1)
	if d := cmp.Diff("map[0:true from-2:true]", folders()); d != "" {
		t.Error(d)
	}
	run("4", 6)
	if d := cmp.Diff("map[from-3:true]", folders()); d != "" {
		t.Error(d)
	}
}

func TestRepartitionRequestDamaged(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1))
	w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
	if err := fs.WriteOnce(t.Context(), w.mem, checkpointDir+"/state/_repartition", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if err := w.failing(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update"); !errclass.Has(err, "STREAMING_CHECKPOINT_CORRUPT_FILE") {
		t.Error(err)
	}
}
