package vec

import (
	"math"
	"slices"
	"unsafe"

	"github.com/millrace/millrace/types"
)

// Builder makes a Flat vector row by row. Rows lie behind one another without gaps, so that the result converts to Arrow
// without copying.
//
// Each row is one call of the Append method for the layout, or of AppendNull. A list row is StartList, the appends to the
// children, and EndList; a struct row is one append to each child, then AppendStruct. A builder whose row failed half way is
// brought back with Truncate.
type Builder struct {
	ptr   unsafe.Pointer // start of data or spans, for appending without a bounds check on the slice
	n     int
	room  int // rows that fit before grow
	typ   types.DataType
	phys  Phys
	width int
	nulls int
	valid Bitmap // room bits; those at and past n are set, so that valid rows need not touch it
	data  []byte // room rows
	spans []Span // room rows
	buf   []byte
	kids  []*Builder
	start uint32 // first child row of the list begun with StartList
	// What the last finished vector had; the next one is likely as large.
	lastRows, lastBytes int
}

// NewBuilder returns a builder of vectors of a type.
func NewBuilder(t types.DataType) *Builder {
	b := &Builder{typ: t, phys: PhysOf(t)}
	b.width = b.phys.Width()
	for _, k := range KidTypes(t) {
		b.kids = append(b.kids, NewBuilder(k))
	}
	return b
}

// NewBuilders returns a builder for each field of a schema.
func NewBuilders(s types.StructType) []*Builder {
	bs := make([]*Builder, len(s.Fields))
	for i, f := range s.Fields {
		bs[i] = NewBuilder(f.Type)
	}
	return bs
}

// Type is the data type of the rows.
func (b *Builder) Type() types.DataType { return b.typ }

// Len is the number of rows appended.
func (b *Builder) Len() int { return b.n }

// Size is the number of bytes appended to this builder and its children, for callers that cap a batch.
func (b *Builder) Size() int {
	size := b.n*b.width + len(b.buf)
	if b.spans != nil {
		size += b.n * 8
	}
	for _, k := range b.kids {
		size += k.Size()
	}
	return size
}

// Child is the builder of a list's elements (0), a map's keys (0) and values (1), or a struct's field i.
func (b *Builder) Child(i int) *Builder { return b.kids[i] }

// Children are all child builders.
func (b *Builder) Children() []*Builder { return b.kids }

// Reserve makes room for n more rows.
func (b *Builder) Reserve(n int) {
	if b.n+n > b.room {
		b.resize(b.n + n)
	}
}

// grow makes room for another row. It is kept out of line so that the appends can be inlined.
//
//go:noinline
func (b *Builder) grow() {
	if b.room == 0 {
		b.resize(max(64, b.lastRows))
		return
	}
	b.resize(2 * b.room)
}

func (b *Builder) resize(room int) {
	room = (room + 63) &^ 63
	if b.width > 0 {
		data := growAligned(nil, room*b.width)
		copy(data, b.data[:b.n*b.width])
		b.data, b.ptr = data, unsafe.Pointer(unsafe.SliceData(data))
	} else if b.phys == PhysBytes || b.phys == PhysList || b.phys == PhysMap {
		spans := make([]Span, room)
		copy(spans, b.spans[:b.n])
		b.spans, b.ptr = spans, unsafe.Pointer(unsafe.SliceData(spans))
		if b.phys == PhysBytes && b.buf == nil {
			b.buf = make([]byte, 0, max(64, b.lastBytes))
		}
	}
	if b.valid != nil {
		valid := NewBitmapSet(room)
		copy(valid, b.valid)
		b.valid = valid
	}
	b.room = room
}

// AppendNull appends a null row.
func (b *Builder) AppendNull() {
	if b.n == b.room {
		b.grow()
	}
	if b.valid == nil {
		b.valid = NewBitmapSet(b.room)
	}
	b.valid.Clear(b.n)
	b.nulls++
	switch b.phys {
	case PhysNull:
	case PhysBytes:
		b.spans[b.n] = Span{uint32(len(b.buf)), 0}
	case PhysList, PhysMap:
		b.spans[b.n] = Span{uint32(b.kids[0].n), 0}
	case PhysStruct:
		for _, k := range b.kids {
			if k.n == b.n {
				k.AppendNull()
			}
		}
	default:
		clear(b.data[b.n*b.width : (b.n+1)*b.width])
	}
	b.n++
}

