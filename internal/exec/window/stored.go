package window

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/vec"
)

// A heap that is too large to be computed at once is dealt out again, to subHeaps by what the hash says beyond it. After maxSplits times it
// is taken as it is: what is left are a few partitions, and one partition has to fit.
const (
	subHeaps  = 16
	maxSplits = 5
	// sizeFactor is about how much larger a heap becomes while it is sorted.
	sizeFactor = 4
)

// share is a heap of a shard: splits is how often it was dealt out.
type share struct {
	heaps  *exec.Heaps
	heap   int
	splits int
}

// stored computes a shard of rows that are in files, as much at a time as fits into memory.
type stored struct {
	o            *Op
	t            *exec.Task
	part, shards int
	shares       []share // the last one comes next
	now          *stream
}

// Next implements exec.Stream.
func (s *stored) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.now != nil {
			b, err := s.now.Next(ctx)
			if err != io.EOF {
				return b, err
			}
			if err := s.Close(); err != nil {
				return nil, err
			}
		}
		if len(s.shares) == 0 {
			return nil, io.EOF
		}
		if err := s.prepare(ctx); err != nil {
			return nil, err
		}
	}
}

// prepare takes the next share, or deals it out.
func (s *stored) prepare(ctx context.Context) error {
	next := s.shares[len(s.shares)-1]
	s.shares = s.shares[:len(s.shares)-1]
	room := s.t.Memory.Limit() / int64(2*max(1, s.t.Workers))
	if sizeFactor*next.heaps.Bytes(next.heap) > room && next.splits < maxSplits && len(s.o.Partition) > 0 {
		by := uint32(s.shards)
		for range next.splits {
			by *= subHeaps
		}
		heaps, err := next.heaps.Split(ctx, next.heap, subHeaps, func(hash uint32) int { return int(hash / by % subHeaps) })
		if err != nil {
			return err
		}
		for i := subHeaps - 1; i >= 0; i-- {
			s.shares = append(s.shares, share{heaps, i, next.splits + 1})
		}
		return nil
	}
	rows, held, err := next.heaps.Load(next.heap)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		s.now = s.o.open(s.t, s.part, shard{rows, held})
	}
	return nil
}

// Close implements exec.Stream.
func (s *stored) Close() error {
	if s.now == nil {
		return nil
	}
	err := s.now.Close()
	s.now = nil
	return err
}
