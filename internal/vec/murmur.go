package vec

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The partition hash: Spark's Murmur3 with seed 42, chained over the columns of a row; a null leaves the hash as it is. It
// decides which partition owns a persisted key, so it must never change.

const murmurSeed = 42

func murmurMixK(k uint32) uint32 {
	k *= 0xcc9e2d51
	return bits.RotateLeft32(k, 15) * 0x1b873593
}

func murmurMixH(h, k uint32) uint32 {
	return bits.RotateLeft32(h^murmurMixK(k), 13)*5 + 0xe6546b64
}

func murmurEnd(h, n uint32) uint32 {
	h ^= n
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

func murmurInt(x, seed uint32) uint32 { return murmurEnd(murmurMixH(seed, x), 4) }

func murmurLong(x uint64, seed uint32) uint32 {
	return murmurEnd(murmurMixH(murmurMixH(seed, uint32(x)), uint32(x>>32)), 8)
}

// murmurBytes differs from the standard hash in the bytes after the last whole word: each is mixed in as a word of its own,
// with its sign.
func murmurBytes(b []byte, seed uint32) uint32 {
	h, n := seed, uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		h = murmurMixH(h, binary.LittleEndian.Uint32(b))
	}
	for _, c := range b {
		h = murmurMixH(h, uint32(int32(int8(c))))
	}
	return murmurEnd(h, n)
}

// Murmur is the hash of some bytes.
func Murmur(b []byte, seed uint32) uint32 { return murmurBytes(b, seed) }

// PartitionHash hashes n rows of columns as Spark's hash() does, into dst, which is grown as needed. Without columns every row
// has the seed.
func PartitionHash(cols []*Vector, n int, dst []uint32) []uint32 {
	if cap(dst) < n {
		dst = make([]uint32, n, n+n/4)
	}
	dst = dst[:n]
	fill(dst, murmurSeed)
	for _, v := range cols {
		murmurColumn(v, dst)
	}
	return dst
}

func murmurColumn(v *Vector, dst []uint32) {
	n := len(dst)
	if v.enc == Flat && v.valid == nil {
		switch v.phys {
		case PhysInt32:
			for i, x := range Fixed[uint32](v)[:n] {
				dst[i] = murmurInt(x, dst[i])
			}
			return
		case PhysInt64:
			for i, x := range Fixed[uint64](v)[:n] {
				dst[i] = murmurLong(x, dst[i])
			}
			return
		case PhysBytes:
			for i, s := range v.spans[:n] {
				dst[i] = murmurBytes(v.buf[s.Off:s.Off+s.Len], dst[i])
			}
			return
		}
	}
	for i := range dst {
		j, u := i, v
		if v.enc == Dict {
			if !v.valid.Get(i) {
				continue
			}
			j, u = int(v.idx[i]), v.base
		}
		dst[i] = u.murmurStored(u.stored(j), dst[i])
	}
}

// murmurStored hashes one stored row of a Flat or Const vector.
func (v *Vector) murmurStored(i int, seed uint32) uint32 {
	if v.phys == PhysNull || !v.valid.Get(i) {
		return seed
	}
	switch v.phys {
	case PhysBool:
		return murmurInt(uint32(Fixed[uint8](v)[i]), seed)
	case PhysInt8:
		return murmurInt(uint32(int32(Fixed[int8](v)[i])), seed)
	case PhysInt16:
		return murmurInt(uint32(int32(Fixed[int16](v)[i])), seed)
	case PhysInt32:
		return murmurInt(Fixed[uint32](v)[i], seed)
	case PhysInt64:
		return murmurLong(Fixed[uint64](v)[i], seed)
	case PhysFloat32:
		x := Fixed[float32](v)[i]
		switch {
		case x == 0:
			return murmurInt(0, seed)
		case x != x:
			return murmurInt(0x7fc00000, seed)
		}
		return murmurInt(math.Float32bits(x), seed)
	case PhysFloat64:
		return murmurLong(canonicalBits(Fixed[float64](v)[i]), seed)
	case PhysInt128:
		return murmurBytes(MinimalBytes(Fixed[Int128](v)[i]), seed)
	case PhysInterval:
		x := Fixed[Interval](v)[i]
		return murmurInt(uint32(x.Months), murmurInt(uint32(x.Days), murmurLong(uint64(x.Micros), seed)))
	case PhysBytes:
		s := v.spans[i]
		return murmurBytes(v.buf[s.Off:s.Off+s.Len], seed)
	case PhysList:
		s := v.spans[i]
		for j := s.Off; j < s.Off+s.Len; j++ {
			seed = v.kids[0].murmurStored(int(j), seed)
		}
		return seed
	case PhysMap:
		s := v.spans[i]
		for j := s.Off; j < s.Off+s.Len; j++ {
			seed = v.kids[0].murmurStored(int(j), seed)
			seed = v.kids[1].murmurStored(int(j), seed)
		}
		return seed
	}
	for _, k := range v.kids {
		seed = k.murmurStored(i, seed)
	}
	return seed
}

// MinimalBytes is the two's complement of x, highest byte first, in as few bytes as hold it with its sign.
func MinimalBytes(x Int128) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(x.Hi))
	binary.BigEndian.PutUint64(b[8:], x.Lo)
	i := 0
	for i < 15 && (b[i] == 0 && b[i+1] < 0x80 || b[i] == 0xff && b[i+1] >= 0x80) {
		i++
	}
	return b[i:]
}
