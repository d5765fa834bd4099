package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/types"
)

// style is one of the two texts that expressions have: the pretty one, which makes column names and stands in messages, and the
// one of plan trees, with identities and all casts.
type style bool

const (
	pretty style = false
	tree   style = true
)

// infix are the functions that are written between their operands, with what they are written as.
var infix = map[string]string{
	"+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "div": "div", "mod": "%", "==": "=", "=": "=", "<=>": "<=>", "<": "<", "<=": "<=", ">": ">",
	">=": ">=", "&": "&", "|": "|", "^": "^", "<<": "<<", ">>": ">>", ">>>": ">>>", "and": "AND", "or": "OR",
}

func (s style) list(exprs []Expr) string {
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		parts[i] = s.text(e)
	}
	return strings.Join(parts, ", ")
}

// text is the text of any expression.
func (s style) text(e Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *Column:
		return s.unresolved(columnText(e.Parts))
	case *Star:
		if len(e.Target) > 0 {
			return strings.Join(e.Target, ".") + ".*"
		}
		return "*"
	case *ColumnRegex:
		return s.unresolved(e.Pattern)
	case *Param:
		if e.Name != "" {
			return ":" + e.Name
		}
		return "?"
	case *Default:
		return "DEFAULT"
	case *Literal:
		return s.literal(e)
	case *Attr:
		if s == tree {
			return attrText(e)
		}
		return e.Name
	case *Alias:
		return s.alias(e)
	case *Cast:
		return s.cast(e)
	case *Func:
		return s.fun(e)
	case *Call:
		switch {
		case s == pretty && e.Text != "":
			return e.Text
		case s == pretty:
			return fn.CallSQL(e.Name, s.args(e.Args))
		}
		return s.call(e.Name, e.Args)
	case *Cond:
		return s.cond(e)
	case *HigherOrder:
		if s == pretty && e.Text != "" {
			return e.Text
		}
		return e.Name + "(" + s.list(e.Args) + ")"
	case *WindowFunc:
		if s == pretty && strings.HasSuffix(e.Name, "rank") {
			return strings.ToUpper(e.Name) + "()"
		}
		text := e.Name + "(" + s.list(e.Args) + ")"
		if e.Name == "nth_value" && e.IgnoreNulls {
			text += " ignore nulls"
		}
		return text
	case *Extract:
		return s.extract(e)
	case *Field:
		return s.text(e.Child) + "." + e.Name
	case *Agg:
		text := e.Name + "(" + distinct(e.Distinct) + s.list(e.Args) + ")"
		if s == pretty && len(e.Args) == 0 && e.Name == "count" {
			text = "count(1)"
		}
		if shown, ok := fn.Shown(e.Name, s.texts(e.Args)); ok && s == pretty {
			text = strings.Replace(shown, "(", "("+distinct(e.Distinct), 1)
		}
		if e.Within {
			text = s.within(e)
		}
		return text + s.filter(e.Filter)
	case *SortOrder:
		return s.text(e.Child) + e.suffix()
	case *TimeWindow:
		return s.timeWindow(e)
	case *SessionWindow:
		if s == pretty { // the column that it becomes
			return "session_window"
		}
		return "session_window(" + s.text(e.Time) + ", " + s.text(e.Gap) + ")"
	case *Lambda:
		return s.lambda(e)
	case *LambdaVar:
		if s == tree {
			return "lambda " + e.Name + "#" + strconv.FormatUint(uint64(e.ID), 10)
		}
		if e.T == nil {
			return e.Name
		}
		return "namedlambdavariable()"
	case *Subquery:
		return s.subquery(e)
	case *OuterRef:
		if s == tree {
			return "outer(" + e.Name + ")"
		}
		return e.Name
	case *Over:
		return s.over(e)
	case *Generator:
		return e.Name + "(" + s.list(e.Args) + ")"
	}
	return e.SQL()
}

// args describes operands for the function registry's own printer.
func (s style) args(exprs []Expr) []fn.Arg {
	out := make([]fn.Arg, len(exprs))
	for i, e := range exprs {
		out[i] = fn.Arg{Type: TypeOf(e), Nullable: true, SQL: s.text(e)}
	}
	return out
}

func (s style) unresolved(text string) string {
	if s == tree {
		return "'" + text
	}
	return text
}

// columnText is a column name as it was written, with back quotes only where they are needed.
func columnText(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	out := make([]string, len(parts))
	for i, p := range parts {
		if strings.ContainsAny(p, ".`") {
			p = "`" + strings.ReplaceAll(p, "`", "``") + "`"
		}
		out[i] = p
	}
	return strings.Join(out, ".")
}

