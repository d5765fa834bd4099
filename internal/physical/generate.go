package physical

import (
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
)

// known replaces generators whose number of rows is known: stack by an expansion, json_tuple by a projection. It is nil for others.
func known(n *plan.Generate, g *plan.Generator) (plan.Node, error) {
	switch g.Name {
	case "stack":
		return stack(n, g), nil
	case "json_tuple":
		return jsonTuple(n, g)
	}
	return nil, nil
}

// stack gives each row as many times as its first argument says, each time with the next of the other arguments; null where they end.
func stack(g *plan.Generate, call *plan.Generator) plan.Node {
	l, ok := call.Args[0].(*plan.Literal)
	n, isInt := int32(0), false
	if ok {
		n, isInt = l.Value.(int32)
	}
	if !isInt {
		return nil
	}
	in, values := g.Child.Output(), call.Args[1:]
	e := &plan.Expand{Out: append(in[:len(in):len(in)], g.Out...), Child: g.Child}
	for range n {
		list := exprs(in)
		for _, a := range g.Out {
			if len(values) == 0 {
				list = append(list, &plan.Literal{T: a.T})
				continue
			}
			list, values = append(list, values[0]), values[1:]
		}
		e.Lists = append(e.Lists, list)
	}
	return e
}

func exprs(attrs []*plan.Attr) []plan.Expr {
	out := make([]plan.Expr, len(attrs))
	for i, a := range attrs {
		out[i] = a
	}
	return out
}

// jsonTuple takes each key out of the text.
func jsonTuple(g *plan.Generate, call *plan.Generator) (plan.Node, error) {
	f := fn.Lookup(fn.JSONField)
	p := &plan.Project{Cols: exprs(g.Child.Output()), Child: g.Child}
	for i, key := range call.Args[1:] {
		args := []plan.Expr{call.Args[0], key}
		in := make([]fn.Arg, len(args))
		for k, a := range args {
			in[k] = fn.Arg{Type: plan.TypeOf(a), Nullable: true, SQL: a.SQL()}
		}
		bound, err := f.Bind(&fn.Binding{Name: f.Name, Args: in})
		if err != nil {
			return nil, err
		}
		a := g.Out[i]
		col := plan.NewAlias(&plan.Call{Fn: f, Bound: bound, Name: f.Name, Args: args}, a.Name)
		col.ID = a.ID
		p.Cols = append(p.Cols, col)
	}
	return p, nil
}
