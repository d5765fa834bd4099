package analyze

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// pivot resolves a pivot. As in Spark it is two groupings: one by the keys and the pivot column, and one that lays the results of
// the pivot values side by side; or, when a result is neither a number nor a boolean, one grouping of the rows of each value.
func (r *resolver) pivot(n *plan.Aggregate) (plan.Node, error) {
	sc := r.over(n.Child)
	aggs, err := sc.selectList(n.Aggs)
	if err != nil {
		return nil, err
	}
	keys := &keyScope{sc: sc, items: aggs}
	ks, named, err := keys.resolve(n.Keys)
	if err != nil {
		return nil, err
	}
	p, err := sc.expr(n.PivotCol)
	if err != nil {
		return nil, err
	}
	p = plan.Trim(p)
	if _, ok := plan.TypeOf(p).(types.MapType); ok {
		return nil, errclass.New("INCOMPARABLE_PIVOT_COLUMN", "columnName", errclass.Ident(p.SQL()))
	}
	if n.ImplicitKeys {
		used := plan.References(append(slices.Clone(aggs), p)...)
		for _, a := range visible(sc.attrs) {
			if !used.Has(a.ID) {
				ks, named = append(ks, a), append(named, a)
			}
		}
	}
	values, err := r.pivotValues(n, p)
	if err != nil {
		return nil, err
	}
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	lower := &plan.Aggregate{Keys: append(slices.Clone(ks), p), Child: children[0]}
	for i, k := range named {
		named[i] = keyColumn(k)
	}
	pcol := keyColumn(called(p))
	lower.Aggs = append(append(slices.Clone(named), pcol), aggs...)
	if err := r.groupWindows(lower); err != nil {
		return nil, err
	}
	named, pcol = lower.Aggs[:len(named):len(named)], lower.Aggs[len(named)]
	for _, a := range aggs {
		if !hasAgg(a) {
			return nil, errclass.New("UNSUPPORTED_EXPR_FOR_OPERATOR", "invalidExprSqls", errclass.Expr(plan.Trim(a).SQL()))
		}
	}
	if err := checkGrouped(lower); err != nil {
		return nil, err
	}
	if !allPlain(lower.Aggs[len(named)+1:]) {
		return r.pivotByRows(lower, len(named), pcol, values)
	}
	upper := &plan.Aggregate{Child: lower}
	for _, k := range named {
		a := plan.AttrOf(k)
		upper.Keys, upper.Aggs = append(upper.Keys, a), append(upper.Aggs, a)
	}
	for _, v := range values {
		for _, a := range lower.Aggs[len(named)+1:] {
			e, err := r.pivotCell(plan.AttrOf(pcol), v.value, plan.AttrOf(a))
			if err != nil {
				return nil, err
			}
			upper.Aggs = append(upper.Aggs, plan.NewAlias(e, v.column(a, len(aggs))))
		}
	}
	return upper, nil
}

// allPlain tells whether all results are numbers or booleans.
func allPlain(results []plan.Expr) bool {
	return !slices.ContainsFunc(results, func(e plan.Expr) bool {
		t := plan.TypeOf(e)
		return !fn.IsNumeric(t) && !types.SameType(t, types.Boolean)
	})
}

// pivotByRows groups once: each aggregate is computed for each pivot value, over null in the rows that have another. The parts of the
// grouping by the pivot column, too, are those that it is made of.
func (r *resolver) pivotByRows(lower *plan.Aggregate, keys int, pcol plan.Expr, values []pivotValue) (plan.Node, error) {
	out := &plan.Aggregate{Keys: lower.Keys[:keys], Child: lower.Child, Aggs: lower.Aggs[:keys:keys]}
	aggs := lower.Aggs[keys+1:]
	for _, v := range values {
		rows := pivotRows{sc: r.over(lower.Child), value: v.value, column: plan.Trim(pcol)}
		for _, a := range aggs {
			e, err := rows.only(plan.Trim(a))
			if err != nil {
				return nil, err
			}
			out.Aggs = append(out.Aggs, plan.NewAlias(e, v.column(a, len(aggs))))
		}
	}
	return out, nil
}

// pivotRows are the rows that have a value in the pivot column.
type pivotRows struct {
	sc     *scope
	column plan.Expr
	value  *plan.Literal
}

// only computes the aggregates in an expression of these rows.
func (p pivotRows) only(e plan.Expr) (plan.Expr, error) {
	if a, ok := e.(*plan.Agg); ok {
		return p.aggregate(a)
	}
	with, err := plan.MapKids(e, p.only)
	if err != nil || with == e {
		return e, err
	}
	return p.sc.rebound(with)
}

