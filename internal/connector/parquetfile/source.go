package parquetfile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is the format parquet.
type Kind struct{}

// Name implements files.Kind.
func (Kind) Name() string { return "parquet" }

// Prepare implements files.Kind.
func (Kind) Prepare(req source.Request) (files.Decoder, error) {
	d := &decoder{unsaid: newUnsaid(req)}
	conf := func(string) string { return "" }
	if req.Env.Conf != nil {
		conf = req.Env.Conf
	}
	d.caseSensitive = conf(setting.CaseSensitive) == "true"
	var err error
	if d.ignoreCorrupt, err = files.IgnoresCorrupt(req); err != nil {
		return nil, err
	}
	d.merge, err = files.Flag(req, "mergeSchema", conf(setting.ParquetMergeSchema) == "true")
	return d, err
}

// decoder reads Parquet files.
type decoder struct {
	caseSensitive bool
	merge         bool
	ignoreCorrupt bool // in the search for a schema
	unsaid        unsaid
	absent        map[string]*vec.Vector
}

// WithAbsent implements files.Absenter.
func (d *decoder) WithAbsent(values map[string]*vec.Vector) files.Decoder {
	c := *d
	c.absent = values
	return &c
}

// Fixed implements files.Decoder.
func (d *decoder) Fixed() (types.StructType, bool) { return types.StructType{}, false }

// cut is the size of pieces. A row group belongs to the piece in which its middle lies.
const cut = 16 << 20

// Cut implements files.Decoder.
func (d *decoder) Cut(*files.File) int64 { return cut }

// Check implements files.Decoder.
func (d *decoder) Check(schema types.StructType) error { return checkTypes(schema) }

// checkTypes refuses types that Parquet has no form for.
func checkTypes(schema types.StructType) error {
	for _, f := range schema.Fields {
		if types.Contains(f.Type, func(t types.DataType) bool { return t == types.CalendarInterval }) {
			return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "Parquet", "columnName", errclass.Ident(f.Name), "columnType", errclass.Expr(f.Type.SQL()))
		}
	}
	return nil
}

// openFile opens a file and reads its footer.
func openFile(f *files.File) (r *file.Reader, err error) {
	h, err := f.FS.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer recovered(&err)
	knowLZ4()
	r, err = file.NewParquetReader(h, file.WithReadProps(parquet.NewReaderProperties(memory.NewGoAllocator())))
	if err != nil {
		return nil, errors.Join(errclass.New("FAILED_READ_FILE.NO_HINT", "path", fs.URI(f.Path),
			"reason", "its footer is damaged or of another format. Set ignoreCorruptFiles to skip such files.").WithCause(err), h.Close())
	}
	return r, nil
}

// recovered turns a panic into an error: the Arrow library takes some kinds of damage for faults of its caller.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errDamaged, p)
	}
}

// Infer implements files.Decoder. The schema is that of the first file that has one, unless those of all files are to be merged.
func (d *decoder) Infer(ctx context.Context, list []*files.File) (types.StructType, bool, error) {
	var out types.StructType
	any := false
	for _, f := range list {
		if f.Size == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, false, err
		}
		s, err := inferFile(f)
		if err != nil {
			if err = files.InferError(f, err, d.ignoreCorrupt); err != nil {
				return out, false, err
			}
			continue
		}
		if !any {
			out, any = s, true
		} else if out, err = mergeSchemas(out, s); err != nil {
			return out, false, err
		}
		if !d.merge {
			break
		}
	}
	return out, any, nil
}

func inferFile(f *files.File) (s types.StructType, err error) {
	r, err := openFile(f)
	if errclass.Has(err, "FAILED_READ_FILE.NO_HINT") {
		return s, errclass.New("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", "path", fs.URI(f.Path)).WithCause(err)
	}
	if err != nil {
		return s, err
	}
	defer r.Close()
	defer recovered(&err)
	return schemaOf(r, fs.URI(f.Path))
}

// mergeSchemas adds the columns of b that a does not have.
func mergeSchemas(a, b types.StructType) (types.StructType, error) {
	out := types.StructType{Fields: append([]types.Field(nil), a.Fields...)}
	for _, f := range b.Fields {
		i := out.IndexFold(f.Name)
		if i < 0 {
			out.Fields = append(out.Fields, f)
			continue
		}
		t, ok := mergeTypes(out.Fields[i].Type, f.Type)
		if !ok {
			return out, errclass.New("CANNOT_MERGE_SCHEMAS", "left", errclass.Expr(a.SQL()), "right", errclass.Expr(b.SQL()))
		}
		out.Fields[i].Type = t
	}
	return out, nil
}

