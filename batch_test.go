package millrace_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/types"
)

func asError(err error) (*millrace.Error, bool) { return errors.AsType[*millrace.Error](err) }

func TestRange(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		expect(t, spark.Range(1, 8, 3), row(int64(1)), row(int64(4)), row(int64(7)))
		expect(t, spark.Range(3, 3, 1))
		n, err := spark.Range(0, 1000, 1).Count(ctx(t))
		if err != nil || n != 1000 {
			t.Errorf("count = %d, %v", n, err)
		}
	})
}

// people is a small table.
func people(spark *millrace.Session) *millrace.DataFrame {
	type person struct {
		Name string
		Age  *int32
		City string
	}
	age := func(n int32) *int32 { return &n }
	return spark.CreateDataFrame([]person{{"Ann", age(31), "Rome"}, {"Bob", age(25), "Oslo"}, {"Cyd", nil, "Rome"}, {"Dan", age(40), "Oslo"}})
}

func TestProjections(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		p := people(spark)
		expect(t, p.Select("name", f.Col("age").Add(1).As("next")).Limit(2), row("Ann", int32(32)), row("Bob", int32(26)))
		expect(t, p.SelectExpr("upper(name) AS n", "age * 2L AS d").Limit(1), row("ANN", int64(62)))
		expect(t, p.Select([]string{"city", "name"}).Limit(1), row("Rome", "Ann"))
		expect(t, p.Select("*").Limit(1), row("Ann", int32(31), "Rome"))
		expect(t, p.Where(f.Col("age").Gt(30)).Select("name"), row("Ann"), row("Dan"))
		expect(t, p.Filter("age IS NULL").Select("name"), row("Cyd"))
		expect(t, p.WithColumn("old", f.Col("age").Ge(31)).Drop("city", f.Col("age")).Limit(2), row("Ann", true), row("Bob", false))
		expect(t, p.WithColumnRenamed("name", "n").Select("n").Limit(1), row("Ann"))
		expect(t, p.ToDF("a", "b", "c").Select("c").Limit(1), row("Rome"))
		expect(t, p.Alias("p").Select("p.name").Limit(1), row("Ann"))
		expect(t, p.OrderBy(f.Col("age").Desc(), "name").Select("name"), row("Dan"), row("Ann"), row("Bob"), row("Cyd"))
		expect(t, p.OrderBy(f.Col("age").AscNullsLast()).Select("name"), row("Bob"), row("Ann"), row("Dan"), row("Cyd"))
		expect(t, p.OrderBy("name").Offset(1).Limit(2).Select("name"), row("Bob"), row("Cyd"))
		expect(t, p.OrderBy("name").Tail(1).Select("name"), row("Dan"))
		expect(t, p.Select("city").Distinct().OrderBy("city"), row("Oslo"), row("Rome"))
		expect(t, p.DropDuplicates("city").Select("city").OrderBy("city"), row("Oslo"), row("Rome"))
		expect(t, p.FillNA(0, "age").Where("age = 0").Select("name"), row("Cyd"))
		expect(t, p.DropNA().Select("name"), row("Ann"), row("Bob"), row("Dan"))
		expect(t, p.Transform(func(d *millrace.DataFrame) *millrace.DataFrame { return d.Limit(1) }).Select("name"), row("Ann"))
	})
}

