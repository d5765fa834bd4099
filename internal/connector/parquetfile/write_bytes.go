package parquetfile

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/millrace/millrace/internal/vec"
)

// bytesChunk writes strings and binary values, and decimals that are stored as bytes. They are written by their places in a
// dictionary until that is too large.
type bytesChunk struct {
	pages
	fixed   int // length of all values, which is then not written with them; 0 for strings and binary values
	noDict  bool
	dict    bytesDict
	memo    []uint32 // by row of a vector's own dictionary, place in ours + 1
	indices []uint32 // of the page at hand, if it is one of indices
	values  []byte   // of the page at hand otherwise
	plain   int      // number of values that are not in the dictionary, in the row group
	low     []byte   // of them
	high    []byte
	spans   []vec.Span
	digits  []byte
}

func (c *bytesChunk) add(v *vec.Vector, idx []uint32, lv *entries) error {
	values := lv.n
	if idx != nil {
		values = len(idx)
	}
	c.levels(lv, values)
	switch {
	case values == 0:
		return nil
	case c.noDict:
		spans, buf := c.gather(v, idx, values)
		c.appendPlain(spans, buf)
	case v.Encoding() == vec.Dict && c.fixed == 0:
		c.translate(v, idx, values)
	default:
		spans, buf := c.gather(v, idx, values)
		c.indices = c.dict.add(c.indices, spans, buf, c.fixed == 0)
	}
	if c.n < pageEntries && len(c.values) < pageBytes && (c.noDict || len(c.dict.buf) < dictBytes) {
		return nil
	}
	err := c.end()
	c.noDict = c.noDict || len(c.dict.buf) >= dictBytes
	return err
}

// gather gives the values of rows.
func (c *bytesChunk) gather(v *vec.Vector, idx []uint32, n int) ([]vec.Span, []byte) {
	v = v.Flatten()
	if c.fixed > 0 {
		return c.decimals(vec.Fixed[vec.Int128](v), idx, n)
	}
	spans := v.Spans()[:v.Len()]
	if idx == nil {
		return spans[:n], v.Bytes()
	}
	c.spans = growTo(c.spans[:0], n)
	for i, x := range idx {
		c.spans[i] = spans[x]
	}
	return c.spans, v.Bytes()
}

// decimals gives decimals as big-endian numbers.
func (c *bytesChunk) decimals(values []vec.Int128, idx []uint32, n int) ([]vec.Span, []byte) {
	c.spans, c.digits = growTo(c.spans[:0], n), growTo(c.digits[:0], n*c.fixed)
	for i := range n {
		row := i
		if idx != nil {
			row = int(idx[i])
		}
		at := i * c.fixed
		putBigEndian(c.digits[at:at+c.fixed], values[row])
		c.spans[i] = vec.Span{Off: uint32(at), Len: uint32(c.fixed)}
	}
	return c.spans, c.digits
}

// translate takes rows of a vector that has a dictionary itself: each of its entries is looked up once.
func (c *bytesChunk) translate(v *vec.Vector, idx []uint32, n int) {
	base := v.Base().Flatten()
	c.memo = growTo(c.memo[:0], base.Len())
	clear(c.memo)
	spans, buf, places := base.Spans(), base.Bytes(), v.Index()
	at := len(c.indices)
	c.indices = growTo(c.indices, at+n)
	out := c.indices[at:]
	for i := range out {
		row := i
		if idx != nil {
			row = int(idx[i])
		}
		k := places[row]
		if c.memo[k] == 0 {
			s := spans[k]
			c.memo[k] = c.dict.place(buf[s.Off:s.Off+s.Len], true) + 1
		}
		out[i] = c.memo[k] - 1
	}
}

func (c *bytesChunk) appendPlain(spans []vec.Span, buf []byte) {
	for _, s := range spans {
		b := buf[s.Off : s.Off+s.Len]
		c.note(b)
		if c.fixed == 0 {
			c.values = binary.LittleEndian.AppendUint32(c.values, s.Len)
		}
		c.values = append(c.values, b...)
	}
}

// note counts a value in for the bounds.
func (c *bytesChunk) note(b []byte) {
	if c.plain == 0 || c.compare(b, c.low) < 0 {
		c.low = append(c.low[:0], b...)
	}
	if c.plain == 0 || c.compare(b, c.high) > 0 {
		c.high = append(c.high[:0], b...)
	}
	c.plain++
}

// compare compares values in the order that readers take them to be in: decimals are signed numbers.
func (c *bytesChunk) compare(a, b []byte) int {
	if c.fixed > 0 {
		if d := cmp.Compare(int8(a[0]), int8(b[0])); d != 0 {
			return d
		}
	}
	return bytes.Compare(a, b)
}

// end completes the page at hand.
func (c *bytesChunk) end() error {
	if c.n == 0 {
		return nil
	}
	if !c.noDict {
		err := c.indexPage(c.indices, len(c.dict.ends))
		c.indices = c.indices[:0]
		return err
	}
	c.startPage()
	c.page = append(c.page, c.values...)
	c.values = c.values[:0]
	return c.endPage(encPlain)
}

func (c *bytesChunk) held() int64 { return int64(len(c.data) + c.n + len(c.dict.buf) + len(c.values)) }

// maxBound is how long a bound may be that is kept in the footer.
const maxBound = 1 << 10

func (c *bytesChunk) finish() (dict, data []byte, meta chunkMeta, err error) {
	if err := c.end(); err != nil {
		return nil, nil, meta, err
	}
	if n := len(c.dict.ends); n > 0 {
		for i := range n {
			c.note(c.dict.at(i, c.fixed == 0))
		}
		if err := c.putDictionary(c.dict.buf, n); err != nil {
			return nil, nil, meta, err
		}
	}
	if c.meta.bounds = c.plain > 0 && max(len(c.low), len(c.high)) <= maxBound; c.meta.bounds {
		c.meta.low, c.meta.high = bytes.Clone(c.low), bytes.Clone(c.high)
	}
	c.dict.reset()
	c.noDict, c.plain = false, 0
	dict, data, meta = c.next()
	return dict, data, meta, nil
}