func mergeTypes(a, b types.DataType) (types.DataType, bool) {
	switch x := a.(type) {
	case types.StructType:
		y, ok := b.(types.StructType)
		if !ok {
			return nil, false
		}
		s, err := mergeSchemas(x, y)
		return s, err == nil
	case types.ArrayType:
		y, ok := b.(types.ArrayType)
		if !ok {
			return nil, false
		}
		t, ok := mergeTypes(x.Element, y.Element)
		return types.ArrayOf(t), ok
	case types.MapType:
		y, ok := b.(types.MapType)
		if !ok {
			return nil, false
		}
		k, ok1 := mergeTypes(x.Key, y.Key)
		v, ok2 := mergeTypes(x.Value, y.Value)
		return types.MapOf(k, v), ok1 && ok2
	case types.DecimalType:
		if y, ok := b.(types.DecimalType); ok && x.Scale == y.Scale {
			return types.DecimalType{Precision: max(x.Precision, y.Precision), Scale: x.Scale}, true
		}
	}
	return a, types.SameType(a, b)
}

// Open implements files.Decoder.
func (d *decoder) Open(_ context.Context, p files.Piece, want types.StructType, filters []source.Filter) (out files.Rows, err error) {
	r, err := openFile(p.File)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	defer recovered(&err)
	rows := &rows{r: r, types: want, absent: d.absent}
	m := &matcher{file: fs.URI(p.Path), s: r.MetaData().Schema, caseSensitive: d.caseSensitive}
	if m.cal, err = d.unsaid.of(r.MetaData().KeyValueMetadata()); err != nil {
		return nil, err
	}
	for _, f := range want.Fields {
		n, err := m.column(f)
		if err != nil {
			return nil, err
		}
		rows.cols = append(rows.cols, n)
	}
	first := int64(0)
	for g := range r.NumRowGroups() {
		if inPiece(r, g, p) && mayHold(r, g, m, filters) {
			rows.groups = append(rows.groups, group{g, first})
		}
		first += r.MetaData().RowGroup(g).NumRows()
	}
	return rows, nil
}

// group is a row group with the place of its first row within the file.
type group struct {
	i     int
	first int64
}

// FirstRow implements files.Numberer.
func (d *decoder) FirstRow(r files.Rows) int64 { return r.(*rows).first }

// inPiece tells whether the middle of a row group lies in a piece of the file.
func inPiece(r *file.Reader, g int, p files.Piece) bool {
	if p.Whole() {
		return true
	}
	meta := r.MetaData().RowGroup(g)
	start := meta.FileOffset()
	if meta.NumColumns() > 0 {
		if c, err := meta.ColumnChunk(0); err == nil {
			start = c.DataPageOffset()
			if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 && c.DictionaryPageOffset() < start {
				start = c.DictionaryPageOffset()
			}
		}
	}
	size := meta.TotalCompressedSize()
	if size == 0 {
		for i := range meta.NumColumns() {
			if c, err := meta.ColumnChunk(i); err == nil {
				size += c.TotalCompressedSize()
			}
		}
	}
	middle := start + size/2
	return middle >= p.Off && middle < p.Off+p.Len
}

// rows reads the row groups of a piece.
type rows struct {
	r      *file.Reader
	types  types.StructType
	absent map[string]*vec.Vector
	cols   []*node
	groups []group
	left   int64 // rows of the row group at hand
	first  int64 // place within the file of the first row of the last batch
	next   int64 // and of the row after it
	batch  int64 // rows at a time
}

// batchBytes is what the columns of a batch may take together, more or less.
const batchBytes = 16 << 20

// Next implements files.Rows.
func (r *rows) Next(ctx context.Context) (b *vec.Batch, err error) {
	defer recovered(&err)
	for r.left == 0 {
		if len(r.groups) == 0 {
			return nil, io.EOF
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rg := r.r.RowGroup(r.groups[0].i)
		r.next, r.groups = r.groups[0].first, r.groups[1:]
		if r.left = rg.NumRows(); r.left < 0 {
			return nil, errDamaged
		}
		if r.left == 0 {
			continue
		}
		r.batch = max(1, min(vec.BatchRows, batchBytes/max(1, rg.ByteSize()/r.left)))
		for _, c := range r.cols {
			if err := c.openAll(rg); err != nil {
				return nil, err
			}
		}
	}
	n := int(min(r.batch, r.left))
	r.left -= int64(n)
	r.first, r.next = r.next, r.next+int64(n)
	b = vec.NewBatch(n)
	for i, c := range r.cols {
		v, _, ok, err := c.read(n)
		switch {
		case err != nil:
			return nil, fmt.Errorf("column %s: %w", r.types.Fields[i].Name, err)
		case !ok && r.absent[r.types.Fields[i].Name] != nil:
			v = vec.NewConst(r.absent[r.types.Fields[i].Name], n)
		case !ok:
			v = vec.NewNulls(c.typ, n)
		case v.Len() != n:
			return nil, fmt.Errorf("column %s: %w: it has fewer rows than the others", r.types.Fields[i].Name, errDamaged)
		}
		b.Cols = append(b.Cols, v)
	}
	return b, nil
}

// Close implements files.Rows.
func (r *rows) Close() error { return r.r.Close() }
