package csvfile

import (
	"fmt"
	"path/filepath"
	"strings"
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
	return filestest.Request(t, "csv", ddl, path, opts...)
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
			req := request(t, "a INT, b STRING", dir, "maxFilesPerTrigger", "2", "header", "true")
			req.Stream = true
			return open(t, req)
		},
		Add: func(t *testing.T) {
			for range 3 {
				n++
				put(t, filepath.Join(dir, fmt.Sprintf("f%03d.csv", n)), fmt.Sprintf("a,b\n%d,x\n%d\n", n, -n))
			}
		},
	})
}

func TestBatch(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/a.csv", "\uFEFFa,b\r\n1,x\r\n\r\nstr,y\r\n3\r\n4,z,w")
	put(t, dir+"/b.csv", "a,b\n5,\n")
	put(t, dir+"/_hidden.csv", "9,9\n")
	put(t, dir+"/empty.csv", "")
	table := open(t, request(t, "a INT, b STRING, _corrupt_record STRING", dir, "header", "true"))
	want := []string{"1 | x | (null)", "(null) | y | str,y", "3 | (null) | 3", "4 | z | 4,z,w", "5 | (null) | (null)"}
	if d := cmp.Diff(want, scan(t, table)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"x", "y", "(null)", "z", "(null)"}, scan(t, table, "b")); d != "" {
		t.Error(d)
	}
	if _, err := table.Scan(t.Context(), source.Projection{Columns: []string{"_corrupt_record"}}); !errclass.Has(err, "UNSUPPORTED_FEATURE") {
		t.Errorf("only the corrupt column: %v", err)
	}
	table = open(t, request(t, "", dir, "header", "true", "inferSchema", "true"))
	if got := table.Schema().SimpleString(); got != "struct<a:string,b:string>" {
		t.Errorf("inferred %s", got)
	}
	table = open(t, request(t, "", dir))
	if got := table.Schema().SimpleString(); got != "struct<_c0:string,_c1:string>" {
		t.Errorf("inferred %s", got)
	}
}

// TestPieces reads a file that is cut into pieces: every line once, the header never.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("n,pad\n")
	pad := strings.Repeat("x", 1<<12)
	n := 0
	for ; text.Len() < 40<<20; n++ {
		fmt.Fprintf(&text, "%d,%s\n", n, pad)
	}
	put(t, dir+"/a.csv", text.String())
	table := open(t, request(t, "n INT, pad STRING", dir, "header", "true", "mode", "FAILFAST"))
	splits, err := table.Scan(t.Context(), source.Projection{Columns: []string{"n"}})
	if err != nil || len(splits) < 2 {
		t.Fatal(len(splits), err)
	}
	got := sourcetest.Rows(t, splits)
	if len(got) != n || got[0] != "0" || got[n-1] != fmt.Sprint(n-1) {
		t.Errorf("%d rows, %s to %s", len(got), got[0], got[len(got)-1])
	}
}

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/a.csv", "a,b\n1,2\nx,3\n")
	for _, tt := range []struct {
		ddl, want, cause string
		rows             int
		opts             []string
	}{
		{"a INT, b INT", "FAILED_READ_FILE.NO_HINT", "MALFORMED_RECORD_IN_PARSING", 1, []string{"header", "true", "mode", "failfast"}},
		{"b INT, c INT", "FAILED_READ_FILE.NO_HINT", "CSV_HEADER_MISMATCH", 0, []string{"header", "true", "enforceSchema", "false"}},
		{"a INT, b INT", "FAILED_READ_FILE.NO_HINT", "MALFORMED_CSV_RECORD", 0, []string{"maxColumns", "1"}},
	} {
		splits, err := open(t, request(t, tt.ddl, dir, tt.opts...)).Scan(t.Context(), source.Projection{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := sourcetest.ReadRows(t.Context(), splits)
		if !errclass.Has(err, tt.want) || !errclass.Has(err, tt.cause) || len(rows) != tt.rows {
			t.Errorf("%v: %v, %v", tt.opts, rows, err)
		}
	}
	for _, bad := range [][]string{{"encoding", "UTF-17"}, {"multiLine", "x"}, {"lineSep", ""}, {"sep", ""}, {"sep", `\`}, {"sep", `\x`}, {"quote", "ab"}} {
		if _, err := format.Open(t.Context(), request(t, "a INT", dir, bad...)); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	for _, ddl := range []string{"a INT, _corrupt_record INT", "a ARRAY<INT>", "a INTERVAL"} {
		if _, err := format.Open(t.Context(), request(t, ddl, dir)); err == nil {
			t.Errorf("%s is taken", ddl)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		opts       []string
		want       []string
	}{
		{"lineSep", "a,b\nc,d|e,\"f\ng\"|h,i", []string{"lineSep", "|"}, []string{"a | b\nc", "e | f\ng", "h | i"}},
		{"lineSep and multiLine", "a,b\nc,d|e,\"f\ng\"|h,i", []string{"lineSep", "|", "multiLine", "true"}, []string{"a | b\nc", "e | f\ng", "h | i"}},
		{"CRLF", "a,b\r\nc,\"d\r\ne\"\r\nf,\"g\nh\"\r\n", []string{"multiLine", "true"}, []string{"a | b", "c | d\ne", "f | g\nh"}},
		{"carriage return in a value", "a,b\nc,\"d\r\ne\"\nf,\"g\rh\"\r\ni\n", []string{"multiLine", "true"}, []string{"a | b", "c | d\r\ne", "f | g\rh", "i | (null)"}},
		{"carriage returns", "a,b\rc,\"d\r\ne\"\rf,\"g\nh\"\r", []string{"multiLine", "true"}, []string{"a | b", "c | d\n\ne", "f | g\nh"}},
		{"comments", "a,b\n\n  \n#c\nx,y,z\n", []string{"multiLine", "true", "comment", "#"}, []string{"a | b", "   | (null)", "x | y"}},
		{"header", "\n#c\na,b\nc,d\n", []string{"header", "true", "multiLine", "true", "comment", "#"}, []string{"c | d"}},
		{"header behind comments", "\n#c\na,b\nc,d\n", []string{"header", "true", "comment", "#"}, []string{"c | d"}},
		{"mark", "\uFEFFa,b\nc,d\n", []string{"multiLine", "true"}, []string{"a | b", "c | d"}},
		{"UTF-16", "\xFF\xFEa\x00,\x00b\x00\n\x00", []string{"encoding", "UTF-16"}, []string{"a | b"}},
		{"ISO-8859-1", "a\xff,b\xc3\n", []string{"encoding", "ISO-8859-1"}, []string{"aÿ | bÃ"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir+"/a.csv", tt.text)
			if d := cmp.Diff(tt.want, scan(t, open(t, request(t, "a STRING, b STRING", dir, tt.opts...)))); d != "" {
				t.Error(d)
			}
		})
	}
}
