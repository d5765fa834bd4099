package amount

import (
	"math"
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10": 10 * time.Second, " 10S ": 10 * time.Second, "7us": 7 * time.Microsecond, "500ms": 500 * time.Millisecond, "2m": 2 * time.Minute,
		"2min": 2 * time.Minute, "12h": 12 * time.Hour, "7d": 168 * time.Hour, "-1s": -time.Second, "0": 0,
		"200000d": math.MaxInt64, "-200000d": math.MinInt64,
	} {
		if got, ok := Time(text, time.Second); !ok || got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "s", "soon", "10 s", "1.5s", "1m30s", "10 minutes", "1y", "+1s", "9223372036854775808us"} {
		if got, ok := Time(text, time.Second); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"100": 100, "100b": 100, "1k": 1 << 10, "1KB": 1 << 10, "512m": 512 << 20, "2mb": 2 << 20, " 1g ": 1 << 30, "1kib": 1 << 10, "1tb": 1 << 40, "3p": 3 << 50, "-1": -1,
	} {
		if got, ok := Bytes(text); !ok || got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"", "g", "plenty", "1 g", "1.5g", "1x", "8192p", "99999999999t"} {
		if got, ok := Bytes(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "999ms": 0, "1500ms": 1, "-1500ms": -1, "2m": 120, "106751991167301d": math.MaxInt64} {
		if got, ok := TimeIn(text, time.Second); !ok || got != want {
			t.Errorf("%q is %d s, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int64{"7": 7, "1023k": 0, "2048k": 2, "1g": 1024, "8192p": 1 << 43} {
		if got, ok := BytesIn(text, 1<<20); !ok || got != want {
			t.Errorf("%q is %d MiB, want %d", text, got, want)
		}
	}
	if got, ok := BytesIn("9223372036854775807p", 1<<20); ok {
		t.Errorf("too large a size is %d", got)
	}
}
