package amount

import (
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10": 10 * time.Second, " 10S ": 10 * time.Second, "7us": 7 * time.Microsecond, "500ms": 500 * time.Millisecond, "2m": 2 * time.Minute,
		"2min": 2 * time.Minute, "12h": 12 * time.Hour, "7d": 168 * time.Hour, "-1s": -time.Second, "0": 0,
	} {
		if got, ok := Time(text, time.Second); !ok || got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "s", "soon", "10 s", "1.5s", "1m30s", "10 minutes", "1y", "200000d", "9223372036854775808us"} {
		if got, ok := Time(text, time.Second); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"100": 100, "100b": 100, "1k": 1 << 10, "1KB": 1 << 10, "512m": 512 << 20, "2mb": 2 << 20, " 1g ": 1 << 30, "1tb": 1 << 40, "3p": 3 << 50, "-1": -1,
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
