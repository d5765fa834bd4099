package lsm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
)

// Name is how the provider appears in the offset log.
const Name = "millrace.lsm"

// Provider implements state.Provider.
type Provider struct {
	FS fs.FS
	// Memory is what all stores of the process share.
	Memory *Memory
	// Limit bounds it, if this store is the first; 0 is DefaultLimit.
	Limit int64
}

// Name implements state.Provider.
func (Provider) Name() string { return Name }

// Open implements state.Provider.
func (p Provider) Open(dir string, spec state.Spec) (state.Store, error) {
	return &tableStore{p.open(dir, spec)}, nil
}

// OpenKV implements state.KVProvider.
func (p Provider) OpenKV(dir string, spec state.Spec) (state.KVStore, error) {
	s := &kvStore{p.open(dir, spec.AsKV())}
	for i := range s.shards {
		s.shards[i] = newKV(s.store, i)
	}
	return s, nil
}

func (p Provider) open(dir string, spec state.Spec) *store {
	if p.Limit == 0 {
		p.Limit = DefaultLimit
	}
	s := &store{
		folder: state.NewFolder(p.FS, dir, spec, changes, snapshot, folder), scratch: "live", spec: spec, version: -1, treeVersion: -1,
		snapshotBytes: snapshotBytes, snapshotChanges: snapshotChanges, spare: maxSpare, sortBytes: minSort, filterKeys: minFilterKeys,
	}
	s.shards = make([]shard, state.Shards(spec.Partitions))
	s.grant = p.Memory.grant(p.Limit)
	return s
}

// shard is one shard of a store: what is in memory of it.
type shard interface {
	// begin reads what a tree says of the shard; fresh is set when it is not the tree of the last time.
	begin(fresh bool) error
	// pause lets go of the tree, which is about to change.
	pause()
	// save writes what the tree does not know.
	save(b *blockWriter) error
	// abort drops all that a batch has done, forget what the tree knows.
	abort()
	forget()
	rows() int64
	bytes() int64
}

// store implements state.Versioned. Its files are <version>.changes, <version>.snapshot with the folder <version>.files, and the
// folder live.
type store struct {
	folder  *state.Folder
	scratch string // the folder in it where the tree is
	spec    state.Spec
	layout  layout
	grant   *grant
	shards  []shard
	version int64

	// The tree holds treeVersion; -1 when there is none.
	treeVersion int64
	tree        *pebble.DB
	disk        *disk
	lost        error // why changes that are durable did not get into the tree

	// A snapshot is due when the changes since the last one are larger than snapshotBytes, or snapshotChanges in number.
	snapshotBytes, snapshotChanges int64
	spare                          int             // row numbers that a working set may have out of use
	sortBytes                      int64           // what a sorter holds at least
	filterKeys                     int64           // for how many keys a filter is made at least, but for a factor
	changedBytes                   int64           // size of the changes since the last snapshot
	durable                        map[string]bool // files of the tree that were synced

	runs                 atomic.Int64 // numbers the files of sorters
	hits, misses         int64
	loadTime, commitTime time.Duration
	treeBytes            int64 // in files
	treeMemory           int64
}

// A restart reads as many bytes of changes at most, and as many files. Snapshots are cheap to make, but keep files from being removed.
const (
	snapshotBytes   = 32 << 20
	snapshotChanges = 200
)

const (
	changes  = ".changes"
	snapshot = ".snapshot"
	folder   = ".files"
)

// header describes a file.
type header struct {
	state.Header
	Layout layout `json:"layout"`
}

func (s *store) header(version int64, whole bool) header {
	return header{Header: state.NewHeader(s.spec, version, whole), Layout: s.layout}
}

// fits compares the header of a file with what the query would keep.
func (s *store) fits(name string, h header, version int64) error {
	if err := state.Fits(s.spec, h.Header); err != nil {
		return err
	}
	if h.Layout != s.layout {
		return errclass.New("STATE_STORE_MEANING_NOT_COMPATIBLE", "stored", h.Layout.text(), "new", s.layout.text(),
			"operator", fmt.Sprintf("%d (%s)", s.spec.Operator, s.spec.Name), "difference", "rows are found another way", "way", "")
	}
	if h.Version != version || h.Partitions != s.spec.Partitions {
		return damaged(name, fmt.Errorf("it is version %d of %d partitions", h.Version, h.Partitions))
	}
	return nil
}

// Version implements state.Versioned.
func (s *store) Version() int64 { return s.version }

func (s *store) file(version int64, kind string) string { return s.folder.File(version, kind) }

// Load implements state.Versioned.
func (s *store) Load(ctx context.Context, version int64) error {
	if version == s.version && s.treeVersion == version && s.ok() == nil {
		s.hits++
		return nil
	}
	if version > 0 {
		s.misses++
	}
	s.Abort()
	rebuilt := s.treeVersion != version || s.ok() != nil
	if rebuilt {
		began := time.Now()
		if err := s.build(ctx, version); err != nil {
			return errors.Join(err, s.drop())
		}
		s.loadTime = time.Since(began)
	}
	for _, t := range s.shards {
		if err := t.begin(rebuilt); err != nil {
			return errors.Join(err, s.drop())
		}
	}
	s.version = version
	return nil
}

// build makes the tree of a version.
func (s *store) build(ctx context.Context, version int64) error {
	if err := s.drop(); err != nil {
		return err
	}
	if err := s.folder.Make(); err != nil { // before the tree makes it without syncing
		return err
	}
	if err := s.list(); err != nil {
		return err
	}
	base := s.base(version)
	if err := s.openTree(base); err != nil {
		return err
	}
	s.changedBytes = 0
	for v := base + 1; v <= version; v++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, err := s.apply(v)
		if err != nil {
			return err
		}
		s.changedBytes += size
	}
	s.treeVersion = version
	return nil
}

