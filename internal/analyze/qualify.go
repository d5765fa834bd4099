package analyze

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// qualifyName is the column that holds a QUALIFY condition; no name in a query can be it.
const qualifyName = "\x00qualify"

// qualify resolves QUALIFY: the condition is computed as one more item of the select list, whose aliases it may use, and the rows for
// which it is true are kept.
func (r *resolver) qualify(n *plan.Qualify) (plan.Node, error) {
	cond := &plan.Alias{Child: n.Cond, Name: qualifyName, ID: plan.NewID()}
	child, ok := withItem(n.Child, cond)
	if !ok {
		return nil, errclass.New("QUALIFY_REQUIRES_WINDOW_FUNCTION")
	}
	in, err := r.node(child)
	if err != nil {
		return nil, err
	}
	if !hasWindows(in) {
		return nil, errclass.New("QUALIFY_REQUIRES_WINDOW_FUNCTION")
	}
	out := in.Output()
	at := slices.IndexFunc(out, func(a *plan.Attr) bool { return a.Name == qualifyName })
	test := r.to(out[at], types.Boolean)
	return narrow(&plan.Filter{Cond: test, Child: in}, slices.Delete(slices.Clone(out), at, at+1)), nil
}

// hasWindows tells whether window functions are computed for a select list, below the projections that its aliases need.
func hasWindows(n plan.Node) bool {
	for {
		switch x := n.(type) {
		case *plan.WindowFuncs:
			return true
		case *plan.Project:
			n = x.Child
		case *plan.Tagged:
			n = x.Child
		default:
			return false
		}
	}
}

// withItem adds an item to the select list of a query.
func withItem(n plan.Node, item plan.Expr) (plan.Node, bool) {
	switch n := n.(type) {
	case *plan.Project:
		c := *n
		c.Cols = append(slices.Clone(n.Cols), item)
		return &c, true
	case *plan.Aggregate:
		c := *n
		c.Aggs = append(slices.Clone(n.Aggs), item)
		return &c, true
	case *plan.Having:
		child, ok := withItem(n.Child, item)
		return &plan.Having{Cond: n.Cond, Child: child}, ok
	}
	return nil, false
}
