package sql

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func column(parts ...string) *plan.Column { return &plan.Column{Parts: parts, PlanID: -1} }

func intLiteral(v int32) *plan.Literal { return &plan.Literal{Value: v, T: types.Integer} }

func name(parts ...string) []string { return parts }

func pointer[T any](v T) *T { return &v }

// selectOne is the plan of SELECT 1.
func selectOne() plan.Node {
	return &plan.Project{Cols: []plan.Expr{intLiteral(1)}, Child: &plan.OneRow{}}
}

func TestStatements(t *testing.T) {
	hour := types.DayTime(3_600_000_000)
	for text, want := range map[string]plan.Statement{
		"SELECT 1;":                      &plan.Query{Plan: selectOne()},
		"CREATE TEMP VIEW v AS SELECT 1": &plan.CreateView{Name: name("v"), Temp: true, Query: selectOne(), Text: "SELECT 1"},
		"create or replace global temporary view v (a comment 'x', b) comment 'c' tblproperties (k = 1, 'l' = 'm') as select 1": &plan.CreateView{
			Name: name("v"), Temp: true, Global: true, Replace: true, Columns: []plan.ViewColumn{{Name: "a", Comment: "x"}, {Name: "b"}},
			Comment: "c", Properties: map[string]string{"k": "1", "l": "m"}, Query: selectOne(), Text: "select 1",
		},
		"CREATE TEMPORARY VIEW v USING json OPTIONS (path '/in', multiLine true, a.b = -1.5)": &plan.CreateViewUsing{
			Name: name("v"), Format: "json", Options: map[string]string{"path": "/in", "multiLine": "true", "a.b": "-1.5"},
		},
		"CREATE OR REPLACE TEMP VIEW v (a INT, b STRING NOT NULL COMMENT 'c') USING org.x.Y": &plan.CreateViewUsing{
			Name: name("v"), Replace: true, Format: "org.x.Y", Schema: &types.StructType{Fields: []types.Field{
				{Name: "a", Type: types.Integer, Nullable: true},
				types.Field{Name: "b", Type: types.String}.WithMetadata(types.CommentKey, "c"),
			}},
		},
		"DROP VIEW IF EXISTS a.v":         &plan.DropView{Name: name("a", "v"), IfExists: true},
		"DROP TABLE `t 1` PURGE":          &plan.DropTable{Name: name("t 1"), Purge: true},
		"SET":                             &plan.ShowConf{},
		"SET -v":                          &plan.ShowConf{Verbose: true},
		"SET spark.sql.x":                 &plan.ShowConf{Key: "spark.sql.x"},
		"SET spark.sql.x = a 'b' # c ;":   &plan.SetConf{Key: "spark.sql.x", Value: "a 'b' # c"},
		"SET `a b`=`c`":                   &plan.SetConf{Key: "a b", Value: "c"},
		"SET TIME ZONE 'Europe/Berlin'":   &plan.SetTimeZone{Zone: "Europe/Berlin"},
		"SET TIME ZONE LOCAL":             &plan.SetTimeZone{Zone: "LOCAL"},
		"SET TIME ZONE INTERVAL 1 HOUR":   &plan.SetTimeZone{Offset: &hour},
		"SET CATALOG c":                   &plan.SetCatalog{Name: "c"},
		"RESET":                           &plan.ResetConf{},
		"RESET spark.sql.x;":              &plan.ResetConf{Key: "spark.sql.x"},
		"SHOW TABLES IN db LIKE 'a*'":     &plan.ShowTables{Namespace: name("db"), Pattern: "a*"},
		"SHOW TABLE EXTENDED LIKE 'a*'":   &plan.ShowTables{Pattern: "a*", Extended: true},
		"SHOW VIEWS":                      &plan.ShowViews{},
		"SHOW DATABASES 'd'":              &plan.ShowNamespaces{Pattern: "d"},
		"SHOW CURRENT NAMESPACE":          &plan.ShowCurrentNamespace{},
		"SHOW COLUMNS IN t FROM d":        &plan.ShowColumns{Table: name("t"), Namespace: name("d")},
		"SHOW TBLPROPERTIES t ('k')":      &plan.ShowProperties{Table: name("t"), Key: "k"},
		"SHOW CREATE TABLE t":             &plan.ShowCreateTable{Table: name("t")},
		"SHOW USER FUNCTIONS LIKE 'a*'":   &plan.ShowFunctions{Scope: "USER", Pattern: "a*"},
		"DESC t":                          &plan.DescribeTable{Table: name("t")},
		"DESCRIBE TABLE EXTENDED t a.b":   &plan.DescribeTable{Table: name("t"), Extended: true, Column: name("a", "b")},
		"DESCRIBE QUERY SELECT 1":         &plan.DescribeQuery{Query: selectOne()},
		"DESC FUNCTION EXTENDED +":        &plan.DescribeFunction{Name: name("+"), Extended: true},
		"DESCRIBE DATABASE d":             &plan.DescribeNamespace{Name: name("d")},
		"EXPLAIN FORMATTED SELECT 1":      &plan.Explain{Mode: "FORMATTED", Statement: &plan.Query{Plan: selectOne()}},
		"USE d":                           &plan.UseNamespace{Name: name("d")},
		"USE NAMESPACE c.d":               &plan.UseNamespace{Name: name("c", "d")},
		"CREATE DATABASE IF NOT EXISTS d": &plan.CreateNamespace{Name: name("d"), IfNotExists: true},
		"CREATE SCHEMA d COMMENT 'c' LOCATION '/d' WITH DBPROPERTIES (k = 'v')": &plan.CreateNamespace{
			Name: name("d"), Comment: "c", Location: pointer("/d"), Properties: map[string]string{"k": "v"},
		},
		"DROP SCHEMA IF EXISTS d CASCADE":    &plan.DropNamespace{Name: name("d"), IfExists: true, Cascade: true},
		"CACHE LAZY TABLE t AS SELECT 1":     &plan.CacheTable{Name: name("t"), Lazy: true, Query: selectOne()},
		"UNCACHE TABLE IF EXISTS t":          &plan.UncacheTable{Name: name("t"), IfExists: true},
		"CLEAR CACHE":                        &plan.ClearCache{},
		"REFRESH TABLE t":                    &plan.RefreshTable{Name: name("t")},
		"REFRESH '/a/b'":                     &plan.RefreshPath{Path: "/a/b"},
		"TRUNCATE TABLE t PARTITION (p=1)":   &plan.Truncate{Table: name("t"), Partition: []plan.PartitionValue{{Name: "p", Value: intLiteral(1)}}},
		"INSERT INTO t SELECT 1":             &plan.Insert{Table: &plan.Named{Parts: name("t")}, Query: selectOne()},
		"INSERT INTO TABLE a.t (x) SELECT 1": &plan.Insert{Table: &plan.Named{Parts: name("a", "t")}, Columns: name("x"), Query: selectOne()},
		"INSERT OVERWRITE t PARTITION (p = 1) IF NOT EXISTS SELECT 1": &plan.Insert{
			Table: &plan.Named{Parts: name("t")}, Overwrite: true, IfNotExists: true,
			Partition: []plan.PartitionValue{{Name: "p", Value: intLiteral(1)}}, Query: selectOne(),
		},
		"INSERT INTO t BY NAME (SELECT 1)": &plan.Insert{Table: &plan.Named{Parts: name("t")}, ByName: true, Query: selectOne()},
		"WITH c AS (SELECT 1) INSERT INTO t SELECT 1": &plan.Insert{
			Table: &plan.Named{Parts: name("t")}, Query: &plan.With{Names: name("c"), Plans: []plan.Node{selectOne()}, Child: selectOne()},
		},
		"INSERT INTO t REPLACE WHERE a SELECT 1": &plan.Insert{
			Table: &plan.Named{Parts: name("t")}, ReplaceWhere: column("a"), Query: selectOne(),
		},
		"CREATE TABLE IF NOT EXISTS d.t (a INT DEFAULT 1, b INT GENERATED ALWAYS AS (a), p STRING) USING parquet " +
			"OPTIONS (k 'v') PARTITIONED BY (p, bucket(4, a)) LOCATION '/t' COMMENT 'c' TBLPROPERTIES ('x.y' = 'z')": &plan.CreateTable{
			Name: name("d", "t"), IfNotExists: true, Format: "parquet", Location: "/t", Comment: "c",
			Columns: []plan.ColumnDef{
				{Field: types.NewField("a", types.Integer), Default: intLiteral(1), DefaultText: "1"},
				{Field: types.NewField("b", types.Integer), Generated: column("a"), GeneratedText: "a", Refused: "generated columns"},
				{Field: types.NewField("p", types.String)},
			},
			Options: map[string]string{"k": "v"}, Properties: map[string]string{"x.y": "z"},
			Partitions: []plan.Partitioning{
				{Name: "identity", Args: []plan.Expr{column("p")}}, {Name: "bucket", Args: []plan.Expr{intLiteral(4), column("a")}},
			},
		},
		"CREATE OR REPLACE TABLE t USING delta CLUSTER BY (a, b.c) AS SELECT 1": &plan.CreateTable{
			Name: name("t"), Replace: true, Format: "delta", ClusterBy: [][]string{{"a"}, {"b", "c"}}, Query: selectOne(),
		},
	} {
		got, err := ParseStatement(text, Options{})
		if err != nil {
			t.Errorf("%s\n\t%v", text, err)
			continue
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", text, d)
		}
	}
}

