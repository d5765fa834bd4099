package parquetfile

import (
	"fmt"
	"io"
	"strings"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// sparkVersion is written into footers: readers take from it that times before 1582 are in today's calendar.
const sparkVersion = "4.2.0"

// createdBy names the writer. Readers know the faults of other writers by their names.
const createdBy = "millrace version 1.0.0 (build 0)"

// groupBytes is the size of a row group unless parquet.block.size says otherwise; groupRows is how many rows it has at most.
const (
	groupBytes = 128 << 20
	groupRows  = 1 << 20
)

// writeBytes is about how much is written at once.
const writeBytes = 64 << 20

const magic = "PAR1"

// writer writes one file. The pages of a row group are kept until it is complete, because its columns lie one behind the other.
type writer struct {
	out    io.Writer
	at     int64
	schema *element
	meta   string // the schema of the rows
	told   [][2]string
	codec  codec
	size   int64 // bytes of a row group
	cols   []*column
	chunks []chunkWriter // by leaf
	leaves []leafInfo
	rows   int64 // in the row group at hand
	total  int64
	groups []rowGroup
}

// rowGroup is what the footer says of one.
type rowGroup struct {
	rows   int64
	start  int64
	chunks []chunkMeta
}

func newWriter(out io.Writer, s types.StructType, c codec, size int64, cal writeCalendars) (*writer, error) {
	root, err := fileSchema(s)
	if err != nil {
		return nil, err
	}
	w := &writer{out: out, schema: root, meta: types.JSON(s), codec: c, size: size, told: cal.told()}
	leaf := 0
	for _, f := range s.Fields {
		w.cols = append(w.cols, newColumn(f.Type, 1, 0, &leaf))
	}
	w.leaves = root.leaves(nil, nil)
	enc, err := newCompressor(c)
	if err != nil {
		return nil, err
	}
	for _, c := range w.cols {
		c.each(func(c *column) {
			c.out = newChunkWriter(c, enc, cal)
			w.chunks = append(w.chunks, c.out)
		})
	}
	return w, w.write([]byte(magic))
}

func (w *writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

// Write writes rows. The batch has no selection.
func (w *writer) Write(b *vec.Batch) error {
	// A page has at least what is written at once, so that must not be too much.
	most := int64(b.N)
	if size := int64(b.SizeBytes()); size > writeBytes {
		most = max(1, most*writeBytes/size)
	}
	for off := 0; off < b.N; {
		n := int(min(int64(b.N-off), groupRows-w.rows, most))
		part := b
		if n < b.N {
			part = b.Slice(off, n)
		}
		for i, c := range w.cols {
			if err := c.write(part.Cols[i], n); err != nil {
				return fmt.Errorf("write %s: %w", w.schema.kids[i].name, err)
			}
		}
		w.rows += int64(n)
		off += n
		if w.rows >= groupRows || w.Held() >= w.size {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Held implements filesink.Holder: pages are compressed when they are complete.
func (w *writer) Held() int64 {
	held := int64(0)
	for _, c := range w.chunks {
		held += c.held()
	}
	return held
}

// flush ends the row group.
func (w *writer) flush() error {
	if w.rows == 0 {
		return nil
	}
	g := rowGroup{rows: w.rows, start: w.at}
	for i, c := range w.chunks {
		dict, data, meta, err := c.finish()
		if err != nil {
			return fmt.Errorf("write %s: %w", strings.Join(w.leaves[i].path, "."), err)
		}
		meta.start = w.at
		if err := w.write(dict); err != nil {
			return err
		}
		if err := w.write(data); err != nil {
			return err
		}
		g.chunks = append(g.chunks, meta)
	}
	w.total += w.rows
	w.rows = 0
	w.groups = append(w.groups, g)
	return nil
}

// Close writes the footer.
func (w *writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	f := w.footer()
	n := len(f)
	f = append(f, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	return w.write(append(f, magic...))
}

func (w *writer) footer() []byte {
	t := &thrift{}
	t.begin()
	t.i32(1, 1)
	t.list(2, tStruct, w.schema.count())
	w.schema.write(t, true)
	t.i64(3, w.total)
	t.list(4, tStruct, len(w.groups))
	for i, g := range w.groups {
		w.writeGroup(t, i, g)
	}
	entries := append([][2]string{{versionKey, sparkVersion}, {rowKey, w.meta}}, w.told...)
	t.list(5, tStruct, len(entries))
	for _, kv := range entries {
		t.begin()
		t.text(1, kv[0])
		t.text(2, kv[1])
		t.end()
	}
	t.text(6, createdBy)
	// Smallest and largest values are by the order of the column's type.
	t.list(7, tStruct, len(w.leaves))
	for range w.leaves {
		t.begin()
		t.empty(1)
		t.end()
	}
	t.end()
	return t.b
}

func (w *writer) writeGroup(t *thrift, ordinal int, g rowGroup) {
	var plain, packed int64
	t.begin()
	t.list(1, tStruct, len(g.chunks))
	for i, c := range g.chunks {
		plain += c.plain
		packed += c.packed
		t.begin()
		t.i64(2, 0)
		t.structure(3)
		t.i32(1, int32(w.leaves[i].phys))
		used := []int32{encPlain, encRLE, encRLEDict}
		if c.dict == 0 {
			used = used[:2]
		}
		t.list(2, tI32, len(used))
		for _, e := range used {
			t.elemI32(e)
		}
		t.list(3, tBinary, len(w.leaves[i].path))
		for _, name := range w.leaves[i].path {
			t.elemText(name)
		}
		t.i32(4, int32(w.codec.c))
		t.i64(5, c.values)
		t.i64(6, c.plain)
		t.i64(7, c.packed)
		t.i64(9, c.start+c.dict)
		if c.dict > 0 {
			t.i64(11, c.start)
		}
		t.structure(12)
		t.i64(3, c.nulls)
		if c.bounds {
			t.text(5, string(c.high))
			t.text(6, string(c.low))
		}
		t.end()
		t.end()
		t.end()
	}
	t.i64(2, plain)
	t.i64(3, g.rows)
	t.i64(5, g.start)
	t.i64(6, packed)
	if ordinal < 1<<15 {
		t.i16(7, int16(ordinal))
	}
	t.end()
}

// column writes a column, or a part of one.
type column struct {
	typ types.DataType
	// def is the definition level of a value that is not null; the level below is that of a null.
	def  int16
	rep  int16 // of the elements, for lists and maps
	kids []*column
	leaf int // number of the leaf, or -1
	out  chunkWriter
	// What is to be written of a leaf: levels, and rows of the vector.
	lv  entries
	idx []uint32
	v   *vec.Vector
}

// entries are the levels of some entries of a leaf.
type entries struct {
	n          int
	full       bool // all definition levels are the highest; defs is not filled
	defs, reps []uint8
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
	}
	return c
}

// each calls f for the leaves of a column, in order.
func (c *column) each(f func(*column)) {
	if c.leaf >= 0 {
		f(c)
		return
	}
	for _, k := range c.kids {
		k.each(f)
	}
}

// write writes the rows of a vector.
func (c *column) write(v *vec.Vector, n int) error {
	if c.leaf >= 0 {
		return c.flat(v, n)
	}
	c.begin(v)
	for i := range n {
		c.row(i, 0, 0)
	}
	return c.flush()
}

// flat writes a leaf that is a column by itself: no levels have to be found out row by row.
func (c *column) flat(v *vec.Vector, n int) error {
	c.lv.n, c.lv.full = n, true
	if !v.HasNulls() {
		return c.out.add(v, nil, &c.lv)
	}
	c.lv.full, c.lv.defs, c.idx = false, c.lv.defs[:0], c.idx[:0]
	for i := range n {
		if v.IsNull(i) {
			c.lv.defs = append(c.lv.defs, 0)
			continue
		}
		c.lv.defs = append(c.lv.defs, 1)
		c.idx = append(c.idx, uint32(i))
	}
	return c.out.add(v, c.idx, &c.lv)
}

func (c *column) begin(v *vec.Vector) {
	c.v = v
	if c.leaf >= 0 {
		c.lv, c.idx = entries{defs: c.lv.defs[:0], reps: c.lv.reps[:0]}, c.idx[:0]
		return
	}
	c.v = v.Flatten()
	for i, k := range c.kids {
		k.begin(c.v.Kids()[i])
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
		c.lv.defs, c.lv.reps, c.idx = append(c.lv.defs, uint8(c.def)), append(c.lv.reps, uint8(rep)), append(c.idx, uint32(i))
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
		c.lv.defs, c.lv.reps = append(c.lv.defs, uint8(def)), append(c.lv.reps, uint8(rep))
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
	c.lv.n = len(c.lv.defs)
	return c.out.add(c.v, c.idx, &c.lv)
}
