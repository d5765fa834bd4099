package errfs

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/fs"
)

// Mem is a file system in memory with the durability of a disk: what was not synced may be gone
// after a Crash. Locks are forgotten by a crash too.
type Mem struct {
	mu   sync.Mutex
	root *node
	now  func() time.Time
	open map[any]string // files in use, by handle
}

// OpenFiles are the names of the files that somebody has opened or created and not closed.
func (m *Mem) OpenFiles() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Values(m.open))
}

// node is a file or a directory, reachable through the names in its parents.
type node struct {
	dir     bool
	data    []byte
	durable []byte // content at the last sync
	names   map[string]*node
	kept    map[string]*node // names at the last sync
	mod     time.Time
	locked  bool
}

func newDir(mod time.Time) *node {
	return &node{dir: true, names: map[string]*node{}, kept: map[string]*node{}, mod: mod}
}

// NewMem makes an empty file system. Relative and absolute names are the same tree.
func NewMem() *Mem {
	m := &Mem{now: time.Now, open: map[any]string{}}
	m.root = newDir(m.now())
	return m
}

// SetClock replaces the clock that gives files their modification times.
func (m *Mem) SetClock(now func() time.Time) { m.now = now }

// Chooser decides what of the unsynced survives a crash: it returns a number from 0 to n-1.
type Chooser func(n int) int

// Crash returns the file system as a machine might find it after a power cut now. The old one
// is left as it is. With a nil choose only what was synced survives. Otherwise choose decides,
// for each unsynced name, whether it is there, and for each unsynced file, how much of its new
// content follows the synced one and whether the rest reads as zeros.
func (m *Mem) Crash(choose Chooser) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	if choose == nil {
		choose = func(int) int { return 0 }
	}
	copies := map[*node]*node{}
	return &Mem{root: crashNode(m.root, choose, copies), now: m.now, open: map[any]string{}}
}

// put gives a node a name, which changes its directory, as drop does.
func (m *Mem) put(dir *node, name string, n *node) {
	dir.names[name], dir.mod = n, m.now()
}

func (m *Mem) drop(dir *node, name string) {
	delete(dir.names, name)
	dir.mod = m.now()
}

func crashNode(n *node, choose Chooser, copies map[*node]*node) *node {
	if c, ok := copies[n]; ok { // two names of one file
		return c
	}
	if !n.dir {
		c := &node{mod: n.mod, data: crashData(n, choose)}
		c.durable = c.data
		copies[n] = c
		return c
	}
	c := newDir(n.mod)
	copies[n] = c
	all := maps.Clone(n.kept)
	maps.Copy(all, n.names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		found := n.kept[name]
		if now := n.names[name]; now != found && choose(2) == 1 {
			found = now
		}
		if found != nil {
			c.names[name] = crashNode(found, choose, copies)
		}
	}
	c.kept = maps.Clone(c.names)
	return c
}

func crashData(n *node, choose Chooser) []byte {
	if slices.Equal(n.data, n.durable) {
		return slices.Clone(n.durable)
	}
	common := 0
	for common < len(n.data) && common < len(n.durable) && n.data[common] == n.durable[common] {
		common++
	}
	switch choose(3) {
	case 1: // a part of the new content
		return slices.Clone(n.data[:common+choose(len(n.data)-common+1)])
	case 2: // the new length, but not all of the content
		d := make([]byte, len(n.data))
		copy(d, n.data[:common+choose(len(n.data)-common+1)])
		return d
	}
	return slices.Clone(n.durable)
}

