package errfs

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/millrace/millrace/internal/fs"
)

// Kind is the kind of an operation on a file system.
type Kind string

// The operations that rules see.
const (
	Open      Kind = "open"
	Read      Kind = "read"
	Create    Kind = "create"
	Write     Kind = "write"
	SyncFile  Kind = "sync" // of a Writer and of FS.Sync
	Close     Kind = "close"
	Rename    Kind = "rename" // Name is the new name
	RenameNew Kind = "renamenew"
	Link      Kind = "link" // Name is the new name
	Remove    Kind = "remove"
	RemoveAll Kind = "removeall"
	Mkdir     Kind = "mkdir"
	ReadDir   Kind = "readdir"
	Stat      Kind = "stat"
	SyncDir   Kind = "syncdir"
	Lock      Kind = "lock"
)

// Op is one operation about to be done.
type Op struct {
	Kind Kind
	Name string
}

// changes reports whether the operation alters what a crash leaves behind.
func (o Op) changes() bool {
	switch o.Kind {
	case Open, Read, Close, ReadDir, Stat, Lock:
		return false
	}
	return true
}

// Errors that rules inject. ErrNoSpace and ErrIO are what the kernel gives.
var (
	ErrCrashed error = errors.New("the machine has crashed")
	ErrNoSpace error = syscall.ENOSPC
	ErrIO      error = syscall.EIO
)

// Match chooses operations.
type Match func(Op) bool

// Ops matches operations of the kinds.
func Ops(kinds ...Kind) Match {
	return func(o Op) bool {
		for _, k := range kinds {
			if o.Kind == k {
				return true
			}
		}
		return false
	}
}

// Named narrows a match to the files whose path, with forward slashes, contains the text.
func (m Match) Named(part string) Match {
	return func(o Op) bool { return m(o) && strings.Contains(filepath.ToSlash(o.Name), part) }
}

// Rule makes operations fail. Make one with FailAt, CrashAt or CrashAfter, and use it for one file system.
type Rule struct {
	match   Match
	at      int   // the matching operation that fails, from 1
	err     error // what it returns
	forever bool  // all matching ones after it fail too
	keep    int   // bytes that a failing write still writes
	torn    bool  // a failing write says nothing of the missing bytes
	crash   bool  // nothing whatever works afterwards
	after   bool  // the matching operation itself still works

	mu   sync.Mutex
	seen int
	last Kind // what CrashAfter has let pass; "" before
	hit  bool
	what Op // that failed first
}

// FailAt makes the k-th matching operation (from 1) fail with err.
func FailAt(k int, match Match, err error) *Rule {
	return &Rule{match: match, at: k, err: err}
}

// CrashAt stops the file system at the k-th operation (from 1) that changes anything:
// it and all operations after it fail with ErrCrashed. A write is cut in half.
func CrashAt(k int) *Rule {
	return &Rule{match: Op.changes, at: k, err: ErrCrashed, crash: true}
}

// CrashAfter lets the k-th matching operation (from 1) happen and stops the file system then: everything fails with
// ErrCrashed, but for operations of the same kind that come before one of another kind. Those are part of the same step: a round
// syncs all its directories side by side.
func CrashAfter(k int, match Match) *Rule {
	return &Rule{match: match, at: k, err: ErrCrashed, crash: true, after: true}
}

// Stop stops the file system now. It is for rules of CrashAt and CrashAfter, when something else than a file says that it is time.
func (r *Rule) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hit = true
}

// Stopped reports whether a crash has come, also if no operation has noticed it so far.
func (r *Rule) Stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hit && r.crash || r.last != ""
}

// Forever makes all matching operations after the k-th fail too.
func (r *Rule) Forever() *Rule { r.forever = true; return r }

// Short lets a failing write put n bytes into the file before it fails.
func (r *Rule) Short(n int) *Rule { r.keep = n; return r }

// Torn makes a failing write put only n bytes into the file and report success: what a disk that
// lies does. The error of the rule is not returned.
func (r *Rule) Torn(n int) *Rule { r.keep, r.torn = n, true; return r }

// Hit reports whether the rule has made anything fail.
func (r *Rule) Hit() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hit
}

// First is the operation that the rule made fail first, once Hit says that there was one.
func (r *Rule) First() Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.what
}

// Err is what the rule makes operations fail with.
func (r *Rule) Err() error { return r.err }

// Seen is how many operations the rule has counted.
func (r *Rule) Seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// fires decides about one operation. With fires comes how many bytes a write may still write.
func (r *Rule) fires(o Op, size int) (fires bool, keep int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.crash && r.hit {
		return true, 0
	}
	if r.last != "" {
		r.hit = o.Kind != r.last
		return r.hit, 0
	}
	if !r.match(o) {
		return false, 0
	}
	r.seen++
	if r.after && r.seen == r.at {
		r.last = o.Kind
		return false, 0
	}
	if r.seen == r.at || r.forever && r.seen > r.at {
		if !r.hit {
			r.what = o
		}
		r.hit = true
		if r.crash {
			return true, size / 2
		}
		return true, min(r.keep, size)
	}
	return false, 0
}

