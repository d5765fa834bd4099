package sql

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/types"
)

// FormatExpr prints an unresolved expression as text that parses to it again. Operators are always in brackets.
func FormatExpr(e plan.Expr) string {
	var f formatter
	f.expr(e)
	return f.b.String()
}

// FormatQuery prints an unresolved query as text that parses to it again.
func FormatQuery(n plan.Node) string {
	var f formatter
	f.query(n)
	return f.b.String()
}

// formatter collects text.
type formatter struct{ b strings.Builder }

func (f *formatter) str(parts ...string) {
	for _, s := range parts {
		f.b.WriteString(s)
	}
}

// each prints n items with commas between them.
func (f *formatter) each(n int, item func(i int)) {
	for i := range n {
		if i > 0 {
			f.str(", ")
		}
		item(i)
	}
}

func (f *formatter) list(exprs []plan.Expr) {
	f.each(len(exprs), func(i int) { f.expr(exprs[i]) })
}

func (f *formatter) name(parts []string) {
	for i, s := range parts {
		if i > 0 {
			f.str(".")
		}
		f.str(quoteName(s))
	}
}

func (f *formatter) names(names []string) {
	f.str("(")
	f.each(len(names), func(i int) { f.str(quoteName(names[i])) })
	f.str(")")
}

// infix are the functions that print between their two operands.
var infix = map[string]string{
	"==": "=", "<=>": "<=>", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "|": "|", "^": "^", "&": "&",
	"<<": "<<", ">>": ">>", ">>>": ">>>", "+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "div": "DIV",
	"and": "AND", "or": "OR", "like": "LIKE", "ilike": "ILIKE", "rlike": "RLIKE",
}

func (f *formatter) expr(e plan.Expr) {
	switch e := e.(type) {
	case *plan.Column:
		f.name(e.Parts)
	case *plan.Star:
		f.star(e)
	case *plan.Func:
		if e.Name[0] == ":" {
			f.variantPath(e)
			return
		}
		f.call(e)
	case *plan.Extract:
		f.expr(e.Child)
		f.str("[")
		f.expr(e.Key)
		f.str("]")
	case *plan.Literal:
		f.literal(e)
	case *plan.Alias:
		f.expr(e.Child)
		f.str(" AS ")
		if e.Names != nil {
			f.names(e.Names)
		} else {
			f.str(quoteName(e.Name))
		}
	case *plan.Cast:
		if e.Mode == plan.CastTry {
			f.str("TRY_")
		}
		f.str("CAST(")
		f.expr(e.Child)
		f.str(" AS ", e.To.SQL(), ")")
	case *plan.Lambda:
		names := make([]string, len(e.Params))
		for i, p := range e.Params {
			names[i] = p.Name
		}
		f.str("(")
		f.names(names)
		f.str(" -> ")
		f.expr(e.Body)
		f.str(")")
	case *plan.LambdaVar:
		f.str(quoteName(e.Name))
	case *plan.Subquery:
		f.subquery(e)
	case *plan.Over:
		f.over(e)
	case *plan.Param:
		if e.Name == "" {
			f.str("?")
		} else {
			f.str(":", quoteName(e.Name))
		}
	case *plan.SortOrder:
		f.sortItem(e)
	case *plan.Default:
		f.str("DEFAULT")
	case nil:
	default:
		f.str(e.SQL())
	}
}

func (f *formatter) star(s *plan.Star) {
	if s.Target != nil {
		f.name(s.Target)
		f.str(".")
	}
	f.str("*")
	if s.Except != nil {
		f.str(" EXCEPT (")
		f.each(len(s.Except), func(i int) { f.name(s.Except[i]) })
		f.str(")")
	}
}

// call prints a function call, as an operator where there is one.
func (f *formatter) call(e *plan.Func) {
	plain := len(e.Name) == 1 && !e.Distinct && !e.IgnoreNulls && e.Filter == nil && e.Order == nil && e.ArgNames == nil
	if plain && f.operator(e.Name[0], e.Args) {
		return
	}
	f.name(e.Name)
	f.str("(")
	if e.Distinct {
		f.str("DISTINCT ")
	}
	f.each(len(e.Args), func(i int) {
		if e.ArgNames != nil && e.ArgNames[i] != "" {
			f.str(quoteName(e.ArgNames[i]), " => ")
		}
		f.expr(e.Args[i])
	})
	f.str(")")
	if e.Order != nil {
		f.str(" WITHIN GROUP (ORDER BY ")
		f.orders(e.Order)
		f.str(")")
	}
	if e.Filter != nil {
		f.str(" FILTER (WHERE ")
		f.expr(e.Filter)
		f.str(")")
	}
	if e.IgnoreNulls {
		f.str(" IGNORE NULLS")
	}
}