func split(name string) []string {
	name = strings.Trim(filepath.ToSlash(filepath.Clean(name)), "/")
	if name == "" || name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

func pathErr(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

var (
	errIsDir    = errors.New("is a directory")
	errNotDir   = errors.New("not a directory")
	errNotEmpty = errors.New("directory not empty")
)

func (m *Mem) find(op, name string) (*node, error) {
	n := m.root
	for _, part := range split(name) {
		if !n.dir {
			return nil, pathErr(op, name, errNotDir)
		}
		next, ok := n.names[part]
		if !ok {
			return nil, pathErr(op, name, fs.ErrNotExist)
		}
		n = next
	}
	return n, nil
}

// parent finds the directory that holds or will hold the name.
func (m *Mem) parent(op, name string) (dir *node, base string, err error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", pathErr(op, name, fs.ErrExist)
	}
	dir, err = m.find(op, strings.Join(parts[:len(parts)-1], "/"))
	if err != nil {
		return nil, "", pathErr(op, name, errors.Unwrap(err))
	}
	if !dir.dir {
		return nil, "", pathErr(op, name, errNotDir)
	}
	return dir, parts[len(parts)-1], nil
}

// Open implements fs.FS.
func (m *Mem) Open(name string) (fs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	r := &reader{m: m, n: n, name: name}
	m.open[r] = name
	return r, nil
}

// Create implements fs.FS.
func (m *Mem) Create(name string) (fs.Writer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent("open", name)
	if err != nil {
		return nil, err
	}
	if _, ok := dir.names[base]; ok {
		return nil, pathErr("open", name, fs.ErrExist)
	}
	n := &node{mod: m.now()}
	m.put(dir, base, n)
	w := &writer{m: m, n: n, name: name}
	m.open[w] = name
	return w, nil
}

// Rename implements fs.FS.
func (m *Mem) Rename(from, to string) error { return m.rename(from, to, true) }

// RenameNew implements fs.FS.
func (m *Mem) RenameNew(from, to string) error { return m.rename(from, to, false) }

func (m *Mem) rename(from, to string, replace bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	fromDir, fromBase, err := m.parent("rename", from)
	if err != nil {
		return err
	}
	n, ok := fromDir.names[fromBase]
	if !ok {
		return pathErr("rename", from, fs.ErrNotExist)
	}
	toDir, toBase, err := m.parent("rename", to)
	if err != nil {
		return err
	}
	if old, ok := toDir.names[toBase]; ok {
		switch {
		case !replace:
			return pathErr("rename", to, fs.ErrExist)
		case old == n:
			return nil
		case old.dir && !n.dir:
			return pathErr("rename", to, errIsDir)
		case !old.dir && n.dir:
			return pathErr("rename", to, errNotDir)
		case len(old.names) > 0:
			return pathErr("rename", to, errNotEmpty)
		}
	}
	m.drop(fromDir, fromBase)
	m.put(toDir, toBase, n)
	return nil
}

// Link implements fs.Linker.
func (m *Mem) Link(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("link", from)
	if err != nil {
		return err
	}
	if n.dir {
		return pathErr("link", from, errIsDir)
	}
	dir, base, err := m.parent("link", to)
	if err != nil {
		return err
	}
	if _, ok := dir.names[base]; ok {
		return pathErr("link", to, fs.ErrExist)
	}
	m.put(dir, base, n)
	return nil
}

// Remove implements fs.FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent("remove", name)
	if err != nil {
		return err
	}
	n, ok := dir.names[base]
	switch {
	case !ok:
		return pathErr("remove", name, fs.ErrNotExist)
	case len(n.names) > 0:
		return pathErr("remove", name, errNotEmpty)
	}
	m.drop(dir, base)
	return nil
}

// RemoveAll implements fs.FS.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent("removeall", name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n := dir.names[base]; n != nil {
		n.empty()
	}
	m.drop(dir, base)
	return nil
}

// empty removes what is in a directory, name by name: after a crash any of them may be back.
func (n *node) empty() {
	for _, c := range n.names {
		c.empty()
	}
	clear(n.names)
}

// MkdirAll implements fs.FS.
func (m *Mem) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.root
	for _, part := range split(name) {
		next, ok := n.names[part]
		if !ok {
			next = newDir(m.now())
			m.put(n, part, next)
		}
		if !next.dir {
			return pathErr("mkdir", name, errNotDir)
		}
		n = next
	}
	return nil
}

