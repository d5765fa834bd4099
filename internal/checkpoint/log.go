package checkpoint

import (
	"context"

	"github.com/millrace/millrace/internal/fs"
)

// Log is a folder of numbered entries: the offset log or the commit log. It is safe for use by several
// goroutines.
type Log[T any] struct {
	folder *folder
	encode func([]byte, T) ([]byte, error)
	decode func([]byte) (T, error)
	advice func(id int64) string
}

// OpenOffsets opens an offset log by itself, for looking at it.
func OpenOffsets(fsys fs.FS, dir string) (*Log[OffsetSeq], error) {
	f, err := openFolder(fsys, dir)
	return &Log[OffsetSeq]{folder: f, encode: appendOffsets, decode: parseOffsets}, err
}

// OpenCommits opens a commit log by itself, for looking at it.
func OpenCommits(fsys fs.FS, dir string) (*Log[Commit], error) {
	f, err := openFolder(fsys, dir)
	return &Log[Commit]{folder: f, encode: appendCommit, decode: parseCommit}, err
}

// Dir is the directory of the log.
func (l *Log[T]) Dir() string { return l.folder.dir }

// IDs gives the batches that have an entry, in order.
func (l *Log[T]) IDs() []int64 {
	var ids []int64
	for _, e := range l.folder.list() {
		if !e.compact {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// LatestID gives the newest batch that has an entry.
func (l *Log[T]) LatestID() (id int64, ok bool) {
	e, ok := l.folder.latest()
	return e.id, ok
}

// Has reports whether a batch has an entry.
func (l *Log[T]) Has(id int64) bool {
	_, ok := l.folder.find(id)
	return ok
}

// Latest reads the newest entry; ok is false for an empty log.
func (l *Log[T]) Latest() (id int64, v T, ok bool, err error) {
	e, ok := l.folder.latest()
	if !ok {
		return 0, v, false, nil
	}
	v, err = l.Get(e.id)
	return e.id, v, true, err
}

// Get reads the entry of a batch. An entry that is missing or cannot be read is an error that
// names its file.
func (l *Log[T]) Get(id int64) (v T, err error) {
	e := entry{id: id}
	content, err := l.folder.read(e)
	if err == nil {
		v, err = l.decode(content)
	}
	if err != nil {
		var zero T
		return zero, fileError(l.folder.path(e), err, l.adviceFor(id))
	}
	return v, nil
}

func (l *Log[T]) adviceFor(id int64) string {
	if l.advice == nil {
		return restoreAdvice
	}
	return l.advice(id)
}

// Stage writes an entry that becomes visible and durable when the round commits to which the caller
// adds it. An entry that exists is CONCURRENT_STREAM_LOG_UPDATE, from here or from the round.
// LatestID and Has know the entry after the round.
func (l *Log[T]) Stage(id int64, v T) (*fs.Staged, error) {
	content, err := l.encode(nil, v)
	if err != nil {
		return nil, addError(l.folder.path(entry{id: id}), id, err)
	}
	return l.folder.stage(entry{id: id}, content, nil)
}

// Add writes an entry durably. A crash leaves all of it or nothing.
func (l *Log[T]) Add(ctx context.Context, id int64, v T) error {
	s, err := l.Stage(id, v)
	if err != nil {
		return err
	}
	return commit(ctx, s)
}

func commit(ctx context.Context, s *fs.Staged) error {
	var r fs.Round
	r.Publish(s)
	return r.Commit(ctx)
}

// Purge deletes the entries of batches before the given one.
func (l *Log[T]) Purge(before int64) error { return l.folder.removeBefore(before, nil) }

// Refresh lists the directory again, for readers of a log that another process writes.
func (l *Log[T]) Refresh() error { return l.folder.refresh() }
