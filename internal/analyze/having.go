package analyze

import (
	"slices"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// having resolves HAVING: over a query without GROUP BY it makes one group of all rows.
func (r *resolver) having(n *plan.Having) (plan.Node, error) {
	in := n.Child
	if p, ok := in.(*plan.Project); ok {
		in = &plan.Aggregate{Aggs: p.Cols, Child: p.Child}
	}
	g, ok := in.(*plan.Aggregate)
	if !ok || g.Kind == plan.GroupPivot {
		child, err := r.node(in)
		if err != nil {
			return nil, err
		}
		return r.condition(n.Cond, child)
	}
	child, err := r.node(g.Child)
	if err != nil {
		return nil, err
	}
	c := *g
	c.Child = child
	a, err := r.aggregation(&c)
	if err != nil {
		return nil, err
	}
	return r.grouped(a, n.Cond)
}

// havingOver puts the condition of HAVING over a resolved grouping. A name means the grouping's input before its result there.
func (r *resolver) havingOver(cond plan.Expr, a *plan.Aggregate) (plan.Node, error) {
	sc := r.over(a)
	sc.deep = true
	agg := r.aggScope(sc, a)
	sc.having = &havingNames{result: sc, input: sc.groupIn, agg: a, sets: setsOf(a), hidden: map[plan.ID]*plan.Attr{}}
	e, err := sc.expr(cond)
	if err != nil {
		return nil, err
	}
	if e, err = sc.having.replaced(e); err != nil {
		return nil, err
	}
	return r.filtered(e, sc, agg)
}

// havingNames is what names in a condition of HAVING mean. Of a key it is the key, also where the result calls something else so. Of any
// other column of the input that shares its name with one of the result, it is the latter; but what stands around it is bound as if it
// were the former, as in Spark: with a STRING s below, sum(x) AS s HAVING s > 0 compares whole numbers.
type havingNames struct {
	result, input *scope
	agg           *plan.Aggregate
	sets          *groupedSets // nil without grouping sets
	hidden        map[plan.ID]*plan.Attr
}

// below is the input's column of a name, or nil.
func (h *havingNames) below(parts []string) *plan.Attr {
	e, err := h.input.match(parts, h.input.named)
	if err != nil {
		return nil // the result may have one of the name
	}
	a, _ := e.(*plan.Attr)
	return a
}

// key is the key of a name, or nil.
func (h *havingNames) key(parts []string) plan.Expr {
	a := h.below(parts)
	if a == nil {
		return nil
	}
	if h.sets != nil {
		if i := indexOf(h.sets.keys, a); i >= 0 {
			return h.sets.attrs[i]
		}
		return nil
	}
	if indexOf(h.agg.Keys, a) >= 0 {
		return a
	}
	return nil
}

// column is the input's column of a name that the result's hides, until replaced; nil for any other.
func (h *havingNames) column(parts []string) plan.Expr {
	a := h.below(parts)
	if a == nil || h.key(parts) != nil {
		return nil
	}
	e, err := h.result.match(parts, h.result.named)
	if err != nil {
		return nil
	}
	if to, ok := e.(*plan.Attr); ok && to.ID != a.ID {
		h.hidden[a.ID] = to
		return a
	}
	return nil
}

// replaced puts the result's columns where the input's stand for them, and binds once more what stands around them.
func (h *havingNames) replaced(e plan.Expr) (plan.Expr, error) {
	switch x := e.(type) {
	case *plan.Attr:
		if to := h.hidden[x.ID]; to != nil {
			return to, nil
		}
		return e, nil
	case *plan.Agg:
		return e, nil
	case *plan.Call:
		e = h.wholeFirst(x)
	}
	with, err := plan.MapKids(e, h.replaced)
	if err != nil || with == e {
		return e, err
	}
	return h.result.rebound(with)
}

// wholeFirst casts the whole numbers that a comparison with decimals casts to a decimal without a scale first, as Spark does on the way to
// the type that both sides share: what takes the place of a whole number may be none.
func (h *havingNames) wholeFirst(c *plan.Call) plan.Expr {
	if name := c.Fn.Name; ordering[name] == "" && name != "==" && name != "!=" && name != "<=>" {
		return c
	}
	out := *c
	out.Args = slices.Clone(c.Args)
	for i, a := range out.Args {
		cast, ok := a.(*plan.Cast)
		if !ok || !cast.Implicit || !fn.IsIntegral(plan.TypeOf(cast.Child)) || !h.hides(cast.Child) {
			continue
		}
		if _, ok := cast.To.(types.DecimalType); ok {
			first, second := *cast, *cast
			first.To, second.Child = fn.DecimalFor(plan.TypeOf(cast.Child)), &first
			out.Args[i] = &second
		}
	}
	return &out
}

// hides tells whether an expression has a column that one of the result hides.
func (h *havingNames) hides(e plan.Expr) bool {
	return plan.Exists(e, func(e plan.Expr) bool {
		a, ok := e.(*plan.Attr)
		return ok && h.hidden[a.ID] != nil
	})
}

// rebound binds a resolved expression to operands that may be of other types than before.
func (sc *scope) rebound(e plan.Expr) (plan.Expr, error) {
	switch x := e.(type) {
	case *plan.Call:
		again, err := sc.bind(x.Fn, x.Fn.Name, x.Args, x.Origin)
		if c, ok := again.(*plan.Call); ok {
			c.Name, c.Text = x.Name, x.Text
		}
		return again, err
	case *plan.Cast:
		return x, at(sc.castable(x), x.Origin)
	case *plan.Cond:
		switch x.Op {
		case plan.OpCase:
			var values []int
			for i := 1; i < len(x.Args); i += 2 {
				values = append(values, i)
			}
			if len(x.Args)%2 == 1 {
				values = append(values, len(x.Args)-1)
			}
			return x, sc.unify(x, values, "casewhen", "[", ", ", "]")
		case plan.OpIf:
			return x, sc.unify(x, []int{1, 2}, "if", "[", ", ", "]")
		case plan.OpCoalesce:
			values := make([]int, len(x.Args))
			for i := range values {
				values[i] = i
			}
			null := x.Null
			err := sc.unify(x, values, "coalesce", "(", " or ", ")")
			x.Null = null || !slices.ContainsFunc(x.Args, func(e plan.Expr) bool { return !plan.NullableOf(e) })
			return x, err
		case plan.OpAnd, plan.OpOr:
			x.Null = x.Null || slices.ContainsFunc(x.Args, plan.NullableOf)
		}
	}
	return e, nil
}
