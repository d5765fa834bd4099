package interval

import (
	"errors"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
)

func class(err error) string {
	if e, ok := errors.AsType[*errclass.Error](err); ok {
		return e.Class
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want Interval
		fail string
	}{
		{"5 minutes", Interval{Micros: 300e6}, ""},
		{"5 MINUTES", Interval{Micros: 300e6}, ""},
		{"interval 1 hour 30 minutes", Interval{Micros: 5400e6}, ""},
		{"  1.5 seconds ", Interval{Micros: 1500000}, ""},
		{"-1.5 seconds", Interval{Micros: -1500000}, ""},
		{".25 second", Interval{Micros: 250000}, ""},
		{"- 1 minute", Interval{Micros: -60e6}, ""},
		{"1 week 2 days", Interval{Days: 9}, ""},
		{"1 year -1 month", Interval{Months: 11}, ""},
		{"3 milliseconds 4 microseconds", Interval{Micros: 3004}, ""},
		{"0 seconds", Interval{}, ""},
		{"", Interval{}, "INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY"},
		{"interval", Interval{}, "INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY"},
		{"interval1 day", Interval{}, "INVALID_INTERVAL_FORMAT.INVALID_PREFIX"},
		{"5", Interval{}, "INVALID_INTERVAL_FORMAT.MISSING_UNIT"},
		{"five minutes", Interval{}, "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER"},
		{"1 fortnight", Interval{}, "INVALID_INTERVAL_FORMAT.INVALID_UNIT"},
		{"1 dayss", Interval{}, "INVALID_INTERVAL_FORMAT.INVALID_UNIT"},
		{"1day", Interval{}, "INVALID_INTERVAL_FORMAT.INVALID_VALUE"},
		{"1 day -", Interval{}, "INVALID_INTERVAL_FORMAT.MISSING_NUMBER"},
		{"1.5 minutes", Interval{}, "INVALID_INTERVAL_FORMAT.INVALID_FRACTION"},
		{"1.1234567891 seconds", Interval{}, "INVALID_INTERVAL_FORMAT.INVALID_PRECISION"},
		{"999999999999 years", Interval{}, "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION"},
	} {
		got, err := Parse(c.text)
		if class(err) != c.fail || got != c.want {
			t.Errorf("%q: %+v %v, want %+v %s", c.text, got, err, c.want, c.fail)
		}
	}
	if _, err := ParseCalendar("five minutes"); class(err) != "CANNOT_PARSE_INTERVAL" {
		t.Error(err)
	}
}

func TestParseTrigger(t *testing.T) {
	for text, want := range map[string]int64{"10 seconds": 10000, "0 seconds": 0, "1 minute 500 milliseconds": 60500, "1 day": 86400000} {
		if got, err := ParseTrigger(text); err != nil || got != want {
			t.Errorf("%q: %d %v, want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"1 month":    "INVALID_TRIGGER_INTERVAL.MONTHS",
		"-1 seconds": "INVALID_TRIGGER_INTERVAL.NEGATIVE",
		"10":         "INVALID_INTERVAL_FORMAT.MISSING_UNIT",
		"soon":       "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER",
	} {
		if _, err := ParseTrigger(text); class(err) != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestString(t *testing.T) {
	for want, iv := range map[string]Interval{
		"0 seconds": {},
		"1 years 2 months 25 days 5 hours 6 minutes 7.5 seconds": {14, 25, 5*MicrosPerHour + 6*MicrosPerMinute + 7500000},
		"-10 months -17 days -4 hours -54 minutes -7.5 seconds":  {-10, -17, -(4*MicrosPerHour + 54*MicrosPerMinute + 7500000)},
		"-0.000001 seconds": {Micros: -1},
	} {
		if got := iv.String(); got != want {
			t.Errorf("%+v: %q, want %q", iv, got, want)
		}
	}
}

func TestANSI(t *testing.T) {
	for _, c := range []struct {
		text, print string
		start, end  uint8
	}{
		{"1 2:3:4.5", "INTERVAL '1 02:03:04.5' DAY TO SECOND", Day, Second},
		{"-1 2:3:4.567891", "INTERVAL '-1 02:03:04.567891' DAY TO SECOND", Day, Second},
		{"INTERVAL -'1 2:3:4' day  to second", "INTERVAL '-1 02:03:04' DAY TO SECOND", Day, Second},
		{"10:30", "INTERVAL '10:30' HOUR TO MINUTE", Hour, Minute},
		{"90", "INTERVAL '90' MINUTE", Minute, Minute},
		{"1", "INTERVAL '1' DAY", Day, Day},
		{"1.5", "INTERVAL '01.5' SECOND", Second, Second},
		{"-0.5", "INTERVAL '-00.5' SECOND", Second, Second},
	} {
		v, ok := ParseDayTime(c.text, c.start, c.end)
		if got := string(AppendDayTime(nil, v, c.start, c.end)); !ok || got != c.print {
			t.Errorf("%q: %v %s, want %s", c.text, ok, got, c.print)
		}
		if again, ok := ParseDayTime(c.print, c.start, c.end); !ok || again != v {
			t.Errorf("%q read back: %v %d, want %d", c.print, ok, again, v)
		}
	}
	for _, bad := range []string{"x", "", "1 24:00:00", "1 2:3", "INTERVAL '1 2:3:4' DAY TO HOUR", "1 2:3:4.1234567890"} {
		if v, ok := ParseDayTime(bad, Day, Second); ok {
			t.Errorf("%q: %d", bad, v)
		}
	}
	for _, c := range []struct {
		text, print string
		start, end  uint8
	}{
		{"1-2", "INTERVAL '1-2' YEAR TO MONTH", Year, Month},
		{"-1-2", "INTERVAL '-1-2' YEAR TO MONTH", Year, Month},
		{"14", "INTERVAL '14' MONTH", Month, Month},
		{"3", "INTERVAL '3' YEAR", Year, Year},
	} {
		v, ok := ParseYearMonth(c.text, c.start, c.end)
		if got := string(AppendYearMonth(nil, v, c.start, c.end)); !ok || got != c.print {
			t.Errorf("%q: %v %s, want %s", c.text, ok, got, c.print)
		}
		if again, ok := ParseYearMonth(c.print, c.start, c.end); !ok || again != v {
			t.Errorf("%q read back: %v %d, want %d", c.print, ok, again, v)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("interval 1 day -2.5 seconds")
	f.Fuzz(func(t *testing.T, s string) {
		iv, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(iv.String()); err != nil || again != iv {
			t.Errorf("%q: %v, read back %v %v", s, iv, again, err)
		}
	})
}
