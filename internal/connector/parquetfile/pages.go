package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// levels are the levels of a page: n entries, of which those before pos are used up.
type levels struct {
	n, pos int
	defs   []int16 // nil when all are the highest
	reps   []int16 // nil when all are zero
}

// pager gives the pages of a column chunk, one after the other. T is what the chunk holds.
type pager[T any] interface {
	// load goes to the next page; false at the end of the chunk.
	load() (bool, error)
	// page is the present page's levels.
	page() *levels
	// values reads the next values, those that are not null.
	values(dst []T) error
}

// chunk reads the pages of a column chunk.
type chunk struct {
	pages          file.PageReader
	maxDef, maxRep int16
	lv             levels
	defs, reps     []int16 // memory for lv
	// The values of the present page lie plain in data, or are indices of a dictionary.
	data    []byte
	isDict  bool
	indices hybrid
	onDict  func(p *file.DictionaryPage) error
	inBits  bool // booleans are runs, not bits
	// onRare decodes all values of a page with one of the rarer encodings. They are then taken from where it puts them.
	onRare func(enc parquet.Encoding, data []byte, atMost int) error
	isRare bool
}

func (c *chunk) page() *levels { return &c.lv }

// load implements pager. Pages without values are passed over.
func (c *chunk) load() (bool, error) {
	for c.pages.Next() {
		var data []byte
		var enc parquet.Encoding
		var err error
		switch p := c.pages.Page().(type) {
		case *file.DictionaryPage:
			if e := parquet.Encoding(p.Encoding()); e != parquet.Encodings.Plain && e != parquet.Encodings.PlainDict {
				return false, fmt.Errorf("the dictionary has the encoding %s", e)
			}
			if err := c.onDict(p); err != nil {
				return false, err
			}
			continue
		case *file.DataPageV1:
			c.lv = levels{n: int(p.NumValues())}
			data, enc = p.Data(), parquet.Encoding(p.Encoding())
			if c.maxRep > 0 {
				if p.RepetitionLevelEncoding() != parquet.Encodings.RLE {
					return false, fmt.Errorf("repetition levels have the encoding %s", p.RepetitionLevelEncoding())
				}
				if data, err = c.prefixed(data, c.readReps); err != nil {
					return false, err
				}
			}
			if c.maxDef > 0 {
				if p.DefinitionLevelEncoding() != parquet.Encodings.RLE {
					return false, fmt.Errorf("definition levels have the encoding %s", p.DefinitionLevelEncoding())
				}
				if data, err = c.prefixed(data, c.readDefs); err != nil {
					return false, err
				}
			}
		case *file.DataPageV2:
			c.lv = levels{n: int(p.NumValues())}
			data, enc = p.Data(), parquet.Encoding(p.Encoding())
			reps, defs := int(p.RepetitionLevelByteLen()), int(p.DefinitionLevelByteLen())
			if reps < 0 || defs < 0 || reps+defs > len(data) {
				return false, errDamaged
			}
			if c.maxRep > 0 {
				err = c.readReps(data[:reps])
			}
			if c.maxDef > 0 && err == nil {
				err = c.readDefs(data[reps : reps+defs])
			}
			if err != nil {
				return false, err
			}
			data = data[reps+defs:]
		default:
			continue
		}
		if c.lv.n == 0 {
			continue
		}
		return true, c.setValues(data, enc)
	}
	return false, c.pages.Err()
}

// prefixed reads levels that have their length in front and gives what is behind them.
func (c *chunk) prefixed(data []byte, read func([]byte) error) ([]byte, error) {
	if len(data) < 4 {
		return nil, errDamaged
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, errDamaged
	}
	return data[4+n:], read(data[4 : 4+n])
}

func (c *chunk) readReps(data []byte) error {
	c.reps = sized(c.reps, c.lv.n)
	c.lv.reps = c.reps
	h := newHybrid(data, uint(bits.Len16(uint16(c.maxRep))))
	return h.levels(c.reps, c.maxRep)
}

func (c *chunk) readDefs(data []byte) error {
	h := newHybrid(data, uint(bits.Len16(uint16(c.maxDef))))
	if v, ok := h.onlyRun(c.lv.n); ok && v == uint32(c.maxDef) {
		return nil
	}
	c.defs = sized(c.defs, c.lv.n)
	c.lv.defs = c.defs
	return h.levels(c.defs, c.maxDef)
}

func sized(b []int16, n int) []int16 {
	if cap(b) < n {
		return make([]int16, n)
	}
	return b[:n]
}

func (c *chunk) setValues(data []byte, enc parquet.Encoding) error {
	c.isDict, c.inBits, c.isRare = false, false, false
	switch enc {
	case parquet.Encodings.Plain:
		c.data = data
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		c.isDict = true
		if len(data) == 0 { // a page of nulls
			c.indices = hybrid{}
			return nil
		}
		if data[0] > 32 {
			return errDamaged
		}
		c.indices = newHybrid(data[1:], uint(data[0]))
	case parquet.Encodings.RLE:
		if len(data) < 4 {
			return errDamaged
		}
		c.inBits = true
		c.indices = newHybrid(data[4:], 1)
	default:
		if c.onRare == nil {
			return badEncoding(enc)
		}
		c.isRare = true
		return c.onRare(enc, data, c.lv.n)
	}
	return nil
}

func badEncoding(enc parquet.Encoding) error { return fmt.Errorf("values have the encoding %s", enc) }

