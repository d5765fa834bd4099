package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantClass(t testing.TB, err error, class string, parts ...string) {
	t.Helper()
	if !errclass.Has(err, class) {
		t.Fatalf("got %v, want %s", err, class)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q does not mention %q", err, p)
		}
	}
}

const someID = "0a1b2c3d-0000-4000-8000-000000000001"

func open(t testing.TB, fsys fs.FS) *Checkpoint {
	t.Helper()
	c, err := Open(context.Background(), fsys, "/q/ck", Options{NewID: func() string { return someID }})
	must(t, err)
	return c
}

func batch(n int64) OffsetSeq {
	off, _ := json.Marshal(map[string]int64{"logOffset": n})
	return OffsetSeq{
		Offsets:  []json.RawMessage{off, nil},
		Metadata: OffsetMetadata{BatchWatermarkMs: n * 10, BatchTimestampMs: 1000 + n, Conf: Conf{{"k", "v"}}},
	}
}

func TestNewCheckpoint(t *testing.T) {
	ctx := t.Context()
	mem := errfs.NewMem()
	c := open(t, mem)
	if c.ID != someID || c.Dir() != "/q/ck" {
		t.Errorf("%+v", c)
	}
	r, err := c.Resume()
	must(t, err)
	if d := cmp.Diff(Resume{}, r); d != "" {
		t.Error(d)
	}
	if _, _, ok, err := c.Offsets.Latest(); ok || err != nil {
		t.Error("an empty log has a latest entry", err)
	}
	must(t, c.CheckNoState())
	must(t, c.Offsets.Add(ctx, 0, batch(0)))
	must(t, c.Commits.Add(ctx, 0, Commit{NextBatchWatermarkMs: 5}))
	must(t, c.Offsets.Add(ctx, 1, batch(1)))
	must(t, c.WriteOperator(ctx, Operator{Name: "stateStoreSave", Stores: []Store{{Name: "default", NumPartitions: 2}}}))
	must(t, c.WriteOperator(ctx, Operator{Name: "never written"}))
	must(t, WriteStart(ctx, mem, c.SourceDir(0), RateStart, json.RawMessage("1795994617469")))
	must(t, WriteStart(ctx, mem, c.SourceDir(1), KafkaStart, json.RawMessage(`{"t":{"0":10}}`)))
	must(t, c.Close())
	must(t, c.Close())

	want := map[string]string{
		"q/ck/metadata":                   `{"id":"` + someID + `"}`,
		"q/ck/offsets/0":                  "v1\n" + `{"batchWatermarkMs":0,"batchTimestampMs":1000,"conf":{"k":"v"}}` + "\n" + `{"logOffset":0}` + "\n-",
		"q/ck/offsets/1":                  "v1\n" + `{"batchWatermarkMs":10,"batchTimestampMs":1001,"conf":{"k":"v"}}` + "\n" + `{"logOffset":1}` + "\n-",
		"q/ck/commits/0":                  "v1\n" + `{"nextBatchWatermarkMs":5}`,
		"q/ck/sources/0/0":                "v1\n1795994617469",
		"q/ck/sources/1/0":                "\x00v1\n" + `{"t":{"0":10}}`,
		"q/ck/state/0/_metadata/metadata": "v1\n" + `{"operatorInfo":{"operatorId":0,"operatorName":"stateStoreSave"},"stateStoreInfo":[{"storeName":"default","numColsPrefixKey":0,"numPartitions":2}]}`,
	}
	if d := cmp.Diff(want, mem.Crash(nil).Tree()); d != "" {
		t.Error(d)
	}

	c = open(t, mem.Crash(nil))
	defer c.Close()
	one, zero := batch(1), batch(0)
	r, err = c.Resume()
	must(t, err)
	if d := cmp.Diff(Resume{Batch: 1, Logged: &one, Previous: &zero, WatermarkMs: 10}, r); d != "" {
		t.Error(d)
	}
	ops, err := c.Operators()
	must(t, err)
	if d := cmp.Diff([]Operator{{Name: "stateStoreSave", Stores: []Store{{Name: "default", NumPartitions: 2}}}}, ops); d != "" {
		t.Error(d)
	}
	wantClass(t, c.CheckNoState(), "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY", "/q/ck/state")
	for i, want := range []string{"1795994617469", `{"t":{"0":10}}`, ""} {
		start, ok, err := ReadStart(c.FS(), c.SourceDir(i))
		if err != nil || string(start) != want || ok != (want != "") {
			t.Errorf("start of %d: %q, %v, %v", i, start, ok, err)
		}
	}
	wantClass(t, WriteStart(ctx, c.FS(), c.SourceDir(0), RateStart, json.RawMessage("1")), "CONCURRENT_STREAM_LOG_UPDATE")
}

