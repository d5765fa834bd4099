package analyze

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func isOver(e plan.Expr) bool { _, ok := e.(*plan.Over); return ok }

func hasOver(e plan.Expr) bool { return plan.Exists(e, isOver) }

// windowFunc is reached for window functions without OVER.
func (sc *scope) windowFunc(name string, f *plan.Func) (plan.Expr, error) {
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	return nil, errclass.New("WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "funcName", errclass.Expr(callText(name, args)))
}

// sequenceID numbers rows from 0 in the order in which they come: DataFrame.zipWithIndex.
func (sc *scope) sequenceID(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) > 1 { // one argument, which means nothing, comes from pandas_api
		return nil, wrongNumArgs(name, "0", len(f.Args))
	}
	number := &plan.Over{
		Fn: &plan.WindowFunc{Name: "row_number", T: types.Integer}, Rows: true, Framed: true, Lo: plan.FrameBound{Unbounded: true},
	}
	one := &plan.Literal{Value: int64(1), T: types.Long}
	e, err := sc.call("-", []plan.Expr{sc.r.to(number, types.Long), one}, f.Origin)
	if c, ok := e.(*plan.Call); ok {
		c.Text = name + "()"
	}
	return e, err
}

// window resolves a function call with OVER.
func (sc *scope) window(o *plan.Over) (plan.Expr, error) {
	c := *o
	var err error
	if c.Fn, err = sc.overFunc(o); err != nil {
		return nil, err
	}
	if c.Partition, err = sc.operands(o.Partition); err != nil {
		return nil, err
	}
	for _, k := range c.Partition {
		if t := plan.TypeOf(k); t != nil && !fn.Orderable(t) {
			return nil, errclass.New("EXPRESSION_TYPE_IS_NOT_ORDERABLE", "expr", errclass.Expr(k.SQL()), "exprType", errclass.Expr(t.SQL()))
		} else if t != nil {
			if err := Bytewise(t); err != nil {
				return nil, err
			}
		}
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
		b.Offset = plan.Trim(e)
	}
	return sc.frame(&c)
}

// overFunc resolves the function before OVER.
func (sc *scope) overFunc(o *plan.Over) (plan.Expr, error) {
	if f, ok := o.Fn.(*plan.Func); ok {
		name := strings.ToLower(f.Name[len(f.Name)-1])
		switch name {
		case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "nth_value":
			c := *f
			if o.Origin.Context != nil {
				c.Origin = o.Origin
			}
			return sc.windowCall(name, &c)
		}
	}
	x, err := sc.expr(o.Fn)
	if err != nil {
		return nil, err
	}
	if a, ok := x.(*plan.Agg); ok && a.Filter != nil && !plan.Exists(a.Filter, IsRandom) {
		if err := checkAgg(&plan.Agg{Filter: a.Filter}); err != nil {
			return nil, err
		}
	}
	if isGen(x) {
		return nil, generatorOutside("Window")
	}
	if !isAgg(x) && !hasAgg(x) { // over an aggregate, the grouping that it makes is looked at first
		return nil, notOverWindow(x)
	}
	return x, nil
}

func notOverWindow(e plan.Expr) error {
	return errclass.New("UNSUPPORTED_EXPR_FOR_WINDOW", "sqlExpr", errclass.Expr(e.SQL()))
}