func (p pivotRows) aggregate(a *plan.Agg) (plan.Expr, error) {
	args := slices.Clone(a.Args)
	if len(args) == 0 { // count(*)
		args = []plan.Expr{&plan.Literal{Value: int32(1), T: types.Integer}}
	}
	for i, x := range args {
		if i > 0 && p.sc.r.constant(x) != nil && a.Fn.Name != "max_by" && a.Fn.Name != "min_by" {
			continue // says how, and is the same in all rows
		}
		same, err := p.sc.call("<=>", []plan.Expr{p.column, p.value}, plan.Origin{})
		if err != nil {
			return nil, err
		}
		t := plan.TypeOf(x)
		args[i] = &plan.Cond{Op: plan.OpIf, Args: []plan.Expr{same, x, &plan.Literal{T: t}}, T: t, Null: true, Name: "if"}
	}
	f := &plan.Func{Name: []string{a.Name}, Distinct: a.Distinct, Filter: a.Filter, IgnoreNulls: a.IgnoreNulls, Origin: a.Origin}
	switch n := len(args) - len(a.Keys); {
	case len(a.Keys) > 0:
		for i, k := range a.Keys {
			f.Order = append(f.Order, &plan.SortOrder{Child: args[n+i], Desc: k.Desc, NullsFirst: k.NullsFirst})
		}
		f.Args = args[:n]
	case a.Within:
		f.Order, f.Args = []*plan.SortOrder{{Child: args[0], Desc: a.Desc}}, args[1:]
	default:
		f.Args = args
	}
	if (a.Fn.Name == "first" || a.Fn.Name == "last") && a.Name != "any_value" { // rows of other values would give null
		f.IgnoreNulls = true
	}
	return p.sc.aggregateCall(a.Name, a.Fn, f)
}

// keyColumn makes sure that a named key is a column of the lower grouping.
func keyColumn(e plan.Expr) plan.Expr {
	if a, ok := e.(*plan.Alias); ok && a.ID == 0 {
		c := *a
		c.ID = plan.NewID()
		return &c
	}
	return e
}

// pivotCell is the result of one pivot value: the first of the rows that have it.
func (r *resolver) pivotCell(col *plan.Attr, value *plan.Literal, result *plan.Attr) (plan.Expr, error) {
	sc := r.over()
	same, err := sc.call("<=>", []plan.Expr{col, value}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	pick := &plan.Cond{Op: plan.OpIf, Args: []plan.Expr{same, result, &plan.Literal{T: result.T}}, T: result.T, Null: true, Name: "if"}
	return sc.aggregateCall("first", r.aggregateFunction("first"), &plan.Func{Name: []string{"first"}, Args: []plan.Expr{pick}, IgnoreNulls: true})
}

type pivotValue struct {
	name  string
	value *plan.Literal
}

// column is the name of an aggregate's column, one of so many.
func (v pivotValue) column(aggregate plan.Expr, of int) string {
	if of == 1 {
		return v.name
	}
	return v.name + "_" + plan.AttrOf(aggregate).Name
}

// pivotValues are the values to lay side by side, with the names of their columns. Where a client gave none, they have been looked up
// in the data.
func (r *resolver) pivotValues(n *plan.Aggregate, p plan.Expr) ([]pivotValue, error) {
	t := plan.TypeOf(p)
	if len(n.PivotValues) == 0 && n.Child.Streaming() {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.PIVOT")
	}
	var out []pivotValue
	for _, e := range n.PivotValues {
		x, err := r.over().expr(e)
		if errclass.Has(err, "UNRESOLVED_COLUMN") {
			return nil, errclass.New("NON_LITERAL_PIVOT_VALUES", "expression", errclass.Expr(plan.Trim(e).SQL()))
		}
		if err != nil {
			return nil, err
		}
		name := ""
		if a, ok := x.(*plan.Alias); ok {
			name = a.Name
		}
		x = plan.Trim(x)
		if r.constantNode(x) == nil {
			return nil, errclass.New("NON_LITERAL_PIVOT_VALUES", "expression", errclass.Expr(x.SQL()))
		}
		if !fn.CanCast(plan.TypeOf(x), t, false) {
			return nil, errclass.New("PIVOT_VALUE_DATA_TYPE_MISMATCH", "value", x.SQL(), "valueType", plan.TypeOf(x).SimpleString(), "pivotType", t.SimpleString())
		}
		l, err := r.value(r.to(x, t))
		if err != nil {
			return nil, err
		}
		if name == "" { // that of the value as it is written
			written, err := r.value(x)
			if err != nil {
				return nil, err
			}
			name = r.pivotName(written)
		}
		out = append(out, pivotValue{name, l})
	}
	return out, nil
}

// pivotName is a value as text.
func (r *resolver) pivotName(l *plan.Literal) string {
	if l.Value == nil {
		return "null"
	}
	v := r.constant(&plan.Cast{Child: l, To: types.String, Mode: plan.CastTry})
	if v == nil || v.IsNull(0) {
		return l.SQL()
	}
	text, ok := vec.ValueAt(v, 0).(string)
	if !ok {
		return l.SQL()
	}
	return text
}
