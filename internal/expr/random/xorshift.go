package random

import (
	"math"
	"math/bits"
)

// XORShift makes numbers by Marsaglia's shifts.
type XORShift struct {
	seed int64
	next float64 // of Gaussian, which makes them in pairs
	have bool
}

// NewXORShift scrambles a seed, because seeds that are near one another would give numbers that are.
func NewXORShift(seed int64) *XORShift {
	var b [8]byte
	for i := range 8 {
		b[i] = byte(seed >> (56 - 8*i))
	}
	low := murmur3(b[:], 0x3c074a61)
	high := murmur3(b[:], low)
	return &XORShift{seed: int64(uint64(high)<<32 | uint64(low))}
}

// murmur3 is the plain 32-bit MurmurHash3 of bytes whose number is a multiple of four.
func murmur3(b []byte, seed uint32) uint32 {
	h := seed
	for i := 0; i < len(b); i += 4 {
		k := uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 | uint32(b[i+3])<<24
		k = bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593
		h = bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64
	}
	h ^= uint32(len(b))
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// Bits returns the next number of n bits, of which the highest of 32 is a sign.
func (r *XORShift) Bits(n uint) int64 {
	s := r.seed ^ r.seed<<21
	s ^= int64(uint64(s) >> 35)
	s ^= s << 4
	r.seed = s
	return int64(int32(s & (1<<n - 1)))
}

// Float64 returns a number from 0 to below 1.
func (r *XORShift) Float64() float64 {
	high := r.Bits(26) << 27
	return float64(high+r.Bits(27)) * 0x1p-53
}

// Intn returns an integer from 0 to below n.
func (r *XORShift) Intn(n int32) int32 {
	u := int32(r.Bits(31))
	if n&(n-1) == 0 {
		return int32(int64(n) * int64(u) >> 31)
	}
	for {
		v := u % n
		if u-v+(n-1) >= 0 {
			return v
		}
		u = int32(r.Bits(31))
	}
}

// Gaussian returns a normally distributed number, by the polar method.
func (r *XORShift) Gaussian() float64 {
	if r.have {
		r.have = false
		return r.next
	}
	for {
		x, y := 2*r.Float64()-1, 2*r.Float64()-1
		if s := x*x + y*y; s < 1 && s != 0 {
			m := math.Sqrt(-2 * log(s) / s)
			r.next, r.have = y*m, true
			return x * m
		}
	}
}
