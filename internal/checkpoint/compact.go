package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace/millrace/internal/fs"
)

// CompactOptions say when a log of files is compacted and what is deleted. The zero value has Spark's
// defaults.
type CompactOptions struct {
	// Interval is the number of entries from one compaction to the next, 10 by default. A log that was
	// begun with another interval keeps a fitting one.
	Interval int
	// MinBatchesToRetain is how many of the newest entries are never deleted, 100 by default.
	MinBatchesToRetain int64
	// CleanupDelay is how old a superseded entry must be to be deleted, 10 minutes by default: readers may
	// still be about to open it.
	CleanupDelay time.Duration
	// KeepExpired keeps superseded entries for ever.
	KeepExpired bool
	// Retention, if positive, drops files from compacted entries that were modified longer ago. Only the sink log
	// has it.
	Retention time.Duration
	// FillGaps lets a log go on behind entries that are missing: batches that had nothing to do with it. Otherwise they are lost.
	FillGaps bool
	// Now is the clock, time.Now by default.
	Now func() time.Time
}

func (o CompactOptions) withDefaults() CompactOptions {
	if o.Interval <= 0 {
		o.Interval = 10
	}
	if o.MinBatchesToRetain <= 0 {
		o.MinBatchesToRetain = 100
	}
	if o.CleanupDelay <= 0 {
		o.CleanupDelay = 10 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// fileLog is a log whose entries are lists. Every interval-th entry is named <id>.compact and holds the
// items of all entries so far, so that a reader needs that one and those after it.
type fileLog[T any] struct {
	folder   *folder
	opts     CompactOptions
	interval int64
	encode   func([]byte, T) []byte
	decode   func([]byte) (T, error)
	keep     func(item T, now time.Time) bool // in compacted entries and for readers; nil: all
}

const fileLogVersion = 1

func openFileLog[T any](fsys fs.FS, dir string, opts CompactOptions, encode func([]byte, T) []byte, decode func([]byte) (T, error)) (*fileLog[T], error) {
	f, err := openFolder(fsys, dir)
	if err != nil {
		return nil, err
	}
	l := &fileLog[T]{folder: f, opts: opts.withDefaults(), encode: encode, decode: decode}
	l.interval = compactInterval(int64(l.opts.Interval), f.list())
	return l, nil
}

// compactInterval finds the interval of a log that may have been begun with another one. It must be
// that of the existing compactions, because readers count back from one to the one before.
func compactInterval(wanted int64, entries []entry) int64 {
	var last, before int64 = -1, -1
	for _, e := range entries {
		if e.compact {
			last, before = e.id, last
		}
	}
	switch n := last + 1; {
	case last < 0:
		return wanted
	case before >= 0:
		return last - before
	case n <= wanted, wanted >= n/2:
		return n
	default: // the smallest divisor that is not below what is wanted
		for d := wanted; d <= n/2; d++ {
			if n%d == 0 {
				return d
			}
		}
		return n
	}
}

func (l *fileLog[T]) isCompaction(id int64) bool { return (id+1)%l.interval == 0 }

// stage writes the entry of an id, with those before it if it is a compaction. All before it must be
// published. Done, if not nil, is called when the entry is.
func (l *fileLog[T]) stage(ctx context.Context, id int64, items []T, done func()) (*fs.Staged, error) {
	if err := l.fill(ctx, id); err != nil {
		return nil, err
	}
	e := entry{id: id, compact: l.isCompaction(id)}
	content := []byte("v1")
	if e.compact {
		var err error
		if content, err = l.appendEarlier(content, id); err != nil {
			return nil, err
		}
	}
	now := l.opts.Now()
	for _, item := range items {
		if e.compact && !l.retained(item, now) {
			continue
		}
		content = l.encode(append(content, '\n'), item)
	}
	return l.folder.stage(e, content, done)
}

func (l *fileLog[T]) retained(item T, now time.Time) bool { return l.keep == nil || l.keep(item, now) }

func (l *fileLog[T]) add(ctx context.Context, id int64, items []T, done func()) error {
	s, err := l.stage(ctx, id, items, done)
	if err != nil {
		return err
	}
	if err := commit(ctx, s); err != nil {
		return err
	}
	return l.Clean()
}

// fill makes a log whole that begins in the middle, which happens when a query on an old
// checkpoint is given a new output directory. Readers, Spark's too, take a gap for lost entries.
func (l *fileLog[T]) fill(ctx context.Context, id int64) error {
	if last, ok := l.folder.latest(); ok && l.opts.FillGaps {
		return l.fillGap(ctx, last.id+1, id)
	} else if ok || id == 0 {
		return nil
	}
	var r fs.Round
	first := max(id/l.interval*l.interval-1, 0)
	for i := first; i < id; i++ {
		s, err := l.folder.stage(entry{id: i, compact: l.isCompaction(i)}, []byte("v1"), nil)
		if err != nil {
			return err
		}
		r.Publish(s)
	}
	return r.Commit(ctx)
}

// fillGap writes empty entries, each of which needs those before it.
func (l *fileLog[T]) fillGap(ctx context.Context, from, to int64) error {
	for i := from; i < to; i++ {
		e, content := entry{id: i, compact: l.isCompaction(i)}, []byte("v1")
		if e.compact {
			var err error
			if content, err = l.appendEarlier(content, i); err != nil {
				return err
			}
		}
		s, err := l.folder.stage(e, content, nil)
		if err != nil {
			return err
		}
		if err := commit(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// appendEarlier appends the lines of all entries before a compaction. They are copied as they stand
// unless items may have to be dropped.
func (l *fileLog[T]) appendEarlier(content []byte, id int64) ([]byte, error) {
	entries, err := l.effective(id - 1)
	if err != nil {
		return nil, err
	}
	now := l.opts.Now()
	for _, e := range entries {
		text, err := l.folder.read(e)
		if err == nil {
			content, err = l.appendLines(content, text, now)
		}
		if err != nil {
			return nil, fileError(l.folder.path(e), err, restoreAdvice)
		}
	}
	return content, nil
}

func (l *fileLog[T]) appendLines(content, text []byte, now time.Time) ([]byte, error) {
	_, rest, err := cutVersion(text, fileLogVersion)
	if err != nil {
		return nil, err
	}
	err = eachLine(rest, func(n int, line []byte) error {
		if l.keep != nil {
			item, err := l.decode(line)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if !l.retained(item, now) {
				return nil
			}
		} else if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
			// Not the whole check, but it finds a file that was cut off before its loss becomes
			// part of all later compactions.
			return fmt.Errorf("line %d: %w", n, errNotObject)
		}
		content = append(append(content, '\n'), line...)
		return nil
	})
	return content, err
}

// effective gives the entries that together hold all items up to an id: the last compaction and all after it.
// A gap is an error.
func (l *fileLog[T]) effective(upTo int64) ([]entry, error) {
	if upTo < 0 {
		return nil, nil
	}
	all := l.folder.list()
	end := len(all)
	for end > 0 && all[end-1].id > upTo {
		end--
	}
	start := end
	for start > 0 && (start == end || !all[start].compact) {
		start--
	}
	use := slices.Clone(all[start:end])
	next := int64(0)
	if len(use) > 0 && use[0].compact {
		next = use[0].id
	}
	for _, e := range use {
		if e.id != next {
			break
		}
		next++
	}
	if next != upTo+1 {
		missing := l.folder.path(entry{id: next})
		return nil, fileError(missing, &fs.PathError{Op: "open", Path: missing, Err: fs.ErrNotExist}, restoreAdvice)
	}
	return use, nil
}

// all reads the items of all entries, in order. Another process may compact and delete
// meanwhile: what is gone was superseded, so the directory is looked at again.
func (l *fileLog[T]) all() ([]T, error) {
	for try := 0; ; try++ {
		items, err := l.readAll()
		if err == nil || !errors.Is(err, fs.ErrNotExist) || try == 3 {
			return items, err
		}
		if err := l.folder.refresh(); err != nil {
			return nil, err
		}
	}
}

func (l *fileLog[T]) readAll() ([]T, error) {
	last, ok := l.folder.latest()
	if !ok {
		return nil, nil
	}
	entries, err := l.effective(last.id)
	if err != nil {
		return nil, err
	}
	var items []T
	for _, e := range entries {
		if items, err = l.appendItems(items, e); err != nil {
			return nil, err
		}
	}
	if l.keep != nil {
		now := l.opts.Now()
		items = slices.DeleteFunc(items, func(item T) bool { return !l.keep(item, now) })
	}
	return items, nil
}

func (l *fileLog[T]) appendItems(items []T, e entry) ([]T, error) {
	text, err := l.folder.read(e)
	if err == nil {
		items, err = parseItems(items, text, l.decode)
	}
	if err != nil {
		return nil, fileError(l.folder.path(e), err, restoreAdvice)
	}
	return items, nil
}

// parseItems decodes an entry of a log of files.
func parseItems[T any](items []T, text []byte, decode func([]byte) (T, error)) ([]T, error) {
	_, rest, err := cutVersion(text, fileLogVersion)
	if err != nil {
		return items, err
	}
	if items == nil {
		items = make([]T, 0, bytes.Count(rest, []byte{'\n'})+1)
	}
	err = eachLine(rest, func(n int, line []byte) error {
		item, err := decode(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		items = append(items, item)
		return nil
	})
	return items, err
}

// LatestID gives the newest id that has an entry.
func (l *fileLog[T]) LatestID() (id int64, ok bool) {
	e, ok := l.folder.latest()
	return e.id, ok
}

// Dir is the directory of the log.
func (l *fileLog[T]) Dir() string { return l.folder.dir }

// Refresh lists the directory again, for readers of a log that another process writes.
func (l *fileLog[T]) Refresh() error { return l.folder.refresh() }

// Clean deletes entries that a compaction has superseded long enough ago. It has something to do
// only after a compaction. Add calls it; who stages calls it after the round.
func (l *fileLog[T]) Clean() error {
	last, ok := l.folder.latest()
	if !ok || l.opts.KeepExpired || !last.compact {
		return nil
	}
	oldest := last.id + 1 - l.opts.MinBatchesToRetain // must stay readable
	if oldest < l.interval {
		return nil
	}
	bound := (oldest+1)/l.interval*l.interval - 1 // the compaction at or before it
	if e, ok := l.folder.find(bound); !ok || !e.compact {
		return nil
	}
	deadline := l.opts.Now().Add(-l.opts.CleanupDelay)
	return l.folder.removeBefore(bound, func(e entry) (bool, error) {
		info, err := l.folder.fsys.Stat(l.folder.path(e))
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		return !info.ModTime().After(deadline), nil
	})
}
