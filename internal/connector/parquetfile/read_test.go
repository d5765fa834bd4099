package parquetfile

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

func fileOf(t testing.TB, path string) *files.File {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return &files.File{FS: fs.Local(), Path: path, Size: info.Size(), ModTime: info.ModTime()}
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float32:
		return showFloat(float64(v))
	case float64:
		return showFloat(v)
	case types.Micros:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02 15:04:05.000000")
	case types.MicrosNTZ:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02 15:04:05.000000")
	case types.Days:
		return time.Unix(int64(v)*86400, 0).UTC().Format("2006-01-02")
	case []byte:
		return fmt.Sprintf("%x", v)
	case types.Row:
		return "{" + join(v) + "}"
	case []any:
		return "[" + join(v) + "]"
	case types.MapValue:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = show(e.Key) + ":" + show(e.Value)
		}
		return "(" + strings.Join(parts, ",") + ")"
	}
	return fmt.Sprint(v)
}

func showFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func join(vs []any) string {
	parts := make([]string, len(vs))
	for i, x := range vs {
		parts[i] = show(x)
	}
	return strings.Join(parts, ",")
}

func read(t testing.TB, p files.Piece, want types.StructType, filters ...source.Filter) ([][]string, error) {
	t.Helper()
	return readWith(t, &decoder{}, p, want, filters...)
}

func readWith(t testing.TB, d files.Decoder, p files.Piece, want types.StructType, filters ...source.Filter) ([][]string, error) {
	t.Helper()
	r, err := d.Open(t.Context(), p, want, filters)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out [][]string
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		for i := range b.N {
			row := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				row[c] = show(vec.ValueAt(v, i))
			}
			out = append(out, row)
		}
	}
}

func whole(f *files.File) files.Piece { return files.Piece{File: f, Len: f.Size} }

func infer(t testing.TB, f *files.File) types.StructType {
	t.Helper()
	s, ok, err := (&decoder{}).Infer(t.Context(), []*files.File{f})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return s
}

var testColumns = strings.Split("i l f d b s u bin t day list ll st ls m dec9 dec18 dec38", " ")

func expected(t testing.TB) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), " | "))
	}
	return rows
}

// Pages in Hadoop's stretches of LZ4, which Spark writes.
func TestSparkLZ4(t *testing.T) {
	f := fileOf(t, "testdata/spark-lz4.parquet")
	got, err := read(t, whole(f), infer(t, f))
	if err != nil || len(got) != 500 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for i, row := range got {
		if want := []string{fmt.Sprint(i), fmt.Sprintf("text %d", i%7)}; !slices.Equal(row, want) {
			t.Fatalf("row %d: %q, want %q", i, row, want)
		}
	}
}

func TestFilesOfOthers(t *testing.T) {
	rows := expected(t)
	for _, name := range []string{"plain", "dict", "v2", "delta", "int96", "lz4", "legacylist"} {
		t.Run(name, func(t *testing.T) {
			f := fileOf(t, "testdata/"+name+".parquet")
			schema := infer(t, f)
			var cols []int
			for _, n := range schema.Names() {
				for i, c := range testColumns {
					if c == n {
						cols = append(cols, i)
					}
				}
			}
			want := make([][]string, len(rows))
			for i, row := range rows {
				for _, c := range cols {
					want[i] = append(want[i], row[c])
				}
			}
			got, err := read(t, whole(f), schema)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got:\n%.3000s", d)
			}
			// The columns one by one and in another order.
			for k := len(schema.Fields) - 1; k >= 0; k-- {
				got, err := read(t, whole(f), types.Struct(schema.Fields[k]))
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if got[i][0] != want[i][k] {
						t.Fatalf("column %s by itself, row %d: %s, want %s", schema.Fields[k].Name, i, got[i][0], want[i][k])
					}
				}
			}
		})
	}
}

func TestSparkFiles(t *testing.T) {
	want := "1 | 1 | 1 | 1 | 1.0 | 1.0 | 0.13 | 0.13 | 1.00 | s1 | 6231 | false | 2026-01-02 | 2026-01-02 00:00:00.500000 | 1900-01-01 00:00:00.000000 | " +
		"[1,null,2] | (k:1) | {1,[q1,null]} | 86400000000 | 1 | [{1},null] | [[1]]"
	for _, name := range []string{"spark", "spark-legacy"} {
		f := fileOf(t, "testdata/"+name+".parquet")
		s := infer(t, f)
		const schema = "struct<ti:tinyint,si:smallint,i:int,l:bigint,f:float,d:double,d9:decimal(9,2),d18:decimal(18,2),d38:decimal(38,2),s:string,b:binary,bo:boolean,dt:date,ts:timestamp," +
			"nt:timestamp_ntz,a:array<bigint>,m:map<string,bigint>,st:struct<x:bigint,y:array<string>>,dti:interval day to second,ymi:interval year to month,las:array<struct<p:bigint>>,aa:array<array<bigint>>>"
		if s.SimpleString() != schema {
			t.Errorf("%s: %s", name, s.SimpleString())
		}
		got, err := read(t, whole(f), s)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 5 || strings.Join(got[1], " | ") != want {
			t.Errorf("%s: %d rows\n%s\n%s", name, len(got), strings.Join(got[1], " | "), want)
		}
	}
}

