package exec

import (
	"errors"
	"io"
	"testing"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// TestStreamInputMost: each part is read as far as is wanted, and only that counts as read.
func TestStreamInputMost(t *testing.T) {
	for _, c := range []struct{ most, rows int64 }{{0, 14}, {5, 10}, {3, 6}, {1, 2}, {9, 14}} {
		part := func() []*vec.Batch {
			return []*vec.Batch{vec.NewBatch(3, vec.NewFixed(types.Long, 3)), vec.NewBatch(4, vec.NewFixed(types.Long, 4))}
		}
		read, got := int64(0), int64(0)
		task := &Task{Inputs: map[uint64]Input{1: {Parts: PartsOf(part(), part()), Read: func(n int) { read += int64(n) }}}}
		ps, err := (&StreamInput{ID: 1, Most: c.most}).Parts(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ps.N {
			s, err := ps.Open(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			for {
				b, err := s.Next(t.Context())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got += int64(b.Rows())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got != c.rows || read != c.rows {
			t.Errorf("at most %d a part: %d rows, %d read, want %d", c.most, got, read, c.rows)
		}
	}
}
