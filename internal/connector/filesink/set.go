package filesink

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Set is the files that a job writes below a root. Any number of goroutines may write them; Synced, Stage and Remove come after the last.
type Set struct {
	fsys fs.FS
	root string
	// MakeRoot is set when the root may not be there yet: it is made with the first file.
	MakeRoot bool

	mu    sync.Mutex
	files []string        // written or begun
	dirs  map[string]bool // in which names appeared
	wait  sync.WaitGroup
	err   error // of a sync
}

// NewSet makes a set without files.
func NewSet(fsys fs.FS, root string) *Set {
	return &Set{fsys: fsys, root: root, dirs: map[string]bool{}}
}

// create begins a file and the directories that it lies in.
func (s *Set) create(path string) (fs.Writer, error) {
	dir := filepath.Dir(path)
	s.mu.Lock()
	known := s.dirs[dir]
	s.mu.Unlock()
	if !known {
		if s.MakeRoot {
			if err := fs.MakeDirs(s.fsys, s.root); err != nil {
				return nil, err
			}
		}
		if err := s.fsys.MkdirAll(dir); err != nil {
			return nil, err
		}
	}
	w, err := s.fsys.Create(path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, path)
	for d := dir; !s.dirs[d]; d = filepath.Dir(d) {
		s.dirs[d] = true
		if d == s.root || len(d) <= len(s.root) {
			break
		}
	}
	return w, nil
}

// sync makes a file durable beside the work on others. Synced and Stage wait for it.
func (s *Set) sync(path string, w fs.Writer) {
	s.wait.Go(func() {
		if err := errors.Join(w.Sync(), w.Close()); err != nil {
			s.mu.Lock()
			if s.err == nil {
				s.err = WriteError(path, err)
			}
			s.mu.Unlock()
		}
	})
}

// Synced waits until the content of all files and the names of all files and directories are durable.
func (s *Set) Synced(ctx context.Context) error {
	s.wait.Wait()
	if s.err != nil {
		return s.err
	}
	var r fs.Round
	for _, d := range slices.Sorted(maps.Keys(s.dirs)) {
		r.Dir(s.fsys, d)
	}
	if err := r.Commit(ctx); err != nil {
		return WriteError(s.root, err)
	}
	return nil
}

// Stage has a round do what Synced does, before any of its files gets its name.
func (s *Set) Stage(r *fs.Round) {
	r.First(func() error {
		s.wait.Wait()
		return s.err
	})
	for _, d := range slices.Sorted(maps.Keys(s.dirs)) {
		r.First(func() error {
			if err := s.fsys.SyncDir(d); err != nil {
				return WriteError(s.root, err)
			}
			return nil
		})
	}
}

// Wait waits until nobody works on the files.
func (s *Set) Wait() { s.wait.Wait() }

// Remove deletes what was written.
func (s *Set) Remove() {
	s.wait.Wait()
	for _, f := range s.files {
		_ = s.fsys.Remove(f) // an orphan is not part of the output
	}
}

// ancientCondition is about a value that the format may not take: as in Spark it is the cause of the error.
const ancientCondition = "INCONSISTENT_BEHAVIOR_CROSS_VERSION.WRITE_ANCIENT_DATETIME"

// WriteError says what could not be written.
func WriteError(path string, err error) error {
	if e, ok := errors.AsType[*errclass.Error](err); ok && e.Class != ancientCondition {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errclass.New("TASK_WRITE_FAILED", "path", fs.ShortURI(path), "reason", err.Error()).WithCause(err)
}
