package fn_test

import (
	"testing"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func BenchmarkCall(b *testing.B) {
	x, y := vec.NewFixed(types.Integer, vec.BatchRows), vec.NewFixed(types.Integer, vec.BatchRows)
	nulls := vec.NewFixed(types.Integer, vec.BatchRows)
	for i := 0; i < vec.BatchRows; i += 9 {
		nulls.MutableValidity().Clear(i)
	}
	idx := make([]uint32, vec.BatchRows)
	dict := vec.NewDict(x.Slice(0, 100), idx, nil)
	in := vec.NewBatch(vec.BatchRows, x, y, nulls, dict)
	for _, c := range []struct {
		name string
		node expr.Node
	}{
		{"two columns", call(add, intColumn(0), intColumn(1))},
		{"two columns nulls", call(add, intColumn(0), intColumn(2))},
		{"column and literal", call(add, intColumn(0), expr.NewLiteral(int32(1), types.Integer))},
		{"literals", call(add, expr.NewLiteral(int32(1), types.Integer), expr.NewLiteral(int32(1), types.Integer))},
		{"dictionary", call(second, expr.NewLiteral(int32(1), types.Integer), intColumn(3))},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := &expr.Eval{}
			b.ReportAllocs()
			for b.Loop() {
				c.node.Eval(e, in)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.N), "ns/row")
		})
	}
}
