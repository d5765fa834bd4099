package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

// base is some hours ago: later than nothing, earlier than any file made by a test.
var base = time.Now().Add(-10 * time.Hour).Truncate(time.Second)

// put writes a file that was modified at seconds after base.
func put(t testing.TB, path, text string, at int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	when := base.Add(time.Duration(at) * time.Second)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

type request struct {
	ddl    string
	path   string
	opts   map[string]string
	conf   map[string]string
	stream bool
	fs     fs.FS
}

func (r request) open(t testing.TB) (*files.Table, error) {
	t.Helper()
	req := source.Request{Format: "json", Options: r.opts, Env: sourcetest.Env(), Stream: r.stream}
	if r.path != "" {
		req.Paths = []string{r.path}
	}
	req.Env.Conf = func(key string) string { return r.conf[key] }
	if r.ddl != "" {
		s, err := types.ParseDDL(r.ddl)
		if err != nil {
			t.Fatal(err)
		}
		req.Schema = &s
	}
	if r.fs == nil {
		r.fs = fs.Local()
	}
	table, err := files.Format{Kind: jsonfile.Kind{}, FS: r.fs}.Open(t.Context(), req)
	if err != nil {
		return nil, err
	}
	return table.(*files.Table), nil
}

// readAll reads a table, in batch or as a stream, and gives its schema and sorted rows.
func (r request) readAll(t testing.TB) (schema string, rows []string, err error) {
	t.Helper()
	table, err := r.open(t)
	if err != nil {
		return "", nil, err
	}
	var splits []source.Split
	if r.stream {
		s, err := table.Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(t.TempDir())})
		if err != nil {
			return "", nil, err
		}
		defer s.Close()
		end, err := s.LatestOffset(t.Context(), nil, source.LimitNone)
		if err != nil {
			return "", nil, err
		}
		if splits, err = s.Plan(t.Context(), nil, end); err != nil {
			return "", nil, err
		}
	} else if splits, err = table.Scan(t.Context(), source.Projection{}); err != nil {
		return "", nil, err
	}
	rows, err = sourcetest.ReadRows(t.Context(), splits)
	slices.Sort(rows)
	return strings.TrimSuffix(strings.TrimPrefix(table.Schema().SimpleString(), "struct<"), ">"), rows, err
}

