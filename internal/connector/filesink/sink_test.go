package filesink_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/connector/parquetfile"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var kinds = map[string]struct {
	sink   filesink.Kind
	source files.Kind
}{
	"json":    {jsonfile.SinkKind{}, jsonfile.Kind{}},
	"parquet": {parquetfile.SinkKind{}, parquetfile.Kind{}},
}

// setup is a sink to be opened.
type setup struct {
	kind  string
	dir   string
	ddl   string
	parts []string
	opts  map[string]string
	mode  sink.Mode
	batch bool
	fs    fs.FS
}

func (s setup) schema(t testing.TB) types.StructType {
	t.Helper()
	if s.ddl == "" {
		return sinktest.Schema()
	}
	st, err := types.ParseDDL(s.ddl)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func (s setup) try(t testing.TB) (sink.Sink, error) {
	t.Helper()
	if s.kind == "" {
		s.kind = "json"
	}
	if s.fs == nil {
		s.fs = fs.Local()
	}
	return filesink.Format{Kind: kinds[s.kind].sink, FS: s.fs}.Open(t.Context(), sink.Request{
		Format: s.kind, Schema: s.schema(t), Options: s.opts, Path: s.dir, PartitionBy: s.parts, Mode: s.mode, Stream: !s.batch, Env: sinktest.Env(),
	})
}

func (s setup) open(t testing.TB) sink.Sink {
	t.Helper()
	snk, err := s.try(t)
	if err != nil {
		t.Fatal(err)
	}
	return snk
}

// record makes rows of the setup's schema.
func (s setup) record(t testing.TB, rows ...types.Row) arrow.RecordBatch {
	t.Helper()
	st := s.schema(t)
	bs := vec.NewBuilders(st)
	b := vec.NewBatch(len(rows))
	for i := range st.Fields {
		for _, row := range rows {
			if err := bs[i].AppendValue(row[i]); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, bs[i].Finish())
	}
	rec, err := vec.ToArrow(b, types.ArrowSchema(st, types.ArrowOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// write writes rows as a batch, each row by itself.
func (s setup) write(t testing.TB, snk sink.Sink, id int64, rows ...types.Row) error {
	t.Helper()
	b, skip, err := snk.Begin(t.Context(), id)
	if err != nil || skip {
		return err
	}
	var messages []sink.Message
	err = func() error {
		w, err := b.Writer(t.Context(), 0)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := w.Write(t.Context(), s.record(t, row)); err != nil {
				w.Abort()
				return err
			}
		}
		m, err := w.Close(t.Context())
		messages = append(messages, m)
		return err
	}()
	if err == nil {
		err = b.Commit(t.Context(), messages)
	}
	if err != nil {
		b.Abort(context.WithoutCancel(t.Context()))
	}
	return err
}

func (s setup) read(t testing.TB, schema *types.StructType) ([]string, error) {
	t.Helper()
	if s.kind == "" {
		s.kind = "json"
	}
	table, err := files.Format{Kind: kinds[s.kind].source, FS: fs.Local()}.Open(t.Context(),
		source.Request{Format: s.kind, Paths: []string{s.dir}, Schema: schema, Env: sourcetest.Env()})
	if errclass.Has(err, "PATH_NOT_FOUND") || errclass.Has(err, "UNABLE_TO_INFER_SCHEMA") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	splits, err := table.(source.Batch).Scan(t.Context(), source.Projection{})
	if err != nil {
		return nil, err
	}
	return sourcetest.ReadRows(t.Context(), splits)
}

// rows reads the output.
func (s setup) rows(t testing.TB) []string {
	t.Helper()
	st := s.schema(t)
	out, err := s.read(t, &st)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// names lists the files of the output with the random parts of their names replaced.
func names(t testing.TB, dir string) []string {
	t.Helper()
	id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, id.ReplaceAllString(rel, "UUID"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func TestContract(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := setup{kind: kind, dir: t.TempDir() + "/out"}
			sinktest.Stream(t, sinktest.Harness{
				Open: func(t *testing.T) sink.Sink { return s.open(t) },
				Read: func(t *testing.T) []string {
					if _, err := os.Stat(s.dir + "/_spark_metadata/0"); err != nil {
						return nil
					}
					return s.rows(t)
				},
				Unordered: true, // files of a batch are read in the order of their paths
			})
		})
	}
}

func TestStreamFiles(t *testing.T) {
	s := setup{kind: "parquet", dir: t.TempDir() + "/out"}
	snk := s.open(t)
	if info := snk.Info(); info.Description != "FileSink[file:"+s.dir+"]" || info.CountsRows || !info.NeedsCheckpoint || !info.Recovers {
		t.Errorf("%+v", info)
	}
	for id := range int64(11) {
		if err := s.write(t, snk, id, types.Row{int32(id), "x"}); err != nil {
			t.Fatal(err)
		}
	}
	got := names(t, s.dir)
	if !slices.Contains(got, "part-00000-UUID-c000.snappy.parquet") || !slices.Contains(got, "_spark_metadata/9.compact") || !slices.Contains(got, "_spark_metadata/10") {
		t.Errorf("%q", got)
	}
	text, err := os.ReadFile(s.dir + "/_spark_metadata/10")
	want := regexp.MustCompile(`^v1\n\{"path":"file://` + regexp.QuoteMeta(s.dir) + `/part-00000-[0-9a-f-]+-c000\.snappy\.parquet","size":\d+,"isDir":false,"modificationTime":\d+,"blockReplication":1,"blockSize":33554432,"action":"add"\}$`)
	if err != nil || !want.Match(text) {
		t.Errorf("%v\n%s", err, text)
	}
	if got := s.rows(t); len(got) != 11 {
		t.Errorf("%d rows", len(got))
	}
}

// A batch that has no rows is in the log and leaves a file with the schema, as in Apache Spark 4.2.0.
// The interval of the log is looked at when a query starts, as in Spark: a session may set any number.
func TestLogInterval(t *testing.T) {
	for value, ok := range map[string]bool{"0": false, "-1": false, "1": true} {
		env := sinktest.Env()
		env.Conf = setting.New(map[string]string{setting.SinkLogInterval: value}).Value
		for _, stream := range []bool{true, false} {
			_, err := filesink.Format{Kind: jsonfile.SinkKind{}, FS: fs.Local()}.Open(t.Context(), sink.Request{
				Format: "json", Schema: sinktest.Schema(), Path: filepath.Join(t.TempDir(), "out"), Stream: stream, Env: env,
			})
			if refused := errclass.Has(err, "INVALID_CONF_VALUE.REQUIREMENT"); refused != (stream && !ok) || err != nil && !refused {
				t.Errorf("%s, stream %t: %v", value, stream, err)
			}
		}
	}
}

func TestStreamWithoutRows(t *testing.T) {
	s := setup{kind: "parquet", dir: t.TempDir() + "/out"}
	snk := s.open(t)
	for id := range int64(3) {
		b, _, err := snk.Begin(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{
		"_spark_metadata/0", "_spark_metadata/1", "_spark_metadata/2", "part-00000-UUID-c000.snappy.parquet",
		"part-00000-UUID-c000.snappy.parquet", "part-00000-UUID-c000.snappy.parquet",
	}, names(t, s.dir)); d != "" {
		t.Error(d)
	}
	if got, err := s.read(t, nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestPartitions(t *testing.T) {
	s := setup{kind: "parquet", dir: t.TempDir() + "/out", ddl: "day STRING, k STRING, v INT", parts: []string{"day"}}
	if err := s.write(t, s.open(t), 0, types.Row{"d1", "a", int32(1)}, types.Row{"d2", "b", int32(2)}, types.Row{nil, "c", int32(3)}, types.Row{"d1", "d", int32(4)},
		types.Row{"a/b c:%=é", "e", int32(5)}, types.Row{"", "f", int32(6)}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{
		"_spark_metadata/0", "day=__HIVE_DEFAULT_PARTITION__/part-00000-UUID.c000.snappy.parquet", "day=a%2Fb c%3A%25%3Dé/part-00000-UUID.c000.snappy.parquet",
		"day=d1/part-00000-UUID.c000.snappy.parquet", "day=d2/part-00000-UUID.c000.snappy.parquet",
	}, names(t, s.dir)); d != "" {
		t.Error(d)
	}
	got, err := s.read(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"a | 1 | d1", "b | 2 | d2", "c | 3 | (null)", "d | 4 | d1", "e | 5 | a/b c:%=é", "f | 6 | (null)"}, got); d != "" {
		t.Error(d)
	}
	many := setup{dir: t.TempDir() + "/out", ddl: "k INT, d DATE, v INT", parts: []string{"k", "d"}}
	var rows []types.Row
	for i := range int32(300) {
		rows = append(rows, types.Row{i % 150, types.Days(i % 2), i})
	}
	if err := many.write(t, many.open(t), 0, rows...); err != nil {
		t.Fatal(err)
	}
	if got := many.rows(t); len(got) != 300 {
		t.Errorf("%d rows in many partitions", len(got))
	}
}

func TestMaxRecordsPerFile(t *testing.T) {
	s := setup{dir: t.TempDir() + "/out", opts: map[string]string{"maxRecordsPerFile": "2"}}
	snk := s.open(t)
	b, _, err := snk.Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Writer(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), sinktest.Rows(3, "a", "b", "c", "d", "e")); err != nil {
		t.Fatal(err)
	}
	m, err := w.Close(t.Context())
	if err == nil {
		err = b.Commit(t.Context(), []sink.Message{m})
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"_spark_metadata/0", "part-00000-UUID-c000.json", "part-00000-UUID-c001.json", "part-00000-UUID-c002.json"}, names(t, s.dir)); d != "" {
		t.Error(d)
	}
	if got := s.rows(t); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

func TestBatchModes(t *testing.T) {
	dir := t.TempDir() + "/out"
	with := func(mode sink.Mode) setup { return setup{kind: "parquet", dir: dir, mode: mode, batch: true} }
	step := func(mode sink.Mode, text string, want ...string) {
		t.Helper()
		s := with(mode)
		if err := s.write(t, s.open(t), 0, types.Row{int32(0), text}); err != nil {
			t.Fatal(err)
		}
		got := s.rows(t)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("mode %d: %s", mode, d)
		}
	}
	step(sink.ErrorIfExists, "a", "0 | a")
	if _, err := with(sink.ErrorIfExists).try(t); !errclass.Has(err, "PATH_ALREADY_EXISTS") {
		t.Errorf("again: %v", err)
	}
	step(sink.Append, "b", "0 | a", "0 | b")
	step(sink.Ignore, "c", "0 | a", "0 | b")
	step(sink.Overwrite, "d", "0 | d")
	if d := cmp.Diff([]string{"_SUCCESS", "part-00000-UUID-c000.snappy.parquet"}, names(t, dir)); d != "" {
		t.Error(d)
	}
	empty := setup{kind: "parquet", dir: t.TempDir() + "/out", mode: sink.ErrorIfExists, batch: true}
	if err := empty.write(t, empty.open(t), 0); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"_SUCCESS", "part-00000-UUID-c000.snappy.parquet"}, names(t, empty.dir)); d != "" {
		t.Errorf("without rows: %s", d)
	}
}

func TestDynamicOverwrite(t *testing.T) {
	s := setup{dir: t.TempDir() + "/out", ddl: "k INT, v INT", parts: []string{"k"}, mode: sink.Overwrite, batch: true, opts: map[string]string{"partitionOverwriteMode": "dynamic"}}
	for _, rows := range [][]types.Row{{{int32(1), int32(10)}, {int32(2), int32(20)}}, {{int32(2), int32(21)}, {int32(3), int32(30)}}} {
		if err := s.write(t, s.open(t), 0, rows...); err != nil {
			t.Fatal(err)
		}
	}
	got := s.rows(t)
	slices.Sort(got)
	if d := cmp.Diff([]string{"10 | 1", "21 | 2", "30 | 3"}, got); d != "" {
		t.Error(d)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		s    setup
		want string
	}{
		"update":          {setup{dir: dir, mode: sink.Update}, "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE"},
		"complete":        {setup{dir: dir, mode: sink.Complete}, "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE"},
		"no path":         {setup{}, "INVALID_STREAMING_OPTION.NO_PATH"},
		"unknown column":  {setup{dir: dir, parts: []string{"zz"}}, "INVALID_STREAMING_OPTION.PARTITION_COLUMN"},
		"nested column":   {setup{dir: dir, ddl: "a ARRAY<INT>, b INT", parts: []string{"a"}}, "INVALID_PARTITION_COLUMN_DATA_TYPE"},
		"same column":     {setup{dir: dir, parts: []string{"part", "Part"}}, "COLUMN_ALREADY_EXISTS"},
		"unknown codec":   {setup{dir: dir, kind: "parquet", opts: map[string]string{"compression": "nope"}}, "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION"},
		"json codec":      {setup{dir: dir, opts: map[string]string{"compression": "lzo"}}, "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION"},
		"interval":        {setup{dir: dir, ddl: "a INTERVAL"}, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"},
		"interval column": {setup{dir: dir, kind: "parquet", ddl: "a STRUCT<b:INTERVAL>"}, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"},
		"bad retention":   {setup{dir: dir, opts: map[string]string{"retention": "soon"}}, "INVALID_STREAMING_OPTION.VALUE"},
		"retention words": {setup{dir: dir, opts: map[string]string{"retention": "12 hours"}}, "INVALID_STREAMING_OPTION.VALUE"},
	} {
		snk, err := tt.s.try(t)
		if err == nil { // found when the query runs
			_, _, err = snk.Begin(t.Context(), 0)
		}
		if !errclass.Has(err, tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

// Whatever write, sync or rename is the last before a crash: afterwards the batch is in the output wholly or not at all, and
// writing it again gives it once.
func TestCrashes(t *testing.T) {
	for _, kind := range []string{"json", "parquet"} {
		for k := 1; ; k++ {
			s := setup{kind: kind, dir: t.TempDir() + "/out", ddl: "k INT, v STRING", parts: []string{"k"}}
			if err := s.write(t, s.open(t), 0, types.Row{int32(1), "a"}); err != nil {
				t.Fatal(err)
			}
			crash := errfs.CrashAt(k)
			broken := s
			broken.fs = errfs.Wrap(fs.Local(), crash)
			rows := []types.Row{{int32(1), "b"}, {int32(2), "c"}}
			err := broken.write(t, broken.open(t), 1, rows...)
			if !crash.Hit() {
				if err != nil {
					t.Fatal(err)
				}
				if k < 8 {
					t.Errorf("a batch has only %d operations", k-1)
				}
				break
			}
			got := s.rows(t)
			if len(got) != 1 && len(got) != 3 {
				t.Fatalf("%s, crash at operation %d: %q", kind, k, got)
			}
			if err := s.write(t, s.open(t), 1, rows...); err != nil {
				t.Fatalf("%s, after a crash at operation %d: %v", kind, k, err)
			}
			got = s.rows(t)
			slices.Sort(got)
			if d := cmp.Diff([]string{"1 | a", "1 | b", "2 | c"}, got); d != "" {
				t.Fatalf("%s, crash at operation %d:\n%s", kind, k, d)
			}
		}
	}
}

// A full disk gives an error that names the file and leaves nothing behind.
func TestFullDisk(t *testing.T) {
	for _, batch := range []bool{false, true} {
		for _, op := range []errfs.Kind{errfs.Create, errfs.Write, errfs.SyncFile, errfs.Close} {
			s := setup{dir: t.TempDir() + "/out", batch: batch, mode: sink.Append}
			full := s
			full.fs = errfs.Wrap(fs.Local(), errfs.FailAt(1, errfs.Ops(op).Named("part-"), errfs.ErrNoSpace))
			err := full.write(t, full.open(t), 0, types.Row{int32(1), "a"})
			if !errclass.Has(err, "TASK_WRITE_FAILED") || !strings.Contains(err.Error(), "part-00000") || !strings.Contains(fmt.Sprint(errors.Unwrap(err)), "space") {
				t.Errorf("%s: %v", op, err)
			}
			if _, err := os.Stat(s.dir); err == nil {
				if got := names(t, s.dir); len(got) != 0 {
					t.Errorf("%s leaves %q", op, got)
				}
			}
		}
	}
}

// TestReadAsWritten: the log of a stream vouches for its files, so what they say of nulls holds, and columns keep their places.
func TestReadAsWritten(t *testing.T) {
	s := setup{dir: t.TempDir(), kind: "parquet", ddl: "part STRING, n BIGINT NOT NULL, text STRING", parts: []string{"part"}}
	if err := s.write(t, s.open(t), 0, types.Row{"a", int64(1), nil}); err != nil {
		t.Fatal(err)
	}
	open := func(schema *types.StructType) string {
		table, err := files.Format{Kind: kinds[s.kind].source, FS: fs.Local()}.Open(t.Context(),
			source.Request{Format: s.kind, Paths: []string{s.dir}, Schema: schema, Env: sourcetest.Env()})
		if err != nil {
			t.Fatal(err)
		}
		return table.Schema().SQL()
	}
	own := s.schema(t)
	for _, c := range []struct{ got, want string }{
		{open(nil), "STRUCT<n: BIGINT NOT NULL, text: STRING, part: STRING>"},
		{open(&own), "STRUCT<part: STRING, n: BIGINT, text: STRING>"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "_spark_metadata")); err != nil {
		t.Fatal(err)
	}
	if got, want := open(nil), "STRUCT<n: BIGINT, text: STRING, part: STRING>"; got != want {
		t.Errorf("without the log: got %s, want %s", got, want)
	}
}

// TestOnlyPartitionColumns: a stream may write nothing but directories with lines that are empty.
func TestOnlyPartitionColumns(t *testing.T) {
	s := setup{dir: t.TempDir(), ddl: "part STRING, n INT", parts: []string{"part", "n"}}
	if err := s.write(t, s.open(t), 0, types.Row{"a", int32(1)}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a | 1"}, s.rows(t)); d != "" {
		t.Error(d)
	}
}
