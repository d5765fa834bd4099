package hll

import (
	_ "embed"
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
)

func lg(n int) int { return bits.TrailingZeros(uint(n)) }

// coupon makes one number of a hash: a slot, and how many zeros lead the other half, plus one.
func coupon(h1, h2 uint64) uint32 {
	return uint32(min(bits.LeadingZeros64(h2), 62)+1)<<slotBits | uint32(h1)&slotMask
}

func inversePower(v uint8) float64 { return math.Ldexp(1, -int(v)) }

// Estimate is the number of different values.
func (s *Sketch) Estimate() float64 {
	switch {
	case s.mode != dense:
		n := float64(s.count)
		return max(n, cubic(couponCounts[:], func(i int) float64 { return couponEstimates[i] }, n))
	case s.outOfOrder:
		return s.composite()
	}
	return s.inOrder
}

// couponEstimates are the numbers of values that make so many different coupons. The numbers are those of Apache DataSketches.
var (
	couponCounts    = [...]float64{0, 1, 20, 400, 8000, 160000, 300000, 600000, 900000}
	couponEstimates = [...]float64{
		0, 1, 20.00000094374026, 400.0003963713384, 8000.158929460209, 160063.60677637596, 300223.70715976635, 600895.593385617, 902016.8065120955,
	}
)

// rawEstimates has, for each size, the raw estimates that belong to multiples of a step: 257 numbers in little endian each. The
// numbers are those of Apache DataSketches.
//
//go:embed estimates.bin
var rawEstimates []byte

const pointsPerSize = 257

var steps = [...]float64{1, 2, 3, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960, 81920}

var points = sync.OnceValue(func() []float64 {
	all := make([]float64, len(rawEstimates)/8)
	for i := range all {
		all[i] = math.Float64frombits(binary.LittleEndian.Uint64(rawEstimates[i*8:]))
	}
	return all
})

// composite estimates from registers alone.
func (s *Sketch) composite() float64 {
	at := s.lgK - MinLgK
	x, step := points()[at*pointsPerSize:(at+1)*pointsPerSize], steps[at]
	k := float64(len(s.registers))
	raw := correction(s.lgK) * k * k / (s.sum0 + s.sum1)
	last := len(x) - 1
	if raw < x[0] {
		return 0
	}
	if raw > x[last] {
		return raw * (step * float64(last) / x[last])
	}
	adjusted := cubic(x, func(i int) float64 { return step * float64(i) }, raw)
	if adjusted > 3*k {
		return adjusted
	}
	linear := s.linear()
	crossOver := 0.64
	switch s.lgK {
	case 4:
		crossOver = 0.718
	case 5:
		crossOver = 0.672
	}
	if (adjusted+linear)/2 > crossOver*k {
		return adjusted
	}
	return linear
}

func correction(lgK int) float64 {
	switch lgK {
	case 4:
		return 0.673
	case 5:
		return 0.697
	case 6:
		return 0.709
	}
	return 0.7213 / (1 + 1.079/float64(int(1)<<lgK))
}

// linear estimates from the number of registers that were never hit.
func (s *Sketch) linear() float64 {
	k := len(s.registers)
	if s.min != 0 || s.atMin == 0 {
		return float64(k) * math.Log(float64(k)/0.5)
	}
	return float64(k) * (harmonic(k) - harmonic(s.atMin))
}

// harmonic is the sum of 1/i from 1 to n.
func harmonic(n int) float64 {
	if n < 25 {
		h := 0.0
		for i := n; i > 0; i-- {
			h += 1 / float64(i)
		}
		return h
	}
	x := float64(n)
	sq := 1 / (x * x)
	h := math.Log(x) + 0.577215664901532860606512090082 + 1/(2*x)
	p := sq
	h -= p / 12
	p *= sq
	h += p / 120
	p *= sq
	h -= p / 252
	p *= sq
	h += p / 240
	return h
}

// cubic finds y for x by the cubic through four of the points (xs[i], y(i)) around it.
func cubic(xs []float64, y func(i int) float64, x float64) float64 {
	last := len(xs) - 1
	if x >= xs[last] {
		return y(last)
	}
	lo, hi := 0, last
	for lo+1 < hi {
		if mid := (lo + hi) / 2; xs[mid] <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	o := min(max(lo-1, 0), last-3)
	x0, x1, x2, x3 := xs[o], xs[o+1], xs[o+2], xs[o+3]
	return y(o)*((x-x1)*(x-x2)*(x-x3))/((x0-x1)*(x0-x2)*(x0-x3)) +
		y(o+1)*((x-x0)*(x-x2)*(x-x3))/((x1-x0)*(x1-x2)*(x1-x3)) +
		y(o+2)*((x-x0)*(x-x1)*(x-x3))/((x2-x0)*(x2-x1)*(x2-x3)) +
		y(o+3)*((x-x0)*(x-x1)*(x-x2))/((x3-x0)*(x3-x1)*(x3-x2))
}
