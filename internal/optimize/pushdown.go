package optimize

import (
	"github.com/millrace/millrace/internal/plan"
)

// pushFilter moves a filter below its child, whole or in part.
func pushFilter(n plan.Node) (plan.Node, error) {
	f, ok := n.(*plan.Filter)
	if !ok {
		if j, ok := n.(*plan.Join); ok {
			return pushOn(j), nil
		}
		return n, nil
	}
	switch c := f.Child.(type) {
	case *plan.Filter:
		return &plan.Filter{Cond: plan.And(c.Cond, f.Cond), Child: c.Child}, nil
	case *plan.Project:
		return throughProject(f, c)
	case *plan.Watermark:
		mark := plan.References(c.Col)
		return split(f, func(e plan.Expr) bool { return deterministic(e) && disjoint(e, mark) }, func(down plan.Expr) plan.Node {
			return &plan.Watermark{Col: c.Col, Delay: c.Delay, DelayText: c.DelayText, ID: c.ID, Child: &plan.Filter{Cond: down, Child: c.Child}}
		}), nil
	case *plan.Sort:
		return split(f, deterministic, func(down plan.Expr) plan.Node {
			return &plan.Sort{Orders: c.Orders, Global: c.Global, Child: &plan.Filter{Cond: down, Child: c.Child}}
		}), nil
	case *plan.Distinct:
		return split(f, deterministic, func(down plan.Expr) plan.Node {
			return &plan.Distinct{Child: &plan.Filter{Cond: down, Child: c.Child}}
		}), nil
	case *plan.Repartition:
		return split(f, deterministic, func(down plan.Expr) plan.Node {
			return c.WithChildren([]plan.Node{&plan.Filter{Cond: down, Child: c.Child}})
		}), nil
	case *plan.Expand, *plan.Generate:
		return split(f, func(e plan.Expr) bool { return passing(e, c) }, func(down plan.Expr) plan.Node {
			return c.WithChildren([]plan.Node{&plan.Filter{Cond: down, Child: c.Children()[0]}})
		}), nil
	case *plan.Aggregate:
		return throughAggregate(f, c)
	case *plan.Union:
		return throughUnion(f, c)
	case *plan.Join:
		return throughJoin(f, c), nil
	}
	return f, nil
}

// split sends the conjuncts that may go down through down and keeps the others above. As in Spark a conjunct may overtake another
// one that stays: what a stateful operator or a watermark gets to see does not depend on how a condition was written.
func split(f *plan.Filter, may func(plan.Expr) bool, down func(plan.Expr) plan.Node) plan.Node {
	var low, high []plan.Expr
	for _, c := range plan.Conjuncts(f.Cond) {
		if may(c) {
			low = append(low, c)
		} else {
			high = append(high, c)
		}
	}
	if len(low) == 0 {
		return f
	}
	n := down(plan.And(low...))
	if len(high) == 0 {
		return n
	}
	return &plan.Filter{Cond: plan.And(high...), Child: n}
}

// deterministic tells whether an expression gives the same for the same row wherever it stands.
func deterministic(e plan.Expr) bool {
	return !plan.Exists(e, func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Call:
			return e.Bound.Nondeterministic
		case *plan.Subquery, *plan.Agg, *plan.Over, *plan.Generator:
			return true
		}
		return false
	})
}

func disjoint(e plan.Expr, ids plan.IDSet) bool {
	for id := range plan.References(e) {
		if ids.Has(id) {
			return false
		}
	}
	return true
}

// passing tells whether a condition can be tested before a node that makes several rows of one: it reads only columns that the node
// passes on.
func passing(e plan.Expr, n plan.Node) bool {
	if len(plan.References(e)) == 0 || !deterministic(e) {
		return false
	}
	if x, ok := n.(*plan.Expand); ok {
		same := plan.IDSet{}
		for i, a := range x.Out {
			if unchanged(x, i, a.ID) {
				same.AddAll(a)
			}
		}
		return same.Within(e)
	}
	return plan.OutputSet(n.Children()[0]).Within(e)
}

