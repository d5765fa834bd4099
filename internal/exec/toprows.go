package exec

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// TopRows keeps, of rows of a part that follow each other and have the same Key, the first N by Rank; of equal ones the first, or the last with
// Last. It holds no more than that of one key.
type TopRows struct {
	In   Op
	Key  int
	Rank SortKey
	N    int
	Last bool
	// Ranked drops rows with a null rank.
	Ranked bool
}

// Types implements Op.
func (r *TopRows) Types() []types.DataType { return r.In.Types() }

// Inputs implements Op.
func (r *TopRows) Inputs() []Op { return []Op{r.In} }

// Label implements Op.
func (r *TopRows) Label() string { return fmt.Sprintf("TopRows %d", r.N) }

// Parts implements Op.
func (r *TopRows) Parts(ctx context.Context, t *Task) (Parts, error) {
	return mapParts(ctx, t, r.In, func(part int, in Stream) Stream {
		return &topStream{r: r, in: in, ev: NewEvaluator(t, part, []Expr{r.Rank.Expr})}
	})
}

type topStream struct {
	r  *TopRows
	in Stream
	ev *Evaluator

	held *vec.Batch // the best of the last key so far, with their ranks behind the columns
	end  error      // what ended the input
}

// Next implements Stream.
func (s *topStream) Next(ctx context.Context) (*vec.Batch, error) {
	for s.end == nil {
		b, err := s.in.Next(ctx)
		if err != nil {
			s.end = err
			break
		}
		rank, n, err := s.ev.Compute(b)
		if err != nil {
			s.end = err
			break
		}
		all := b.Slice(0, n).Compact(nil)
		all = (&vec.Batch{N: n, Cols: append(slices.Clone(all.Cols), rank[0])}).Own()
		s.end = s.ev.pending
		if s.held != nil {
			all = vec.ConcatBatches([]*vec.Batch{s.held, all})
		}
		if done := s.reduce(all); done != nil {
			return done, nil
		}
	}
	if s.held != nil && s.end == io.EOF {
		out := s.out(s.held)
		s.held = nil
		return out, nil
	}
	return nil, s.end
}

// out are rows without their ranks.
func (s *topStream) out(b *vec.Batch) *vec.Batch {
	return &vec.Batch{N: b.N, Cols: b.Cols[:len(b.Cols)-1]}
}

// reduce keeps the best rows of each key. Those of the last key are held, the others returned.
func (s *topStream) reduce(b *vec.Batch) *vec.Batch {
	if b.N == 0 {
		return nil
	}
	keys := vec.Fixed[int64](b.Cols[s.r.Key].Flatten())
	stretch := vec.NewFixed(types.Long, b.N)
	no := vec.Fixed[int64](stretch)
	for i := 1; i < b.N; i++ {
		no[i] = no[i-1]
		if keys[i] != keys[i-1] {
			no[i]++
		}
	}
	place := vec.NewFixed(types.Long, b.N)
	for i, at := 0, vec.Fixed[int64](place); i < b.N; i++ {
		at[i] = int64(i)
	}
	last, rank := no[b.N-1], b.Cols[len(b.Cols)-1]
	orders := []vec.Order{{}, {Desc: s.r.Rank.Desc, NullsLast: true}, {Desc: s.r.Last}}
	idx := vec.SortIndex([]*vec.Vector{stretch, rank.Flatten(), place}, orders, b.N)
	var done, held []uint32
	for i, n := 0, 0; i < len(idx); i++ {
		if i > 0 && no[idx[i]] != no[idx[i-1]] {
			n = 0
		}
		if n++; n > s.r.N || s.r.Ranked && rank.IsNull(int(idx[i])) {
			continue
		}
		if no[idx[i]] == last {
			held = append(held, idx[i])
		} else {
			done = append(done, idx[i])
		}
	}
	if s.r.Last { // in the order of coming, as more rows may follow
		slices.Reverse(held)
	}
	if s.held = nil; len(held) > 0 {
		s.held = b.Take(held, nil).Own()
	}
	if len(done) == 0 {
		return nil
	}
	return s.out(b.Take(done, nil).Own())
}

// Close implements Stream.
func (s *topStream) Close() error { return s.in.Close() }
