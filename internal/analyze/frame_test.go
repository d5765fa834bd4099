package analyze

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Frames as a client builds them: every relation has a plan id, and df["a"] is a column of the relation with that id.

func tag(id int64, n plan.Node) plan.Node { return &plan.Tagged{PlanID: id, Child: n} }

func c(name string) *plan.Column { return &plan.Column{Parts: strings.Split(name, "."), PlanID: -1} }

func of(id int64, name string) *plan.Column { return &plan.Column{Parts: []string{name}, PlanID: id} }

func f(name string, args ...plan.Expr) *plan.Func {
	return &plan.Func{Name: []string{name}, Args: args}
}

func lit(v any) *plan.Literal {
	switch v.(type) {
	case string:
		return &plan.Literal{Value: v, T: types.String}
	case bool:
		return &plan.Literal{Value: v, T: types.Boolean}
	case nil:
		return &plan.Literal{T: types.Null}
	}
	return &plan.Literal{Value: v, T: types.Integer}
}

func as(e plan.Expr, name string) *plan.Alias { return &plan.Alias{Child: e, Name: name} }

func asc(e plan.Expr) *plan.SortOrder { return &plan.SortOrder{Child: e, NullsFirst: true} }

// df is a relation with the columns a, b INT under plan id 1.
func df() plan.Node { return tag(1, scan("a INT, b INT", false)) }

func sel(in plan.Node, cols ...plan.Expr) plan.Node { return &plan.Project{Cols: cols, Child: in} }

