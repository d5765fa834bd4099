package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// feed is a directory that is read as a stream, file by file.
type feed struct {
	dir, log string
	n        int
}

func newFeed(t testing.TB) *feed {
	dir := t.TempDir()
	return &feed{dir: dir + "/in", log: dir + "/ck/sources/0"}
}

// add writes one more file, with a later time; its row is its number.
func (f *feed) add(t testing.TB, n int) {
	t.Helper()
	for range n {
		put(t, fmt.Sprintf("%s/f%03d.json", f.dir, f.n), fmt.Sprintf("{\"v\":%d}\n", f.n), f.n)
		f.n++
	}
}

func (f *feed) open(t testing.TB, opts ...string) source.Stream {
	t.Helper()
	s, err := f.try(t, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (f *feed) try(t testing.TB, opts ...string) (source.Stream, error) {
	t.Helper()
	m := map[string]string{}
	for i := 0; i < len(opts); i += 2 {
		m[opts[i]] = opts[i+1]
	}
	table, err := request{ddl: "v INT", path: f.dir, opts: m, stream: true}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	return table.Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(f.log)})
}

// batch asks for the next batch and gives its end and its rows.
func batch(t testing.TB, s source.Stream, start source.Offset) (source.Offset, string) {
	t.Helper()
	end, err := s.LatestOffset(t.Context(), start, source.LimitDefault)
	if err != nil {
		t.Fatal(err)
	}
	return end, planned(t, s, start, end)
}

func planned(t testing.TB, s source.Stream, start, end source.Offset) string {
	t.Helper()
	splits, err := s.Plan(t.Context(), start, end)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(sourcetest.Rows(t, splits), " ")
}

// batches runs up to n batches from start and prints them.
func batches(t testing.TB, s source.Stream, start source.Offset, n int) (source.Offset, []string) {
	t.Helper()
	var out []string
	for range n {
		end, rows := batch(t, s, start)
		if string(end) == string(start) {
			break
		}
		out = append(out, string(end)+" "+rows)
		start = end
	}
	return start, out
}

func TestStreamLimits(t *testing.T) {
	for _, tt := range []struct {
		opts []string
		want []string
	}{
		{nil, []string{`{"logOffset":0} 0 1 2 3 4`}},
		{[]string{"maxFilesPerTrigger", "2"}, []string{`{"logOffset":0} 0 1`, `{"logOffset":1} 2 3`, `{"logOffset":2} 4`}},
		{[]string{"maxBytesPerTrigger", "20"}, []string{`{"logOffset":0} 0 1`, `{"logOffset":1} 2 3`, `{"logOffset":2} 4`}},
		{[]string{"maxBytesPerTrigger", "1"}, []string{`{"logOffset":0} 0`, `{"logOffset":1} 1`, `{"logOffset":2} 2`, `{"logOffset":3} 3`, `{"logOffset":4} 4`}},
		{[]string{"latestFirst", "true", "maxFilesPerTrigger", "3"}, []string{`{"logOffset":0} 4 3 2`, `{"logOffset":1} 1 0`}},
	} {
		f := newFeed(t)
		f.add(t, 5)
		_, got := batches(t, f.open(t, tt.opts...), nil, 10)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.opts, d)
		}
	}
}

// The log is byte for byte Spark's, and compacted after ten entries.
func TestStreamLog(t *testing.T) {
	f := newFeed(t)
	f.add(t, 11)
	_, got := batches(t, f.open(t, "maxFilesPerTrigger", "1"), nil, 20)
	if len(got) != 11 {
		t.Errorf("%d batches", len(got))
	}
	line := func(i int) string {
		return fmt.Sprintf(`{"path":"file://%s/f%03d.json","timestamp":%d,"batchId":%d}`, f.dir, i, base.UnixMilli()+int64(i)*1000, i)
	}
	for name, lines := range map[string][]int{"0": {0}, "8": {8}, "9.compact": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "10": {10}} {
		want := "v1"
		for _, i := range lines {
			want += "\n" + line(i)
		}
		text, err := os.ReadFile(filepath.Join(f.log, name))
		if err != nil || string(text) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, text, want)
		}
	}
}

