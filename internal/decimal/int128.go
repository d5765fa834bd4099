package decimal

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/millrace/millrace/internal/vec"
)

// Int is an unscaled value.
type Int = vec.Int128

// MaxPrecision is the largest number of digits of a decimal.
const MaxPrecision = 38

// pow10 are the powers of ten that fit.
var pow10 = func() (p [MaxPrecision + 1]Int) {
	p[0] = Int{Lo: 1}
	for i := 1; i < len(p); i++ {
		p[i], _ = mulSmall(p[i-1], 10)
	}
	return p
}()

// Pow10 is 10^n for n from 0 to 38.
func Pow10(n int) Int { return pow10[n] }

// pow10i64 are the powers of ten that fit 64 bits.
var pow10i64 = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// Pow10Int64 is 10^n for n from 0 to 18.
func Pow10Int64(n int) int64 { return pow10i64[n] }

// FromInt64 widens x.
func FromInt64(x int64) Int { return Int{Lo: uint64(x), Hi: x >> 63} }

// Int64 narrows x; ok is false when it does not fit.
func Int64(x Int) (int64, bool) { return int64(x.Lo), x.Hi == int64(x.Lo)>>63 }

// Sign is -1, 0 or 1.
func Sign(x Int) int {
	switch {
	case x.Hi < 0:
		return -1
	case x.Hi == 0 && x.Lo == 0:
		return 0
	}
	return 1
}

// Neg is -x.
func Neg(x Int) Int {
	lo, borrow := bits.Sub64(0, x.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(x.Hi), borrow)
	return Int{Lo: lo, Hi: int64(hi)}
}

// Abs is the absolute value of x.
func Abs(x Int) Int {
	if x.Hi < 0 {
		return Neg(x)
	}
	return x
}

// Cmp compares x and y.
func Cmp(x, y Int) int {
	switch {
	case x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo:
		return -1
	case x == y:
		return 0
	}
	return 1
}

// Add is x + y; ok is false when it does not fit 128 bits.
func Add(x, y Int) (s Int, ok bool) {
	lo, carry := bits.Add64(x.Lo, y.Lo, 0)
	hi, _ := bits.Add64(uint64(x.Hi), uint64(y.Hi), carry)
	s = Int{Lo: lo, Hi: int64(hi)}
	return s, (x.Hi^s.Hi)&(y.Hi^s.Hi) >= 0
}

// Sub is x - y; ok is false when it does not fit 128 bits.
func Sub(x, y Int) (d Int, ok bool) {
	lo, borrow := bits.Sub64(x.Lo, y.Lo, 0)
	hi, _ := bits.Sub64(uint64(x.Hi), uint64(y.Hi), borrow)
	d = Int{Lo: lo, Hi: int64(hi)}
	return d, (x.Hi^y.Hi)&(x.Hi^d.Hi) >= 0
}

// mulSmall is x * y for a y that is not negative.
func mulSmall(x Int, y uint64) (Int, bool) {
	neg := x.Hi < 0
	x = Abs(x)
	c, lo := bits.Mul64(x.Lo, y)
	over, hi := bits.Mul64(uint64(x.Hi), y)
	hi, carry := bits.Add64(hi, c, 0)
	r := Int{Lo: lo, Hi: int64(hi)}
	ok := over == 0 && carry == 0 && r.Hi >= 0
	if neg {
		r = Neg(r)
	}
	return r, ok
}

// mul is x * y; ok is false when it does not fit 128 bits.
func mul(x, y Int) (Int, bool) {
	ax, ay := Abs(x), Abs(y)
	if ay.Hi != 0 {
		ax, ay = ay, ax
	}
	if ay.Hi != 0 || ax.Hi < 0 {
		return Int{}, ax == Int{}
	}
	r, ok := mulSmall(ax, ay.Lo)
	if (x.Hi < 0) != (y.Hi < 0) {
		r = Neg(r)
	}
	return r, ok
}

// quoRem divides the absolute values of x and y, y not zero.
func quoRem(x, y Int) (q, r Int) {
	if y.Hi == 0 {
		hi, rem := bits.Div64(0, uint64(x.Hi), y.Lo)
		lo, rem := bits.Div64(rem, x.Lo, y.Lo)
		return Int{Lo: lo, Hi: int64(hi)}, Int{Lo: rem}
	}
	// y has at least 65 bits, so the quotient has at most 63: estimate it from the top bits and correct it.
	shift := uint(bits.LeadingZeros64(uint64(y.Hi)))
	top := uint64(y.Hi)<<shift | y.Lo>>(64-shift)
	if shift == 0 {
		top = uint64(y.Hi)
	}
	h := shr1(x)
	est, _ := bits.Div64(uint64(h.Hi), h.Lo, top)
	est >>= 63 - shift
	if est > 0 {
		est--
	}
	p, _ := mulSmall(y, est)
	r, _ = Sub(x, p)
	if Cmp(r, y) >= 0 {
		est++
		r, _ = Sub(r, y)
	}
	return Int{Lo: est}, r
}

func shr1(x Int) Int { return Int{Lo: x.Lo>>1 | uint64(x.Hi)<<63, Hi: int64(uint64(x.Hi) >> 1)} }

// QuoRem divides towards zero, as integers do. y must not be zero.
func QuoRem(x, y Int) (q, r Int) {
	q, r = quoRem(Abs(x), Abs(y))
	if (x.Hi < 0) != (y.Hi < 0) {
		q = Neg(q)
	}
	if x.Hi < 0 {
		r = Neg(r)
	}
	return q, r
}

// Fits tells whether x has at most precision digits.
func Fits(x Int, precision int) bool {
	return Cmp(Abs(x), pow10[precision]) < 0 && x.Hi != math.MinInt64
}

// Digits is the number of decimal digits of x; 1 for zero.
func Digits(x Int) int {
	x = Abs(x)
	for n := 1; n < len(pow10); n++ {
		if Cmp(x, pow10[n]) < 0 {
			return n
		}
	}
	return MaxPrecision + 1
}

// Big converts x.
func Big(x Int) *big.Int {
	a := Abs(x)
	b := new(big.Int).SetUint64(uint64(a.Hi))
	b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(a.Lo))
	if x.Hi < 0 {
		b.Neg(b)
	}
	return b
}

// FromBig converts b; ok is false when it does not fit 127 bits and a sign.
func FromBig(b *big.Int) (x Int, ok bool) {
	if b.BitLen() > 127 {
		return Int{}, false
	}
	a := new(big.Int).Abs(b)
	x.Lo = new(big.Int).And(a, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	x.Hi = int64(a.Rsh(a, 64).Uint64())
	if b.Sign() < 0 {
		x = Neg(x)
	}
	return x, true
}
