package millrace_test

import (
	"context"
	"iter"
	"testing"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/milltest"
)

type keyed struct {
	K int64
	V float64
}

type counted struct{ K, N int64 }

// counting counts rows.
type counting struct{ n *millrace.ValueState[int64] }

func (c *counting) Init(h *millrace.StatefulProcessorHandle) (err error) {
	c.n, err = millrace.NewValueState[int64](h, "n")
	return err
}

func (c *counting) HandleInputRows(_ context.Context, key int64, rows iter.Seq[keyed], _ millrace.TimerValues, emit func(counted) error) error {
	n, _, err := c.n.Get()
	if err != nil {
		return err
	}
	for range rows {
		n++
	}
	if err := c.n.Update(n); err != nil {
		return err
	}
	return emit(counted{key, n})
}

// BenchmarkTransform counts 200,000 rows of 100,000 keys a batch, by a processor and, for comparison, by the engine's own count.
func BenchmarkTransform(b *testing.B) {
	const rows, keys = 200_000, 100_000
	count := map[string]func(df *millrace.DataFrame) *millrace.DataFrame{
		"processor": func(df *millrace.DataFrame) *millrace.DataFrame {
			return millrace.TransformWithState(df.GroupBy("k"), &counting{}, millrace.TransformOptions{})
		},
		"aggregate": func(df *millrace.DataFrame) *millrace.DataFrame {
			return df.GroupBy("k").Agg(f.Count("v").As("n"))
		},
	}
	batch := make([][]any, rows)
	for i := range batch {
		batch[i] = []any{int64(i * 7919 % keys), float64(i)}
	}
	for _, name := range []string{"processor", "aggregate"} {
		for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
			b.Run(name+"/"+provider, func(b *testing.B) {
				eng := milltest.New(b, milltest.StateProvider(provider))
				in := eng.Stream("k BIGINT, v DOUBLE")
				q := eng.Start(count[name](in.DataFrame()), milltest.Mode(millrace.Update))
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					in.Add(batch...)
					b.StartTimer()
					if err := q.Run().ProcessAllAvailable(eng.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
