package variant

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/decimal"
)

// Builder makes a variant. Values are appended from left to right; those of an object or array between Start and End. It is used again
// after Reset and belongs to one goroutine.
type Builder struct {
	buf    []byte
	ids    map[string]*nameID // of all names met lately, so that values of one kind need no memory for theirs
	built  int                // variants begun
	names  []string
	text   int // bytes of all names
	fields []field
	offs   []int
	// LastWins lets the last of an object's fields of one name stand for all of them, instead of refusing the object.
	LastWins bool
}

// nameID is a name's place in the dictionary of a variant.
type nameID struct {
	name  string
	id    uint32
	built int // the variant whose dictionary that is
}

// maxNames bounds the names that are remembered.
const maxNames = 4096

type field struct {
	id      uint32
	off, to int // within buf
}

// Reset forgets what was built.
func (b *Builder) Reset() {
	b.buf, b.names, b.text, b.fields, b.offs = b.buf[:0], b.names[:0], 0, b.fields[:0], b.offs[:0]
	b.built++
	if len(b.ids) > maxNames {
		clear(b.ids)
	}
}

// Len is the number of bytes of the value so far.
func (b *Builder) Len() int { return len(b.buf) }

// Value is the value that was built. It is valid until the next Reset.
func (b *Builder) Value() []byte { return b.buf }

// TooLarge tells that the value or its names are beyond SizeLimit.
func (b *Builder) TooLarge() bool { return len(b.buf) > SizeLimit || b.text > SizeLimit }

// AppendMeta appends the metadata of the value that was built.
func (b *Builder) AppendMeta(dst []byte) []byte {
	width := widthOf(max(b.text, len(b.names)))
	dst = append(dst, byte(version|(width-1)<<6))
	dst = appendUint(dst, len(b.names), width)
	at := 0
	dst = appendUint(dst, at, width)
	for _, n := range b.names {
		at += len(n)
		dst = appendUint(dst, at, width)
	}
	for _, n := range b.names {
		dst = append(dst, n...)
	}
	return dst
}

func widthOf(n int) int {
	switch {
	case n <= math.MaxUint8:
		return 1
	case n <= math.MaxUint16:
		return 2
	case n < 1<<24:
		return 3
	}
	return 4
}

func appendUint(b []byte, n, width int) []byte {
	for range width {
		b = append(b, byte(n))
		n >>= 8
	}
	return b
}

func (b *Builder) primitive(id int) { b.buf = append(b.buf, byte(id<<2)) }

// Null appends a null.
func (b *Builder) Null() { b.primitive(primNull) }

// Bool appends true or false.
func (b *Builder) Bool(x bool) {
	if x {
		b.primitive(primTrue)
	} else {
		b.primitive(primFalse)
	}
}

// Long appends a whole number in as few bytes as hold it.
func (b *Builder) Long(x int64) {
	switch {
	case x == int64(int8(x)):
		b.primitive(primInt1)
		b.buf = append(b.buf, byte(x))
	case x == int64(int16(x)):
		b.primitive(primInt2)
		b.buf = binary.LittleEndian.AppendUint16(b.buf, uint16(x))
	case x == int64(int32(x)):
		b.primitive(primInt4)
		b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(x))
	default:
		b.primitive(primInt8)
		b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(x))
	}
}

// Double appends a double.
func (b *Builder) Double(x float64) {
	b.primitive(primDouble)
	if x != x {
		x = math.Float64frombits(0x7ff8 << 48) // Java's only one
	}
	b.buf = binary.LittleEndian.AppendUint64(b.buf, math.Float64bits(x))
}

// Float appends a float.
func (b *Builder) Float(x float32) {
	b.primitive(primFloat)
	if x != x {
		x = math.Float32frombits(0x7fc0 << 16)
	}
	b.buf = binary.LittleEndian.AppendUint32(b.buf, math.Float32bits(x))
}

// Decimal appends a decimal in as few bytes as hold its digits and its scale.
func (b *Builder) Decimal(x decimal.Int, scale int) {
	switch digits := max(decimal.Digits(x), scale); {
	case digits <= 9:
		b.primitive(primDecimal4)
		b.buf = append(b.buf, byte(scale))
		b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(x.Lo))
	case digits <= 18:
		b.primitive(primDecimal8)
		b.buf = append(b.buf, byte(scale))
		b.buf = binary.LittleEndian.AppendUint64(b.buf, x.Lo)
	default:
		b.primitive(primDecimal16)
		b.buf = append(b.buf, byte(scale))
		b.buf = binary.LittleEndian.AppendUint64(b.buf, x.Lo)
		b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(x.Hi))
	}
}

// Date appends a day.
func (b *Builder) Date(days int32) {
	b.primitive(primDate)
	b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(days))
}

// Timestamp appends an instant.
func (b *Builder) Timestamp(micros int64) {
	b.primitive(primTimestamp)
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(micros))
}

// TimestampNTZ appends a time on the clock.
func (b *Builder) TimestampNTZ(micros int64) {
	b.primitive(primTimestampNTZ)
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(micros))
}

// Binary appends bytes.
func (b *Builder) Binary(p []byte) {
	b.primitive(primBinary)
	b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(len(p)))
	b.buf = append(b.buf, p...)
}

// Text appends a string.
func (b *Builder) Text(s []byte) {
	if len(s) <= maxShortString {
		b.buf = append(b.buf, byte(len(s)<<2|basicShortString))
	} else {
		b.primitive(primString)
		b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(len(s)))
	}
	b.buf = append(b.buf, s...)
}

// Mark is the place where an object or array begins.
type Mark struct{ start, stack int }

// StartObject begins an object: each of its values follows a call of Field.
func (b *Builder) StartObject() Mark { return Mark{len(b.buf), len(b.fields)} }

