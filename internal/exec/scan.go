package exec

import (
	"context"
	"fmt"
	"io"
	"math/bits"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Values are rows that came with the plan.
type Values struct {
	Batches []*vec.Batch // Owned
	Out     []types.DataType
}

// Types implements Op.
func (v *Values) Types() []types.DataType { return v.Out }

// Inputs implements Op.
func (v *Values) Inputs() []Op { return nil }

// Label implements Op.
func (v *Values) Label() string { return "LocalTableScan" }

// Parts implements Op.
func (v *Values) Parts(context.Context, *Task) (Parts, error) { return PartsOf(v.Batches), nil }

// Cut deals the rows of an operator, which are few or in memory already, out to Slices parts of the same size; to one for each row if
// there are fewer.
type Cut struct {
	In     Op
	Slices int
}

// Types implements Op.
func (c *Cut) Types() []types.DataType { return c.In.Types() }

// Inputs implements Op.
func (c *Cut) Inputs() []Op { return []Op{c.In} }

// Label implements Op.
func (c *Cut) Label() string { return "LocalSlices" }

// Parts implements Op.
func (c *Cut) Parts(ctx context.Context, t *Task) (Parts, error) {
	ps, err := c.In.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	var all []*vec.Batch
	rows := 0
	err = Gather(ctx, t, ps, func(b *vec.Batch) error {
		b = b.Compact(nil)
		all, rows = append(all, b), rows+b.N
		return nil
	})
	slices := max(1, min(c.Slices, rows))
	lists := make([][]*vec.Batch, slices)
	at := 0
	for i := range lists {
		for left := (i+1)*rows/slices - i*rows/slices; left > 0; {
			n := min(left, all[0].N-at)
			lists[i] = append(lists[i], all[0].Slice(at, n))
			left, at = left-n, at+n
			if at == all[0].N {
				all, at = all[1:], 0
			}
		}
	}
	return PartsOf(lists...), err
}

// Range counts from Start to End, exclusive, by Step. Slices is the number of parts that it is cut into, 0 for as many as suit it.
type Range struct {
	Start, End, Step int64
	Slices           int
}

// Types implements Op.
func (r *Range) Types() []types.DataType { return []types.DataType{types.Long} }

// Inputs implements Op.
func (r *Range) Inputs() []Op { return nil }

// Label implements Op.
func (r *Range) Label() string { return fmt.Sprintf("Range (%d, %d, step=%d)", r.Start, r.End, r.Step) }

// rangePart is how many rows one part of a Range has at least, maxRangeParts how many parts there are at most: operators above
// keep something for each part.
const (
	rangePart     = 1 << 18
	maxRangeParts = 1 << 12
)

// rows is the number of rows. Differences are taken unsigned: a range may span all of int64.
func (r *Range) rows() uint64 {
	switch {
	case r.Step > 0 && r.Start < r.End:
		return (uint64(r.End)-uint64(r.Start)-1)/uint64(r.Step) + 1
	case r.Step < 0 && r.Start > r.End:
		return (uint64(r.Start)-uint64(r.End)-1)/(^uint64(r.Step)+1) + 1
	}
	return 0
}

// Parts implements Op.
func (r *Range) Parts(context.Context, *Task) (Parts, error) {
	total := r.rows()
	if r.Slices > 0 {
		return r.sliced(total), nil
	}
	part := max(rangePart, (total+maxRangeParts-1)/maxRangeParts)
	n := int((total + part - 1) / part)
	return Parts{N: n, Open: func(_ context.Context, i int) (Stream, error) {
		from := uint64(i) * part
		return &rangeStream{at: r.Start + int64(from)*r.Step, step: r.Step, left: int(min(total-from, part))}, nil
	}}, nil
}

// sliced cuts the rows into Slices parts as Spark does, since functions of a row's part show how.
func (r *Range) sliced(total uint64) Parts {
	n := uint64(min(r.Slices, maxRangeParts))
	edge := func(i uint64) uint64 {
		high, low := bits.Mul64(i, total)
		q, _ := bits.Div64(high, low, n)
		return q
	}
	return Parts{N: int(n), Open: func(_ context.Context, i int) (Stream, error) {
		from, to := edge(uint64(i)), total
		if uint64(i) < n-1 {
			to = edge(uint64(i) + 1)
		}
		return &rangeStream{at: r.Start + int64(from)*r.Step, step: r.Step, left: int(to - from)}, nil
	}}
}

type rangeStream struct {
	at, step int64
	left     int
	col      *vec.Vector
	out      vec.Batch
}

func (s *rangeStream) Next(context.Context) (*vec.Batch, error) {
	if s.left == 0 {
		return nil, io.EOF
	}
	n := min(s.left, vec.BatchRows)
	s.left -= n
	if s.col == nil {
		s.col = vec.NewFixed(types.Long, n)
		s.col.SetBorrowed(true)
	}
	s.col.ResetFixed(n)
	for i, dst := 0, vec.Fixed[int64](s.col); i < n; i++ {
		dst[i] = s.at
		s.at += s.step
	}
	s.out = vec.Batch{Cols: []*vec.Vector{s.col}, N: n}
	return &s.out, nil
}

func (s *rangeStream) Close() error { return nil }

// SourceScan reads a table of package source as a whole.
type SourceScan struct {
	Name  string
	Table source.Batch
	Want  source.Projection
	Out   types.StructType // the columns that the splits deliver
}

// Types implements Op.
func (s *SourceScan) Types() []types.DataType { return fieldTypes(s.Out) }

// Inputs implements Op.
func (s *SourceScan) Inputs() []Op { return nil }

// Label implements Op.
func (s *SourceScan) Label() string {
	return fmt.Sprintf("FileScan %s %s", s.Name, s.Out.SimpleString())
}

// Parts implements Op.
func (s *SourceScan) Parts(ctx context.Context, _ *Task) (Parts, error) {
	splits, err := s.Table.Scan(ctx, s.Want)
	if err != nil {
		return Parts{}, err
	}
	return SplitParts(splits, s.Out), nil
}

func fieldTypes(st types.StructType) []types.DataType {
	ts := make([]types.DataType, len(st.Fields))
	for i, f := range st.Fields {
		ts[i] = f.Type
	}
	return ts
}

// SplitParts makes a part of each split.
func SplitParts(splits []source.Split, out types.StructType) Parts {
	return Parts{N: len(splits), Open: func(ctx context.Context, i int) (Stream, error) {
		r, err := splits[i].Open(ctx)
		if err != nil {
			return nil, err
		}
		return &splitStream{r: r, out: out}, nil
	}}
}

type splitStream struct {
	r   source.Reader
	out types.StructType
}

// vectorReader is what readers of our own connectors are beside a source.Reader: rows come as Owned vectors of the columns that
// were asked for, without the way over Arrow.
type vectorReader interface {
	NextBatch(ctx context.Context) (*vec.Batch, error)
}

func (s *splitStream) read(ctx context.Context) (*vec.Batch, error) {
	if r, ok := s.r.(vectorReader); ok {
		return r.NextBatch(ctx)
	}
	rec, err := s.r.Next(ctx)
	if err != nil {
		return nil, err
	}
	return vec.FromArrow(rec, s.out)
}

func (s *splitStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		if b.N > 0 {
			return b, nil
		}
	}
}