func TestResume(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		name             string
		offsets, commits []int64
		want             Resume
		class, text      string
	}{
		{name: "new"},
		{name: "first not committed", offsets: []int64{0}, want: Resume{Logged: ptr(batch(0))}},
		{name: "first committed", offsets: []int64{0}, commits: []int64{0}, want: Resume{Batch: 1, Previous: ptr(batch(0)), WatermarkMs: 1}},
		{
			name: "one behind", offsets: []int64{6, 7}, commits: []int64{5, 6},
			want: Resume{Batch: 7, Logged: ptr(batch(7)), Previous: ptr(batch(6)), WatermarkMs: 70},
		},
		{
			name: "level", offsets: []int64{6, 7}, commits: []int64{7},
			want: Resume{Batch: 8, Previous: ptr(batch(7)), WatermarkMs: 71},
		},
		{
			name: "two behind", offsets: []int64{6, 7}, commits: []int64{5},
			want: Resume{Batch: 7, Logged: ptr(batch(7)), Previous: ptr(batch(6)), WatermarkMs: 70, CommitsBehind: true},
		},
		{
			name: "no commits", offsets: []int64{0, 1},
			want: Resume{Batch: 1, Logged: ptr(batch(1)), Previous: ptr(batch(0)), WatermarkMs: 10, CommitsBehind: true},
		},
		{name: "entry before is gone", offsets: []int64{5, 7}, commits: []int64{6}, class: "BATCH_METADATA_NOT_FOUND", text: "/q/ck/offsets/6"},
		{name: "ahead", offsets: []int64{0, 1}, commits: []int64{2}, class: "CONCURRENT_STREAM_LOG_UPDATE", text: "batch 2"},
		{name: "only commits", commits: []int64{0}, class: "STREAMING_CHECKPOINT_CORRUPT_FILE", text: "/q/ck/commits/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ck := open(t, errfs.NewMem())
			defer ck.Close()
			for _, id := range c.offsets {
				must(t, ck.Offsets.Add(ctx, id, batch(id)))
			}
			for _, id := range c.commits {
				must(t, ck.Commits.Add(ctx, id, Commit{NextBatchWatermarkMs: id*10 + 1}))
			}
			got, err := ck.Resume()
			if c.class != "" {
				wantClass(t, err, c.class, c.text)
				return
			}
			must(t, err)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestMissingMetadata(t *testing.T) {
	ctx := t.Context()
	mem := errfs.NewMem()
	c := open(t, mem)
	must(t, c.Offsets.Add(ctx, 0, batch(0)))
	must(t, c.Close())
	must(t, mem.Remove("/q/ck/metadata"))
	before := mem.Tree()

	_, err := Open(ctx, mem, "/q/ck", Options{})
	wantClass(t, err, "STREAMING_CHECKPOINT_MISSING_METADATA_FILE", "/q/ck")
	look, err := Open(ctx, mem, "/q/ck", Options{ReadOnly: true})
	must(t, err)
	if id, ok := look.Offsets.LatestID(); look.ID != "" || !ok || id != 0 {
		t.Errorf("%+v", look)
	}
	must(t, look.Close())
	if d := cmp.Diff(before, mem.Tree()); d != "" {
		t.Errorf("looking changed something: %s", d)
	}
	c, err = Open(ctx, mem, "/q/ck", Options{AllowMissingMetadata: true})
	must(t, err)
	if len(c.ID) != 36 || c.ID == someID {
		t.Errorf("id %q", c.ID)
	}
	must(t, c.Close())
}

func TestLockedCheckpoint(t *testing.T) {
	ctx := t.Context()
	for name, fsys := range map[string]fs.FS{"mem": errfs.NewMem(), "local": fs.Local()} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ck")
			c, err := Open(ctx, fsys, dir, Options{})
			must(t, err)
			_, err = Open(ctx, fsys, dir, Options{})
			wantClass(t, err, "STREAMING_CHECKPOINT_LOCKED", dir)
			look, err := Open(ctx, fsys, dir, Options{ReadOnly: true})
			must(t, err)
			if look.ID != c.ID {
				t.Errorf("id %q", look.ID)
			}
			must(t, c.Close())
			again, err := Open(ctx, fsys, dir, Options{})
			must(t, err)
			if again.ID != c.ID {
				t.Errorf("the id changed from %q to %q", c.ID, again.ID)
			}
			must(t, again.Close())
		})
	}
}

// lockless is a file system without locks.
type lockless struct{ fs.FS }

func (lockless) Lock(string) (io.Closer, error) { return nil, errors.ErrUnsupported }