func TestColumns(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := sql(t, spark, "SELECT 7 AS a, 2 AS b, 'Hello' AS s, CAST(NULL AS INT) AS n, true AS t, named_struct('x', 1, 'y', 'z') AS st, array(1, 2, 3) AS ar, map('k', 5) AS m")
		a, b, s, n := f.Col("a"), f.Col("b"), f.Col("s"), f.Col("n")
		for _, tt := range []struct {
			c    millrace.Column
			want any
		}{
			{a.Add(b), int32(9)},
			{a.Sub(b), int32(5)},
			{a.Mul(b), int32(14)},
			{a.Div(b), 3.5},
			{a.Mod(b), int32(1)},
			{a.Neg(), int32(-7)},
			{a.Eq(7), true},
			{a.NotEq(7), false},
			{n.Eq(7), nil},
			{n.EqNullSafe(nil), true},
			{a.Lt(b), false},
			{a.Le(7), true},
			{a.Gt(b).And(f.Col("t")), true},
			{a.Lt(b).Or(f.Col("t")), true},
			{f.Col("t").Not(), false},
			{a.BitAnd(3), int32(3)},
			{a.BitOr(8), int32(15)},
			{a.BitXor(1), int32(6)},
			{n.IsNull(), true},
			{n.IsNotNull(), false},
			{a.In(1, 7), true},
			{a.In([]int{1, 2}), false},
			{a.Between(1, 6), false},
			{s.Like("He%"), true},
			{s.ILike("he%"), true},
			{s.RLike("l+o$"), true},
			{s.StartsWith("He"), true},
			{s.EndsWith("x"), false},
			{s.Contains("ll"), true},
			{s.Substr(2, 3), "ell"},
			{a.Cast("string"), "7"},
			{a.Cast(types.Long), int64(7)},
			{s.TryCast("int"), nil},
			{f.Col("st").GetField("y"), "z"},
			{f.Col("st.x"), int32(1)},
			{f.Col("ar").GetItem(0), int32(1)},
			{f.Col("m").GetItem("k"), int32(5)},
			{f.Col("st").WithField("x", f.Lit(3)).GetField("x"), int32(3)},
			{f.Col("st").DropFields("x"), []any{"z"}},
			{f.When(a.Gt(100), "big").When(a.Gt(5), "medium").Otherwise("small"), "medium"},
			{f.When(a.Gt(100), "big"), nil},
			{f.Lit([]string{"a", "b"}), []any{"a", "b"}},
			{f.Lit([]string{}), []any{}},
			{f.Lit(map[string]int64{"b": 2, "a": 1}), types.MapValue{{Key: "a", Value: int64(1)}, {Key: "b", Value: int64(2)}}},
			{f.Lit(int64(1)), int64(1)},
			{f.Lit(1), int32(1)},
			{f.Lit(1 << 40), int64(1 << 40)},
			{f.Expr("a + b * 2"), int32(11)},
			{f.Call("concat", s, f.Lit("!")), "Hello!"},
		} {
			got := collect(t, d.Select(tt.c.As("c")))
			if diff := cmp.Diff(rows(row(tt.want)), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.c, diff)
			}
		}
	})
}

func TestFunctions(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := sql(t, spark, "SELECT 'a,b' AS s, array(3, 1, 2) AS ar, map('k', 5) AS m, TIMESTAMP '2026-01-02 03:04:05' AS ts, DATE '2026-01-31' AS d")
		for _, tt := range []struct {
			c    millrace.Column
			want any
		}{
			{f.Split("s", ","), []any{"a", "b"}},
			{f.Upper("s"), "A,B"},
			{f.ConcatWS("-", "s", "s"), "a,b-a,b"},
			{f.Coalesce(f.Lit(nil), f.Lit(3)), int32(3)},
			{f.Size("ar"), int32(3)},
			{f.SortArray("ar", false), []any{int32(3), int32(2), int32(1)}},
			{f.ElementAt("m", "k"), int32(5)},
			{f.Year("ts"), int32(2026)},
			{f.DateAdd("d", 1), "2026-02-01 00:00:00 UTC"},
			{f.DateFormat("ts", "yyyy/MM/dd"), "2026/01/02"},
			{f.ToTimestamp(f.Lit("2026-01-01 00:00:01")), "2026-01-01 00:00:01 UTC"},
			{f.Window("ts", "10 minutes").GetField("start"), "2026-01-02 03:00:00 UTC"},
			{f.Round(f.Lit(2.345), 2), 2.35},
			{f.Greatest(f.Lit(1), f.Lit(3)), int32(3)},
			{f.GetJSONObject(f.Lit(`{"a": {"b": 1}}`), "$.a.b"), "1"},
		} {
			got := collect(t, d.Select(tt.c.As("c")))
			if diff := cmp.Diff(rows(row(tt.want)), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.c, diff)
			}
		}
	})
}

