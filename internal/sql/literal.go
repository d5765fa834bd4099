package sql

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func stringLiteral(s string) *plan.Literal { return &plan.Literal{Value: s, T: types.String} }

func isNumber(t token) bool {
	return t.kind == integer || t.kind == decimal || t.kind == float || t.kind == suffixed
}

// stringLit reads one or more string literals side by side, which make one value.
func (p *parser) stringLit() string {
	if p.peek().kind != text {
		p.unexpected()
		return ""
	}
	s := stringValue(p.raw(p.take()))
	for p.peek().kind == text {
		s += stringValue(p.raw(p.take()))
	}
	return s
}

// number reads a numeric literal, with a minus sign before it or without.
func (p *parser) number() plan.Expr {
	from := p.pos
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	t := p.take()
	body := p.raw(t)
	switch t.kind {
	case integer:
		e := p.integerLiteral(from, sign+body)
		if l, ok := e.(*plan.Literal); ok {
			l.Origin = p.origin(from)
		}
		return e
	case decimal:
		return p.decimalLiteral(from, sign+body)
	case float:
		return p.floatLiteral(from, sign+body, types.Double)
	case suffixed:
		switch i := strings.IndexFunc(body, isSuffixStart); upper(body[i:]) {
		case "L":
			return p.sized(from, sign+body[:i], 64, types.Long)
		case "S":
			return p.sized(from, sign+body[:i], 16, types.Short)
		case "Y":
			return p.sized(from, sign+body[:i], 8, types.Byte)
		case "F":
			return p.floatLiteral(from, sign+body[:i], types.Float)
		case "D":
			return p.floatLiteral(from, sign+body[:i], types.Double)
		default:
			return p.decimalLiteral(from, sign+body[:i])
		}
	}
	p.failTok(t, errclass.New("PARSE_SYNTAX_ERROR", "error", "'"+body+"'", "hint", ""))
	return nil
}

// isSuffixStart finds the type suffix of a number; an exponent's e is none.
func isSuffixStart(r rune) bool { return r >= 'A' && r <= 'z' && r != 'e' && r != 'E' }

// integerLiteral is an INT, a BIGINT or, beyond that, a DECIMAL.
func (p *parser) integerLiteral(from int, s string) plan.Expr {
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return p.decimalLiteral(from, s)
	case v == int64(int32(v)):
		return &plan.Literal{Value: int32(v), T: types.Integer}
	default:
		return &plan.Literal{Value: v, T: types.Long}
	}
}

// sized is an integer literal with a suffix that says its type.
func (p *parser) sized(from int, s string, bits int, t types.DataType) plan.Expr {
	v, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		least := int64(-1) << (bits - 1)
		p.outOfRange(from, s, strconv.FormatInt(least, 10), strconv.FormatInt(-(least+1), 10), t)
		return nil
	}
	switch bits {
	case 8:
		return &plan.Literal{Value: int8(v), T: t}
	case 16:
		return &plan.Literal{Value: int16(v), T: t}
	}
	return &plan.Literal{Value: v, T: t}
}

func (p *parser) outOfRange(from int, s, least, most string, t types.DataType) {
	p.failFrom(from, errclass.New("INVALID_NUMERIC_LITERAL_RANGE",
		"rawStrippedQualifier", s, "minValue", least, "maxValue", most, "typeName", t.SimpleString()))
}

// floatLiteral is a FLOAT or a DOUBLE, which must be finite.
func (p *parser) floatLiteral(from int, s string, t types.DataType) plan.Expr {
	if t == types.DataType(types.Float) {
		v, err := strconv.ParseFloat(s, 32)
		if err != nil {
			p.outOfRange(from, s, "-3.4028234663852886E+38", "3.4028234663852886E+38", t)
			return nil
		}
		return &plan.Literal{Value: float32(v), T: t}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		p.outOfRange(from, s, "-1.7976931348623157E+308", "1.7976931348623157E+308", t)
		return nil
	}
	return &plan.Literal{Value: v, T: t}
}

// decimalLiteral is a DECIMAL of just the digits that were written.
func (p *parser) decimalLiteral(from int, s string) plan.Expr {
	d, ok := types.ParseDecimal(s)
	if !ok {
		digits := strings.TrimLeft(strings.TrimFunc(s, func(r rune) bool { return r == '-' }), "0.")
		n := len(strings.ReplaceAll(digits, ".", ""))
		p.failFrom(from, errclass.New("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
			"precision", strconv.Itoa(n), "maxPrecision", strconv.Itoa(types.MaxPrecision)).WithKind(errclass.Parse))
		return nil
	}
	return &plan.Literal{Value: d, T: types.DecimalType{Precision: max(d.Precision(), d.Scale), Scale: d.Scale}}
}

