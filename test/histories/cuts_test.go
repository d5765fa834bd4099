package histories

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// cut is a query of which a stream, however it is cut, must give the table that a batch gives.
type cut struct {
	text string
	mode millrace.OutputMode
	// straight is set when the result depends on the order of rows: then one worker reads one split into one partition.
	straight bool
}

// TestCuts: a query without state gives as a stream what it gives as a batch, and so does an aggregation in complete mode, whatever
// functions it is made of, wherever the input is cut into batches and the query is stopped or loses power. A query that fails over the
// table fails over the stream.
func TestCuts(t *testing.T) {
	tally := map[string]int{}
	defer func() { t.Logf("what became of the queries: %v", tally) }()
	forAsLongAs(t, checks/4, func(t *rapid.T) {
		cols, err := types.ParseDDL(broad)
		if err != nil {
			t.Fatal(err)
		}
		c := drawCut(newTerms(t, cols))
		opts := settings(t)
		if c.straight {
			opts = append(opts, milltest.Workers(1), milltest.Splits(1), milltest.Partitions(1))
		}
		opts = append(opts, milltest.Conf("spark.sql.ansi.enabled", fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "ansi") == 0)))
		w := &world{Engine: milltest.New(t, opts...), t: t}
		w.e = w.Stream(broad)
		w.view(w.Session.CreateDataFrameDDL([][]any{{1, "one"}, {2, "two"}, {2, "deux"}, {nil, "none"}}, "ua INT, us STRING"), "u")
		var units [][]types.Row
		id := 0
		for range rapid.IntRange(1, 5).Draw(t, "units") {
			var rows []types.Row
			for range rapid.IntRange(0, 5).Draw(t, "rows") {
				rows = append(rows, broadRow(t, id))
				id++
			}
			units = append(units, rows)
		}
		tally[compareCut(w, c, units)]++
	})
}

// compareCut runs a query both ways and says what came of it.
func compareCut(w *world, c cut, units [][]types.Row) string {
	t := w.t
	rows := slices.Concat(units...)
	list := make([][]any, len(rows))
	for i, r := range rows {
		list[i] = r
	}
	w.view(w.Session.CreateDataFrameDDL(list, broad), "e")
	df, err := w.Session.SQL(context.Background(), c.text)
	if err != nil {
		return "refused" // what the generator takes for a query
	}
	want, failure := w.rows(df)
	if failure != nil && refused(failure) {
		return "refused"
	}
	w.view(w.e.DataFrame(), "e")
	q, err := w.TryStart(w.sql(c.text), milltest.Mode(c.mode))
	if err != nil {
		t.Fatalf("the stream is refused: %v\nquery: %s", err, c.text)
	}
	h := &history{w, q}
	if failure != nil {
		for _, u := range units {
			w.e.AddRows(u)
		}
		if _, err := q.TryProcess(); err == nil {
			t.Fatalf("the batch fails, and the stream does not: %v\nquery: %s\nrows:\n%s", failure, c.text, strings.Join(lines(rows), "\n"))
		}
		return "failing"
	}
	if c.mode == millrace.Complete && asksClock.MatchString(c.text) {
		for _, u := range units {
			w.e.AddRows(u)
		}
		units = nil
		if _, err := q.TryProcess(); err != nil && strings.Contains(err.Error(), "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION") {
			return "refused"
		}
	}
	h.live(units)
	bs := q.Batches()
	var got []string
	switch {
	case c.mode == millrace.Complete && len(bs) == 0:
		want = nil // not even an aggregation without keys gives a row then
	case c.mode == millrace.Complete:
		got = roughly(bs[len(bs)-1].Rows)
	default:
		offsets, _ := q.Log()
		for id := range offsets + 1 {
			got = append(got, roughly(q.Rows(id))...)
		}
		slices.Sort(got)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("stream differs from batch (-batch +stream):\n%s\nquery: %s\nrows:\n%s\n%s", d, c.text, strings.Join(lines(rows), "\n"), milltest.FormatBatches(bs))
	}
	if len(want) == 0 {
		return "empty"
	}
	return "equal"
}

// asksClock fits queries that may aggregate the time, which in a stream is that of the batch: they are refused, as in Spark.
var asksClock = regexp.MustCompile(`current_(date|time|timestamp)|localtimestamp|now\(|curdate\(|unix_timestamp\(\)`)