func TestLambdas(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		d := sql(t, spark, "SELECT array(3, 1, 2) AS ar")
		for _, tt := range []struct {
			c    millrace.Column
			want any
		}{
			{f.Transform("ar", func(x millrace.Column) millrace.Column { return x.Add(1) }), []any{int32(4), int32(2), int32(3)}},
			{f.Filter("ar", func(x millrace.Column) millrace.Column { return x.Gt(1) }), []any{int32(3), int32(2)}},
			{
				f.Aggregate("ar", 0, func(sum, x millrace.Column) millrace.Column { return sum.Add(x) }, func(sum millrace.Column) millrace.Column { return sum.Mul(10) }),
				int32(60),
			},
			{ // lambdas inside lambdas keep their variables apart
				f.Transform("ar", func(x millrace.Column) millrace.Column {
					return f.Aggregate("ar", 0, func(sum, y millrace.Column) millrace.Column { return sum.Add(x.Mul(y)) })
				}),
				[]any{int32(18), int32(6), int32(12)},
			},
		} {
			got := collect(t, d.Select(tt.c.As("c")))
			if diff := cmp.Diff(rows(row(tt.want)), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.c, diff)
			}
		}
	})
}

func TestGroups(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		p := people(spark)
		expect(t, p.GroupBy("city").Agg(f.Count("*").As("n"), f.Sum("age").As("s"), f.Max("name").As("m")).OrderBy("city"),
			row("Oslo", int64(2), int64(65), "Dan"), row("Rome", int64(2), int64(31), "Cyd"))
		expect(t, p.GroupBy("city").Count().OrderBy("city"), row("Oslo", int64(2)), row("Rome", int64(2)))
		expect(t, p.GroupBy().Avg("age"), row(32.0))
		expect(t, p.Agg(f.CountDistinct("city").As("c"), f.Min("age").As("m")), row(int64(2), int32(25)))
		expect(t, p.Rollup("city").Agg(f.Count("age").As("n")).OrderBy(f.Col("city").AscNullsLast()),
			row("Oslo", int64(2)), row("Rome", int64(1)), row(nil, int64(3)))
		expect(t, p.Cube("city").Count().OrderBy(f.Col("city").AscNullsLast()),
			row("Oslo", int64(2)), row("Rome", int64(2)), row(nil, int64(4)))
		expect(t, p.GroupBy("city").Pivot("name", "Ann", "Bob").Agg(f.Max("age")).OrderBy("city"),
			row("Oslo", nil, int32(25)), row("Rome", int32(31), nil))
	})
}

func TestWindowFunctions(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		p := people(spark)
		w := millrace.NewWindow().PartitionBy("city").OrderBy(f.Col("age").Desc())
		expect(t, p.Select("name", f.RowNumber().Over(w).As("r"), f.Sum("age").Over(w.RowsBetween(millrace.UnboundedPreceding, millrace.CurrentRow)).As("s")).OrderBy("name"),
			row("Ann", int32(1), int64(31)), row("Bob", int32(2), int64(65)), row("Cyd", int32(2), int64(31)), row("Dan", int32(1), int64(40)))
	})
}

func TestJoinsAndSets(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		type left struct{ ID, A int32 }
		type right struct {
			ID int32
			B  string
		}
		l := spark.CreateDataFrame([]left{{1, 10}, {2, 20}})
		r := spark.CreateDataFrame([]right{{2, "x"}, {3, "y"}})
		expect(t, l.Join(r, "id", millrace.InnerJoin), row(int32(2), int32(20), "x"))
		expect(t, l.Join(r, l.Col("id").Eq(r.Col("id")), millrace.LeftOuterJoin).OrderBy(l.Col("id")),
			row(int32(1), int32(10), nil, nil), row(int32(2), int32(20), int32(2), "x"))
		expect(t, l.Join(r, []string{"id"}, millrace.LeftAntiJoin), row(int32(1), int32(10)))
		expect(t, l.Join(r, []millrace.Column{l.Col("id").Eq(r.Col("id")), r.Col("b").Eq("z")}, millrace.LeftSemiJoin))
		expect(t, l.Join(r, "id", millrace.FullOuterJoin).OrderBy("id"),
			row(int32(1), int32(10), nil), row(int32(2), int32(20), "x"), row(int32(3), nil, "y"))
		expect(t, l.CrossJoin(r).Agg(f.Count("*").As("n")), row(int64(4)))

		ids := l.Select("id")
		expect(t, ids.Union(r.Select("id")).OrderBy("id"), row(int32(1)), row(int32(2)), row(int32(2)), row(int32(3)))
		expect(t, ids.Intersect(r.Select("id")), row(int32(2)))
		expect(t, ids.Except(r.Select("id")), row(int32(1)))
		expect(t, l.UnionByName(r, true).OrderBy("id", "a"),
			row(int32(1), int32(10), nil), row(int32(2), nil, "x"), row(int32(2), int32(20), nil), row(int32(3), nil, "y"))
	})
}

