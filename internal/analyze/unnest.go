package analyze

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func isSubquery(e plan.Expr) bool { _, ok := e.(*plan.Subquery); return ok }

// unnest replaces the subqueries of a resolved plan by joins: IN and EXISTS that stand alone in a filter by semi and anti joins, values by
// outer joins with one row for each set of correlated columns.
func (r *resolver) unnest(n plan.Node) (plan.Node, error) {
	return plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		if !slices.ContainsFunc(n.Exprs(), func(e plan.Expr) bool { return plan.Exists(e, isSubquery) }) {
			return n, nil
		}
		if f, ok := n.(*plan.Filter); ok {
			return r.unnestFilter(f)
		}
		if j, ok := n.(*plan.Join); ok {
			return r.unnestJoin(j)
		}
		children := n.Children()
		if len(children) != 1 {
			return nil, notHere(n)
		}
		u := &unnester{r: r, child: children[0], done: map[string]plan.Expr{}}
		m, err := plan.MapExprs(n, u.expr)
		if err != nil {
			return nil, err
		}
		return narrow(m.WithChildren([]plan.Node{u.child}), n.Output()), nil
	})
}

func notHere(n plan.Node) error {
	return errclass.New("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_IN_EXISTS_SUBQUERY", "treeNode", n.Label())
}

func correlated(s *plan.Subquery) error {
	texts := ""
	for i, e := range s.Outer {
		if i > 0 {
			texts += ", "
		}
		texts += errclass.Expr(e.SQL())
	}
	return errclass.New("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE", "sqlExprs", texts)
}

// unnestFilter turns the conjuncts of a filter that are IN or EXISTS into joins.
func (r *resolver) unnestFilter(f *plan.Filter) (plan.Node, error) {
	u := &unnester{r: r, child: f.Child, done: map[string]plan.Expr{}}
	var rest plan.Expr
	for _, c := range plan.Conjuncts(f.Cond) {
		s, anti := c, false
		if not, ok := c.(*plan.Call); ok && not.Fn.Name == "not" {
			s, anti = not.Args[0], true
		}
		if q, ok := s.(*plan.Subquery); ok && q.Kind != plan.SubqueryScalar {
			if err := u.semi(q, anti); err != nil {
				return nil, err
			}
			continue
		}
		x, err := u.expr(c)
		if err != nil {
			return nil, err
		}
		rest = plan.And(rest, x)
	}
	n := u.child
	if rest != nil {
		n = &plan.Filter{Cond: rest, Child: n}
	}
	return narrow(n, f.Output()), nil
}

// unnestJoin takes the subqueries out of a join's condition: to the side whose columns they use or, of an inner join, above it.
func (r *resolver) unnestJoin(j *plan.Join) (plan.Node, error) {
	out := *j
	left := &unnester{r: r, child: j.Left, done: map[string]plan.Expr{}}
	right := &unnester{r: r, child: j.Right, done: map[string]plan.Expr{}}
	rightCols, leftCols := plan.OutputSet(j.Right), plan.OutputSet(j.Left)
	var on, above plan.Expr
	for _, c := range plan.Conjuncts(j.Cond) {
		switch {
		case !plan.Exists(c, isSubquery):
			on = plan.And(on, c)
		case j.Kind == plan.Inner || j.Kind == plan.Cross:
			above = plan.And(above, c)
		default:
			x, err := plan.TransformExpr(c, func(e plan.Expr) (plan.Expr, error) {
				s, ok := e.(*plan.Subquery)
				switch {
				case !ok:
					return e, nil
				case rightCols.Within(s):
					return right.expr(s)
				case leftCols.Within(s):
					return left.expr(s)
				}
				return nil, notHere(j)
			})
			if err != nil {
				return nil, err
			}
			on = plan.And(on, x)
		}
	}
	out.Left, out.Right, out.Cond = left.child, right.child, on
	var n plan.Node = &out
	if above != nil {
		return r.unnestFilter(&plan.Filter{Cond: above, Child: n})
	}
	return narrow(n, j.Output()), nil
}

// unnester collects the joins that the subqueries of one node need.
type unnester struct {
	r     *resolver
	child plan.Node
	done  map[string]plan.Expr
}

