package session_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The outcomes here are those of Apache Spark 4.2.0 with Delta Lake 4.4.0; test/conformance/delta_cases has many more.

// The rows of a MERGE's source are the same when it looks for files as when it writes them.
func TestMergeReadsItsSourceOnce(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (id INT, v INT) USING delta")
	for id := range 8 {
		s.want(fmt.Sprintf("INSERT INTO t VALUES (%d, 0)", id)) // a file each
	}
	for round := 1; round <= 4; round++ {
		s.want(`MERGE INTO t USING (SELECT CAST(rand() * 8 AS INT) AS id) s ON t.id = s.id
			WHEN MATCHED THEN UPDATE SET v = v + 1 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 100)`, "1|1|0|0")
		s.want("SELECT count(*), sum(v) FROM t", fmt.Sprintf("8|%d", round))
	}
}

func TestDeltaChanges(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (id INT, k STRING, v INT) USING delta; INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30)")
	s.want("UPDATE t SET v = v + 1, k = upper(k) WHERE id = 2", "1")
	s.want("UPDATE t SET v = 0 WHERE id = 99", "0")
	s.want("DELETE FROM t WHERE id = 1", "1")
	s.want("SELECT * FROM t ORDER BY id", "2|B|21", "3|c|30")
	s.want("SELECT * FROM t VERSION AS OF 1 ORDER BY id", "1|a|10", "2|b|20", "3|c|30")
	s.want(`MERGE INTO t USING (VALUES (2, 'x', 1), (4, 'y', 2) AS s(id, k, v)) s ON t.id = s.id
		WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE`, "3|1|1|1")
	s.want("SELECT * FROM t ORDER BY id", "2|B|1", "4|y|2")
	s.want("RESTORE t TO VERSION AS OF 1; SELECT count(*) FROM t", "3")
	s.want("DELETE FROM t", "3")
	s.want("SELECT count(*) FROM t", "0")
	var operations []string
	rows, condition := s.try("DESCRIBE HISTORY t")
	if condition != "" {
		t.Fatal(condition)
	}
	for _, r := range rows {
		operations = append(operations, strings.Split(r, "|")[4])
	}
	if got, want := strings.Join(operations, ", "), "DELETE, RESTORE, MERGE, DELETE, UPDATE, WRITE, CREATE TABLE"; got != want {
		t.Errorf("history %s, want %s", got, want)
	}
}

