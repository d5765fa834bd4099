package stream

import (
	"math"
	"strings"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/stateful/transform"
)

// transform plans a stateful processor.
func (c *compiler) transform(p *physical.Planner, n *plan.TransformGroups) (exec.Op, error) {
	number := c.reserve()
	op, err := p.Transform(n)
	if err != nil {
		return nil, err
	}
	op.Operator = number
	timed := n.TimeMode == processor.ProcessingTime
	c.add(number, &operator{
		op: op, name: transform.OperatorName, meaning: transformMeaning(c.out, n), cleans: !timed, clocked: timed, due: math.MaxInt64, hitsPerBatch: 1,
		custom: transform.Metrics,
	})
	return op, nil
}

// transformMeaning is about the grouping only: what a processor does with its state is its own affair, and the state variables are
// compared when the state is loaded.
func transformMeaning(c *compiled, n *plan.TransformGroups) string {
	m := newMeaning(c, n.Child)
	var b strings.Builder
	b.WriteString("transform ")
	for i, k := range n.Keys {
		if i > 0 {
			b.WriteString(", ")
		}
		m.expr(&b, plan.Trim(k), true)
	}
	return b.String()
}
