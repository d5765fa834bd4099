package stream

import "github.com/millrace/millrace/internal/plan"

// sampled finds the stateful operators of an optimised plan whose figures Spark reports twice over: those right below a sort of the whole
// result. It runs them once to learn how the sort's keys are spread and once for the rows; what stands below their own exchange runs
// once. A sort that ends in a limit needs no such look.
func sampled(root plan.Node) map[plan.Node]bool {
	found := map[plan.Node]bool{}
	var walk func(n plan.Node, sorted, cut bool)
	walk = func(n plan.Node, sorted, cut bool) {
		limited := false
		switch x := n.(type) {
		case *plan.Sort:
			sorted = sorted || x.Global && !cut
		case *plan.Project:
			limited = cut
		case *plan.Limit:
			limited = true
		case *plan.Aggregate:
			if x.Streaming() {
				found[n] = sorted && len(x.Keys) > 0
				sorted = false
			}
		case *plan.Dedup:
			if x.Streaming() {
				found[n], sorted = sorted, false
			}
		}
		for _, c := range n.Children() {
			walk(c, sorted, limited)
		}
	}
	walk(root, false, false)
	return found
}