func attrText(a *Attr) string {
	text := a.Name + "#" + strconv.FormatUint(uint64(a.ID), 10)
	if _, ok := a.T.(types.LongType); ok {
		text += "L"
	}
	if a.EventTime {
		text += "-T" + strconv.FormatInt(a.Delay, 10) + "ms"
	}
	return text
}

func (s style) alias(e *Alias) string {
	child := s.text(e.Child)
	switch {
	case s == pretty && e.Auto:
		return child
	case len(e.Names) > 0:
		return child + " AS (" + strings.Join(e.Names, ", ") + ")"
	case s == tree:
		a := &Attr{ID: e.ID, Name: e.Name, T: TypeOf(e.Child)}
		return child + " AS " + attrText(a)
	}
	return child + " AS " + e.Name
}

func (s style) cast(e *Cast) string {
	name := "cast"
	if e.Mode == CastTry {
		name = "try_cast"
	}
	if s == tree {
		return name + "(" + s.text(e.Child) + " as " + e.To.SimpleString() + ")"
	}
	switch e.To.(type) {
	case types.ArrayType, types.MapType, types.StructType: // Spark forgets that they were asked for
		return s.text(e.Child)
	}
	if e.Implicit {
		return s.text(e.Child)
	}
	return strings.ToUpper(name) + "(" + s.text(e.Child) + " AS " + e.To.SQL() + ")"
}

func distinct(yes bool) string {
	if yes {
		return "DISTINCT "
	}
	return ""
}

func (s style) filter(f Expr) string {
	if f == nil {
		return ""
	}
	if s == tree {
		return " FILTER (WHERE " + s.text(f) + ")"
	}
	return " FILTER (WHERE " + s.text(f) + ")"
}

func (s style) fun(e *Func) string {
	name := strings.Join(e.Name, ".")
	if s == tree {
		return s.unresolved(name) + "(" + distinct(e.Distinct) + s.list(e.Args) + ")" + s.filter(e.Filter)
	}
	if e.Distinct || e.Filter != nil || len(e.Name) != 1 {
		return name + "(" + distinct(e.Distinct) + s.list(e.Args) + ")" + s.filter(e.Filter)
	}
	return s.call(name, e.Args)
}

// call is the text of a scalar function call, operators among them.
func (s style) call(name string, args []Expr) string {
	lower := strings.ToLower(name)
	if op, ok := infix[lower]; ok && len(args) == 2 {
		return "(" + s.text(args[0]) + " " + op + " " + s.text(args[1]) + ")"
	}
	switch {
	case lower == "!=" && len(args) == 2 || lower == "<>" && len(args) == 2:
		return s.call("not", []Expr{&Func{Name: []string{"=="}, Args: args}})
	case len(args) == 1:
		switch lower {
		case "not", "!":
			if s == tree {
				return "NOT " + s.text(args[0])
			}
			return "(NOT " + s.text(args[0]) + ")"
		case "-":
			return "(- " + s.text(args[0]) + ")"
		case "+":
			return "(+ " + s.text(args[0]) + ")"
		case "~":
			return "~" + s.text(args[0])
		case "isnull":
			if s == pretty {
				return "(" + s.text(args[0]) + " IS NULL)"
			}
		case "isnotnull":
			if s == pretty {
				return "(" + s.text(args[0]) + " IS NOT NULL)"
			}
		}
	case lower == "in" && len(args) > 1:
		if s == tree {
			return s.text(args[0]) + " IN (" + strings.ReplaceAll(s.list(args[1:]), ", ", ",") + ")"
		}
		return "(" + s.text(args[0]) + " IN (" + s.list(args[1:]) + "))"
	case lower == "like" && len(args) == 2, lower == "ilike" && len(args) == 2:
		return s.text(args[0]) + " " + strings.ToUpper(lower) + " " + s.text(args[1])
	case (lower == "like" || lower == "ilike") && len(args) == 3:
		return s.text(args[0]) + " " + strings.ToUpper(lower) + " " + s.text(args[1]) + " ESCAPE '" + s.text(args[2]) + "'"
	case (lower == "rlike" || lower == "regexp" || lower == "regexp_like") && len(args) == 2 && s == pretty:
		return strings.ToUpper(name) + "(" + s.list(args) + ")"
	case (lower == "getitem" || lower == "[]") && len(args) == 2:
		return s.text(args[0]) + "[" + s.text(args[1]) + "]"
	}
	if s == pretty {
		if text, ok := fn.Shown(name, s.texts(args)); ok {
			return text
		}
	}
	return name + "(" + s.list(args) + ")"
}

