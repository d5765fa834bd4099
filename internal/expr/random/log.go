package random

import "math"

// log is the natural logarithm as Java's StrictMath has it, which differs from Go's in the last digit of some results: x = 2^k·(1+f) with 1+f
// near 1, and log(1+f) by a polynomial in s = f/(2+f). x is positive and normal.
func log(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
		l1    = 6.666666666666735130e-01
		l2    = 3.999999999940941908e-01
		l3    = 2.857142874366239149e-01
		l4    = 2.222219843214978396e-01
		l5    = 1.818357216161805012e-01
		l6    = 1.531383769920937332e-01
		l7    = 1.479819860511658591e-01
	)
	b := math.Float64bits(x)
	hx := int32(b >> 32)
	k := hx>>20 - 1023
	hx &= 0x000fffff
	i := (hx + 0x95f64) & 0x100000
	b = uint64(uint32(hx|i^0x3ff00000))<<32 | b&0xffffffff
	k += i >> 20
	f := math.Float64frombits(b) - 1
	dk := float64(k)
	if 0x000fffff&(2+hx) < 3 { // |f| < 2^-20
		if f == 0 {
			return dk*ln2Hi + float64(dk*ln2Lo)
		}
		r := f * f * (0.5 - float64(0.33333333333333333*f))
		if k == 0 {
			return f - r
		}
		return float64(dk*ln2Hi) - ((r - float64(dk*ln2Lo)) - f)
	}
	s := f / (2 + f)
	z := s * s
	w := z * z
	t1 := w * (l2 + float64(w*(l4+float64(w*l6))))
	t2 := z * (l1 + float64(w*(l3+float64(w*(l5+float64(w*l7))))))
	r := t2 + t1
	if (hx-0x6147a)|(0x6b851-hx) > 0 {
		half := 0.5 * f * f
		if k == 0 {
			return f - (half - float64(s*(half+r)))
		}
		return float64(dk*ln2Hi) - ((half - (float64(s*(half+r)) + float64(dk*ln2Lo))) - f)
	}
	if k == 0 {
		return f - float64(s*(f-r))
	}
	return float64(dk*ln2Hi) - ((float64(s*(f-r)) - float64(dk*ln2Lo)) - f)
}
