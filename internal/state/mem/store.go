package mem

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/types"
)

// Name is how the provider appears in the offset log.
const Name = "millrace.mem"

// Provider implements state.Provider.
type Provider struct{ FS fs.FS }

// Name implements state.Provider.
func (Provider) Name() string { return Name }

// Open implements state.Provider.
func (p Provider) Open(dir string, spec state.Spec) (state.Store, error) {
	s := &store{fsys: p.FS, dir: filepath.Join(dir, strconv.Itoa(spec.Operator)), spec: spec, version: -1}
	s.tables = make([]*table, state.Shards(spec.Partitions))
	return s, nil
}

// store implements state.Store. Files: <version>.delta and <version>.snapshot.
type store struct {
	fsys    fs.FS
	dir     string
	spec    state.Spec
	tables  []*table
	version int64
	made    bool // the directory exists

	snapshotBytes int64 // size of the newest snapshot
	deltaBytes    int64 // size of the deltas since
	hits, misses  int64
}

func fieldTypes(fs []types.Field) []types.DataType {
	ts := make([]types.DataType, len(fs))
	for i, f := range fs {
		ts[i] = f.Type
	}
	return ts
}

func trailingZeros(w uint64) int { return bits.TrailingZeros64(w) }

// Attach implements state.Store.
func (s *store) Attach(shard int, v state.Values) { s.tables[shard] = newTable(&s.spec, v) }

// Version implements state.Store.
func (s *store) Version() int64 { return s.version }

// Table implements state.Store.
func (s *store) Table(shard int) state.Table { return s.tables[shard] }

func (s *store) file(version int64, kind string) string {
	return filepath.Join(s.dir, strconv.FormatInt(version, 10)+kind)
}

const (
	delta    = ".delta"
	snapshot = ".snapshot"
)

// Load implements state.Store.
func (s *store) Load(ctx context.Context, version int64) error {
	if version == s.version {
		s.hits++
		return nil
	}
	if version > 0 {
		s.misses++
	}
	s.Abort()
	base, err := s.base(version)
	if err != nil {
		return err
	}
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

// base is the newest snapshot at or before a version, or 0.
func (s *store) base(version int64) (int64, error) {
	versions, err := s.versions(snapshot)
	if err != nil {
		return 0, err
	}
	base := int64(0)
	for _, v := range versions {
		if v <= version {
			base = v
		}
	}
	return base, nil
}

// versions lists the files of one kind, ascending.
func (s *store) versions(kind string) ([]int64, error) {
	entries, err := s.fsys.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), kind)
		if v, err := strconv.ParseInt(name, 10, 64); ok && err == nil {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out, nil
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
	h, shards, err := state.DecodeSegment(s.spec, name, content)
	if err != nil {
		return 0, err
	}
	if h.Version != version || len(shards) != len(s.tables) || h.Partitions != s.spec.Partitions {
		return 0, errclass.New("CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE", "fileToRead", name).
			WithCause(fmt.Errorf("it is version %d of %d partitions", h.Version, h.Partitions))
	}
	for i, c := range shards {
		if err := s.tables[i].apply(c); err != nil {
			return 0, err
		}
	}
	return int64(len(content)), nil
}

// Prepare implements state.Store.
func (s *store) Prepare(context.Context) (*fs.Staged, error) {
	content, err := s.encode(s.version+1, false)
	if err != nil {
		return nil, err
	}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	staged, err := fs.Stage(s.fsys, s.file(s.version+1, delta), content)
	if err != nil {
		return nil, err
	}
	for _, t := range s.tables {
		if err := t.saved(); err != nil {
			return nil, errors.Join(err, staged.Discard())
		}
	}
	s.version++
	s.deltaBytes += int64(len(content))
	// A version that a failed attempt has left behind is replaced.
	return staged.Replacing(), nil
}

func (s *store) makeDir() error {
	if s.made {
		return nil
	}
	if err := s.fsys.MkdirAll(s.dir); err != nil {
		return err
	}
	for _, d := range []string{s.dir, filepath.Dir(s.dir)} {
		if err := s.fsys.SyncDir(filepath.Dir(d)); err != nil {
			return err
		}
	}
	s.made = true
	return nil
}

func (s *store) encode(version int64, whole bool) ([]byte, error) {
	shards := make([]state.Changes, len(s.tables))
	for i, t := range s.tables {
		shards[i] = t.changes(whole)
	}
	return state.EncodeSegment(s.spec, state.NewHeader(s.spec, version, whole), shards)
}

// Abort implements state.Store.
func (s *store) Abort() {
	s.version = -1
	for _, t := range s.tables {
		t.reset()
	}
}

// minSnapshotBytes keeps small states from being written twice.
const minSnapshotBytes = 1 << 20

// snapshotDeltas is how many deltas a restart reads at most, however small they are.
const snapshotDeltas = 200

// Maintain implements state.Store. A snapshot is due when the deltas since the last one have grown larger than the state.
func (s *store) Maintain(ctx context.Context, keep int64) error {
	last, err := s.base(s.version)
	if err != nil {
		return err
	}
	due := s.deltaBytes > max(minSnapshotBytes, s.snapshotBytes) || s.version-last >= snapshotDeltas
	if due && last != s.version {
		content, err := s.encode(s.version, true)
		if err != nil {
			return err
		}
		if err := fs.Replace(ctx, s.fsys, s.file(s.version, snapshot), content); err != nil {
			return err
		}
		s.snapshotBytes, s.deltaBytes = int64(len(content)), 0
	}
	return s.purge(keep)
}

// purge deletes the files that no version from keep on needs.
func (s *store) purge(keep int64) error {
	base, err := s.base(keep)
	if err != nil {
		return err
	}
	for _, kind := range []string{delta, snapshot} {
		versions, err := s.versions(kind)
		if err != nil {
			return err
		}
		for _, v := range versions {
			if v < base || v == base && kind == delta {
				if err := s.fsys.Remove(s.file(v, kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}

// Stats implements state.Store.
func (s *store) Stats() state.Stats {
	st := state.Stats{Hits: s.hits, Misses: s.misses}
	for _, t := range s.tables {
		st.Rows += int64(t.keys.Len())
		st.Bytes += t.keys.Bytes() + int64(cap(t.times))*8
	}
	return st
}

// Close implements state.Store.
func (s *store) Close() error { return nil }
