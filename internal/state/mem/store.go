package mem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	s := &kvStore{shards: make([]*kv, state.Shards(spec.Partitions))}
	for i := range s.shards {
		s.shards[i] = newKV()
	}
	s.store = newStore(p.FS, dir, spec, s)
	return s, nil
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

// store implements state.Versioned. Files: <version>.delta and <version>.snapshot, in the folder of partition 0; the folders of the
// other partitions say so.
type store struct {
	fsys    fs.FS
	top     string // of the operator
	dir     string
	spec    state.Spec
	content content
	version int64
	made    bool // the directories exist

	// The files there are, by kind, ascending: those of the last listing and what was published or deleted since.
	listed bool
	files  map[string][]int64

	// A snapshot is due when the deltas since the last one are larger than it and minSnapshot, or maxDeltas in number.
	minSnapshot, maxDeltas int64

	snapshotBytes int64 // size of the newest snapshot
	deltaBytes    int64 // size of the deltas since
	hits, misses  int64
}

func newStore(fsys fs.FS, dir string, spec state.Spec, c content) *store {
	top := filepath.Join(dir, strconv.Itoa(spec.Operator))
	return &store{
		fsys: fsys, top: top, dir: filepath.Join(top, "0"), spec: spec, content: c, version: -1,
		minSnapshot: minSnapshotBytes, maxDeltas: snapshotDeltas,
	}
}

// Version implements state.Versioned.
func (s *store) Version() int64 { return s.version }

func (s *store) file(version int64, kind string) string {
	return filepath.Join(s.dir, strconv.FormatInt(version, 10)+kind)
}

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
	if err := s.list(); err != nil {
		return err
	}
	base := s.base(version)
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
			s.Abort()
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

// list finds out which files there are, and removes what a crash has left of files that never got their name: the checkpoint is
// locked by us.
func (s *store) list() error {
	if s.listed {
		return nil
	}
	s.files = map[string][]int64{}
	entries, err := s.fsys.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if fs.IsTemp(e.Name()) {
			if err := s.remove(filepath.Join(s.dir, e.Name())); err != nil {
				return err
			}
			continue
		}
		for _, kind := range []string{delta, snapshot} {
			name, ok := strings.CutSuffix(e.Name(), kind)
			if v, err := strconv.ParseInt(name, 10, 64); ok && err == nil {
				s.files[kind] = append(s.files[kind], v)
			}
		}
	}
	for _, vs := range s.files {
		slices.Sort(vs)
	}
	s.listed = true
	return nil
}

func (s *store) remove(name string) error {
	if err := s.fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// published notes a file that has got its name.
func (s *store) published(version int64, kind string) {
	vs := s.files[kind]
	if i, found := slices.BinarySearch(vs, version); !found {
		s.files[kind] = slices.Insert(vs, i, version)
	}
}

// base is the newest snapshot at or before a version, or 0.
func (s *store) base(version int64) int64 {
	base := int64(0)
	for _, v := range s.files[snapshot] {
		if v <= version {
			base = v
		}
	}
	return base
}

// read applies one segment.
func (s *store) read(version int64, kind string) (int64, error) {
	name := s.file(version, kind)
	content, err := fs.ReadFile(s.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errclass.New("CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS", "fileToRead", name, "clazz", Name).WithCause(err)
	}
	if err != nil {
		return 0, fmt.Errorf("read state: %w", err)
	}
	h, err := s.content.apply(name, content)
	if err != nil {
		return 0, err
	}
	if h.Version != version {
		return 0, state.Damaged(name, fmt.Errorf("it is version %d", h.Version))
	}
	return int64(len(content)), nil
}

// Prepare implements state.Versioned.
func (s *store) Prepare(context.Context) (*fs.Staged, error) {
	content, err := s.encode(s.version+1, false)
	if err != nil {
		return nil, err
	}
	// The delta of a version that a failed attempt has left behind is replaced.
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	// So are snapshots that such an attempt has made: a query that was changed since gives another state. That they are gone is
	// durable with the new file.
	for vs := s.files[snapshot]; len(vs) > 0 && vs[len(vs)-1] > s.version; vs = s.files[snapshot] {
		if err := s.remove(s.file(vs[len(vs)-1], snapshot)); err != nil {
			return nil, err
		}
		s.files[snapshot] = vs[:len(vs)-1]
	}
	staged, err := fs.Stage(s.fsys, s.file(s.version+1, delta), content)
	if err != nil {
		return nil, err
	}
	if err := s.content.saved(); err != nil {
		return nil, errors.Join(err, staged.Discard())
	}
	s.version++
	s.deltaBytes += int64(len(content))
	version := s.version
	return staged.Replacing().Then(func() { s.published(version, delta) }, nil), nil
}

// makeDir makes the folder of the segments, durably, and for those who look at the checkpoint one for every other partition.
func (s *store) makeDir() error {
	if s.made {
		return nil
	}
	if err := fs.MakeDirs(s.fsys, s.dir); err != nil {
		return err
	}
	for p := 1; p < s.spec.Partitions; p++ {
		dir := filepath.Join(s.top, strconv.Itoa(p))
		if _, err := s.fsys.Stat(dir); err == nil {
			continue
		}
		if err := s.fsys.MkdirAll(dir); err != nil {
			return err
		}
		w, err := s.fsys.Create(filepath.Join(dir, "_elsewhere"))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, "The rows of all partitions are in ../0.\n")
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
	s.made = true
	return nil
}

func (s *store) encode(version int64, whole bool) ([]byte, error) {
	return s.content.encode(state.NewHeader(s.spec, version, whole), whole)
}

// Abort implements state.Versioned.
func (s *store) Abort() {
	s.version, s.listed = -1, false
	s.content.reset()
}

// minSnapshotBytes keeps small states from being written twice.
const minSnapshotBytes = 1 << 20

// snapshotDeltas is how many deltas a restart reads at most, however small they are.
const snapshotDeltas = 200

// Maintain implements state.Versioned. A snapshot is due when the deltas since the last one have grown larger than the state.
func (s *store) Maintain(ctx context.Context, keep int64) error {
	last := s.base(s.version)
	due := s.deltaBytes > max(s.minSnapshot, s.snapshotBytes) || s.version-last >= s.maxDeltas
	if due && last != s.version {
		content, err := s.encode(s.version, true)
		if err != nil {
			return err
		}
		if err := fs.Replace(ctx, s.fsys, s.file(s.version, snapshot), content); err != nil {
			return err
		}
		s.published(s.version, snapshot)
		s.snapshotBytes, s.deltaBytes = int64(len(content)), 0
	}
	return s.purge(keep)
}

// purge deletes the files that no version from keep on needs. Deleting is not made durable: what comes back after a crash is deleted
// again.
func (s *store) purge(keep int64) error {
	base := s.base(keep)
	for _, kind := range []string{delta, snapshot} {
		needed := base
		if kind == delta {
			needed++ // the base is a snapshot
		}
		for len(s.files[kind]) > 0 && s.files[kind][0] < needed {
			if err := s.remove(s.file(s.files[kind][0], kind)); err != nil {
				return err
			}
			s.files[kind] = s.files[kind][1:]
		}
	}
	return nil
}

// Stats implements state.Versioned.
func (s *store) Stats() state.Stats {
	st := state.Stats{Hits: s.hits, Misses: s.misses}
	s.content.stats(&st)
	return st
}

// Close implements state.Versioned.
func (s *store) Close() error { return nil }