// Field names the value that is appended next.
func (b *Builder) Field(name []byte) {
	n := b.ids[string(name)]
	if n == nil {
		if b.ids == nil {
			b.ids = map[string]*nameID{}
		}
		n = &nameID{name: string(name), built: b.built - 1}
		b.ids[n.name] = n
	}
	if n.built != b.built {
		n.id, n.built = uint32(len(b.names)), b.built
		b.names = append(b.names, n.name)
		b.text += len(name)
	}
	b.fields = append(b.fields, field{id: n.id, off: len(b.buf)})
}

// EndObject ends the object. If it has a name twice, ok is false: then there is no object, and what was appended is of no use.
func (b *Builder) EndObject(m Mark) (twice string, ok bool) {
	fields := b.fields[m.stack:]
	maxID := uint32(0)
	for i := range fields {
		to := len(b.buf)
		if i+1 < len(fields) {
			to = fields[i+1].off
		}
		fields[i].to = to
		maxID = max(maxID, fields[i].id)
	}
	slices.SortStableFunc(fields, func(x, y field) int { return compareNames(b.names[x.id], b.names[y.id]) })
	kept := fields[:0]
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].id == f.id {
			if !b.LastWins {
				return b.names[f.id], false
			}
			continue
		}
		kept = append(kept, f)
	}
	if len(kept) < len(fields) {
		b.compact(m.start, kept)
	}
	fields = kept
	b.fields = b.fields[:m.stack]
	data := len(b.buf) - m.start
	idWidth, width := widthOf(int(maxID)), widthOf(data)
	head, large := b.openHeader(m.start, len(fields), idWidth, width)
	head[0] = byte(basicObject | (width-1)<<2 | (idWidth-1)<<4 | large<<6)
	at := head[:1]
	at = appendCount(at, len(fields), large)
	for _, f := range fields {
		at = appendUint(at, int(f.id), idWidth)
	}
	for _, f := range fields {
		at = appendUint(at, f.off-m.start, width)
	}
	appendUint(at, data, width)
	return "", true
}

// compact drops the values of fields that were overwritten. Fields are in the order of their names afterwards, as before.
func (b *Builder) compact(start int, kept []field) {
	order := make([]int, len(kept))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return kept[x].off - kept[y].off })
	at := start
	for _, i := range order {
		f := &kept[i]
		n := copy(b.buf[at:], b.buf[f.off:f.to])
		f.off, f.to = at, at+n
		at += n
	}
	b.buf = b.buf[:at]
}

// openHeader moves the data of an object or array to make room for its header, and returns that room.
func (b *Builder) openHeader(start, n, idWidth, width int) (head []byte, large int) {
	count := 1
	if n > math.MaxUint8 {
		count, large = 4, 1
	}
	size := 1 + count + n*idWidth + (n+1)*width
	end := len(b.buf)
	b.buf = slices.Grow(b.buf, size)[:end+size]
	copy(b.buf[start+size:], b.buf[start:end])
	return b.buf[start : start+size : start+size], large
}

func appendCount(b []byte, n, large int) []byte {
	if large != 0 {
		return appendUint(b, n, 4)
	}
	return append(b, byte(n))
}

// StartArray begins an array: each of its values follows a call of Element.
func (b *Builder) StartArray() Mark { return Mark{len(b.buf), len(b.offs)} }

// Element announces an array's next value.
func (b *Builder) Element() { b.offs = append(b.offs, len(b.buf)) }

// EndArray ends the array.
func (b *Builder) EndArray(m Mark) {
	offs := b.offs[m.stack:]
	b.offs = b.offs[:m.stack]
	data := len(b.buf) - m.start
	width := widthOf(data)
	head, large := b.openHeader(m.start, len(offs), 0, width)
	head[0] = byte(basicArray | (width-1)<<2 | large<<4)
	at := appendCount(head[:1], len(offs), large)
	for _, off := range offs {
		at = appendUint(at, off-m.start, width)
	}
	appendUint(at, data, width)
}

// Append appends a copy of a value, with no more names than it needs. It returns false for a value that is not whole.
func (b *Builder) Append(v Value) bool { return b.append(v, 0) }

func (b *Builder) append(v Value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v.Kind() {
	case Malformed:
		return false
	case Object:
		f, _ := v.Fields()
		m := b.StartObject()
		for i := range f.Len() {
			name, x := f.At(i)
			if name == nil {
				return false
			}
			b.Field(name)
			if !b.append(x, depth+1) {
				return false
			}
		}
		_, ok := b.EndObject(m)
		return ok
	case Array:
		e, _ := v.Elements()
		m := b.StartArray()
		for i := range e.Len() {
			b.Element()
			if !b.append(e.At(i), depth+1) {
				return false
			}
		}
		b.EndArray(m)
	default:
		b.buf = append(b.buf, v.Own()...)
	}
	return true
}

// compareNames orders names as Java orders strings: by their UTF-16 code units. That differs from the order of their bytes only where
// one of them has a character beyond 16 bits.
func compareNames(x, y string) int {
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	if i == len(x) || i == len(y) || (x[i] < 0xee && y[i] < 0xee) {
		return strings.Compare(x[i:], y[i:])
	}
	for i > 0 && !utf8.RuneStart(x[i]) {
		i--
	}
	a, _ := utf8.DecodeRuneInString(x[i:])
	c, _ := utf8.DecodeRuneInString(y[i:])
	if (a > 0xffff) != (c > 0xffff) {
		if a > 0xffff {
			return unitOrder(0xd800, c)
		}
		return unitOrder(a, 0xd800)
	}
	return int(a) - int(c)
}

func unitOrder(a, c rune) int {
	if a < c {
		return -1
	}
	return 1
}
