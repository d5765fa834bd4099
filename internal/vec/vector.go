package vec

import (
	"fmt"
	"unsafe"

	"github.com/millrace/millrace/types"
)

// BatchRows is the number of rows that sources and operators aim at in one batch.
const BatchRows = 4096

// Phys is the physical layout of a vector's values.
type Phys uint8

// The layouts. Timestamps, times and day-time intervals are PhysInt64, dates and year-month intervals PhysInt32, decimals
// of up to 18 digits PhysInt64 (unscaled), wider ones PhysInt128. A variant is a PhysStruct of two binary children, value
// and metadata.
const (
	PhysNull     Phys = iota // no values at all: every row is null
	PhysBool                 // one byte, 0 or 1
	PhysInt8                 // one byte
	PhysInt16                // two bytes
	PhysInt32                // four bytes
	PhysInt64                // eight bytes
	PhysFloat32              // four bytes
	PhysFloat64              // eight bytes
	PhysInt128               // Int128: low word, then high word
	PhysInterval             // Interval: months, days, microseconds
	PhysBytes                // spans over a byte buffer: string and binary
	PhysList                 // spans over Kids()[0]
	PhysMap                  // spans over Kids()[0] (keys) and Kids()[1] (values)
	PhysStruct               // one child for each field
)

// Int128 is the unscaled value of a decimal of more than 18 digits, two's complement.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Interval is a calendar interval value.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// Span is a stretch of a byte buffer or of child rows.
type Span struct{ Off, Len uint32 }

// FixedWidth are the value types of the fixed-width layouts.
type FixedWidth interface {
	~uint8 | ~int8 | ~int16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64 | Int128 | Interval
}

// PhysOf gives the layout that values of a data type have.
func PhysOf(t types.DataType) Phys {
	switch t := t.(type) {
	case types.NullType:
		return PhysNull
	case types.BooleanType:
		return PhysBool
	case types.ByteType:
		return PhysInt8
	case types.ShortType:
		return PhysInt16
	case types.IntegerType, types.DateType, types.YearMonthIntervalType:
		return PhysInt32
	case types.LongType, types.TimestampType, types.TimestampNTZType, types.TimeType, types.DayTimeIntervalType:
		return PhysInt64
	case types.FloatType:
		return PhysFloat32
	case types.DoubleType:
		return PhysFloat64
	case types.DecimalType:
		if t.Precision <= 18 {
			return PhysInt64
		}
		return PhysInt128
	case types.CalendarIntervalType:
		return PhysInterval
	case types.StringType, types.CharType, types.VarcharType, types.BinaryType:
		return PhysBytes
	case types.ArrayType:
		return PhysList
	case types.MapType:
		return PhysMap
	case types.StructType, types.VariantType:
		return PhysStruct
	case types.UserDefinedType:
		return PhysOf(t.Storage)
	}
	panic(fmt.Sprintf("vec: no layout for type %s", t.SimpleString()))
}

// Width is the size of one value in bytes, 0 for layouts that are not of fixed width.
func (p Phys) Width() int {
	switch p {
	case PhysBool, PhysInt8:
		return 1
	case PhysInt16:
		return 2
	case PhysInt32, PhysFloat32:
		return 4
	case PhysInt64, PhysFloat64:
		return 8
	case PhysInt128, PhysInterval:
		return 16
	}
	return 0
}

// Encoding says how a vector's rows map to its stored values.
type Encoding uint8

// The encodings.
const (
	Flat  Encoding = iota // one stored value for each row
	Const                 // one stored value for all rows
	Dict                  // row i is row Index()[i] of Base()
)

// Vector is one column of a batch: Len rows of one data type.
//
// A vector's fields are set by this package's constructors and builders, and by kernels through the Reset and Set methods on
// vectors that they own. Nothing changes a vector that was handed out as Owned. The zero Vector is good scratch for whatever
// takes a destination.
//
// Children are always Flat. Those of a struct have as many rows as the struct has stored ones; a row that is null in the
// struct may hold anything in a child.
type Vector struct {
	typ      types.DataType
	phys     Phys
	enc      Encoding
	borrowed bool
	holds    bool // data, spans and idx were allocated for this vector, so that a poisoner may write to them
	n        int
	valid    Bitmap // of stored rows for Flat and Const; of rows, beside the base's own, for Dict
	data     []byte // fixed-width values, 8-byte aligned
	spans    []Span
	buf      []byte
	kids     []*Vector
	idx      []uint32
	base     *Vector
	own      *ownMemory
}

