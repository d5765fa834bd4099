package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func isOver(e plan.Expr) bool { _, ok := e.(*plan.Over); return ok }

// windowFunc is reached for window functions without OVER.
func (sc *scope) windowFunc(name string, f *plan.Func) (plan.Expr, error) {
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	return nil, errclass.New("WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "funcName", errclass.Expr(callText(name, args)))
}

// window resolves a function call with OVER.
func (sc *scope) window(o *plan.Over) (plan.Expr, error) {
	c := *o
	var err error
	if c.Fn, err = sc.overFunc(o.Fn); err != nil {
		return nil, err
	}
	if c.Partition, err = sc.operands(o.Partition); err != nil {
		return nil, err
	}
	c.Order = nil
	for _, k := range o.Order {
		e, err := sc.expr(k)
		if err != nil {
			return nil, err
		}
		s := e.(*plan.SortOrder)
		c.Order = append(c.Order, &plan.SortOrder{Child: plan.Trim(s.Child), Desc: s.Desc, NullsFirst: s.NullsFirst})
	}
	for _, b := range []*plan.FrameBound{&c.Lo, &c.Hi} {
		if b.Offset == nil {
			continue
		}
		e, err := sc.expr(b.Offset)
		if err != nil {
			return nil, err
		}
		b.Offset = sc.r.fold(plan.Trim(e))
	}
	return sc.frame(&c)
}

// overFunc resolves the function before OVER.
func (sc *scope) overFunc(e plan.Expr) (plan.Expr, error) {
	if f, ok := e.(*plan.Func); ok {
		name := strings.ToLower(f.Name[len(f.Name)-1])
		switch name {
		case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "nth_value":
			return sc.windowCall(name, f)
		}
	}
	x, err := sc.expr(e)
	if err != nil {
		return nil, err
	}
	if !isAgg(x) {
		return nil, errclass.New("UNSUPPORTED_EXPR_FOR_WINDOW", "sqlExpr", errclass.Expr(x.SQL()))
	}
	return x, nil
}

// windowCall binds a function that exists over windows only.
func (sc *scope) windowCall(name string, f *plan.Func) (plan.Expr, error) {
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	w := &plan.WindowFunc{Name: name, Args: args, T: types.Integer, IgnoreNulls: f.IgnoreNulls, Origin: f.Origin}
	one := &plan.Literal{Value: int32(1), T: types.Integer}
	least, most := 0, 0
	switch name {
	case "ntile":
		most = 1
	case "lag", "lead":
		least, most = 1, 3
	case "nth_value":
		least, most = 2, 2
	}
	if n := len(args); n < least || n > most {
		want := strconv.Itoa(most)
		if least != most {
			want = "[" + strconv.Itoa(least) + ".." + strconv.Itoa(most) + "]"
		}
		return nil, wrongNumArgs(name, want, n)
	}
	switch name {
	case "percent_rank", "cume_dist":
		w.T = types.Double
	case "ntile":
		if len(args) == 0 {
			w.Args = []plan.Expr{one}
		}
	case "lag", "lead":
		if len(args) == 1 {
			args = append(args, one)
		}
		if len(args) == 2 {
			args = append(args, &plan.Literal{T: types.Null})
		}
		if isBool(args[2]) && len(f.Args) == 3 && !isBool(args[0]) { // lag(x, n, ignoreNulls) of the DataFrame API
			if l, ok := args[2].(*plan.Literal); ok {
				w.IgnoreNulls = l.Value == true
				args[2] = &plan.Literal{T: types.Null}
			}
		}
		args[1] = sc.r.fold(args[1])
		w.T = plan.TypeOf(args[0])
		args[2] = sc.r.to(args[2], w.T)
		w.Args, w.Null = args, plan.NullableOf(args[0]) || plan.NullableOf(args[2])
	case "nth_value":
		args[1] = sc.r.fold(args[1])
		w.T, w.Null = plan.TypeOf(args[0]), true
	}
	return w, nil
}

// frame settles the frame of a window function call.
func (sc *scope) frame(o *plan.Over) (plan.Expr, error) {
	if a, ok := o.Fn.(*plan.Agg); ok && a.Distinct {
		return nil, errclass.New("DISTINCT_WINDOW_FUNCTION_UNSUPPORTED", "windowExpr", errclass.Expr(o.SQL()))
	}
	w, ok := o.Fn.(*plan.WindowFunc)
	if !ok || w.Name == "nth_value" {
		return o, sc.checkFrame(o)
	}
	if o.Framed {
		return nil, errclass.New("WINDOW_FUNCTION_AND_FRAME_MISMATCH", "funcName", errclass.Expr(w.SQL()), "windowExpr", errclass.Expr(o.SQL()))
	}
	if len(o.Order) == 0 {
		return nil, errclass.New("WINDOW_FUNCTION_FRAME_NOT_ORDERED", "wf_name", w.Name, "wf_expr", w.SQL())
	}
	o.Rows, o.Framed = true, true
	switch w.Name {
	case "lag", "lead":
		at := w.Args[1]
		if l, ok := at.(*plan.Literal); ok && w.Name == "lag" {
			if n, ok := l.Value.(int32); ok {
				at = &plan.Literal{Value: -n, T: types.Integer}
			}
		}
		o.Lo, o.Hi = plan.FrameBound{Offset: at}, plan.FrameBound{Offset: at}
	default:
		o.Lo, o.Hi = plan.FrameBound{Unbounded: true}, plan.FrameBound{}
		o.Rows = w.Name != "cume_dist"
	}
	return o, nil
}

// checkFrame checks the bounds of a written frame.
func (sc *scope) checkFrame(o *plan.Over) error {
	if !o.Framed || o.Lo.Offset == nil && o.Hi.Offset == nil {
		return nil
	}
	sql := errclass.Expr(o.SQL())
	if !o.Rows {
		switch {
		case len(o.Order) == 0:
			return errclass.New("DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER", "sqlExpr", sql)
		case len(o.Order) > 1:
			keys := make([]string, len(o.Order))
			for i, k := range o.Order {
				keys[i] = k.SQL()
			}
			return errclass.New("DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER", "sqlExpr", sql, "orderSpec", errclass.Expr(strings.Join(keys, "; ")))
		}
		return nil
	}
	for _, b := range []plan.FrameBound{o.Lo, o.Hi} {
		if b.Offset == nil {
			continue
		}
		if l, ok := b.Offset.(*plan.Literal); ok {
			switch l.Value.(type) {
			case int8, int16, int32, int64:
				continue
			}
		}
		return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", sql, "paramIndex", "first", "requiredType", `"INT"`,
			"inputSql", errclass.Expr(b.Offset.SQL()), "inputType", errclass.Expr(plan.TypeOf(b.Offset).SQL()))
	}
	return nil
}

