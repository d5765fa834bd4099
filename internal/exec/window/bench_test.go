package window

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/vec"
)

const benchRows = 1 << 18

// benchOp runs one function over a thousand partitions, or one.
func benchOp(b *testing.B, parts int, f Func) {
	in := newTable(b, rand.New(rand.NewPCG(1, 1)), benchRows, parts, 1<<20, vec.BatchRows)
	op := &Op{In: in, Keep: 2, Partition: []int{partCol}, Order: []Key{{Col: keyCol, NullsFirst: true}}, Funcs: []Func{f}}
	t := task(2)
	b.ResetTimer()
	for b.Loop() {
		p, err := op.Parts(context.Background(), t)
		if err != nil {
			b.Fatal(err)
		}
		if err := exec.Gather(context.Background(), t, p, func(*vec.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkWindow(b *testing.B) {
	near, far := Frame{Rows: true, Lo: Bound{N: -3, Value: -1}, Hi: Bound{N: 3, Value: -1}}, Frame{Rows: true, Lo: Bound{N: -5000, Value: -1}, Hi: Bound{N: 5000, Value: -1}}
	soFar := Frame{Rows: true, Lo: start, Hi: current}
	keys := Frame{Lo: Bound{Value: keyLoCol, Key: keyCol}, Hi: Bound{Value: keyHiCol, Key: keyCol}}
	rank := func(k Kind) Func { return Func{Kind: k, Type: columns[valueCol], N: 4, Filter: -1} }
	for _, bm := range []struct {
		name string
		f    Func
	}{
		{"row_number", rank(RowNumber)},
		{"dense_rank", rank(DenseRank)},
		{"ntile", rank(NTile)},
		{"lag", Func{Kind: Shift, Type: columns[nameCol], Args: []int{nameCol}, N: -1}},
		{"lag ignore nulls", Func{Kind: Shift, Type: columns[valueCol], Args: []int{valueCol}, N: -1, IgnoreNulls: true}},
		{"nth_value", Func{Kind: Nth, Type: columns[valueCol], Args: []int{valueCol}, N: 2, Filter: -1, Frame: near}},
		{"sum of ints, far", aggregateFunc(b, "sum", far, valueCol)},
		{"sum of doubles, so far", aggregateFunc(b, "sum", soFar, amountCol)},
		{"sum of doubles, near", aggregateFunc(b, "sum", near, amountCol)},
		{"min of doubles, far", aggregateFunc(b, "min", far, amountCol)},
		{"max of strings, so far", aggregateFunc(b, "max", soFar, nameCol)},
		{"max of strings, far", aggregateFunc(b, "max", far, nameCol)},
		{"count of near keys", aggregateFunc(b, "count", keys, valueCol)},
	} {
		b.Run(bm.name+"/1", func(b *testing.B) { benchOp(b, 1, bm.f) })
		b.Run(bm.name+"/1000", func(b *testing.B) { benchOp(b, 1000, bm.f) })
	}
}