// operator prints a call with the syntax of its own that it has in SQL, if any.
func (f *formatter) operator(name string, args []plan.Expr) bool {
	op, isInfix := infix[name]
	switch {
	case isInfix && len(args) == 2:
		f.between("(", args[0], " "+op+" ", args[1], ")")
	case (name == "like" || name == "ilike") && len(args) == 3:
		esc, ok := args[2].(*plan.Literal)
		if s, isString := literalString(esc); !ok || !isString || len([]rune(s)) != 1 {
			return false
		}
		f.between("(", args[0], " "+infix[name]+" ", args[1], " ESCAPE ", args[2], ")")
	case len(args) > 1 && (name == fn.LikeAll || name == fn.LikeAny || name == fn.NotLikeAll || name == fn.NotLikeAny):
		f.between("(", args[0], " "+strings.ToUpper(name)+" (")
		f.list(args[1:])
		f.str("))")
	case name == plan.RowName:
		f.str("(")
		f.list(args)
		f.str(")")
	case name == "not" && len(args) == 1:
		f.between("(NOT ", args[0], ")")
	case name == "isnull" && len(args) == 1:
		f.between("(", args[0], " IS NULL)")
	case name == "isnotnull" && len(args) == 1:
		f.between("(", args[0], " IS NOT NULL)")
	case name == "between" && len(args) == 3:
		f.between("(", args[0], " BETWEEN ", args[1], " AND ", args[2], ")")
	case name == "in" && len(args) >= 2:
		if _, isQuery := args[1].(*plan.Subquery); isQuery && len(args) == 2 {
			return false
		}
		f.between("(", args[0], " IN (")
		f.list(args[1:])
		f.str("))")
	case name == "when" && len(args) >= 2:
		f.str("CASE")
		for len(args) >= 2 {
			f.between(" WHEN ", args[0], " THEN ", args[1])
			args = args[2:]
		}
		if len(args) == 1 {
			f.between(" ELSE ", args[0])
		}
		f.str(" END")
	case (name == "timestampadd" || name == "timestampdiff") && len(args) == 3:
		l, _ := args[0].(*plan.Literal)
		unit, ok := literalString(l)
		if !ok || !datetimeUnit[upper(unit)] {
			return false
		}
		f.between(name, "(", unit, ", ", args[1], ", ", args[2], ")")
	default:
		return false
	}
	return true
}

// between prints texts and expressions in turn.
func (f *formatter) between(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			f.str(p)
		case plan.Expr:
			f.expr(p)
		}
	}
}

func literalString(l *plan.Literal) (string, bool) {
	if l == nil {
		return "", false
	}
	s, ok := l.Value.(string)
	return s, ok
}

func (f *formatter) subquery(s *plan.Subquery) {
	switch s.Kind {
	case plan.SubqueryExists:
		f.str("(EXISTS (")
		f.query(s.Plan)
		f.str("))")
	case plan.SubqueryIn:
		f.str("(")
		f.row(s.Values)
		f.str(" IN (")
		f.query(s.Plan)
		f.str("))")
	default:
		f.str("(")
		f.query(s.Plan)
		f.str(")")
	}
}

// row prints one expression as it is and several in brackets. A struct by itself would read as several.
func (f *formatter) row(exprs []plan.Expr) {
	if len(exprs) == 1 {
		if _, ok := plan.IsRow(exprs[0]); !ok {
			f.expr(exprs[0])
			return
		}
	}
	f.str("struct(")
	f.list(exprs)
	f.str(")")
}

func (f *formatter) over(o *plan.Over) {
	f.expr(o.Fn)
	f.str(" OVER (")
	sep := ""
	if o.Window != "" {
		f.str(quoteName(o.Window))
	}
	if o.Partition != nil {
		f.str("PARTITION BY ")
		f.list(o.Partition)
		sep = " "
	}
	if o.Order != nil {
		f.str(sep, "ORDER BY ")
		f.orders(o.Order)
		sep = " "
	}
	if o.Framed {
		unit := "RANGE"
		if o.Rows {
			unit = "ROWS"
		}
		f.str(sep, unit, " BETWEEN ")
		f.bound(o.Lo, "PRECEDING")
		f.str(" AND ")
		f.bound(o.Hi, "FOLLOWING")
	}
	f.str(")")
}

