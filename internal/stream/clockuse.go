package stream

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// clockMisuse is what a query fails with when it asks the clock where only what is determined may stand: in a stream the time is that
// of the batch, which Spark sees when the first batch is planned.
func clockMisuse(n plan.Node) error {
	var err error
	plan.Walk(n, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.Aggregate:
			for _, e := range n.Aggs {
				plan.WalkExpr(e, func(e plan.Expr) bool {
					if a, ok := e.(*plan.Agg); ok && err == nil && plan.Exists(a, asksClock) {
						err = errclass.New("AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION", "sqlExpr", errclass.Expr(a.SQL()))
					}
					return err == nil
				})
			}
		case *plan.Observe:
			err = clockIn(n, "INVALID_OBSERVED_METRICS.NON_AGGREGATE_FUNC_ARG_IS_NON_DETERMINISTIC", "expr")
		case *plan.Join, *plan.Sort:
			err = clockIn(n, "INVALID_NON_DETERMINISTIC_EXPRESSIONS", "sqlExprs")
		}
		return err == nil
	})
	return err
}

func clockIn(n plan.Node, condition, param string) error {
	for _, e := range n.Exprs() {
		if _, bare := plan.Trim(e).(*plan.Agg); !bare && plan.Exists(e, asksClock) { // a metric may be the latest time
			return errclass.New(condition, param, errclass.Expr(plan.Trim(e).SQL()))
		}
	}
	return nil
}

// asksClock tells whether an expression is a call whose value is the time of the batch; a continuous query has none.
func asksClock(e plan.Expr) bool {
	c, ok := e.(*plan.Call)
	if !ok || c.Fn == nil {
		return false
	}
	switch c.Fn.Name {
	case "current_timestamp", "current_date", "localtimestamp", "current_time":
		return true
	case "unix_timestamp":
		return len(c.Args) == 0
	}
	return false
}
