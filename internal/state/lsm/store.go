package lsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
	if p.Limit == 0 {
		p.Limit = DefaultLimit
	}
	top := filepath.Join(dir, strconv.Itoa(spec.Operator))
	s := &store{
		fsys: p.FS, top: top, dir: filepath.Join(top, "0"), scratch: "live", spec: spec, version: -1, treeVersion: -1,
		snapshotBytes: snapshotBytes, snapshotChanges: snapshotChanges, spare: maxSpare, sortBytes: minSort, filterKeys: minFilterKeys,
	}
	s.tables = make([]*table, state.Shards(spec.Partitions))
	s.grant = p.Memory.grant(p.Limit)
	return s, nil
}

// store implements state.Store. Files, in the folder of partition 0: <version>.changes, <version>.snapshot with the folder
// <version>.files, and the folder live.
type store struct {
	fsys    fs.FS
	top     string // of the operator
	dir     string
	scratch string // the folder in dir where the tree is
	spec    state.Spec
	layout  layout
	grant   *grant
	tables  []*table
	version int64
	made    bool // the directories exist

	// The tree holds treeVersion; -1 when there is none.
	treeVersion int64
	tree        *pebble.DB
	disk        *disk
	lost        error // why changes that are durable did not get into the tree

	// The files there are, by kind, ascending: those of the last listing and what was published or deleted since.
	listed bool
	files  map[string][]int64

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
		return errclass.New("STATE_STORE_MEANING_NOT_COMPATIBLE", "stored", h.Layout.text(), "new", s.layout.text())
	}
	if h.Version != version || h.Partitions != s.spec.Partitions {
		return damaged(name, fmt.Errorf("it is version %d of %d partitions", h.Version, h.Partitions))
	}
	return nil
}

// Attach implements state.Store.
func (s *store) Attach(shard int, v state.Values) {
	t := newTable(s, shard, v)
	s.layout = t.layout
	s.tables[shard] = t
}

// Version implements state.Store.
func (s *store) Version() int64 { return s.version }

// Table implements state.Store.
func (s *store) Table(shard int) state.Table { return s.tables[shard] }

func (s *store) file(version int64, kind string) string {
	return filepath.Join(s.dir, strconv.FormatInt(version, 10)+kind)
}

// Load implements state.Store.
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
	for _, t := range s.tables {
		if rebuilt {
			t.filter, t.misses = nil, 0
		}
		if err := t.begin(); err != nil {
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
	if err := s.makeDir(); err != nil { // before the tree makes it without syncing
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

// list finds out which files there are, and removes what a crash has left of files that never got their name, of snapshots that
// were not complete, and of trees of other processes: the checkpoint is locked by us.
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
		for _, kind := range []string{changes, snapshot, folder} {
			if v, ok := versionOf(e.Name(), kind); ok {
				s.files[kind] = append(s.files[kind], v)
			}
		}
	}
	for _, vs := range s.files {
		slices.Sort(vs)
	}
	for _, v := range s.files[folder] {
		if _, whole := slices.BinarySearch(s.files[snapshot], v); !whole {
			if err := s.fsys.RemoveAll(s.file(v, folder)); err != nil {
				return err
			}
		}
	}
	delete(s.files, folder)
	s.listed = true
	return nil
}

// versionOf is the version in the name of a file of a kind.
func versionOf(name, kind string) (version int64, ok bool) {
	name, ok = strings.CutSuffix(name, kind)
	version, err := strconv.ParseInt(name, 10, 64)
	return version, ok && err == nil
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

// Prepare implements state.Store.
func (s *store) Prepare(context.Context) (*fs.Staged, error) {
	began := time.Now()
	if err := s.ok(); err != nil {
		return nil, err
	}
	// Snapshots that a failed attempt has made are removed: a query that was changed since gives another state. That they are gone is
	// durable with the new file, which replaces that attempt's.
	for vs := s.files[snapshot]; len(vs) > 0 && vs[len(vs)-1] > s.version; vs = s.files[snapshot] {
		if err := s.removeSnapshot(vs[len(vs)-1]); err != nil {
			return nil, err
		}
	}
	version := s.version + 1
	var size int64
	staged, err := fs.StageFunc(s.fsys, s.file(version, changes), func(w fs.Writer) error {
		b := newBlockWriter(w, changesMagic)
		b.header(s.header(version, false))
		for _, t := range s.tables {
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
		s.published(version, changes)
		s.changedBytes += size
		s.take(version)
		s.commitTime += time.Since(began)
	}, nil), nil
}

// take brings the changes of the batch, which are durable now, into the tree. An error is told by whoever uses the tree next.
func (s *store) take(version int64) {
	for _, t := range s.tables {
		t.pause()
	}
	if _, err := s.apply(version); err != nil {
		s.lost = err
		return
	}
	s.treeVersion = version
	var held int64
	for _, t := range s.tables {
		held += t.bytes()
	}
	if held > s.grant.workingSet() {
		for _, t := range s.tables {
			t.forget()
		}
	}
}

// makeDir makes the folder of the files, durably, and for those who look at the checkpoint one for every other partition.
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

// Abort implements state.Store. The tree has nothing of the batch yet.
func (s *store) Abort() {
	s.version, s.listed = -1, false
	for _, t := range s.tables {
		t.abort()
	}
}

// Maintain implements state.Store.
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
	for len(s.files[snapshot]) > 0 && s.files[snapshot][0] < base {
		if err := s.removeSnapshot(s.files[snapshot][0]); err != nil {
			return err
		}
	}
	for len(s.files[snapshot]) > maxSnapshots {
		if err := s.removeSnapshot(s.files[snapshot][maxSnapshots-1]); err != nil {
			return err
		}
	}
	for len(s.files[changes]) > 0 && s.files[changes][0] <= base {
		if err := s.remove(s.file(s.files[changes][0], changes)); err != nil {
			return err
		}
		s.files[changes] = s.files[changes][1:]
	}
	return nil
}

const maxSnapshots = 3

// removeSnapshot removes the file that makes a folder a snapshot, then the folder.
func (s *store) removeSnapshot(version int64) error {
	if err := s.remove(s.file(version, snapshot)); err != nil {
		return err
	}
	s.files[snapshot] = slices.DeleteFunc(s.files[snapshot], func(v int64) bool { return v == version })
	return s.fsys.RemoveAll(s.file(version, folder))
}

// Stats implements state.Store.
func (s *store) Stats() state.Stats {
	st := state.Stats{Hits: s.hits, Misses: s.misses, LoadTime: s.loadTime, CommitTime: s.commitTime, Disk: s.treeBytes, Bytes: s.treeMemory}
	for _, t := range s.tables {
		st.Rows += t.count
		st.Bytes += t.bytes()
	}
	return st
}

// Close implements state.Store.
func (s *store) Close() error {
	s.Abort()
	err := s.drop()
	if s.grant != nil {
		s.grant.release()
		s.grant = nil
	}
	return err
}
