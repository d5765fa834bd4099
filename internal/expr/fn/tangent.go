package fn

import (
	"math"
	"math/big"
	"sync"
)

// tangent is within a unit in the last place or so, as Java's is; math.Tan is not, and results would be printed differently.
func tangent(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.NaN()
	}
	if math.Abs(x) <= math.Pi/4 {
		return reducedTangent(x, 0, false)
	}
	quarters, r, tail := reduceQuarter(x)
	return reducedTangent(r, tail, quarters&1 == 1)
}

// reduceQuarter takes multiples of π/2 off x. The rest, r + tail, is within π/4.
func reduceQuarter(x float64) (quarters int64, r, tail float64) {
	const (
		inverse = 6.36619772367581382433e-01
		// π/2 in three parts of 33 bits, each with what is left behind it
		part1, rest1 = 1.57079632673412561417e+00, 6.07710050650619224932e-11
		part2, rest2 = 6.07710050630396597660e-11, 2.02226624879595063154e-21
		part3, rest3 = 2.02226624871116645580e-21, 8.47842766036889956997e-32
	)
	if math.Abs(x) > 1<<20 {
		return reduceFar(x)
	}
	n := math.RoundToEven(x * inverse)
	r = x - n*part1
	w := n * rest1
	y := r - w
	exponent := func(f float64) int { return int(math.Float64bits(f) >> 52 & 0x7ff) }
	if exponent(x)-exponent(y) > 16 {
		t := r
		w = n * part2
		r = t - w
		w = n*rest2 - ((t - r) - w)
		y = r - w
		if exponent(x)-exponent(y) > 49 {
			t = r
			w = n * part3
			r = t - w
			w = n*rest3 - ((t - r) - w)
			y = r - w
		}
	}
	return int64(n), y, (r - y) - w
}

// halfPi is π/2 with more digits than the largest double needs, by Machin's formula.
var halfPi = sync.OnceValue(func() *big.Float {
	const bits = 1400
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	arccot := func(n int64) *big.Int {
		sum, power := new(big.Int), new(big.Int).Quo(one, big.NewInt(n))
		for k := int64(1); power.Sign() != 0; k += 2 {
			term := new(big.Int).Quo(power, big.NewInt(k))
			if k%4 == 1 {
				sum.Add(sum, term)
			} else {
				sum.Sub(sum, term)
			}
			power.Quo(power, big.NewInt(n*n))
		}
		return sum
	}
	pi := new(big.Int).Sub(new(big.Int).Lsh(arccot(5), 4), new(big.Int).Lsh(arccot(239), 2))
	return new(big.Float).SetMantExp(new(big.Float).SetPrec(bits).SetInt(pi), -bits-1)
})

// reduceFar is reduceQuarter for large numbers, of which little is left.
func reduceFar(x float64) (quarters int64, r, tail float64) {
	half := halfPi()
	v := new(big.Float).SetPrec(half.Prec()).SetFloat64(x)
	q, _ := new(big.Float).Add(new(big.Float).Quo(v, half), big.NewFloat(math.Copysign(0.5, x))).Int(nil)
	v.Sub(v, new(big.Float).SetPrec(half.Prec()).Mul(new(big.Float).SetInt(q), half))
	r, _ = v.Float64()
	tail, _ = v.Sub(v, big.NewFloat(r)).Float64()
	return int64(q.Bit(0)), r, tail
}

// tangentTerms are the coefficients of the polynomial for the tangent up to 0.6744.
var tangentTerms = [...]float64{
	3.33333333333334091986e-01, 1.33333333333201242699e-01, 5.39682539762260521377e-02, 2.18694882948595424599e-02,
	8.86323982359930005737e-03, 3.59207910759131235356e-03, 1.45620945432529025516e-03, 5.88041240820264096874e-04,
	2.46463134818469906812e-04, 7.81794442939557092300e-05, 7.14072491382608190305e-05, -1.85586374855275456654e-05,
	2.59073051863633712884e-05,
}

// reducedTangent is the tangent of x + tail within π/4, or the negative of its reciprocal.
func reducedTangent(x, tail float64, reciprocal bool) float64 {
	const quarterPi, quarterPiTail = 7.85398163397448278999e-01, 3.06161699786838301793e-17
	if math.Abs(x) < 0x1p-28 {
		if reciprocal {
			return -1 / x
		}
		return x
	}
	top := func(f float64) float64 { return math.Float64frombits(math.Float64bits(f) &^ 0xffffffff) }
	sign, far := 1.0, math.Float64bits(math.Abs(x))>>32 >= 0x3fe59428
	if far {
		if x < 0 {
			x, tail, sign = -x, -tail, -1
		}
		x, tail = (quarterPi-x)+(quarterPiTail-tail), 0
	}
	z := x * x
	w := z * z
	t := &tangentTerms
	odd := t[1] + w*(t[3]+w*(t[5]+w*(t[7]+w*(t[9]+w*t[11]))))
	even := z * (t[2] + w*(t[4]+w*(t[6]+w*(t[8]+w*(t[10]+w*t[12])))))
	s := z * x
	r := tail + z*(s*(odd+even)+tail)
	r += t[0] * s
	w = x + r
	switch {
	case far:
		v := 1.0
		if reciprocal {
			v = -1
		}
		return sign * (v - 2*(x-(w*w/(w+v)-r)))
	case !reciprocal:
		return w
	}
	// -1 / (x + r) with the bits that one division loses
	head := top(w)
	rest := r - (head - x)
	a := -1 / w
	ahead := top(a)
	return ahead + a*((1+ahead*head)+ahead*rest)
}