// windowCall binds a function that exists over windows only.
func (sc *scope) windowCall(name string, f *plan.Func) (plan.Expr, error) {
	unsupported := func(syntax string) error {
		return errclass.New("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "prettyName", errclass.Ident(name), "syntax", syntax)
	}
	offsets := name == "lag" || name == "lead" || name == "nth_value"
	switch {
	case f.Distinct:
		return nil, unsupported("DISTINCT")
	case f.Filter != nil:
		return nil, unsupported("FILTER CLAUSE")
	case f.IgnoreNulls && !offsets:
		return nil, unsupported("IGNORE NULLS")
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	w := &plan.WindowFunc{Name: name, Args: args, T: types.Integer, IgnoreNulls: f.IgnoreNulls, Origin: f.Origin}
	least, most, want := 0, 0, "0"
	switch name {
	case "rank", "dense_rank", "percent_rank": // arguments mean nothing
		w.Args, args = nil, nil
	case "ntile":
		most, want = 1, "[0, 1]"
	case "lag", "lead":
		most, want = 4, "[0, 4]"
	case "nth_value":
		least, most, want = 2, 3, "[2, 3]"
	}
	if n := len(args); n < least || n > most {
		return nil, wrongNumArgs(name, want, n)
	}
	if offsets && len(args) == most {
		l, ok := args[most-1].(*plan.Literal)
		if ignore, isBool := l.Value.(bool); ok && isBool {
			w.IgnoreNulls, args = ignore, args[:most-1]
		} else {
			return nil, errclass.New("INVALID_PARAMETER_VALUE.BOOLEAN", "functionName", errclass.Ident(name), "parameter", "`ignoreNulls`",
				"invalidValue", errclass.Expr(args[most-1].SQL()))
		}
	}
	switch name {
	case "percent_rank", "cume_dist":
		w.T = types.Double
	case "ntile":
		if len(args) == 0 {
			w.Args = []plan.Expr{&plan.Literal{Value: int32(1), T: types.Integer}}
		}
		return w, sc.countOfRows(w, 0, "buckets")
	case "lag", "lead":
		return w, sc.lagArgs(w, args, f)
	case "nth_value":
		w.Args, w.T, w.Null = args, plan.TypeOf(args[0]), true
		return w, sc.countOfRows(w, 1, "offset")
	}
	return w, nil
}

// lagArgs settles the arguments of lag and lead: a value, a number of rows, and what there is where there is no row.
func (sc *scope) lagArgs(w *plan.WindowFunc, args []plan.Expr, f *plan.Func) error {
	if len(args) == 0 {
		args = append(args, &plan.Literal{T: types.Null})
	}
	if len(args) == 1 {
		args = append(args, &plan.Literal{Value: int32(1), T: types.Integer})
	}
	if len(args) == 2 {
		args = append(args, &plan.Literal{T: types.Null})
	}
	w.Args, w.T = args, plan.TypeOf(args[0])
	at := args[1]
	v := sc.r.constant(at)
	if len(plan.References(at)) > 0 || v == nil {
		text := at.SQL()
		if w.Name == "lag" {
			text = "(- " + text + ")"
		}
		return errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", errclass.Expr(w.SQL()), "inputName", "`offset`",
			"inputType", errclass.Expr(types.Integer.SQL()), "inputExpr", errclass.Expr(text))
	}
	if t := plan.TypeOf(at); !v.IsNull(0) {
		switch t.(type) {
		case types.DayTimeIntervalType, types.YearMonthIntervalType, types.CalendarIntervalType:
			return wrongOffset(w, at)
		case types.StringType, types.BooleanType, types.ArrayType, types.MapType, types.StructType, types.DateType, types.TimestampType, types.BinaryType:
			if w.Name == "lag" { // whose number is counted backwards
				return errclass.New("FAILED_FUNCTION_CALL", "funcName", "`lag`")
			}
			if !fn.CanCast(t, types.Integer, sc.r.conf.ANSI) || isBool(at) {
				return wrongOffset(w, at)
			}
		}
	}
	if !types.Equal(plan.TypeOf(at), types.Integer) || v.IsNull(0) {
		return errclass.New("_LEGACY_ERROR_TEMP_1035", "prettyName", w.Name)
	}
	n, _ := intOf(v)
	w.N = int64(n)
	if w.Name == "lag" {
		w.N = -w.N
	}
	if t := plan.TypeOf(args[2]); !types.SameType(t, w.T) && !fn.CanCast(t, w.T, sc.r.conf.ANSI) {
		return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(w.SQL()), "paramIndex", "third",
			"requiredType", "("+errclass.Expr(w.T.SQL())+" or "+errclass.Expr(types.Null.SQL())+")", "inputSql", errclass.Expr(args[2].SQL()),
			"inputType", errclass.Expr(t.SQL()))
	}
	args[2] = sc.r.to(args[2], w.T)
	placed(args[2:], f.Origin)
	w.Null = plan.NullableOf(args[0]) || plan.NullableOf(args[2])
	return nil
}

// wrongOffset refuses a number of rows that is none.
func wrongOffset(w *plan.WindowFunc, at plan.Expr) error {
	return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(w.SQL()), "paramIndex", "second",
		"requiredType", errclass.Expr(types.Integer.SQL()), "inputSql", errclass.Expr(at.SQL()), "inputType", errclass.Expr(plan.TypeOf(at).SQL()))
}

