package analyze

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// candidate is a meaning of a DataFrame column, with its distance from the node that uses it.
type candidate struct {
	expr  plan.Expr
	depth int
}

// tagged resolves a column taken from a DataFrame: it is looked up in the relation with that plan id, and its meaning counts when
// it is still visible. The result is nil when there is no such relation or the column was lost on the way.
func (sc *scope) tagged(c *plan.Column) (plan.Expr, error) {
	var all []candidate
	found := false
	for _, child := range sc.children {
		if err := sc.collect(child, c, 0, &all, &found); err != nil {
			return nil, err
		}
	}
	if found && len(all) == 0 {
		return nil, sc.unresolved(c.Parts)
	}
	var seen, hidden []candidate
	for _, x := range all {
		switch {
		case sc.sees(x.expr), sc.inAgg > 0 && sc.groupIn != nil && sc.groupIn.sees(x.expr):
			seen = append(seen, x)
		case sc.reachable(x.expr):
			hidden = append(hidden, x)
		}
	}
	if len(seen) == 0 {
		seen = hidden
	}
	best, err := choose(seen, c)
	if err != nil || best == nil {
		return nil, err
	}
	if sc.inAgg == 0 || sc.groupIn == nil {
		sc.note(best)
	}
	return best, nil
}

// choose picks the meaning in a direct child before any other; two others contradict each other.
func choose(list []candidate, c *plan.Column) (plan.Expr, error) {
	var best *candidate
	for i := range list {
		x := &list[i]
		switch {
		case best == nil || x.depth == 0 && best.depth > 0:
			best = x
		case best.depth == 0 && x.depth > 0 || plan.Same(best.expr, x.expr):
		default:
			return nil, errclass.New("AMBIGUOUS_COLUMN_REFERENCE", "name", errclass.Expr(c.SQL()))
		}
	}
	if best == nil {
		return nil, nil
	}
	return best.expr, nil
}

// collect gathers the meanings of c in the relations that carry its plan id.
func (sc *scope) collect(n plan.Node, c *plan.Column, depth int, all *[]candidate, found *bool) error {
	if t, ok := n.(*plan.Tagged); ok {
		if t.PlanID != c.PlanID {
			return sc.collect(t.Child, c, depth, all, found)
		}
		*found = true
		in := sc.r.over(t.Child)
		if hidden := hiddenOf(t.Child); len(hidden) > 0 {
			in.attrs = append(in.attrs[:len(in.attrs):len(in.attrs)], hidden...)
		}
		e, err := in.match(c.Parts, in.named)
		if err == nil && e != nil {
			*all = append(*all, candidate{e, depth})
		}
		return err
	}
	for _, child := range n.Children() {
		if err := sc.collect(child, c, depth+1, all, found); err != nil {
			return err
		}
	}
	return nil
}

// reachable tells whether the columns of e could be fetched from below.
func (sc *scope) reachable(e plan.Expr) bool {
	levels := sc.levels()
	return !plan.Exists(e, func(e plan.Expr) bool {
		a, ok := e.(*plan.Attr)
		if !ok || sc.sees(a) {
			return false
		}
		for _, level := range levels {
			for _, b := range level {
				if a.ID == b.ID {
					return false
				}
			}
		}
		return true
	})
}

// relation finds the output of the relation with a plan id among those below, for df["*"].
func (sc *scope) relation(id int64) []*plan.Attr {
	var found []*plan.Attr
	for _, child := range sc.children {
		plan.Walk(child, func(n plan.Node) bool {
			if t, ok := n.(*plan.Tagged); ok && t.PlanID == id && found == nil {
				found = t.Output()
			}
			return found == nil
		})
	}
	return found
}
