package stream

import (
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
)

// session plans a grouping whose key number at is a session window.
func (c *compiler) session(p *physical.Planner, n *plan.Aggregate, at int) (exec.Op, error) {
	if c.mode == stateful.Update {
		return nil, physical.Unsupported(n)
	}
	number := c.reserve()
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	group, result, err := p.Grouping(n, in)
	if err != nil {
		return nil, err
	}
	if err := c.checkResults(n, result); err != nil {
		return nil, err
	}
	c.oneEventTime("a grouping", attrsOf(n.Keys))
	complete := c.mode == stateful.Complete
	op := &stateful.Session{
		Group: &exec.SessionAgg{Group: group, Session: at}, Operator: number, Timed: carriesEventTime(n.Keys[at]),
		Names: keyNames(n.Keys), MergeFirst: c.mergeFirst,
	}
	if op.Timed {
		c.late(n.Child, op.Operator, "")
	}
	// In complete mode Spark's operator doesn't say how many stores it has.
	c.add(number, &operator{
		op: op, name: "sessionWindowStateStoreSaveExec", meaning: aggregateMeaning(c.out, n), parts: aggregateParts(c.out, n, group), cleans: !complete,
		uncounted: complete, twice: c.twice[n], hitsPerBatch: 2, prefix: int64(len(n.Keys) - 1),
	})
	result.In = op
	return result, nil
}
