package datetime

import (
	"encoding/json"
	"os"
	"testing"
)

func TestJulianDays(t *testing.T) {
	for _, c := range []struct{ day, year, month, date int64 }{
		{-719164, 1, 1, 1},
		{-719162, 1, 1, 3},
		{-141428, 1582, 10, 4},
		{-141438, 1582, 9, 24},
		{-171498, 1500, 6, 6},
		{-171596, 1500, 2, 29}, // which today's calendar does not have
		{-171595, 1500, 3, 1},
	} {
		if got, want := julian(c.day), DaysOf(c.year, c.month, c.date); got != want {
			t.Errorf("%d: %d, not %d", c.day, got, want)
		}
	}
}

// Days as Spark 4.2.0 writes them into files of the old calendar.
func TestOldDays(t *testing.T) {
	for _, c := range []struct {
		year, month, date int64
		want              int32
	}{
		{-5, 3, 1, -721297},
		{1, 1, 1, -719164},
		{999, 12, 31, -354281},
		{1500, 2, 28, -171597},
		{1500, 3, 1, -171595},
		{1582, 10, 4, -141428},
		{1582, 10, 5, -141427},
		{1582, 10, 10, -141427},
		{1582, 10, 14, -141427},
		{1582, 10, 15, -141427},
		{1900, 1, 1, -25567},
		{2020, 1, 1, 18262},
	} {
		day := int32(DaysOf(c.year, c.month, c.date))
		if got, ok := Legacy.OldDay(day); got != c.want || !ok {
			t.Errorf("%d-%d-%d is %d, not %d", c.year, c.month, c.date, got, c.want)
		}
		if _, ok := Exception.OldDay(day); ok != (day >= firstDay) {
			t.Errorf("%d-%d-%d: %t", c.year, c.month, c.date, ok)
		}
	}
}

// Times as Spark 4.2.0 writes them: testdata/old_times.json has by zone how many seconds each is moved. A file that is read again gives
// the times that were written, but for those of days that the old calendar does not have.
func TestOldTimes(t *testing.T) {
	text, err := os.ReadFile("testdata/old_times.json")
	if err != nil {
		t.Fatal(err)
	}
	var spark struct {
		Seconds []int64
		Moved   map[string][]int64
	}
	if err := json.Unmarshal(text, &spark); err != nil {
		t.Fatal(err)
	}
	// Releases of the time zone database differ about the past of these.
	for _, name := range []string{"Antarctica/Vostok", "Asia/Manila", "Europe/Amsterdam"} {
		delete(spark.Moved, name)
	}
	for name, moved := range spark.Moved {
		zone, ok := ParseZone(name)
		if !ok {
			t.Errorf("no zone %s", name)
			continue
		}
		for i, at := range spark.Seconds {
			micros := at * Second
			old, ok := Legacy.OldMicros(micros, zone)
			if got := (old - micros) / Second; got != moved[i] || !ok {
				t.Errorf("%s: %d is moved by %d s, not %d", name, at, got, moved[i])
			}
			again, ok := Legacy.Micros(old, zone)
			gap := micros >= firstDay*Day-11*Day && micros < firstDay*Day+Day
			if again != micros && !gap && old < firstTime || !ok {
				t.Errorf("%s: %d is %d s later when it is read again", name, at, (again-micros)/Second)
			}
		}
	}
}
