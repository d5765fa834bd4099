package analyze

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// repartition resolves the keys of repartition.
func (r *resolver) repartition(n *plan.Repartition) (plan.Node, error) {
	if len(n.Keys) == 0 {
		return n, nil
	}
	sc := r.over(n.Child)
	sc.deep = true
	keys, err := sc.operands(n.Keys)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		t := plan.TypeOf(k)
		if t != nil && !types.IsGroupable(t) {
			return nil, errclass.New("UNSUPPORTED_FEATURE.PARTITION_BY_VARIANT", "expr", errclass.Expr(k.SQL()), "dataType", errclass.Expr(t.SQL()))
		}
		if n.ByNumber && t != nil && !types.Equal(t, types.Integer) {
			return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr("direct_shuffle_partition_id("+k.SQL()+")"),
				"paramIndex", "first", "requiredType", `"INT"`, "inputSql", errclass.Expr(k.SQL()), "inputType", errclass.Expr(t.SQL()))
		}
	}
	children, more, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	c := *n
	c.Keys, c.Child = keys, children[0]
	if more {
		return narrow(&c, n.Child.Output()), nil
	}
	return &c, nil
}

// hint resolves the hints about partitions. Others have no effect.
func (r *resolver) hint(n *plan.Hint) (plan.Node, error) {
	name := strings.ToUpper(n.Name)
	p := &plan.Repartition{Shuffle: name != "COALESCE", Joined: name == "REBALANCE", Child: n.Child}
	switch name {
	case "COALESCE", "REPARTITION", "REBALANCE", "REPARTITION_BY_RANGE":
	default:
		return n.Child, nil
	}
	for i, a := range n.Args {
		if l, ok := a.(*plan.Literal); ok {
			switch v := l.Value.(type) {
			case int32:
				if i > 0 || v < 1 {
					return nil, badHint(name, a)
				}
				p.N = int(v)
				continue
			case string:
				a = &plan.Column{Parts: []string{v}, PlanID: -1}
			}
		}
		switch a.(type) {
		case *plan.Column, *plan.Attr:
		default:
			return nil, badHint(name, a)
		}
		if name == "REPARTITION_BY_RANGE" {
			a = &plan.SortOrder{Child: a, NullsFirst: true}
		}
		p.Keys = append(p.Keys, a)
	}
	if !p.Shuffle && (p.N == 0 || len(p.Keys) > 0) {
		return nil, badHint(name, nil)
	}
	return r.repartition(p)
}

func badHint(name string, arg plan.Expr) error {
	if name == "COALESCE" || arg == nil {
		return errclass.New("INVALID_HINT.PARTITION_NUMBER", "hint", name)
	}
	return errclass.New("INVALID_HINT.PARAMETER", "hint", name, "parameter", arg.SQL())
}

// sample sorts what is to be sampled in a fixed order.
func sample(n *plan.Sample) plan.Node {
	if !n.Ordered {
		return n
	}
	s := &plan.Sort{Child: n.Child}
	for _, a := range n.Child.Output() {
		if types.IsOrderable(a.T) {
			s.Orders = append(s.Orders, &plan.SortOrder{Child: a, NullsFirst: true})
		}
	}
	c := *n
	c.Ordered = false
	if len(s.Orders) > 0 {
		c.Child = s
	}
	return &c
}
