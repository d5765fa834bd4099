package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// specialForm reads a call whose brackets hold more than a list of arguments; its keyword and the bracket are next. It says false,
// and has read nothing, when there is no such form.
func (p *parser) specialForm(from int, name string) (plan.Expr, bool) {
	switch name {
	case "CAST":
		return p.cast(plan.CastANSI), true
	case "TRY_CAST":
		return p.cast(plan.CastTry), true
	case "EXTRACT":
		if isName(p.peekAt(2)) && p.peekAt(3).up == "FROM" {
			return p.extract(from), true
		}
	case "SUBSTRING", "SUBSTR":
		return p.withWords(from, "substring", "FROM", "FOR"), true
	case "OVERLAY":
		return p.withWords(from, "overlay", "PLACING", "FROM", "FOR"), true
	case "POSITION":
		return p.withWords(from, "locate", "IN"), true
	case "TRIM":
		return p.trim(from), true
	case "TIMESTAMPADD", "DATEADD", "DATE_ADD":
		if p.unitAhead() {
			return p.unitCall(from, "timestampadd"), true
		}
	case "TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF":
		if p.unitAhead() {
			return p.unitCall(from, "timestampdiff"), true
		}
	}
	return nil, false
}

// datetimeUnit are the units that TIMESTAMPADD and TIMESTAMPDIFF take.
var datetimeUnit = set("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND",
	"MICROSECOND")

// extract reads EXTRACT(field FROM value).
func (p *parser) extract(from int) plan.Expr {
	p.expect("EXTRACT", "(")
	field := p.name()
	p.expect("FROM")
	src := p.value()
	p.expect(")")
	return p.call(from, "extract", stringLiteral(field), src)
}

// firstValue reads the first argument of a call that may have words between its arguments. ordinary is the whole call when
// it has none.
func (p *parser) firstValue(from int, word string) (first, ordinary plan.Expr) {
	name := []string{p.name()}
	if p.peekAt(2).up == "=>" || p.is("(", ")") || p.is("(", "DISTINCT") || p.is("(", "ALL") {
		return nil, p.funcCall(from, name)
	}
	p.expect("(")
	start := p.pos
	first = p.value()
	if p.is(word) {
		return first, nil
	}
	f := &plan.Func{Name: name, Args: []plan.Expr{p.orTail(start, p.predicate(first))}}
	if p.accept(",") {
		p.args(f)
	}
	p.nullsOption(f)
	p.expect(")")
	return nil, p.afterCall(from, f)
}

// withWords reads a call whose arguments have words between them instead of commas.
func (p *parser) withWords(from int, fn string, words ...string) plan.Expr {
	first, ordinary := p.firstValue(from, words[0])
	if ordinary != nil || p.err != nil {
		return ordinary
	}
	args := []plan.Expr{first}
	for i, w := range words {
		switch {
		case p.accept(w):
			args = append(args, p.value())
		case i == 0 || w != "FOR":
			p.unexpected()
		}
	}
	p.expect(")")
	return p.call(from, fn, args...)
}

// trim reads TRIM([BOTH | LEADING | TRAILING] [characters] FROM value).
func (p *parser) trim(from int) plan.Expr {
	fn := "trim"
	args := []plan.Expr{}
	side := p.peekAt(2).up
	switch next := p.peekAt(3); {
	case (side == "BOTH" || side == "LEADING" || side == "TRAILING") && next.up != "," && next.up != ")" && next.up != ".":
		p.pos += 3
		switch side {
		case "LEADING":
			fn = "ltrim"
		case "TRAILING":
			fn = "rtrim"
		}
		if !p.is("FROM") {
			args = append(args, p.value())
		}
	case side == "FROM" && next.up != "," && next.up != ")" && next.up != ".":
		p.pos += 2
	default:
		chars, ordinary := p.firstValue(from, "FROM")
		if ordinary != nil || p.err != nil {
			return ordinary
		}
		args = append(args, chars)
	}
	p.expect("FROM")
	args = append(args, p.value())
	p.expect(")")
	return p.call(from, fn, args...)
}

// unitAhead tells whether the first argument of the call that is next could be a unit of time.
func (p *parser) unitAhead() bool {
	t := p.peekAt(2)
	return (datetimeUnit[t.up] || t.kind == text) && p.peekAt(3).up == ","
}

// unitCall reads a call whose first argument is a unit of time. With two arguments, the unit was a column.
func (p *parser) unitCall(from int, fn string) plan.Expr {
	name := p.name()
	p.expect("(")
	at := p.pos
	unit := p.take()
	column := p.column(at, []string{p.raw(unit)})
	second := p.skipComma()
	if p.accept(")") {
		if unit.kind == text {
			return p.call(from, name, stringLiteral(stringValue(p.raw(unit))), second)
		}
		return p.call(from, name, column, second)
	}
	third := p.skipComma()
	p.expect(")")
	if unit.kind == text {
		p.failFrom(from, errclass.New("INVALID_PARAMETER_VALUE.DATETIME_UNIT", "functionName", errclass.Ident(strings.ToLower(name)),
			"parameter", errclass.Ident("unit"), "invalidValue", errclass.Text(stringValue(p.raw(unit)))))
		return nil
	}
	return p.call(from, fn, stringLiteral(p.raw(unit)), second, third)
}

// skipComma reads a comma and the argument behind it.
func (p *parser) skipComma() plan.Expr {
	p.expect(",")
	return p.expr()
}

