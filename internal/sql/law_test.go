package sql

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawer writes random queries. fuel bounds how much more it may nest.
type drawer struct {
	t    *rapid.T
	fuel int
}

// one draws one of several texts; those behind the first have holes: {e} an expression, {c} a condition, {q} a query, {r} a
// relation, {n} a name, {i} a number. The first must have none that nests, as it is what is drawn when the fuel is used up.
func (d *drawer) one(forms ...string) string {
	i := 0
	if d.fuel > 0 {
		i = rapid.IntRange(0, len(forms)-1).Draw(d.t, "form")
	}
	d.fuel--
	var b strings.Builder
	for form := forms[i]; ; {
		before, rest, ok := strings.Cut(form, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		hole, after, _ := strings.Cut(rest, "}")
		b.WriteString(d.hole(hole))
		form = after
	}
}

func (d *drawer) hole(kind string) string {
	switch kind {
	case "e":
		return d.expr()
	case "c":
		return d.condition()
	case "q":
		return d.query()
	case "r":
		return d.relation()
	case "i":
		return strconv.Itoa(rapid.IntRange(0, 5).Draw(d.t, "number"))
	}
	return rapid.SampledFrom([]string{"a", "b", "x", "t", "`c d`", "date", "user", "`left`", "order"}).Draw(d.t, "name")
}

func (d *drawer) expr() string {
	return d.one("{n}", "{i}", "'s'", "NULL", "{n}.{n}", "{e} + {e}", "{e} * {e}", "- {e}", "{e} || {e}", "({e})", "({e}, {e})",
		"{n}({e})", "{n}(DISTINCT {e}, {e})", "{n}({n} => {e})", "{e}[{e}]", "{e}.{n}", "({e}).{n}", "{e}::int", "CAST({e} AS map<int, array<string>>)",
		"CASE WHEN {c} THEN {e} END", "CASE {e} WHEN {e} THEN {e} ELSE {e} END", "({q})", "transform({e}, {n} -> {e})", "f(({n}, {n}) -> {e})",
		"sum({e}) OVER (PARTITION BY {e} ORDER BY {e} DESC)", "max({e}) FILTER (WHERE {c})", "first({e} IGNORE NULLS)", "(({q}))", "({c})",
		"INTERVAL '{i}' DAY", "INTERVAL {i} HOURS {i} MINUTES", "DATE'2026-01-0{i}'", "-{i}.5", "{i}L", "1e{i}", "EXTRACT(year FROM {e})",
		"TRIM(BOTH {e} FROM {e})", "substring({e} FROM {e})", "{e} COLLATE utf8_lcase", "struct({e} AS {n}, {e})", "(({q}) + {e})")
}

func (d *drawer) condition() string {
	return d.one("{n}", "{e} = {e}", "{e} < {e}", "NOT {c}", "{c} AND {c}", "{c} OR {c}", "({c})", "{e} IS NULL", "{e} IS NOT TRUE",
		"{e} BETWEEN {e} AND {e}", "{e} NOT IN ({e}, {e})", "{e} IN ({q})", "({e}, {e}) IN ({q})", "EXISTS ({q})", "{e} LIKE {e} ESCAPE '!'",
		"{e} NOT ILIKE ANY ({e}, {e})", "{e} IS DISTINCT FROM {e}", "{e} RLIKE {e}")
}

func (d *drawer) relation() string {
	return d.one("{n}", "t AS x", "{n} {n}", "({q})", "({q}) AS y", "({q}) y({n}, {n})", "{r} JOIN {n} ON {c}", "{r} LEFT JOIN ({q}) z USING ({n})",
		"({r}) CROSS JOIN ({r})", "{r} NATURAL JOIN x", "{r}, LATERAL ({q})", "range({e}) r", "VALUES ({e}, {e}), ({e}, {e})", "(VALUES {e}) AS v(a)",
		"STREAM t WATERMARK b DELAY OF INTERVAL {i} MINUTES AS w", "({q}) WATERMARK {e} AS ts DELAY OF INTERVAL 1 DAY", "t TABLESAMPLE ({i} PERCENT)",
		"({r}) u", "t PIVOT (sum({e}) AS s FOR b IN ({i}, 'x' AS y))", "{r} UNPIVOT (v FOR k IN (a, b AS c)) p", "t VERSION AS OF {i}")
}

func (d *drawer) query() string {
	return d.one("SELECT 1", "SELECT {e}, {e} AS {n} FROM {r}", "SELECT DISTINCT * FROM {r} WHERE {c}", "SELECT {n}.* FROM {r} WHERE {c} GROUP BY {e}, {e} HAVING {c}",
		"SELECT {e} FROM {r} GROUP BY ROLLUP({e}, {e})", "SELECT {e} FROM {r} GROUP BY {e}, CUBE({e}, ({e}, {e}))", "SELECT {e} FROM {r} GROUP BY GROUPING SETS (({e}, {e}), {e}, ())",
		"{q} UNION ALL {q}", "({q}) UNION ({q}) INTERSECT {q}", "({q}) EXCEPT ALL ({q})", "({q}) ORDER BY {e} NULLS LAST LIMIT {i} OFFSET {i}", "({q})",
		"WITH {n} AS ({q}), z({n}) AS ({q}) SELECT {e}", "SELECT {e} FROM {r} LATERAL VIEW OUTER explode({e}) g AS {n}", "FROM {r} |> WHERE {c} |> SELECT {e} |> EXTEND {e} AS q |> LIMIT {i}",
		"FROM {r} |> AGGREGATE sum({e}) GROUP BY {e} AS k |> DROP {n} |> AS z", "VALUES {e}, {e}", "SELECT rank() OVER w FROM {r} WINDOW w AS (ORDER BY {e} ROWS {i} PRECEDING)",
		"SELECT /*+ HINT({n}) */ {e} FROM {r} SORT BY {e}", "SELECT {e} FROM {r} CLUSTER BY {e}", "FROM {r} SELECT {e}", "TABLE {n}", "SELECT {e} HAVING {c}")
}

// A query prints as a text that reads as the same tree and prints as itself.
func TestReadsAsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := &drawer{t: t, fuel: rapid.IntRange(1, 40).Draw(t, "fuel")}
		text := draw.query()
		first, err := ParseQuery(text, testOptions)
		if err != nil {
			t.Skip("no query: ", text) // such as a set operation behind LIMIT
		}
		printed := FormatQuery(first)
		second, err := ParseQuery(printed, testOptions)
		if err != nil {
			t.Fatalf("%s\nprints as\n%s\n%v", text, printed, err)
		}
		if d := diff(first, second); d != "" {
			t.Fatalf("%s\nprints as\n%s\n(-first +second)\n%s", text, printed, d)
		}
		if again := FormatQuery(second); again != printed {
			t.Fatalf("%s\nprints as\n%s\nand then as\n%s", text, printed, again)
		}
	})
}
