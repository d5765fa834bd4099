package show_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/show"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func batch(t *testing.T, st types.StructType, rows ...types.Row) []*vec.Batch {
	t.Helper()
	b := vec.NewBatch(len(rows))
	for c, f := range st.Fields {
		bld := vec.NewBuilder(f.Type)
		for _, r := range rows {
			if err := bld.AppendValue(r[c]); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, bld.Finish())
	}
	return []*vec.Batch{b}
}

var people = types.Struct(types.NewField("id", types.Long), types.NewField("a_long_column_name", types.String))

// The tables are those that Apache Spark 4.2.0 prints.
func TestTable(t *testing.T) {
	rows := []types.Row{{int64(0), "x0"}, {int64(1), nil}, {int64(12345), "héllo 世界"}}
	for name, c := range map[string]struct {
		o    show.Options
		want string
	}{
		"right-aligned": {show.Options{Rows: 20, Truncate: 20}, `
+-----+------------------+
|   id|a_long_column_name|
+-----+------------------+
|    0|                x0|
|    1|              NULL|
|12345|        héllo 世界|
+-----+------------------+
`},
		"not truncated": {show.Options{Rows: 20}, `
+-----+------------------+
|id   |a_long_column_name|
+-----+------------------+
|0    |x0                |
|1    |NULL              |
|12345|héllo 世界        |
+-----+------------------+
`},
		"more rows": {show.Options{Rows: 2, Truncate: 3}, `
+---+------------------+
| id|a_long_column_name|
+---+------------------+
|  0|                x0|
|  1|               NUL|
+---+------------------+
only showing top 2 rows
`},
		"vertical": {show.Options{Rows: 1, Truncate: 20, Vertical: true}, `
-RECORD 0-----------------
 id                 | 0   
 a_long_column_name | x0  
only showing top 1 row
`},
		"none": {show.Options{Rows: 0, Truncate: 20}, `
+---+------------------+
| id|a_long_column_name|
+---+------------------+
+---+------------------+
only showing top 0 rows
`},
	} {
		got, err := show.Table(people, batch(t, people, rows...), c.o)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	got, err := show.Table(people, nil, show.Options{Rows: 20, Truncate: 20, Vertical: true})
	if err != nil || got != "(0 rows)\n" {
		t.Errorf("vertical without rows: %q, %v", got, err)
	}
	got, err = show.Table(types.StructType{}, []*vec.Batch{vec.NewBatch(1)}, show.Options{Rows: 20, Truncate: 20})
	if err != nil || got != "++\n||\n++\n||\n++\n" {
		t.Errorf("without columns: %q, %v", got, err)
	}
}

func TestCells(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t    types.DataType
		v    any
		want string
	}{
		{types.Double, 1e10, "1.0E10"},
		{types.Float, float32(1.5), "1.5"},
		{types.Boolean, true, "true"},
		{types.Null, nil, "NULL"},
		{types.Binary, []byte("ab\x03"), "[61 62 03]"},
		{types.DecimalType{Precision: 10, Scale: 2}, types.DecimalFromInt64(150, 2), "1.50"},
		{types.Date, types.Days(18263), "2020-01-02"},
		{types.Timestamp, types.Micros(1577934245120000), "2020-01-02 04:04:05.12"},
		{types.TimestampNTZ, types.MicrosNTZ(1577934245000000), "2020-01-02 03:04:05"},
		{types.YearMonthIntervalType{Start: types.MonthField, End: types.MonthField}, types.YearMonth(1), "INTERVAL '1' MONTH"},
		{types.ArrayOf(types.Integer), []any{int32(1), nil}, "[1, NULL]"},
		{types.ArrayOf(types.Binary), []any{[]byte{1, 2}}, "[[01 02]]"},
		{types.MapOf(types.String, types.Integer), types.MapValue{{Key: "k", Value: int32(1)}, {Key: "z"}}, "{k -> 1, z -> NULL}"},
		{types.Struct(types.NewField("x", types.Integer), types.NewField("y", types.String)), types.Row{nil, "q"}, "{NULL, q}"},
		{types.ArrayOf(types.Integer), nil, "NULL"},
	} {
		v, err := vec.FromValues(c.t, c.v, nil, c.v)
		if err != nil {
			t.Fatal(err)
		}
		f := show.Format{Zone: berlin}
		got, err := f.Cells(v)
		if err != nil {
			t.Errorf("%s: %v", c.t.SQL(), err)
			continue
		}
		if d := cmp.Diff([]string{c.want, "NULL", c.want}, got); d != "" {
			t.Errorf("%s: %s", c.t.SQL(), d)
		}
		dict, err := f.Cells(vec.NewDict(v, []uint32{2, 1}, nil))
		if d := cmp.Diff([]string{c.want, "NULL"}, dict); d != "" || err != nil {
			t.Errorf("%s as dictionary: %v %s", c.t.SQL(), err, d)
		}
	}
	v, err := vec.FromValues(types.Binary, []byte("ab"))
	if err != nil {
		t.Fatal(err)
	}
	for style, want := range map[string]string{"HEX": "6162", "UTF-8": "ab", "BASIC": "[97, 98]", "BASE64": "YWI", "": "[61 62]"} {
		if got, err := (show.Format{Binary: style}).Cells(v); err != nil || got[0] != want {
			t.Errorf("binary as %s: %v, %v", style, got, err)
		}
	}
}

func TestCutAndEscape(t *testing.T) {
	st := types.Struct(types.NewField("h\ti", types.String))
	row := types.Row{"a\tb\nc" + strings.Repeat("世", 20)}
	got, err := show.Table(st, batch(t, st, row, types.Row{strings.Repeat("😀", 15)}), show.Options{Rows: 2, Truncate: 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`h\ti|`, `|a\tb\nc世世世世世世世世世世...|`, `😀😀😀😀😀😀😀😀?...|`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is not in\n%s", part, got)
		}
	}
}

func TestHTML(t *testing.T) {
	st := types.Struct(types.NewField("id", types.Long), types.NewField("a<b", types.String))
	got, err := show.HTML(st, batch(t, st, types.Row{int64(0), `<b>"&`}, types.Row{int64(1), strings.Repeat("x", 30)}, types.Row{int64(2), ""}),
		show.Options{Rows: 2, Truncate: 20})
	if err != nil {
		t.Fatal(err)
	}
	want := `<table border='1'>
<tr><th>id</th><th>a&lt;b</th></tr>
<tr><td>0</td><td>&lt;b&gt;&quot;&amp;</td></tr>
<tr><td>1</td><td>xxxxxxxxxxxxxxxxx...</td></tr>
</table>
only showing top 2 rows
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
