package analyze

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// observe resolves observed metrics: aggregates over the rows that pass.
func (r *resolver) observe(n *plan.Observe) (plan.Node, error) {
	sc := r.over(n.Child)
	aggs, err := sc.selectList(n.Aggs)
	if err != nil {
		return nil, err
	}
	if n.Name == "" {
		return nil, errclass.New("INVALID_OBSERVED_METRICS.MISSING_NAME", "operator", n.Label())
	}
	for _, e := range aggs {
		if plan.Exists(e, isGen) {
			return nil, generatorOutside((&plan.Observe{Name: n.Name, Aggs: aggs, Child: n.Child}).Label())
		}
		if plan.Exists(e, isSubquery) {
			return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "a subquery in observed metrics")
		}
		if err := checkMetric(plan.Trim(e), e, false); err != nil {
			return nil, err
		}
	}
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	return &plan.Observe{Name: n.Name, Aggs: aggs, Child: children[0]}, nil
}

// checkMetric checks an expression of observed metrics. whole is the metric for messages; inside tells that e is an argument of an aggregate.
func checkMetric(e, whole plan.Expr, inside bool) error {
	fail := func(what string) error {
		return errclass.New("INVALID_OBSERVED_METRICS."+what, "expr", errclass.Expr(plan.Trim(whole).SQL()))
	}
	switch x := e.(type) {
	case *plan.Agg:
		switch {
		case inside:
			return fail("NESTED_AGGREGATES_UNSUPPORTED")
		case x.Distinct:
			return fail("AGGREGATE_EXPRESSION_WITH_DISTINCT_UNSUPPORTED")
		case x.Filter != nil:
			return fail("AGGREGATE_EXPRESSION_WITH_FILTER_UNSUPPORTED")
		}
		inside = true
	case *groupingExpr:
		return errclass.New("UNSUPPORTED_GROUPING_EXPRESSION")
	case *plan.Over:
		return fail("WINDOW_EXPRESSIONS_UNSUPPORTED")
	case *plan.Attr:
		if !inside {
			return fail("NON_AGGREGATE_FUNC_ARG_IS_ATTRIBUTE")
		}
	}
	if !inside && plan.Exists(e, IsRandom) {
		return fail("NON_AGGREGATE_FUNC_ARG_IS_NON_DETERMINISTIC")
	}
	for _, k := range e.Kids() {
		if err := checkMetric(k, whole, inside); err != nil {
			return err
		}
	}
	return nil
}

// check looks at a resolved plan as a whole.
func check(n plan.Node) error {
	metrics := map[string]*plan.Observe{}
	var err error
	plan.Walk(n, func(n plan.Node) bool {
		if o, ok := n.(*plan.Observe); ok && err == nil {
			// The same node may come twice, as in a self-join; one above the other sees other rows.
			old := metrics[o.Name]
			if old != nil && (!slices.EqualFunc(old.Aggs, o.Aggs, plan.Same) || isBelow(o, old)) {
				err = errclass.New("DUPLICATED_METRICS_NAME", "metricName", o.Name)
			}
			metrics[o.Name] = o
		}
		return err == nil
	})
	return err
}

// isBelow tells whether a node stands below another one.
func isBelow(n, top plan.Node) bool {
	found := false
	for _, c := range top.Children() {
		plan.Walk(c, func(m plan.Node) bool {
			found = found || m == n
			return !found
		})
	}
	return found
}
