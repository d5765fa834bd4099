package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// AggExpr is one aggregate of a HashAgg.
type AggExpr struct {
	Bound    *agg.Bound
	Args     []Expr
	Filter   *Expr // rows that count, or nil for all
	Distinct bool
	// Place is where the call was written; nil if that is not known.
	Place *errclass.QueryContext
}

// HashAgg groups rows by keys and computes aggregates. Its output is the keys followed by the aggregates' results; without keys
// it is exactly one row.
//
// Every part is aggregated by itself as long as that makes it smaller, the partial groups are dealt out to shards by the hash of
// their key, and every shard merges its share in the order of the parts. Groups come out by shard and, within one, in Order. What does
// not fit into the task's memory waits in files; then a shard may come out in several shares, each in the order of first rows.
type HashAgg struct {
	In   Op
	Keys []Expr
	Aggs []AggExpr
	Arrange
	// Panes, when not nil, is what makes rows of the windows that are one of the keys.
	Panes *Panes
	// Look, when not nil, is shown the keys of every batch of input rows, by any worker, before they are grouped; the start of the
	// pane in the place of the window, if there are panes.
	Look func(t *Task, keys []*vec.Vector, n int)
}

// Types implements Op.
func (h *HashAgg) Types() []types.DataType {
	ts := TypesOf(h.Keys)
	for _, a := range h.Aggs {
		ts = append(ts, a.Bound.Type)
	}
	return ts
}

// Inputs implements Op.
func (h *HashAgg) Inputs() []Op { return []Op{h.In} }

// Label implements Op.
func (h *HashAgg) Label() string {
	if h.Panes != nil {
		return fmt.Sprintf("HashAggregate [%d keys, %d aggregates, panes of %d windows]", len(h.Keys), len(h.Aggs), h.Panes.windows())
	}
	return fmt.Sprintf("HashAggregate [%d keys, %d aggregates]", len(h.Keys), len(h.Aggs))
}

// KeyTypes are the types of the keys.
func (h *HashAgg) KeyTypes() []types.DataType { return TypesOf(h.Keys) }

// inputs are the expressions that are evaluated for each row: the keys, then each aggregate's arguments and filter.
func (h *HashAgg) inputs() []Expr {
	es := append([]Expr(nil), h.Keys...)
	if h.Panes != nil {
		es[h.Panes.Key] = h.Panes.Pane
	}
	for _, a := range h.Aggs {
		es = append(es, a.Args...)
		if a.Filter != nil {
			es = append(es, *a.Filter)
		}
	}
	return es
}

func (h *HashAgg) mergeable() bool {
	for _, a := range h.Aggs {
		if a.Distinct {
			return false
		}
	}
	return true
}

// Accumulator feeds rows and partial results of a HashAgg into its aggregates' states. It belongs to one goroutine.
type Accumulator struct {
	h      *HashAgg
	States []agg.States
	seen   []group.Table // of DISTINCT aggregates
	Eval   expr.Eval

	sel    []uint32
	groups []uint32
	args   []*vec.Vector
	ids    []uint32
	fresh  []uint32
}

// NewAccumulator returns states without any group.
func (h *HashAgg) NewAccumulator(t *Task) *Accumulator {
	a := &Accumulator{h: h}
	a.Eval.Batch = t.Batch
	for _, x := range h.Aggs {
		a.States = append(a.States, x.Bound.New())
		var seen group.Table
		if x.Distinct {
			seen = group.New(append([]types.DataType{types.Long}, TypesOf(x.Args)...))
		}
		a.seen = append(a.seen, seen)
	}
	return a
}

// Grow makes room for groups 0 to n-1.
func (a *Accumulator) Grow(n int) {
	for _, s := range a.States {
		s.Grow(n)
	}
}

// Update adds n rows: cols are HashAgg's arguments and filters as inputs lists them, without the keys; row i goes to groups[i].
func (a *Accumulator) Update(groups []uint32, cols []*vec.Vector, n int) {
	for k, x := range a.h.Aggs {
		args := cols[:len(x.Args)]
		cols = cols[len(x.Args):]
		ids := groups[:n]
		if x.Filter != nil {
			a.sel = expr.SelectTrue(cols[0], a.sel[:0])
			cols = cols[1:]
			if len(a.sel) == 0 {
				continue
			}
			if len(a.sel) < n {
				args, ids = a.pick(args, ids, a.sel)
			}
		}
		if x.Distinct {
			args, ids = a.firsts(k, args, ids)
			if len(ids) == 0 {
				continue
			}
		}
		mark := a.Eval.Errs.Len()
		a.States[k].Update(&a.Eval, ids, flatArgs(args, &a.args))
		a.place(mark, k)
	}
}

