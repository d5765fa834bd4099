package window

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// table is an operator's input: (part INT, key INT, value INT, amount DOUBLE, name STRING, test BOOLEAN, keyLo INT, keyHi INT), where the
// last two are the order key two less and one more.
type table struct {
	rows    []types.Row
	batches []*vec.Batch
}

var columns = []types.DataType{
	types.Integer, types.Integer, types.Integer, types.Double, types.String, types.Boolean, types.Integer, types.Integer,
}

const (
	partCol = iota
	keyCol
	valueCol
	amountCol
	nameCol
	testCol
	keyLoCol
	keyHiCol
)

func (t *table) Types() []types.DataType { return columns }
func (t *table) Inputs() []exec.Op       { return nil }
func (t *table) Label() string           { return "table" }
func (t *table) Parts(context.Context, *exec.Task) (exec.Parts, error) {
	return exec.PartsOf(t.batches), nil
}

// newTable draws rows; every column but the first two has nulls.
func newTable(tb testing.TB, r *rand.Rand, n, parts, keys, batch int) *table {
	t := &table{}
	orNull := func(v any) any {
		if r.IntN(5) == 0 {
			return nil
		}
		return v
	}
	for range n {
		row := types.Row{
			int32(r.IntN(parts)), nil, orNull(int32(r.IntN(9) - 4)), orNull(float64(r.IntN(9)) / 8),
			orNull(fmt.Sprint("n", r.IntN(30))), orNull(r.IntN(2) == 0), nil, nil,
		}
		if r.IntN(6) > 0 {
			k := int32(r.IntN(keys))
			row[keyCol], row[keyLoCol], row[keyHiCol] = k, k-2, k+1
		}
		t.rows = append(t.rows, row)
	}
	for from := 0; from < n; from += batch {
		part := t.rows[from:min(n, from+batch)]
		b := vec.NewBatch(len(part))
		for c, dt := range columns {
			bld := vec.NewBuilder(dt)
			for _, row := range part {
				if err := bld.AppendValue(row[c]); err != nil {
					tb.Fatal(err)
				}
			}
			b.Cols = append(b.Cols, bld.Finish())
		}
		t.batches = append(t.batches, b)
	}
	return t
}

func task(workers int) *exec.Task {
	return &exec.Task{Workers: workers, Partitions: 3, Batch: &expr.BatchParams{Zone: time.UTC}}
}

func aggregateFunc(tb testing.TB, name string, frame Frame, cols ...int) Func {
	tb.Helper()
	b := &agg.Binding{Name: name, ANSI: true, Zone: time.UTC}
	for _, c := range cols {
		b.Args = append(b.Args, fn.Arg{Type: columns[c], Nullable: true, SQL: "x"})
	}
	f := agg.Lookup(name)
	bound, err := f.Bind(b)
	if err != nil {
		tb.Fatal(err)
	}
	return Func{Kind: Aggregate, Type: bound.Type, Agg: bound, Args: cols, Exact: ExactOf(f), Filter: -1, Frame: frame}
}

var (
	start      = Bound{Unbounded: true, Value: -1}
	current    = Bound{Value: -1}
	someFrames = map[string]Frame{
		"whole":             {Rows: true, Lo: start, Hi: start},
		"rows so far":       {Rows: true, Lo: start, Hi: current},
		"peers so far":      {Lo: start, Hi: current},
		"until 2 before":    {Rows: true, Lo: start, Hi: Bound{N: -2, Value: -1}},
		"until 1 more":      {Lo: start, Hi: Bound{Value: keyHiCol, Key: keyCol}},
		"around":            {Rows: true, Lo: Bound{N: -2, Value: -1}, Hi: Bound{N: 3, Value: -1}},
		"far around":        {Rows: true, Lo: Bound{N: -200, Value: -1}, Hi: Bound{N: 150, Value: -1}},
		"behind":            {Rows: true, Lo: Bound{N: 2, Value: -1}, Hi: Bound{N: 4, Value: -1}},
		"from here":         {Rows: true, Lo: current, Hi: start},
		"near keys":         {Lo: Bound{Value: keyLoCol, Key: keyCol}, Hi: Bound{Value: keyHiCol, Key: keyCol}},
		"from 2 less":       {Lo: Bound{Value: keyLoCol, Key: keyCol}, Hi: start},
		"peers":             {Lo: current, Hi: current},
		"2 less until here": {Lo: Bound{Value: keyLoCol, Key: keyCol}, Hi: current},
	}
)

