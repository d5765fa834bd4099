package mem

import (
	"context"
	"errors"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Merges lets the stores that share it merge one after the other: a merge holds the state that it merges once more in memory, and keeps
// a core busy. The zero Merges is ready for use.
type Merges struct {
	once sync.Once
	turn chan struct{}
}

// take waits for its turn, which ends with the call of done.
func (m *Merges) take(ctx context.Context) (done func(), err error) {
	m.once.Do(func() { m.turn = make(chan struct{}, 1) })
	select {
	case m.turn <- struct{}{}:
		return func() { <-m.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// job is work on a store's files beside its batches: segments are merged into a snapshot, then files that nobody needs are deleted.
// It reads segments that are durable and never change, and knows nothing of the tables that batches change meanwhile. Files that it reads
// are at or behind the newest snapshot, files that it deletes before the oldest one that is needed.
//
// A store has one job at most. What has come of it is taken over by the store's owner, to whom the list of files belongs.
type job struct {
	base, version int64    // of the snapshot that is merged, and of the one that it becomes; 0 for none
	bytes         int64    // of the deltas that are merged
	content       []byte   // of the snapshot, where it was made with the batch
	old           []string // to be deleted

	cancel context.CancelFunc
	done   chan struct{}
	// The rest is set when done is closed.
	size int64 // of the snapshot
	err  error
	left []string // of old: could not be deleted
}

// begin starts a job.
func (s *store) begin(j *job) {
	ctx, cancel := context.WithCancel(context.Background())
	j.cancel, j.done = cancel, make(chan struct{})
	s.job = j
	go func() {
		defer close(j.done)
		if j.version > 0 {
			j.size, j.err = s.merge(ctx, j)
		}
		for i, name := range j.old {
			if ctx.Err() != nil {
				j.left = append(j.left, j.old[i:]...)
				return
			}
			if err := s.folder.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				j.left = append(j.left, name)
				j.err = errors.Join(j.err, err)
			}
		}
	}()
}

// merge makes the snapshot of a version from the segments that lead to it. A crash leaves a temporary file, or the whole snapshot.
func (s *store) merge(ctx context.Context, j *job) (size int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errclass.Recovered(r)
		}
	}()
	done, err := s.merges.take(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	content := j.content
	if content == nil {
		if content, err = s.merged(ctx, j.base, j.version); err != nil {
			return 0, err
		}
	}
	if err := fs.Replace(ctx, s.folder.FS, s.folder.File(j.version, snapshot), content); err != nil {
		return 0, err
	}
	return int64(len(content)), nil
}

// merged is what a snapshot of a version holds.
func (s *store) merged(ctx context.Context, base, version int64) ([]byte, error) {
	spec := s.spec
	spec.Time, spec.Group, spec.Alone = nil, nil, true
	m := readingStore(s.folder, spec)
	if err := m.fill(ctx, base, version); err != nil {
		return nil, err
	}
	return m.encode(version, true)
}

// settle waits for the job and takes over what has come of it.
func (s *store) settle(ctx context.Context) error {
	if s.job == nil {
		return nil
	}
	select {
	case <-s.job.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	j := s.job
	s.job = nil
	j.cancel()
	s.old = append(j.left, s.old...)
	if j.size > 0 {
		s.folder.Published(j.version, snapshot)
		s.snapshotBytes, s.deltaBytes = j.size, s.deltaBytes-j.bytes
	}
	if j.err == nil {
		s.failures = 0
		return nil
	}
	if !errors.Is(j.err, context.Canceled) {
		s.failures++
		s.next = s.version + min(1<<min(s.failures, 30), s.maxDeltas)
		s.log.Warn("files of state not merged or deleted, to be tried again", "dir", s.folder.Dir, "version", j.version, "again", s.next, "err", j.err)
	}
	return nil
}

// idle tells whether a job may begin, when it has taken over what came of the last one.
func (s *store) idle() bool {
	if s.job != nil {
		select {
		case <-s.job.done:
			_ = s.settle(context.Background()) // which does not wait
		default:
			return false
		}
	}
	return s.version >= s.next
}
