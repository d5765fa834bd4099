package state

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/fs"
)

// Folder is where a provider keeps the files of one operator: each is named by a version and a kind, and lies in the folder of partition 0.
// The folders of the other partitions say so.
//
// It knows which files there are: those of the last listing and what was published or removed since.
type Folder struct {
	FS fs.FS
	// Dir is the folder of partition 0.
	Dir string

	top        string // of the operator
	partitions int
	kinds      []string
	made       bool // the directories exist
	listed     bool
	files      map[string][]int64 // versions by kind, ascending
}

// NewFolder describes the folder of an operator below dir, the checkpoint's state directory. kinds are what the files' names end with.
func NewFolder(fsys fs.FS, dir string, spec Spec, kinds ...string) *Folder {
	top := filepath.Join(dir, strconv.Itoa(spec.Operator))
	return &Folder{FS: fsys, Dir: filepath.Join(top, "0"), top: top, partitions: spec.Partitions, kinds: kinds}
}

// LookInto describes a folder, of partition 0, that belongs to somebody else: listing it removes nothing.
func LookInto(fsys fs.FS, dir string, kinds ...string) (*Folder, error) {
	f := &Folder{FS: fsys, Dir: dir, kinds: kinds}
	return f, f.read(func(string) error { return nil })
}

// File is the name of a file.
func (f *Folder) File(version int64, kind string) string {
	return filepath.Join(f.Dir, strconv.FormatInt(version, 10)+kind)
}

// List finds out which files there are, unless it knows, and removes what a crash has left of files that never got their name: the
// checkpoint is locked by us.
func (f *Folder) List() error {
	if f.listed {
		return nil
	}
	return f.read(func(name string) error {
		if fs.IsTemp(name) {
			return f.remove(filepath.Join(f.Dir, name))
		}
		return nil
	})
}

func (f *Folder) read(other func(name string) error) error {
	f.files = map[string][]int64{}
	entries, err := f.FS.ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		known := false
		for _, kind := range f.kinds {
			if v, ok := VersionOf(e.Name(), kind); ok {
				f.files[kind] = append(f.files[kind], v)
				known = true
			}
		}
		if !known {
			if err := other(e.Name()); err != nil {
				return err
			}
		}
	}
	for _, vs := range f.files {
		slices.Sort(vs)
	}
	f.listed = true
	return nil
}

// VersionOf is the version in the name of a file of a kind.
func VersionOf(name, kind string) (version int64, ok bool) {
	name, ok = strings.CutSuffix(name, kind)
	version, err := strconv.ParseInt(name, 10, 64)
	return version, ok && err == nil
}

// Forget lets the next List look again.
func (f *Folder) Forget() { f.listed = false }

// Versions are those of a kind, ascending. The slice is valid until the next change.
func (f *Folder) Versions(kind string) []int64 { return f.files[kind] }

// Newest is the newest version of a kind, or 0.
func (f *Folder) Newest(kind string) int64 {
	if vs := f.files[kind]; len(vs) > 0 {
		return vs[len(vs)-1]
	}
	return 0
}

// Base is the newest version of a kind at or before a version, or 0.
func (f *Folder) Base(version int64, kind string) int64 {
	base := int64(0)
	for _, v := range f.files[kind] {
		if v <= version {
			base = v
		}
	}
	return base
}

// Published notes a file that has got its name.
func (f *Folder) Published(version int64, kind string) {
	vs := f.files[kind]
	if i, found := slices.BinarySearch(vs, version); !found {
		f.files[kind] = slices.Insert(vs, i, version)
	}
}

// Remove removes a file. That is not made durable: what comes back after a crash is removed again.
func (f *Folder) Remove(version int64, kind string) error {
	if err := f.remove(f.File(version, kind)); err != nil {
		return err
	}
	f.files[kind] = slices.DeleteFunc(f.files[kind], func(v int64) bool { return v == version })
	return nil
}

// Retire forgets the files of a kind up to a version, which the caller deletes, and returns their names.
func (f *Folder) Retire(version int64, kind string) (names []string) {
	vs := f.files[kind]
	for len(vs) > 0 && vs[0] <= version {
		names = append(names, f.File(vs[0], kind))
		vs = vs[1:]
	}
	f.files[kind] = vs
	return names
}

// RemoveUpTo removes the files of a kind up to a version.
func (f *Folder) RemoveUpTo(version int64, kind string) error {
	for vs := f.files[kind]; len(vs) > 0 && vs[0] <= version; vs = f.files[kind] {
		if err := f.remove(f.File(vs[0], kind)); err != nil {
			return err
		}
		f.files[kind] = vs[1:]
	}
	return nil
}

func (f *Folder) remove(name string) error {
	if err := f.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Make makes the folder of the files, durably, and for those who look at the checkpoint one for every other partition.
func (f *Folder) Make() error {
	if f.made {
		return nil
	}
	if err := fs.MakeDirs(f.FS, f.Dir); err != nil {
		return err
	}
	for p := 1; p < f.partitions; p++ {
		dir := filepath.Join(f.top, strconv.Itoa(p))
		if _, err := f.FS.Stat(dir); err == nil {
			continue
		}
		if err := f.FS.MkdirAll(dir); err != nil {
			return err
		}
		w, err := f.FS.Create(filepath.Join(dir, "_elsewhere"))
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
	f.made = true
	return nil
}