// refused tells whether a query was not understood, as opposed to one that fails for its rows.
func refused(err error) bool {
	text := err.Error()
	for _, class := range []string{"DATATYPE_MISMATCH", "UNRESOLVED", "WRONG_NUM_ARGS", "PARSE_", "NON_FOLDABLE", "INVALID_PARAMETER_VALUE", "UNSUPPORTED", "INVALID_SCHEMA", "AMBIGUOUS"} {
		if strings.Contains(text, class) {
			return true
		}
	}
	return false
}

// rows runs a query over tables.
func (w *world) rows(df *millrace.DataFrame) ([]string, error) {
	st, err := df.Schema(context.Background())
	if err != nil {
		return nil, err
	}
	var out []types.Row
	for rec, err := range df.Records(context.Background()) {
		if err != nil {
			return nil, err
		}
		b, err := vec.FromArrow(rec, st)
		if err != nil {
			return nil, err
		}
		for i := range b.N {
			out = append(out, vec.RowAt(b, i))
		}
	}
	return roughly(out), nil
}

// roughly are rows as texts, sorted, with no more digits of floating-point numbers than any order of adding them up gives.
func roughly(rows []types.Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = milltest.FormatRow(rough(r).(types.Row))
	}
	slices.Sort(out)
	return out
}

func rough(v any) any {
	switch v := v.(type) {
	case float32:
		return rough(float64(v))
	case float64:
		if math.Abs(v) < 1e-9 {
			return 0.0
		}
		f, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
		if err != nil {
			return v
		}
		return f
	case types.Row:
		out := make(types.Row, len(v))
		for i := range v {
			out[i] = rough(v[i])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = rough(v[i])
		}
		return out
	case types.MapValue:
		out := make(types.MapValue, len(v))
		for i, e := range v {
			out[i] = types.MapEntry{Key: rough(e.Key), Value: rough(e.Value)}
		}
		return out
	}
	return v
}

// drawCut draws a query.
func drawCut(e *terms) cut {
	from := e.from()
	e.grow(3 + e.pick(10, "terms"))
	where := ""
	if e.pick(3, "where") == 0 {
		where = " WHERE " + e.cond()
		if e.pick(4, "subquery") == 0 {
			where += []string{" AND a IN (SELECT ua FROM u)", " OR NOT EXISTS (SELECT 1 FROM u WHERE ua = a)", " AND a < (SELECT max(ua) FROM u)"}[e.pick(3, "subquery")]
		}
	}
	if e.pick(2, "aggregation") == 0 {
		var list []string
		for i := range 1 + e.pick(4, "columns") {
			x, _ := e.one(any1)
			list = append(list, fmt.Sprintf("%s AS c%d", x.sql, i))
		}
		text := "SELECT " + strings.Join(list, ", ") + " FROM " + from + where
		mode := []millrace.OutputMode{millrace.Append, millrace.Update}[e.pick(2, "mode")]
		if e.pick(4, "nested") == 0 {
			text = "WITH q AS (" + text + ") SELECT *, c0 IS NULL AS z FROM q WHERE c0 IS NOT NULL OR hash(c0) % 2 = 0"
		}
		return cut{text: text, mode: mode}
	}
	return e.aggregation(from, where)
}

// from draws what a query is over. The columns of e are among its columns.
func (e *terms) from() string {
	add := func(name string, t types.DataType) { e.list = append(e.list, term{sql: name, t: t}) }
	switch e.pick(9, "from") {
	case 1:
		return "(SELECT * FROM e UNION ALL SELECT id + 1000, a + 1, b, d, m, upper(s), x, NOT o, day, ts, l, p, r FROM e WHERE a > 0) e"
	case 2, 3:
		add("us", types.String)
		add("ua", types.Integer)
		return "e " + []string{"JOIN", "LEFT JOIN", "CROSS JOIN"}[e.pick(3, "join")] + " u" + []string{" ON a = ua", " ON a + 1 = ua AND us <> 'deux'", " ON a < ua", ""}[e.pick(3, "on")]
	case 4:
		return "e " + []string{"LEFT SEMI JOIN", "LEFT ANTI JOIN"}[e.pick(2, "join")] + " u ON a = ua"
	case 5:
		add("y", types.Integer)
		return "e LATERAL VIEW " + []string{"", "OUTER "}[e.pick(2, "outer")] + "explode(l) g AS y"
	case 6:
		add("y", types.Integer)
		add("z", types.String)
		return "e LATERAL VIEW " + []string{"OUTER explode(p) g AS z, y", "posexplode(split(s, ',')) g AS y, z", "stack(2, a, s, id, 'lit') g AS y, z", "inline(array(r, named_struct('u', 1, 'w', s))) g AS y, z"}[e.pick(4, "generator")]
	case 7:
		return "(SELECT id, coalesce(a, 1) AS a, b, d, m, s, x, o, day, ts, l, p, r FROM e WHERE b IS NOT NULL OR o) e"
	}
	return "e"
}

