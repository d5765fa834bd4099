package parquetfile

import "encoding/binary"

// thrift writes structures in the compact protocol, which footers and page headers are in. Fields of a structure are written in the
// order of their ids.
type thrift struct {
	b    []byte
	last []int16 // id of the field written last, by nesting
}

// The types of the compact protocol.
const (
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tBinary = 8
	tList   = 9
	tStruct = 12
)

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) field(id int16, typ byte) {
	last := &t.last[len(t.last)-1]
	if d := id - *last; d > 0 && d < 16 {
		t.b = append(t.b, byte(d)<<4|typ)
	} else {
		t.b = append(t.b, typ)
		t.b = binary.AppendVarint(t.b, int64(id))
	}
	*last = id
}

func (t *thrift) i16(id int16, v int16) {
	t.field(id, tI16)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i32(id int16, v int32) {
	t.field(id, tI32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, tI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) byte(id int16, v byte) {
	t.field(id, tByte)
	t.b = append(t.b, v)
}

func (t *thrift) bool(id int16, v bool) {
	if v {
		t.field(id, tTrue)
	} else {
		t.field(id, tFalse)
	}
}

func (t *thrift) text(id int16, s string) {
	t.field(id, tBinary)
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

// structure begins a structure as a field; end ends it.
func (t *thrift) structure(id int16) {
	t.field(id, tStruct)
	t.begin()
}

// empty writes a structure without fields.
func (t *thrift) empty(id int16) {
	t.structure(id)
	t.end()
}

// list begins a list of n elements, which follow.
func (t *thrift) list(id int16, typ byte, n int) {
	t.field(id, tList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|typ)
		return
	}
	t.b = append(t.b, 0xF0|typ)
	t.b = binary.AppendUvarint(t.b, uint64(n))
}

// elemI32 and elemText write elements of lists.
func (t *thrift) elemI32(v int32) { t.b = binary.AppendVarint(t.b, int64(v)) }

func (t *thrift) elemText(s string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}
