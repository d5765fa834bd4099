package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// unit is a unit of time with the field of an ANSI interval type that it belongs to.
type unit struct {
	name      string
	yearMonth bool
	field     uint8
}

// units are the units of interval literals, in the singular.
var units = map[string]unit{
	"YEAR": {"YEAR", true, types.YearField}, "MONTH": {"MONTH", true, types.MonthField},
	"WEEK": {"WEEK", false, types.DayField}, "DAY": {"DAY", false, types.DayField}, "HOUR": {"HOUR", false, types.HourField},
	"MINUTE": {"MINUTE", false, types.MinuteField}, "SECOND": {"SECOND", false, types.SecondField},
	"MILLISECOND": {"MILLISECOND", false, types.SecondField}, "MICROSECOND": {"MICROSECOND", false, types.SecondField},
	"NANOSECOND": {"NANOSECOND", false, types.SecondField},
}

// unitOf finds a unit by its name in the singular or plural.
func unitOf(up string) (unit, bool) {
	if u, ok := units[up]; ok {
		return u, true
	}
	u, ok := units[strings.TrimSuffix(up, "S")]
	return u, ok
}

// intervalAhead tells whether INTERVAL, which is next, starts a literal.
func (p *parser) intervalAhead() bool {
	i := 1
	if up := p.peekAt(i).up; up == "-" || up == "+" {
		i++
	}
	v := p.peekAt(i)
	if v.kind == text && i == 1 {
		return true
	}
	if i == 1 && (v.kind == integer || v.kind == decimal) {
		return true // a column of that name could not be followed by a number
	}
	_, ok := unitOf(p.peekAt(i + 1).up)
	return ok && (v.kind == text || v.kind == integer || v.kind == decimal)
}

// span is an interval as read: what it adds up to, with the units that were named.
type span struct {
	value       interval.Interval
	yearMonth   bool
	dayTime     bool
	first, last uint8
	fieldsKnown bool
}

func (s *span) add(u unit) {
	if u.yearMonth {
		s.yearMonth = true
	} else {
		s.dayTime = true
	}
	if !s.fieldsKnown {
		s.first, s.last, s.fieldsKnown = u.field, u.field, true
		return
	}
	s.first, s.last = min(s.first, u.field), max(s.last, u.field)
}

// interval reads an interval literal of any form: INTERVAL 5 MINUTES, INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 day'.
func (p *parser) interval() plan.Expr {
	from := p.pos
	s := p.span(true)
	if p.err != nil {
		return nil
	}
	if s.yearMonth && s.dayTime {
		p.failFrom(from, errclass.New("INVALID_INTERVAL_FORMAT.MIXED_UNITS", "literal", p.textFrom(from)))
		return nil
	}
	if s.yearMonth {
		return &plan.Literal{Value: types.YearMonth(s.value.Months), T: types.YearMonthIntervalType{Start: s.first, End: s.last}}
	}
	micros, ok := interval.Interval{Days: s.value.Days, Micros: s.value.Micros}.Duration()
	if !ok {
		p.failFrom(from, errclass.New("INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION", "input", p.textFrom(from)))
		return nil
	}
	return &plan.Literal{Value: types.DayTime(micros), T: types.DayTimeIntervalType{Start: s.first, End: s.last}}
}

// calendarInterval reads an interval literal whose units may be of both kinds.
func (p *parser) calendarInterval() types.Interval {
	if !p.is("INTERVAL") {
		p.unexpected()
		return types.Interval{}
	}
	return types.Interval(p.span(false).value)
}

