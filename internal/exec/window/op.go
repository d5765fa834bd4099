package window

import (
	"context"
	"fmt"
	"io"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Kind is what a function computes.
type Kind uint8

// The kinds of function.
const (
	RowNumber Kind = iota
	Rank
	DenseRank
	PercentRank
	CumeDist
	NTile     // N buckets
	Shift     // the argument N rows on, or Default
	Nth       // the argument in row N of the frame
	Last      // the argument in the last row of the frame
	Aggregate // Agg over the frame
)

// Op computes functions over windows of one partitioning and order. Its output is the first Keep columns of its input, followed by the
// results; what functions need of a row stands in its columns.
type Op struct {
	In        exec.Op
	Keep      int
	Partition []int
	Order     []Key
	Funcs     []Func
}

// Key is a column that rows are ordered by.
type Key struct {
	Col              int
	Desc, NullsFirst bool
}

// Func is one function.
type Func struct {
	Kind Kind
	Type types.DataType
	Args []int
	// N is a number of rows: the offset of Shift, the buckets of NTile, the row of Nth.
	N int64
	// IgnoreNulls leaves rows out in which the argument is null.
	IgnoreNulls bool
	// Default is what Shift gives where there is no such row; nil is null. It is computed only for these rows.
	Default *exec.Expr
	// Agg is the aggregate.
	Agg *agg.Bound
	// Exact is how frames of the aggregate can be computed from sums of all rows before them.
	Exact Exact
	// Filter is the column that tells which rows count, or -1.
	Filter int
	Frame  Frame
}

// Frame are the rows around each row that a function sees.
type Frame struct {
	// Rows tells that offsets count rows; otherwise they are distances of the order key.
	Rows   bool
	Lo, Hi Bound
}

// Bound is one end of a frame.
type Bound struct {
	Unbounded bool
	// N is the distance in rows.
	N int64
	// Value is, where the distance is one of the order key, the column with the key that the end of the frame would have, and Key the
	// column of the order key itself, of the same type. Both are -1 for the current row and its peers.
	Value, Key int
}

// Types implements exec.Op.
func (o *Op) Types() []types.DataType {
	ts := append([]types.DataType(nil), o.In.Types()[:o.Keep]...)
	for _, f := range o.Funcs {
		ts = append(ts, f.Type)
	}
	return ts
}

// Inputs implements exec.Op.
func (o *Op) Inputs() []exec.Op { return []exec.Op{o.In} }

// Label implements exec.Op.
func (o *Op) Label() string {
	return fmt.Sprintf("Window [%d functions, %d partition keys, %d order keys]", len(o.Funcs), len(o.Partition), len(o.Order))
}

// Parts implements exec.Op. Every shard is one part, in the order of its partition and order keys; one that does not fit into memory comes
// as several such.
func (o *Op) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	shards := t.Shards()
	if len(o.Partition) == 0 {
		shards = 1
	}
	heaps, err := exec.DealHeaps(ctx, t, o.In, o.Partition, shards, t.Shard)
	if err != nil {
		return exec.Parts{}, err
	}
	if heaps.Stored() {
		return exec.Parts{N: shards, Open: func(_ context.Context, i int) (exec.Stream, error) {
			return &stored{o: o, t: t, part: i, shards: shards, shares: []share{{heaps: heaps, heap: i}}}, nil
		}}, nil
	}
	dealt := make([]shard, shards)
	for i := range dealt {
		if dealt[i].rows, dealt[i].held, err = heaps.Load(i); err != nil {
			return exec.Parts{}, err
		}
	}
	dealt = together(dealt)
	return exec.Parts{N: len(dealt), Open: func(_ context.Context, i int) (exec.Stream, error) {
		x := dealt[i]
		dealt[i] = shard{}
		if len(x.rows) == 0 {
			return exec.StreamOf(nil), nil
		}
		return o.open(t, i, x), nil
	}}, nil
}

// shard are some rows that hold all of each of their partitions, and how many bytes they count for.
type shard struct {
	rows []*vec.Batch
	held int64
}

// smallBytes is the size of an input that is one shard: Spark joins partitions that small, so that all of their rows come in the order of
// the keys.
const smallBytes = 1 << 20

// together makes one shard of all when they are small.
func together(shards []shard) []shard {
	size := 0
	var all shard
	for _, s := range shards {
		for _, b := range s.rows {
			size += b.SizeBytes()
		}
		if size > smallBytes {
			return shards
		}
		all.rows = append(all.rows, s.rows...)
		all.held += s.held
	}
	return []shard{all}
}

func (o *Op) open(t *exec.Task, part int, x shard) *stream {
	r := newRows(o, x.rows)
	s := &stream{r: r, keep: o.Keep, t: t, held: x.held}
	for _, f := range o.Funcs {
		s.cols = append(s.cols, newColumn(t, part, r, f))
	}
	return s
}

// column computes a function. It is asked for all rows in order, a stretch at a time.
type column interface {
	// compute returns the results of rows from to to-1. Failing rows are noted by their distance from from.
	compute(from, to int, errs *expr.RowErrs) *vec.Vector
}

func newColumn(t *exec.Task, part int, r *rows, f Func) column {
	switch f.Kind {
	case Shift:
		return newShift(t, part, r, f)
	case Nth, Last:
		return newNth(r, f)
	case Aggregate:
		return newAggregate(t, r, f)
	}
	return &ranking{r: r, f: f}
}

// stream hands out a shard with its results.
type stream struct {
	r       *rows
	t       *exec.Task
	held    int64 // bytes that the rows count for
	keep    int
	cols    []column
	at      int
	errs    expr.RowErrs
	pending error
}

// Next implements exec.Stream. Rows before the first failing one come before its error.
func (s *stream) Next(context.Context) (*vec.Batch, error) {
	if s.pending != nil {
		return nil, s.pending
	}
	if s.at == s.r.n {
		return nil, io.EOF
	}
	from, to := s.at, min(s.at+vec.BatchRows, s.r.n)
	s.at = to
	out := vec.NewBatch(to - from)
	for _, c := range s.r.cols[:s.keep] {
		out.Cols = append(out.Cols, c.Slice(from, to-from))
	}
	for _, c := range s.cols {
		out.Cols = append(out.Cols, c.compute(from, to, &s.errs))
	}
	if row, err, bad := s.errs.First(); bad {
		s.pending = err
		if row == 0 {
			return nil, err
		}
		return out.Slice(0, row), nil
	}
	return out, nil
}

// Close implements exec.Stream.
func (s *stream) Close() error {
	s.t.Memory.Release(s.held)
	s.held = 0
	return nil
}
