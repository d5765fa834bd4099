package exec

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Expand emits every row once for each list of expressions: row r by all lists, then row r+1. The order does not depend on how the
// input is cut into batches, so neither do aggregates that keep the order of their rows.
type Expand struct {
	In    Op
	Lists [][]Expr
}

// Types implements Op.
func (e *Expand) Types() []types.DataType { return TypesOf(e.Lists[0]) }

// Inputs implements Op.
func (e *Expand) Inputs() []Op { return []Op{e.In} }

// Label implements Op.
func (e *Expand) Label() string { return fmt.Sprintf("Expand [%d lists]", len(e.Lists)) }

// Parts implements Op.
func (e *Expand) Parts(ctx context.Context, t *Task) (Parts, error) {
	passed := e.passed()
	return mapParts(ctx, t, e.In, func(part int, in Stream) Stream {
		s := &expandStream{in: in, passed: passed, scratch: make([]*vec.Vector, len(passed))}
		for i := range s.scratch {
			s.scratch[i] = &vec.Vector{}
		}
		for _, l := range e.Lists {
			s.evs = append(s.evs, NewEvaluator(t, part, l))
		}
		return s
	})
}

// passed tells for each output column whether all lists pass on the same input column.
func (e *Expand) passed() []bool {
	out := make([]bool, len(e.Lists[0]))
	for c, x := range e.Lists[0] {
		out[c] = x.Column >= 0
		for _, l := range e.Lists[1:] {
			out[c] = out[c] && l[c].Column == x.Column
		}
	}
	return out
}

type expandStream struct {
	in      Stream
	evs     []*Evaluator
	passed  []bool
	scratch []*vec.Vector

	cur  *vec.Batch // the rows from next on are still to be done
	next int
	err  error // of the first bad row, once those before it are out
	// Row i of the output is row i/len(evs) of a column that is passed on, and row idx[i] of the lists' columns one below the other.
	repeat, idx []uint32
	out         vec.Batch
}

// Next implements Stream. It works on windows of rows whose copies fit a batch.
func (s *expandStream) Next(ctx context.Context) (*vec.Batch, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.cur == nil {
		b, err := s.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		s.cur, s.next = b, 0
	}
	from, rows := s.next, s.cur.Rows()
	n := min(max(vec.BatchRows/len(s.evs), 1), rows-from)
	window := s.cur
	if n < rows {
		window = s.cur.Slice(from, n)
	}
	if s.next += n; s.next == rows {
		s.cur = nil
	}
	lists, n, err := s.compute(window, n)
	s.err = err
	if n == 0 {
		return nil, err
	}
	s.out = vec.Batch{Cols: s.interleave(lists, n), N: n * len(s.evs)}
	return &s.out, nil
}

// compute evaluates all lists. It returns the number of rows before the first bad one, and that row's first error in the order of
// the lists.
func (s *expandStream) compute(window *vec.Batch, n int) (lists [][]*vec.Vector, good int, err error) {
	lists, good = make([][]*vec.Vector, len(s.evs)), n
	for i, ev := range s.evs {
		cols, k, bad := ev.Compute(window)
		if bad == nil {
			bad = ev.pending
		}
		if bad != nil && k < good {
			good, err = k, bad
		}
		lists[i] = cols
	}
	return lists, good, err
}

func (s *expandStream) interleave(lists [][]*vec.Vector, n int) []*vec.Vector {
	k := len(lists)
	s.repeat, s.idx = s.repeat[:0], s.idx[:0]
	for r := range n {
		for l := range k {
			s.repeat = append(s.repeat, uint32(r))
			s.idx = append(s.idx, uint32(l*n+r))
		}
	}
	cols := make([]*vec.Vector, len(s.passed))
	stack := make([]*vec.Vector, k)
	for c, passed := range s.passed {
		if passed {
			cols[c] = vec.Take(lists[0][c], s.repeat, s.scratch[c])
			continue
		}
		for l, list := range lists {
			stack[l] = list[c]
			if stack[l].Len() > n {
				stack[l] = stack[l].Slice(0, n)
			}
		}
		cols[c] = vec.Take(vec.Concat(stack), s.idx, s.scratch[c])
	}
	return cols
}

// Close implements Stream.
func (s *expandStream) Close() error { return s.in.Close() }
