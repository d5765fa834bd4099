package session_test

import (
	"os"
	"path/filepath"
	"testing"
)

// The answers are those of Apache Spark 4.2.0, but for arrays, structs and maps in Parquet, which it cannot read there.

// Rows that were written before a column was added have its default, whatever the default is by now.
func TestDefaultsOfAddedColumns(t *testing.T) {
	for _, format := range []string{"parquet", "csv", "json"} {
		t.Run(format, func(t *testing.T) {
			s := newShell(t)
			s.want("SET TIME ZONE 'UTC'; CREATE TABLE t (a INT, p STRING) USING " + format + " PARTITIONED BY (p); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
			s.want("ALTER TABLE t ADD COLUMN c INT DEFAULT 5; SELECT * FROM t ORDER BY a", "1|5|x", "2|5|y")
			s.want("ALTER TABLE t ALTER COLUMN c SET DEFAULT 6; INSERT INTO t (a, p) VALUES (3, 'x'); INSERT INTO t VALUES (5, DEFAULT, 'y')")
			s.want("SELECT * FROM t ORDER BY a", "1|5|x", "2|5|y", "3|6|x", "5|6|y")
			s.want("SELECT c, count(*), count(c) FROM t GROUP BY c ORDER BY c", "5|2|2", "6|2|2")
			s.want("SELECT a FROM t WHERE c = 5 ORDER BY a", "1", "2")
			s.want("SELECT a FROM t WHERE c > 5 ORDER BY a", "3", "5")
			s.want("SELECT a FROM t WHERE c IS NULL ORDER BY a")
			s.want("SELECT count(c), min(c), max(c) FROM t", "4|5|6")
			s.want("ALTER TABLE t ALTER COLUMN c DROP DEFAULT; SELECT c FROM t ORDER BY a", "5", "5", "6", "6")
			s.want(`ALTER TABLE t ADD COLUMNS (s STRING DEFAULT 'it''s', d DATE DEFAULT '2020-01-02', t TIMESTAMP DEFAULT TIMESTAMP'2020-01-02 03:04:05',
				e DECIMAL(5,2) DEFAULT 1.5, l DOUBLE DEFAULT 1, b BOOLEAN DEFAULT true, n INT DEFAULT NULL, z INT, f FLOAT DEFAULT CAST('NaN' AS FLOAT), i BIGINT DEFAULT 1 + 1)`)
			s.want("SELECT s, CAST(d AS STRING), CAST(t AS STRING), CAST(e AS STRING), l, b, n, z, f, i FROM t WHERE a = 1",
				"it's|2020-01-02|2020-01-02 03:04:05|1.50|1|true|<nil>|<nil>|NaN|2")
			s.want("SELECT a FROM t WHERE s = 'it''s' AND d = DATE'2020-01-02' ORDER BY a", "1", "2", "3", "5")
			s.want("ALTER TABLE t ADD COLUMN now TIMESTAMP DEFAULT current_timestamp(); SELECT count(DISTINCT now), min(now) > TIMESTAMP'2020-01-01' FROM t", "1|true")
			s.want("INSERT OVERWRITE t PARTITION (p = 'x') (a) VALUES (9); SELECT a, c, s, n FROM t ORDER BY a", "2|5|it's|<nil>", "5|6|it's|<nil>", "9|<nil>|it's|<nil>")
			s.want("CREATE TABLE u LIKE t; INSERT INTO u (a, p) VALUES (1, 'z'); SELECT CAST(d AS STRING) FROM u", "2020-01-02")
			s.want("CREATE TABLE w USING "+format+" AS SELECT a, c, s FROM t; ALTER TABLE w ADD COLUMN e INT DEFAULT 1 + 1; SELECT * FROM w ORDER BY a",
				"2|5|it's|2", "5|6|it's|2", "9|<nil>|it's|2")
			if format != "csv" {
				s.want(`ALTER TABLE t ADD COLUMNS (ar ARRAY<STRING> DEFAULT array('q', NULL), st STRUCT<x: INT, y: STRING> DEFAULT struct(1, 'q'),
					mp MAP<STRING, INT> DEFAULT map('k', 1)); SELECT DISTINCT to_json(struct(ar, st, mp)), st.x FROM t`,
					`{"ar":["q",null],"st":{"x":1,"y":"q"},"mp":{"k":1}}|1`)
			}
		})
	}
}

// A record of CSV or JSON may lack what others in its file have. In CSV a value that cannot be read is absent, too; a malformed record
// of JSON has no defaults.
func TestDefaultsOfAbsentValues(t *testing.T) {
	texts := map[string]string{
		"csv":  "1\n2,7\n3,\n4,x\n5,8,9\ny,3\n",
		"json": `{"a":1}` + "\n" + `{"a":2,"c":null}` + "\n" + `{"a":3,"c":"x"}` + "\n" + `{"a":"y","c":4}` + "\nbad\n" + `{"c":8}` + "\n" + `{"a":"y"}` + "\n",
	}
	rows := map[string][]string{
		"csv":  {"1|5|w", "2|7|w", "3|<nil>|w", "4|5|w", "5|8|9", "<nil>|3|w"},
		"json": {"1|5|w", "2|<nil>|w", "3|<nil>|<nil>", "<nil>|4|<nil>", "<nil>|<nil>|<nil>", "<nil>|8|w", "<nil>|<nil>|<nil>"},
	}
	column := map[string][]string{
		"csv":  {"5", "7", "<nil>", "5", "8", "3"},
		"json": {"5", "<nil>", "<nil>", "4", "<nil>", "8", "5"},
	}
	for format, text := range texts {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "f."+format), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			s := newShell(t)
			s.want("CREATE TABLE t (a INT, c INT DEFAULT 5, s STRING DEFAULT 'w') USING " + format + " LOCATION '" + dir + "'")
			s.want("SELECT * FROM t", rows[format]...)
			s.want("SELECT c FROM t", column[format]...)
		})
	}
}

// Nulls of a column with a default are written, so that they are not taken for absent ones.
func TestNullsBesideDefaults(t *testing.T) {
	s := newShell(t)
	s.want("CREATE TABLE t (a INT) USING json; INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN c INT DEFAULT 5; INSERT INTO t VALUES (2, NULL)")
	s.want("ALTER TABLE t ALTER COLUMN c DROP DEFAULT; INSERT INTO t VALUES (3, NULL); INSERT INTO t (a) VALUES (4)")
	s.want("ALTER TABLE t ADD COLUMN z INT; ALTER TABLE t ALTER COLUMN z SET DEFAULT 9; INSERT INTO t VALUES (5, NULL, NULL)")
	s.want("SELECT * FROM t ORDER BY a", "1|5|<nil>", "2|<nil>|<nil>", "3|<nil>|<nil>", "4|<nil>|<nil>", "5|<nil>|<nil>")
}

func TestFormatsWithoutDefaults(t *testing.T) {
	s := newShell(t)
	s.fails("CREATE TABLE t (a INT, c INT DEFAULT 5) USING xml OPTIONS (rowTag 'r')", "DEFAULT_UNSUPPORTED")
}
