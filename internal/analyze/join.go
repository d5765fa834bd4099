package analyze

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// join resolves a join. Where both sides hold the same columns, the right side gets new identities.
func (r *resolver) join(n *plan.Join) (plan.Node, error) {
	left, err := r.node(n.Left)
	if err != nil {
		return nil, err
	}
	if n.Lateral {
		return r.lateral(n, left)
	}
	right, err := r.node(n.Right)
	if err != nil {
		return nil, err
	}
	if right, err = apart(left, right); err != nil {
		return nil, err
	}
	j := &plan.Join{Left: left, Right: right, Kind: n.Kind}
	using := n.Using
	if n.Natural {
		for _, a := range visible(left.Output()) {
			if slices.ContainsFunc(visible(right.Output()), func(b *plan.Attr) bool { return r.eq(a.Name, b.Name) }) {
				using = append(using, a.Name)
			}
		}
	}
	if len(using) > 0 {
		out, err := r.using(j, using, n.Origin)
		return out, at(err, n.Origin)
	}
	if n.Cond == nil {
		return j, nil
	}
	sc := r.over(left, right)
	cond, err := sc.expr(n.Cond)
	if err != nil {
		return nil, err
	}
	cond = plan.Trim(cond)
	if !isBool(cond) {
		return nil, errclass.New("JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", "joinCondition", errclass.Expr(cond.SQL()),
			"conditionType", errclass.Expr(plan.TypeOf(cond).SQL()))
	}
	if plan.Exists(cond, isGen) {
		return nil, generatorOutside((&plan.Join{Kind: n.Kind, Left: left, Right: right, Cond: cond}).Label())
	}
	if bad := firstOf(cond, func(e plan.Expr) bool { return isAgg(e) || isOver(e) }); bad != nil {
		return nil, errclass.New("UNSUPPORTED_EXPR_FOR_OPERATOR", "invalidExprSqls", errclass.Expr(bad.SQL()))
	}
	if s, ok := firstOf(cond, isSubquery).(*plan.Subquery); ok && s.Kind == plan.SubqueryScalar && len(s.Outer) > 0 {
		return nil, at(errclass.New("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY", "treeNode", n.Label()), n.Origin)
	}
	if plan.Exists(cond, IsRandom) {
		return nil, errclass.New("INVALID_NON_DETERMINISTIC_EXPRESSIONS", "sqlExprs", errclass.Expr(cond.SQL()))
	}
	children, more, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	out := j.Output()
	j.Left, j.Right, j.Cond = children[0], children[1], cond
	if more {
		return narrow(j, out), nil
	}
	return j, nil
}

func firstOf(e plan.Expr, p func(plan.Expr) bool) plan.Expr {
	var found plan.Expr
	plan.Exists(e, func(e plan.Expr) bool {
		if p(e) {
			found = e
		}
		return found != nil
	})
	return found
}

// using resolves USING and NATURAL: the named columns are compared and appear once.
func (r *resolver) using(j *plan.Join, names []string, o plan.Origin) (plan.Node, error) {
	var cond plan.Expr
	var leftKeys, rightKeys []*plan.Attr
	for _, name := range names {
		l, err := r.usingColumn(j.Left, name, "left")
		if err != nil {
			return nil, err
		}
		rt, err := r.usingColumn(j.Right, name, "right")
		if err != nil {
			return nil, err
		}
		leftKeys, rightKeys = append(leftKeys, l), append(rightKeys, rt)
		eq, err := r.over().call("==", []plan.Expr{l, rt}, o)
		if err != nil {
			return nil, err
		}
		cond = plan.And(cond, eq)
	}
	j.Cond = cond
	byID := map[plan.ID]*plan.Attr{} // as the join gives them: padded sides are nullable
	for _, a := range j.Output() {
		byID[a.ID] = a
	}
	isKey := plan.IDSet{}
	for i := range names {
		isKey[leftKeys[i].ID], isKey[rightKeys[i].ID] = struct{}{}, struct{}{}
	}
	p := &plan.Project{Child: j}
	for i := range names {
		l, rt := byID[leftKeys[i].ID], byID[rightKeys[i].ID]
		switch j.Kind {
		case plan.LeftSemi, plan.LeftAnti:
			p.Cols = append(p.Cols, l)
		case plan.RightOuter:
			p.Cols, p.Hidden = append(p.Cols, rt), append(p.Hidden, l)
		case plan.FullOuter:
			c := &plan.Cond{Op: plan.OpCoalesce, Args: []plan.Expr{l, rt}, T: l.T, Name: "coalesce", Null: l.Null && rt.Null}
			if t, ok := r.common([]types.DataType{l.T, rt.T}); ok {
				c.T, c.Args = t, []plan.Expr{r.to(l, t), r.to(rt, t)}
			}
			p.Cols, p.Hidden = append(p.Cols, plan.NewAlias(c, l.Name)), append(p.Hidden, l, rt)
		default:
			p.Cols, p.Hidden = append(p.Cols, l), append(p.Hidden, rt)
		}
	}
	for _, a := range visible(j.Output()) {
		if !isKey.Has(a.ID) {
			p.Cols = append(p.Cols, a)
		}
	}
	return p, nil
}

