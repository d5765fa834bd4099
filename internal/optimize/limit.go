package optimize

import (
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// limits leaves out what a limit of no rows would compute, and makes one limit of two with nothing but projections between them: in a stream each would count rows of its own.
func limits(n plan.Node) (plan.Node, error) {
	outer, ok := n.(*plan.Limit)
	if !ok {
		return n, nil
	}
	a, ok := count(outer.N)
	if !ok {
		return n, nil
	}
	if a == 0 && !outer.Streaming() { // nothing is computed for no rows
		return &plan.Local{Out: outer.Output()}, nil
	}
	if below := limited(outer.Child, a); below != nil {
		return below, nil
	}
	return n, nil
}

// limited is n with its limit cut to at most max rows, or nil when n has none.
func limited(n plan.Node, max int32) plan.Node {
	switch n := n.(type) {
	case *plan.Project:
		if in := limited(n.Child, max); in != nil {
			return &plan.Project{Cols: n.Cols, Child: in}
		}
	case *plan.Limit:
		if b, ok := count(n.N); ok {
			if b <= max {
				return n
			}
			return &plan.Limit{N: &plan.Literal{Value: max, T: types.Integer}, Child: n.Child}
		}
	}
	return nil
}

func count(e plan.Expr) (int32, bool) {
	if l, ok := e.(*plan.Literal); ok {
		n, ok := l.Value.(int32)
		return n, ok
	}
	return 0, false
}
