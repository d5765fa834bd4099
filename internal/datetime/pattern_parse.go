package datetime

import (
	"strings"
	"time"
)

// Parse reads a text. Parts that the pattern does not have are those of 1970-01-01 00:00:00; a zone in the text counts more than z.
// The result is an instant.
func (p *Pattern) Parse(s []byte, z *Zone) (instant int64, ok bool) {
	local, loc, offset, ok := p.parse(s)
	switch {
	case !ok:
		return 0, false
	case offset != noOffset:
		return local - offset, true
	case loc != nil:
		return NewZone(loc).Instant(local), true
	}
	return z.Instant(local), true
}

// ParseLocal reads a text and gives the time on the clock that it shows.
func (p *Pattern) ParseLocal(s []byte) (local int64, ok bool) {
	local, _, _, ok = p.parse(s)
	return local, ok
}

const noOffset = -1 << 62

// parts are the fields that have been read.
type parts struct {
	have   uint32 // by kind
	vals   [offsetISO + 1]int
	loc    *time.Location
	offset int64
}

func (f *parts) set(k kind, v int) {
	f.have |= 1 << k
	f.vals[k] = v
}

func (f *parts) has(k kind) bool { return f.have>>k&1 != 0 }

func (p *Pattern) parse(s []byte) (local int64, loc *time.Location, offset int64, ok bool) {
	f := parts{offset: noOffset}
	rest, ok := p.run(0, len(p.steps), s, &f)
	if !ok || len(rest) > 0 {
		return 0, nil, 0, false
	}
	local, ok = f.resolve()
	return local, f.loc, f.offset, ok
}

// run reads the steps from i to end.
func (p *Pattern) run(i, end int, s []byte, f *parts) (rest []byte, ok bool) {
	for ; i < end; i++ {
		st := &p.steps[i]
		switch st.kind {
		case optionalStart:
			closing := p.closing(i)
			saved := *f
			if r, ok := p.run(i+1, closing, s, f); ok {
				s = r
			} else {
				*f = saved
			}
			i = closing
		case optionalEnd:
		default:
			if s, ok = p.read(i, s, f); !ok {
				return nil, false
			}
		}
	}
	return s, true
}

// closing finds the end of the optional section that starts at step i.
func (p *Pattern) closing(i int) int {
	depth := 0
	for ; i < len(p.steps); i++ {
		switch p.steps[i].kind {
		case optionalStart:
			depth++
		case optionalEnd:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// read reads one step.
func (p *Pattern) read(i int, s []byte, f *parts) ([]byte, bool) {
	st := &p.steps[i]
	switch st.kind {
	case literal:
		if len(s) < len(st.text) || !strings.EqualFold(string(s[:len(st.text)]), st.text) {
			return nil, false
		}
		return s[len(st.text):], true
	case eraText:
		names := shortEras[:]
		if st.min == 4 {
			names = eraNames[:]
		}
		return readName(s, names, 0, 0, eraText, f)
	case monthText:
		return readName(s, monthNames[:], st.min, 1, month, f)
	case ampm:
		return readName(s, []string{"AM", "PM"}, 0, 0, ampm, f)
	case fraction:
		return readFraction(st, s, f)
	case zoneID, zoneName:
		return readZone(s, f)
	case offsetGMT:
		return readOffsetGMT(s, f)
	case offsetISO:
		return readOffset(st, s, f)
	}
	return p.readNumber(i, s, f)
}

// readName reads one of some names, whose first three letters count when short is 3.
func readName(s []byte, names []string, short, base int, k kind, f *parts) ([]byte, bool) {
	for i, name := range names {
		if short == 3 {
			name = name[:3]
		}
		if len(s) >= len(name) && strings.EqualFold(string(s[:len(name)]), name) {
			f.set(k, i+base)
			return s[len(name):], true
		}
	}
	return nil, false
}

// readNumber reads a number. One of variable width leaves the digits of the numbers of fixed width that follow at once.
func (p *Pattern) readNumber(i int, s []byte, f *parts) ([]byte, bool) {
	st := &p.steps[i]
	neg, plus := false, false
	if variable := st.max > st.min; variable && len(s) > 0 && st.kind != dayOfYear && (s[0] == '-' || s[0] == '+') {
		year := st.kind == yearNumber || st.kind == yearOfEra
		neg, plus = s[0] == '-', s[0] == '+'
		if plus && !(year && st.min >= 4) {
			return nil, false
		}
		s = s[1:]
	}
	limit := st.max
	if st.max > st.min {
		for _, next := range p.steps[i+1:] {
			if next.kind < yearNumber || next.kind >= fraction || next.min != next.max || isText(next.kind) {
				break
			}
			limit += next.max
		}
	}
	reserve := limit - st.max
	n := 0
	for n < len(s) && n < limit && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	n -= reserve
	if n < st.min && reserve > 0 {
		n += reserve
		n = min(n, st.min)
	}
	n = min(n, st.max)
	if n < st.min || n > 18 {
		return nil, false
	}
	if (st.kind == yearNumber || st.kind == yearOfEra) && st.min >= 4 {
		// A year that is longer than its pattern needs a sign, and a plus sign needs such a year.
		if plus && n <= st.min || !plus && !neg && n > st.min {
			return nil, false
		}
	}
	v := 0
	for _, c := range s[:n] {
		v = v*10 + int(c-'0')
	}
	if neg {
		v = -v
	}
	f.set(st.kind, v)
	return s[n:], true
}

func isText(k kind) bool {
	return k == monthText || k == quarterText || k == weekdayText || k == ampm
}

func readFraction(st *step, s []byte, f *parts) ([]byte, bool) {
	v, n := 0, 0
	for n < len(s) && n < st.max && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int(s[n]-'0')
		n++
	}
	if n < st.min {
		return nil, false
	}
	f.set(fraction, v*int(pow10(9-n)))
	return s[n:], true
}

func readZone(s []byte, f *parts) ([]byte, bool) {
	n := 0
	for n < len(s) && (s[n] > ' ' && s[n] != ']' && s[n] != ')' && s[n] != ',') {
		n++
	}
	for ; n > 0; n-- {
		if loc, ok := ParseZone(string(s[:n])); ok {
			f.loc = loc
			return s[n:], true
		}
	}
	return nil, false
}

func readOffsetGMT(s []byte, f *parts) ([]byte, bool) {
	if len(s) < 3 || !strings.EqualFold(string(s[:3]), "GMT") {
		return nil, false
	}
	s = s[3:]
	n := 0
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		n = 1
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ':') {
			n++
		}
	}
	if n == 0 {
		f.offset = 0
		return s, true
	}
	sec, ok := parseOffset(string(s[:n]))
	f.offset = int64(sec) * Second
	return s[n:], ok
}

