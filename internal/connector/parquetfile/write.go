package parquetfile

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// sparkVersion is written into footers: readers take from it that times before 1582 are in today's calendar.
const sparkVersion = "4.2.0"

// createdBy names the writer. Readers know the faults of other writers by their names.
const createdBy = "millrace version 1.0.0"

// groupBytes is the size of a row group unless parquet.block.size says otherwise; groupRows is how many rows it has at most.
const (
	groupBytes = 128 << 20
	groupRows  = 1 << 20
)

// writer writes one file.
type writer struct {
	w     *file.Writer
	rg    file.BufferedRowGroupWriter
	cols  []*column
	size  int64 // bytes of a row group
	rows  int64 // in the row group at hand
	first bool
}

func newWriter(out io.Writer, s types.StructType, c codec, size int64) (w *writer, err error) {
	defer recovered(&err)
	root, err := fileSchema(s)
	if err != nil {
		return nil, err
	}
	kv := metadata.NewKeyValueMetadata()
	for _, x := range [][2]string{{versionKey, sparkVersion}, {rowKey, types.JSON(s)}} {
		if err := kv.Append(x[0], x[1]); err != nil {
			return nil, err
		}
	}
	props := parquet.NewWriterProperties(parquet.WithAllocator(memory.NewGoAllocator()), parquet.WithCompression(c.c),
		parquet.WithCreatedBy(createdBy), parquet.WithDictionaryDefault(true), parquet.WithDataPageSize(1<<20), parquet.WithMaxRowGroupLength(groupRows))
	w = &writer{w: file.NewParquetWriter(out, root, file.WithWriterProps(props), file.WithWriteMetadata(kv)), size: size, first: true}
	leaf := 0
	for _, f := range s.Fields {
		w.cols = append(w.cols, newColumn(f.Type, 1, 0, &leaf))
	}
	return w, nil
}

// Write writes rows. The batch has no selection.
func (w *writer) Write(b *vec.Batch) (err error) {
	defer recovered(&err)
	for off := 0; off < b.N; {
		if w.rg == nil {
			if w.rg, err = w.w.AppendBufferedRowGroupChecked(); err != nil {
				return err
			}
			for _, c := range w.cols {
				if err := c.open(w.rg); err != nil {
					return err
				}
			}
			w.rows, w.first = 0, true
		}
		n := int(min(int64(b.N-off), groupRows-w.rows))
		part := b.Slice(off, n)
		for i, c := range w.cols {
			if err := c.write(part.Cols[i], n, w.first); err != nil {
				return err
			}
		}
		w.first = false
		w.rows += int64(n)
		off += n
		if w.rows >= groupRows || w.rg.TotalCompressedBytes() >= w.size {
			if err := w.rg.Close(); err != nil {
				return err
			}
			w.rg = nil
		}
	}
	return nil
}

// Close writes the footer.
func (w *writer) Close() (err error) {
	defer recovered(&err)
	if w.rg != nil {
		if err := w.rg.Close(); err != nil {
			return err
		}
		w.rg = nil
	}
	return w.w.Close()
}

// column writes a column, or a part of one.
type column struct {
	typ types.DataType
	// def is the definition level of a value that is not null; the level below is that of a null.
	def  int16
	rep  int16 // of the elements, for lists and maps
	kids []*column
	leaf int // number of the leaf, or -1
	out  file.ColumnChunkWriter
	// What is to be written of a leaf: levels, and rows of the vector.
	defs, reps []int16
	idx        []uint32
	v          *vec.Vector
	put        leafWriter
}

// leafWriter writes values: those of rows idx of v, or all rows when idx is nil.
type leafWriter interface {
	write(out file.ColumnChunkWriter, v *vec.Vector, idx []uint32, defs, reps []int16) error
}

func newColumn(t types.DataType, def, rep int16, leaf *int) *column {
	if u, ok := t.(types.UserDefinedType); ok {
		t = u.Storage
	}
	c := &column{typ: t, def: def, rep: rep, leaf: -1}
	switch t := t.(type) {
	case types.StructType:
		for _, f := range t.Fields {
			c.kids = append(c.kids, newColumn(f.Type, def+1, rep, leaf))
		}
	case types.VariantType:
		for range 2 {
			c.kids = append(c.kids, newColumn(types.Binary, def+1, rep, leaf))
		}
	case types.ArrayType:
		c.rep++
		c.kids = []*column{newColumn(t.Element, def+2, rep+1, leaf)}
	case types.MapType:
		c.rep++
		c.kids = []*column{newColumn(t.Key, def+1, rep+1, leaf), newColumn(t.Value, def+2, rep+1, leaf)}
	default:
		c.leaf, c.idx = *leaf, []uint32{} // not nil: nil means all rows
		*leaf++
		c.put = newLeafWriter(t)
	}
	return c
}