// texts are the texts of several expressions.
func (s style) texts(es []Expr) []string {
	texts := make([]string, len(es))
	for i, e := range es {
		texts[i] = s.text(e)
	}
	return texts
}

func (s style) cond(e *Cond) string {
	if s == pretty && e.Text != "" {
		return e.Text
	}
	switch e.Op {
	case OpAnd:
		return "(" + s.text(e.Args[0]) + " AND " + s.text(e.Args[1]) + ")"
	case OpOr:
		return "(" + s.text(e.Args[0]) + " OR " + s.text(e.Args[1]) + ")"
	case OpIf:
		if e.Name != "" && !strings.EqualFold(e.Name, "if") {
			return e.Name + "(" + s.list(e.Args) + ")"
		}
		if s == tree {
			return "if (" + s.text(e.Args[0]) + ") " + s.text(e.Args[1]) + " else " + s.text(e.Args[2])
		}
		return "(IF(" + s.list(e.Args) + "))"
	case OpCase:
		var b strings.Builder
		b.WriteString("CASE")
		for i := 0; i+1 < len(e.Args); i += 2 {
			b.WriteString(" WHEN " + s.text(e.Args[i]) + " THEN " + s.text(e.Args[i+1]))
		}
		if len(e.Args)%2 == 1 {
			b.WriteString(" ELSE " + s.text(e.Args[len(e.Args)-1]))
		}
		return b.String() + " END"
	}
	name := e.Name
	if name == "" {
		name = "coalesce"
	}
	return name + "(" + s.list(e.Args) + ")"
}

func (s style) extract(e *Extract) string {
	if k, ok := e.Key.(*Literal); ok {
		if name, ok := k.Value.(string); ok && k.Text == "" {
			if s == pretty {
				return s.text(e.Child) + "[" + name + "]"
			}
			return s.text(e.Child) + "." + name
		}
	}
	return s.text(e.Child) + "[" + s.text(e.Key) + "]"
}

func (e *SortOrder) suffix() string {
	text := " ASC"
	if e.Desc {
		text = " DESC"
	}
	if e.NullsFirst {
		return text + " NULLS FIRST"
	}
	return text + " NULLS LAST"
}

func (s style) timeWindow(e *TimeWindow) string {
	if s == pretty { // the column that it becomes
		return "window"
	}
	return e.CallSQL(s.text(e.Time))
}

// CallSQL is the call that the window was written as, with its durations in microseconds.
func (e *TimeWindow) CallSQL(time string) string {
	parts := []string{
		time, strconv.FormatInt(e.Duration, 10), strconv.FormatInt(e.Slide, 10), strconv.FormatInt(e.Start, 10),
	}
	return "window(" + strings.Join(parts, ", ") + ")"
}

func (s style) lambda(e *Lambda) string {
	parts := []string{s.text(e.Body)}
	for _, p := range e.Params {
		parts = append(parts, s.text(p))
	}
	return "lambdafunction(" + strings.Join(parts, ", ") + ")"
}

func (s style) subquery(e *Subquery) string {
	outer := s.list(e.Outer)
	switch e.Kind {
	case SubqueryExists:
		return "exists(" + outer + ")"
	case SubqueryIn:
		left := s.list(e.Values)
		if len(e.Values) > 1 {
			left = "named_struct(" + left + ")"
		}
		return "(" + left + " IN (listquery(" + outer + ")))"
	}
	return "scalarsubquery(" + outer + ")"
}

func (s style) over(e *Over) string {
	if e.Window != "" {
		return s.text(e.Fn) + " OVER " + e.Window
	}
	return s.text(e.Fn) + " OVER " + s.spec(e)
}

// spec is the window's text.
func (s style) spec(e *Over) string {
	var parts []string
	if len(e.Partition) > 0 {
		parts = append(parts, "PARTITION BY "+s.list(e.Partition))
	}
	if len(e.Order) > 0 {
		parts = append(parts, "ORDER BY "+s.list(orders(e.Order)))
	}
	parts = append(parts, s.frame(e))
	return "(" + strings.Join(parts, " ") + ")"
}

// frame is the frame's text, with the default that holds when none was written.
func (s style) frame(e *Over) string {
	unit := "RANGE"
	switch {
	case e.Framed && e.Rows:
		unit = "ROWS"
	case !e.Framed && len(e.Order) == 0:
		return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
	case !e.Framed:
		return "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
	}
	return unit + " BETWEEN " + s.bound(e.Lo, "PRECEDING") + " AND " + s.bound(e.Hi, "FOLLOWING")
}

