package optimize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/plan/plantest"
	"github.com/millrace/millrace/types"
)

// Whatever the query and the data, the optimised plan gives the same rows as the plan it was made of, and in the same order with
// any number of workers. In ANSI mode either may fail where the other does not: as in Spark, moving a filter changes which rows
// reach an expression.
func TestOptimisedPlansGiveTheSameRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &queryGen{t: t}
		db := &plantest.DB{Legacy: rapid.Bool().Draw(t, "legacy")}
		if err := g.tables(db); err != nil {
			t.Fatal(err)
		}
		text, _ := g.query(rapid.IntRange(1, 5).Draw(t, "depth"))
		n, err := db.Resolve(text)
		if err != nil {
			t.Fatalf("%v\nquery: %s", err, text)
		}
		want, wantErr := plantest.Run(n, 1)
		o, err := optimize.Plan(n, optimize.Options{Zone: time.UTC})
		if err != nil {
			t.Fatalf("%v\nquery: %s", err, text)
		}
		got, gotErr := plantest.Run(o, 1)
		if db.Legacy && (wantErr != nil || gotErr != nil) {
			t.Fatalf("plain: %v, optimised: %v\nquery: %s", wantErr, gotErr, text)
		}
		if wantErr != nil || gotErr != nil {
			return
		}
		if d := cmp.Diff(plantest.Sorted(want), plantest.Sorted(got)); d != "" {
			t.Fatalf("rows differ (-plain +optimised):\n%s\nquery: %s\nplain:\n%s\noptimised:\n%s", d, text, plantest.Text(n), plantest.Text(o))
		}
		for _, workers := range []int{2, 5} {
			again, err := plantest.Run(o, workers)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(plantest.Format(got), plantest.Format(again)); d != "" {
				t.Fatalf("%d workers (-1 +%d):\n%s\nquery: %s", workers, workers, d, text)
			}
		}
	})
}

// column is a column in scope; kind is i (INT or BIGINT), s (STRING), b (BOOLEAN) or t (TIMESTAMP).
type column struct {
	name string
	kind byte
}

// queryGen draws tables and queries. All names are different, so none is ambiguous.
type queryGen struct {
	t     *rapid.T
	names int
}

func (g *queryGen) tables(db *plantest.DB) error {
	small := rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			return nil
		}
		return rapid.Int32Range(-3, 3).Draw(t, "int")
	})
	word := rapid.SampledFrom([]any{nil, "", "a", "b", "ab"})
	hour := rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			return nil
		}
		return types.MicrosOf(plantest.Now) + types.Micros(60_000_000*rapid.Int64Range(-90, 90).Draw(t, "minute"))
	})
	for _, name := range []string{"t", "u"} {
		schema := types.Struct(
			types.NewField(name+"_a", types.Integer), types.NewField(name+"_b", types.Integer),
			types.NewField(name+"_s", types.String), types.NewField(name+"_ts", types.Timestamp))
		row := rapid.Custom(func(t *rapid.T) types.Row {
			return types.Row{small.Draw(t, "a"), small.Draw(t, "b"), word.Draw(t, "s"), hour.Draw(t, "ts")}
		})
		splits := rapid.SliceOfN(rapid.SliceOfN(row, 0, 8), 1, 3).Draw(g.t, name)
		if err := db.Add(name, schema, splits...); err != nil {
			return err
		}
	}
	return nil
}

func (g *queryGen) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *queryGen) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(g.t, label) }

// query draws a query of some depth and returns its text and columns.
func (g *queryGen) query(depth int) (string, []column) {
	if depth == 0 {
		return g.base()
	}
	text, cols := g.query(depth - 1)
	x := g.name("q")
	from := " FROM (" + text + ") AS " + x
	switch g.pick(9, "operator") {
	case 0, 1:
		return "SELECT *" + from + " WHERE " + g.cond(cols, 2), cols
	case 2:
		list, out := g.selectList(cols)
		return "SELECT " + list + from, out
	case 3:
		return g.group(from, cols)
	case 4:
		return "SELECT DISTINCT *" + from, cols
	case 5:
		all := make([]string, len(cols))
		for i, c := range cols {
			all[i] = c.name + []string{"", " DESC", " NULLS LAST"}[g.pick(3, "order")]
		}
		return fmt.Sprintf("SELECT *%s ORDER BY %s LIMIT %d", from, strings.Join(all, ", "), g.pick(12, "limit")), cols
	case 6:
		return g.union(from, cols)
	case 7:
		return g.windows(from, cols)
	}
	return g.join(from, cols)
}

