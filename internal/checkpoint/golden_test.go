package checkpoint

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	mfs "github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

// recorded is what Apache Spark 4.2.0 wrote; only the directories in paths were renamed.
const recorded = "testdata/spark-4.2.0"

func recordedFiles(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(recorded, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(recorded, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if ok, _ := filepath.Match(pattern, name); !ok {
			return nil
		}
		all[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("no recorded files match %s", pattern)
	}
	return all
}

// Every file that Spark wrote is read and written again, and the bytes are the same.
func TestRecordedFilesRoundTrip(t *testing.T) {
	again := func(t *testing.T, pattern string, f func([]byte) ([]byte, error)) {
		for name, content := range recordedFiles(t, pattern) {
			if strings.HasPrefix(name, "commits-v2/commits/") || strings.HasPrefix(name, "offsets-v2/offsets/") {
				continue
			}
			got, err := f(content)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if d := cmp.Diff(string(content), string(got)); d != "" {
				t.Errorf("%s (-Spark +ours):\n%s", name, d)
			}
		}
	}
	again(t, "*/metadata", func(b []byte) ([]byte, error) {
		id, err := parseMetadata(b)
		return appendMetadata(nil, id), err
	})
	again(t, "*/offsets/*", func(b []byte) ([]byte, error) {
		o, err := parseOffsets(b)
		if err != nil {
			return nil, err
		}
		o.Metadata.Conf = NewConf(o.Metadata.Conf.Map()) // our own order must be Spark's
		return appendOffsets(nil, o)
	})
	again(t, "*/commits/*", func(b []byte) ([]byte, error) {
		c, err := parseCommit(b)
		if err != nil {
			return nil, err
		}
		return appendCommit(nil, c)
	})
	again(t, "*/sources/0/*", func(b []byte) ([]byte, error) {
		if !strings.Contains(string(b), "{") {
			start, err := parseStart(b)
			if err != nil {
				return nil, err
			}
			return appendStart(nil, RateStart, start)
		}
		return recode(b, appendSourceFile, parseSourceFile)
	})
	again(t, "sink/_spark_metadata/*", func(b []byte) ([]byte, error) {
		return recode(b, appendSinkFile, parseSinkFile)
	})
	again(t, "*/state/0/_metadata/metadata", func(b []byte) ([]byte, error) {
		op, err := parseOperator(b)
		return appendOperator(nil, op), err
	})
}

func recode[T any](b []byte, encode func([]byte, T) []byte, decode func([]byte) (T, error)) ([]byte, error) {
	items, err := parseItems(nil, b, decode)
	out := []byte("v1")
	for _, item := range items {
		out = encode(append(out, '\n'), item)
	}
	return out, err
}

// Our logs of files, filled with what Spark's held, become the same files, compactions included.
func TestCompactionWritesWhatSparkWrote(t *testing.T) {
	ctx := context.Background()
	local := mfs.Local()

	theirs, err := OpenSourceLog(local, filepath.Join(recorded, "files/sources/0"), CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mem := errfs.NewMem()
	ours, err := OpenSourceLog(mem, "sources/0", CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last, _ := theirs.LatestID()
	if last != 21 {
		t.Fatalf("latest id %d", last)
	}
	for id := range last + 1 {
		files, err := theirs.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 1 {
			t.Fatalf("entry %d has %d files", id, len(files))
		}
		if err := ours.Add(ctx, id, files); err != nil {
			t.Fatal(err)
		}
	}
	compareTree(t, "files/sources/0", "sources/0", mem)
	want, err := theirs.All()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ours.All()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || len(got) != 22 {
		t.Error(d, len(got))
	}

	sink, err := OpenSinkLog(local, filepath.Join(recorded, "sink"), CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := sink.Files()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 22 {
		t.Fatalf("the sink log has %d files", len(files))
	}
	mine, err := OpenSinkLog(mem, "out", CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files { // one file a batch
		if err := mine.Add(ctx, int64(i), []SinkFile{f}); err != nil {
			t.Fatal(err)
		}
	}
	compareTree(t, "sink/_spark_metadata", "out/_spark_metadata", mem)
}

func compareTree(t *testing.T, dir, memDir string, mem *errfs.Mem) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for name, content := range recordedFiles(t, dir+"/*") {
		want[strings.TrimPrefix(name, dir+"/")] = string(content)
	}
	for name, content := range mem.Tree() {
		if rest, ok := strings.CutPrefix(name, memDir+"/"); ok {
			got[rest] = content
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-Spark +ours):\n%s", dir, d)
	}
}

// A checkpoint of Spark is opened, and it is known where to go on.
func TestResumeRecorded(t *testing.T) {
	for name, want := range map[string]struct {
		batch, watermark int64
		offsets          string
	}{
		"files":            {22, 0, `{"logOffset":21}`},
		"rate":             {3, 1795994617269, ""},
		"rate-micro-batch": {3, 0, `{"offset":9,"timestamp":4000}`},
		"union":            {1, 0, "-"},
		"commits-v2":       {1, 0, `{"logOffset":0}`},
	} {
		c, err := Open(t.Context(), mfs.Local(), filepath.Join(recorded, name), Options{ReadOnly: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := c.Resume()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Batch != want.batch || r.Logged != nil || r.WatermarkMs != want.watermark {
			t.Errorf("%s: resume %+v", name, r)
		}
		if got := string(r.Previous.Offsets[0]); want.offsets != "" && got != strings.Trim(want.offsets, "-") {
			t.Errorf("%s: offset %s", name, got)
		}
	}
}
