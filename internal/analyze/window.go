package analyze

import (
	"slices"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// timeArg resolves the time of a window: a timestamp, what casts to one, or the window column of an earlier grouping, of which the
// last moment is taken.
func (sc *scope) timeArg(e plan.Expr, shown func(time string) string) (plan.Expr, error) {
	e, err := sc.expr(e)
	if err != nil {
		return nil, err
	}
	e = plan.Trim(e)
	switch t := plan.TypeOf(e).(type) {
	case types.TimestampType, types.TimestampNTZType:
		return e, nil
	case types.StringType, types.DateType, types.NullType:
		return sc.r.to(e, types.Timestamp), nil
	case types.StructType:
		if windowStruct(t) {
			return &windowTimeExpr{col: e}, nil
		}
	}
	return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(shown(e.SQL())), "paramIndex", "first",
		"requiredType", `("(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)" or "STRUCT<start: TIMESTAMP, end: TIMESTAMP>" or "STRUCT<start: TIMESTAMP_NTZ, end: TIMESTAMP_NTZ>")`,
		"inputSql", errclass.Expr(e.SQL()), "inputType", errclass.Expr(plan.TypeOf(e).SQL()))
}

func windowStruct(t types.StructType) bool {
	if len(t.Fields) != 2 || t.Fields[0].Name != "start" || t.Fields[1].Name != "end" {
		return false
	}
	switch t.Fields[1].Type.(type) {
	case types.TimestampType, types.TimestampNTZType:
		return types.SameType(t.Fields[0].Type, t.Fields[1].Type)
	}
	return false
}

// timeWindow resolves window(time, duration[, slide[, start]]).
func (sc *scope) timeWindow(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) < 2 || len(f.Args) > 4 {
		return nil, wrongNumArgs(name, "[2, 3, 4]", len(f.Args))
	}
	var d [3]int64
	for i, a := range f.Args[1:] {
		var err error
		if d[i], err = sc.duration(a); err != nil {
			return nil, err
		}
	}
	w := &plan.TimeWindow{Duration: d[0], Slide: d[1], Start: d[2]}
	if len(f.Args) == 2 {
		w.Slide = w.Duration
	}
	var err error
	if w.Time, err = sc.timeArg(f.Args[0], w.CallSQL); err != nil {
		return nil, err
	}
	return w, checkWindow(w)
}

// duration reads a window's duration: the text of an interval, or a number of microseconds. An interval itself is none, as in Spark.
func (sc *scope) duration(e plan.Expr) (int64, error) {
	e, err := sc.expr(e)
	if err != nil {
		return 0, err
	}
	if l, ok := sc.r.fold(plan.Trim(e)).(*plan.Literal); ok {
		switch v := l.Value.(type) {
		case string:
			iv, err := interval.ParseCalendar(v)
			if err != nil {
				return 0, err
			}
			return windowMicros(iv, v)
		case int32:
			return int64(v), nil
		case int64:
			return v, nil
		}
	}
	return 0, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", errclass.Expr(e.SQL()), "inputName", "`window_duration`",
		"inputType", `"STRING"`, "inputExpr", errclass.Expr(e.SQL()))
}

func windowMicros(iv interval.Interval, text string) (int64, error) {
	if iv.Months != 0 {
		return 0, errclass.New("INVALID_TIME_WINDOW.MONTHS", "interval", text)
	}
	n, ok := iv.Duration()
	if !ok {
		return 0, errclass.New("FAILED_FUNCTION_CALL", "funcName", "`window`")
	}
	return n, nil
}