func (g *queryGen) base() (string, []column) {
	t := []string{"t", "u"}[g.pick(2, "table")]
	var list []string
	var out []column
	for _, c := range []column{{"a", 'i'}, {"b", 'i'}, {"s", 's'}, {"ts", 't'}} {
		n := g.name("c")
		list = append(list, t+"_"+c.name+" AS "+n)
		out = append(out, column{n, c.kind})
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + t, out
}

func (g *queryGen) selectList(cols []column) (string, []column) {
	var list []string
	var out []column
	for range 1 + g.pick(4, "columns") {
		kind := []byte{'i', 's', 'b', 't'}[g.pick(4, "kind")]
		e := g.expr(cols, kind, 2)
		n := g.name("c")
		list = append(list, e+" AS "+n)
		out = append(out, column{n, kind})
	}
	return strings.Join(list, ", "), out
}

func (g *queryGen) group(from string, cols []column) (string, []column) {
	keys, outs := []string{}, []string{}
	var out []column
	for range g.pick(3, "keys") {
		kind := []byte{'i', 's', 't'}[g.pick(3, "kind")]
		k := g.expr(cols, kind, 1)
		if strings.Trim(k, "-0123456789") == "" {
			k = "(" + k + " + 0)" // a bare number would be a position
		}
		keys = append(keys, k)
		n := g.name("c")
		outs, out = append(outs, k+" AS "+n), append(out, column{n, kind})
	}
	for range 1 + g.pick(3, "aggregates") {
		n := g.name("c")
		a := fmt.Sprintf([]string{"sum(%s)", "count(%s)", "max(%s)", "min(%s)", "count(DISTINCT %s)"}[g.pick(5, "aggregate")], g.expr(cols, 'i', 1))
		if g.pick(4, "filtered") == 0 {
			a += " FILTER (WHERE " + g.cond(cols, 1) + ")"
		}
		outs, out = append(outs, a+" AS "+n), append(out, column{n, 'i'})
	}
	text := "SELECT " + strings.Join(outs, ", ") + from
	if len(keys) == 0 {
		return text, out
	}
	list := strings.Join(keys, ", ")
	switch g.pick(6, "sets") {
	case 0:
		list = "ROLLUP(" + list + ")"
	case 1:
		list = "CUBE(" + list + ")"
	}
	text += " GROUP BY " + list
	if g.pick(2, "having") == 0 {
		text += " HAVING " + g.cond(out, 1)
	}
	return text, out
}

// union pairs the columns with those of another query of the same kinds.
func (g *queryGen) union(from string, cols []column) (string, []column) {
	other, others := g.base()
	var left, right []string
	var out []column
	for _, c := range cols {
		n := g.name("c")
		left = append(left, c.name+" AS "+n)
		right = append(right, g.expr(others, c.kind, 1))
		out = append(out, column{n, c.kind})
	}
	return fmt.Sprintf("SELECT %s%s UNION ALL SELECT %s FROM (%s)", strings.Join(left, ", "), from, strings.Join(right, ", "), other), out
}

func (g *queryGen) windows(from string, cols []column) (string, []column) {
	w := g.name("w")
	size := []string{"'10 minutes'", "'10 minutes', '5 minutes'", "'10 minutes', '4 minutes'", "'1 hour', '1 hour', '25 minutes'"}[g.pick(4, "window")]
	text := fmt.Sprintf("SELECT %s.start AS s%s, count(*) AS n%s, max(%s) AS m%s FROM (SELECT window(%s, %s) AS %s, *%s) GROUP BY %s",
		w, w, w, g.expr(cols, 'i', 1), w, g.expr(cols, 't', 1), size, w, from, w)
	return text, []column{{"s" + w, 't'}, {"n" + w, 'i'}, {"m" + w, 'i'}}
}

func (g *queryGen) join(from string, cols []column) (string, []column) {
	right, others := g.base()
	kind := []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "CROSS JOIN"}[g.pick(7, "join")]
	both := slices.Concat(cols, others)
	text := "SELECT *" + from + " " + kind + " (" + right + ") AS " + g.name("q")
	if kind != "CROSS JOIN" {
		on := []string{g.cond(both, 1)}
		for range g.pick(3, "equalities") {
			op := []string{" = ", " <=> "}[g.pick(2, "equality")]
			on = append(on, g.expr(cols, 'i', 1)+op+g.expr(others, 'i', 1))
		}
		text += " ON " + strings.Join(on, " AND ")
	}
	if strings.Contains(kind, "SEMI") || strings.Contains(kind, "ANTI") {
		return text, cols
	}
	return text, both
}

