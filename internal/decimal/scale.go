package decimal

import (
	"math/big"
)

// DownScale divides x by 10^by, rounding half away from zero. by is from 0 to 38.
func DownScale(x Int, by int) Int {
	if by == 0 {
		return x
	}
	q, r := quoRem(Abs(x), pow10[by])
	if half, _ := Add(r, r); Cmp(half, pow10[by]) >= 0 || half.Hi < 0 {
		q, _ = Add(q, Int{Lo: 1})
	}
	if x.Hi < 0 {
		q = Neg(q)
	}
	return q
}

// Rescale changes the scale of x; ok is false when the result has more than precision digits.
func Rescale(x Int, from, to, precision int) (r Int, ok bool) {
	switch {
	case to > from:
		if to-from > MaxPrecision {
			return Int{}, x == Int{}
		}
		if r, ok = mul(x, pow10[to-from]); !ok {
			return r, false
		}
	case to < from:
		if from-to > MaxPrecision {
			return Int{}, true
		}
		r = DownScale(x, from-to)
	default:
		r = x
	}
	return r, Fits(r, precision)
}

// Mul is x * y with the product's scale reduced by drop digits; ok is false when it has more than precision digits.
func Mul(x, y Int, drop, precision int) (r Int, ok bool) {
	if p, ok := mul(x, y); ok && drop <= MaxPrecision {
		r = DownScale(p, drop)
		return r, Fits(r, precision)
	}
	b := Big(x)
	b.Mul(b, Big(y))
	return fromBigScaled(b, drop, precision)
}

// Div is x / y, where x first gets raise more digits of scale (raise may be negative); it rounds half away from zero. y must not
// be zero.
func Div(x, y Int, raise, precision int) (r Int, ok bool) {
	if raise >= 0 && raise <= MaxPrecision {
		if n, ok := mul(x, pow10[raise]); ok {
			d := Abs(y)
			q, rem := quoRem(Abs(n), d)
			if twice, _ := Add(rem, rem); twice.Hi < 0 || Cmp(twice, d) >= 0 {
				q, _ = Add(q, Int{Lo: 1})
			}
			if (x.Hi < 0) != (y.Hi < 0) {
				q = Neg(q)
			}
			return q, Fits(q, precision)
		}
	}
	n, d := Big(x), Big(y)
	if raise >= 0 {
		n.Mul(n, bigPow10(raise))
	} else {
		d.Mul(d, bigPow10(-raise))
	}
	return quoBig(n, d, precision)
}

// quoBig is n / d rounded half away from zero.
func quoBig(n, d *big.Int, precision int) (r Int, ok bool) {
	neg := n.Sign()*d.Sign() < 0
	n, d = new(big.Int).Abs(n), new(big.Int).Abs(d)
	q, rem := new(big.Int).QuoRem(n, d, new(big.Int))
	if rem.Lsh(rem, 1).Cmp(d) >= 0 {
		q.Add(q, big.NewInt(1))
	}
	if neg {
		q.Neg(q)
	}
	r, ok = FromBig(q)
	return r, ok && Fits(r, precision)
}

func fromBigScaled(b *big.Int, drop, precision int) (Int, bool) {
	return quoBig(b, bigPow10(drop), precision)
}

func bigPow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// AddScaled is x (of scale sx) + y (of scale sy) at scale s, rounded half away from zero.
func AddScaled(x Int, sx int, y Int, sy int, s, precision int) (r Int, ok bool) {
	top := max(sx, sy)
	ax, ok1 := Rescale(x, sx, top, MaxPrecision)
	ay, ok2 := Rescale(y, sy, top, MaxPrecision)
	if ok1 && ok2 {
		sum, _ := Add(ax, ay) // two values of 38 digits fit 127 bits
		if top == s {
			return sum, Fits(sum, precision)
		}
		if sum.Hi^ax.Hi >= 0 || ax.Hi^ay.Hi < 0 {
			return Rescale(sum, top, s, precision)
		}
	}
	b := new(big.Int).Mul(Big(x), bigPow10(top-sx))
	b.Add(b, new(big.Int).Mul(Big(y), bigPow10(top-sy)))
	return fromBigScaled(b, top-s, precision)
}

// Rem is the remainder of x / y towards zero at the larger of the scales, brought to scale s. y must not be zero.
func Rem(x Int, sx int, y Int, sy int, s, precision int) (r Int, ok bool) {
	top := max(sx, sy)
	ax, ok1 := Rescale(x, sx, top, MaxPrecision)
	ay, ok2 := Rescale(y, sy, top, MaxPrecision)
	if ok1 && ok2 {
		_, r = QuoRem(ax, ay)
		return Rescale(r, top, s, precision)
	}
	b := new(big.Int).Mul(Big(x), bigPow10(top-sx))
	b.Rem(b, new(big.Int).Mul(Big(y), bigPow10(top-sy)))
	return fromBigScaled(b, top-s, precision)
}

// IntQuo is the integer quotient of x / y towards zero; ok is false when it does not fit 128 bits.
func IntQuo(x Int, sx int, y Int, sy int) (q Int, ok bool) {
	top := max(sx, sy)
	ax, ok1 := Rescale(x, sx, top, MaxPrecision)
	ay, ok2 := Rescale(y, sy, top, MaxPrecision)
	if ok1 && ok2 {
		q, _ = QuoRem(ax, ay)
		return q, true
	}
	b := new(big.Int).Mul(Big(x), bigPow10(top-sx))
	b.Quo(b, new(big.Int).Mul(Big(y), bigPow10(top-sy)))
	return FromBig(b)
}
