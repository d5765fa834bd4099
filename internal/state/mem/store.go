package mem

import (
	"context"
	"errors"
	"fmt"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
)

// Name is how the provider appears in the offset log.
const Name = "millrace.mem"

// Provider implements state.Provider.
type Provider struct{ FS fs.FS }

// Name implements state.Provider.
func (Provider) Name() string { return Name }

// Open implements state.Provider.
func (p Provider) Open(dir string, spec state.Spec) (state.Store, error) {
	s := &tableStore{tables: make([]*table, state.Shards(spec.Partitions))}
	s.store = newStore(p.FS, dir, spec, s)
	return s, nil
}

// OpenKV implements state.KVProvider.
func (p Provider) OpenKV(dir string, spec state.Spec) (state.KVStore, error) {
	s := newStore(p.FS, dir, spec.AsKV(), nil)
	kvs := newKVs(s)
	s.content = kvs
	return kvs, nil
}

// content is what a store keeps versions of.
type content interface {
	// encode returns a segment with the changes since the last one, or with everything.
	encode(h state.Header, whole bool) ([]byte, error)
	// saved forgets what the last segment holds.
	saved() error
	// apply brings in the changes of a segment.
	apply(name string, segment []byte) (state.Header, error)
	reset()
	stats(*state.Stats)
}

// store implements state.Versioned. Its files are <version>.delta and <version>.snapshot.
type store struct {
	folder  *state.Folder
	spec    state.Spec
	content content
	version int64

	// A snapshot is due when the deltas since the last one are minDeltas at least and more than minSnapshot bytes and twice that one, or
	// maxDeltas in number.
	minSnapshot, minDeltas, maxDeltas int64

	snapshotBytes int64 // size of the newest snapshot
	deltaBytes    int64 // size of the deltas since
	hits, misses  int64
}

func newStore(fsys fs.FS, dir string, spec state.Spec, c content) *store {
	return &store{
		folder: state.NewFolder(fsys, dir, spec, delta, snapshot), spec: spec, content: c, version: -1,
		minSnapshot: minSnapshotBytes, minDeltas: fewDeltas, maxDeltas: snapshotDeltas,
	}
}

// Version implements state.Versioned.
func (s *store) Version() int64 { return s.version }

const (
	delta    = ".delta"
	snapshot = ".snapshot"
)

// Load implements state.Versioned.
func (s *store) Load(ctx context.Context, version int64) error {
	if version == s.version {
		s.hits++
		return nil
	}
	if version > 0 {
		s.misses++
	}
	s.Abort()
	if err := s.folder.List(); err != nil {
		return err
	}
	if err := s.fill(ctx, version); err != nil {
		s.Abort()
		return err
	}
	return nil
}

// fill reads the files that make a version.
func (s *store) fill(ctx context.Context, version int64) error {
	base := s.folder.Base(version, snapshot)
	s.snapshotBytes, s.deltaBytes = 0, 0
	for v := base; v <= version; v++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind := delta
		if v == base {
			kind = snapshot
		}
		if v == 0 {
			continue // the empty state
		}
		size, err := s.read(v, kind)
		if err != nil {
			return err
		}
		if kind == snapshot {
			s.snapshotBytes = size
		} else {
			s.deltaBytes += size
		}
	}
	s.version = version
	return nil
}

// read applies one segment.
func (s *store) read(version int64, kind string) (int64, error) {
	content, err := readFile(s.folder, version, kind)
	if err != nil {
		return 0, err
	}
	name := s.folder.File(version, kind)
	h, err := s.content.apply(name, content)
	if err != nil {
		return 0, err
	}
	if h.Version != version {
		return 0, state.Damaged(name, fmt.Errorf("it is version %d", h.Version))
	}
	return int64(len(content)), nil
}

func readFile(files *state.Folder, version int64, kind string) ([]byte, error) {
	name := files.File(version, kind)
	content, err := fs.ReadFile(files.FS, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errclass.New("CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS", "fileToRead", name, "clazz", Name).WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	return content, nil
}

// Prepare implements state.Versioned.
func (s *store) Prepare(context.Context) (*fs.Staged, error) {
	content, err := s.encode(s.version+1, false)
	if err != nil {
		return nil, err
	}
	// The delta of a version that a failed attempt has left behind is replaced.
	if err := s.folder.Make(); err != nil {
		return nil, err
	}
	// So are snapshots that such an attempt has made: a query that was changed since gives another state. That they are gone is
	// durable with the new file.
	for v := s.folder.Newest(snapshot); v > s.version; v = s.folder.Newest(snapshot) {
		if err := s.folder.Remove(v, snapshot); err != nil {
			return nil, err
		}
	}
	staged, err := fs.Stage(s.folder.FS, s.folder.File(s.version+1, delta), content)
	if err != nil {
		return nil, err
	}
	if err := s.content.saved(); err != nil {
		return nil, errors.Join(err, staged.Discard())
	}
	s.version++
	s.deltaBytes += int64(len(content))
	version := s.version
	return staged.Replacing().Then(func() { s.folder.Published(version, delta) }, nil), nil
}

func (s *store) encode(version int64, whole bool) ([]byte, error) {
	return s.content.encode(state.NewHeader(s.spec, version, whole), whole)
}

// Abort implements state.Versioned.
func (s *store) Abort() {
	s.version = -1
	s.folder.Forget()
	s.content.reset()
}

// minSnapshotBytes keeps small states from being written twice.
const minSnapshotBytes = 1 << 20

// snapshotDeltas is how many deltas a restart reads at most, however small they are.
const snapshotDeltas = 200

// fewDeltas keep a state that is another one in every batch from being written twice each time.
const fewDeltas = 4

// Maintain implements state.Versioned. A snapshot is due when the deltas since the last one have grown larger than the state.
func (s *store) Maintain(ctx context.Context, keep int64) error {
	last := s.folder.Base(s.version, snapshot)
	due := s.deltaBytes > max(s.minSnapshot, 2*s.snapshotBytes) && s.version-last >= s.minDeltas || s.version-last >= s.maxDeltas
	if due && last != s.version {
		content, err := s.encode(s.version, true)
		if err != nil {
			return err
		}
		if err := fs.Replace(ctx, s.folder.FS, s.folder.File(s.version, snapshot), content); err != nil {
			return err
		}
		s.folder.Published(s.version, snapshot)
		s.snapshotBytes, s.deltaBytes = int64(len(content)), 0
	}
	return s.purge(keep)
}

// purge deletes the files that no version from keep on needs.
func (s *store) purge(keep int64) error {
	base := s.folder.Base(keep, snapshot)
	return errors.Join(s.folder.RemoveUpTo(base, delta), s.folder.RemoveUpTo(base-1, snapshot))
}

// Stats implements state.Versioned.
func (s *store) Stats() state.Stats {
	st := state.Stats{Hits: s.hits, Misses: s.misses}
	s.content.stats(&st)
	return st
}

// Close implements state.Versioned.
func (s *store) Close() error { return nil }
