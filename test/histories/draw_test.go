package histories

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/plan/plantest"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// schema is that of the stream e; the table u beside it has the columns ua and us.
const schema = "a INT, b INT, s STRING, d DOUBLE, ts TIMESTAMP"

var columns = []plantest.Column{
	{Name: "a", Kind: plantest.Int}, {Name: "b", Kind: plantest.Int}, {Name: "s", Kind: plantest.Str}, {Name: "ts", Kind: plantest.Time},
}

// row draws a row; its time is within an hour and a half around noon.
var row = rapid.Custom(func(t *rapid.T) types.Row {
	small := rapid.OneOf(rapid.Just[any](nil), rapid.Custom(func(t *rapid.T) any { return rapid.Int32Range(-3, 3).Draw(t, "int") }))
	return types.Row{
		small.Draw(t, "a"), small.Draw(t, "b"),
		rapid.SampledFrom([]any{nil, "", "a", "b", "ab", "ß"}).Draw(t, "s"),
		rapid.SampledFrom([]any{nil, 0.0, negativeZero, 1.5, -1.5, nan, inf}).Draw(t, "d"),
		rapid.OneOf(rapid.Just[any](nil), rapid.Custom(func(t *rapid.T) any {
			return types.MicrosOf(plantest.Now) + types.Micros(60_000_000*rapid.Int64Range(-45, 45).Draw(t, "minute"))
		})).Draw(t, "ts"),
	}
})

// data are the rows of a stream, cut into what comes together.
func data(t *rapid.T) [][]types.Row {
	return rapid.SliceOfN(rapid.SliceOfN(row, 0, 6), 1, 6).Draw(t, "data")
}

// query is a SQL text over e and u.
type query struct {
	text string
	mode string
	// keys is how many of the first columns tell groups apart, in update mode.
	keys int
}

// stateless draws a query that looks at rows one by one.
func stateless(t *rapid.T) query {
	g := &plantest.Gen{T: t}
	from, cols := "e", columns
	switch g.Pick(4, "input") {
	case 1:
		from = "(SELECT * FROM e UNION ALL SELECT b, a, s, d, ts FROM e WHERE " + g.Cond(columns, 1) + ")"
	case 2:
		kind := []string{"JOIN", "LEFT JOIN"}[g.Pick(2, "join")]
		from = "e " + kind + " u ON " + g.Expr(columns, plantest.Int, 1) + " = ua"
		cols = append([]plantest.Column{{Name: "ua", Kind: plantest.Int}, {Name: "us", Kind: plantest.Str}}, columns...)
	case 3:
		from = "(SELECT *, explode(array(a, b, 7)) AS x FROM e)"
		cols = append([]plantest.Column{{Name: "x", Kind: plantest.Int}}, columns...)
	}
	var list []string
	for range 1 + g.Pick(3, "columns") {
		kind := []plantest.Kind{plantest.Int, plantest.Str, plantest.Bool, plantest.Time}[g.Pick(4, "kind")]
		list = append(list, g.Expr(cols, kind, 2)+" AS "+g.Name("c"))
	}
	if g.Pick(3, "window") == 0 {
		list = append(list, "window("+g.Expr(cols, plantest.Time, 1)+", "+window(g)+").start AS "+g.Name("w"))
	}
	text := "SELECT " + strings.Join(list, ", ") + " FROM " + from
	if g.Pick(2, "where") == 0 {
		text += " WHERE " + g.Cond(cols, 2)
	}
	return query{text: text, mode: "append"}
}

func window(g *plantest.Gen) string {
	return []string{"'10 minutes'", "'10 minutes', '5 minutes'", "'10 minutes', '4 minutes'", "'1 hour', '1 hour', '25 minutes'"}[g.Pick(4, "size")]
}

// grouping draws an aggregation for complete or update mode. The order of rows within a group does not reach its results.
func grouping(t *rapid.T) query {
	g := &plantest.Gen{T: t}
	var keys, list []string
	kinds := []plantest.Kind{plantest.Int, plantest.Str, plantest.Time}
	if g.Pick(2, "window") == 0 {
		w := "window(" + g.Expr(columns, plantest.Time, 1) + ", " + window(g) + ")"
		keys, list = append(keys, w), append(list, w+" AS "+g.Name("w"))
		kinds = kinds[:2] // of two event times among the keys none would be the one that counts
	}
	for range g.Pick(3, "keys") {
		k := ""
		switch g.Pick(6, "key") {
		case 0:
			k = "d"
		case 1:
			k = "struct(a, s)"
		default:
			k = g.Expr(columns, kinds[g.Pick(len(kinds), "kind")], 1)
		}
		keys, list = append(keys, named(k)), append(list, named(k)+" AS "+g.Name("k"))
	}
	q := query{mode: []string{"complete", "update"}[g.Pick(2, "mode")], keys: len(keys)}
	for range 1 + g.Pick(3, "aggregates") {
		x := g.Expr(columns, plantest.Int, 1)
		a := fmt.Sprintf([]string{"sum(%s)", "count(%s)", "max(%s)", "min(%s)", "avg(%s)", "count(*)", "max(d)", "min(s)", "bool_or(%s > 0)"}[g.Pick(9, "aggregate")], x)
		a = strings.Split(a, "%!(EXTRA")[0]
		if g.Pick(4, "filtered") == 0 {
			a += " FILTER (WHERE " + g.Cond(columns, 1) + ")"
		}
		list = append(list, a+" AS "+g.Name("c"))
	}
	q.text = "SELECT " + strings.Join(list, ", ") + " FROM e"
	if g.Pick(2, "where") == 0 {
		q.text += " WHERE " + g.Cond(columns, 1)
	}
	if len(keys) > 0 {
		q.text += " GROUP BY " + strings.Join(keys, ", ")
	}
	return q
}

// named makes an expression that is no position of the select list.
func named(k string) string {
	if strings.Trim(k, "-0123456789") == "" {
		return "(" + k + " + 0)"
	}
	return k
}

// settings draws everything that must not matter.
func settings(t *rapid.T) []milltest.Option {
	return []milltest.Option{
		milltest.Conf("spark.sql.ansi.enabled", "false"),
		milltest.Partitions(rapid.IntRange(1, 5).Draw(t, "partitions")),
		milltest.VectorRows(rapid.SampledFrom([]int{1, 3, 4096}).Draw(t, "vectors")),
		milltest.Workers(rapid.IntRange(1, 3).Draw(t, "workers")),
		milltest.Splits(rapid.IntRange(1, 3).Draw(t, "splits")),
		milltest.StateProvider(rapid.SampledFrom([]string{"millrace.mem", "millrace.lsm"}).Draw(t, "provider")),
		milltest.Conf("spark.sql.streaming.noDataMicroBatches.enabled", fmt.Sprint(rapid.Bool().Draw(t, "noData"))),
	}
}
