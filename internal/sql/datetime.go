package sql

import (
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/datetime"
)

const (
	microsPerSecond = 1_000_000
	secondsPerDay   = 24 * 60 * 60
	microsPerDay    = secondsPerDay * microsPerSecond
)

// clock is a date and a time of day as written, with the zone behind it, if any.
type clock struct {
	year, month, day     int
	hour, minute, second int
	nanos                int
	onlyTime             bool // no date was written: it is today's
	zone                 string
}

// scanInt reads digits at the start of s, from least to most of them.
func scanInt(s string, least, most int) (v int, rest string, ok bool) {
	n := digits(s)
	if n < least || n > most {
		return 0, s, false
	}
	v, err := strconv.Atoi(s[:n])
	return v, s[n:], err == nil
}

// parseClock reads [+-]yyyy[-m[-d]] with a time behind a blank or a T: h:m[:s[.fraction]] and a zone. Parts that are left out
// are the first of their kind.
func parseClock(s string) (c clock, ok bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	c.month, c.day = 1, 1
	rest, timeFollows, ok := c.scanDate(s)
	if !ok {
		rest = strings.TrimPrefix(s, "T")
		if i := strings.IndexByte(rest, ':'); i < 1 || i > 2 || digits(rest) != i {
			return c, false
		}
		c.onlyTime, timeFollows = true, true
	}
	if !timeFollows {
		return c, rest == ""
	}
	if strings.TrimSpace(rest) == "" {
		return c, true
	}
	return c, c.scanTime(rest)
}

// scanDate reads the date; timeFollows tells that its end was a blank or a T.
func (c *clock) scanDate(s string) (rest string, timeFollows, ok bool) {
	sign := 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if c.year, s, ok = scanInt(s, 4, 7); !ok {
		return s, false, false
	}
	c.year *= sign
	for _, field := range []*int{&c.month, &c.day} {
		if s == "" {
			return s, false, true
		}
		if s[0] != '-' {
			break
		}
		if *field, s, ok = scanInt(s[1:], 1, 2); !ok {
			return s, false, false
		}
	}
	if s == "" {
		return s, false, true
	}
	if s[0] != ' ' && s[0] != 'T' {
		return s, false, false
	}
	return s[1:], true, true
}

func (c *clock) scanTime(s string) (ok bool) {
	if c.hour, s, ok = scanInt(s, 1, 2); !ok {
		return false
	}
	for i, field := range []*int{&c.minute, &c.second} {
		if !strings.HasPrefix(s, ":") {
			if i == 0 {
				return false
			}
			break
		}
		if *field, s, ok = scanInt(s[1:], 1, 2); !ok {
			return false
		}
		if i == 1 && strings.HasPrefix(s, ".") {
			n := digits(s[1:])
			frac := (s[1:1+n] + "000000000")[:9]
			c.nanos, _ = strconv.Atoi(frac)
			s = s[1+n:]
		}
	}
	c.zone = strings.TrimSpace(s)
	return c.hour < 24 && c.minute < 60 && c.second < 60
}

// days is the date as days since 1970-01-01; ok is false when there is no such day.
func (c *clock) days() (int64, bool) {
	t := time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, time.UTC)
	if c.month < 1 || c.month > 12 || t.Day() != c.day || t.Month() != time.Month(c.month) {
		return 0, false
	}
	sec := t.Unix()
	return sec / secondsPerDay, true // midnight: divides without rest
}

// local is the time as microseconds since 1970-01-01 00:00 on the same clock.
func (c *clock) local() (int64, bool) {
	d, ok := c.days()
	if !ok || d > maxDay || d < -maxDay {
		return 0, false
	}
	return d*microsPerDay + c.micros(), true
}

// maxDay keeps microseconds within 64 bits.
const maxDay = 106_000_000

func (c *clock) micros() int64 {
	return int64(c.hour*3600+c.minute*60+c.second)*microsPerSecond + int64(c.nanos/1000)
}

// instant is the time as microseconds since 1970-01-01 UTC, in the zone that was written or else in the given one.
func (c *clock) instant(zone *time.Location, now time.Time) (int64, bool) {
	if c.zone != "" {
		var ok bool
		if zone, ok = parseZone(c.zone); !ok {
			return 0, false
		}
	}
	if c.onlyTime {
		y, m, d := now.In(zone).Date()
		c.year, c.month, c.day = y, int(m), d
	}
	local, ok := c.local()
	if !ok {
		return 0, false
	}
	return datetime.NewZone(zone).Instant(local), true
}

// parseZone reads a time zone: Z, an offset with or without UTC or GMT before it, or the name of a region.
func parseZone(s string) (*time.Location, bool) {
	switch s {
	case "Z", "UTC", "GMT", "UT":
		return time.UTC, true
	}
	off := s
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && rest != "" && (rest[0] == '+' || rest[0] == '-') {
			off = rest
			break
		}
	}
	if off[0] == '+' || off[0] == '-' {
		return parseOffset(off)
	}
	if s == "Local" || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/") {
		return nil, false
	}
	loc, err := time.LoadLocation(s)
	return loc, err == nil
}

// parseOffset reads +h, +hh, +hhmm, +h:mm or +hh:mm:ss.
func parseOffset(s string) (*time.Location, bool) {
	sign := 1
	if s[0] == '-' {
		sign = -1
	}
	body := s[1:]
	var h, m, sec int
	ok := true
	if n := digits(body); n == len(body) && n > 2 {
		if n != 4 && n != 6 {
			return nil, false
		}
		h, _ = strconv.Atoi(body[:2])
		m, _ = strconv.Atoi(body[2:4])
		if n == 6 {
			sec, _ = strconv.Atoi(body[4:])
		}
		body = ""
	} else if h, body, ok = scanInt(body, 1, 2); !ok {
		return nil, false
	}
	for _, field := range []*int{&m, &sec} {
		if body == "" {
			break
		}
		if body[0] != ':' {
			return nil, false
		}
		if *field, body, ok = scanInt(body[1:], 1, 2); !ok {
			return nil, false
		}
	}
	total := h*3600 + m*60 + sec
	if body != "" || m > 59 || sec > 59 || total > 18*3600 {
		return nil, false
	}
	return time.FixedZone(s, sign*total), true
}