func (s *splitStream) Close() error { return s.r.Close() }

// StreamInput is where a micro-batch's rows of one streaming source come in.
type StreamInput struct {
	ID   uint64
	Name string
	Out  []types.DataType
	// Most is how many rows of a part are wanted; 0 stands for all. Rows behind them are neither counted nor seen by anybody.
	Most int64
}

// Types implements Op.
func (s *StreamInput) Types() []types.DataType { return s.Out }

// Inputs implements Op.
func (s *StreamInput) Inputs() []Op { return nil }

// Label implements Op.
func (s *StreamInput) Label() string { return "MicroBatchScan " + s.Name }

// Parts implements Op. A source without new data has no parts.
func (s *StreamInput) Parts(_ context.Context, t *Task) (Parts, error) {
	in := t.Inputs[s.ID]
	ps := in.Parts
	return Parts{N: ps.N, Open: func(ctx context.Context, i int) (Stream, error) {
		st, err := ps.Open(ctx, i)
		if err != nil {
			return nil, err
		}
		return &inputStream{Stream: st, left: s.Most, all: s.Most == 0, read: in.Read}, nil
	}}, nil
}

// inputStream cuts a part and tells how much of it was read.
type inputStream struct {
	Stream
	left int64
	all  bool
	read func(int)
}

func (s *inputStream) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.all && s.left == 0 {
		return nil, io.EOF
	}
	b, err := s.Stream.Next(ctx)
	if err != nil {
		return nil, err
	}
	if !s.all {
		if int64(b.N) > s.left {
			b = b.Slice(0, int(s.left))
		}
		s.left -= int64(b.N)
	}
	if s.read != nil {
		s.read(b.N)
	}
	return b, nil
}