// Wrap gives a file system that works as inner but for the rules. The first rule that fires
// decides.
func Wrap(inner fs.FS, rules ...*Rule) fs.FS { return &wrapped{inner, rules} }

type wrapped struct {
	inner fs.FS
	rules []*Rule
}

func (w *wrapped) check(kind Kind, name string) error {
	r, _ := w.firing(kind, name, 0)
	if r == nil {
		return nil
	}
	return pathErr(string(kind), name, r.err)
}

func (w *wrapped) firing(kind Kind, name string, size int) (first *Rule, keep int) {
	for _, r := range w.rules { // each rule counts every operation
		if fires, k := r.fires(Op{kind, name}, size); fires && first == nil {
			first, keep = r, k
		}
	}
	return first, keep
}

func (w *wrapped) Open(name string) (fs.File, error) {
	if err := w.check(Open, name); err != nil {
		return nil, err
	}
	f, err := w.inner.Open(name)
	if err != nil {
		return nil, err
	}
	return &wrappedFile{f, w, name}, nil
}

func (w *wrapped) Create(name string) (fs.Writer, error) {
	if err := w.check(Create, name); err != nil {
		return nil, err
	}
	f, err := w.inner.Create(name)
	if err != nil {
		return nil, err
	}
	return &wrappedWriter{f, w, name}, nil
}

func (w *wrapped) Rename(from, to string) error {
	if err := w.check(Rename, to); err != nil {
		return err
	}
	return w.inner.Rename(from, to)
}

func (w *wrapped) RenameNew(from, to string) error {
	if err := w.check(RenameNew, to); err != nil {
		return err
	}
	return w.inner.RenameNew(from, to)
}

func (w *wrapped) Link(from, to string) error {
	if err := w.check(Link, to); err != nil {
		return err
	}
	return fs.Link(w.inner, from, to)
}

func (w *wrapped) Remove(name string) error {
	if err := w.check(Remove, name); err != nil {
		return err
	}
	return w.inner.Remove(name)
}

func (w *wrapped) RemoveAll(name string) error {
	if err := w.check(RemoveAll, name); err != nil {
		return err
	}
	return w.inner.RemoveAll(name)
}

func (w *wrapped) MkdirAll(name string) error {
	if err := w.check(Mkdir, name); err != nil {
		return err
	}
	return w.inner.MkdirAll(name)
}

func (w *wrapped) ReadDir(name string) ([]fs.Entry, error) {
	if err := w.check(ReadDir, name); err != nil {
		return nil, err
	}
	return w.inner.ReadDir(name)
}

func (w *wrapped) Stat(name string) (fs.Info, error) {
	if err := w.check(Stat, name); err != nil {
		return nil, err
	}
	return w.inner.Stat(name)
}

func (w *wrapped) Sync(name string) error {
	if err := w.check(SyncFile, name); err != nil {
		return err
	}
	return w.inner.Sync(name)
}

func (w *wrapped) SyncDir(name string) error {
	if err := w.check(SyncDir, name); err != nil {
		return err
	}
	return w.inner.SyncDir(name)
}

func (w *wrapped) Lock(name string) (io.Closer, error) {
	if err := w.check(Lock, name); err != nil {
		return nil, err
	}
	return w.inner.Lock(name)
}

type wrappedFile struct {
	fs.File
	w    *wrapped
	name string
}

func (f *wrappedFile) Read(p []byte) (int, error) {
	if err := f.w.check(Read, f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *wrappedFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.w.check(Read, f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

type wrappedWriter struct {
	inner fs.Writer
	w     *wrapped
	name  string
}

func (f *wrappedWriter) Write(p []byte) (int, error) {
	r, n := f.w.firing(Write, f.name, len(p))
	if r == nil {
		return f.inner.Write(p)
	}
	if n > 0 {
		if n, err := f.inner.Write(p[:n]); err != nil {
			return n, err
		}
	}
	if r.torn {
		return len(p), nil
	}
	return n, pathErr(string(Write), f.name, r.err)
}

func (f *wrappedWriter) Sync() error {
	if err := f.w.check(SyncFile, f.name); err != nil {
		return err
	}
	return f.inner.Sync()
}

// Close always closes the file below, so that a test that injects errors leaks nothing.
func (f *wrappedWriter) Close() error {
	return errors.Join(f.w.check(Close, f.name), f.inner.Close())
}
