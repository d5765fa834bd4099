package expr_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/exprtest"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/vec/valuetest"
	"github.com/millrace/millrace/types"
)

// tree is an expression with its model: what a row-at-a-time, lazy evaluation gives.
type tree interface {
	node() expr.Node
	value(row types.Row) (any, error)
}

type colTree struct {
	i int
	t types.DataType
}

func (c colTree) node() expr.Node                  { return expr.NewColumn(c.i, c.t) }
func (c colTree) value(row types.Row) (any, error) { return row[c.i], nil }

type litTree struct {
	x any
	t types.DataType
}

func (l litTree) node() expr.Node              { return expr.NewLiteral(l.x, l.t) }
func (l litTree) value(types.Row) (any, error) { return l.x, nil }

// guard is its child, and fails where the int column i is 0.
type guard struct {
	child tree
	i     int
}

func (g guard) node() expr.Node { return &guardNode{child: g.child.node(), i: g.i} }

func (g guard) value(row types.Row) (any, error) {
	x, err := g.child.value(row)
	if err == nil && row[g.i] == int32(0) {
		err = fmt.Errorf("column %d is zero", g.i)
	}
	return x, err
}

type guardNode struct {
	child expr.Node
	i     int
}

func (g *guardNode) Type() types.DataType { return g.child.Type() }

func (g *guardNode) Operands() []expr.Node {
	return []expr.Node{g.child, expr.NewColumn(g.i, types.Integer)}
}

func (g *guardNode) Eval(e *expr.Eval, in *vec.Batch) *vec.Vector {
	v := g.child.Eval(e, in)
	for i := range in.N {
		if c := in.Cols[g.i]; !c.IsNull(i) && vec.At[int32](c, i) == 0 {
			e.Errs.Add(i, fmt.Errorf("column %d is zero", g.i))
		}
	}
	return v
}

type logicTree struct {
	and  bool
	l, r tree
}

func (l logicTree) node() expr.Node {
	if l.and {
		return expr.NewAnd(l.l.node(), l.r.node())
	}
	return expr.NewOr(l.l.node(), l.r.node())
}

func (l logicTree) value(row types.Row) (any, error) {
	x, err := l.l.value(row)
	if err != nil || x == !l.and {
		return x, err
	}
	y, err := l.r.value(row)
	switch {
	case err != nil:
		return nil, err
	case y == !l.and:
		return y, nil
	case x == nil || y == nil:
		return nil, nil
	}
	return l.and, nil
}

type caseTree struct {
	conds, values []tree
	otherwise     tree
}

func (c caseTree) node() expr.Node {
	var conds, values []expr.Node
	for i := range c.conds {
		conds = append(conds, c.conds[i].node())
		values = append(values, c.values[i].node())
	}
	if c.otherwise == nil {
		return expr.NewCase(conds, values, nil)
	}
	return expr.NewCase(conds, values, c.otherwise.node())
}

func (c caseTree) value(row types.Row) (any, error) {
	for i, cond := range c.conds {
		x, err := cond.value(row)
		if err != nil {
			return nil, err
		}
		if x == true {
			return c.values[i].value(row)
		}
	}
	if c.otherwise == nil {
		return nil, nil
	}
	return c.otherwise.value(row)
}

type coalesceTree struct{ args []tree }

func (c coalesceTree) node() expr.Node {
	var args []expr.Node
	for _, a := range c.args {
		args = append(args, a.node())
	}
	return expr.NewCoalesce(args...)
}

func (c coalesceTree) value(row types.Row) (any, error) {
	for _, a := range c.args {
		if x, err := a.value(row); err != nil || x != nil {
			return x, err
		}
	}
	return nil, nil
}

// The columns that drawn trees read: two ints that make guards fail, two booleans, two of the type under test.
const intCol, boolCol, anyCol = 0, 2, 4

func schemaOf(dt types.DataType) []types.DataType {
	return []types.DataType{types.Integer, types.Integer, types.Boolean, types.Boolean, dt, dt}
}

func drawTree(t *rapid.T, dt types.DataType, depth int) tree {
	second := rapid.IntRange(0, 1).Draw(t, "second")
	boolean := dt == types.DataType(types.Boolean)
	if depth == 0 {
		switch {
		case rapid.IntRange(0, 3).Draw(t, "literal") == 0:
			return litTree{valuetest.Value(t, dt, true), dt}
		case boolean:
			return colTree{boolCol + second, dt}
		}
		return colTree{anyCol + second, dt}
	}
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if !boolean {
		kind = max(kind, 2)
	}
	switch kind {
	case 0, 1:
		return logicTree{kind == 0, drawTree(t, dt, depth-1), drawTree(t, dt, depth-1)}
	case 2:
		return guard{drawTree(t, dt, depth-1), intCol + second}
	case 3:
		var c coalesceTree
		for range rapid.IntRange(1, 3).Draw(t, "args") {
			c.args = append(c.args, drawTree(t, dt, depth-1))
		}
		return c
	}
	var c caseTree
	for range rapid.IntRange(1, 3).Draw(t, "branches") {
		c.conds = append(c.conds, drawTree(t, types.Boolean, depth-1))
		c.values = append(c.values, drawTree(t, dt, depth-1))
	}
	if rapid.Bool().Draw(t, "else") {
		c.otherwise = drawTree(t, dt, depth-1)
	}
	return c
}

