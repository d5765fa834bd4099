package optimize

import (
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// acrossKeys lets a condition on the key of one side of a join hold for the other side's key, too: with a.k = b.k AND a.k > 1 rows of
// b whose k is 1 meet nobody. In a stream this shows: such rows are not stored, as in Spark.
func acrossKeys(n plan.Node) (plan.Node, error) {
	j, ok := n.(*plan.Join)
	if !ok || j.Cond == nil {
		return n, nil
	}
	_, on := sides(j.Kind)
	equal, rest := plan.EquiKeys(j.Cond, plan.OutputSet(j.Left), plan.OutputSet(j.Right))
	partners := [2]map[plan.ID]plan.Expr{{}, {}} // by key of a side: the other side's key
	for _, k := range equal {
		l, okL := plan.Trim(k.Left).(*plan.Attr)
		r, okR := plan.Trim(k.Right).(*plan.Attr)
		if okL && okR && !k.NullSafe && types.Equal(l.T, r.T) {
			partners[0][l.ID], partners[1][r.ID] = r, l
		}
	}
	if len(partners[0]) == 0 {
		return n, nil
	}
	out := *j
	children := [2]*plan.Node{&out.Left, &out.Right}
	known := [2][]plan.Expr{conditions(j.Left, nil), conditions(j.Right, nil)}
	for side, child := range children {
		to := 1 - side
		if !on[to] { // rows of the other side come out without a partner
			continue
		}
		mine := plan.OutputSet(*child)
		from := known[side]
		for _, c := range rest {
			if mine.Within(c) && len(plan.References(c)) > 0 {
				from = append(from, c)
			}
		}
		seen := map[string]bool{}
		for _, c := range known[to] {
			seen[plan.Canon(c)] = true
		}
		var more []plan.Expr
		for _, c := range from {
			if !harmless(c) || !onlyKeys(c, partners[side]) {
				continue
			}
			moved, err := substitute(c, partners[side])
			if err != nil {
				return nil, err
			}
			if text := plan.Canon(moved); !seen[text] {
				seen[text] = true
				more = append(more, moved)
			}
		}
		*children[to] = filtered(*children[to], more)
	}
	if out.Left == j.Left && out.Right == j.Right {
		return n, nil
	}
	return &out, nil
}

// conditions are those that all rows of a plan are known to meet, over its columns.
func conditions(n plan.Node, out []plan.Expr) []plan.Expr {
	switch n := n.(type) {
	case *plan.Filter:
		return conditions(n.Child, append(out, plan.Conjuncts(n.Cond)...))
	case *plan.Watermark:
		return conditions(n.Child, out)
	case *plan.Project:
		own := plan.OutputSet(n)
		for _, c := range conditions(n.Child, nil) {
			if own.Within(c) {
				out = append(out, c)
			}
		}
	}
	return out
}

func onlyKeys(e plan.Expr, keys map[plan.ID]plan.Expr) bool {
	refs := plan.References(e)
	for id := range refs {
		if keys[id] == nil {
			return false
		}
	}
	return len(refs) > 0
}

// harmless tells whether a condition cannot fail for any value, so that it may be asked of rows that it was not written for.
func harmless(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Attr, *plan.Literal:
		return true
	case *plan.Cond:
		return all(e.Kids(), harmless)
	case *plan.Call:
		return e.Fn != nil && (comparisons[e.Fn.Name] || tests[e.Fn.Name]) && all(e.Args, harmless)
	}
	return false
}

var tests = map[string]bool{"<=>": true, "!=": true, "not": true, "in": true, "like": true, "isnotnull": true}

func all(es []plan.Expr, ok func(plan.Expr) bool) bool {
	for _, e := range es {
		if !ok(e) {
			return false
		}
	}
	return true
}
