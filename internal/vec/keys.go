package vec

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// Order says how one column is sorted.
type Order struct {
	Desc, NullsLast bool
}

// KeyBuffer holds the byte keys of some rows; its memory is reused by the next EncodeKeys.
type KeyBuffer struct {
	Data []byte
	// Ends has one entry more than there are rows: key i is Data[Ends[i]:Ends[i+1]].
	Ends []uint32

	pos   []uint32 // where the next column of each row is written
	part  []byte   // nested values of one column, before they are copied to their rows
	parts []uint32
	flat  Vector // a dictionary column, flattened
}

// Len is the number of keys.
func (k *KeyBuffer) Len() int { return max(0, len(k.Ends)-1) }

// Key is the key of row i.
func (k *KeyBuffer) Key(i int) []byte { return k.Data[k.Ends[i]:k.Ends[i+1]:k.Ends[i+1]] }

// EncodeKeys makes a byte key for each of n rows of columns. Keys are equal if and only if the rows are (null equals null, −0.0
// equals 0.0, NaN equals NaN, maps are equal in any order of their entries), and compare as the rows do in ascending order with
// nulls first. NaN is the largest number.
//
// The form is part of the state format: a byte 0 for null or 1, then integers big-endian with the sign bit flipped, floats
// so that they sort, decimals as integers of 8 or 16 bytes, bytes with 0 written as 00 ff and 00 00 at the end, arrays as
// elements each behind a 1, with a 0 at the end, maps as arrays of key and value in the order of the keys, structs as their
// fields. A null of fixed width is followed by zeros of that width.
func EncodeKeys(cols []*Vector, n int, k *KeyBuffer) { EncodeSortKeys(cols, nil, n, k) }

// EncodeSortKeys is EncodeKeys with an order for each column. A descending column has its bytes inverted; nulls that come last
// are written as 2.
func EncodeSortKeys(cols []*Vector, orders []Order, n int, k *KeyBuffer) {
	order := func(c int) Order {
		if c < len(orders) {
			return orders[c]
		}
		return Order{}
	}
	if cap(k.Ends) < n+1 {
		k.Ends, k.pos = make([]uint32, n+1, n+1+n/4), make([]uint32, n, n+n/4)
	}
	k.Ends, k.pos = k.Ends[:n+1], k.pos[:n]
	if len(cols) == 1 && cols[0].phys.Width() == 0 {
		// The one column is written behind one another as it comes: no need to know the sizes before.
		k.encodeOnly(cols[0], order(0), n)
		return
	}
	sizes := k.pos
	fixed := uint32(0)
	clear(sizes)
	for _, v := range cols {
		if w := v.phys.Width(); w > 0 {
			fixed += uint32(w) + 1
		} else {
			k.addSizes(v, sizes)
		}
	}
	total := uint64(0)
	for i, s := range sizes {
		k.Ends[i] = uint32(total)
		k.pos[i] = uint32(total)
		total += uint64(s + fixed)
	}
	checkSize(total)
	k.Ends[n] = uint32(total)
	if uint64(cap(k.Data)) < total {
		k.Data = make([]byte, total, total+total/4)
	}
	k.Data = k.Data[:total]
	for c, v := range cols {
		k.encodeColumn(v, order(c), n)
	}
}

// addSizes adds the length of each row's encoding of a column that is not of fixed width.
func (k *KeyBuffer) addSizes(v *Vector, sizes []uint32) {
	if v.enc == Const {
		size := uint32(len(appendKey(k.part[:0], v, 0)))
		for i := range sizes {
			sizes[i] += size
		}
		return
	}
	v = v.FlattenInto(&k.flat)
	if v.phys == PhysBytes {
		from, to, ok := v.stretch()
		plain := ok && bytes.IndexByte(v.buf[from:to], 0) < 0
		for i, s := range v.spans[:len(sizes)] {
			switch {
			case !v.valid.Get(i):
				sizes[i]++
			case plain:
				sizes[i] += s.Len + 3
			default:
				sizes[i] += s.Len + 3 + uint32(bytes.Count(v.buf[s.Off:s.Off+s.Len], zeroByte))
			}
		}
		return
	}
	k.encodeParts(v, Order{}, len(sizes))
	for i := range sizes {
		sizes[i] += k.parts[i+1] - k.parts[i]
	}
}

var zeroByte = []byte{0}

// encodeParts writes the encodings of one column behind one another into part.
func (k *KeyBuffer) encodeParts(v *Vector, o Order, n int) {
	k.part, k.parts = k.part[:0], append(k.parts[:0], 0)
	for i := range n {
		k.part = appendOrdered(k.part, v, i, o)
		checkSize(uint64(len(k.part)))
		k.parts = append(k.parts, uint32(len(k.part)))
	}
}

