package datetime

import (
	"math"
	"sync"
	"time"
)

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

// FileRebase is the calendar of a file by what it tells: which version of Spark has written it, "" for another program, and whether that
// kept to the old calendar. before is the first version that has today's of itself. ok is false for a file that does not tell.
func FileRebase(version string, old bool, before string) (r Rebase, ok bool) {
	if old || version < before {
		r = Legacy
	}
	return r, version != ""
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

// OldDay is a day as a file has it; ok is false when it could be read as another.
func (r Rebase) OldDay(day int32) (_ int32, ok bool) {
	if r == Corrected || day >= firstDay {
		return day, true
	}
	return int32(toJulian(int64(day))), r == Legacy
}

// Micros is a time of a file; ok is false when it may mean two times. The file counted days from midnight in the zone, which had in
// the old calendar its offset of today up to 1900.
func (r Rebase) Micros(t int64, zone *time.Location) (_ int64, ok bool) {
	if r == Corrected || t >= firstTime {
		return t, true
	}
	local := t + standardOffset(zone)
	if day := FloorDiv(local, Day); day < firstDay {
		local += (julian(day) - day) * Day
	}
	return NewZone(zone).Instant(local), r == Legacy
}

// OldMicros is a time as a file has it; ok is false when it could be read as another.
func (r Rebase) OldMicros(t int64, zone *time.Location) (_ int64, ok bool) {
	if r == Corrected || t >= firstTime {
		return t, true
	}
	local := NewZone(zone).Local(t)
	if day := FloorDiv(local, Day); day < firstDay {
		local += (toJulian(day) - day) * Day
	}
	return local - standardOffset(zone), r == Legacy
}

var standards sync.Map // *time.Location → int64

// standardOffset is how far a zone is from UTC outside of summer, in microseconds.
func standardOffset(zone *time.Location) int64 {
	if off, ok := standards.Load(zone); ok {
		return off.(int64)
	}
	const year = 2026
	off := int64(math.MaxInt64)
	for day := range 52 {
		_, sec := time.Date(year, 1, 1+7*day, 0, 0, 0, 0, zone).Zone()
		off = min(off, int64(sec)*Second)
	}
	standards.Store(zone, off)
	return off
}

// march is how many days lie between 1 March of the year 0, Julian, and 1970.
const march = 719470

// julian is the day of today's calendar that has the date which a day has in the Julian one.
func julian(day int64) int64 {
	n := day + march
	cycle := FloorDiv(n, 1461)
	n -= cycle * 1461
	year := min(n/365, 3)
	n -= year * 365
	month := (5*n + 2) / 153
	return DaysOf(cycle*4+year, month+3, n-(153*month+2)/5+1)
}

// toJulian is the day that has the date in the Julian calendar which a day has in today's. Dates that were left out when the calendar
// was changed are the first after it.
func toJulian(day int64) int64 {
	y, m, d := Civil(day)
	year, month := int64(y), int64(m)
	if month < 3 {
		year, month = year-1, month+12
	}
	old := 365*year + FloorDiv(year, 4) + (153*(month-3)+2)/5 + int64(d) - 1 - march
	return min(old, firstDay)
}
