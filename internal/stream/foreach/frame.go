package foreach

import (
	"context"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Frame is the rows of a batch as a table. It implements source.Batch: a split for each part, in their order. Once it has been handed
// over it is not changed any more and may be read by any number of goroutines, until its taker has returned.
type Frame struct {
	schema types.StructType
	types  []types.DataType
	scope  *spill.Scope
	files  *spill.Set

	mu    sync.Mutex // while it is written
	parts map[int][]piece
	count int
	rows  int64
}

// Schema implements source.Table.
func (f *Frame) Schema() types.StructType { return f.schema }

// Partitions is the number of parts, with rows or without.
func (f *Frame) Partitions() int { return f.count }

// Size implements source.Sized.
func (f *Frame) Size() (source.Size, bool) { return source.Size{Rows: f.rows}, true }

// Scan implements source.Batch.
func (f *Frame) Scan(_ context.Context, want source.Projection) ([]source.Split, error) {
	splits := make([]source.Split, f.count)
	for i := range splits {
		s, err := f.split(i, want)
		if err != nil {
			return nil, err
		}
		splits[i] = s
	}
	return splits, nil
}

func (f *Frame) split(i int, want source.Projection) (*split, error) {
	cols, err := f.columns(want)
	return &split{f: f, pieces: f.parts[i], cols: cols}, err
}

// columns finds the columns that are wanted, nil for all of them. Of several with one name the first that is asked for is the first.
func (f *Frame) columns(want source.Projection) ([]int, error) {
	if want.Columns == nil {
		return nil, nil
	}
	cols := make([]int, len(want.Columns))
	from := map[string]int{}
	for i, name := range want.Columns {
		k := from[name]
		for k < len(f.schema.Fields) && f.schema.Fields[k].Name != name {
			k++
		}
		if k == len(f.schema.Fields) {
			return nil, errclass.New("INTERNAL_ERROR", "message", "a batch has no column "+name)
		}
		cols[i], from[name] = k, k+1
	}
	return cols, nil
}

// Partition is part i alone.
func (f *Frame) Partition(i int) source.Batch { return partition{f, i} }

type partition struct {
	f *Frame
	i int
}

// Schema implements source.Table.
func (p partition) Schema() types.StructType { return p.f.schema }

// Scan implements source.Batch.
func (p partition) Scan(_ context.Context, want source.Projection) ([]source.Split, error) {
	s, err := p.f.split(p.i, want)
	if err != nil {
		return nil, err
	}
	return []source.Split{s}, nil
}

type split struct {
	f      *Frame
	pieces []piece
	cols   []int
}

// Open implements source.Split.
func (s *split) Open(context.Context) (source.Reader, error) {
	return &reader{split: s, left: s.pieces}, nil
}

type reader struct {
	*split
	left []piece
}

// NextBatch gives vectors, for callers inside the engine.
func (r *reader) NextBatch(ctx context.Context) (*vec.Batch, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := r.left[0].load()
	if err != nil {
		return nil, err
	}
	r.left = r.left[1:]
	if r.cols == nil {
		return b, nil
	}
	out := &vec.Batch{N: b.N, Cols: make([]*vec.Vector, len(r.cols))}
	for i, c := range r.cols {
		out.Cols[i] = b.Cols[c]
	}
	return out, nil
}

// Next implements source.Reader.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := r.NextBatch(ctx)
	if err != nil {
		return nil, err
	}
	schema := r.f.schema
	if r.cols != nil {
		schema = types.StructType{}
		for _, c := range r.cols {
			schema.Fields = append(schema.Fields, r.f.schema.Fields[c])
		}
	}
	return vec.ToArrow(b, types.ArrowSchema(schema, types.ArrowOptions{}))
}

// Close implements source.Reader.
func (r *reader) Close() error { return nil }