func TestSQL(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		expect(t, sql(t, spark, "SELECT id FROM range(3) WHERE id > ?", 0), row(int64(1)), row(int64(2)))
		expect(t, sql(t, spark, "SELECT :a + :b AS s", millrace.NamedArgs{"a": 1, "b": 2}), row(int32(3)))
		p := people(spark)
		if err := p.CreateOrReplaceTempView(ctx(t), "people"); err != nil {
			t.Fatal(err)
		}
		expect(t, spark.Table("people").Where("city = 'Oslo'").Select("name"), row("Bob"), row("Dan"))
		expect(t, sql(t, spark, "SELECT name FROM people WHERE age = 40"), row("Dan"))
		if err := p.CreateTempView(ctx(t), "people"); err == nil {
			t.Error("a second view of the same name was made")
		}

		sql(t, spark, "SET x.y = z")
		if v, err := spark.Conf().Get(ctx(t), "x.y"); err != nil || v != "z" {
			t.Errorf("x.y = %q, %v", v, err)
		}
	})
}

// Spark refuses all but Create for tables of its own catalog, so only our engine is asked.
func TestWriteToTables(t *testing.T) {
	spark := connect(t, "local[2]", warehouse(t))
	d := sql(t, spark, "SELECT * FROM VALUES (1, 'x', 10), (2, 'y', 20) AS t(id, p, v)")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(d.WriteTo("w").Using("parquet").PartitionedBy("p").Create(ctx(t)))
	must(sql(t, spark, "SELECT 'z' AS p, 30 AS v, 3 AS id").WriteTo("w").Append(ctx(t))) // by name
	must(sql(t, spark, "SELECT 4 AS id, 'x' AS p, 40 AS v").WriteTo("w").OverwritePartitions(ctx(t)))
	expect(t, spark.Table("w").OrderBy("id"), row(int32(2), int32(20), "y"), row(int32(3), int32(30), "z"), row(int32(4), int32(40), "x"))
	must(d.WriteTo("w").Using("parquet").CreateOrReplace(ctx(t)))
	expect(t, spark.Table("w").Where("id = 1"), row(int32(1), "x", int32(10)))

	for condition, err := range map[string]error{
		"TABLE_OR_VIEW_NOT_FOUND":         d.WriteTo("none").Using("parquet").Replace(ctx(t)),
		"TABLE_OR_VIEW_ALREADY_EXISTS":    d.WriteTo("w").Using("parquet").Create(ctx(t)),
		"UNSUPPORTED_PARTITION_TRANSFORM": d.WriteTo("u").Using("parquet").PartitionedBy(f.Years("id")).Create(ctx(t)),
		"COLUMN_NOT_DEFINED_IN_TABLE":     d.WriteTo("u").Using("parquet").PartitionedBy("none").Create(ctx(t)),
	} {
		if e, _ := asError(err); e == nil || e.Class != condition {
			t.Errorf("%v, want %s", err, condition)
		}
	}
}

func TestCatalog(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		if err := spark.Range(0, 1, 1).CreateOrReplaceTempView(ctx(t), "api_view"); err != nil {
			t.Fatal(err)
		}
		c := spark.Catalog()
		tables, err := c.ListTables(ctx(t), "", "")
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, tab := range tables {
			found = found || tab.Name == "api_view" && tab.IsTemporary && tab.TableType == "TEMPORARY"
		}
		if !found {
			t.Errorf("api_view is not listed: %+v", tables)
		}
		for _, want := range []bool{true, false} {
			if there, err := c.TableExists(ctx(t), "api_view"); err != nil || there != want {
				t.Errorf("exists = %v, %v, want %v", there, err, want)
			}
			if dropped, err := c.DropTempView(ctx(t), "api_view"); err != nil || dropped != want {
				t.Errorf("dropped = %v, %v, want %v", dropped, err, want)
			}
		}
		if db, err := c.CurrentDatabase(ctx(t)); err != nil || db != "default" {
			t.Errorf("database %q, %v", db, err)
		}
	})
}