func TestOtherTypes(t *testing.T) {
	f := fileOf(t, "testdata/types.parquet")
	s := infer(t, f)
	const schema = "struct<u8:smallint,u16:int,u32:bigint,u64:decimal(20,0),i8:tinyint,i16:smallint,ms:timestamp,ns:timestamp_ntz,tus:time(6),tms:time(6),fsb:binary,h:float,nul:void>"
	if s.SimpleString() != schema {
		t.Errorf("schema %s", s.SimpleString())
	}
	got, err := read(t, whole(f), s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 | 1 | 1 | 1 | 1 | 1 | 1970-01-01 00:00:00.001000 | 1970-01-01 00:00:00.000001 | 00:00:00.000001 | 00:00:00.001 | 616263 | 1.5 | null",
		"null | null | null | null | null | null | null | null | null | null | null | null | null",
		"255 | 65535 | 4294967295 | 18446744073709551615 | -128 | -32768 | 1969-12-31 23:59:59.999000 | 1969-12-31 23:59:59.999999 | 00:00:00.000005 | 00:00:00.005 | 78797a | -2.0 | null",
	}
	for i, row := range got {
		if strings.Join(row, " | ") != want[i] {
			t.Errorf("row %d:\n%s\n%s", i, strings.Join(row, " | "), want[i])
		}
	}
}

// A column may be read as a wider type, and what a file does not have is null.
func TestOtherSchemas(t *testing.T) {
	f := fileOf(t, "testdata/plain.parquet")
	for _, tt := range []struct{ ddl, row1 string }{
		{"i BIGINT, f DOUBLE, dec9 DECIMAL(20,4), I_missing INT", "-499 | 0.25 | -0.9900 | null"},
		{"I INT, S STRING", "-499 | text-1"},
		{"st STRUCT<y:STRUCT<z:STRING,w:INT>,q:INT>", "{{q1,null},null}"},
		{"st STRUCT<nothing:INT>", "{null}"},
		{"ls ARRAY<STRUCT<y:ARRAY<BIGINT>>>", "[{[]}]"},
		{"m MAP<STRING,BIGINT>, dec18 DECIMAL(38,10)", "(k0:0) | -99.0000000000"},
		{"s BINARY, day DATE", "746578742d31 | 1960-04-10"},
		{"t TIMESTAMP_NTZ", "2026-01-01 00:00:01.000001"},
	} {
		s, err := types.ParseDDL(tt.ddl)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t, whole(f), s)
		if err != nil {
			t.Errorf("%s: %v", tt.ddl, err)
			continue
		}
		if row := strings.Join(got[1], " | "); row != tt.row1 || len(got) != 300 {
			t.Errorf("%s: %d rows, row 1 is %s, want %s", tt.ddl, len(got), row, tt.row1)
		}
	}
	for _, ddl := range []string{"s INT", "i STRING", "l INT", "list INT", "st ARRAY<INT>", "dec18 DECIMAL(18,2)", "d FLOAT", "t DATE", "m ARRAY<INT>"} {
		s, err := types.ParseDDL(ddl)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, whole(f), s); !errclass.Has(err, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH") || !strings.Contains(err.Error(), "plain.parquet") {
			t.Errorf("%s: %v", ddl, err)
		}
	}
}

