package histories

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// term is an expression of a SQL text and its type.
type term struct {
	sql string
	t   types.DataType
	// value is that of a literal, which some functions want; small is set for numbers that may say how long something becomes.
	value any
	small bool
}

// terms draws expressions of all types from the functions that the engine has. Every term is made of the ones before.
type terms struct {
	t    *rapid.T
	list []term
	// names are the functions that it draws from.
	names []string
}

// broad is the schema of the stream that cuts are over; no other row has the same id.
const broad = "id INT, a INT, b BIGINT, d DOUBLE, m DECIMAL(10,2), s STRING, x BINARY, o BOOLEAN, day DATE, ts TIMESTAMP, l ARRAY<INT>, p MAP<STRING, INT>, r STRUCT<u: INT, w: STRING>"

// unfit are functions that are not drawn: the same call may give something else each time or raises an error by intent, or has a meaning of
// its own in the analyser.
var unfit = []string{
	"rand", "randn", "random", "uuid", "shuffle", "monotonically_increasing_id", "spark_partition_id", "raise_error", "version",
	"time_window", "window_time", "get", "getitem",
}

// lengthening are functions with a number that says how long their result becomes.
var lengthening = []string{
	"repeat", "space", "lpad", "rpad", "left", "right", "array_repeat", "array_insert", "sequence", "elt", "format_number", "printf", "format_string", "round", "bround", "factorial", "mask",
}

func parsed(t types.DataType, err error) types.DataType {
	if err != nil {
		panic(err)
	}
	return t
}

func newTerms(t *rapid.T, cols types.StructType) *terms {
	e := &terms{t: t}
	for _, f := range cols.Fields {
		e.list = append(e.list, term{sql: f.Name, t: f.Type, small: f.Name == "a"})
	}
	e.list = append(e.list, []term{
		{sql: "0", t: types.Integer, value: int32(0), small: true},
		{sql: "2", t: types.Integer, value: int32(2), small: true},
		{sql: "-1", t: types.Integer, value: int32(-1), small: true},
		{sql: "1.5D", t: types.Double, value: 1.5},
		{sql: "'a'", t: types.String, value: "a"},
		{sql: "'1,2'", t: types.String, value: "1,2"},
		{sql: "'yyyy-MM-dd'", t: types.String, value: "yyyy-MM-dd"},
		{sql: "CAST(NULL AS STRING)", t: types.String},
		{sql: "INTERVAL 3 HOURS", t: parsed(types.ParseType("interval hour"))},
	}...)
	for _, name := range fn.Names() {
		if !slices.Contains(unfit, name) {
			e.names = append(e.names, name)
		}
	}
	return e
}

func (e *terms) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(e.t, label) }

// one draws a term of those there are, the later ones as often as all before.
func (e *terms) one(fits func(term) bool) (term, bool) {
	var fit []term
	for _, x := range e.list {
		if fits(x) {
			fit = append(fit, x)
		}
	}
	if len(fit) == 0 {
		return term{}, false
	}
	if e.pick(2, "late") == 0 {
		return fit[len(fit)-1-e.pick(min(3, len(fit)), "last")], true
	}
	return fit[e.pick(len(fit), "term")], true
}

func any1(term) bool { return true }

func ofType(t types.DataType) func(term) bool {
	return func(x term) bool { return types.SameType(x.t, t) }
}

func isArray(x term) bool { _, ok := x.t.(types.ArrayType); return ok }

func isMap(x term) bool { _, ok := x.t.(types.MapType); return ok }

// grow adds n terms.
func (e *terms) grow(n int) {
	for range n {
		if e.pick(4, "form") == 0 {
			e.form()
		} else {
			e.call()
		}
	}
}

// call adds a call of a registered function whose arguments fit it.
func (e *terms) call() {
	name := e.names[e.pick(len(e.names), "function")]
	for range 4 {
		n := []int{1, 1, 2, 2, 3, 0}[e.pick(6, "arguments")]
		if len(name) < 3 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == name {
			n = 2
		}
		b := &fn.Binding{Name: name, Zone: time.UTC}
		var sql []string
		for range n {
			x, ok := e.one(func(x term) bool {
				return !slices.Contains(lengthening, name) || x.small || !types.IsNumeric(x.t) && !types.IsDatetime(x.t)
			})
			if !ok {
				return
			}
			arg := fn.Arg{Type: x.t, Nullable: true, SQL: x.sql}
			if x.value != nil {
				c := vec.NewBuilder(x.t)
				if err := c.AppendValue(x.value); err != nil {
					panic(err)
				}
				arg.Const = c.Finish()
			}
			b.Args, sql = append(b.Args, arg), append(sql, x.sql)
		}
		bound, err := fn.Lookup(name).Bind(b)
		if err != nil || bound.Nondeterministic || types.Contains(bound.Type, hard) {
			continue
		}
		e.list = append(e.list, term{sql: callText(name, b.Args, sql), t: bound.Type})
		return
	}
}

// hard tells of types that terms are not made of: a test has no way to print or compare them.
func hard(t types.DataType) bool {
	_, null := t.(types.NullType)
	_, interval := t.(types.CalendarIntervalType)
	return null || interval
}

