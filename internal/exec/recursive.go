package exec

import (
	"context"
	"io"
	"maps"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Recursive gives the rows of Anchor and then, level by level, those that Step makes of the level before. A level is computed when
// somebody reads on, so a limit above ends a recursion that would not end by itself.
type Recursive struct {
	ID           uint64
	Name         string
	Anchor, Step Op
	// Levels and Rows are bounds; negative numbers are none.
	Levels, Rows int64
}

// Types implements Op.
func (r *Recursive) Types() []types.DataType { return r.Anchor.Types() }

// Inputs implements Op.
func (r *Recursive) Inputs() []Op { return []Op{r.Anchor, r.Step} }

// Label implements Op.
func (r *Recursive) Label() string { return "UnionLoop " + r.Name }

// Parts implements Op.
func (r *Recursive) Parts(_ context.Context, t *Task) (Parts, error) {
	return Parts{N: 1, Open: func(context.Context, int) (Stream, error) { return &recursiveStream{r: r, t: t}, nil }}, nil
}

type recursiveStream struct {
	r     *Recursive
	t     *Task
	level int64
	cur   []*vec.Batch // the level that is being read
	at    int
	rows  int64
}

func (s *recursiveStream) Close() error { return nil }

// Next implements Stream.
func (s *recursiveStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.at < len(s.cur) {
			b := s.cur[s.at]
			s.at++
			if b.Rows() > 0 {
				return b, nil
			}
			continue
		}
		if err := s.next(ctx); err != nil {
			return nil, err
		}
	}
}

// next computes the next level.
func (s *recursiveStream) next(ctx context.Context) error {
	op, t := s.r.Anchor, s.t
	if s.level > 0 {
		if len(s.cur) == 0 {
			return io.EOF
		}
		if s.r.Levels >= 0 && s.level > s.r.Levels {
			return errclass.New("RECURSION_LEVEL_LIMIT_EXCEEDED", "levelLimit", strconv.FormatInt(s.r.Levels, 10))
		}
		inner := *s.t
		inner.Levels = maps.Clone(s.t.Levels)
		if inner.Levels == nil {
			inner.Levels = map[uint64][]*vec.Batch{}
		}
		inner.Levels[s.r.ID] = s.cur
		op, t = s.r.Step, &inner
	}
	list, err := Collect(ctx, t, op)
	if err != nil {
		return err
	}
	s.cur, s.at = nil, 0
	for _, b := range list {
		if n := int64(b.Rows()); n > 0 {
			s.cur = append(s.cur, b)
			s.rows += n
		}
	}
	s.level++
	if s.r.Rows >= 0 && s.rows > s.r.Rows {
		return errclass.New("RECURSION_ROW_LIMIT_EXCEEDED", "rowLimit", strconv.FormatInt(s.r.Rows, 10))
	}
	return nil
}

// RecursiveRef gives the rows of the level before of a Recursive above it.
type RecursiveRef struct {
	ID   uint64
	Name string
	Out  []types.DataType
}

// Types implements Op.
func (r *RecursiveRef) Types() []types.DataType { return r.Out }

// Inputs implements Op.
func (r *RecursiveRef) Inputs() []Op { return nil }

// Label implements Op.
func (r *RecursiveRef) Label() string { return "UnionLoopRef " + r.Name }

// Parts implements Op.
func (r *RecursiveRef) Parts(_ context.Context, t *Task) (Parts, error) {
	return PartsOf(t.Levels[r.ID]), nil
}