// ordered are aggregates whose result depends on the order of rows, or on how partial results are merged.
var ordered = []string{
	"any_value", "first", "first_value", "last", "last_value", "array_agg", "collect_list", "listagg", "string_agg", "max_by", "min_by", "mode",
	"collect_set", "try_sum", "try_avg", "product",
}

// shaky are aggregates for which rounding may decide between null, NaN and a number.
var shaky = []string{"skewness", "kurtosis", "corr", "regr_r2", "regr_slope", "regr_intercept"}

// aggregation draws one for complete mode.
func (e *terms) aggregation(from, where string) cut {
	c := cut{mode: millrace.Complete, straight: e.pick(3, "straight") == 0 && !strings.Contains(from, "UNION")}
	var keys, list []string
	for i := range e.pick(3, "keys") {
		k, ok := e.one(func(x term) bool { return types.IsGroupable(x.t) && x.sql != "ts" && x.value == nil })
		if !ok || slices.Contains(keys, k.sql) {
			continue
		}
		keys, list = append(keys, k.sql), append(list, fmt.Sprintf("%s AS k%d", k.sql, i))
	}
	if e.pick(4, "window") == 0 {
		keys, list = append(keys, "window(ts, '10 minutes', '5 minutes')"), append(list, "window.start AS ws")
	}
	for i := range 1 + e.pick(3, "aggregates") {
		if a := e.aggregate(c.straight); a != "" {
			if e.pick(4, "filter") == 0 {
				a += " FILTER (WHERE " + e.cond() + ")"
			}
			list = append(list, fmt.Sprintf("%s AS c%d", a, i))
		}
	}
	list = append(list, "count(*) AS n")
	c.text = "SELECT " + strings.Join(list, ", ") + " FROM " + from + where
	if len(keys) > 0 {
		c.text += " GROUP BY " + []string{"%s", "%s", "%s", "ROLLUP(%s)", "CUBE(%s)"}[e.pick(5, "sets")]
		c.text = strings.Replace(c.text, "%s", strings.Join(keys, ", "), 1)
	}
	if e.pick(4, "having") == 0 {
		c.text += " HAVING count(*) > 1"
	}
	return c
}

// aggregate draws a call of an aggregate function; empty if none was found that fits.
func (e *terms) aggregate(straight bool) string {
	names := agg.Names()
	for range 6 {
		name := names[e.pick(len(names), "aggregate")]
		if slices.Contains(shaky, name) || !straight && slices.Contains(ordered, name) {
			continue
		}
		b := &agg.Binding{Name: name, Zone: nil}
		var sql []string
		for range []int{1, 1, 2}[e.pick(3, "arguments")] {
			// Numbers stay small and simple, so that sums are what they are in any order.
			x, _ := e.one(func(x term) bool {
				switch x.t.(type) {
				case types.DoubleType, types.FloatType, types.DecimalType, types.LongType:
					return len(x.sql) < 6
				}
				return true
			})
			b.Args, sql = append(b.Args, fn.Arg{Type: x.t, Nullable: true, SQL: x.sql}), append(sql, x.sql)
		}
		if bound, err := agg.Lookup(name).Bind(b); err != nil || types.Contains(bound.Type, hard) {
			continue
		}
		return known(name, name+"("+strings.Join(sql, ", ")+")")
	}
	return ""
}

// known is what of an aggregate does not depend on the order of rows: the bytes of a sketch do, and what it says of a few values does not.
// It is empty for what gives no more than approximations.
func known(name, call string) string {
	kind, of, sketch := strings.Cut(name, "_sketch_agg")
	switch {
	case sketch && kind == "kll":
		// A stream also shows what there is before the first value, and an empty sketch has no quantiles.
		return fmt.Sprintf("if(kll_sketch_get_n%s(%s) > 0, kll_sketch_get_quantile%s(%s, 0.5D), NULL)", of, call, of, call)
	case sketch:
		return kind + "_sketch_estimate" + of + "(" + call + ")"
	case slices.ContainsFunc([]string{"kll", "hll", "theta", "tuple", "count_min", "histogram", "approx_top_k"}, func(s string) bool { return strings.HasPrefix(name, s) }):
		return ""
	}
	return call
}