// AppendNulls appends n null rows.
func (b *Builder) AppendNulls(n int) {
	b.Reserve(n)
	for range n {
		b.AppendNull()
	}
}

// AppendBool appends to a PhysBool builder.
func (b *Builder) AppendBool(x bool) {
	var v uint8
	if x {
		v = 1
	}
	b.appendUint8(v)
}

func (b *Builder) appendUint8(x uint8) {
	if b.n == b.room {
		b.grow()
	}
	*(*uint8)(unsafe.Add(b.ptr, b.n)) = x
	b.n++
}

// AppendInt8 appends to a PhysInt8 builder.
func (b *Builder) AppendInt8(x int8) { b.appendUint8(uint8(x)) }

// AppendInt16 appends to a PhysInt16 builder.
func (b *Builder) AppendInt16(x int16) {
	if b.n == b.room {
		b.grow()
	}
	*(*int16)(unsafe.Add(b.ptr, b.n*2)) = x
	b.n++
}

// AppendInt32 appends to a PhysInt32 builder.
func (b *Builder) AppendInt32(x int32) {
	if b.n == b.room {
		b.grow()
	}
	*(*int32)(unsafe.Add(b.ptr, b.n*4)) = x
	b.n++
}

// AppendInt64 appends to a PhysInt64 builder.
func (b *Builder) AppendInt64(x int64) {
	if b.n == b.room {
		b.grow()
	}
	*(*int64)(unsafe.Add(b.ptr, b.n*8)) = x
	b.n++
}

// AppendFloat32 appends to a PhysFloat32 builder.
func (b *Builder) AppendFloat32(x float32) {
	if b.n == b.room {
		b.grow()
	}
	*(*float32)(unsafe.Add(b.ptr, b.n*4)) = x
	b.n++
}

// AppendFloat64 appends to a PhysFloat64 builder.
func (b *Builder) AppendFloat64(x float64) {
	if b.n == b.room {
		b.grow()
	}
	*(*float64)(unsafe.Add(b.ptr, b.n*8)) = x
	b.n++
}

// AppendInt128 appends to a PhysInt128 builder.
func (b *Builder) AppendInt128(x Int128) {
	if b.n == b.room {
		b.grow()
	}
	*(*Int128)(unsafe.Add(b.ptr, b.n*16)) = x
	b.n++
}

// AppendInterval appends to a PhysInterval builder.
func (b *Builder) AppendInterval(x Interval) {
	if b.n == b.room {
		b.grow()
	}
	*(*Interval)(unsafe.Add(b.ptr, b.n*16)) = x
	b.n++
}

// AppendBytes appends a copy of p to a PhysBytes builder.
func (b *Builder) AppendBytes(p []byte) {
	if b.n == b.room {
		b.grow()
	}
	at := len(b.buf)
	if cap(b.buf)-at < len(p) {
		b.growBytes(len(p))
	}
	b.buf = b.buf[:at+len(p)] // keeps the pointer: an append would store it anew, past the collector's write barrier
	copy(b.buf[at:], p)
	b.endBytes(at)
}

// AppendString appends a copy of s to a PhysBytes builder.
func (b *Builder) AppendString(s string) {
	if b.n == b.room {
		b.grow()
	}
	at := len(b.buf)
	if cap(b.buf)-at < len(s) {
		b.growBytes(len(s))
	}
	b.buf = b.buf[:at+len(s)] // keeps the pointer: an append would store it anew, past the collector's write barrier
	copy(b.buf[at:], s)
	b.endBytes(at)
}

// growBytes makes room for n more bytes.
//
//go:noinline
func (b *Builder) growBytes(n int) { b.buf = slices.Grow(b.buf, n) }

// endBytes appends the row whose bytes start at a place of the buffer; there is room for it.
func (b *Builder) endBytes(at int) {
	if len(b.buf) > math.MaxUint32 {
		checkSize(uint64(len(b.buf)))
	}
	*(*Span)(unsafe.Add(b.ptr, b.n*8)) = Span{uint32(at), uint32(len(b.buf) - at)}
	b.n++
}

