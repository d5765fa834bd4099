package delta

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// reading is how the columns that are wanted come about.
type reading struct {
	t       *Table
	cols    []column
	data    types.StructType // what is read from files, by the names there
	out     types.StructType
	filters []source.Filter
	schema  *arrow.Schema
}

// column says where a wanted column comes from.
type column struct {
	from columnSource
	i    int // in the file's columns
	col  core.Column
}

type columnSource uint8

const (
	fromData columnSource = iota
	fromPartition
	fromMetadata
	fromChange // of core.ChangeColumns
)

// piece is a part of a file of the table.
type piece struct {
	files.Piece
	of core.Change
}

// split is some pieces that one worker reads one after the other.
type split struct {
	r      *reading
	pieces []piece
}

// Open implements source.Split.
func (s *split) Open(context.Context) (source.Reader, error) {
	r := &reader{reading: s.r}
	r.Sequence = files.Sequence[piece]{Open: r.open, Fault: func(p piece, err error) error { return files.ReadError(p.Path, err) }, Pieces: s.pieces}
	return r, nil
}

// reader reads a split. Beside source.Reader it gives vectors.
type reader struct {
	*reading
	files.Sequence[piece]
	deleted *core.Deleted
	consts  []*vec.Vector // one row for each column that does not come from the data
}

// Next implements source.Reader.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := r.NextBatch(ctx)
	if err != nil {
		return nil, err
	}
	return vec.ToArrow(b, r.schema)
}

// NextBatch returns the next rows as Owned vectors, or io.EOF.
func (r *reader) NextBatch(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := r.Sequence.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b = r.assemble(b); b.N > 0 {
			return b, nil
		}
	}
}

func (r *reader) open(ctx context.Context, p piece) (files.Rows, error) {
	var err error
	if r.deleted, err = r.t.snap.Log().Deleted(p.of.Add); err != nil {
		return nil, err
	}
	data := r.data
	if r.said(p) {
		data.Fields = append(slices.Clip(data.Fields), core.ChangeColumns[0])
	}
	rows, err := r.t.decoder.Open(ctx, p.Piece, data, r.filters)
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
func (r *reader) setConsts(p piece) error {
	r.consts = make([]*vec.Vector, len(r.cols))
	for i, c := range r.cols {
		var value any
		switch c.from {
		case fromData:
			continue
		case fromPartition:
			text := p.of.PartitionValues[c.col.Physical]
			v, ok := core.PartitionValue(c.col.Field.Type, text)
			if !ok {
				return errclass.New("INVALID_PARTITION_VALUE", "value", "'"+*text+"'", "columnName", errclass.Ident(c.col.Field.Name),
					"dataType", errclass.Expr(c.col.Field.Type.SQL()))
			}
			value = v
		case fromMetadata:
			uri := fs.ShortURI(p.Path)
			value = types.Row{uri, filepath.Base(uri), p.Size, p.Off, p.Len, types.Micros(p.ModTime.UnixMilli() * 1000), int64(0)}
		case fromChange:
			value = types.Row{string(p.of.Kind), p.of.Version.Number, types.Micros(p.of.Version.Time.UnixMicro())}[c.i]
		}
		b := vec.NewBuilder(r.out.Fields[i].Type)
		if err := b.AppendValue(value); err != nil {
			return err
		}
		r.consts[i] = b.Finish()
	}
	return nil
}

// said tells whether the file says row by row what became of the rows.
func (r *reader) said(p piece) bool { return r.t.feed && p.of.Kind == "" }

// assemble puts the columns that are wanted together and leaves out deleted rows.
func (r *reader) assemble(b *vec.Batch) *vec.Batch {
	out := &vec.Batch{N: b.N, Cols: make([]*vec.Vector, len(r.cols))}
	first := int64(0)
	if n, ok := r.t.decoder.(files.Numberer); ok {
		first = n.FirstRow(r.Rows)
	}
	for i, c := range r.cols {
		switch c.from {
		case fromData:
			v := b.Cols[c.i]
			if types.IsNested(c.col.Field.Type) && r.t.snap.Metadata.Mapped() {
				v = relabel(v, c.col.Field.Type)
			}
			out.Cols[i] = v
		case fromPartition, fromChange:
			out.Cols[i] = vec.NewConst(r.consts[i], b.N)
			if c.from == fromChange && c.i == 0 && r.said(r.Cur) {
				out.Cols[i] = b.Cols[len(r.data.Fields)]
			}
		case fromMetadata:
			out.Cols[i] = files.NumberRows(r.consts[i], b.N, first)
		}
	}
	only := r.Cur.of.Only
	if r.deleted == nil && only == nil {
		return out
	}
	keep := make([]uint32, 0, b.N)
	for i := range b.N {
		row := uint64(first) + uint64(i)
		if only != nil && only.Contains(row) || only == nil && !r.deleted.Contains(row) {
			keep = append(keep, uint32(i))
		}
	}
	if len(keep) == b.N {
		return out
	}
	return out.Take(keep, nil)
}

// relabel gives the fields in a vector the names that they have in the table.
func relabel(v *vec.Vector, t types.DataType) *vec.Vector {
	v = v.Flatten()
	kids := make([]*vec.Vector, len(v.Kids()))
	for i, kt := range vec.KidTypes(t) {
		kids[i] = v.Kids()[i]
		if types.IsNested(kt) {
			kids[i] = relabel(kids[i], kt)
		}
	}
	var out *vec.Vector
	switch t.(type) {
	case types.StructType:
		out = vec.NewStruct(t, v.Len(), kids)
	case types.ArrayType:
		out = vec.NewList(t, v.Spans(), kids[0])
	case types.MapType:
		out = vec.NewMap(t, v.Spans(), kids[0], kids[1])
	default:
		return v
	}
	out.SetValidity(v.Validity())
	return out
}
