package delta_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/delta"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// table is a table under test.
type table struct {
	path string
	fs   fs.FS
	now  func() time.Time
}

func newTable(t testing.TB) *table {
	return &table{path: t.TempDir() + "/t", fs: fs.Local(), now: time.Now}
}

// read opens the table for reading.
func (tb *table) read(ctx context.Context, stream bool, options source.Options) (source.Table, error) {
	env := sourcetest.Env()
	env.Now = tb.now
	return delta.Format{FS: tb.fs}.Open(ctx, source.Request{Format: "delta", Paths: []string{tb.path}, Options: options, Stream: stream, Env: env})
}

func (tb *table) rows(t testing.TB) []string {
	t.Helper()
	got, err := tb.tryRows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (tb *table) tryRows(ctx context.Context) ([]string, error) {
	src, err := tb.read(ctx, false, nil)
	if errclass.Has(err, "PATH_NOT_FOUND") || errclass.Has(err, "DELTA_TABLE_NOT_FOUND") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	splits, err := src.(source.Batch).Scan(ctx, source.Projection{})
	if err != nil {
		return nil, err
	}
	return sourcetest.ReadRows(ctx, splits)
}

// writer is how a table is written.
type writer struct {
	mode    sink.Mode
	stream  bool
	by      []string
	options sink.Options
	ddl     string
}

func (tb *table) sink(ctx context.Context, w writer) (sink.Sink, error) {
	schema := sinktest.Schema()
	if w.ddl != "" {
		var err error
		if schema, err = types.ParseDDL(w.ddl); err != nil {
			return nil, err
		}
	}
	env := sinktest.Env()
	env.Now = tb.now
	return delta.SinkFormat{FS: tb.fs}.Open(ctx, sink.Request{
		Format: "delta", Schema: schema, Options: w.options, Path: tb.path, PartitionBy: w.by, Mode: w.mode, Stream: w.stream, QueryID: "query", Env: env,
	})
}

// batch writes one batch of texts: of a stream, or a write.
func batch(ctx context.Context, snk sink.Sink, id int64, texts ...string) error {
	return write(ctx, snk, id, sinktest.Rows(int(id), texts...))
}

func write(ctx context.Context, snk sink.Sink, id int64, recs ...arrow.RecordBatch) error {
	b, skip, err := snk.Begin(ctx, id)
	if err != nil || skip {
		return err
	}
	var messages []sink.Message
	err = func() error {
		for part, rec := range recs {
			w, err := b.Writer(ctx, part)
			if err != nil {
				return err
			}
			if err := w.Write(ctx, rec); err != nil {
				w.Abort()
				return err
			}
			m, err := w.Close(ctx)
			if err != nil {
				return err
			}
			messages = append(messages, m)
		}
		return b.Commit(ctx, messages)
	}()
	if err != nil {
		b.Abort(ctx)
	}
	return err
}

// append adds rows as a version of their own.
func (tb *table) append(t testing.TB, texts ...string) {
	t.Helper()
	snk, err := tb.sink(t.Context(), writer{mode: sink.Append})
	if err == nil {
		err = batch(t.Context(), snk, 0, texts...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// records makes rows of a schema.
func records(t testing.TB, ddl string, rows ...types.Row) arrow.RecordBatch {
	t.Helper()
	st, err := types.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	builders := vec.NewBuilders(st)
	b := vec.NewBatch(len(rows))
	for i, bld := range builders {
		for _, r := range rows {
			if err := bld.AppendValue(r[i]); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, bld.Finish())
	}
	rec, err := vec.ToArrow(b, types.ArrowSchema(st, types.ArrowOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestSamples reads tables that Delta Lake has written.
func TestSamples(t *testing.T) {
	content, err := os.ReadFile("testdata/samples/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Columns [][]string
		Rows    []map[string]any
	}
	if err := json.Unmarshal(content, &expected); err != nil {
		t.Fatal(err)
	}
	for name, want := range expected {
		tb := &table{path: "testdata/samples/" + name, fs: fs.Local()}
		src, err := tb.read(t.Context(), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		var columns [][]string
		for _, f := range src.Schema().Fields {
			columns = append(columns, []string{f.Name, f.Type.SimpleString()})
		}
		if d := cmp.Diff(want.Columns, columns); d != "" {
			t.Errorf("%s: columns (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(sorted(want.Rows), sorted(objects(t, src.(source.Batch)))); d != "" {
			t.Errorf("%s: rows (-want +got):\n%s", name, d)
		}
	}
}

// sorted prints rows as JSON, in the order of the texts.
func sorted(rows []map[string]any) []string {
	var out []string
	for _, r := range rows {
		b, _ := json.Marshal(r)
		out = append(out, string(b))
	}
	slices.Sort(out)
	return out
}

// objects reads all rows, in the form that the expected ones have.
func objects(t *testing.T, src source.Batch) []map[string]any {
	t.Helper()
	splits, err := src.Scan(t.Context(), source.Projection{})
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, s := range splits {
		r, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for {
			rec, err := r.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := vec.FromArrow(rec, src.Schema())
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.N {
				row := map[string]any{}
				for c, f := range src.Schema().Fields {
					row[f.Name] = plain(vec.ValueAt(b.Cols[c], i), f.Type)
				}
				out = append(out, row)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func plain(v any, t types.DataType) any {
	switch v := v.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case types.Decimal:
		return v.Float64()
	case types.Days:
		return v.String()
	case types.Micros:
		return v.Time().Format("2006-01-02 15:04:05.000000")
	case types.MicrosNTZ:
		return v.Time().Format("2006-01-02T15:04:05.000")
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x, t.(types.ArrayType).Element)
		}
		return out
	case types.Row:
		out := map[string]any{}
		for i, f := range t.(types.StructType).Fields {
			out[f.Name] = plain(v[i], f.Type)
		}
		return out
	}
	return v
}

// TestContracts holds the connector to what all connectors promise.
func TestContracts(t *testing.T) {
	t.Run("sink", func(t *testing.T) {
		tb := newTable(t)
		sinktest.Stream(t, sinktest.Harness{
			Open: func(t *testing.T) sink.Sink {
				snk, err := tb.sink(t.Context(), writer{stream: true})
				if err != nil {
					t.Fatal(err)
				}
				return snk
			},
			Read: func(t *testing.T) []string { return tb.rows(t) },
		})
	})
	t.Run("batch", func(t *testing.T) {
		tb := newTable(t)
		for i := range 12 { // with a checkpoint among the versions
			tb.append(t, fmt.Sprint("a", i), fmt.Sprint("b", i))
		}
		sourcetest.Batch(t, func(t *testing.T) source.Batch {
			src, err := tb.read(t.Context(), false, nil)
			if err != nil {
				t.Fatal(err)
			}
			return src.(source.Batch)
		})
	})
	t.Run("stream", func(t *testing.T) {
		tb, n := newTable(t), 0
		tb.append(t, "first")
		sourcetest.Stream(t, sourcetest.StreamHarness{
			Open: func(t *testing.T) source.Streamer {
				src, err := tb.read(t.Context(), true, nil)
				if err != nil {
					t.Fatal(err)
				}
				return src.(source.Streamer)
			},
			Add: func(t *testing.T) {
				n++
				tb.append(t, fmt.Sprint("n", n))
			},
		})
	})
}

// TestCommitFile looks at what a batch of a stream leaves in the log.
func TestCommitFile(t *testing.T) {
	tb := newTable(t)
	snk, err := tb.sink(t.Context(), writer{stream: true, by: []string{"part"}})
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(2) {
		if err := batch(t.Context(), snk, id, "x", "y"); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(tb.path + "/_delta_log/00000000000000000001.json")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for line := range strings.Lines(string(content)) {
		var action map[string]map[string]any
		if err := json.Unmarshal([]byte(line), &action); err != nil {
			t.Fatal(err)
		}
		for kind, body := range action {
			kinds = append(kinds, kind)
			switch kind {
			case "txn":
				if body["appId"] != "query" || body["version"] != 1.0 {
					t.Errorf("txn %v", body)
				}
			case "add":
				if dir := filepath.Dir(body["path"].(string)); dir != "part=1" {
					t.Errorf("the file is in %s", dir)
				}
				want := `{"numRecords":2,"minValues":{"text":"x"},"maxValues":{"text":"y"},"nullCount":{"text":0}}`
				if body["stats"] != want {
					t.Errorf("stats %v", body["stats"])
				}
			}
		}
	}
	if d := cmp.Diff([]string{"commitInfo", "txn", "add"}, kinds); d != "" {
		t.Error(d)
	}
}

// TestCheckpoint: from every tenth version on a table can be read without the commits before it.
func TestCheckpoint(t *testing.T) {
	tb := newTable(t)
	var want []string
	for i := range 13 {
		tb.append(t, fmt.Sprint(i))
		want = append(want, fmt.Sprint("0 | ", i))
	}
	for i := range 10 {
		if err := os.Remove(fmt.Sprintf("%s/_delta_log/%020d.json", tb.path, i)); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, tb.rows(t)); d != "" {
		t.Error(d)
	}
	if _, err := tb.read(t.Context(), false, source.Options{"versionAsOf": "9"}); !errclass.Has(err, "DELTA_VERSION_NOT_FOUND") {
		t.Errorf("version 9: %v", err)
	}
	tb.append(t, "more")
	if got := len(tb.rows(t)); got != 14 {
		t.Errorf("%d rows", got)
	}
}

// TestPartitions: values of all types come back, whatever they do to names of folders.
func TestPartitions(t *testing.T) {
	tb := newTable(t)
	ddl := "id INT, s STRING, d DATE, b BOOLEAN, n DECIMAL(5,2), ts TIMESTAMP"
	snk, err := tb.sink(t.Context(), writer{by: []string{"s", "d", "b", "n", "ts"}, ddl: ddl})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := types.ParseDecimal("1.50")
	rows := []types.Row{
		{int32(1), "a b/c:%=é", types.Days(20000), true, n, types.Micros(1_700_000_000_123_456)},
		{int32(2), nil, nil, nil, nil, nil},
		{int32(3), "", types.Days(-1), false, n, types.Micros(-1)},
	}
	if err := write(t.Context(), snk, 0, records(t, ddl, rows...)); err != nil {
		t.Fatal(err)
	}
	src, err := tb.read(t.Context(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := objects(t, src.(source.Batch))
	want := []map[string]any{}
	for _, r := range rows {
		o := map[string]any{}
		for i, f := range src.Schema().Fields {
			o[f.Name] = plain(r[i], f.Type)
		}
		if o["s"] == "" {
			o["s"] = nil // as in Delta Lake
		}
		want = append(want, o)
	}
	if d := cmp.Diff(sorted(want), sorted(got)); d != "" {
		t.Error(d)
	}
	splits, err := src.(source.Batch).Scan(t.Context(), source.Projection{
		Columns: []string{"id"}, Filters: []source.Filter{{Column: "d", Op: source.Less, Values: []any{types.Days(0)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"3"}, sourcetest.Rows(t, splits)); d != "" {
		t.Errorf("files of other partitions are read: %s", d)
	}
}

// A table's files are ended by the limits of all file sinks, each with its own statistics.
func TestLimits(t *testing.T) {
	for name, options := range map[string]sink.Options{"rows": {"maxRecordsPerFile": "2"}, "bytes": {"maxBytesPerFile": "1"}} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t)
			snk, err := tb.sink(t.Context(), writer{mode: sink.Append, options: options})
			if err != nil {
				t.Fatal(err)
			}
			if err := batch(t.Context(), snk, 0, "a", "b", "c", "d", "e"); err != nil {
				t.Fatal(err)
			}
			snap, err := delta.OpenLog(tb.fs, tb.path, tb.now).Latest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			files, err := snap.Files(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rows := int64(0)
			for _, f := range files {
				var stats struct{ NumRecords int64 }
				if err := json.Unmarshal([]byte(f.Stats), &stats); err != nil {
					t.Fatal(err)
				}
				rows += stats.NumRecords
			}
			if len(files) < 3 || rows != 5 || len(tb.rows(t)) != 5 {
				t.Errorf("%d files with %d rows, read %q", len(files), rows, tb.rows(t))
			}
		})
	}
	tb := newTable(t)
	snk, err := tb.sink(t.Context(), writer{mode: sink.Append, options: sink.Options{"maxRecordsPerFile": "x"}})
	if err == nil {
		err = batch(t.Context(), snk, 0, "a")
	}
	if !errclass.Has(err, "INVALID_STREAMING_OPTION.VALUE") {
		t.Errorf("%v", err)
	}
}
