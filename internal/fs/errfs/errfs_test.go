package errfs_test

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

func put(fsys fs.FS, name, content string, sync bool) error {
	w, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, content)
	if err == nil && sync {
		err = w.Sync()
	}
	return errors.Join(err, w.Close())
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  *errfs.Rule
		err   error
		want  map[string]string
		calls int
	}{
		{"nothing fails", errfs.FailAt(9, errfs.Ops(errfs.Create), errfs.ErrIO), nil, map[string]string{"a": "12345678", "b": "12345678"}, 2},
		{"create", errfs.FailAt(2, errfs.Ops(errfs.Create), errfs.ErrIO), errfs.ErrIO, map[string]string{"a": "12345678"}, 2},
		{"write nothing", errfs.FailAt(2, errfs.Ops(errfs.Write), errfs.ErrNoSpace), errfs.ErrNoSpace, map[string]string{"a": "12345678", "b": ""}, 2},
		{"write short", errfs.FailAt(1, errfs.Ops(errfs.Write), errfs.ErrNoSpace).Short(3), errfs.ErrNoSpace, map[string]string{"a": "123"}, 1},
		{"torn", errfs.FailAt(1, errfs.Ops(errfs.Write), errfs.ErrIO).Torn(5), nil, map[string]string{"a": "12345", "b": "12345678"}, 2},
		{"by name", errfs.FailAt(1, errfs.Ops(errfs.SyncFile).Named("b"), errfs.ErrIO), errfs.ErrIO, map[string]string{"a": "12345678", "b": "12345678"}, 2},
		{"close", errfs.FailAt(1, errfs.Ops(errfs.Close), errfs.ErrIO), errfs.ErrIO, map[string]string{"a": "12345678"}, 1},
		{"crash in write", errfs.CrashAt(2), errfs.ErrCrashed, map[string]string{"a": "1234"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := errfs.NewMem()
			fsys := errfs.Wrap(mem, c.rule)
			var err error
			calls := 0
			for _, name := range []string{"a", "b"} {
				calls++
				if err = put(fsys, name, "12345678", true); err != nil {
					break
				}
			}
			if !errors.Is(err, c.err) {
				t.Errorf("error %v", err)
			}
			if calls != c.calls {
				t.Errorf("%d calls", calls)
			}
			if d := cmp.Diff(c.want, mem.Tree()); d != "" {
				t.Error(d)
			}
			if hit := c.err != nil || c.name == "torn"; c.rule.Hit() != hit {
				t.Errorf("hit: %v", c.rule.Hit())
			}
		})
	}
}

// A crash after an operation lets it happen, and those of the same step beside it; then nothing works, reading neither.
func TestCrashAfter(t *testing.T) {
	mem := errfs.NewMem()
	cut := errfs.CrashAfter(1, errfs.Ops(errfs.SyncDir).Named("logs"))
	fsys := errfs.Wrap(mem, cut)
	for _, dir := range []string{"logs", "data"} {
		if err := errors.Join(fsys.MkdirAll(dir), put(fsys, dir+"/a", "1", true)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(fsys.SyncDir("data"), fsys.SyncDir(".")); err != nil || cut.Stopped() {
		t.Fatal(err, cut.Stopped())
	}
	if err := fsys.SyncDir("logs"); err != nil || !cut.Stopped() || cut.Hit() {
		t.Fatal(err, cut.Stopped(), cut.Hit())
	}
	if err := fsys.SyncDir("data"); err != nil {
		t.Error(err)
	}
	if _, err := fsys.Open("logs/a"); !errors.Is(err, errfs.ErrCrashed) {
		t.Errorf("open: %v", err)
	}
	if err := fsys.SyncDir("data"); !errors.Is(err, errfs.ErrCrashed) || !cut.Hit() {
		t.Errorf("sync afterwards: %v", err)
	}
	if d := cmp.Diff(map[string]string{"logs/a": "1", "data/a": "1"}, mem.Crash(nil).Tree()); d != "" {
		t.Error(d)
	}
	never := errfs.CrashAt(1 << 30)
	fsys = errfs.Wrap(mem, never)
	never.Stop()
	if _, err := fsys.Open("logs/a"); !errors.Is(err, errfs.ErrCrashed) {
		t.Errorf("after Stop: %v", err)
	}
}

func TestForever(t *testing.T) {
	fsys := errfs.Wrap(errfs.NewMem(), errfs.FailAt(2, errfs.Ops(errfs.Create), errfs.ErrNoSpace).Forever())
	for i, name := range []string{"a", "b", "c"} {
		if err := put(fsys, name, "", false); (err != nil) != (i > 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// After a crash every operation fails, reads too, and the cut write is the last thing that changed.
func TestNothingWorksAfterCrash(t *testing.T) {
	mem := errfs.NewMem()
	if err := put(mem, "old", "x", true); err != nil {
		t.Fatal(err)
	}
	fsys := errfs.Wrap(mem, errfs.CrashAt(1))
	f, err := fsys.Open("old")
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.SyncDir("/"); !errors.Is(err, errfs.ErrCrashed) {
		t.Error(err)
	}
	_, readErr := f.Read(make([]byte, 1))
	_, atErr := f.ReadAt(make([]byte, 1), 0)
	_, openErr := fsys.Open("old")
	_, listErr := fsys.ReadDir("/")
	_, statErr := fsys.Stat("old")
	_, lockErr := fsys.Lock("old")
	for i, err := range []error{
		readErr, atErr, openErr, listErr, statErr, lockErr, put(fsys, "new", "", false), fsys.Rename("old", "x"), fsys.RenameNew("old", "x"),
		fsys.Remove("old"), fsys.RemoveAll("old"), fsys.MkdirAll("d"), fsys.Sync("old"),
	} {
		if !errors.Is(err, errfs.ErrCrashed) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if d := cmp.Diff(map[string]string{"old": "x"}, mem.Tree()); d != "" {
		t.Error(d)
	}
}

func TestCrashForgets(t *testing.T) {
	mem := errfs.NewMem()
	for _, err := range []error{
		mem.MkdirAll("d"), mem.SyncDir("/"), put(mem, "d/synced", "content", true), put(mem, "d/data", "content", false), mem.SyncDir("d"),
		put(mem, "d/nameless", "content", true), mem.Remove("d/synced"), mem.MkdirAll("e"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[string]string{"d/synced": "content", "d/data": ""}, mem.Crash(nil).Tree()); d != "" {
		t.Error(d)
	}
	all := mem.Crash(func(n int) int { return n - 1 }) // everything but the torn tail survives
	if d := cmp.Diff(map[string]string{"d/data": "content", "d/nameless": "content"}, all.Tree()); d != "" {
		t.Error(d)
	}
	zeros := mem.Crash(func(n int) int {
		if n == 3 {
			return 2 // new length ...
		}
		return min(4, n-1) // ... and four bytes of content
	})
	if got := zeros.Tree()["d/data"]; got != "cont\x00\x00\x00" {
		t.Errorf("%q", got)
	}
	if _, err := mem.Open("d/nameless"); err != nil {
		t.Errorf("the crash changed the old file system: %v", err)
	}
}