// ownMemory is what a scratch vector keeps for its next use, beside memory that it may share with others at the moment.
type ownMemory struct {
	valid Bitmap
	buf   []byte
	kids  []*Vector
}

// mem returns the vector's own memory.
func (v *Vector) mem() *ownMemory {
	if v.own == nil {
		v.own = &ownMemory{}
	}
	return v.own
}

// hold makes sure that v writes to no memory of another vector: what it only shares is let go.
func (v *Vector) hold() {
	if !v.holds {
		v.data, v.spans, v.idx, v.holds = nil, nil, nil, true
	}
}

// header returns a copy of v that shares its values but will never reuse its memory.
func (v *Vector) header() *Vector {
	c := *v
	c.own, c.holds = nil, false
	return &c
}

// Type is the data type of the values.
func (v *Vector) Type() types.DataType { return v.typ }

// Phys is the layout of the values.
func (v *Vector) Phys() Phys { return v.phys }

// Encoding is the vector's encoding.
func (v *Vector) Encoding() Encoding { return v.enc }

// Len is the number of rows.
func (v *Vector) Len() int { return v.n }

// Owned tells whether the vector may be kept: nobody will change its memory.
func (v *Vector) Owned() bool { return !v.borrowed }

// SetBorrowed marks v as its producer's scratch (true) or as owned by whoever holds it (false). The children of scratch are scratch:
// somebody may take one out and keep it.
func (v *Vector) SetBorrowed(b bool) {
	v.borrowed = b
	if b {
		v.kids = borrowedKids(v.kids)
	}
}

// borrowedKids returns children that are marked. It makes new headers, because the old ones may belong to others too.
func borrowedKids(kids []*Vector) []*Vector {
	i := 0
	for i < len(kids) && kids[i].borrowed {
		i++
	}
	if i == len(kids) {
		return kids
	}
	out := make([]*Vector, len(kids))
	copy(out, kids)
	for ; i < len(out); i++ {
		if !out[i].borrowed {
			out[i] = out[i].header()
			out[i].SetBorrowed(true)
		}
	}
	return out
}

// Validity is the bitmap of the stored rows, nil when all are valid. For a Const vector it has one bit. Dict vectors must be
// flattened first, or asked row by row with IsNull.
func (v *Vector) Validity() Bitmap { return v.valid }

// SetValidity replaces the bitmap.
func (v *Vector) SetValidity(b Bitmap) { v.valid = b }

// Index and Base are the parts of a Dict vector.
func (v *Vector) Index() []uint32 { return v.idx }

// Base is the vector that a Dict vector's index points into.
func (v *Vector) Base() *Vector { return v.base }

// Spans are the stretches of a PhysBytes, PhysList or PhysMap vector's stored rows. The span of a null row is unspecified but
// lies within the buffer or child, so that loops need not look at the validity first.
func (v *Vector) Spans() []Span { return v.spans }

// Bytes is the buffer that a PhysBytes vector's spans point into.
func (v *Vector) Bytes() []byte { return v.buf }

// Kids are the child vectors, all Flat: a list's elements, a map's keys and values, a struct's fields. Those of a Const struct
// have one row that counts.
func (v *Vector) Kids() []*Vector { return v.kids }

// Stored looks through the encoding of row i: the Flat or Const vector that holds the value, and its row there.
func (v *Vector) Stored(i int) (*Vector, int) {
	for v.enc == Dict {
		i, v = int(v.idx[i]), v.base
	}
	return v, v.stored(i)
}

// stored maps a row to the stored row of a Flat or Const vector.
func (v *Vector) stored(i int) int {
	if v.enc == Const {
		return 0
	}
	return i
}

// IsNull tells whether row i is null, whatever the encoding.
func (v *Vector) IsNull(i int) bool {
	if v.phys == PhysNull {
		return true
	}
	if v.enc == Dict {
		return !v.valid.Get(i) || v.base.IsNull(int(v.idx[i]))
	}
	return !v.valid.Get(v.stored(i))
}

// HasNulls tells whether any row can be null; false is certain, true is not.
func (v *Vector) HasNulls() bool {
	return v.phys == PhysNull || v.valid != nil || v.enc == Dict && v.base.HasNulls()
}

// Fixed returns the stored values of a fixed-width Flat or Const vector: Len of them, or one for Const. Values of null rows
// are unspecified. T must have the layout's width.
func Fixed[T FixedWidth](v *Vector) []T {
	rows := v.n
	if v.enc == Const {
		rows = 1
	}
	if rows == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(v.data))), rows)
}

