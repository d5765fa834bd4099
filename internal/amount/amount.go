package amount

import (
	"math"
	"strconv"
	"strings"
	"time"
)

var times = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

var sizes = map[string]int64{
	"b": 1, "k": 1 << 10, "kb": 1 << 10, "ki": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "mi": 1 << 20, "mib": 1 << 20,
	"g": 1 << 30, "gb": 1 << 30, "gi": 1 << 30, "gib": 1 << 30, "t": 1 << 40, "tb": 1 << 40, "ti": 1 << 40, "tib": 1 << 40,
	"p": 1 << 50, "pb": 1 << 50, "pi": 1 << 50, "pib": 1 << 50,
}

// Time reads a length of time; a number without a unit counts bare. One that is too long is the longest there is. ok is false for
// what is none.
func Time(text string, bare time.Duration) (d time.Duration, ok bool) {
	n, unit, ok := read(text, bare, times)
	return time.Duration(clampedProduct(n, int64(unit))), ok
}

// TimeIn reads a length of time in whole units of it, which is what a number without a unit counts, too.
func TimeIn(text string, unit time.Duration) (n int64, ok bool) {
	n, from, ok := read(text, unit, times)
	if from >= unit {
		return clampedProduct(n, int64(from/unit)), ok
	}
	return n / int64(unit/from), ok
}

// Bytes reads a size; a number without a unit counts bytes. ok is false for what is none, or is too large.
func Bytes(text string) (n int64, ok bool) { return BytesIn(text, 1) }

// BytesIn reads a size in whole units of so many bytes, which is what a number without a unit counts, too.
func BytesIn(text string, unit int64) (n int64, ok bool) {
	n, from, ok := read(text, unit, sizes)
	if from < unit {
		return n / (unit / from), ok
	}
	all, fits := product(n, from/unit)
	return all, ok && fits
}

// read takes a text apart. The unit is never 0.
func read[T ~int64](text string, bare T, units map[string]T) (n int64, unit T, ok bool) {
	s := strings.ToLower(strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || digits[0] == '+' {
		return 0, bare, false
	}
	if name := s[len(digits):]; name != "" {
		if unit, ok = units[name]; !ok {
			return 0, bare, false
		}
		return n, unit, true
	}
	return n, bare, true
}

func product(n, by int64) (_ int64, fits bool) {
	all := n * by
	return all, n == 0 || all/n == by
}

// clampedProduct is a product, or the end of what fits.
func clampedProduct(n, by int64) int64 {
	all, fits := product(n, by)
	switch {
	case fits:
		return all
	case n < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