// bound prints an end of a frame as it was written.
func (f *formatter) bound(b plan.FrameBound, unbounded string) {
	switch {
	case b.Outward && unbounded == "PRECEDING":
		f.str("UNBOUNDED FOLLOWING")
	case b.Outward:
		f.str("UNBOUNDED PRECEDING")
	case b.Unbounded:
		f.str("UNBOUNDED ", unbounded)
	case b.Offset == nil:
		f.str("CURRENT ROW")
	case b.Preceding:
		f.expr(positive(b.Offset))
		f.str(" PRECEDING")
	default:
		f.expr(b.Offset)
		f.str(" FOLLOWING")
	}
}

// positive undoes negated.
func positive(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.Literal:
		if v, ok := x.Value.(int32); ok {
			return &plan.Literal{Value: -v, T: x.T}
		}
	case *plan.Func:
		if len(x.Args) == 1 {
			return x.Args[0]
		}
	}
	return e
}

// variantPath prints a path into a variant.
func (f *formatter) variantPath(e *plan.Func) {
	f.expr(e.Args[0])
	text, _ := e.Args[1].(*plan.Literal).Value.(string)
	path, _ := variant.ParsePath(text)
	for i, s := range path {
		switch {
		case i == 0:
			f.str(":")
		case s.Index < 0:
			f.str(".")
		}
		if s.Index < 0 {
			f.str(quoteName(s.Name))
		} else {
			f.str("[" + strconv.Itoa(s.Index) + "]")
		}
	}
}

func (f *formatter) orders(orders []*plan.SortOrder) {
	f.each(len(orders), func(i int) { f.sortItem(orders[i]) })
}

func (f *formatter) sortItem(o *plan.SortOrder) {
	f.expr(o.Child)
	if o.Desc {
		f.str(" DESC")
	} else {
		f.str(" ASC")
	}
	if o.NullsFirst {
		f.str(" NULLS FIRST")
	} else {
		f.str(" NULLS LAST")
	}
}

// literal prints a constant so that it keeps its type.
func (f *formatter) literal(l *plan.Literal) {
	switch v := l.Value.(type) {
	case nil:
		f.str("NULL")
	case bool:
		f.str(strings.ToUpper(strconv.FormatBool(v)))
	case string:
		f.str(quoteString(v))
	case int8:
		f.str(strconv.FormatInt(int64(v), 10), "Y")
	case int16:
		f.str(strconv.FormatInt(int64(v), 10), "S")
	case int32:
		f.str(strconv.FormatInt(int64(v), 10))
	case int64:
		f.str(strconv.FormatInt(v, 10), "L")
	case float32:
		f.str(strconv.FormatFloat(float64(v), 'g', -1, 32), "F")
	case float64:
		f.str(strconv.FormatFloat(v, 'g', -1, 64), "D")
	case types.Decimal:
		f.str(v.String(), "BD")
	case []byte:
		f.str("X'", strings.ToUpper(hex.EncodeToString(v)), "'")
	case types.Days:
		f.str("DATE '", dateText(int64(v)), "'")
	case types.Micros:
		f.str("TIMESTAMP_LTZ '", clockText(int64(v)), "Z'")
	case types.MicrosNTZ:
		f.str("TIMESTAMP_NTZ '", clockText(int64(v)), "'")
	case types.TimeOfDay:
		f.str("TIME '", clockText(int64(v) / 1000)[11:], "'")
	case types.YearMonth:
		t, _ := l.T.(types.YearMonthIntervalType)
		f.str(string(interval.AppendYearMonth(nil, int32(v), t.Start, t.End)))
	case types.DayTime:
		t, _ := l.T.(types.DayTimeIntervalType)
		f.str(string(interval.AppendDayTime(nil, int64(v), t.Start, t.End)))
	default:
		f.str(l.SQL())
	}
}

func dateText(days int64) string {
	t := time.Unix(days*secondsPerDay, 0).UTC()
	y, sign := t.Year(), ""
	if y < 0 {
		y, sign = -y, "-"
	}
	text := strconv.Itoa(y)
	for len(text) < 4 {
		text = "0" + text
	}
	return sign + text + t.Format("-01-02")
}

func clockText(micros int64) string {
	days, rest := micros/microsPerDay, micros%microsPerDay
	if rest < 0 {
		days, rest = days-1, rest+microsPerDay
	}
	return dateText(days) + time.UnixMicro(rest).UTC().Format(" 15:04:05.000000")
}
