package fs

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Local is the file system of the host.
func Local() FS { return local{} }

type local struct{}

func (local) Open(name string) (File, error) { return os.Open(name) }

func (local) Create(name string) (Writer, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func (local) Rename(from, to string) error { return os.Rename(from, to) }

// RenameNew asks the kernel to rename without replacing. Where the kernel or the file system
// cannot do that, a hard link does: it too refuses a taken name.
func (local) RenameNew(from, to string) error {
	err := renameNoReplace(from, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

func (local) Link(from, to string) error { return os.Link(from, to) }

func (local) Remove(name string) error    { return os.Remove(name) }
func (local) RemoveAll(name string) error { return os.RemoveAll(name) }
func (local) MkdirAll(name string) error  { return os.MkdirAll(name, 0o755) }

// EachEntry implements Lister.
func (local) EachEntry(name string, show func(Entry) error) (err error) {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	for {
		entries, err := d.ReadDir(entriesAtOnce)
		for _, e := range entries {
			if err := show(e); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// entriesAtOnce is how many entries of a directory are in memory.
const entriesAtOnce = 4096

func (local) ReadDir(name string) ([]Entry, error) { return os.ReadDir(name) }
func (local) Stat(name string) (Info, error)       { return os.Stat(name) }

func (local) Sync(name string) error {
	f, err := openToSync(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (local) SyncDir(name string) error { return syncDir(name) }

func (local) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0) // NFS locks only what is open for writing
	if errors.Is(err, os.ErrPermission) {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, &PathError{Op: "lock", Path: name, Err: err}
	}
	return f, nil // closing a file releases its lock
}

// MakeDirs makes a directory and its missing parents, and makes each of the new names durable before the next one is made. What exists
// already may be what an earlier call had made when it was interrupted: the name of the innermost directory that exists is made durable, too.
func MakeDirs(fsys FS, dir string) error {
	var missing []string // innermost first
	d := filepath.Clean(dir)
	for ; ; d = filepath.Dir(d) {
		_, err := fsys.Stat(d)
		if err == nil || errors.Is(err, ErrNotExist) && filepath.Dir(d) == d {
			break
		}
		if !errors.Is(err, ErrNotExist) {
			return err
		}
		missing = append(missing, d)
	}
	if up := filepath.Dir(d); up != d {
		// A directory that we may not even look into is not one that we have made something in.
		if err := fsys.SyncDir(up); err != nil && !errors.Is(err, iofs.ErrPermission) {
			return err
		}
	}
	for _, d := range slices.Backward(missing) {
		if err := fsys.MkdirAll(d); err != nil {
			return err
		}
		if err := fsys.SyncDir(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}
