package jsonrow

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// value reads a value of type c at i, where no blank stands, and appends it to out. ok is false when the value does not fit: then
// nothing was appended. Depth counts the objects and arrays around it.
func (s *scanner) value(text []byte, i int, c *conv, out *vec.Builder, depth int) (next int, ok bool) {
	if s.limited && s.tooLong(text, i) {
		return -1, false
	}
	first := text[i]
	if c.kind == kVariant {
		return s.variantColumn(text, i, out, depth)
	}
	if first == 'n' {
		if next = word(text, i, "null"); next >= 0 {
			out.AppendNull()
		}
		return next, next >= 0
	}
	switch c.kind {
	case kString:
		if first == '"' {
			if end, ascii := plain(text, i+1); text[end] == '"' && (ascii || utf8.Valid(text[i+1:end])) {
				out.AppendBytes(text[i+1 : end])
				return end + 1, true
			}
		}
		return s.anyString(text, i, out, depth)
	case kInt64:
		if v, next, ok := numtext.ShortInt(text, i); ok {
			out.AppendInt64(v)
			return next, true
		}
		return s.longInt(text, i, c, out, depth)
	case kInt32:
		if v, next, ok := numtext.ShortInt(text, i); ok && v == int64(int32(v)) {
			out.AppendInt32(int32(v))
			return next, true
		}
		return s.longInt(text, i, c, out, depth)
	case kInt8, kInt16:
		return s.longInt(text, i, c, out, depth)
	case kFloat64, kFloat32:
		return s.float(text, i, c, out, depth)
	case kTimestamp:
		if first == '"' {
			if local, next, ok := datetime.ISOLocal(text, i+1); ok && text[next] == '"' && s.times.Plain() {
				out.AppendInt64(s.zone.Instant(local))
				return next + 1, true
			}
		}
		return s.timestamp(text, i, c, out, depth)
	case kBool:
		switch first {
		case 't':
			if next = word(text, i, "true"); next >= 0 {
				out.AppendBool(true)
			}
			return next, next >= 0
		case 'f':
			if next = word(text, i, "false"); next >= 0 {
				out.AppendBool(false)
			}
			return next, next >= 0
		}
		return s.unfit(text, i, c, depth)
	case kStruct:
		if first == '{' {
			return s.object(text, i+1, c, out, depth+1)
		}
		return s.unfit(text, i, c, depth)
	case kArray:
		if first == '[' {
			return s.array(text, i+1, c, out, depth+1)
		}
		return s.unfit(text, i, c, depth)
	case kMap:
		if first == '{' {
			return s.dict(text, i+1, c, out, depth+1)
		}
		return s.unfit(text, i, c, depth)
	case kDecimal64, kDecimal128:
		return s.decimal(text, i, c, out, depth)
	case kNull:
		if next = s.skipValue(text, i, depth); next >= 0 {
			out.AppendNull()
		}
		return next, next >= 0
	}
	return s.textual(text, i, c, out, depth)
}

// unfit passes over a value that is not of its type.
func (s *scanner) unfit(text []byte, i int, c *conv, depth int) (int, bool) {
	next := s.skipValue(text, i, depth)
	if next >= 0 {
		s.note(c, text[i:next])
	}
	return next, false
}

func (s *scanner) note(c *conv, value []byte) {
	if !s.bad || s.why.conv == nil {
		s.why = failure{conv: c, text: value}
	}
	s.bad = true
}

// anyString reads whatever stands there as a string; what is not one in the text is taken as it is written.
func (s *scanner) anyString(text []byte, i int, out *vec.Builder, depth int) (int, bool) {
	if text[i] == '"' || text[i] == '\'' && s.opts.SingleQuotes {
		str, next, ok := s.str(text, i)
		if ok {
			out.AppendBytes(str)
		}
		return next, ok
	}
	next := s.skipValue(text, i, depth)
	if next >= 0 && s.opts.OneRecord {
		s.printed = AppendPrinted(s.printed[:0], text[i:next])
		out.AppendBytes(textrecord.Valid(s.printed))
	} else if next >= 0 {
		out.AppendBytes(textrecord.Valid(text[i:next]))
	}
	return next, next >= 0
}

// longInt reads a whole number by the long way and checks that it fits its type.
func (s *scanner) longInt(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	if !numberStart(text[i]) {
		return s.unfit(text, i, c, depth)
	}
	next, whole := s.number(text, i)
	if next < 0 {
		return -1, false
	}
	v, err := strconv.ParseInt(unsafeString(text[i:next]), 10, 64)
	if !whole || err != nil {
		s.note(c, text[i:next])
		return next, false
	}
	fits := true
	switch c.kind {
	case kInt8:
		if fits = v >= math.MinInt8 && v <= math.MaxUint8; fits { // 128 to 255 wrap around, as in Spark
			out.AppendInt8(int8(v))
		}
	case kInt16:
		if fits = v == int64(int16(v)); fits {
			out.AppendInt16(int16(v))
		}
	case kInt32:
		if fits = v == int64(int32(v)); fits {
			out.AppendInt32(int32(v))
		}
	default:
		out.AppendInt64(v)
	}
	if !fits {
		s.note(c, text[i:next])
	}
	return next, fits
}

func numberStart(c byte) bool {
	return c-'0' <= 9 || c == '-' || c == '+' || c == 'N' || c == 'I'
}

