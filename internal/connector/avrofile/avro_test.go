package avrofile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/connector/avrofile"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
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

// table is some files, and how they are read.
type table struct {
	path    string
	options source.Options
	schema  string
	columns []string
}

func (tb table) open(t testing.TB) (source.Table, error) {
	t.Helper()
	req := source.Request{Format: "avro", Paths: []string{tb.path}, Options: tb.options, Env: sourcetest.Env()}
	if tb.schema != "" {
		st, err := types.ParseDDL(tb.schema)
		if err != nil {
			t.Fatal(err)
		}
		req.Schema = &st
	}
	return files.Format{Kind: avrofile.Kind{FS: fs.Local()}, FS: fs.Local()}.Open(t.Context(), req)
}

func (tb table) rows(t testing.TB) ([]string, error) {
	t.Helper()
	src, err := tb.open(t)
	if err != nil {
		return nil, err
	}
	splits, err := src.(source.Batch).Scan(t.Context(), source.Projection{Columns: tb.columns})
	if err != nil {
		return nil, err
	}
	return sourcetest.ReadRows(t.Context(), splits)
}

// output is a table to be written.
type output struct {
	path    string
	options sink.Options
	schema  types.StructType
}

func (o output) write(t testing.TB, rows ...types.Row) error {
	t.Helper()
	out, err := filesink.Format{Kind: avrofile.SinkKind{FS: fs.Local()}, FS: fs.Local()}.Open(t.Context(), sink.Request{
		Format: "avro", Schema: o.schema, Path: o.path, Options: o.options, Mode: sink.ErrorIfExists, Env: sinktest.Env(),
	})
	if err != nil {
		return err
	}
	b, _, err := out.Begin(t.Context(), 0)
	if err != nil {
		return err
	}
	w, err := b.Writer(t.Context(), 0)
	if err != nil {
		return err
	}
	builders := vec.NewBuilders(o.schema)
	batch := vec.NewBatch(len(rows))
	for i, builder := range builders {
		for _, row := range rows {
			if err := builder.AppendValue(row[i]); err != nil {
				t.Fatal(err)
			}
		}
		batch.Cols = append(batch.Cols, builder.Finish())
	}
	if err := w.(*filesink.Writer).WriteBatch(t.Context(), batch); err != nil {
		b.Abort(t.Context())
		return err
	}
	m, err := w.Close(t.Context())
	if err == nil {
		err = b.Commit(t.Context(), []sink.Message{m})
	}
	return errors.Join(err, out.Close())
}

