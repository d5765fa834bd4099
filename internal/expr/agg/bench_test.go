package agg

import (
	"strconv"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// BenchmarkUpdate adds one batch to a thousand groups.
func BenchmarkUpdate(b *testing.B) {
	const n = vec.BatchRows
	long, double, str, dec := vec.NewFixed(types.Long, n), vec.NewFixed(types.Double, n), vec.NewBuilder(types.String), vec.NewFixed(types.DecimalType{Precision: 12, Scale: 2}, n)
	groups := make([]uint32, n)
	for i := range groups {
		k := i * 7919 % 10007
		groups[i] = uint32(k % 1000)
		vec.Fixed[int64](long)[i], vec.Fixed[float64](double)[i], vec.Fixed[int64](dec)[i] = int64(k), float64(k)/3, int64(k)
		str.AppendString("value " + strconv.Itoa(k))
	}
	strs := str.Finish()
	bools := vec.NewFixed(types.Boolean, n)
	for _, c := range []struct {
		name string
		args []*vec.Vector
	}{
		{"count", nil},
		{"sum", []*vec.Vector{long}},
		{"sum", []*vec.Vector{double}},
		{"sum", []*vec.Vector{dec}},
		{"avg", []*vec.Vector{double}},
		{"min", []*vec.Vector{long}},
		{"max", []*vec.Vector{double}},
		{"max", []*vec.Vector{strs}},
		{"first", []*vec.Vector{long}},
		{"last", []*vec.Vector{strs}},
		{"max_by", []*vec.Vector{strs, long}},
		{"bool_or", []*vec.Vector{bools}},
		{"stddev", []*vec.Vector{double}},
		{"corr", []*vec.Vector{double, double}},
		{"approx_count_distinct", []*vec.Vector{long}},
	} {
		binding := &Binding{Name: c.name, ANSI: true, Zone: time.UTC}
		name := c.name
		for _, v := range c.args {
			name += " " + v.Type().SimpleString()
			binding.Args = append(binding.Args, fn.Arg{Type: v.Type(), Nullable: true, SQL: "x"})
		}
		bound, err := Lookup(c.name).Bind(binding)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := bound.New()
			s.Grow(1000)
			e := &expr.Eval{}
			for b.Loop() {
				s.Update(e, groups, c.args)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

// BenchmarkCollect collects lists that are dropped again and again, as windows are that close.
func BenchmarkCollect(b *testing.B) {
	const n = vec.BatchRows
	v := vec.NewFixed(types.Long, n)
	groups := make([]uint32, n)
	all := make([]uint32, 100)
	for i := range groups {
		groups[i] = uint32(i % len(all))
	}
	for i := range all {
		all[i] = uint32(i)
	}
	b.ReportAllocs()
	s := &lists{t: types.ArrayType{Element: types.Long}}
	s.Grow(len(all))
	for b.Loop() {
		s.Update(nil, groups, []*vec.Vector{v})
		s.Emit(nil, all)
		s.Clear(all)
	}
}

// BenchmarkCollectMany lists the values of very many groups, which come in small batches.
func BenchmarkCollectMany(b *testing.B) {
	const n, groups, batches = 128, 200_000, 4000
	bld := vec.NewBuilder(types.String)
	ids := make([]uint32, n)
	for i := range n {
		bld.AppendString("value " + strconv.Itoa(i))
	}
	v := bld.Finish()
	bound, err := Lookup("collect_list").Bind(&Binding{Name: "collect_list", Args: []fn.Arg{{Type: types.String, Nullable: true, SQL: "x"}}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := bound.New()
		s.Grow(groups)
		for k := range batches {
			for i := range ids {
				ids[i] = uint32((k*n + i) * 7919 % groups)
			}
			s.Update(&expr.Eval{}, ids, []*vec.Vector{v})
		}
		if out := s.Emit(&expr.Eval{}, ids); out.Len() != n {
			b.Fatal(out.Len())
		}
	}
	b.SetBytes(n * batches * 10)
}
