package stream

import (
	"fmt"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/types"
)

// latePlace is where rows may be late: one input of one operator.
type latePlace struct {
	op     *stateful.LateRows
	schema types.StructType
	// side is "left" or "right" for an input of a join.
	side string
}

// folder is the place's folder below that of the query, which has it for itself when there is only one place.
func (l *latePlace) folder(places int) string {
	if places == 1 {
		return ""
	}
	name := fmt.Sprintf("operator-%d", l.op.Operator)
	if l.side != "" {
		name += "-" + l.side
	}
	return name
}

// watchLate puts an Aside below every operator that may drop late rows.
func (c *compiler) watchLate(n plan.Node) (plan.Node, error) {
	return plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		switch n := n.(type) {
		case *plan.Aggregate:
			if !n.Streaming() {
				return n, nil
			}
			at := physical.SessionKey(n)
			if at < 0 && c.mode == stateful.Complete {
				return n, nil // it knows no lateness
			}
			for i, k := range n.Keys {
				if (at < 0 || at == i) && carriesEventTime(k) {
					return n.WithChildren([]plan.Node{aside(k, n.Child)}), nil
				}
			}
		case *plan.Dedup:
			if n.Streaming() {
				return n.WithChildren([]plan.Node{asideByColumn(n.Child)}), nil
			}
		case *plan.Join:
			if n.Left.Streaming() && n.Right.Streaming() {
				return n.WithChildren([]plan.Node{asideByColumn(n.Left), asideByColumn(n.Right)}), nil
			}
		}
		return n, nil
	})
}

func aside(at plan.Expr, child plan.Node) plan.Node {
	return &plan.Aside{Time: at, Child: child, ID: plan.NewID()}
}

// asideByColumn goes by the column that carries event time, if there is one.
func asideByColumn(child plan.Node) plan.Node {
	for _, a := range child.Output() {
		if carriesEventTime(a) {
			return aside(a, child)
		}
	}
	return child
}

// aside plans the place; late ties it to its operator.
func (c *compiler) aside(p *physical.Planner, n *plan.Aside) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	at, err := p.Binder(n.Child).Expr(n.Time)
	if err != nil {
		return nil, err
	}
	op := &stateful.LateRows{In: in, Time: at, Side: -1}
	c.asides[n.ID] = op
	return op, nil
}

// late notes that an operator drops the late rows of a child. A place below it that is not noted copies nothing.
func (c *compiler) late(child plan.Node, operator int, side string) {
	if p, ok := child.(*plan.Project); ok {
		child = p.Child
	}
	n, ok := child.(*plan.Aside)
	if !ok {
		return
	}
	op := c.asides[n.ID]
	op.Operator, op.Side = operator, len(c.out.late)
	c.out.late = append(c.out.late, &latePlace{op: op, schema: plainSchema(n.Child.Output()), side: side})
}

// plainSchema names columns so that they can be written: no name twice, whatever case, and no notes on them.
func plainSchema(attrs []*plan.Attr) types.StructType {
	st := physical.Schema(attrs)
	seen := map[string]bool{}
	for i := range st.Fields {
		f := &st.Fields[i]
		f.Nullable, f.Metadata = true, ""
		name := f.Name
		for n := 1; seen[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", f.Name, n)
		}
		seen[strings.ToLower(name)] = true
		f.Name = name
	}
	return st
}

// checkLate refuses queries with an operator that drops late rows which nobody can copy.
func (c *compiler) checkLate() error {
	for _, o := range c.out.operators {
		switch o.op.(type) {
		case *stateful.Aggregate, *stateful.Session, *stateful.Dedup, *stateful.Join, *stateful.Limit:
		default:
			return errclass.New("UNSUPPORTED_STREAMING_OPERATION.OTHER", "operation", "The option "+optLateRowsPath+" with the operator "+o.name)
		}
	}
	return nil
}