func readOffset(st *step, s []byte, f *parts) ([]byte, bool) {
	if st.upper && len(s) > 0 && (s[0] == 'Z' || s[0] == 'z') {
		f.offset = 0
		return s[1:], true
	}
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return nil, false
	}
	take := func(at int) (int, bool) {
		if at+2 > len(s) || s[at] < '0' || s[at] > '9' || s[at+1] < '0' || s[at+1] > '9' {
			return 0, false
		}
		return int(s[at]-'0')*10 + int(s[at+1]-'0'), true
	}
	h, ok := take(1)
	if !ok {
		return nil, false
	}
	at, m, sec := 3, 0, 0
	colon := st.min == 3 || st.min == 5
	next := func(required bool) (v int, found, ok bool) {
		pos := at
		if colon {
			if pos >= len(s) || s[pos] != ':' {
				return 0, false, !required
			}
			pos++
		}
		v, found = take(pos)
		if found {
			at = pos + 2
		}
		return v, found, found || !required
	}
	var found bool
	if m, found, ok = next(st.min > 1); !ok {
		return nil, false
	}
	if found && st.min >= 4 {
		sec, _, _ = next(false)
	}
	if h > 18 || m > 59 || sec > 59 {
		return nil, false
	}
	f.offset = int64(h)*Hour + int64(m)*Minute + int64(sec)*Second
	if s[0] == '-' {
		f.offset = -f.offset
	}
	return s[at:], true
}

// resolve puts the parts together and checks that they exist.
func (f *parts) resolve() (local int64, ok bool) {
	days, ok := f.date()
	if !ok {
		return 0, false
	}
	h, ok := f.hour()
	m, sec := f.vals[minute], f.vals[second]
	if !ok || m < 0 || m > 59 || sec < 0 || sec > 59 || days < minDays || days > maxDays {
		return 0, false
	}
	return days*Day + int64(h)*Hour + int64(m)*Minute + int64(sec)*Second + int64(f.vals[fraction]/1000), true
}

func (f *parts) date() (days int64, ok bool) {
	y := 1970
	switch {
	case f.has(yearNumber):
		y = f.vals[yearNumber]
	case f.has(yearReduced):
		y = 2000 + f.vals[yearReduced]
	case f.has(yearOfEra):
		y = f.vals[yearOfEra]
	}
	if f.has(eraText) && f.vals[eraText] == 0 {
		y = 1 - y
	}
	if y > 999999 || y < -999999 {
		return 0, false
	}
	if f.has(dayOfYear) && !f.has(month) && !f.has(day) {
		n := f.vals[dayOfYear]
		length := 365
		if IsLeap(y) {
			length = 366
		}
		if n < 1 || n > length {
			return 0, false
		}
		return DaysOf(int64(y), 1, int64(n)), true
	}
	m, d := 1, 1
	if f.has(month) {
		m = f.vals[month]
	}
	if f.has(day) {
		d = f.vals[day]
	}
	if !Valid(y, m, d) {
		return 0, false
	}
	days = DaysOf(int64(y), int64(m), int64(d))
	return days, !f.has(dayOfYear) || f.vals[dayOfYear] == DayOfYear(days)
}

func (f *parts) hour() (h int, ok bool) {
	within := func(k kind, lo, hi int) bool { return !f.has(k) || f.vals[k] >= lo && f.vals[k] <= hi }
	if !within(hour24, 0, 23) || !within(clockHour24, 1, 24) || !within(hour12, 0, 11) || !within(clockHour12, 1, 12) {
		return 0, false
	}
	switch {
	case f.has(hour24):
		return f.vals[hour24], true
	case f.has(clockHour24):
		return f.vals[clockHour24] % 24, true
	case f.has(hour12):
		h = f.vals[hour12]
	case f.has(clockHour12):
		h = f.vals[clockHour12] % 12
	}
	return h + 12*f.vals[ampm], true
}
