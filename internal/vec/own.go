package vec

import (
	"math"
	"unsafe"
)

// Own returns v when it is Owned, else a copy that may be kept. The copy is compact: it holds the bytes and child rows that
// its rows use and no others.
func (v *Vector) Own() *Vector {
	if !v.borrowed {
		return v
	}
	switch v.enc {
	case Const:
		one := v.header()
		one.enc, one.n = Flat, 1
		return NewConst(one.copyRows(), v.n)
	case Dict:
		if !v.base.borrowed && v.base.n <= 2*v.n {
			d := NewDict(v.base, append([]uint32(nil), v.idx...), v.valid.Clone())
			return d
		}
		return v.Flatten().copyRows()
	}
	return v.copyRows()
}

// copyRows returns a compact Owned copy of a Flat vector.
func (v *Vector) copyRows() *Vector {
	c := &Vector{typ: v.typ, phys: v.phys, n: v.n}
	if v.valid != nil {
		c.valid = append(Bitmap(nil), v.valid[:(v.n+63)/64]...)
	}
	switch v.phys {
	case PhysNull:
	case PhysBytes:
		c.spans = make([]Span, v.n)
		c.buf = appendRowBytes(make([]byte, 0, v.rowBytes()), v, c.spans)
	case PhysList, PhysMap:
		c.spans = make([]Span, v.n)
		rows := appendChildRows(nil, v, c.spans, 0)
		c.kids = make([]*Vector, len(v.kids))
		for i, k := range v.kids {
			c.kids[i] = Take(k, rows, nil).copyShared()
		}
	case PhysStruct:
		c.kids = make([]*Vector, len(v.kids))
		for i, k := range v.kids {
			c.kids[i] = k.copyRows()
		}
	default:
		c.data = growAligned(nil, v.n*v.phys.Width())
		copy(c.data, v.data)
	}
	return c
}

// copyShared is copyRows for a vector fresh from Take, which copied everything of fixed width already.
func (v *Vector) copyShared() *Vector {
	if v.shares() {
		return v.copyRows()
	}
	v.borrowed = false
	return v
}

// rowBytes is the total length of the valid rows of a Flat PhysBytes vector.
func (v *Vector) rowBytes() int {
	total := 0
	if v.valid == nil {
		for _, s := range v.spans {
			total += int(s.Len)
		}
		return total
	}
	for i, s := range v.spans {
		if v.valid.Get(i) {
			total += int(s.Len)
		}
	}
	return total
}

// stretch tells whether the rows of a Flat vector with spans follow one another in the buffer without gaps, and which stretch
// of it they cover.
func (v *Vector) stretch() (from, to uint32, ok bool) {
	if len(v.spans) == 0 {
		return 0, 0, true
	}
	from = v.spans[0].Off
	to = from
	for _, s := range v.spans {
		if s.Off != to {
			return 0, 0, false
		}
		to += s.Len
	}
	return from, to, true
}

// appendRowBytes appends the rows of a Flat PhysBytes vector to buf and fills spans.
func appendRowBytes(buf []byte, v *Vector, spans []Span) []byte {
	if from, to, ok := v.stretch(); ok {
		checkSize(uint64(len(buf)) + uint64(to-from))
		shift := uint32(len(buf)) - from // wraps around, and back when added
		for i, s := range v.spans {
			spans[i] = Span{s.Off + shift, s.Len}
		}
		return append(buf, v.buf[from:to]...)
	}
	src := v.buf
	for i, s := range v.spans {
		at := uint32(len(buf))
		if !v.valid.Get(i) {
			spans[i] = Span{at, 0}
			continue
		}
		buf = append(buf, src[s.Off:s.Off+s.Len]...)
		spans[i] = Span{at, s.Len}
	}
	checkSize(uint64(len(buf)))
	return buf
}

// appendChildRows appends to rows the child rows that a Flat PhysList or PhysMap vector uses, in order, and fills spans so that
// they point into the gathered child, which has base rows before these.
func appendChildRows(rows []uint32, v *Vector, spans []Span, base int) []uint32 {
	at := uint64(base) + uint64(len(rows))
	for i, s := range v.spans {
		if !v.valid.Get(i) {
			spans[i] = Span{uint32(at), 0}
			continue
		}
		for j := s.Off; j < s.Off+s.Len; j++ {
			rows = append(rows, j)
		}
		spans[i] = Span{uint32(at), s.Len}
		at += uint64(s.Len)
	}
	checkSize(at)
	return rows
}

// checkSize stops the process of making a vector whose spans could not address their buffer. Batches are capped in bytes by
// whoever makes them, so that this is a fault of the engine.
func checkSize(n uint64) {
	if n > math.MaxUint32 {
		panic("vec: a vector of more than 4 GiB")
	}
}

// SizeBytes estimates the memory that the rows of v take, without shared buffers counted twice for one vector.
func (v *Vector) SizeBytes() int {
	size := len(v.valid) * 8
	if v.enc == Dict {
		return size + len(v.idx)*4 + v.base.SizeBytes()
	}
	size += len(v.data) + len(v.spans)*int(unsafe.Sizeof(Span{}))
	if v.phys == PhysBytes {
		size += min(len(v.buf), v.storedBytes())
	}
	for _, k := range v.kids {
		size += k.SizeBytes()
	}
	return size
}

func (v *Vector) storedBytes() int {
	total := 0
	for _, s := range v.spans {
		total += int(s.Len)
	}
	return total
}
