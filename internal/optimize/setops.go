package optimize

import (
	"slices"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// setOps turns INTERSECT and EXCEPT into semi and anti joins in which nulls are equal. For the ALL forms equal rows are numbered on both
// sides first, so that each finds a partner of its own.
func setOps(n plan.Node) (plan.Node, error) {
	s, ok := n.(*plan.SetOp)
	if !ok {
		return n, nil
	}
	left, right := s.Left, s.Right
	out := left.Output()
	if s.All {
		left, right = numbered(left), numbered(right)
	}
	kind := plan.LeftSemi
	if s.Kind == plan.Except {
		kind = plan.LeftAnti
	}
	var cond plan.Expr
	lo, ro := left.Output(), right.Output()
	for i := range lo {
		eq, err := nullSafe(lo[i], ro[i])
		if err != nil {
			return nil, err
		}
		cond = plan.And(cond, eq)
	}
	in := plan.Node(&plan.Join{Left: left, Right: right, Kind: kind, Cond: cond})
	if !s.All {
		return &plan.Distinct{Child: in}, nil
	}
	if slices.ContainsFunc(out, func(a *plan.Attr) bool { return fn.HoldsFloats(a.T) }) {
		in = &plan.Distinct{Child: in} // with their numbers all rows are; but zeros lose their signs, as keys do
	}
	cols := make([]plan.Expr, len(out))
	for i, a := range out {
		cols[i] = a
	}
	return &plan.Project{Cols: cols, Child: in}, nil
}

// numbered adds the number of each row among those equal to it.
func numbered(n plan.Node) plan.Node {
	o := &plan.Over{
		Fn: &plan.WindowFunc{Name: "row_number", T: types.Integer}, Rows: true, Framed: true, Lo: plan.FrameBound{Unbounded: true},
	}
	for _, a := range n.Output() {
		o.Partition = append(o.Partition, a)
		o.Order = append(o.Order, &plan.SortOrder{Child: a, NullsFirst: true})
	}
	return &plan.WindowFuncs{Cols: []plan.Expr{plan.NewAlias(o, "number")}, Child: n}
}

func nullSafe(a, b *plan.Attr) (plan.Expr, error) {
	f := fn.Lookup("<=>")
	args := []fn.Arg{{Type: a.T, Nullable: a.Null, SQL: a.Name}, {Type: b.T, Nullable: b.Null, SQL: b.Name}}
	bound, err := f.Bind(&fn.Binding{Name: "<=>", Args: args, ANSI: true})
	if err != nil {
		return nil, err
	}
	call := &plan.Call{Fn: f, Bound: bound, Name: "<=>", Args: []plan.Expr{a, b}}
	for i, t := range bound.Args {
		if t != nil && !types.Equal(t, args[i].Type) {
			call.Args[i] = &plan.Cast{Child: call.Args[i], To: t, Mode: plan.CastANSI, Implicit: true}
		}
	}
	return call, nil
}
