package vec

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The table hash: fast, stable across runs and machines, never written to files. Rows with equal keys (as EncodeKeys sees
// them: −0.0 is 0.0, all NaNs are one) have equal hashes.

const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0xd6e8feb86659fd93
	mixC = 0xa0761d6478bd642f
	// nullHash stands for a null.
	nullHash = 0x2545f4914f6cdd1d
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

// join combines the hash of a row's columns so far with the next column's.
func join(h, x uint64) uint64 { return (bits.RotateLeft64(h, 23) ^ x) * mixB }

// TableHash hashes n rows of key columns for hash tables, into dst, which is grown as needed.
func TableHash(cols []*Vector, n int, dst []uint64) []uint64 {
	if cap(dst) < n {
		dst = make([]uint64, n, n+n/4)
	}
	dst = dst[:n]
	if len(cols) == 0 {
		clear(dst)
		return dst
	}
	for c, v := range cols {
		if c == 0 {
			hashColumn(v, n, dst)
		} else {
			joinColumn(v, n, dst)
		}
	}
	return dst
}

// hashColumn stores the hashes of v's rows.
func hashColumn(v *Vector, n int, dst []uint64) {
	switch v.enc {
	case Const:
		fill(dst, v.hashStored(0))
		return
	case Dict:
		if v.base.n <= n {
			hashDict(v, n, dst)
			return
		}
		v = v.Flatten()
	}
	switch v.phys {
	case PhysBool, PhysInt8:
		hashInts(Fixed[int8](v), dst)
	case PhysInt16:
		hashInts(Fixed[int16](v), dst)
	case PhysInt32:
		hashInts(Fixed[int32](v), dst)
	case PhysInt64:
		for i, x := range Fixed[uint64](v) {
			dst[i] = HashUint64(x)
		}
	case PhysFloat32:
		for i, x := range Fixed[float32](v) {
			dst[i] = HashUint64(canonicalBits(float64(x)))
		}
	case PhysFloat64:
		for i, x := range Fixed[float64](v) {
			dst[i] = HashUint64(canonicalBits(x))
		}
	case PhysInt128:
		for i, x := range Fixed[Int128](v) {
			dst[i] = fold(x.Lo^mixA, uint64(x.Hi)^mixC)
		}
	case PhysBytes:
		buf := v.buf
		for i, s := range v.spans {
			dst[i] = HashBytes(buf[s.Off : s.Off+s.Len])
		}
	default:
		for i := range dst {
			dst[i] = v.hashStored(i)
		}
		return
	}
	if v.valid != nil {
		for w, word := range v.valid {
			for word = ^word; word != 0; word &= word - 1 {
				if i := w<<6 + bits.TrailingZeros64(word); i < n {
					dst[i] = nullHash
				}
			}
		}
	}
}

func hashInts[T int8 | int16 | int32](xs []T, dst []uint64) {
	dst = dst[:len(xs)]
	for i, x := range xs {
		dst[i] = HashUint64(uint64(int64(x)))
	}
}

// hashDict hashes each value of the dictionary once.
func hashDict(v *Vector, n int, dst []uint64) {
	base := make([]uint64, v.base.n)
	hashColumn(v.base, v.base.n, base)
	for i, j := range v.idx[:n] {
		if v.valid.Get(i) {
			dst[i] = base[j]
		} else {
			dst[i] = nullHash
		}
	}
}

// joinColumn combines the hashes of v's rows with those of the columns before it.
func joinColumn(v *Vector, n int, dst []uint64) {
	if v.enc == Const {
		x := v.hashStored(0)
		for i, h := range dst {
			dst[i] = join(h, x)
		}
		return
	}
	if v.enc == Flat {
		switch v.phys {
		case PhysInt32:
			joinInts(Fixed[int32](v)[:n], v.valid, dst)
			return
		case PhysInt64:
			joinInts(Fixed[int64](v)[:n], v.valid, dst)
			return
		case PhysBytes:
			buf, valid := v.buf, v.valid
			for i, s := range v.spans[:n] {
				x := uint64(nullHash)
				if valid.Get(i) {
					x = HashBytes(buf[s.Off : s.Off+s.Len])
				}
				dst[i] = join(dst[i], x)
			}
			return
		}
	}
	part := make([]uint64, n)
	hashColumn(v, n, part)
	for i, x := range part {
		dst[i] = join(dst[i], x)
	}
}

func joinInts[T int32 | int64](xs []T, valid Bitmap, dst []uint64) {
	dst = dst[:len(xs)]
	if valid == nil {
		for i, x := range xs {
			dst[i] = join(dst[i], HashUint64(uint64(int64(x))))
		}
		return
	}
	for i, x := range xs {
		h := HashUint64(uint64(int64(x)))
		if !valid.Get(i) {
			h = nullHash
		}
		dst[i] = join(dst[i], h)
	}
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

// hashStored hashes one stored row of a Flat or Const vector; it gives what hashColumn gives.
func (v *Vector) hashStored(i int) uint64 {
	if v.phys == PhysNull || !v.valid.Get(i) {
		return nullHash
	}
	switch v.phys {
	case PhysBool, PhysInt8:
		return HashUint64(uint64(int64(Fixed[int8](v)[i])))
	case PhysInt16:
		return HashUint64(uint64(int64(Fixed[int16](v)[i])))
	case PhysInt32:
		return HashUint64(uint64(int64(Fixed[int32](v)[i])))
	case PhysInt64:
		return HashUint64(Fixed[uint64](v)[i])
	case PhysFloat32:
		return HashUint64(canonicalBits(float64(Fixed[float32](v)[i])))
	case PhysFloat64:
		return HashUint64(canonicalBits(Fixed[float64](v)[i]))
	case PhysInt128:
		x := Fixed[Int128](v)[i]
		return fold(x.Lo^mixA, uint64(x.Hi)^mixC)
	case PhysInterval:
		x := Fixed[Interval](v)[i]
		return fold(uint64(uint32(x.Months))|uint64(uint32(x.Days))<<32^mixA, uint64(x.Micros)^mixC)
	case PhysBytes:
		s := v.spans[i]
		return HashBytes(v.buf[s.Off : s.Off+s.Len])
	case PhysList:
		s := v.spans[i]
		h := uint64(s.Len)
		for j := s.Off; j < s.Off+s.Len; j++ {
			h = join(h, v.kids[0].hashStored(int(j)))
		}
		return HashUint64(h)
	case PhysMap: // in any order of the entries
		s := v.spans[i]
		h := uint64(s.Len)
		for j := s.Off; j < s.Off+s.Len; j++ {
			h += HashUint64(join(v.kids[0].hashStored(int(j)), v.kids[1].hashStored(int(j))))
		}
		return HashUint64(h)
	}
	h := uint64(mixA)
	for _, k := range v.kids {
		h = join(h, k.hashStored(i))
	}
	return HashUint64(h)
}