func TestParseIdentifier(t *testing.T) {
	for text, want := range map[string][]string{
		"a":             {"a"},
		"a.`b.c`.1x":    {"a", "b.c", "1x"},
		" `a``b` . c ":  {"a`b", "c"},
		"select.from":   {"select", "from"},
		"json.`/tmp/x`": {"json", "/tmp/x"},
	} {
		got, err := ParseIdentifier(text)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", text, err, d)
		}
	}
	for _, text := range []string{"", "a.", "a b", "`a", "'a'", "a..b", "1.5"} {
		if got, err := ParseIdentifier(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// Places are counted in characters, from 0, and end with the last one.
func TestPlaces(t *testing.T) {
	const text = "SELECT 'äöü', no_such + 1,\n  f(x)\nFROM t /* 😀 */ WHERE y IS NULL"
	q, err := ParseQuery(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := q.(*plan.Project)
	type place struct {
		Start, Stop int
		Fragment    string
	}
	at := func(o plan.Origin) place { return place{o.Context.Start, o.Context.Stop, o.Context.Fragment} }
	sum := p.Cols[1].(*plan.Func)
	got := []place{
		at(sum.Origin), at(sum.Args[0].(*plan.Column).Origin), at(p.Cols[2].(*plan.Func).Origin),
		at(p.Child.(*plan.Filter).Cond.(*plan.Func).Origin), at(p.Child.(*plan.Filter).Child.(*plan.Named).Origin),
	}
	want := []place{{14, 24, "no_such + 1"}, {14, 20, "no_such"}, {29, 32, "f(x)"}, {57, 63, "IS NULL"}, {39, 39, "t"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	e := errclass.New("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "objectName", "`no_such`").WithContext(*sum.Args[0].(*plan.Column).Origin.Context)
	summary := "== SQL (line 1, position 15) ==\nSELECT 'äöü', no_such + 1,\n              ^^^^^^^\n  f(x)\nFROM t /* 😀 */ WHERE y IS NULL\n"
	if d := cmp.Diff(summary, e.Context[0].Summary); d != "" {
		t.Errorf("summary (-want +got)\n%s", d)
	}
}

func TestParameters(t *testing.T) {
	opts := Options{
		Named:      map[string]plan.Expr{"a": intLiteral(1), "t": stringLiteral("db.t")},
		Positional: []plan.Expr{intLiteral(1), intLiteral(2)},
	}
	for text, want := range map[string]string{
		"SELECT :a + :a":                "SELECT (1 + 1)",
		"SELECT ?, x FROM t LIMIT ?":    "SELECT 1, `x` FROM t LIMIT 2",
		"SELECT * FROM IDENTIFIER(:t)":  "SELECT * FROM db.t",
		"SELECT IDENTIFIER(:t || '.c')": "SELECT db.t.c",
		"SELECT * FROM t WHERE a = :a":  "SELECT * FROM t WHERE (a = 1)",
	} {
		q, err := ParseQuery(text, opts)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := FormatQuery(q); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"SELECT :b":            "UNBOUND_SQL_PARAMETER [:b]",
		"SELECT ?, ?, ?":       "UNBOUND_SQL_PARAMETER [?]",
		"SELECT :a, ?":         "INVALID_QUERY_MIXED_QUERY_PARAMETERS [?]",
		"SELECT IDENTIFIER(a)": "NOT_A_CONSTANT_STRING.NOT_CONSTANT [a]",
	} {
		_, err := ParseQuery(text, opts)
		if got := describe(err); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, got, want)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	const text = `SELECT window.start AS start, user, sum(amount * 1.5) AS total, count(*) AS n FROM events
		WHERE kind IN ('a', 'b') AND ts BETWEEN TIMESTAMP '2026-01-01' AND TIMESTAMP '2026-02-01' OR NOT cancelled
		GROUP BY window(ts, '10 minutes'), user HAVING sum(amount) > 10 ORDER BY total DESC LIMIT 10`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseStatement(text, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
