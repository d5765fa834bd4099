package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connector"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/types"
)

// shell runs statements in a session of its own.
type shell struct {
	*session.Session
	t  *testing.T
	sv *session.Server
}

func newShell(t *testing.T) *shell {
	t.Helper()
	connector.RegisterAll()
	sv := session.NewServer(engine.New(engine.Runtime{Parallelism: 2, Warehouse: t.TempDir()}), nil)
	return &shell{sv.New("me", uuid.NewString()), t, sv}
}

// try runs statements and gives the rows of the last as texts, or the condition of the first that fails.
func (s *shell) try(statements string) (rows []string, condition string) {
	s.t.Helper()
	for _, text := range strings.Split(statements, ";") {
		r, err := s.SQL(context.Background(), text, nil, nil)
		var got []types.Row
		if err == nil {
			got, _, err = s.Rows(context.Background(), r.Plan)
		}
		if err != nil {
			return nil, errclass.Internal(err).Class
		}
		rows = nil
		for _, row := range got {
			parts := make([]string, len(row))
			for i, v := range row {
				parts[i] = fmt.Sprint(v)
			}
			rows = append(rows, strings.Join(parts, "|"))
		}
	}
	return rows, ""
}

func (s *shell) want(statements string, want ...string) {
	s.t.Helper()
	got, condition := s.try(statements)
	if condition != "" {
		s.t.Errorf("%s: %s", statements, condition)
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		s.t.Errorf("%s: %s", statements, d)
	}
}

func (s *shell) fails(statements, want string) {
	s.t.Helper()
	if _, got := s.try(statements); got != want {
		s.t.Errorf("%s: %q, want %s", statements, got, want)
	}
}

func TestViewStatements(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TEMP VIEW v AS SELECT 1 AS a, 'x' AS b; SELECT * FROM V", "1|x")
	s.fails("CREATE TEMP VIEW v AS SELECT 2", "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS")
	s.want("CREATE OR REPLACE TEMP VIEW v (n COMMENT 'number', t) AS SELECT 2, 'y'; SELECT n, t FROM v", "2|y")
	s.want("DESCRIBE v", "n|int|number", "t|string|<nil>")
	s.want("DESCRIBE TABLE v n", "col_name|n", "data_type|int", "comment|number")
	s.want("SHOW COLUMNS IN v", "n", "t")
	s.fails("CREATE TEMP VIEW w (a, b) AS SELECT 1", "CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS")
	s.fails("CREATE TEMP VIEW a.b AS SELECT 1", "INVALID_TEMP_OBJ_QUALIFIER")
	s.want("CREATE GLOBAL TEMP VIEW g AS SELECT 5 AS c; SELECT * FROM global_temp.g", "5")
	s.want("SHOW TABLES IN global_temp", "global_temp|g|true", "|v|true")
	other := &shell{s.sv.New("me", uuid.NewString()), t, s.sv}
	other.want("SELECT c FROM global_temp.g", "5")
	other.fails("SELECT * FROM v", "TABLE_OR_VIEW_NOT_FOUND")
	s.want("SHOW TABLES LIKE 'x*|v'", "|v|true")
	s.want("DROP VIEW global_temp.g; DROP VIEW v; SHOW VIEWS")
	s.fails("DROP VIEW v", "TABLE_OR_VIEW_NOT_FOUND")
	s.want("DROP VIEW IF EXISTS v")
}