func TestFrames(t *testing.T) {
	aPlus := &plan.WithColumns{Cols: []*plan.Alias{as(f("+", of(1, "a"), lit(int32(1))), "a")}, Child: df()}
	d2 := func() plan.Node { return tag(2, &plan.Filter{Cond: f(">", c("a"), lit(int32(1))), Child: df()}) }
	join := func(cond plan.Expr) plan.Node { return &plan.Join{Left: df(), Right: d2(), Cond: cond} }
	using := &plan.Join{Left: df(), Right: d2(), Using: []string{"a"}}
	on := f("==", of(1, "a"), of(2, "a"))
	same := df()
	struc := tag(1, scan("s STRUCT<x: INT, y: STRUCT<z: INT>>", false))
	for _, tc := range []struct {
		name string
		n    plan.Node
		want string // schema or error class
	}{
		{"column of the input", sel(df(), of(1, "a")), "a INT"},
		{"column of another frame", sel(df(), of(9, "a")), "CANNOT_RESOLVE_DATAFRAME_COLUMN"},
		{"no such column of a frame", sel(df(), of(1, "zz")), "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"column below a union", sel(&plan.Union{Inputs: []plan.Node{df(), df()}}, of(1, "a")), "CANNOT_RESOLVE_DATAFRAME_COLUMN"},
		{"drop another frame's column", &plan.Drop{Cols: []plan.Expr{of(9, "a")}, Child: df()}, "CANNOT_RESOLVE_DATAFRAME_COLUMN"},
		{"aggregate of a frame's column over a grouping", &plan.Filter{
			Cond:  f(">", f("sum", of(1, "b")), lit(int32(1))),
			Child: tag(2, &plan.Aggregate{Keys: []plan.Expr{of(1, "a")}, KeysInOutput: true, Child: df()}),
		}, "a INT"},
		{"replaced column", sel(tag(3, aPlus), of(1, "a")), "CANNOT_RESOLVE_DATAFRAME_COLUMN"},
		{"replaced column in a filter", &plan.Filter{Cond: f(">", of(1, "a"), lit(int32(1))), Child: tag(3, aPlus)}, "a INT,b INT"},
		{"filter by a dropped column", &plan.Filter{Cond: f(">", of(1, "b"), lit(int32(2))), Child: sel(df(), c("a"))}, "a INT"},
		{"filter by a dropped name", &plan.Filter{Cond: f(">", c("b"), lit(int32(2))), Child: sel(df(), c("a"))}, "a INT"},
		{"sort by a dropped column", &plan.Sort{Orders: []*plan.SortOrder{asc(of(1, "b"))}, Global: true, Child: sel(df(), c("a"))}, "a INT"},
		{"sort by a dropped name", &plan.Sort{Orders: []*plan.SortOrder{asc(c("b"))}, Global: true, Child: sel(df(), c("a"))}, "a INT"},
		{"select a dropped column", sel(sel(df(), c("a")), of(1, "b")), "CANNOT_RESOLVE_DATAFRAME_COLUMN"},
		{"select a dropped name", sel(sel(df(), c("a")), c("b")), "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"self join, condition on itself", &plan.Join{Left: same, Right: same, Cond: f("==", of(1, "a"), of(1, "a"))}, "AMBIGUOUS_COLUMN_REFERENCE"},
		{"join with a descendant", join(on), "a INT,b INT,a INT,b INT"},
		{"ancestor's column above the join", sel(join(on), of(1, "a")), "AMBIGUOUS_COLUMN_REFERENCE"},
		{"descendant's column above the join", sel(join(on), of(2, "a")), "a INT"},
		{"plain name above the join", sel(join(on), c("a")), "AMBIGUOUS_REFERENCE"},
		{"right key of a USING join", sel(using, of(2, "a")), "a INT"},
		{"plain name of a USING key", sel(using, c("a")), "a INT"},
		{"aliased self join", sel(&plan.Join{
			Left: &plan.Aliased{Name: "x", Child: same}, Right: &plan.Aliased{Name: "y", Child: same},
			Cond: f("==", c("x.a"), c("y.a")),
		}, c("x.a"), c("y.b")), "a INT,b INT"},
		{"star of a frame", sel(join(on), &plan.Star{PlanID: 2}), "a INT,b INT"},
		{"with columns", &plan.WithColumns{Cols: []*plan.Alias{as(lit(int32(1)), "x"), as(c("b"), "A")}, Child: df()}, "A INT,b INT,x INT NOT NULL"},
		{"with columns, twice", &plan.WithColumns{Cols: []*plan.Alias{as(lit(int32(1)), "x"), as(c("b"), "X")}, Child: df()}, "COLUMN_ALREADY_EXISTS"},
		{
			"with columns, from each other", &plan.WithColumns{Cols: []*plan.Alias{as(lit(int32(1)), "x"), as(c("x"), "y")}, Child: df()},
			"UNRESOLVED_COLUMN.WITH_SUGGESTION",
		},
		{"drop", &plan.Drop{Cols: []plan.Expr{c("zz"), c("A")}, Child: df()}, "b INT"},
		{"drop a name that means two", &plan.Drop{Cols: []plan.Expr{c("a")}, Child: join(on)}, "AMBIGUOUS_REFERENCE"},
		{"drop all of a name", &plan.Drop{Names: []string{"A", "zz", "x.b"}, Child: join(on)}, "b INT,b INT"},
		{"drop what is no column", &plan.Drop{Cols: []plan.Expr{f("+", c("a"), lit(int32(1))), &plan.Star{PlanID: -1}}, Child: df()}, "a INT,b INT"},
		{"drop a frame's column", &plan.Drop{Cols: []plan.Expr{of(2, "a")}, Child: join(on)}, "a INT,b INT,b INT"},
		{"rename", &plan.Rename{From: []string{"zz", "A"}, To: []string{"q", "z"}, Child: df()}, "z INT,b INT"},
		{"to names", &plan.ToNames{Names: []string{"x", "y"}, Child: df()}, "x INT,y INT"},
		{"to too few names", &plan.ToNames{Names: []string{"x"}, Child: df()}, "ASSIGNMENT_ARITY_MISMATCH"},
		{"to schema", &plan.ToSchema{Schema: types.Struct(types.NewField("b", types.Long), types.NewField("z", types.String)), Child: df()}, "b BIGINT,z STRING"},
		{"to schema, not null", &plan.ToSchema{Schema: types.StructType{Fields: []types.Field{{Name: "b", Type: types.Long}}}, Child: df()}, "NULLABLE_COLUMN_OR_FIELD"},
		{
			"group", &plan.Aggregate{Keys: []plan.Expr{c("a")}, Aggs: []plan.Expr{as(f("count", lit(int32(1))), "count")}, KeysInOutput: true, Child: df()},
			"a INT,count BIGINT NOT NULL",
		},
		{
			"group by an alias", &plan.Aggregate{Keys: []plan.Expr{as(f("+", c("a"), lit(int32(1))), "k")}, Aggs: []plan.Expr{f("sum", c("b"))}, KeysInOutput: true, Child: df()},
			"k INT,`sum(b)` BIGINT",
		},
		{"group by an expression", &plan.Aggregate{Keys: []plan.Expr{f("+", c("a"), lit(int32(1)))}, KeysInOutput: true, Child: df()}, "`(a + 1)` INT"},
		{
			"rollup", &plan.Aggregate{Keys: []plan.Expr{c("a"), c("b")}, Aggs: []plan.Expr{f("count", lit(int32(1)))}, Kind: plan.GroupRollup, KeysInOutput: true, Child: df()},
			"a INT,b INT,`count(1)` BIGINT NOT NULL",
		},
		{
			"pivot", &plan.Aggregate{
				Keys: []plan.Expr{c("a")}, Aggs: []plan.Expr{as(f("sum", c("a")), "s"), f("max", c("b"))}, Kind: plan.GroupPivot,
				PivotCol: c("b"), PivotValues: []plan.Expr{lit(int32(2)), lit(int32(4))}, KeysInOutput: true, Child: df(),
			},
			"a INT,`2_s` BIGINT,`2_max(b)` INT,`4_s` BIGINT,`4_max(b)` INT",
		},
		{"select an aggregate", sel(df(), f("sum", c("a"))), "`sum(a)` BIGINT"},
		{"filter over a grouping", &plan.Filter{
			Cond:  f(">", f("sum", c("b")), lit(int32(1))),
			Child: &plan.Aggregate{Keys: []plan.Expr{c("a")}, KeysInOutput: true, Child: df()},
		}, "a INT"},
		{"union by name", &plan.Union{ByName: true, Inputs: []plan.Node{df(), sel(df(), c("b"), c("a"))}}, "a INT,b INT"},
		{"union by name, missing", &plan.Union{ByName: true, Inputs: []plan.Node{df(), sel(df(), c("a"))}}, "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES"},
		{
			"union by name, allowed missing", &plan.Union{ByName: true, AllowMissing: true, Inputs: []plan.Node{sel(df(), c("a")), sel(df(), c("b"), as(lit("x"), "z"))}},
			"a INT,b INT,z STRING",
		},
		{"drop duplicates", &plan.Dedup{Keys: []plan.Expr{c("A")}, Child: df()}, "a INT,b INT"},
		{"drop duplicates of nothing", &plan.Dedup{Keys: []plan.Expr{c("nope")}, Child: df()}, "CONNECT_INVALID_PLAN.UNRESOLVED_COLUMN_AMONG_FIELD_NAMES"},
		{"repartition by a name", &plan.Repartition{N: 3, Keys: []plan.Expr{c("a")}, Child: df()}, "a INT,b INT"},
		{"column pattern", sel(df(), &plan.ColumnRegex{Pattern: "[Bb]", PlanID: -1}), "b INT"},
		{"column pattern, possessive", sel(df(), &plan.ColumnRegex{Pattern: "(A)?+.+", PlanID: -1}), "b INT"},
		{"column pattern of a table", sel(&plan.Aliased{Name: "t", Child: df()}, &plan.ColumnRegex{Table: "T", Pattern: "a", PlanID: 1}), "a INT"},
		{"column pattern of another table", sel(&plan.Aliased{Name: "t", Child: df()}, &plan.ColumnRegex{Table: "u", Pattern: "a", PlanID: -1}, c("b")), "b INT"},
		{"with field", sel(struc, as(f("with_field", c("s"), lit("y.q"), lit("v")), "s")), "s STRUCT<x: INT, y: STRUCT<z: INT, q: STRING NOT NULL>>"},
		{"drop field", sel(struc, as(f("drop_field", c("s"), lit("x")), "s")), "s STRUCT<y: STRUCT<z: INT>>"},
		{"observe", &plan.Observe{Name: "m", Aggs: []plan.Expr{as(f("sum", c("a")), "x"), f("count", lit(int32(1)))}, Child: df()}, "a INT,b INT"},
		{"observe a column", &plan.Observe{Name: "m", Aggs: []plan.Expr{c("a")}, Child: df()}, "INVALID_OBSERVED_METRICS.NON_AGGREGATE_FUNC_ARG_IS_ATTRIBUTE"},
		{
			"observe distinct", &plan.Observe{Name: "m", Aggs: []plan.Expr{&plan.Func{Name: []string{"count"}, Args: []plan.Expr{c("a")}, Distinct: true}}, Child: df()},
			"INVALID_OBSERVED_METRICS.AGGREGATE_EXPRESSION_WITH_DISTINCT_UNSUPPORTED",
		},
		{"observe twice", &plan.Observe{
			Name: "m", Aggs: []plan.Expr{f("max", c("a"))},
			Child: &plan.Observe{Name: "m", Aggs: []plan.Expr{f("min", c("a"))}, Child: df()},
		}, "DUPLICATED_METRICS_NAME"},
	} {
		n, err := New(catalog(), Conf{ANSI: true}, source.Env{}).Resolve(t.Context(), tc.n)
		if err != nil {
			e, ok := err.(*errclass.Error)
			if !ok || e.Class != tc.want {
				t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
			}
			continue
		}
		if got := plan.Schema(n).DDL(); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
		checkIDs(t, tc.name, n)
		if strings.Contains(tree(n), "Tagged") || !plan.Resolved(n) {
			t.Errorf("%s: not finished:\n%s", tc.name, tree(n))
		}
	}
}

// A column that a source hides is read only where it is named, and * does not show it.
func TestHiddenColumns(t *testing.T) {
	file := func() *plan.Scan {
		s := scan("a INT, b INT", false)
		s.Hidden = plan.Attrs(types.Struct(types.NewField("_metadata", types.Struct(types.NewField("file_path", types.String)))))
		return s
	}
	for _, tc := range []struct {
		name string
		n    plan.Node
		want string
	}{
		{"star", sel(file(), &plan.Star{PlanID: -1}), "a INT,b INT"},
		{"named", sel(file(), c("a"), c("_metadata")), "a INT,_metadata STRUCT<file_path: STRING>"},
		{"a field of it", sel(file(), c("_metadata.file_path")), "file_path STRING"},
		{"star and it", sel(file(), &plan.Star{PlanID: -1}, c("_metadata")), "a INT,b INT,_metadata STRUCT<file_path: STRING>"},
		{"through a projection", sel(sel(file(), c("a")), c("a"), c("_metadata.file_path")), "a INT,file_path STRING"},
		{"in a filter", &plan.Filter{Cond: f("isnotnull", c("_metadata.file_path")), Child: file()}, "a INT,b INT"},
		{
			"not through a grouping", sel(&plan.Aggregate{Keys: []plan.Expr{c("a")}, KeysInOutput: true, Child: file()}, c("_metadata")),
			"UNRESOLVED_COLUMN.WITH_SUGGESTION",
		},
		{"as a function", sel(sel(file(), c("b")), f("input_file_name")), "`input_file_name()` STRING"},
		{"as a function where there is no file", sel(scan("a INT", false), f("input_file_name")), "`input_file_name()` STRING NOT NULL"},
		{
			"as a function beside a grouping", sel(&plan.Aggregate{Keys: []plan.Expr{c("a")}, KeysInOutput: true, Child: file()}, f("input_file_block_start")),
			"`input_file_block_start()` BIGINT NOT NULL",
		},
		{"in a union", &plan.Union{Inputs: []plan.Node{sel(file(), c("_metadata")), sel(file(), c("_metadata"))}}, "_metadata STRUCT<file_path: STRING>"},
	} {
		n, err := analyzer().Resolve(t.Context(), tc.n)
		got := ""
		if e, ok := err.(*errclass.Error); ok {
			got = e.Class
		} else {
			got = plan.Schema(n).DDL()
			checkIDs(t, tc.name, n)
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestTrees(t *testing.T) {
	for _, tc := range []struct{ query, want string }{
		{"select k, sum(v) s from t where v > 1 group by k having count(*) > 2 order by s limit 3", `
GlobalLimit 3
+- LocalLimit 3
   +- Sort [s#0L ASC NULLS FIRST], true
      +- Project [k#1, s#0L]
         +- Filter (count(1)#2L > cast(2 as bigint))
            +- Aggregate [k#1], [k#1, sum(v#3) AS s#0L, count(1) AS count(1)#2L]
               +- Filter (v#3 > 1)
                  +- SubqueryAlias t
                     +- View (` + "`t`" + `, [ts#4, k#1, v#3, d#5, st#6, arr#7, m#8, n#9])
                        +- Relation [ts#4, k#1, v#3, d#5, st#6, arr#7, m#8, n#9] test`},
		{"select window(ts, '10 minutes'), count(*) from w group by 1", `
~Aggregate [window#0-T300000ms], [window#0-T300000ms, count(1) AS count(1)#1L]
+- ~Project [time_window(ts#2-T300000ms, 600000000, 600000000, 0, 0) AS window#0, ts#2-T300000ms, k#3, v#4, d#5, st#6, arr#7, m#8, n#9]
   +- ~Filter isnotnull(ts#2-T300000ms)
      +- ~SubqueryAlias w
         +- ~View (` + "`w`" + `, [ts#2-T300000ms, k#3, v#4, d#5, st#6, arr#7, m#8, n#9])
            +- ~EventTimeWatermark ts#2: timestamp, 5 minutes
               +- ~StreamingRelationV2 test, [ts#2, k#3, v#4, d#5, st#6, arr#7, m#8, n#9]`},
		{"select a.x from u a join u b on a.k = b.k and a.v < 3", `
Project [x#0]
+- Join Inner, ((k#1 = k#2) AND (v#3L < cast(3 as bigint)))
   :- SubqueryAlias a
   :  +- SubqueryAlias u
   :     +- View (` + "`u`" + `, [k#1, x#0, v#3L])
   :        +- Relation [k#1, x#0, v#3L] test
   +- SubqueryAlias b
      +- SubqueryAlias u
         +- View (` + "`u`" + `, [k#2, x#4, v#5L])
            +- Relation [k#2, x#4, v#5L] test`},
	} {
		n, err := resolve(t, tc.query)
		if err != nil {
			t.Errorf("%s: %v", tc.query, err)
			continue
		}
		if got := tree(n); got != strings.TrimPrefix(tc.want, "\n") {
			t.Errorf("%s:\n%s", tc.query, got)
		}
	}
}
