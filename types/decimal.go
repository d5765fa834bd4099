package types

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Decimal is a value of DECIMAL: Unscaled / 10^Scale, in two machine words. 1.0 and 1.00 are
// different Decimals that Cmp calls equal.
type Decimal struct {
	Unscaled decimal128.Num
	Scale    int
}

// DecimalFromInt64 makes unscaled / 10^scale.
func DecimalFromInt64(unscaled int64, scale int) Decimal {
	return Decimal{decimal128.FromI64(unscaled), scale}
}

// DecimalFromBig makes unscaled / 10^scale; ok is false for more than 38 digits.
func DecimalFromBig(unscaled *big.Int, scale int) (d Decimal, ok bool) {
	if unscaled.CmpAbs(pow10Big(MaxPrecision)) >= 0 {
		return Decimal{}, false
	}
	return Decimal{decimal128.FromBigInt(unscaled), scale}, true
}

// ParseDecimal reads digits with an optional sign, point and exponent, blanks around them
// allowed. ok is false for another text and for a number of more than 38 digits.
func ParseDecimal(s string) (d Decimal, ok bool) {
	s = strings.TrimSpace(s)
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.ParseInt(s[i+1:], 10, 32)
		if err != nil {
			return Decimal{}, false
		}
		s, exp = s[:i], int(e)
	}
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	whole, frac, _ := strings.Cut(s, ".")
	digits := whole + frac
	if digits == "" || len(digits) > 1<<16 {
		return Decimal{}, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return Decimal{}, false
		}
	}
	scale := len(frac) - exp
	digits = strings.TrimLeft(digits, "0")
	if scale < 0 { // a decimal has no negative scale: write the zeros out
		if digits != "" {
			if len(digits)-scale > MaxPrecision {
				return Decimal{}, false
			}
			digits += strings.Repeat("0", -scale)
		}
		scale = 0
	}
	if len(digits) > MaxPrecision || scale > MaxScale {
		return Decimal{}, false
	}
	if len(digits) <= 18 {
		n, _ := strconv.ParseInt("0"+digits, 10, 64) // at most 18 digits: cannot fail
		if neg {
			n = -n
		}
		return DecimalFromInt64(n, scale), true
	}
	n, _ := new(big.Int).SetString(digits, 10) // digits only: cannot fail
	if neg {
		n.Neg(n)
	}
	return DecimalFromBig(n, scale)
}

// Int64 is the unscaled value if it fits, which it does up to 18 digits.
func (d Decimal) Int64() (unscaled int64, ok bool) {
	lo := int64(d.Unscaled.LowBits())
	return lo, d.Unscaled.HighBits() == lo>>63
}

// Big is the unscaled value.
func (d Decimal) Big() *big.Int { return d.Unscaled.BigInt() }

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int { return d.Unscaled.Sign() }

// Precision is the number of digits of the unscaled value; zero has one.
func (d Decimal) Precision() int {
	if n, ok := d.Int64(); ok {
		digits := 1
		for n /= 10; n != 0; n /= 10 {
			digits++
		}
		return digits
	}
	b := d.Big()
	return len(b.Abs(b).String())
}

// String prints the number with all digits of its scale: "1.50", "-0.05".
func (d Decimal) String() string { return string(d.AppendTo(nil)) }

// AppendTo appends what String gives.
func (d Decimal) AppendTo(b []byte) []byte {
	var buf [48]byte
	digits := buf[:0]
	if n, ok := d.Int64(); ok {
		digits = strconv.AppendInt(digits, n, 10)
	} else {
		digits = d.Big().Append(digits, 10)
	}
	if digits[0] == '-' {
		b, digits = append(b, '-'), digits[1:]
	}
	if d.Scale <= 0 {
		b = append(b, digits...)
		for range -d.Scale {
			b = append(b, '0')
		}
		return b
	}
	if whole := len(digits) - d.Scale; whole > 0 {
		b = append(append(b, digits[:whole]...), '.')
		return append(b, digits[whole:]...)
	}
	b = append(b, '0', '.')
	for range d.Scale - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}

// Float64 is the nearest float.
func (d Decimal) Float64() float64 {
	if n, ok := d.Int64(); ok && n > -1<<53 && n < 1<<53 && d.Scale >= 0 && d.Scale <= 22 {
		return float64(n) / math.Pow10(d.Scale) // both exact, so the quotient is rounded once
	}
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}

// Cmp compares two numbers of any scales.
func (d Decimal) Cmp(e Decimal) int {
	if d.Scale == e.Scale {
		return d.Unscaled.Cmp(e.Unscaled)
	}
	if s, t := d.Sign(), e.Sign(); s != t {
		return s - t
	}
	x, y := d.Big(), e.Big()
	if d.Scale < e.Scale {
		x.Mul(x, pow10Big(e.Scale-d.Scale))
	} else {
		y.Mul(y, pow10Big(d.Scale-e.Scale))
	}
	return x.Cmp(y)
}

// Rescale gives the number with another scale, rounded half up (away from zero). ok is false if
// the result has more digits than the precision.
func (d Decimal) Rescale(t DecimalType) (r Decimal, ok bool) {
	if n, fits := d.Int64(); fits {
		if n, fits := rescaleInt64(n, d.Scale, t.Scale); fits {
			r = DecimalFromInt64(n, t.Scale)
			return r, t.Precision >= 19 || n > -pow10[t.Precision] && n < pow10[t.Precision]
		}
	}
	x := d.Big()
	switch {
	case t.Scale > d.Scale:
		if t.Scale-d.Scale > 2*MaxScale && x.Sign() != 0 {
			return Decimal{}, false
		}
		x.Mul(x, pow10Big(t.Scale-d.Scale))
	case t.Scale < d.Scale:
		unit := pow10Big(d.Scale - t.Scale)
		half := new(big.Int).Rsh(unit, 1)
		if x.Sign() < 0 {
			x.Sub(x, half)
		} else {
			x.Add(x, half)
		}
		x.Quo(x, unit)
	}
	if x.CmpAbs(pow10Big(t.Precision)) >= 0 {
		return Decimal{}, false
	}
	return DecimalFromBig(x, t.Scale)
}

// pow10 are the powers of ten that an int64 holds.
var pow10 = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

func rescaleInt64(n int64, from, to int) (int64, bool) {
	switch diff := to - from; {
	case diff == 0:
		return n, true
	case diff > 18 || diff < -18:
		return 0, false
	case diff > 0:
		r := n * pow10[diff]
		return r, r/pow10[diff] == n
	default:
		unit := pow10[-diff]
		q, rest := n/unit, n%unit
		if rest >= unit/2 { // unit is even, so half a unit is exact
			q++
		} else if -rest >= unit/2 {
			q--
		}
		return q, true
	}
}

func pow10Big(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, 0))), nil)
}