// cond draws a condition.
func (g *queryGen) cond(cols []column, depth int) string { return g.expr(cols, 'b', depth) }

// expr draws an expression of a kind.
func (g *queryGen) expr(cols []column, kind byte, depth int) string {
	var fit []string
	for _, c := range cols {
		if c.kind == kind {
			fit = append(fit, c.name)
		}
	}
	if depth == 0 || g.pick(3, "leaf") == 0 {
		if len(fit) > 0 && g.pick(5, "constant") > 0 {
			return fit[g.pick(len(fit), "column")]
		}
		return g.constant(kind)
	}
	sub := func(k byte) string { return g.expr(cols, k, depth-1) }
	switch kind {
	case 'i':
		switch g.pick(7, "int") {
		case 0:
			return "(" + sub('i') + " + " + sub('i') + ")"
		case 1:
			return "(" + sub('i') + " div " + sub('i') + ")"
		case 2:
			return "(" + sub('i') + " % " + sub('i') + ")"
		case 3:
			return "coalesce(" + sub('i') + ", " + sub('i') + ")"
		case 4:
			return "CASE WHEN " + sub('b') + " THEN " + sub('i') + " ELSE " + sub('i') + " END"
		case 5:
			return "CAST(" + sub('i') + " AS BIGINT)"
		}
		return "if(" + sub('b') + ", " + sub('i') + ", " + sub('i') + ")"
	case 's':
		if g.pick(2, "text") == 0 {
			return "CAST(" + sub('i') + " AS STRING)"
		}
		return "coalesce(" + sub('s') + ", " + sub('s') + ")"
	case 't':
		return "coalesce(" + sub('t') + ", " + sub('t') + ")"
	}
	switch g.pick(9, "bool") {
	case 0:
		return "(" + sub('b') + " AND " + sub('b') + ")"
	case 1:
		return "(" + sub('b') + " OR " + sub('b') + ")"
	case 2:
		return "(NOT " + sub('b') + ")"
	case 3:
		return "(" + sub('s') + " IS NULL)"
	case 4:
		return "(" + sub('s') + " <= " + sub('s') + ")"
	case 5:
		return "(" + sub('t') + " < " + sub('t') + ")"
	case 6:
		return "(" + sub('i') + " IN (" + sub('i') + ", 1))"
	}
	return "(" + sub('i') + []string{" = ", " <=> ", " < ", " >= ", " <> "}[g.pick(5, "comparison")] + sub('i') + ")"
}

func (g *queryGen) constant(kind byte) string {
	if g.pick(6, "null") == 0 {
		return "CAST(NULL AS " + map[byte]string{'i': "INT", 's': "STRING", 'b': "BOOLEAN", 't': "TIMESTAMP"}[kind] + ")"
	}
	switch kind {
	case 'i':
		return []string{"0", "1", "2", "-1", "3"}[g.pick(5, "int")]
	case 's':
		return []string{"'a'", "'b'", "''"}[g.pick(3, "text")]
	case 't':
		return []string{"TIMESTAMP'2026-01-01 12:00:00'", "TIMESTAMP'2026-01-01 12:07:00'"}[g.pick(2, "time")]
	}
	return []string{"true", "false"}[g.pick(2, "bool")]
}
