package jsonrow

import (
	"strconv"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
)

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
		v, next, ok := numtext.ShortInt(text, i)
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
