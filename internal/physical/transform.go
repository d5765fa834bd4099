package physical

import (
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful/transform"
	"github.com/millrace/millrace/types"
)

// Transform plans a stateful processor, without a number for its state.
func (p *Planner) Transform(n *plan.TransformGroups) (*transform.Transform, error) {
	t := &transform.Transform{
		Program: n.Program, Out: Schema(n.Out), TimeMode: n.TimeMode, OutputMode: n.OutputMode, TimeColumn: -1, OutTime: -1, Operator: -1, Zone: p.Zone,
	}
	var err error
	if t.In, t.Keys, t.Rows, t.RowSchema, err = p.keyed(n.Child, n.Keys); err != nil {
		return nil, err
	}
	for _, k := range n.Keys {
		f := plan.AttrOf(k).Field()
		f.Nullable = true
		t.KeySchema.Fields = append(t.KeySchema.Fields, f)
	}
	for i, a := range n.Child.Output() {
		if a.EventTime {
			t.TimeColumn = i
			break
		}
	}
	for i, a := range n.Out {
		if n.EventTime != "" && a.Name == n.EventTime {
			t.OutTime = i
		}
	}
	if n.Initial == nil {
		return t, nil
	}
	t.Initial = &transform.Initial{}
	t.Initial.In, t.Initial.Keys, t.Initial.Rows, t.Initial.Schema, err = p.keyed(n.Initial, n.InitialKeys)
	return t, err
}

// keyed plans a relation, with columns behind its own for the keys that must be computed.
func (p *Planner) keyed(n plan.Node, keys []plan.Expr) (in exec.Op, at, rows []int, schema types.StructType, err error) {
	if in, err = p.Plan(n); err != nil {
		return nil, nil, nil, schema, err
	}
	out := n.Output()
	var cols, computed []exec.Expr
	for i, a := range out {
		cols = append(cols, exec.ColumnExpr(i, a.T))
		rows = append(rows, i)
	}
	b := p.Binder(n)
	for _, k := range keys {
		e, err := b.Expr(k)
		if err != nil {
			return nil, nil, nil, schema, err
		}
		place := e.Column
		if place < 0 {
			place = len(out) + len(computed)
			computed = append(computed, e)
		}
		at = append(at, place)
	}
	if len(computed) > 0 {
		in = &exec.Project{In: in, Cols: append(cols, computed...)}
	}
	return in, at, rows, Schema(out), nil
}