// Without a lock two runs can be on one checkpoint. Of each entry only one gets written, and the other
// run is told.
func TestTwoRuns(t *testing.T) {
	ctx := t.Context()
	fsys := lockless{errfs.NewMem()}
	a, b := open(t, fsys), open(t, fsys)
	must(t, a.Offsets.Add(ctx, 0, batch(0)))
	other := batch(0)
	other.Metadata.BatchTimestampMs = 77
	wantClass(t, b.Offsets.Add(ctx, 0, other), "CONCURRENT_STREAM_LOG_UPDATE", "0")
	wantClass(t, a.Offsets.Add(ctx, 0, other), "CONCURRENT_STREAM_LOG_UPDATE", "0")
	if b.Offsets.Has(0) {
		t.Error("b knows an entry that it did not write")
	}
	must(t, b.Offsets.Refresh())
	id, got, ok, err := b.Offsets.Latest()
	must(t, err)
	if d := cmp.Diff(batch(0), got); d != "" || id != 0 || !ok {
		t.Error(d, id, ok)
	}

	// In a round: the commit of the batch before goes through, the offsets do not.
	must(t, b.Offsets.Add(ctx, 1, batch(1)))
	commit, err := a.Commits.Stage(0, Commit{})
	must(t, err)
	next, err := a.Offsets.Stage(1, batch(1))
	must(t, err)
	var r fs.Round
	r.Publish(commit)
	r.Publish(next)
	wantClass(t, r.Commit(ctx), "CONCURRENT_STREAM_LOG_UPDATE", "1")
	if !a.Commits.Has(0) || a.Offsets.Has(1) {
		t.Errorf("commits %v, offsets %v", a.Commits.IDs(), a.Offsets.IDs())
	}
}

func TestPurge(t *testing.T) {
	ctx := t.Context()
	mem := errfs.NewMem()
	c := open(t, mem)
	for id := range int64(5) {
		must(t, c.Offsets.Add(ctx, id, batch(id)))
		must(t, c.Commits.Add(ctx, id, Commit{}))
	}
	must(t, mem.Remove("/q/ck/offsets/1")) // someone else was faster
	must(t, c.Purge(3))
	must(t, c.Purge(3))
	want := []int64{3, 4}
	if d := cmp.Diff([][]int64{want, want}, [][]int64{c.Offsets.IDs(), c.Commits.IDs()}); d != "" {
		t.Error(d)
	}
	must(t, c.Close())
	c = open(t, mem)
	if d := cmp.Diff([][]int64{want, want}, [][]int64{c.Offsets.IDs(), c.Commits.IDs()}); d != "" {
		t.Error(d)
	}
	must(t, c.Close())
}

// Checksums that Spark leaves behind go with their files, or it would take our files for broken.
func TestForeignFiles(t *testing.T) {
	ctx := t.Context()
	mem := errfs.NewMem()
	must(t, open(t, mem).Close())
	junk := []string{
		"offsets/.0.crc", "offsets/.3.crc", "offsets/.9.2f5b.tmp", "offsets/007", "offsets/+1", "offsets/-1", "offsets/1.tmp", "offsets/x", "offsets/99999999999999999999",
		".metadata.1234.tmp", "commits/.0.abc.tmp", "sources/0/.4.abc.tmp", "notes.txt",
	}
	must(t, mem.MkdirAll("/q/ck/sources/0"))
	must(t, mem.MkdirAll("/q/ck/offsets/5"))
	for _, name := range junk {
		w, err := mem.Create("/q/ck/" + name)
		must(t, err)
		must(t, w.Close())
	}
	c := open(t, mem)
	if ids := c.Offsets.IDs(); ids != nil {
		t.Errorf("offsets %v", ids)
	}
	must(t, c.Offsets.Add(ctx, 0, batch(0)))
	must(t, c.Offsets.Add(ctx, 3, batch(3)))
	must(t, c.Close())
	var left []string
	for name := range mem.Tree() {
		for _, j := range junk {
			if name == "q/ck/"+j {
				left = append(left, j)
			}
		}
	}
	want := []string{"offsets/007", "offsets/+1", "offsets/-1", "offsets/1.tmp", "offsets/x", "offsets/99999999999999999999", "notes.txt"}
	if d := cmp.Diff(set(want), set(left)); d != "" {
		t.Error(d)
	}
}

