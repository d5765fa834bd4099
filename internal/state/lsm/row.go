package lsm

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// A row of columns is written as its columns one after the other: a byte that is 0 for null and 1 otherwise, then the value.
// Values of fixed width are little-endian, strings and binaries have their length before them in four bytes, lists and maps the
// number of their elements; a struct is its fields, all of them null if it is.

// rowBuf holds the bytes of some rows: row i is data[ends[i]:ends[i+1]]. Its memory is used again by the next encode.
type rowBuf struct {
	data []byte
	ends []uint32

	cur    []uint32
	nested []rowBuf // the lists and maps of one column each, encoded before they are copied to their rows
	used   int      // of nested

	// canonical writes numbers that are equal as keys the same: −0.0 as 0.0 and one NaN.
	canonical bool
}

func (b *rowBuf) row(i int) []byte { return b.data[b.ends[i]:b.ends[i+1]:b.ends[i+1]] }

// encode replaces the content by n rows of columns.
func (b *rowBuf) encode(cols []*vec.Vector, n int) {
	if cap(b.cur) < n {
		b.cur, b.ends = make([]uint32, n+n/4), make([]uint32, n+n/4+1)
	}
	b.cur, b.ends = b.cur[:n], b.ends[:n+1]
	clear(b.cur)
	b.used = 0
	flat := make([]*vec.Vector, len(cols))
	for i, v := range cols {
		flat[i] = v.Flatten()
		b.addSizes(flat[i], nil)
	}
	total := uint32(0)
	for i, size := range b.cur {
		b.ends[i], b.cur[i] = total, total
		total += size
	}
	b.ends[n] = total
	if cap(b.data) < int(total) {
		b.data = make([]byte, total+total/4)
	}
	b.data = b.data[:total]
	b.used = 0
	for _, v := range flat {
		b.put(v, nil)
	}
}

// within is the validity of a field inside a struct that may be null itself.
func within(v *vec.Vector, outer vec.Bitmap) vec.Bitmap {
	switch {
	case outer == nil:
		return v.Validity()
	case v.Validity() == nil:
		return outer
	}
	return vec.AndInto(nil, v.Validity(), outer, v.Len())
}

func (b *rowBuf) addSizes(v *vec.Vector, outer vec.Bitmap) {
	valid := within(v, outer)
	for i := range b.cur {
		b.cur[i]++
	}
	switch v.Phys() {
	case vec.PhysNull:
	case vec.PhysStruct:
		for _, k := range v.Kids() {
			b.addSizes(k, valid)
		}
	case vec.PhysBytes:
		for i, s := range v.Spans()[:len(b.cur)] {
			if valid.Get(i) {
				b.cur[i] += 4 + s.Len
			}
		}
	case vec.PhysList, vec.PhysMap:
		x := b.nest()
		x.data, x.ends = x.data[:0], x.ends[:0]
		for i := range b.cur {
			x.ends = append(x.ends, uint32(len(x.data)))
			if valid.Get(i) {
				x.data = b.appendElements(x.data, v, i)
			}
			b.cur[i] += uint32(len(x.data)) - x.ends[i]
		}
		x.ends = append(x.ends, uint32(len(x.data)))
	default:
		w := uint32(v.Phys().Width())
		for i := range b.cur {
			if valid.Get(i) {
				b.cur[i] += w
			}
		}
	}
}

// nest is the next column's scratch.
func (b *rowBuf) nest() *rowBuf {
	if b.used == len(b.nested) {
		b.nested = append(b.nested, rowBuf{})
	}
	b.used++
	return &b.nested[b.used-1]
}

