package millrace_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/types"
)

func decimal(s string) types.Decimal {
	d, ok := types.ParseDecimal(s)
	if !ok {
		panic(s)
	}
	return d
}

// every is a schema with a column of each type and two rows of it, in the form of package types.
var every = []struct {
	ddl  string
	in   any // as a program may write it
	want any // as a Row holds it
}{
	{"BOOLEAN", true, true},
	{"TINYINT", 1, int8(1)},
	{"SMALLINT", int32(-2), int16(-2)},
	{"INT", 3, int32(3)},
	{"BIGINT", uint16(4), int64(4)},
	{"FLOAT", float32(1.5), float32(1.5)},
	{"DOUBLE", 2.5, 2.5},
	{"DECIMAL(10, 2)", decimal("12.30"), decimal("12.30")},
	{"DECIMAL(38, 0)", big.NewInt(7), decimal("7")},
	{"STRING", "héllo", "héllo"},
	{"BINARY", []byte{0, 255}, []byte{0, 255}},
	{"DATE", types.Days(20000), time.Date(2024, 10, 4, 0, 0, 0, 0, time.UTC)},
	{"TIMESTAMP", time.Date(2026, 1, 1, 12, 0, 0, 123456000, time.UTC), time.Date(2026, 1, 1, 12, 0, 0, 123456000, time.UTC)},
	{"TIMESTAMP_NTZ", types.MicrosNTZ(1), time.UnixMicro(1).UTC()},
	{"INTERVAL DAY TO SECOND", 90 * time.Second, 90 * time.Second},
	{"INTERVAL YEAR TO MONTH", types.YearMonth(14), types.YearMonth(14)},
	{"ARRAY<INT>", []int{1, 2}, []any{int32(1), int32(2)}},
	{"ARRAY<ARRAY<STRING>>", [][]string{{"a"}, nil, {}}, []any{[]any{"a"}, nil, []any{}}},
	{"MAP<STRING, BIGINT>", map[string]int{"b": 2, "a": 1}, types.MapValue{{Key: "a", Value: int64(1)}, {Key: "b", Value: int64(2)}}},
	{"STRUCT<x: INT, y: ARRAY<DATE>>", []any{1, []any{types.Days(0), nil}}, []any{int32(1), []any{time.Unix(0, 0).UTC(), nil}}},
}

func TestEveryType(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		var ddl []string
		var values, nulls, want, none []any
		for i, e := range every {
			ddl = append(ddl, string(rune('a'+i))+" "+e.ddl)
			values, nulls = append(values, e.in), append(nulls, nil)
			want, none = append(want, flat(e.want)), append(none, nil)
		}
		d := spark.CreateDataFrameDDL([][]any{values, nulls}, strings.Join(ddl, ", "))
		expect(t, d, want, none)

		// What came back goes in again, as Rows.
		back, err := d.Collect(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		schema, err := d.Schema(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, spark.CreateDataFrameSchema(back, schema), want, none)
		expect(t, spark.CreateDataFrame(back), want, none)
	})
}

func TestLiteralTypes(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		one := spark.Range(0, 1, 1)
		for _, tt := range []struct {
			in   any
			want string
		}{
			{nil, "void"},
			{true, "boolean"},
			{int8(1), "tinyint"},
			{int16(1), "smallint"},
			{1, "int"},
			{int64(1), "bigint"},
			{uint32(1), "bigint"},
			{float32(1), "float"},
			{1.0, "double"},
			{decimal("1.25"), "decimal(3,2)"},
			{"s", "string"},
			{[]byte("b"), "binary"},
			{types.Days(1), "date"},
			{time.Unix(0, 0), "timestamp"},
			{types.MicrosNTZ(0), "timestamp_ntz"},
			{time.Second, "interval day to second"},
			{types.YearMonth(1), "interval year to month"},
			{[]int64{1}, "array<bigint>"},
			{[]string{}, "array<string>"},
			{map[string]bool{"a": true}, "map<string,boolean>"},
			{struct{ A int32 }{1}, "struct<a:int>"},
		} {
			got := collect(t, one.Select(f.Typeof(f.Lit(tt.in)).As("t")))
			if diff := cmp.Diff(rows(row(tt.want)), got); diff != "" {
				t.Errorf("literal %v (-want +got):\n%s", tt.in, diff)
			}
		}
	})
}

func TestTimesAreInTheZoneOfTheSession(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		if err := spark.Conf().Set(ctx(t), "spark.sql.session.timeZone", "America/New_York"); err != nil {
			t.Fatal(err)
		}
		r, err := sql(t, spark, "SELECT TIMESTAMP '2026-07-01 12:00:00' AS ts").First(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		ts, err := millrace.GetAs[time.Time](r, "ts")
		if err != nil || ts.Format(time.RFC3339) != "2026-07-01T12:00:00-04:00" {
			t.Errorf("ts = %v, %v", ts, err)
		}
	})
}