func (r *resolver) usingColumn(n plan.Node, name, side string) (*plan.Attr, error) {
	sc := r.over(n)
	e, err := sc.match([]string{name}, sc.named)
	if err != nil {
		return nil, err
	}
	if a, ok := e.(*plan.Attr); ok {
		return a, nil
	}
	have := make([]string, 0, len(sc.attrs))
	for _, a := range visible(sc.attrs) {
		have = append(have, errclass.Ident(a.Name))
	}
	slices.Sort(have)
	return nil, errclass.New("UNRESOLVED_USING_COLUMN_FOR_JOIN", "colName", errclass.Ident(name), "side", side, "suggestion", strings.Join(have, ", "))
}

// apart gives the right relation new identities when it shares columns with the left one.
func apart(left, right plan.Node) (plan.Node, error) {
	have := plan.OutputSet(left)
	for _, a := range hiddenOf(left) {
		have[a.ID] = struct{}{}
	}
	shared := plan.IDSet{}
	for _, a := range slices.Concat(right.Output(), hiddenOf(right)) {
		if have.Has(a.ID) {
			shared.AddAll(a)
		}
	}
	if len(shared) == 0 {
		return right, nil
	}
	return renewed(right, shared)
}

// fresh rebuilds a relation so that every column made in it has a new identity.
func fresh(n plan.Node) (plan.Node, error) { return renewed(n, nil) }

// renewed is fresh for the right side of a join that shares columns with the left one. Watermarks stay what they are, and so do streams: one
// that is used twice is one stream, unless a shared column is its own. Then, as in Spark, it is read by two sources.
func renewed(n plan.Node, shared plan.IDSet) (plan.Node, error) {
	ids := map[plan.ID]plan.ID{}
	renew := func(a *plan.Attr) *plan.Attr {
		id, ok := ids[a.ID]
		if !ok {
			id = plan.NewID()
			ids[a.ID] = id
		}
		c := *a
		c.ID = id
		return &c
	}
	all := func(attrs []*plan.Attr) []*plan.Attr {
		if attrs == nil {
			return nil
		}
		out := make([]*plan.Attr, len(attrs))
		for i, a := range attrs {
			out[i] = renew(a)
		}
		return out
	}
	expr := func(e plan.Expr) (plan.Expr, error) {
		switch e := e.(type) {
		case *plan.Attr:
			return renew(e), nil
		case *plan.Alias:
			c := *e
			c.ID = renew(&plan.Attr{ID: e.ID}).ID
			return &c, nil
		}
		return e, nil
	}
	return plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		switch x := n.(type) {
		case *plan.Scan:
			c := *x
			if x.Stream && slices.ContainsFunc(x.Out, func(a *plan.Attr) bool { return shared.Has(a.ID) }) {
				c.ID = plan.NewID()
			}
			c.Out, c.Hidden = all(x.Out), all(x.Hidden)
			n = &c
		case *plan.Local:
			n = &plan.Local{Out: all(x.Out), Rows: x.Rows}
		case *plan.Range:
			c := *x
			c.Out = all(x.Out)
			n = &c
		case *plan.Expand:
			c := *x
			c.Out = all(x.Out)
			n = &c
		case *plan.Generate:
			c := *x
			c.Out = all(x.Out)
			n = &c
		case *plan.Union:
			c := *x
			c.Out = all(x.Out)
			n = &c
		case *plan.Join:
			if x.Mark != nil {
				c := *x
				c.Mark = renew(x.Mark)
				n = &c
			}
		case *plan.Recursive:
			c := *x
			c.Out = all(x.Out)
			n = &c
		case *plan.RecursiveRef:
			c := *x
			c.Out = all(x.Out)
			n = &c
		case *plan.Project:
			c := *x
			c.Hidden = all(x.Hidden)
			n = &c
		}
		return plan.MapExprs(n, func(e plan.Expr) (plan.Expr, error) { return plan.TransformExprUp(e, expr) })
	})
}
