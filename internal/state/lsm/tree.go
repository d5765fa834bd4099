package lsm

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
)

// treeFormat is the version of the database's own files. A newer one is another line in docs/format/state-lsm.md.
const treeFormat = pebble.FormatTableFormatV6

func (s *store) live() string    { return filepath.Join(s.folder.Dir, s.scratch) }
func (s *store) treeDir() string { return filepath.Join(s.live(), "tree") }

// tableFile tells whether a file of the tree never changes.
func tableFile(name string) bool { return strings.HasSuffix(name, ".sst") }

// snapshotFile describes one file of a snapshot.
type snapshotFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	// CRC is the checksum of the content, of files that are not sorted tables; those have checksums of their own.
	CRC uint32 `json:"crc,omitempty"`
}

type snapshotHeader struct {
	header
	Files []snapshotFile `json:"files"`
}

// openTree makes the tree of a snapshot, or an empty one for version 0.
func (s *store) openTree(base int64) error {
	if err := s.folder.FS.RemoveAll(s.live()); err != nil {
		return err
	}
	if err := s.folder.FS.MkdirAll(s.treeDir()); err != nil {
		return err
	}
	s.durable = map[string]bool{}
	if base > 0 {
		if err := s.copySnapshot(base); err != nil {
			return err
		}
	}
	s.disk, s.lost = &disk{fsys: s.folder.FS}, nil
	if err := s.open(base > 0); err != nil {
		name := s.treeDir()
		if base > 0 {
			name = s.file(base, snapshot)
		}
		return damaged(name, err)
	}
	return nil
}

// open opens the database. It may not survive what it finds.
func (s *store) open(exists bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	o := &pebble.Options{
		FS: s.disk, Logger: s.disk, DisableWAL: true, FormatMajorVersion: treeFormat, ErrorIfNotExists: exists,
		MemTableStopWritesThreshold: memTables, LBaseMaxBytes: 64 << 20, NoSyncOnClose: true,
		EventListener: &pebble.EventListener{
			BackgroundError: s.disk.fail,
			DataCorruption:  func(i pebble.DataCorruptionInfo) { s.disk.fail(i.Details) },
		},
	}
	o.Experimental.CompactionScheduler = newScheduler()
	if g := s.grant; g != nil {
		o.Cache, o.FileCache, o.MemTableSize = g.cache, g.files, g.memTable
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].BlockSize = 8 << 10
	}
	s.tree, err = pebble.Open(s.treeDir(), o)
	if lost := s.disk.err(); lost != nil { // what the database makes of it is of no interest
		err = lost
	}
	return err
}

// copySnapshot brings the files of a snapshot to where the tree will be.
func (s *store) copySnapshot(version int64) error {
	name := s.file(version, snapshot)
	var h snapshotHeader
	err := s.reading(name, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_MISSING_SNAPSHOT_FILE", func(r io.Reader) error {
		b, err := newBlockReader(r, name, snapshotMagic)
		if err == nil {
			err = b.header(&h)
		}
		if err == nil {
			if _, err = b.block(); err == io.EOF {
				return nil
			}
			err = errors.Join(err, damaged(name, errors.New("it has more than a header")))
		}
		return err
	})
	if err == nil {
		err = s.fits(name, h.header, version)
	}
	if err != nil {
		return err
	}
	for _, f := range h.Files {
		if f.Name != filepath.Base(f.Name) {
			return damaged(name, fmt.Errorf("%q is no name of a file", f.Name))
		}
		if err := s.copyFile(filepath.Join(s.file(version, folder), f.Name), f); err != nil {
			return err
		}
	}
	return nil
}

// reading opens a file of the state and hands it over.
func (s *store) reading(name, missing string, read func(io.Reader) error) error {
	f, err := s.folder.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return errclass.New(missing, "fileToRead", name, "clazz", Name).WithCause(err)
	}
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	defer f.Close()
	return read(bufio.NewReaderSize(f, 1<<16))
}