// Files that were chosen before a crash but are in no batch yet belong to the next one; nothing is read twice or left out.
func TestStreamRestart(t *testing.T) {
	f := newFeed(t)
	f.add(t, 2)
	first := f.open(t)
	end, rows := batch(t, first, nil)
	f.add(t, 2)
	if _, err := first.LatestOffset(t.Context(), end, source.LimitDefault); err != nil { // and the query never logs it
		t.Fatal(err)
	}
	f.add(t, 1)
	second := f.open(t)
	if again := planned(t, second, nil, end); again != rows {
		t.Errorf("batch 0 is %s after the restart, was %s", again, rows)
	}
	next, more := batch(t, second, end)
	if string(next) != `{"logOffset":2}` || more != "2 3 4" {
		t.Errorf("batch 1: %s %s", next, more)
	}
	if last, _ := batch(t, second, next); string(last) != string(next) {
		t.Errorf("batch 2: %s", last)
	}
}

// TestStreamLostLog: a log that ends before what the query has read is an error. Files would get numbers that count as read.
func TestStreamLostLog(t *testing.T) {
	f := newFeed(t)
	f.add(t, 2)
	end, _ := batches(t, f.open(t, "maxFilesPerTrigger", "1"), nil, 2)
	if err := os.RemoveAll(f.log); err != nil {
		t.Fatal(err)
	}
	f.add(t, 3)
	if _, err := f.open(t).LatestOffset(t.Context(), end, source.LimitDefault); !errclass.Has(err, "STREAMING_CHECKPOINT_CORRUPT_FILE") {
		t.Errorf("got %v", err)
	}
}

func TestStreamRewrittenFile(t *testing.T) {
	f := newFeed(t)
	f.add(t, 1)
	s := f.open(t)
	end, _ := batch(t, s, nil)
	put(t, f.dir+"/f000.json", `{"v":99}`, 1000)
	put(t, f.dir+"/sub/other.json", `{"v":98}`, 1000)
	if next, rows := batch(t, s, end); string(next) != string(end) {
		t.Errorf("a rewritten file is read again: %s", rows)
	}
}

// Age counts from the newest file that was read.
func TestStreamMaxFileAge(t *testing.T) {
	f := newFeed(t)
	day := 24 * 3600
	put(t, f.dir+"/a.json", `{"v":1}`, -30*day)
	put(t, f.dir+"/b.json", `{"v":2}`, 0)
	s := f.open(t)
	end, rows := batch(t, s, nil)
	if rows != "1 2" {
		t.Errorf("the first batch takes old files too: %s", rows)
	}
	put(t, f.dir+"/c.json", `{"v":3}`, -8*day)
	put(t, f.dir+"/d.json", `{"v":4}`, -6*day)
	if _, rows = batch(t, s, end); rows != "4" {
		t.Errorf("behind the newest by 8 and 6 days: %s", rows)
	}
}

func TestStreamFileNameOnly(t *testing.T) {
	f := newFeed(t)
	put(t, f.dir+"/k=1/a.json", `{"v":1}`, 0)
	s := f.open(t, "fileNameOnly", "true")
	end, _ := batch(t, s, nil)
	put(t, f.dir+"/k=2/a.json", `{"v":2}`, 1)
	put(t, f.dir+"/k=2/b.json", `{"v":3}`, 2)
	if _, rows := batch(t, s, end); rows != "3 | 2" {
		t.Errorf("got %s", rows)
	}
}

