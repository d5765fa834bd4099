package csvfile

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/types"
)

func openSink(t testing.TB, ddl, dir string, opts map[string]string) (sink.Sink, error) {
	t.Helper()
	st := sinktest.Schema()
	if ddl != "" {
		var err error
		if st, err = types.ParseDDL(ddl); err != nil {
			t.Fatal(err)
		}
	}
	return filesink.Format{Kind: SinkKind{}, FS: fs.Local()}.Open(t.Context(), sink.Request{
		Format: "csv", Schema: st, Path: dir, Mode: sink.Append, Env: sinktest.Env(), Options: opts,
	})
}

func TestSink(t *testing.T) {
	dir := t.TempDir() + "/out"
	s, err := openSink(t, "", dir, map[string]string{"header": "true", "compression": "gzip", "quoteAll": "true"})
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := s.Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Writer(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), sinktest.Rows(0, "a,b", "")); err != nil {
		t.Fatal(err)
	}
	m, err := w.Close(t.Context())
	if err == nil {
		err = b.Commit(t.Context(), []sink.Message{m})
	}
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(dir + "/part-00000-*-c000.csv.gz")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if want := "\"part\",\"text\"\n\"0\",\"a,b\"\n\"0\",\"\"\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
}

func TestSinkRefuses(t *testing.T) {
	for _, ddl := range []string{"a ARRAY<INT>", "a INTERVAL"} {
		if _, err := openSink(t, ddl, t.TempDir()+"/out", nil); err == nil {
			t.Errorf("%s is taken", ddl)
		}
	}
	for _, bad := range []map[string]string{{"compression": "zip"}, {"sep": ""}, {"timestampFormat": "bbb"}, {"encoding": "UTF-17"}} {
		if _, err := openSink(t, "a TIMESTAMP", t.TempDir()+"/out", bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