func (s *scanner) float(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	put := func(v float64) {
		if c.kind == kFloat32 {
			out.AppendFloat32(float32(v))
		} else {
			out.AppendFloat64(v)
		}
	}
	if c.kind == kFloat64 {
		if v, next, ok := numtext.ShortFloat(text, i); ok {
			out.AppendFloat64(v)
			return next, true
		}
	}
	if text[i] == '"' && s.opts.NonNumeric {
		str, next, ok := s.str(text, i)
		if !ok {
			return next, false
		}
		v := 0.0
		switch string(str) {
		case "NaN":
			v = math.NaN()
		case "+INF", "+Infinity", "Infinity":
			v = math.Inf(1)
		case "-INF", "-Infinity":
			v = math.Inf(-1)
		default:
			s.note(c, text[i:next])
			return next, false
		}
		put(v)
		return next, true
	}
	if !numberStart(text[i]) {
		return s.unfit(text, i, c, depth)
	}
	next, _ := s.number(text, i)
	if next < 0 {
		return -1, false
	}
	word := unsafeString(text[i:next])
	switch word {
	case "NaN":
		put(math.NaN())
		return next, true
	case "Infinity", "+Infinity", "+INF":
		put(math.Inf(1))
		return next, true
	case "-Infinity", "-INF":
		put(math.Inf(-1))
		return next, true
	}
	bits := 64
	if c.kind == kFloat32 {
		bits = 32
	}
	v, _ := strconv.ParseFloat(word, bits) // out of range gives an infinity, as it should
	put(v)
	return next, true
}

func (s *scanner) decimal(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	var number []byte
	var next int
	switch {
	case text[i] == '"' || text[i] == '\'' && s.opts.SingleQuotes:
		str, n, ok := s.str(text, i)
		if !ok {
			return n, false
		}
		number, next = withoutCommas(str), n
		if len(number) > 0 && (number[0] <= ' ' || number[len(number)-1] <= ' ') {
			number = nil // Java takes no blanks here
		}
	case text[i]-'0' <= 9 || text[i] == '-':
		if next, _ = s.number(text, i); next < 0 {
			return -1, false
		}
		number = text[i:next]
	default:
		return s.unfit(text, i, c, depth)
	}
	v, st := decimal.Parse(number, c.p, c.s)
	if st != decimal.OK {
		s.note(c, text[i:next])
		return next, false
	}
	appendDecimal(out, c, v)
	return next, true
}

func appendDecimal(out *vec.Builder, c *conv, v decimal.Int) {
	if c.kind == kDecimal64 {
		x, _ := decimal.Int64(v)
		out.AppendInt64(x)
	} else {
		out.AppendInt128(v)
	}
}

// withoutCommas takes out the commas between thousands.
func withoutCommas(s []byte) []byte {
	for i, c := range s {
		if c != ',' {
			continue
		}
		b := append([]byte(nil), s[:i]...)
		for _, c := range s[i:] {
			if c != ',' {
				b = append(b, c)
			}
		}
		return b
	}
	return s
}

// textual reads the types whose values are strings with a meaning.
func (s *scanner) textual(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	if text[i] != '"' && (text[i] != '\'' || !s.opts.SingleQuotes) {
		return s.unfit(text, i, c, depth)
	}
	str, next, ok := s.str(text, i)
	if !ok {
		return next, false
	}
	switch c.kind {
	case kBinary:
		var raw []byte
		var err error
		if raw, err = base64.StdEncoding.AppendDecode(nil, str); err == nil {
			out.AppendBytes(raw)
		}
		ok = err == nil
	case kDate:
		var d int32
		if d, ok = s.dateOf(str); ok {
			out.AppendInt32(d)
		}
	case kTimestampNTZ:
		var v int64
		if v, ok = s.times.TimestampNTZ(str); ok {
			out.AppendInt64(v)
		}
	case kTime:
		var v int64
		if v, ok = datetime.ParseTimeOfDay(str); ok {
			out.AppendInt64(v * 1000)
		}
	case kYearMonth:
		t, _ := c.typ.(types.YearMonthIntervalType)
		var v int32
		if v, ok = interval.ParseYearMonth(string(str), t.Start, t.End); ok {
			out.AppendInt32(v)
		}
	case kDayTime:
		t, _ := c.typ.(types.DayTimeIntervalType)
		var v int64
		if v, ok = interval.ParseDayTime(string(str), t.Start, t.End); ok {
			out.AppendInt64(v)
		}
	case kCalendar:
		if v, err := interval.ParseCalendar(string(str)); err == nil {
			out.AppendInterval(vec.Interval{Months: v.Months, Days: v.Days, Micros: v.Micros})
		} else {
			out.AppendNull() // a text that is none makes no bad record
		}
	}
	if !ok {
		s.note(c, text[i:next])
	}
	return next, ok
}

// tokenName is what the JSON text calls a kind of value.
func tokenName(text []byte) string {
	if len(text) == 0 {
		return "NOT_AVAILABLE"
	}
	switch c := text[0]; {
	case c == '"' || c == '\'':
		return "VALUE_STRING"
	case c == '{':
		return "START_OBJECT"
	case c == '[':
		return "START_ARRAY"
	case c == 't':
		return "VALUE_TRUE"
	case c == 'f':
		return "VALUE_FALSE"
	}
	for _, c := range text {
		if c == '.' || c|0x20 == 'e' {
			return "VALUE_NUMBER_FLOAT"
		}
	}
	return "VALUE_NUMBER_INT"
}
