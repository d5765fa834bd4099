package millrace_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// ok takes the value of a call that must not fail.
func ok[T any](t *testing.T) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestReshaping(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := sql(t, spark, "SELECT * FROM VALUES ('x', 1, 10L), ('y', 2, 20L) AS t(k, a, b)")
		expect(t, d.Unpivot([]any{"k"}, []any{"a"}, "name", "value").OrderBy("k"), row("x", "a", int32(1)), row("y", "a", int32(2)))
		expect(t, d.Unpivot([]any{"k"}, nil, "name", "value").OrderBy("k", "name"),
			row("x", "a", int64(1)), row("x", "b", int64(10)), row("y", "a", int64(2)), row("y", "b", int64(20)))
		expect(t, d.Transpose(), row("a", int64(1), int64(2)), row("b", int64(10), int64(20)))
		expect(t, d.Select("a", "b").Transpose("b"), row("a", int32(1), int32(2)))
		if err := spark.Conf().Set(ctx(t), "spark.sql.transposeMaxValues", "1"); err != nil {
			t.Fatal(err)
		}
		expect(t, d.Limit(1).Transpose(), row("a", int64(1)), row("b", int64(10)))
		if _, err := d.Transpose().Collect(ctx(t)); !errclass.Has(err, "TRANSPOSE_EXCEED_ROW_LIMIT") {
			t.Errorf("too many rows: %v", err)
		}
		expect(t, d.WithColumnsRenamed(map[string]string{"a": "x", "none": "y"}).Select("x").Limit(1), row(int32(1)))
		expect(t, d.ToJSON(), row(`{"k":"x","a":1,"b":10}`), row(`{"k":"y","a":2,"b":20}`))
		expect(t, d.OrderBy("k").ZipWithIndex("i").Select("k", "i"), row("x", int64(0)), row("y", int64(1)))
		expect(t, d.Select(d.ColRegex("`[ab]`")).Limit(1), row(int32(1), int64(10)))
		expect(t, d.GroupingSets([][]any{{"k"}, {}}, "k").Agg(f.Sum("a").As("s")).OrderBy(f.AscNullsLast("k")), row("x", int64(1)), row("y", int64(2)), row(nil, int64(3)))
		expect(t, d.GroupBy().Mean("a"), row(1.5))
		expect(t, d.RepartitionByRange(1, f.Desc("a")).Select("a"), row(int32(1)), row(int32(2)))
		s := ok[types.StructType](t)(d.WithMetadata("a", `{"unit":"s"}`).Schema(ctx(t)))
		if got := string(s.Fields[1].Metadata); got != `{"unit":"s"}` {
			t.Errorf("metadata %s", got)
		}
	})
}

func TestStatistics(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := sql(t, spark, "SELECT * FROM VALUES ('x', 1, 10.0D), ('y', 2, 20.0D), ('y', 3, 60.0D) AS t(k, a, b)")
		if got := ok[float64](t)(d.Cov(ctx(t), "a", "b")); got != 25 {
			t.Errorf("cov %v", got)
		}
		if got := ok[float64](t)(d.Corr(ctx(t), "a", "a")); got != 1 {
			t.Errorf("corr %v", got)
		}
		got := ok[[][]float64](t)(d.ApproxQuantile(ctx(t), []string{"a", "b"}, []float64{0, 0.5, 1}, 0))
		if diff := cmp.Diff([][]float64{{1, 2, 3}, {10, 20, 60}}, got); diff != "" {
			t.Error(diff)
		}
		expect(t, d.Crosstab("k", "a").OrderBy("k_a"), row("x", int64(1), int64(0), int64(0)), row("y", int64(0), int64(1), int64(1)))
		expect(t, d.FreqItems(0.6, "k"), row([]any{"y"}))
		expect(t, d.Select("a").Summary("min", "50%"), row("min", "1"), row("50%", "2"))
		expect(t, d.SampleBy("k", map[any]float64{"y": 1}, 7).Select("k"), row("y"), row("y"))
		var sum int64
		for _, part := range spark.Range(0, 100, 1).RandomSplit(3, 1, 3) {
			n := ok[int64](t)(part.Count(ctx(t)))
			if n == 0 {
				t.Error("a part is empty")
			}
			sum += n
		}
		if sum != 100 {
			t.Errorf("the parts have %d rows", sum)
		}
		if _, err := d.RandomSplit(1, -1)[0].Count(ctx(t)); err == nil {
			t.Error("a negative weight is no error")
		}
	})
}

