package files

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// How pieces are gathered into splits. None of it depends on the number of workers: splits are part of the result's order.
const (
	// splitBytes is how much a split reads at least, when there is as much.
	splitBytes = 8 << 20
	// openBytes is what opening a file is taken to cost.
	openBytes = 256 << 10
)

// MetadataColumn is the hidden column with facts on the file that a row comes from.
const MetadataColumn = "_metadata"

var fileFacts = types.Struct(
	types.Field{Name: "file_path", Type: types.String},
	types.Field{Name: "file_name", Type: types.String},
	types.Field{Name: "file_size", Type: types.Long},
	types.Field{Name: "file_block_start", Type: types.Long},
	types.Field{Name: "file_block_length", Type: types.Long},
	types.Field{Name: "file_modification_time", Type: types.Timestamp},
)

// MetadataType is the type of the hidden column: with the places of rows in formats that know them.
func MetadataType(numbered bool) types.StructType {
	if !numbered {
		return fileFacts
	}
	return types.Struct(append(slices.Clone(fileFacts.Fields), types.Field{Name: "row_index", Type: types.Long})...)
}

func (t *Table) metadataType() types.StructType {
	_, numbered := t.decoder.(Numberer)
	return MetadataType(numbered)
}

// plan is how the columns that are wanted come about.
type plan struct {
	t       *Table
	cols    []column
	data    types.StructType // what the decoder reads
	out     types.StructType
	filters []source.Filter // on data columns
	parts   []source.Filter // on partition columns
	schema  *arrow.Schema
}

// column says where a wanted column comes from.
type column struct {
	from columnSource
	i    int // in the decoder's columns, or the partition columns
}

type columnSource uint8

const (
	fromData columnSource = iota
	fromPartition
	fromMetadata
)