func TestStreamAvailableNow(t *testing.T) {
	f := newFeed(t)
	f.add(t, 3)
	s := f.open(t, "maxFilesPerTrigger", "2")
	if err := s.(source.AvailableNow).PrepareAvailableNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.add(t, 1)
	_, got := batches(t, s, nil, 5)
	if d := cmp.Diff([]string{`{"logOffset":0} 0 1`, `{"logOffset":1} 2`}, got); d != "" {
		t.Error(d)
	}
}

func TestStreamNothing(t *testing.T) {
	f := newFeed(t)
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := f.open(t)
	if end, _ := batch(t, s, nil); end != nil {
		t.Errorf("an empty directory gives %s", end)
	}
	if _, err := os.Stat(f.log); err == nil {
		t.Error("and writes a log")
	}
	if got, want := s.Description(), "FileStreamSource[file:"+f.dir+"]"; got != want {
		t.Errorf("description %s, want %s", got, want)
	}
}

func TestStreamBadOptions(t *testing.T) {
	f := newFeed(t)
	f.add(t, 1)
	for _, opts := range [][]string{
		{"maxFilesPerTrigger", "0"},
		{"maxFilesPerTrigger", "x"},
		{"maxBytesPerTrigger", "-1"},
		{"cleanSource", "shred"},
		{"maxFileAge", "soon"},
		{"latestFirst", "perhaps"},
		{"modifiedAfter", "2026-01-01T00:00:00"},
		{"cleanSource", "archive", "sourceArchiveDir", f.dir + "/done"},
	} {
		if _, err := f.try(t, opts...); !errclass.Has(err, "INVALID_STREAMING_OPTION.VALUE") || !strings.Contains(err.Error(), opts[len(opts)-2]) {
			t.Errorf("%v: %v", opts, err)
		}
	}
	if _, err := f.try(t, "cleanSource", "archive"); !errclass.Has(err, "INVALID_STREAMING_OPTION.MISSING") {
		t.Errorf("archive without a directory: %v", err)
	}
	if _, err := f.try(t, "maxFilesPerTrigger", "1", "maxBytesPerTrigger", "1"); !errclass.Has(err, "INVALID_STREAMING_OPTION.CONFLICT") {
		t.Errorf("two limits: %v", err)
	}
	for s, want := range map[string]time.Duration{"7d": 7 * 24 * time.Hour, "1 hour": time.Hour, "1500": 1500 * time.Millisecond, "30s": 30 * time.Second} {
		if _, err := f.try(t, "maxFileAge", s); err != nil {
			t.Errorf("maxFileAge=%s (%s): %v", s, want, err)
		}
	}
}

func TestStreamClean(t *testing.T) {
	names := func(dir string) []string {
		var out []string
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				out = append(out, filepath.Base(path))
			}
			return nil
		})
		return out
	}
	for _, mode := range []string{"delete", "archive"} {
		f := newFeed(t)
		archive := filepath.Join(filepath.Dir(f.dir), "archive")
		f.add(t, 3)
		s := f.open(t, "cleanSource", mode, "sourceArchiveDir", archive, "maxFilesPerTrigger", "1")
		var at source.Offset
		for range 3 {
			end, _ := batch(t, s, at)
			if at != nil {
				if err := s.Commit(t.Context(), at); err != nil { // one batch late
					t.Fatal(err)
				}
			}
			at = end
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"f002.json"}, names(f.dir)); d != "" {
			t.Errorf("%s leaves:\n%s", mode, d)
		}
		if mode == "archive" {
			if d := cmp.Diff([]string{"f000.json", "f001.json"}, names(filepath.Join(archive, f.dir))); d != "" {
				t.Errorf("archived:\n%s", d)
			}
		}
	}
}

