package optimize

import (
	"time"

	"github.com/millrace/millrace/internal/plan"
)

// Options are what the rules depend on.
type Options struct {
	Zone *time.Location
	// Prepare, if not nil, changes the plan before columns are pruned, when filters are where they stay.
	Prepare func(plan.Node) (plan.Node, error)
}

// Plan returns an equal plan with the same output columns.
func Plan(n plan.Node, o Options) (plan.Node, error) {
	n, err := plan.TransformUp(n, unwrap)
	if err != nil {
		return nil, err
	}
	if n, err = plan.TransformUp(n, setOps); err != nil {
		return nil, err
	}
	if n, err = fold(n, o); err != nil {
		return nil, err
	}
	if n, err = plan.TransformUp(n, limits); err != nil {
		return nil, err
	}
	if n, err = plan.TransformUp(n, factor); err != nil {
		return nil, err
	}
	if n, err = pushFilters(n); err != nil {
		return nil, err
	}
	if n, err = plan.TransformUp(n, notNull); err != nil {
		return nil, err
	}
	if n, err = pushFilters(n); err != nil {
		return nil, err
	}
	if n, err = plan.TransformUp(n, weaken); err != nil {
		return nil, err
	}
	if n, err = plan.TransformUp(n, acrossKeys); err != nil {
		return nil, err
	}
	if n, err = pushFilters(n); err != nil {
		return nil, err
	}
	if n, err = orderJoins(n); err != nil {
		return nil, err
	}
	if n, err = plan.TransformUp(n, scanFilters); err != nil {
		return nil, err
	}
	if o.Prepare != nil {
		if n, err = o.Prepare(n); err != nil {
			return nil, err
		}
	}
	return prune(n, plan.OutputSet(n))
}

const maxRounds = 100

// pushFilters moves filters as far down as they go. Each round moves a filter past one node; plans are shallow, and the bound only
// guards against a rule that never rests.
func pushFilters(n plan.Node) (plan.Node, error) {
	for range maxRounds {
		before := n
		var err error
		if n, err = plan.Transform(n, pushFilter); err != nil || n == before {
			return n, err
		}
	}
	return n, nil
}

// unwrap drops the nodes that only mattered to the analyser.
func unwrap(n plan.Node) (plan.Node, error) {
	switch n := n.(type) {
	case *plan.Tagged:
		return n.Child, nil
	case *plan.Hint:
		return n.Child, nil
	case *plan.View:
		return n.Child, nil
	case *plan.Aliased:
		// An alias keeps its child's columns, only their qualifiers differ, unless it renames.
		if len(n.Columns) == 0 {
			return n.Child, nil
		}
	}
	return n, nil
}
