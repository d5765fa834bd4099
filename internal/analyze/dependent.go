package analyze

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// dependent rewrites a plan that uses columns of the query around it into one that does not, where conditions cannot simply be moved
// out: it runs for all sets of values that those columns have at once. Its rows come with the set that they belong to.
type dependent struct {
	r *resolver
	// domain has a row for each set of values.
	domain plan.Node
}

// sets returns the different rows of values that the query around a subquery gives for its references.
func (r *resolver) sets(child plan.Node, outer []plan.Expr) (plan.Node, error) {
	if child.Streaming() || len(outer) == 0 {
		return nil, errCorrelated
	}
	p := &plan.Project{Child: child}
	for _, e := range outer {
		p.Cols = append(p.Cols, keyAlias(e))
	}
	n, err := fresh(p)
	if err != nil {
		return nil, err
	}
	keys := exprsOf(n.Output())
	return &plan.Aggregate{Keys: keys, Aggs: keys, Child: n}, nil
}

// depend rewrites a plan over all rows of a relation. The result has the plan's own columns and, among others, those of the second
// result, one for each of outer.
func (r *resolver) depend(n, child plan.Node, outer []plan.Expr) (plan.Node, []*plan.Attr, error) {
	domain, err := r.sets(child, outer)
	if err != nil {
		return nil, nil, err
	}
	d := &dependent{r: r, domain: domain}
	return d.node(n)
}

// matching compares the columns of the query around with those of a set of values.
func (r *resolver) matching(outer []plan.Expr, cols []*plan.Attr) (plan.Expr, error) {
	var cond plan.Expr
	for i, e := range outer {
		eq, err := r.over().call("<=>", []plan.Expr{e, cols[i]}, plan.Origin{})
		if err != nil {
			return nil, err
		}
		cond = plan.And(cond, eq)
	}
	return cond, nil
}

// outerTo puts expressions in the place of references.
func outerTo[E plan.Expr](e plan.Expr, to []E) (plan.Expr, error) {
	return plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
		if o, ok := e.(*plan.OuterRef); ok {
			return to[o.Index], nil
		}
		return e, nil
	})
}

func ownOuter(n plan.Node) bool {
	return slices.ContainsFunc(n.Exprs(), func(e plan.Expr) bool { return plan.Exists(e, isOuter) })
}

// node gives the rows of a plan for each set of values, with the set's columns.
func (d *dependent) node(n plan.Node) (plan.Node, []*plan.Attr, error) {
	if !hasOuter(n) {
		dn, err := fresh(d.domain)
		if err != nil {
			return nil, nil, err
		}
		if _, none := n.(*plan.OneRow); none {
			return dn, dn.Output(), nil
		}
		return &plan.Join{Left: dn, Right: n, Kind: plan.Cross}, dn.Output(), nil
	}
	switch n := n.(type) {
	case *plan.Join:
		return d.join(n)
	case *plan.Union:
		return d.union(n)
	case *plan.SetOp:
		return d.setOp(n)
	}
	if len(n.Children()) != 1 {
		return nil, nil, errCorrelated
	}
	child, cols, err := d.node(n.Children()[0])
	if err != nil {
		return nil, nil, err
	}
	m, err := plan.MapExprs(n, func(e plan.Expr) (plan.Expr, error) { return outerTo(e, cols) })
	if err != nil {
		return nil, nil, err
	}
	switch x := m.(type) {
	case *plan.Aliased, *plan.View, *plan.Tagged, *plan.Filter, *plan.Hint, *plan.Generate:
		return m.WithChildren([]plan.Node{child}), cols, nil
	case *plan.Sort, *plan.Repartition: // orders nothing that comes out
		return child, cols, nil
	case *plan.Project:
		return &plan.Project{Cols: append(slices.Clone(x.Cols), exprsOf(cols)...), Child: child}, cols, nil
	case *plan.Distinct:
		return &plan.Distinct{Child: narrow(child, append(slices.Clone(visible(n.Children()[0].Output())), cols...))}, cols, nil
	case *plan.Expand:
		e := *x
		e.Child, e.Out, e.Lists = child, append(slices.Clone(x.Out), cols...), slices.Clone(x.Lists)
		for i, l := range e.Lists {
			e.Lists[i] = append(slices.Clone(l), exprsOf(cols)...)
		}
		return &e, cols, nil
	case *plan.Aggregate:
		if ownOuter(n) {
			return nil, nil, errCorrelated
		}
		return d.aggregate(x, child, cols)
	case *plan.WindowFuncs:
		w := &plan.WindowFuncs{Child: child}
		for _, c := range x.Cols {
			c, err := plan.TransformExpr(c, func(e plan.Expr) (plan.Expr, error) {
				if o, ok := e.(*plan.Over); ok {
					p := *o
					p.Partition = append(slices.Clone(o.Partition), exprsOf(cols)...)
					return &p, nil
				}
				return e, nil
			})
			if err != nil {
				return nil, nil, err
			}
			w.Cols = append(w.Cols, c)
		}
		return w, cols, nil
	case *plan.Limit:
		return d.limit(x.N, "<=", n.Children()[0], child, cols)
	case *plan.Offset:
		return d.limit(x.N, ">", n.Children()[0], child, cols)
	}
	return nil, nil, errCorrelated
}