func (c *column) open(rg file.BufferedRowGroupWriter) (err error) {
	if c.leaf >= 0 {
		c.out, err = rg.Column(c.leaf)
		return err
	}
	for _, k := range c.kids {
		if err := k.open(rg); err != nil {
			return err
		}
	}
	return nil
}

// write writes the rows of a vector. first tells that the row group has just begun.
func (c *column) write(v *vec.Vector, n int, first bool) error {
	if c.leaf >= 0 {
		return c.flat(v, n, first)
	}
	c.begin(v.Flatten())
	for i := range n {
		c.row(i, 0, 0)
	}
	return c.flush()
}

// flat writes a leaf that is a column by itself: no levels have to be found out row by row.
func (c *column) flat(v *vec.Vector, n int, first bool) error {
	c.defs = c.defs[:0]
	if !v.HasNulls() {
		for range n {
			c.defs = append(c.defs, 1)
		}
		return c.values(v, nil, first)
	}
	c.idx = c.idx[:0]
	for i := range n {
		if v.IsNull(i) {
			c.defs = append(c.defs, 0)
			continue
		}
		c.defs = append(c.defs, 1)
		c.idx = append(c.idx, uint32(i))
	}
	return c.values(v, c.idx, first)
}

// values writes values and, at the start of a row group, chooses their encoding.
func (c *column) values(v *vec.Vector, idx []uint32, first bool) error {
	if first && !worthDictionary(v, idx) {
		c.out.FallbackToPlain()
	}
	if err := c.put.write(c.out, v, idx, c.defs, nil); err != nil {
		return fmt.Errorf("write %s: %w", c.out.Descr().Path(), err)
	}
	return nil
}

func (c *column) begin(v *vec.Vector) {
	c.v = v
	if c.leaf >= 0 {
		c.defs, c.reps, c.idx = c.defs[:0], c.reps[:0], c.idx[:0]
		return
	}
	for i, k := range c.kids {
		k.begin(v.Kids()[i])
	}
}

// row takes the levels and values of row i of a part. def is the level of what is around it, rep the repetition level with which it
// begins.
func (c *column) row(i int, def, rep int16) {
	if c.v.IsNull(i) {
		c.absent(def, rep)
		return
	}
	switch {
	case c.leaf >= 0:
		c.defs, c.reps, c.idx = append(c.defs, c.def), append(c.reps, rep), append(c.idx, uint32(i))
	case c.v.Phys() == vec.PhysStruct:
		for _, k := range c.kids {
			k.row(i, c.def, rep)
		}
	default:
		s := c.v.Spans()[i]
		if s.Len == 0 {
			c.absent(c.def, rep)
			return
		}
		for at := s.Off; at < s.Off+s.Len; at++ {
			for _, k := range c.kids {
				k.row(int(at), c.def+1, rep)
			}
			rep = c.rep
		}
	}
}

// absent notes that there is nothing from a level on.
func (c *column) absent(def, rep int16) {
	if c.leaf >= 0 {
		c.defs, c.reps = append(c.defs, def), append(c.reps, rep)
		return
	}
	for _, k := range c.kids {
		k.absent(def, rep)
	}
}

func (c *column) flush() error {
	if c.leaf < 0 {
		for _, k := range c.kids {
			if err := k.flush(); err != nil {
				return err
			}
		}
		return nil
	}
	reps := c.reps
	if c.out.Descr().MaxRepetitionLevel() == 0 {
		reps = nil
	}
	if err := c.put.write(c.out, c.v, c.idx, c.defs, reps); err != nil {
		return fmt.Errorf("write %s: %w", c.out.Descr().Path(), err)
	}
	return nil
}

// sampleRows is how many rows are looked at to choose an encoding.
const sampleRows = 2048

// worthDictionary tells whether the values of a column repeat so much that a dictionary is worth its while. Strings always get one:
// the writer gives it up when it grows too large.
func worthDictionary(v *vec.Vector, idx []uint32) bool {
	if v.Encoding() != vec.Flat {
		return true
	}
	n := v.Len()
	if idx != nil {
		n = len(idx)
	}
	switch v.Phys() {
	case vec.PhysInt32, vec.PhysFloat32:
		return repeats(vec.Fixed[int32](v), min(n, sampleRows))
	case vec.PhysInt64, vec.PhysFloat64:
		return repeats(vec.Fixed[int64](v), min(n, sampleRows))
	}
	return true
}

// repeats tells whether the first n values have less than a quarter of different ones.
func repeats[T int32 | int64](values []T, n int) bool {
	n = min(n, len(values))
	var seen [2 * sampleRows]T
	var used [2 * sampleRows]bool
	distinct := 0
	for _, x := range values[:n] {
		for h := uint64(x) * 0x9E3779B97F4A7C15 >> 52; ; h = (h + 1) % (2 * sampleRows) {
			if used[h] && seen[h] != x {
				continue
			}
			if !used[h] {
				used[h], seen[h] = true, x
				distinct++
			}
			break
		}
		if distinct > n/4+16 {
			return false
		}
	}
	return true
}
