package variant

import (
	"encoding/binary"
	"math"

	"github.com/millrace/millrace/internal/decimal"
)

// Kind is what a value is.
type Kind uint8

// The kinds. Whole numbers of every width are Long.
const (
	Malformed Kind = iota // bytes that are no value
	Null
	Bool
	Long
	Double
	Float
	Decimal
	Date
	Timestamp
	TimestampNTZ
	Binary
	String
	UUID
	Object
	Array
)

// The lowest two bits of a value's first byte.
const (
	basicPrimitive = iota
	basicShortString
	basicObject
	basicArray
)

// The other bits of a primitive's first byte.
const (
	primNull = iota
	primTrue
	primFalse
	primInt1
	primInt2
	primInt4
	primInt8
	primDouble
	primDecimal4
	primDecimal8
	primDecimal16
	primDate
	primTimestamp
	primTimestampNTZ
	primFloat
	primBinary
	primString
	primUUID = 20
)

const (
	version        = 1
	maxShortString = 63
)

// SizeLimit is how many bytes a value or its metadata may have.
const SizeLimit = 128 << 20

// prim says what the primitives are and how many bytes they have, their first included; 0 means that a length of four bytes follows.
var prim = [21]struct {
	kind Kind
	size int
}{
	primNull: {Null, 1}, primTrue: {Bool, 1}, primFalse: {Bool, 1},
	primInt1: {Long, 2}, primInt2: {Long, 3}, primInt4: {Long, 5}, primInt8: {Long, 9},
	primDouble: {Double, 9}, primFloat: {Float, 5},
	primDecimal4: {Decimal, 6}, primDecimal8: {Decimal, 10}, primDecimal16: {Decimal, 18},
	primDate: {Date, 5}, primTimestamp: {Timestamp, 9}, primTimestampNTZ: {TimestampNTZ, 9},
	primBinary: {Binary, 0}, primString: {String, 0}, primUUID: {UUID, 17},
}

// Value is a value where it lies: Bytes start with it and may go on behind it.
type Value struct{ Bytes, Meta []byte }

// Kind tells what the value is. All the bytes of one that is not Malformed are there; those of its parts may not be.
func (v Value) Kind() Kind {
	k, _ := v.measure()
	return k
}

// measure gives the kind and the number of bytes of a value.
func (v Value) measure() (Kind, int) {
	if len(v.Bytes) == 0 {
		return Malformed, 0
	}
	first := v.Bytes[0]
	kind, size := Malformed, 0
	switch first & 3 {
	case basicShortString:
		kind, size = String, 1+int(first>>2)
	case basicObject:
		if f, ok := v.Fields(); ok {
			kind, size = Object, f.size
		}
	case basicArray:
		if e, ok := v.Elements(); ok {
			kind, size = Array, e.size
		}
	default:
		id := int(first >> 2)
		if id >= len(prim) {
			return Malformed, 0
		}
		kind, size = prim[id].kind, prim[id].size
		if kind != Malformed && size == 0 {
			if len(v.Bytes) < 5 {
				return Malformed, 0
			}
			n := binary.LittleEndian.Uint32(v.Bytes[1:])
			if n > SizeLimit {
				return Malformed, 0
			}
			size = 5 + int(n)
		}
		if kind == Decimal && len(v.Bytes) > 1 && v.Bytes[1] > decimal.MaxPrecision {
			return Malformed, 0
		}
	}
	if size > len(v.Bytes) {
		return Malformed, 0
	}
	return kind, size
}

// Own is the value without what follows it.
func (v Value) Own() []byte {
	_, size := v.measure()
	return v.Bytes[:size]
}

// Bool is the value of a Bool.
func (v Value) Bool() bool { return v.Bytes[0]>>2 == primTrue }

// Long is the value of a Long, the days of a Date, the microseconds of a Timestamp or TimestampNTZ.
func (v Value) Long() int64 {
	b := v.Bytes[1:]
	switch v.Bytes[0] >> 2 {
	case primInt1:
		return int64(int8(b[0]))
	case primInt2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case primInt4, primDate:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// Double is the value of a Double.
func (v Value) Double() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(v.Bytes[1:]))
}

// Float is the value of a Float.
func (v Value) Float() float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(v.Bytes[1:]))
}

// Decimal is the value of a Decimal as it was written: zeros at its end are kept.
func (v Value) Decimal() (x decimal.Int, scale int) {
	b := v.Bytes[2:]
	switch v.Bytes[0] >> 2 {
	case primDecimal4:
		x = decimal.FromInt64(int64(int32(binary.LittleEndian.Uint32(b))))
	case primDecimal8:
		x = decimal.FromInt64(int64(binary.LittleEndian.Uint64(b)))
	default:
		x = decimal.Int{Lo: binary.LittleEndian.Uint64(b), Hi: int64(binary.LittleEndian.Uint64(b[8:]))}
	}
	return x, int(v.Bytes[1])
}

// Text is the value of a String, a Binary or, as 16 bytes, a UUID.
func (v Value) Text() []byte {
	first := v.Bytes[0]
	switch {
	case first&3 == basicShortString:
		return v.Bytes[1 : 1+first>>2]
	case first>>2 == primUUID:
		return v.Bytes[1:17]
	}
	return v.Bytes[5 : 5+binary.LittleEndian.Uint32(v.Bytes[1:])]
}