// pulled is a subquery's plan without references to the query around it, and the conditions that were made of them.
type pulled struct {
	plan  plan.Node
	conds []plan.Expr
	// single is set when there is at most one row for each set of values of the correlated columns.
	single bool
	// empty is the value over no rows of a grouping without keys, nil when that is NULL.
	empty plan.Expr
}

// pull prepares a subquery for a join with the child.
func (u *unnester) pull(s *plan.Subquery) (*pulled, error) {
	n, err := fresh(s.Plan) // columns inside may come to its output, and be those of the child
	if err != nil {
		return nil, err
	}
	if n, err = u.r.unnest(n); err != nil {
		return nil, err
	}
	p := &puller{kind: s.Kind}
	out := &pulled{single: oneRow(n)}
	if s.Kind == plan.SubqueryScalar && len(s.Outer) > 0 && out.single {
		if out.empty, err = emptyValue(n, visible(n.Output())[0].ID); err != nil {
			return nil, correlated(s)
		}
	}
	if out.plan, err = p.node(n); err != nil {
		return nil, correlated(s)
	}
	if hasOuter(out.plan) {
		return nil, correlated(s)
	}
	for _, c := range p.conds {
		x, err := plan.TransformExprUp(c, func(e plan.Expr) (plan.Expr, error) {
			if o, ok := e.(*plan.OuterRef); ok {
				return s.Outer[o.Index], nil
			}
			return e, nil
		})
		if err != nil {
			return nil, err
		}
		out.conds = append(out.conds, x)
	}
	return out, nil
}

func (p *pulled) cond() plan.Expr { return plan.And(p.conds...) }

// semi joins the child with a subquery that is a condition of its own.
func (u *unnester) semi(s *plan.Subquery, anti bool) error {
	n, cond, err := u.partner(s, anti)
	if err != nil {
		return err
	}
	j := &plan.Join{Left: u.child, Right: n, Kind: plan.LeftSemi, Cond: cond}
	if anti {
		j.Kind = plan.LeftAnti
	}
	u.child = j
	return nil
}

// partner is the relation in which EXISTS or IN looks for a partner of each row, and the condition. With orUnknown, a comparison that
// is unknown counts as one that is true.
func (u *unnester) partner(s *plan.Subquery, orUnknown bool) (plan.Node, plan.Expr, error) {
	var cond plan.Expr
	p, err := u.pull(s)
	if err != nil {
		n, _, derr := u.independent(s)
		if derr != nil {
			return nil, nil, err
		}
		p = n
	}
	cond = p.cond()
	if s.Kind != plan.SubqueryIn {
		return p.plan, cond, nil
	}
	sc := u.r.over()
	for i, a := range visible(p.plan.Output())[:len(s.Values)] {
		eq, err := sc.call("==", []plan.Expr{s.Values[i], a}, plan.Origin{})
		if err != nil {
			return nil, nil, err
		}
		if orUnknown && plan.NullableOf(eq) {
			unknown, err := sc.call("isnull", []plan.Expr{eq}, plan.Origin{})
			if err != nil {
				return nil, nil, err
			}
			eq = &plan.Cond{Op: plan.OpOr, Args: []plan.Expr{eq, unknown}, T: types.Boolean, Null: true, Name: "or"}
		}
		cond = plan.And(cond, eq)
	}
	return p.plan, cond, nil
}

// independent prepares a subquery from which conditions cannot simply be moved out.
func (u *unnester) independent(s *plan.Subquery) (*pulled, []*plan.Attr, error) {
	n, err := fresh(s.Plan)
	if err != nil {
		return nil, nil, err
	}
	if n, err = u.r.unnest(n); err != nil {
		return nil, nil, err
	}
	own := visible(n.Output())
	n, cols, err := u.r.depend(n, u.child, s.Outer)
	if err != nil {
		return nil, nil, err
	}
	cond, err := u.r.matching(s.Outer, cols)
	if err != nil {
		return nil, nil, err
	}
	return &pulled{plan: narrow(n, append(slices.Clone(own), cols...)), conds: []plan.Expr{cond}}, cols, nil
}

