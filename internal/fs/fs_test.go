package fs_test

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// each runs a test on every implementation, in a directory of its own.
func each(t *testing.T, f func(t *testing.T, fsys fs.FS, dir string)) {
	t.Run("local", func(t *testing.T) { f(t, fs.Local(), t.TempDir()) })
	t.Run("mem", func(t *testing.T) { f(t, memDir(t), "/disk/dir") })
	t.Run("wrapped", func(t *testing.T) { f(t, errfs.Wrap(memDir(t)), "/disk/dir") })
	t.Run("unsynced", func(t *testing.T) { f(t, fs.WithoutSync(fs.Local()), t.TempDir()) })
}

func memDir(t *testing.T) fs.FS {
	m := errfs.NewMem()
	must(t, m.MkdirAll("/disk/dir"))
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

func write(t *testing.T, fsys fs.FS, name, content string) {
	t.Helper()
	w, err := fsys.Create(name)
	must(t, err)
	_, err = io.WriteString(w, content)
	must(t, err)
	must(t, w.Sync())
	must(t, w.Close())
}

func read(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	b, err := fs.ReadFile(fsys, name)
	must(t, err)
	return string(b)
}

func names(t *testing.T, fsys fs.FS, dir string) []string {
	t.Helper()
	list, err := fsys.ReadDir(dir)
	must(t, err)
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	var shown []string
	must(t, fs.Each(fsys, dir, func(e fs.Entry) error {
		shown = append(shown, e.Name())
		return nil
	}))
	slices.Sort(shown) // they come in any order
	if !slices.Equal(all, shown) {
		t.Errorf("%s has %q, shown one by one %q", dir, all, shown)
	}
	return all
}

func TestContract(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		_, err := fsys.Open(a)
		wantErr(t, err, fs.ErrNotExist)
		_, err = fsys.Stat(a)
		wantErr(t, err, fs.ErrNotExist)
		_, err = fsys.ReadDir(filepath.Join(dir, "none"))
		wantErr(t, err, fs.ErrNotExist)
		wantErr(t, fs.Each(fsys, filepath.Join(dir, "none"), func(fs.Entry) error { return nil }), fs.ErrNotExist)
		wantErr(t, fsys.Remove(a), fs.ErrNotExist)
		wantErr(t, fsys.Sync(a), fs.ErrNotExist)
		wantErr(t, fsys.Rename(a, b), fs.ErrNotExist)
		wantErr(t, fsys.RenameNew(a, b), fs.ErrNotExist)
		must(t, fsys.RemoveAll(a))

		write(t, fsys, a, "one")
		_, err = fsys.Create(a)
		wantErr(t, err, fs.ErrExist)
		must(t, fsys.Sync(a))
		must(t, fsys.SyncDir(dir))
		info, err := fsys.Stat(a)
		must(t, err)
		if info.Name() != "a" || info.Size() != 3 || info.IsDir() || !info.Mode().IsRegular() {
			t.Errorf("%+v", info)
		}

		write(t, fsys, b, "two")
		wantErr(t, fsys.RenameNew(a, b), fs.ErrExist)
		if got := read(t, fsys, b); got != "two" {
			t.Errorf("b is %q", got)
		}
		must(t, fsys.Rename(a, b))
		if got := read(t, fsys, b); got != "one" {
			t.Errorf("b is %q", got)
		}
		must(t, fsys.RenameNew(b, a))
		if d := cmp.Diff([]string{"a"}, names(t, fsys, dir)); d != "" {
			t.Error(d)
		}

		sub := filepath.Join(dir, "x", "y")
		must(t, fsys.MkdirAll(sub))
		must(t, fsys.MkdirAll(sub))
		write(t, fsys, filepath.Join(sub, "f"), "")
		if err := fsys.Remove(sub); err == nil {
			t.Error("a directory with a file in it was removed")
		}
		if err := fsys.MkdirAll(filepath.Join(a, "z")); err == nil {
			t.Error("a directory was made below a file")
		}
		if d := cmp.Diff([]string{"a", "x"}, names(t, fsys, dir)); d != "" {
			t.Error(d)
		}
		must(t, fsys.RemoveAll(filepath.Join(dir, "x")))
		if d := cmp.Diff([]string{"a"}, names(t, fsys, dir)); d != "" {
			t.Error(d)
		}
	})
}

// noLinks hides that a file system can link.
type noLinks struct{ fs.FS }

func TestLink(t *testing.T) {
	test := func(t *testing.T, fsys fs.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		wantErr(t, fs.Link(fsys, a, b), fs.ErrNotExist)
		write(t, fsys, a, "one")
		must(t, fs.Link(fsys, a, b))
		wantErr(t, fs.Link(fsys, a, b), fs.ErrExist)
		must(t, fsys.Remove(a))
		if got := read(t, fsys, b); got != "one" {
			t.Errorf("b is %q", got)
		}
	}
	each(t, test)
	t.Run("copy", func(t *testing.T) { test(t, noLinks{fs.Local()}, t.TempDir()) })
}

func TestReading(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		name := filepath.Join(dir, "f")
		content := strings.Repeat("0123456789", 100)
		write(t, fsys, name, content)
		f, err := fsys.Open(name)
		must(t, err)
		must(t, iotest.TestReader(f, []byte(content)))
		info, err := f.Stat()
		must(t, err)
		if info.Size() != 1000 || info.Name() != "f" {
			t.Errorf("%+v", info)
		}
		must(t, f.Close())
		if _, err := f.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("read after close: %v", err)
		}
		write(t, fsys, filepath.Join(dir, "empty"), "")
		if got := read(t, fsys, filepath.Join(dir, "empty")); got != "" {
			t.Errorf("%q", got)
		}
		if got := read(t, fsys, name); got != content {
			t.Error("content differs")
		}
		if _, err := fs.ReadFile(fsys, dir); err == nil {
			t.Error("a directory was read as a file")
		}
	})
}

func TestLock(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		name := filepath.Join(dir, "f")
		_, err := fsys.Lock(name)
		wantErr(t, err, fs.ErrNotExist)
		write(t, fsys, name, "x")
		l, err := fsys.Lock(name)
		must(t, err)
		_, err = fsys.Lock(name)
		wantErr(t, err, fs.ErrLocked)
		if got := read(t, fsys, name); got != "x" {
			t.Error("a locked file cannot be read")
		}
		must(t, l.Close())
		l, err = fsys.Lock(name)
		must(t, err)
		must(t, l.Close())
	})
}

func TestMakeDirs(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		deep := filepath.Join(dir, "a", "b", "c")
		must(t, fs.MakeDirs(fsys, deep))
		must(t, fs.MakeDirs(fsys, deep))
		write(t, fsys, filepath.Join(deep, "f"), "")
		if err := fs.MakeDirs(fsys, filepath.Join(deep, "f", "g")); err == nil {
			t.Error("a directory was made below a file")
		}
	})
	mem := errfs.NewMem()
	must(t, fs.MakeDirs(mem, "/a/b/c"))
	if _, err := mem.Crash(nil).Stat("/a/b/c"); err != nil {
		t.Errorf("after a crash: %v", err)
	}
	must(t, mem.MkdirAll("/x/y"))
	if _, err := mem.Crash(nil).Stat("/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unsynced directory survived: %v", err)
	}
}
