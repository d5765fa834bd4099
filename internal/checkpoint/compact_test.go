package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

func TestCompactInterval(t *testing.T) {
	for _, c := range []struct {
		wanted  int64
		compact []int64
		want    int64
	}{
		{10, nil, 10},
		{10, []int64{9}, 10},
		{10, []int64{4}, 5},     // was begun with 5
		{10, []int64{4, 9}, 5},  // two say it
		{4, []int64{9, 19}, 10}, // also when another one is wanted now
		{3, []int64{19}, 4},     // the smallest divisor of 20 from 3 on
		{9, []int64{19}, 10},    // ... from 9 on
		{11, []int64{19}, 20},   // none below half
		{2, []int64{6}, 7},      // a prime
		{5, []int64{9, 19, 24}, 5},
	} {
		var entries []entry
		for _, id := range c.compact {
			entries = append(entries, entry{id - 1, false}, entry{id, true})
		}
		if got := compactInterval(c.wanted, entries); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

type testClock struct{ t time.Time }

func (c *testClock) now() time.Time { return c.t }

// logOfFiles adds one file per id.
func logOfFiles(t *testing.T, mem *errfs.Mem, ids int64, opts CompactOptions) *SourceLog {
	t.Helper()
	l, err := OpenSourceLog(mem, "s", opts)
	must(t, err)
	for id := range ids {
		must(t, l.Add(t.Context(), id, []SourceFile{{Path: fmt.Sprint("file:///f", id), TimestampMs: id}}))
	}
	return l
}

func files(mem *errfs.Mem) []string {
	var all []string
	for name := range mem.Tree() {
		all = append(all, name[strings.LastIndexByte(name, '/')+1:])
	}
	slices.Sort(all)
	return all
}

func TestExpiredEntriesAreDeleted(t *testing.T) {
	clock := &testClock{time.UnixMilli(1e12)}
	mem := errfs.NewMem()
	mem.SetClock(clock.now)
	opts := CompactOptions{Interval: 3, MinBatchesToRetain: 4, CleanupDelay: time.Minute, Now: clock.now}
	l := logOfFiles(t, mem, 11, opts)
	if got := files(mem); len(got) != 11 {
		t.Errorf("too early: %v", got)
	}
	clock.t = clock.t.Add(time.Minute)
	must(t, l.Add(t.Context(), 11, nil)) // a compaction; 8 to 11 must stay readable, and 8 is one
	if d := cmp.Diff([]string{"10", "11.compact", "8.compact", "9"}, files(mem)); d != "" {
		t.Error(d)
	}
	all, err := l.All()
	must(t, err)
	if len(all) != 11 {
		t.Errorf("%d files", len(all))
	}
	for id := range int64(11) { // those whose entry is gone are in a compaction
		got, err := l.Get(id)
		must(t, err)
		if len(got) != 1 || got[0].BatchID != id {
			t.Errorf("entry %d: %v", id, got)
		}
	}
	if got, err := l.Get(11); err != nil || len(got) != 0 {
		t.Errorf("entry 11: %v, %v", got, err)
	}
	_, err = l.Get(12)
	wantClass(t, err, "BATCH_METADATA_NOT_FOUND", "s/12")

	keep := errfs.NewMem()
	keep.SetClock(func() time.Time { return time.Unix(0, 0) })
	opts.KeepExpired = true
	logOfFiles(t, keep, 12, opts)
	if got := files(keep); len(got) != 12 {
		t.Errorf("deleted in spite of the option: %v", got)
	}
}

func TestGapIsAnError(t *testing.T) {
	mem := errfs.NewMem()
	logOfFiles(t, mem, 8, CompactOptions{Interval: 4})
	must(t, mem.Remove("s/5"))
	l, err := OpenSourceLog(mem, "s", CompactOptions{Interval: 4})
	must(t, err)
	if _, err := l.All(); err != nil {
		t.Errorf("5 is in 7.compact: %v", err)
	}
	must(t, mem.Remove("s/7.compact"))
	must(t, l.Refresh())
	_, err = l.All()
	wantClass(t, err, "BATCH_METADATA_NOT_FOUND", "s/5")
	err = l.Add(t.Context(), 7, nil)
	wantClass(t, err, "BATCH_METADATA_NOT_FOUND", "s/5")
	if _, ok := mem.Tree()["s/7.compact"]; ok {
		t.Error("a compaction that lost files was written")
	}
}

func TestTornEntryIsNotCompacted(t *testing.T) {
	mem := errfs.NewMem()
	l := logOfFiles(t, mem, 3, CompactOptions{Interval: 4})
	must(t, fs.Replace(t.Context(), mem, "s/1", []byte("v1\n{\"path\":\"file:///f1\",\"tim")))
	wantClass(t, l.Add(t.Context(), 3, nil), corrupt, "s/1", "line 2")
	must(t, fs.Replace(t.Context(), mem, "s/1", nil))
	wantClass(t, l.Add(t.Context(), 3, nil), corrupt, "s/1", "empty")
}

// A sink log that begins at a later batch gets empty entries for those before, so that readers do not
// take them for lost.
func TestLogThatBeginsLate(t *testing.T) {
	for _, first := range []int64{1, 7, 9, 10, 19, 23} {
		mem := errfs.NewMem()
		l, err := OpenSinkLog(mem, "out", CompactOptions{})
		must(t, err)
		for id := first; id < first+25; id++ {
			if l.Committed(id) {
				t.Errorf("%d is committed", id)
			}
			must(t, l.Add(t.Context(), id, []SinkFile{NewSinkFile(fmt.Sprintf("/out/%d", id), 1, time.UnixMilli(5))}))
			if !l.Committed(id) {
				t.Errorf("%d is not committed", id)
			}
			fresh, err := OpenSinkLog(mem, "out", CompactOptions{})
			must(t, err)
			got, err := fresh.Files()
			must(t, err)
			if int64(len(got)) != id-first+1 {
				t.Fatalf("began at %d: %d files after %d", first, len(got), id)
			}
		}
	}
}

func TestSinkLog(t *testing.T) {
	ctx := t.Context()
	mem := errfs.NewMem()
	if has, err := HasSinkLog(mem, "out"); has || err != nil {
		t.Error(has, err)
	}
	clock := &testClock{time.UnixMilli(10_000)}
	l, err := OpenSinkLog(mem, "out", CompactOptions{Interval: 3, Retention: 2 * time.Second, Now: clock.now})
	must(t, err)
	if got, err := l.Files(); got != nil || err != nil {
		t.Error(got, err)
	}
	file := func(name string, sec int64) SinkFile { return NewSinkFile("/out/"+name, 7, time.Unix(sec, 0)) }
	must(t, l.Add(ctx, 0, []SinkFile{file("a b", 7), file("b", 9)}))
	must(t, l.Add(ctx, 1, nil))
	if has, err := HasSinkLog(mem, "out"); !has || err != nil {
		t.Error(has, err)
	}
	want := "v1\n" +
		`{"path":"file:///out/a%20b","size":7,"isDir":false,"modificationTime":7000,"blockReplication":1,"blockSize":33554432,"action":"add"}` + "\n" +
		`{"path":"file:///out/b","size":7,"isDir":false,"modificationTime":9000,"blockReplication":1,"blockSize":33554432,"action":"add"}`
	if d := cmp.Diff(map[string]string{"out/_spark_metadata/0": want, "out/_spark_metadata/1": "v1"}, mem.Tree()); d != "" {
		t.Error(d)
	}
	paths := func() (all []string) {
		t.Helper()
		got, err := l.Files()
		must(t, err)
		for _, f := range got {
			all = append(all, f.Path)
		}
		return all
	}
	if d := cmp.Diff([]string{"file:///out/b"}, paths()); d != "" { // a is over its time for this reader
		t.Error(d)
	}
	must(t, l.Add(ctx, 2, []SinkFile{file("c", 10)}))
	if text := mem.Tree()["out/_spark_metadata/2.compact"]; strings.Contains(text, "a%20b") || !strings.Contains(text, "/b") || !strings.Contains(text, "/c") {
		t.Errorf("%q", text)
	}
	gone := file("b", 9)
	gone.Action = DeleteFile
	must(t, l.Add(ctx, 3, []SinkFile{gone, file("d", 10)}))
	if d := cmp.Diff([]string{"file:///out/c", "file:///out/d"}, paths()); d != "" {
		t.Error(d)
	}
	wantClass(t, l.Add(ctx, 3, nil), "CONCURRENT_STREAM_LOG_UPDATE")
}

// A reader that listed the log before another process compacted and deleted still gets
// everything.
func TestReaderBehindCleanup(t *testing.T) {
	clock := &testClock{time.UnixMilli(1e12)}
	mem := errfs.NewMem()
	mem.SetClock(clock.now)
	opts := CompactOptions{Interval: 3, MinBatchesToRetain: 1, CleanupDelay: 1, Now: clock.now}
	w := logOfFiles(t, mem, 5, opts)
	r, err := OpenSourceLog(mem, "s", opts)
	must(t, err)
	clock.t = clock.t.Add(time.Hour)
	for id := int64(5); id < 12; id++ {
		must(t, w.Add(t.Context(), id, []SourceFile{{Path: "file:///x"}}))
	}
	if _, ok := mem.Tree()["s/4"]; ok {
		t.Fatal("nothing was deleted")
	}
	got, err := r.All()
	must(t, err)
	if len(got) != 12 {
		t.Errorf("%d files", len(got))
	}
}

// Whatever the intervals of the runs, and wherever they crash, all files that were added are listed, in
// order.
func TestCompactionLaw(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		clock := &testClock{time.UnixMilli(1e12)}
		mem := errfs.NewMem()
		mem.SetClock(clock.now)
		var want []SourceFile
		next := int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			opts := CompactOptions{
				Interval:           rapid.IntRange(1, 6).Draw(t, "interval"),
				MinBatchesToRetain: rapid.Int64Range(1, 5).Draw(t, "retain"),
				CleanupDelay:       1, Now: clock.now,
			}
			fsys := errfs.Wrap(mem, errfs.CrashAt(rapid.IntRange(1, 200).Draw(t, "crash")))
			l, err := OpenSourceLog(fsys, "s", opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.All()
			if err != nil {
				t.Fatal(err)
			}
			last, ok := l.LatestID()
			if ok && last == next { // was added, though its writer did not live to see it
				next++
				want = append(want, SourceFile{Path: fmt.Sprint("f", last), BatchID: last})
			}
			if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
				t.Fatal(d)
			}
			for range rapid.IntRange(0, 20).Draw(t, "entries") {
				clock.t = clock.t.Add(time.Second)
				err := l.Add(ctx, next, []SourceFile{{Path: fmt.Sprint("f", next)}})
				if errors.Is(err, errfs.ErrCrashed) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, SourceFile{Path: fmt.Sprint("f", next), BatchID: next})
				next++
			}
			mem = mem.Crash(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "survives") })
			if l, err := OpenSourceLog(mem, "s", opts); err != nil {
				t.Fatal(err)
			} else if last, ok := l.LatestID(); ok && last > next {
				t.Fatalf("entry %d after %d", last, next)
			}
		}
	})
}

func BenchmarkReadSinkLog(b *testing.B) {
	text := []byte("v1")
	for i := range 10_000 {
		f := NewSinkFile(fmt.Sprintf("/data/out/part-00000-062d590d-707e-4d97-be66-%012d-c000.snappy.parquet", i), 451, time.UnixMilli(1795994612066))
		text = appendSinkFile(append(text, '\n'), f)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseItems(nil, text, parseSinkFile); err != nil {
			b.Fatal(err)
		}
	}
}
