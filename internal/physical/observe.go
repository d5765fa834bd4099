package physical

import (
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
)

// observe plans the aggregates that are computed while rows pass.
func (p *Planner) observe(n *plan.Observe) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	group, result, err := p.Grouping(&plan.Aggregate{Aggs: n.Aggs, Child: n.Child}, in)
	if err != nil {
		return nil, err
	}
	op := &exec.Observe{In: in, Name: n.Name, Group: group, Result: result}
	for _, e := range n.Aggs {
		if a := plan.AttrOf(e); a != nil {
			op.Schema.Fields = append(op.Schema.Fields, a.Field())
		}
	}
	return op, nil
}
