package datetime

// Microseconds in the units of fixed length.
const (
	Millisecond = 1000
	Second      = 1000 * Millisecond
	Minute      = 60 * Second
	Hour        = 60 * Minute
	Day         = 24 * Hour
)

// FloorDiv divides rounding down, so that times before 1970 fall into the right unit.
func FloorDiv(x, y int64) int64 {
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

// FloorMod is the remainder that goes with FloorDiv.
func FloorMod(x, y int64) int64 {
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// DaysOf gives the days since 1970-01-01 of a date. Months and days outside of their range carry over.
func DaysOf(year, month, day int64) int64 {
	year += FloorDiv(month-1, 12)
	month = FloorMod(month-1, 12) + 1
	if month <= 2 {
		year--
	}
	era := FloorDiv(year, 400)
	yoe := year - era*400
	doy := (153*((month+9)%12)+2)/5 + day - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// Civil gives the date of a day number.
func Civil(days int64) (year, month, day int) {
	z := days + 719468
	era := FloorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	y := yoe + era*400
	if m <= 2 {
		y++
	}
	return int(y), int(m), int(d)
}

// IsLeap tells leap years.
func IsLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

var monthLengths = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// MonthLength is the number of days in a month.
func MonthLength(year, month int) int {
	if month == 2 && IsLeap(year) {
		return 29
	}
	return monthLengths[month-1]
}

// Valid tells whether the date exists.
func Valid(year, month, day int) bool {
	return month >= 1 && month <= 12 && day >= 1 && day <= MonthLength(year, month)
}

// AddMonths moves a day by months and keeps the day of the month where that exists, else takes the month's last.
func AddMonths(days, months int64) int64 {
	y, m, d := Civil(days)
	total := int64(y)*12 + int64(m-1) + months
	ny, nm := FloorDiv(total, 12), FloorMod(total, 12)+1
	return DaysOf(ny, nm, int64(min(d, MonthLength(int(ny), int(nm)))))
}

// DayOfYear counts from 1.
func DayOfYear(days int64) int {
	y, _, _ := Civil(days)
	return int(days-DaysOf(int64(y), 1, 1)) + 1
}

// Weekday counts from 0 for Monday to 6 for Sunday.
func Weekday(days int64) int { return int(FloorMod(days+3, 7)) }

// ISOWeek gives the week of the ISO calendar and the year that it belongs to.
func ISOWeek(days int64) (year, week int) {
	thursday := days - int64(Weekday(days)) + 3
	y, _, _ := Civil(thursday)
	return y, int(thursday-DaysOf(int64(y), 1, 1))/7 + 1
}
