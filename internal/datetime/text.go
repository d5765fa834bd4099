package datetime

import "bytes"

// AppendDate prints a day: 2020-01-31, +10000-01-01, -0001-01-01.
func AppendDate(b []byte, days int64) []byte {
	y, m, d := Civil(days)
	if y >= 0 && y <= 9999 {
		return append(b, byte('0'+y/1000), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10),
			'-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+d/10), byte('0'+d%10))
	}
	if y < 0 {
		b = append(b, '-')
		y = -y
	} else {
		b = append(b, '+')
	}
	b = appendPadded(b, y, 4)
	b = append(b, '-')
	b = appendPadded(b, m, 2)
	b = append(b, '-')
	return appendPadded(b, d, 2)
}

// AppendTimestamp prints a local time: 2020-01-31 01:02:03.45, without trailing zeros.
func AppendTimestamp(b []byte, local int64) []byte {
	days := FloorDiv(local, Day)
	b = AppendDate(b, days)
	b = append(b, ' ')
	return AppendTime(b, local-days*Day)
}

// AppendTime prints a time of day: 01:02:03.45.
func AppendTime(b []byte, micros int64) []byte {
	s := int(micros / Second)
	h, m := s/3600, s/60%60
	s %= 60
	b = append(b, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10), ':', byte('0'+s/10), byte('0'+s%10))
	if frac := int(micros % Second); frac != 0 {
		b = append(b, '.')
		b = appendPadded(b, frac, 6)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b
}

// AppendTimeNanos prints a time of day in nanoseconds.
func AppendTimeNanos(b []byte, nanos int64) []byte {
	b = AppendTime(b, nanos/1000/Second*Second)
	if frac := int(nanos % 1e9); frac != 0 {
		b = append(b, '.')
		b = appendPadded(b, frac, 9)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b
}

func appendPadded(b []byte, n, width int) []byte {
	var tmp [20]byte
	i := len(tmp)
	for n > 0 || i == len(tmp) {
		i--
		tmp[i] = byte('0' + n%10)
		n /= 10
	}
	for len(tmp)-i < width {
		i--
		tmp[i] = '0'
	}
	return append(b, tmp[i:]...)
}

func trim(s []byte) []byte {
	for len(s) > 0 && (s[0] <= ' ' || s[0] == 0x7f) {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] <= ' ' || s[len(s)-1] == 0x7f) {
		s = s[:len(s)-1]
	}
	return s
}

// ParseDate reads [+-]yyyy[-MM[-dd]] with blanks around it; behind a full date anything may follow a blank or a T.
func ParseDate(s []byte) (days int32, ok bool) {
	s = trim(s)
	d, rest, hasTime, ok := parseDate(s)
	if !ok || d < -1<<31 || d > 1<<31-1 {
		return 0, false
	}
	if hasTime {
		rest = nil // whatever it is
	}
	return int32(d), len(rest) == 0
}

// parseDate reads a date at the start of s. hasTime tells that it is complete and followed by a blank or T.
func parseDate(s []byte) (days int64, rest []byte, hasTime, ok bool) {
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	year, s, n := number(s)
	if n < 4 || n > 7 {
		return 0, nil, false, false
	}
	if neg {
		year = -year
	}
	month, day := 1, 1
	if len(s) > 0 && s[0] == '-' {
		if month, s, n = number(s[1:]); n < 1 || n > 2 {
			return 0, nil, false, false
		}
		if len(s) > 0 && s[0] == '-' {
			if day, s, n = number(s[1:]); n < 1 || n > 2 {
				return 0, nil, false, false
			}
			hasTime = len(s) > 0 && (s[0] == ' ' || s[0] == 'T')
		}
	}
	if !Valid(year, month, day) {
		return 0, nil, false, false
	}
	return DaysOf(int64(year), int64(month), int64(day)), s, hasTime, true
}

// number reads digits and tells how many there were; more than nine are not looked at further.
func number(s []byte) (v int, rest []byte, n int) {
	for n < len(s) && n < 10 && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int(s[n]-'0')
		n++
	}
	return v, s[n:], n
}

// Text is a time that was read from a text.
type Text struct {
	Local   int64 // microseconds since 1970-01-01 00:00 on the clock that was written
	HasZone bool
	Zone    string // as written, without blanks; empty unless HasZone
	HasDate bool
	HasTime bool
}

