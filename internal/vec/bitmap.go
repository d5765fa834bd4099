package vec

import (
	"encoding/binary"
	"math/bits"
)

// Bitmap marks rows, one bit each, least significant bit first as in Arrow. As a validity bitmap a set bit means "not
// null", and a nil Bitmap means that every row is valid.
type Bitmap []uint64

// NewBitmap returns a bitmap of n bits, all clear.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// NewBitmapSet returns a bitmap whose first n bits are set. Bits past n are clear.
func NewBitmapSet(n int) Bitmap {
	b := NewBitmap(n)
	b.SetAll(n)
	return b
}

// Get tells whether bit i is set. A nil bitmap has every bit set.
func (b Bitmap) Get(i int) bool { return b == nil || b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i. The bitmap must not be nil.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i. The bitmap must not be nil.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// SetTo sets or clears bit i.
func (b Bitmap) SetTo(i int, on bool) {
	if on {
		b.Set(i)
	} else {
		b.Clear(i)
	}
}

// SetAll sets the first n bits and clears the rest of the last word.
func (b Bitmap) SetAll(n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if r := uint(n) & 63; r != 0 && len(b) > 0 {
		b[len(b)-1] = 1<<r - 1
	}
}

// Count returns how many of the first n bits are set; n for a nil bitmap.
func (b Bitmap) Count(n int) int {
	if b == nil {
		return n
	}
	c, full := 0, n>>6
	for _, w := range b[:full] {
		c += bits.OnesCount64(w)
	}
	if r := uint(n) & 63; r != 0 {
		c += bits.OnesCount64(b[full] & (1<<r - 1))
	}
	return c
}

// All tells whether the first n bits are all set.
func (b Bitmap) All(n int) bool { return b == nil || b.Count(n) == n }

// Clone returns a copy; nil stays nil.
func (b Bitmap) Clone() Bitmap {
	if b == nil {
		return nil
	}
	return append(Bitmap(nil), b...)
}

// AndInto stores x AND y over n rows in dst, which is grown as needed, and returns it. Where both are nil the result is nil.
func AndInto(dst, x, y Bitmap, n int) Bitmap {
	if x == nil && y == nil {
		return nil
	}
	dst = GrowBitmap(dst, n)
	switch {
	case x == nil:
		copy(dst, y[:len(dst)])
	case y == nil:
		copy(dst, x[:len(dst)])
	default:
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = x[i] & y[i]
		}
	}
	return dst
}

// GrowBitmap returns a bitmap of n bits that reuses b's memory when it is large enough. Its bits are unspecified.
func GrowBitmap(b Bitmap, n int) Bitmap {
	words := (n + 63) / 64
	if cap(b) < words {
		return make(Bitmap, words, words+words/4)
	}
	return b[:words]
}

// Slice returns bits off to off+n-1, sharing memory when off is a multiple of 64. Bits past n are unspecified; nil stays nil.
func (b Bitmap) Slice(off, n int) Bitmap {
	if b == nil {
		return nil
	}
	words := (n + 63) / 64
	from, shift := off>>6, uint(off)&63
	if shift == 0 {
		return b[from : from+words : from+words]
	}
	c := make(Bitmap, words)
	for i := range c {
		c[i] = b[from+i] >> shift
		if from+i+1 < len(b) {
			c[i] |= b[from+i+1] << (64 - shift)
		}
	}
	return c
}

// CopyFrom stores the first n bits of src, which may be nil, at bit off. The bits of b before off stay, those after off+n may
// be changed.
func (b Bitmap) CopyFrom(off int, src Bitmap, n int) {
	for i := 0; i < n; {
		// One step fills the rest of a word of b.
		at := off + i
		shift := uint(at) & 63
		step := min(64-int(shift), n-i)
		bits := ^uint64(0)
		if src != nil {
			bits = src[i>>6] >> (uint(i) & 63)
			if r := uint(i) & 63; r != 0 && i>>6+1 < len(src) {
				bits |= src[i>>6+1] << (64 - r)
			}
		}
		mask := ^uint64(0) << shift
		b[at>>6] = b[at>>6]&^mask | bits<<shift
		i += step
	}
}

// UnpackBits stores n bits of src, from bit off on and least significant first, as bytes 0 and 1.
func UnpackBits(dst []uint8, src []byte, off, n int) {
	dst = dst[:n]
	i := 0
	if off&7 == 0 {
		src := src[off>>3:]
		for ; i+8 <= n; i += 8 {
			spread8(dst[i:i+8], src[i>>3])
		}
		for ; i < n; i++ {
			dst[i] = src[i>>3] >> (uint(i) & 7) & 1
		}
		return
	}
	for ; i < n; i++ {
		j := off + i
		dst[i] = src[j>>3] >> (uint(j) & 7) & 1
	}
}

// PackBits stores the lowest bits of bytes, least significant first. Bytes of null rows may be other than 0 and 1.
func PackBits(dst []byte, src []uint8) {
	n := len(src)
	i := 0
	for ; i+8 <= n; i += 8 {
		dst[i>>3] = byte(binary.LittleEndian.Uint64(src[i:]) & 0x0101010101010101 * 0x0102040810204080 >> 56)
	}
	if i < n {
		var b byte
		for j, x := range src[i:] {
			b |= x & 1 << uint(j&7)
		}
		dst[i>>3] = b
	}
}

// spread8 stores the bits of b as eight bytes 0 and 1.
func spread8(dst []uint8, b byte) {
	x := uint64(b) * 0x0101010101010101 & 0x8040201008040201
	// Each byte is zero or one power of two: bring the bit down to position 0.
	x |= x >> 4 & 0x0f0f0f0f0f0f0f0f
	x |= x >> 2 & 0x0303030303030303
	x |= x >> 1 & 0x0101010101010101
	binary.LittleEndian.PutUint64(dst, x&0x0101010101010101)
}
