package group

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Keys of several columns, or of an unusual type, are compared as byte strings. The encoding of a row is that of its columns one
// after the other: a byte that is 0 for null and 1 otherwise, then the value: fixed-width values little-endian with floating
// point made canonical, strings with their length in four bytes, structs as their fields, arrays and maps as the number of
// elements and the elements. Two rows are equal as grouping keys exactly when their encodings are equal. It lives in memory only.

// encoder turns key columns into one byte string a row, column by column so that its loops are typed.
type encoder struct {
	buf  []byte
	ends []uint32 // end of row i in buf; row 0 starts at 0
	cur  []uint32
}

// encode returns the rows' encodings: row i is buf[ends[i-1]:ends[i]].
func (e *encoder) encode(cols []*vec.Vector, n int) {
	if cap(e.ends) < n {
		e.ends, e.cur = make([]uint32, n), make([]uint32, n)
	}
	e.ends, e.cur = e.ends[:n], e.cur[:n]
	clear(e.cur)
	for _, v := range cols {
		addSizes(v, n, nil, e.cur)
	}
	total := uint32(0)
	for i, size := range e.cur {
		e.cur[i] = total
		total += size
		e.ends[i] = total
	}
	if cap(e.buf) < int(total) {
		e.buf = make([]byte, total+total/4)
	}
	e.buf = e.buf[:total]
	for _, v := range cols {
		e.put(v, n, nil)
	}
}

// present is the validity of a field inside structs that may be null themselves.
func present(v *vec.Vector, outer vec.Bitmap, i int) bool {
	if outer != nil && !outer.Get(i) {
		return false
	}
	if v.Encoding() == vec.Const {
		return v.Validity().Get(0)
	}
	return v.Validity().Get(i)
}

// isPresent returns the combined validity as a bitmap, nil when every row is present.
func isPresent(v *vec.Vector, outer vec.Bitmap, n int) vec.Bitmap {
	if outer == nil && v.Validity() == nil {
		return nil
	}
	b := vec.NewBitmap(n)
	for i := range n {
		if present(v, outer, i) {
			b.Set(i)
		}
	}
	return b
}

func addSizes(v *vec.Vector, n int, outer vec.Bitmap, sizes []uint32) {
	if v.Phys() == vec.PhysNull {
		for i := range sizes {
			sizes[i]++
		}
		return
	}
	if w := v.Phys().Width(); w > 0 && outer == nil && v.Validity() == nil {
		for i := range sizes {
			sizes[i] += uint32(w) + 1
		}
		return
	}
	switch v.Phys() {
	case vec.PhysStruct:
		valid := isPresent(v, outer, n)
		for i := range sizes {
			sizes[i]++
		}
		for _, k := range v.Kids() {
			addSizes(constLike(k, v), n, valid, sizes)
		}
	case vec.PhysBytes:
		spans, one := v.Spans(), v.Encoding() == vec.Const
		for i := range sizes {
			sizes[i]++
			if present(v, outer, i) {
				s := spans[pick(i, one)]
				sizes[i] += 4 + s.Len
			}
		}
	case vec.PhysList, vec.PhysMap:
		for i := range sizes {
			if !present(v, outer, i) {
				sizes[i]++
				continue
			}
			sizes[i] += uint32(len(appendValue(nil, v, i)))
		}
	default:
		w := uint32(v.Phys().Width())
		for i := range sizes {
			sizes[i]++
			if present(v, outer, i) {
				sizes[i] += w
			}
		}
	}
}

// constLike carries a struct's Const encoding to a field.
func constLike(kid, parent *vec.Vector) *vec.Vector {
	if parent.Encoding() == vec.Const && kid.Encoding() != vec.Const {
		return vec.NewConst(kid, parent.Len())
	}
	return kid
}

func pick(i int, one bool) int {
	if one {
		return 0
	}
	return i
}