// copyFile links or, if it may change, copies one file of a snapshot.
func (s *store) copyFile(from string, f snapshotFile) error {
	info, err := s.folder.FS.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errclass.New("CANNOT_LOAD_STATE_STORE.CANNOT_READ_MISSING_SNAPSHOT_FILE", "fileToRead", from, "clazz", Name).WithCause(err)
	case err != nil:
		return fmt.Errorf("read state: %w", err)
	case info.Size() != f.Size:
		return damaged(from, fmt.Errorf("it has %d bytes, not %d", info.Size(), f.Size))
	}
	to := filepath.Join(s.treeDir(), f.Name)
	if tableFile(f.Name) {
		s.durable[f.Name] = true
		return fs.Link(s.folder.FS, from, to)
	}
	content, err := fs.ReadFile(s.folder.FS, from)
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	if crc32.Checksum(content, castagnoli) != f.CRC {
		return damaged(from, errors.New("its checksum does not match"))
	}
	w, err := s.folder.FS.Create(to)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return errors.Join(err, w.Close())
}

// drop closes the tree and removes its files.
func (s *store) drop() error {
	s.treeVersion, s.treeBytes, s.treeMemory = -1, 0, 0
	if s.disk == nil {
		return nil
	}
	for _, t := range s.shards {
		t.pause()
	}
	var err error
	if s.tree != nil {
		err = s.closeTree()
	}
	s.disk.release()
	s.tree, s.disk, s.lost = nil, nil, nil
	return errors.Join(err, s.folder.FS.RemoveAll(s.live()))
}

// closeTree ends the database's goroutines. What it says of a tree that is lost is of no interest.
func (s *store) closeTree() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errclass.Recovered(r)
		}
	}()
	err = s.tree.Close()
	if s.ok() != nil {
		return nil
	}
	return err
}

// iterate opens an iterator over the keys from lower and below upper; nil is no bound.
func (s *store) iterate(lower, upper []byte) (*pebble.Iterator, error) {
	if err := s.ok(); err != nil {
		return nil, s.readError(err)
	}
	it, err := s.tree.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, s.readError(err)
	}
	return it, nil
}

// readError is the error of a look into the tree.
func (s *store) readError(err error) error {
	if lost := s.ok(); lost != nil {
		err = lost
	}
	if errclass.Has(err, "CANNOT_LOAD_STATE_STORE") {
		return err
	}
	return damaged(s.treeDir(), err)
}

// applyBytes is how many bytes go into the tree at a time.
const applyBytes = 1 << 20

// apply brings the changes that lead to a version into the tree, and returns the size of their file.
func (s *store) apply(version int64) (size int64, err error) {
	name := s.file(version, changes)
	err = s.reading(name, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS", func(r io.Reader) error {
		counted := &counter{r: r}
		defer func() { size = counted.n }()
		b, err := newBlockReader(counted, name, changesMagic)
		if err != nil {
			return err
		}
		var h header
		if err := b.header(&h); err != nil {
			return err
		}
		if err := s.fits(name, h, version); err != nil {
			return err
		}
		a := applier{s: s, batch: s.tree.NewBatch()}
		defer a.batch.Close()
		for {
			ops, err := b.unpack()
			if err == io.EOF {
				return a.commit()
			}
			if err != nil {
				return err
			}
			if err := a.add(name, ops); err != nil {
				return err
			}
		}
	})
	return size, err
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// applier gathers operations for the tree.
type applier struct {
	s     *store
	batch *pebble.Batch
}

func (a *applier) commit() error {
	if !a.batch.Empty() {
		if err := a.s.tree.Apply(a.batch, pebble.NoSync); err != nil {
			return a.s.readError(err)
		}
		a.batch.Reset()
	}
	if err := a.s.ok(); err != nil {
		return a.s.readError(err)
	}
	return nil
}