// put writes one column of every row.
func (b *rowBuf) put(v *vec.Vector, outer vec.Bitmap) {
	valid := within(v, outer)
	switch v.Phys() {
	case vec.PhysNull:
		for i, at := range b.cur {
			b.data[at] = 0
			b.cur[i]++
		}
	case vec.PhysStruct:
		for i, at := range b.cur {
			b.data[at] = flag(valid.Get(i))
			b.cur[i]++
		}
		for _, k := range v.Kids() {
			b.put(k, valid)
		}
	case vec.PhysBytes:
		spans, data := v.Spans(), v.Bytes()
		for i, at := range b.cur {
			if !valid.Get(i) {
				b.data[at] = 0
				b.cur[i]++
				continue
			}
			s := spans[i]
			b.data[at] = 1
			binary.LittleEndian.PutUint32(b.data[at+1:], s.Len)
			copy(b.data[at+5:], data[s.Off:s.Off+s.Len])
			b.cur[i] = at + 5 + s.Len
		}
	case vec.PhysList, vec.PhysMap:
		x := b.nest()
		for i, at := range b.cur {
			b.data[at] = flag(valid.Get(i))
			b.cur[i] += 1 + uint32(copy(b.data[at+1:], x.row(i)))
		}
	case vec.PhysBool, vec.PhysInt8:
		putFixed(b, valid, vec.Fixed[uint8](v), 1, func(p []byte, x uint8) { p[0] = x })
	case vec.PhysInt16:
		putFixed(b, valid, vec.Fixed[int16](v), 2, func(p []byte, x int16) { binary.LittleEndian.PutUint16(p, uint16(x)) })
	case vec.PhysInt32:
		putFixed(b, valid, vec.Fixed[int32](v), 4, func(p []byte, x int32) { binary.LittleEndian.PutUint32(p, uint32(x)) })
	case vec.PhysInt64:
		b.putLongs(valid, vec.Fixed[int64](v))
	case vec.PhysFloat32:
		putFixed(b, valid, vec.Fixed[float32](v), 4, func(p []byte, x float32) { binary.LittleEndian.PutUint32(p, b.float(x)) })
	case vec.PhysFloat64:
		putFixed(b, valid, vec.Fixed[float64](v), 8, func(p []byte, x float64) { binary.LittleEndian.PutUint64(p, b.double(x)) })
	case vec.PhysInt128:
		putFixed(b, valid, vec.Fixed[vec.Int128](v), 16, putInt128)
	case vec.PhysInterval:
		putFixed(b, valid, vec.Fixed[vec.Interval](v), 16, putInterval)
	}
}

// putLongs is the loop of the most common columns, without a call.
func (b *rowBuf) putLongs(valid vec.Bitmap, xs []int64) {
	for i, at := range b.cur {
		if valid != nil && !valid.Get(i) {
			b.data[at] = 0
			b.cur[i] = at + 1
			continue
		}
		b.data[at] = 1
		binary.LittleEndian.PutUint64(b.data[at+1:], uint64(xs[i]))
		b.cur[i] = at + 9
	}
}

