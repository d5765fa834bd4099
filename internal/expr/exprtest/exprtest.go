package exprtest

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// TB is what the runner needs of a test; *testing.T, *testing.B and *rapid.T have it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Result is what an expression gives for one row: a value by the conventions of package types, or an error.
type Result struct {
	Value any
	Err   error
}

// String shows a result in messages of tests.
func (r Result) String() string {
	if r.Err != nil {
		return "error " + r.Err.Error()
	}
	return fmt.Sprintf("%v (%T)", r.Value, r.Value)
}

// Runner holds what evaluations need besides rows; the zero Runner is in UTC at the start of 1970.
type Runner struct {
	Params expr.BatchParams
}

// Eval is Runner.Eval of the zero Runner.
func Eval(t TB, node expr.Node, ts []types.DataType, rows []types.Row) []Result {
	t.Helper()
	return (&Runner{}).Eval(t, node, ts, rows)
}

// Eval computes an expression over rows of columns of the given types, in every way, and returns the results. The node is used
// for all evaluations, one after the other.
func (r *Runner) Eval(t TB, node expr.Node, ts []types.DataType, rows []types.Row) []Result {
	t.Helper()
	want := make([]Result, len(rows))
	for i := range rows {
		want[i] = r.batch(t, node, vec.NewBatch(1, columns(t, ts, rows[i:i+1], flat)...))[0]
	}
	for _, size := range []int{3, max(1, len(rows))} {
		for _, layout := range []layout{flat, dict, mixed} {
			for from := 0; from < len(rows); from += size {
				part := rows[from:min(from+size, len(rows))]
				got := r.batch(t, node, vec.NewBatch(len(part), columns(t, ts, part, layout)...))
				r.compare(t, ts, part, want[from:from+len(part)], got, fmt.Sprintf("%d rows, %s columns", len(part), layout))
			}
		}
	}
	if len(rows) > 0 {
		got := r.selected(t, node, ts, rows)
		r.compare(t, ts, rows, want, got, "through a selection")
	}
	r.constants(t, node, ts, rows, want)
	if v := node.Eval(r.eval(), vec.NewBatch(0, columns(t, ts, nil, flat)...)); v.Len() != 0 {
		t.Fatalf("no rows gave %d", v.Len())
	}
	return want
}

// constants evaluates some rows with all columns constant, and each column constant beside others that are not.
func (r *Runner) constants(t TB, node expr.Node, ts []types.DataType, rows []types.Row, want []Result) {
	t.Helper()
	const n = 5
	for i := 0; i < len(rows); i += max(1, len(rows)/20) {
		cols := columns(t, ts, rows[i:i+1], flat)
		for c := range cols {
			cols[c] = vec.NewConst(cols[c], n)
		}
		got := r.batch(t, node, vec.NewBatch(n, cols...))
		for k := range got {
			r.compare(t, ts, rows[i:i+1], want[i:i+1], got[k:k+1], "constant columns")
		}
	}
	for c := 0; len(ts) > 1 && len(rows) > 0 && c < len(ts); c++ {
		value := rows[len(rows)/2][c]
		fixed := make([]types.Row, len(rows))
		want := make([]Result, len(rows))
		for i, row := range rows {
			fixed[i] = append(types.Row{}, row...)
			fixed[i][c] = value
			want[i] = r.batch(t, node, vec.NewBatch(1, columns(t, ts, fixed[i:i+1], flat)...))[0]
		}
		cols := columns(t, ts, fixed, flat)
		cols[c] = vec.NewConst(cols[c], len(rows))
		got := r.batch(t, node, vec.NewBatch(len(rows), cols...))
		r.compare(t, ts, fixed, want, got, fmt.Sprintf("column %d constant", c))
	}
}

func (r *Runner) eval() *expr.Eval {
	p := r.Params
	if p.Zone == nil {
		p.Zone = time.UTC
	}
	return &expr.Eval{Batch: &p}
}

// batch evaluates a dense batch.
func (r *Runner) batch(t TB, node expr.Node, b *vec.Batch) []Result {
	t.Helper()
	e := r.eval()
	return results(t, node, node.Eval(e, b), e, b.N)
}

// results turns what an evaluation left into one result for each row.
func results(t TB, node expr.Node, v *vec.Vector, e *expr.Eval, n int) []Result {
	t.Helper()
	if v.Len() != n {
		t.Fatalf("%d rows gave %d", n, v.Len())
	}
	if v.Phys() != vec.PhysNull && v.Phys() != vec.PhysOf(node.Type()) {
		t.Fatalf("the result has type %s, the node says %s", v.Type().SimpleString(), node.Type().SimpleString())
	}
	out := make([]Result, n)
	for _, err := range e.Errs.All() {
		if err.Row < 0 || err.Row >= n {
			t.Fatalf("an error for row %d of %d: %v", err.Row, n, err.Err)
		}
		if out[err.Row].Err == nil {
			out[err.Row].Err = err.Err
		}
	}
	for i := range out {
		if out[i].Err == nil {
			out[i].Value = vec.ValueAt(v, i)
		}
	}
	return out
}

// selected evaluates the rows among others, which a selection leaves out.
func (r *Runner) selected(t TB, node expr.Node, ts []types.DataType, rows []types.Row) []Result {
	t.Helper()
	var all []types.Row
	var sel []uint32
	for i, row := range rows {
		all = append(all, rows[(i+1)%len(rows)])
		sel = append(sel, uint32(len(all)))
		all = append(all, row)
	}
	b := vec.NewBatch(len(all), columns(t, ts, all, flat)...)
	b.Sel = sel
	e := r.eval()
	v := expr.EvalAll(e, []expr.Node{node}, b)[0]
	return results(t, node, v, e, len(sel))
}

func (r *Runner) compare(t TB, ts []types.DataType, rows []types.Row, want, got []Result, how string) {
	t.Helper()
	for i := range want {
		switch {
		case want[i].Err == nil && got[i].Err == nil && Same(want[i].Value, got[i].Value):
		case want[i].Err != nil && got[i].Err != nil && want[i].Err.Error() == got[i].Err.Error():
		default:
			names := make([]string, len(ts))
			for c, dt := range ts {
				names[c] = dt.SimpleString()
			}
			t.Fatalf("row %d, %v of %v: alone %v, with %s %v", i, rows[i], names, want[i], how, got[i])
		}
	}
}

// Same tells whether two values are equal; NaN is, and 0.0 and −0.0 are not.
func Same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || a != a && b != b)
	case float32:
		b, ok := b.(float32)
		return ok && (math.Float32bits(a) == math.Float32bits(b) || a != a && b != b)
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && sameList(a, b)
	case types.Row:
		b, ok := b.(types.Row)
		return ok && sameList(a, b)
	case types.MapValue:
		b, ok := b.(types.MapValue)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Same(a[i].Key, b[i].Key) || !Same(a[i].Value, b[i].Value) {
				return false
			}
		}
		return true
	case types.VariantValue:
		b, ok := b.(types.VariantValue)
		return ok && bytes.Equal(a.Value, b.Value) && bytes.Equal(a.Metadata, b.Metadata)
	}
	return a == b
}

func sameList[L ~[]any](a, b L) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Same(a[i], b[i]) {
			return false
		}
	}
	return true
}
