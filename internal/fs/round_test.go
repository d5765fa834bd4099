package fs_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

func TestWriteOnceAndReplace(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		ctx := t.Context()
		name := filepath.Join(dir, "f")
		must(t, fs.WriteOnce(ctx, fsys, name, []byte("one")))
		wantErr(t, fs.WriteOnce(ctx, fsys, name, []byte("two")), fs.ErrExist)
		if got := read(t, fsys, name); got != "one" {
			t.Errorf("%q", got)
		}
		must(t, fs.Replace(ctx, fsys, name, []byte("three")))
		if got := read(t, fsys, name); got != "three" {
			t.Errorf("%q", got)
		}
		must(t, fs.Replace(ctx, fsys, filepath.Join(dir, "g"), nil))
		if got := names(t, fsys, dir); !slices.Equal(got, []string{"f", "g"}) {
			t.Errorf("left behind: %v", got)
		}
		must(t, fs.SyncAll(ctx, fsys, []string{name, filepath.Join(dir, "g")}, []string{dir, dir}))
		wantErr(t, fs.SyncAll(ctx, fsys, []string{name, filepath.Join(dir, "h")}, []string{dir}), fs.ErrNotExist)
	})
}

// Of many writers of one name exactly one succeeds, and its content is what is there.
func TestOneWinner(t *testing.T) {
	each(t, func(t *testing.T, fsys fs.FS, dir string) {
		name := filepath.Join(dir, "f")
		const n = 8
		errs := make(chan error, n)
		for i := range n {
			go func() { errs <- fs.WriteOnce(context.Background(), fsys, name, []byte{byte(i)}) }()
		}
		won := 0
		for range n {
			if err := <-errs; err == nil {
				won++
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		}
		if won != 1 || len(read(t, fsys, name)) != 1 {
			t.Errorf("%d writers succeeded", won)
		}
		if got := names(t, fsys, dir); len(got) != 1 {
			t.Errorf("left behind: %v", got)
		}
	})
}

func TestRoundErrors(t *testing.T) {
	ctx := t.Context()
	stage := func(fsys fs.FS, name string, log *[]string) *fs.Staged {
		return fs.Stage(fsys, "/d/"+name, []byte(name)).Then(
			func() { *log = append(*log, name) },
			func(err error) error { return fmt.Errorf("entry %s: %w", name, err) })
	}
	for _, c := range []struct {
		name    string
		rule    *errfs.Rule
		before  string // a file that is there already
		err     error
		text    string
		visible []string
		done    []string
	}{
		{name: "all well", visible: []string{"a", "b", "c"}, done: []string{"a", "b", "c"}},
		{
			name: "no space", rule: errfs.FailAt(2, errfs.Ops(errfs.SyncFile), errfs.ErrNoSpace),
			err: errfs.ErrNoSpace, text: "entry ",
		},
		{
			name: "second is taken", before: "b",
			err: fs.ErrExist, text: "entry b: ", visible: []string{"a", "b"}, done: []string{"a"},
		},
		{
			name: "rename fails", rule: errfs.FailAt(3, errfs.Ops(errfs.RenameNew), errfs.ErrIO),
			err: errfs.ErrIO, text: "entry c: ", visible: []string{"a", "b"}, done: []string{"a", "b"},
		},
		{
			name: "directory not synced", rule: errfs.FailAt(1, errfs.Ops(errfs.SyncDir), errfs.ErrIO),
			err: errfs.ErrIO, visible: []string{"a", "b", "c"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := errfs.NewMem()
			must(t, mem.MkdirAll("/d"))
			if c.before != "" {
				write(t, mem, "/d/"+c.before, "")
			}
			fsys := fs.FS(mem)
			if c.rule != nil {
				fsys = errfs.Wrap(mem, c.rule)
			}
			var r fs.Round
			var done []string
			for _, n := range []string{"a", "b", "c"} {
				r.Publish(stage(fsys, n, &done))
			}
			err := r.Commit(ctx)
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v", err)
			}
			if got := names(t, mem, "/d"); !slices.Equal(got, c.visible) {
				t.Errorf("visible: %v", got)
			}
			if !slices.Equal(done, c.done) {
				t.Errorf("done: %v", done)
			}
			if !r.Empty() {
				t.Error("the round is not empty")
			}
		})
	}

	mem := errfs.NewMem()
	must(t, mem.MkdirAll("/d"))
	var r fs.Round
	var done []string
	r.Publish(stage(mem, "a", &done))
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	wantErr(t, r.Commit(cancelled), context.Canceled)
	if got := names(t, mem, "/d"); got != nil {
		t.Errorf("left behind: %v", got)
	}
	s := stage(mem, "a", &done)
	must(t, s.Discard())
	must(t, s.Discard())
	r.Publish(s)
	wantErr(t, r.Commit(ctx), fs.ErrClosed)
	if got := names(t, mem, "/d"); got != nil {
		t.Errorf("left behind: %v", got)
	}
	for _, kind := range []errfs.Kind{errfs.Create, errfs.Write} { // at once, or when the round writes it
		full := func() fs.FS { return errfs.Wrap(mem, errfs.FailAt(1, errfs.Ops(kind), errfs.ErrNoSpace)) }
		_, err := fs.StageFunc(full(), "/d/a", func(w fs.Writer) error {
			_, err := w.Write([]byte("x"))
			return err
		})
		wantErr(t, err, errfs.ErrNoSpace)
		wantErr(t, fs.WriteOnce(ctx, full(), "/d/a", []byte("x")), errfs.ErrNoSpace)
	}
	if got := names(t, mem, "/d"); got != nil {
		t.Errorf("left behind: %v", got)
	}
}

