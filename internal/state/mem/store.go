package mem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
)

// Name is how the provider appears in the offset log.
const Name = "millrace.mem"

// Provider implements state.Provider.
type Provider struct {
	FS fs.FS
	// Log is told of work beside the batches that has failed; nil is none.
	Log *slog.Logger
	// Merges is shared by stores that are to take turns in merging; nil is one for each store.
	Merges *Merges
}

// Name implements state.Provider.
func (Provider) Name() string { return Name }

// Open implements state.Provider.
func (p Provider) Open(dir string, spec state.Spec) (state.Store, error) {
	s := &tableStore{tables: make([]*table, state.Shards(spec.Partitions))}
	s.store = p.newStore(dir, spec, s)
	return s, nil
}

// OpenKV implements state.KVProvider.
func (p Provider) OpenKV(dir string, spec state.Spec) (state.KVStore, error) {
	s := p.newStore(dir, spec.AsKV(), nil)
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

	// small is how many bytes in memory a batch makes a snapshot of itself; 0 leaves that to merges whatever the state is.
	small int64

	snapshotBytes int64 // size of the newest snapshot
	deltaBytes    int64 // size of the deltas since
	latestBytes   int64 // size of the latest of them
	hits, misses  int64

	log      *slog.Logger
	merges   *Merges
	job      *job
	old      []string // files to be deleted with the next job
	failures int      // jobs in a row
	next     int64    // no job begins before this version
}

func (p Provider) newStore(dir string, spec state.Spec, c content) *store {
	s := &store{
		folder: state.NewFolder(p.FS, dir, spec, delta, snapshot), spec: spec, content: c, version: -1,
		minSnapshot: minSnapshotBytes, minDeltas: fewDeltas, maxDeltas: snapshotDeltas, small: smallState,
		log: p.Log, merges: p.Merges,
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.merges == nil {
		s.merges = &Merges{}
	}
	return s
}

// readingStore is a store without its operator: values are columns as they are stored.
func readingStore(folder *state.Folder, spec state.Spec) *store {
	s := &store{folder: folder, spec: spec, version: -1}
	if !spec.Tables() {
		s.content = newKVs(s)
		return s
	}
	tables := &tableStore{store: s, tables: make([]*table, state.Shards(spec.Partitions))}
	for i := range tables.tables {
		tables.Attach(i, state.NewColumns(spec.Values))
	}
	s.content = tables
	return s
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
	if err := s.fill(ctx, s.folder.Base(version, snapshot), version); err != nil {
		s.Abort()
		return err
	}
	return nil
}

// fill reads the files that make a version: a snapshot and what comes after it.
func (s *store) fill(ctx context.Context, base, version int64) error {
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
	staged := fs.Stage(s.folder.FS, s.folder.File(s.version+1, delta), content)
	if err := s.content.saved(); err != nil {
		return nil, err
	}
	s.version++
	s.latestBytes = int64(len(content))
	s.deltaBytes += s.latestBytes
	version := s.version
	return staged.Replacing().Then(func() { s.folder.Published(version, delta) }, nil), nil
}

func (s *store) encode(version int64, whole bool) ([]byte, error) {
	return s.content.encode(state.NewHeader(s.spec, version, whole), whole)
}

// Abort implements state.Versioned. A merge is given up.
func (s *store) Abort() {
	if s.job != nil {
		s.job.cancel()
		_ = s.settle(context.Background()) // what has come of it
	}
	s.old = nil // found again
	s.version = -1
	s.folder.Forget()
	s.content.reset()
}

// minSnapshotBytes keeps small states from being written twice.
const minSnapshotBytes = 1 << 20

// snapshotDeltas is how many deltas a restart reads at most, however small they are.
const snapshotDeltas = 200

// smallState is what can be encoded in less than a millisecond.
const smallState = 1 << 18

// fewDeltas keep a state that is another one in every batch from being written twice each time.
const fewDeltas = 4

// Maintain implements state.Versioned. A snapshot is due when the deltas since the last one have grown larger than the state. Segments are
// merged, snapshots written and files deleted beside the batches that follow; a batch waits for that only when the next one is due
// already.
func (s *store) Maintain(ctx context.Context, keep int64) error {
	idle := s.idle()
	if s.job != nil && s.due() {
		if err := s.settle(ctx); err != nil {
			return err
		}
		idle = s.idle()
	}
	s.purge(keep)
	if !idle {
		return nil
	}
	j := &job{old: s.old}
	if s.due() {
		j.base, j.version, j.bytes = s.folder.Base(s.version, snapshot), s.version, s.deltaBytes
		if s.quick() {
			var err error
			if j.content, err = s.encode(s.version, true); err != nil {
				return err
			}
		}
	}
	if j.version > 0 || len(j.old) > 0 {
		s.old = nil
		s.begin(j)
	}
	return nil
}

// due tells whether there should be a snapshot of the version that is loaded, counted from the one that is there or being made.
func (s *store) due() bool {
	last, bytes := s.folder.Base(s.version, snapshot), s.deltaBytes
	if s.job != nil && s.job.version > 0 {
		last, bytes = s.job.version, bytes-s.job.bytes
	}
	return bytes > max(s.minSnapshot, 2*s.snapshotBytes) && s.version-last >= s.minDeltas || s.version-last >= s.maxDeltas
}

// quick tells whether the batch should make the snapshot from its tables, so that only writing it is left to be done: that takes no time
// worth mentioning, or no longer than to write what the batch has changed. Merging takes longer in all, and no batch waits for it.
func (s *store) quick() bool {
	var st state.Stats
	s.content.stats(&st)
	return st.Bytes <= s.small || s.small > 0 && s.latestBytes*quickShare >= s.deltaBytes+s.snapshotBytes
}

// quickShare is what part of all that would be merged the latest changes are, at least, when the batch makes the snapshot.
const quickShare = 8

// purge lists the files that no version from keep on needs for being deleted. They are before a snapshot that is durable.
func (s *store) purge(keep int64) {
	base := s.folder.Base(keep, snapshot)
	s.old = append(s.old, s.folder.Retire(base, delta)...)
	s.old = append(s.old, s.folder.Retire(base-1, snapshot)...)
}

// Stats implements state.Versioned.
func (s *store) Stats() state.Stats {
	st := state.Stats{Hits: s.hits, Misses: s.misses}
	s.content.stats(&st)
	return st
}

// Close implements state.Versioned. It waits for the work that is going on beside the batches: a query that runs for the few batches that
// there are, again and again, gets its snapshots so.
func (s *store) Close() error { return s.settle(context.Background()) }
