package parquetfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

const allTypes = "bo BOOLEAN, ti TINYINT, si SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, d9 DECIMAL(9,2), d18 DECIMAL(18,3), d38 DECIMAL(38,4), s STRING, b BINARY, " +
	"dt DATE, ts TIMESTAMP, nt TIMESTAMP_NTZ, tm TIME, dti INTERVAL DAY TO SECOND, ymi INTERVAL YEAR TO MONTH, a ARRAY<BIGINT>, aa ARRAY<ARRAY<STRING>>, " +
	"m MAP<STRING,INT>, st STRUCT<x:INT,y:STRUCT<z:STRING,w:ARRAY<INT>>>, las ARRAY<STRUCT<p:BIGINT,q:MAP<INT,STRING>>>"

// draw makes a value of a type, or nil.
func draw(t *rapid.T, typ types.DataType, name string) any {
	if rapid.IntRange(0, 5).Draw(t, name+"?") == 0 {
		return nil
	}
	return drawValue(t, typ, name)
}

func drawValue(t *rapid.T, typ types.DataType, name string) any {
	switch typ := typ.(type) {
	case types.BooleanType:
		return rapid.Bool().Draw(t, name)
	case types.ByteType:
		return rapid.Int8().Draw(t, name)
	case types.ShortType:
		return rapid.Int16().Draw(t, name)
	case types.IntegerType:
		return rapid.Int32().Draw(t, name)
	case types.LongType:
		return rapid.Int64().Draw(t, name)
	case types.FloatType:
		return rapid.Float32().Draw(t, name)
	case types.DoubleType:
		return rapid.Float64().Draw(t, name)
	case types.DecimalType:
		digits := rapid.IntRange(1, typ.Precision).Draw(t, name)
		text := rapid.StringMatching(fmt.Sprintf("-?[1-9][0-9]{%d}", digits-1)).Draw(t, name)
		sign := strings.HasPrefix(text, "-")
		text = strings.TrimPrefix(text, "-")
		for len(text) <= typ.Scale {
			text = "0" + text
		}
		text = text[:len(text)-typ.Scale] + "." + text[len(text)-typ.Scale:]
		if sign {
			text = "-" + text
		}
		d, ok := types.ParseDecimal(text)
		if !ok {
			t.Fatal(text)
		}
		return d
	case types.StringType:
		return rapid.StringN(0, 20, 40).Draw(t, name)
	case types.BinaryType:
		return rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, name)
	case types.DateType:
		return types.Days(rapid.Int32Range(-1_000_000, 2_000_000).Draw(t, name))
	case types.TimestampType:
		return types.Micros(rapid.Int64().Draw(t, name))
	case types.TimestampNTZType:
		return types.MicrosNTZ(rapid.Int64().Draw(t, name))
	case types.TimeType:
		return types.TimeOfDay(rapid.Int64Range(0, 86399999999).Draw(t, name) * 1000)
	case types.DayTimeIntervalType:
		return types.DayTime(rapid.Int64().Draw(t, name))
	case types.YearMonthIntervalType:
		return types.YearMonth(rapid.Int32().Draw(t, name))
	case types.ArrayType:
		out := []any{}
		for i := range rapid.IntRange(0, 4).Draw(t, name) {
			out = append(out, draw(t, typ.Element, fmt.Sprint(name, i)))
		}
		return out
	case types.MapType:
		out := types.MapValue{}
		for i := range rapid.IntRange(0, 3).Draw(t, name) {
			out = append(out, types.MapEntry{Key: drawValue(t, typ.Key, fmt.Sprint(name, "k", i)), Value: draw(t, typ.Value, fmt.Sprint(name, "v", i))})
		}
		return out
	case types.StructType:
		out := types.Row{}
		for _, f := range typ.Fields {
			out = append(out, draw(t, f.Type, name+f.Name))
		}
		return out
	}
	panic(typ)
}

func batchOf(t testing.TB, s types.StructType, rows []types.Row) *vec.Batch {
	t.Helper()
	bs := vec.NewBuilders(s)
	b := vec.NewBatch(len(rows))
	for i := range s.Fields {
		for _, row := range rows {
			if err := bs[i].AppendValue(row[i]); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, bs[i].Finish())
	}
	return b
}

func cells(b *vec.Batch) [][]string {
	out := make([][]string, b.N)
	for i := range out {
		for _, c := range b.Cols {
			out[i] = append(out[i], show(vec.ValueAt(c, i)))
		}
	}
	return out
}

