package vec

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The hash of hash tables and filters: fast, and stable across runs and machines.

const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0xd6e8feb86659fd93
	mixC = 0xa0761d6478bd642f
)

// HashUint64 hashes one fixed-width value.
func HashUint64(x uint64) uint64 {
	hi, lo := bits.Mul64(x^mixC, mixA)
	x = hi ^ lo
	return x ^ x>>32
}

// HashBytes hashes a string.
func HashBytes(b []byte) uint64 {
	n := len(b)
	h := uint64(n) * mixB
	switch {
	case n <= 3:
		if n == 0 {
			return HashUint64(h)
		}
		return HashUint64(h ^ (uint64(b[0]) | uint64(b[n>>1])<<8 | uint64(b[n-1])<<16))
	case n <= 8:
		return HashUint64(h ^ (uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32))
	case n <= 16:
		return fold(binary.LittleEndian.Uint64(b)^mixA, binary.LittleEndian.Uint64(b[n-8:])^h)
	}
	for p := b; len(p) > 16; p = p[16:] {
		h = fold(binary.LittleEndian.Uint64(p)^mixA, binary.LittleEndian.Uint64(p[8:])^h)
	}
	// The last sixteen bytes may overlap what was hashed before.
	return fold(binary.LittleEndian.Uint64(b[n-16:])^mixC, binary.LittleEndian.Uint64(b[n-8:])^h)
}

// fold multiplies to 128 bits and joins the halves.
func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	x = hi ^ lo
	return x ^ x>>32
}

// canonicalBits gives one bit pattern to the zeros and one to the NaNs.
func canonicalBits(x float64) uint64 {
	if x == 0 {
		return 0
	}
	if x != x {
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}