func ddl(t testing.TB, text string) types.StructType {
	t.Helper()
	st, err := types.ParseDDL(text)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// sparkSchema is that of the files in testdata, which Apache Spark 4.2.0 has written, and as Spark reads it.
const sparkSchema = "id BIGINT,i INT,sh INT,by INT,f FLOAT,d DOUBLE,s STRING,b BINARY,dc DECIMAL(10,2),dc2 DECIMAL(30,5),dt DATE,ts TIMESTAMP,tn TIMESTAMP_NTZ," +
	"a ARRAY<BIGINT>,m MAP<STRING, BIGINT>,st STRUCT<x: BIGINT, Y: ARRAY<STRUCT<z: INT>>>,bo BOOLEAN,im INTERVAL MONTH,idt INTERVAL DAY,nul STRING"

// Files of every codec hold what Spark has put into them.
func TestSparkFiles(t *testing.T) {
	for _, codec := range []string{"uncompressed", "snappy", "deflate", "bzip2", "xz", "zstandard"} {
		t.Run(codec, func(t *testing.T) {
			tb := table{path: "testdata/" + codec + ".avro"}
			src, err := tb.open(t)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(sparkSchema, src.Schema().DDL()); d != "" {
				t.Errorf("schema, -want +got:\n%s", d)
			}
			got, err := tb.rows(t)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 5 {
				t.Fatalf("%d rows", len(got))
			}
			want := "3 | 3 | 3 | 3 | 3 | 3 | 3 | Mw== | 3 | 3 | 2020-01-04 | 2020-01-01T00:00:00.123456Z | 2020-01-01T00:00:00.123456 | " +
				`[3,null] | [{"key":"k","value":3}] | {"Y":[{"z":1}],"x":3} | false | 1 | 86400000000us | (null)`
			if d := cmp.Diff(want, got[3]); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// What is wanted of files need not be what they are: the cases and their outcomes are Spark's.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		schema  string
		options source.Options
		want    string // the third row; empty for an error
	}{
		{schema: "id BIGINT, nope STRING, S STRING", want: "2 | (null) | 2"},
		{schema: "i BIGINT", want: "2"},
		{schema: "i DOUBLE", want: "2"},
		{schema: "id INT"},
		{schema: "id STRING"},
		{schema: "b STRING"},
		{schema: "s BINARY"},
		{schema: "ts BIGINT", want: "1577836800123456"},
		{schema: "id TIMESTAMP", want: "1970-01-01T00:00:00.002Z"},
		{schema: "dt INT, i DATE", want: "18264 | 1970-01-03"},
		{schema: "dc DECIMAL(20,2)", want: "2"},
		{schema: "dc DECIMAL(11,3)", want: "2"},
		{schema: "dc DECIMAL(10,3)"},
		{schema: "sh SHORT"},
		{schema: "f DOUBLE", want: "2"},
		{schema: "ts TIMESTAMP_NTZ"},
		{schema: "im INT"},
		{schema: "st STRUCT<x: BIGINT, q: STRING>", want: `{"q":null,"x":2}`},
		{schema: "q BIGINT, r INT", options: source.Options{"positionalFieldMatching": "true"}, want: "2 | 2"},
		{
			options: source.Options{"avroSchema": `{"type":"record","name":"topLevelRecord","fields":[
				{"name":"s","type":["string","null"]},{"name":"extra","type":"int","default":7},{"name":"id","type":["double","null"]}]}`},
			want: "2 | 7 | 2",
		},
		{options: source.Options{"avroSchema": `{"type":"record","name":"other","fields":[{"name":"s","type":["string","null"]}]}`}, want: "2"},
		{options: source.Options{"avroSchema": `{"type":"record","name":"topLevelRecord","fields":[{"name":"nope","type":"int"}]}`}},
		{options: source.Options{"avroSchema": "{"}},
		{options: source.Options{"avroSchemaUrl": "testdata/nowhere.avsc"}},
		{options: source.Options{"recursiveFieldMaxDepth": "16"}},
	} {
		got, err := table{path: "testdata/snappy.avro", options: c.options, schema: c.schema}.rows(t)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s %v: no error, %q", c.schema, c.options, got)
		case c.want != "" && (err != nil || len(got) != 5 || got[2] != c.want):
			t.Errorf("%s %v: %q, %v, want %s", c.schema, c.options, got, err, c.want)
		}
	}
}

func TestAvroSchemaUrl(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.avsc")
	if err := os.WriteFile(path, []byte(`{"type":"record","name":"topLevelRecord","fields":[{"name":"i","type":"long"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := table{path: "testdata/snappy.avro", options: source.Options{"avroSchemaUrl": fs.URI(path)}}.rows(t)
	if err != nil || len(got) != 5 || got[4] != "4" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestIgnoreExtension(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]string{"a.avro": "snappy", "b.bin": "xz"} {
		b, err := os.ReadFile("testdata/" + from + ".avro")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for value, want := range map[string]int{"true": 10, "false": 5} {
		got, err := table{path: dir, options: source.Options{"ignoreExtension": value}, columns: []string{"id"}}.rows(t)
		if err != nil || len(got) != want {
			t.Errorf("%s: %d rows, %v", value, len(got), err)
		}
	}
	if _, err := (table{path: t.TempDir()}).open(t); !errclass.Has(err, "UNABLE_TO_INFER_SCHEMA") {
		t.Errorf("an empty folder: %v", err)
	}
}

// What is written is read back, with every codec.
func TestBackAndForth(t *testing.T) {
	schema := ddl(t, "id BIGINT NOT NULL, sh SMALLINT, by TINYINT, f FLOAT, d DOUBLE, s STRING, b BINARY, dc DECIMAL(10,2), big DECIMAL(30,5), dt DATE, ts TIMESTAMP, "+
		"tn TIMESTAMP_NTZ, a ARRAY<INT>, m MAP<STRING, DOUBLE>, st STRUCT<x: BIGINT, y: ARRAY<STRUCT<z: INT>>>, bo BOOLEAN, im INTERVAL YEAR TO MONTH, idt INTERVAL DAY TO SECOND")
	rows := []types.Row{
		{
			int64(1), int16(-2), int8(3), float32(1.5), -2.5, "text",
			[]byte{0, 255},
			"12.34", "-12345678901234567890.12345", types.Days(-1), types.Micros(-1), types.MicrosNTZ(1),
			[]any{int32(1), nil},
			types.MapValue{{Key: "k", Value: 1.0}},
			types.Row{int64(7), []any{types.Row{int32(8)}, nil}},
			true, types.YearMonth(14), types.DayTime(-1),
		},
		make(types.Row, len(schema.Fields)),
	}
	rows[1][0] = int64(2)
	for i, f := range schema.Fields { // decimals by their text
		if _, ok := f.Type.(types.DecimalType); ok {
			rows[0][i], _ = types.ParseDecimal(rows[0][i].(string))
		}
	}
	want := []string(nil)
	for _, codec := range []string{"uncompressed", "SNAPPY", "deflate", "bzip2", "xz", "zstandard"} {
		o := output{path: t.TempDir() + "/out", options: sink.Options{"compression": codec}, schema: schema}
		if err := o.write(t, rows...); err != nil {
			t.Fatal(err)
		}
		got, err := table{path: o.path}.rows(t)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
			if !strings.HasPrefix(got[0], "1 | -2 | 3 | 1.5 | -2.5 | text | AP8= | 12.34 | -12345678901234567890.12345 | 1969-12-31 | ") || !strings.HasPrefix(got[1], "2 | (null) | (null)") {
				t.Errorf("%q", got)
			}
		}
		if d := cmp.Diff(want, got); d != "" || len(got) != 2 {
			t.Errorf("%s, -want +got:\n%s", codec, d)
		}
	}
}

func TestWriteAs(t *testing.T) {
	const record = `{"type":"record","name":"x","fields":[{"name":"s","type":["null","string"]},{"name":"id","type":"long"}]}`
	for _, c := range []struct {
		schema  string
		options sink.Options
		want    string // schema and row as read; empty for an error
	}{
		{"id BIGINT, s STRING", sink.Options{"avroSchema": record}, "s STRING,id BIGINT: t | 1"},
		{"a BIGINT, b STRING", sink.Options{"positionalFieldMatching": "true", "avroSchema": `{"type":"record","name":"x","fields":[{"name":"q","type":"long"},{"name":"r","type":["string","null"]}]}`}, "q BIGINT,r STRING: 1 | t"},
		{"id BIGINT, s STRING", sink.Options{"avroSchema": `{"type":"record","name":"x","fields":[{"name":"id","type":"long"}]}`}, ""},
		{"id BIGINT, s STRING", sink.Options{"avroSchema": "{"}, ""},
		{"id BIGINT, s STRING", sink.Options{"recordName": "no name"}, ""},
		{"id BIGINT, `a b` STRING", nil, ""},
		{"id BIGINT, s STRING", sink.Options{"compression": "gzip"}, ""},
		{"id BIGINT, s STRING", sink.Options{"recordName": "R", "recordNamespace": "a.b"}, "id BIGINT,s STRING: 1 | t"},
	} {
		o := output{path: t.TempDir() + "/out", options: c.options, schema: ddl(t, c.schema)}
		err := o.write(t, types.Row{int64(1), "t"})
		if c.want == "" {
			if err == nil {
				t.Errorf("%s %v: no error", c.schema, c.options)
			}
			continue
		}
		tb := table{path: o.path}
		src, err2 := tb.open(t)
		if err != nil || err2 != nil {
			t.Errorf("%s %v: %v, %v", c.schema, c.options, err, err2)
			continue
		}
		got, err := tb.rows(t)
		if text := src.Schema().DDL() + ": " + strings.Join(got, "; "); err != nil || text != c.want {
			t.Errorf("%s %v: %s, %v, want %s", c.schema, c.options, text, err, c.want)
		}
	}
	for schema, class := range map[string]string{"t TIME": "UNSUPPORTED_TIME_TYPE", "v VARIANT": "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "m MAP<INT, INT>": "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"} {
		if err := (output{path: t.TempDir() + "/out", schema: ddl(t, schema)}).write(t, types.Row{nil}); !errclass.Has(err, class) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// large writes a file of many blocks and gives its path and its texts.
func large(t testing.TB, codec string, rows int) (path string, want []string) {
	t.Helper()
	o := output{path: t.TempDir() + "/out", options: sink.Options{"compression": codec}, schema: ddl(t, "id BIGINT, s STRING")}
	var in []types.Row
	for i := range rows {
		s := strings.Repeat(fmt.Sprint(i), i%50)
		in = append(in, types.Row{int64(i), s})
		want = append(want, fmt.Sprintf("%d | %s", i, s))
	}
	if err := o.write(t, in...); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(o.path + "/part-*.avro")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0], want
}

// Wherever a file is cut, its pieces have each row once, in order.
func TestCuts(t *testing.T) {
	path, want := large(t, "deflate", 20_000)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &files.File{FS: fs.Local(), Path: path, Size: info.Size()}
	d, err := avrofile.Kind{}.Prepare(source.Request{Env: sourcetest.Env()})
	if err != nil {
		t.Fatal(err)
	}
	st := ddl(t, "id BIGINT, s STRING")
	rapid.Check(t, func(r *rapid.T) {
		edges := rapid.SliceOfN(rapid.Int64Range(0, info.Size()), 0, 6).Draw(r, "edges")
		columns := rapid.Bool().Draw(r, "columns")
		edges = append(edges, 0, info.Size())
		slices.Sort(edges)
		var got []string
		n := 0
		for i := range len(edges) - 1 {
			wanted := st
			if !columns {
				wanted = types.StructType{}
			}
			rows, err := d.Open(t.Context(), files.Piece{File: f, Off: edges[i], Len: edges[i+1] - edges[i]}, wanted, nil)
			if err != nil {
				r.Fatal(err)
			}
			for {
				b, err := rows.Next(t.Context())
				if err != nil {
					break
				}
				n += b.N
				for k := range b.N {
					if columns {
						got = append(got, fmt.Sprintf("%d | %s", vec.At[int64](b.Cols[0], k), b.Cols[1].BytesAt(k)))
					}
				}
			}
			if err := rows.Close(); err != nil {
				r.Fatal(err)
			}
		}
		if n != len(want) || columns && !slices.Equal(got, want) {
			r.Fatalf("%d rows of %d", n, len(want))
		}
	})
}

// A file that ends early, or in which a byte is another, gives an error or rows, and ends.
func FuzzDamage(f *testing.F) {
	for _, codec := range []string{"uncompressed", "snappy", "deflate", "bzip2", "xz", "zstandard"} {
		b, err := os.ReadFile("testdata/" + codec + ".avro")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
		f.Add(b[:len(b)-1])
		for _, at := range []int{0, 3, 5, 20, len(b) - 20, len(b) - 60} {
			damaged := slices.Clone(b)
			damaged[at] ^= 0x41
			f.Add(damaged)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "f.avro")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = table{path: path}.rows(t)
		_, _ = table{path: path, schema: "id BIGINT, s STRING, x ARRAY<INT>"}.rows(t)
	})
}
