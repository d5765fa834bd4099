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
// the pivot values side by side.
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
			name := v.name
			if len(aggs) > 1 {
				name += "_" + plan.AttrOf(a).Name
			}
			upper.Aggs = append(upper.Aggs, plan.NewAlias(e, name))
		}
	}
	return upper, nil
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
