package numtext

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/decimal"
)

func TestAppendFloat(t *testing.T) {
	tests := []struct {
		f    float64
		bits int
		want string
	}{
		{0, 64, "0.0"},
		{math.Copysign(0, -1), 64, "-0.0"},
		{1, 64, "1.0"},
		{-1.5, 64, "-1.5"},
		{100, 64, "100.0"},
		{9999999, 64, "9999999.0"},
		{1e7, 64, "1.0E7"},
		{12345678, 64, "1.2345678E7"},
		{0.001, 64, "0.001"},
		{0.0001, 64, "1.0E-4"},
		{1.25e-10, 64, "1.25E-10"},
		{-1e300, 64, "-1.0E300"},
		{math.NaN(), 64, "NaN"},
		{math.Inf(1), 64, "Infinity"},
		{math.Inf(-1), 64, "-Infinity"},
		{float64(float32(0.1)), 32, "0.1"},
		{float64(float32(16777216)), 32, "1.6777216E7"},
		{math.MaxFloat64, 64, "1.7976931348623157E308"},
	}
	for _, tt := range tests {
		if got := string(AppendFloat(nil, tt.f, tt.bits)); got != tt.want {
			t.Errorf("AppendFloat(%v, %d) = %s, want %s", tt.f, tt.bits, got, tt.want)
		}
	}
}

func TestAppendDecimal(t *testing.T) {
	tests := []struct {
		x     int64
		scale int
		want  string
	}{
		{0, 0, "0"}, {0, 2, "0.00"}, {1250, 2, "12.50"}, {-5, 3, "-0.005"}, {1, 6, "0.000001"}, {1, 7, "1E-7"}, {-123, 10, "-1.23E-8"}, {0, 8, "0E-8"},
	}
	for _, tt := range tests {
		if got := string(AppendDecimal(nil, decimal.FromInt64(tt.x), tt.scale)); got != tt.want {
			t.Errorf("AppendDecimal(%d, %d) = %s, want %s", tt.x, tt.scale, got, tt.want)
		}
	}
}

func TestFloatsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		got, ok := ParseFloat(AppendFloat(nil, f, 64), 64)
		if !ok || got != f {
			t.Fatalf("%v printed and read back is %v, %t", f, got, ok)
		}
	})
}

func TestParseFloat(t *testing.T) {
	for s, want := range map[string]string{
		" 1.5 ": "1.5", "1d": "1", "1.5F": "1.5", "NaN": "NaN", "-inf": "-Inf", "Infinity": "+Inf", "1e400": "+Inf", ".5": "0.5", "5.": "5",
		"": "no", "x": "no", "1_0": "no", "0x": "no", "1 2": "no", "d": "no",
	} {
		f, ok := ParseFloat([]byte(s), 64)
		got := "no"
		if ok {
			got = strconv.FormatFloat(f, 'g', -1, 64)
		}
		if got != want {
			t.Errorf("ParseFloat(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestParseInt(t *testing.T) {
	tests := []struct {
		s        string
		fraction bool
		want     int64
		ok       bool
	}{
		{"12", false, 12, true},
		{" -12 ", false, -12, true},
		{"+3", false, 3, true},
		{"", false, 0, false},
		{"1.5", false, 0, false},
		{"1.5", true, 1, true},
		{"1.x", true, 0, false},
		{"9223372036854775807", false, math.MaxInt64, true},
		{"-9223372036854775808", false, math.MinInt64, true},
		{"9223372036854775808", false, 0, false},
		{"99999999999999999999", false, 0, false},
		{"1e3", false, 0, false},
	}
	for _, tt := range tests {
		got, ok := ParseInt([]byte(tt.s), tt.fraction)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("ParseInt(%q, %t) = %d, %t; want %d, %t", tt.s, tt.fraction, got, ok, tt.want, tt.ok)
		}
	}
}

func TestParseBool(t *testing.T) {
	for s, want := range map[string]string{"true": "true", " T ": "true", "yes": "true", "1": "true", "No": "false", "0": "false", "f": "false", "": "no", "2": "no", "truely": "no"} {
		v, ok := ParseBool([]byte(s))
		got := "no"
		if ok {
			got = strconv.FormatBool(v)
		}
		if got != want {
			t.Errorf("ParseBool(%q) = %s, want %s", s, got, want)
		}
	}
}
