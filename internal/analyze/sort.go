package analyze

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/types"
)

// sort resolves ORDER BY: positions, columns that the select list left out, aggregates of a grouped query.
func (r *resolver) sort(n *plan.Sort) (plan.Node, error) {
	child := n.Child
	sc := r.over(child)
	sc.deep = true
	agg := r.aggScope(sc, child)
	var orders []plan.Expr
	for _, o := range r.allOrders(n, sc) {
		if l, ok := o.Child.(*plan.Literal); ok && n.Global && r.conf.flag(setting.OrderByOrdinal) {
			if pos, ok := l.Value.(int32); ok {
				if pos < 1 || int(pos) > len(sc.attrs) {
					return nil, at(errclass.New("ORDER_BY_POS_OUT_OF_RANGE", "index", strconv.Itoa(int(pos)), "size", strconv.Itoa(len(sc.attrs))), o.Origin)
				}
				o = &plan.SortOrder{Child: sc.attrs[pos-1], Desc: o.Desc, NullsFirst: o.NullsFirst}
			}
		}
		e, err := sc.expr(o)
		if err != nil {
			return nil, err
		}
		s := e.(*plan.SortOrder)
		orders = append(orders, &plan.SortOrder{Child: plan.Trim(s.Child), Desc: s.Desc, NullsFirst: s.NullsFirst})
	}
	out := child.Output()
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	child = children[0]
	if agg != nil {
		if child, orders, err = agg.apply(child, orders); err != nil {
			return nil, err
		}
	}
	for _, o := range orders {
		if plan.Exists(o, isGen) {
			return nil, generatorOutside("Sort")
		}
		if s, ok := firstOf(o, isSubquery).(*plan.Subquery); ok && s.Kind != plan.SubqueryScalar {
			return nil, at(notHere(n), s.Origin)
		}
		if plan.Exists(o, func(e plan.Expr) bool { return isAgg(e) || isOver(e) }) {
			return nil, errclass.New("UNSUPPORTED_EXPR_FOR_OPERATOR", "invalidExprSqls", errclass.Expr(o.(*plan.SortOrder).Child.SQL()))
		}
	}
	if child, orders, err = r.timeWindows(child, orders); err != nil {
		return nil, err
	}
	s := &plan.Sort{Global: n.Global, Child: child, Origin: n.Origin}
	for _, o := range orders {
		s.Orders = append(s.Orders, o.(*plan.SortOrder))
	}
	return narrow(s, out), nil
}

// allOrders replaces ORDER BY ALL by all columns.
func (r *resolver) allOrders(n *plan.Sort, sc *scope) []*plan.SortOrder {
	if len(n.Orders) != 1 {
		return n.Orders
	}
	o := n.Orders[0]
	c, ok := o.Child.(*plan.Column)
	if !ok || c.PlanID >= 0 || len(c.Parts) != 1 || !strings.EqualFold(c.Parts[0], "all") || len(sc.named(c.Parts[0])) > 0 {
		return n.Orders
	}
	var out []*plan.SortOrder
	for _, a := range visible(sc.attrs) {
		out = append(out, &plan.SortOrder{Child: a, Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	return out
}

// limit resolves LIMIT.
func (r *resolver) limit(n *plan.Limit) (plan.Node, error) {
	e, err := r.count("limit", n.N, n.Child)
	if err != nil {
		return nil, err
	}
	return &plan.Limit{N: e, Child: n.Child}, nil
}

// offset resolves OFFSET.
func (r *resolver) offset(n *plan.Offset) (plan.Node, error) {
	e, err := r.count("offset", n.N, n.Child)
	if err != nil {
		return nil, err
	}
	return &plan.Offset{N: e, Child: n.Child}, nil
}

// count resolves the number of a limit or offset: a constant integer that is not negative.
func (r *resolver) count(name string, e plan.Expr, child plan.Node) (plan.Expr, error) {
	e, err := r.over(child).expr(e)
	if err != nil {
		return nil, err
	}
	e = plan.Trim(e)
	kv := []string{"name", name, "expr", errclass.Expr(e.SQL())}
	switch plan.TypeOf(e).(type) {
	case types.ByteType, types.ShortType, types.IntegerType:
	default:
		if r.constant(e) == nil {
			return nil, errclass.New("INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE", kv...)
		}
		return nil, errclass.New("INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE", append(kv, "dataType", errclass.Expr(plan.TypeOf(e).SQL()))...)
	}
	v := r.constant(e)
	if v == nil {
		return nil, errclass.New("INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE", kv...)
	}
	n, ok := intOf(v)
	switch {
	case !ok:
		return nil, errclass.New("INVALID_LIMIT_LIKE_EXPRESSION.IS_NULL", kv...)
	case n < 0:
		return nil, errclass.New("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", append(kv, "v", strconv.Itoa(n))...)
	}
	return &plan.Literal{Value: int32(n), T: types.Integer}, nil
}
