package sketch

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Seed is the seed that all sketches hash with, unless they are told another.
const Seed = 9001

const (
	mul1 = 0x87c37b91114253d5
	mul2 = 0x4cf5ad432745937f
)

// Hash is the 128-bit MurmurHash3 of b.
func Hash(b []byte, seed uint64) (h1, h2 uint64) {
	h1, h2 = seed, seed
	n := uint64(len(b))
	for ; len(b) >= 16; b = b[16:] {
		h1, h2 = mixBlock(h1, h2, binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]))
	}
	var tail [16]byte
	copy(tail[:], b)
	return finish(h1, h2, binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:]), n)
}

// HashLong is Hash of the eight bytes of x.
func HashLong(x int64, seed uint64) (h1, h2 uint64) {
	return finish(seed, seed, uint64(x), 0, 8)
}

// HashLongs is Hash of the bytes of all of x.
func HashLongs(x []int64, seed uint64) (h1, h2 uint64) {
	h1, h2 = seed, seed
	n := uint64(len(x)) * 8
	for ; len(x) >= 2; x = x[2:] {
		h1, h2 = mixBlock(h1, h2, uint64(x[0]), uint64(x[1]))
	}
	rest := uint64(0)
	if len(x) == 1 {
		rest = uint64(x[0])
	}
	return finish(h1, h2, rest, 0, n)
}

// HashInts is Hash of the bytes of all of x.
func HashInts(x []int32, seed uint64) (h1, h2 uint64) {
	h1, h2 = seed, seed
	n := uint64(len(x)) * 4
	pair := func(lo, hi int32) uint64 { return uint64(uint32(lo)) | uint64(uint32(hi))<<32 }
	for ; len(x) >= 4; x = x[4:] {
		h1, h2 = mixBlock(h1, h2, pair(x[0], x[1]), pair(x[2], x[3]))
	}
	var rest [4]int32
	copy(rest[:], x)
	return finish(h1, h2, pair(rest[0], rest[1]), pair(rest[2], rest[3]), n)
}

// DoubleBits are the bits by which sketches tell doubles apart: there is one zero and one NaN.
func DoubleBits(x float64) int64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return 0x7ff8000000000000
	}
	return int64(math.Float64bits(x))
}

func mixBlock(h1, h2, k1, k2 uint64) (uint64, uint64) {
	h1 ^= mix1(k1)
	h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
	h2 ^= mix2(k2)
	h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	return h1, h2
}

func mix1(k uint64) uint64 { return bits.RotateLeft64(k*mul1, 31) * mul2 }

func mix2(k uint64) uint64 { return bits.RotateLeft64(k*mul2, 33) * mul1 }

// finish takes the last, incomplete block, filled up with zeros, and the length of all.
func finish(h1, h2, k1, k2, n uint64) (uint64, uint64) {
	h1 ^= mix1(k1) ^ n
	h2 ^= mix2(k2) ^ n
	h1 += h2
	h2 += h1
	h1, h2 = avalanche(h1), avalanche(h2)
	h1 += h2
	h2 += h1
	return h1, h2
}

func avalanche(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
