package interval

import "github.com/millrace/millrace/internal/errclass"

// MicrosPerMonth is how long a month counts where an interval is turned into a duration: 31 days.
const MicrosPerMonth = 31 * MicrosPerDay

// ParseTrigger reads a trigger's interval and gives its length in milliseconds. It may be zero, and has no months and no
// minus sign.
func ParseTrigger(text string) (millis int64, err error) {
	iv, err := Parse(text)
	if err != nil {
		return 0, err
	}
	if iv.Months != 0 {
		return 0, errclass.New("INVALID_TRIGGER_INTERVAL.MONTHS", "interval", text)
	}
	micros, ok := iv.Duration()
	if !ok {
		return 0, errclass.New("INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION", "input", text)
	}
	if micros < 0 {
		return 0, errclass.New("INVALID_TRIGGER_INTERVAL.NEGATIVE", "interval", text)
	}
	return micros / MicrosPerMilli, nil
}

// Duration is the length in microseconds, a month counted as 31 days and a day as 24 hours; ok is false when it does not fit.
func (iv Interval) Duration() (micros int64, ok bool) {
	r := Interval{Micros: iv.Micros}
	ok = addMicros(&r, int64(iv.Days), MicrosPerDay) && addMicros(&r, int64(iv.Months), MicrosPerMonth)
	return r.Micros, ok
}