// checkWindow checks how the durations of a window fit together.
func checkWindow(w *plan.TimeWindow) error {
	sql := errclass.Expr(w.CallSQL(w.Time.SQL()))
	long := func(n int64) string { return strconv.Itoa(int(n)) + "L" }
	for _, x := range []struct {
		name  string
		value int64
	}{{"`window_duration`", w.Duration}, {"`slide_duration`", w.Slide}} {
		if x.value <= 0 {
			return errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", sql, "exprName", x.name,
				"valueRange", "(0, 9223372036854775807]", "currentValue", long(x.value))
		}
	}
	if w.Slide > w.Duration {
		return errclass.New("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "sqlExpr", sql, "leftExprName", "`slide_duration`",
			"leftExprValue", long(w.Slide), "constraint", "<=", "rightExprName", "`window_duration`", "rightExprValue", long(w.Duration))
	}
	if abs := max(w.Start, -w.Start); abs >= w.Slide {
		return errclass.New("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "sqlExpr", sql, "leftExprName", "`abs(start_time)`",
			"leftExprValue", long(abs), "constraint", "<", "rightExprName", "`slide_duration`", "rightExprValue", long(w.Slide))
	}
	return nil
}

// sessionWindow resolves session_window(time, gap).
func (sc *scope) sessionWindow(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 2 {
		return nil, wrongNumArgs(name, "2", len(f.Args))
	}
	gap, err := sc.expr(f.Args[1])
	if err != nil {
		return nil, err
	}
	gap = plan.Trim(gap)
	shown := func(time string) string { return "sessionwindow(" + time + ", " + gap.SQL() + ")" }
	w := &plan.SessionWindow{}
	if w.Time, err = sc.timeArg(f.Args[0], shown); err != nil {
		return nil, err
	}
	switch plan.TypeOf(gap).(type) {
	case types.CalendarIntervalType:
		w.Gap = gap
	case types.StringType, types.NullType: // what is no interval is null, and its rows belong to no session
		w.Gap = &plan.Cast{Child: gap, To: types.CalendarInterval, Mode: plan.CastTry, Implicit: true}
	default: // an interval of the other two kinds too, as in Spark
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(shown(w.Time.SQL())), "paramIndex", "second",
			"requiredType", `"INTERVAL"`, "inputSql", errclass.Expr(gap.SQL()), "inputType", errclass.Expr(plan.TypeOf(gap).SQL()))
	}
	return w, nil
}

// windowTimeExpr is window_time(column) until it is computed below the node that uses it.
type windowTimeExpr struct{ col plan.Expr }

func (e *windowTimeExpr) Kids() []plan.Expr { return []plan.Expr{e.col} }

func (e *windowTimeExpr) WithKids(kids []plan.Expr) plan.Expr { return &windowTimeExpr{kids[0]} }

func (e *windowTimeExpr) SQL() string { return "window_time(" + e.col.SQL() + ")" }

func (e *windowTimeExpr) Type() types.DataType {
	return plan.TypeOf(e.col).(types.StructType).Fields[1].Type
}

func (e *windowTimeExpr) Nullable() bool { return true }

func (sc *scope) windowTime(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 1 {
		return nil, wrongNumArgs(name, "1", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	e := &windowTimeExpr{col: args[0]}
	t, ok := plan.TypeOf(args[0]).(types.StructType)
	switch {
	case !ok:
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(e.SQL()), "paramIndex", "first",
			"requiredType", `"STRUCT"`, "inputSql", errclass.Expr(args[0].SQL()), "inputType", errclass.Expr(plan.TypeOf(args[0]).SQL()))
	case !windowStruct(t):
		return nil, errclass.New("INVALID_TIME_WINDOW.NOT_A_WINDOW", "windowTime", e.SQL())
	}
	return e, nil
}

// timeWindows computes the time windows in expressions below the node that holds them: each becomes a column of the child.
func (r *resolver) timeWindows(child plan.Node, es []plan.Expr) (plan.Node, []plan.Expr, error) {
	if !slices.ContainsFunc(es, func(e plan.Expr) bool { return plan.Exists(e, isWindowExpr) }) {
		return child, es, nil
	}
	if err := oneWindow(es); err != nil {
		return nil, nil, err
	}
	es = slices.Clone(es)
	for {
		w := nextWindow(es)
		if w == nil {
			break
		}
		var attr *plan.Attr
		var err error
		switch w := w.(type) {
		case *plan.TimeWindow:
			child, attr, err = r.bucket(child, w)
		case *plan.SessionWindow:
			child, attr, err = r.session(child, w)
		case *windowTimeExpr:
			child, attr, err = r.lastMoment(child, w)
		}
		if err != nil {
			return nil, nil, err
		}
		for i, e := range es {
			if es[i], err = plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
				if isWindowExpr(e) && plan.Same(e, w) {
					return attr, nil
				}
				return e, nil
			}); err != nil {
				return nil, nil, err
			}
			if a, ok := es[i].(*plan.Alias); ok && a.Auto && a.Metadata == "" { // the column has the name already
				if at, ok := a.Child.(*plan.Attr); ok && at.Name == a.Name {
					es[i] = at
				}
			}
		}
	}
	return child, es, nil
}