func TestConfStatements(t *testing.T) {
	s := newShell(t)
	s.want("SET spark.sql.shuffle.partitions", "spark.sql.shuffle.partitions|200")
	s.want("SET spark.sql.shuffle.partitions = 7", "spark.sql.shuffle.partitions|7")
	s.want("SET my.key", "my.key|<undefined>")
	s.fails("SET spark.sql.warehouse.dir = x", "CANNOT_MODIFY_STATIC_CONFIG")
	s.fails("SET spark.executor.memory = 1g", "CANNOT_MODIFY_CONFIG")
	s.fails("RESET spark.executor.memory", "CANNOT_MODIFY_CONFIG")
	s.want("SET mapred.reduce.tasks = 8", "spark.sql.shuffle.partitions|8")
	s.want("SET mapreduce.job.reduces", "spark.sql.shuffle.partitions|8")
	s.fails("SET mapreduce.job.reduces = -1", "INVALID_CONF_VALUE.REQUIREMENT")
	s.want("SET spark.sql.legacy.parquet.datetimeRebaseModeInRead = 3", "spark.sql.legacy.parquet.datetimeRebaseModeInRead|3")
	s.fails("SET spark.sql.parquet.datetimeRebaseModeInRead", "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS")
	s.want("SET TIME ZONE 'Europe/Berlin'", "spark.sql.session.timeZone|Europe/Berlin")
	s.want("SELECT CAST(TIMESTAMP'2020-07-01 00:00:00' AS BIGINT)", "1593554400")
	s.want("SET TIME ZONE INTERVAL 2 HOURS", "spark.sql.session.timeZone|+02:00")
	s.want("SET TIME ZONE LOCAL", "spark.sql.session.timeZone|UTC")
	s.want("RESET; SET spark.sql.shuffle.partitions", "spark.sql.shuffle.partitions|200")
	if rows, _ := s.try("SET -v"); len(rows) < 200 {
		t.Errorf("SET -v gives %d rows", len(rows))
	}
}

// Records of old days and times, as Spark 4.2.0 with spark-avro writes and reads them: writing goes by the session's zone, reading by UTC.
func TestAvroCalendars(t *testing.T) {
	s := newShell(t)
	s.want("SET TIME ZONE 'America/Los_Angeles'", "spark.sql.session.timeZone|America/Los_Angeles")
	for _, c := range []struct{ mode, value, record string }{
		{"LEGACY", "DATE'1500-03-01'", "95F914"},
		{"LEGACY", "TIMESTAMP'1883-11-10 00:00:00.123456'", "FFF6C4C79B96D409"},
		{"LEGACY", "TIMESTAMP'1500-03-01 00:00:00'", "FFFFDFEBF6FDD534"},
		{"CORRECTED", "DATE'1500-03-01'", "A9F914"},
		{"CORRECTED", "TIMESTAMP'1883-11-10 00:00:00.123456'", "FFCCFED99E96D409"},
		{"CORRECTED", "TIMESTAMP'1500-03-01 00:00:00'", "FFD5E7A49FB0D634"},
	} {
		s.want("SET spark.sql.avro.datetimeRebaseModeInWrite = "+c.mode, "spark.sql.avro.datetimeRebaseModeInWrite|"+c.mode)
		s.want("SELECT hex(to_avro("+c.value+"))", c.record)
	}
	// A file tells its calendar, whatever the setting says.
	const rows = "SELECT DATE'1500-03-01' AS d, CAST(TIMESTAMP'1883-11-10 00:00:00.123456' AS STRING) AS s, TIMESTAMP'1883-11-10 00:00:00.123456' AS t"
	for i, mode := range []string{"LEGACY", "CORRECTED"} {
		name := fmt.Sprintf("old%d", i)
		s.want("SET spark.sql.avro.datetimeRebaseModeInWrite = "+mode, "spark.sql.avro.datetimeRebaseModeInWrite|"+mode)
		s.want("CREATE TABLE " + name + " USING avro AS " + rows)
		s.want("SET spark.sql.avro.datetimeRebaseModeInRead = EXCEPTION", "spark.sql.avro.datetimeRebaseModeInRead|EXCEPTION")
		s.want("SELECT CAST(d AS STRING), s = CAST(t AS STRING) FROM "+name, "1500-03-01|true")
	}
	s.want("SET spark.sql.avro.datetimeRebaseModeInWrite = EXCEPTION", "spark.sql.avro.datetimeRebaseModeInWrite|EXCEPTION")
	s.fails("SELECT hex(to_avro(DATE'1500-03-01'))", "INCONSISTENT_BEHAVIOR_CROSS_VERSION.WRITE_ANCIENT_DATETIME")
	for _, c := range []struct{ mode, logical, record, want string }{
		{"LEGACY", "date", "F5F814", "1500-03-17"},
		{"LEGACY", "timestamp-millis", "899BE9B9A39E01", "1883-10-31 17:00:39.723"},
		{"CORRECTED", "date", "F5F814", "1500-03-27"},
		{"CORRECTED", "timestamp-millis", "899BE9B9A39E01", "1883-10-31 17:00:39.723"},
	} {
		s.want("SET spark.sql.avro.datetimeRebaseModeInRead = "+c.mode, "spark.sql.avro.datetimeRebaseModeInRead|"+c.mode)
		typ := "long"
		if c.logical == "date" {
			typ = "int"
		}
		s.want(`SELECT CAST(from_avro(X'`+c.record+`', '{"type":"`+typ+`","logicalType":"`+c.logical+`"}') AS STRING)`, c.want)
	}
}

