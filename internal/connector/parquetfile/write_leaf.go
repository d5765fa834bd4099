package parquetfile

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func newChunkWriter(c *column, enc compressor, cal writeCalendars) chunkWriter {
	p := newPages(c, enc)
	switch t := c.typ.(type) {
	case types.NullType, types.BooleanType:
		return &boolChunk{pages: p}
	case types.ByteType:
		return &fixedChunk[int32]{pages: p, gather: gatherTo(func(x int8) int32 { return int32(x) }), bounds: intBounds[int32]}
	case types.ShortType:
		return &fixedChunk[int32]{pages: p, gather: gatherTo(func(x int16) int32 { return int32(x) }), bounds: intBounds[int32]}
	case types.DateType:
		return &fixedChunk[int32]{pages: p, gather: gather[int32], bounds: intBounds[int32], rebase: rebase(cal.days, cal.days.OldDay)}
	case types.TimestampType:
		return &fixedChunk[int64]{pages: p, gather: gather[int64], bounds: intBounds[int64], rebase: rebase(cal.days, cal.oldMicros)}
	case types.IntegerType, types.YearMonthIntervalType:
		return &fixedChunk[int32]{pages: p, gather: gather[int32], bounds: intBounds[int32]}
	case types.FloatType:
		return &fixedChunk[int32]{pages: p, gather: gather[int32], bounds: floatBounds[float32, int32]}
	case types.DoubleType:
		return &fixedChunk[int64]{pages: p, gather: gather[int64], bounds: floatBounds[float64, int64]}
	case types.TimeType:
		return &fixedChunk[int64]{pages: p, gather: gatherTo(func(x int64) int64 { return x / 1000 }), bounds: intBounds[int64]}
	case types.DecimalType:
		switch {
		case t.Precision <= 9:
			return &fixedChunk[int32]{pages: p, gather: gatherTo(func(x int64) int32 { return int32(x) }), bounds: intBounds[int32]}
		case t.Precision <= 18:
			return &fixedChunk[int64]{pages: p, gather: gather[int64], bounds: intBounds[int64]}
		}
		return &bytesChunk{pages: p, fixed: decimalBytes(t.Precision)}
	case types.StringType, types.CharType, types.VarcharType, types.BinaryType:
		return &bytesChunk{pages: p}
	}
	return &fixedChunk[int64]{pages: p, gather: gather[int64], bounds: intBounds[int64]}
}

// word is how values of fixed width are stored: floating-point numbers too, by their bits.
type word interface{ int32 | int64 }

// gather gives the values of rows, in buf when they are not as they are wanted already.
func gather[W word](buf []W, v *vec.Vector, idx []uint32, n int) []W {
	values := vec.Fixed[W](v.Flatten())
	if idx == nil {
		return values[:n]
	}
	buf = growTo(buf, len(idx))
	for i, x := range idx {
		buf[i] = values[x]
	}
	return buf
}

func gatherTo[W word, V vec.FixedWidth](to func(V) W) func(buf []W, v *vec.Vector, idx []uint32, n int) []W {
	return func(buf []W, v *vec.Vector, idx []uint32, n int) []W {
		values := vec.Fixed[V](v.Flatten())
		if idx == nil {
			buf = growTo(buf, n)
			for i, x := range values[:n] {
				buf[i] = to(x)
			}
			return buf
		}
		buf = growTo(buf, len(idx))
		for i, x := range idx {
			buf[i] = to(values[x])
		}
		return buf
	}
}

// intBounds finds the smallest and the largest of some values, of which there is at least one.
func intBounds[W word](values []W) (low, high W, ok bool) {
	low, high = values[0], values[0]
	for _, x := range values[1:] {
		low, high = min(low, x), max(high, x)
	}
	return low, high, true
}

// floatBounds is intBounds for floating-point numbers. NaN has no place in their order, and a zero stands for both zeros.
func floatBounds[F float32 | float64, W word](values []W) (low, high W, ok bool) {
	floats := unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
	lo, hi := floats[0], floats[0]
	for _, x := range floats[1:] {
		lo, hi = min(lo, x), max(hi, x)
	}
	if lo == 0 {
		lo = F(math.Copysign(0, -1))
	}
	if hi == 0 {
		hi = 0
	}
	return *(*W)(unsafe.Pointer(&lo)), *(*W)(unsafe.Pointer(&hi)), lo == lo
}

// wordBytes shows values as they lie in a file.
func wordBytes[W word](values []W) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

// dictBytes is how large a dictionary gets.
const dictBytes = 1 << 20

// fixedChunk writes values of fixed width. Those that repeat are written by their places in a dictionary.
type fixedChunk[W word] struct {
	pages
	gather    func(buf []W, v *vec.Vector, idx []uint32, n int) []W
	bounds    func(values []W) (low, high W, ok bool)
	rebase    rebaser[W] // nil when values are written as they are
	buf       []W
	rebased   []W
	begun     bool
	useDict   bool
	dict      wordDict[W]
	indices   []uint32 // of the page at hand, if it is one of indices
	values    []W      // of the page at hand otherwise
	span      []W      // smallest and largest value so far
	unordered bool
}

