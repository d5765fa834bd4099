package analyze

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// nearest resolves a join by rank: the left rows are numbered, joined with all right ones that count, and the best are kept of each number.
func (r *resolver) nearest(n *plan.NearestJoin) (plan.Node, error) {
	left, err := r.node(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := r.node(n.Right)
	if err != nil {
		return nil, err
	}
	if right, err = apart(left, right); err != nil {
		return nil, err
	}
	var cond, rank plan.Expr
	if n.AsOf != nil {
		cond, rank, err = r.asOf(n.AsOf, left, right)
	} else {
		rank, err = r.rank(n, left, right)
	}
	if err != nil {
		return nil, err
	}
	sc := r.over()
	known, err := sc.call("isnotnull", []plan.Expr{rank}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	number, err := sc.call("monotonically_increasing_id", nil, plan.Origin{})
	if err != nil {
		return nil, err
	}
	row := &plan.Alias{Child: number, Name: "row", ID: plan.NewID()}
	numbered := &plan.Project{Child: left}
	for _, a := range left.Output() {
		numbered.Cols = append(numbered.Cols, a)
	}
	numbered.Cols = append(numbered.Cols, row)
	// An outer join, so that the rows of the left side stay together: whatever is optimised, it never changes sides.
	j := &plan.Join{Left: numbered, Right: right, Kind: plan.LeftOuter, Cond: plan.And(cond, known)}
	top := &plan.TopRows{Key: row.Attr(), Order: &plan.SortOrder{Child: rank, Desc: n.Desc}, N: n.N, Ranked: !n.Outer, Child: j}
	if n.AsOf != nil {
		// Of rows that are equally near the last one counts. A join by keys brings rows from the last to the first.
		keys, _ := plan.EquiKeys(j.Cond, plan.OutputSet(numbered), plan.OutputSet(right))
		top.Last = len(keys) == 0
	}
	out, cols := &plan.Project{Child: top}, j.Output()
	if !n.Outer {
		cols = append(left.Output(), right.Output()...)
	}
	for _, a := range cols {
		if a.ID != row.ID {
			out.Cols = append(out.Cols, a)
		}
	}
	return out, nil
}

// rank resolves the expression of a nearest-by join.
func (r *resolver) rank(n *plan.NearestJoin, left, right plan.Node) (plan.Expr, error) {
	rank, err := r.over(left, right).expr(n.Rank)
	if err != nil {
		return nil, err
	}
	rank = plan.Trim(rank)
	if bad := firstOf(rank, func(e plan.Expr) bool { return isAgg(e) || isOver(e) || isGen(e) }); bad != nil {
		return nil, errclass.New("UNSUPPORTED_EXPR_FOR_OPERATOR", "invalidExprSqls", errclass.Expr(bad.SQL()))
	}
	if t := plan.TypeOf(rank); t != nil && !types.IsOrderable(t) {
		return nil, errclass.New("NEAREST_BY_JOIN.NON_ORDERABLE_RANKING_EXPRESSION", "expression", errclass.Expr(rank.SQL()), "type", errclass.Expr(t.SQL()))
	}
	return rank, nil
}

// asOf makes the condition and the rank of an as-of join.
func (r *resolver) asOf(n *plan.AsOf, left, right plan.Node) (cond, rank plan.Expr, err error) {
	sc := r.over(left, right)
	resolve := func(e plan.Expr) plan.Expr {
		if err != nil || e == nil {
			return nil
		}
		var x plan.Expr
		if x, err = sc.expr(e); err != nil {
			return nil
		}
		return plan.Trim(x)
	}
	call := func(name string, args ...plan.Expr) plan.Expr {
		if err != nil {
			return nil
		}
		var x plan.Expr
		x, err = sc.call(name, args, plan.Origin{})
		return x
	}
	l, rt, tolerance, on := resolve(n.Left), resolve(n.Right), resolve(n.Tolerance), resolve(n.On)
	for _, name := range n.Using {
		column := &plan.Column{Parts: []string{name}, PlanID: -1}
		a, failed := r.over(left).expr(column)
		if failed != nil {
			return nil, nil, failed
		}
		b, failed := r.over(right).expr(column)
		if failed != nil {
			return nil, nil, failed
		}
		on = plan.And(on, call("==", a, b))
	}
	if err != nil {
		return nil, nil, err
	}
	if tolerance != nil {
		if err = r.checkTolerance(tolerance); err != nil {
			return nil, nil, err
		}
	}
	after, before := ">=", "<="
	if n.Strict {
		after, before = ">", "<"
	}
	switch n.Direction {
	case plan.Backward:
		cond, rank = call(after, l, rt), call("-", l, rt)
	case plan.Forward:
		cond, rank = call(before, l, rt), call("-", rt, l)
	case plan.Nearest:
		if n.Strict {
			cond = call("not", call("==", l, rt))
		}
		rank = call("greatest", call("-", l, rt), call("-", rt, l))
	}
	if tolerance != nil && n.Direction != plan.Forward {
		cond = plan.And(cond, call(after, rt, call("-", l, tolerance)))
	}
	if tolerance != nil && n.Direction != plan.Backward {
		cond = plan.And(cond, call(before, rt, call("+", l, tolerance)))
	}
	return plan.And(on, cond), rank, err
}

// checkTolerance wants a constant that is not negative.
func (r *resolver) checkTolerance(t plan.Expr) error {
	if r.constant(t) == nil {
		return errclass.New("AS_OF_JOIN.TOLERANCE_IS_UNFOLDABLE")
	}
	sc := r.over()
	zero, err := sc.call("-", []plan.Expr{t, t}, plan.Origin{})
	if err != nil {
		return err
	}
	ok, err := sc.call(">=", []plan.Expr{t, zero}, plan.Origin{})
	if err != nil {
		return err
	}
	if v := r.constant(ok); v == nil || v.IsNull(0) || vec.Fixed[uint8](v)[0] == 0 {
		return errclass.New("AS_OF_JOIN.TOLERANCE_IS_NON_NEGATIVE")
	}
	return nil
}