func TestSchemasAndTexts(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		p := people(spark)
		s, err := p.Schema(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		want := types.Struct(types.Field{Name: "name", Type: types.String}, types.NewField("age", types.Integer), types.Field{Name: "city", Type: types.String})
		if !types.Equal(want, s) {
			t.Errorf("schema %s, want %s", s.DDL(), want.DDL())
		}
		tree, err := p.TreeString(ctx(t), 0)
		if want := "root\n |-- name: string (nullable = false)\n |-- age: integer (nullable = true)\n |-- city: string (nullable = false)\n"; err != nil || tree != want {
			t.Errorf("tree %q, %v, want %q", tree, err, want)
		}
		show, err := p.Select("name", "age").Limit(2).ShowString(ctx(t), millrace.ShowOptions{})
		if want := "+----+---+\n|name|age|\n+----+---+\n| Ann| 31|\n| Bob| 25|\n+----+---+\n"; err != nil || show != want {
			t.Errorf("show %q, %v, want %q", show, err, want)
		}
		show, err = p.Select(f.Lit("abcdefghijklmnopqrstuvwxyz").As("s")).ShowString(ctx(t), millrace.ShowOptions{Rows: 1, Truncate: 5})
		if err != nil || !strings.Contains(show, "|ab...|") || !strings.Contains(show, "only showing top 1 row") {
			t.Errorf("show %q, %v", show, err)
		}
		text, err := p.Where("age > 1").Explain(ctx(t), millrace.ExplainExtended)
		if err != nil || !strings.Contains(text, "== Analyzed Logical Plan ==") {
			t.Errorf("explain %q, %v", text, err)
		}
		if streaming, err := p.IsStreaming(ctx(t)); err != nil || streaming {
			t.Errorf("streaming = %v, %v", streaming, err)
		}
		if names, err := p.Columns(ctx(t)); err != nil || !cmp.Equal(names, []string{"name", "age", "city"}) {
			t.Errorf("columns %q, %v", names, err)
		}
	})
}

func TestJSONFiles(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		out := filepath.Join(t.TempDir(), "out")
		p := people(spark)
		if err := p.Write().PartitionBy("city").JSON(ctx(t), out); err != nil {
			t.Fatal(err)
		}
		if err := p.Write().JSON(ctx(t), out); err == nil {
			t.Error("a second write went through")
		}
		if err := p.Limit(1).Write().Mode(millrace.SaveAppend).PartitionBy("city").Format("json").Save(ctx(t), out); err != nil {
			t.Fatal(err)
		}
		back := spark.Read().SchemaDDL("name STRING, age INT, city STRING").JSON(out)
		expect(t, back.GroupBy("city").Count().OrderBy("city"), row("Oslo", int64(2)), row("Rome", int64(3)))
	})
}

func TestCSVFiles(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		out := filepath.Join(t.TempDir(), "out")
		if err := people(spark).Write().Option("header", true).CSV(ctx(t), out); err != nil {
			t.Fatal(err)
		}
		expect(t, spark.Read().Options(map[string]string{"header": "true"}).CSV(out).Where("name = 'Cyd'"), row("Cyd", nil, "Rome"))
	})
}

func TestParquetFiles(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		out := filepath.Join(t.TempDir(), "out")
		if err := people(spark).Write().Mode(millrace.SaveOverwrite).Parquet(ctx(t), out); err != nil {
			t.Fatal(err)
		}
		expect(t, spark.Read().Parquet(out).OrderBy("name").Limit(1), row("Ann", int32(31), "Rome"))
	})
}

func TestTextFiles(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in"), "a.txt", "one\ntwo\n")
		expect(t, spark.Read().Text(filepath.Join(dir, "in")), row("one"), row("two"))
		if err := spark.Read().Text(filepath.Join(dir, "in")).Write().Text(ctx(t), filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
		expect(t, spark.Read().Text(filepath.Join(dir, "out")), row("one"), row("two"))
	})
}

func TestObservation(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		o := millrace.NewObservation("stats")
		d := spark.Range(0, 10, 1).ObserveInto(o, f.Count("*").As("n"), f.Max("id").As("m"))
		collect(t, d)
		got, err := o.Get(ctx(t))
		if diff := cmp.Diff(map[string]any{"n": int64(10), "m": int64(9)}, got); diff != "" || err != nil {
			t.Errorf("metrics (-want +got):\n%s%v", diff, err)
		}
	})
}
