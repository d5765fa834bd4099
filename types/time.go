package types

import (
	"strconv"
	"time"
)

const (
	secondsPerDay  = 24 * 60 * 60
	microsPerDay   = secondsPerDay * 1e6
	nanosPerDay    = secondsPerDay * 1e9
	nanosPerMicro  = 1000
	microsPerMilli = 1000
)

// DaysOf is the date of an instant in the time zone that it carries.
func DaysOf(t time.Time) Days {
	return Days(floorDiv(wall(t).Unix(), secondsPerDay))
}

// Time is midnight UTC of the date.
func (d Days) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// String prints the date as Spark does: 2026-01-31, +12026-01-31 beyond four digits.
func (d Days) String() string { return string(appendDate(nil, d.Time())) }

// MicrosOf is the instant, cut to microseconds.
func MicrosOf(t time.Time) Micros { return Micros(t.UnixMicro()) }

// Time is the instant in UTC.
func (m Micros) Time() time.Time { return time.UnixMicro(int64(m)).UTC() }

// String prints the instant in UTC.
func (m Micros) String() string { return m.In(time.UTC) }

// In prints the instant in a time zone as Spark does: date, blank, time of day, and a fraction
// without the zeros at its end.
func (m Micros) In(zone *time.Location) string {
	return string(AppendTimestamp(nil, time.UnixMicro(int64(m)).In(zone)))
}

// MicrosNTZOf is the date and time of day that a clock in the zone of t shows.
func MicrosNTZOf(t time.Time) MicrosNTZ { return MicrosNTZ(wall(t).UnixMicro()) }

// Time is the date and time of day, in UTC.
func (m MicrosNTZ) Time() time.Time { return time.UnixMicro(int64(m)).UTC() }

// String prints date and time of day as Spark does.
func (m MicrosNTZ) String() string { return string(AppendTimestamp(nil, m.Time())) }

// TimeOfDayOf is the time of day of an instant in the time zone that it carries.
func TimeOfDayOf(t time.Time) TimeOfDay {
	h, m, s := t.Clock()
	return TimeOfDay(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second +
		time.Duration(t.Nanosecond()))
}

// Duration is the time since midnight.
func (t TimeOfDay) Duration() time.Duration { return time.Duration(t) }

// String prints the time of day with a fraction of up to nine digits.
func (t TimeOfDay) String() string {
	return string(appendClock(nil, time.Unix(0, int64(t)).UTC()))
}

// Duration is the interval; it is cut at some 292 years.
func (d DayTime) Duration() time.Duration {
	const limit = int64(1<<63-1) / nanosPerMicro
	return time.Duration(max(-limit, min(int64(d), limit)) * nanosPerMicro)
}

// DayTimeOf is the duration, cut to microseconds.
func DayTimeOf(d time.Duration) DayTime { return DayTime(d.Microseconds()) }

// wall gives the instant at which a clock in UTC shows what t's clock shows.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// AppendTimestamp appends "2026-01-31 12:00:00.5" of t in its own time zone.
func AppendTimestamp(b []byte, t time.Time) []byte {
	return appendClock(append(appendDate(b, t), ' '), t)
}

func appendDate(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	switch {
	case year < 0:
		b = appendPadded(append(b, '-'), -year, 4)
	case year > 9999:
		b = appendPadded(append(b, '+'), year, 5)
	default:
		b = appendPadded(b, year, 4)
	}
	b = appendPadded(append(b, '-'), int(month), 2)
	return appendPadded(append(b, '-'), day, 2)
}

func appendClock(b []byte, t time.Time) []byte {
	h, m, s := t.Clock()
	b = appendPadded(b, h, 2)
	b = appendPadded(append(b, ':'), m, 2)
	b = appendPadded(append(b, ':'), s, 2)
	if n := t.Nanosecond(); n > 0 {
		b = appendPadded(append(b, '.'), n, 9)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b
}

func appendPadded(b []byte, n, width int) []byte {
	digits := strconv.Itoa(n)
	for range width - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}
