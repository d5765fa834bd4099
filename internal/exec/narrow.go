package exec

import (
	"context"
	"fmt"
	"io"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Project computes expressions for each row.
type Project struct {
	In   Op
	Cols []Expr
}

// Types implements Op.
func (p *Project) Types() []types.DataType { return TypesOf(p.Cols) }

// Inputs implements Op.
func (p *Project) Inputs() []Op { return []Op{p.In} }

// Label implements Op.
func (p *Project) Label() string { return fmt.Sprintf("Project [%d columns]", len(p.Cols)) }

// Parts implements Op.
func (p *Project) Parts(ctx context.Context, t *Task) (Parts, error) {
	return mapParts(ctx, t, p.In, func(part int, in Stream) Stream {
		return &projectStream{in: in, ev: NewEvaluator(t, part, p.Cols)}
	})
}

// mapParts wraps every part of an operator.
func mapParts(ctx context.Context, t *Task, in Op, wrap func(part int, in Stream) Stream) (Parts, error) {
	ps, err := in.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	return Parts{N: ps.N, Open: func(ctx context.Context, i int) (Stream, error) {
		s, err := ps.Open(ctx, i)
		if err != nil {
			return nil, err
		}
		return wrap(i, s), nil
	}}, nil
}

type projectStream struct {
	in  Stream
	ev  *Evaluator
	out vec.Batch
}

func (s *projectStream) Next(ctx context.Context) (*vec.Batch, error) {
	if s.ev.pending != nil {
		return nil, s.ev.pending
	}
	b, err := s.in.Next(ctx)
	if err != nil {
		return nil, err
	}
	cols, n, err := s.ev.Compute(b)
	if err != nil {
		return nil, err
	}
	s.out = vec.Batch{Cols: cols, N: n}
	return &s.out, nil
}

func (s *projectStream) Close() error { return s.in.Close() }

// Filter passes on the rows for which the predicate is true: not false, not null.
type Filter struct {
	In   Op
	Pred Expr
}

// Types implements Op.
func (f *Filter) Types() []types.DataType { return f.In.Types() }

// Inputs implements Op.
func (f *Filter) Inputs() []Op { return []Op{f.In} }

// Label implements Op.
func (f *Filter) Label() string { return "Filter" }

// Parts implements Op.
func (f *Filter) Parts(ctx context.Context, t *Task) (Parts, error) {
	return mapParts(ctx, t, f.In, func(part int, in Stream) Stream {
		return &filterStream{in: in, ev: NewEvaluator(t, part, []Expr{f.Pred})}
	})
}

type filterStream struct {
	in  Stream
	ev  *Evaluator
	sel []uint32
	out vec.Batch
}

// Next implements Stream. It never copies columns: it narrows the selection.
func (s *filterStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.ev.pending != nil {
			return nil, s.ev.pending
		}
		b, err := s.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		cols, _, err := s.ev.Compute(b)
		if err != nil {
			return nil, err
		}
		s.sel = expr.SelectTrue(cols[0], s.sel[:0])
		if len(s.sel) == 0 {
			continue
		}
		s.out = vec.Batch{Cols: b.Cols, N: b.N, Sel: b.Sel}
		switch {
		case len(s.sel) == b.N && b.Sel == nil:
		case b.Sel == nil:
			s.out.Sel = s.sel
		default:
			for i, j := range s.sel {
				s.sel[i] = b.Sel[j]
			}
			s.out.Sel = s.sel
		}
		return &s.out, nil
	}
}

func (s *filterStream) Close() error { return s.in.Close() }

// Union hands out the parts of its inputs one after the other.
type Union struct{ Ins []Op }

// Types implements Op.
func (u *Union) Types() []types.DataType { return u.Ins[0].Types() }

// Inputs implements Op.
func (u *Union) Inputs() []Op { return u.Ins }

// Label implements Op.
func (u *Union) Label() string { return "Union" }

// Parts implements Op.
func (u *Union) Parts(ctx context.Context, t *Task) (Parts, error) {
	var all []Parts
	n := 0
	for _, in := range u.Ins {
		p, err := in.Parts(ctx, t)
		if err != nil {
			return Parts{}, err
		}
		all = append(all, p)
		n += p.N
	}
	return Parts{N: n, Open: func(ctx context.Context, i int) (Stream, error) {
		for _, p := range all {
			if i < p.N {
				return p.Open(ctx, i)
			}
			i -= p.N
		}
		return nil, io.ErrUnexpectedEOF
	}}, nil
}

// batches is a stream over batches in memory.
type batches struct{ list []*vec.Batch }

// StreamOf returns a stream over Owned batches; empty ones are left out.
func StreamOf(list []*vec.Batch) Stream { return &batches{list} }

// Next implements Stream.
func (s *batches) Next(context.Context) (*vec.Batch, error) {
	for len(s.list) > 0 {
		b := s.list[0]
		s.list = s.list[1:]
		if b.Rows() > 0 {
			return b, nil
		}
	}
	return nil, io.EOF
}

// Close implements Stream.
func (s *batches) Close() error { return nil }

// PartsOf cuts nothing: every list of Owned batches is one part.
func PartsOf(lists ...[]*vec.Batch) Parts {
	return Parts{N: len(lists), Open: func(_ context.Context, i int) (Stream, error) { return StreamOf(lists[i]), nil }}
}
