package optimize

import (
	"slices"

	"github.com/millrace/millrace/internal/plan"
)

// plainer makes an outer join one that keeps fewer rows where a filter above drops the rows that were padded: a condition that cannot be
// true when all columns of a side are null. In a stream this shows, as in Spark: the state of a side is cleaned differently.
func plainer(f *plan.Filter, j *plan.Join) plan.JoinKind {
	var no [2]bool
	for i, side := range []plan.IDSet{plan.OutputSet(j.Left), plan.OutputSet(j.Right)} {
		for _, c := range plan.Conjuncts(f.Cond) {
			no[i] = no[i] || deterministic(c) && side.Within(c) && notTrue(c, side)
		}
	}
	switch {
	case j.Kind == plan.RightOuter && no[0], j.Kind == plan.LeftOuter && no[1], j.Kind == plan.FullOuter && no[0] && no[1]:
		return plan.Inner
	case j.Kind == plan.FullOuter && no[0]:
		return plan.LeftOuter
	case j.Kind == plan.FullOuter && no[1]:
		return plan.RightOuter
	}
	return j.Kind
}

// notTrue tells whether a condition is null or false when all columns of a side are null.
func notTrue(e plan.Expr, side plan.IDSet) bool {
	switch x := e.(type) {
	case *plan.Cond:
		is := func(e plan.Expr) bool { return notTrue(e, side) }
		switch x.Op {
		case plan.OpAnd:
			return slices.ContainsFunc(x.Args, is)
		case plan.OpOr:
			return all(x.Args, is)
		}
		return false
	case *plan.Call:
		if x.Fn != nil && x.Fn.Name == "isnotnull" {
			return isNull(x.Args[0], side)
		}
	}
	return isNull(e, side)
}

// isNull tells whether an expression is null when all columns of a side are.
func isNull(e plan.Expr, side plan.IDSet) bool {
	switch x := e.(type) {
	case *plan.Attr:
		return side.Has(x.ID)
	case *plan.Alias:
		return isNull(x.Child, side)
	case *plan.Cast:
		return isNull(x.Child, side)
	case *plan.Field:
		return isNull(x.Child, side)
	case *plan.Call:
		if x.Bound == nil || x.Bound.NullsAreArgs {
			return false
		}
		for _, a := range x.Args {
			if isNull(a, side) {
				return true
			}
		}
	}
	return false
}