// windows moves window function calls out of a select list, one operator for each partitioning and order.
func (r *resolver) windows(child plan.Node, items []plan.Expr) (plan.Node, []plan.Expr, error) {
	if !slices.ContainsFunc(items, func(e plan.Expr) bool { return plan.Exists(e, isOver) }) {
		return child, items, nil
	}
	type group struct {
		spec string
		cols []plan.Expr
	}
	var groups []*group
	made := map[string]*plan.Alias{}
	add := func(o *plan.Over, a *plan.Alias) *plan.Attr {
		key := plan.Canon(o)
		if old := made[key]; old != nil {
			return old.Attr()
		}
		made[key] = a
		keys := &plan.Over{Fn: &plan.Literal{T: types.Null}, Partition: o.Partition, Order: o.Order}
		spec := plan.Canon(keys)
		i := slices.IndexFunc(groups, func(g *group) bool { return g.spec == spec })
		if i < 0 {
			groups, i = append(groups, &group{spec: spec}), len(groups)
		}
		groups[i].cols = append(groups[i].cols, a)
		return a.Attr()
	}
	out := slices.Clone(items)
	for i, e := range items {
		if a, ok := e.(*plan.Alias); ok {
			if o, ok := a.Child.(*plan.Over); ok && made[plan.Canon(o)] == nil {
				out[i] = add(o, a)
				continue
			}
		}
		var err error
		if out[i], err = plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
			if o, ok := e.(*plan.Over); ok {
				return add(o, plan.NewAlias(o, o.SQL())), nil
			}
			return e, nil
		}); err != nil {
			return nil, nil, err
		}
	}
	for _, g := range groups {
		child = &plan.WindowFuncs{Cols: g.cols, Child: child}
	}
	return child, out, nil
}