// What is written is read back unchanged, whatever its shape and however it is cut into batches and row groups.
func TestWriteReadsBack(t *testing.T) {
	s, err := types.ParseDDL(allTypes)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	rapid.Check(t, func(rt *rapid.T) {
		var out bytes.Buffer
		c := codecs[rapid.SampledFrom([]string{"none", "snappy"}).Draw(rt, "codec")]
		w, err := newWriter(&out, s, c, rapid.SampledFrom([]int64{1, groupBytes}).Draw(rt, "group"), writeCalendars{})
		if err != nil {
			rt.Fatal(err)
		}
		var want [][]string
		for range rapid.IntRange(0, 2).Draw(rt, "batches") {
			var rows []types.Row
			for i := range rapid.IntRange(1, 5).Draw(rt, "rows") {
				row := types.Row{}
				for _, f := range s.Fields {
					row = append(row, draw(rt, f.Type, fmt.Sprint(f.Name, i)))
				}
				rows = append(rows, row)
			}
			b := batchOf(t, s, rows)
			want = append(want, cells(b)...)
			if err := w.Write(b); err != nil {
				rt.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			rt.Fatal(err)
		}
		f := fileOf(t, path)
		if got := infer(t, f).SimpleString(); got != s.SimpleString() {
			rt.Fatalf("schema %s", got)
		}
		got, err := read(t, whole(f), s)
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatalf("-want +got:\n%s", d)
		}
	})
}

func TestCodecs(t *testing.T) {
	s, batches := etl(5000)
	var want [][]string
	for _, b := range batches {
		want = append(want, cells(b)...)
	}
	for name, c := range codecs {
		path := filepath.Join(t.TempDir(), "f.parquet")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWriter(out, s, c, groupBytes, writeCalendars{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range batches {
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil { // which closes the file too
			t.Fatal(err)
		}
		got, err := read(t, whole(fileOf(t, path)), s)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%.1000s", name, err, d)
		}
	}
}

// Encodings of vectors do not matter, nor do nulls in their rows.
func TestWriteEncodings(t *testing.T) {
	s := types.Struct(types.NewField("d", types.String), types.NewField("c", types.Long), types.NewField("e", types.Boolean), types.NewField("n", types.Null))
	base := vec.NewBuilder(types.String)
	base.AppendString("x")
	base.AppendNull()
	base.AppendString("y")
	one := vec.NewBuilder(types.Long)
	one.AppendInt64(7)
	flags := vec.NewBuilder(types.Boolean)
	for i := range 4 {
		if i == 2 {
			flags.AppendNull()
		} else {
			flags.AppendBool(i%2 == 0)
		}
	}
	b := vec.NewBatch(4, vec.NewDict(base.Finish(), []uint32{2, 0, 1, 0}, nil), vec.NewConst(one.Finish(), 4), flags.Finish(), vec.NewNulls(types.Null, 4))
	path := filepath.Join(t.TempDir(), "f.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWriter(out, s, codecs["snappy"], groupBytes, writeCalendars{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	got, err := read(t, whole(fileOf(t, path)), s)
	want := [][]string{{"y", "7", "true", "null"}, {"x", "7", "false", "null"}, {"null", "7", "null", "null"}, {"x", "7", "false", "null"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestDecimalBytes(t *testing.T) {
	for p, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 9: 4, 18: 8, 19: 9, 20: 9, 38: 16} {
		if got := decimalBytes(p); got != want {
			t.Errorf("decimalBytes(%d) = %d, want %d", p, got, want)
		}
	}
}

// etl is half a million rows of the benchmark's output.
func etl(n int) (types.StructType, []*vec.Batch) {
	s := types.Struct(types.NewField("ts", types.Timestamp), types.NewField("user", types.Long), types.NewField("score", types.Long), types.NewField("label", types.String))
	var out []*vec.Batch
	x := uint64(1)
	for at := 0; at < n; at += vec.BatchRows {
		bs := vec.NewBuilders(s)
		m := min(vec.BatchRows, n-at)
		for i := range m {
			x = x*6364136223846793005 + 1442695040888963407
			bs[0].AppendInt64(1767225600_000000 + int64(at+i)/130*1_000_000)
			bs[1].AppendInt64(int64(x >> 40 % 100000))
			bs[2].AppendInt64(int64(x >> 33 % 3000))
			bs[3].AppendString(fmt.Sprintf("item-%d", x>>35%1000))
		}
		b := vec.NewBatch(m)
		for _, c := range bs {
			b.Cols = append(b.Cols, c.Finish())
		}
		out = append(out, b)
	}
	return s, out
}

func BenchmarkWrite(b *testing.B) {
	const n = 500_000
	s, batches := etl(n)
	size := 0
	for b.Loop() {
		var c counter
		w, err := newWriter(&c, s, codecs["snappy"], groupBytes, writeCalendars{})
		if err != nil {
			b.Fatal(err)
		}
		for _, x := range batches {
			if err := w.Write(x); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		size = int(c)
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(size), "bytes")
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func BenchmarkRead(b *testing.B) {
	const n = 500_000
	s, batches := etl(n)
	path := filepath.Join(b.TempDir(), "f.parquet")
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w, err := newWriter(out, s, codecs["snappy"], groupBytes, writeCalendars{})
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range batches {
		if err := w.Write(x); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	out.Close()
	f := fileOf(b, path)
	for b.Loop() {
		r, err := (&decoder{}).Open(b.Context(), whole(f), s, nil)
		if err != nil {
			b.Fatal(err)
		}
		rows := 0
		for {
			x, err := r.Next(b.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += x.N
		}
		if rows != n {
			b.Fatal(rows)
		}
		r.Close()
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
}
