package parquetfile

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/s2"

	"github.com/millrace/millrace/internal/vec"
)

// chunkWriter writes one leaf's part of a row group.
type chunkWriter interface {
	// add takes values: rows idx of v, or the first n rows of it when idx is nil, with the levels of the entries that they are and of
	// those that have no value. Nothing of v is kept.
	add(v *vec.Vector, idx []uint32, lv *entries) error
	// held is about how many bytes wait for the end of the row group.
	held() int64
	// finish gives the dictionary page, if there is one, and the data pages, and starts a new row group. The pages are valid until
	// the next add.
	finish() (dict, data []byte, meta chunkMeta, err error)
}

// chunkMeta is what the footer says of a column chunk.
type chunkMeta struct {
	start     int64 // in the file
	dict      int64 // bytes of the dictionary page, which is before the others; 0 for none
	values    int64 // entries, with nulls
	nulls     int64
	plain     int64 // bytes before compression
	packed    int64
	bounds    bool
	low, high []byte
}

// The encodings, with their numbers in footers.
const (
	encPlain   int32 = 0
	encRLE     int32 = 3
	encRLEDict int32 = 8
)

// The kinds of pages, with their numbers in page headers.
const (
	dataPage int32 = 0
	dictPage int32 = 2
)

// compressor compresses pages.
type compressor struct {
	codec compress.Codec // nil for none and for snappy
	fast  bool           // snappy
}

func newCompressor(c codec) (compressor, error) {
	switch c.c {
	case compress.Codecs.Uncompressed:
		return compressor{}, nil
	case compress.Codecs.Snappy:
		return compressor{fast: true}, nil
	}
	knowLZ4()
	enc, err := compress.GetCodec(c.c)
	return compressor{codec: enc}, err
}

// pack compresses a page, into dst when it is large enough.
func (c compressor) pack(dst, page []byte) []byte {
	switch {
	case c.fast:
		return s2.EncodeSnappy(growTo(dst[:0], s2.MaxEncodedLen(len(page))), page)
	case c.codec != nil:
		return c.codec.Encode(growTo(dst[:0], int(c.codec.CompressBound(int64(len(page))))), page)
	}
	return append(dst[:0], page...)
}

// When a page is complete.
const (
	pageBytes   = 1 << 20
	pageEntries = 1 << 17
)

// pages is what the writers of all kinds of values have in common: the complete pages of a column chunk and the levels of the page
// at hand.
type pages struct {
	maxDef, maxRep uint8
	enc            compressor
	data           []byte // complete data pages
	dict           []byte // dictionary page
	meta           chunkMeta
	n              int  // entries of the page at hand
	full           bool // all of them have a value; defs is not filled
	defs, reps     []uint8
	page           []byte
	packed         []byte
	head           thrift
}

func newPages(c *column, enc compressor) pages {
	return pages{maxDef: uint8(c.def), maxRep: uint8(c.rep), enc: enc, full: true}
}

// levels takes the levels of some entries. values is how many of them have a value.
func (p *pages) levels(lv *entries, values int) {
	if p.full && !lv.full {
		p.full, p.defs = false, p.defs[:0]
		p.fill(p.n)
	}
	switch {
	case p.full:
	case lv.full:
		p.fill(lv.n)
	default:
		p.defs = append(p.defs, lv.defs...)
	}
	if p.maxRep > 0 {
		p.reps = append(p.reps, lv.reps...)
	}
	p.n += lv.n
	p.meta.values += int64(lv.n)
	p.meta.nulls += int64(lv.n - values)
}

func (p *pages) fill(n int) {
	for range n {
		p.defs = append(p.defs, p.maxDef)
	}
}

// startPage begins p.page, a data page, with its levels.
func (p *pages) startPage() {
	p.page = p.page[:0]
	if p.maxRep > 0 {
		p.page = appendLevels(p.page, p.reps, p.maxRep)
	}
	if !p.full {
		p.page = appendLevels(p.page, p.defs, p.maxDef)
		return
	}
	at := len(p.page)
	p.page = append(p.page, 0, 0, 0, 0)
	p.page = append(binary.AppendUvarint(p.page, uint64(p.n)<<1), p.maxDef)
	binary.LittleEndian.PutUint32(p.page[at:], uint32(len(p.page)-at-4))
}