// unchanged tells whether column i of all lists is the input's column id.
func unchanged(x *plan.Expand, i int, id plan.ID) bool {
	for _, l := range x.Lists {
		if a, ok := l[i].(*plan.Attr); !ok || a.ID != id {
			return false
		}
	}
	return true
}

// substitute replaces columns by the expressions that define them.
func substitute(e plan.Expr, defs map[plan.ID]plan.Expr) (plan.Expr, error) {
	return plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
		if a, ok := e.(*plan.Attr); ok {
			if d := defs[a.ID]; d != nil {
				return d, nil
			}
		}
		return e, nil
	})
}

// definitions maps the columns of a select list to what they are made of.
func definitions(cols []plan.Expr) map[plan.ID]plan.Expr {
	defs := map[plan.ID]plan.Expr{}
	for _, c := range cols {
		if a, ok := c.(*plan.Alias); ok {
			defs[a.ID] = a.Child
		}
	}
	return defs
}

func throughProject(f *plan.Filter, p *plan.Project) (plan.Node, error) {
	for _, c := range p.Cols {
		if !deterministic(c) {
			return f, nil
		}
	}
	if !deterministic(f.Cond) {
		return f, nil
	}
	cond, err := substitute(f.Cond, definitions(p.Cols))
	if err != nil {
		return nil, err
	}
	return &plan.Project{Cols: p.Cols, Child: &plan.Filter{Cond: cond, Child: p.Child}}, nil
}

// throughAggregate moves conditions on grouping keys below the grouping.
func throughAggregate(f *plan.Filter, a *plan.Aggregate) (plan.Node, error) {
	if len(a.Keys) == 0 || a.Kind != plan.GroupBy {
		return f, nil
	}
	defs := definitions(a.Aggs)
	for _, k := range a.Keys {
		if k, ok := k.(*plan.Alias); ok {
			defs[k.ID] = k.Child
		}
	}
	below := plan.OutputSet(a.Child)
	canon := map[string]bool{}
	for _, k := range a.Keys {
		canon[plan.Canon(k)] = true
	}
	var failed error
	lowered := map[plan.Expr]plan.Expr{}
	may := func(e plan.Expr) bool {
		if !deterministic(e) {
			return false
		}
		low, err := substitute(e, defs)
		if err != nil {
			failed = err
			return false
		}
		lowered[e] = low
		// A condition without columns stays above, as in Spark: the grouping keeps its state although nothing comes out.
		return deterministic(low) && len(plan.References(e)) > 0 && below.Within(low) && onKeys(low, canon)
	}
	var low, high []plan.Expr
	for _, c := range plan.Conjuncts(f.Cond) {
		if may(c) {
			low = append(low, lowered[c])
		} else {
			high = append(high, c)
		}
	}
	if failed != nil || len(low) == 0 {
		return f, failed
	}
	n, err := plan.MapChildren(a, func(c plan.Node) (plan.Node, error) {
		return &plan.Filter{Cond: plan.And(low...), Child: c}, nil
	})
	if err != nil || len(high) == 0 {
		return n, err
	}
	return &plan.Filter{Cond: plan.And(high...), Child: n}, nil
}

// onKeys tells whether an expression reads columns only through grouping keys.
func onKeys(e plan.Expr, keys map[string]bool) bool {
	if keys[plan.Canon(e)] {
		return true
	}
	if _, ok := e.(*plan.Attr); ok {
		return false
	}
	for _, k := range e.Kids() {
		if !onKeys(k, keys) {
			return false
		}
	}
	return true
}

