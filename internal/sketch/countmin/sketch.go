// Package countmin counts how often values occur, never too low, with Spark's count-min sketch and its image.
// Its images are compared byte by byte with Spark's in the tests of package sketch.
package countmin

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/millrace/millrace/internal/sketch"
)

// Sketch is a table of counters, one row for each of several hashes.
type Sketch struct {
	depth, width int
	factors      []int64 // of the hashes of numbers, one a row
	counts       []int64
	total        int64
}

// New returns a sketch whose counts are too high by at most eps of all values with the given confidence.
func New(eps, confidence float64, seed int64) *Sketch {
	depth := int(math.Ceil(-math.Log1p(-confidence) / math.Log(2)))
	width := int(math.Ceil(2 / eps))
	s := &Sketch{depth: depth, width: width, factors: make([]int64, depth), counts: make([]int64, depth*width)}
	r := sketch.NewRandom(seed)
	for i := range s.factors {
		s.factors[i] = int64(r.Below(math.MaxInt32))
	}
	return s
}

// Size is the memory held, in bytes.
func (s *Sketch) Size() int64 { return int64(len(s.counts)+len(s.factors))*8 + 80 }

// Shape gives width and depth of the table of counters that such a sketch has; they may be too large for one.
func Shape(eps, confidence float64) (width, depth float64) {
	return math.Ceil(2 / eps), math.Ceil(-math.Log1p(-confidence) / math.Log(2))
}

// AddLong counts a number.
func (s *Sketch) AddLong(x int64) {
	for i, f := range s.factors {
		h := f * x
		h += h >> 32
		h &= math.MaxInt32
		s.counts[i*s.width+int(int32(h))%s.width]++
	}
	s.total++
}

// AddBytes counts a text or bytes.
func (s *Sketch) AddBytes(b []byte) {
	h1 := hash(b, 0)
	h2 := hash(b, h1)
	for i := range s.depth {
		at := int((int32(h1) + int32(i)*int32(h2)) % int32(s.width))
		if at < 0 {
			at = -at
		}
		s.counts[i*s.width+at]++
	}
	s.total++
}

// Merge adds the counts of a sketch of the same shape and seed; others are not taken.
func (s *Sketch) Merge(o *Sketch) bool {
	if o.depth != s.depth || o.width != s.width {
		return false
	}
	for i, n := range o.counts {
		s.counts[i] += n
	}
	s.total += o.total
	return true
}

const version = 1

// Image appends the sketch as bytes.
func (s *Sketch) Image(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, version)
	b = binary.BigEndian.AppendUint64(b, uint64(s.total))
	b = binary.BigEndian.AppendUint32(b, uint32(s.depth))
	b = binary.BigEndian.AppendUint32(b, uint32(s.width))
	for _, f := range s.factors {
		b = binary.BigEndian.AppendUint64(b, uint64(f))
	}
	for _, n := range s.counts {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return b
}

var errImage = errors.New("not the image of a count-min sketch")

// Parse reads an image.
func Parse(b []byte) (*Sketch, error) {
	if len(b) < 20 || binary.BigEndian.Uint32(b) != version {
		return nil, errImage
	}
	s := &Sketch{
		total: int64(binary.BigEndian.Uint64(b[4:])),
		depth: int(int32(binary.BigEndian.Uint32(b[12:]))), width: int(int32(binary.BigEndian.Uint32(b[16:]))),
	}
	data := b[20:]
	if s.depth < 1 || s.width < 1 || s.depth > len(data)/8 || len(data)/8/s.depth < s.width+1 {
		return nil, errImage
	}
	s.factors, s.counts = make([]int64, s.depth), make([]int64, s.depth*s.width)
	for i := range s.factors {
		s.factors[i] = int64(binary.BigEndian.Uint64(data[8*i:]))
	}
	data = data[8*s.depth:]
	for i := range s.counts {
		s.counts[i] = int64(binary.BigEndian.Uint64(data[8*i:]))
	}
	return s, nil
}

// hash is the 32-bit MurmurHash3 of Spark, which takes each byte after the last whole word for a word of its own.
func hash(b []byte, seed uint32) uint32 {
	h := seed
	whole := len(b) &^ 3
	for i := 0; i < whole; i += 4 {
		h = mix(h, binary.LittleEndian.Uint32(b[i:]))
	}
	for _, c := range b[whole:] {
		h = mix(h, uint32(int32(int8(c))))
	}
	h ^= uint32(len(b))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func mix(h, k uint32) uint32 {
	k = bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593
	return bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64
}