// place tells the errors noted after a mark where their aggregate was written.
func (a *Accumulator) place(mark, k int) {
	c := a.h.Aggs[k].Place
	if c == nil || a.Eval.Errs.Len() == mark {
		return
	}
	for _, e := range a.Eval.Errs.Since(mark) {
		if x, ok := errors.AsType[*errclass.Error](e.Err); ok && len(x.Context) == 0 {
			x.WithContext(*c)
		}
	}
}

// flatArgs looks through dictionaries, which aggregates do not take.
func flatArgs(args []*vec.Vector, scratch *[]*vec.Vector) []*vec.Vector {
	for i, v := range args {
		if v.Encoding() == vec.Dict {
			out := append((*scratch)[:0], args...)
			for j := i; j < len(out); j++ {
				if out[j].Encoding() == vec.Dict {
					out[j] = out[j].Flatten()
				}
			}
			*scratch = out
			return out
		}
	}
	return args
}

func (a *Accumulator) pick(args []*vec.Vector, ids, sel []uint32) ([]*vec.Vector, []uint32) {
	a.groups = a.groups[:0]
	for _, r := range sel {
		a.groups = append(a.groups, ids[r])
	}
	return vec.TakeAll(args, sel), a.groups
}

// firsts keeps the rows whose arguments were not seen before in their group.
func (a *Accumulator) firsts(k int, args []*vec.Vector, ids []uint32) ([]*vec.Vector, []uint32) {
	n := len(ids)
	gv := vec.NewFixed(types.Long, n)
	dst := vec.Fixed[int64](gv)
	for i, g := range ids {
		dst[i] = int64(g)
	}
	if cap(a.ids) < n {
		a.ids = make([]uint32, n)
	}
	seen := a.ids[:n]
	keys := append([]*vec.Vector{gv}, flatArgs(args, &a.args)...)
	a.fresh = a.seen[k].Resolve(keys, n, true, seen, a.fresh[:0])
	if len(a.fresh) == n {
		return args, ids
	}
	var first []uint32
	for i, next := 0, 0; next < len(a.fresh); i++ {
		if seen[i] == a.fresh[next] {
			first = append(first, uint32(i))
			next++
		}
	}
	groups := make([]uint32, len(first))
	for i, r := range first {
		groups[i] = ids[r]
	}
	return vec.TakeAll(args, first), groups
}

// Merge adds partial results: cols are the state columns of all aggregates, one after the other.
func (a *Accumulator) Merge(groups []uint32, cols []*vec.Vector) {
	for k, x := range a.h.Aggs {
		w := len(x.Bound.State)
		mark := a.Eval.Errs.Len()
		a.States[k].Merge(&a.Eval, groups, cols[:w])
		a.place(mark, k)
		cols = cols[w:]
	}
}

// Save returns the state columns of some groups, all aggregates' one after the other.
func (a *Accumulator) Save(groups []uint32) []*vec.Vector {
	var cols []*vec.Vector
	for _, s := range a.States {
		cols = append(cols, s.Save(groups)...)
	}
	return cols
}

// Emit returns the results of some groups, a column for each aggregate, or the first error.
func (a *Accumulator) Emit(groups []uint32) ([]*vec.Vector, error) {
	var cols []*vec.Vector
	for k, s := range a.States {
		mark := a.Eval.Errs.Len()
		cols = append(cols, s.Emit(&a.Eval, groups))
		a.place(mark, k)
	}
	return cols, a.Err()
}

// Err returns the first error that the states have noted.
func (a *Accumulator) Err() error {
	if _, err, bad := a.Eval.Errs.First(); bad {
		return err
	}
	return nil
}

// Clear empties groups for reuse.
func (a *Accumulator) Clear(groups []uint32) {
	for _, s := range a.States {
		s.Clear(groups)
	}
}

// Bytes estimates the memory held by the states.
func (a *Accumulator) Bytes() int64 {
	var n int64
	for _, s := range a.States {
		n += s.Bytes()
	}
	for _, t := range a.seen {
		if t != nil {
			n += t.Bytes()
		}
	}
	return n
}

