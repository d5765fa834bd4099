package analyze

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// filter resolves WHERE.
func (r *resolver) filter(n *plan.Filter) (plan.Node, error) { return r.condition(n.Cond, n.Child) }

// condition puts a filter over a resolved relation. The condition may use columns that the relation has below its projections
// and, over a grouping, aggregates.
func (r *resolver) condition(cond plan.Expr, child plan.Node) (plan.Node, error) {
	sc := r.over(child)
	sc.deep = true
	agg := r.aggScope(sc, child)
	e, err := sc.expr(cond)
	if err != nil {
		return nil, err
	}
	return r.filtered(e, sc, agg)
}

// filtered is the rows of a scope's relation for which a resolved condition holds; agg is set over a grouping.
func (r *resolver) filtered(e plan.Expr, sc *scope, agg *aggScope) (plan.Node, error) {
	e = plan.Trim(e)
	if !isBool(e) {
		return nil, errclass.New("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "sqlExpr", errclass.Expr(e.SQL()), "filter", errclass.Expr(e.SQL()),
			"type", errclass.Expr(plan.TypeOf(e).SQL()))
	}
	out := sc.children[0].Output()
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	child := children[0]
	if agg != nil {
		var es []plan.Expr
		if child, es, err = agg.apply(child, []plan.Expr{e}); err != nil {
			return nil, err
		}
		e = es[0]
	}
	if err := checkWhere(e, child); err != nil {
		return nil, err
	}
	child, es, err := r.timeWindows(child, []plan.Expr{e})
	if err != nil {
		return nil, err
	}
	return narrow(&plan.Filter{Cond: es[0], Child: child}, out), nil
}

// checkWhere refuses what cannot be in a condition.
func checkWhere(e plan.Expr, child plan.Node) error {
	var bad []string
	plan.WalkExpr(e, func(x plan.Expr) bool {
		if isAgg(x) {
			bad = append(bad, sqlText(x))
		}
		return !isAgg(x)
	})
	switch {
	case plan.Exists(e, isOver):
		return errclass.New("WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE", "clauseName", "WHERE")
	case len(bad) > 0:
		return errclass.New("INVALID_WHERE_CONDITION", "condition", errclass.Expr(e.SQL()), "expressionList", strings.Join(bad, ", "))
	case plan.Exists(e, isGen):
		return generatorOutside((&plan.Filter{Cond: e, Child: child}).Label())
	}
	return nil
}

// aggScope is how expressions above a grouping reach it: HAVING, and ORDER BY of a grouped query.
type aggScope struct {
	r   *resolver
	agg *plan.Aggregate
	sc  *scope
}

// aggScope prepares a scope over a relation that is a grouping, possibly behind filters and renaming projections; nil for
// any other relation. Inside aggregate calls names mean the grouping's input first.
func (r *resolver) aggScope(sc *scope, child plan.Node) *aggScope {
	agg := groupingBelow(child)
	if agg == nil {
		return nil
	}
	in := r.over(agg.Child)
	if s := setsOf(agg); s != nil { // the columns of the sets bear the names of those that they are made of
		in.attrs = slices.DeleteFunc(in.attrs, func(a *plan.Attr) bool {
			return slices.ContainsFunc(s.attrs, func(k *plan.Attr) bool { return k.ID == a.ID })
		})
	}
	sc.groupIn = in
	sc.first = func(parts []string) (plan.Expr, error) {
		if sc.inAgg == 0 {
			return nil, nil
		}
		return in.match(parts, in.named)
	}
	key := func(name string) []*plan.Attr {
		return slices.DeleteFunc(slices.Clone(in.named(name)), func(a *plan.Attr) bool { return indexOf(agg.Keys, a) < 0 })
	}
	setKey := func(name string) (out []*plan.Attr) {
		if s := setsOf(agg); s != nil {
			for i, k := range s.keys {
				if a, ok := k.(*plan.Attr); ok && r.eq(a.Name, name) {
					c := *s.attrs[i]
					c.Qualifier = a.Qualifier
					out = append(out, &c)
				}
			}
		}
		return out
	}
	inKey := func(name string) []*plan.Attr { // part of a key that is an expression
		used := plan.References(agg.Keys...)
		return slices.DeleteFunc(slices.Clone(in.named(name)), func(a *plan.Attr) bool { return !used.Has(a.ID) })
	}
	sc.last = func(parts []string) (plan.Expr, error) { // grouping columns that are not in the output
		if _, err := in.match(parts, in.named); err != nil || sc.inAgg > 0 {
			return nil, nil // what is ambiguous in the input is nothing here
		}
		for _, named := range []func(string) []*plan.Attr{key, setKey, inKey} {
			if e, err := in.match(parts, named); e != nil || err != nil {
				return e, err
			}
		}
		return nil, nil
	}
	return &aggScope{r: r, agg: agg, sc: sc}
}

// groupingBelow finds the grouping that a relation is, looking through what keeps its columns.
func groupingBelow(n plan.Node) *plan.Aggregate {
	for {
		switch x := n.(type) {
		case *plan.Aggregate:
			return x
		case *plan.Tagged:
			n = x.Child
		case *plan.Filter:
			n = x.Child
		case *plan.Project:
			if !x.Grouped && slices.ContainsFunc(x.Cols, func(c plan.Expr) bool { _, ok := c.(*plan.Attr); return !ok }) {
				return nil
			}
			n = x.Child
		default:
			return nil
		}
	}
}

// apply moves the aggregates of expressions into the grouping and returns the relation with them.
func (s *aggScope) apply(child plan.Node, es []plan.Expr) (plan.Node, []plan.Expr, error) {
	agg := *s.agg
	l := &lifter{agg: &agg}
	g := setsOf(&agg)
	out := make([]plan.Expr, len(es))
	for i, e := range es {
		var err error
		if g != nil {
			if e, err = s.r.inSets(e, g); err != nil {
				return nil, nil, err
			}
		}
		if out[i], err = l.lift(e); err != nil {
			return nil, nil, err
		}
	}
	if l.lost != nil && !plan.OutputSet(child).Has(l.lost.ID) {
		return nil, nil, s.sc.unresolved([]string{l.lost.Name})
	}
	if err := checkGrouped(&agg); err != nil {
		return nil, nil, err
	}
	used := plan.References(out...)
	var need []*plan.Attr
	for _, a := range agg.Output() {
		if used.Has(a.ID) {
			need = append(need, a)
		}
	}
	child, err := plan.Transform(child, func(n plan.Node) (plan.Node, error) {
		if n == plan.Node(s.agg) {
			return &agg, nil
		}
		return n, nil
	})
	if err != nil {
		return nil, nil, err
	}
	child, ok := expose(child, need)
	if !ok {
		return nil, nil, s.sc.unresolved([]string{need[0].Name})
	}
	return child, out, nil
}
