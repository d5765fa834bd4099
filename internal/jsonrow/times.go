package jsonrow

import (
	"strconv"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/vec"
)

// isoLocal reads yyyy-MM-ddTHH:mm:ss or the same with a blank, with up to six digits of a fraction and without a zone, in
// microseconds of the clock that was written. Every other form is left to package datetime.
func isoLocal(text []byte, i int) (local int64, next int, ok bool) {
	if i+19 > len(text) {
		return 0, i, false
	}
	t := text[i : i+19 : i+19]
	if t[4] != '-' || t[7] != '-' || t[10] != 'T' && t[10] != ' ' || t[13] != ':' || t[16] != ':' {
		return 0, i, false
	}
	var wrong byte
	two := func(at int) int64 {
		a, b := t[at]-'0', t[at+1]-'0'
		wrong |= (9 - a) | (9 - b)
		return int64(a)*10 + int64(b)
	}
	year, month, day := two(0)*100+two(2), two(5), two(8)
	h, m, s := two(11), two(14), two(17)
	if wrong&0x80 != 0 || h > 23 || m > 59 || s > 59 || !datetime.Valid(int(year), int(month), int(day)) {
		return 0, i, false
	}
	local = datetime.DaysOf(year, month, day)*datetime.Day + h*datetime.Hour + m*datetime.Minute + s*datetime.Second
	if i += 19; text[i] == '.' {
		unit := int64(datetime.Second)
		for i++; text[i]-'0' <= 9; i++ {
			if unit /= 10; unit == 0 {
				return 0, i, false
			}
			local += int64(text[i]-'0') * unit
		}
	}
	return local, i, true
}

// timestamp reads an instant: a string, or a number of seconds.
func (s *scanner) timestamp(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	switch {
	case text[i] == '"' || text[i] == '\'' && s.opts.SingleQuotes:
		str, next, ok := s.str(text, i)
		if !ok {
			return next, false
		}
		v, ok := s.times.Timestamp(str)
		if !ok {
			s.note(c, text[i:next])
			return next, false
		}
		out.AppendInt64(v)
		return next, true
	case text[i]-'0' <= 9 || text[i] == '-':
		v, next, ok := shortInt(text, i)
		const most = 1 << 62 / datetime.Second
		if ok && v < most && v > -most {
			out.AppendInt64(v * datetime.Second)
			return next, true
		}
	}
	return s.unfit(text, i, c, depth)
}

// dateOf reads a DATE; a bare number of days is one too, as releases before 1.5 wrote it.
func (s *scanner) dateOf(str []byte) (int32, bool) {
	if d, ok := s.times.Date(str); ok || !s.times.FallsBack() {
		return d, ok
	}
	days, err := strconv.ParseInt(unsafeString(str), 10, 32)
	return int32(days), err == nil
}
