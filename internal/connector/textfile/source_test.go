package textfile

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

func read(t *testing.T, content string, options source.Options) []string {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Kind{}.Prepare(source.Request{Options: options})
	if err != nil {
		t.Fatal(err)
	}
	f := &files.File{FS: fs.Local(), Path: path, Size: int64(len(content))}
	rows, err := d.Open(ctx, files.Piece{File: f, Len: f.Size}, schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for {
		b, err := rows.Next(ctx)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			out = append(out, string(b.Cols[0].BytesAt(i)))
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, content string
		options       source.Options
		want          []string
	}{
		{"empty lines count", "one\n\ntwo words\r\nlast without end", nil, []string{"one", "", "two words", "last without end"}},
		{"nothing behind the last break", "a\n", nil, []string{"a"}},
		{"carriage returns", "a\rb\r\n\rc", nil, []string{"a", "b", "", "c"}},
		{"an empty file", "", nil, nil},
		{"a separator", "x|y|z", source.Options{"lineSep": "|"}, []string{"x", "y", "z"}},
		{"a separator at the end", "x\ny||z||", source.Options{"lineSep": "||"}, []string{"x\ny", "z"}},
		{"whole text", "one\ntwo\n", source.Options{"wholetext": "true"}, []string{"one\ntwo\n"}},
		{"encoding is not that of the text", "café\n", source.Options{"encoding": "ISO-8859-1"}, []string{"café"}},
		{"encoding is that of the separator", "a\xe9é\n", source.Options{"encoding": "ISO-8859-1", "lineSep": "é"}, []string{"a", "é\n"}},
	} {
		if d := cmp.Diff(c.want, read(t, c.content, c.options)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, d)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for _, options := range []source.Options{
		{"lineSep": ""}, {"encoding": "klingon", "lineSep": ";"}, {"wholetext": "perhaps"}, {"compression": "klingon"},
	} {
		if _, err := (Kind{}).Prepare(source.Request{Options: options}); err == nil {
			t.Errorf("%v are accepted", options)
		}
	}
	d, _ := Kind{}.Prepare(source.Request{})
	for _, st := range []types.StructType{
		{Fields: []types.Field{{Name: "n", Type: types.Integer}}},
		{Fields: []types.Field{{Name: "a", Type: types.String}, {Name: "b", Type: types.String}}},
	} {
		if err := d.Check(st); !errclass.Has(err, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE") && !errclass.Has(err, "INVALID_OPTION_VALUE") {
			t.Errorf("%s: got %v", st.DDL(), err)
		}
	}
}