// Wherever the machine stops, a file that WriteOnce was to write is there whole or not at all,
// and is there if WriteOnce returned. Replace leaves the old content or the new.
func TestCrashLaw(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		mem := errfs.NewMem()
		if err := fs.MakeDirs(mem, "/d/e"); err != nil {
			t.Fatal(err)
		}
		if err := fs.Replace(ctx, mem, "/d/r", []byte("old content")); err != nil {
			t.Fatal(err)
		}
		crash := errfs.CrashAt(rapid.IntRange(1, 30).Draw(t, "at"))
		fsys := errfs.Wrap(mem, crash)
		want := map[string]string{"d/a": "first", "d/b": "second", "d/e/c": "third", "d/r": "new content"}
		firm := map[string]bool{}
		run := func() error {
			if err := fs.WriteOnce(ctx, fsys, "/d/a", []byte("first")); err != nil {
				return err
			}
			firm["d/a"] = true
			var r fs.Round
			for _, n := range []string{"d/b", "d/e/c", "d/r"} {
				s := fs.Stage(fsys, "/"+n, []byte(want[n]))
				if n == "d/r" {
					s.Replacing()
				}
				r.Publish(s)
			}
			if err := r.Commit(ctx); err != nil {
				return err
			}
			firm["d/b"], firm["d/e/c"], firm["d/r"] = true, true, true
			return nil
		}
		if err := run(); err != nil && !errors.Is(err, errfs.ErrCrashed) {
			t.Fatal(err)
		}
		choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "survives") }
		got := mem.Crash(choose).Tree()
		for name, content := range want {
			have, ok := got[name]
			switch {
			case firm[name] && have != content:
				t.Fatalf("%s was written but is %q", name, have)
			case name == "d/r" && have != content && have != "old content",
				name != "d/r" && ok && have != content:
				t.Fatalf("%s is %q", name, have)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok && !fs.IsTemp(filepath.Base(name)) {
				t.Fatalf("%s should not be there", name)
			}
		}
	})
}

func BenchmarkRound(b *testing.B) {
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			fsys, dir := fs.Local(), b.TempDir()
			k := 0
			for b.Loop() {
				var r fs.Round
				for range n {
					r.Publish(fs.Stage(fsys, filepath.Join(dir, fmt.Sprint(k)), make([]byte, 1200)))
					k++
				}
				if err := r.Commit(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
