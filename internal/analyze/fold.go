package analyze

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// constant is the value of an expression that has no columns and always gives the same, as a vector of one row; nil for any other
// and for one that fails.
func (r *resolver) constant(e plan.Expr) *vec.Vector {
	n := r.constantNode(e)
	if n == nil {
		return nil
	}
	ev := expr.Eval{Batch: &expr.BatchParams{Zone: r.conf.Zone}}
	v := n.Eval(&ev, vec.NewBatch(1))
	if !ev.Errs.Empty() {
		return nil
	}
	return v.Flatten().Own()
}

// value is a constant expression as a literal, or the error that computing it gives.
func (r *resolver) value(e plan.Expr) (*plan.Literal, error) {
	ev := expr.Eval{Batch: &expr.BatchParams{Zone: r.conf.Zone}}
	v := r.constantNode(e).Eval(&ev, vec.NewBatch(1))
	if _, err, failed := ev.Errs.First(); failed {
		return nil, err
	}
	return &plan.Literal{Value: vec.ValueAt(v.Flatten(), 0), T: plan.TypeOf(e)}, nil
}

// constantNode compiles a constant expression. Calls without arguments do not count: current_timestamp() and its kin are among them.
func (r *resolver) constantNode(e plan.Expr) expr.Node {
	switch e := e.(type) {
	case *plan.Alias:
		return r.constantNode(e.Child)
	case *plan.Literal:
		return expr.NewLiteral(e.Value, e.T)
	case *plan.Cast:
		child := r.constantNode(e.Child)
		if child == nil {
			return nil
		}
		bound, err := fn.BindCast(plan.TypeOf(e.Child), e.To, e.Mode, r.conf.Zone)
		if err != nil {
			return nil
		}
		return fn.NewNode(bound, []expr.Node{child})
	case *plan.Call:
		if e.Bound.Nondeterministic || len(e.Args) == 0 {
			return nil
		}
		args := make([]expr.Node, len(e.Args))
		for i, a := range e.Args {
			if args[i] = r.constantNode(a); args[i] == nil {
				return nil
			}
		}
		return fn.NewNode(e.Bound, args)
	}
	return nil
}

// intOf is an integer constant's value; ok is false for null.
func intOf(v *vec.Vector) (n int, ok bool) {
	switch x := vec.ValueAt(v, 0).(type) {
	case int8:
		return int(x), true
	case int16:
		return int(x), true
	case int32:
		return int(x), true
	case int64:
		return int(x), true
	}
	return 0, false
}

// fold replaces a constant expression by its value, and leaves any other.
func (r *resolver) fold(e plan.Expr) plan.Expr {
	if _, ok := e.(*plan.Literal); ok {
		return e
	}
	if v := r.constant(e); v != nil && !types.IsNested(plan.TypeOf(e)) {
		return &plan.Literal{Value: vec.ValueAt(v, 0), T: plan.TypeOf(e)}
	}
	return e
}
