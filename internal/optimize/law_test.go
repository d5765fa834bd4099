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
		g := &queryGen{plantest.Gen{T: t}}
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

// queryGen draws tables and queries.
type queryGen struct{ plantest.Gen }

func column(name string, k plantest.Kind) plantest.Column {
	return plantest.Column{Name: name, Kind: k}
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
		splits := rapid.SliceOfN(rapid.SliceOfN(row, 0, 8), 1, 3).Draw(g.T, name)
		if err := db.Add(name, schema, splits...); err != nil {
			return err
		}
	}
	return nil
}

// query draws a query of some depth and returns its text and columns.
func (g *queryGen) query(depth int) (string, []plantest.Column) {
	if depth == 0 {
		return g.base()
	}
	text, cols := g.query(depth - 1)
	x := g.Name("q")
	from := " FROM (" + text + ") AS " + x
	switch g.Pick(9, "operator") {
	case 0, 1:
		return "SELECT *" + from + " WHERE " + g.Cond(cols, 2), cols
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
			all[i] = c.Name + []string{"", " DESC", " NULLS LAST"}[g.Pick(3, "order")]
		}
		return fmt.Sprintf("SELECT *%s ORDER BY %s LIMIT %d", from, strings.Join(all, ", "), g.Pick(12, "limit")), cols
	case 6:
		return g.union(from, cols)
	case 7:
		return g.windows(from, cols)
	}
	return g.join(from, cols)
}

func (g *queryGen) base() (string, []plantest.Column) {
	t := []string{"t", "u"}[g.Pick(2, "table")]
	var list []string
	var out []plantest.Column
	for _, c := range []plantest.Column{column("a", plantest.Int), column("b", plantest.Int), column("s", plantest.Str), column("ts", plantest.Time)} {
		n := g.Name("c")
		list = append(list, t+"_"+c.Name+" AS "+n)
		out = append(out, column(n, c.Kind))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + t, out
}

func (g *queryGen) selectList(cols []plantest.Column) (string, []plantest.Column) {
	var list []string
	var out []plantest.Column
	for range 1 + g.Pick(4, "columns") {
		kind := []plantest.Kind{plantest.Int, plantest.Str, plantest.Bool, plantest.Time}[g.Pick(4, "kind")]
		e := g.Expr(cols, kind, 2)
		n := g.Name("c")
		list = append(list, e+" AS "+n)
		out = append(out, column(n, kind))
	}
	return strings.Join(list, ", "), out
}

func (g *queryGen) group(from string, cols []plantest.Column) (string, []plantest.Column) {
	keys, outs := []string{}, []string{}
	var out []plantest.Column
	for range g.Pick(3, "keys") {
		kind := []plantest.Kind{plantest.Int, plantest.Str, plantest.Time}[g.Pick(3, "kind")]
		k := g.Expr(cols, kind, 1)
		if strings.Trim(k, "-0123456789") == "" {
			k = "(" + k + " + 0)" // a bare number would be a position
		}
		keys = append(keys, k)
		n := g.Name("c")
		outs, out = append(outs, k+" AS "+n), append(out, column(n, kind))
	}
	for range 1 + g.Pick(3, "aggregates") {
		n := g.Name("c")
		a := fmt.Sprintf([]string{"sum(%s)", "count(%s)", "max(%s)", "min(%s)", "count(DISTINCT %s)"}[g.Pick(5, "aggregate")], g.Expr(cols, plantest.Int, 1))
		if g.Pick(4, "filtered") == 0 {
			a += " FILTER (WHERE " + g.Cond(cols, 1) + ")"
		}
		outs, out = append(outs, a+" AS "+n), append(out, column(n, plantest.Int))
	}
	text := "SELECT " + strings.Join(outs, ", ") + from
	if len(keys) == 0 {
		return text, out
	}
	list := strings.Join(keys, ", ")
	switch g.Pick(6, "sets") {
	case 0:
		list = "ROLLUP(" + list + ")"
	case 1:
		list = "CUBE(" + list + ")"
	}
	text += " GROUP BY " + list
	if g.Pick(2, "having") == 0 {
		text += " HAVING " + g.Cond(out, 1)
	}
	return text, out
}

// union pairs the columns with those of another query of the same kinds.
func (g *queryGen) union(from string, cols []plantest.Column) (string, []plantest.Column) {
	other, others := g.base()
	var left, right []string
	var out []plantest.Column
	for _, c := range cols {
		n := g.Name("c")
		left = append(left, c.Name+" AS "+n)
		right = append(right, g.Expr(others, c.Kind, 1))
		out = append(out, column(n, c.Kind))
	}
	return fmt.Sprintf("SELECT %s%s UNION ALL SELECT %s FROM (%s)", strings.Join(left, ", "), from, strings.Join(right, ", "), other), out
}

func (g *queryGen) windows(from string, cols []plantest.Column) (string, []plantest.Column) {
	w := g.Name("w")
	size := []string{"'10 minutes'", "'10 minutes', '5 minutes'", "'10 minutes', '4 minutes'", "'1 hour', '1 hour', '25 minutes'"}[g.Pick(4, "window")]
	text := fmt.Sprintf("SELECT %s.start AS s%s, count(*) AS n%s, max(%s) AS m%s FROM (SELECT window(%s, %s) AS %s, *%s) GROUP BY %s",
		w, w, w, g.Expr(cols, plantest.Int, 1), w, g.Expr(cols, plantest.Time, 1), size, w, from, w)
	return text, []plantest.Column{column("s"+w, plantest.Time), column("n"+w, plantest.Int), column("m"+w, plantest.Int)}
}

func (g *queryGen) join(from string, cols []plantest.Column) (string, []plantest.Column) {
	right, others := g.base()
	kind := []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "CROSS JOIN"}[g.Pick(7, "join")]
	both := slices.Concat(cols, others)
	text := "SELECT *" + from + " " + kind + " (" + right + ") AS " + g.Name("q")
	if kind != "CROSS JOIN" {
		on := []string{g.Cond(both, 1)}
		for range g.Pick(3, "equalities") {
			op := []string{" = ", " <=> "}[g.Pick(2, "equality")]
			on = append(on, g.Expr(cols, plantest.Int, 1)+op+g.Expr(others, plantest.Int, 1))
		}
		text += " ON " + strings.Join(on, " AND ")
	}
	if strings.Contains(kind, "SEMI") || strings.Contains(kind, "ANTI") {
		return text, cols
	}
	return text, both
}