// expr replaces the subqueries in an expression by columns that joins with the child provide.
func (u *unnester) expr(e plan.Expr) (plan.Expr, error) {
	return plan.TransformExpr(e, func(e plan.Expr) (plan.Expr, error) {
		s, ok := e.(*plan.Subquery)
		not, isNot := e.(*plan.Call)
		isNot = isNot && not.Fn.Name == "not"
		if isNot {
			s, ok = not.Args[0].(*plan.Subquery)
			ok = ok && s.Kind == plan.SubqueryIn
		}
		if !ok {
			return e, nil
		}
		key := plan.Canon(e)
		if x := u.done[key]; x != nil {
			return x, nil
		}
		values, err := u.exprs(s.Values)
		if err != nil {
			return nil, err
		}
		c := *s
		c.Values = values
		var x plan.Expr
		switch s.Kind {
		case plan.SubqueryScalar:
			x, err = u.scalar(&c)
		default:
			x, err = u.mark(&c, isNot)
		}
		u.done[key] = x
		return x, err
	})
}

func (u *unnester) exprs(es []plan.Expr) ([]plan.Expr, error) {
	out := make([]plan.Expr, len(es))
	for i, e := range es {
		var err error
		if out[i], err = u.expr(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (u *unnester) aggregate(name string, args ...plan.Expr) (plan.Expr, error) {
	return u.r.over().aggregateCall(name, u.r.aggregateFunction(name), &plan.Func{Name: []string{name}, Args: args})
}

func one() plan.Expr { return &plan.Literal{Value: int32(1), T: types.Integer} }

// scalar joins with the one row that a subquery has, or has for each row of the child.
func (u *unnester) scalar(s *plan.Subquery) (plan.Expr, error) {
	p, err := u.pull(s)
	if err == nil && !p.single && !u.groupable(p) {
		err = errCorrelated
	}
	if err != nil {
		x, derr := u.scalarOfSets(s)
		if derr != nil {
			return nil, correlated(s)
		}
		return x, nil
	}
	value := visible(p.plan.Output())[0]
	if len(p.conds) == 0 && p.single {
		u.child = &plan.Join{Left: u.child, Right: p.plan, Kind: plan.LeftOuter}
		return nullableAttr(value), nil
	}
	if p.single {
		flag := plan.NewAlias(&plan.Literal{Value: true, T: types.Boolean}, "found")
		right := &plan.Project{Cols: append(exprsOf(p.plan.Output()), flag), Child: p.plan}
		u.child = &plan.Join{Left: u.child, Right: right, Kind: plan.LeftOuter, Cond: p.cond()}
		if p.empty == nil {
			return nullableAttr(value), nil
		}
		found, err := u.r.over().call("isnotnull", []plan.Expr{nullableAttr(flag.Attr())}, plan.Origin{})
		if err != nil {
			return nil, err
		}
		return u.r.over().conditional([]plan.Expr{found, nullableAttr(value), p.empty}, "if", s.SQL())
	}
	first, err := u.aggregate("first", value)
	if err != nil {
		return nil, err
	}
	count, err := u.aggregate("count", one())
	if err != nil {
		return nil, err
	}
	v, n := plan.NewAlias(first, value.Name), plan.NewAlias(count, "rows")
	if err := u.grouped(p, s, v, n); err != nil {
		return nil, err
	}
	return singleValue(nullableAttr(n.Attr()), nullableAttr(v.Attr()), s.Origin), nil
}

// groupable tells whether a subquery's conditions are equations, by whose inner sides it can be grouped.
func (u *unnester) groupable(p *pulled) bool {
	inner := plan.OutputSet(p.plan)
	return !slices.ContainsFunc(p.conds, func(c plan.Expr) bool { _, _, ok := equality(c, inner); return !ok })
}

// scalarOfSets is the value of a subquery that is computed for all sets of values of the outer columns that it uses.
func (u *unnester) scalarOfSets(s *plan.Subquery) (plan.Expr, error) {
	p, cols, err := u.independent(s)
	if err != nil {
		return nil, err
	}
	value := visible(p.plan.Output())[0]
	first, err := u.aggregate("first", value)
	if err != nil {
		return nil, err
	}
	count, err := u.aggregate("count", one())
	if err != nil {
		return nil, err
	}
	v, n := plan.NewAlias(first, value.Name), plan.NewAlias(count, "rows")
	a := &plan.Aggregate{Keys: exprsOf(cols), Aggs: append(exprsOf(cols), v, n), Child: p.plan}
	u.child = &plan.Join{Left: u.child, Right: a, Kind: plan.LeftOuter, Cond: p.cond()}
	return singleValue(nullableAttr(n.Attr()), nullableAttr(v.Attr()), s.Origin), nil
}

// grouped joins with a grouping of a subquery by the columns that its conditions compare.
func (u *unnester) grouped(p *pulled, s *plan.Subquery, items ...plan.Expr) error {
	a := &plan.Aggregate{Child: p.plan}
	inner := plan.OutputSet(p.plan)
	var cond plan.Expr
	for _, c := range p.conds {
		in, out, ok := equality(c, inner)
		if !ok {
			return correlated(s)
		}
		k := keyAlias(in)
		a.Keys, a.Aggs = append(a.Keys, in), append(a.Aggs, k)
		eq, err := u.r.over().call(c.(*plan.Call).Fn.Name, []plan.Expr{plan.AttrOf(k), out}, plan.Origin{})
		if err != nil {
			return err
		}
		cond = plan.And(cond, eq)
	}
	a.Aggs = append(a.Aggs, items...)
	u.child = &plan.Join{Left: u.child, Right: a, Kind: plan.LeftOuter, Cond: cond}
	return nil
}

// keyAlias names a grouping key, with an identity of its own: the key's column may be in the output besides.
func keyAlias(e plan.Expr) *plan.Alias { return plan.NewAlias(e, e.SQL()) }

// equality splits an equation of a side over the subquery's columns and one over others.
func equality(c plan.Expr, inner plan.IDSet) (in, out plan.Expr, ok bool) {
	call, isCall := c.(*plan.Call)
	if !isCall || call.Fn == nil || call.Fn.Name != "==" && call.Fn.Name != "<=>" || len(call.Args) != 2 {
		return nil, nil, false
	}
	uses := func(e plan.Expr) bool {
		for id := range plan.References(e) {
			if inner.Has(id) {
				return true
			}
		}
		return false
	}
	a, b := call.Args[0], call.Args[1]
	switch {
	case inner.Within(a) && uses(a) && !uses(b):
		return a, b, true
	case inner.Within(b) && uses(b) && !uses(a):
		return b, a, true
	}
	return nil, nil, false
}

func nullableAttr(a *plan.Attr) *plan.Attr {
	c := *a
	c.Null = true
	return &c
}

// mark joins the child with a column that tells whether a row has a partner in the subquery. NOT IN is the absence of a partner
// with which the comparison is true or unknown.
func (u *unnester) mark(s *plan.Subquery, not bool) (plan.Expr, error) {
	n, cond, err := u.partner(s, not)
	if err != nil {
		return nil, err
	}
	flag := plan.NewAttr("exists", types.Boolean, s.Nullable())
	u.child = &plan.Join{Left: u.child, Right: n, Kind: plan.Existence, Cond: cond, Mark: flag}
	if !not {
		return flag, nil
	}
	return u.r.over().call("not", []plan.Expr{flag}, plan.Origin{})
}

// singleValue gives the value of a scalar subquery, or fails where it had several rows.
func singleValue(rows, value *plan.Attr, o plan.Origin) plan.Expr {
	f := &fn.Function{Name: "single_value"}
	bound := &fn.Bound{
		Args: make([]types.DataType, 2), Type: value.T, Nullable: true, NullsAreArgs: true, CanFail: true,
		New: func() fn.Kernel {
			return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
				counts := vec.Fixed[int64](args[0])
				for i := range n {
					if !args[0].IsNull(i) && counts[i] > 1 {
						e.Errs.Add(i, errclass.New("SCALAR_SUBQUERY_TOO_MANY_ROWS"))
					}
				}
				return args[1]
			}
		},
	}
	return &plan.Call{Fn: f, Bound: bound, Name: f.Name, Args: []plan.Expr{rows, value}, Text: "scalarsubquery()", Origin: o}
}
