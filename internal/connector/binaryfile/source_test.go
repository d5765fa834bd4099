package binaryfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/binaryfile"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var changed = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// folder makes files of the given contents, changed at noon of 2026-01-01.
func folder(t testing.TB, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// read is a table of the files below a folder.
type read struct {
	dir     string
	options source.Options
	schema  string
	conf    map[string]string
	stream  bool
}

func (r read) open(t testing.TB) (source.Table, error) {
	t.Helper()
	req := source.Request{Format: "binaryFile", Paths: []string{r.dir}, Options: r.options, Stream: r.stream, Env: sourcetest.Env()}
	req.Env.Conf = func(key string) string { return r.conf[key] }
	if r.schema != "" {
		st, err := types.ParseDDL(r.schema)
		if err != nil {
			t.Fatal(err)
		}
		req.Schema = &st
	}
	return files.Format{Kind: binaryfile.Kind{}, FS: fs.Local()}.Open(t.Context(), req)
}

func (r read) rows(t testing.TB, want source.Projection) ([]string, error) {
	t.Helper()
	table, err := r.open(t)
	if err != nil {
		return nil, err
	}
	splits, err := table.(source.Batch).Scan(t.Context(), want)
	if err != nil {
		return nil, err
	}
	rows, err := sourcetest.ReadRows(t.Context(), splits)
	for i := range rows {
		rows[i] = strings.ReplaceAll(rows[i], r.dir, "DIR")
	}
	slices.Sort(rows)
	return rows, err
}

// A file is a row; one without bytes is none, as in Spark, and compressed ones stay as they are.
func TestRows(t *testing.T) {
	dir := folder(t, map[string]string{"k=1/a.bin": "abc", "k=1/none": "", "k=2/c.gz": "not\x00gzip", "k=2/_hidden": "x"})
	for name, c := range map[string]struct {
		r    read
		want source.Projection
		rows []string
	}{
		"all": {want: source.Projection{Columns: []string{"path", "length", "content", "k"}}, rows: []string{
			"file:DIR/k=1/a.bin | 3 | YWJj | 1", "file:DIR/k=2/c.gz | 8 | bm90AGd6aXA= | 2",
		}},
		"by name": {
			r: read{options: source.Options{"pathGlobFilter": "*.bin"}}, want: source.Projection{Columns: []string{"length"}},
			rows: []string{"3"},
		},
		"by length": {
			want: source.Projection{Columns: []string{"k"}, Filters: []source.Filter{{Column: "length", Op: source.Greater, Values: []any{int64(3)}}}},
			rows: []string{"2"},
		},
		"by time": {
			want: source.Projection{Columns: []string{"k"}, Filters: []source.Filter{
				{Column: "modificationTime", Op: source.Less, Values: []any{types.Micros(changed.UnixMicro())}},
			}},
		},
		"schema given": {
			r:    read{schema: "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY, k STRING"},
			want: source.Projection{Columns: []string{"k"}}, rows: []string{"1", "2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.r.dir = dir
			got, err := c.r.rows(t, c.want)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.rows, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
	table, err := read{dir: dir}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Schema().DDL(), "path STRING,modificationTime TIMESTAMP,length BIGINT,content BINARY,k INT"; got != want {
		t.Errorf("schema %s", got)
	}
	empty, err := read{dir: t.TempDir()}.open(t)
	if err != nil || len(empty.Schema().Fields) != 4 {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestContract(t *testing.T) {
	contents := map[string]string{}
	for i := range 40 {
		contents[fmt.Sprintf("p=%d/f%02d", i%3, i)] = strings.Repeat("x", i)
	}
	dir := folder(t, contents)
	sourcetest.Batch(t, func(t *testing.T) source.Batch {
		table, err := read{dir: dir}.open(t)
		if err != nil {
			t.Fatal(err)
		}
		return table.(source.Batch)
	})
}

// Only contents that are read have a limit, which holds for what the file has become since it was listed.
func TestMaxLength(t *testing.T) {
	dir := folder(t, map[string]string{"small": "abc", "large": "0123456789"})
	r := read{dir: dir, conf: map[string]string{"spark.sql.sources.binaryFile.maxLength": "5"}}
	if _, err := r.rows(t, source.Projection{}); !errclass.Has(err, "FAILED_READ_FILE.NO_HINT") || !strings.Contains(err.Error(), "binaryFile.maxLength") {
		t.Errorf("%v", err)
	}
	if got, err := r.rows(t, source.Projection{Columns: []string{"length"}}); err != nil || len(got) != 2 {
		t.Errorf("without content: %q, %v", got, err)
	}
	small := source.Projection{Filters: []source.Filter{{Column: "length", Op: source.Less, Values: []any{int64(5)}}}}
	if got, err := r.rows(t, small); err != nil || len(got) != 1 {
		t.Errorf("of small files: %q, %v", got, err)
	}
	table, err := r.open(t)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := table.(source.Batch).Scan(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "small"), []byte("grown"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := sourcetest.ReadRows(t.Context(), splits); err != nil || len(got) != 0 {
		t.Errorf("after it has grown past the filter: %q, %v", got, err)
	}
}

// A file that has gone since it was listed is an error unless that is to be passed over.
func TestVanished(t *testing.T) {
	for _, ignore := range []string{"false", "true"} {
		dir := folder(t, map[string]string{"a": "abc", "b": "abc"})
		r := read{dir: dir, options: source.Options{"ignoreMissingFiles": ignore}}
		table, err := r.open(t)
		if err != nil {
			t.Fatal(err)
		}
		splits, err := table.(source.Batch).Scan(t.Context(), source.Projection{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "a")); err != nil {
			t.Fatal(err)
		}
		got, err := sourcetest.ReadRows(t.Context(), splits)
		if ignore == "true" && (err != nil || len(got) != 1) || ignore == "false" && !errclass.Has(err, "FAILED_READ_FILE.FILE_NOT_EXIST") {
			t.Errorf("ignoreMissingFiles=%s: %q, %v", ignore, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	dir := folder(t, map[string]string{"a": "abc"})
	for _, schema := range []string{"length INT, path STRING", "path STRING, length BIGINT", "path STRING, modificationTime TIMESTAMP, length INT, content BINARY"} {
		if _, err := (read{dir: dir, schema: schema}).open(t); !errclass.Has(err, "INVALID_OPTION_VALUE") {
			t.Errorf("%s: %v", schema, err)
		}
	}
	if _, err := (read{dir: dir, stream: true}).open(t); !errclass.Has(err, "INVALID_STREAMING_OPTION.NO_SCHEMA") {
		t.Errorf("a stream without a schema: %v", err)
	}
	_, err := filesink.Format{Kind: binaryfile.SinkKind{}, FS: fs.Local()}.Open(t.Context(), sink.Request{
		Format: "binaryFile", Schema: sinktest.Schema(), Path: t.TempDir() + "/out", Env: sinktest.Env(),
	})
	if !errclass.Has(err, "UNSUPPORTED_FEATURE.WRITE_FOR_BINARY_SOURCE") {
		t.Errorf("writing: %v", err)
	}
}