// put writes one column of every row at the rows' cursors.
func (e *encoder) put(v *vec.Vector, n int, outer vec.Bitmap) {
	cur, buf := e.cur, e.buf
	one := v.Encoding() == vec.Const
	switch v.Phys() {
	case vec.PhysNull:
		for i := range cur {
			buf[cur[i]] = 0
			cur[i]++
		}
	case vec.PhysStruct:
		valid := isPresent(v, outer, n)
		for i := range cur {
			buf[cur[i]] = flag(valid.Get(i))
			cur[i]++
		}
		for _, k := range v.Kids() {
			e.put(constLike(k, v), n, valid)
		}
	case vec.PhysBytes:
		spans, data := v.Spans(), v.Bytes()
		for i := range cur {
			at := cur[i]
			if !present(v, outer, i) {
				buf[at] = 0
				cur[i] = at + 1
				continue
			}
			s := spans[pick(i, one)]
			buf[at] = 1
			binary.LittleEndian.PutUint32(buf[at+1:], s.Len)
			copy(buf[at+5:], data[s.Off:s.Off+s.Len])
			cur[i] = at + 5 + s.Len
		}
	case vec.PhysList, vec.PhysMap:
		for i := range cur {
			if !present(v, outer, i) {
				buf[cur[i]] = 0
				cur[i]++
				continue
			}
			cur[i] += uint32(copy(buf[cur[i]:], appendValue(nil, v, i)))
		}
	case vec.PhysBool, vec.PhysInt8:
		putFixed(e, v, outer, func(b []byte, x uint8) { b[0] = x })
	case vec.PhysInt16:
		putFixed(e, v, outer, func(b []byte, x int16) { binary.LittleEndian.PutUint16(b, uint16(x)) })
	case vec.PhysInt32:
		putFixed(e, v, outer, func(b []byte, x int32) { binary.LittleEndian.PutUint32(b, uint32(x)) })
	case vec.PhysInt64:
		put64(e, v, outer)
	case vec.PhysFloat32:
		putFixed(e, v, outer, func(b []byte, x float32) { binary.LittleEndian.PutUint32(b, bits32(x)) })
	case vec.PhysFloat64:
		putFixed(e, v, outer, func(b []byte, x float64) { binary.LittleEndian.PutUint64(b, bits64(x)) })
	case vec.PhysInt128:
		putFixed(e, v, outer, func(b []byte, x vec.Int128) {
			binary.LittleEndian.PutUint64(b, x.Lo)
			binary.LittleEndian.PutUint64(b[8:], uint64(x.Hi))
		})
	case vec.PhysInterval:
		putFixed(e, v, outer, func(b []byte, x vec.Interval) {
			binary.LittleEndian.PutUint32(b, uint32(x.Months))
			binary.LittleEndian.PutUint32(b[4:], uint32(x.Days))
			binary.LittleEndian.PutUint64(b[8:], uint64(x.Micros))
		})
	}
}

// put64 is the loop of the most common keys, longs and timestamps, without an indirect call.
func put64(e *encoder, v *vec.Vector, outer vec.Bitmap) {
	xs, one := vec.Fixed[int64](v), v.Encoding() == vec.Const
	plain := outer == nil && v.Validity() == nil
	for i, at := range e.cur {
		if !plain && !present(v, outer, i) {
			e.buf[at] = 0
			e.cur[i] = at + 1
			continue
		}
		e.buf[at] = 1
		binary.LittleEndian.PutUint64(e.buf[at+1:], uint64(xs[pick(i, one)]))
		e.cur[i] = at + 9
	}
}

func putFixed[T vec.FixedWidth](e *encoder, v *vec.Vector, outer vec.Bitmap, put func([]byte, T)) {
	xs, one, w := vec.Fixed[T](v), v.Encoding() == vec.Const, uint32(v.Phys().Width())
	for i, at := range e.cur {
		if !present(v, outer, i) {
			e.buf[at] = 0
			e.cur[i] = at + 1
			continue
		}
		e.buf[at] = 1
		put(e.buf[at+1:at+1+w], xs[pick(i, one)])
		e.cur[i] = at + 1 + w
	}
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

func bits64(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7FF8000000000000
	}
	return math.Float64bits(f)
}

func bits32(f float32) uint32 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7FC00000
	}
	return math.Float32bits(f)
}

// appendValue encodes one value of any type and encoding.
func appendValue(b []byte, v *vec.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(b, 0)
	}
	b = append(b, 1)
	switch v.Phys() {
	case vec.PhysBool, vec.PhysInt8:
		return append(b, vec.At[uint8](v, i))
	case vec.PhysInt16:
		return binary.LittleEndian.AppendUint16(b, uint16(vec.At[int16](v, i)))
	case vec.PhysInt32:
		return binary.LittleEndian.AppendUint32(b, uint32(vec.At[int32](v, i)))
	case vec.PhysInt64:
		return binary.LittleEndian.AppendUint64(b, uint64(vec.At[int64](v, i)))
	case vec.PhysFloat32:
		return binary.LittleEndian.AppendUint32(b, bits32(vec.At[float32](v, i)))
	case vec.PhysFloat64:
		return binary.LittleEndian.AppendUint64(b, bits64(vec.At[float64](v, i)))
	case vec.PhysInt128:
		x := vec.At[vec.Int128](v, i)
		b = binary.LittleEndian.AppendUint64(b, x.Lo)
		return binary.LittleEndian.AppendUint64(b, uint64(x.Hi))
	case vec.PhysInterval:
		x := vec.At[vec.Interval](v, i)
		b = binary.LittleEndian.AppendUint32(b, uint32(x.Months))
		b = binary.LittleEndian.AppendUint32(b, uint32(x.Days))
		return binary.LittleEndian.AppendUint64(b, uint64(x.Micros))
	case vec.PhysBytes:
		s := v.BytesAt(i)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		return append(b, s...)
	case vec.PhysStruct:
		v, i = v.Stored(i)
		for _, k := range v.Kids() {
			b = appendValue(b, k, i)
		}
		return b
	default: // lists and maps
		s, stored := v.SpanAt(i)
		b = binary.LittleEndian.AppendUint32(b, s.Len)
		for j := s.Off; j < s.Off+s.Len; j++ {
			for _, k := range stored.Kids() {
				b = appendValue(b, k, int(j))
			}
		}
		return b
	}
}

