package stream

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// revive goes on with the files that a crash has left, as another process.
func (w *world) revive() {
	w.mem = w.mem.Crash(nil)
	w.rt = engine.New(engine.Runtime{FS: w.mem, Parallelism: 2})
	w.m = NewManager(w.rt, NewRegistry())
}

// crashing runs a query on a file system that stops at the k-th change. It tells whether it came to that.
func (w *world) crashing(query, mode string, k int) (hit bool) {
	w.t.Helper()
	cut := errfs.CrashAt(k)
	rt := engine.New(engine.Runtime{FS: errfs.Wrap(w.mem, cut), Parallelism: 2})
	m := NewManager(rt, NewRegistry())
	q, err := m.Start(context.Background(), w.request(w.query(query), mode, Trigger{Kind: AvailableNow}))
	if err == nil {
		_, err = q.AwaitTermination(context.Background(), -1)
	}
	if err == nil && cut.Hit() && w.conf[keyProvider] != "millrace.lsm" { // whose scratch may stay behind
		w.t.Fatalf("crash at %d: the query has ended well", k)
	}
	if err != nil && !cut.Hit() {
		w.t.Fatalf("before a crash at %d: %v", k, err)
	}
	return cut.Hit()
}

// crashQueries are run into a crash at every change of the file system.
var crashQueries = []struct{ name, feed, query, mode string }{
	{"append", "A", "SELECT window(ts, '10 minutes'), k, sum(v), count(*) FROM a GROUP BY window(ts, '10 minutes'), k", "append"},
	{"update", "A", "SELECT k, sum(v), collect_list(v) FROM a GROUP BY k", "update"},
	{"complete", "A", "SELECT k, sum(v) FROM a GROUP BY k ORDER BY k", "complete"},
	{"sessions", "A", "SELECT session_window(ts, '3 minutes'), k, collect_list(v) FROM a GROUP BY session_window(ts, '3 minutes'), k", "append"},
	{"all sessions", "A", "SELECT session_window(ts, '3 minutes'), k, sum(v) FROM a_bare GROUP BY session_window(ts, '3 minutes'), k", "complete"},
	{"dedup", "A", "dedup a k", "append"},
	{"dedup then count", "A", "dedup-agg a k ts", "append"},
	{"limit", "A", "SELECT k, v FROM a LIMIT 4", "append"},
	{"two inputs", "C", "SELECT window(ts, '10 minutes'), count(*) FROM (SELECT lt AS ts FROM l UNION ALL SELECT rt AS ts FROM r) GROUP BY window(ts, '10 minutes')", "append"},
	{"stateless", "A", "SELECT k, v + 1 FROM a WHERE v > 1", "append"},
}

// closing is a last unit for every source, which comes when the crash is over: after it all windows of before are final.
func (w *world) closing() {
	for _, s := range w.sources {
		s.Add([]any{"23:00", "end", int32(0)})
		s.Add([]any{"23:01", "end", int32(0)})
	}
}

// TestCrashEverywhere cuts a query off at every single change of the file system, goes on with what a power cut would have left, and
// wants the rows that a run without a crash gives: none lost, none twice, and batches that ran twice the same.
func TestCrashEverywhere(t *testing.T) {
	for _, c := range crashQueries {
		for _, kind := range []string{"once", "again", "hiding"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				outcome := func(k int) (rows string, hit bool) {
					w := newWorld(t)
					w.sink.Again, w.sink.Hides = kind == "again", kind == "hiding"
					w.feed(c.feed)
					if k > 0 {
						hit = w.crashing(c.query, c.mode, k)
						w.revive()
					}
					w.run(w.query(c.query), c.mode)
					w.closing()
					w.revive()
					w.run(w.query(c.query), c.mode)
					if d := w.sink.Differences(); len(d) > 0 {
						t.Fatalf("crash at %d: a batch that ran twice differs: %s", k, d[0])
					}
					return strings.Join(final(w.sink, c.mode), "\n"), hit
				}
				want, _ := outcome(0)
				for k := 1; ; k++ {
					got, hit := outcome(k)
					if d := cmp.Diff(want, got); d != "" {
						t.Fatalf("crash at %d (-without +with)\n%s", k, d)
					}
					if !hit {
						break
					}
				}
			})
		}
	}
}

// TestCrashesAtRandom cuts a query off several times, each time leaving what a disk may have made of the unsynced: names that are there
// or not, files that are cut off or full of zeros.
func TestCrashesAtRandom(t *testing.T) {
	want := map[string]string{}
	for _, c := range crashQueries {
		w := newWorld(t)
		w.feed(c.feed)
		w.run(w.query(c.query), c.mode)
		w.closing()
		w.revive()
		w.run(w.query(c.query), c.mode)
		want[c.name] = strings.Join(final(w.sink, c.mode), "\n")
	}
	rapid.Check(t, func(r *rapid.T) {
		c := rapid.SampledFrom(crashQueries).Draw(r, "query")
		w := newWorld(t)
		w.sink.Again = rapid.Bool().Draw(r, "again")
		w.sink.Hides = rapid.Bool().Draw(r, "hides")
		w.feed(c.feed)
		for range rapid.IntRange(1, 4).Draw(r, "crashes") {
			w.crashing(c.query, c.mode, rapid.IntRange(1, 120).Draw(r, "at"))
			w.mem = w.mem.Crash(func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "left") })
			w.revive()
		}
		w.run(w.query(c.query), c.mode)
		w.closing()
		w.revive()
		w.run(w.query(c.query), c.mode)
		if d := w.sink.Differences(); len(d) > 0 {
			r.Fatalf("a batch that ran twice differs: %s", d[0])
		}
		if d := cmp.Diff(want[c.name], strings.Join(final(w.sink, c.mode), "\n")); d != "" {
			r.Fatalf("%s (-without +with)\n%s", c.name, d)
		}
	})
}

// final is what must not depend on crashes: all rows, but for update the last version of each and for complete the last table.
func final(s *streamtest.Sink, mode string) []string {
	ids := s.Batches()
	switch mode {
	case "complete":
		return s.Ordered(ids[len(ids)-1])
	case "update":
		last := map[string]string{}
		for _, id := range ids {
			for _, r := range s.Ordered(id) {
				key, _, _ := strings.Cut(r, " ")
				last[key] = r
			}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(last)) {
			out = append(out, last[k])
		}
		return out
	}
	return s.All()
}
