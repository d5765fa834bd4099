package expr_test

import (
	"testing"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// benchBatch has a long column of 0 to 999 and two booleans, each true for about half of the rows.
func benchBatch(nulls bool) *vec.Batch {
	longs := vec.NewFixed(types.Long, vec.BatchRows)
	bools := [2]*vec.Vector{vec.NewFixed(types.Boolean, vec.BatchRows), vec.NewFixed(types.Boolean, vec.BatchRows)}
	for i := range vec.BatchRows {
		h := vec.HashUint64(uint64(i))
		vec.Fixed[int64](longs)[i] = int64(h % 1000)
		vec.Fixed[uint8](bools[0])[i] = uint8(h >> 20 & 1)
		vec.Fixed[uint8](bools[1])[i] = uint8(h >> 21 & 1)
	}
	if nulls {
		for i := 0; i < vec.BatchRows; i += 9 {
			bools[0].MutableValidity().Clear(i)
		}
	}
	return vec.NewBatch(vec.BatchRows, longs, bools[0], bools[1])
}

func benchNode(b *testing.B, n expr.Node, in *vec.Batch) {
	b.Helper()
	e := &expr.Eval{}
	b.ReportAllocs()
	for b.Loop() {
		n.Eval(e, in)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.N), "ns/row")
}

func BenchmarkNodes(b *testing.B) {
	long, x, y := expr.NewColumn(0, types.Long), expr.NewColumn(1, types.Boolean), expr.NewColumn(2, types.Boolean)
	lit := func(n int64) expr.Node { return expr.NewLiteral(n, types.Long) }
	dense, nulls := benchBatch(false), benchBatch(true)
	b.Run("and", func(b *testing.B) { benchNode(b, expr.NewAnd(x, y), dense) })
	b.Run("and nulls", func(b *testing.B) { benchNode(b, expr.NewAnd(x, y), nulls) })
	b.Run("and lazy", func(b *testing.B) { benchNode(b, expr.NewAnd(x, &gathered{y}), dense) })
	b.Run("if literals", func(b *testing.B) { benchNode(b, expr.NewIf(x, lit(1), lit(2)), dense) })
	b.Run("if column", func(b *testing.B) { benchNode(b, expr.NewIf(x, long, lit(2)), dense) })
	b.Run("case of three", func(b *testing.B) {
		benchNode(b, expr.NewCase([]expr.Node{x, y}, []expr.Node{long, lit(1)}, long), nulls)
	})
}

// gathered passes its child on and does not say that it cannot fail.
type gathered struct{ child expr.Node }

func (g *gathered) Type() types.DataType  { return g.child.Type() }
func (g *gathered) Operands() []expr.Node { return []expr.Node{g.child} }

func (g *gathered) Eval(e *expr.Eval, in *vec.Batch) *vec.Vector { return g.child.Eval(e, in) }

func BenchmarkSelect(b *testing.B) {
	pred := expr.NewColumn(1, types.Boolean)
	for name, in := range map[string]*vec.Batch{"dense": benchBatch(false), "nulls": benchBatch(true)} {
		b.Run(name, func(b *testing.B) {
			e := &expr.Eval{}
			var sel []uint32
			for b.Loop() {
				sel = expr.SelectTrue(pred.Eval(e, in), sel[:0])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.N), "ns/row")
		})
	}
}
