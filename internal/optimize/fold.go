package optimize

import (
	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// fold evaluates expressions of constants. One that fails stays as it is and fails, or not, when a row reaches it.
func fold(n plan.Node, o Options) (plan.Node, error) {
	params := &expr.BatchParams{Zone: o.Zone}
	return plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		n, err := plan.MapExprs(n, func(e plan.Expr) (plan.Expr, error) {
			return plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) { return foldOne(e, params), nil })
		})
		if err != nil {
			return nil, err
		}
		if f, ok := n.(*plan.Filter); ok {
			if l, ok := f.Cond.(*plan.Literal); ok && l.Value == true {
				return f.Child, nil
			}
		}
		return n, nil
	})
}

func foldOne(e plan.Expr, params *expr.BatchParams) plan.Expr {
	switch e := e.(type) {
	case *plan.Call:
		if e.Bound.Nondeterministic || len(e.Args) == 0 {
			return e
		}
	case *plan.Cast:
	case *plan.Cond:
		if s := shortcut(e); s != nil {
			return s
		}
	case *plan.Field:
	default:
		return e
	}
	for _, k := range e.Kids() {
		if _, ok := k.(*plan.Literal); !ok {
			return e
		}
	}
	t := e.(plan.Typed).Type()
	if types.IsNested(t) {
		return e // printing and comparing such literals costs more than computing them
	}
	v, err := bind.Value(e, params)
	if err != nil {
		return e
	}
	return &plan.Literal{Value: vec.ValueAt(v, 0), T: t}
}

// shortcut drops a true side of AND and a false side of OR.
func shortcut(c *plan.Cond) plan.Expr {
	var neutral bool
	switch c.Op {
	case plan.OpAnd:
		neutral = true
	case plan.OpOr:
	default:
		return nil
	}
	for i, a := range c.Args {
		if l, ok := a.(*plan.Literal); ok && l.Value == neutral {
			return c.Args[1-i]
		}
	}
	return nil
}
