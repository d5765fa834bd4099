package exec

import (
	"context"
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

const benchRows = 1 << 20

// benchInput are rows (key LONG of the given number of distinct values, name STRING, amount LONG) in four parts.
func benchInput(b *testing.B, distinct int) *lists {
	ts := []types.DataType{types.Long, types.String, types.Long}
	l := &lists{types: ts, parts: make([][]*vec.Batch, 4)}
	for at := 0; at < benchRows; at += vec.BatchRows {
		k, s, a := vec.NewBuilder(types.Long), vec.NewBuilder(types.String), vec.NewBuilder(types.Long)
		for i := at; i < at+vec.BatchRows; i++ {
			key := int64(uint64(i) * 0x9E3779B97F4A7C15 >> 20 % uint64(distinct))
			k.AppendInt64(key)
			s.AppendString(fmt.Sprintf("user-%d", key))
			a.AppendInt64(int64(i % 1000))
		}
		p := at / (benchRows / 4)
		l.parts[p] = append(l.parts[p], vec.NewBatch(vec.BatchRows, k.Finish(), s.Finish(), a.Finish()))
	}
	return l
}

func aggOf(b testing.TB, name string, args ...Expr) AggExpr {
	bd := &agg.Binding{Name: name, ANSI: true}
	for _, a := range args {
		bd.Args = append(bd.Args, fn.Arg{Type: a.Type, Nullable: true})
	}
	bound, err := agg.Lookup(name).Bind(bd)
	if err != nil {
		b.Fatal(err)
	}
	return AggExpr{Bound: bound, Args: args}
}

func runBench(b *testing.B, op Op) {
	t := task(2)
	for b.Loop() {
		p, err := op.Parts(context.Background(), t)
		if err != nil {
			b.Fatal(err)
		}
		if err := Gather(context.Background(), t, p, func(*vec.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkHashAgg(b *testing.B) {
	k, s, a := ColumnExpr(0, types.Long), ColumnExpr(1, types.String), ColumnExpr(2, types.Long)
	for _, distinct := range []int{1000, 100_000, 1_000_000} {
		in := benchInput(b, distinct)
		for name, key := range map[string]Expr{"long": k, "string": s} {
			b.Run(fmt.Sprintf("%s/%d", name, distinct), func(b *testing.B) {
				runBench(b, &HashAgg{In: in, Keys: []Expr{key}, Aggs: []AggExpr{aggOf(b, "sum", a), aggOf(b, "count", a)}})
			})
		}
	}
}

func BenchmarkSort(b *testing.B) {
	in := benchInput(b, 1_000_000)
	key := []SortKey{{Expr: ColumnExpr(0, types.Long)}}
	b.Run("long", func(b *testing.B) { runBench(b, &Sort{In: in, Keys: key, Limit: -1}) })
	b.Run("top100", func(b *testing.B) { runBench(b, &Sort{In: in, Keys: key, Limit: 100}) })
}

func BenchmarkJoin(b *testing.B) {
	in, small := benchInput(b, 100_000), benchInput(b, 1000)
	k := []Expr{ColumnExpr(0, types.Long)}
	build := &HashAgg{In: small, Keys: []Expr{k[0]}}
	runBench(b, &HashJoin{Probe: in, Build: build, ProbeKeys: k, BuildKeys: k, NullSafe: []bool{false}})
}

// BenchmarkSlidingWindows groups by ten windows that overlap and 1000 users: with a row for each window, and by pane.
func BenchmarkSlidingWindows(b *testing.B) {
	in := &lists{types: []types.DataType{types.Timestamp, types.Long, types.Long}, parts: make([][]*vec.Batch, 4)}
	for at := 0; at < benchRows; at += vec.BatchRows {
		ts, u, a := vec.NewBuilder(types.Timestamp), vec.NewBuilder(types.Long), vec.NewBuilder(types.Long)
		for i := at; i < at+vec.BatchRows; i++ {
			ts.AppendInt64(int64(i) * 3600) // about an hour
			u.AppendInt64(int64(uint64(i) * 0x9E3779B97F4A7C15 >> 20 % 1000))
			a.AppendInt64(int64(i % 1000))
		}
		p := at / (benchRows / 4)
		in.parts[p] = append(in.parts[p], vec.NewBatch(vec.BatchRows, ts.Finish(), u.Finish(), a.Finish()))
	}
	const slide, duration = 60_000_000, 600_000_000
	of := func(bound *fn.Bound) Expr {
		return Expr{Type: bound.Type, Uses: []int{0}, Column: -1, New: func() expr.Node {
			return fn.NewNode(bound, []expr.Node{expr.NewColumn(0, types.Timestamp)})
		}}
	}
	user, amount := ColumnExpr(1, types.Long), ColumnExpr(2, types.Long)
	aggs := []AggExpr{aggOf(b, "sum", amount), aggOf(b, "count", amount)}
	b.Run("copies", func(b *testing.B) {
		x := &Expand{In: in}
		for i := range 10 {
			x.Lists = append(x.Lists, []Expr{of(fn.BindWindow(types.Timestamp, duration, slide, 0, i)), user, amount})
		}
		runBench(b, &HashAgg{In: x, Keys: []Expr{ColumnExpr(0, fn.WindowType(types.Timestamp)), user}, Aggs: aggs})
	})
	b.Run("panes", func(b *testing.B) {
		h := &HashAgg{In: in, Keys: []Expr{{Type: fn.WindowType(types.Timestamp), Column: -1}, user}, Aggs: aggs}
		h.Panes = &Panes{Pane: of(fn.BindPane(types.Timestamp, slide, 0)), Duration: duration, Slide: slide}
		runBench(b, h)
	})
}
