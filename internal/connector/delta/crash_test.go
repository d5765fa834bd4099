package delta_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// stream writes batches 0 to 4 of a stream, as a query does that begins anew after whatever happened: those that are in the table already
// are left out.
func stream(ctx context.Context, tb *table) error {
	snk, err := tb.sink(ctx, writer{stream: true, options: sink.Options{"delta.checkpointInterval": "2"}})
	if err != nil {
		return err
	}
	for id := range int64(5) {
		if err := batch(ctx, snk, id, fmt.Sprint("a", id), fmt.Sprint("b", id)); err != nil {
			return err
		}
	}
	return snk.Close()
}

var streamed = []string{"0 | a0", "0 | b0", "1 | a1", "1 | b1", "2 | a2", "2 | b2", "3 | a3", "3 | b3", "4 | a4", "4 | b4"}

// memory is a table on a file system that forgets what was not synced.
func memory(mem *errfs.Mem) *table {
	at := time.Unix(1_700_000_000, 0)
	return &table{path: "/data/t", fs: mem, now: func() time.Time { at = at.Add(time.Millisecond); return at }}
}

// TestPowerCuts: whenever the power goes, the table is as it was after some batch, and the stream that goes on writes each batch once.
func TestPowerCuts(t *testing.T) {
	for k := 1; ; k++ {
		mem := errfs.NewMem()
		if err := mem.MkdirAll("/data"); err != nil {
			t.Fatal(err)
		}
		if err := mem.SyncDir("/"); err != nil {
			t.Fatal(err)
		}
		tb := memory(mem)
		cut := errfs.CrashAt(k)
		tb.fs = errfs.Wrap(mem, cut)
		err := stream(t.Context(), tb)
		if !cut.Hit() {
			if err != nil {
				t.Fatal(err)
			}
			if k < 40 {
				t.Errorf("five batches are only %d operations", k-1)
			}
			return
		}
		after := memory(mem.Crash(nil))
		got, err := after.tryRows(t.Context())
		if err != nil {
			t.Fatalf("cut at operation %d: %v", k, err)
		}
		if len(got)%2 != 0 || len(got) > len(streamed) || !slices.Equal(got, streamed[:len(got)]) {
			t.Fatalf("cut at operation %d: %q", k, got)
		}
		if err := stream(t.Context(), after); err != nil {
			t.Fatalf("after a cut at operation %d: %v", k, err)
		}
		if d := cmp.Diff(streamed, after.rows(t)); d != "" {
			t.Fatalf("after a cut at operation %d:\n%s", k, d)
		}
	}
}

// TestFailures: a disk that fails once, anywhere, costs a batch and nothing else.
func TestFailures(t *testing.T) {
	everything := errfs.Ops(errfs.Create, errfs.Write, errfs.SyncFile, errfs.Close, errfs.RenameNew, errfs.Rename, errfs.SyncDir, errfs.Mkdir)
	for k := 1; ; k++ {
		mem := errfs.NewMem()
		tb := memory(mem)
		rule := errfs.FailAt(k, everything, errfs.ErrNoSpace)
		tb.fs = errfs.Wrap(mem, rule)
		err := stream(t.Context(), tb)
		if !rule.Hit() {
			return
		}
		if err != nil {
			err = stream(t.Context(), tb)
		}
		if err != nil {
			t.Fatalf("after a failure of operation %d (%v): %v", k, rule.First(), err)
		}
		if d := cmp.Diff(streamed, tb.rows(t)); d != "" {
			t.Fatalf("after a failure of operation %d (%v):\n%s", k, rule.First(), d)
		}
	}
}

// TestWriters: writers side by side append without losing or repeating anything, and the versions have no gaps.
func TestWriters(t *testing.T) {
	tb := newTable(t) // which the first of them makes
	const writers, each = 4, 12
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				snk, err := tb.sink(t.Context(), writer{mode: sink.Append})
				if err == nil {
					err = batch(t.Context(), snk, int64(w), fmt.Sprint(i))
				}
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	got := tb.rows(t)
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != writers*each {
		t.Errorf("%d different rows", n)
	}
}

