// Package spill lets operators hold more rows than the process may keep in memory: a Scope counts what one execution holds, and its
// Files keep batches in a folder for scratch.
//
// The files are Arrow IPC files that nobody else reads. They are not synced, belong to one execution and are removed with it; what a
// crash leaves behind lies in the system's folder for temporary files. The package knows vectors and nothing of operators. Tests give
// it a limit of a few bytes.
package spill

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Scope is what one execution holds, in memory and in files. A nil Scope has no limit. It is safe for use by several goroutines.
type Scope struct {
	memory *engine.Memory
	fsys   fs.FS
	dir    string
	held   atomic.Int64

	mu    sync.Mutex
	files []*File
	made  bool
	after []func() error
}

// NewScope returns a scope that holds nothing. Close ends it.
func NewScope(rt *engine.Runtime) *Scope {
	return &Scope{memory: rt.Memory, fsys: rt.FS, dir: filepath.Join(rt.Scratch, "millrace-"+uuid.NewString())}
}

// Grow counts n bytes that are held from now on. It is false when the process holds too much: the caller should put what it can into a
// file, and Release it.
func (s *Scope) Grow(n int64) bool {
	if s == nil {
		return true
	}
	s.held.Add(n)
	return s.memory.Grow(n)
}

// Release counts n bytes that are not held any more.
func (s *Scope) Release(n int64) {
	if s != nil {
		s.held.Add(-n)
		s.memory.Release(n)
	}
}

// Limit is how much all executions together may hold; 0 is no limit.
func (s *Scope) Limit() int64 {
	if s == nil {
		return 0
	}
	return s.memory.Limit()
}

// AtClose has f called when the scope is closed.
func (s *Scope) AtClose(f func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = append(s.after, f)
}

// Close removes the files and counts as released what is still held.
func (s *Scope) Close() error {
	if s == nil {
		return nil
	}
	s.memory.Release(s.held.Swap(0))
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, f := range s.after {
		err = errors.Join(err, f())
	}
	s.after = nil
	for _, f := range s.files {
		err = errors.Join(err, f.close())
	}
	s.files = nil
	if s.made {
		err = errors.Join(err, s.fsys.RemoveAll(s.dir))
	}
	return err
}

// CloseInto closes the scope when the function that it belongs to returns; its error is only told if there is no other.
func (s *Scope) CloseInto(err *error) {
	if cerr := s.Close(); *err == nil {
		*err = cerr
	}
}

// create makes a file for batches of columns of some types.
func (s *Scope) create(ts []types.DataType) (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made {
		if err := s.fsys.MkdirAll(s.dir); err != nil {
			return nil, failed(s.dir, err)
		}
		s.made = true
	}
	f := &File{fsys: s.fsys, name: filepath.Join(s.dir, strconv.Itoa(len(s.files)))}
	for i, t := range ts {
		f.schema.Fields = append(f.schema.Fields, types.Field{Name: strconv.Itoa(i), Type: t, Nullable: true})
	}
	f.arrow = types.ArrowSchema(f.schema, types.ArrowOptions{})
	var err error
	if f.out, err = s.fsys.Create(f.name); err == nil {
		f.writer, err = ipc.NewFileWriter(f.out, ipc.WithSchema(f.arrow))
	}
	if err != nil {
		return nil, failed(f.name, err)
	}
	s.files = append(s.files, f)
	return f, nil
}

func failed(name string, err error) error {
	return errclass.New("SPILL_OUT_OF_MEMORY", "file", name, "reason", err.Error()).WithCause(err)
}

// File keeps batches. It is written by one goroutine at a time until its Set is sealed, and read by any number from then on.
type File struct {
	fsys   fs.FS
	name   string
	schema types.StructType
	arrow  *arrow.Schema
	out    fs.Writer
	writer *ipc.FileWriter
	n      int

	mu     sync.Mutex // readers of Arrow files have a place
	in     fs.File
	reader *ipc.FileReader
}

// Append writes a batch and returns its number.
func (f *File) Append(b *vec.Batch) (int, error) {
	rec, err := vec.ToArrow(b, f.arrow)
	if err == nil {
		err = f.writer.Write(rec)
	}
	if err != nil {
		return 0, failed(f.name, err)
	}
	f.n++
	return f.n - 1, nil
}

// seal ends writing.
func (f *File) seal() error {
	err := errors.Join(f.writer.Close(), f.out.Close())
	f.writer, f.out = nil, nil
	if err == nil {
		if f.in, err = f.fsys.Open(f.name); err == nil {
			f.reader, err = ipc.NewFileReader(f.in)
		}
	}
	if err != nil {
		return failed(f.name, err)
	}
	return nil
}

// Len is the number of batches.
func (f *File) Len() int { return f.n }

// Read returns batch i of a sealed file, Owned.
func (f *File) Read(i int) (*vec.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader == nil {
		return nil, failed(f.name, io.ErrClosedPipe)
	}
	rec, err := f.reader.RecordBatchAt(i)
	if err != nil {
		return nil, failed(f.name, fmt.Errorf("batch %d: %w", i, err))
	}
	b, err := vec.FromArrow(rec, f.schema)
	if err != nil {
		return nil, failed(f.name, err)
	}
	return b, nil
}

// drop removes the file.
func (f *File) drop() error {
	if err := f.close(); err != nil {
		return err
	}
	return f.fsys.Remove(f.name)
}

func (f *File) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.out != nil {
		err = f.out.Close()
	}
	if f.in != nil {
		err = errors.Join(err, f.in.Close())
	}
	f.out, f.in, f.reader, f.writer = nil, nil, nil, nil
	return err
}
