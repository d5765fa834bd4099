package numtext

import (
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/decimal"
)

// AppendFloat prints f as Java does: the shortest digits that read back as f, with an exponent outside of 10^-3 to 10^7. bits is 32
// or 64.
func AppendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	case f == 0:
		if math.Signbit(f) {
			b = append(b, '-')
		}
		return append(b, "0.0"...)
	case bits == 64 && math.Abs(f) == math.SmallestNonzeroFloat64, bits == 32 && math.Abs(f) == math.SmallestNonzeroFloat32:
		if f < 0 {
			b = append(b, '-')
		}
		if bits == 32 {
			return append(b, "1.4E-45"...) // Java wants two digits
		}
		return append(b, "4.9E-324"...)
	}
	if a := math.Abs(f); a >= 1e-3 && a < 1e7 {
		at := len(b)
		b = strconv.AppendFloat(b, f, 'f', -1, bits)
		for _, c := range b[at:] {
			if c == '.' {
				return b
			}
		}
		return append(b, ".0"...)
	}
	var tmp [32]byte
	s := strconv.AppendFloat(tmp[:0], f, 'e', -1, bits)
	e := len(s) - 1
	for s[e] != 'e' {
		e--
	}
	b = append(b, s[:e]...)
	if e == 1 || s[0] == '-' && e == 2 {
		b = append(b, ".0"...)
	}
	b = append(b, 'E')
	exp := s[e+1:]
	if exp[0] == '-' {
		b = append(b, '-')
	}
	exp = exp[1:]
	for len(exp) > 1 && exp[0] == '0' {
		exp = exp[1:]
	}
	return append(b, exp...)
}

// AppendDecimal prints a decimal as Java's BigDecimal.toString does, with an exponent for very small numbers.
func AppendDecimal(b []byte, x decimal.Int, scale int) []byte {
	digits := decimal.Digits(x)
	exp := digits - 1 - scale
	if scale >= 0 && exp >= -6 {
		return decimal.Append(b, x, scale)
	}
	if x.Hi < 0 {
		b = append(b, '-')
		x = decimal.Abs(x)
	}
	s := decimal.Append(nil, x, 0)
	b = append(b, s[0])
	if len(s) > 1 {
		b = append(b, '.')
		b = append(b, s[1:]...)
	}
	b = append(b, 'E')
	if exp >= 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, int64(exp), 10)
}