// ok is why the tree cannot be used, or nil.
func (s *store) ok() error {
	switch {
	case s.lost != nil:
		return s.lost
	case s.disk != nil:
		return s.disk.err()
	}
	return nil
}

// list finds out which files there are, and removes snapshots that were not complete.
func (s *store) list() error {
	if err := s.folder.List(); err != nil {
		return err
	}
	for _, v := range slices.Clone(s.folder.Versions(folder)) {
		if !slices.Contains(s.folder.Versions(snapshot), v) {
			if err := s.folder.FS.RemoveAll(s.file(v, folder)); err != nil {
				return err
			}
		}
	}
	return nil
}

// base is the newest snapshot at or before a version, or 0.
func (s *store) base(version int64) int64 { return s.folder.Base(version, snapshot) }

// Prepare implements state.Versioned.
func (s *store) Prepare(context.Context) (*fs.Staged, error) {
	began := time.Now()
	if err := s.ok(); err != nil {
		return nil, s.readError(err)
	}
	// Snapshots that a failed attempt has made are removed: a query that was changed since gives another state. That they are gone is
	// durable with the new file, which replaces that attempt's.
	for v := s.folder.Newest(snapshot); v > s.version; v = s.folder.Newest(snapshot) {
		if err := s.removeSnapshot(v); err != nil {
			return nil, err
		}
	}
	version := s.version + 1
	var size int64
	staged, err := fs.StageFunc(s.folder.FS, s.file(version, changes), func(w fs.Writer) error {
		b := newBlockWriter(w, changesMagic)
		b.header(s.header(version, false))
		for _, t := range s.shards {
			if err := t.save(b); err != nil {
				return err
			}
		}
		err := b.end()
		size = b.size
		return err
	})
	if err != nil {
		return nil, err
	}
	s.version = version
	s.commitTime = time.Since(began)
	return staged.Replacing().Then(func() {
		began := time.Now()
		s.folder.Published(version, changes)
		s.changedBytes += size
		s.take(version)
		s.commitTime += time.Since(began)
	}, nil), nil
}

// take brings the changes of the batch, which are durable now, into the tree. An error is told by whoever uses the tree next.
func (s *store) take(version int64) {
	for _, t := range s.shards {
		t.pause()
	}
	if _, err := s.apply(version); err != nil {
		s.lost = err
		return
	}
	s.treeVersion = version
	var held int64
	for _, t := range s.shards {
		held += t.bytes()
	}
	if held > s.grant.workingSet() {
		for _, t := range s.shards {
			t.forget()
		}
	}
}

// Abort implements state.Versioned. The tree has nothing of the batch yet.
func (s *store) Abort() {
	s.version = -1
	s.folder.Forget()
	for _, t := range s.shards {
		t.abort()
	}
}

// Maintain implements state.Versioned.
func (s *store) Maintain(ctx context.Context, keep int64) error {
	if s.ok() != nil {
		return nil // the next Load makes the tree anew, or says why it can't
	}
	last := s.base(s.version)
	due := s.changedBytes > s.snapshotBytes || s.version-last >= s.snapshotChanges
	if due && last != s.version {
		if err := s.makeSnapshot(ctx); err != nil {
			return err
		}
	}
	m := s.tree.Metrics()
	s.treeBytes, s.treeMemory = int64(m.DiskSpaceUsage()), int64(m.MemTable.Size)
	return s.purge(keep)
}

// purge deletes the files that no version from keep on needs. Deleting is not made durable: what comes back after a crash is deleted
// again.
//
// Each snapshot keeps files that the tree has long replaced. So of those that versions to be kept can be loaded from only three
// stay: the oldest one, the newest one, and one between, which is the oldest one later.
func (s *store) purge(keep int64) error {
	base := s.base(keep)
	for vs := s.folder.Versions(snapshot); len(vs) > 0 && vs[0] < base; vs = s.folder.Versions(snapshot) {
		if err := s.removeSnapshot(vs[0]); err != nil {
			return err
		}
	}
	for vs := s.folder.Versions(snapshot); len(vs) > maxSnapshots; vs = s.folder.Versions(snapshot) {
		if err := s.removeSnapshot(vs[maxSnapshots-1]); err != nil {
			return err
		}
	}
	return s.folder.RemoveUpTo(base, changes)
}

const maxSnapshots = 3

// removeSnapshot removes the file that makes a folder a snapshot, durably, then the folder: a crash that brought back only the file would
// leave a snapshot that cannot be loaded, and the batch that is run again may want it.
func (s *store) removeSnapshot(version int64) error {
	if err := s.folder.Remove(version, snapshot); err != nil {
		return err
	}
	if err := s.folder.FS.SyncDir(s.folder.Dir); err != nil {
		return err
	}
	return s.folder.FS.RemoveAll(s.file(version, folder))
}

// Stats implements state.Versioned.
func (s *store) Stats() state.Stats {
	st := state.Stats{Hits: s.hits, Misses: s.misses, LoadTime: s.loadTime, CommitTime: s.commitTime, Disk: s.treeBytes, Bytes: s.treeMemory}
	for _, t := range s.shards {
		st.Rows += t.rows()
		st.Bytes += t.bytes()
	}
	return st
}

// Close implements state.Versioned.
func (s *store) Close() error {
	s.Abort()
	err := s.drop()
	if s.grant != nil {
		s.grant.release()
		s.grant = nil
	}
	return err
}