// typedLiteral reads a type's name with a text behind it: DATE'2026-01-02'.
func (p *parser) typedLiteral() plan.Expr {
	from := p.pos
	name := p.take()
	s := p.stringLit()
	zone, now := p.opts.Zone, p.opts.now()
	bad := func() plan.Expr {
		p.failFrom(from, errclass.New("INVALID_TYPED_LITERAL", "valueType", errclass.Expr(name.up), "value", errclass.Text(s)))
		return nil
	}
	kind := name.up
	if kind == "TIMESTAMP" {
		kind = "TIMESTAMP_LTZ"
		if p.opts.NTZ {
			kind = "TIMESTAMP_NTZ"
		}
	}
	switch kind {
	case "DATE":
		if d, ok := specialDay(s, now.In(zone)); ok {
			return &plan.Literal{Value: d, T: types.Date}
		}
		if c, ok := parseClock(s); ok && !c.onlyTime {
			if d, ok := c.days(); ok {
				return &plan.Literal{Value: types.Days(d), T: types.Date}
			}
		}
		return bad()
	case "TIMESTAMP_LTZ":
		if t, ok := specialTime(s, now.In(zone)); ok {
			return &plan.Literal{Value: types.Micros(t.UnixMicro()), T: types.Timestamp}
		}
		if c, ok := parseClock(s); ok {
			if v, ok := c.instant(zone, now); ok {
				return &plan.Literal{Value: types.Micros(v), T: types.Timestamp}
			}
		}
		return bad()
	case "TIMESTAMP_NTZ":
		if t, ok := specialTime(s, now.In(zone)); ok {
			_, offset := t.Zone()
			return &plan.Literal{Value: types.MicrosNTZ(t.UnixMicro() + int64(offset)*microsPerSecond), T: types.TimestampNTZ}
		}
		if c, ok := parseClock(s); ok && !c.onlyTime {
			if v, ok := c.local(); ok {
				return &plan.Literal{Value: types.MicrosNTZ(v), T: types.TimestampNTZ}
			}
		}
		return bad()
	case "TIME":
		clock, half := cutHalfOfDay(s)
		if c, ok := parseClock(clock); ok && c.onlyTime && c.zone == "" {
			if m, ok := half.shift(c.micros()); ok {
				return &plan.Literal{Value: types.TimeOfDay(m * 1000), T: types.Time}
			}
		}
		return bad()
	case "X":
		h := s
		if len(h)%2 == 1 {
			h = "0" + h
		}
		b, err := hex.DecodeString(h)
		if err != nil {
			return bad()
		}
		return &plan.Literal{Value: b, T: types.Binary}
	}
	p.failFrom(from, errclass.New("UNSUPPORTED_TYPED_LITERAL", "unsupportedType", errclass.Expr(name.up),
		"supportedTypes", `"DATE", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIMESTAMP", "INTERVAL", "X", "TIME"`))
	return nil
}

// specialDay are the words that stand for a date.
func specialDay(s string, now time.Time) (types.Days, bool) {
	_, offset := now.Zone()
	today := types.Days((now.Unix() + int64(offset)) / secondsPerDay)
	word, ok := datetime.SpecialWord(s)
	switch word {
	case datetime.Epoch:
		return 0, ok
	case datetime.Yesterday:
		today--
	case datetime.Tomorrow:
		today++
	}
	return today, ok
}

// specialTime are the words that stand for a timestamp.
func specialTime(s string, now time.Time) (time.Time, bool) {
	y, m, d := now.Date()
	word, ok := datetime.SpecialWord(s)
	switch word {
	case datetime.Epoch:
		return time.Unix(0, 0).UTC(), ok
	case datetime.Now:
		return now, ok
	case datetime.Yesterday:
		d--
	case datetime.Tomorrow:
		d++
	}
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), ok
}

// halfOfDay is AM, PM or nothing behind a time of day.
type halfOfDay string

func cutHalfOfDay(s string) (clock string, half halfOfDay) {
	s = strings.TrimSpace(s)
	if n := len(s) - 2; n > 0 {
		if end := strings.ToUpper(s[n:]); end == "AM" || end == "PM" {
			return strings.TrimSpace(s[:n]), halfOfDay(end)
		}
	}
	return s, ""
}

// shift moves a time with an hour from 1 to 12 to where it is in the day.
func (h halfOfDay) shift(micros int64) (int64, bool) {
	const noon = 12 * 3600 * 1e6
	if h == "" {
		return micros, true
	}
	if micros < noon/12 || micros >= noon+noon/12 {
		return 0, false
	}
	micros %= noon
	if h == "PM" {
		micros += noon
	}
	return micros, true
}
