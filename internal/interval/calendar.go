package interval

import (
	"math"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
)

// Interval is a calendar interval. Months and days are kept apart from the rest because their length varies.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// Microseconds in the units of fixed length.
const (
	MicrosPerMilli  = 1000
	MicrosPerSecond = 1000 * MicrosPerMilli
	MicrosPerMinute = 60 * MicrosPerSecond
	MicrosPerHour   = 60 * MicrosPerMinute
	MicrosPerDay    = 24 * MicrosPerHour
)

// Parse reads a calendar interval: an optional "interval", then numbers with units, in any case. The error is one of
// INVALID_INTERVAL_FORMAT.
func Parse(text string) (Interval, error) {
	p := parser{input: text, s: strings.ToLower(trim(text))}
	iv, err := p.parse()
	if err != nil {
		return Interval{}, err
	}
	return iv, nil
}

// ParseCalendar reads the interval of a window or a watermark delay. The error is CANNOT_PARSE_INTERVAL.
func ParseCalendar(text string) (Interval, error) {
	iv, err := Parse(text)
	if err != nil {
		return Interval{}, errclass.New("CANNOT_PARSE_INTERVAL", "intervalString", errclass.Text(text)).WithCause(err)
	}
	return iv, nil
}

// trim removes white space and control characters from both ends.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

type parser struct {
	input string // as given
	s     string // trimmed and lower-cased
	pos   int
}

func (p *parser) fail(class string, kv ...string) *errclass.Error {
	return errclass.New("INVALID_INTERVAL_FORMAT."+class, append([]string{"input", p.input}, kv...)...)
}

// word is the blank-delimited word around the current position.
func (p *parser) word() string {
	i := min(p.pos, len(p.s)-1)
	start := strings.LastIndexFunc(p.s[:i], isSpace) + 1
	end := strings.IndexFunc(p.s[i:], isSpace)
	if end < 0 {
		return p.s[start:]
	}
	return p.s[start : i+end]
}

func isSpace(r rune) bool { return r <= ' ' }

func (p *parser) blanks() {
	for p.pos < len(p.s) && p.s[p.pos] <= ' ' {
		p.pos++
	}
}

func (p *parser) done() bool { return p.pos >= len(p.s) }

func (p *parser) parse() (iv Interval, err *errclass.Error) {
	if p.s == "" {
		return iv, p.fail("INPUT_IS_EMPTY")
	}
	if rest, ok := strings.CutPrefix(p.s, "interval"); ok {
		if rest == "" {
			return iv, p.fail("INPUT_IS_EMPTY")
		}
		if rest[0] > ' ' {
			return iv, p.fail("INVALID_PREFIX", "prefix", p.word())
		}
		p.pos = len("interval")
	}
	for {
		p.blanks()
		if p.done() {
			return iv, nil
		}
		n, frac, hasFrac, err := p.number()
		if err != nil {
			return iv, err
		}
		if err := p.unit(&iv, n, frac, hasFrac); err != nil {
			return iv, err
		}
	}
}

// number reads a signed number. frac are nanoseconds of a second.
func (p *parser) number() (n, frac int64, hasFrac bool, _ *errclass.Error) {
	neg := false
	if c := p.s[p.pos]; c == '-' || c == '+' {
		neg = c == '-'
		p.pos++
		p.blanks()
		if p.done() {
			return 0, 0, false, p.fail("MISSING_NUMBER", "word", p.word())
		}
	}
	start := p.pos
	for ; !p.done() && p.s[p.pos] >= '0' && p.s[p.pos] <= '9'; p.pos++ {
		d := int64(p.s[p.pos] - '0')
		if n > (math.MaxInt64-d)/10 {
			return 0, 0, false, p.fail("ARITHMETIC_EXCEPTION")
		}
		n = n*10 + d
	}
	if p.pos == start && (p.done() || p.s[p.pos] != '.') {
		return 0, 0, false, p.fail("UNRECOGNIZED_NUMBER", "number", p.word())
	}
	if !p.done() && p.s[p.pos] == '.' {
		hasFrac = true
		p.pos++
		digits := 0
		for ; !p.done() && p.s[p.pos] >= '0' && p.s[p.pos] <= '9'; p.pos++ {
			if digits++; digits > 9 {
				return 0, 0, false, p.fail("INVALID_PRECISION", "value", p.word())
			}
			frac = frac*10 + int64(p.s[p.pos]-'0')
		}
		for ; digits < 9; digits++ {
			frac *= 10
		}
	}
	if !p.done() && p.s[p.pos] > ' ' {
		return 0, 0, false, p.fail("INVALID_VALUE", "value", p.word())
	}
	p.blanks()
	if p.done() {
		return 0, 0, false, p.fail("MISSING_UNIT", "word", p.word())
	}
	if neg {
		n, frac = -n, -frac
	}
	return n, frac, hasFrac, nil
}

