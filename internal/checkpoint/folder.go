package checkpoint

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/millrace/millrace/internal/fs"
)

const compactSuffix = ".compact"

// entry is one numbered file of a log.
type entry struct {
	id      int64
	compact bool
}

func (e entry) name() string {
	if e.compact {
		return strconv.FormatInt(e.id, 10) + compactSuffix
	}
	return strconv.FormatInt(e.id, 10)
}

// parseEntry reads a base name. Anything that is not a number in its shortest form, temporary files
// and checksums above all, is no entry.
func parseEntry(base string) (entry, bool) {
	digits, compact := strings.CutSuffix(base, compactSuffix)
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id < 0 || strconv.FormatInt(id, 10) != digits {
		return entry{}, false
	}
	return entry{id, compact}, true
}

// folder knows the numbered files of a directory without listing it every time. The
// knowledge is that of the last listing plus what was published through it.
type folder struct {
	fsys fs.FS
	dir  string

	mu      sync.Mutex
	entries []entry // by id; of an id that is there plain and compacted only the compacted one
	made    bool    // dir exists
	sums    bool    // there are .crc files, as Spark writes them
}

func openFolder(fsys fs.FS, dir string) (*folder, error) {
	f := &folder{fsys: fsys, dir: dir}
	return f, f.refresh()
}

// refresh lists the directory. A directory that does not exist is an empty log.
func (f *folder) refresh() error {
	list, err := f.fsys.ReadDir(f.dir)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries, f.made, f.sums = f.entries[:0], err == nil, false
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		if e, ok := parseEntry(d.Name()); ok && !d.IsDir() {
			f.entries = append(f.entries, e)
		} else if strings.HasSuffix(d.Name(), ".crc") {
			f.sums = true
		}
	}
	slices.SortFunc(f.entries, compareEntries)
	f.entries = slices.CompactFunc(f.entries, func(a, b entry) bool { return a.id == b.id })
	return nil
}

// compareEntries puts the compacted one of the same id first.
func compareEntries(a, b entry) int {
	switch {
	case a.id != b.id && a.id < b.id, a.id == b.id && a.compact && !b.compact:
		return -1
	case a == b:
		return 0
	}
	return 1
}

func (f *folder) list() []entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.entries)
}

func (f *folder) latest() (entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.entries) == 0 {
		return entry{}, false
	}
	return f.entries[len(f.entries)-1], true
}

func (f *folder) find(id int64) (entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, ok := f.search(id)
	if !ok {
		return entry{}, false
	}
	return f.entries[i], true
}

func (f *folder) search(id int64) (int, bool) {
	return slices.BinarySearchFunc(f.entries, id, func(e entry, id int64) int {
		switch {
		case e.id < id:
			return -1
		case e.id > id:
			return 1
		}
		return 0
	})
}

func (f *folder) path(e entry) string { return filepath.Join(f.dir, e.name()) }

// read gives the content of an entry, compared with the checksum that Spark may have left of it.
func (f *folder) read(e entry) ([]byte, error) {
	content, err := fs.ReadFile(f.fsys, f.path(e))
	if err == nil && f.summed() {
		err = VerifySum(f.fsys, f.path(e), content)
	}
	return content, err
}

// summed tells whether there are checksums.
func (f *folder) summed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sums
}

// stage prepares a new entry, which a round writes and makes visible. Done, if not nil, is called when it
// has.
func (f *folder) stage(e entry, content []byte, done func()) (*fs.Staged, error) {
	path := f.path(e)
	if _, ok := f.find(e.id); ok {
		return nil, addError(path, e.id, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist})
	}
	if err := f.make(); err != nil {
		return nil, addError(path, e.id, err)
	}
	// A checksum that was left behind by a deleted file would make Spark call the new one corrupt.
	if err := f.removeSum(e); err != nil {
		return nil, addError(path, e.id, err)
	}
	published := func() {
		f.add(e)
		if done != nil {
			done()
		}
	}
	return fs.Stage(f.fsys, path, content).Then(published, func(err error) error { return addError(path, e.id, err) }), nil
}

func (f *folder) make() error {
	f.mu.Lock()
	made := f.made
	f.mu.Unlock()
	if made {
		return nil
	}
	if err := fs.MakeDirs(f.fsys, f.dir); err != nil {
		return err
	}
	f.mu.Lock()
	f.made = true
	f.mu.Unlock()
	return nil
}

func (f *folder) removeSum(e entry) error {
	if !f.summed() {
		return nil
	}
	return removeIfThere(f.fsys, filepath.Join(f.dir, "."+e.name()+".crc"))
}

func (f *folder) add(e entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i, ok := f.search(e.id); !ok {
		f.entries = slices.Insert(f.entries, i, e)
	}
}

// removeBefore deletes the entries for which drop says so, from the lowest id below the bound up to the
// first that is to stay. Deleting is not made durable: what comes back after a crash is deleted again.
func (f *folder) removeBefore(bound int64, drop func(entry) (bool, error)) error {
	for _, e := range f.list() {
		if e.id >= bound {
			return nil
		}
		if drop != nil {
			if yes, err := drop(e); err != nil || !yes {
				return err
			}
		}
		if err := errors.Join(removeIfThere(f.fsys, f.path(e)), f.removeSum(e)); err != nil {
			return err
		}
		f.mu.Lock()
		if i, ok := f.search(e.id); ok {
			f.entries = slices.Delete(f.entries, i, i+1)
		}
		f.mu.Unlock()
	}
	return nil
}

func removeIfThere(fsys fs.FS, name string) error {
	err := fsys.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeTemps deletes what a crash has left of entries that were never published. Only who
// holds the checkpoint's lock may do so.
func removeTemps(fsys fs.FS, dir string) error {
	list, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		if fs.IsTemp(d.Name()) && !d.IsDir() {
			if err := removeIfThere(fsys, filepath.Join(dir, d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