// encodeOnly makes the keys of a single column that is not of fixed width.
func (k *KeyBuffer) encodeOnly(v *Vector, o Order, n int) {
	k.Data = k.Data[:0]
	v = v.FlattenInto(&k.flat)
	k.Ends[0] = 0
	for i := range n {
		if v.phys == PhysBytes && !o.Desc && v.valid.Get(i) {
			s := v.spans[i]
			k.Data = appendEscaped(append(k.Data, 1), v.buf[s.Off:s.Off+s.Len])
		} else {
			k.Data = appendOrdered(k.Data, v, i, o)
		}
		k.Ends[i+1] = uint32(len(k.Data))
	}
	checkSize(uint64(len(k.Data)))
}

// encodeColumn writes one column of every key at pos and moves pos on.
func (k *KeyBuffer) encodeColumn(v *Vector, o Order, n int) {
	if v.enc == Const {
		k.part = appendOrdered(k.part[:0], v, 0, o)
		for i, p := range k.pos {
			copy(k.Data[p:], k.part)
			k.pos[i] = p + uint32(len(k.part))
		}
		return
	}
	v = v.FlattenInto(&k.flat)
	switch v.phys {
	case PhysBool:
		putColumn(k, v, o, Fixed[uint8](v), 1, func(b []byte, x uint8) { b[0] = x })
	case PhysInt8:
		putColumn(k, v, o, Fixed[uint8](v), 1, func(b []byte, x uint8) { b[0] = x ^ 0x80 })
	case PhysInt16:
		putColumn(k, v, o, Fixed[int16](v), 2, func(b []byte, x int16) { binary.BigEndian.PutUint16(b, uint16(x)^1<<15) })
	case PhysInt32:
		k.putInt32(v, o)
	case PhysInt64:
		k.putInt64(v, o)
	case PhysFloat32:
		putColumn(k, v, o, Fixed[float32](v), 4, func(b []byte, x float32) { binary.BigEndian.PutUint32(b, sortable32(x)) })
	case PhysFloat64:
		putColumn(k, v, o, Fixed[float64](v), 8, func(b []byte, x float64) { binary.BigEndian.PutUint64(b, sortable64(x)) })
	case PhysInt128:
		putColumn(k, v, o, Fixed[Int128](v), 16, putInt128)
	case PhysInterval:
		putColumn(k, v, o, Fixed[Interval](v), 16, putInterval)
	case PhysBytes:
		k.putBytes(v, o)
	default:
		k.encodeParts(v, o, n)
		for i, p := range k.pos {
			k.pos[i] = p + uint32(copy(k.Data[p:], k.part[k.parts[i]:k.parts[i+1]]))
		}
	}
}

func (k *KeyBuffer) putBytes(v *Vector, o Order) {
	for i, p := range k.pos {
		if !v.valid.Get(i) {
			k.Data[p] = nullMark(o)
			k.pos[i] = p + 1
			continue
		}
		s := v.spans[i]
		k.Data[p] = 1
		// The room was counted before: appending stays within Data.
		end := len(appendEscaped(k.Data[:p+1], v.buf[s.Off:s.Off+s.Len]))
		if o.Desc {
			invert(k.Data[p+1 : end])
		}
		k.pos[i] = uint32(end)
	}
}

func (k *KeyBuffer) putInt32(v *Vector, o Order) {
	data, valid := k.Data, v.valid
	flip := uint32(1 << 31)
	if o.Desc {
		flip = ^flip
	}
	xs := Fixed[uint32](v)[:len(k.pos)]
	for i, p := range k.pos {
		b := data[p : p+5]
		if valid.Get(i) {
			b[0] = 1
			binary.BigEndian.PutUint32(b[1:], xs[i]^flip)
		} else {
			b[0] = nullMark(o)
			clear(b[1:])
		}
		k.pos[i] = p + 5
	}
}

func (k *KeyBuffer) putInt64(v *Vector, o Order) {
	data, valid := k.Data, v.valid
	flip := uint64(1 << 63)
	if o.Desc {
		flip = ^flip
	}
	xs := Fixed[uint64](v)[:len(k.pos)]
	for i, p := range k.pos {
		b := data[p : p+9]
		if valid.Get(i) {
			b[0] = 1
			binary.BigEndian.PutUint64(b[1:], xs[i]^flip)
		} else {
			b[0] = nullMark(o)
			clear(b[1:])
		}
		k.pos[i] = p + 9
	}
}

// putColumn writes a column of fixed width whose layout is a less usual key.
func putColumn[T FixedWidth](k *KeyBuffer, v *Vector, o Order, xs []T, w uint32, put func(b []byte, x T)) {
	data, valid := k.Data, v.valid
	for i, p := range k.pos {
		b := data[p : p+w+1]
		if valid.Get(i) {
			b[0] = 1
			put(b[1:], xs[i])
			if o.Desc {
				invert(b[1:])
			}
		} else {
			b[0] = nullMark(o)
			clear(b[1:])
		}
		k.pos[i] = p + w + 1
	}
}