// unit reads a unit and adds n of it to iv.
func (p *parser) unit(iv *Interval, n, frac int64, hasFrac bool) *errclass.Error {
	word := p.word()
	if hasFrac && word[0] != 's' {
		return p.fail("INVALID_FRACTION", "unit", word)
	}
	ok := true
	switch strings.TrimSuffix(word, "s") {
	case "year":
		ok = addMonths(iv, n, 12)
	case "month":
		ok = addMonths(iv, n, 1)
	case "week":
		ok = addDays(iv, n, 7)
	case "day":
		ok = addDays(iv, n, 1)
	case "hour":
		ok = addMicros(iv, n, MicrosPerHour)
	case "minute":
		ok = addMicros(iv, n, MicrosPerMinute)
	case "second":
		ok = addMicros(iv, n, MicrosPerSecond) && addMicros(iv, frac/1000, 1)
	case "millisecond":
		ok = addMicros(iv, n, MicrosPerMilli)
	case "microsecond":
		ok = addMicros(iv, n, 1)
	default:
		return p.fail("INVALID_UNIT", "unit", word)
	}
	if strings.HasSuffix(word, "ss") {
		return p.fail("INVALID_UNIT", "unit", word)
	}
	if !ok {
		return p.fail("ARITHMETIC_EXCEPTION")
	}
	p.pos += len(word)
	return nil
}

func addMonths(iv *Interval, n, unit int64) (ok bool) {
	iv.Months, ok = add32(iv.Months, n, unit)
	return ok
}

func addDays(iv *Interval, n, unit int64) (ok bool) {
	iv.Days, ok = add32(iv.Days, n, unit)
	return ok
}

func addMicros(iv *Interval, n, unit int64) bool {
	m, ok := mul64(n, unit)
	if !ok {
		return false
	}
	s := iv.Micros + m
	if (iv.Micros^s)&(m^s) < 0 {
		return false
	}
	iv.Micros = s
	return true
}

func add32(x int32, n, unit int64) (int32, bool) {
	if n > math.MaxInt32 || n < math.MinInt32 {
		return 0, false
	}
	s := int64(x) + n*unit
	return int32(s), s == int64(int32(s))
}

func mul64(x, y int64) (int64, bool) {
	if x == 0 {
		return 0, true
	}
	p := x * y
	return p, p/x == y && !(x == -1 && y == math.MinInt64)
}

// String prints the interval as Spark does: "1 years 2 months 3 days 4 hours 5 minutes 6.5 seconds".
func (iv Interval) String() string {
	if iv == (Interval{}) {
		return "0 seconds"
	}
	var b []byte
	put := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = appendInt(b, n)
		b = append(append(b, ' '), unit...)
	}
	put(int64(iv.Months/12), "years")
	put(int64(iv.Months%12), "months")
	put(int64(iv.Days), "days")
	rest := iv.Micros
	put(rest/MicrosPerHour, "hours")
	rest %= MicrosPerHour
	put(rest/MicrosPerMinute, "minutes")
	rest %= MicrosPerMinute
	if rest != 0 {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = appendSeconds(b, rest, 1)
		b = append(b, " seconds"...)
	}
	return string(b)
}