// uintAt reads a number of one to four bytes.
func uintAt(b []byte, at, width int) int {
	n := 0
	for i := width - 1; i >= 0; i-- {
		n = n<<8 | int(b[at+i])
	}
	return n
}

// parts is where the parts of an object or array lie.
type parts struct {
	v       Value
	n       int // parts
	ids     int // where the ids of an object's names begin
	idWidth int
	offs    int // where the offsets begin
	width   int // of an offset
	data    int // where the parts themselves begin
	size    int // of the whole
}

func (v Value) parts(large, idWidth, width int) (p parts, ok bool) {
	count := 1
	if large != 0 {
		count = 4
	}
	p = parts{v: v, idWidth: idWidth, width: width, ids: 1 + count}
	if len(v.Bytes) < p.ids {
		return p, false
	}
	p.n = uintAt(v.Bytes, 1, count)
	if p.n > len(v.Bytes) {
		return p, false
	}
	p.offs = p.ids + p.n*idWidth
	p.data = p.offs + (p.n+1)*width
	if p.data > len(v.Bytes) {
		return p, false
	}
	p.size = p.data + uintAt(v.Bytes, p.data-width, width)
	return p, p.size <= len(v.Bytes)
}

func (p parts) at(i int) Value {
	off := p.data + uintAt(p.v.Bytes, p.offs+i*p.width, p.width)
	if off >= p.size {
		return Value{}
	}
	return Value{p.v.Bytes[off:p.size], p.v.Meta}
}

// Fields are the fields of an Object, in the order of their names.
type Fields struct{ parts }

// Fields looks into an Object; ok is false for anything else.
func (v Value) Fields() (f Fields, ok bool) {
	if len(v.Bytes) == 0 || v.Bytes[0]&3 != basicObject {
		return f, false
	}
	h := int(v.Bytes[0] >> 2)
	f.parts, ok = v.parts(h>>4&1, h>>2&3+1, h&3+1)
	return f, ok
}

// Len is the number of fields.
func (f Fields) Len() int { return f.n }

// At is field i. A name that is not there is nil; a value that is not is Malformed.
func (f Fields) At(i int) (name []byte, value Value) {
	return nameAt(f.v.Meta, uintAt(f.v.Bytes, f.ids+i*f.idWidth, f.idWidth)), f.at(i)
}

// binarySearchFrom is the number of fields from which on names are looked up by halves.
const binarySearchFrom = 32

// Find is the field of a name.
func (f Fields) Find(name string) (Value, bool) {
	lo, hi := 0, f.n
	if f.n < binarySearchFrom {
		for ; lo < hi; lo++ {
			if k, v := f.At(lo); string(k) == name && k != nil {
				return v, true
			}
		}
		return Value{}, false
	}
	for lo < hi {
		mid := (lo + hi) / 2
		k, v := f.At(mid)
		switch c := compareNames(string(k), name); {
		case c == 0:
			return v, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return Value{}, false
}

// Elements are the elements of an Array.
type Elements struct{ parts }

// Elements looks into an Array; ok is false for anything else.
func (v Value) Elements() (e Elements, ok bool) {
	if len(v.Bytes) == 0 || v.Bytes[0]&3 != basicArray {
		return e, false
	}
	h := int(v.Bytes[0] >> 2)
	e.parts, ok = v.parts(h>>2&1, 0, h&3+1)
	return e, ok
}

// Len is the number of elements.
func (e Elements) Len() int { return e.n }

// At is element i. One that is not there is Malformed.
func (e Elements) At(i int) Value { return e.at(i) }

// nameAt is the name of an id, or nil.
func nameAt(meta []byte, id int) []byte {
	if len(meta) == 0 || meta[0]&15 != version {
		return nil
	}
	width := int(meta[0]>>6) + 1
	if len(meta) < 1+width {
		return nil
	}
	n := uintAt(meta, 1, width)
	base := 1 + (n+2)*width
	if id >= n || base > len(meta) {
		return nil
	}
	from, to := uintAt(meta, 1+(id+1)*width, width), uintAt(meta, 1+(id+2)*width, width)
	if from > to || base+to > len(meta) {
		return nil
	}
	return meta[base+from : base+to : base+to]
}

// maxDepth is how deep a valid variant may be nested.
const maxDepth = 1000

// Valid tells whether all of the value is as it should be.
func (v Value) Valid() bool {
	return len(v.Meta) > 0 && v.Meta[0]&15 == version && validMeta(v.Meta) && v.valid(0)
}

func validMeta(meta []byte) bool {
	width := int(meta[0]>>6) + 1
	if len(meta) < 1+width {
		return false
	}
	n := uintAt(meta, 1, width)
	base := 1 + (n+2)*width
	if base > len(meta) {
		return false
	}
	last := 0
	for i := range n + 1 {
		at := uintAt(meta, 1+(i+1)*width, width)
		if at < last || i == 0 && at != 0 {
			return false
		}
		last = at
	}
	return base+last <= len(meta)
}

func (v Value) valid(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v.Kind() {
	case Malformed:
		return false
	case Object:
		f, _ := v.Fields()
		for i := range f.Len() {
			name, x := f.At(i)
			if name == nil || !x.valid(depth+1) {
				return false
			}
		}
	case Array:
		e, _ := v.Elements()
		for i := range e.Len() {
			if !e.At(i).valid(depth + 1) {
				return false
			}
		}
	}
	return true
}