func throughUnion(f *plan.Filter, u *plan.Union) (plan.Node, error) {
	if !deterministic(f.Cond) {
		return f, nil
	}
	return plan.MapChildren(u, func(c plan.Node) (plan.Node, error) {
		defs := map[plan.ID]plan.Expr{}
		for i, a := range c.Output() {
			defs[u.Out[i].ID] = a
		}
		cond, err := substitute(f.Cond, defs)
		if err != nil {
			return nil, err
		}
		return &plan.Filter{Cond: cond, Child: c}, nil
	})
}

// sides tells into which inputs of a join conditions may move: those above the join, and those of its ON clause.
func sides(k plan.JoinKind) (above, on [2]bool) {
	switch k {
	case plan.Inner, plan.Cross:
		return [2]bool{true, true}, [2]bool{true, true}
	case plan.LeftOuter:
		return [2]bool{true, false}, [2]bool{false, true}
	case plan.RightOuter:
		return [2]bool{false, true}, [2]bool{true, false}
	case plan.LeftSemi:
		return [2]bool{true, false}, [2]bool{true, true}
	case plan.LeftAnti, plan.Existence:
		return [2]bool{true, false}, [2]bool{false, true}
	}
	return above, on
}

func throughJoin(f *plan.Filter, j *plan.Join) plan.Node {
	if kind := plainer(f, j); kind != j.Kind {
		plain := *j
		plain.Kind = kind
		return &plan.Filter{Cond: f.Cond, Child: &plain}
	}
	above, _ := sides(j.Kind)
	left, right, rest := bySide(plan.Conjuncts(f.Cond), j, above)
	if len(left)+len(right) == 0 {
		if (j.Kind == plan.Inner || j.Kind == plan.Cross) && deterministic(f.Cond) {
			return withCond(j, j.Left, j.Right, append(condOf(j), rest...))
		}
		return f
	}
	n := withCond(j, filtered(j.Left, left), filtered(j.Right, right), condOf(j))
	if len(rest) == 0 {
		return n
	}
	return &plan.Filter{Cond: plan.And(rest...), Child: n}
}

func condOf(j *plan.Join) []plan.Expr {
	if j.Cond == nil {
		return nil
	}
	return plan.Conjuncts(j.Cond)
}

// pushOn moves the conjuncts of an ON clause that look at one side only.
func pushOn(j *plan.Join) plan.Node {
	_, on := sides(j.Kind)
	left, right, rest := bySide(condOf(j), j, on)
	if len(left)+len(right) == 0 {
		return j
	}
	return withCond(j, filtered(j.Left, left), filtered(j.Right, right), rest)
}

func bySide(conjuncts []plan.Expr, j *plan.Join, may [2]bool) (left, right, rest []plan.Expr) {
	l, r := plan.OutputSet(j.Left), plan.OutputSet(j.Right)
	for _, c := range conjuncts {
		switch {
		case len(plan.References(c)) == 0 || !deterministic(c):
			rest = append(rest, c)
		case may[0] && l.Within(c):
			left = append(left, c)
		case may[1] && r.Within(c):
			right = append(right, c)
		default:
			rest = append(rest, c)
		}
	}
	return left, right, rest
}

func filtered(n plan.Node, conds []plan.Expr) plan.Node {
	if len(conds) == 0 {
		return n
	}
	return &plan.Filter{Cond: plan.And(conds...), Child: n}
}

func withCond(j *plan.Join, left, right plan.Node, conds []plan.Expr) *plan.Join {
	out := *j
	out.Left, out.Right, out.Cond = left, right, plan.And(conds...)
	if out.Cond != nil && out.Kind == plan.Cross {
		out.Kind = plan.Inner
	}
	return &out
}

// scanFilters tells a scan what its rows will be filtered by.
func scanFilters(n plan.Node) (plan.Node, error) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, nil
	}
	s, ok := f.Child.(*plan.Scan)
	if !ok {
		return n, nil
	}
	scan := *s
	scan.Filters = plan.Conjuncts(f.Cond)
	return &plan.Filter{Cond: f.Cond, Child: &scan}, nil
}
