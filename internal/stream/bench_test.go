package stream

import (
	"context"
	"testing"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// BenchmarkSmallBatches measures batches of a few rows: what the driver, the logs and the state cost by themselves, without the waits
// for the disk.
func BenchmarkSmallBatches(b *testing.B) {
	for _, c := range []struct{ name, query, mode string }{
		{"stateless", "SELECT k, v FROM e", "append"},
		{"grouped", "SELECT k, sum(v) FROM e GROUP BY k", "update"},
		{"windowed", "SELECT window(ts, '10 minutes'), k, sum(v) FROM e GROUP BY window(ts, '10 minutes'), k", "append"},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newWorld(b)
			w.rt = engine.New(engine.Runtime{FS: fs.WithoutSync(fs.Local()), Parallelism: 2})
			w.m = NewManager(w.rt, NewRegistry())
			s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
			s.PerBatch = 1
			for range b.N {
				s.Add([]any{"10:01", "a", int32(1)}, []any{"10:02", "b", int32(2)})
			}
			w.views["e"] = marked(streamOf(s), "ts", "5m")
			r := w.request(w.query(c.query), c.mode, Trigger{Kind: AvailableNow})
			r.Options = map[string]string{"checkpointLocation": b.TempDir()}
			b.ReportAllocs()
			b.ResetTimer()
			q := w.start(r)
			if _, err := q.AwaitTermination(context.Background(), -1); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
		})
	}
}
