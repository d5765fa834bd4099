package jsonfile

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/files/filestest"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

var (
	format    = files.Format{Kind: Kind{}, FS: fs.Local()}
	put, scan = filestest.Put, filestest.Scan
)

func request(t testing.TB, ddl, path string, opts ...string) source.Request {
	t.Helper()
	return filestest.Request(t, "json", ddl, path, opts...)
}

func open(t testing.TB, req source.Request) *files.Table {
	t.Helper()
	return filestest.Open(t, format, req)
}

func TestContract(t *testing.T) {
	dir := t.TempDir()
	n := 0
	sourcetest.Stream(t, sourcetest.StreamHarness{
		Open: func(t *testing.T) source.Streamer {
			req := request(t, "a INT, b STRING", dir, "maxFilesPerTrigger", "2")
			req.Stream = true
			return open(t, req)
		},
		Add: func(t *testing.T) {
			for range 3 {
				n++
				put(t, filepath.Join(dir, fmt.Sprintf("f%03d.json", n)), fmt.Sprintf("{\"a\":%d,\"b\":\"x\"}\n{\"a\":%d}\n", n, -n))
			}
		},
	})
}

func TestBatch(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/a.json", "{\"a\":1,\"b\":\"x\"}\nnot json\n{\"a\":\"str\",\"b\":\"y\"}\n{\"a\":3\n")
	put(t, dir+"/_hidden.json", "{\"a\":9}")
	put(t, dir+"/empty.json", "")
	got := scan(t, open(t, request(t, "a INT, b STRING, _corrupt_record STRING", dir)))
	want := []string{"1 | x | (null)", "(null) | (null) | not json", `(null) | y | {"a":"str","b":"y"}`, `(null) | (null) | {"a":3`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	table := open(t, request(t, "", dir))
	if got := table.Schema().SimpleString(); got != "struct<_corrupt_record:string,a:string,b:string>" {
		t.Errorf("inferred %s", got)
	}
	if d := cmp.Diff([]string{"1", "(null)", "str", "(null)"}, scan(t, table, "a")); d != "" {
		t.Error(d)
	}
	if _, err := table.Scan(t.Context(), source.Projection{Columns: []string{"_corrupt_record"}}); !errclass.Has(err, "UNSUPPORTED_FEATURE") {
		t.Errorf("only the corrupt column: %v", err)
	}
}

func TestFailFast(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/a.json", "{\"a\":1}\n{\"a\":\"x\"}\n")
	splits, err := open(t, request(t, "a INT", dir, "mode", "failfast")).Scan(t.Context(), source.Projection{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := sourcetest.ReadRows(t.Context(), splits)
	if !errclass.Has(err, "FAILED_READ_FILE.NO_HINT") || !errclass.Has(err, "MALFORMED_RECORD_IN_PARSING") || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestOptions(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/doc/a.json", "[{\"a\":1},\n{\"a\":2}] x")
	put(t, dir+"/sep/a.json", `{"a":1}|{"a":2}|{"a"`)
	if d := cmp.Diff([]string{"1", "2"}, scan(t, open(t, request(t, "a INT", dir+"/doc", "multiLine", "true")))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"1", "2", "(null)"}, scan(t, open(t, request(t, "a INT", dir+"/sep", "lineSep", "|")))); d != "" {
		t.Error(d)
	}
	for _, bad := range [][]string{{"encoding", "UTF-17"}, {"multiLine", "x"}, {"lineSep", ""}, {"recursiveFileLookup", "maybe"}} {
		if _, err := format.Open(t.Context(), request(t, "a INT", dir+"/sep", bad...)); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if _, err := format.Open(t.Context(), request(t, "a INT, _corrupt_record INT", dir+"/sep")); !errclass.Has(err, "INVALID_CORRUPT_RECORD_TYPE") {
		t.Errorf("corrupt column of another type: %v", err)
	}
}
