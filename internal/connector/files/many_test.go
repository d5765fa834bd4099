package files_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// manyFiles is how many files the folder of TestManyFiles has; MILLRACE_FILES says another number (make many-files).
const manyFiles = 1000

// perFile is how many bytes of memory a file may take that was read.
const perFile = 64

// counted counts what is asked of a file system.
type counted struct {
	fs.FS
	listed, described atomic.Int64
}

func (c *counted) EachEntry(name string, show func(fs.Entry) error) error {
	c.listed.Add(1)
	return fs.Each(c.FS, name, show)
}

func (c *counted) Stat(name string) (fs.Info, error) {
	c.described.Add(1)
	return c.FS.Stat(name)
}

// heap is what is in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first one leaves what has finalizers
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A stream works through a folder of very many files, and then takes new ones as they come. No batch asks more of the file system than
// another, and nothing stays in memory but what tells the files that were read: a few bytes a file.
func TestManyFiles(t *testing.T) {
	n := manyFiles
	if s := os.Getenv("MILLRACE_FILES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	f := newFeed(t)
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return fmt.Sprintf("%s/events-2026-01-01-%08d.json", f.dir, i) }
	for i := range n {
		if err := os.WriteFile(name(i), []byte("{\"v\":1}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(f.dir, old, old); err != nil {
		t.Fatal(err)
	}
	disk := &counted{FS: fs.Local()}
	const batches = 50
	table, err := request{ddl: "v INT", path: f.dir, fs: disk, opts: map[string]string{"maxFilesPerTrigger": strconv.Itoa(n / batches)}, stream: true}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	s, err := table.Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(f.log)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	var offset source.Offset
	step := func() (work int64, took time.Duration) {
		work = disk.listed.Load()*int64(n) + disk.described.Load()
		start := time.Now()
		end, err := s.LatestOffset(t.Context(), offset, source.LimitDefault)
		if err != nil {
			t.Fatal(err)
		}
		if string(end) == string(offset) {
			t.Fatal("there is nothing new")
		}
		if _, err := s.Plan(t.Context(), offset, end); err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		offset = end
		return disk.listed.Load()*int64(n) + disk.described.Load() - work, time.Since(start)
	}
	report := func(what string, times []time.Duration) {
		slices.Sort(times)
		t.Logf("%s: %d batches, median %v, longest %v, heap %.1f MB", what, len(times), times[len(times)/2], times[len(times)-1], float64(heap()-before)/(1<<20))
	}
	_, took := step()
	report("the first", []time.Duration{took})
	var times []time.Duration
	most := int64(0)
	for range batches - 1 {
		work, took := step()
		times, most = append(times, took), max(most, work)
	}
	report("the backlog", times)
	if limit := int64(n/batches) + 10; most > limit {
		t.Errorf("a batch of the backlog looked at %d files, it has %d", most, n/batches)
	}
	held := heap() - before
	if limit := int64(n)*perFile + 4<<20; held > limit {
		t.Errorf("%d bytes are held for %d files that were read, at most %d were expected", held, n, limit)
	}
	times = nil
	for i := range 30 {
		path := name(n + i)
		if err := os.WriteFile(path, []byte("{\"v\":1}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, took := step()
		times = append(times, took)
	}
	report("one new file each", times)
	runtime.KeepAlive(table)
}

// While files of an earlier listing wait for their batch, nobody lists again, whatever comes into the folder; what has come is read after them.
func TestListsOnceForManyBatches(t *testing.T) {
	f := newFeed(t)
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(i int) {
		if err := os.WriteFile(fmt.Sprintf("%s/%02d.json", f.dir, i), []byte("{\"v\":1}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		put(i)
	}
	disk := &counted{FS: fs.Local()}
	table, err := request{ddl: "v INT", path: f.dir, fs: disk, opts: map[string]string{"maxFilesPerTrigger": "2"}, stream: true}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(f.log)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var offset source.Offset
	for batch := range 8 {
		before := disk.listed.Load()
		end, err := s.LatestOffset(t.Context(), offset, source.LimitDefault)
		if err != nil {
			t.Fatal(err)
		}
		if listed := disk.listed.Load() > before; listed != (batch == 0 || batch == 4 || batch >= 6) {
			t.Errorf("batch %d: listed: %t", batch, listed)
		}
		offset = end
		if batch < 4 {
			put(10 + batch)
		}
	}
}