// aggregate groups by set. A grouping without keys has a row for each set, also where its input has none: such a set comes in with one
// row that no aggregate looks at.
func (d *dependent) aggregate(a *plan.Aggregate, child plan.Node, cols []*plan.Attr) (plan.Node, []*plan.Attr, error) {
	out := *a
	if len(a.Keys) > 0 {
		out.Child = child
		out.Keys = append(slices.Clone(a.Keys), exprsOf(cols)...)
		out.Aggs = append(slices.Clone(a.Aggs), exprsOf(cols)...)
		return &out, cols, nil
	}
	dn, err := fresh(d.domain)
	if err != nil {
		return nil, nil, err
	}
	own := dn.Output()
	flag := plan.NewAlias(&plan.Literal{Value: true, T: types.Boolean}, "found")
	right := &plan.Project{Cols: append(exprsOf(child.Output()), flag), Child: child}
	cond, err := d.r.matching(exprsOf(own), cols)
	if err != nil {
		return nil, nil, err
	}
	real, err := d.r.over().call("isnotnull", []plan.Expr{nullableAttr(flag.Attr())}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	out.Child = &plan.Join{Left: dn, Right: right, Kind: plan.LeftOuter, Cond: cond}
	out.Keys, out.Aggs = exprsOf(own), nil
	for _, e := range a.Aggs {
		e, err := plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
			g, ok := e.(*plan.Agg)
			if !ok {
				return e, nil
			}
			c := *g
			c.Filter = plan.And(real, g.Filter)
			return &c, nil
		})
		if err != nil {
			return nil, nil, err
		}
		out.Aggs = append(out.Aggs, e)
	}
	out.Aggs = append(out.Aggs, exprsOf(own)...)
	return &out, own, nil
}

