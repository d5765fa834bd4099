package records

import (
	"errors"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Fields are the parts of records that are wanted. Offsets always are.
type Fields struct{ Key, Value, Time, TimeType, Headers bool }

// Options say how record batches are read.
type Options struct {
	Fields
	// From is the first offset of use.
	From int64
	// Committed leaves out transactions that were aborted; Aborted are those that the response names.
	Committed bool
	Aborted   []Aborted
	// CheckCRC looks at the checksums.
	CheckCRC bool
}

// Segment is some records in the order of their offsets. Fields that were not wanted are nil.
type Segment struct {
	Offsets    []int64
	Key, Value *vec.Vector // binary
	Time       *vec.Vector // timestamp
	TimeType   *vec.Vector // int
	Headers    *vec.Vector // array of struct of key and value, null for records without any
}

// HeadersType is that of the headers' column.
var HeadersType = types.ArrayType{
	Element:      types.Struct(types.Field{Name: "key", Type: types.String, Nullable: true}, types.Field{Name: "value", Type: types.Binary, Nullable: true}),
	ContainsNull: true,
}

// segmentRows is how many rows batches are gathered to, where producers have sent smaller ones.
const segmentRows = vec.BatchRows

var decompressor = kgo.DefaultDecompressor()

// Decode reads what a broker has returned for one partition. next is the offset behind the last whole batch: From when there is none. The
// segments share the response's memory, which must not change.
func Decode(in []byte, o Options) (segments []*Segment, next int64, err error) {
	next = o.From
	var s *sieve
	if o.Committed {
		s = newSieve(o.Aborted)
	}
	g := group{o: &o, in: in}
	for at := 0; at < len(in); {
		h, size, err := nextHead(in, at, &o)
		if err != nil {
			return nil, 0, err
		}
		if size == 0 {
			break
		}
		at += size
		s.see(&h)
		switch {
		case h.attrs&attrControl != 0:
			s.ends(&h)
		case s.drops(&h), h.last < o.From:
		default:
			if g.rows >= segmentRows || g.rows > 0 && g.rows+h.count > 4*segmentRows {
				if segments, err = g.flush(segments); err != nil {
					return nil, 0, err
				}
			}
			g.heads = append(g.heads, h)
			g.rows += h.count
		}
		next = max(next, h.last+1)
	}
	if segments, err = g.flush(segments); err != nil {
		return nil, 0, err
	}
	return segments, next, nil
}

func nextHead(in []byte, at int, o *Options) (head, int, error) {
	h, size, err := next(in[at:], at, o.CheckCRC)
	if err == nil && size > 0 && h.count > 0 && h.codec() == kgo.CodecNone && h.count > len(h.payload)/leastRecord {
		err = fmt.Errorf("a record batch of %d bytes claims to have %d records", len(h.payload), h.count)
	}
	return h, size, err
}

// group is some batches that become one segment.
type group struct {
	o     *Options
	in    []byte
	heads []head
	rows  int
}

// flush decodes the batches of the group, if there are any, and begins the next.
func (g *group) flush(segments []*Segment) ([]*Segment, error) {
	if len(g.heads) == 0 {
		return segments, nil
	}
	buf, err := g.buffer()
	if err != nil {
		return nil, err
	}
	rows := 0
	for i := range g.heads {
		h := &g.heads[i]
		if h.count > len(h.payload)/leastRecord {
			return nil, fmt.Errorf("a record batch of %d bytes claims to have %d records", len(h.payload), h.count)
		}
		rows += h.count
	}
	w := newWriter(g.o, rows)
	for i := range g.heads {
		if err := w.batch(&g.heads[i], buf); err != nil {
			return nil, err
		}
	}
	g.heads, g.rows = g.heads[:0], 0
	if w.n == 0 {
		return segments, nil
	}
	return append(segments, w.segment(buf)), nil
}

// buffer decompresses the batches, and makes their payloads parts of one buffer.
func (g *group) buffer() ([]byte, error) {
	packed, size := 0, 0
	for i := range g.heads {
		h := &g.heads[i]
		if c := h.codec(); c != kgo.CodecNone {
			var err error
			if h.payload, err = decompressor.Decompress(h.payload, c); err != nil {
				return nil, fmt.Errorf("the record batch at offset %d cannot be decompressed: %w", h.base, err)
			}
			packed++
		}
		if size += len(h.payload); size > math.MaxInt32 {
			return nil, errors.New("record batches that belong together have more than 2 GiB")
		}
	}
	switch {
	case packed == 0:
		return g.in, nil // at says where the payloads are
	case len(g.heads) == 1:
		g.heads[0].at = 0
		return g.heads[0].payload, nil
	}
	buf := make([]byte, 0, size)
	for i := range g.heads {
		h := &g.heads[i]
		h.at = len(buf)
		buf = append(buf, h.payload...)
	}
	return buf, nil
}

// writer fills the columns of a segment.
type writer struct {
	o       *Options
	n, room int
	offsets []int64
	times   *vec.Vector
	kinds   *vec.Vector
	// keyValid and valueValid are nil as long as none is null.
	keys, values         []vec.Span
	keyValid, valueValid vec.Bitmap
	headers              headerWriter
}

func newWriter(o *Options, room int) *writer {
	w := &writer{o: o, room: room, offsets: make([]int64, room)}
	if o.Key {
		w.keys = make([]vec.Span, room)
	}
	if o.Value {
		w.values = make([]vec.Span, room)
	}
	if o.Time {
		w.times = vec.NewFixed(types.Timestamp, room)
	}
	if o.TimeType {
		w.kinds = vec.NewFixed(types.Integer, room)
	}
	if o.Headers {
		w.headers.init(room)
	}
	return w
}

var errRecord = errors.New("a record does not fit into its batch")

// batch adds the records of one batch, whose payload is at h.at in buf.
func (w *writer) batch(h *head, buf []byte) error {
	b := buf[:h.at+len(h.payload)]
	var times []int64
	var kinds []int32
	if w.times != nil {
		times = vec.Fixed[int64](w.times)
	}
	if w.kinds != nil {
		kinds = vec.Fixed[int32](w.kinds)
	}
	kind := int32(h.attrs & attrAppend / attrAppend)
	i := h.at
	for range h.count {
		length, at := zigzag(b, i)
		if at < 0 || length < 0 || length > int64(len(b)-at) {
			return errRecord
		}
		end := at + int(length)
		time, at := zigzag(b, at+1) // behind the attributes
		delta, at := zigzag(b, at)
		keyLen, at := zigzag(b, at)
		if at < 0 || keyLen > int64(end-at) {
			return errRecord
		}
		key := at
		at += max(0, int(keyLen))
		valueLen, at := zigzag(b, at)
		if at < 0 || at > end || valueLen > int64(end-at) {
			return errRecord
		}
		i = end
		offset := h.base + delta
		if offset < w.o.From {
			continue
		}
		if w.n > 0 && offset <= w.offsets[w.n-1] {
			return fmt.Errorf("the record at offset %d comes behind that at %d", offset, w.offsets[w.n-1])
		}
		n := w.n
		w.offsets[n] = offset
		if w.keys != nil {
			w.keys[n] = vec.Span{Off: uint32(key), Len: uint32(max(0, keyLen))}
			if keyLen < 0 {
				w.keyValid = clearBit(w.keyValid, n, w.room)
			}
		}
		if w.values != nil {
			w.values[n] = vec.Span{Off: uint32(at), Len: uint32(max(0, valueLen))}
			if valueLen < 0 {
				w.valueValid = clearBit(w.valueValid, n, w.room)
			}
		}
		if times != nil {
			if kind == 1 {
				times[n] = h.maxTime * 1000
			} else {
				times[n] = (h.firstTime + time) * 1000
			}
		}
		if kinds != nil {
			kinds[n] = kind
		}
		if w.headers.on {
			if !w.headers.row(b[:end], at+max(0, int(valueLen)), n) {
				return errRecord
			}
		}
		w.n++
	}
	return nil
}

// clearBit marks a row as null.
func clearBit(b vec.Bitmap, i, room int) vec.Bitmap {
	if b == nil {
		b = vec.NewBitmapSet(room)
	}
	b.Clear(i)
	return b
}

// trim cuts a bitmap to n bits; those behind them in its last word are clear.
func trim(b vec.Bitmap, n int) vec.Bitmap {
	if b == nil {
		return nil
	}
	b = b[:(n+63)/64]
	if r := uint(n) & 63; r != 0 {
		b[len(b)-1] &= 1<<r - 1
	}
	return b
}

func (w *writer) segment(buf []byte) *Segment {
	s := &Segment{Offsets: w.offsets[:w.n]}
	if w.keys != nil {
		s.Key = vec.NewBytes(types.Binary, w.keys[:w.n], buf)
		s.Key.SetValidity(trim(w.keyValid, w.n))
	}
	if w.values != nil {
		s.Value = vec.NewBytes(types.Binary, w.values[:w.n], buf)
		s.Value.SetValidity(trim(w.valueValid, w.n))
	}
	if w.times != nil {
		s.Time = w.times.Slice(0, w.n)
	}
	if w.kinds != nil {
		s.TimeType = w.kinds.Slice(0, w.n)
	}
	if w.headers.on {
		s.Headers = w.headers.vector(w.n, buf)
	}
	return s
}

// headerWriter fills the column of headers.
type headerWriter struct {
	on     bool
	lists  []vec.Span
	valid  vec.Bitmap
	names  []vec.Span
	values []vec.Span
	nulls  []int // headers without a value
}

func (h *headerWriter) init(room int) {
	h.on, h.lists, h.valid = true, make([]vec.Span, room), vec.NewBitmapSet(room)
}

// row adds the headers that stand at i, up to the end of b.
func (h *headerWriter) row(b []byte, i, n int) bool {
	count, i := zigzag(b, i)
	if i < 0 || count < 0 || count > int64(len(b)-i) {
		return false
	}
	h.lists[n] = vec.Span{Off: uint32(len(h.names)), Len: uint32(count)}
	if count == 0 {
		h.valid.Clear(n)
	}
	for range count {
		size, at := zigzag(b, i)
		if at < 0 || size < 0 || size > int64(len(b)-at) {
			return false
		}
		h.names = append(h.names, vec.Span{Off: uint32(at), Len: uint32(size)})
		size, i = zigzag(b, at+int(size))
		if i < 0 || size > int64(len(b)-i) {
			return false
		}
		if size < 0 {
			h.nulls = append(h.nulls, len(h.values))
			size = 0
		}
		h.values = append(h.values, vec.Span{Off: uint32(i), Len: uint32(size)})
		i += int(size)
	}
	return true
}

func (h *headerWriter) vector(n int, buf []byte) *vec.Vector {
	values := vec.NewBytes(types.Binary, h.values, buf)
	if len(h.nulls) > 0 {
		valid := vec.NewBitmapSet(len(h.values))
		for _, i := range h.nulls {
			valid.Clear(i)
		}
		values.SetValidity(valid)
	}
	fields := []*vec.Vector{vec.NewBytes(types.String, h.names, buf), values}
	list := vec.NewList(HeadersType, h.lists[:n], vec.NewStruct(HeadersType.Element, len(h.names), fields))
	list.SetValidity(trim(h.valid, n))
	return list
}