// plan settles where the columns of a projection come from.
func (t *Table) plan(want source.Projection) (*plan, error) {
	p := &plan{t: t}
	names := want.Columns
	if names == nil {
		names = t.schema.Names()
	}
	for _, name := range names {
		if i := t.data.Index(name); i >= 0 {
			p.cols = append(p.cols, column{fromData, len(p.data.Fields)})
			p.data.Fields = append(p.data.Fields, t.data.Fields[i])
			p.out.Fields = append(p.out.Fields, t.data.Fields[i])
			continue
		}
		if i := t.parts.Index(name); i >= 0 {
			p.cols = append(p.cols, column{fromPartition, i})
			p.out.Fields = append(p.out.Fields, t.parts.Fields[i])
			continue
		}
		if name != MetadataColumn {
			return nil, errclass.New("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "objectName", errclass.Ident(name))
		}
		p.cols = append(p.cols, column{from: fromMetadata})
		p.out.Fields = append(p.out.Fields, types.Field{Name: name, Type: t.metadataType()})
	}
	for _, f := range want.Filters {
		if t.parts.Index(f.Column) >= 0 {
			p.parts = append(p.parts, f)
		} else if t.data.Index(f.Column) >= 0 && t.absent[f.Column] == nil { // files do not know what is not in them
			p.filters = append(p.filters, f)
		}
	}
	p.schema = types.ArrowSchema(p.out, types.ArrowOptions{})
	if c, ok := t.decoder.(ColumnChecker); ok {
		return p, c.CheckColumns(p.data)
	}
	return p, nil
}

// splits cuts files into pieces and gathers small pieces, in order.
func (p *plan) splits(files []*File) []source.Split {
	g := gatherer{plan: p}
	for _, f := range files {
		if f.Size > 0 && p.keep(f) {
			g.cut(Piece{f, 0, f.Size})
		}
	}
	return g.out
}

// gatherer makes splits of pieces.
type gatherer struct {
	plan *plan
	out  []source.Split
	cur  *split
	size int64
}

// cut adds a part of a file, cut for several workers when it is large.
func (g *gatherer) cut(part Piece) {
	cut := g.plan.t.decoder.Cut(part.File)
	if cut <= 0 || part.Len <= cut+cut/4 {
		g.add(part)
		return
	}
	for off, end := part.Off, part.Off+part.Len; off < end; {
		n := min(cut, end-off)
		if rest := end - off - n; rest < cut/4 {
			n += rest
		}
		g.add(Piece{part.File, off, n})
		off += n
	}
}

func (g *gatherer) add(piece Piece) {
	cost := piece.Len + openBytes
	if g.cur == nil || g.size+cost > splitBytes {
		g.cur, g.size = &split{plan: g.plan}, 0
		g.out = append(g.out, g.cur)
	}
	g.cur.pieces = append(g.cur.pieces, piece)
	g.size += cost
}

// close ends the last split: the next piece starts another.
func (g *gatherer) close() { g.cur = nil }

// keep tells whether a file's partition may hold rows of use.
func (p *plan) keep(f *File) bool {
	for _, flt := range p.parts {
		i := p.t.parts.Index(flt.Column)
		if i < len(f.Values) && !MayMatch(flt, f.Values[i]) {
			return false
		}
	}
	return true
}

// split is some pieces that one worker reads one after the other.
type split struct {
	plan   *plan
	pieces []Piece
}

// Open implements source.Split.
func (s *split) Open(context.Context) (source.Reader, error) {
	r := &Reader{plan: s.plan}
	r.numbered, _ = s.plan.t.decoder.(Numberer)
	r.Sequence = Sequence[Piece]{Open: r.open, Fault: r.fault, Pieces: s.pieces}
	return r, nil
}

// Reader reads a split. Beside source.Reader it gives vectors, for callers inside the engine.
type Reader struct {
	Sequence[Piece]
	plan     *plan
	consts   []*vec.Vector // one row for each column that does not come from the data
	numbered Numberer      // of a format that knows the places of rows
}

// Next implements source.Reader.
func (r *Reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := r.NextBatch(ctx)
	if err != nil {
		return nil, err
	}
	return vec.ToArrow(b, r.plan.schema)
}

// NextBatch returns the next rows as Owned vectors of the plan's columns, or io.EOF.
func (r *Reader) NextBatch(ctx context.Context) (*vec.Batch, error) {
	b, err := r.Sequence.Next(ctx)
	if err != nil {
		return nil, err
	}
	return r.assemble(b), nil
}

// fault says which file could not be read, unless the rest of it is to be passed over.
func (r *Reader) fault(p Piece, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	opts := r.plan.t.opts
	switch gone := errors.Is(err, fs.ErrNotExist); {
	case gone && opts.ignoreMissing:
		return nil
	case gone || !opts.ignoreCorrupt:
		return ReadError(p.Path, err)
	}
	if log := r.plan.t.env.Log; log != nil {
		log.Warn("passing over the rest of a file that cannot be read", "file", p.Path, "error", err)
	}
	return nil
}

func (r *Reader) open(ctx context.Context, p Piece) (Rows, error) {
	rows, err := r.plan.t.decoder.Open(ctx, p, r.plan.data, r.plan.filters)
	if err != nil {
		return nil, err
	}
	if err := r.setConsts(p); err != nil {
		_ = rows.Close() // what went wrong first counts
		return nil, err
	}
	return rows, nil
}

// setConsts makes the columns that are the same for all rows of a piece.
func (r *Reader) setConsts(p Piece) error {
	r.consts = make([]*vec.Vector, len(r.plan.cols))
	for i, c := range r.plan.cols {
		var value any
		switch c.from {
		case fromData:
			continue
		case fromPartition:
			if c.i < len(p.Values) {
				value = p.Values[c.i]
			}
		case fromMetadata:
			uri := fs.ShortURI(p.Path) // names in it are encoded, and so is the last one alone
			row := types.Row{uri, baseName(uri), p.Size, p.Off, p.Len, types.Micros(p.ModTime.UnixMilli() * 1000)}
			if r.numbered != nil {
				row = append(row, int64(0))
			}
			value = row
		}
		b := vec.NewBuilder(r.plan.out.Fields[i].Type)
		if err := b.AppendValue(value); err != nil {
			return err
		}
		r.consts[i] = b.Finish()
	}
	return nil
}

func (r *Reader) assemble(b *vec.Batch) *vec.Batch {
	out := &vec.Batch{N: b.N, Sel: b.Sel, Cols: make([]*vec.Vector, len(r.plan.cols))}
	for i, c := range r.plan.cols {
		switch {
		case c.from == fromData:
			out.Cols[i] = b.Cols[c.i]
		case c.from == fromMetadata && r.numbered != nil:
			out.Cols[i] = NumberRows(r.consts[i], b.N, r.numbered.FirstRow(r.Rows))
		default:
			out.Cols[i] = vec.NewConst(r.consts[i], b.N)
		}
	}
	return out
}

// InferError says which file could not be looked at, unless the error is one of the format itself. It is nil when nothing was wrong, or when
// files that cannot be read are ignored.
func InferError(f *File, err error, ignore bool) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if e, ok := errors.AsType[*errclass.Error](err); ignore && (!ok || errclass.Has(e, "FAILED_READ_FILE")) {
		return nil
	}
	if _, ok := errors.AsType[*errclass.Error](err); ok {
		return err
	}
	return ReadError(f.Path, err)
}

// ReadError says which file could not be read, unless what it holds is refused by an option or a setting is at fault.
func ReadError(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errclass.Has(err, "FAILED_READ_FILE") ||
		errclass.Has(err, "INCONSISTENT_BEHAVIOR_CROSS_VERSION") || errclass.Has(err, "INVALID_CONF_VALUE") {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errclass.New("FAILED_READ_FILE.FILE_NOT_EXIST", "path", fs.URI(path)).WithCause(err)
	}
	return errclass.New("FAILED_READ_FILE.NO_HINT", "path", fs.URI(path), "reason", reason(err)).WithCause(err)
}