func TestLargeLocalData(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		type wide struct {
			ID   int64
			Text string
		}
		data := make([]wide, 25000)
		for i := range data {
			data[i] = wide{int64(i), strings.Repeat("x", 50)}
		}
		d := spark.CreateDataFrame(data)
		for range 2 { // the second time the server has the data
			expect(t, d.Agg(f.Count("*").As("n"), f.Sum("id").As("s"), f.Max(f.Length("text")).As("l")), row(int64(25000), int64(24999*25000/2), int32(50)))
		}
	})
}

func TestArrowInAndOut(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, []bool{true, false, true})
		rec := b.NewRecordBatch()
		d := spark.CreateDataFrameArrow(schema, rec, rec)
		var got []int64
		for rec, err := range d.DropNA().Records(ctx(t)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rec.Column(0).(*array.Int64).Int64Values()...)
		}
		if diff := cmp.Diff([]int64{1, 3, 1, 3}, got); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
		empty := 0
		for rec, err := range d.Where("n > 5").Records(ctx(t)) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Schema().Field(0).Name != "n" {
				t.Errorf("schema %v", rec.Schema())
			}
			empty++
		}
		if empty == 0 {
			t.Error("an empty result has no record")
		}
	})
}

func TestCollectAs(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := sql(t, spark, `SELECT 1L AS id, 'x' AS name, CAST(NULL AS INT) AS n, array(1, 2) AS list, map('k', 2.5D) AS m,
			named_struct('b', 'y', 'a', 1) AS inner, 1.50 AS price, TIMESTAMP '2026-01-01 00:00:00' AS ts, INTERVAL '5' MINUTE AS wait, 7 AS other`)
		type inner struct {
			A int64
			B *string
		}
		type target struct {
			ID      int32
			Title   string `millrace:"name"`
			N       *int
			List    []int64
			M       map[string]float64
			Inner   inner
			Price   float64
			TS      time.Time `millrace:"ts"`
			Wait    time.Duration
			Skipped chan int `millrace:"-"`
		}
		got, err := millrace.CollectAs[target](ctx(t), d)
		if err != nil {
			t.Fatal(detail(err))
		}
		y := "y"
		want := []target{{
			ID: 1, Title: "x", List: []int64{1, 2}, M: map[string]float64{"k": 2.5}, Inner: inner{1, &y}, Price: 1.5,
			TS: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Wait: 5 * time.Minute,
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if got, err := millrace.CollectAs[*inner](ctx(t), d.Select("inner.*")); err != nil || len(got) != 1 || got[0].A != 1 {
			t.Errorf("got %v, %v", got, err)
		}
		if got, err := millrace.CollectAs[string](ctx(t), d.Select("name")); err != nil || !cmp.Equal(got, []string{"x"}) {
			t.Errorf("got %v, %v", got, err)
		}

		_, err = millrace.CollectAs[struct{ Missing int }](ctx(t), d)
		expectClass(t, err, "RESULT_CONVERSION.NO_COLUMN")
		_, err = millrace.CollectAs[struct{ N int }](ctx(t), d)
		expectClass(t, err, "RESULT_CONVERSION.NULL")
		_, err = millrace.CollectAs[struct{ Name int }](ctx(t), d)
		expectClass(t, err, "RESULT_CONVERSION.TYPE")
		_, err = millrace.CollectAs[int](ctx(t), d)
		expectClass(t, err, "RESULT_CONVERSION.COLUMNS")
		_, err = millrace.CollectAs[int8](ctx(t), d.Select(f.Lit(300)))
		expectClass(t, err, "RESULT_CONVERSION.RANGE")
	})
}

func TestRows(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		r, err := sql(t, spark, "SELECT 1 AS a, NULL AS b, 'x' AS C, named_struct('d', 1L) AS e").First(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != 4 || r.At(0) != int32(1) || r.At(9) != nil || r.Get("c") != "x" || r.Get("zz") != nil {
			t.Errorf("row %v", r)
		}
		if v, ok := r.Lookup("b"); v != nil || !ok {
			t.Errorf("b = %v, %v", v, ok)
		}
		if _, ok := r.Lookup("zz"); ok {
			t.Error("zz exists")
		}
		if got, want := r.String(), `[a: 1, b: null, C: "x", e: [d: 1]]`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if n, err := millrace.GetAs[int64](r, "A"); n != 1 || err != nil {
			t.Errorf("a = %d, %v", n, err)
		}
		if _, err := spark.Range(0, 0, 1).First(ctx(t)); err != millrace.ErrNoRows {
			t.Errorf("no rows give %v", err)
		}
		if empty, err := spark.Range(0, 0, 1).IsEmpty(ctx(t)); !empty || err != nil {
			t.Errorf("empty = %v, %v", empty, err)
		}

		// A loop may be left early.
		for r, err := range spark.Range(0, 1_000_000, 1).Rows(ctx(t)) {
			if err != nil || r.At(0) != int64(0) {
				t.Errorf("first row %v, %v", r, err)
			}
			break
		}
		expect(t, spark.Range(0, 1, 1), row(int64(0)))
	})
}