func putFixed[T vec.FixedWidth](b *rowBuf, valid vec.Bitmap, xs []T, w uint32, put func([]byte, T)) {
	for i, at := range b.cur {
		if !valid.Get(i) {
			b.data[at] = 0
			b.cur[i] = at + 1
			continue
		}
		b.data[at] = 1
		put(b.data[at+1:at+1+w], xs[i])
		b.cur[i] = at + 1 + w
	}
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

func putInt128(p []byte, x vec.Int128) {
	binary.LittleEndian.PutUint64(p, x.Lo)
	binary.LittleEndian.PutUint64(p[8:], uint64(x.Hi))
}

func putInterval(p []byte, x vec.Interval) {
	binary.LittleEndian.PutUint32(p, uint32(x.Months))
	binary.LittleEndian.PutUint32(p[4:], uint32(x.Days))
	binary.LittleEndian.PutUint64(p[8:], uint64(x.Micros))
}

func (b *rowBuf) double(x float64) uint64 {
	if b.canonical {
		switch {
		case x == 0:
			return 0
		case x != x:
			return 0x7FF8000000000000
		}
	}
	return math.Float64bits(x)
}

func (b *rowBuf) float(x float32) uint32 {
	if b.canonical {
		switch {
		case x == 0:
			return 0
		case x != x:
			return 0x7FC00000
		}
	}
	return math.Float32bits(x)
}

// appendElements writes the list or map in row i.
func (b *rowBuf) appendElements(p []byte, v *vec.Vector, i int) []byte {
	s, stored := v.SpanAt(i)
	p = binary.LittleEndian.AppendUint32(p, s.Len)
	for j := s.Off; j < s.Off+s.Len; j++ {
		for _, k := range stored.Kids() {
			p = b.appendValue(p, k, int(j), false)
		}
	}
	return p
}

// appendValue writes one value. null is set inside of a struct that is null.
func (b *rowBuf) appendValue(p []byte, v *vec.Vector, i int, null bool) []byte {
	null = null || v.IsNull(i)
	if v.Phys() == vec.PhysStruct {
		p = append(p, flag(!null))
		v, i = v.Stored(i)
		for _, k := range v.Kids() {
			p = b.appendValue(p, k, i, null)
		}
		return p
	}
	if null {
		return append(p, 0)
	}
	p = append(p, 1)
	switch v.Phys() {
	case vec.PhysBool, vec.PhysInt8:
		return append(p, vec.At[uint8](v, i))
	case vec.PhysInt16:
		return binary.LittleEndian.AppendUint16(p, uint16(vec.At[int16](v, i)))
	case vec.PhysInt32:
		return binary.LittleEndian.AppendUint32(p, uint32(vec.At[int32](v, i)))
	case vec.PhysInt64:
		return binary.LittleEndian.AppendUint64(p, uint64(vec.At[int64](v, i)))
	case vec.PhysFloat32:
		return binary.LittleEndian.AppendUint32(p, b.float(vec.At[float32](v, i)))
	case vec.PhysFloat64:
		return binary.LittleEndian.AppendUint64(p, b.double(vec.At[float64](v, i)))
	case vec.PhysInt128:
		p = append(p, make([]byte, 16)...)
		putInt128(p[len(p)-16:], vec.At[vec.Int128](v, i))
		return p
	case vec.PhysInterval:
		p = append(p, make([]byte, 16)...)
		putInterval(p[len(p)-16:], vec.At[vec.Interval](v, i))
		return p
	case vec.PhysBytes:
		s := v.BytesAt(i)
		p = binary.LittleEndian.AppendUint32(p, uint32(len(s)))
		return append(p, s...)
	}
	return b.appendElements(p, v, i)
}

var errRow = errors.New("a row does not fit the columns")

// decodeRows reads the columns of some types from the front of rows, which are left with what follows.
func decodeRows(rows [][]byte, ts []types.DataType) ([]*vec.Vector, error) {
	cols := make([]*vec.Vector, len(ts))
	for i, t := range ts {
		var err error
		if cols[i], err = decodeColumn(rows, t); err != nil {
			return nil, err
		}
	}
	return cols, nil
}

// decodeMarks reads which rows have a value: nil when all have.
func decodeMarks(rows [][]byte) (vec.Bitmap, error) {
	var valid vec.Bitmap
	for i, r := range rows {
		if len(r) == 0 {
			return nil, errRow
		}
		if r[0] == 0 {
			if valid == nil {
				valid = vec.NewBitmapSet(len(rows))
			}
			valid.Clear(i)
		}
		rows[i] = r[1:]
	}
	return valid, nil
}

func decodeColumn(rows [][]byte, t types.DataType) (*vec.Vector, error) {
	n := len(rows)
	p := vec.PhysOf(t)
	if p == vec.PhysList || p == vec.PhysMap {
		b := vec.NewBuilder(t)
		for i, r := range rows {
			var err error
			if rows[i], err = decodeValue(b, r); err != nil {
				return nil, err
			}
		}
		return b.Finish(), nil
	}
	valid, err := decodeMarks(rows)
	if err != nil {
		return nil, err
	}
	var v *vec.Vector
	switch p {
	case vec.PhysNull:
		return vec.NewNulls(t, n).Flatten(), nil
	case vec.PhysStruct:
		kids, err := decodeRows(rows, vec.KidTypes(t))
		if err != nil {
			return nil, err
		}
		v = vec.NewStruct(t, n, kids)
	case vec.PhysBytes:
		v, err = decodeBytes(rows, t, valid)
	case vec.PhysBool, vec.PhysInt8:
		v, err = decodeFixed(rows, t, valid, func(p []byte) uint8 { return p[0] })
	case vec.PhysInt16:
		v, err = decodeFixed(rows, t, valid, func(p []byte) int16 { return int16(binary.LittleEndian.Uint16(p)) })
	case vec.PhysInt32:
		v, err = decodeFixed(rows, t, valid, func(p []byte) int32 { return int32(binary.LittleEndian.Uint32(p)) })
	case vec.PhysInt64:
		v, err = decodeFixed(rows, t, valid, func(p []byte) int64 { return int64(binary.LittleEndian.Uint64(p)) })
	case vec.PhysFloat32:
		v, err = decodeFixed(rows, t, valid, func(p []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(p)) })
	case vec.PhysFloat64:
		v, err = decodeFixed(rows, t, valid, func(p []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(p)) })
	case vec.PhysInt128:
		v, err = decodeFixed(rows, t, valid, readInt128)
	case vec.PhysInterval:
		v, err = decodeFixed(rows, t, valid, readInterval)
	}
	if err != nil {
		return nil, err
	}
	if valid != nil {
		v.SetValidity(valid)
	}
	return v, nil
}