func TestDatabases(t *testing.T) {
	s := newShell(t)
	s.want("CREATE DATABASE d COMMENT 'c'; SHOW DATABASES", "d", "default")
	s.fails("CREATE DATABASE d", "SCHEMA_ALREADY_EXISTS")
	s.want("CREATE DATABASE IF NOT EXISTS d; USE d; SELECT current_schema()", "d")
	s.want("CREATE VIEW v AS SELECT 1 AS x; SELECT x FROM v", "1")
	s.want("SELECT x FROM spark_catalog.d.v", "1")
	s.want("USE default; SHOW TABLES IN d", "d|v|false")
	s.fails("SELECT x FROM v", "TABLE_OR_VIEW_NOT_FOUND")
	s.fails("DROP DATABASE d", "SCHEMA_NOT_EMPTY")
	s.want("DROP DATABASE d CASCADE; SHOW SCHEMAS", "default")
	s.fails("USE d", "SCHEMA_NOT_FOUND")
	s.fails("SELECT 1 FROM nocat.a.b", "REQUIRES_SINGLE_PART_NAMESPACE")
}

func TestExplain(t *testing.T) {
	s := newShell(t)
	rows, condition := s.try("EXPLAIN EXTENDED SELECT id FROM range(3) WHERE id > 1")
	if condition != "" || len(rows) != 1 {
		t.Fatalf("%v, %s", rows, condition)
	}
	at := 0
	for _, head := range []string{"== Parsed Logical Plan ==", "== Analyzed Logical Plan ==\nid: bigint\n", "== Optimized Logical Plan ==", "== Physical Plan =="} {
		i := strings.Index(rows[0][at:], head)
		if i < 0 {
			t.Fatalf("%q is not in its place:\n%s", head, rows[0])
		}
		at += i
	}
}

func TestSemantics(t *testing.T) {
	s := newShell(t)
	text := func(sql string) string {
		r, err := s.SQL(context.Background(), sql, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Analyze(context.Background(), r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		return session.Semantics(n)
	}
	base := text("SELECT id * 2 AS a FROM range(3) WHERE id > 1")
	if base != text("SELECT t.id * 2 AS b FROM range(3) AS t WHERE t.id > 1") {
		t.Error("names make a difference")
	}
	for _, other := range []string{
		"SELECT id * 3 AS a FROM range(3) WHERE id > 1", "SELECT id * 2 AS a FROM range(4) WHERE id > 1", "SELECT id * 2 AS a FROM range(3)",
	} {
		if base == text(other) {
			t.Errorf("%s is taken for the same", other)
		}
	}
}

func TestStreamsAreNoBatches(t *testing.T) {
	s := newShell(t)
	n := &plan.Read{Format: "rate", Stream: true, ID: plan.NewID()}
	_, _, err := s.Rows(context.Background(), n)
	if !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.BATCH_ACTION") {
		t.Errorf("collect: %v", err)
	}
	_, err = s.Write(context.Background(), session.Write{Plan: n, Format: "noop"})
	if !errclass.Has(err, "CALL_ON_STREAMING_DATASET_UNSUPPORTED") {
		t.Errorf("write: %v", err)
	}
}
