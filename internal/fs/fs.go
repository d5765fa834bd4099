package fs

import (
	"errors"
	"io"
	iofs "io/fs"
	"syscall"
)

// Errors that every implementation wraps, to be tested with errors.Is. The first three are those
// of the standard library.
var (
	ErrExist          = iofs.ErrExist
	ErrNotExist       = iofs.ErrNotExist
	ErrClosed         = iofs.ErrClosed
	ErrLocked   error = lockedError{}
)

type lockedError struct{}

func (lockedError) Error() string { return "locked by another user" }

type (
	// Info describes a file.
	Info = iofs.FileInfo
	// Entry is one line of a directory listing; its Info may have to ask the disk.
	Entry = iofs.DirEntry
	// PathError names the operation and the file that an error is about.
	PathError = iofs.PathError
)

// FS is a hierarchical file system. Names are absolute or relative paths in the form of the
// host. All methods are safe for use by several goroutines. Errors name the file.
//
// Nothing is durable before Sync, SyncDir or the Sync of a Writer has returned.
type FS interface {
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Create makes a new file for writing; ErrExist when the name is taken.
	Create(name string) (Writer, error)
	// Rename gives a file another name, replacing a file of that name.
	Rename(from, to string) error
	// RenameNew gives a file another name; ErrExist when that is taken. Of two callers with the same
	// target exactly one succeeds.
	RenameNew(from, to string) error
	// Remove deletes a file or an empty directory.
	Remove(name string) error
	// RemoveAll deletes a name with all below it. A name that does not exist is no error.
	RemoveAll(name string) error
	// MkdirAll makes a directory and its missing parents.
	MkdirAll(name string) error
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]Entry, error)
	// Stat describes a file; links are followed.
	Stat(name string) (Info, error)
	// Sync makes the content of a file durable, whoever wrote it.
	Sync(name string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(name string) error
	// Lock takes a file that exists for exclusive use until the result is closed or the process
	// ends; ErrLocked when another holder, in this process or another, has it. The file can be
	// read and written by those who do not ask.
	Lock(name string) (io.Closer, error)
}

// Lister is implemented by file systems that list a directory without having all of it in memory.
type Lister interface {
	// EachEntry shows the entries of a directory in any order, until an error.
	EachEntry(name string, show func(Entry) error) error
}

// Each shows the entries of a directory in any order, until an error. What changes meanwhile may be shown or not.
func Each(fsys FS, name string, show func(Entry) error) error {
	if l, ok := fsys.(Lister); ok {
		return l.EachEntry(name, show)
	}
	entries, err := fsys.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := show(e); err != nil {
			return err
		}
	}
	return nil
}

// File is a file open for reading.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	Stat() (Info, error)
}

// Writer is a file being written. Sync may be called more than once. Close does not sync.
type Writer interface {
	io.Writer
	Sync() error
	io.Closer
}

// ReadFile reads a whole file.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var size int64
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	// One byte more than the size lets the last Read see the end without growing the buffer. The
	// size is only a hint, and a wrong one must not make us ask for memory we do not have.
	buf := make([]byte, 0, min(max(size, 0), 64<<20)+1)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// Linker is implemented by file systems that can give a file a second name.
type Linker interface {
	// Link gives a file another name; ErrExist when that is taken. The file is there until its last name is removed.
	Link(from, to string) error
}

// Link gives a file a second name. A file system that cannot do that makes a copy, which is as durable as any new file.
func Link(fsys FS, from, to string) error {
	if l, ok := fsys.(Linker); ok {
		err := l.Link(from, to)
		if err == nil || errors.Is(err, ErrExist) || errors.Is(err, ErrNotExist) || !linkRefused(err) {
			return err
		}
	}
	src, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := fsys.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// linkRefused tells whether the file system does not know links, or not for this file.
func linkRefused(err error) bool {
	for _, e := range []error{errors.ErrUnsupported, syscall.EXDEV, syscall.EMLINK, syscall.EPERM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
