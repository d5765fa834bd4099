package exec

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// SortKey is one key of a Sort.
type SortKey struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
}

// Sort orders all rows, stably. With a Limit that is not negative only the first Limit rows come out, and no more than a few
// times as many are held. What does not fit into the task's memory is sorted in pieces, which are kept in files and merged as they are read.
type Sort struct {
	In    Op
	Keys  []SortKey
	Limit int64
	// Local sorts the rows of each part by themselves.
	Local bool
}

// Types implements Op.
func (s *Sort) Types() []types.DataType { return s.In.Types() }

// Inputs implements Op.
func (s *Sort) Inputs() []Op { return []Op{s.In} }

// Label implements Op.
func (s *Sort) Label() string {
	if s.Limit >= 0 {
		return fmt.Sprintf("TakeOrderedAndProject limit=%d [%d keys]", s.Limit, len(s.Keys))
	}
	return fmt.Sprintf("Sort [%d keys], %t", len(s.Keys), !s.Local)
}

// Parts implements Op. Each part is sorted by itself, side by side; the last step of a sort that is not Local sorts the concatenation of the
// sorted parts.
func (s *Sort) Parts(ctx context.Context, t *Task) (Parts, error) {
	ps, err := s.In.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	if !s.Local || ps.N == 1 {
		return s.whole(ctx, t, ps)
	}
	return Parts{N: ps.N, Open: func(ctx context.Context, i int) (Stream, error) {
		one, err := s.whole(ctx, t, Parts{N: 1, Open: func(ctx context.Context, _ int) (Stream, error) { return ps.Open(ctx, i) }})
		return Serial(one), err
	}}, nil
}

// whole sorts the rows of all parts.
func (s *Sort) whole(ctx context.Context, t *Task, ps Parts) (Parts, error) {
	parts, files := make([]*runBuilder, ps.N), t.Memory.NewSet(s.runTypes())
	err := Run(ctx, t, ps, func(ctx context.Context, i int, in Stream) error {
		b := &runBuilder{s: s, memory: t.Memory, files: files, ev: NewEvaluator(t, i, s.keyExprs())}
		parts[i] = b
		err := Drain(ctx, in, b.add)
		if err == nil {
			err = b.ev.pending
		}
		if err == nil {
			err = b.end()
		}
		return err
	})
	if err != nil {
		return Parts{}, err
	}
	if !files.Empty() {
		return s.merged(ctx, t, parts, files)
	}
	var all []*run
	for _, b := range parts {
		all = append(all, b.runs...)
	}
	if len(all) == 0 {
		return PartsOf(nil), nil
	}
	out := all[0]
	if len(all) > 1 {
		out = s.order(all)
	}
	var list []*vec.Batch
	for from := 0; from < out.rows.N; from += vec.BatchRows {
		list = append(list, out.rows.Slice(from, min(vec.BatchRows, out.rows.N-from)))
	}
	return PartsOf(list), nil
}

func (s *Sort) keyExprs() []Expr {
	es := make([]Expr, len(s.Keys))
	for i, k := range s.Keys {
		es[i] = k.Expr
	}
	return es
}

// run is some rows with their sort keys, in order.
type run struct{ rows, keys *vec.Batch }

func (r *run) bytes() int64 { return int64(r.rows.SizeBytes() + r.keys.SizeBytes()) }

func (s *Sort) orders() []vec.Order {
	orders := make([]vec.Order, len(s.Keys))
	for i, k := range s.Keys {
		orders[i] = vec.Order{Desc: k.Desc, NullsLast: !k.NullsFirst}
	}
	return orders
}

// order sorts the concatenation of runs and cuts it at the limit.
func (s *Sort) order(runs []*run) *run {
	rows, keys := make([]*vec.Batch, len(runs)), make([]*vec.Batch, len(runs))
	for i, r := range runs {
		rows[i], keys[i] = r.rows, r.keys
	}
	all := &run{rows: vec.ConcatBatches(rows), keys: vec.ConcatBatches(keys)}
	idx := vec.SortIndex(all.keys.Cols, s.orders(), all.keys.N)
	if s.Limit >= 0 && int64(len(idx)) > s.Limit {
		idx = idx[:s.Limit]
	}
	return &run{rows: all.rows.Take(idx, nil).Own(), keys: all.keys.Take(idx, nil).Own()}
}

// runBuilder gathers the rows of one part.
type runBuilder struct {
	s      *Sort
	memory *spill.Scope
	ev     *Evaluator
	runs   []*run
	n      int64
	held   int64 // bytes of runs
	files  *spill.Set
	stored []stretch // sorted runs that did not fit, in the order of their rows
}

func (b *runBuilder) add(in *vec.Batch) error {
	keys, n, err := b.ev.Compute(in)
	if err != nil {
		return err
	}
	r := &run{rows: in.Slice(0, n).Own(), keys: (&vec.Batch{Cols: keys, N: n}).Own()}
	b.runs = append(b.runs, r)
	b.n += int64(n)
	if b.s.Limit >= 0 && b.n > max(4*b.s.Limit, 4*vec.BatchRows) {
		b.runs = []*run{b.cut()}
		b.n = int64(b.runs[0].rows.N)
		b.memory.Release(b.held)
		b.held = b.runs[0].bytes()
		b.memory.Grow(b.held)
		return nil
	}
	size := r.bytes()
	b.held += size
	if !b.memory.Grow(size) && b.held >= minSpill(b.memory) {
		return b.spill()
	}
	return nil
}

// cut returns the rows gathered so far as one sorted run, or nil.
func (b *runBuilder) cut() *run {
	if len(b.runs) == 0 {
		return nil
	}
	return b.s.order(b.runs)
}