func TestMissingValues(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := sql(t, spark, "SELECT * FROM VALUES ('x', 1, 1.5D), (NULL, 2, CAST('NaN' AS DOUBLE)), (NULL, NULL, NULL) AS t(k, a, b)")
		expect(t, d.FillNAs(map[string]any{"k": "?", "a": 0}).Select("k", "a"), row("x", int32(1)), row("?", int32(2)), row("?", int32(0)))
		expect(t, d.DropNAUnless(1).Select("a"), row(int32(1)), row(int32(2)))
		expect(t, d.Replace([]millrace.Replacement{{1, 10}, {2, nil}}, "a").Select("a"), row(int32(10)), row(nil), row(nil))
		expect(t, d.Replace([]millrace.Replacement{{"x", "z"}}).Select("k").Limit(1), row("z"))
	})
}

func TestSubqueries(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		orders := sql(t, spark, "SELECT * FROM VALUES (1, 'a', 10), (2, 'a', 20), (3, 'b', 5) AS t(id, who, amount)").Alias("o")
		known := sql(t, spark, "SELECT 'a' AS name").Alias("k")

		expect(t, orders.Select("id", orders.Agg(f.Max("amount")).Scalar().As("most")).OrderBy("id"),
			row(int32(1), int32(20)), row(int32(2), int32(20)), row(int32(3), int32(20)))
		expect(t, orders.Where(known.Where("name = o.who").Exists()).Select("id").OrderBy("id"), row(int32(1)), row(int32(2)))
		expect(t, orders.Where(known.Where("name = o.who").Exists().Not()).Select("id"), row(int32(3)))
		expect(t, orders.Where(known.InRows("who")).Select(orders.Col("id")).OrderBy("id"), row(int32(1)), row(int32(2)))

		// A subquery in a subquery, and a column of a DataFrame that has subqueries itself.
		rich := orders.Where(f.Col("amount").Ge(orders.Agg(f.Avg("amount")).Scalar()))
		expect(t, orders.Select(rich.Agg(f.Count("*")).Scalar().As("n")).Limit(1), row(int64(1)))
		expect(t, rich.Select(rich.Col("id")), row(int32(2)))
		if err := rich.CreateOrReplaceTempView(ctx(t), "rich_orders"); err != nil {
			t.Fatal(err)
		}
		expect(t, spark.Table("rich_orders").Select("id"), row(int32(2)))

		top := spark.Range(0, 3, 1).Where("id < o.id")
		expect(t, orders.LateralJoin(top, millrace.InnerJoin).Where("o.id = 2").Select("o.id", f.Col("amount")).OrderBy("amount"), row(int32(2), int32(20)), row(int32(2), int32(20)))
	})
}

func TestTableFunctions(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		expect(t, spark.TableFunction("explode", f.Array(f.Lit(1), f.Lit(2))), row(int32(1)), row(int32(2)))
		expect(t, spark.TableFunction("range", int64(2)), row(int64(0)), row(int64(1)))
		expect(t, spark.TableFunction("stack", 2, 1, 2), row(int32(1)), row(int32(2)))
	})
}

func TestKeeping(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := spark.Range(0, 3, 1).Select(f.Rand(1).As("r"))
		if err := d.Persist(ctx(t), millrace.StorageDiskOnly); err != nil {
			t.Fatal(err)
		}
		if l := ok[millrace.StorageLevel](t)(d.StorageLevel(ctx(t))); l != millrace.StorageDiskOnly {
			t.Errorf("kept as %+v", l)
		}
		if err := d.Unpersist(ctx(t)); err != nil {
			t.Fatal(err)
		}
		if l := ok[millrace.StorageLevel](t)(d.StorageLevel(ctx(t))); l != millrace.StorageNone {
			t.Errorf("kept as %+v", l)
		}
		kept := ok[*millrace.DataFrame](t)(spark.Range(0, 3, 1).Select(f.UUID().As("u")).LocalCheckpoint(ctx(t), true))
		first, second := ok[[]millrace.Row](t)(kept.Collect(ctx(t))), ok[[]millrace.Row](t)(kept.Collect(ctx(t)))
		if diff := cmp.Diff(first[0].Values(), second[0].Values()); diff != "" {
			t.Error(diff)
		}
		if !ok[bool](t)(d.SameSemantics(ctx(t), d)) {
			t.Error("a plan has not the semantics of itself")
		}
		if a, b := ok[int32](t)(d.SemanticHash(ctx(t))), ok[int32](t)(d.SemanticHash(ctx(t))); a != b {
			t.Errorf("hashes %d and %d", a, b)
		}
		if ok[bool](t)(spark.Range(0, 3, 1).IsLocal(ctx(t))) {
			t.Error("a range is not local")
		}
	})
}

