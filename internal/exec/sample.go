package exec

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/random"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Sample keeps rows whose random number, a function of seed, part and row, lies in [Lo, Hi).
type Sample struct {
	In     Op
	Lo, Hi float64
	// Random is rand(seed) over the input.
	Random Expr
}

// Types implements Op.
func (s *Sample) Types() []types.DataType { return s.In.Types() }

// Inputs implements Op.
func (s *Sample) Inputs() []Op { return []Op{s.In} }

// Label implements Op.
func (s *Sample) Label() string { return fmt.Sprintf("Sample [%g, %g)", s.Lo, s.Hi) }

// Parts implements Op.
func (s *Sample) Parts(ctx context.Context, t *Task) (Parts, error) {
	within := Expr{Type: types.Boolean, Uses: s.Random.Uses, Column: -1, New: func() expr.Node {
		return &between{in: s.Random.New(), lo: s.Lo, hi: s.Hi}
	}}
	return (&Filter{In: s.In, Pred: within}).Parts(ctx, t)
}

// between tells for a double expression whether it lies in [lo, hi).
type between struct {
	in     expr.Node
	lo, hi float64
	out    *vec.Vector
}

func (b *between) Type() types.DataType { return types.Boolean }

func (b *between) Eval(e *expr.Eval, in *vec.Batch) *vec.Vector {
	v := b.in.Eval(e, in).Flatten()
	if b.out == nil {
		b.out = vec.NewFixed(types.Boolean, in.N)
		b.out.SetBorrowed(true)
	}
	b.out.ResetFixed(in.N)
	dst := vec.Fixed[uint8](b.out)
	for i, x := range vec.Fixed[float64](v) {
		dst[i] = 0
		if x >= b.lo && x < b.hi {
			dst[i] = 1
		}
	}
	return b.out
}

// Draw repeats each row some number of times, which is random with a mean and a function of seed, part and row: a sample with replacement.
type Draw struct {
	In   Op
	Mean float64
	Seed int64
}

// Types implements Op.
func (d *Draw) Types() []types.DataType { return d.In.Types() }

// Inputs implements Op.
func (d *Draw) Inputs() []Op { return []Op{d.In} }

// Label implements Op.
func (d *Draw) Label() string { return fmt.Sprintf("Sample with replacement %g", d.Mean) }

// Parts implements Op.
func (d *Draw) Parts(ctx context.Context, t *Task) (Parts, error) {
	return mapParts(ctx, t, d.In, func(part int, in Stream) Stream {
		return &drawStream{in: in, counts: random.NewPoisson(d.Mean, random.Seed(d.Seed, part))}
	})
}

type drawStream struct {
	in     Stream
	counts *random.Poisson

	cur  *vec.Batch
	row  int // of cur, that comes next
	left int // how often it is still to come before the next one is drawn
	rows []uint32
}

// Next implements Stream.
func (s *drawStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.cur == nil {
			b, err := s.in.Next(ctx)
			if err != nil {
				return nil, err
			}
			s.cur, s.row = b.Compact(nil), 0
			s.left = s.counts.Next()
		}
		s.rows = s.rows[:0]
		for len(s.rows) < vec.BatchRows {
			if s.left > 0 {
				s.rows = append(s.rows, uint32(s.row))
				s.left--
				continue
			}
			if s.row++; s.row == s.cur.N {
				break
			}
			s.left = s.counts.Next()
		}
		cur := s.cur
		if s.row == cur.N {
			s.cur = nil
		}
		if len(s.rows) > 0 {
			return cur.Take(s.rows, nil), nil
		}
	}
}

// Close implements Stream.
func (s *drawStream) Close() error { return s.in.Close() }