func newChunk(pages file.PageReader, col *schema.Column) *chunk {
	return &chunk{pages: pages, maxDef: col.MaxDefinitionLevel(), maxRep: col.MaxRepetitionLevel()}
}

// fixedPages reads values of fixed width.
type fixedPages[T any] struct {
	*chunk
	dict []T
	idx  []uint32
	rare []T
}

func newFixedPages[T any](c *chunk) *fixedPages[T] {
	f := &fixedPages[T]{chunk: c}
	c.onDict = func(p *file.DictionaryPage) error {
		n := int(p.NumValues())
		var zero T
		if n < 0 || len(p.Data()) < n*int(unsafe.Sizeof(zero)) {
			return errDamaged
		}
		f.dict = make([]T, n)
		copyPlain(f.dict, p.Data())
		return nil
	}
	c.onRare = func(enc parquet.Encoding, data []byte, atMost int) (err error) {
		f.rare, err = rareFixed(f.rare[:0], enc, data, atMost)
		return err
	}
	return f
}

// copyPlain copies values as they lie in a page, in little-endian order, and tells how many bytes they took.
func copyPlain[T any](dst []T, data []byte) int {
	if len(dst) == 0 {
		return 0
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)*int(unsafe.Sizeof(dst[0])))
	return copy(raw, data)
}

func (f *fixedPages[T]) values(dst []T) error {
	if f.isRare {
		if len(dst) > len(f.rare) {
			return errDamaged
		}
		f.rare = f.rare[copy(dst, f.rare):]
		return nil
	}
	if !f.isDict {
		var zero T
		size := len(dst) * int(unsafe.Sizeof(zero))
		if len(f.data) < size {
			return errDamaged
		}
		f.data = f.data[copyPlain(dst, f.data):]
		return nil
	}
	if cap(f.idx) < len(dst) {
		f.idx = make([]uint32, len(dst))
	}
	idx := f.idx[:len(dst)]
	if err := f.indices.read(idx); err != nil {
		return err
	}
	dict := f.dict
	for i, x := range idx {
		if int(x) >= len(dict) {
			return errDamaged
		}
		dst[i] = dict[x]
	}
	return nil
}

// boolPages reads booleans, one byte each.
type boolPages struct {
	*chunk
	bit int
	idx []uint32
}

func (b *boolPages) load() (bool, error) {
	b.bit = 0
	return b.chunk.load()
}

func (b *boolPages) values(dst []uint8) error {
	if b.isDict {
		return errDamaged
	}
	if b.inBits {
		if cap(b.idx) < len(dst) {
			b.idx = make([]uint32, len(dst))
		}
		if err := b.indices.read(b.idx[:len(dst)]); err != nil {
			return err
		}
		for i, x := range b.idx[:len(dst)] {
			dst[i] = uint8(x)
		}
		return nil
	}
	if b.bit+len(dst) > len(b.data)*8 {
		return errDamaged
	}
	for i := range dst {
		dst[i] = b.data[b.bit>>3] >> (b.bit & 7) & 1
		b.bit++
	}
	return nil
}

// bytesPages reads strings and binary values. They are valid until the next load.
type bytesPages struct {
	*chunk
	fixed int // length of each, or 0 when it is written before each
	dict  [][]byte
	idx   []uint32
	// dictID counts the dictionaries, to tell whether the present one is still that of a vector.
	dictID int
	rare   [][]byte
}

func newBytesPages(c *chunk, fixed int) *bytesPages {
	b := &bytesPages{chunk: c, fixed: fixed}
	c.onDict = func(p *file.DictionaryPage) error {
		data := append([]byte(nil), p.Data()...) // the page's memory is used again
		n := int(p.NumValues())
		if n < 0 || n > len(data)+1 {
			return errDamaged
		}
		b.dict = make([][]byte, n)
		b.dictID++
		_, err := splitPlain(b.dict, data, fixed)
		return err
	}
	c.onRare = func(enc parquet.Encoding, data []byte, atMost int) (err error) {
		b.rare, err = rareBytes(b.rare[:0], enc, data, fixed, atMost)
		return err
	}
	return b
}

// splitPlain finds plain values and gives what is behind them.
func splitPlain(dst [][]byte, data []byte, fixed int) ([]byte, error) {
	for i := range dst {
		n := fixed
		if fixed == 0 {
			if len(data) < 4 {
				return nil, errDamaged
			}
			n = int(binary.LittleEndian.Uint32(data))
			data = data[4:]
		}
		if n < 0 || n > len(data) {
			return nil, errDamaged
		}
		dst[i] = data[:n:n]
		data = data[n:]
	}
	return data, nil
}

func (b *bytesPages) values(dst [][]byte) (err error) {
	if b.isRare {
		if len(dst) > len(b.rare) {
			return errDamaged
		}
		b.rare = b.rare[copy(dst, b.rare):]
		return nil
	}
	if !b.isDict {
		b.data, err = splitPlain(dst, b.data, b.fixed)
		return err
	}
	idx, err := b.readIndices(len(dst))
	if err != nil {
		return err
	}
	for i, x := range idx {
		dst[i] = b.dict[x]
	}
	return nil
}

// readIndices reads the next n indices of the dictionary. They are valid until the next call.
func (b *bytesPages) readIndices(n int) ([]uint32, error) {
	if cap(b.idx) < n {
		b.idx = make([]uint32, n)
	}
	idx := b.idx[:n]
	if err := b.indices.read(idx); err != nil {
		return nil, err
	}
	for _, x := range idx {
		if int(x) >= len(b.dict) {
			return nil, errDamaged
		}
	}
	return idx, nil
}