// appendLevels appends levels and the number of their bytes in front.
func appendLevels(b []byte, levels []uint8, most uint8) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = appendHybrid(b, levels, uint(bits.Len8(most)))
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// endPage completes the page that startPage began, after its values.
func (p *pages) endPage(encoding int32) (err error) {
	t := p.header(dataPage)
	p.data, err = p.put(p.data, p.page, func() {
		t.structure(5)
		t.i32(1, int32(p.n))
		t.i32(2, encoding)
		t.i32(3, encRLE)
		t.i32(4, encRLE)
		t.end()
	})
	p.n, p.full, p.defs, p.reps = 0, true, p.defs[:0], p.reps[:0]
	return err
}

// putDictionary writes the dictionary page of n values.
func (p *pages) putDictionary(values []byte, n int) (err error) {
	t := p.header(dictPage)
	p.dict, err = p.put(p.dict[:0], values, func() {
		t.structure(7)
		t.i32(1, int32(n))
		t.i32(2, encPlain)
		t.end()
	})
	p.meta.dict = int64(len(p.dict))
	return err
}

// header begins a page header.
func (p *pages) header(kind int32) *thrift {
	p.head.b = p.head.b[:0]
	p.head.begin()
	p.head.i32(1, kind)
	return &p.head
}

var errPageSize = errors.New("a page of more than 2 GiB cannot be written: the values are too large")

// put appends a page with the rest of its header.
func (p *pages) put(dst, page []byte, describe func()) ([]byte, error) {
	p.packed = p.enc.pack(p.packed, page)
	if max(len(page), len(p.packed)) > 1<<31-1 {
		return dst, errPageSize
	}
	p.head.i32(2, int32(len(page)))
	p.head.i32(3, int32(len(p.packed)))
	describe()
	p.head.end()
	p.meta.plain += int64(len(p.head.b) + len(page))
	p.meta.packed += int64(len(p.head.b) + len(p.packed))
	return append(append(dst, p.head.b...), p.packed...), nil
}

// indexPage completes a data page of dictionary indices. n is how many entries the dictionary has by now: readers take the width
// from the page.
func (p *pages) indexPage(indices []uint32, n int) error {
	p.startPage()
	if len(indices) == 0 { // there may be no dictionary at all
		return p.endPage(encPlain)
	}
	width := max(1, bits.Len(uint(n-1)))
	p.page = appendHybrid(append(p.page, byte(width)), indices, uint(width))
	return p.endPage(encRLEDict)
}

// next gives what was written and starts a new column chunk.
func (p *pages) next() (dict, data []byte, meta chunkMeta) {
	if p.meta.dict > 0 {
		dict = p.dict
	}
	data, meta = p.data, p.meta
	p.data, p.meta = p.data[:0], chunkMeta{}
	return dict, data, meta
}

// appendHybrid appends runs and bit-packed groups. Eight equal values make a run.
func appendHybrid[T uint8 | uint32](b []byte, v []T, width uint) []byte {
	start := 0 // of what is to be packed
	for i := 0; i < len(v); {
		x, end := v[i], i+1
		for end < len(v) && v[end] == x {
			end++
		}
		// Groups are of eight values, so the run may have to give some to the last group before it.
		if from := i + (start-i)&7; end-from >= 8 {
			b = appendPacked(b, v[start:from], width)
			b = binary.AppendUvarint(b, uint64(end-from)<<1)
			for s := uint(0); s < width; s += 8 {
				b = append(b, byte(uint32(x)>>s))
			}
			start = end
		}
		i = end
	}
	return appendPacked(b, v[start:], width)
}

// appendPacked appends bit-packed groups. What is missing in the last is zero.
func appendPacked[T uint8 | uint32](b []byte, v []T, width uint) []byte {
	if len(v) == 0 {
		return b
	}
	groups := (len(v) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	var acc uint64
	n := uint(0)
	for _, x := range v {
		acc |= uint64(x) << n
		if n += width; n >= 32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(acc))
			acc >>= 32
			n -= 32
		}
	}
	n += width * uint(groups*8-len(v))
	for ; n > 0; n -= 8 {
		b = append(b, byte(acc))
		acc >>= 8
	}
	return b
}
