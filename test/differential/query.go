package main

import (
	"fmt"
	"strings"
)

// questions are the kinds of queries around expressions, over the tables t and u.
var questions = []func(g *generator) string{
	(*generator).projection, (*generator).projection, (*generator).grouping, (*generator).grouping, (*generator).join,
	(*generator).setOperation, (*generator).window, (*generator).subquery, (*generator).sets, (*generator).exploded, (*generator).ordered,
	joins, joins, setOperations, groupings, groupings, groupings, frames, frames, frames, pivots, correlated, correlated, correlated, commonTables, orders, orders,
	generated,
}

// query makes a whole query.
func (g *generator) query() string { return questions[g.r.IntN(len(questions))](g) }

func (g *generator) some(kind string, depth int) string { return g.expression(kind, depth).String() }

func (g *generator) where() string {
	if g.r.IntN(2) == 0 {
		return ""
	}
	return " WHERE " + g.some("b", 2)
}

func (g *generator) projection() string {
	distinct := ""
	if g.r.IntN(3) == 0 {
		distinct = "DISTINCT "
	}
	return fmt.Sprintf("SELECT %s%s AS p, %s AS q FROM t%s", distinct, g.some("any", 2), g.some("any", 1), g.where())
}

func (g *generator) aggregates() string {
	var out []string
	for i := range 1 + g.r.IntN(3) {
		text := g.pick(aggregates)
		for strings.Contains(text, "grouping_id") {
			text = g.pick(aggregates)
		}
		out = append(out, fmt.Sprintf("%s AS a%d", g.fill(text, "", 1), i))
	}
	return strings.Join(out, ", ")
}

func (g *generator) grouping() string {
	if g.r.IntN(5) == 0 {
		return fmt.Sprintf("SELECT %s FROM t%s", g.aggregates(), g.where())
	}
	having := ""
	if g.r.IntN(4) == 0 {
		having = " HAVING count(*) > 1"
	}
	return fmt.Sprintf("SELECT %s AS k, %s FROM t%s GROUP BY k%s", g.some("ord", 1), g.aggregates(), g.where(), having)
}

func (g *generator) sets() string {
	how := g.pick([]string{"ROLLUP (%s, %s)", "CUBE (%s, %s)", "GROUPING SETS ((%[1]s), (%[2]s), ())", "GROUPING SETS ((%[1]s, %[2]s), (%[1]s))"})
	a, b := g.pick([]string{"n", "b", "t"}), g.pick([]string{"day", "i8", "s"})
	return fmt.Sprintf("SELECT %s, %s, grouping_id() AS gid, %s FROM t GROUP BY "+how, a, b, g.aggregates(), a, b)
}

func (g *generator) join() string {
	kind := g.pick([]string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"})
	key := g.pick([]string{"n", "t", "b", "day", "i8", "d9", "f32"})
	on := fmt.Sprintf("a.%s = c.%s", key, key)
	if g.r.IntN(4) == 0 {
		on = fmt.Sprintf("a.%s <=> c.%s", key, key)
	}
	if g.r.IntN(3) == 0 {
		on += " AND a.id < c.id"
	}
	columns := "a.id AS x, c.id AS y, coalesce(a.s, c.s) AS z"
	if strings.Contains(kind, "SEMI") || strings.Contains(kind, "ANTI") {
		left := &generator{r: g.r, prefix: "a."}
		columns = "a.id AS x, " + left.some("any", 1) + " AS z"
	}
	return fmt.Sprintf("SELECT %s FROM t a %s u c ON %s", columns, kind, on)
}

func (g *generator) setOperation() string {
	op := g.pick([]string{"UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"})
	return fmt.Sprintf("SELECT %s AS p, n FROM t %s SELECT %s, n FROM u", g.some("ord", 1), op, g.some("ord", 1))
}

func (g *generator) window() string {
	return fmt.Sprintf("SELECT id, %s AS w, %s AS v FROM t%s", g.fill(g.pick(overs), "", 1), g.fill(g.pick(overs), "", 0), g.where())
}

func (g *generator) subquery() string {
	return fmt.Sprintf(g.pick([]string{
		"SELECT id FROM t WHERE n IN (SELECT n FROM u WHERE %s)",
		"SELECT id FROM t WHERE n NOT IN (SELECT n FROM u WHERE %s)",
		"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.n = t.n AND u.id < t.id AND %s)",
		"SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t = t.t) AND %s",
		"SELECT id, (SELECT max(u.id) FROM u WHERE u.n = t.n) AS m, %s AS p FROM t",
		"SELECT id, (SELECT count(*) FROM u WHERE u.b = t.b) AS m, %s AS p FROM t",
		"WITH w AS (SELECT n, count(*) AS c FROM u GROUP BY n) SELECT id, c FROM t LEFT JOIN w USING (n) WHERE %s",
		"SELECT id, z FROM t, LATERAL (SELECT u.id AS z FROM u WHERE u.n = t.n ORDER BY u.id LIMIT 1) WHERE %s",
	}), (&generator{r: g.r, prefix: ""}).unambiguous())
}

// unambiguous is a condition that means the same wherever it stands in a subquery.
func (g *generator) unambiguous() string {
	return g.pick([]string{"true", "1 < 2", "cast('3' AS INT) = 3", "length('ab') = 2"})
}

func (g *generator) exploded() string {
	return fmt.Sprintf(g.pick([]string{
		"SELECT id, e FROM t LATERAL VIEW explode(%s) x AS e",
		"SELECT id, e FROM t LATERAL VIEW OUTER explode(%s) x AS e",
		"SELECT id, posexplode(%s) FROM t",
		"SELECT id, explode_outer(%s) FROM t",
		"SELECT id, e.* FROM t, LATERAL explode(%s) AS e",
	}), g.some("arr", 2))
}

func (g *generator) ordered() string {
	direction := g.pick([]string{"", " DESC", " NULLS LAST", " DESC NULLS FIRST"})
	return fmt.Sprintf("SELECT row_number() OVER (ORDER BY o%s, id) AS place, id FROM (SELECT id, %s AS o FROM t)", direction, g.some("ord", 1))
}
