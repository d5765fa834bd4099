package fn_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/exprtest"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/vec/valuetest"
	"github.com/millrace/millrace/types"
)

var (
	errNegative = errors.New("negative sum")
	errOdd      = errors.New("odd")
)

// Kernels made for the tests of the call node.
var (
	// add sees flat arguments, garbage behind nulls too, and fails for sums below zero.
	add = &fn.Bound{Type: types.Integer, CanFail: true, New: func() fn.Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, y, dst := vec.Fixed[int32](args[0])[:n], vec.Fixed[int32](args[1])[:n], vec.Fixed[int32](out)
			for i := range dst {
				if dst[i] = x[i] + y[i]; dst[i] < 0 {
					e.Errs.Add(i, errNegative)
				}
			}
			return out
		}
	}}
	// twice repeats a string, and gives null for "b". It leaves spans of null rows as they are.
	twice = &fn.Bound{Type: types.String, New: func() fn.Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			buf, spans := out.Buffer(), out.ResetBytes(n, nil)
			for i := range n {
				if args[0].IsNull(i) {
					continue
				}
				s := args[0].BytesAt(i)
				if string(s) == "b" {
					out.MutableValidity().Clear(i)
					continue
				}
				at := len(buf)
				buf = append(append(buf, s...), s...)
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
			}
			out.SetBuffer(buf)
			return out
		}
	}}
	// second returns its second argument as it is.
	second = &fn.Bound{Type: types.Integer, TakesConst: true, New: func() fn.Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector { return args[1] }
	}}
	// isNull looks at nulls itself.
	isNull = &fn.Bound{Type: types.Boolean, NullsAreArgs: true, TakesConst: true, New: func() fn.Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[uint8](out)
			for i := range dst {
				dst[i] = 0
				if args[0].IsNull(i) {
					dst[i] = 1
				}
			}
			return out
		}
	}}
	// even fails for odd numbers.
	even = &fn.Bound{Type: types.Integer, CanFail: true, TakesConst: true, New: func() fn.Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			for i := range n {
				if !args[0].IsNull(i) && vec.At[int32](args[0], i)&1 != 0 {
					e.Errs.Add(i, errOdd)
				}
			}
			return args[0]
		}
	}}
)

func call(b *fn.Bound, args ...expr.Node) expr.Node { return fn.NewNode(b, args) }

func intColumn(i int) expr.Node { return expr.NewColumn(i, types.Integer) }

func drawInts(t *rapid.T) []types.Row {
	rows := make([]types.Row, rapid.SampledFrom([]int{1, 5, 70}).Draw(t, "n"))
	for i := range rows {
		rows[i] = types.Row{valuetest.Value(t, types.Integer, true), valuetest.Value(t, types.Integer, true)}
	}
	return rows
}

var twoInts = []types.DataType{types.Integer, types.Integer}

// evenModel is what even gives for a value.
func evenModel(x any, err error) (any, error) {
	if err == nil && x != nil && x.(int32)&1 != 0 {
		return nil, errOdd
	}
	return x, err
}

func TestCallsStopAtTheFirstNull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawInts(t)
		node := call(add, call(even, intColumn(0)), call(even, intColumn(1)))
		got := exprtest.Eval(t, node, twoInts, rows)
		for i, row := range rows {
			x, err := evenModel(row[0], nil)
			if err == nil && x != nil {
				var y any
				if y, err = evenModel(row[1], nil); err == nil && y == nil {
					x = nil
				} else if err == nil {
					if x = x.(int32) + y.(int32); x.(int32) < 0 {
						err = errNegative
					}
				}
			}
			if !errors.Is(got[i].Err, err) || err == nil && got[i].Value != x {
				t.Fatalf("%v: got %v, want %v, %v", row, got[i], x, err)
			}
		}
	})
}

func TestCallResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawInts(t)
		for i, g := range exprtest.Eval(t, call(second, intColumn(0), intColumn(1)), twoInts, rows) {
			want := rows[i][1]
			if rows[i][0] == nil {
				want = nil
			}
			if g.Value != want {
				t.Fatalf("second of %v is %v", rows[i], g)
			}
		}
		for i, g := range exprtest.Eval(t, call(isNull, intColumn(0)), twoInts, rows) {
			if g.Value != (rows[i][0] == nil) {
				t.Fatalf("isnull of %v is %v", rows[i], g)
			}
		}
		texts := []types.DataType{types.String}
		for i := range rows {
			rows[i] = types.Row{valuetest.Value(t, types.String, true)}
		}
		nested := call(isNull, call(twice, call(twice, expr.NewColumn(0, types.String))))
		exprtest.Eval(t, nested, texts, rows)
		for i, g := range exprtest.Eval(t, call(twice, expr.NewColumn(0, types.String)), texts, rows) {
			var want any
			if s, ok := rows[i][0].(string); ok && s != "b" {
				want = s + s
			}
			if g.Value != want {
				t.Fatalf("twice %v is %v", rows[i], g)
			}
		}
	})
}

func TestConstantCallsAreComputedOnce(t *testing.T) {
	calls := 0
	counting := &fn.Bound{Type: types.Long, TakesConst: true, New: func() fn.Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			calls += n
			out.ResetFixed(n)
			return out
		}
	}}
	node := call(counting, expr.NewLiteral(int32(1), types.Integer))
	v := node.Eval(&expr.Eval{}, vec.NewBatch(4096))
	if calls != 1 || v.Encoding() != vec.Const || v.Len() != 4096 {
		t.Errorf("%d rows were computed", calls)
	}
	calls = 0
	base, err := vec.FromValues(types.Integer, int32(1), int32(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	idx := make([]uint32, 100)
	node = call(counting, intColumn(0))
	if v := node.Eval(&expr.Eval{}, vec.NewBatch(100, vec.NewDict(base, idx, nil))); calls != 3 || v.Encoding() != vec.Dict {
		t.Errorf("%d rows were computed for a dictionary of 3", calls)
	}
	calls = 0
	counting.Nondeterministic = true
	node = call(counting, expr.NewLiteral(int32(1), types.Integer))
	if node.Eval(&expr.Eval{}, vec.NewBatch(10)); calls != 10 {
		t.Errorf("%d rows of a nondeterministic call were computed", calls)
	}
}

func TestConstantCallFailsOnAllRows(t *testing.T) {
	node := call(even, expr.NewLiteral(int32(1), types.Integer))
	var e expr.Eval
	node.Eval(&e, vec.NewBatch(3))
	if got := len(e.Errs.All()); got != 3 {
		t.Errorf("%d rows failed", got)
	}
	e.Errs.Reset()
	if node.Eval(&e, vec.NewBatch(0)); !e.Errs.Empty() {
		t.Error("no rows failed")
	}
}

func TestErrorsTellTheirPlace(t *testing.T) {
	shared := errclass.New("DIVIDE_BY_ZERO", "config", "x")
	failing := &fn.Bound{Type: types.Long, CanFail: true, New: func() fn.Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			e.Errs.Add(0, shared)
			out.ResetFixed(n)
			return out
		}
	}}
	node := fn.NewNodeAt(failing, []expr.Node{intColumn(0)}, &errclass.QueryContext{Summary: "here"})
	var e expr.Eval
	node.Eval(&e, vec.NewBatch(1, vec.NewFixed(types.Integer, 1)))
	_, err, _ := e.Errs.First()
	got, ok := errors.AsType[*errclass.Error](err)
	if !ok || len(got.Context) != 1 || got.Context[0].Summary != "here" || len(shared.Context) != 0 {
		t.Errorf("got %v", err)
	}
}
