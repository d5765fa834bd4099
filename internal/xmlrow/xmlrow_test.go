package xmlrow

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func schema(t testing.TB, ddl string) types.StructType {
	s, err := types.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The modes differ in what becomes of a record that does not fit.
func TestModes(t *testing.T) {
	records := []string{"<p><a>1</a></p>", "<p><a>x</a></p>", "<p><a>", "<p><a>4</a></p>"}
	for mode, want := range map[textrecord.Mode]int{textrecord.Permissive: 4, textrecord.DropMalformed: 2} {
		opts := DefaultOptions()
		opts.Mode = mode
		r, err := NewReader(schema(t, "a INT, _corrupt_record STRING"), opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range records {
			if err := r.Record([]byte(rec)); err != nil {
				t.Fatal(err)
			}
		}
		if b := r.Take(); b.N != want || b.Cols[0].Len() != want {
			t.Errorf("%s: %d rows, want %d", mode, b.N, want)
		}
	}
	opts := DefaultOptions()
	opts.Mode = textrecord.FailFast
	r, err := NewReader(schema(t, "a INT"), opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Record([]byte(records[0])) != nil || r.Record([]byte(records[1])) == nil || r.Rows() != 1 {
		t.Error("FAILFAST takes what does not fit")
	}
}

// What was written is read back.
func TestRoundTrip(t *testing.T) {
	s := schema(t, "_id BIGINT, a STRING, b ARRAY<INT>, c STRUCT<_x: STRING, d: DOUBLE>, e ARRAY<STRUCT<f: BOOLEAN>>, g DECIMAL(30,2), h DATE")
	text := `<ROW id="7"><a>x &lt;&amp; y</a><b>1</b><b>2</b><c x="q &quot;"><d>1.5</d></c><e><f>true</f></e><e><f>false</f></e>` +
		`<g>12345678901234567890.25</g><h>2026-01-31</h></ROW>`
	for _, indent := range []string{"", "  "} {
		opts := DefaultOptions()
		opts.Indent = indent
		r, err := NewReader(s, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Record([]byte(text)); err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(s, opts)
		if err != nil {
			t.Fatal(err)
		}
		first := r.Take()
		w.BindColumns(1, first.Cols)
		out := w.AppendRow(nil, 0)
		if indent == "" && strings.TrimSpace(string(out)) != text {
			t.Errorf("wrote %s", out)
		}
		if err := r.Record(out); err != nil {
			t.Fatal(err)
		}
		again := r.Take()
		for i := range s.Fields {
			if !vec.Equal(first.Cols[i], 0, again.Cols[i], 0) {
				t.Errorf("column %s differs after %s", s.Fields[i].Name, out)
			}
		}
	}
}

// No text makes the reader, the inference or the writer fail other than by an error.
func FuzzRecord(f *testing.F) {
	for _, s := range []string{"<p><a>1</a></p>", "<p a='1'>t<b/>u</p>", "<p><a><b>1</b></a><!-- x --></p>", "<?xml version='1.0'?><p><![CDATA[1]]></p>", "<p>&#65;</p>", "<"} {
		f.Add(s)
	}
	st := schema(f, "a INT, b ARRAY<STRING>, c STRUCT<d: INT, _VALUE: STRING>, m MAP<STRING,INT>, _VALUE STRING, v VARIANT")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := NewReader(st, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Record([]byte(text)); err != nil {
			t.Fatal(err)
		}
		b := r.Take()
		w, err := NewWriter(st, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		w.BindColumns(b.N, b.Cols)
		for i := range b.N {
			w.AppendRow(nil, i)
		}
		inf, err := NewInference(DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := inf.Record([]byte(text)); err != nil {
			t.Fatal(err)
		}
		inf.Schema()
	})
}

func BenchmarkRecord(b *testing.B) {
	r, err := NewReader(schema(b, "_id BIGINT, a STRING, b ARRAY<INT>, c STRUCT<_x: STRING, d: DOUBLE>"), DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(`<row id="7"><a>some text</a><b>1</b><b>2</b><c x="q"><d>1.5</d></c></row>`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Record(text); err != nil {
			b.Fatal(err)
		}
		if r.Rows() == vec.BatchRows {
			r.Take()
		}
	}
}
