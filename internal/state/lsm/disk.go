package lsm

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/millrace/millrace/internal/fs"
)

// disk is the file system of a live store: a view of the engine's file system in which nothing is synced, because a live store is
// made anew by every process, and no change ever fails.
//
// The library takes a failing write for the end of the process, or tries again for ever. So the first error of a change is kept
// and everything after it is only pretended. Whoever reads from the store or goes by what was written asks err first; then the
// store is given up and made anew.
type disk struct {
	fsys fs.FS

	mu     sync.Mutex
	failed error
	open   map[*file]struct{}
}

// opened notes a file that is in use, and closed that it is not any more.
func (d *disk) opened(f *file) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[*file]struct{}{}
	}
	d.open[f] = struct{}{}
}

func (d *disk) closed(f *file) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, f)
}

// release closes the files that the library has left open: it does so when it cannot open a tree.
func (d *disk) release() {
	d.mu.Lock()
	left := slices.Collect(maps.Keys(d.open))
	d.mu.Unlock()
	for _, f := range left {
		_ = f.Close() // of a tree that is lost
	}
}

// err is the error by which the store was lost.
func (d *disk) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// fail notes an error, unless there was one before.
func (d *disk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = err
	}
}

// change does something unless the store is lost already.
func (d *disk) change(do func() error) {
	if d.err() != nil {
		return
	}
	if err := do(); err != nil {
		d.fail(err)
	}
}

// The disk is also the library's log. It has nothing to say that a user could act on, but for the mistake after which it would end
// the process.

func (d *disk) Infof(string, ...any)  {}
func (d *disk) Errorf(string, ...any) {}
func (d *disk) Fatalf(format string, args ...any) {
	d.fail(&fatalError{format, args})
}

var _ pebble.Logger = (*disk)(nil)

// Create implements vfs.FS: a file of that name is replaced.
func (d *disk) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	f := &file{d: d, name: name}
	d.change(func() (err error) {
		f.w, err = d.fsys.Create(name)
		if errors.Is(err, fs.ErrExist) {
			if err = d.fsys.Remove(name); err == nil {
				f.w, err = d.fsys.Create(name)
			}
		}
		return err
	})
	d.opened(f)
	return f, nil
}

// Link implements vfs.FS.
func (d *disk) Link(from, to string) error {
	d.change(func() error { return fs.Link(d.fsys, from, to) })
	return nil
}

// Open implements vfs.FS.
func (d *disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	r, err := d.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	f := &file{d: d, name: name, r: r}
	for _, o := range opts {
		o.Apply(f)
	}
	d.opened(f)
	return f, nil
}

// OpenReadWrite implements vfs.FS. Only logs, which live stores do without, are opened so.
func (d *disk) OpenReadWrite(name string, _ vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}

// ReuseForWrite implements vfs.FS, likewise.
func (d *disk) ReuseForWrite(_, name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, &os.PathError{Op: "reuse", Path: name, Err: errors.ErrUnsupported}
}

// OpenDir implements vfs.FS. Directories are opened to be synced.
func (d *disk) OpenDir(name string) (vfs.File, error) { return &file{d: d, name: name}, nil }

// Remove implements vfs.FS. A file that stays is removed with its directory.
func (d *disk) Remove(name string) error {
	err := d.fsys.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveAll implements vfs.FS.
func (d *disk) RemoveAll(name string) error { return d.fsys.RemoveAll(name) }

// Rename implements vfs.FS.
func (d *disk) Rename(from, to string) error {
	d.change(func() error { return d.fsys.Rename(from, to) })
	return nil
}

// MkdirAll implements vfs.FS.
func (d *disk) MkdirAll(dir string, _ os.FileMode) error {
	d.change(func() error { return d.fsys.MkdirAll(dir) })
	return nil
}

// Lock implements vfs.FS. Whoever has the checkpoint has the store.
func (d *disk) Lock(string) (io.Closer, error) { return unlocked{}, nil }

type unlocked struct{}

func (unlocked) Close() error { return nil }

// List implements vfs.FS.
func (d *disk) List(dir string) ([]string, error) {
	entries, err := d.fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// Stat implements vfs.FS.
func (d *disk) Stat(name string) (vfs.FileInfo, error) {
	info, err := d.fsys.Stat(name)
	if err != nil {
		return nil, err
	}
	return fileInfo{info}, nil
}

// PathBase implements vfs.FS.
func (d *disk) PathBase(path string) string { return filepath.Base(path) }

// PathJoin implements vfs.FS.
func (d *disk) PathJoin(elem ...string) string { return filepath.Join(elem...) }

// PathDir implements vfs.FS.
func (d *disk) PathDir(path string) string { return filepath.Dir(path) }

// GetDiskUsage implements vfs.FS.
func (d *disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}

// Unwrap implements vfs.FS.
func (d *disk) Unwrap() vfs.FS { return nil }

type fileInfo struct{ fs.Info }

func (fileInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

// file is a file that is read, one that is written, or a directory.
type file struct {
	d    *disk
	name string
	r    fs.File
	w    fs.Writer
}

func (f *file) Read(p []byte) (int, error) {
	if f.r == nil {
		return 0, f.unsupported("read")
	}
	return f.r.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.r == nil {
		return 0, f.unsupported("read")
	}
	return f.r.ReadAt(p, off)
}

func (f *file) unsupported(op string) error {
	return &os.PathError{Op: op, Path: f.name, Err: errors.ErrUnsupported}
}

func (f *file) Write(p []byte) (int, error) {
	if f.w != nil {
		f.d.change(func() error {
			_, err := f.w.Write(p)
			return err
		})
	}
	return len(p), nil
}

func (f *file) WriteAt([]byte, int64) (int, error) { return 0, f.unsupported("write") }

func (f *file) Close() error {
	f.d.closed(f)
	switch {
	case f.r != nil:
		return f.r.Close()
	case f.w != nil:
		if err := f.w.Close(); err != nil {
			f.d.fail(err)
		}
	}
	return nil
}

func (f *file) Stat() (vfs.FileInfo, error) {
	if f.r != nil {
		info, err := f.r.Stat()
		if err != nil {
			return nil, err
		}
		return fileInfo{info}, nil
	}
	return f.d.Stat(f.name)
}

func (f *file) Sync() error                  { return nil }
func (f *file) SyncData() error              { return nil }
func (f *file) SyncTo(int64) (bool, error)   { return false, nil }
func (f *file) Preallocate(_, _ int64) error { return nil }
func (f *file) Prefetch(int64, int64) error  { return nil }
func (f *file) Fd() uintptr                  { return vfs.InvalidFd }

// fatalError is what the library said before it would have ended the process.
type fatalError struct {
	format string
	args   []any
}

func (e *fatalError) Error() string { return fmt.Sprintf(e.format, e.args...) }