func (s style) bound(b FrameBound, side string) string {
	switch {
	case b.Outward && side == "PRECEDING":
		return "UNBOUNDED FOLLOWING"
	case b.Outward:
		return "UNBOUNDED PRECEDING"
	case b.Unbounded:
		return "UNBOUNDED " + side
	case b.Text != "":
		return b.Text
	case b.Offset == nil:
		return "CURRENT ROW"
	}
	if b.Preceding {
		return s.negated(b.Offset) + " PRECEDING"
	}
	return s.text(b.Offset) + " FOLLOWING"
}

// negated is the text of an expression's negation.
func (s style) negated(e Expr) string {
	switch e := e.(type) {
	case *Literal:
		c := *e
		switch v := e.Value.(type) {
		case int32:
			c.Value = -v
		case int64:
			c.Value = -v
		case types.DayTime:
			c.Value = -v
		case types.YearMonth:
			c.Value = -v
		case types.Interval:
			c.Value = types.Interval{Months: -v.Months, Days: -v.Days, Micros: -v.Micros}
		default:
			return "-" + s.text(e)
		}
		return s.text(&c)
	case *Call:
		if (e.Name == "-" || e.Name == "negative") && len(e.Args) == 1 {
			return s.text(e.Args[0])
		}
	case *Func:
		if len(e.Name) == 1 && (e.Name[0] == "-" || e.Name[0] == "negative") && len(e.Args) == 1 {
			return s.text(e.Args[0])
		}
	}
	return "-" + s.text(e)
}

// ---- SQL of every expression

// SQL implements Expr.
func (e *Column) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Star) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *ColumnRegex) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Param) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Default) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Literal) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Attr) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Alias) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Cast) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Func) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Call) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Cond) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *HigherOrder) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *WindowFunc) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Extract) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Field) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Agg) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *SortOrder) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *TimeWindow) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *SessionWindow) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Lambda) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *LambdaVar) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Subquery) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *OuterRef) SQL() string { return pretty.text(e) }

// SQL implements Expr.
func (e *Over) SQL() string { return pretty.text(e) }

// SpecSQL is the window, without the function.
func (e *Over) SpecSQL() string { return pretty.spec(e) }

// FrameSQL is the window's frame.
func (e *Over) FrameSQL() string { return pretty.frame(e) }

// BoundsSQL are the ends of the frame.
func (e *Over) BoundsSQL() (lo, hi string) {
	return pretty.bound(e.Lo, "PRECEDING"), pretty.bound(e.Hi, "FOLLOWING")
}

// SQL implements Expr.
func (e *Generator) SQL() string { return pretty.text(e) }

// TreeText is an expression as plan trees show it, with the identities of columns.
func TreeText(e Expr) string { return tree.text(e) }

// treeList is a list in brackets as plan trees show it.
func treeList(exprs []Expr) string { return "[" + tree.list(exprs) + "]" }

func attrList(attrs []*Attr) string {
	parts := make([]string, len(attrs))
	for i, a := range attrs {
		parts[i] = attrText(a)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// isResolved tells whether nothing in the expression waits for the analyser.
func isResolved(e Expr) bool {
	t, typed := e.(Typed)
	if v, ok := e.(*LambdaVar); ok {
		return v.T != nil
	}
	if c, ok := e.(*Call); ok && c.Bound == nil {
		return false
	}
	return typed && t != nil && !slices.ContainsFunc(e.Kids(), func(k Expr) bool { return !isResolved(k) })
}

// within is an aggregate with the order of its values.
func (s style) within(e *Agg) string {
	if n := len(e.Args) - len(e.Keys); n < len(e.Args) {
		args, order := s.texts(e.Args[:n]), make([]string, len(e.Keys))
		if len(args) == 1 {
			args = append(args, "NULL")
		}
		for i, k := range e.Keys {
			o := &SortOrder{Child: e.Args[n+i], Desc: k.Desc, NullsFirst: k.NullsFirst}
			order[i] = s.text(o.Child) + o.suffix()
		}
		return e.Fn.Name + "(" + distinct(e.Distinct) + strings.Join(args, ", ") + ") WITHIN GROUP (ORDER BY " + strings.Join(order, ", ") + ")"
	}
	text := e.Name + "(" + distinct(e.Distinct) + s.list(e.Args[1:]) + ") WITHIN GROUP (ORDER BY " + s.text(e.Args[0])
	if e.Desc != (e.Fn.Name == "mode") { // of equally frequent values the first in the order is the smallest: Spark writes the reverse
		text += " DESC"
	}
	return text + ")"
}
