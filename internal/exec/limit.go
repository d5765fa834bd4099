package exec

import (
	"context"
	"fmt"
	"io"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Limit skips Offset rows and passes on the next N, or all when N is negative. Parts are read one after the other and only as far
// as needed, so rows that are not reached cannot fail.
type Limit struct {
	In     Op
	N      int64
	Offset int64
}

// Types implements Op.
func (l *Limit) Types() []types.DataType { return l.In.Types() }

// Inputs implements Op.
func (l *Limit) Inputs() []Op { return []Op{l.In} }

// Label implements Op.
func (l *Limit) Label() string { return fmt.Sprintf("GlobalLimit %d, offset %d", l.N, l.Offset) }

// Parts implements Op.
func (l *Limit) Parts(ctx context.Context, t *Task) (Parts, error) {
	if l.N == 0 {
		return PartsOf(nil), nil
	}
	ps, err := l.In.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	return Parts{N: 1, Open: func(context.Context, int) (Stream, error) {
		return &limitStream{in: Serial(ps), skip: l.Offset, left: l.N, all: l.N < 0}, nil
	}}, nil
}

type limitStream struct {
	in   Stream
	skip int64
	left int64
	all  bool
}

func (s *limitStream) Next(ctx context.Context) (*vec.Batch, error) {
	for s.all || s.left > 0 {
		b, err := s.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		n := int64(b.Rows())
		from := min(s.skip, n)
		s.skip -= from
		to := n
		if !s.all {
			to = min(n, from+s.left)
			s.left -= to - from
		}
		if from == to {
			continue
		}
		return b.Slice(int(from), int(to-from)), nil
	}
	return nil, io.EOF
}

func (s *limitStream) Close() error { return s.in.Close() }

// Serial reads parts one after the other as a single stream.
func Serial(ps Parts) Stream { return &serial{ps: ps} }

type serial struct {
	ps   Parts
	next int
	cur  Stream
}

func (s *serial) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.cur == nil {
			if s.next == s.ps.N {
				return nil, io.EOF
			}
			cur, err := s.ps.Open(ctx, s.next)
			if err != nil {
				return nil, err
			}
			s.cur = cur
			s.next++
		}
		b, err := s.cur.Next(ctx)
		if err != io.EOF {
			return b, err
		}
		err = s.cur.Close()
		s.cur = nil
		if err != nil {
			return nil, err
		}
	}
}

func (s *serial) Close() error {
	if s.cur == nil {
		return nil
	}
	return s.cur.Close()
}

// Tail keeps the last N rows.
type Tail struct {
	In Op
	N  int64
}

// Types implements Op.
func (l *Tail) Types() []types.DataType { return l.In.Types() }

// Inputs implements Op.
func (l *Tail) Inputs() []Op { return []Op{l.In} }

// Label implements Op.
func (l *Tail) Label() string { return fmt.Sprintf("CollectTail %d", l.N) }

// Parts implements Op.
func (l *Tail) Parts(ctx context.Context, t *Task) (Parts, error) {
	ps, err := l.In.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	var keep []*vec.Batch
	var rows int64
	err = Gather(ctx, t, ps, func(b *vec.Batch) error {
		keep, rows = append(keep, b), rows+int64(b.Rows())
		for rows-int64(keep[0].Rows()) >= l.N && len(keep) > 1 {
			rows -= int64(keep[0].Rows())
			keep = keep[1:]
		}
		return nil
	})
	if err != nil || len(keep) == 0 || l.N == 0 {
		return PartsOf(nil), err
	}
	if over := rows - l.N; over > 0 {
		keep[0] = keep[0].Slice(int(over), keep[0].Rows()-int(over))
	}
	return PartsOf(keep), nil
}
