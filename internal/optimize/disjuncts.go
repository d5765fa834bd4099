package optimize

import (
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// factor takes out of each OR in the condition of a filter or a join what all its alternatives have in common, so that an equality
// which each of them asks for becomes a key of the join.
func factor(n plan.Node) (plan.Node, error) {
	switch n := n.(type) {
	case *plan.Filter:
		if c := factored(n.Cond); c != n.Cond {
			return &plan.Filter{Cond: c, Child: n.Child}, nil
		}
	case *plan.Join:
		if n.Cond == nil {
			return n, nil
		}
		if c := factored(n.Cond); c != n.Cond {
			j := *n
			j.Cond = c
			return &j, nil
		}
	}
	return n, nil
}

func factored(cond plan.Expr) plan.Expr {
	conjuncts := plan.Conjuncts(cond)
	changed := false
	for i, c := range conjuncts {
		alternatives := disjuncts(c)
		if len(alternatives) < 2 {
			continue
		}
		if x := common(alternatives); x != nil {
			conjuncts[i], changed = x, true
		}
	}
	if !changed {
		return cond
	}
	return plan.And(conjuncts...)
}

// common is the OR of alternatives with what they share in front; nil when they share nothing.
func common(alternatives []plan.Expr) plan.Expr {
	shared := map[string]int{}
	parts := make([][]plan.Expr, len(alternatives))
	for i, a := range alternatives {
		parts[i] = plan.Conjuncts(a)
		seen := map[string]bool{}
		for _, c := range parts[i] {
			if text := plan.Canon(c); deterministic(c) && !seen[text] {
				seen[text] = true
				shared[text]++
			}
		}
	}
	var front []plan.Expr
	for _, c := range parts[0] {
		if shared[plan.Canon(c)] == len(parts) {
			front = append(front, c)
		}
	}
	var rest plan.Expr
	for _, list := range parts {
		var own []plan.Expr
		for _, c := range list {
			if shared[plan.Canon(c)] != len(parts) {
				own = append(own, c)
			}
		}
		if len(own) == 0 { // an alternative that asks for nothing else takes in the others
			rest = nil
			break
		}
		if rest == nil {
			rest = plan.And(own...)
		} else {
			rest = or(rest, plan.And(own...))
		}
	}
	if len(front) == 0 {
		return nil
	}
	return plan.And(append(front, rest)...)
}

func disjuncts(e plan.Expr) []plan.Expr {
	if c, ok := e.(*plan.Cond); ok && c.Op == plan.OpOr {
		return append(disjuncts(c.Args[0]), disjuncts(c.Args[1])...)
	}
	return []plan.Expr{e}
}

func or(a, b plan.Expr) plan.Expr {
	return &plan.Cond{Op: plan.OpOr, Args: []plan.Expr{a, b}, T: types.Boolean, Null: plan.NullableOf(a) || plan.NullableOf(b), Name: "or"}
}

// weaken gives the inputs of a join the part of an OR over both that concerns one of them: where each alternative of
// (a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4) says something about a, rows of a that fail all of it meet nobody.
func weaken(n plan.Node) (plan.Node, error) {
	j, ok := n.(*plan.Join)
	if !ok || j.Cond == nil {
		return n, nil
	}
	_, on := sides(j.Kind)
	out := *j
	for side, child := range [2]*plan.Node{&out.Left, &out.Right} {
		if !on[side] {
			continue
		}
		mine := plan.OutputSet(*child)
		known := map[string]bool{}
		for _, c := range conditions(*child, nil) {
			known[plan.Canon(c)] = true
		}
		var more []plan.Expr
		for _, c := range plan.Conjuncts(j.Cond) {
			if w := concerning(c, mine); w != nil && !known[plan.Canon(w)] {
				known[plan.Canon(w)] = true
				more = append(more, w)
			}
		}
		*child = filtered(*child, more)
	}
	if out.Left == j.Left && out.Right == j.Right {
		return n, nil
	}
	return &out, nil
}

// concerning is what an OR says about some columns; nil when an alternative says nothing about them.
func concerning(c plan.Expr, columns plan.IDSet) plan.Expr {
	alternatives := disjuncts(c)
	if len(alternatives) < 2 {
		return nil
	}
	var all plan.Expr
	for _, a := range alternatives {
		var own []plan.Expr
		for _, c := range plan.Conjuncts(a) {
			if harmless(c) && columns.Within(c) && len(plan.References(c)) > 0 {
				own = append(own, c)
			}
		}
		switch {
		case len(own) == 0:
			return nil
		case all == nil:
			all = plan.And(own...)
		default:
			all = or(all, plan.And(own...))
		}
	}
	return all
}
