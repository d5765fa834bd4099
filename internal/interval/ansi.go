package interval

import (
	"math"
	"strconv"
	"strings"
)

// Units of the ANSI intervals, from the coarsest: a year-month interval goes from Year to Month, a day-time interval from Day
// to Second. The numbers are those of Spark's type encoding.
const (
	Year  = 0
	Month = 1

	Day    = 0
	Hour   = 1
	Minute = 2
	Second = 3
)

var (
	yearMonthNames = [...]string{"YEAR", "MONTH"}
	dayTimeNames   = [...]string{"DAY", "HOUR", "MINUTE", "SECOND"}
)

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendSeconds prints micros as seconds of at least width digits before the point, without trailing zeros behind it.
func appendSeconds(b []byte, micros int64, width int) []byte {
	if micros < 0 {
		b = append(b, '-')
		micros = -micros
	}
	b = appendPadded(b, micros/MicrosPerSecond, width)
	frac := micros % MicrosPerSecond
	if frac == 0 {
		return b
	}
	b = append(b, '.')
	b = appendPadded(b, frac, 6)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

func appendPadded(b []byte, n int64, width int) []byte {
	var tmp [20]byte
	s := strconv.AppendInt(tmp[:0], n, 10)
	for i := len(s); i < width; i++ {
		b = append(b, '0')
	}
	return append(b, s...)
}

// AppendYearMonth prints months as an ANSI literal of the type from start to end: INTERVAL '1-2' YEAR TO MONTH.
func AppendYearMonth(b []byte, months int32, start, end uint8) []byte {
	b = append(b, "INTERVAL '"...)
	m := int64(months)
	if m < 0 {
		b = append(b, '-')
		m = -m
	}
	switch {
	case start == Year && end == Year:
		b = appendInt(b, m/12)
	case start == Month:
		b = appendInt(b, m)
	default:
		b = appendInt(b, m/12)
		b = append(b, '-')
		b = appendInt(b, m%12)
	}
	return appendUnits(append(b, "' "...), yearMonthNames[:], start, end)
}

func appendUnits(b []byte, names []string, start, end uint8) []byte {
	b = append(b, names[start]...)
	if start != end {
		b = append(append(b, " TO "...), names[end]...)
	}
	return b
}

// AppendDayTime prints micros as an ANSI literal of the type from start to end: INTERVAL '1 02:03:04.5' DAY TO SECOND.
func AppendDayTime(b []byte, micros int64, start, end uint8) []byte {
	b = append(b, "INTERVAL '"...)
	rest := uint64(micros)
	if micros < 0 {
		b = append(b, '-')
		rest = -rest
	}
	take := func(unit uint64) int64 {
		n := rest / unit
		rest %= unit
		return int64(n)
	}
	for u := start; u <= end; u++ {
		switch u {
		case Day:
			b = appendInt(b, take(MicrosPerDay))
		case Hour:
			b = appendPadded(b, take(MicrosPerHour), 2)
		case Minute:
			b = appendPadded(b, take(MicrosPerMinute), 2)
		case Second:
			b = appendSecondsUnsigned(b, rest)
		}
		if u < end {
			b = append(b, " :::"[u])
		}
	}
	return appendUnits(append(b, "' "...), dayTimeNames[:], start, end)
}

func appendSecondsUnsigned(b []byte, micros uint64) []byte {
	return appendSeconds(b, int64(micros), 2) // at most 2^63/1e6 seconds: the sign bit is that of MinInt64 only
}

// ParseYearMonth reads a year-month interval of the type from start to end, either bare ("1-2") or as a literal with its
// units. ok is false when the text does not have that form or is out of range.
func ParseYearMonth(text string, start, end uint8) (months int32, ok bool) {
	body, neg, ok := ansiBody(text, yearMonthNames[:], start, end)
	if !ok {
		return 0, false
	}
	body, neg = sign(body, neg)
	var n int64
	switch {
	case start == Year && end == Month:
		y, m, found := strings.Cut(body, "-")
		if !found {
			return 0, false
		}
		yn, ok1 := digits(y, math.MaxInt32)
		mn, ok2 := digits(m, 11)
		if !ok1 || !ok2 {
			return 0, false
		}
		n = yn*12 + mn
	case start == Year:
		y, ok := digits(body, math.MaxInt32)
		if !ok {
			return 0, false
		}
		n = y * 12
	default:
		if n, ok = digits(body, math.MaxInt32+1); !ok {
			return 0, false
		}
	}
	if neg {
		n = -n
	}
	return int32(n), n == int64(int32(n))
}

// ParseDayTime reads a day-time interval of the type from start to end, either bare ("1 02:03:04.5") or as a literal with
// its units.
func ParseDayTime(text string, start, end uint8) (micros int64, ok bool) {
	body, neg, ok := ansiBody(text, dayTimeNames[:], start, end)
	if !ok {
		return 0, false
	}
	body, neg = sign(body, neg)
	limits := [...]int64{math.MaxInt32, 23, 59, 59}
	units := [...]int64{MicrosPerDay, MicrosPerHour, MicrosPerMinute, MicrosPerSecond}
	limits[start] = math.MaxInt64 / units[start]
	for u := start; u <= end; u++ {
		field := body
		if u < end {
			if field, body, ok = strings.Cut(body, " :::"[u:u+1]); !ok {
				return 0, false
			}
		}
		frac := int64(0)
		if u == Second {
			whole, f, point := strings.Cut(field, ".")
			if point {
				if frac, ok = fraction(f); !ok {
					return 0, false
				}
			}
			field = whole
		}
		n, ok := digits(field, limits[u])
		if !ok {
			return 0, false
		}
		m, ok := mul64(n, units[u])
		if !ok {
			return 0, false
		}
		if m += frac; m < 0 || micros+m < 0 {
			return 0, false
		}
		micros += m
	}
	if neg {
		micros = -micros
	}
	return micros, true
}

// fraction reads up to nine digits behind the point and gives microseconds.
func fraction(s string) (int64, bool) {
	if len(s) > 9 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	for i := len(s); i < 9; i++ {
		n *= 10
	}
	return n / 1000, true
}

func sign(s string, neg bool) (string, bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:], neg != (s[0] == '-')
	}
	return s, neg
}

func digits(s string, limit int64) (int64, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n <= limit
}

// ansiBody takes INTERVAL, the quotes and the units away, when they are there.
func ansiBody(text string, names []string, start, end uint8) (body string, neg, ok bool) {
	s := trim(text)
	if len(s) < 8 || !strings.EqualFold(s[:8], "interval") {
		return s, false, s != ""
	}
	s = trim(s[8:])
	s, neg = sign(s, false)
	s = trim(s)
	if s == "" || s[0] != '\'' {
		return "", false, false
	}
	body, units, found := strings.Cut(s[1:], "'")
	if !found {
		return "", false, false
	}
	want := string(appendUnits(nil, names, start, end))
	got := strings.Join(strings.Fields(units), " ")
	return body, neg, strings.EqualFold(want, got)
}
