package filesink

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/millrace/millrace/internal/vec"
)

// holdBytes is how much of a batch is kept in memory so that its parts meet in the same files.
const holdBytes = 8 << 20

// RowFiles are the files that the rows of one part go to.
type RowFiles interface {
	// Write writes the rows of a batch without selection to a partition. It keeps nothing of it, or a copy.
	Write(partition string, b *vec.Batch) error
	Close() error
	Abort()
}

// Shared are the files of a batch of a stream, whose parts are often many and small. The rows are held as long as they are few, and
// become one file for each partition. Of more rows each writer at work encodes its own into files that it leaves open for the part that
// comes next, so that there are as many for each partition as writers side by side.
type Shared struct {
	output func(lane int) Output

	mu      sync.Mutex
	room    int64 // bytes that may still be held
	large   bool  // room was not enough
	dropped bool  // a part was
	lanes   []*OpenFiles
	free    []*OpenFiles
	held    []heldRows
}

// heldRows are rows of a part for a partition.
type heldRows struct {
	part      int
	partition string
	rows      *vec.Batch
}

// NewShared begins without files. What output gives is used by one goroutine at a time, beside that of other lanes.
func NewShared(output func(lane int) Output) *Shared { return &Shared{output: output, room: holdBytes} }

// Part takes the rows of one part.
func (s *Shared) Part(part int) RowFiles { return &sharedPart{s: s, part: part} }

// sharedPart is one part on its way into shared files.
type sharedPart struct {
	s    *Shared
	part int
	held []heldRows
	lane *OpenFiles // nil while rows are held
}

// hold tells whether so many bytes more may be held.
func (s *Shared) hold(bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.large = s.large || bytes > s.room
	if s.large {
		return false
	}
	s.room -= bytes
	return true
}

// take gives files that no other part writes to.
func (s *Shared) take() *OpenFiles {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		f := s.free[n-1]
		s.free = s.free[:n-1]
		return f
	}
	f := NewOpenFiles(s.output(len(s.lanes)))
	s.lanes = append(s.lanes, f)
	return f
}

// Write implements RowFiles.
func (p *sharedPart) Write(partition string, b *vec.Batch) error {
	if p.lane == nil {
		if p.s.hold(int64(b.SizeBytes())) {
			p.held = append(p.held, heldRows{p.part, partition, b.Own()})
			return nil
		}
		p.lane = p.s.take()
		if err := writeHeld(p.lane, p.held); err != nil {
			return err
		}
		p.held = nil
	}
	return p.lane.Write(partition, b)
}

// Close implements RowFiles. The files are not complete before Finish.
func (p *sharedPart) Close() error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.held = append(p.s.held, p.held...)
	if p.lane != nil {
		p.s.free = append(p.s.free, p.lane)
	}
	p.held, p.lane = nil, nil
	return nil
}

// Abort implements RowFiles. Rows of other parts are in the same files, so the batch is lost with the part.
func (p *sharedPart) Abort() {
	p.s.mu.Lock()
	p.s.dropped = true
	p.s.mu.Unlock()
	if p.lane != nil {
		p.lane.Abort()
	}
	p.held, p.lane = nil, nil
}

func writeHeld(f *OpenFiles, held []heldRows) error {
	for _, h := range held {
		if err := f.Write(h.partition, h.rows); err != nil {
			return err
		}
	}
	return nil
}

// Finish completes all files, when all parts are closed.
func (s *Shared) Finish() error {
	if s.dropped {
		return errors.New("a part of the batch was dropped")
	}
	if len(s.held) > 0 {
		// One partition after the other: there is no limit then to how many have one file.
		slices.SortStableFunc(s.held, func(a, b heldRows) int {
			return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.part, b.part))
		})
		if err := writeHeld(s.take(), s.held); err != nil {
			return err
		}
		s.held = nil
	}
	for _, f := range s.lanes {
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Abort closes all files as they are, when no part is written any more. The set removes them.
func (s *Shared) Abort() {
	for _, f := range s.lanes {
		f.Abort()
	}
}