func TestDatabasesAndTables(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		c := spark.Catalog()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(c.DropDatabase(ctx(t), "api_db", true, true))
		must(c.CreateDatabase(ctx(t), "api_db", false, nil))
		if db := ok[millrace.DatabaseInfo](t)(c.GetDatabase(ctx(t), "api_db")); db.Name != "api_db" || db.LocationURI == "" {
			t.Errorf("database %+v", db)
		}
		if n := len(ok[[]millrace.DatabaseInfo](t)(c.ListDatabases(ctx(t), "api_*"))); n != 1 {
			t.Errorf("%d databases", n)
		}
		must(c.SetCurrentDatabase(ctx(t), "api_db"))

		schema, err := types.ParseDDL("k STRING, v INT COMMENT 'how many'")
		must(err)
		table := ok[*millrace.DataFrame](t)(c.CreateTable(ctx(t), "counts", millrace.TableDefinition{Format: "parquet", Schema: schema, Description: "of things"}))
		must(sql(t, spark, "SELECT 'a' AS k, 1 AS v").Write().InsertInto(ctx(t), "counts"))
		expect(t, table, row("a", int32(1)))
		if info := ok[millrace.TableInfo](t)(c.GetTable(ctx(t), "counts")); info.Description == nil || *info.Description != "of things" || info.TableType != "MANAGED" {
			t.Errorf("table %+v", info)
		}
		if cols := ok[[]millrace.ColumnInfo](t)(c.ListColumns(ctx(t), "counts")); len(cols) != 2 || cols[1].DataType != "int" || cols[1].Description == nil {
			t.Errorf("columns %+v", cols)
		}
		must(c.TruncateTable(ctx(t), "counts"))
		expect(t, spark.Table("counts"))
		must(sql(t, spark, "SELECT 'b' AS k, 2 AS v, 'x' AS p").WriteTo("api_db.parts").Using("parquet").PartitionedBy("p").TableProperties(map[string]string{"owner.team": "api"}).Create(ctx(t)))
		if parts := ok[[]string](t)(c.ListPartitions(ctx(t), "parts")); !slices.Equal(parts, []string{"p=x"}) {
			t.Errorf("partitions %v", parts)
		}
		if props := ok[map[string]string](t)(c.TableProperties(ctx(t), "parts")); props["owner.team"] != "api" {
			t.Errorf("properties %v", props)
		}
		if text := ok[string](t)(c.CreateTableText(ctx(t), "parts")); len(text) == 0 {
			t.Error("no CREATE TABLE")
		}
		if files := ok[[]string](t)(spark.Table("parts").InputFiles(ctx(t))); len(files) != 1 {
			t.Errorf("files %v", files)
		}
		must(c.CacheTable(ctx(t), "parts"))
		if !ok[bool](t)(c.IsCached(ctx(t), "parts")) {
			t.Error("parts is not cached")
		}
		must(c.UncacheTable(ctx(t), "parts"))
		must(c.RefreshTable(ctx(t), "parts"))
		must(c.ClearCache(ctx(t)))
		if names := ok[[]millrace.TableInfo](t)(c.ListTables(ctx(t), "api_db", "c*")); len(names) != 1 || names[0].Name != "counts" {
			t.Errorf("tables %+v", names)
		}
		if fn := ok[millrace.FunctionInfo](t)(c.GetFunction(ctx(t), "abs")); fn.Name != "abs" {
			t.Errorf("function %+v", fn)
		}
		if !ok[bool](t)(c.FunctionExists(ctx(t), "abs")) || ok[bool](t)(c.DatabaseExists(ctx(t), "no_db")) {
			t.Error("what exists")
		}
		must(c.DropTable(ctx(t), "counts", false))
		must(c.DropTable(ctx(t), "counts", true))
		if err := c.DropTable(ctx(t), "counts", false); err == nil {
			t.Error("a table that is not there can be dropped")
		}
		must(c.SetCurrentDatabase(ctx(t), "default"))
		must(c.DropDatabase(ctx(t), "api_db", false, true))
		if name := ok[string](t)(c.CurrentCatalog(ctx(t))); name != "spark_catalog" {
			t.Errorf("catalog %s", name)
		}
		if _, err := c.GetDatabase(ctx(t), "api_db"); err == nil {
			t.Error("the database is still there")
		}
	})
}
