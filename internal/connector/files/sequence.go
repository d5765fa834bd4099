package files

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Sequence reads pieces of files one after the other: what the readers of formats and of Delta tables have in common.
type Sequence[P any] struct {
	// Open begins a piece.
	Open func(ctx context.Context, p P) (Rows, error)
	// Fault is the error of a piece that could not be opened, read or closed. It is nil when the rest of the piece is passed over.
	Fault func(p P, err error) error
	// Pieces are those to come.
	Pieces []P
	// Cur is the piece that the last batch is from, Rows its rows; nil between pieces.
	Cur  P
	Rows Rows
	err  error
}

// Next returns the next batch of a piece, or io.EOF.
func (s *Sequence[P]) Next(ctx context.Context) (*vec.Batch, error) {
	for s.err == nil {
		if s.Rows == nil {
			if len(s.Pieces) == 0 {
				s.err = io.EOF
				break
			}
			s.Cur, s.Pieces = s.Pieces[0], s.Pieces[1:]
			rows, err := s.Open(ctx, s.Cur)
			if err != nil {
				s.err = s.Fault(s.Cur, err)
				continue
			}
			s.Rows = rows
		}
		b, err := s.Rows.Next(ctx)
		if err == nil {
			return b, nil
		}
		if err != io.EOF {
			if s.err = s.Fault(s.Cur, err); s.err != nil {
				break // Close closes the rows
			}
		}
		err, s.Rows = s.Rows.Close(), nil
		if err != nil {
			s.err = s.Fault(s.Cur, err)
		}
	}
	return nil, s.err
}

// Close implements source.Reader.
func (s *Sequence[P]) Close() error {
	if s.Rows == nil {
		return nil
	}
	rows := s.Rows
	s.Rows = nil
	if s.err == nil {
		s.err = io.EOF
	}
	return rows.Close()
}

// NumberRows is the _metadata of n rows of a file, of which the first has a place in it: the facts on the file, which are those of one,
// and each row's own place.
func NumberRows(one *vec.Vector, n int, first int64) *vec.Vector {
	kids := make([]*vec.Vector, len(one.Kids()))
	for i, k := range one.Kids() {
		kids[i] = vec.NewConst(k, n)
	}
	places := vec.NewFixed(types.Long, n)
	for i := range vec.Fixed[int64](places) {
		vec.Fixed[int64](places)[i] = first + int64(i)
	}
	kids[len(kids)-1] = places
	return vec.NewStruct(one.Type(), n, kids)
}
