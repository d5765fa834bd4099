package random

import "math"

// well is the generator WELL19937c of Panneton, L'Ecuyer and Matsumoto.
type well struct {
	v     [wellSize]uint32
	index int
}

const wellSize = 624

// newWell spreads a seed over the state.
func newWell(seed int64) *well {
	w := &well{}
	w.v[0], w.v[1] = uint32(uint64(seed)>>32), uint32(seed)
	for i := 2; i < wellSize; i++ {
		l := int64(int32(w.v[i-2]))
		w.v[i] = uint32(1812433253*(l^l>>30) + int64(i))
	}
	return w
}

func (w *well) bits(n uint) uint32 {
	const m1, m2, m3 = 70, 179, 449
	i := w.index
	at := func(k int) uint32 { return w.v[(i+k)%wellSize] }
	prev, before := (i+wellSize-1)%wellSize, (i+wellSize-2)%wellSize
	v0, vm1, vm2, vm3 := at(0), at(m1), at(m2), at(m3)
	z0 := w.v[prev]&0x80000000 ^ w.v[before]&0x7fffffff
	z1 := v0 ^ v0<<25 ^ vm1 ^ vm1>>27
	z2 := vm2>>9 ^ vm3 ^ vm3>>1
	z3 := z1 ^ z2
	z4 := z0 ^ z1 ^ z1<<9 ^ z2 ^ z2<<21 ^ z3 ^ z3>>21
	w.v[i], w.v[prev], w.v[before] = z3, z4, w.v[before]&0x80000000
	w.index = prev
	z4 ^= z4 << 7 & 0xe46e1700
	z4 ^= z4 << 15 & 0x9b868000
	return z4 >> (32 - n)
}

func (w *well) float64() float64 {
	high := uint64(w.bits(26)) << 26
	return float64(high|uint64(w.bits(26))) * 0x1p-52
}

// Poisson makes counts with a mean.
type Poisson struct {
	mean  float64 // of each of times counts that are added
	times int
	rand  *well
}

// largest is the mean up to which Spark multiplies numbers as it is done here. Counts with a larger one are sums.
const largest = 40

// NewPoisson returns the generator for a mean, which is not negative, and a seed.
func NewPoisson(mean float64, seed int64) *Poisson {
	times := int(math.Ceil(mean / largest))
	if mean == largest {
		times = 2
	}
	return &Poisson{mean: mean / float64(max(times, 1)), times: times, rand: newWell(seed)}
}

// Next returns the next count.
func (p *Poisson) Next() int {
	n := 0
	for range p.times {
		n += p.count()
	}
	return n
}

func (p *Poisson) count() int {
	least, n, r := math.Exp(-p.mean), 0, 1.0
	for float64(n) < 1000*p.mean {
		r *= p.rand.float64()
		if r < least {
			return n
		}
		n++
	}
	return n
}
