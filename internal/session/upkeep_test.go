package session_test

import (
	"testing"
)

// Partitions that were there before their table belong to it when somebody says so, or writes to them.
func TestPartitionsOfOthers(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	s.want("create table w (v int, k int) using json partitioned by (k) location '" + dir + "'; insert into w values (0, 0), (1, 1)")
	s.want("create table p (v int, k int) using json partitioned by (k) location '" + dir + "'; select * from p")
	s.want("show partitions p")
	s.want("insert into p values (9, 1); select * from p order by v", "1|1", "9|1")
	s.want("show partitions p", "k=1")
	s.want("msck repair table p drop partitions; show partitions p", "k=1")
	s.want("msck repair table p; select * from p order by v", "0|0", "1|1", "9|1")
	s.want("show partitions p", "k=0", "k=1")
	s.want("repair table p sync partitions; select count(*) from p", "3")

	s.want("create table q (v int, k int) using json partitioned by (k) location '" + dir + "'; cache table q; select * from q")
	s.want("msck repair table q add partitions; select count(*) from q", "3")
	s.want("create table n (v int) using json; create view vn as select 1 a")
	s.fails("msck repair table n", "NOT_A_PARTITIONED_TABLE")
	s.fails("msck repair table vn", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	s.fails("msck repair table nope", "TABLE_OR_VIEW_NOT_FOUND")
}

func TestAnalyzeTable(t *testing.T) {
	s := newShell(t)
	statistics := func(want string) {
		t.Helper()
		rows, condition := s.try("describe extended a")
		got := ""
		for _, r := range rows {
			if len(r) > 11 && r[:11] == "Statistics|" {
				got = r[11 : len(r)-1]
			}
		}
		if got != want || condition != "" {
			t.Errorf("statistics %q, want %q %s", got, want, condition)
		}
	}
	s.want("create table a (id int, s string) using csv; insert into a values (1, 'a'), (2, null)")
	statistics("")
	s.want("analyze table a compute statistics")
	statistics("7 bytes, 2 rows")
	s.want("insert into a values (3, 'c')")
	statistics("")
	s.want("analyze table a compute statistics noscan")
	statistics("11 bytes, 0 rows")
	s.want("analyze table a compute statistics for columns id, S")
	statistics("11 bytes, 3 rows")
	s.want("truncate table a")
	statistics("")
	s.want("analyze tables compute statistics; analyze tables in default compute statistics noscan; analyze table a compute statistics for all columns")
	statistics("0 bytes, 0 rows")
	s.want("create view va as select 1 a; create temp view tva as select 1 a")
	s.fails("analyze table a compute statistics for columns nope", "COLUMN_NOT_FOUND")
	s.fails("analyze table va compute statistics", "UNSUPPORTED_FEATURE.ANALYZE_VIEW")
	s.fails("analyze table tva compute statistics", "EXPECT_PERMANENT_VIEW_NOT_TEMP")
	s.fails("analyze table a compute statistics foo", "INVALID_SQL_SYNTAX.ANALYZE_TABLE_UNEXPECTED_NOSCAN")
	s.fails("analyze table a partition (x = 1) compute statistics", "PARTITIONS_NOT_FOUND")
	s.fails("analyze tables in nope compute statistics", "SCHEMA_NOT_FOUND")
}

// A function that is a class of the JVM can be made, described and dropped. It cannot be called.
func TestFunctionClasses(t *testing.T) {
	s := newShell(t)
	s.want("create function f as 'x.Y' using jar '/tmp/a.jar', file 'b'; describe function f", "Function: spark_catalog.default.f", "Class: x.Y", "Usage: N/A.")
	s.want("show user functions", "spark_catalog.default.f")
	s.want("create function if not exists f as 'x.Z'; create or replace function f as 'x.W'; describe function default.f",
		"Function: spark_catalog.default.f", "Class: x.W", "Usage: N/A.")
	s.fails("create function f as 'x.Y'", "ROUTINE_ALREADY_EXISTS")
	s.fails("select f(1)", "CANNOT_LOAD_FUNCTION_CLASS")
	s.fails("select * from f(1)", "CANNOT_LOAD_FUNCTION_CLASS")
	s.fails("create temporary function g as 'x.Y'", "CANNOT_LOAD_FUNCTION_CLASS")
	n, err := s.GetFunction([]string{"spark_catalog", "default", "F"})
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := s.Rows(t.Context(), n)
	if err != nil || len(rows) != 1 || rows[0][4] != "x.W" || rows[0][5] != false {
		t.Errorf("%v, %v", rows, err)
	}
	s.want("drop function f; drop function if exists f")
	s.fails("select f(1)", "UNRESOLVED_ROUTINE")
}