func readInt128(p []byte) vec.Int128 {
	return vec.Int128{Lo: binary.LittleEndian.Uint64(p), Hi: int64(binary.LittleEndian.Uint64(p[8:]))}
}

func readInterval(p []byte) vec.Interval {
	return vec.Interval{
		Months: int32(binary.LittleEndian.Uint32(p)), Days: int32(binary.LittleEndian.Uint32(p[4:])),
		Micros: int64(binary.LittleEndian.Uint64(p[8:])),
	}
}

func decodeFixed[T vec.FixedWidth](rows [][]byte, t types.DataType, valid vec.Bitmap, read func([]byte) T) (*vec.Vector, error) {
	v := vec.NewFixed(t, len(rows))
	xs, w := vec.Fixed[T](v), v.Phys().Width()
	for i, r := range rows {
		if valid != nil && !valid.Get(i) {
			continue
		}
		if len(r) < w {
			return nil, errRow
		}
		xs[i] = read(r)
		rows[i] = r[w:]
	}
	return v, nil
}

func decodeBytes(rows [][]byte, t types.DataType, valid vec.Bitmap) (*vec.Vector, error) {
	spans := make([]vec.Span, len(rows))
	var buf []byte
	for i, r := range rows {
		if valid != nil && !valid.Get(i) {
			continue
		}
		s, rest, err := cutBytes(r)
		if err != nil {
			return nil, err
		}
		spans[i] = vec.Span{Off: uint32(len(buf)), Len: uint32(len(s))}
		buf = append(buf, s...)
		rows[i] = rest
	}
	return vec.NewBytes(t, spans, buf), nil
}

// cutBytes reads a length and as many bytes.
func cutBytes(p []byte) (s, rest []byte, err error) {
	if len(p) < 4 {
		return nil, nil, errRow
	}
	n := binary.LittleEndian.Uint32(p)
	if uint64(len(p)-4) < uint64(n) {
		return nil, nil, errRow
	}
	return p[4 : 4+n], p[4+n:], nil
}

// decodeValue reads one value behind those of a builder.
func decodeValue(b *vec.Builder, p []byte) (rest []byte, err error) {
	if len(p) == 0 {
		return nil, errRow
	}
	valid := p[0] != 0
	p = p[1:]
	phys := vec.PhysOf(b.Type())
	if phys == vec.PhysStruct {
		for _, k := range b.Children() {
			if p, err = decodeValue(k, p); err != nil {
				return nil, err
			}
		}
		b.AppendStruct(valid)
		return p, nil
	}
	if !valid {
		b.AppendNull()
		return p, nil
	}
	w := phys.Width()
	if len(p) < w {
		return nil, errRow
	}
	switch phys {
	case vec.PhysNull:
		return nil, errRow
	case vec.PhysBool:
		b.AppendBool(p[0] != 0)
	case vec.PhysInt8:
		b.AppendInt8(int8(p[0]))
	case vec.PhysInt16:
		b.AppendInt16(int16(binary.LittleEndian.Uint16(p)))
	case vec.PhysInt32:
		b.AppendInt32(int32(binary.LittleEndian.Uint32(p)))
	case vec.PhysInt64:
		b.AppendInt64(int64(binary.LittleEndian.Uint64(p)))
	case vec.PhysFloat32:
		b.AppendFloat32(math.Float32frombits(binary.LittleEndian.Uint32(p)))
	case vec.PhysFloat64:
		b.AppendFloat64(math.Float64frombits(binary.LittleEndian.Uint64(p)))
	case vec.PhysInt128:
		b.AppendInt128(readInt128(p))
	case vec.PhysInterval:
		b.AppendInterval(readInterval(p))
	case vec.PhysBytes:
		s, rest, err := cutBytes(p)
		if err != nil {
			return nil, err
		}
		b.AppendBytes(s)
		return rest, nil
	default:
		return decodeElements(b, p)
	}
	return p[w:], nil
}

// decodeElements reads a list or a map.
func decodeElements(b *vec.Builder, p []byte) (rest []byte, err error) {
	if len(p) < 4 {
		return nil, errRow
	}
	n := binary.LittleEndian.Uint32(p)
	p = p[4:]
	b.StartList()
	for range n {
		for _, k := range b.Children() {
			if p, err = decodeValue(k, p); err != nil {
				return nil, err
			}
		}
	}
	b.EndList()
	return p, nil
}
