package stream

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// providerQueries are those whose state is kept in every way there is.
var providerQueries = []struct{ query, mode string }{
	{"SELECT window(ts, '10 minutes'), k, sum(v), collect_list(v), first(v), avg(v) FROM e GROUP BY window(ts, '10 minutes'), k", "append"},
	{"SELECT window(ts, '10 minutes', '5 minutes'), k, sum(v), max(k), min(v) FROM e GROUP BY window(ts, '10 minutes', '5 minutes'), k", "update"},
	{"SELECT k, sum(v), collect_list(v) FROM e GROUP BY k", "update"},
	{"SELECT k, v % 50, count(*), avg(v) FROM e GROUP BY k, v % 50", "complete"},
	{"SELECT count(*), sum(v) FROM e", "update"},
	{"SELECT DISTINCT k, v % 3 FROM e", "update"},
	{"dedup e k", "append"},
	{"dedup e ts", "append"},
	{"SELECT k, v FROM e LIMIT 700", "append"},
	{"SELECT session_window(ts, '40 seconds'), k, collect_list(v), avg(v) FROM e GROUP BY session_window(ts, '40 seconds'), k", "append"},
	{"SELECT session_window(ts, '9 seconds'), count(*) FROM e GROUP BY session_window(ts, '9 seconds')", "complete"},
	{"SELECT e.k, e.v, f.v FROM e JOIN f ON e.k = f.k AND f.ts BETWEEN e.ts AND e.ts + INTERVAL 1 MINUTE", "append"},
	{"SELECT e.k, e.v, f.v FROM e LEFT JOIN f ON e.k = f.k AND e.v % 7 = f.v % 7 AND f.ts BETWEEN e.ts AND e.ts + INTERVAL 1 MINUTE", "append"},
	{"SELECT e.k, e.v, f.v FROM e FULL JOIN f ON e.k <=> f.k AND e.v > f.v AND f.ts BETWEEN e.ts AND e.ts + INTERVAL 30 SECONDS", "append"},
	{"SELECT e.k, e.v FROM e LEFT SEMI JOIN f ON e.k = f.k AND e.v = f.v AND f.ts BETWEEN e.ts AND e.ts + INTERVAL 5 MINUTES", "append"},
}

// TestProviderDoesNotMatter: the same batches, byte for byte and in the same order, with state in memory and with state in files,
// whether what a batch needs is still in memory or not.
func TestProviderDoesNotMatter(t *testing.T) {
	for _, c := range providerQueries {
		t.Run(c.query, func(t *testing.T) {
			want := providerRun(t, "millrace.mem", c.query, c.mode, false)
			if strings.Count(want, "\n") < 5 {
				t.Fatalf("hardly any output: %s", want)
			}
			if d := cmp.Diff(want, providerRun(t, "millrace.lsm", c.query, c.mode, false)); d != "" {
				t.Errorf("in files (-memory +files):\n%s", d)
			}
			want = providerRun(t, "millrace.mem", c.query, c.mode, true)
			if d := cmp.Diff(want, providerRun(t, "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider", c.query, c.mode, true)); d != "" {
				t.Errorf("in files, with restarts (-memory +files):\n%s", d)
			}
		})
	}
}

// providerRun runs a query over five units of data and returns all that it gives.
func providerRun(t *testing.T, provider, query, mode string, restart bool) string {
	w := newWorld(t)
	w.conf = streamtest.Conf{keyPartitions: "5", keyProvider: provider}
	r := rand.New(rand.NewPCG(1, 2))
	sources := map[string]*streamtest.Source{}
	for _, name := range []string{"e", "f"} {
		s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
		s.PerBatch = 1
		sources[name] = s
		w.views[name] = marked(streamOf(s), "ts", "2m")
	}
	var got []string
	run := func() {
		w.rt = engine.New(engine.Runtime{FS: w.mem, Parallelism: 2})
		w.m = NewManager(w.rt, NewRegistry())
		q := w.run(w.query(query), mode)
		got = append(got, ran(q, func(int64) []string { return nil })...)
	}
	for unit := range 5 {
		for _, name := range []string{"e", "f"} {
			var rows [][]any
			for range 300 {
				var k any = fmt.Sprintf("k%d", r.IntN(60))
				if r.IntN(20) == 0 {
					k = nil
				}
				rows = append(rows, []any{fmt.Sprintf("10:%02d:%02d", 5*unit+r.IntN(8), r.IntN(60)), k, int32(r.IntN(1000))})
			}
			sources[name].Add(rows...)
		}
		if restart {
			run()
		}
	}
	if !restart {
		run()
	}
	for _, id := range w.sink.Batches() {
		got = append(got, fmt.Sprintf("batch %d", id))
		got = append(got, w.sink.Ordered(id)...)
	}
	return strings.Join(got, "\n")
}

// The provider is that of the first batch, whatever a later session asks for.
func TestProviderStays(t *testing.T) {
	for _, c := range []struct{ first, then, logged string }{
		{"millrace.lsm", "millrace.mem", "millrace.lsm"}, {"", "millrace.lsm", "millrace.mem"}, {"millrace.lsm", "", "millrace.lsm"},
	} {
		w := newWorld(t)
		s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
		w.views["e"] = streamOf(s)
		for _, provider := range []string{c.first, c.then} {
			w.conf[keyProvider] = provider
			w.m = NewManager(w.rt, NewRegistry())
			s.Add([]any{"10:00", "a", int32(1)})
			w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
		}
		if d := cmp.Diff([]string{"a 1", "a 2"}, append(w.sink.Rows(0), w.sink.Rows(1)...)); d != "" {
			t.Error(d)
		}
		for name, content := range w.mem.Tree() {
			if strings.Contains(name, "offsets/") && !strings.Contains(content, `"`+c.logged+`"`) {
				t.Errorf("%s then %s: %s is %s", c.first, c.then, name, content)
			}
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	w := newWorld(t)
	s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
	w.views["e"] = streamOf(s)
	s.Add([]any{"10:00", "a", int32(1)})
	w.conf = w.conf.With(streamtest.Conf{keyProvider: "millrace.lsm", "spark.millrace.state.memoryLimit": "plenty"})
	if err := w.failing(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update"); !errclass.Has(err, "INVALID_CONF_VALUE") {
		t.Errorf("%v", err)
	}
}
