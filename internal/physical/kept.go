package physical

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
)

func (p *Planner) kept(n *plan.Kept) (exec.Op, error) {
	store, ok := n.Store.(*exec.Store)
	if !ok {
		return nil, errclass.New("INTERNAL_ERROR", "message", "a relation is kept nowhere")
	}
	k := &exec.Kept{Store: store, Name: n.Name, Cols: n.Cols, Out: attrTypes(n.Out)}
	if n.Child == nil {
		return k, nil
	}
	var err error
	k.In, err = p.Plan(n.Child)
	return k, err
}