func drawRows(t *rapid.T, ts []types.DataType) []types.Row {
	n := rapid.SampledFrom([]int{1, 4, 70}).Draw(t, "n")
	rows := make([]types.Row, n)
	for i := range rows {
		rows[i] = make(types.Row, len(ts))
	}
	for c, dt := range ts {
		for i, x := range valuetest.Rows(t, dt, n) {
			rows[i][c] = x
		}
	}
	return rows
}

// Whatever the shape of the batch, conditional nodes give what a lazy evaluation of each row gives.
func TestConditionalNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := valuetest.Type(t, 1)
		if rapid.Bool().Draw(t, "bool") {
			dt = types.Boolean
		}
		ts := schemaOf(dt)
		tr := drawTree(t, dt, rapid.IntRange(1, 3).Draw(t, "depth"))
		rows := drawRows(t, ts)
		got := exprtest.Eval(t, tr.node(), ts, rows)
		for i, row := range rows {
			x, err := tr.value(row)
			same := err == nil && got[i].Err == nil && exprtest.Same(x, got[i].Value)
			if !same && (err == nil || got[i].Err == nil || err.Error() != got[i].Err.Error()) {
				t.Fatalf("%+v over %v: got %v, want %v, %v", tr, row, got[i], x, err)
			}
		}
	})
}

func TestField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := types.Struct(types.NewField("a", valuetest.Type(t, 1)), types.NewField("b", valuetest.Type(t, 1)))
		ts := []types.DataType{st}
		rows := drawRows(t, ts)
		for f := range st.Fields {
			got := exprtest.Eval(t, expr.NewField(expr.NewColumn(0, st), f), ts, rows)
			for i, row := range rows {
				var want any
				if s, ok := row[0].(types.Row); ok {
					want = s[f]
				}
				if got[i].Err != nil || !exprtest.Same(want, got[i].Value) {
					t.Fatalf("field %d of %v is %v", f, row[0], got[i])
				}
			}
		}
	})
}

func TestLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := valuetest.Type(t, 2)
		x := valuetest.Value(t, dt, true)
		got := exprtest.Eval(t, expr.NewLiteral(x, dt), []types.DataType{types.Long}, []types.Row{{nil}, {int64(1)}})
		for _, g := range got {
			if g.Err != nil || !exprtest.Same(x, g.Value) {
				t.Fatalf("literal %v is %v", x, g)
			}
		}
	})
	got := exprtest.Eval(t, expr.NewLiteral("x", types.Long), nil, []types.Row{{}, {}})
	if got[0].Err == nil || got[1].Err == nil {
		t.Error("a literal of another type did not fail")
	}
}

func TestSelect(t *testing.T) {
	pred := expr.NewAnd(expr.NewColumn(0, types.Boolean), expr.NewColumn(1, types.Boolean))
	col := func(xs ...any) *vec.Vector {
		v, err := vec.FromValues(types.Boolean, xs...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	b := vec.NewBatch(5, col(true, true, false, nil, true), col(true, nil, true, true, true))
	var e expr.Eval
	if got, want := expr.SelectTrue(pred.Eval(&e, b), []uint32{9}), []uint32{9, 0, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := expr.SelectTrue(vec.NewConst(col(true), 3), nil); len(got) != 3 {
		t.Errorf("a constant true selects %v", got)
	}
	if got := expr.SelectTrue(vec.NewNulls(types.Boolean, 3), nil); len(got) != 0 {
		t.Errorf("a constant null selects %v", got)
	}
}

func TestColumns(t *testing.T) {
	n := expr.NewAnd(expr.NewColumn(3, types.Boolean), expr.NewIf(expr.NewColumn(1, types.Boolean), expr.NewColumn(3, types.Boolean), expr.NewLiteral(true, types.Boolean)))
	if cols, all := expr.Columns(n); all || !reflect.DeepEqual(cols, []int{1, 3}) {
		t.Errorf("got %v, %v", cols, all)
	}
	if _, all := expr.Columns(n, opaque{}); !all {
		t.Error("a node that is no Parent may read anything")
	}
}

type opaque struct{ expr.Node }

func TestRowErrs(t *testing.T) {
	var r expr.RowErrs
	first, second, other := errors.New("first"), errors.New("second"), errors.New("other")
	r.Add(7, other)
	mark := r.Len()
	r.Add(1, first)
	r.Add(1, second)
	r.Add(0, other)
	r.Keep(mark, func(row int) bool { return row != 0 })
	r.Move(mark, []uint32{4, 5})
	if row, err, ok := r.First(); row != 5 || err != first || !ok {
		t.Errorf("got %d, %v, %v", row, err, ok)
	}
	r.Reset()
	if _, _, ok := r.First(); ok || !r.Empty() {
		t.Error("errors are left")
	}
}