func (f *fixedChunk[W]) add(v *vec.Vector, idx []uint32, lv *entries) error {
	values := f.gather(f.buf[:0], v, idx, lv.n)
	if idx != nil {
		f.buf = values
	}
	f.levels(lv, len(values))
	if len(values) == 0 {
		return nil
	}
	if f.rebase != nil {
		f.rebased = growTo(f.rebased[:0], len(values))
		if err := f.rebase(f.rebased, values); err != nil {
			return err
		}
		values = f.rebased
	}
	if !f.begun {
		f.begun, f.useDict = true, repeats(values)
	}
	if !f.useDict {
		f.values = append(f.values, values...)
		f.note(values)
		if f.n >= pageEntries || len(wordBytes(f.values)) >= pageBytes {
			return f.end()
		}
		return nil
	}
	f.indices = f.dict.add(f.indices, values)
	if f.n < pageEntries && len(wordBytes(f.dict.values)) < dictBytes {
		return nil
	}
	err := f.end()
	f.useDict = len(wordBytes(f.dict.values)) < dictBytes
	return err
}

// note counts values in for the bounds.
func (f *fixedChunk[W]) note(values []W) {
	if len(values) == 0 {
		return
	}
	low, high, ok := f.bounds(values)
	f.unordered = f.unordered || !ok
	if f.span = append(f.span, low, high); len(f.span) > 2 {
		low, high, _ = f.bounds(f.span)
		f.span = append(f.span[:0], low, high)
	}
}

// end completes the page at hand.
func (f *fixedChunk[W]) end() (err error) {
	if f.n == 0 {
		return nil
	}
	if f.useDict {
		err = f.indexPage(f.indices, len(f.dict.values))
		f.indices = f.indices[:0]
		return err
	}
	f.startPage()
	if len(f.values) > 0 {
		f.page = append(f.page, wordBytes(f.values)...)
	}
	f.values = f.values[:0]
	return f.endPage(encPlain)
}

func (f *fixedChunk[W]) held() int64 {
	return int64(len(f.data) + f.n + 8*(len(f.dict.values)+len(f.values)))
}

func (f *fixedChunk[W]) finish() (dict, data []byte, meta chunkMeta, err error) {
	if err := f.end(); err != nil {
		return nil, nil, meta, err
	}
	if n := len(f.dict.values); n > 0 {
		f.note(f.dict.values)
		if err := f.putDictionary(wordBytes(f.dict.values), n); err != nil {
			return nil, nil, meta, err
		}
	}
	if f.meta.bounds = len(f.span) == 2 && !f.unordered; f.meta.bounds {
		f.meta.low, f.meta.high = append([]byte(nil), wordBytes(f.span[:1])...), append([]byte(nil), wordBytes(f.span[1:])...)
	}
	f.dict.reset()
	f.begun, f.useDict, f.span, f.unordered = false, false, f.span[:0], false
	dict, data, meta = f.next()
	return dict, data, meta, nil
}

// sampleRows is how many rows are looked at to choose an encoding.
const sampleRows = 2048

// repeats tells whether the first of some values have less than a quarter of different ones, so that a dictionary is worth its while.
func repeats[W word](values []W) bool {
	values = values[:min(len(values), sampleRows)]
	var seen [2 * sampleRows]W
	var used [2 * sampleRows]bool
	distinct := 0
	for _, x := range values {
		for h := uint64(x) * spread >> 52; ; h = (h + 1) % (2 * sampleRows) {
			if used[h] && seen[h] != x {
				continue
			}
			if !used[h] {
				used[h], seen[h] = true, x
				distinct++
			}
			break
		}
		if distinct > len(values)/4+16 {
			return false
		}
	}
	return true
}

// boolChunk writes booleans.
type boolChunk struct {
	pages
	values []uint8
	seen   [2]bool
}

func (b *boolChunk) add(v *vec.Vector, idx []uint32, lv *entries) error {
	at := len(b.values)
	switch {
	case idx == nil:
		b.values = append(b.values, vec.Fixed[uint8](v.Flatten())[:lv.n]...)
	case len(idx) > 0:
		values := vec.Fixed[uint8](v.Flatten())
		for _, x := range idx {
			b.values = append(b.values, values[x])
		}
	}
	for _, x := range b.values[at:] {
		b.seen[x&1] = true
	}
	b.levels(lv, len(b.values)-at)
	if b.n >= pageEntries {
		return b.end()
	}
	return nil
}

func (b *boolChunk) end() error {
	if b.n == 0 {
		return nil
	}
	b.startPage()
	at := len(b.page)
	b.page = growTo(b.page, at+(len(b.values)+7)/8)
	clear(b.page[at:])
	vec.PackBits(b.page[at:], b.values)
	b.values = b.values[:0]
	return b.endPage(encPlain)
}

func (b *boolChunk) held() int64 { return int64(len(b.data) + b.n) }

func (b *boolChunk) finish() (dict, data []byte, meta chunkMeta, err error) {
	if err := b.end(); err != nil {
		return nil, nil, meta, err
	}
	if b.meta.bounds = b.seen[0] || b.seen[1]; b.meta.bounds {
		b.meta.low, b.meta.high = []byte{0}, []byte{0}
		if !b.seen[0] {
			b.meta.low[0] = 1
		}
		if b.seen[1] {
			b.meta.high[0] = 1
		}
	}
	b.seen = [2]bool{}
	dict, data, meta = b.next()
	return dict, data, meta, nil
}

func putBigEndian(b []byte, x vec.Int128) {
	lo, hi := x.Lo, uint64(x.Hi)
	if len(b) == 16 {
		binary.BigEndian.PutUint64(b, hi)
		binary.BigEndian.PutUint64(b[8:], lo)
		return
	}
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte(lo)
		lo = lo>>8 | hi<<56
		hi = uint64(int64(hi) >> 8)
	}
}
