package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connector"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

func TestTables(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (a INT, b STRING COMMENT 'text') USING parquet; SELECT * FROM t")
	s.want("INSERT INTO t VALUES (1, 'x'), (2, 'y'); INSERT INTO t (b) VALUES ('z'); SELECT * FROM t ORDER BY b", "1|x", "2|y", "<nil>|z")
	s.fails("CREATE TABLE t (a INT) USING parquet", "TABLE_OR_VIEW_ALREADY_EXISTS")
	s.want("CREATE TABLE IF NOT EXISTS t (z INT) USING parquet; DESCRIBE t", "a|int|<nil>", "b|string|text")
	s.fails("INSERT INTO t VALUES (1)", "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS")
	s.fails("INSERT INTO t VALUES (1, 'a', 2)", "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS")
	s.fails("INSERT INTO t VALUES ('q', 'a')", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST")
	s.fails("INSERT INTO nope VALUES (1)", "TABLE_OR_VIEW_NOT_FOUND")
	s.fails("CREATE TABLE u (a INT) USING nope", "DATA_SOURCE_NOT_FOUND")
	s.fails("CREATE TABLE u USING parquet AS SELECT 1 / 0 AS a", "DIVIDE_BY_ZERO")
	s.fails("SELECT * FROM u", "TABLE_OR_VIEW_NOT_FOUND")
	s.want("CREATE TABLE u USING json AS SELECT a + 1 AS a FROM t WHERE a IS NOT NULL; SELECT a FROM u ORDER BY a", "2", "3")
	s.want("INSERT OVERWRITE u SELECT 7; SELECT a FROM u", "7")
	s.want("SHOW TABLES", "default|t|false", "default|u|false")
	s.want("TRUNCATE TABLE u; SELECT a FROM u")
	s.want("DROP TABLE u; DROP TABLE IF EXISTS u; SHOW TABLES", "default|t|false")
	s.fails("DROP TABLE u", "TABLE_OR_VIEW_NOT_FOUND")
	s.fails("DROP VIEW t", "WRONG_COMMAND_FOR_OBJECT_TYPE")
	// Another server over the same warehouse knows the table.
	again := &shell{session.NewServer(s.Runtime(), nil).New("me", s.ID), t, nil}
	again.want("SELECT count(*) FROM t", "3")
}

func TestPartitionedTables(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE p (a INT, k STRING, d DATE) USING parquet PARTITIONED BY (k)")
	s.want("INSERT INTO p VALUES (1, DATE'2020-01-01', 'x'), (2, NULL, 'y'); INSERT INTO p PARTITION (k = 'z') VALUES (3, NULL)")
	s.want("SELECT a, k FROM p ORDER BY a", "1|x", "2|y", "3|z")
	s.want("INSERT OVERWRITE p PARTITION (k = 'z') VALUES (30, NULL); SELECT a, k FROM p ORDER BY a", "1|x", "2|y", "30|z")
	s.fails("CREATE TABLE q (a INT) USING parquet PARTITIONED BY (nope)", "COLUMN_NOT_DEFINED_IN_TABLE")
}

// What SHOW PARTITIONS lists is found in the table's directory, one directory a column.
func TestShowPartitions(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE p (a INT, k INT, l STRING) USING parquet PARTITIONED BY (k, l); SHOW PARTITIONS p")
	s.want("INSERT INTO p VALUES (1, 1, 'a b'), (2, 2, NULL), (3, 1, 'x/y'); SHOW PARTITIONS p",
		"k=1/l=a b", "k=1/l=x%2Fy", "k=2/l=__HIVE_DEFAULT_PARTITION__")
	s.fails("SHOW PARTITIONS p PARTITION (z = 1)", "PARTITIONS_NOT_FOUND")
	s.want("CREATE TABLE q (a INT) USING parquet; CREATE TEMPORARY VIEW v AS SELECT 1")
	s.fails("SHOW PARTITIONS q", "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY")
	s.fails("SHOW PARTITIONS v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	s.fails("SHOW PARTITIONS nope", "TABLE_OR_VIEW_NOT_FOUND")
}

// Spark's words are not reserved unless a setting says so.
func TestKeywords(t *testing.T) {
	s := newShell(t)
	s.want("SELECT count(*), count_if(reserved), min(keyword) FROM sql_keywords()", "423|0|ADD")
	s.want("SET spark.sql.ansi.enforceReservedKeywords=true; SELECT reserved FROM sql_keywords() WHERE keyword IN ('ADD', 'ALL')", "false", "true")
	s.fails("SELECT * FROM sql_keywords(1)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
}

// Two ways to the same table mean the same plan; other options or another table do not.
func TestSameTable(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (a INT) USING parquet; CREATE TABLE u (a INT) USING parquet; SELECT * FROM t")
	meaning := func(q string) string {
		r, err := s.SQL(context.Background(), q, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Analyze(context.Background(), r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		return session.Semantics(n)
	}
	if meaning("TABLE t") != meaning("TABLE spark_catalog.default.t") {
		t.Error("one table means two things")
	}
	if meaning("TABLE t") == meaning("TABLE u") {
		t.Error("two tables mean the same")
	}
}

func TestWriteTable(t *testing.T) {
	s := newShell(t)
	ctx := context.Background()
	frame := func(sql string) plan.Node {
		r, err := s.SQL(ctx, sql, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Plan
	}
	write := func(sql string, mode sink.Mode, insert bool) error {
		_, err := s.WriteTable(ctx, "t", session.Write{Plan: frame(sql), Mode: mode}, insert)
		return err
	}
	if err := write("SELECT 1 AS a, 'x' AS b", sink.Append, true); !errclass.Has(err, "TABLE_OR_VIEW_NOT_FOUND") {
		t.Errorf("insertInto without a table: %v", err)
	}
	for _, step := range []struct {
		sql    string
		mode   sink.Mode
		insert bool
		fails  string
		want   []string
	}{
		{"SELECT 1 AS a, 'x' AS b", sink.ErrorIfExists, false, "", []string{"1|x"}},
		{"SELECT 2 AS a, 'y' AS b", sink.ErrorIfExists, false, "TABLE_OR_VIEW_ALREADY_EXISTS", []string{"1|x"}},
		{"SELECT 2 AS a, 'y' AS b", sink.Ignore, false, "", []string{"1|x"}},
		{"SELECT 'y' AS b, 2 AS a", sink.Append, false, "", []string{"1|x", "2|y"}}, // by name
		{"SELECT 3 AS b, 'z' AS a", sink.Append, true, "", []string{"1|x", "2|y", "3|z"}},
		{"SELECT a * 10 AS a, b FROM t", sink.Overwrite, false, "", []string{"10|x", "20|y", "30|z"}},
		{"SELECT 7, 'only'", sink.Overwrite, true, "", []string{"7|only"}},
	} {
		err := write(step.sql, step.mode, step.insert)
		if step.fails == "" && err != nil || step.fails != "" && !errclass.Has(err, step.fails) {
			t.Errorf("%s: %v, want %q", step.sql, err, step.fails)
		}
		s.want("SELECT a, b FROM t ORDER BY a", step.want...)
	}
}

// A table that is saved over is the old one until the new one is there. Nothing is left of what did not become one.
func TestSaveOverTable(t *testing.T) {
	connector.RegisterAll()
	warehouse := t.TempDir()
	sv := session.NewServer(engine.New(engine.Runtime{Parallelism: 2, Warehouse: warehouse}), nil)
	s := &shell{sv.New("me", uuid.NewString()), t, sv}
	ctx := context.Background()
	save := func(query, path string, partitions ...string) error {
		t.Helper()
		r, err := s.SQL(ctx, query, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := session.Write{Plan: r.Plan, Mode: sink.Overwrite, Format: "json", PartitionBy: partitions}
		if path != "" {
			w.Options = map[string]string{"path": path}
		}
		_, err = s.WriteTable(ctx, "t", w, false)
		return err
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(save("SELECT 1 AS a, 2 AS p", "", "p"))
	if err := save("SELECT 1 / (id - 3) AS a, 0 AS p FROM range(5)", ""); !errclass.Has(err, "DIVIDE_BY_ZERO") {
		t.Errorf("a query that fails: %v", err)
	}
	s.want("SELECT a, p FROM t", "1|2")
	ok(save("SELECT 'x' AS b, 3 AS p UNION ALL SELECT b, p FROM (SELECT 'y' AS b, p FROM t)", "", "p"))
	s.want("SELECT b, p FROM t ORDER BY b", "x|3", "y|2")
	outside := t.TempDir() + "/outside"
	ok(save("SELECT 1 AS a", outside)) // its own files go
	s.want("SELECT * FROM t", "1")
	ok(save("SELECT 2 AS b", outside)) // and those where it is written, too
	s.want("SELECT * FROM t", "2")
	ok(save("SELECT 3 AS c", ""))
	s.want("SELECT * FROM t", "3")
	s.want("SELECT * FROM json.`"+outside+"`", "2")
	entries, err := os.ReadDir(warehouse)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if d := cmp.Diff([]string{"_catalog", "t"}, names); d != "" {
		t.Errorf("in the warehouse (-want +got):\n%s", d)
	}
}

func TestTableSink(t *testing.T) {
	s := newShell(t)
	st := types.Struct(types.NewField("a", types.Integer))
	if _, err := s.TableSink(t.Context(), "t", "json", st, nil, nil); err != nil {
		t.Fatal(err)
	}
	s.want("DESCRIBE t", "a|int|<nil>") // made when it was not there
	if _, err := s.TableSink(t.Context(), "t", "JSON", types.StructType{}, nil, nil); err != nil {
		t.Errorf("a table that is there: %v", err)
	}
	if _, err := s.TableSink(t.Context(), "t", "", types.StructType{}, nil, nil); !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.TABLE_FORMAT") {
		t.Errorf("the default format: %v", err)
	}
	s.want("CREATE VIEW pv AS SELECT 1 AS a")
	if _, err := s.TableSink(t.Context(), "pv", "", st, nil, nil); !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.TABLE_IS_VIEW") {
		t.Errorf("a view that stays: %v", err)
	}
	if _, err := s.TableSink(t.Context(), "t", "parquet", st, nil, nil); !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.TABLE_FORMAT") {
		t.Errorf("another format: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TableSink(t.Context(), "u", "json", st, nil, map[string]string{"PATH": dir}); err != nil {
		t.Fatal(err)
	}
	s.want("DROP TABLE u") // its files stay: it was made at a path
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Errorf("a table at a path: %v", err)
	}
	s.want("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
	if _, err := s.TableSink(t.Context(), "v", "", st, nil, nil); !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.TABLE_IS_VIEW") {
		t.Errorf("a view: %v", err)
	}
	if _, err := s.TableSink(t.Context(), "m", "memory", st, nil, nil); !errclass.Has(err, "DATA_SOURCE_NOT_FOUND") {
		t.Errorf("in memory: %v", err)
	}
	if _, err := s.TableSink(t.Context(), "nope.t", "", st, nil, nil); !errclass.Has(err, "SCHEMA_NOT_FOUND") {
		t.Errorf("no such database: %v", err)
	}
}

func TestKeptTableNames(t *testing.T) {
	s := newShell(t)
	for name, class := range map[string]string{
		"q": "", "1x": "", "`a b`": "", "a b": "INVALID_STREAMING_OPTION.QUERY_NAME", "sel`ect": "INVALID_STREAMING_OPTION.QUERY_NAME",
		"a.b": "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS",
	} {
		err := s.KeepTable(name, noRows{})
		if class == "" && err != nil || class != "" && !errclass.Has(err, class) {
			t.Errorf("%s: got %v, want %q", name, err, class)
		}
	}
}

type noRows struct{}

func (noRows) Schema() types.StructType { return types.Struct(types.NewField("a", types.Integer)) }

func (noRows) Scan(context.Context, source.Projection) ([]source.Split, error) { return nil, nil }

// A table may be a source that no files lie below. It has the columns that the source tells, its options are kept, and it can be read
// as the source can.
func TestTablesOfSources(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE clock USING rate OPTIONS (rowsPerSecond '7'); DESCRIBE clock", "timestamp|timestamp|<nil>", "value|bigint|<nil>")
	s.fails("SELECT * FROM clock", "UNSUPPORTED_FEATURE.TABLE_OPERATION")
	s.fails("INSERT INTO clock SELECT now(), 1", "UNSUPPORTED_INSERT.NOT_ALLOWED")
	s.fails("CREATE TABLE other (a INT) USING rate", "UNSUPPORTED_STREAMING_OPERATION.USER_SCHEMA")
	s.want("SHOW COLUMNS IN clock", "timestamp", "value")
	s.fails("CREATE TABLE other USING kafka", "KAFKA_INVALID_OPTION.SUBSCRIPTION")
	s.fails("CREATE TABLE other USING kafka OPTIONS (subscribe 't', `kafka.bootstrap.servers` 'nowhere:1') AS SELECT 'a' AS value", "_LEGACY_ERROR_TEMP_3081")
	// Nor has a frame's writer more to say than the statement.
	_, err := s.WriteTable(t.Context(), "other", session.Write{
		Plan: &plan.OneRow{}, Format: "kafka", Mode: sink.ErrorIfExists, Options: map[string]string{"topic": "t", "kafka.bootstrap.servers": "nowhere:1"},
	}, false)
	if !errclass.Has(err, "_LEGACY_ERROR_TEMP_3081") {
		t.Error(err)
	}
	s.want("SHOW TABLES", "default|clock|false")
	again := &shell{session.NewServer(s.Runtime(), nil).New("me", s.ID), t, nil}
	n, err := again.Analyze(t.Context(), &plan.Named{Parts: []string{"clock"}, Stream: true})
	if err != nil || plan.Schema(n).SQL() != "STRUCT<timestamp: TIMESTAMP, value: BIGINT>" {
		t.Fatal(n, err)
	}
	again.want("CREATE TABLE second LIKE clock; CREATE TABLE third LIKE clock USING parquet; SELECT * FROM third")
	again.fails("SELECT * FROM second", "UNSUPPORTED_FEATURE.TABLE_OPERATION")
	again.want("DROP TABLE clock; DROP TABLE second; DROP TABLE third; SHOW TABLES")
}

// A file format whose columns are always the same needs no list of them; the others need one, or files that are there already.
func TestTablesWithoutColumns(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE lines USING text; INSERT INTO lines VALUES ('a'); SELECT * FROM lines", "a")
	for _, format := range []string{"json", "csv", "parquet"} {
		s.fails("CREATE TABLE t USING "+format, "UNABLE_TO_INFER_SCHEMA")
	}
	s.fails("CREATE TABLE t USING nope", "DATA_SOURCE_NOT_FOUND")
}
