package analyze

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// views is a catalog of temp views; their plans are resolved.
type views map[string]plan.Node

func (v views) LookupView(parts []string) (plan.Node, bool) {
	n, ok := v[strings.ToLower(strings.Join(parts, "."))]
	return n, ok
}

func (v views) LookupTable(context.Context, *plan.Named) (plan.Node, error) { return nil, nil }

func (v views) LookupRemote(string) (plan.Node, bool) { return nil, false }

func scan(ddl string, stream bool) *plan.Scan {
	s, err := types.ParseDDL(ddl)
	if err != nil {
		panic(err)
	}
	return &plan.Scan{ID: plan.NewID(), Name: "test", Out: plan.Attrs(s), Stream: stream}
}

// catalog has a batch view t, a stream s and a stream w with a watermark of five minutes on ts.
func catalog() views {
	const ddl = "ts TIMESTAMP, k STRING, v INT, d DOUBLE, st STRUCT<a: INT, b: STRING>, arr ARRAY<INT>, m MAP<STRING, INT>, n TIMESTAMP_NTZ"
	w := scan(ddl, true)
	return views{
		"t": scan(ddl, false), "u": scan("k STRING, x INT, v BIGINT", false), "s": scan(ddl, true),
		"w": &plan.Watermark{Col: w.Out[0], Delay: types.Interval{Micros: 300e6}, DelayText: "5 minutes", Child: w, ID: plan.NewID()},
	}
}

func analyzer() *Analyzer { return New(catalog(), Conf{ANSI: true}, source.Env{}) }

func resolve(t *testing.T, query string) (plan.Node, error) {
	t.Helper()
	return resolveWith(t, catalog(), query)
}

func resolveWith(t *testing.T, cat views, query string) (plan.Node, error) {
	t.Helper()
	n, err := sql.ParseQuery(query, sql.Options{})
	if err != nil {
		t.Fatalf("parse %s: %v", query, err)
	}
	return New(cat, Conf{ANSI: true}, source.Env{}).Resolve(t.Context(), n)
}

var number = regexp.MustCompile(`#\d+`)

// tree is a plan's text with identities numbered in order of appearance.
func tree(n plan.Node) string {
	ids := map[string]string{}
	return number.ReplaceAllStringFunc(strings.TrimRight(plan.TreeString(n), "\n"), func(s string) string {
		if ids[s] == "" {
			ids[s] = "#" + strconv.Itoa(len(ids))
		}
		return ids[s]
	})
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"select * from u", "k STRING,x INT,v BIGINT"},
		{"select v + 1, v as z, st.a, st.a + 1 from t", "`(v + 1)` INT,z INT,a INT,`(st.a + 1)` INT"},
		{"select cast(v as string), cast(v + 1 as string) from t", "v STRING,`CAST((v + 1) AS STRING)` STRING"},
		{"select count(*), sum(v), avg(v) from t", "`count(1)` BIGINT NOT NULL,`sum(v)` BIGINT,`avg(v)` DOUBLE"},
		{"select k, count(*) c from t group by k", "k STRING,c BIGINT NOT NULL"},
		{"select window(ts, '10 minutes'), count(*) from t group by 1", "window STRUCT<start: TIMESTAMP, end: TIMESTAMP> NOT NULL,`count(1)` BIGINT NOT NULL"},
		{"select window.start, window.end from (select window(ts, '10 minutes') from t)", "start TIMESTAMP,end TIMESTAMP"},
		{"select case when v > 1 then 'a' when v > 2 then 'b' end from t", "`CASE WHEN (v > 1) THEN a WHEN (v > 2) THEN b END` STRING"},
		{"select if(v > 1, v, 2.5) x, coalesce(v, 1) y, nvl(k, 'z') z from t", "x DECIMAL(11,1),y INT NOT NULL,z STRING NOT NULL"},
		{"select nullif(v, 1), v between 1 and 2 from t", "`nullif(v, 1)` INT,`between(v, 1, 2)` BOOLEAN"},
		{"select x.k, y.x from t x join u y on x.k = y.k", "k STRING,x INT"},
		{"select * from u a join u b using (k)", "k STRING,x INT,v BIGINT,x INT,v BIGINT"},
		{"select * from u a full join (select k, x xx from u) b using (k)", "k STRING,x INT,v BIGINT,xx INT"},
		{"select k, v from t union all select k, v from u", "k STRING,v BIGINT"},
		{"select explode(arr) from t", "col INT"},
		{"select k, explode(m) from t", "k STRING,key STRING NOT NULL,value INT"},
		{"select k, q from t lateral view explode(arr) e as q", "k STRING,q INT"},
		{"select v + 1 as a, a * 2 as b from t", "a INT,b INT"},
		{"select arr[0], m['a'] from t", "`arr[0]` INT,`m[a]` INT"},
		{"select struct(k, v as z, 1) s from t", "s STRUCT<k: STRING, z: INT, col3: INT NOT NULL> NOT NULL"},
		{
			"select transform(arr, x -> x + 1) a, filter(arr, x -> x > 1) b, aggregate(arr, 0, (a, x) -> a + x) c from t",
			"a ARRAY<INT>,b ARRAY<INT>,c INT",
		},
		{
			"select k, row_number() over (partition by k order by v) r, lag(v) over (order by v) from t",
			"k STRING,r INT NOT NULL,`lag(v, 1, NULL) OVER (ORDER BY v ASC NULLS FIRST ROWS BETWEEN -1 FOLLOWING AND -1 FOLLOWING)` INT",
		},
		{"select k, v, count(*) c, grouping(k) g, grouping_id() i from t group by cube(k, v)", "k STRING,v INT,c BIGINT NOT NULL,g TINYINT NOT NULL,i BIGINT NOT NULL"},
		{"values (1, 'a'), (2.5, null)", "col1 DECIMAL(11,1) NOT NULL,col2 STRING"},
		{"select * from range(3)", "id BIGINT NOT NULL"},
		{"with q as (select v x from t) select x from q", "x INT"},
		{"select t.* except (ts, st, arr, m, n, d) from t", "k STRING,v INT"},
		{"select st.* from t", "a INT,b STRING"},
		{"select k, sum(v) from t group by k having count(*) > 1 order by max(d)", "k STRING,`sum(v)` BIGINT"},
		{"select v from t order by d, k", "v INT"},
		{"select k as kk, sum(v) from t group by kk", "kk STRING,`sum(v)` BIGINT"},
		{"select k, sum(v) from t group by all", "k STRING,`sum(v)` BIGINT"},
		{"select * from (select k, v from t) pivot (sum(v) for k in ('a', 'b' as bb))", "a BIGINT,bb BIGINT"},
		{
			"select k in (select k from u), exists (select 1 from u), (select max(x) from u) from t",
			"`(k IN (listquery()))` BOOLEAN,`exists()` BOOLEAN NOT NULL,`scalarsubquery()` INT",
		},
		{"select * from u unpivot (val for name in (x, v))", "k STRING,name STRING NOT NULL,val BIGINT"},
	} {
		n, err := resolve(t, c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if got := plan.Schema(n).DDL(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.query, got, c.want)
		}
		if !plan.Resolved(n) {
			t.Errorf("%s: not resolved:\n%s", c.query, plan.TreeString(n))
		}
		checkIDs(t, c.query, n)
	}
}