func callText(name string, args []fn.Arg, sql []string) string {
	if strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") && name != "div" && name != "in" && name != "not" && !strings.HasSuffix(name, "like") {
		return name + "(" + strings.Join(sql, ", ") + ")"
	}
	return "(" + fn.CallSQL(name, args) + ")"
}

// form adds an expression that is no call of a function.
func (e *terms) form() {
	x, _ := e.one(any1)
	same, _ := e.one(ofType(x.t))
	cond, _ := e.one(ofType(types.Boolean))
	add := func(t types.DataType, format string, args ...any) {
		if !types.Contains(t, hard) {
			e.list = append(e.list, term{sql: fmt.Sprintf(format, args...), t: t})
		}
	}
	switch e.pick(13, "form") {
	case 0:
		add(x.t, "CASE WHEN %s THEN %s ELSE %s END", cond.sql, x.sql, same.sql)
	case 1:
		add(x.t, "coalesce(%s, %s)", x.sql, same.sql)
	case 2:
		add(x.t, "if(%s, %s, %s)", cond.sql, x.sql, same.sql)
	case 3:
		to := []types.DataType{types.String, types.Long, types.Double, types.Date, types.Timestamp, types.DecimalType{Precision: 8, Scale: 3}, types.Boolean}[e.pick(7, "to")]
		if fn.CanCast(x.t, to, true) {
			add(to, "try_cast(%s AS %s)", x.sql, to.SQL())
		}
	case 4:
		add(types.ArrayOf(x.t), "array(%s, %s)", x.sql, same.sql)
	case 5:
		add(types.StructType{Fields: []types.Field{types.NewField("q", x.t), types.NewField("c", types.Boolean)}}, "named_struct('q', %s, 'c', %s)", x.sql, cond.sql)
	case 6:
		add(types.Boolean, "(%s AND %s IS NOT NULL)", cond.sql, x.sql)
	case 7:
		add(types.Boolean, "(%s OR %s IS NULL)", cond.sql, x.sql)
	case 8:
		if fn.Orderable(x.t) {
			add(types.Boolean, "(%s BETWEEN %s AND %s)", x.sql, same.sql, e.list[0].sql)
			e.list[len(e.list)-1].sql = fmt.Sprintf("(%s >= %s)", x.sql, same.sql)
		}
	case 9:
		if l, ok := e.one(isArray); ok {
			el := l.t.(types.ArrayType).Element
			switch e.pick(4, "lambda") {
			case 0:
				add(l.t, "filter(%s, y -> y IS NOT NULL)", l.sql)
			case 1:
				add(types.Boolean, "exists(%s, y -> y IS NULL OR %s)", l.sql, cond.sql)
			case 2:
				add(types.ArrayOf(el), "transform(%s, (y, i) -> if(i = 1, NULL, y))", l.sql)
			default:
				add(types.Integer, "aggregate(%s, 0, (acc, y) -> acc + if(y IS NULL, 10, 1))", l.sql)
			}
		}
	case 10:
		if l, ok := e.one(isArray); ok {
			add(l.t.(types.ArrayType).Element, "get(%s, %d)", l.sql, e.pick(3, "at"))
		}
	case 11:
		if l, ok := e.one(isMap); ok {
			m := l.t.(types.MapType)
			if types.SameType(m.Key, types.String) {
				add(m.Value, "%s['a']", l.sql)
			}
		}
	case 12:
		if r, ok := e.one(func(x term) bool { s, ok := x.t.(types.StructType); return ok && len(s.Fields) > 0 }); ok {
			f := r.t.(types.StructType).Fields
			i := e.pick(len(f), "field")
			add(f[i].Type, "%s.`%s`", r.sql, f[i].Name)
		}
	}
}

// cond is a condition.
func (e *terms) cond() string {
	c, _ := e.one(ofType(types.Boolean))
	return c.sql
}

// broadRow draws a row of the broad schema.
func broadRow(t *rapid.T, id int) types.Row {
	null := func(v any) any {
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			return nil
		}
		return v
	}
	n := func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, "n") }
	text := func() any {
		return rapid.SampledFrom([]any{"", "a", "b", "ab", "ß", "1,2", "2026-01-01", "7", "A "}).Draw(t, "text")
	}
	list := []any{}
	for range n(0, 3) {
		list = append(list, null(int32(n(-2, 3))))
	}
	m := types.MapValue{}
	for _, k := range []string{"a", "b"}[:n(0, 2)] {
		m = append(m, types.MapEntry{Key: k, Value: null(int32(n(-2, 3)))})
	}
	return types.Row{
		int32(id), null(int32(n(-3, 4))), null(int64(n(-5, 6)) * []int64{1, 1, 1_000_003}[n(0, 2)]),
		rapid.SampledFrom([]any{nil, 0.0, negativeZero, 1.5, -1.5, 2.25, nan, inf}).Draw(t, "d"),
		null(types.DecimalFromInt64(int64(n(-3, 3))*75, 2)), null(text()), null([]byte(text().(string))), null(n(0, 1) == 1),
		null(types.Days(20454 + n(-2, 40))), null(types.Micros(int64(noon) + int64(n(-45, 45))*minute + int64(n(0, 1)))),
		null(list), null(m), null(types.Row{null(int32(n(-2, 3))), null(text())}),
	}
}