// StateFields are the state columns of all aggregates, one after the other.
func (h *HashAgg) StateFields() []types.Field {
	var fs []types.Field
	for _, a := range h.Aggs {
		fs = append(fs, a.Bound.State...)
	}
	return fs
}

// hashTable is the accumulator with a key table of its own: what batch aggregation and the partial stage use.
type hashTable struct {
	mu    sync.Mutex // held while results are made: streams side by side may share a table
	acc   *Accumulator
	table group.Table
	ids   []uint32
	fresh []uint32
	part  int   // of the last chunk
	ends  []int // the numbers of groups before each further part
}

func newHashTable(h *HashAgg, t *Task) *hashTable {
	return &hashTable{acc: h.NewAccumulator(t), table: group.New(h.KeyTypes())}
}

func (x *hashTable) resolve(keys []*vec.Vector, n int) []uint32 {
	if cap(x.ids) < n {
		x.ids = make([]uint32, max(n, vec.BatchRows))
	}
	ids := x.ids[:n]
	x.fresh = x.table.Resolve(keys, n, true, ids, x.fresh[:0])
	if len(x.fresh) > 0 {
		x.acc.Grow(x.table.Cap())
	}
	return ids
}

// take adds a chunk.
func (x *hashTable) take(c Chunk) error {
	if c.part != x.part {
		x.part, x.ends = c.part, append(x.ends, x.table.Cap())
	}
	ids := x.resolve(c.Keys, c.N)
	if c.Partial {
		x.acc.Merge(ids, c.Cols)
	} else {
		x.acc.Update(ids, c.Cols, c.N)
	}
	return x.acc.Err()
}

func (x *hashTable) bytes() int64 { return x.table.Bytes() + x.acc.Bytes() }

// Parts implements Op.
func (h *HashAgg) Parts(ctx context.Context, t *Task) (Parts, error) {
	shards := t.Shards()
	if len(h.Keys) == 0 {
		shards = 1
	}
	chunks, err := h.shuffle(ctx, t, t.Memory, &h.Arrange, shards, t.Shard)
	if err != nil {
		return Parts{}, err
	}
	if tooLarge(t.Memory, chunks) {
		return h.sharedParts(t, chunks), nil
	}
	if t.Coalesce && !h.Placed {
		chunks = together(chunks)
		if len(chunks) == 1 && len(h.Keys) > 0 && !h.mergeable() {
			chunks[0] = h.regroup(t, chunks[0])
		}
	}
	tables := make([]*hashTable, len(chunks))
	ids, placed := make([][]uint32, len(chunks)), make([][]uint32, len(chunks))
	err = Run(ctx, t, Parts{N: len(chunks), Open: openNothing}, func(ctx context.Context, i int, _ Stream) error {
		x := newHashTable(h, t)
		tables[i] = x
		for _, c := range chunks[i] {
			if err := x.take(c); err != nil {
				return err
			}
			t.Memory.Release(c.size)
		}
		t.Memory.Grow(x.bytes())
		chunks[i] = nil
		if len(h.Keys) == 0 {
			x.resolve(nil, 1)
		}
		ids[i], placed[i] = h.arrange(t, x)
		return nil
	})
	if err != nil {
		return Parts{}, err
	}
	if len(h.Keys) == 0 || h.Placed || t.Coalesce {
		return Parts{N: len(tables), Open: func(_ context.Context, i int) (Stream, error) {
			return &aggStream{x: tables[i], live: ids[i]}, nil
		}}, nil
	}
	lists := make([][]uint32, t.Partitions)
	for i := range tables {
		stretches(ids[i], placed[i], lists)
	}
	return Parts{N: len(lists), Open: func(_ context.Context, i int) (Stream, error) {
		return &aggStream{x: tables[i*len(tables)/len(lists)], live: lists[i]}, nil
	}}, nil
}

func openNothing(context.Context, int) (Stream, error) { return StreamOf(nil), nil }

// aggStream emits the groups of one shard.
type aggStream struct {
	x    *hashTable
	live []uint32
}

func (s *aggStream) Next(context.Context) (*vec.Batch, error) {
	if len(s.live) == 0 {
		return nil, io.EOF
	}
	n := min(len(s.live), vec.BatchRows)
	ids := s.live[:n]
	s.live = s.live[n:]
	s.x.mu.Lock()
	cols := s.x.table.Keys(ids)
	results, err := s.x.acc.Emit(ids)
	s.x.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return vec.NewBatch(n, append(cols, results...)...), nil
}

func (s *aggStream) Close() error { return nil }