func TestDeltaRefusals(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (id INT NOT NULL, v INT) USING delta; INSERT INTO t VALUES (1, 1), (2, 2); CREATE TABLE p (id INT) USING parquet")
	for statement, want := range map[string]string{
		"DELETE FROM p": "UNSUPPORTED_FEATURE.TABLE_OPERATION", "UPDATE p SET id = 1": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
		"VACUUM p": "DELTA_ONLY_OPERATION", "DELETE FROM nothing": "TABLE_OR_VIEW_NOT_FOUND",
		"DELETE FROM t WHERE id IN (SELECT 1)": "DELTA_UNSUPPORTED_SUBQUERY", "UPDATE t SET v = 1, v = 2": "DELTA_CONFLICT_SET_COLUMN",
		"UPDATE t SET zz = 1": "UNRESOLVED_COLUMN.WITH_SUGGESTION", "INSERT INTO t VALUES (1)": "DELTA_INSERT_COLUMN_ARITY_MISMATCH",
		"INSERT INTO t VALUES (NULL, 1)": "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "INSERT INTO t VALUES ('x', 1)": "CAST_INVALID_INPUT",
		"MERGE INTO t USING (VALUES (1, 1), (1, 2) AS s(id, v)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v": "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
		"MERGE INTO t USING (SELECT 1 id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *":                             "DELTA_MERGE_UNRESOLVED_EXPRESSION",
		"ALTER TABLE t ADD CONSTRAINT c CHECK (v > 1)":                                                                 "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION",
		"VACUUM t RETAIN 0 HOURS": "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "SELECT * FROM t VERSION AS OF 9": "DELTA_VERSION_NOT_FOUND",
		"SELECT * FROM p VERSION AS OF 1":        "UNSUPPORTED_FEATURE.TIME_TRAVEL",
		"SELECT * FROM t TIMESTAMP AS OF 'soon'": "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT", "SELECT * FROM t TIMESTAMP AS OF NULL": "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT",
		"INSERT INTO t BY NAME SELECT 1 AS id, 2 AS w": "DELTA_METADATA_MISMATCH", "INSERT INTO t BY NAME SELECT 1 AS id, 2 AS id": "DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA",
		"INSERT INTO t (id, w) VALUES (1, 2)": "UNRESOLVED_COLUMN.WITH_SUGGESTION", "SHOW CREATE TABLE t": "DELTA_OPERATION_NOT_ALLOWED",
		"SHOW PARTITIONS t": "DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE",
	} {
		s.fails(statement, want)
	}
	s.want("ALTER TABLE t ADD CONSTRAINT c CHECK (v > 0)")
	s.fails("INSERT INTO t VALUES (3, -1)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES")
	s.fails("UPDATE t SET v = 0 WHERE id = 1", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES")
	s.want("SELECT * FROM t ORDER BY id", "1|1", "2|2")
}

// Rows of files that a statement has not touched stay where they are.
func TestDeltaFiles(t *testing.T) {
	s := newShell(t)
	path := t.TempDir() + "/t"
	at := fmt.Sprintf("delta.`%s`", path)
	s.want("CREATE TABLE " + at + " (id INT, p STRING) USING delta PARTITIONED BY (p)")
	for i := range 4 {
		s.want(fmt.Sprintf("INSERT INTO %s VALUES (%d, '%c')", at, i, 'a'+i%2))
	}
	before, _ := s.try("SELECT DISTINCT _metadata.file_name FROM " + at + " WHERE p = 'b'")
	s.want("DELETE FROM "+at+" WHERE p = 'a' AND id = 2", "1")
	s.want("OPTIMIZE "+at+" WHERE p = 'a'; SELECT id FROM "+at+" ORDER BY id", "0", "1", "3")
	after, _ := s.try("SELECT DISTINCT _metadata.file_name FROM " + at + " WHERE p = 'b'")
	if strings.Join(before, " ") != strings.Join(after, " ") {
		t.Errorf("files of another partition: %q, then %q", before, after)
	}
	s.want("SET spark.databricks.delta.retentionDurationCheck.enabled = false; VACUUM "+at+" RETAIN 0 HOURS; SELECT count(*) FROM "+at, "3")
	files := 0
	for _, p := range []string{"a", "b"} {
		entries, err := os.ReadDir(path + "/p=" + p)
		if err != nil {
			t.Fatal(err)
		}
		files += len(entries)
	}
	if files != 3 {
		t.Errorf("%d files after VACUUM", files)
	}
}

func TestDeltaAlter(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (id INT, k STRING, st STRUCT<x: INT>) USING delta; INSERT INTO t VALUES (1, 'a', named_struct('x', 1))")
	s.want("ALTER TABLE t ADD COLUMNS (v INT COMMENT 'c' AFTER id, st.y INT); SELECT * FROM t", "1|<nil>|a|[1 <nil>]")
	s.want("ALTER TABLE t ALTER COLUMN k FIRST; SELECT * FROM t", "a|1|<nil>|[1 <nil>]")
	for statement, want := range map[string]string{
		"ALTER TABLE t ADD COLUMNS (v INT)":                                       "FIELD_ALREADY_EXISTS",
		"ALTER TABLE t RENAME COLUMN k TO kk":                                     "DELTA_UNSUPPORTED_RENAME_COLUMN",
		"ALTER TABLE t DROP COLUMN k":                                             "DELTA_UNSUPPORTED_DROP_COLUMN",
		"ALTER TABLE t ALTER COLUMN id TYPE BIGINT":                               "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
		"ALTER TABLE t SET TBLPROPERTIES ('delta.nonsense' = '1')":                "DELTA_UNKNOWN_CONFIGURATION",
		"ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'may')":            "UNSUPPORTED_TABLE_CHANGE",
		"ALTER TABLE t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'long')": "DELTA_INVALID_INTERVAL",
	} {
		s.fails(statement, want)
	}
	// With names of their own in files columns can be renamed and dropped, also in a table that had none.
	s.want("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name'); ALTER TABLE t RENAME COLUMN k TO kk; ALTER TABLE t DROP COLUMN v")
	s.want("INSERT INTO t VALUES ('b', 2, named_struct('x', 2, 'y', 3)); SELECT * FROM t ORDER BY id", "a|1|[1 <nil>]", "b|2|[2 3]")
}

// A table is described by what its log says, under its name in the catalog and by its path.
func TestDeltaPartitions(t *testing.T) {
	s := newShell(t)
	byPath := "delta.`" + t.TempDir() + "/t`"
	for _, table := range []string{"t", byPath} {
		s.want("CREATE TABLE " + table + " (id INT, k INT, d DATE, v INT) USING delta PARTITIONED BY (k, d)")
		s.want("SHOW PARTITIONS " + table)
		s.want("INSERT INTO " + table + " VALUES (1, 5, DATE'2026-01-02', 1), (2, 6, NULL, 2), (3, 5, NULL, 3), (4, 5, NULL, 3)")
		s.want("SHOW PARTITIONS "+table, "5|2026-01-02", "5|<nil>", "6|<nil>")
		s.want("SHOW PARTITIONS "+table+" PARTITION (k = 5)", "5|2026-01-02", "5|<nil>")
		s.fails("SHOW PARTITIONS "+table+" PARTITION (v = 5)", "PARTITIONS_NOT_FOUND")
		s.want("DESCRIBE "+table, "id|int|<nil>", "k|int|<nil>", "d|date|<nil>", "v|int|<nil>",
			"# Partition Information||", "# col_name|data_type|comment", "k|int|<nil>", "d|date|<nil>")
		s.want("ALTER TABLE " + table + " SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
		s.fails("ALTER TABLE "+table+" DROP COLUMN k", "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN")
	}
	s.fails("ANALYZE TABLE "+byPath+" COMPUTE STATISTICS", "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE")
}

// OPTIMIZE writes small files together, ZORDER BY any file anew, REORG only those with deleted rows.
func TestDeltaOptimize(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	s.want("INSERT INTO t SELECT id FROM range(0, 10, 1, 1); INSERT INTO t SELECT id FROM range(10, 20, 1, 1); DELETE FROM t WHERE id IN (3, 5)", "2")
	metrics := func(statement, fields, want string) {
		t.Helper()
		rows, condition := s.try(statement)
		if condition != "" || len(rows) != 1 || !strings.Contains(rows[0], want) {
			t.Errorf("%s: %s %s, want %s with %s", statement, rows, condition, fields, want)
		}
	}
	metrics("REORG TABLE t APPLY (PURGE)", "files added, removed", "[1 1 ")
	metrics("REORG TABLE t APPLY (PURGE)", "files added, removed", "[0 0 ")
	metrics("OPTIMIZE t", "files added, removed", "[1 2 ")
	metrics("OPTIMIZE t", "files added, removed", "[0 0 ")
	metrics("OPTIMIZE t ZORDER BY (id)", "files added, removed", "[1 1 ")
	s.want("SELECT count(*), sum(id) FROM t", "18|182")
}

// The feed has what became of each row, also where a version rewrites files with rows that stay, marks rows as deleted or takes whole files.
func TestDeltaChangeFeed(t *testing.T) {
	for _, vectors := range []string{"false", "true"} {
		s := newShell(t)
		s.want("CREATE TABLE t (id INT, v STRING, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', " +
			"'delta.enableDeletionVectors' = '" + vectors + "')")
		version := 0
		change := func(statement string, feed ...string) {
			t.Helper()
			if _, condition := s.try(statement); condition != "" {
				t.Fatalf("%s: %s", statement, condition)
			}
			version++
			s.want(fmt.Sprintf("SELECT _change_type, id, v, p FROM table_changes('t', %d, %d) ORDER BY id, _change_type", version, version), feed...)
		}
		change("INSERT INTO t VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 1)", "insert|1|a|0", "insert|2|b|0", "insert|3|c|1")
		change("UPDATE t SET v = upper(v), p = 2 WHERE id = 2", "update_postimage|2|B|2", "update_preimage|2|b|0")
		change("DELETE FROM t WHERE id = 1", "delete|1|a|0")
		change("DELETE FROM t WHERE p = 1", "delete|3|c|1")
		change("INSERT INTO t VALUES (4, 'd', 2), (5, 'e', 2), (6, 'f', 3)", "insert|4|d|2", "insert|5|e|2", "insert|6|f|3")
		change(`MERGE INTO t USING (VALUES (2, 'x'), (4, 'y'), (7, 'z') AS s(id, v)) s ON t.id = s.id WHEN MATCHED AND s.v = 'x' THEN DELETE
			WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, s.v, 9)
			WHEN NOT MATCHED BY SOURCE AND t.id = 6 THEN UPDATE SET v = 'n'`,
			"delete|2|B|2", "update_postimage|4|y|2", "update_preimage|4|d|2", "update_postimage|6|n|3", "update_preimage|6|f|3", "insert|7|z|9")
		change("INSERT INTO t REPLACE WHERE id >= 5 SELECT 8, 'r', 2", "delete|5|e|2", "delete|6|n|3", "delete|7|z|9", "insert|8|r|2")
		change("OPTIMIZE t")
		change("DELETE FROM t", "delete|4|y|2", "delete|8|r|2")
		s.want("SELECT count(*) FROM table_changes('t', 1)", "22")
	}
}

// A field that is called like a partition column does not make a condition one on partitions.
func TestDeltaChangeFeedOfFields(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (id INT, st STRUCT<p: INT>, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
	s.want("INSERT INTO t SELECT id, named_struct('p', id), 0 FROM range(1, 4, 1, 1)")
	s.want("DELETE FROM t WHERE st.p = 2", "1")
	s.want("SELECT _change_type, id FROM table_changes('t', 2)", "delete|2")
}

func TestDeltaChangeFeedRefusals(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (id INT) USING delta; INSERT INTO t VALUES (1); ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true'); INSERT INTO t VALUES (2)")
	s.want("SELECT id, _change_type, _commit_version FROM table_changes('t', 3)", "2|insert|3")
	for call, want := range map[string]string{
		"table_changes('t', 0)": "DELTA_MISSING_CHANGE_DATA", "table_changes('t', 9)": "DELTA_CDC_START_VERSION_AFTER_LATEST",
		"table_changes('t', 3, 2)": "DELTA_INVALID_CDC_RANGE", "table_changes('nothing', 0)": "TABLE_OR_VIEW_NOT_FOUND", "table_changes('t')": "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
	} {
		s.fails("SELECT * FROM "+call, want)
	}
}
