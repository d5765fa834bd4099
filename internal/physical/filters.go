package physical

import (
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/source"
)

var sourceOps = map[string]source.FilterOp{
	"==": source.Equal, "!=": source.NotEqual, "<": source.Less, "<=": source.LessEqual, ">": source.Greater, ">=": source.GreaterEqual,
}

var mirrored = map[source.FilterOp]source.FilterOp{
	source.Less: source.Greater, source.LessEqual: source.GreaterEqual, source.Greater: source.Less, source.GreaterEqual: source.LessEqual,
}

// SourceFilters translates the conjuncts that compare a column with constants; others are left to the Filter above the scan.
func SourceFilters(e plan.Expr) []source.Filter {
	var out []source.Filter
	for _, c := range plan.Conjuncts(e) {
		if f, ok := sourceFilter(c); ok {
			out = append(out, f)
		}
	}
	return out
}

func sourceFilter(e plan.Expr) (source.Filter, bool) {
	call, ok := e.(*plan.Call)
	if !ok || len(call.Args) == 0 {
		return source.Filter{}, false
	}
	switch call.Fn.Name {
	case "isnull", "isnotnull":
		if a, ok := call.Args[0].(*plan.Attr); ok {
			op := source.IsNull
			if call.Fn.Name == "isnotnull" {
				op = source.IsNotNull
			}
			return source.Filter{Column: a.Name, Op: op}, true
		}
		return source.Filter{}, false
	case "in":
		a, ok := call.Args[0].(*plan.Attr)
		f := source.Filter{Op: source.In}
		for _, v := range call.Args[1:] {
			l, lit := v.(*plan.Literal)
			if !lit || l.Value == nil {
				return f, false
			}
			f.Values = append(f.Values, l.Value)
		}
		if ok {
			f.Column = a.Name
		}
		return f, ok
	}
	op, ok := sourceOps[call.Fn.Name]
	if !ok {
		return source.Filter{}, false
	}
	if a, ok := call.Args[0].(*plan.Attr); ok {
		if l, ok := call.Args[1].(*plan.Literal); ok && l.Value != nil {
			return source.Filter{Column: a.Name, Op: op, Values: []any{l.Value}}, true
		}
	}
	if a, ok := call.Args[1].(*plan.Attr); ok {
		if l, ok := call.Args[0].(*plan.Literal); ok && l.Value != nil {
			if m, turned := mirrored[op]; turned {
				op = m
			}
			return source.Filter{Column: a.Name, Op: op, Values: []any{l.Value}}, true
		}
	}
	return source.Filter{}, false
}
