package amount

import (
	"strconv"
	"strings"
	"time"
)

var times = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

var sizes = map[string]int64{
	"b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30, "t": 1 << 40, "tb": 1 << 40,
	"p": 1 << 50, "pb": 1 << 50,
}

// Time reads a length of time; a number without a unit counts bare. ok is false for what is none, or is too long.
func Time(text string, bare time.Duration) (d time.Duration, ok bool) { return read(text, bare, times) }

// Bytes reads a size; a number without a unit counts bytes. ok is false for what is none, or is too large.
func Bytes(text string) (n int64, ok bool) { return read(text, 1, sizes) }

func read[T ~int64](text string, unit T, units map[string]T) (T, bool) {
	s := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, false
	}
	if name := s[len(digits):]; name != "" {
		known := false
		if unit, known = units[name]; !known {
			return 0, false
		}
	}
	all := T(n) * unit
	if n != 0 && all/T(n) != unit {
		return 0, false
	}
	return all, true
}