func isWindowExpr(e plan.Expr) bool {
	switch e.(type) {
	case *plan.TimeWindow, *plan.SessionWindow, *windowTimeExpr:
		return true
	}
	return false
}

// oneWindow refuses several different windows in one operator.
func oneWindow(es []plan.Expr) error {
	seen := map[string]bool{}
	for _, e := range es {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			switch e.(type) {
			case *plan.TimeWindow, *plan.SessionWindow:
				seen[plan.Canon(e)] = true
			}
			return true
		})
	}
	if len(seen) > 1 {
		return errclass.New("INVALID_TIME_WINDOW.SEVERAL")
	}
	return nil
}

// nextWindow finds a window expression with no other inside, or nil.
func nextWindow(es []plan.Expr) plan.Expr {
	var found plan.Expr
	for _, e := range es {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			if isWindowExpr(e) {
				found = e // the last one on the way down
			}
			return true
		})
		if found != nil {
			return found
		}
	}
	return nil
}

// timeMetadata is the metadata of the column that a window is made of; its event-time mark goes on to the window.
func timeMetadata(e plan.Expr) string {
	if a, ok := e.(*plan.Attr); ok {
		return a.Metadata
	}
	return ""
}

func longLit(n int64) plan.Expr { return &plan.Literal{Value: n, T: types.Long} }