// limit keeps, of the rows of each set, those whose number stands in a relation to a bound.
func (d *dependent) limit(bound plan.Expr, op string, in, child plan.Node, cols []*plan.Attr) (plan.Node, []*plan.Attr, error) {
	o := &plan.Over{
		Fn: &plan.WindowFunc{Name: "row_number", T: types.Integer}, Partition: exprsOf(cols), Rows: true, Framed: true,
		Lo: plan.FrameBound{Unbounded: true},
	}
	for {
		if s, ok := in.(*plan.Sort); ok {
			o.Order = s.Orders
			break
		}
		switch in.(type) {
		case *plan.Aliased, *plan.Tagged, *plan.View, *plan.Project:
			in = in.Children()[0]
			continue
		}
		break
	}
	if len(o.Order) == 0 {
		for _, c := range cols {
			o.Order = append(o.Order, &plan.SortOrder{Child: c, NullsFirst: true})
		}
	}
	out := child.Output()
	for _, s := range o.Order {
		if plan.Exists(s, isOuter) {
			return nil, nil, errCorrelated
		}
		var ok bool
		if child, ok = expose(child, attrsOf(s)); !ok { // a key may have been left out of the select list
			return nil, nil, errCorrelated
		}
	}
	number := plan.NewAlias(o, "number")
	cond, err := d.r.over().call(op, []plan.Expr{number.Attr(), d.r.to(bound, types.Integer)}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	n := &plan.Filter{Cond: cond, Child: &plan.WindowFuncs{Cols: []plan.Expr{number}, Child: child}}
	return narrow(n, out), cols, nil
}

func attrsOf(e plan.Expr) []*plan.Attr {
	var out []*plan.Attr
	plan.WalkExpr(e, func(e plan.Expr) bool {
		if a, ok := e.(*plan.Attr); ok {
			out = append(out, a)
		}
		return true
	})
	return out
}

func (d *dependent) join(n *plan.Join) (plan.Node, []*plan.Attr, error) {
	left, right := hasOuter(n.Left), hasOuter(n.Right)
	if !left && !right { // only the condition
		left = n.Kind != plan.RightOuter
		right = !left
	}
	switch n.Kind { // the side whose rows come out without a partner
	case plan.FullOuter:
		left, right = true, true
	case plan.RightOuter:
		right = true
	case plan.LeftOuter, plan.LeftSemi, plan.LeftAnti, plan.Existence:
		left = true
	}
	j := *n
	var lc, rc []*plan.Attr
	var err error
	if left {
		if j.Left, lc, err = d.node(n.Left); err != nil {
			return nil, nil, err
		}
	}
	if right {
		if j.Right, rc, err = d.node(n.Right); err != nil {
			return nil, nil, err
		}
	}
	cols := lc
	if !left || n.Kind == plan.RightOuter {
		cols = rc
	}
	if n.Cond != nil {
		if j.Cond, err = outerTo(n.Cond, cols); err != nil {
			return nil, nil, err
		}
	}
	if left && right {
		eq, err := d.r.matching(exprsOf(lc), rc)
		if err != nil {
			return nil, nil, err
		}
		j.Cond = plan.And(j.Cond, eq)
		if n.Kind == plan.Cross {
			j.Kind = plan.Inner
		}
	}
	if n.Kind == plan.FullOuter { // a set's columns come from the side that has the row
		p := &plan.Project{Cols: exprsOf(visible(n.Output())), Child: &j}
		var own []*plan.Attr
		for i := range lc {
			c := &plan.Cond{Op: plan.OpCoalesce, Args: []plan.Expr{nullableAttr(lc[i]), nullableAttr(rc[i])}, T: lc[i].T, Null: true, Name: "coalesce"}
			a := plan.NewAlias(c, lc[i].Name)
			p.Cols, own = append(p.Cols, a), append(own, a.Attr())
		}
		return p, own, nil
	}
	return &j, cols, nil
}

func (d *dependent) union(n *plan.Union) (plan.Node, []*plan.Attr, error) {
	u := *n
	u.Inputs = nil
	var cols []*plan.Attr
	for _, in := range n.Inputs {
		out := visible(in.Output())
		x, c, err := d.node(in)
		if err != nil {
			return nil, nil, err
		}
		if cols == nil {
			for _, a := range c {
				cols = append(cols, plan.NewAttr(a.Name, a.T, a.Null))
			}
		}
		u.Inputs = append(u.Inputs, narrow(x, append(slices.Clone(out), c...)))
	}
	u.Out = append(slices.Clone(n.Out), cols...)
	return &u, cols, nil
}

func (d *dependent) setOp(n *plan.SetOp) (plan.Node, []*plan.Attr, error) {
	left, lc, err := d.node(n.Left)
	if err != nil {
		return nil, nil, err
	}
	right, rc, err := d.node(n.Right)
	if err != nil {
		return nil, nil, err
	}
	s := *n
	s.Left = narrow(left, append(slices.Clone(visible(n.Left.Output())), lc...))
	s.Right = narrow(right, append(slices.Clone(visible(n.Right.Output())), rc...))
	return &s, lc, nil
}

// lateral resolves a LATERAL join, whose right side sees the columns of the left one.
func (r *resolver) lateral(n *plan.Join, left plan.Node) (plan.Node, error) {
	if g := generatorOf(n); g != nil {
		g.Child = left
		return r.generate(g, true)
	}
	inner := *r
	inner.outer, inner.used, inner.sameLevel = r.over(left), new([]plan.Expr), false
	right, err := inner.node(n.Right)
	if err != nil {
		return nil, err
	}
	if right, err = r.unnest(right); err != nil {
		return nil, err
	}
	if right, err = apart(left, right); err != nil {
		return nil, err
	}
	outer := *inner.used
	own := visible(right.Output())
	j := &plan.Join{Left: left, Right: right, Kind: n.Kind}
	var on plan.Expr
	if n.Cond != nil {
		if on, err = r.over(left, right).expr(n.Cond); err != nil {
			return nil, err
		}
		if on = plan.Trim(on); !isBool(on) {
			return nil, errclass.New("JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", "joinCondition", errclass.Expr(on.SQL()),
				"conditionType", errclass.Expr(plan.TypeOf(on).SQL()))
		}
	}
	want := append(slices.Clone(left.Output()), own...)
	if n.Kind == plan.LeftOuter {
		want = append(slices.Clone(left.Output()), nullableAll(own)...)
	}
	if hasOuter(right) {
		if x, ok := inline(right, left, outer); ok && n.Kind != plan.LeftOuter {
			if on != nil {
				x = &plan.Filter{Cond: on, Child: x}
			}
			return &plan.Project{Cols: exprsOf(want), Child: x}, nil // the columns keep the name of the lateral side
		}
		dep, cols, err := r.pulledOrDepend(right, left, outer)
		if err != nil {
			if err == errCorrelated {
				err = correlated(&plan.Subquery{Outer: outer})
			}
			return nil, err
		}
		j.Right, j.Cond = dep, cols
	}
	j.Cond = plan.And(j.Cond, on)
	if j.Cond != nil && j.Kind == plan.Cross {
		j.Kind = plan.Inner
	}
	return narrow(j, want), nil
}

func nullableAll(attrs []*plan.Attr) []*plan.Attr {
	out := make([]*plan.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = nullableAttr(a)
	}
	return out
}

// pulledOrDepend makes a lateral side stand by itself, and the condition that joins it.
func (r *resolver) pulledOrDepend(right, left plan.Node, outer []plan.Expr) (plan.Node, plan.Expr, error) {
	if !oneRow(right) {
		p := &puller{kind: plan.SubqueryScalar}
		if n, err := p.node(right); err == nil && !hasOuter(n) {
			cond, err := outerTo(plan.And(p.conds...), outer)
			return n, cond, err
		}
	}
	n, cols, err := r.depend(right, left, outer)
	if err != nil {
		return nil, nil, err
	}
	cond, err := r.matching(outer, cols)
	return n, cond, err
}

// inline puts a lateral side that only computes with the left row on top of the left side.
func inline(n, left plan.Node, outer []plan.Expr) (plan.Node, bool) {
	switch n := n.(type) {
	case *plan.OneRow:
		return left, true
	case *plan.Aliased:
		return inline(n.Child, left, outer)
	case *plan.Project, *plan.Filter:
		child, ok := inline(n.Children()[0], left, outer)
		if !ok {
			return nil, false
		}
		m, err := plan.MapExprs(n, func(e plan.Expr) (plan.Expr, error) { return outerTo(e, outer) })
		if err != nil {
			return nil, false
		}
		if p, ok := m.(*plan.Project); ok {
			return &plan.Project{Cols: append(exprsOf(child.Output()), p.Cols...), Child: child}, true
		}
		return m.WithChildren([]plan.Node{child}), true
	}
	return nil, false
}

// generatorOf is a LATERAL join with a table function of generated rows as the generator over the left side that it is; nil for
// another one.
func generatorOf(n *plan.Join) *plan.Generate {
	right, alias := n.Right, ""
	var names []string
	if a, ok := right.(*plan.Aliased); ok {
		right, alias, names = a.Child, a.Name, a.Columns
	}
	t, ok := right.(*plan.TableFunc)
	if !ok || !isGenerator(lowerLast(t.Name)) || n.Kind != plan.Inner && n.Kind != plan.Cross && n.Kind != plan.LeftOuter {
		return nil
	}
	if l, always := n.Cond.(*plan.Literal); n.Cond != nil && (!always || l.Value != true) {
		return nil
	}
	return &plan.Generate{
		Gen: &plan.Func{Name: t.Name, Args: t.Args, ArgNames: t.ArgNames, Origin: t.Origin}, Outer: n.Kind == plan.LeftOuter, Qualifier: alias, Names: names,
	}
}