// TestAggregates compares aggregates over all kinds of frames with the same aggregate over the rows of each frame.
func TestAggregates(t *testing.T) {
	calls := []struct {
		name string
		cols []int
	}{
		{"sum", []int{valueCol}},
		{"sum", []int{amountCol}},
		{"avg", []int{amountCol}},
		{"count", []int{valueCol, nameCol}},
		{"count_if", []int{testCol}},
		{"min", []int{nameCol}},
		{"max", []int{amountCol}},
		{"collect_list", []int{valueCol}},
		{"max_by", []int{nameCol, valueCol}},
		{"stddev", []int{amountCol}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []struct{ n, parts, keys int }{{0, 1, 1}, {1, 1, 1}, {30, 3, 4}, {90, 1, 20}} {
		in := newTable(t, r, size.n, size.parts, size.keys, 97)
		for name, frame := range someFrames {
			for _, c := range calls {
				for _, filtered := range []bool{false, true} {
					f := aggregateFunc(t, c.name, frame, c.cols...)
					if filtered {
						f.Filter = testCol
					}
					checkModel(t, fmt.Sprintf("%s(%v) %s filter=%t of %v", c.name, c.cols, name, filtered, size), in, f, r.IntN(2) == 0)
				}
			}
		}
	}
}

// TestTree makes frames of the nodes of the tree even where their rows would be added one by one.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	in := newTable(t, r, 5000, 1, 1000, 999)
	rows := newRows(&Op{Partition: []int{partCol}, Order: []Key{{Col: keyCol, NullsFirst: true}}}, in.batches)
	for _, c := range []int{nameCol, valueCol} {
		f := aggregateFunc(t, "collect_list", Frame{Rows: true, Lo: Bound{N: -40, Value: -1}, Hi: Bound{N: 33, Value: -1}}, c)
		a := newAggregate(task(1), rows, f)
		if !a.planted() {
			t.Fatal("no tree")
		}
		var fr frames
		for i := range 600 {
			lo := uint32(r.IntN(rows.n))
			fr.lo, fr.hi = append(fr.lo, lo), append(fr.hi, lo+uint32(r.IntN(min(rows.n-int(lo), 1+1<<(i%12)))))
		}
		got, want := a.climb(fr), a.add(fr)
		for i := range fr.lo {
			if d := cmp.Diff(vec.ValueAt(want, i), vec.ValueAt(got, i)); d != "" {
				t.Fatalf("rows %d to %d (-rows +tree):\n%s", fr.lo[i], fr.hi[i], d)
			}
		}
	}
}

// checkModel compares a function with what it gives over the rows of each frame by themselves.
func checkModel(t *testing.T, name string, in *table, f Func, desc bool) {
	t.Helper()
	order := []Key{{Col: keyCol, Desc: desc, NullsFirst: !desc}}
	if desc && (f.Frame.Lo.Value >= 0 || f.Frame.Hi.Value >= 0) {
		order[0] = Key{Col: keyCol, NullsFirst: true}
	}
	op := &Op{In: in, Keep: len(columns), Partition: []int{partCol}, Order: order, Funcs: []Func{f}}
	batches, err := exec.Collect(context.Background(), task(2), op)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(batches) == 0 {
		if len(in.rows) > 0 {
			t.Fatalf("%s: no rows", name)
		}
		return
	}
	all := vec.ConcatBatches(batches)
	if all.N != len(in.rows) {
		t.Fatalf("%s: %d rows, want %d", name, all.N, len(in.rows))
	}
	for i := range all.N {
		var rows []uint32
		for k := range all.N {
			if inFrame(all, i, k, f.Frame) && (f.Filter < 0 || vec.ValueAt(all.Cols[testCol], k) == true) {
				rows = append(rows, uint32(k))
			}
		}
		s := f.Agg.New()
		s.Grow(1)
		var args []*vec.Vector
		for _, c := range f.Args {
			args = append(args, vec.Take(all.Cols[c], rows, nil))
		}
		s.Update(&expr.Eval{}, make([]uint32, len(rows)), args)
		want := vec.ValueAt(s.Emit(&expr.Eval{}, []uint32{0}), 0)
		if d := cmp.Diff(want, vec.ValueAt(all.Cols[len(columns)], i)); d != "" {
			t.Fatalf("%s: row %d of %d, frame %v (-want +got):\n%s", name, i, all.N, rows, d)
		}
	}
}

// inFrame tells whether row k is in the frame of row i; rows are in order.
func inFrame(b *vec.Batch, i, k int, f Frame) bool {
	if !vec.Equal(b.Cols[partCol], i, b.Cols[partCol], k) {
		return false
	}
	within := func(e Bound, sign int) bool { // sign: 1 for the lower end
		switch {
		case e.Unbounded:
			return true
		case f.Rows:
			return sign*(k-(i+int(e.N))) >= 0
		case e.Value < 0 && vec.Equal(b.Cols[keyCol], i, b.Cols[keyCol], k):
			return true
		case e.Value < 0:
			return sign*(k-i) > 0
		}
		return sign*vec.Compare(b.Cols[keyCol], k, b.Cols[e.Value], i) >= 0
	}
	return within(f.Lo, 1) && within(f.Hi, -1)
}

// An overflow in the frame of one row is that row's error: the rows before it come out.
func TestErrorAtRow(t *testing.T) {
	b := vec.NewBuilder(types.Long)
	for _, x := range []int64{1, 2, 1 << 62, 1 << 62, -5} {
		b.AppendInt64(x)
	}
	v := b.Finish()
	bound, err := agg.Lookup("sum").Bind(&agg.Binding{Name: "sum", ANSI: true, Args: []fn.Arg{{Type: types.Long, SQL: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	f := Func{Kind: Aggregate, Type: types.Long, Agg: bound, Args: []int{0}, Exact: Sum, Filter: -1}
	for name, frame := range map[string]Frame{
		"so far": {Rows: true, Lo: start, Hi: current},
		"around": {Rows: true, Lo: Bound{N: -2, Value: -1}, Hi: current},
	} {
		f.Frame = frame
		op := &Op{In: values{v}, Keep: 1, Funcs: []Func{f}}
		p, err := op.Parts(t.Context(), task(1))
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Open(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Next(t.Context())
		if err != nil || out.Rows() != 3 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		if _, err := s.Next(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type values struct{ v *vec.Vector }

func (x values) Types() []types.DataType { return []types.DataType{x.v.Type()} }
func (x values) Inputs() []exec.Op       { return nil }
func (x values) Label() string           { return "values" }
func (x values) Parts(context.Context, *exec.Task) (exec.Parts, error) {
	return exec.PartsOf([]*vec.Batch{vec.NewBatch(x.v.Len(), x.v)}), nil
}

func TestBuckets(t *testing.T) {
	for _, tc := range []struct {
		size, n int64
		want    []int32
	}{
		{5, 2, []int32{1, 1, 1, 2, 2}}, {3, 5, []int32{1, 2, 3}}, {7, 3, []int32{1, 1, 1, 2, 2, 3, 3}}, {4, 1, []int32{1, 1, 1, 1}},
	} {
		var got []int32
		for i := range tc.size {
			got = append(got, bucket(i, tc.size, tc.n))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%d rows, %d buckets:\n%s", tc.size, tc.n, d)
		}
	}
}