// ReadDir implements fs.FS.
func (m *Mem) ReadDir(name string) ([]fs.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, pathErr("readdir", name, errNotDir)
	}
	list := make([]fs.Entry, 0, len(n.names))
	for _, base := range slices.Sorted(maps.Keys(n.names)) {
		list = append(list, iofs.FileInfoToDirEntry(describe(base, n.names[base])))
	}
	return list, nil
}

// Stat implements fs.FS.
func (m *Mem) Stat(name string) (fs.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("stat", name)
	if err != nil {
		return nil, err
	}
	return describe(filepath.Base(name), n), nil
}

// Sync implements fs.FS.
func (m *Mem) Sync(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("sync", name)
	if err != nil {
		return err
	}
	n.durable = slices.Clone(n.data)
	return nil
}

// SyncDir implements fs.FS.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("sync", name)
	if err != nil {
		return err
	}
	if !n.dir {
		return pathErr("sync", name, errNotDir)
	}
	n.kept = maps.Clone(n.names)
	return nil
}

// Lock implements fs.FS.
func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("lock", name)
	if err != nil {
		return nil, err
	}
	if n.locked {
		return nil, pathErr("lock", name, fs.ErrLocked)
	}
	n.locked = true
	return &lock{m: m, n: n}, nil
}

type lock struct {
	m *Mem
	n *node
}

func (l *lock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.n == nil {
		return fs.ErrClosed
	}
	l.n.locked = false
	l.n = nil
	return nil
}

// Tree lists all files with their contents, for comparison in tests.
func (m *Mem) Tree() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]string{}
	var walk func(prefix string, n *node)
	walk = func(prefix string, n *node) {
		for name, c := range n.names {
			if c.dir {
				walk(prefix+name+"/", c)
			} else {
				all[prefix+name] = string(c.data)
			}
		}
	}
	walk("", m.root)
	return all
}

type info struct {
	name string
	size int64
	dir  bool
	mod  time.Time
}

func describe(name string, n *node) info {
	return info{name: name, size: int64(len(n.data)), dir: n.dir, mod: n.mod}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.mod }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() iofs.FileMode {
	if i.dir {
		return iofs.ModeDir | 0o755
	}
	return 0o644
}

type reader struct {
	m      *Mem
	n      *node
	name   string
	at     int64
	closed bool
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadAt(p, r.at)
	r.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	switch {
	case r.closed:
		return 0, pathErr("read", r.name, fs.ErrClosed)
	case r.n.dir:
		return 0, pathErr("read", r.name, errIsDir)
	case off < 0:
		return 0, pathErr("read", r.name, fmt.Errorf("offset %d is negative", off))
	case off >= int64(len(r.n.data)):
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, r.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (r *reader) Seek(offset int64, whence int) (int64, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += int64(len(r.n.data))
	}
	if offset < 0 {
		return 0, pathErr("seek", r.name, fmt.Errorf("offset %d is negative", offset))
	}
	r.at = offset
	return offset, nil
}

func (r *reader) Stat() (fs.Info, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return describe(filepath.Base(r.name), r.n), nil
}

func (r *reader) Close() error {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if r.closed {
		return pathErr("close", r.name, fs.ErrClosed)
	}
	delete(r.m.open, r)
	r.closed = true
	return nil
}

type writer struct {
	m      *Mem
	n      *node
	name   string
	closed bool
}

func (w *writer) Write(p []byte) (int, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if w.closed {
		return 0, pathErr("write", w.name, fs.ErrClosed)
	}
	w.n.data = append(w.n.data, p...)
	w.n.mod = w.m.now()
	return len(p), nil
}

func (w *writer) Sync() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if w.closed {
		return pathErr("sync", w.name, fs.ErrClosed)
	}
	w.n.durable = slices.Clone(w.n.data)
	return nil
}

func (w *writer) Close() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if w.closed {
		return pathErr("close", w.name, fs.ErrClosed)
	}
	delete(w.m.open, w)
	w.closed = true
	return nil
}
