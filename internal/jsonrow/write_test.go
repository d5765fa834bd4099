package jsonrow

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func batchOf(t testing.TB, s types.StructType, rows ...types.Row) *vec.Batch {
	t.Helper()
	bs := vec.NewBuilders(s)
	for _, row := range rows {
		for i, x := range row {
			if err := bs[i].AppendValue(x); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := vec.NewBatch(len(rows))
	for _, x := range bs {
		b.Cols = append(b.Cols, x.Finish())
	}
	return b
}

// The texts are those that Apache Spark 4.2.0 writes.
func TestWrite(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	at := types.Micros(time.Date(2026, 1, 2, 3, 4, 5, 123456000, time.UTC).UnixMicro())
	plain := func(*Options) {}
	tests := []struct {
		ddl  string
		row  types.Row
		set  func(*Options)
		want string
	}{
		{
			"d DOUBLE, f FLOAT, g DOUBLE, n DOUBLE, inf DOUBLE, nz DOUBLE",
			types.Row{1.5, float32(0.1), 1e10, math.NaN(), math.Inf(1), math.Copysign(0, -1)},
			plain,
			`{"d":1.5,"f":0.1,"g":1.0E10,"n":"NaN","inf":"Infinity","nz":-0.0}`,
		},
		{
			"t TIMESTAMP, n TIMESTAMP_NTZ, d DATE",
			types.Row{at, types.MicrosNTZ(at), types.Days(20455)},
			plain,
			`{"t":"2026-01-02T03:04:05.123Z","n":"2026-01-02T03:04:05.123","d":"2026-01-02"}`,
		},
		{
			"t TIMESTAMP, n TIMESTAMP_NTZ, o TIMESTAMP",
			types.Row{at, types.MicrosNTZ(at), types.Micros(time.Date(1883, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())},
			func(o *Options) { o.Zone = tokyo },
			`{"t":"2026-01-02T12:04:05.123+09:00","n":"2026-01-02T03:04:05.123","o":"1883-01-01T09:18:59.000+09:18:59"}`,
		},
		{"t TIMESTAMP, n TIMESTAMP_NTZ, d DATE", types.Row{at, types.MicrosNTZ(at), types.Days(20455)}, func(o *Options) {
			o.TimestampFormat, o.DateFormat, o.TimestampNTZFormat = "yyyy/MM/dd HH:mm:ss.SSSSSS z", "dd.MM.yy", "yyyy MM"
		}, `{"t":"2026/01/02 03:04:05.123456 UTC","n":"2026 01","d":"02.01.26"}`},
		{
			"b BINARY, bo BOOLEAN, nu INT, ti TINYINT, si SMALLINT, l BIGINT",
			types.Row{[]byte{1, 2, 255}, true, nil, int8(1), int16(2), int64(3)},
			plain,
			`{"b":"AQL/","bo":true,"ti":1,"si":2,"l":3}`,
		},
		{"b BINARY, nu INT", types.Row{[]byte{1, 2, 255}, nil}, func(o *Options) { o.IgnoreNulls = false }, `{"b":"AQL/","nu":null}`},
		{
			"s STRUCT<a:INT,b:INT>, a ARRAY<INT>, m MAP<STRING,INT>, im MAP<INT,INT>, dm MAP<DATE,INT>, ea ARRAY<INT>, ns STRUCT<q:STRUCT<z:INT>>",
			types.Row{
				types.Row{int32(1), nil},
				[]any{int32(1), nil, int32(3)},
				types.MapValue{{Key: "k", Value: int32(1)}, {Key: "n", Value: nil}},
				types.MapValue{{Key: int32(1), Value: int32(2)}},
				types.MapValue{{Key: types.Days(20454), Value: int32(1)}},
				[]any{},
				types.Row{types.Row{nil}},
			},
			plain,
			`{"s":{"a":1},"a":[1,null,3],"m":{"k":1,"n":null},"im":{"1":2},"dm":{"20454":1},"ea":[],"ns":{"q":{}}}`,
		},
		{"s STRING, e STRING, u STRING", types.Row{"a\"b\\c/\x01\n\té😀", "", "x\x7f\u2028"}, plain, "{\"s\":\"a\\\"b\\\\c/\\u0001\\n\\té😀\",\"e\":\"\",\"u\":\"x\x7f\u2028\"}"},
		{"a STRING", types.Row{"é😀"}, func(o *Options) { o.WriteNonASCIICodes = true }, `{"a":"\u00E9\uD83D\uDE00"}`},
		{"`a b` INT, `q\"x` INT", types.Row{int32(1), int32(2)}, plain, `{"a b":1,"q\"x":2}`},
		{"a INT", types.Row{int32(1)}, func(o *Options) { o.Pretty = true }, "{\n  \"a\" : 1\n}"},
	}
	for _, tt := range tests {
		s, err := types.ParseDDL(tt.ddl)
		if err != nil {
			t.Fatal(err)
		}
		opts := DefaultOptions()
		tt.set(&opts)
		w, err := NewWriter(s, opts)
		if err != nil {
			t.Fatal(err)
		}
		w.Bind(batchOf(t, s, tt.row).Cols)
		if got := string(w.AppendRow(nil, 0)); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// What is written is read back unchanged.
func TestWriteReadsBack(t *testing.T) {
	s, err := types.ParseDDL("a BIGINT, b STRING, c DOUBLE, d ARRAY<STRING>, e STRUCT<x:BOOLEAN,y:DATE>, f MAP<STRING,INT>, g DECIMAL(20,5), h BINARY")
	if err != nil {
		t.Fatal(err)
	}
	maybe := func(t *rapid.T, name string, v any) any {
		if rapid.IntRange(0, 4).Draw(t, name+" null") == 0 {
			return nil
		}
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		var rows []types.Row
		for i := range rapid.IntRange(1, 5).Draw(t, "rows") {
			n := func(s string) string { return fmt.Sprintf("%s%d", s, i) }
			d, _ := types.ParseDecimal(fmt.Sprintf("%d.%05d", rapid.Int64Range(-1e9, 1e9).Draw(t, n("g")), rapid.IntRange(0, 99999).Draw(t, n("gf"))))
			list := []any{}
			for k, x := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, n("d")) {
				list = append(list, maybe(t, n(fmt.Sprint("d", k)), x))
			}
			rows = append(rows, types.Row{
				maybe(t, n("a"), rapid.Int64().Draw(t, n("a"))), maybe(t, n("b"), rapid.String().Draw(t, n("b"))), maybe(t, n("c"), rapid.Float64().Draw(t, n("c"))),
				maybe(t, n("d"), list), maybe(t, n("e"), types.Row{maybe(t, n("x"), true), maybe(t, n("y"), types.Days(rapid.Int32Range(-700000, 2000000).Draw(t, n("y"))))}),
				maybe(t, n("f"), types.MapValue{{Key: rapid.String().Draw(t, n("f")), Value: int32(i)}}), maybe(t, n("g"), d), maybe(t, n("h"), rapid.SliceOf(rapid.Byte()).Draw(t, n("h"))),
			})
		}
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
		w, err := NewWriter(s, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		w.Bind(b.Cols)
		var text []byte
		for i := range rows {
			text = append(w.AppendRow(text, i), '\n')
		}
		r, err := NewReader(s, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Lines(pad(string(text)), 0, len(text), 100); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(rowsOf(b), rowsOf(r.Take())); d != "" {
			t.Fatalf("%s\n%s", d, text)
		}
	})
}
