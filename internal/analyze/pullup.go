package analyze

import (
	"errors"
	"slices"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// errCorrelated says that a reference to the outer query stands where it cannot be moved out of.
var errCorrelated = errors.New("analyze: correlated reference cannot be pulled up")

func isOuter(e plan.Expr) bool { _, ok := e.(*plan.OuterRef); return ok }

// hasOuter tells whether a plan uses columns of the query around it.
func hasOuter(n plan.Node) bool {
	found := false
	plan.Walk(n, func(n plan.Node) bool {
		found = found || slices.ContainsFunc(n.Exprs(), func(e plan.Expr) bool { return plan.Exists(e, isOuter) })
		return !found
	})
	return found
}

// puller moves the conditions of a subquery that use the outer query's columns out of its filters, and the columns that they compare
// into its output.
type puller struct {
	kind  plan.SubqueryKind
	conds []plan.Expr
}

func (p *puller) node(n plan.Node) (plan.Node, error) {
	if !hasOuter(n) {
		return n, nil
	}
	switch n := n.(type) {
	case *plan.Filter:
		return p.filter(n)
	case *plan.Project:
		return p.project(n)
	case *plan.Aggregate:
		return p.aggregate(n)
	case *plan.Aliased, *plan.View, *plan.Tagged, *plan.Sort, *plan.Repartition:
		child, err := p.node(n.Children()[0])
		if err != nil {
			return nil, err
		}
		return n.WithChildren([]plan.Node{child}), nil
	case *plan.Distinct:
		if p.kind != plan.SubqueryScalar { // whether there is a row does not change
			return p.node(n.Child)
		}
	case *plan.Limit:
		if l, ok := n.N.(*plan.Literal); ok && p.kind == plan.SubqueryExists && l.Value != int32(0) {
			return p.node(n.Child)
		}
	}
	return nil, errCorrelated
}

func (p *puller) filter(n *plan.Filter) (plan.Node, error) {
	child, err := p.node(n.Child)
	if err != nil {
		return nil, err
	}
	var rest plan.Expr
	for _, c := range plan.Conjuncts(n.Cond) {
		if plan.Exists(c, isOuter) {
			p.conds = append(p.conds, c)
		} else {
			rest = plan.And(rest, c)
		}
	}
	if rest == nil {
		return child, nil
	}
	return &plan.Filter{Cond: rest, Child: child}, nil
}

func (p *puller) project(n *plan.Project) (plan.Node, error) {
	child, err := p.node(n.Child)
	if err != nil {
		return nil, err
	}
	if p.kind == plan.SubqueryExists && slices.ContainsFunc(n.Cols, func(e plan.Expr) bool { return plan.Exists(e, isOuter) }) {
		return child, nil // the values do not matter
	}
	cols := slices.Clone(n.Cols)
	have := plan.OutputSet(n)
	need := plan.References(p.conds...)
	for _, a := range child.Output() {
		if need.Has(a.ID) && !have.Has(a.ID) {
			cols = append(cols, a)
		}
	}
	return &plan.Project{Cols: cols, Child: child}, nil
}

// aggregate pulls conditions through a grouping: they must be equations, whose inner sides become keys.
func (p *puller) aggregate(n *plan.Aggregate) (plan.Node, error) {
	before := len(p.conds)
	child, err := p.node(n.Child)
	if err != nil {
		return nil, err
	}
	a := *n
	a.Child, a.Keys, a.Aggs = child, slices.Clone(n.Keys), slices.Clone(n.Aggs)
	inner := plan.OutputSet(child)
	for i, c := range p.conds[before:] {
		in, out, ok := equality(c, inner)
		if !ok {
			return nil, errCorrelated
		}
		k := keyAlias(in)
		if indexOf(a.Keys, in) < 0 {
			a.Keys = append(a.Keys, in)
		}
		a.Aggs = append(a.Aggs, k)
		call := *c.(*plan.Call)
		call.Args = []plan.Expr{k.Attr(), out}
		p.conds[before+i] = &call
	}
	return &a, nil
}

// oneRow tells whether a relation never has more than one row.
func oneRow(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Aggregate:
		return len(n.Keys) == 0
	case *plan.OneRow:
		return true
	case *plan.Limit:
		l, ok := n.N.(*plan.Literal)
		return ok && (l.Value == int32(0) || l.Value == int32(1)) || oneRow(n.Child)
	case *plan.Project, *plan.Filter, *plan.Aliased, *plan.View, *plan.Tagged, *plan.Sort, *plan.Distinct, *plan.Repartition:
		return oneRow(n.Children()[0])
	}
	return false
}

// emptyValue is what a grouping without keys gives for a column when it has no rows; nil for NULL.
func emptyValue(n plan.Node, id plan.ID) (plan.Expr, error) {
	switch n := n.(type) {
	case *plan.Aliased, *plan.View, *plan.Tagged, *plan.Sort, *plan.Repartition:
		return emptyValue(n.Children()[0], id)
	case *plan.Project:
		return emptyItem(n.Cols, id, func(e plan.Expr) (plan.Expr, error) {
			a, ok := e.(*plan.Attr)
			if !ok {
				return e, nil
			}
			v, err := emptyValue(n.Child, a.ID)
			if v == nil {
				v = &plan.Literal{T: a.T}
			}
			return v, err
		})
	case *plan.Aggregate:
		return emptyItem(n.Aggs, id, func(e plan.Expr) (plan.Expr, error) {
			a, ok := e.(*plan.Agg)
			if !ok {
				return e, nil
			}
			switch a.Fn.Name {
			case "count", "count_if", "approx_count_distinct":
				return longLit(0), nil
			case "collect_list", "collect_set", "array_agg":
				return nil, errCorrelated
			}
			return &plan.Literal{T: a.Type()}, nil
		})
	}
	return nil, errCorrelated
}

// emptyItem rewrites the item that makes a column.
func emptyItem(items []plan.Expr, id plan.ID, f func(plan.Expr) (plan.Expr, error)) (plan.Expr, error) {
	for _, e := range items {
		a := plan.AttrOf(e)
		if a == nil || a.ID != id {
			continue
		}
		x, err := plan.TransformExpr(plan.Trim(e), f)
		if err != nil {
			return nil, err
		}
		if l, ok := x.(*plan.Literal); ok && l.Value == nil {
			return nil, nil
		}
		if !plan.Exists(x, func(e plan.Expr) bool { l, ok := e.(*plan.Literal); return ok && l.Value != nil }) {
			if _, void := plan.TypeOf(x).(types.NullType); void {
				return nil, nil
			}
		}
		return x, nil
	}
	return nil, errCorrelated
}
