package stream

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// oneEventTime lets a query fail, when its first batch is planned, that has an operator with state over several event times: it would not be clear which one makes a row
// late. As in Spark it has been started then. With one watermark for all operators (statefulOperator.allowMultiple=false) the first one counts.
func (c *compiler) oneEventTime(operator string, cols []*plan.Attr) {
	if c.single || c.out.refusal != nil {
		return
	}
	seen := map[plan.ID]bool{}
	var names []string
	for _, a := range cols {
		if a.EventTime && !seen[a.ID] {
			seen[a.ID] = true
			names = append(names, errclass.Ident(a.Name))
		}
	}
	if len(names) > 1 {
		c.out.refusal = errclass.New("UNSUPPORTED_STREAMING_OPERATION.OTHER",
			"operation", operator+" over several event time columns ("+strings.Join(names, ", ")+")")
	}
}

// attrsOf are the columns among expressions.
func attrsOf(es []plan.Expr) []*plan.Attr {
	var out []*plan.Attr
	for _, e := range es {
		if a, ok := plan.Trim(e).(*plan.Attr); ok {
			out = append(out, a)
		}
	}
	return out
}