// ParseText reads a date, a date with a time, or a time alone, and a zone behind a time. ok is false for another text.
func ParseText(s []byte) (t Text, ok bool) {
	s = trim(s)
	if len(s) == 0 {
		return t, false
	}
	days := int64(0)
	rest := s
	if timeOnly(s) {
		if s[0] == 'T' {
			rest = s[1:]
		}
	} else {
		var hasTime bool
		days, rest, hasTime, ok = parseDate(s)
		if !ok {
			return t, false
		}
		t.HasDate = true
		if !hasTime {
			t.Local = days * Day
			return t, len(rest) == 0 && days >= minDays && days <= maxDays
		}
		rest = rest[1:]
		if len(rest) == 0 {
			return t, false
		}
	}
	micros, rest, full, ok := parseTime(rest)
	if !ok || days < minDays || days > maxDays {
		return t, false
	}
	t.HasTime = true
	t.Local = days*Day + micros
	if rest = trim(rest); len(rest) > 0 {
		if !full {
			return t, false
		}
		t.HasZone, t.Zone = true, string(rest)
	}
	return t, true
}

// Days whose microseconds fit 64 bits.
const (
	minDays = -106751991 + 1
	maxDays = 106751991 - 1
)

// timeOnly tells a text that starts with a time of day.
func timeOnly(s []byte) bool {
	if s[0] == 'T' {
		return true
	}
	_, rest, n := number(s)
	return n > 0 && n <= 2 && len(rest) > 0 && rest[0] == ':'
}

// parseTime reads h[:m[:s[.fraction]]]. full tells that seconds were there; only behind them may a zone stand.
func parseTime(s []byte) (micros int64, rest []byte, full, ok bool) {
	h, s, n := number(s)
	if n < 1 || n > 2 || h > 23 {
		return 0, nil, false, false
	}
	m, sec, frac := 0, 0, 0
	if len(s) > 0 && s[0] == ':' {
		if m, s, n = number(s[1:]); n < 1 || n > 2 || m > 59 {
			return 0, nil, false, false
		}
		if len(s) > 0 && s[0] == ':' {
			if sec, s, n = number(s[1:]); n < 1 || n > 2 || sec > 59 {
				return 0, nil, false, false
			}
			full = true
			if len(s) > 0 && s[0] == '.' {
				s = s[1:]
				digits := 0
				for len(s) > 0 && s[0] >= '0' && s[0] <= '9' {
					if digits < 6 {
						frac = frac*10 + int(s[0]-'0')
						digits++
					}
					s = s[1:]
				}
				for ; digits < 6; digits++ {
					frac *= 10
				}
			}
		}
	}
	return int64(h)*Hour + int64(m)*Minute + int64(sec)*Second + int64(frac), s, full, true
}

// ParseTimeOfDay reads a time of day alone, to the microsecond. With AM or PM behind it the hour is from 1 to 12.
func ParseTimeOfDay(s []byte) (micros int64, ok bool) {
	s = trim(s)
	half := byte(0)
	if n := len(s) - 2; n > 0 && s[n+1]|0x20 == 'm' && (s[n]|0x20 == 'a' || s[n]|0x20 == 'p') {
		half, s = s[n]|0x20, trim(s[:n])
	}
	if len(s) > 0 && s[0] == 'T' {
		s = s[1:]
	}
	if bytes.IndexByte(s, ':') < 0 { // an hour alone is no time
		return 0, false
	}
	micros, rest, _, ok := parseTime(s)
	if half != 0 {
		if micros < Hour || micros >= 13*Hour {
			return 0, false
		}
		if micros >= 12*Hour {
			micros -= 12 * Hour
		}
		if half == 'p' {
			micros += 12 * Hour
		}
	}
	return micros, ok && len(rest) == 0
}

// ISOLocal reads yyyy-MM-ddTHH:mm:ss or the same with a blank at text[i:], with up to six digits of a fraction, in microseconds of
// the clock that was written. A byte that is no digit must follow in text; whether it may is for the caller to see, at the position
// that is returned. Every other form is left to ParseText.
func ISOLocal(text []byte, i int) (local int64, next int, ok bool) {
	if i+20 > len(text) {
		return 0, i, false
	}
	t := text[i : i+19 : i+19]
	if t[4] != '-' || t[7] != '-' || t[10] != 'T' && t[10] != ' ' || t[13] != ':' || t[16] != ':' {
		return 0, i, false
	}
	var wrong byte
	two := func(at int) int64 {
		a, b := t[at]-'0', t[at+1]-'0'
		wrong |= (a + 118) | a | (b + 118) | b // the high bit is set for all that are more than 9
		return int64(a)*10 + int64(b)
	}
	year, month, day := two(0)*100+two(2), two(5), two(8)
	h, m, s := two(11), two(14), two(17)
	if wrong&0x80 != 0 || h > 23 || m > 59 || s > 59 || !Valid(int(year), int(month), int(day)) {
		return 0, i, false
	}
	local = DaysOf(year, month, day)*Day + h*Hour + m*Minute + s*Second
	if i += 19; text[i] == '.' {
		unit := int64(Second)
		for i++; text[i]-'0' <= 9; i++ {
			if unit /= 10; unit == 0 {
				return 0, i, false
			}
			local += int64(text[i]-'0') * unit
		}
	}
	return local, i, true
}
