package stream

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// TestWorkersDoNotMatter: the same batches, byte for byte and in the same order, with 1, 2 and 5 workers.
func TestWorkersDoNotMatter(t *testing.T) {
	queries := []struct{ query, mode string }{
		{"SELECT window(ts, '10 minutes'), k, sum(v), collect_list(v), first(v), avg(v) FROM e GROUP BY window(ts, '10 minutes'), k", "append"},
		{"SELECT k, sum(v), collect_list(v) FROM e GROUP BY k", "update"},
		{"SELECT k, v FROM e WHERE v % 3 <> 0", "append"},
		{"dedup e k", "append"},
		{"SELECT k, v FROM e LIMIT 700", "append"},
		{"SELECT session_window(ts, '40 seconds'), k, collect_list(v), avg(v) FROM e GROUP BY session_window(ts, '40 seconds'), k", "append"},
	}
	for _, c := range queries {
		t.Run(c.query, func(t *testing.T) {
			var first string
			for _, workers := range []int{1, 2, 5} {
				w := newWorld(t)
				w.conf = streamtest.Conf{keyPartitions: "7"}
				w.rt = engine.New(engine.Runtime{FS: w.mem, Parallelism: workers})
				w.m = NewManager(w.rt, NewRegistry())
				s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
				s.PerBatch, s.Pieces = 1, 6
				r := rand.New(rand.NewPCG(1, 2))
				for unit := range 4 {
					var rows [][]any
					for range 500 {
						rows = append(rows, []any{fmt.Sprintf("%02d:%02d:%02d", 10+unit, r.IntN(60), r.IntN(60)), fmt.Sprintf("k%d", r.IntN(40)), int32(r.IntN(1000))})
					}
					s.Add(rows...)
				}
				w.views["e"] = marked(streamOf(s), "ts", "5m")
				q := w.run(w.query(c.query), c.mode)
				got := []string{}
				for _, id := range w.sink.Batches() {
					got = append(got, fmt.Sprintf("batch %d", id))
					got = append(got, w.sink.Ordered(id)...)
				}
				got = append(got, ran(q, func(int64) []string { return nil })...)
				text := strings.Join(got, "\n")
				if first == "" {
					first = text
					if strings.Count(text, "\n") < 20 {
						t.Fatalf("hardly any output: %s", text)
					}
				}
				if d := cmp.Diff(first, text); d != "" {
					t.Errorf("%d workers differ from 1: %s", workers, d)
				}
			}
		})
	}
}
