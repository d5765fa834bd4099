package theta

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/millrace/millrace/internal/sketch"
)

// None is the summary of Theta sketches.
type None = struct{}

// The image of a sketch begins with the number of its first 64-bit words, a version, the family, two bytes that depend on the form,
// flags and two bytes that tell the seed of the hash.
const (
	versionPlain  = 3
	versionPacked = 4

	familyTheta = 3
	familyTuple = 9

	flagReadOnly = 2
	flagEmpty    = 4
	flagCompact  = 8
	flagOrdered  = 16
	flagSingle   = 32

	tupleType = 1
)

// seedHash identifies the seed in images.
var seedHash = func() uint16 {
	h, _ := sketch.HashLong(sketch.Seed, 0)
	return uint16(h)
}()

func prefix(b []byte, words, version, family, b3, b4, flags uint8, seed uint16) []byte {
	return binary.LittleEndian.AppendUint16(append(b, words, version, family, b3, b4, flags), seed)
}

// Image appends a Theta sketch as bytes: ordered, and packed where there is something to pack.
func Image(b []byte, c *Sketch[None]) []byte {
	c.sort()
	const flags = flagReadOnly | flagCompact | flagOrdered
	n, estimating := len(c.Hashes), c.limit < whole
	switch {
	case c.empty || n == 0 && !estimating:
		return prefix(b, 1, versionPlain, familyTheta, 0, 0, flags|flagEmpty, 0)
	case n == 1 && !estimating:
		b = prefix(b, 1, versionPlain, familyTheta, 0, 0, flags|flagSingle, seedHash)
		return binary.LittleEndian.AppendUint64(b, c.Hashes[0])
	case n == 0:
		b = prefix(b, 3, versionPlain, familyTheta, 0, 0, flags, seedHash)
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(1))
		return binary.LittleEndian.AppendUint64(b, c.limit)
	}
	all, last := uint64(0), uint64(0)
	for _, h := range c.Hashes {
		all |= h - last
		last = h
	}
	width := bits.Len64(all)
	countBytes := (bits.Len32(uint32(n)) + 7) / 8
	words := uint8(1)
	if estimating {
		words = 2
	}
	b = prefix(b, words, versionPacked, familyTheta, uint8(width), uint8(countBytes), flags, seedHash)
	if estimating {
		b = binary.LittleEndian.AppendUint64(b, c.limit)
	}
	for i := range countBytes {
		b = append(b, uint8(n>>(8*i)))
	}
	return packDeltas(b, c.Hashes, width)
}

// packDeltas appends the difference of each hash to the one before in so many bits, the highest first.
func packDeltas(b []byte, hashes []uint64, width int) []byte {
	last, free := uint64(0), 0 // free bits in the last byte of b
	for _, h := range hashes {
		v := h - last
		last = h
		for left := width; left > 0; {
			if free == 0 {
				b, free = append(b, 0), 8
			}
			take := min(left, free)
			left -= take
			free -= take
			b[len(b)-1] |= uint8(v>>left&(1<<take-1)) << free
		}
	}
	return b
}

var (
	errImage = errors.New("not the image of a theta sketch")
	errSeed  = errors.New("the sketch was made with another seed")
)

