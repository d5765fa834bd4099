package parquetfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// oldRows are the rows of spark-old.parquet, as Spark shows them in UTC.
const oldRows = `0001-01-01 | 0001-01-01 07:52:58.000000 | [{0001-01-01}]
1500-03-01 | 1500-03-01 19:52:58.000000 | [{1500-03-01}]
1582-10-04 | 1582-10-05 07:52:57.999999 | [{1582-10-04}]
1582-10-15 | 1582-10-15 07:52:58.000000 | [{1582-10-15}]
1883-11-10 | 1883-11-10 07:52:58.123456 | [{1883-11-10}]
null | null | [{null}]
2020-01-01 | 2020-01-01 08:00:00.000000 | [{2020-01-01}]`

func lines(rows [][]string) string {
	var out []string
	for _, r := range rows {
		out = append(out, strings.Join(r, " | "))
	}
	return strings.Join(out, "\n")
}

func confOf(pairs map[string]string) func(string) string {
	values := setting.New(pairs)
	return values.Value
}

// What a file tells of its calendar goes before options and settings.
func TestOldCalendar(t *testing.T) {
	conf := confOf(map[string]string{setting.ParquetReadCalendar: "EXCEPTION", setting.Int96ReadCalendar: "EXCEPTION"})
	d, err := Kind{}.Prepare(source.Request{Env: source.Env{Conf: conf}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"spark-old", "spark-old96"} {
		f := fileOf(t, "testdata/"+name+".parquet")
		got, err := readWith(t, d, whole(f), infer(t, f))
		if diff := cmp.Diff(oldRows, lines(got)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestUnsaidCalendar(t *testing.T) {
	const (
		days = "0000-12-30 1500-03-11 1582-10-14 1582-10-15 2020-01-01"
		old  = "0001-01-01 1500-03-01 1582-10-04 1582-10-15 2020-01-01"
	)
	for _, c := range []struct {
		file, column, option, setting, want string
	}{
		{"undated", "d DATE", "", "", days},
		{"undated", "d DATE", "", "CORRECTED", days},
		{"undated", "d DATE", "", " legacy ", old},
		{"undated", "d DATE", "LEGACY", "EXCEPTION", old},
		{"undated", "d DATE", "CORRECTED", "LEGACY", days},
		{"undated", "d DATE", "", "EXCEPTION", "Parquet"},
		{"undated", "d DATE", "EXCEPTION", "", "Parquet"},
		{"undated", "t TIMESTAMP", "", "", "0000-12-30 1500-03-11 1883-11-10 1899-12-31 2020-01-01"},
		{"undated", "t TIMESTAMP", "", "LEGACY", "0001-01-01 1500-03-01 1883-11-10 1899-12-31 2020-01-01"},
		{"undated", "t TIMESTAMP", "", "EXCEPTION", "Parquet"},
		{"undated96", "t TIMESTAMP", "", "LEGACY", "1684-10-19 2020-01-01"},
		{"undated96", "t TIMESTAMP", "", "EXCEPTION", "Parquet INT96"},
	} {
		key, option := setting.ParquetReadCalendar, "datetimeRebaseMode"
		if c.file == "undated96" {
			key, option = setting.Int96ReadCalendar, "int96RebaseMode"
		}
		req := source.Request{Env: source.Env{Conf: confOf(map[string]string{key: c.setting})}}
		if c.option != "" {
			req.Options = source.Options{option: c.option}
		}
		d, err := Kind{}.Prepare(req)
		if err != nil {
			t.Fatal(err)
		}
		schema, err := types.ParseDDL(c.column)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := readWith(t, d, whole(fileOf(t, "testdata/"+c.file+".parquet")), schema)
		var got []string
		for _, r := range rows {
			got = append(got, r[0][:10])
		}
		text := strings.Join(got, " ")
		if e, ok := errors.AsType[*errclass.Error](err); ok && e.Class == "INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME" &&
			e.Params["config"] == errclass.Conf(key) && e.Params["option"] == errclass.Conf(option) {
			text = e.Params["format"]
		} else if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// Files are written in the old calendar as Spark writes them.
func TestWriteOldCalendar(t *testing.T) {
	model := fileOf(t, "testdata/spark-old.parquet")
	schema := infer(t, model)
	path := writeAs(t, model, schema, map[string]string{
		setting.ParquetWriteCalendar: "legacy", setting.Int96WriteCalendar: "LEGACY", setting.TimeZone: "America/Los_Angeles",
	})
	got, err := read(t, whole(fileOf(t, path)), schema)
	if d := cmp.Diff(oldRows, lines(got)); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	wantDays, wantTimes, wantTold := raw(t, model.Path)
	gotDays, gotTimes, gotTold := raw(t, path)
	if d := cmp.Diff(wantDays, gotDays); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(wantTimes, gotTimes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(wantTold, gotTold); d != "" {
		t.Error(d)
	}
}

func TestWriteAncient(t *testing.T) {
	model := fileOf(t, "testdata/spark-old.parquet")
	all := infer(t, model)
	for i, f := range all.Fields {
		_, err := tryWriteAs(t, model, types.Struct(f), map[string]string{setting.ParquetWriteCalendar: "EXCEPTION"})
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok || e.Class != "INCONSISTENT_BEHAVIOR_CROSS_VERSION.WRITE_ANCIENT_DATETIME" || e.Params["config"] != errclass.Conf(setting.ParquetWriteCalendar) {
			t.Errorf("column %d: %v", i, err)
		}
	}
	if _, err := (SinkKind{}).Prepare(sink.Request{Env: sink.Env{Conf: func(string) string { return "x" }}}); err == nil {
		t.Error("an unknown calendar is taken")
	}
}

func writeAs(t *testing.T, from *files.File, schema types.StructType, conf map[string]string) string {
	t.Helper()
	path, err := tryWriteAs(t, from, schema, conf)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tryWriteAs writes the rows of a file into another one.
func tryWriteAs(t *testing.T, from *files.File, schema types.StructType, conf map[string]string) (path string, err error) {
	t.Helper()
	in, err := (&decoder{}).Open(context.Background(), whole(from), schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	enc, err := SinkKind{}.Prepare(sink.Request{Env: sink.Env{Conf: confOf(conf)}})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "f.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := enc.Create(out, schema)
	if err != nil {
		t.Fatal(err)
	}
	for {
		var b *vec.Batch
		if b, err = in.Next(context.Background()); err == io.EOF {
			return path, w.Close()
		}
		if err == nil {
			err = w.Write(b)
		}
		if err != nil {
			return "", err
		}
	}
}

// raw are the days and times of the first two columns as they lie in a file, and what it tells of its calendar.
func raw(t *testing.T, path string) (days []int32, times []int64, told map[string]string) {
	t.Helper()
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	told = map[string]string{}
	meta := r.MetaData().KeyValueMetadata()
	for _, key := range []string{versionKey, oldDaysKey, oldInt96Key, zoneKey} {
		if v := meta.FindValue(key); v != nil {
			told[key] = *v
		}
	}
	group := r.RowGroup(0)
	n := group.NumRows()
	levels := make([]int16, n)
	column := func(i int) file.ColumnChunkReader {
		c, err := group.Column(i)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	days, times = make([]int32, n), make([]int64, n)
	_, k, err := column(0).(*file.Int32ColumnChunkReader).ReadBatch(n, days, levels, nil)
	if err != nil {
		t.Fatal(err)
	}
	days = days[:k]
	if _, k, err = column(1).(*file.Int64ColumnChunkReader).ReadBatch(n, times, levels, nil); err != nil {
		t.Fatal(err)
	}
	return days, times[:k], told
}