// funcCall reads the arguments of a function, and what may follow them.
func (p *parser) funcCall(from int, name []string) plan.Expr {
	f := &plan.Func{Name: name}
	p.expect("(")
	if !p.is(")") {
		switch next := p.peekAt(1); {
		case next.up == "," || next.up == ")" || next.up == ".": // a column of that name
		case p.accept("DISTINCT"):
			f.Distinct = true
		default:
			p.accept("ALL")
		}
		p.args(f)
	}
	p.nullsOption(f)
	p.expect(")")
	return p.afterCall(from, f)
}

// args reads arguments between commas, with names or without.
func (p *parser) args(f *plan.Func) {
	isStruct := len(f.Name) == 1 && strings.EqualFold(f.Name[0], "struct")
	for {
		name := ""
		if isName(p.peek()) && p.peekAt(1).up == "=>" {
			name = p.name()
			p.take()
		}
		var arg plan.Expr
		if isStruct {
			arg = p.namedExpr()
		} else {
			arg = p.expr()
		}
		if name != "" && f.ArgNames == nil {
			f.ArgNames = make([]string, len(f.Args))
		}
		f.Args = append(f.Args, arg)
		if f.ArgNames != nil {
			f.ArgNames = append(f.ArgNames, name)
		}
		if !p.accept(",") {
			return
		}
	}
}

// nullsOption reads IGNORE NULLS or RESPECT NULLS.
func (p *parser) nullsOption(f *plan.Func) {
	switch {
	case p.accept("IGNORE", "NULLS"):
		f.IgnoreNulls = true
	case p.accept("RESPECT", "NULLS"):
		f.IgnoreNulls = false
	}
}

// afterCall reads what may follow the brackets of a call: an order, a filter, the treatment of nulls and a window.
func (p *parser) afterCall(from int, f *plan.Func) plan.Expr {
	if len(f.Name) == 1 && strings.EqualFold(f.Name[0], "count") && !f.Distinct && len(f.Args) == 1 {
		if s, ok := f.Args[0].(*plan.Star); ok && s.Target == nil && s.Except == nil {
			f.Args[0] = &plan.Literal{Value: int32(1), T: types.Integer}
		}
	}
	if p.accept("WITHIN", "GROUP", "(") {
		p.expect("ORDER", "BY")
		f.Order = list(p, p.sortItem)
		p.expect(")")
	}
	if p.accept("FILTER", "(") {
		p.expect("WHERE")
		f.Filter = p.expr()
		p.expect(")")
	}
	p.nullsOption(f)
	f.Origin = p.origin(from)
	if p.is("OVER") && (p.peekAt(1).up == "(" || isName(p.peekAt(1))) && !p.clauseAfterOver() {
		p.take()
		o := p.over(f)
		o.Origin = p.origin(from)
		return o
	}
	return f
}

// clauseAfterOver tells apart an alias named over from a window: "sum(x) over FROM t".
func (p *parser) clauseAfterOver() bool {
	return p.peekAt(1).up == "FROM" && (isName(p.peekAt(2)) || p.peekAt(2).up == "(")
}

// over reads the window of a call.
func (p *parser) over(f plan.Expr) *plan.Over {
	o := &plan.Over{Fn: f}
	from := p.pos
	if p.accept("(") {
		p.windowSpec(o)
		p.expect(")")
		o.Spec = p.origin(from)
	} else {
		o.Window = p.name()
	}
	if o.Window != "" {
		p.useWindow(o)
	}
	return o
}

// windowSpec reads what stands in the brackets of a window.
func (p *parser) windowSpec(o *plan.Over) {
	if isName(p.peek()) && p.peekAt(1).up == ")" {
		o.Window = p.name()
		return
	}
	switch {
	case p.accept("CLUSTER", "BY"):
		o.Partition = list(p, p.expr)
	default:
		if p.accept("PARTITION", "BY") || p.accept("DISTRIBUTE", "BY") {
			o.Partition = list(p, p.expr)
		}
		if p.accept("ORDER", "BY") || p.accept("SORT", "BY") {
			o.Order = list(p, p.sortItem)
		}
	}
	switch p.acceptAny("ROWS", "RANGE") {
	case "ROWS":
		o.Rows = true
	case "":
		return
	}
	o.Framed = true
	if p.accept("BETWEEN") {
		o.Lo = p.frameBound(true)
		p.expect("AND")
		o.Hi = p.frameBound(false)
	} else {
		o.Lo = p.frameBound(true)
	}
}

// frameBound reads an end of a window frame. Offsets before the current row are negative.
func (p *parser) frameBound(lower bool) plan.FrameBound {
	switch {
	case p.accept("UNBOUNDED"):
		side := p.acceptAny("PRECEDING", "FOLLOWING")
		if side == "" {
			p.unexpected()
		}
		return plan.FrameBound{Unbounded: true, Outward: lower != (side == "PRECEDING")}
	case p.accept("CURRENT", "ROW"):
		return plan.FrameBound{}
	}
	from := p.pos
	e := p.expr()
	if p.err == nil && plan.Exists(e, func(e plan.Expr) bool { _, ok := e.(*plan.Column); return ok }) {
		p.failFrom(from, errclass.New("_LEGACY_ERROR_TEMP_0064", "msg", "Frame bound value must be a literal."))
	}
	switch p.acceptAny("PRECEDING", "FOLLOWING") {
	case "PRECEDING":
		return plan.FrameBound{Offset: p.negated(from, e), Preceding: true}
	case "FOLLOWING":
		return plan.FrameBound{Offset: e}
	}
	p.unexpected()
	return plan.FrameBound{}
}

// negated is the expression with a minus sign; of an integer, the integer.
func (p *parser) negated(from int, e plan.Expr) plan.Expr {
	if l, ok := e.(*plan.Literal); ok {
		if v, ok := l.Value.(int32); ok && v != -v {
			return &plan.Literal{Value: -v, T: l.T}
		}
	}
	return p.call(from, "-", e)
}
