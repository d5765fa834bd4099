package datetime

import "testing"

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
