package analyze

import (
	"slices"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/types"
)

// recursion is what a reference finds to a common table expression that is being resolved itself.
type recursion struct {
	id  plan.ID
	out []*plan.Attr
}

// recursive resolves a common table expression that refers to itself: UNION ALL of an anchor that does not and a step that does.
func (r *resolver) recursive(c *cte) (plan.Node, error) {
	body, columns := c.plan, []string(nil)
	if a, ok := body.(*plan.Aliased); ok {
		body, columns = a.Child, a.Columns
	}
	if d, ok := body.(*plan.Distinct); ok {
		if u, ok := d.Child.(*plan.Union); ok && len(u.Inputs) == 2 {
			return nil, at(errclass.New("UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE"), c.origin)
		}
	}
	u, ok := body.(*plan.Union)
	if !ok || len(u.Inputs) != 2 || refersTo(u.Inputs[0], c.name) {
		return nil, errclass.New("INVALID_RECURSIVE_CTE")
	}
	anchor, err := r.node(u.Inputs[0])
	if err != nil {
		return nil, err
	}
	first := visible(anchor.Output())
	if columns != nil {
		if len(columns) != len(first) {
			return nil, at(errclass.New("ASSIGNMENT_ARITY_MISMATCH", "numTarget", strconv.Itoa(len(first)), "numExpr", strconv.Itoa(len(columns))), c.columns)
		}
		anchor = renamed(anchor, first, columns)
		first = anchor.Output()
	}
	rec := &recursion{id: plan.NewID(), out: first}
	inner := *r
	inner.ctes = &cte{name: c.name, next: r.ctes, recursion: rec}
	step, err := inner.node(u.Inputs[1])
	if err != nil {
		return nil, err
	}
	placed := rightPlaces(step, rec.id)
	if step, err = apart(anchor, step); err != nil {
		return nil, err
	}
	more := visible(step.Output())
	if len(more) != len(first) {
		return nil, errclass.New("NUM_COLUMNS_MISMATCH", "operator", "UNION", "firstNumColumns", strconv.Itoa(len(first)),
			"invalidOrdinalNum", ordinal(2), "invalidNumColumns", strconv.Itoa(len(more)))
	}
	out := &plan.Recursive{ID: rec.id, Name: c.name, Anchor: narrow(anchor, first), Step: narrow(step, more), Levels: c.levels, Rows: 1_000_000}
	if out.Levels == 0 {
		out.Levels = r.number(setting.RecursionLevels, 100)
	}
	out.Rows = r.number(setting.RecursionRows, out.Rows)
	for i, a := range first {
		if !types.SameType(a.T, more[i].T) {
			return nil, errclass.New("CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", "left", errclass.Expr(a.T.SQL()), "right", errclass.Expr(more[i].T.SQL()))
		}
		out.Out = append(out.Out, plan.NewAttr(a.Name, a.T, a.Null || more[i].Null))
	}
	if !placed {
		return nil, errclass.New("INVALID_RECURSIVE_REFERENCE.PLACE")
	}
	return out, nil
}

// reference is the level before, seen by one reference. Whether its columns are null is not known yet.
func (c *recursion) reference(name string) plan.Node {
	ref := &plan.RecursiveRef{ID: c.id, Name: name}
	for _, a := range c.out {
		ref.Out = append(ref.Out, plan.NewAttr(a.Name, a.T, true))
	}
	return &plan.Aliased{Name: name, Child: ref}
}

// rightPlaces tells whether a step uses the level before only where a row more of it never takes a result back.
func rightPlaces(n plan.Node, id plan.ID) bool {
	switch n := n.(type) {
	case *plan.Aggregate, *plan.WindowFuncs, *plan.Sort:
		if plan.Refers(n, id) {
			return false
		}
	case *plan.Join:
		left, right := plan.Refers(n.Left, id), plan.Refers(n.Right, id)
		switch n.Kind {
		case plan.LeftOuter, plan.LeftSemi, plan.LeftAnti:
			left = false
		case plan.RightOuter:
			right = false
		case plan.Inner, plan.Cross:
			left, right = false, false
		}
		if left || right {
			return false
		}
	}
	return !slices.ContainsFunc(n.Children(), func(c plan.Node) bool { return !rightPlaces(c, id) })
}

// number is a setting that is a whole number.
func (r *resolver) number(key string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(r.conf.get(key), 10, 64); err == nil {
		return n
	}
	return otherwise
}
