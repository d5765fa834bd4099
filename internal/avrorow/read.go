package avrorow

import (
	"encoding/binary"
	"math"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// maxEmpty is how many values without bytes a record may hold: nothing else bounds them.
const maxEmpty = 1 << 20

// Reader reads records into a column. It belongs to one goroutine.
type Reader struct {
	root *conv
	out  *vec.Builder
	cur  cursor
}

// NewReader returns a reader of records that were written by one schema and are wanted in another; t is the other's type. Without a
// calendar it is today's.
func NewReader(written, wanted avro.Schema, t types.DataType, cal *Calendar) *Reader {
	root := (&resolver{calendar: cal}).resolve(written, wanted, t)
	if s, ok := deref(wanted).(*avro.UnionSchema); ok {
		if _, isStruct := t.(types.StructType); isStruct && moreBranches(s) {
			root = fail() // as in Spark, which takes such a union only inside of a record
		}
	}
	return &Reader{root: root, out: vec.NewBuilder(t)}
}

func moreBranches(s *avro.UnionSchema) bool {
	branches, _ := branchesOf(s)
	return len(branches) > 1
}

// Record reads one record; it tells whether the record was as it should be, and appends nothing otherwise. Bytes behind it are left alone.
func (r *Reader) Record(b []byte) bool {
	n := r.out.Len()
	r.cur = cursor{b: b}
	if !r.root.read(&r.cur, r.out) || r.cur.bad {
		r.out.Truncate(n)
		return false
	}
	return true
}

// Null appends a null; for a record this is one whose fields are null.
func (r *Reader) Null() {
	if _, ok := r.out.Type().(types.StructType); ok {
		r.out.AppendStruct(true)
		return
	}
	r.out.AppendNull()
}

// Absent appends a null.
func (r *Reader) Absent() { r.out.AppendNull() }

// Reset drops what was read.
func (r *Reader) Reset() { r.out.Reset() }

// Borrow is what was read, until the next Reset.
func (r *Reader) Borrow() *vec.Vector { return r.out.Borrow() }

// cursor goes through the bytes of a record. Once something is wrong it stays bad and gives zeroes.
type cursor struct {
	b   []byte
	bad bool
	// ancient says that it is bad because of a day or time that has several meanings.
	ancient bool
	// depth is how many records are around what is being passed over: nothing else bounds those that hold themselves.
	depth int
}

// maxNested is the most that depth may be.
const maxNested = 10_000

func (c *cursor) spoil() { c.bad, c.b = true, nil }

// varint reads a zigzag number of at most max bytes.
func (c *cursor) varint(max int) int64 {
	u, n := binary.Uvarint(c.b)
	if n <= 0 || n > max {
		c.spoil()
		return 0
	}
	c.b = c.b[n:]
	return int64(u>>1) ^ -int64(u&1)
}

func (c *cursor) long() int64 { return c.varint(10) }

func (c *cursor) int() int32 {
	x := c.varint(5)
	return int32(x)
}

// take reads n bytes.
func (c *cursor) take(n int64) []byte {
	if n < 0 || n > int64(len(c.b)) {
		c.spoil()
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) float() float32 {
	if p := c.take(4); p != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(p))
	}
	return 0
}

func (c *cursor) double() float64 {
	if p := c.take(8); p != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(p))
	}
	return 0
}

// block reads the head of a block of an array or map: how many items follow, zero at the end.
func (c *cursor) block(free bool) int64 {
	n := c.long()
	if n < 0 {
		if n == math.MinInt64 {
			c.spoil()
			return 0
		}
		n = -n
		c.long() // how many bytes the block has
	}
	if n > int64(len(c.b)) && (!free || n > maxEmpty) {
		c.spoil()
		return 0
	}
	return n
}

// read appends one value to a builder. When it tells false, or the cursor is bad, the builder may hold parts of it.
func (c *conv) read(in *cursor, out *vec.Builder) bool {
	switch c.wire {
	case wireNull:
		out.AppendNull()
	case wireBool:
		if p := in.take(1); p != nil {
			out.AppendBool(p[0] == 1)
		}
	case wireInt:
		c.number(int64(in.int()), in, out)
	case wireLong:
		c.number(in.long(), in, out)
	case wireFloat:
		c.real(float64(in.float()), out)
	case wireDouble:
		c.real(in.double(), out)
	case wireBytes:
		return c.bytes(in.take(in.long()), in, out)
	case wireFixed:
		return c.bytes(in.take(int64(c.size)), in, out)
	case wireEnum:
		k := in.int()
		if k < 0 || int(k) >= len(c.symbols) || c.symbols[k] == nil {
			return false
		}
		out.AppendBytes(c.symbols[k])
	case wireArray:
		return c.array(in, out)
	case wireMap:
		return c.pairs(in, out)
	case wireRecord:
		return c.record(in, out)
	case wireUnion:
		return c.union(in, out)
	default:
		return false
	}
	return !in.bad
}

func (c *conv) number(x int64, in *cursor, out *vec.Builder) {
	if c.rebase != nil {
		x = c.rebased(x, in)
	}
	switch c.into.(type) {
	case types.IntegerType, types.DateType, types.YearMonthIntervalType:
		out.AppendInt32(int32(x))
	case types.FloatType:
		out.AppendFloat32(float32(x))
	case types.DoubleType:
		out.AppendFloat64(float64(x))
	default:
		out.AppendInt64(x * c.scale)
	}
}

