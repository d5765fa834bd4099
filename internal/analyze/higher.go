package analyze

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// higherOrder resolves functions that take functions.
func (sc *scope) higherOrder(name string, f *plan.Func) (plan.Expr, error) {
	want := 2
	switch name {
	case "zip_with", "map_zip_with":
		want = 3
	case "aggregate", "reduce":
		want = 3
		if len(f.Args) == 4 {
			want = 4
		}
	}
	if len(f.Args) != want {
		return nil, wrongNumArgs(name, strconv.Itoa(want), len(f.Args))
	}
	h := &plan.HigherOrder{Name: name, Origin: f.Origin, Text: callText(name, f.Args)}
	defer func() { h.Text = "" }() // for messages until the call is complete
	values := 1
	if want > 2 {
		values = 2
	}
	args, err := sc.operands(f.Args[:values])
	if err != nil {
		return nil, err
	}
	h.Args, h.Null = args, plan.NullableOf(args[0])
	switch name {
	case "map_filter", "transform_keys", "transform_values":
		return sc.overMap(h, f)
	case "map_zip_with":
		return sc.overMaps(h, f)
	case "aggregate", "reduce":
		return sc.reduce(h, f)
	case "zip_with":
		return sc.zip(h, f)
	}
	arr, ok := plan.TypeOf(args[0]).(types.ArrayType)
	if !ok {
		return nil, wrongLambdaInput(h, 0, `"ARRAY"`)
	}
	elem := param{arr.Element, arr.ContainsNull}
	index := param{types.Integer, false}
	l, err := sc.lambda(f.Args[1], [][]param{{elem}, {elem, index}})
	if err != nil {
		return nil, err
	}
	h.Args = append(h.Args, l)
	switch name {
	case "transform":
		h.T = types.ArrayType{Element: l.Type(), ContainsNull: l.Nullable()}
		return h, nil
	case "filter":
		h.T = arr
	default:
		h.T = types.Boolean
		h.Null = h.Null || l.Nullable()
	}
	return h, boolLambda(h, l)
}

// param is the type of a lambda parameter.
type param struct {
	t    types.DataType
	null bool
}

// lambda resolves a function argument whose parameters have one of the given lists of types, by their number.
func (sc *scope) lambda(e plan.Expr, choices [][]param) (*plan.Lambda, error) {
	l, ok := e.(*plan.Lambda)
	if !ok {
		return nil, errclass.New("INVALID_LAMBDA_FUNCTION_CALL.PARAMETER_DOES_NOT_ACCEPT_LAMBDA_FUNCTION")
	}
	for _, ps := range choices {
		if len(ps) == len(l.Params) {
			return sc.lambdaOf(l, ps)
		}
	}
	return nil, errclass.New("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH", "actualNumArgs", strconv.Itoa(len(choices[0])), "expectedNumArgs", strconv.Itoa(len(l.Params)))
}

func (sc *scope) lambdaOf(l *plan.Lambda, ps []param) (*plan.Lambda, error) {
	before := sc.vars
	defer func() { sc.vars = before }()
	vars := make(map[plan.ID]*plan.LambdaVar, len(before)+len(ps))
	for id, v := range before {
		vars[id] = v
	}
	out := &plan.Lambda{}
	for i, p := range l.Params {
		v := &plan.LambdaVar{ID: plan.NewID(), Name: p.Name, T: ps[i].t, Null: ps[i].null}
		vars[p.ID] = v
		out.Params = append(out.Params, v)
	}
	sc.vars = vars
	body, err := sc.expr(l.Body)
	if err != nil {
		return nil, err
	}
	out.Body = plan.Trim(body)
	return out, nil
}

func wrongLambdaInput(h *plan.HigherOrder, i int, required string) error {
	return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(h.SQL()), "paramIndex", ordinal(i+1),
		"requiredType", required, "inputSql", errclass.Expr(h.Args[i].SQL()), "inputType", errclass.Expr(plan.TypeOf(h.Args[i]).SQL()))
}

func boolLambda(h *plan.HigherOrder, l *plan.Lambda) error {
	if isBool(l) {
		return nil
	}
	if types.SameType(l.Type(), types.Null) {
		h.Args[len(h.Args)-1] = &plan.Lambda{Params: l.Params, Body: &plan.Literal{T: types.Boolean}}
		return nil
	}
	whole := *h
	whole.Text = ""
	return wrongLambdaInput(&whole, len(h.Args)-1, `"BOOLEAN"`)
}

func (sc *scope) overMap(h *plan.HigherOrder, f *plan.Func) (plan.Expr, error) {
	m, ok := plan.TypeOf(h.Args[0]).(types.MapType)
	if !ok {
		return nil, wrongLambdaInput(h, 0, `"MAP"`)
	}
	l, err := sc.lambda(f.Args[1], [][]param{{{m.Key, false}, {m.Value, m.ValueContainsNull}}})
	if err != nil {
		return nil, err
	}
	h.Args = append(h.Args, l)
	switch h.Name {
	case "map_filter":
		h.T = m
		return h, boolLambda(h, l)
	case "transform_keys":
		h.T = types.MapType{Key: l.Type(), Value: m.Value, ValueContainsNull: m.ValueContainsNull}
	default:
		h.T = types.MapType{Key: m.Key, Value: l.Type(), ValueContainsNull: l.Nullable()}
	}
	return h, nil
}

