package types

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDecimalTypes(t *testing.T) {
	if d, ok := DecimalFor(Long); !ok || d != (DecimalType{20, 0}) {
		t.Error("BIGINT needs 20 digits")
	}
	if _, ok := DecimalFor(String); ok {
		t.Error("a string is no decimal")
	}
	for _, c := range []struct {
		t     DecimalType
		other DataType
		want  bool
	}{
		{DecimalType{10, 0}, Integer, true},
		{DecimalType{10, 1}, Integer, false},
		{DecimalType{38, 18}, Double, false},
		{DecimalType{12, 3}, DecimalType{10, 2}, true},
		{DecimalType{12, 1}, DecimalType{10, 2}, false},
		{DecimalType{12, 1}, Date, false},
	} {
		if c.t.Holds(c.other) != c.want {
			t.Errorf("%s holds %s: want %t", c.t.SQL(), c.other.SQL(), c.want)
		}
	}
}

func TestDecimalTexts(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "1.50": "1.50", "-.5": "-0.5", "5.": "5", "+7": "7", " 12 ": "12", "1e3": "1000", "1E-2": "0.01",
		"12.34e1": "123.4", "0.00": "0.00", "0e5": "0", "000123": "123",
		"99999999999999999999999999999999999999":   "99999999999999999999999999999999999999",
		"-9999999999999999999.9999999999999999999": "-9999999999999999999.9999999999999999999",
		"-12345678901234567890.1":                  "-12345678901234567890.1",
	} {
		d, ok := ParseDecimal(text)
		if !ok || d.String() != want {
			t.Errorf("%q: %s, %t; want %s", text, d, ok, want)
		}
	}
	for _, text := range []string{
		"", "-", ".", "1.2.3", "a", "1e", "1e99", "0x1", "1 2", "--1", "1_0", "NaN", "1e9999999999",
		strings.Repeat("9", 39), "1e-39", "١",
	} {
		if d, ok := ParseDecimal(text); ok {
			t.Errorf("%q: read as %s", text, d)
		}
	}
}

func dec(t *testing.T, s string) Decimal {
	t.Helper()
	d, ok := ParseDecimal(s)
	if !ok {
		t.Fatalf("%q is no decimal", s)
	}
	return d
}

func TestRescale(t *testing.T) {
	for _, c := range []struct {
		in   string
		t    DecimalType
		want string // empty: does not fit
	}{
		{"1.25", DecimalType{5, 1}, "1.3"},
		{"-1.25", DecimalType{5, 1}, "-1.3"},
		{"1.24", DecimalType{5, 1}, "1.2"},
		{"0.5", DecimalType{5, 0}, "1"},
		{"-0.5", DecimalType{5, 0}, "-1"},
		{"99.5", DecimalType{2, 0}, ""},
		{"9", DecimalType{3, 2}, "9.00"},
		{"10", DecimalType{3, 2}, ""},
		{"0.00000000000000000000000000000000000001", DecimalType{5, 2}, "0.00"},
		{"12345678901234567890.55", DecimalType{21, 1}, "12345678901234567890.6"},
		{"9223372036854775807", DecimalType{38, 5}, "9223372036854775807.00000"},
		{"9223372036854775807", DecimalType{20, 5}, ""},
		{"0", DecimalType{38, 38}, "0.00000000000000000000000000000000000000"},
	} {
		got, ok := dec(t, c.in).Rescale(c.t)
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%s as %s: %s, %t; want %q", c.in, c.t.SQL(), got, ok, c.want)
		}
	}
}

func anyDecimal() *rapid.Generator[Decimal] {
	return rapid.Custom(func(t *rapid.T) Decimal {
		text := rapid.StringMatching("-?[0-9]{1,38}").Draw(t, "digits")
		n, _ := new(big.Int).SetString(text, 10)
		d, _ := DecimalFromBig(n, rapid.IntRange(0, 38).Draw(t, "scale"))
		return d
	})
}

func rat(d Decimal) *big.Rat { return new(big.Rat).SetFrac(d.Big(), pow10Big(d.Scale)) }

func TestDecimalLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, e := anyDecimal().Draw(t, "d"), anyDecimal().Draw(t, "e")
		if back, ok := ParseDecimal(d.String()); !ok || back != d {
			t.Fatalf("%s is read back as %s", d, back)
		}
		if sign(d.Cmp(e)) != rat(d).Cmp(rat(e)) {
			t.Fatalf("%s cmp %s = %d", d, e, d.Cmp(e))
		}
		f, _ := rat(d).Float64()
		if d.Float64() != f {
			t.Fatalf("%s as float: %v, want %v", d, d.Float64(), f)
		}
		if n := len(new(big.Int).Abs(d.Big()).String()); n != d.Precision() {
			t.Fatalf("%s has %d digits, not %d", d, n, d.Precision())
		}
		p := rapid.IntRange(1, 38).Draw(t, "precision")
		dt := DecimalType{p, rapid.IntRange(0, p).Draw(t, "scale")}
		// Half up: the nearest number of that scale, away from zero when there are two.
		scaled := new(big.Rat).Mul(rat(d), new(big.Rat).SetInt(pow10Big(dt.Scale)))
		half := big.NewRat(int64(scaled.Sign()), 2)
		scaled.Add(scaled, half)
		want := new(big.Int).Quo(scaled.Num(), scaled.Denom())
		fits := want.CmpAbs(pow10Big(p)) < 0
		got, ok := d.Rescale(dt)
		if ok != fits || ok && (got.Big().Cmp(want) != 0 || got.Scale != dt.Scale) {
			t.Fatalf("%s as %s: %s, %t; want %s, %t", d, dt.SQL(), got, ok, want, fits)
		}
	})
}

func sign(n int) int { return max(-1, min(n, 1)) }

func TestDecimalInt64(t *testing.T) {
	for _, n := range []int64{0, -1, math.MaxInt64, math.MinInt64} {
		if got, ok := DecimalFromInt64(n, 2).Int64(); !ok || got != n {
			t.Errorf("%d became %d, %t", n, got, ok)
		}
	}
	if _, ok := dec(t, "9223372036854775808").Int64(); ok {
		t.Error("2^63 does not fit")
	}
	if _, ok := DecimalFromBig(pow10Big(38), 0); ok {
		t.Error("39 digits do not fit")
	}
}