// countOfRows settles an argument that is a positive constant.
func (sc *scope) countOfRows(w *plan.WindowFunc, i int, name string) error {
	sql, arg := errclass.Expr(w.SQL()), w.Args[i]
	v := sc.r.constant(arg)
	switch {
	case len(plan.References(arg)) > 0 || v == nil:
		return errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", sql, "inputName", errclass.Ident(name),
			"inputType", errclass.Expr(types.Integer.SQL()), "inputExpr", errclass.Expr(arg.SQL()))
	case name == "buckets" && !types.Equal(plan.TypeOf(arg), types.Integer):
		return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", sql, "paramIndex", "first",
			"requiredType", errclass.Expr(types.Integer.SQL()), "inputSql", errclass.Expr(arg.SQL()), "inputType", errclass.Expr(plan.TypeOf(arg).SQL()))
	case name == "offset":
		if v = sc.r.constant(sc.r.to(arg, types.Long)); v == nil {
			return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", sql, "paramIndex", "second",
				"requiredType", errclass.Expr(types.Integer.SQL()), "inputSql", errclass.Expr(arg.SQL()), "inputType", errclass.Expr(plan.TypeOf(arg).SQL()))
		}
	}
	n, _ := intOf(v)
	if v.IsNull(0) {
		n = 0
	}
	if n <= 0 {
		text, most := strconv.Itoa(n), strconv.Itoa(math.MaxInt32)
		if name == "offset" {
			text, most = text+"L", strconv.FormatInt(math.MaxInt64, 10)
		}
		return errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", sql, "exprName", name, "valueRange", "(0, "+most+"]", "currentValue", text)
	}
	w.N = int64(n)
	return nil
}

// windows moves window function calls out of a select list, one operator for each partitioning and order.
func (r *resolver) windows(child plan.Node, items []plan.Expr) (plan.Node, []plan.Expr, error) {
	if !slices.ContainsFunc(items, func(e plan.Expr) bool { return plan.Exists(e, isOver) }) {
		return child, items, nil
	}
	type group struct {
		spec  string
		level int // above the groups whose results it uses
		cols  []plan.Expr
	}
	var groups []*group
	made := map[string]*plan.Alias{}
	levels := map[plan.ID]int{}
	add := func(o *plan.Over, a *plan.Alias) *plan.Attr {
		key := plan.Canon(o)
		if old := made[key]; old != nil {
			return old.Attr()
		}
		made[key] = a
		keys := &plan.Over{Fn: &plan.Literal{T: types.Null}, Partition: o.Partition, Order: o.Order}
		spec := plan.Canon(keys)
		level := 0
		for id := range plan.References(o) {
			level = max(level, levels[id])
		}
		levels[a.ID] = level + 1
		i := slices.IndexFunc(groups, func(g *group) bool { return g.spec == spec && g.level == level })
		if i < 0 {
			groups, i = append(groups, &group{spec: spec, level: level}), len(groups)
		}
		groups[i].cols = append(groups[i].cols, a)
		return a.Attr()
	}
	out := slices.Clone(items)
	var below []plan.Expr // what gives another value each time is computed for the rows as they come
	for i, e := range items {
		if a, ok := e.(*plan.Alias); ok && !hasOver(e) && plan.Exists(e, IsRandom) {
			below = append(below, a)
			out[i] = a.Attr()
			continue
		}
		if a, ok := e.(*plan.Alias); ok {
			if o, ok := a.Child.(*plan.Over); ok && made[plan.Canon(o)] == nil && !slices.ContainsFunc(o.Kids(), hasOver) {
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
	if below != nil {
		child = &plan.Project{Cols: append(exprsOf(child.Output()), below...), Child: child}
	}
	for _, g := range groups {
		for _, c := range g.cols {
			o, ok := plan.Trim(c).(*plan.Over)
			if !ok {
				continue
			}
			switch o.Fn.(type) {
			case *plan.Agg, *plan.WindowFunc:
			default:
				return nil, nil, at(notOverWindow(o.Fn), o.Origin)
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return a.level - b.level })
	for _, g := range groups {
		child = &plan.WindowFuncs{Cols: g.cols, Child: child}
	}
	return child, out, nil
}