func set(names []string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

// Whatever fails while a query runs, what it was told was written is there after a crash, what
// is there is whole, and the query can go on.
func TestCrashLaw(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		mem := errfs.NewMem()
		planned, committed, listed := int64(-1), int64(-1), int64(-1) // what is known to be durable
		merged := rapid.Bool().Draw(t, "commit and offsets in one round")

		run := func(fsys fs.FS) error {
			c, err := Open(ctx, fsys, "/q/ck", Options{NewID: func() string { return someID }})
			if err != nil {
				return err
			}
			defer c.Close()
			if c.ID != someID {
				t.Fatalf("the id became %s", c.ID)
			}
			resume, err := c.Resume()
			if err != nil {
				return err
			}
			if resume.Batch < planned || resume.Batch <= committed || resume.Batch > planned+2 {
				t.Fatalf("batch %d follows, but %d was planned and %d committed", resume.Batch, planned, committed)
			}
			if resume.Logged != nil {
				if d := cmp.Diff(batch(resume.Batch), *resume.Logged); d != "" {
					t.Fatalf("batch %d was logged otherwise: %s", resume.Batch, d)
				}
			}
			for _, id := range c.Offsets.IDs() {
				if _, err := c.Offsets.Get(id); err != nil {
					return err
				}
			}
			source, err := OpenSourceLog(fsys, c.SourceDir(0), CompactOptions{Interval: 3})
			if err != nil {
				return err
			}
			files, err := source.All()
			if err != nil {
				return err
			}
			if int64(len(files)) <= listed {
				t.Fatalf("%d files are listed, %d were", len(files), listed+1)
			}

			steps := rapid.Int64Range(0, 6).Draw(t, "batches")
			var pending *fs.Staged
			for n := resume.Batch; n < resume.Batch+steps; n++ {
				if last, ok := source.LatestID(); !ok || last < n {
					if err := source.Add(ctx, n, []SourceFile{{Path: "file:///f", TimestampMs: n}}); err != nil {
						return err
					}
					listed = n
				}
				var r fs.Round
				if pending != nil {
					r.Publish(pending)
				}
				if !c.Offsets.Has(n) {
					s, err := c.Offsets.Stage(n, batch(n))
					if err != nil {
						return err
					}
					r.Publish(s)
				}
				if err := r.Commit(ctx); err != nil {
					return err
				}
				planned = n
				if pending != nil {
					pending, committed = nil, n-1
				}
				if err := c.Purge(n - 2); err != nil {
					return err
				}
				s, err := c.Commits.Stage(n, Commit{NextBatchWatermarkMs: n})
				if err != nil {
					return err
				}
				if merged && n+1 < resume.Batch+steps {
					pending = s
					continue
				}
				r.Publish(s)
				if err := r.Commit(ctx); err != nil {
					return err
				}
				committed = n
			}
			return nil
		}
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			rule := errfs.CrashAt(rapid.IntRange(1, 120).Draw(t, "crash at"))
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				kinds := rapid.SampledFrom([]errfs.Kind{errfs.Write, errfs.SyncFile, errfs.RenameNew, errfs.SyncDir, errfs.Create}).Draw(t, "op")
				rule = errfs.FailAt(rapid.IntRange(1, 10).Draw(t, "fail at"), errfs.Ops(kinds), errfs.ErrNoSpace)
			}
			if err := run(errfs.Wrap(mem, rule)); err != nil && !errors.Is(err, errfs.ErrCrashed) && !errors.Is(err, errfs.ErrNoSpace) {
				t.Fatal(err)
			}
			mem = mem.Crash(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "survives") })
		}
		if err := run(mem); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkOpen opens a new checkpoint on the disk, and an old one.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for _, name := range []string{"new", "old"} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				if name == "new" {
					n++
				}
				c, err := Open(b.Context(), fs.Local(), filepath.Join(dir, name, strconv.Itoa(n)), Options{})
				must(b, err)
				must(b, c.Close())
			}
		})
	}
}

// BenchmarkBatch writes what a batch adds to the logs: the commit of the one before and its own offsets, apart and
// in one round.
func BenchmarkBatch(b *testing.B) {
	for _, name := range []string{"apart", "one round"} {
		b.Run(name, func(b *testing.B) {
			c, err := Open(b.Context(), fs.Local(), filepath.Join(b.TempDir(), "ck"), Options{})
			must(b, err)
			defer c.Close()
			n := int64(0)
			for b.Loop() {
				if name == "apart" {
					must(b, c.Commits.Add(b.Context(), n, Commit{}))
					must(b, c.Offsets.Add(b.Context(), n+1, batch(n)))
				} else {
					commit, err := c.Commits.Stage(n, Commit{})
					must(b, err)
					next, err := c.Offsets.Stage(n+1, batch(n))
					must(b, err)
					var r fs.Round
					r.Publish(commit)
					r.Publish(next)
					must(b, r.Commit(b.Context()))
				}
				must(b, c.Purge(n-100))
				n++
			}
		})
	}
}