// rebased is a day or time in today's calendar, in the unit in which it was written.
func (c *conv) rebased(x int64, in *cursor) int64 {
	ok := false
	if _, isTime := c.into.(types.TimestampType); isTime {
		x, ok = c.rebase.Micros(x*c.scale, c.rebase.Zone)
		x /= c.scale
	} else {
		var day int32
		day, ok = c.rebase.Day(int32(x))
		x = int64(day)
	}
	if !ok {
		in.spoil()
		in.ancient = true
	}
	return x
}

func (c *conv) real(x float64, out *vec.Builder) {
	if _, ok := c.into.(types.FloatType); ok {
		out.AppendFloat32(float32(x))
		return
	}
	out.AppendFloat64(x)
}

func (c *conv) bytes(p []byte, in *cursor, out *vec.Builder) bool {
	if in.bad {
		return false
	}
	if c.decimal == 0 {
		out.AppendBytes(p)
		return true
	}
	x, ok := unscaled(p)
	if ok && c.digits[0] != c.digits[1] {
		x, ok = decimal.Rescale(x, c.digits[0], c.digits[1], c.decimal)
	}
	if !ok || !decimal.Fits(x, c.decimal) {
		return false
	}
	if c.decimal > 18 {
		out.AppendInt128(x)
	} else {
		out.AppendInt64(int64(x.Lo))
	}
	return true
}

// unscaled reads a number in two's complement, high byte first.
func unscaled(p []byte) (x decimal.Int, ok bool) {
	if len(p) == 0 {
		return x, false
	}
	sign := byte(int8(p[0]) >> 7)
	for len(p) > 16 {
		if p[0] != sign {
			return x, false
		}
		p = p[1:]
	}
	if byte(int8(p[0])>>7) != sign {
		return x, false
	}
	if sign != 0 {
		x = decimal.FromInt64(-1)
	}
	for _, b := range p {
		x.Hi, x.Lo = x.Hi<<8|int64(x.Lo>>56), x.Lo<<8|uint64(b)
	}
	return x, true
}

func (c *conv) array(in *cursor, out *vec.Builder) bool {
	out.StartList()
	e := out.Child(0)
	for n, all := in.block(c.item.free), int64(0); n > 0; n = in.block(c.item.free) {
		if all += n; c.item.free && all > maxEmpty {
			return false
		}
		for range n {
			if !c.item.read(in, e) {
				return false
			}
		}
	}
	if in.bad {
		return false
	}
	out.EndList()
	return true
}

// entry is one of a map: its value begins at rest.
type entry struct{ key, rest []byte }

// pairs reads a map. Of entries with one key the last counts, so that it goes over the map twice.
func (c *conv) pairs(in *cursor, out *vec.Builder) bool {
	clear(c.seen)
	c.entries = c.entries[:0]
	for n := in.block(false); n > 0; n = in.block(false) {
		for range n {
			key := in.take(in.long())
			if in.bad {
				return false
			}
			if at, twice := c.seen[string(key)]; twice {
				c.entries[at].rest = in.b
			} else {
				c.seen[string(key)] = len(c.entries)
				c.entries = append(c.entries, entry{key, in.b})
			}
			if !c.item.skip(in) {
				return false
			}
		}
	}
	if in.bad {
		return false
	}
	out.StartList()
	for _, e := range c.entries {
		out.Child(0).AppendBytes(e.key)
		if !c.item.read(&cursor{b: e.rest}, out.Child(1)) {
			return false
		}
	}
	out.EndList()
	return true
}

func (c *conv) record(in *cursor, out *vec.Builder) bool {
	for i, k := range c.kids {
		if c.to[i] < 0 {
			if !k.skip(in) {
				return false
			}
		} else if !k.read(in, out.Child(c.to[i])) {
			return false
		}
	}
	for i := range c.fill {
		f := &c.fill[i]
		if !f.conv.read(&cursor{b: f.bytes}, out.Child(f.to)) {
			return false
		}
	}
	for _, i := range c.nulls {
		out.Child(i).AppendNull()
	}
	out.AppendStruct(true)
	return true
}

func (c *conv) union(in *cursor, out *vec.Builder) bool {
	if c.member >= 0 {
		if !c.kids[0].read(in, out.Child(c.member)) {
			return false
		}
		out.AppendStruct(true)
		return true
	}
	k := in.long()
	if in.bad || k < 0 || k >= int64(len(c.kids)) {
		return false
	}
	return c.kids[k].read(in, out)
}

// skip passes over a value.
func (c *conv) skip(in *cursor) bool {
	switch c.wire {
	case wireNull:
	case wireBool:
		in.take(1)
	case wireInt, wireEnum:
		in.int()
	case wireLong:
		in.long()
	case wireFloat:
		in.take(4)
	case wireDouble:
		in.take(8)
	case wireBytes:
		in.take(in.long())
	case wireFixed:
		in.take(int64(c.size))
	case wireArray, wireMap:
		free := c.item.free && c.wire == wireArray
		for n := in.block(free); n > 0; n = in.block(free) {
			for range n {
				if c.wire == wireMap {
					in.take(in.long())
				}
				if !c.item.skip(in) {
					return false
				}
			}
		}
	case wireRecord:
		if in.depth++; in.depth > maxNested {
			return false
		}
		for _, k := range c.kids {
			if !k.skip(in) {
				return false
			}
		}
		in.depth--
	case wireUnion:
		at := int64(0)
		if c.member < 0 {
			at = in.long()
		}
		if in.bad || at < 0 || at >= int64(len(c.kids)) {
			return false
		}
		return c.kids[at].skip(in)
	default:
		return false
	}
	return !in.bad
}
