package exec

import (
	"encoding/binary"
	"math"

	"github.com/millrace/millrace/internal/vec"
)

// imageHashes hashes the images of rows: the bytes in which Spark holds a row. They begin with a bit for each null field, then come eight bytes
// for each field and then, padded to eight bytes, values of varying size, of which the field has place and size.
func imageHashes(b *vec.Batch) []uint32 {
	flat := make([]*vec.Vector, len(b.Cols))
	for i, c := range b.Cols {
		flat[i] = c.Flatten()
	}
	out := make([]uint32, b.N)
	var im image
	for i := range out {
		im = im[:0]
		im.row(flat, i)
		out[i] = vec.Murmur(im, imageSeed)
	}
	return out
}

const imageSeed = 42

// image is an image that grows.
type image []byte

func (m *image) zeros(n int) int {
	at := len(*m)
	*m = append(*m, make([]byte, n)...)
	return at
}

func (m image) put(at int, v uint64) { binary.LittleEndian.PutUint64(m[at:], v) }

// pad fills up to eight bytes.
func (m *image) pad(from int) { m.zeros(-(len(*m) - from) & 7) }

func (m *image) row(cols []*vec.Vector, i int) {
	start := len(*m)
	bits := (len(cols) + 63) / 64 * 8
	m.zeros(bits + 8*len(cols))
	for c, v := range cols {
		at := start + bits + 8*c
		if v.Phys() == vec.PhysNull || v.IsNull(i) {
			(*m)[start+c/8] |= 1 << (c % 8)
			switch v.Phys() {
			case vec.PhysInt128:
				m.zeros(16) // so that it can become a value
			case vec.PhysInterval:
				m.put(at, uint64(len(*m)-start)<<32|16)
				m.zeros(16)
			}
			continue
		}
		m.field(v, i, at, start, false)
	}
}

// field writes a value of a row or, packed, of an array: fixed ones to at, others behind everything, at a distance from start.
func (m *image) field(v *vec.Vector, i, at, start int, packed bool) {
	from := len(*m)
	switch v.Phys() {
	case vec.PhysBool, vec.PhysInt8:
		(*m)[at] = vec.Fixed[uint8](v)[i]
		return
	case vec.PhysInt16:
		binary.LittleEndian.PutUint16((*m)[at:], uint16(vec.Fixed[int16](v)[i]))
		return
	case vec.PhysInt32:
		binary.LittleEndian.PutUint32((*m)[at:], vec.Fixed[uint32](v)[i])
		return
	case vec.PhysFloat32:
		binary.LittleEndian.PutUint32((*m)[at:], math.Float32bits(vec.Fixed[float32](v)[i]))
		return
	case vec.PhysInt64:
		m.put(at, vec.Fixed[uint64](v)[i])
		return
	case vec.PhysFloat64:
		m.put(at, math.Float64bits(vec.Fixed[float64](v)[i]))
		return
	case vec.PhysInt128:
		x := vec.Fixed[vec.Int128](v)[i]
		digits := vec.MinimalBytes(x)
		*m = append(*m, digits...)
		m.put(at, uint64(from-start)<<32|uint64(len(digits)))
		if packed {
			m.pad(from)
		} else {
			m.zeros(16 - len(digits))
		}
		return
	case vec.PhysInterval:
		x := vec.Fixed[vec.Interval](v)[i]
		m.zeros(16)
		m.put(from, uint64(uint32(x.Months))|uint64(uint32(x.Days))<<32)
		m.put(from+8, uint64(x.Micros))
	case vec.PhysBytes:
		b := v.BytesAt(i)
		*m = append(*m, b...)
		m.pad(from)
		m.put(at, uint64(from-start)<<32|uint64(len(b)))
		return
	case vec.PhysList:
		span, _ := v.SpanAt(i)
		m.array(v.Kids()[0], span)
	case vec.PhysMap:
		span, _ := v.SpanAt(i)
		m.zeros(8)
		m.array(v.Kids()[0], span)
		m.put(from, uint64(len(*m)-from-8))
		m.array(v.Kids()[1], span)
	default:
		m.row(v.Kids(), i)
	}
	m.put(at, uint64(from-start)<<32|uint64(len(*m)-from))
}

// array writes a stretch of elements: their number, a bit for each that is null, and then the elements, as wide as they are.
func (m *image) array(v *vec.Vector, span vec.Span) {
	start, lo, n := len(*m), int(span.Off), int(span.Len)
	width := 8
	switch v.Phys() {
	case vec.PhysBool, vec.PhysInt8:
		width = 1
	case vec.PhysInt16:
		width = 2
	case vec.PhysInt32, vec.PhysFloat32:
		width = 4
	}
	head := 8 + (n+63)/64*8
	m.zeros(head + (n*width+7)/8*8)
	m.put(start, uint64(n))
	for k := range n {
		if v.Phys() == vec.PhysNull || v.IsNull(lo+k) {
			(*m)[start+8+k/8] |= 1 << (k % 8)
			continue
		}
		m.field(v, lo+k, start+head+k*width, start, true)
	}
}
