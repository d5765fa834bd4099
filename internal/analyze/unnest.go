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
	p, err := u.pull(s)
	if err != nil {
		return err
	}
	j := &plan.Join{Left: u.child, Right: p.plan, Kind: plan.LeftSemi, Cond: p.cond()}
	if anti {
		j.Kind = plan.LeftAnti
	}
	if s.Kind == plan.SubqueryIn {
		sc := u.r.over()
		for i, a := range visible(p.plan.Output())[:len(s.Values)] {
			eq, err := sc.call("==", []plan.Expr{s.Values[i], a}, plan.Origin{})
			if err != nil {
				return err
			}
			if anti && plan.NullableOf(eq) { // NOT IN holds only where no comparison is unknown
				unknown, err := sc.call("isnull", []plan.Expr{eq}, plan.Origin{})
				if err != nil {
					return err
				}
				eq = &plan.Cond{Op: plan.OpOr, Args: []plan.Expr{eq, unknown}, T: types.Boolean, Null: true, Name: "or"}
			}
			j.Cond = plan.And(j.Cond, eq)
		}
	}
	u.child = j
	return nil
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
		case plan.SubqueryExists:
			x, err = u.exists(&c)
		default:
			x, err = u.in(&c, isNot)
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
	if err != nil {
		return nil, err
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
	return singleValue(nullableAttr(n.Attr()), nullableAttr(v.Attr())), nil
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

// exists is EXISTS as a value.
func (u *unnester) exists(s *plan.Subquery) (plan.Expr, error) {
	p, err := u.pull(s)
	if err != nil {
		return nil, err
	}
	count, err := u.aggregate("count", one())
	if err != nil {
		return nil, err
	}
	n := plan.NewAlias(count, "rows")
	if err := u.grouped(p, s, n); err != nil {
		return nil, err
	}
	known := &plan.Cond{
		Op: plan.OpCoalesce, Args: []plan.Expr{nullableAttr(n.Attr()), longLit(0)}, T: types.Long, Name: "coalesce",
	}
	return u.r.over().call(">", []plan.Expr{known, longLit(0)}, plan.Origin{})
}

// in is IN or NOT IN as a value. As in Spark it is false, not unknown, where a null is in the way.
func (u *unnester) in(s *plan.Subquery, not bool) (plan.Expr, error) {
	if len(s.Values) != 1 || len(s.Outer) > 0 {
		return nil, correlated(s)
	}
	p, err := u.pull(s)
	if err != nil {
		return nil, err
	}
	col := visible(p.plan.Output())[0]
	all, err := u.aggregate("count", one())
	if err != nil {
		return nil, err
	}
	notNull, err := u.aggregate("count", col)
	if err != nil {
		return nil, err
	}
	n, nn := plan.NewAlias(all, "rows"), plan.NewAlias(notNull, "values")
	if not {
		u.child = &plan.Join{Left: u.child, Right: &plan.Aggregate{Aggs: []plan.Expr{n, nn}, Child: p.plan}, Kind: plan.Cross}
	}
	right, err := fresh(&plan.Project{Cols: []plan.Expr{col}, Child: p.plan})
	if err != nil {
		return nil, err
	}
	key := right.Output()[0]
	flag := plan.NewAlias(&plan.Literal{Value: true, T: types.Boolean}, "found")
	k := plan.NewAlias(key, key.Name)
	sc := u.r.over()
	eq, err := sc.call("==", []plan.Expr{s.Values[0], k.Attr()}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	right = &plan.Aggregate{Keys: []plan.Expr{key}, Aggs: []plan.Expr{k, flag}, Child: right}
	u.child = &plan.Join{Left: u.child, Right: right, Kind: plan.LeftOuter, Cond: eq}
	hit, err := sc.call("isnotnull", []plan.Expr{nullableAttr(flag.Attr())}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	yes, no := &plan.Literal{Value: true, T: types.Boolean}, &plan.Literal{Value: false, T: types.Boolean}
	if !not {
		return &plan.Cond{Op: plan.OpIf, Args: []plan.Expr{hit, yes, no}, T: types.Boolean, Null: s.Nullable(), Name: "if", Text: s.SQL()}, nil
	}
	return u.absence(s, hit, n.Attr(), nn.Attr())
}

// absence is NOT IN: nothing was hit, and no comparison was unknown.
func (u *unnester) absence(s *plan.Subquery, hit, rows, values plan.Expr) (plan.Expr, error) {
	sc := u.r.over()
	none, err := sc.call("==", []plan.Expr{rows, longLit(0)}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	null, err := sc.call("isnull", []plan.Expr{s.Values[0]}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	hasNull, err := sc.call("<", []plan.Expr{values, rows}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	unknown := &plan.Cond{Op: plan.OpOr, Args: []plan.Expr{null, hasNull}, T: types.Boolean, Name: "or"}
	yes, no := &plan.Literal{Value: true, T: types.Boolean}, &plan.Literal{Value: false, T: types.Boolean}
	return &plan.Cond{
		Op: plan.OpCase, Args: []plan.Expr{hit, no, none, yes, unknown, no, yes}, T: types.Boolean, Null: s.Nullable(), Name: "case",
	}, nil
}

// singleValue gives the value of a scalar subquery, or fails where it had several rows.
func singleValue(rows, value *plan.Attr) plan.Expr {
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
	return &plan.Call{Fn: f, Bound: bound, Name: f.Name, Args: []plan.Expr{rows, value}, Text: "scalarsubquery()"}
}
