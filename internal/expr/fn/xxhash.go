package fn

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/vec"
)

// The primes of xxHash64.
const (
	xxPrime1 = 0x9E3779B185EBCA87
	xxPrime2 = 0xC2B2AE3D27D4EB4F
	xxPrime3 = 0x165667B19E3779F9
	xxPrime4 = 0x85EBCA77C2B2AE63
	xxPrime5 = 0x27D4EB2F165667C5
)

func xxFinish(h uint64) uint64 {
	h ^= h >> 33
	h *= xxPrime2
	h ^= h >> 29
	h *= xxPrime3
	return h ^ h>>32
}

// XXHashInt is xxHash64 of four bytes.
func XXHashInt(x int32, seed uint64) uint64 {
	h := seed + xxPrime5 + 4
	h ^= uint64(uint32(x)) * xxPrime1
	h = bits.RotateLeft64(h, 23)*xxPrime2 + xxPrime3
	return xxFinish(h)
}

// XXHashLong is xxHash64 of eight bytes.
func XXHashLong(x int64, seed uint64) uint64 {
	h := seed + xxPrime5 + 8
	h ^= bits.RotateLeft64(uint64(x)*xxPrime2, 31) * xxPrime1
	h = bits.RotateLeft64(h, 27)*xxPrime1 + xxPrime4
	return xxFinish(h)
}

func xxRound(acc, in uint64) uint64 { return bits.RotateLeft64(acc+in*xxPrime2, 31) * xxPrime1 }

// XXHashBytes is xxHash64 of b.
func XXHashBytes(b []byte, seed uint64) uint64 {
	n := uint64(len(b))
	var h uint64
	if len(b) >= 32 {
		v1, v2, v3, v4 := seed, seed, seed, seed
		v1 += xxPrime1
		v1 += xxPrime2
		v2 += xxPrime2
		v4 -= xxPrime1
		for len(b) >= 32 {
			v1 = xxRound(v1, binary.LittleEndian.Uint64(b))
			v2 = xxRound(v2, binary.LittleEndian.Uint64(b[8:]))
			v3 = xxRound(v3, binary.LittleEndian.Uint64(b[16:]))
			v4 = xxRound(v4, binary.LittleEndian.Uint64(b[24:]))
			b = b[32:]
		}
		h = bits.RotateLeft64(v1, 1) + bits.RotateLeft64(v2, 7) + bits.RotateLeft64(v3, 12) + bits.RotateLeft64(v4, 18)
		for _, v := range [...]uint64{v1, v2, v3, v4} {
			h = (h^xxRound(0, v))*xxPrime1 + xxPrime4
		}
	} else {
		h = seed + xxPrime5
	}
	h += n
	for len(b) >= 8 {
		h ^= xxRound(0, binary.LittleEndian.Uint64(b))
		h = bits.RotateLeft64(h, 27)*xxPrime1 + xxPrime4
		b = b[8:]
	}
	if len(b) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(b)) * xxPrime1
		h = bits.RotateLeft64(h, 23)*xxPrime2 + xxPrime3
		b = b[4:]
	}
	for _, c := range b {
		h ^= uint64(c) * xxPrime5
		h = bits.RotateLeft64(h, 11) * xxPrime1
	}
	return xxFinish(h)
}

// XXHashRow is Spark's xxhash64 of row i of v, of any type; a null leaves the seed as it is.
func XXHashRow(v *vec.Vector, i int, seed uint64) uint64 {
	if v.IsNull(i) {
		return seed
	}
	switch v.Phys() {
	case vec.PhysBool:
		return XXHashInt(int32(vec.At[uint8](v, i)), seed)
	case vec.PhysInt8:
		return XXHashInt(int32(vec.At[int8](v, i)), seed)
	case vec.PhysInt16:
		return XXHashInt(int32(vec.At[int16](v, i)), seed)
	case vec.PhysInt32:
		return XXHashInt(vec.At[int32](v, i), seed)
	case vec.PhysInt64:
		return XXHashLong(vec.At[int64](v, i), seed)
	case vec.PhysFloat32:
		return XXHashInt(int32(floatBits32(vec.At[float32](v, i))), seed)
	case vec.PhysFloat64:
		return XXHashLong(int64(floatBits64(vec.At[float64](v, i))), seed)
	case vec.PhysInt128:
		return XXHashBytes(decimal.Bytes(vec.At[decimal.Int](v, i)), seed)
	case vec.PhysInterval:
		x := vec.At[vec.Interval](v, i)
		return XXHashInt(x.Months, XXHashInt(x.Days, XXHashLong(x.Micros, seed)))
	case vec.PhysBytes:
		return XXHashBytes(v.BytesAt(i), seed)
	case vec.PhysList:
		s, owner := v.SpanAt(i)
		for k := range s.Len {
			seed = XXHashRow(owner.Kids()[0], int(s.Off+k), seed)
		}
		return seed
	case vec.PhysMap:
		s, owner := v.SpanAt(i)
		for k := range s.Len {
			seed = XXHashRow(owner.Kids()[0], int(s.Off+k), seed)
			seed = XXHashRow(owner.Kids()[1], int(s.Off+k), seed)
		}
		return seed
	}
	i, v = fieldRow(v, i)
	for _, k := range v.Kids() {
		seed = XXHashRow(k, i, seed)
	}
	return seed
}

// floatBits32 are the bits of f with one form for zero and one for NaN.
func floatBits32(f float32) uint32 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7fc00000
	}
	return math.Float32bits(f)
}

func floatBits64(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7ff8000000000000
	}
	return math.Float64bits(f)
}
