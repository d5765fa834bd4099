package millrace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
)

// onOurs runs a test on our engine alone, in the process and behind a server.
func onOurs(t *testing.T, test func(t *testing.T, spark *millrace.Session)) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		if strings.HasSuffix(t.Name(), "/spark") {
			t.Skip("Spark has nothing of the kind")
		}
		test(t, spark)
	})
}

// Rows that cannot be computed with and records that cannot be read leave with the file that they stand in.
func TestDeadLetters(t *testing.T) {
	onOurs(t, func(t *testing.T, spark *millrace.Session) {
		for format, texts := range map[string][2]string{
			"json": {`{"k": "a", "v": "1"}` + "\n" + `{"k": "b", "v": "x"}` + "\n", `{"k": "c", "v": "3"}` + "\n" + `{"k": "d", "v"` + "\n"},
			"csv":  {"a,1\nb,x\n", "c,3\nd,4,5\n"},
		} {
			dir := t.TempDir()
			in, dead, out := filepath.Join(dir, "in"), filepath.Join(dir, "dead letters"), filepath.Join(dir, "out")
			write(t, in, "0."+format, texts[0])
			write(t, in, "1."+format, texts[1])
			finish(t, spark.ReadStream().Format(format).SchemaDDL("k STRING, v STRING").Option("mode", "FAILFAST").Load(in).
				SelectExpr("k", "CAST(v AS INT) AS n").WriteStream().Format("json").
				Option("path", out).Option("checkpointLocation", filepath.Join(dir, "ck")).Option("deadLetterPath", dead).
				Trigger(millrace.AvailableNow()))
			expect(t, spark.Read().SchemaDDL("k STRING, n INT").JSON(out).OrderBy("k"), row("a", int32(1)), row("c", int32(3)))
			var bad string
			if format == "json" {
				bad = `{"k": "d", "v"`
			} else {
				bad = "d,4,5"
			}
			letters := spark.Read().SchemaDDL("errorClass STRING, file STRING, row STRING").JSON(dead)
			expect(t, letters.SelectExpr("errorClass", "regexp_extract(file, '[^/]*$', 0) AS file", "row").OrderBy("file"),
				row("CAST_INVALID_INPUT", "0."+format, `{"k":"b","v":"x"}`),
				row("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "1."+format, bad))
		}
	})
}

// Late rows can be read by anybody as Parquet, and their folder belongs to the query.
func TestLateRows(t *testing.T) {
	onOurs(t, func(t *testing.T, spark *millrace.Session) {
		dir := t.TempDir()
		in, late := filepath.Join(dir, "in"), filepath.Join(dir, "late")
		query := func(checkpoint string) *millrace.DataStreamWriter {
			return totals(spark, in).WriteStream().Format("json").Option("path", filepath.Join(dir, "out")).
				Option("checkpointLocation", checkpoint).Option("lateRowsPath", late).Option("lateRowsFormat", "parquet").
				Trigger(millrace.AvailableNow())
		}
		ck := filepath.Join(dir, "ck")
		write(t, in, "e0.json", `{"ts": "2026-01-01 10:31:00", "user": "u0", "amount": 10}`)
		finish(t, query(ck))
		write(t, in, "e1.json", `{"ts": "2026-01-01 10:32:00", "user": "u1", "amount": 20}`)
		finish(t, query(ck))
		write(t, in, "e2.json", `{"ts": "2026-01-01 10:04:00", "user": "u2", "amount": 30}`)
		finish(t, query(ck))
		expect(t, spark.Read().Parquet(late).Select("user", "amount"), row("u2", int32(30)))
		if _, err := query(filepath.Join(dir, "other")).Start(ctx(t)); err == nil || !strings.Contains(err.Error(), "lateRowsPath") {
			t.Errorf("another query in the folder: %v", err)
		}
		names := map[string]bool{}
		entries, err := os.ReadDir(late)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "_") {
				names[e.Name()] = true
			}
		}
		if d := cmp.Diff(map[string]bool{"_spark_metadata": true, "_millrace_owner": true}, names); d != "" {
			t.Error(d)
		}
	})
}