// At returns value i of a fixed-width vector of any encoding. It is meant for cold paths.
func At[T FixedWidth](v *Vector, i int) T {
	for v.enc == Dict {
		i, v = int(v.idx[i]), v.base
	}
	return Fixed[T](v)[v.stored(i)]
}

// BytesAt returns the bytes of row i of a PhysBytes vector of any encoding. They must not be changed.
func (v *Vector) BytesAt(i int) []byte {
	for v.enc == Dict {
		i, v = int(v.idx[i]), v.base
	}
	s := v.spans[v.stored(i)]
	return v.buf[s.Off : s.Off+s.Len : s.Off+s.Len]
}

// StringAt returns row i of a string vector without copying. It must not be kept longer than the vector.
func (v *Vector) StringAt(i int) string {
	b := v.BytesAt(i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// SpanAt returns the stretch of child rows of row i of a PhysList or PhysMap vector, and the vector whose Kids it points into.
func (v *Vector) SpanAt(i int) (Span, *Vector) {
	for v.enc == Dict {
		i, v = int(v.idx[i]), v.base
	}
	return v.spans[v.stored(i)], v
}

// NewFixed returns a Flat vector of n rows with zero values and no nulls. The type must be of fixed width.
func NewFixed(t types.DataType, n int) *Vector {
	v := &Vector{typ: t, phys: PhysOf(t), n: n, holds: true}
	v.data = growAligned(nil, n*v.phys.Width())
	return v
}

// ResetFixed makes v a Flat vector of n rows without nulls, reusing its memory; the values are unspecified.
func (v *Vector) ResetFixed(n int) {
	v.hold()
	v.enc, v.n, v.valid = Flat, n, nil
	v.data = growAligned(v.data, n*v.phys.Width())
	if Invariants {
		v.poisonRows()
	}
}

// growAligned returns size bytes that start at a multiple of eight, reusing b when it is large enough.
func growAligned(b []byte, size int) []byte {
	if cap(b) >= size {
		return b[:size]
	}
	words := make([]uint64, (size+7)/8+(size>>6))
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:size]
}

// Retype makes v a vector of another type before a Reset, so that one scratch vector can serve results of several types.
func (v *Vector) Retype(t types.DataType) { v.typ, v.phys = t, PhysOf(t) }

// NewBytes returns a Flat string or binary vector over spans of buf, without nulls. It takes both slices over.
func NewBytes(t types.DataType, spans []Span, buf []byte) *Vector {
	return &Vector{typ: t, phys: PhysBytes, n: len(spans), spans: spans, buf: buf}
}

// ResetBytes makes v a Flat PhysBytes vector of n rows without nulls over buf, reusing the span slice, and returns the spans
// to be filled. buf may be another vector's buffer: spans share it.
func (v *Vector) ResetBytes(n int, buf []byte) []Span {
	v.enc, v.n, v.valid, v.buf = Flat, n, nil, buf
	return v.growSpans(n)
}

// growSpans makes v's span slice n long and returns it.
func (v *Vector) growSpans(n int) []Span {
	v.hold()
	if cap(v.spans) < n {
		v.spans = make([]Span, n, n+n/4)
	}
	v.spans = v.spans[:n]
	if Invariants {
		v.poisonRows()
	}
	return v.spans
}

// SetBytes replaces the buffer by one that v does not own, such as an argument's.
func (v *Vector) SetBytes(buf []byte) { v.buf = buf }

// Buffer returns an empty slice over memory that only v uses, for kernels that append their result's bytes while they fill
// the spans. SetBuffer hands the filled slice back.
func (v *Vector) Buffer() []byte { return v.mem().buf[:0] }

// SetBuffer makes buf, which started as Buffer, the buffer of v.
func (v *Vector) SetBuffer(buf []byte) { v.mem().buf, v.buf = buf, buf }

// MutableValidity returns v's validity as a bitmap of one bit for each stored row that only v uses: all set when v has no nulls
// yet. A bitmap shared with another vector is copied first.
func (v *Vector) MutableValidity() Bitmap {
	rows := v.n
	if v.enc == Const {
		rows = 1
	}
	m := v.mem()
	if v.valid != nil && len(m.valid) > 0 && unsafe.SliceData(v.valid) == unsafe.SliceData(m.valid) {
		return v.valid
	}
	shared := v.valid
	m.valid = GrowBitmap(m.valid, rows)
	if shared == nil {
		m.valid.SetAll(rows)
	} else {
		copy(m.valid, shared)
	}
	v.valid = m.valid
	return v.valid
}

// NewList returns a Flat array vector over a child. It takes both over.
func NewList(t types.DataType, spans []Span, elements *Vector) *Vector {
	return &Vector{typ: t, phys: PhysList, n: len(spans), spans: spans, kids: []*Vector{elements.Flatten()}}
}

// NewMap returns a Flat map vector over keys and values.
func NewMap(t types.DataType, spans []Span, keys, values *Vector) *Vector {
	return &Vector{typ: t, phys: PhysMap, n: len(spans), spans: spans, kids: []*Vector{keys.Flatten(), values.Flatten()}}
}

// NewStruct returns a Flat struct (or variant) vector of n rows over its fields, none of them null. It takes the slice over.
func NewStruct(t types.DataType, n int, fields []*Vector) *Vector {
	for i, f := range fields {
		fields[i] = f.Flatten()
	}
	return &Vector{typ: t, phys: PhysStruct, n: n, kids: fields}
}

// ResetList makes v a Flat array or map vector of n rows without nulls over its child or children, which must be Flat, and
// returns the spans to be filled.
func (v *Vector) ResetList(n int, kids ...*Vector) []Span {
	v.enc, v.n, v.valid = Flat, n, nil
	v.kids = append([]*Vector(nil), kids...) // the old slice may be another vector's
	return v.growSpans(n)
}

// NewNulls returns n null rows of a type.
func NewNulls(t types.DataType, n int) *Vector {
	v := emptyStored(t, 1)
	v.valid = NewBitmap(1)
	v.enc, v.n = Const, n
	return v
}

// emptyStored returns a Flat vector of rows zero values.
func emptyStored(t types.DataType, rows int) *Vector {
	v := &Vector{typ: t, phys: PhysOf(t), n: rows}
	switch v.phys {
	case PhysBytes:
		v.spans = make([]Span, rows)
	case PhysList:
		v.spans = make([]Span, rows)
		v.kids = []*Vector{emptyStored(KidTypes(t)[0], 0)}
	case PhysMap:
		v.spans = make([]Span, rows)
		v.kids = []*Vector{emptyStored(KidTypes(t)[0], 0), emptyStored(KidTypes(t)[1], 0)}
	case PhysStruct:
		for _, k := range KidTypes(t) {
			v.kids = append(v.kids, emptyStored(k, rows))
		}
	default:
		v.data = growAligned(nil, rows*v.phys.Width())
	}
	return v
}

var variantFields = []types.Field{{Name: "value", Type: types.Binary}, {Name: "metadata", Type: types.Binary}}

// StructFields gives the fields behind a PhysStruct vector's children: a struct's own, or a variant's two.
func StructFields(t types.DataType) []types.Field {
	switch t := t.(type) {
	case types.StructType:
		return t.Fields
	case types.UserDefinedType:
		return StructFields(t.Storage)
	}
	return variantFields
}

// KidTypes gives the types of the children that vectors of a type have.
func KidTypes(t types.DataType) []types.DataType {
	switch t := t.(type) {
	case types.ArrayType:
		return []types.DataType{t.Element}
	case types.MapType:
		return []types.DataType{t.Key, t.Value}
	case types.StructType, types.VariantType:
		fields := StructFields(t)
		ts := make([]types.DataType, len(fields))
		for i, f := range fields {
			ts[i] = f.Type
		}
		return ts
	case types.UserDefinedType:
		return KidTypes(t.Storage)
	}
	return nil
}

// NewConst returns n rows that all equal row 0 of a vector of one row.
func NewConst(one *Vector, n int) *Vector {
	if one.enc == Dict {
		one = one.Flatten()
	}
	if one.enc == Flat {
		one = one.Slice(0, 1) // so that nothing beyond the stored row is seen
	}
	c := one.header()
	c.enc, c.n = Const, n
	return c
}

// NewDict returns a Dict vector: row i is base row idx[i]. A base that is not Flat is flattened; valid, which may be nil, makes
// more rows null, and the index of such a row is not looked at. The result is Owned when the base is: who reuses the index
// calls SetBorrowed.
func NewDict(base *Vector, idx []uint32, valid Bitmap) *Vector {
	base = base.Flatten()
	return &Vector{typ: base.typ, phys: base.phys, enc: Dict, n: len(idx), valid: valid, idx: idx, base: base, borrowed: base.borrowed}
}

// WithType returns the same values under another type of the same layout.
func (v *Vector) WithType(t types.DataType) *Vector {
	c := v.header()
	c.typ = t
	if c.base != nil {
		c.base = c.base.WithType(t)
	}
	return c
}