// decoder reads encoded keys back into columns.
type decoder struct {
	rows [][]byte // what is left of each row
}

// column reads the next column of every row.
func (d *decoder) column(t types.DataType) *vec.Vector {
	n := len(d.rows)
	var valid vec.Bitmap
	miss := func(i int) bool {
		r := d.rows[i]
		d.rows[i] = r[1:]
		if r[0] != 0 {
			return false
		}
		if valid == nil {
			valid = vec.NewBitmapSet(n)
		}
		valid.Clear(i)
		return true
	}
	var v *vec.Vector
	switch p := vec.PhysOf(t); p {
	case vec.PhysNull:
		for i := range d.rows {
			d.rows[i] = d.rows[i][1:]
		}
		return vec.NewNulls(t, n)
	case vec.PhysStruct:
		for i := range d.rows {
			miss(i)
		}
		var kids []*vec.Vector
		for _, f := range vec.StructFields(t) {
			kids = append(kids, d.column(f.Type))
		}
		v = vec.NewStruct(t, n, kids)
	case vec.PhysBytes:
		spans := make([]vec.Span, n)
		var buf []byte
		for i := range d.rows {
			if miss(i) {
				continue
			}
			r := d.rows[i]
			size := binary.LittleEndian.Uint32(r)
			spans[i] = vec.Span{Off: uint32(len(buf)), Len: size}
			buf = append(buf, r[4:4+size]...)
			d.rows[i] = r[4+size:]
		}
		v = vec.NewBytes(t, spans, buf)
	case vec.PhysList, vec.PhysMap:
		v = d.nested(t, miss)
	default:
		v = vec.NewFixed(t, n)
		w := p.Width()
		for i := range d.rows {
			if miss(i) {
				continue
			}
			copy(raw(v, i, w), d.rows[i][:w])
			d.rows[i] = d.rows[i][w:]
		}
	}
	if valid != nil {
		v.SetValidity(valid)
	}
	return v
}

// raw is the memory of value i of a fixed-width vector; values lie little-endian as they are encoded.
func raw(v *vec.Vector, i, w int) []byte {
	switch w {
	case 1:
		return unsafe.Slice((*byte)(unsafe.Pointer(&vec.Fixed[uint8](v)[i])), 1)
	case 2:
		return unsafe.Slice((*byte)(unsafe.Pointer(&vec.Fixed[int16](v)[i])), 2)
	case 4:
		return unsafe.Slice((*byte)(unsafe.Pointer(&vec.Fixed[int32](v)[i])), 4)
	case 8:
		return unsafe.Slice((*byte)(unsafe.Pointer(&vec.Fixed[int64](v)[i])), 8)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&vec.Fixed[vec.Int128](v)[i])), 16)
}

// nested reads lists or maps: element by element in row order, since elements of one row follow each other.
func (d *decoder) nested(t types.DataType, miss func(int) bool) *vec.Vector {
	spans := make([]vec.Span, len(d.rows))
	elems := []types.DataType{}
	switch t := t.(type) {
	case types.ArrayType:
		elems = append(elems, t.Element)
	case types.MapType:
		elems = append(elems, t.Key, t.Value)
	}
	parts := make([][]*vec.Vector, len(elems))
	total := uint32(0)
	for i := range d.rows {
		if miss(i) {
			continue
		}
		count := binary.LittleEndian.Uint32(d.rows[i])
		d.rows[i] = d.rows[i][4:]
		spans[i] = vec.Span{Off: total, Len: count}
		total += count
		for range count {
			one := decoder{rows: [][]byte{d.rows[i]}}
			for k, et := range elems {
				parts[k] = append(parts[k], one.column(et))
			}
			d.rows[i] = one.rows[0]
		}
	}
	kids := make([]*vec.Vector, len(elems))
	for k, et := range elems {
		if len(parts[k]) == 0 {
			kids[k] = vec.NewNulls(et, 0).Flatten()
			continue
		}
		kids[k] = vec.Concat(parts[k])
	}
	if len(elems) == 1 {
		return vec.NewList(t, spans, kids[0])
	}
	return vec.NewMap(t, spans, kids[0], kids[1])
}
