package datetime

import "time"

// Rebase says which calendar the days and times of a file are in that lie before 1582.
type Rebase uint8

const (
	// Corrected is today's calendar.
	Corrected Rebase = iota
	// Legacy is the calendar of Spark before 3.0: Julian up to 4 October 1582, and today's from the 15th on.
	Legacy
	// Exception is either of them: what would differ is not read.
	Exception
)

// ParseRebase reads the name of a calendar, which is in capital letters.
func ParseRebase(name string) (Rebase, bool) {
	switch name {
	case "CORRECTED":
		return Corrected, true
	case "LEGACY":
		return Legacy, true
	case "EXCEPTION":
		return Exception, true
	}
	return Corrected, false
}

// RebaseOf is the calendar of a file: of one that tells which version of Spark has written it, and whether that kept to the old
// calendar, what it tells; otherwise the one that an option names, Corrected where it is not set. before is the first version that has
// today's calendar of itself.
func RebaseOf(version string, old bool, before, option string, set bool) (r Rebase, ok bool) {
	switch {
	case version == "" && set:
		return ParseRebase(option)
	case version != "" && (old || version < before):
		return Legacy, true
	}
	return Corrected, true
}

// The first day of today's calendar, and the first time that all zones are agreed about.
const (
	firstDay  = -141427
	firstTime = -2208988800 * Second
)

// Day is a day of a file in today's calendar; ok is false when it may mean two days.
func (r Rebase) Day(day int32) (_ int32, ok bool) {
	if r == Corrected || day >= firstDay {
		return day, true
	}
	return int32(julian(int64(day))), r == Legacy
}

// Micros is a time of a file; ok is false when it may mean two times. The file counted days from midnight in the zone.
func (r Rebase) Micros(t int64, zone *time.Location) (_ int64, ok bool) {
	if r == Corrected || t >= firstTime {
		return t, true
	}
	_, offset := time.UnixMicro(t).In(zone).Zone()
	local := t + int64(offset)*Second
	if day := FloorDiv(local, Day); day < firstDay {
		t += (julian(day) - day) * Day
	}
	return t, r == Legacy
}

// julian is the day of today's calendar that has the date which a day has in the Julian one.
func julian(day int64) int64 {
	const march = 719470 // days from 1 March of the year 0, Julian, to 1970
	n := day + march
	cycle := FloorDiv(n, 1461)
	n -= cycle * 1461
	year := min(n/365, 3)
	n -= year * 365
	month := (5*n + 2) / 153
	return DaysOf(cycle*4+year, month+3, n-(153*month+2)/5+1)
}
