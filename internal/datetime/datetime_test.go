package datetime

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
)

// anyDay draws days of years 1 to 9999, mostly.
func anyDay(t *rapid.T) int64 { return rapid.Int64Range(-800000, 2900000).Draw(t, "day") }

func TestCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDay(t)
		at := time.Unix(d*86400, 0).UTC()
		y, m, dd := Civil(d)
		if y != at.Year() || m != int(at.Month()) || dd != at.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", d, y, m, dd, at)
		}
		if back := DaysOf(int64(y), int64(m), int64(dd)); back != d {
			t.Fatalf("%d-%d-%d is day %d, want %d", y, m, dd, back, d)
		}
		if DayOfYear(d) != at.YearDay() || (Weekday(d)+1)%7 != int(at.Weekday()) {
			t.Fatalf("day %d: day of year %d, weekday %d", d, DayOfYear(d), Weekday(d))
		}
		wy, w := at.ISOWeek()
		if gy, gw := ISOWeek(d); gy != wy || gw != w {
			t.Fatalf("day %d: week %d of %d, want %d of %d", d, gw, gy, w, wy)
		}
		months := rapid.Int64Range(-2000, 2000).Draw(t, "months")
		moved := AddMonths(d, months)
		my, mm, md := Civil(moved)
		if int64(my*12+mm)-int64(y*12+m) != months || md > dd || md < dd && md != MonthLength(my, mm) {
			t.Fatalf("%d-%d-%d and %d months is %d-%d-%d", y, m, dd, months, my, mm, md)
		}
	})
}

func TestZones(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Australia/Lord_Howe", "+05:30", "Pacific/Apia"} {
		loc, ok := ParseZone(name)
		if !ok {
			t.Fatalf("no zone %s", name)
		}
		z := NewZone(loc)
		rapid.Check(t, func(t *rapid.T) {
			instant := rapid.Int64Range(-5e15, 5e15).Draw(t, "instant")
			_, off := time.UnixMicro(instant).In(loc).Zone()
			if got := z.Offset(instant); got != int64(off)*Second {
				t.Fatalf("%s: offset at %d is %d, want %d", name, instant, got, off)
			}
			// What is shown for an instant means that instant or, where clocks were put back, the earlier one that looks alike.
			back := z.Instant(z.Local(instant))
			if back != instant && (back > instant || z.Local(back) != z.Local(instant)) {
				t.Fatalf("%s: %d reads back as %d", name, instant, back)
			}
		})
	}
	for _, bad := range []string{"", "Nowhere/Land", "+19:00", "+1:2:3:4", "Local", "GMT+", "+x"} {
		if loc, ok := ParseZone(bad); ok {
			t.Errorf("%q is %v", bad, loc)
		}
	}
}

// TestGap checks the day on which an hour does not exist and the one on which it comes twice.
func TestGap(t *testing.T) {
	loc, _ := ParseZone("America/Los_Angeles")
	local := func(s string) int64 {
		x, ok := ParseText([]byte(s))
		if !ok {
			t.Fatal(s)
		}
		return x.Local
	}
	for s, want := range map[string]string{
		"2020-03-08 02:30:00": "2020-03-08 10:30:00", // moved on by the gap
		"2020-11-01 01:30:00": "2020-11-01 08:30:00", // the first of the two
		"2020-03-08 03:00:00": "2020-03-08 10:00:00",
		"2020-11-01 02:00:00": "2020-11-01 10:00:00",
	} {
		if got := string(AppendTimestamp(nil, NewZone(loc).Instant(local(s)))); got != want {
			t.Errorf("%s is %s, want %s", s, got, want)
		}
	}
}

func TestTextsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		local := rapid.Int64Range(-9e18, 9e18).Draw(t, "local")
		s := AppendTimestamp(nil, local)
		if x, ok := ParseText(s); !ok || x.Local != local {
			t.Fatalf("%s is read back as %v %v", s, x, ok)
		}
		days := int32(rapid.Int64Range(-1<<30, 1<<30).Draw(t, "days"))
		d := AppendDate(nil, int64(days))
		if x, ok := ParseDate(d); len(d) <= 14 && (!ok || x != days) {
			t.Fatalf("%s is read back as %d %v, not %d", d, x, ok, days)
		}
	})
}

func TestPatternsReadBack(t *testing.T) {
	berlin, _ := ParseZone("Europe/Berlin")
	for _, p := range []string{
		"yyyy-MM-dd HH:mm:ss.SSSSSS XXX", "dd/MMM/yyyy hh:mm:ss.SSSSSS a xx", "yyyyMMddHHmmss'.'SSSSSS[ ]VV", "yyyy-DDD kk:mm:ss.SSSSSS O",
		"G yyyy MMMM d K:m:s.SSSSSS a Z",
	} {
		print, err := Compile(p, false)
		if err != nil {
			t.Fatal(p, err)
		}
		read, err := Compile(p, true)
		if err != nil {
			t.Fatal(p, err)
		}
		z := NewZone(berlin)
		rapid.Check(t, func(t *rapid.T) {
			instant := rapid.Int64Range(-2e15, 4e15).Draw(t, "instant")
			s := print.Append(nil, instant, z)
			got, ok := read.Parse(s, NewZone(nil))
			if ok && got != instant && strings.Contains(p, "VV") && z.Local(got) == z.Local(instant) {
				return // a region does not tell which of two equal hours is meant
			}
			if z.Offset(instant)%Minute != 0 && !strings.Contains(p, "VV") {
				return // these patterns do not print seconds of the offset
			}
			if !ok || got != instant {
				t.Fatalf("%s: %q is read back as %d %v, not %d", p, s, got, ok, instant)
			}
		})
	}
}

func TestPatternErrors(t *testing.T) {
	for p, want := range map[string]string{
		"yyyy'": "INVALID_DATETIME_PATTERN.WITH_SUGGESTION", "A": "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER",
		"e": "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN", "YYYY": "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
		"MMMMM": "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION", "yyyy]": "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
	} {
		_, err := Compile(p, false)
		if e, ok := errors.AsType[*errclass.Error](err); !ok || e.Class != want {
			t.Errorf("%s: %v, want %s", p, err, want)
		}
	}
}

func FuzzParseText(f *testing.F) {
	for _, s := range []string{"2020-01-02 03:04:05.678 Europe/Paris", "T3:4", "-0001-1-1", "2020-12-31T23:59:59Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, ok := ParseText([]byte(s))
		if !ok || !x.HasDate {
			return
		}
		if again, ok := ParseText(AppendTimestamp(nil, x.Local)); !ok || again.Local != x.Local {
			t.Errorf("%q is %d, read back %v %v", s, x.Local, again, ok)
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add("yyyy-MM-dd HH:mm:ss", "2020-01-02 03:04:05")
	f.Add("[d]['x']MMM G", "3 Jan AD")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := Compile(pattern, true)
		if err != nil {
			return
		}
		p.Parse([]byte(text), NewZone(nil))
		p.Append(nil, 1577836800e6, NewZone(nil))
	})
}

func BenchmarkPattern(b *testing.B) {
	p, err := Compile("yyyy-MM-dd HH:mm:ss", true)
	if err != nil {
		b.Fatal(err)
	}
	z := NewZone(nil)
	text := []byte("2020-01-02 03:04:05")
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			p.Parse(text, z)
		}
	})
	var buf []byte
	b.Run("format", func(b *testing.B) {
		for b.Loop() {
			buf = p.Append(buf[:0], 1577836800e6, z)
		}
	})
}