func nullMark(o Order) byte {
	if o.NullsLast {
		return 2
	}
	return 0
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func putInt128(b []byte, x Int128) {
	binary.BigEndian.PutUint64(b, uint64(x.Hi)^1<<63)
	binary.BigEndian.PutUint64(b[8:], x.Lo)
}

func putInterval(b []byte, x Interval) {
	binary.BigEndian.PutUint32(b, uint32(x.Months)^1<<31)
	binary.BigEndian.PutUint32(b[4:], uint32(x.Days)^1<<31)
	binary.BigEndian.PutUint64(b[8:], uint64(x.Micros)^1<<63)
}

// sortable64 maps numbers to unsigned integers in the same order.
func sortable64(x float64) uint64 {
	u := canonicalBits(x)
	return u ^ (uint64(int64(u)>>63) | 1<<63)
}

func sortable32(x float32) uint32 {
	u := math.Float32bits(x)
	switch {
	case x == 0:
		u = 0
	case x != x:
		u = 0x7fc00000
	}
	return u ^ (uint32(int32(u)>>31) | 1<<31)
}

// appendEscaped appends b so that no encoding is a prefix of another and order is kept.
func appendEscaped(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return append(append(dst, b...), 0, 0)
		}
		dst = append(append(dst, b[:i]...), 0, 0xff)
		b = b[i+1:]
	}
}

// appendOrdered appends the encoding of row i of a vector of any encoding, in an order.
func appendOrdered(dst []byte, v *Vector, i int, o Order) []byte {
	at := len(dst)
	dst = appendKey(dst, v, i)
	if dst[at] == 0 {
		dst[at] = nullMark(o)
	} else if o.Desc {
		invert(dst[at+1:])
	}
	return dst
}

// appendKey appends the ascending encoding of row i of a vector of any encoding.
func appendKey(dst []byte, v *Vector, i int) []byte {
	for v.enc == Dict {
		if !v.valid.Get(i) {
			return appendNull(dst, v)
		}
		i, v = int(v.idx[i]), v.base
	}
	i = v.stored(i)
	if v.phys == PhysNull || !v.valid.Get(i) {
		return appendNull(dst, v)
	}
	dst = append(dst, 1)
	at := len(dst)
	if w := v.phys.Width(); w > 0 {
		dst = append(dst, zeros[:w]...)
	}
	b := dst[at:]
	switch v.phys {
	case PhysBool:
		b[0] = Fixed[uint8](v)[i]
	case PhysInt8:
		b[0] = Fixed[uint8](v)[i] ^ 0x80
	case PhysInt16:
		binary.BigEndian.PutUint16(b, uint16(Fixed[int16](v)[i])^1<<15)
	case PhysInt32:
		binary.BigEndian.PutUint32(b, Fixed[uint32](v)[i]^1<<31)
	case PhysInt64:
		binary.BigEndian.PutUint64(b, Fixed[uint64](v)[i]^1<<63)
	case PhysFloat32:
		binary.BigEndian.PutUint32(b, sortable32(Fixed[float32](v)[i]))
	case PhysFloat64:
		binary.BigEndian.PutUint64(b, sortable64(Fixed[float64](v)[i]))
	case PhysInt128:
		putInt128(b, Fixed[Int128](v)[i])
	case PhysInterval:
		putInterval(b, Fixed[Interval](v)[i])
	case PhysBytes:
		s := v.spans[i]
		dst = appendEscaped(dst, v.buf[s.Off:s.Off+s.Len])
	case PhysList:
		s := v.spans[i]
		for j := s.Off; j < s.Off+s.Len; j++ {
			dst = appendKey(append(dst, 1), v.kids[0], int(j))
		}
		dst = append(dst, 0)
	case PhysMap:
		dst = appendMapKey(dst, v, i)
	case PhysStruct:
		for _, f := range v.kids {
			dst = appendKey(dst, f, i)
		}
	}
	return dst
}

var zeros [16]byte

func appendNull(dst []byte, v *Vector) []byte {
	return append(append(dst, 0), zeros[:v.phys.Width()]...)
}

// appendMapKey writes the entries in the order of their keys' encodings.
func appendMapKey(dst []byte, v *Vector, i int) []byte {
	s := v.spans[i]
	entries := make([][]byte, s.Len)
	for j := range entries {
		e := appendKey(nil, v.kids[0], int(s.Off)+j)
		entries[j] = appendKey(e, v.kids[1], int(s.Off)+j)
	}
	// No key's encoding is a prefix of another's, so that the values do not take part.
	slices.SortFunc(entries, bytes.Compare)
	for _, e := range entries {
		dst = append(append(dst, 1), e...)
	}
	return append(dst, 0)
}