// TestConflicts: what two writers at once may do. Each begins on the same version; the second to commit finds out what the first has done.
func TestConflicts(t *testing.T) {
	ctx := context.Background()
	once := sink.Options{"txnAppId": "app", "txnVersion": "1"}
	for _, c := range []struct {
		first, second writer
		want          string
	}{
		{writer{}, writer{}, ""},
		{writer{mode: sink.Overwrite}, writer{}, ""},
		{writer{}, writer{mode: sink.Overwrite}, "DELTA_CONCURRENT_APPEND"},
		{writer{mode: sink.Overwrite}, writer{mode: sink.Overwrite}, "DELTA_CONCURRENT_APPEND"},
		{writer{options: once}, writer{options: once}, "DELTA_CONCURRENT_TRANSACTION"},
		{writer{options: sink.Options{"mergeSchema": "true"}, ddl: "part INT, text STRING, more INT"}, writer{}, "DELTA_METADATA_CHANGED"},
	} {
		tb := newTable(t)
		tb.append(t, "old")
		begun := make([]sink.Batch, 2)
		for i, w := range []writer{c.first, c.second} {
			snk, err := tb.sink(ctx, w)
			if err != nil {
				t.Fatal(err)
			}
			if begun[i], _, err = snk.Begin(ctx, 0); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		for i, w := range []writer{c.first, c.second} {
			out, werr := begun[i].Writer(ctx, 0)
			if werr != nil {
				t.Fatal(werr)
			}
			ddl, row := "part INT, text STRING", []any{int32(i), "new"}
			if w.ddl != "" {
				ddl, row = w.ddl, append(row, nil)
			}
			if werr := out.Write(ctx, records(t, ddl, row)); werr != nil {
				t.Fatal(werr)
			}
			m, werr := out.Close(ctx)
			if werr != nil {
				t.Fatal(werr)
			}
			if err = begun[i].Commit(ctx, []sink.Message{m}); err != nil {
				begun[i].Abort(ctx)
				if i == 0 {
					t.Fatal(err)
				}
			}
		}
		if c.want == "" && err != nil || c.want != "" && !errclass.Has(err, c.want) {
			t.Errorf("%+v, then %+v: %v, want %s", c.first, c.second, err, c.want)
		}
	}
}

// TestBrokenLogs: a log that is damaged is refused, naming what is wrong.
func TestBrokenLogs(t *testing.T) {
	remove := func(v int) func(*table) error {
		return func(tb *table) error { return tb.fs.Remove(fmt.Sprintf("%s/_delta_log/%020d.json", tb.path, v)) }
	}
	for want, damage := range map[string]func(*table) error{
		"DELTA_TRUNCATED_TRANSACTION_LOG": remove(0),
		"DELTA_VERSIONS_NOT_CONTIGUOUS":   remove(1),
		"FAILED_READ_FILE":                func(tb *table) error { return put(tb, 3, "no JSON") },
		"DELTA_INVALID_PROTOCOL_VERSION":  func(tb *table) error { return put(tb, 3, `{"protocol":{"minReaderVersion":9,"minWriterVersion":9}}`) },
		"DELTA_UNSUPPORTED_FEATURES_FOR_READ": func(tb *table) error {
			return put(tb, 3, `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["fromTheFuture"],"writerFeatures":["fromTheFuture"]}}`)
		},
	} {
		tb := newTable(t)
		for i := range 3 {
			tb.append(t, fmt.Sprint(i))
		}
		if err := damage(tb); err != nil {
			t.Fatal(err)
		}
		if _, err := tb.tryRows(t.Context()); !errclass.Has(err, want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	tb := newTable(t)
	tb.append(t, "x")
	feature := `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["fromTheFuture"]}}`
	if err := put(tb, 1, feature); err != nil {
		t.Fatal(err)
	}
	if got := tb.rows(t); len(got) != 1 {
		t.Errorf("a feature for writers keeps readers out: %q", got)
	}
	snk, err := tb.sink(t.Context(), writer{})
	if err == nil {
		err = batch(t.Context(), snk, 0, "y")
	}
	if !errclass.Has(err, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE") || !strings.Contains(err.Error(), "fromTheFuture") {
		t.Errorf("a feature that is not known is ignored: %v", err)
	}
}

// hiding is a file system whose listings lack a name, as that of a folder may which somebody writes into meanwhile.
type hiding struct {
	fs.FS
	name string
}

func (h hiding) ReadDir(name string) ([]fs.Entry, error) {
	entries, err := h.FS.ReadDir(name)
	return slices.DeleteFunc(entries, func(e fs.Entry) bool { return e.Name() == h.name }), err
}

// TestListings: a commit that a listing has missed is there all the same, be it read or written after, as a table, as of a version or as a
// stream.
func TestListings(t *testing.T) {
	for hidden := range 4 {
		tb := newTable(t)
		var want []string
		for i := range 6 {
			if i == 5 { // what comes last is not in the listing of somebody who began earlier, which is as it should be
				tb.fs = hiding{tb.fs, fmt.Sprintf("%020d.json", hidden)}
			}
			want = append(want, fmt.Sprintf("0 | %d", i))
			tb.append(t, fmt.Sprint(i))
		}
		if d := cmp.Diff(want, tb.rows(t)); d != "" {
			t.Errorf("without %d (-want +got):\n%s", hidden, d)
		}
		for version := range 5 {
			src, err := tb.read(t.Context(), false, source.Options{"versionAsOf": fmt.Sprint(version)})
			if err != nil {
				t.Errorf("without %d, version %d: %v", hidden, version, err)
				continue
			}
			splits, err := src.(source.Batch).Scan(t.Context(), source.Projection{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want[:version+1], sourcetest.Rows(t, splits)); d != "" {
				t.Errorf("without %d, version %d (-want +got):\n%s", hidden, version, d)
			}
		}
		src, err := tb.read(t.Context(), true, source.Options{"startingVersion": "0"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := src.(source.Streamer).Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(t.TempDir())})
		if err != nil {
			t.Fatal(err)
		}
		end, err := s.LatestOffset(t.Context(), nil, source.LimitNone)
		if err != nil {
			t.Fatal(err)
		}
		splits, err := s.Plan(t.Context(), nil, end)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, sourcetest.Rows(t, splits)); d != "" {
			t.Errorf("a stream without %d (-want +got):\n%s", hidden, d)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDeletedTable: a writer that goes on with a table which is gone leaves no log with a gap.
func TestDeletedTable(t *testing.T) {
	tb := newTable(t)
	snk, err := tb.sink(t.Context(), writer{stream: true})
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(2) {
		if err := batch(t.Context(), snk, id, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tb.fs.RemoveAll(tb.path); err != nil {
		t.Fatal(err)
	}
	if err := batch(t.Context(), snk, 2, "x"); !errclass.Has(err, "DELTA_VERSIONS_NOT_CONTIGUOUS") {
		t.Errorf("a batch for a table that is gone: %v", err)
	}
}

// put makes a commit of a text.
func put(tb *table, v int, text string) error {
	return fs.WriteOnce(context.Background(), tb.fs, fmt.Sprintf("%s/_delta_log/%020d.json", tb.path, v), []byte(text+"\n"))
}