// The output of a file sink is what its log says.
func TestStreamOfSinkOutput(t *testing.T) {
	f := newFeed(t)
	f.add(t, 4)
	entry := func(i int) checkpoint.SinkFile {
		path := fmt.Sprintf("%s/f%03d.json", f.dir, i)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return checkpoint.NewSinkFile(path, info.Size(), info.ModTime())
	}
	log, err := checkpoint.OpenSinkLog(fs.Local(), f.dir, checkpoint.CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Add(t.Context(), 0, []checkpoint.SinkFile{entry(0), entry(2)}); err != nil {
		t.Fatal(err)
	}
	s := f.open(t)
	end, rows := batch(t, s, nil)
	if rows != "0 2" {
		t.Errorf("batch 0: %s", rows)
	}
	if err := log.Add(t.Context(), 1, []checkpoint.SinkFile{entry(3)}); err != nil {
		t.Fatal(err)
	}
	if _, rows = batch(t, s, end); rows != "3" {
		t.Errorf("batch 1: %s", rows)
	}
	if _, err := f.try(t, "cleanSource", "delete"); !errclass.Has(err, "INVALID_STREAMING_OPTION.VALUE") {
		t.Errorf("cleaning the output of a sink: %v", err)
	}
	_, rowsOf, err := request{ddl: "v INT", path: f.dir}.readAll(t)
	if d := cmp.Diff([]string{"0", "2", "3"}, rowsOf); d != "" || err != nil {
		t.Errorf("batch read: %v\n%s", err, d)
	}
	_, rowsOf, err = request{ddl: "v INT", path: f.dir, conf: map[string]string{"spark.sql.streaming.fileStreamSink.ignoreMetadata": "true"}}.readAll(t)
	if len(rowsOf) != 4 || err != nil {
		t.Errorf("without the log: %v, %v", rowsOf, err)
	}
}

// A full disk gives an error; after it the same files are chosen again.
func TestStreamLogCannotBeWritten(t *testing.T) {
	f := newFeed(t)
	f.add(t, 2)
	faulty := errfs.Wrap(fs.Local(), errfs.FailAt(1, errfs.Ops(errfs.Write).Named("sources"), errfs.ErrNoSpace))
	table, err := request{ddl: "v INT", path: f.dir, stream: true, fs: faulty}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(f.log)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.LatestOffset(t.Context(), nil, source.LimitDefault); err == nil {
		t.Fatal("no error")
	}
	if end, rows := batch(t, s, nil); string(end) != `{"logOffset":0}` || rows != "0 1" {
		t.Errorf("then %s %s", end, rows)
	}
}

func TestStreamCancelled(t *testing.T) {
	f := newFeed(t)
	f.add(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.open(t).LatestOffset(ctx, nil, source.LimitDefault); err == nil {
		t.Error("a cancelled context lists files")
	}
}

// BenchmarkManySeenFiles is a trigger without news over a directory of many files that were read.
func BenchmarkManySeenFiles(b *testing.B) {
	for _, fresh := range []bool{false, true} {
		b.Run(fmt.Sprintf("new file %t", fresh), func(b *testing.B) {
			f := newFeed(b)
			f.add(b, 20_000)
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(f.dir, past, past); err != nil {
				b.Fatal(err)
			}
			s := f.open(b)
			end, err := s.LatestOffset(b.Context(), nil, source.LimitDefault)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if fresh {
					f.add(b, 1)
				}
				if end, err = s.LatestOffset(b.Context(), end, source.LimitDefault); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestOtherInput: a checkpoint whose latest files lie elsewhere is not gone on with.
func TestOtherInput(t *testing.T) {
	f := newFeed(t)
	f.add(t, 2)
	end, _ := batch(t, f.open(t), nil)
	other := &feed{dir: t.TempDir() + "/other", log: f.log}
	other.add(t, 1)
	if _, err := other.open(t).LatestOffset(t.Context(), end, source.LimitDefault); !errclass.Has(err, "CHECKPOINT_SOURCE_PATH_MISMATCH") {
		t.Errorf("got %v", err)
	}
	above := &feed{dir: filepath.Dir(f.dir), log: f.log}
	if _, err := above.open(t).LatestOffset(t.Context(), end, source.LimitDefault); err != nil {
		t.Errorf("a directory above: %v", err)
	}
}
