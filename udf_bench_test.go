package millrace_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/types"
)

const benchRows = 1 << 20

// BenchmarkUDF computes a sum over a million rows, with and without functions of the program in between.
func BenchmarkUDF(b *testing.B) {
	spark, err := millrace.Connect(b.Context(), "local[1]")
	if err != nil {
		b.Fatal(err)
	}
	defer spark.Close()
	inc := millrace.UDF1(func(n int) (int, error) { return n + 1, nil })
	maybe := millrace.UDF1(func(n *int) (*int, error) { return n, nil })
	vector := millrace.VectorUDF(func(args []arrow.Array) (arrow.Array, error) {
		out := array.NewInt64Builder(memory.DefaultAllocator)
		for _, x := range args[0].(*array.Int64).Int64Values() {
			out.Append(x + 1)
		}
		return out.NewArray(), nil
	}, types.Long, types.Long)
	length := millrace.UDF1(func(s string) (int, error) { return len(s), nil })
	for name, c := range map[string]millrace.Column{
		"builtin":  f.Sum(f.Col("id").Add(1)),
		"rows":     f.Sum(inc.Call("id")),
		"pointers": f.Sum(maybe.Call("id")),
		"vector":   f.Sum(vector.Call("id")),
		"text":     f.Sum(length.Call(f.Col("id").Cast(types.String))),
		"mean":     millrace.UDAF(mean{}).Call("id", f.Lit(1.0)),
	} {
		b.Run(name, func(b *testing.B) {
			df := spark.Range(0, benchRows, 1).Agg(c.As("s"))
			for b.Loop() {
				if _, err := df.Collect(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