// Parse reads the image of a Theta sketch.
func Parse(b []byte) (*Sketch[None], error) {
	if len(b) < 8 || b[2] != familyTheta {
		return nil, errImage
	}
	words, flags := int(b[0]&63), b[5]
	c := &Sketch[None]{limit: whole}
	if flags&flagEmpty != 0 {
		c.empty = true
		return c, nil
	}
	if binary.LittleEndian.Uint16(b[6:]) != seedHash {
		return nil, errSeed
	}
	if words < 1 || len(b) < 8*words {
		return nil, errImage
	}
	switch b[1] {
	case versionPacked:
		return c, c.unpack(b, words)
	case versionPlain:
	default:
		return nil, errImage
	}
	if flags&flagCompact == 0 {
		return nil, errImage
	}
	n := 1
	if words > 1 {
		n = int(binary.LittleEndian.Uint32(b[8:]))
	}
	if words > 2 {
		c.limit = binary.LittleEndian.Uint64(b[16:])
	}
	data := b[8*words:]
	if n < 0 || n > len(data)/8 || c.limit > whole {
		return nil, errImage
	}
	c.Hashes, c.Summaries = make([]uint64, n), make([]None, n)
	for i := range c.Hashes {
		c.Hashes[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return c, c.check()
}

func (c *Sketch[S]) check() error {
	for _, h := range c.Hashes {
		if h == 0 || h >= c.limit {
			return errImage
		}
	}
	return nil
}

func (c *Sketch[S]) unpack(b []byte, words int) error {
	width, countBytes := int(b[3]), int(b[4])
	if words > 1 {
		c.limit = binary.LittleEndian.Uint64(b[8:])
	}
	data := b[8*words:]
	if width < 1 || width > 63 || countBytes > 4 || len(data) < countBytes || c.limit > whole {
		return errImage
	}
	n := 0
	for i := range countBytes {
		n |= int(data[i]) << (8 * i)
	}
	data = data[countBytes:]
	if n > len(data)*8/width {
		return errImage
	}
	c.Hashes, c.Summaries = make([]uint64, n), make([]S, n)
	last, at := uint64(0), 0
	for i := range c.Hashes {
		v := uint64(0)
		for left := width; left > 0; {
			have := 8 - at%8
			take := min(left, have)
			v = v<<take | uint64(data[at/8])>>(have-take)&(1<<take-1)
			at += take
			left -= take
		}
		last += v
		c.Hashes[i] = last
	}
	return c.check()
}

// Tuple is a form of summaries in images.
type Tuple[S any] struct {
	Size  int
	Put   func(b []byte, s S) []byte
	Parse func(b []byte) (S, bool)
}

// TupleImage appends a sketch with summaries as bytes.
func (f Tuple[S]) TupleImage(b []byte, c *Sketch[S]) []byte {
	n := len(c.Hashes)
	words, flags := uint8(1), uint8(flagReadOnly|flagCompact)
	switch {
	case c.limit < whole:
		words = 3
	case n != 1:
		words = 2
	}
	if c.empty {
		words, flags = 1, flags|flagEmpty
	}
	b = prefix(b, words, versionPlain, familyTuple, tupleType, 0, flags, seedHash)
	if words > 1 {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	if words > 2 {
		b = binary.LittleEndian.AppendUint64(b, c.limit)
	}
	for i, h := range c.Hashes {
		b = binary.LittleEndian.AppendUint64(b, h)
		b = f.Put(b, c.Summaries[i])
	}
	return b
}

// ParseTuple reads the image of a sketch with summaries.
func (f Tuple[S]) ParseTuple(b []byte) (*Sketch[S], error) {
	if len(b) < 8 || b[1] != versionPlain || b[2] != familyTuple || b[3] != tupleType || b[5]&flagCompact == 0 {
		return nil, errImage
	}
	c := &Sketch[S]{limit: whole}
	words := int(b[0])
	if binary.LittleEndian.Uint16(b[6:]) != seedHash {
		return nil, errSeed
	}
	if b[5]&flagEmpty != 0 {
		c.empty = true
		return c, nil
	}
	if words < 1 || words > 3 || len(b) < 8*words {
		return nil, errImage
	}
	n := 1
	if words > 1 {
		n = int(binary.LittleEndian.Uint32(b[8:]))
	}
	if words > 2 {
		c.limit = binary.LittleEndian.Uint64(b[16:])
	}
	data := b[8*words:]
	if n < 0 || n > len(data)/(8+f.Size) || c.limit > whole {
		return nil, errImage
	}
	c.Hashes, c.Summaries = slices.Grow(c.Hashes, n), slices.Grow(c.Summaries, n)
	for ; n > 0; n-- {
		s, ok := f.Parse(data[8:])
		if !ok {
			return nil, errImage
		}
		c.Hashes, c.Summaries = append(c.Hashes, binary.LittleEndian.Uint64(data)), append(c.Summaries, s)
		data = data[8+f.Size:]
	}
	return c, c.check()
}

// IsTheta tells whether an image says that it is of a Theta sketch.
func IsTheta(b []byte) bool { return len(b) >= 8 && b[2] == familyTheta }

// WithSummary returns a sketch with the same summary for each hash.
func WithSummary[S any](c *Sketch[None], s S) *Sketch[S] {
	w := &Sketch[S]{Hashes: c.Hashes, Summaries: make([]S, len(c.Hashes)), limit: c.limit, empty: c.empty}
	for i := range w.Summaries {
		w.Summaries[i] = s
	}
	return w
}
