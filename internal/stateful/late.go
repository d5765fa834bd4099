package stateful

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// LateRows passes its input on and copies the rows that the operator above will drop for being late to a side output. It stands below
// that operator, where rows are still whole: a grouping finds out that rows are late when it has added them up.
type LateRows struct {
	In exec.Op
	// Time is the event time by which the operator drops rows.
	Time exec.Expr
	// Operator is the number of the operator above, Side that of the output among Batch.Late; -1 copies nothing.
	Operator, Side int
}

// Types implements exec.Op.
func (l *LateRows) Types() []types.DataType { return l.In.Types() }

// Inputs implements exec.Op.
func (l *LateRows) Inputs() []exec.Op { return []exec.Op{l.In} }

// Label implements exec.Op.
func (l *LateRows) Label() string { return "LateRows" }

// Parts implements exec.Op.
func (l *LateRows) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	ps, err := l.In.Parts(ctx, t)
	batch := Of(t)
	if err != nil || l.Side < 0 || len(batch.Late) == 0 {
		return ps, err
	}
	open := ps.Open
	ps.Open = func(ctx context.Context, i int) (exec.Stream, error) {
		s, err := open(ctx, i)
		if err != nil {
			return nil, err
		}
		return &lateStream{
			in: s, ev: exec.NewEvaluator(t, i, []exec.Expr{l.Time}), bound: batch.Bounds[l.Operator].Late, out: batch.Late[l.Side].Writer(i),
		}, nil
	}
	return ps, nil
}

type lateStream struct {
	in    exec.Stream
	ev    *exec.Evaluator
	bound int64
	out   *exec.SideWriter
	sel   []uint32
}

// Next implements exec.Stream.
func (s *lateStream) Next(ctx context.Context) (*vec.Batch, error) {
	b, err := s.in.Next(ctx)
	if err == io.EOF {
		if cerr := s.out.Close(ctx); cerr != nil {
			return nil, cerr
		}
	}
	if err != nil {
		return nil, err
	}
	cols, err := s.ev.ComputeAll(b)
	if err != nil {
		return nil, err
	}
	s.sel = s.sel[:0]
	for i, at := range TimesOf(cols[0], b.Rows(), state.NoTime) {
		if at <= s.bound {
			if b.Sel != nil {
				i = int(b.Sel[i])
			}
			s.sel = append(s.sel, uint32(i))
		}
	}
	if len(s.sel) > 0 {
		if err := s.out.Write(ctx, b.WithSelection(s.sel)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Close implements exec.Stream.
func (s *lateStream) Close() error {
	s.out.Abort() // nothing is left of it when the part has been read to its end
	return s.in.Close()
}