// checkIDs checks that every node uses columns of its children only.
func checkIDs(t *testing.T, query string, n plan.Node) {
	t.Helper()
	plan.Walk(n, func(n plan.Node) bool {
		have := plan.IDSet{}
		for _, c := range n.Children() {
			for id := range plan.OutputSet(c) {
				have[id] = struct{}{}
			}
		}
		for _, e := range n.Exprs() {
			for id := range plan.References(e) {
				if len(n.Children()) > 0 && !have.Has(id) {
					t.Errorf("%s: column #%d of %s is not in its input", query, id, n.Label())
				}
			}
		}
		return true
	})
}

func TestErrors(t *testing.T) {
	type params = map[string]string
	for _, c := range []struct {
		query, class string
		want         params
	}{
		{"select nope from u", "UNRESOLVED_COLUMN.WITH_SUGGESTION", params{"objectName": "`nope`", "proposal": "`k`, `v`, `x`"}},
		{"select nope", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", params{"objectName": "`nope`"}},
		{"select a.k from u a join u b", "", nil},
		{"select k from u a join u b", "AMBIGUOUS_REFERENCE", params{"name": "`k`", "referenceNames": "[`a`.`k`, `b`.`k`]"}},
		{"select * from nope", "TABLE_OR_VIEW_NOT_FOUND", params{"relationName": "`nope`"}},
		{"select z.* from u", "CANNOT_RESOLVE_STAR_EXPAND", params{"targetString": "`z`", "columns": "`k`, `x`, `v`"}},
		{"select foo(k) from u", "UNRESOLVED_ROUTINE", params{"routineName": "`foo`"}},
		{"select sum(x), k from u", "MISSING_GROUP_BY", nil},
		{"select k, x + 1 from u group by k", "MISSING_AGGREGATION", params{"expression": `"x"`, "expressionAnyValue": `"any_value(x)"`}},
		{"select sum(sum(x)) from u", "NESTED_AGGREGATE_FUNCTION", nil},
		{"select count(*) from u group by sum(x)", "GROUP_BY_AGGREGATE", params{"sqlExpr": "sum(u.x)"}},
		{"select k from u where sum(x) > 1", "INVALID_WHERE_CONDITION", params{"condition": `"(sum(x) > 1)"`, "expressionList": "sum(u.x)"}},
		{"select k from u where x", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", params{"filter": `"x"`, "type": `"INT"`}},
		{"select k from u group by 3", "GROUP_BY_POS_OUT_OF_RANGE", params{"index": "3", "size": "1"}},
		{"select k from u order by 3", "ORDER_BY_POS_OUT_OF_RANGE", params{"index": "3", "size": "1"}},
		{"select st.zz from t", "FIELD_NOT_FOUND", params{"fieldName": "`zz`", "fields": "`a`, `b`"}},
		{"select v.zz from t", "INVALID_EXTRACT_BASE_FIELD_TYPE", params{"base": `"v"`, "other": `"INT"`}},
		{
			"select k from u union select k, x from u", "NUM_COLUMNS_MISMATCH",
			params{"operator": "UNION", "firstNumColumns": "1", "invalidOrdinalNum": "second", "invalidNumColumns": "2"},
		},
		{
			"select x from u union select array(x) from u", "INCOMPATIBLE_COLUMN_TYPE",
			params{"dataType1": `"ARRAY<INT>"`, "dataType2": `"INT"`, "columnOrdinalNumber": "first", "tableOrdinalNumber": "second"},
		},
		{
			"select explode(v) from t", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
			params{"sqlExpr": `"explode(v)"`, "requiredType": `("ARRAY" or "MAP")`, "inputType": `"INT"`, "paramIndex": "first"},
		},
		{"select explode(arr) + 1 from t", "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", params{"expression": `"(explode(arr) + 1)"`}},
		{"select row_number() from t", "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", params{"funcName": `"row_number()"`}},
		{
			"select k from u a join u b using (zz)", "UNRESOLVED_USING_COLUMN_FOR_JOIN",
			params{"colName": "`zz`", "side": "left", "suggestion": "`k`, `v`, `x`"},
		},
		{"select a.k from u a join u b on a.x", "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", params{"conditionType": `"INT"`}},
		{"select a.k from u a join u b on a.k = b.k and rand() < 1", "INVALID_NON_DETERMINISTIC_EXPRESSIONS", nil},
		{"select grouping(k) from u", "UNSUPPORTED_GROUPING_EXPRESSION", nil},
		{
			"select window(v, '10 minutes') from t", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
			params{"sqlExpr": `"window(v, 600000000, 600000000, 0)"`, "inputSql": `"v"`, "inputType": `"INT"`},
		},
		{
			"select window(ts, '-10 minutes') from t", "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
			params{"exprName": "`window_duration`", "currentValue": "-600000000L", "valueRange": "(0, 9223372036854775807]"},
		},
		{
			"select window(ts, '10 minutes', '11 minutes') from t", "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
			params{"leftExprName": "`slide_duration`", "constraint": "<=", "rightExprValue": "600000000L"},
		},
		{
			"select window(ts, '10 minutes', '5 minutes', '-6 minutes') from t", "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
			params{"leftExprName": "`abs(start_time)`", "leftExprValue": "360000000L", "constraint": "<", "rightExprValue": "300000000L"},
		},
		{"select window(ts, '1 month') from t", "INVALID_TIME_WINDOW.MONTHS", nil},
		{"select window(ts, '106751992 days') from t", "FAILED_FUNCTION_CALL", params{"funcName": "`window`"}},
		{"select window(ts, '1 hour', '400000000 days') from t", "FAILED_FUNCTION_CALL", params{"funcName": "`window`"}},
		{"select window(ts, '5') from t", "CANNOT_PARSE_INTERVAL", nil},
		{"select window(ts, '5 minutes'), window(ts, '6 minutes') from t", "INVALID_TIME_WINDOW.SEVERAL", nil},
		{"select window(ts) from t", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", params{"functionName": "`window`", "expectedNum": "[2, 3, 4]", "actualNum": "1"}},
		{"select window_time(ts) from t", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", params{"requiredType": `"STRUCT"`}},
		{"select window_time(st) from t", "INVALID_TIME_WINDOW.NOT_A_WINDOW", nil},
		{"select k from u limit -1", "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", params{"name": "limit", "expr": `"-1"`, "v": "-1"}},
		{"select x from u limit x", "INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE", params{"name": "limit", "expr": `"x"`}},
		{
			"select k from u where x in (select k, x from u)", "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH",
			params{"leftLength": "1", "leftColumns": `"x"`, "rightLength": "2", "rightColumns": `"k", "x"`},
		},
		{"select (select k, x from u)", "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN", params{"number": "2"}},
		{"select filter(arr, x -> x + 1) from t", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", params{"requiredType": `"BOOLEAN"`, "paramIndex": "second"}},
	} {
		_, err := resolve(t, c.query)
		if c.class == "" {
			if err != nil {
				t.Errorf("%s: %v", c.query, err)
			}
			continue
		}
		e, ok := err.(*errclass.Error)
		if !ok || e.Class != c.class {
			t.Errorf("%s: got %v, want %s", c.query, err, c.class)
			continue
		}
		got := params{}
		for k := range c.want {
			got[k] = e.Params[k]
		}
		if d := cmp.Diff(c.want, got); len(c.want) > 0 && d != "" {
			t.Errorf("%s: parameters (-want +got):\n%s", c.query, d)
		}
	}
}
