package spill

import (
	"sync"

	"github.com/millrace/millrace/types"
)

// Set is files that the workers of an operator share, as many as there are workers: each takes one for a moment and puts it back. A nil
// scope has none to take.
type Set struct {
	scope *Scope
	types []types.DataType

	mu   sync.Mutex
	free []*File
	all  []*File
}

// NewSet returns a set of files for batches of columns of some types.
func (s *Scope) NewSet(ts []types.DataType) *Set { return &Set{scope: s, types: ts} }

// Take hands out a file to append to.
func (s *Set) Take() (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		f := s.free[n-1]
		s.free = s.free[:n-1]
		return f, nil
	}
	f, err := s.scope.create(s.types)
	if err == nil {
		s.all = append(s.all, f)
	}
	return f, err
}

// Put takes a file back.
func (s *Set) Put(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, f)
}

// Seal ends writing, when all files are back.
func (s *Set) Seal() error {
	for _, f := range s.all {
		if err := f.seal(); err != nil {
			return err
		}
	}
	return nil
}

// Empty tells whether nothing was written.
func (s *Set) Empty() bool { return len(s.all) == 0 }

// Drop removes the files, which nobody reads any more.
func (s *Set) Drop() error {
	for _, f := range s.all {
		if err := f.drop(); err != nil {
			return err
		}
	}
	s.all, s.free = nil, nil
	return nil
}