// add applies a block of operations.
func (a *applier) add(name string, ops []byte) error {
	var key, value []byte
	var err error
	for len(ops) > 0 {
		op := ops[0]
		ops = ops[1:]
		switch op {
		case opPut:
			if key, ops, err = cut(ops); err == nil {
				value, ops, err = cut(ops)
			}
			if err == nil {
				err = a.batch.Set(key, value, nil)
			}
		case opDelete:
			if key, ops, err = cut(ops); err == nil {
				err = a.batch.Delete(key, nil)
			}
		case opExpire:
			if len(ops) < 1+timeBytes {
				return damaged(name, errOps)
			}
			err = a.expire(int(ops[0]), readTime(ops[1:]))
			ops = ops[1+timeBytes:]
		default:
			err = fmt.Errorf("there is no operation %d", op)
		}
		if err != nil {
			return damaged(name, err)
		}
		if a.batch.Len() >= applyBytes {
			if err := a.commit(); err != nil {
				return err
			}
		}
	}
	return nil
}

// expire removes the rows of a shard up to an event time.
func (a *applier) expire(shard int, bound int64) error {
	l := a.s.layout
	if !l.Expires || bound == state.NoTime {
		return errors.New("there is nothing that expires")
	}
	if l.ByTime {
		lower, upper := upTo(rowKind, shard, noBound, bound)
		return a.batch.DeleteRange(lower, upper, nil)
	}
	if err := a.commit(); err != nil { // the tree is read
		return err
	}
	lower, upper := upTo(timeKind, shard, noBound, bound)
	it, err := a.s.tree.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	row := prefix(rowKind, shard)
	for ok := it.First(); ok; ok = it.Next() {
		rest, err := it.ValueAndErr()
		if err == nil {
			row = append(row[:2], rest...)
			err = a.batch.Delete(row, nil)
		}
		if err == nil && a.batch.Len() >= applyBytes {
			err = a.commit()
		}
		if err != nil {
			return errors.Join(err, it.Close())
		}
	}
	if err := it.Close(); err != nil {
		return err
	}
	return a.batch.DeleteRange(lower, upper, nil)
}

// makeSnapshot makes the tree's version durable in files.
func (s *store) makeSnapshot(ctx context.Context) error {
	dir := s.file(s.version, folder)
	if err := s.folder.FS.RemoveAll(dir); err != nil {
		return err
	}
	if err := s.tree.Flush(); err != nil {
		return s.readError(err)
	}
	if err := s.tree.Checkpoint(dir); err != nil {
		return s.readError(err)
	}
	if err := s.ok(); err != nil {
		return err
	}
	h := snapshotHeader{header: s.header(s.version, true)}
	var fresh, names []string
	entries, err := s.folder.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil {
			return err
		}
		f := snapshotFile{Name: e.Name(), Size: info.Size()}
		if !tableFile(f.Name) {
			content, err := fs.ReadFile(s.folder.FS, name)
			if err != nil {
				return err
			}
			f.CRC = crc32.Checksum(content, castagnoli)
		} else {
			names = append(names, f.Name)
		}
		if !s.durable[f.Name] {
			fresh = append(fresh, name)
		}
		h.Files = append(h.Files, f)
	}
	if err := fs.SyncAll(ctx, s.folder.FS, fresh, []string{dir, s.folder.Dir}); err != nil {
		return err
	}
	// What the tree has dropped is of no interest any more.
	s.durable = map[string]bool{}
	for _, n := range names {
		s.durable[n] = true
	}
	staged, err := fs.StageFunc(s.folder.FS, s.file(s.version, snapshot), func(w fs.Writer) error {
		b := newBlockWriter(w, snapshotMagic)
		b.header(h)
		return b.end()
	})
	if err != nil {
		return err
	}
	var r fs.Round
	r.Publish(staged.Replacing())
	if err := r.Commit(ctx); err != nil {
		return err
	}
	s.folder.Published(s.version, snapshot)
	s.changedBytes = 0
	return nil
}

// meta is what the tree says of a shard: the next number and how many rows there are.
func (s *store) meta(shard int) (next uint64, count int64, err error) {
	v, closer, err := s.tree.Get(prefix(metaKind, shard))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, s.readError(err)
	}
	defer closer.Close()
	if len(v) != 16 {
		return 0, 0, s.readError(errRow)
	}
	return binary.BigEndian.Uint64(v), int64(binary.BigEndian.Uint64(v[8:])), nil
}

func metaValue(next uint64, count int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, next), uint64(count))
}