func TestNoColumns(t *testing.T) {
	got, err := read(t, whole(fileOf(t, "testdata/dict.parquet")), types.StructType{})
	if err != nil || len(got) != 300 {
		t.Errorf("%d rows, %v", len(got), err)
	}
	got, err = read(t, whole(fileOf(t, "testdata/empty.parquet")), types.Struct(types.NewField("i", types.Integer)))
	if err != nil || len(got) != 0 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// Every row group is read by exactly one piece of the file.
func TestPieces(t *testing.T) {
	f := fileOf(t, "testdata/plain.parquet")
	s := types.Struct(types.NewField("d", types.Double))
	for _, size := range []int64{1000, 7777, 20000} {
		n := 0
		for off := int64(0); off < f.Size; off += size {
			got, err := read(t, files.Piece{File: f, Off: off, Len: min(size, f.Size-off)}, s)
			if err != nil {
				t.Fatal(err)
			}
			n += len(got)
		}
		if n != 300 {
			t.Errorf("pieces of %d bytes have %d rows", size, n)
		}
	}
}

// Row groups of 100 rows hold d from 0 to 12.375, 12.5 to 24.875 and 25 to 37.375.
func TestStatistics(t *testing.T) {
	f := fileOf(t, "testdata/plain.parquet")
	s := types.Struct(types.NewField("d", types.Double))
	day := func(y, m, d int) types.Days {
		return types.Days(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	for _, tt := range []struct {
		f    source.Filter
		want int
	}{
		{source.Filter{Column: "d", Op: source.Equal, Values: []any{13.0}}, 100},
		{source.Filter{Column: "d", Op: source.Less, Values: []any{12.5}}, 100},
		{source.Filter{Column: "d", Op: source.LessEqual, Values: []any{12.5}}, 200},
		{source.Filter{Column: "d", Op: source.Greater, Values: []any{37.375}}, 0},
		{source.Filter{Column: "d", Op: source.GreaterEqual, Values: []any{24.875}}, 200},
		{source.Filter{Column: "d", Op: source.In, Values: []any{1.0, 30.0}}, 200},
		{source.Filter{Column: "d", Op: source.IsNull}, 0},
		{source.Filter{Column: "d", Op: source.IsNotNull}, 300},
		{source.Filter{Column: "d", Op: source.Equal, Values: []any{math.NaN()}}, 300},
		{source.Filter{Column: "u", Op: source.Less, Values: []any{"unique-1"}}, 100},
		{source.Filter{Column: "day", Op: source.Greater, Values: []any{day(2040, 1, 1)}}, 100},
		{source.Filter{Column: "t", Op: source.Less, Values: []any{types.Micros(time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC).UnixMicro())}}, 100},
		{source.Filter{Column: "i", Op: source.Equal, Values: []any{int64(5)}}, 300}, // another type
		{source.Filter{Column: "nowhere", Op: source.Equal, Values: []any{int64(5)}}, 0},
		{source.Filter{Column: "list", Op: source.IsNull}, 300},
	} {
		got, err := read(t, whole(f), s, tt.f)
		if err != nil || len(got) != tt.want {
			t.Errorf("%+v: %d rows, want %d (%v)", tt.f, len(got), tt.want, err)
		}
	}
}

// Rows know their places, whichever row groups are read. d is an eighth of the place.
func TestRowIndex(t *testing.T) {
	table, err := files.Format{Kind: Kind{}, FS: fs.Local()}.Open(t.Context(),
		source.Request{Format: "parquet", Paths: []string{"testdata/plain.parquet"}, Env: sourcetest.Env()})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		filters []source.Filter
		want    int
	}{{nil, 300}, {[]source.Filter{{Column: "d", Op: source.GreaterEqual, Values: []any{13.0}}}, 200}} {
		splits, err := table.(source.Batch).Scan(t.Context(), source.Projection{Columns: []string{"_metadata", "d"}, Filters: tt.filters})
		if err != nil {
			t.Fatal(err)
		}
		rows := sourcetest.Rows(t, splits)
		if len(rows) != tt.want {
			t.Errorf("%d rows", len(rows))
		}
		for i, row := range rows {
			place := 300 - tt.want + i
			if want := fmt.Sprintf(`"row_index":%d} | %v`, place, float64(place)/8); !strings.HasSuffix(row, want) {
				t.Fatalf("row %d: %s, want %s", i, row, want)
			}
		}
	}
}

func TestDictionariesStay(t *testing.T) {
	f := fileOf(t, "testdata/v2.parquet")
	r, err := (&decoder{}).Open(t.Context(), whole(f), types.Struct(types.NewField("s", types.String)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b.Cols[0].Encoding() != vec.Dict || !b.Cols[0].Owned() {
		t.Errorf("a column with a dictionary comes as encoding %d", b.Cols[0].Encoding())
	}
}

// Damage gives an error or other rows, never a panic, whichever byte it hits.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"dict", "v2", "delta"} {
		good, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		schema := infer(t, fileOf(t, "testdata/"+name+".parquet"))
		path := filepath.Join(t.TempDir(), "x.parquet")
		try := func(text []byte) {
			t.Helper()
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			_, _ = read(t, whole(fileOf(t, path)), schema)
			_, _, _ = (&decoder{}).Infer(context.Background(), []*files.File{fileOf(t, path)})
		}
		const step = 397 // a prime, so that other bits are hit each time
		for i := 0; i < len(good); i += step {
			bad := append([]byte(nil), good...)
			bad[i] ^= byte(1 << (i % 8))
			try(bad)
		}
		for i := 0; i < len(good); i += 20 * step {
			try(good[:i])
		}
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, []byte("this is no Parquet file"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, whole(fileOf(t, path)), types.StructType{}); !errclass.Has(err, "FAILED_READ_FILE.NO_HINT") || !strings.Contains(err.Error(), path) {
		t.Errorf("no Parquet file: %v", err)
	}
}