// bucket computes a time window: one column for a tumbling window, one row for each window that may hold the time for a sliding one.
func (r *resolver) bucket(child plan.Node, w *plan.TimeWindow) (plan.Node, *plan.Attr, error) {
	sc := r.over(child)
	in := child.Output()
	nth := func(i int64) (plan.Expr, error) {
		e, err := sc.call("time_window", []plan.Expr{w.Time, longLit(w.Duration), longLit(w.Slide), longLit(w.Start), longLit(i)}, plan.Origin{})
		if c, ok := e.(*plan.Call); ok { // rows without a time are filtered out
			b := *c.Bound
			b.Nullable = false
			c.Bound = &b
		}
		return e, err
	}
	notNull, err := sc.call("isnotnull", []plan.Expr{w.Time}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	first, err := nth(0)
	if err != nil {
		return nil, nil, err
	}
	col := plan.NewAlias(first, "window")
	col.Metadata = plan.TimeWindowMeta(timeMetadata(w.Time))
	attr := col.Attr()
	n := fn.Windows(w.Duration, w.Slide)
	if n == 1 {
		in := &plan.Filter{Cond: notNull, Child: child}
		return &plan.Project{Cols: append([]plan.Expr{col}, exprsOf(child.Output())...), Child: in}, attr, nil
	}
	attr.Null = true // as Spark has it for an expansion
	e := &plan.Expand{Out: append([]*plan.Attr{attr}, in...), Child: child}
	for i := range n {
		x, err := nth(int64(i))
		if err != nil {
			return nil, nil, err
		}
		e.Lists = append(e.Lists, append([]plan.Expr{x}, exprsOf(in)...))
	}
	cond := notNull
	if w.Duration%w.Slide != 0 {
		if cond, err = r.inside(w.Time, attr); err != nil {
			return nil, nil, err
		}
	}
	return &plan.Filter{Cond: cond, Child: e}, attr, nil
}

// inside is the condition that a time lies in a window.
func (r *resolver) inside(time plan.Expr, window *plan.Attr) (plan.Expr, error) {
	sc := r.over()
	lo, err := sc.call(">=", []plan.Expr{time, &plan.Field{Child: window, Ordinal: 0, Name: "start"}}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	hi, err := sc.call("<", []plan.Expr{time, &plan.Field{Child: window, Ordinal: 1, Name: "end"}}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	return plan.And(lo, hi), nil
}

// session computes the window that a row would make alone. Merging is the grouping's work: it knows the column by its metadata.
func (r *resolver) session(child plan.Node, w *plan.SessionWindow) (plan.Node, *plan.Attr, error) {
	sc := r.over(child)
	end, err := sc.call("+", []plan.Expr{w.Time, w.Gap}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	name := func(s string) plan.Expr { return &plan.Literal{Value: s, T: types.String} }
	both, err := sc.call("named_struct", []plan.Expr{name("start"), w.Time, name("end"), end}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	notNull, err := sc.call("isnotnull", []plan.Expr{w.Time}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	col := plan.NewAlias(both, "session_window")
	col.Metadata = plan.SessionWindowMeta(timeMetadata(w.Time))
	attr := col.Attr()
	attr.T, attr.Null = fn.WindowType(plan.TypeOf(w.Time)), false
	valid, err := sc.call(">", []plan.Expr{
		&plan.Field{Child: attr, Ordinal: 1, Name: "end"}, &plan.Field{Child: attr, Ordinal: 0, Name: "start"},
	}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	p := &plan.Project{Cols: append([]plan.Expr{col}, exprsOf(child.Output())...), Child: &plan.Filter{Cond: notNull, Child: child}}
	return &plan.Filter{Cond: valid, Child: p}, attr, nil
}

// lastMoment computes window_time.
func (r *resolver) lastMoment(child plan.Node, w *windowTimeExpr) (plan.Node, *plan.Attr, error) {
	a, ok := w.col.(*plan.Attr)
	if !ok || !a.IsTimeWindow() && !a.IsSessionWindow() {
		return nil, nil, errclass.New("INVALID_TIME_WINDOW.NOT_A_WINDOW", "windowTime", w.SQL())
	}
	e, err := r.over(child).call("window_time", []plan.Expr{a}, plan.Origin{})
	if err != nil {
		return nil, nil, err
	}
	col := plan.NewAlias(e, w.SQL())
	if col.Metadata = plan.NoWindowMeta(a.Metadata); col.Metadata == "" {
		col.Metadata = plan.NoMetadata
	}
	return &plan.Project{Cols: append([]plan.Expr{col}, exprsOf(child.Output())...), Child: child}, col.Attr(), nil
}

// watermark resolves withWatermark. Over a batch relation it means nothing.
func (r *resolver) watermark(n *plan.Watermark) (plan.Node, error) {
	w := *n
	if w.Delay == (types.Interval{}) && w.DelayText != "" {
		iv, err := interval.ParseCalendar(w.DelayText)
		if err != nil {
			return nil, err
		}
		w.Delay = types.Interval(iv)
	}
	if _, ok := interval.Interval(w.Delay).Duration(); !ok {
		return nil, errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION")
	}
	if w.Millis() < 0 {
		return nil, errclass.New("NEGATIVE_WATERMARK_DELAY", "delay", w.DelayText)
	}
	if w.ID == 0 {
		w.ID = plan.NewID()
	}
	sc := r.over(n.Child)
	e, err := sc.expr(n.Col)
	if err == nil {
		if a, ok := e.(*plan.Attr); ok {
			w.Col = a
		} else {
			return nil, errclass.New("EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN", "eventExpr", n.Col.SQL())
		}
	}
	if !n.Child.Streaming() {
		return n.Child, nil
	}
	if err != nil {
		return nil, err
	}
	a := w.Col.(*plan.Attr)
	switch t := a.T.(type) {
	case types.TimestampType:
		return &w, nil
	case types.StructType:
		if i := t.Index("end"); i >= 0 && types.SameType(t.Fields[i].Type, types.Timestamp) {
			return &w, nil
		}
	}
	return nil, errclass.New("EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "eventName", errclass.Ident(a.Name), "eventType", errclass.Expr(a.T.SQL()))
}