// Buffer is the byte buffer of a PhysBytes builder, for callers that write a value's bytes themselves: they append to it and
// hand it to CommitBytes, which makes what was appended one row.
func (b *Builder) Buffer() []byte {
	if b.n == b.room {
		b.grow()
	}
	return b.buf
}

// CommitBytes takes the buffer back and appends a row of the bytes that were added to it.
func (b *Builder) CommitBytes(buf []byte) {
	if b.n == b.room {
		b.grow()
	}
	at := len(b.buf)
	b.buf = buf
	b.endBytes(at)
}

// StartList begins a row of an array or map.
func (b *Builder) StartList() { b.start = uint32(b.kids[0].n) }

// EndList appends the row whose elements were appended to the children since StartList.
func (b *Builder) EndList() {
	if b.n == b.room {
		b.grow()
	}
	b.spans[b.n] = Span{b.start, uint32(b.kids[0].n) - b.start}
	b.n++
}

// AppendStruct appends a struct row, null unless valid, whose fields were appended to the children. Children that have
// nothing for the row yet get a null.
func (b *Builder) AppendStruct(valid bool) {
	if !valid {
		b.AppendNull()
		return
	}
	if b.n == b.room {
		b.grow()
	}
	for _, k := range b.kids {
		if k.n == b.n {
			k.AppendNull()
		}
	}
	b.n++
}

// Truncate drops all rows from row n on, and whatever was appended to the children for a row that was not finished.
func (b *Builder) Truncate(n int) {
	switch b.phys {
	case PhysBytes:
		b.buf = b.buf[:b.end(n)]
	case PhysList, PhysMap:
		for _, k := range b.kids {
			k.Truncate(b.end(n))
		}
	case PhysStruct:
		for _, k := range b.kids {
			k.Truncate(n)
		}
	}
	for i := n; b.valid != nil && i < b.n; i++ {
		if !b.valid.Get(i) {
			b.valid.Set(i)
			b.nulls--
		}
	}
	b.n = n
}

// end is where the bytes or child rows of the first n rows end.
func (b *Builder) end(n int) int {
	if n == 0 {
		return 0
	}
	s := b.spans[n-1]
	return int(s.Off + s.Len)
}

// Finish returns the rows as an Owned vector and starts a new one.
func (b *Builder) Finish() *Vector {
	v := b.view()
	b.lastRows, b.lastBytes = b.n, len(b.buf)+len(b.buf)/8
	b.data, b.ptr, b.spans, b.valid, b.buf, b.n, b.nulls, b.room = nil, nil, nil, nil, nil, 0, 0, 0
	for i, k := range b.kids {
		v.kids[i] = k.Finish()
	}
	return v
}

// Borrow returns the rows as a Borrowed vector that is valid until the next Reset; nothing may be appended before that. It is
// for kernels that keep a builder as scratch.
func (b *Builder) Borrow() *Vector {
	v := b.view()
	for i, k := range b.kids {
		v.kids[i] = k.Borrow()
	}
	v.borrowed = true
	return v
}

func (b *Builder) view() *Vector {
	v := &Vector{typ: b.typ, phys: b.phys, n: b.n, buf: b.buf}
	if b.width > 0 {
		v.data = b.data[:b.n*b.width]
	} else if b.phys == PhysBytes || b.phys == PhysList || b.phys == PhysMap {
		v.spans = b.spans[:b.n]
	}
	if b.nulls > 0 {
		v.valid = b.valid[:(b.n+63)/64]
	}
	if len(b.kids) > 0 {
		v.kids = make([]*Vector, len(b.kids))
	}
	return v
}

// Reset drops all rows and keeps the memory. Vectors from Finish are not touched, those from Borrow are.
func (b *Builder) Reset() {
	b.n, b.nulls = 0, 0
	b.buf = b.buf[:0]
	if b.valid != nil {
		b.valid.SetAll(len(b.valid) * 64)
	}
	for _, k := range b.kids {
		k.Reset()
	}
}