func (sc *scope) overMaps(h *plan.HigherOrder, f *plan.Func) (plan.Expr, error) {
	a, ok := plan.TypeOf(h.Args[0]).(types.MapType)
	if !ok {
		return nil, wrongLambdaInput(h, 0, `"MAP"`)
	}
	b, ok := plan.TypeOf(h.Args[1]).(types.MapType)
	if !ok || !types.SameType(a.Key, b.Key) {
		return nil, wrongLambdaInput(h, 1, `"MAP"`)
	}
	l, err := sc.lambda(f.Args[2], [][]param{{{a.Key, false}, {a.Value, true}, {b.Value, true}}})
	if err != nil {
		return nil, err
	}
	h.Args = append(h.Args, l)
	h.T = types.MapType{Key: a.Key, Value: l.Type(), ValueContainsNull: l.Nullable()}
	h.Null = h.Null || plan.NullableOf(h.Args[1])
	return h, nil
}

func (sc *scope) zip(h *plan.HigherOrder, f *plan.Func) (plan.Expr, error) {
	var ps []param
	for i, a := range h.Args {
		t, ok := plan.TypeOf(a).(types.ArrayType)
		if !ok {
			return nil, wrongLambdaInput(h, i, `"ARRAY"`)
		}
		ps = append(ps, param{t.Element, true}) // the shorter array is filled up
	}
	l, err := sc.lambda(f.Args[2], [][]param{ps})
	if err != nil {
		return nil, err
	}
	h.Null = h.Null || plan.NullableOf(h.Args[1])
	h.Args = append(h.Args, l)
	h.T = types.ArrayType{Element: l.Type(), ContainsNull: l.Nullable()}
	return h, nil
}

// reduce resolves aggregate(array, zero, merge[, finish]). The accumulator has the type of zero.
func (sc *scope) reduce(h *plan.HigherOrder, f *plan.Func) (plan.Expr, error) {
	t, ok := plan.TypeOf(h.Args[0]).(types.ArrayType)
	if !ok {
		return nil, wrongLambdaInput(h, 0, `"ARRAY"`)
	}
	acc := param{plan.TypeOf(h.Args[1]), true}
	merge, err := sc.lambda(f.Args[2], [][]param{{acc, {t.Element, t.ContainsNull}}})
	if err != nil {
		return nil, err
	}
	if !types.SameType(merge.Type(), acc.t) { // one conversion, as for any other argument
		h.Args = append(h.Args, merge)
		common, ok := sc.r.common([]types.DataType{acc.t, merge.Type()})
		if !ok || !types.SameType(common, acc.t) {
			return nil, wrongLambdaInput(h, 2, errclass.Expr(acc.t.SQL()))
		}
		h.Args = h.Args[:2]
		merge = &plan.Lambda{Params: merge.Params, Body: sc.r.to(merge.Body, acc.t)}
	}
	h.Args = append(h.Args, merge)
	v := &plan.LambdaVar{ID: plan.NewID(), Name: "id"}
	finish := plan.Expr(&plan.Lambda{Params: []*plan.LambdaVar{v}, Body: v})
	if len(f.Args) == 4 {
		finish = f.Args[3]
	}
	last, err := sc.lambda(finish, [][]param{{acc}})
	if err != nil {
		return nil, err
	}
	h.Args = append(h.Args, last)
	h.T, h.Null = last.Type(), true
	return h, nil
}

// arraySort resolves array_sort(array[, comparator]), where the comparator tells by its sign which of two elements comes first.
func (sc *scope) arraySort(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 2 {
		args, err := sc.operands(f.Args)
		if err != nil {
			return nil, err
		}
		return sc.call(name, args, f.Origin)
	}
	args, err := sc.operands(f.Args[:1])
	if err != nil {
		return nil, err
	}
	h := &plan.HigherOrder{Name: name, Origin: f.Origin, Args: args, Null: plan.NullableOf(args[0]), Text: callText(name, f.Args)}
	defer func() { h.Text = "" }()
	arr, ok := plan.TypeOf(args[0]).(types.ArrayType)
	if !ok {
		return nil, wrongLambdaInput(h, 0, `"ARRAY"`)
	}
	elem := param{arr.Element, arr.ContainsNull}
	l, err := sc.lambda(f.Args[1], [][]param{{elem, elem}})
	if err != nil {
		return nil, err
	}
	h.T, h.Args = arr, append(h.Args, l)
	if !types.Equal(l.Type(), types.Integer) {
		return nil, wrongLambdaInput(h, 1, `"INT"`)
	}
	return h, nil
}