// Which files a directory consists of and which columns their names give. Apache Spark 4.2.0 gives the same, in batch and as a stream.
func TestTables(t *testing.T) {
	const a, b, c = `{"v":1}`, `{"v":2}`, `{"v":3}`
	tests := []struct {
		name   string
		files  map[string]string
		ddl    string
		path   string
		opts   map[string]string
		schema string
		rows   []string
		err    string
		// refused is the condition of a stream alone.
		refused string
	}{
		{name: "a file beside partitions", files: map[string]string{"a.json": a, "k=1/b.json": b}, ddl: "v INT, k INT", schema: "v:int,k:int", rows: []string{"2 | 1"}},
		{name: "plain directory", files: map[string]string{"a.json": a, "sub/b.json": b}, ddl: "v INT", schema: "v:int", rows: []string{"1"}},
		{name: "plain directory only", files: map[string]string{"sub/b.json": b}, ddl: "v INT", schema: "v:int"},
		{name: "plain and partition", files: map[string]string{"sub/b.json": b, "k=1/c.json": c}, ddl: "v INT", err: "CONFLICTING_DIRECTORY_STRUCTURES"},
		{name: "directory below a partition", files: map[string]string{"k=1/sub/b.json": b, "k=2/c.json": c}, ddl: "v INT", schema: "v:int,k:int", rows: []string{"2 | 1", "3 | 2"}},
		{name: "partition columns come last", files: map[string]string{"k=1/b.json": b}, ddl: "k INT, v INT", schema: "v:int,k:int", rows: []string{"2 | 1"}},
		{name: "mixed types", files: map[string]string{"k=1/b.json": b, "k=x/c.json": c}, ddl: "v INT", schema: "v:int,k:string", rows: []string{"2 | 1", "3 | x"}},
		{name: "whole and broken numbers", files: map[string]string{"k=1/b.json": b, "k=1.5/c.json": c}, ddl: "v INT", schema: "v:int,k:double", rows: []string{"2 | 1", "3 | 1.5"}},
		{name: "dates", files: map[string]string{"k=2026-01-01/b.json": b, "k=2026-01-02/c.json": c}, ddl: "v INT", schema: "v:int,k:date", rows: []string{"2 | 2026-01-01", "3 | 2026-01-02"}},
		{name: "timestamps", files: map[string]string{"k=2026-01-01 00%3A00%3A00/b.json": b}, ddl: "v INT", schema: "v:int,k:timestamp", rows: []string{"2 | 2026-01-01T00:00:00Z"}},
		{name: "null", files: map[string]string{"k=__HIVE_DEFAULT_PARTITION__/b.json": b, "k=7/c.json": c}, ddl: "v INT", schema: "v:int,k:int", rows: []string{"2 | (null)", "3 | 7"}},
		{name: "null only", files: map[string]string{"k=__HIVE_DEFAULT_PARTITION__/b.json": b}, ddl: "v INT", schema: "v:int,k:void", rows: []string{"2 | (null)"}},
		{name: "leading zeros", files: map[string]string{"k=007/b.json": b}, ddl: "v INT", schema: "v:int,k:int", rows: []string{"2 | 7"}},
		{
			name: "large numbers", files: map[string]string{"k=99999999999999999999999/b.json": b, "k=3000000000/c.json": c}, ddl: "v INT", schema: "v:int,k:decimal(23,0)",
			rows: []string{"2 | 99999999999999999999999", "3 | 3000000000"},
		},
		{name: "value that does not fit", files: map[string]string{"k=x/b.json": b}, ddl: "v INT, k INT", err: "INVALID_PARTITION_VALUE"},
		{name: "escaped value", files: map[string]string{"k=a%2Fb c%25/b.json": b}, ddl: "v INT", schema: "v:int,k:string", rows: []string{"2 | a/b c%"}},
		{name: "other columns", files: map[string]string{"k=1/b.json": b, "j=1/c.json": c}, ddl: "v INT", err: "CONFLICTING_PARTITION_COLUMN_NAMES"},
		{name: "other depths", files: map[string]string{"k=1/j=2/b.json": b, "k=1/c.json": c}, ddl: "v INT", err: "CONFLICTING_PARTITION_COLUMN_NAMES"},
		{name: "one file", files: map[string]string{"k=1/b.json": b}, ddl: "v INT", path: "k=1/b.json", schema: "v:int", rows: []string{"2"}, refused: "INVALID_STREAMING_OPTION.NOT_A_DIRECTORY"},
		{name: "one file by a glob", files: map[string]string{"k=1/b.json": b}, ddl: "v INT", path: "k=1/b.*", schema: "v:int", rows: []string{"2"}},
		{name: "one partition", files: map[string]string{"k=1/b.json": b}, ddl: "v INT", path: "k=1", schema: "v:int", rows: []string{"2"}},
		{name: "basePath", files: map[string]string{"k=1/b.json": b}, ddl: "v INT", path: "k=1", opts: map[string]string{"basePath": "."}, schema: "v:int,k:int", rows: []string{"2 | 1"}},
		{name: "glob", files: map[string]string{"k=1/b.json": b, "k=2/c.json": c}, ddl: "v INT", path: "k=*", schema: "v:int", rows: []string{"2", "3"}},
		{name: "glob through a file", files: map[string]string{"k/b.json": b, "top.json": c}, ddl: "v INT", path: "*/b.json", schema: "v:int", rows: []string{"2"}},
		{name: "deep glob through a file", files: map[string]string{"k/l/b.json": b, "top.json": c}, ddl: "v INT", path: "*/l/*", schema: "v:int", rows: []string{"2"}},
		{name: "glob of files", files: map[string]string{"k=1/b.json": b, "k=2/c.json": c}, ddl: "v INT", path: "k={1,3}/*.json", schema: "v:int", rows: []string{"2"}},
		{name: "recursive", files: map[string]string{"a.json": a, "k=1/b.json": b, "s/t/c.json": c}, ddl: "v INT", opts: map[string]string{"recursiveFileLookup": "true"}, schema: "v:int", rows: []string{"1", "2", "3"}},
		{name: "hidden", files: map[string]string{"_a.json": a, ".b.json": b, "c.json": c, "_k=1/d.json": a, "d.json._COPYING_": b}, ddl: "v INT", schema: "v:int,_k:int", rows: []string{"1 | 1"}},
		{name: "hidden directory", files: map[string]string{"k=1/_x/b.json": b, "k=1/c.json": c}, ddl: "v INT", schema: "v:int,k:int", rows: []string{"3 | 1"}},
		{name: "pathGlobFilter", files: map[string]string{"a.json": a, "b.txt": b}, ddl: "v INT", opts: map[string]string{"pathGlobFilter": "*.json"}, schema: "v:int", rows: []string{"1"}},
		{name: "column in data and name", files: map[string]string{"k=1/b.json": `{"v":1,"k":9}`}, ddl: "v INT, k INT", schema: "v:int,k:int", rows: []string{"1 | 1"}},
		{name: "case of partition columns", files: map[string]string{"K=1/b.json": b}, ddl: "v INT, k INT", schema: "v:int,k:int", rows: []string{"2 | 1"}},
		{name: "column twice", files: map[string]string{"b.json": a}, ddl: "v INT, V INT", err: "COLUMN_ALREADY_EXISTS"},
		{name: "not null", files: map[string]string{"b.json": a}, ddl: "v INT NOT NULL", schema: "v:int", rows: []string{"1"}},
		{name: "odd names", files: map[string]string{"a b%20#:é.json": a}, ddl: "v INT", schema: "v:int", rows: []string{"1"}},
		{name: "missing", files: map[string]string{"b.json": a}, ddl: "v INT", path: "nowhere", err: "PATH_NOT_FOUND"},
		{name: "unknown scheme", files: map[string]string{"b.json": a}, ddl: "v INT", path: "s3://bucket/x", err: "INVALID_OPTION_VALUE"},
	}
	for _, tt := range tests {
		for _, stream := range []bool{false, true} {
			name := tt.name
			if stream {
				name += " stream"
			}
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				for name, text := range tt.files {
					put(t, filepath.Join(dir, name), text, 0)
				}
				r := request{ddl: tt.ddl, path: filepath.Join(dir, tt.path), opts: map[string]string{}, stream: stream}
				if strings.Contains(tt.path, "://") {
					r.path = tt.path
				}
				for k, v := range tt.opts {
					if k == "basePath" {
						v = dir
					}
					r.opts[k] = v
				}
				schema, rows, err := r.readAll(t)
				if stream && tt.refused != "" {
					if !errclass.Has(err, tt.refused) {
						t.Errorf("got %v, want %s", err, tt.refused)
					}
					return
				}
				if tt.err != "" {
					if !errclass.Has(err, tt.err) {
						t.Errorf("got %v, want %s", err, tt.err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if schema != tt.schema {
					t.Errorf("schema %s, want %s", schema, tt.schema)
				}
				if d := cmp.Diff(tt.rows, rows); d != "" {
					t.Errorf("rows (-want +got):\n%s", d)
				}
			})
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/a.json", `{"v":1}`, 0)
	empty := t.TempDir()
	for name, tt := range map[string]struct {
		r    request
		want string
	}{
		"no schema":         {request{path: dir, stream: true}, "INVALID_STREAMING_OPTION.NO_SCHEMA"},
		"no path":           {request{ddl: "v INT", stream: true}, "INVALID_STREAMING_OPTION.NO_PATH"},
		"nothing to infer":  {request{path: empty}, "UNABLE_TO_INFER_SCHEMA"},
		"glob of nothing":   {request{ddl: "v INT", path: dir + "/z*"}, "PATH_NOT_FOUND"},
		"interval":          {request{ddl: "v INTERVAL", path: dir}, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"},
		"interval stream":   {request{ddl: "v INTERVAL", path: dir, stream: true}, ""}, // its first batch fails
		"bad option stream": {request{ddl: "v INT", path: dir, stream: true, opts: map[string]string{"multiLine": "perhaps"}}, ""},
		"bad glob":          {request{ddl: "v INT", path: dir + "/[a"}, "INVALID_OPTION_VALUE"},
		"bad time":          {request{ddl: "v INT", path: dir, opts: map[string]string{"modifiedAfter": "x"}}, "INVALID_STREAMING_OPTION.VALUE"},
		"bad name pattern":  {request{ddl: "v INT", path: dir, opts: map[string]string{"pathGlobFilter": "[a"}}, "INVALID_STREAMING_OPTION.VALUE"},
		"schema without it": {request{path: dir, stream: true, conf: map[string]string{"spark.sql.streaming.schemaInference": "true"}}, ""},
		"empty glob stream": {request{ddl: "v INT", path: dir + "/z*", stream: true}, ""},
	} {
		_, err := tt.r.open(t)
		if tt.want == "" && err != nil || tt.want != "" && !errclass.Has(err, tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestModifiedTimes(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		put(t, dir+"/"+string(rune('a'+i))+".json", `{"v":`+string(rune('1'+i))+`}`, i*100)
	}
	at := base.Add(100 * time.Second).UTC().Format("2006-01-02T15:04:05")
	for opt, want := range map[string][]string{"modifiedAfter": {"3"}, "modifiedBefore": {"1"}} {
		_, rows, err := request{ddl: "v INT", path: dir, opts: map[string]string{opt: at}}.readAll(t)
		if d := cmp.Diff(want, rows); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", opt, err, d)
		}
	}
}

func TestMetadata(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/k=1/a b.json", `{"v":1}`, 0)
	table, err := request{ddl: "v INT", path: dir}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	if h := table.HiddenColumns(); len(h) != 1 || h[0].Name != "_metadata" {
		t.Errorf("hidden columns %v", h)
	}
	splits, err := table.Scan(t.Context(), source.Projection{Columns: []string{"_metadata", "k"}})
	if err != nil {
		t.Fatal(err)
	}
	got := sourcetest.Rows(t, splits)
	want := `{"file_block_length":7,"file_block_start":0,"file_modification_time":"` + base.UTC().Format("2006-01-02T15:04:05Z") +
		`","file_name":"a%20b.json","file_path":"file:` + dir + `/k=1/a%20b.json","file_size":7} | 1`
	if len(got) != 1 || got[0] != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPartitionFilters(t *testing.T) {
	dir := t.TempDir()
	for _, k := range []string{"1", "2", "3", "__HIVE_DEFAULT_PARTITION__"} {
		put(t, dir+"/k="+k+"/a.json", `{"v":1}`, 0)
	}
	table, err := request{ddl: "v INT", path: dir}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		f    source.Filter
		want int
	}{
		{source.Filter{Column: "k", Op: source.Equal, Values: []any{int32(2)}}, 1},
		{source.Filter{Column: "k", Op: source.NotEqual, Values: []any{int32(2)}}, 2},
		{source.Filter{Column: "k", Op: source.Less, Values: []any{int32(3)}}, 2},
		{source.Filter{Column: "k", Op: source.GreaterEqual, Values: []any{int32(3)}}, 1},
		{source.Filter{Column: "k", Op: source.In, Values: []any{int32(1), int32(3)}}, 2},
		{source.Filter{Column: "k", Op: source.IsNull}, 1},
		{source.Filter{Column: "k", Op: source.IsNotNull}, 3},
		{source.Filter{Column: "k", Op: source.Equal, Values: []any{"2"}}, 3}, // not comparable: only null is out
		{source.Filter{Column: "v", Op: source.Equal, Values: []any{int32(7)}}, 4},
	} {
		splits, err := table.Scan(t.Context(), source.Projection{Filters: []source.Filter{tt.f}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(sourcetest.Rows(t, splits)); got != tt.want {
			t.Errorf("%+v: %d rows, want %d", tt.f, got, tt.want)
		}
	}
}

func TestMissingAndCorrupt(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/a.json", `{"v":1}`, 0)
	put(t, dir+"/b.json", `{"v":2}`, 0)
	put(t, dir+"/c.json.gz", "no gzip", 0)
	for _, tt := range []struct {
		opts map[string]string
		want string
	}{
		{nil, "FAILED_READ_FILE.FILE_NOT_EXIST"},
		{map[string]string{"ignoreMissingFiles": "true"}, "FAILED_READ_FILE.NO_HINT"},
		{map[string]string{"ignoreMissingFiles": "true", "ignoreCorruptFiles": "true"}, ""},
	} {
		table, err := request{ddl: "v INT", path: dir, opts: tt.opts}.open(t)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir+"/b.json", dir+"/_b"); err != nil {
			t.Fatal(err)
		}
		splits, err := table.Scan(t.Context(), source.Projection{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := sourcetest.ReadRows(t.Context(), splits)
		if err := os.Rename(dir+"/_b", dir+"/b.json"); err != nil {
			t.Fatal(err)
		}
		if tt.want == "" {
			if d := cmp.Diff([]string{"1"}, rows); d != "" || err != nil {
				t.Errorf("%v: %v\n%s", tt.opts, err, d)
			}
		} else if !errclass.Has(err, tt.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v: %v, want %s", tt.opts, err, tt.want)
		}
	}
}

// A batch reads large files before small ones, in parts no larger than a partition, as Apache Spark 4.2.0 does. Files of one size
// are in the order of their paths; there it is the order in which the file system lists them.
func TestOrderOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, n := range map[string]int{"a": 25, "b": 3, "c": 10, "d": 15} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `{"v":"%s%02d"}%s`, name, i, "\n")
		}
		put(t, dir+"/"+name+".json", text.String(), 0) // lines of 12 bytes
	}
	for _, tt := range []struct {
		conf map[string]string
		want string
	}{
		{nil, "a00-a24 d00-d14 c00-c09 b00-b02"},
		{map[string]string{"maxPartitionBytes": "120", "openCostInBytes": "10"}, "a00-a09 | a10-a19 | c00-c09 | d00-d09 | a20-a24 | d10-d14 b00-b02"},
		{map[string]string{"maxPartitionBytes": "60b", "openCostInBytes": "10"}, "a00-a04 | a05-a09 | a10-a14 | a15-a19 | a20-a24 | c00-c04 | c05-c09 | d00-d04 | d05-d09 | d10-d14 | b00-b02"},
		{map[string]string{"openCostInBytes": "4", "minPartitionNum": "1"}, "a00-a24 d00-d14 c00-c09 b00-b02"},
		{map[string]string{"openCostInBytes": "4", "maxPartitionBytes": "120", "maxPartitionNum": "2"}, "a00-a19 | c00-c09 d00-d09 a20-a24 | d10-d14 b00-b02"},
	} {
		conf := map[string]string{}
		for key, value := range tt.conf {
			conf["spark.sql.files."+key] = value
		}
		table, err := request{ddl: "v STRING", path: dir, conf: conf}.open(t)
		if err != nil {
			t.Fatal(err)
		}
		splits, err := table.Scan(t.Context(), source.Projection{})
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, s := range splits {
			var runs []string
			first, last := "", ""
			for _, row := range sourcetest.Rows(t, []source.Split{s}) {
				before, _ := strconv.Atoi(strings.TrimLeft(last, "abcd"))
				if now, _ := strconv.Atoi(row[1:]); last == "" || row[0] != last[0] || now != before+1 {
					if first != "" {
						runs = append(runs, first+"-"+last)
					}
					first = row
				}
				last = row
			}
			parts = append(parts, strings.Join(append(runs, first+"-"+last), " "))
		}
		if got := strings.Join(parts, " | "); got != tt.want {
			t.Errorf("%v:\n got %s\nwant %s", tt.conf, got, tt.want)
		}
	}
}

// Large files are cut, small ones gathered, and neither changes rows or their order.
func TestSplits(t *testing.T) {
	dir := t.TempDir()
	line := `{"v":12345678,"pad":"` + strings.Repeat("x", 1000) + "\"}\n"
	put(t, dir+"/a.json", strings.Repeat(line, 40<<20/len(line)), 0)
	for _, n := range []string{"b", "c", "d"} {
		put(t, dir+"/"+n+".json", line, 0)
	}
	table, err := request{ddl: "v INT", path: dir}.open(t)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := table.Scan(t.Context(), source.Projection{})
	if err != nil {
		t.Fatal(err)
	}
	if len(splits) != 4 {
		t.Errorf("%d splits, want 3 of the large file and 1 of the small ones", len(splits))
	}
	if got, want := len(sourcetest.Rows(t, splits)), 40<<20/len(line)+3; got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
}
