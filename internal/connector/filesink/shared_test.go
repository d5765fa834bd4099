package filesink_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// writeParts writes a batch whose parts have some rows each. So many of them are open at a time.
func (s setup) writeParts(t *testing.T, snk sink.Sink, open int, parts ...[]types.Row) {
	t.Helper()
	b, _, err := snk.Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var messages []sink.Message
	for first := 0; first < len(parts); first += open {
		some := parts[first:min(first+open, len(parts))]
		writers := make([]sink.Writer, len(some))
		for i := range some {
			if writers[i], err = b.Writer(t.Context(), first+i); err != nil {
				t.Fatal(err)
			}
		}
		for i := len(some) - 1; i >= 0; i-- { // the first part need not be the first to come
			if err := writers[i].Write(t.Context(), s.record(t, some[i]...)); err != nil {
				t.Fatal(err)
			}
		}
		for i := len(some) - 1; i >= 0; i-- {
			m, err := writers[i].Close(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, m)
		}
	}
	if err := b.Commit(t.Context(), messages); err != nil {
		t.Fatal(err)
	}
}

// folders counts the data files of each folder.
func folders(t *testing.T, dir string) map[string]int {
	out := map[string]int{}
	for _, name := range names(t, dir) {
		if i := strings.Index(name, "part-"); i >= 0 {
			out[name[:i]]++
		}
	}
	return out
}

// However many parts a batch of a stream has, its output has one file, or one in the folder of each partition.
func TestOneFile(t *testing.T) {
	var parts [][]types.Row
	want := map[string]int{}
	for p := range 20 {
		var rows []types.Row
		for v := range 150 { // more than a writer keeps open
			rows = append(rows, types.Row{int32(v), fmt.Sprintf("%02d", p)})
			want[fmt.Sprintf("part=%d/", v)] = 1
		}
		parts = append(parts, rows)
	}
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := setup{kind: kind, dir: t.TempDir() + "/out"}
			s.writeParts(t, s.open(t), 3, parts...)
			if d := cmp.Diff(map[string]int{"": 1}, folders(t, s.dir)); d != "" {
				t.Error(d)
			}
			var rows []string
			for _, part := range parts {
				for _, row := range part {
					rows = append(rows, fmt.Sprintf("%d | %s", row[0], row[1]))
				}
			}
			if d := cmp.Diff(rows, s.rows(t)); d != "" { // in the order of the parts
				t.Error(d)
			}
			divided := setup{kind: kind, dir: t.TempDir() + "/out", parts: []string{"part"}}
			divided.writeParts(t, divided.open(t), 3, parts...)
			if d := cmp.Diff(want, folders(t, divided.dir)); d != "" {
				t.Error(d)
			}
			if got := divided.rows(t); len(got) != len(rows) {
				t.Errorf("%d rows of %d", len(got), len(rows))
			}
		})
	}
}

// A batch that is more than is held has as many files as parts were written at a time.
func TestFilesOfLargeBatch(t *testing.T) {
	var parts [][]types.Row
	var want []string
	long := strings.Repeat("x", 100<<10)
	for p := range 12 {
		var rows []types.Row
		for v := range 20 {
			text := fmt.Sprint(v, long)
			rows = append(rows, types.Row{int32(p), text})
			want = append(want, fmt.Sprintf("%d | %s", p, text))
		}
		parts = append(parts, rows)
	}
	for _, open := range []int{1, 2, 3} {
		s := setup{dir: t.TempDir() + "/out"}
		s.writeParts(t, s.open(t), open, parts...)
		if n := folders(t, s.dir)[""]; n < 1 || n > open {
			t.Errorf("%d at a time: %d files", open, n)
		}
		got := s.rows(t)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(want, got) {
			t.Errorf("%d at a time: %d rows of %d, or others", open, len(got), len(want))
		}
	}
}

// A batch of which a part was given up does not become output, and leaves no file, open or not.
func TestDroppedPart(t *testing.T) {
	mem := errfs.NewMem()
	if err := fs.MakeDirs(mem, "/out"); err != nil {
		t.Fatal(err)
	}
	s := setup{dir: "/out", fs: mem}
	b, _, err := s.open(t).Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 9<<20) // not held
	var messages []sink.Message
	for part := range 2 {
		w, err := b.Writer(t.Context(), part)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), s.record(t, types.Row{int32(part), long})); err != nil {
			t.Fatal(err)
		}
		if part == 1 {
			w.Abort()
			continue
		}
		m, err := w.Close(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	if err := b.Commit(t.Context(), messages); err == nil {
		t.Error("the batch without one of its parts is committed")
	}
	b.Abort(t.Context())
	if open := mem.OpenFiles(); len(open) > 0 {
		t.Errorf("open: %q", open)
	}
	entries, err := mem.ReadDir("/out")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "part-") {
			t.Errorf("%s is left", e.Name())
		}
	}
}
