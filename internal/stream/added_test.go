package stream

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// TestAddedAggregates restarts queries with other aggregates: new ones begin empty in groups that are there, others go on.
func TestAddedAggregates(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		t.Run(provider, func(t *testing.T) {
			w, s := simple(t)
			w.conf = w.conf.With(streamtest.Conf{keyProvider: provider})
			batch := int64(0)
			step := func(query string, want ...string) {
				t.Helper()
				s.Add(row("a", int(batch)+1), row("b", 10))
				w.m = NewManager(w.rt, NewRegistry())
				if d := cmp.Diff(want, func() []string { w.run(w.resolve(query), "update"); return w.sink.Rows(batch) }()); d != "" {
					t.Errorf("%s (-want +got)\n%s", query, d)
				}
				batch++
			}
			step("SELECT k, sum(v), count(*) FROM e GROUP BY k", "a 1 1", "b 10 1")
			w.conf = w.conf.With(streamtest.Conf{keyAllowAdded: "true"})
			step("SELECT k, max(v), count(*), avg(v), sum(v), collect_list(v) FROM e GROUP BY k", "a 2 2 2 3 [2]", "b 10 2 10 20 [10]")
			step("SELECT k, max(v), count(*), avg(v), sum(v), collect_list(v) FROM e GROUP BY k", "a 3 3 2.5 6 [2,3]", "b 10 3 10 30 [10,10]")
			step("SELECT k, sum(v), avg(v) FROM e GROUP BY k", "a 10 3", "b 40 10")
			w.conf = w.conf.With(streamtest.Conf{keyPartitions: "5", keyRepartition: "true"})
			step("SELECT k, avg(v), min(v) FROM e GROUP BY k", "a 3.5 5", "b 10 10") // both at once
			if err := w.failing(w.resolve("SELECT k, v % 2, avg(v), min(v) FROM e GROUP BY k, v % 2"), "update"); !errclass.Has(err, "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE") {
				t.Errorf("another key: %v", err)
			}
		})
	}
}

func TestAddedAggregatesOfSessions(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		w := newWorld(t)
		w.conf = w.conf.With(streamtest.Conf{keyProvider: provider, keyAllowAdded: "true"})
		s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
		w.views["e"] = marked(streamOf(s), "ts", "1m")
		run := func(query string) { w.m = NewManager(w.rt, NewRegistry()); w.run(w.resolve(query), "append") }
		s.Add([]any{"10:00", "a", int32(1)}, []any{"10:01", "b", int32(2)})
		run("SELECT session_window(ts, '5 minutes'), k, sum(v) FROM e GROUP BY session_window(ts, '5 minutes'), k")
		s.Add([]any{"10:04", "a", int32(3)}, []any{"10:30", "c", int32(2)})
		run("SELECT session_window(ts, '5 minutes'), k, max(v), sum(v) FROM e GROUP BY session_window(ts, '5 minutes'), k")
		if d := cmp.Diff([]string{"[10:00,10:09] a 3 4", "[10:01,10:06] b null 2"}, w.sink.All()); d != "" {
			t.Errorf("%s (-want +got)\n%s", provider, d)
		}
	}
}

// TestAddedAggregatesNotYet: a planned batch must end as it was planned.
func TestAddedAggregatesNotYet(t *testing.T) {
	w, s := simple(t)
	for range 2 {
		s.Add(row("a", 1))
		w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
	}
	if err := errors.Join(w.mem.Remove(checkpointDir+"/commits/1"), w.mem.SyncDir(checkpointDir+"/commits")); err != nil {
		t.Fatal(err)
	}
	w.revive()
	w.conf = w.conf.With(streamtest.Conf{keyAllowAdded: "true"})
	if err := w.failing(w.resolve("SELECT k, count(*), sum(v) FROM e GROUP BY k"), "update"); !errclass.Has(err, "STATE_STORE_ADDED_AGGREGATES_TOO_EARLY") {
		t.Errorf("got %v", err)
	}
	w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
	s.Add(row("a", 5))
	w.run(w.resolve("SELECT k, count(*), sum(v) FROM e GROUP BY k"), "update")
	if d := cmp.Diff([]string{"a 3 5"}, w.sink.Rows(2)); d != "" {
		t.Error(d)
	}
}

// TestAddedAggregatesCrash lets power fail on the way.
func TestAddedAggregatesCrash(t *testing.T) {
	const before, after = "SELECT k, sum(v) FROM a GROUP BY k", "SELECT k, sum(v), max(v) FROM a GROUP BY k"
	outcome := func(k int) (rows string, hit bool) {
		w := newWorld(t)
		w.feed("A")
		w.run(w.query(before), "update")
		w.closing()
		w.conf = w.conf.With(streamtest.Conf{keyAllowAdded: "true"})
		w.revive()
		if k > 0 {
			hit = w.crashing(after, "update", k)
			w.revive()
		}
		w.run(w.query(after), "update")
		return strings.Join(final(w.sink, "update"), "\n"), hit
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
}

// TestRefusalsSayWhatIsDifferent: which column or aggregate, of which operator, and the way out.
func TestRefusalsSayWhatIsDifferent(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1))
	w.run(w.resolve("SELECT k, sum(v), count(*) FROM e GROUP BY k"), "update")
	s.Add(row("a", 1))
	for query, want := range map[string]string{
		"SELECT v, sum(v), count(*) FROM e GROUP BY v":               "operator 0 (stateStoreSave) is now INT, but the checkpoint holds STRING: key column 1 was STRING and is INT",
		"SELECT k, v, sum(v), count(*) FROM e GROUP BY k, v":         "key column 2, INT, is new",
		"SELECT k, sum(v), count(*), max(v) FROM e GROUP BY k":       "max(s0.v) is new. Undo the change or use another checkpointLocation, or set spark.millrace.streaming.state.allowAddedAggregates=true",
		"SELECT k, max(v), count(*) FROM e GROUP BY k":               "max(s0.v) is new; sum(s0.v) is gone",
		"SELECT k, sum(v), count(v) FROM e GROUP BY k":               "count(s0.v) is new; count() is gone",
		"SELECT upper(k), sum(v), count(*) FROM e GROUP BY upper(k)": "would mix old and new results: it was \"group by s0.k\" and is \"group by ",
	} {
		if err := w.failing(w.resolve(query), "update"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n  got  %v\n  want …%s…", query, err, want)
		}
	}
}