// span reads INTERVAL and what belongs to it; textForm allows a text that names the units itself.
func (p *parser) span(textForm bool) span {
	from := p.pos
	p.expect("INTERVAL")
	if p.peek().kind == text && textForm {
		if _, ok := unitOf(p.afterText().up); !ok {
			return p.textSpan(from)
		}
	}
	var s span
	var all strings.Builder
	from = p.pos // errors point at what follows INTERVAL
	for n := 0; ; n++ {
		sign, value, isText := p.intervalValue()
		t := p.peek()
		u, ok := unitOf(t.up)
		if !ok {
			p.unexpected()
			return s
		}
		p.take()
		if n == 0 && p.is("TO") {
			if !isText {
				p.unexpected()
				return s
			}
			return p.unitToUnit(from, sign, value, u)
		}
		s.add(u)
		all.WriteString(" " + sign + strings.TrimSpace(value) + " " + strings.ToLower(u.name))
		if !p.intervalGoesOn() {
			break
		}
	}
	var err error
	text := strings.ReplaceAll(all.String(), "--", "")
	if s.value, err = interval.Parse(text); err != nil {
		p.failErr(from, err)
	}
	return s
}

// afterText is the token behind the string literals that are next.
func (p *parser) afterText() token {
	i := 0
	for p.peekAt(i).kind == text {
		i++
	}
	return p.peekAt(i)
}

// intervalGoesOn tells whether another number with a unit follows.
func (p *parser) intervalGoesOn() bool {
	i := 0
	if up := p.peek().up; up == "-" || up == "+" {
		i++
	}
	if t := p.peekAt(i); t.kind != text && t.kind != integer && t.kind != decimal {
		return false
	}
	_, ok := unitOf(p.peekAt(i + 1).up)
	return ok
}

// intervalValue reads a number or a text with a sign or without.
func (p *parser) intervalValue() (sign, value string, isText bool) {
	if p.accept("-") {
		sign = "-"
	} else {
		p.accept("+")
	}
	switch t := p.peek(); t.kind {
	case text:
		return sign, p.stringLit(), true
	case integer, decimal:
		return sign, p.raw(p.take()), false
	}
	p.unexpected()
	return "", "", false
}

// textSpan reads the text of INTERVAL '1 day 2 hours'.
func (p *parser) textSpan(from int) span {
	var s span
	lit := p.stringLit()
	v, err := interval.Parse(lit)
	if err != nil {
		p.failFrom(from, errclass.New("INVALID_TYPED_LITERAL", "valueType", `"INTERVAL"`, "value", errclass.Text(lit)).WithCause(err))
		return s
	}
	s.value = v
	for _, w := range strings.FieldsFunc(strings.ToUpper(lit), func(r rune) bool { return r < 'A' || r > 'Z' }) {
		if u, ok := unitOf(w); ok {
			s.add(u)
		}
	}
	return s
}

// unitToUnit reads the end of INTERVAL '1-2' YEAR TO MONTH.
func (p *parser) unitToUnit(from int, sign, value string, first unit) span {
	p.expect("TO")
	t := p.peek()
	last, ok := unitOf(t.up)
	if !ok {
		p.unexpected()
		return span{}
	}
	p.take()
	s := span{first: first.field, last: last.field, fieldsKnown: true, yearMonth: first.yearMonth, dayTime: !first.yearMonth}
	if first.yearMonth != last.yearMonth || first.field >= last.field {
		p.failFrom(from, errclass.New("INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION",
			"input", value, "from", strings.ToLower(first.name), "to", strings.ToLower(last.name)))
		return s
	}
	if first.yearMonth {
		s.value.Months, ok = interval.ParseYearMonth(value, first.field, last.field)
	} else {
		s.value.Micros, ok = interval.ParseDayTime(value, first.field, last.field)
	}
	if !ok {
		kind := "day-time"
		if first.yearMonth {
			kind = "year-month"
		}
		p.failFrom(from, errclass.New("INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING", "input", value, "intervalStr", kind,
			"typeName", "interval "+strings.ToLower(first.name+" to "+last.name), "supportedFormat", formatOf(first, last)))
		return s
	}
	if sign == "-" {
		s.value.Months, s.value.Micros = -s.value.Months, -s.value.Micros
	}
	return s
}

// formatOf is the form that the text of an interval with two units has.
func formatOf(first, last unit) string {
	if first.yearMonth {
		return "[+|-]y-m"
	}
	marks := [...]string{types.DayField: "d", types.HourField: " h", types.MinuteField: ":m", types.SecondField: ":s.n"}
	return "[+|-]" + strings.TrimLeft(strings.Join(marks[first.field:last.field+1], ""), " :")
}
