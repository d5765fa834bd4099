package main

import (
	"regexp"
	"strings"
)

// inside names, in the text of a question, an expression over the columns of one relation: {a.b} is a condition on those of a.
// {+...} chooses one of the texts between bars.
var (
	inside = regexp.MustCompile(`\{([a-z]+)\.([A-Za-z0-9]+)\}`)
	simple = regexp.MustCompile(`\{([A-Za-z0-9:.]+)\}`)
	choice = regexp.MustCompile(`\{\+([^{}]*)\}`)
)

// shape completes the text of a question: choices first, then expressions over named relations, then those over any column.
func (g *generator) shape(text string) string {
	text = simple.ReplaceAllString(text, "\x01$1\x02") // out of the way: choices may hold them
	for choice.MatchString(text) {
		text = choice.ReplaceAllStringFunc(text, func(m string) string { return g.pick(strings.Split(m[2:len(m)-1], "|")) })
	}
	text = strings.NewReplacer("\x01", "{", "\x02", "}").Replace(text)
	text = inside.ReplaceAllStringFunc(text, func(m string) string {
		parts := inside.FindStringSubmatch(m)
		return "(" + (&generator{r: g.r, prefix: parts[1] + "."}).some(parts[2], g.r.IntN(2)) + ")"
	})
	return g.fill(text, "", g.r.IntN(2)).String()
}

// shaped asks one of a list of texts.
func shaped(texts string) func(g *generator) string {
	list := lines(texts)
	return func(g *generator) string { return g.shape(g.pick(list)) }
}

var joins = shaped(`
SELECT a.id AS x, c.id AS y FROM t a {+JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN|CROSS JOIN} u c ON {+a.n = c.n|a.n <=> c.n|a.n < c.n|a.n BETWEEN c.n - 1 AND c.n + 1|a.t = c.t OR a.n = c.n|a.n + c.n = 3|a.st = c.st|a.ai = c.ai|a.m = c.m|a.n = c.i64|a.day = c.ts|a.n = c.num|a.f64 = c.f64|a.f32 <=> c.f64|a.d9 = c.d20|true|false|NULL|a.b|a.n|'x'|a.dsi = c.dsi|a.bin = c.bin|a.day < c.day AND a.t = c.t}
SELECT a.id AS x FROM t a {+LEFT SEMI JOIN|LEFT ANTI JOIN|SEMI JOIN|ANTI JOIN} u c ON {+a.n = c.n|a.n <=> c.n|a.n < c.n|a.t = c.t OR a.n = c.n|a.st = c.st|true|false|NULL|a.b|a.d9 = c.f64|a.n = c.n AND a.id <> c.id}
SELECT a.id AS x, c.id AS y, {a.any} AS p, {c.any} AS q FROM t a {+JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN} u c ON a.n = c.n AND {a.b} {+AND|OR} {c.b}
SELECT a.id AS x, c.id AS y FROM t a {+JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN} u c ON {a.ord} = {c.ord} AND a.n = c.n
SELECT a.id AS x, c.id AS y FROM t a {+JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN} u c ON {a.i32} = {c.i32} WHERE {+a.id > 2|c.n IS NULL|a.n IS NOT NULL|coalesce(a.n, c.n) > 1|a.n > c.n OR c.n IS NULL}
SELECT n, a.id, c.id FROM t a {+JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN} u c USING (n{+|, t|, b|, n|, nope})
SELECT {+n|a.n|c.n|*} FROM (SELECT id AS i, n, {any} AS p FROM t) a {+JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN|LEFT SEMI JOIN|LEFT ANTI JOIN} (SELECT id AS j, n FROM u) c USING (n)
SELECT * FROM (SELECT id AS i, n, t FROM t) a NATURAL {+|LEFT|RIGHT|FULL|INNER} JOIN (SELECT id AS j, {+n|t|n, t|{any} AS p} FROM u) c
SELECT * FROM (SELECT {any} AS k, id AS i FROM t) a {+JOIN|LEFT JOIN|FULL JOIN} (SELECT {any} AS k, id AS j FROM u) c USING (k)
SELECT a.id, c.id, e.id FROM t a {+JOIN|LEFT JOIN|FULL JOIN} u c ON a.n = c.n {+JOIN|LEFT JOIN|RIGHT JOIN|LEFT SEMI JOIN} t e ON {+c.t = e.t|a.t = e.t|coalesce(a.t, c.t) = e.t|c.id = e.id AND a.b}
SELECT count(*), count(a.id), count(c.id), sum(a.n), max({a.ord}) FROM t a {+JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN} u c ON {+a.n = c.n|a.n <> c.n|a.t = c.t AND a.n > c.n}
SELECT a.id, x.k FROM t a {+JOIN|LEFT JOIN|CROSS JOIN|RIGHT JOIN|FULL JOIN} LATERAL (SELECT u.id + a.id AS k FROM u WHERE {+u.n = a.n|u.n < a.n|u.t = a.t AND a.b|true}) x {+|ON true|ON x.k > 3|ON a.n > 1}
SELECT a.id, x.k FROM t a, LATERAL (SELECT {+max(u.id)|count(*)|sum(u.n)|count(u.n) + 1|collect_list(1)|max(u.id) FILTER (WHERE u.b)} AS k FROM u WHERE {+u.n = a.n|u.n < a.n|u.t = a.t AND {u.b}}) x
SELECT a.id, x.* FROM t a, LATERAL (SELECT a.n AS p, {a.any} AS q) x, LATERAL (SELECT x.p + 1 AS r) y
SELECT a.id, x.k FROM t a, LATERAL (SELECT u.id AS k FROM u WHERE u.n = a.n {+ORDER BY u.id LIMIT 2|ORDER BY u.id DESC LIMIT 1 OFFSET 1|UNION ALL SELECT a.id}) x
SELECT a.id, c.id FROM t a JOIN u c ON {+rand() > 2|a.id IN (SELECT id FROM u)|EXISTS (SELECT 1 FROM u WHERE u.n = a.n)|a.n = (SELECT max(n) FROM u)|sum(a.n) > 1|row_number() OVER (ORDER BY a.id) = 1|explode(array(1)) = 1}
`)

var setOperations = shaped(`
SELECT {any} AS p FROM t {+UNION|UNION ALL|INTERSECT|INTERSECT ALL|EXCEPT|EXCEPT ALL|MINUS} SELECT {any} FROM u
SELECT {num} AS p, {s} FROM t {+UNION|UNION ALL|INTERSECT|INTERSECT ALL|EXCEPT|EXCEPT ALL} SELECT {num}, {txt} FROM u
SELECT {T:any} AS p, n FROM t {+UNION|UNION ALL|INTERSECT|EXCEPT ALL} SELECT {T}, n FROM u {+UNION|UNION ALL|INTERSECT ALL|EXCEPT} SELECT {T}, id FROM u
(SELECT n, t FROM t {+UNION ALL|EXCEPT|INTERSECT} SELECT n, t FROM u) {+UNION|UNION ALL|INTERSECT|EXCEPT} (SELECT {+n|i64|d9|num|n + 1}, t FROM u)
SELECT n FROM t {+UNION|UNION ALL|INTERSECT|EXCEPT} SELECT {+n, t|t|b|day|ai|m|NULL|1|'1'|1.5|v} FROM u
SELECT array({i32}) AS p FROM t UNION ALL SELECT array({num}) FROM u
SELECT named_struct('a', {num}, 'b', {T:any}) AS p FROM t {+UNION ALL|UNION|EXCEPT} SELECT named_struct('{+a|c}', {num}, 'b', {T}) FROM u
SELECT map({t}, {num}) AS p FROM t UNION ALL SELECT map({t}, {num}) FROM u WHERE t IS NOT NULL
SELECT * FROM (SELECT id, n FROM t UNION ALL SELECT id, n FROM u) {+ORDER BY id, n LIMIT 5|ORDER BY 2, 1 LIMIT 3 OFFSET 2|WHERE n > 1|ORDER BY ALL LIMIT 4}
SELECT id, n FROM t WHERE {b} UNION ALL SELECT id, n FROM u WHERE {b} ORDER BY {+id, n|n, id|1, 2|n NULLS LAST, id DESC|nope} LIMIT {+0|3|3 + 1|NULL|-1|'x'|100}
SELECT id FROM t {+INTERSECT|EXCEPT} SELECT id FROM u ORDER BY id OFFSET {+0|1|2 + 1|-1|100}
SELECT DISTINCT {ord} AS p, {+n|t|b} FROM t {+UNION|UNION ALL} VALUES ({+NULL|1|'x'}, {+1|NULL|'a'})
`)

var groupings = shaped(`
SELECT {+n|t|b}, {+day|i8|s|ai|st}, count(*) AS c, {+grouping_id()|grouping(n)|grouping(b)|grouping_id(n, day)|grouping_id(t, s)|sum(n)} AS g FROM t GROUP BY {+ROLLUP (n, day)|CUBE (t, s)|GROUPING SETS ((b, i8), (b), ())|n, ROLLUP (day)|b, CUBE (st, t)|GROUPING SETS (n, (n, day))|n, day WITH ROLLUP|t, s WITH CUBE|ROLLUP ((b, ai), t)|n, GROUPING SETS ((day), ())|CUBE (n), ROLLUP (day)|GROUPING SETS (ROLLUP (n, day), CUBE (b, s))}
SELECT n, t, count(*), sum(i32) AS s FROM t GROUP BY {+ROLLUP (n, t)|CUBE (n, t)|GROUPING SETS ((n), (t), (n, t))} HAVING {+grouping(n) = 0|grouping_id() > 0|count(*) > 1|n IS NULL|t > 'a'|sum(id) > 3 AND grouping(t) = 1|s > 0}
SELECT {T:ord} AS k, n, {+count(*)|sum(x)|min(t)|max({T:ord})} AS c FROM t GROUP BY ROLLUP (k, n)
SELECT coalesce(n, -1) AS k, upper(t) AS u, count(*) FROM t GROUP BY {+CUBE (coalesce(n, -1), upper(t))|ROLLUP (k, u)|ROLLUP (1, 2)|k, u|1, 2|ALL|1, upper(t)|3|0|1, n}
SELECT {+n|n + 1|n % 2|t, n|{ord}} AS k{+|, b}, {+count(*)|sum(n)|sum(n) + 1|count(*) * 2|max(x) - min(x)} AS c FROM t GROUP BY {+ALL|k|1|k, b|n|n % 2|n + 1}
SELECT n, {+sum(id)|count(*)|avg(i32)} AS s FROM t GROUP BY n HAVING {+s > 2|count(*) > 1|max(id) IN (SELECT id FROM u)|EXISTS (SELECT 1 FROM u WHERE u.n = t.n)|n > 1 OR n IS NULL|sum(id) > (SELECT avg(id) FROM u)|id > 1|(SELECT max(u.id) FROM u WHERE u.n = t.n) > 1}
SELECT {+count(DISTINCT n)|count(DISTINCT n, t)|sum(DISTINCT n)|avg(DISTINCT i8)|count(DISTINCT {ord})|max(DISTINCT x)|count(DISTINCT ai)|count(DISTINCT m)|sum(DISTINCT d9)|count(DISTINCT st)} AS a, {+count(DISTINCT t)|sum(n)|sum(DISTINCT n) FILTER (WHERE b)|count(*) FILTER (WHERE {b})|count(DISTINCT n, b)|count(n)} AS c FROM t {+|GROUP BY b|GROUP BY t|GROUP BY n % 2|GROUP BY ROLLUP (b)}
SELECT b, sort_array(collect_set({ord})) AS a, size(collect_list({any})) AS c, sort_array(collect_list(DISTINCT n)) AS d FROM t GROUP BY b
SELECT t, listagg({+t|DISTINCT t|s|bin|n|cast(n AS STRING)}{+|, ','|, '; '|, NULL|, n}) WITHIN GROUP (ORDER BY {+t|s|n DESC|id|bin}) AS l FROM t GROUP BY t
SELECT {+percentile_cont(0.25)|percentile_disc(0.5)|percentile_cont(array(0.1, 0.9))|percentile_disc(1.5)|percentile_cont(n)|mode()|percentile_disc(NULL)} WITHIN GROUP (ORDER BY {+x|n DESC|d9|dsi|ymi|id|t|{num}}) AS p FROM t {+|GROUP BY b}
SELECT {+max_by|min_by}({any}, {+id|{ord}|n * 100 + id|m}) AS p, {+any_value(1)|first(7)|last('x')|every(b)|bool_or({b})|some(b)|count_if(n > 1)|mode(1)|approx_count_distinct(n, 0.1)|bit_xor(i64)|regr_intercept(x, n)|regr_sxy(x, n)|regr_avgx(n, x)|percentile(n, array(0.0, 0.5), 2)|median(d9)|try_sum(i64)|try_avg(d20)|skewness(n)|max_by(t, id, 3)|kurtosis(x)|covar_samp(x, n)|corr(n, x)} AS q FROM t {+|GROUP BY b|GROUP BY n|WHERE false|WHERE false GROUP BY n}
SELECT sum({num}) AS a, avg({num}) AS c, sum({+dsi|ymi|n|d20}) AS d FROM t {+|GROUP BY b|WHERE id < 3|WHERE n IS NULL}
SELECT {+n|t|id} FROM t GROUP BY {+b|n|count(*)|sum(n)|rand()|m|v|explode(ai)|ROLLUP (n)|()|GROUPING SETS (())|NULL|'a'|true}
SELECT {+count(*)|sum(count(*))|sum(sum(n))|max(n) + n|count(*) OVER ()|sum(count(*)) OVER ()|rank() OVER (ORDER BY sum(n))|sum(n) OVER (ORDER BY count(*))|sum(sum(n)) OVER (PARTITION BY b)|max(explode(ai))|explode(collect_list(n))|sum(rand())|count(row_number() OVER (ORDER BY n))} AS a FROM t GROUP BY b
SELECT b, count(*) AS c, row_number() OVER (ORDER BY b) AS r, sum(count(*)) OVER (ORDER BY b {+|ROWS UNBOUNDED PRECEDING|DESC}) AS s FROM t GROUP BY {+b|ALL|ROLLUP (b)} {+|HAVING count(*) > 1|ORDER BY c, b|ORDER BY sum(n), b}
SELECT n AS k, k + 1 AS j, {+sum(id) AS s, s + 1 AS z|count(*) AS s, s * k AS z|max(t) AS s, upper(s) AS z} FROM t GROUP BY {+n|k|ALL}
SELECT {+k|n} AS q, c FROM (SELECT n AS k, count(*) AS c FROM t GROUP BY n) WHERE {+c > 1|k IS NULL|n > 1}
SELECT window.start, window.end, count(*) AS c, {+sum(n)|max(t)|min(window.start)} AS s FROM t GROUP BY window({+ts|ntz}, '{+10 minutes|1 day|1 day', '6 hours|1 hour', '20 minutes', '5 minutes}')
SELECT session_window.start, count(*) AS c FROM t GROUP BY session_window(ts, {+'1 day'|'5 years'|CASE WHEN b THEN '1 day' ELSE '100 days' END})
`)

var frames = shaped(`
SELECT id, {+sum(n)|count(*)|avg(x)|min({ord})|max({ord})|count({any})|first_value({any})|last_value({any})|nth_value({any}, 2)|stddev(x)|collect_list(n)|max_by(t, id)|sum(d9)|bool_and(b)|first(n, true)|last(t) IGNORE NULLS|nth_value(n, 1) IGNORE NULLS|any_value(n)|count_if(b)|approx_count_distinct(n)|sum(dsi)|avg(ymi)|sum(n) FILTER (WHERE b)|listagg(t, ',')|array_agg(b)|sort_array(collect_set(n))} OVER ({+|PARTITION BY n|PARTITION BY t, b|PARTITION BY {ord}} ORDER BY id{+| DESC} {+|ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING|ROWS UNBOUNDED PRECEDING|ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING|ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING|ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING|ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING|RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING|RANGE BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING|RANGE BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING|ROWS BETWEEN 3 PRECEDING AND 3 PRECEDING|ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING|ROWS BETWEEN -1 PRECEDING AND 2 FOLLOWING|ROWS BETWEEN 1 + 1 PRECEDING AND CURRENT ROW|ROWS BETWEEN n PRECEDING AND CURRENT ROW|ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW|RANGE BETWEEN CURRENT ROW AND CURRENT ROW|ROWS CURRENT ROW}) AS w FROM t
SELECT id, {+sum(n)|count(*)|min(x)|max(t)|avg(n)|count(b)} OVER ({+|PARTITION BY b|PARTITION BY t} ORDER BY {+n|i8|i16|i64|x|f32|f64|d9|d20|day|ts|ntz} {+|DESC|NULLS LAST|DESC NULLS FIRST} RANGE BETWEEN {+1 PRECEDING AND 1 FOLLOWING|UNBOUNDED PRECEDING AND 1 FOLLOWING|CURRENT ROW AND 2 FOLLOWING|2 PRECEDING AND 1 PRECEDING|1 FOLLOWING AND UNBOUNDED FOLLOWING|1.5 PRECEDING AND CURRENT ROW|INTERVAL 1 DAY PRECEDING AND INTERVAL 1 DAY FOLLOWING|INTERVAL '1' MONTH PRECEDING AND CURRENT ROW|INTERVAL 10 YEARS PRECEDING AND INTERVAL 1 YEAR FOLLOWING|INTERVAL '5' HOUR PRECEDING AND CURRENT ROW|1L PRECEDING AND CURRENT ROW|'1' PRECEDING AND CURRENT ROW|NULL PRECEDING AND CURRENT ROW}) AS w FROM t
SELECT id, {+sum(n)|count(*)|min(n)} OVER ({+ORDER BY dsi RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW|ORDER BY ymi RANGE BETWEEN INTERVAL '1' YEAR PRECEDING AND CURRENT ROW|ORDER BY t RANGE BETWEEN 1 PRECEDING AND CURRENT ROW|ORDER BY n, id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW|ORDER BY n, t RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW|ROWS BETWEEN 1 PRECEDING AND CURRENT ROW|RANGE UNBOUNDED PRECEDING|ORDER BY b|ORDER BY m|PARTITION BY m|PARTITION BY v|ORDER BY ai|PARTITION BY rand()|ORDER BY sum(n)|PARTITION BY (SELECT 1)|ORDER BY 1|PARTITION BY ai, st|ORDER BY st, n|DISTRIBUTE BY n SORT BY id}) AS w FROM t
SELECT id, {+row_number()|rank()|dense_rank()|percent_rank()|cume_dist()|ntile(2)|ntile(3)|ntile(0)|ntile(n)|ntile(100)|rank(n)|row_number(1)|ntile()|ntile(NULL)|ntile(2L)} OVER ({+|PARTITION BY n|PARTITION BY t, b} ORDER BY {+id|n, id|id DESC NULLS LAST|{ord}, id}{+|| ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW| ROWS BETWEEN 1 PRECEDING AND CURRENT ROW}) AS w FROM t
SELECT id, {+lag|lead}({+n|n, 1|n, 2, -1|n, -1|n, 0|{any}|{any}, 2|t, 1, 'none'|n, 1, t|n, id|n, NULL|n, 1, NULL|n, 1, 1.5|n, 1.5|n, '1'|ai, 1, array()}){+|| IGNORE NULLS| RESPECT NULLS} OVER ({+|PARTITION BY b|PARTITION BY n} ORDER BY id{+|| DESC| ROWS BETWEEN 1 PRECEDING AND CURRENT ROW}) AS w FROM t
SELECT id, {+row_number() OVER w|sum(n) OVER w|sum(n) OVER (w)|sum(n) OVER (w ROWS 1 PRECEDING)|sum(n) OVER (PARTITION BY b)|max(t) OVER nope|lag(n) OVER W} AS p, {+count(*) OVER w|min(x) OVER x|rank() OVER w} AS q FROM t WINDOW w AS (PARTITION BY t ORDER BY id){+|, x AS (ORDER BY id)|, w AS (ORDER BY n)|, x AS (w)|, x AS w}
SELECT id, {+sum(DISTINCT n) OVER (PARTITION BY b)|count(DISTINCT n) OVER ()|sum(row_number() OVER (ORDER BY id)) OVER ()|row_number() OVER ()|lag(n) OVER ()|rank() OVER (PARTITION BY n)|sum(n) OVER (ORDER BY row_number() OVER (ORDER BY id))|upper('x') OVER ()|explode(ai) OVER ()|first_value(n) OVER (PARTITION BY b ORDER BY id) + sum(n) OVER (PARTITION BY b)|nth_value(n, 0) OVER (ORDER BY id)|nth_value(n, n) OVER (ORDER BY id)|nth_value(n, NULL) OVER (ORDER BY id)|sum(n) OVER (ORDER BY id) / count(*) OVER ()|CASE WHEN row_number() OVER (ORDER BY id) = 1 THEN 'a' END|count(*) FILTER (WHERE n > 1) OVER (ORDER BY id)|row_number() FILTER (WHERE b) OVER (ORDER BY id)|percentile(x, 0.5) OVER (PARTITION BY b)|median(n) OVER (PARTITION BY t)|mode(1) OVER ()|percentile_cont(0.5) WITHIN GROUP (ORDER BY x) OVER (PARTITION BY b)|max_by(n, id) OVER (PARTITION BY b)} AS w FROM t
SELECT id FROM t {+WHERE row_number() OVER (ORDER BY id) = 1|GROUP BY id HAVING rank() OVER (ORDER BY id) < 3|ORDER BY row_number() OVER (ORDER BY id DESC), id|QUALIFY row_number() OVER (PARTITION BY n ORDER BY id) = 1|WHERE sum(n) > 1|WHERE explode(ai) = 1|LIMIT row_number() OVER (ORDER BY id)}
SELECT n, id, dense_rank() OVER (PARTITION BY b ORDER BY n {+|DESC}{+|NULLS FIRST|NULLS LAST}, {ord}) AS p, count(*) OVER (PARTITION BY b ORDER BY n) AS q, last_value(n) OVER (PARTITION BY b ORDER BY n) AS l FROM t
`)

var pivots = shaped(`
SELECT * FROM (SELECT {+n, t, b|t, n|n, t, id} FROM t) PIVOT ({+count(*)|sum(n)|max(n) AS m|count(n), max(n) AS m|count(*) AS c, sum(n) AS s|n|sum(n) + 1|first(1)|avg(n) AS a, count(DISTINCT n)} FOR {+t|(t)} IN ('a', {+'b'|'b' AS q|'ab' AS ` + "`x y`" + `, NULL|1|'a'|n}))
SELECT * FROM (SELECT n, t, b, id FROM t) PIVOT (max(id){+| AS m, min(id) AS l} FOR (t, b) IN (('a', true){+| AS p}, ('b', {+false|NULL|'x'}){+| AS q}))
SELECT * FROM (SELECT {+n|b|i8|day|d9|x} AS k, id, t FROM t) PIVOT (count(*) {+|AS c} FOR k IN ({+1, 2|1, 2, 3 AS three|true, false|'2024-02-29', '1970-01-01' AS epoch|1.5|NULL|array(1)|1 + 1|(SELECT 1)}))
SELECT * FROM (SELECT n, t, id FROM t) PIVOT (sum(id) FOR n IN (1, 2)) {+|WHERE t = 'a'|ORDER BY t|AS p|AS p (a, b, c)|AS p (a)}
SELECT * FROM (SELECT id, n, {+i8|i64|x|d9|t|b|{num}} AS k FROM t) UNPIVOT {+|INCLUDE NULLS|EXCLUDE NULLS} ({+v FOR c IN (n, k)|v FOR c IN (n AS a, k AS ` + "`b c`" + `)|(v, w) FOR c IN ((n, k))|(v, w) FOR c IN ((n, k) AS p, (id, n) AS q)|v FOR c IN (n, nope)|v FOR c IN (n)|v FOR n IN (k)|(v, w) FOR c IN ((n, k), (id, n, k))})
SELECT c, sum(v) AS s FROM (SELECT id, n, i8, i32 FROM t) UNPIVOT (v FOR c IN (n, i8{+|, i32})) {+|AS u}{+| WHERE v > 0} GROUP BY c
`)

var correlated = shaped(`
SELECT id, (SELECT {+max(u.id)|count(*)|sum(u.n)|count(u.n) + 1|min({u.ord})|max(u.id) FILTER (WHERE u.b)|coalesce(sum(u.n), 0)|u.id|first(u.n)|avg(t.n)|max(u.n + t.n)|any_value(7)|count(DISTINCT u.t)} FROM u WHERE {+u.n = t.n|u.n < t.n|u.n = t.n AND u.t = t.t|u.id = t.id|u.n <=> t.n|u.n = t.n AND {u.b}|u.n + 1 = t.n|t.n = 1|t.b AND u.id = t.id|u.n = t.n OR u.id = t.id|true|upper(u.t) = upper(t.t)}) AS m FROM t
SELECT id FROM t WHERE {+n|n + 1|coalesce(n, 0)|{t.i32}} {+IN|NOT IN} (SELECT {+u.n|u.n + 1|max(u.n)|{u.i32}} FROM u {+|WHERE u.t = t.t|WHERE u.id < t.id|WHERE u.n IS NOT NULL|GROUP BY u.t|WHERE u.n = t.n LIMIT 1|WHERE u.b OR t.b})
SELECT id FROM t WHERE {+|NOT} EXISTS (SELECT {+1|*|u.n|max(u.n)} FROM u WHERE {+u.n = t.n|u.n < t.n|u.t = t.t AND {u.b}|u.n = t.n OR t.b|t.n > 1|u.n = t.n AND EXISTS (SELECT 1 FROM t x WHERE x.id = u.id)|false|u.st = t.st|u.n = t.n HAVING count(*) > 1|u.n = t.n LIMIT 1|u.n = t.n OFFSET 1}) {+|AND {t.b}|OR n = 1}
SELECT id FROM t WHERE n {+>|=|<=|<>} (SELECT {+max(n)|min(n)|avg(n)|count(*)|n} FROM u {+|WHERE u.t = t.t|WHERE u.id < t.id|WHERE false|WHERE u.n = t.n})
SELECT id, n IN (SELECT n FROM u{+| WHERE u.t = t.t}) AS p, EXISTS (SELECT 1 FROM u WHERE u.n = t.n) AS q, {+n NOT IN (SELECT n FROM u)|(n, t) IN (SELECT n, t FROM u)|(n, t) NOT IN (SELECT n, t FROM u)|st IN (SELECT st FROM u)|n IN (SELECT t FROM u)|n IN (SELECT n, t FROM u)|t IN (SELECT n FROM u)|n IN (SELECT i64 FROM u)|n = ANY (SELECT n FROM u)} AS r FROM t
SELECT id FROM t ORDER BY {+(SELECT max(u.id) FROM u WHERE u.n = t.n), id|EXISTS (SELECT 1 FROM u WHERE u.n = t.n), id|n IN (SELECT n FROM u), id} LIMIT 5
SELECT n, max(id) AS m, (SELECT {+max(id) FROM u|count(*) FROM u WHERE u.n = t.n|count(*) FROM u WHERE u.id = max(t.id)|1} ) AS s FROM t GROUP BY {+n|n, (SELECT max(id) FROM u)|ALL}
SELECT id, CASE WHEN {+n IN (SELECT n FROM u)|EXISTS (SELECT 1 FROM u WHERE u.t = t.t)|(SELECT max(b) FROM u WHERE u.n = t.n)} THEN {T:any} ELSE {T} END AS c FROM t
SELECT a.id, c.id FROM t a {+JOIN|LEFT JOIN|FULL JOIN} u c ON a.n = c.n AND {+a.id IN (SELECT id FROM u)|EXISTS (SELECT 1 FROM u x WHERE x.n = a.n)|c.id = (SELECT max(id) FROM u)|a.id > (SELECT count(*) FROM u x WHERE x.t = c.t)}
SELECT id, (SELECT sum(z.q) FROM (SELECT u.n AS q FROM u WHERE u.t = t.t {+|UNION ALL SELECT t.n|ORDER BY u.id LIMIT 2}) z) AS m FROM t
SELECT id, (SELECT (SELECT max(x.id) FROM t x WHERE x.n = u.n) FROM u WHERE u.id = t.id) AS m FROM t
SELECT id, (SELECT {+id|n|nope|*|id, n|1} FROM u{+| LIMIT 1| WHERE id = 1| WHERE u.id = t.id}) AS m FROM t
SELECT (SELECT max(n) FROM t) + (SELECT min(n) FROM u) AS a, {+(SELECT 1 WHERE false)|(SELECT max(id) FROM u WHERE id < 0)|EXISTS (SELECT 1)|1 IN (SELECT id FROM u)|ARRAY(SELECT 1)} AS c
SELECT id, (SELECT sum(w) FROM (SELECT u.n, row_number() OVER (ORDER BY u.id) AS w FROM u WHERE u.n = t.n)) AS m FROM t
SELECT id, (SELECT count(*) FROM u, t x WHERE u.n = t.n AND x.id = u.id) AS m, (SELECT max(x.id) FROM u {+JOIN|LEFT JOIN} t x ON x.n = u.n WHERE u.t = t.t) AS k FROM t
`)

var commonTables = shaped(`
WITH w AS (SELECT n, count(*) AS c FROM u GROUP BY n){+|, v AS (SELECT * FROM w WHERE c > 1)|, w AS (SELECT 1)} SELECT {+*|n|c + 1 AS d} FROM {+w|v|w JOIN w x USING (n)|t JOIN w USING (n)|w a, w c WHERE a.n = c.n}
WITH w(a, c) AS (SELECT n, t FROM t) SELECT {+a, c|n|*} FROM w {+|WHERE a > 1|ORDER BY a, c LIMIT 3}
WITH w(a{+|, c, d}) AS (SELECT n, t FROM t) SELECT * FROM w
WITH RECURSIVE r(k, z) AS (SELECT {+1, 'a'|id, t FROM t WHERE id < 2|0, NULL|1L, cast('a' AS STRING)|{i32}, {s} FROM t WHERE id = 1} UNION {+ALL} SELECT k + 1, {+z|concat(z, 'b')|upper(z)} FROM r WHERE k < {+3|5|0}) SELECT * FROM r
WITH RECURSIVE r AS (SELECT id, n, 0 AS lvl FROM t WHERE {+id = 0|n = 1|true} UNION ALL SELECT t.id, t.n, r.lvl + 1 FROM t {+JOIN|LEFT JOIN|RIGHT JOIN} r ON {+t.id = r.n|t.id = r.id + 1|t.n = r.id + 1} WHERE r.lvl < 3) SELECT {+*|count(*)|lvl, count(*)|max(lvl)} FROM r {+|GROUP BY lvl|WHERE lvl > 0}
WITH RECURSIVE r(k) AS (SELECT 1 UNION ALL SELECT {+sum(k) FROM r|k + 1 FROM r ORDER BY k|DISTINCT k + 1 FROM r WHERE k < 3|k + 1 FROM r, r x WHERE k < 3|k FROM (SELECT k + 1 AS k FROM r) WHERE k < 4|k + 1 FROM r WHERE k < (SELECT max(id) FROM t)|k + 1 FROM r WHERE k IN (SELECT k FROM r)|k + 1.5 FROM r WHERE k < 3|'x' FROM r WHERE k < 3|k + 1, 2 FROM r}) SELECT * FROM r
SELECT id, (WITH w AS (SELECT max(n) AS m FROM u WHERE u.t = t.t) SELECT m FROM w) AS q FROM t
SELECT * FROM (WITH w AS (SELECT n FROM t) SELECT n, count(*) AS c FROM w GROUP BY n) WHERE c > 1
`)

var orders = shaped(`
SELECT id, {+n|t|{ord}} AS o FROM t ORDER BY {+o|n|1|2|o, id|ALL|id DESC|upper(t), id|-n, id|o + 1, id|3|0|count(*)|m|v|(SELECT 1)|rand(1)|explode(ai)|id + 1|o DESC NULLS LAST, id} {+|LIMIT 0}
SELECT id FROM t ORDER BY {+id|n DESC, id|{ord}, id} {+LIMIT 3|LIMIT 3 OFFSET 2|OFFSET 3|LIMIT ALL|LIMIT 2 + 1|LIMIT NULL|LIMIT id|LIMIT -1|LIMIT 1.5|LIMIT '2'|OFFSET -1|LIMIT 3L|OFFSET NULL|LIMIT cast('3' AS INT)}
SELECT DISTINCT {+n, t|b, n % 2 AS m|{ord} AS p|n AS n, n AS m} FROM t {+|ORDER BY n|ORDER BY id|ORDER BY 1|ORDER BY ALL|WHERE {b}}
SELECT id AS i, i + 1 AS j, j * 2 AS k, {+k + j|upper(t)|(i, j)|{num}|n AS n, n + i|id AS x, x AS x, x} FROM t {+|WHERE i > 2|WHERE id > 2|ORDER BY k LIMIT 3}
SELECT {+t.*|t.* EXCEPT (v, m)|* EXCEPT (nope)|u.*|struct(id, n).*|st.*|named_struct('a', 1, 'b', t).*|n.*|count(*)|count(n, t)|id, *|* EXCEPT (st.x)|array(id, n)} FROM t
SELECT {+T.ID|t.id|u.id|spark_catalog.default.t.id|id.x|st.x.y|st['x']|ai[0]|ai['a']|m.a|m['a']|ast.x|ast[0].y|nest.b.c|aa[0][1]|nope|st.nope|ai.x|t|` + "`id`|`t.id`" + `} AS p FROM t
SELECT /*+ {+BROADCAST(t)|COALESCE(1)|REPARTITION(2)|NOPE|MERGE(u)|SHUFFLE_HASH(t, u)} */ t.id FROM t {+|JOIN u ON t.n = u.n|WHERE {b}}
FROM t |> {+WHERE n > 1 |> SELECT id, n|EXTEND n + 1 AS k |> WHERE k > 2 |> SELECT id, k|SET n = n + 1 |> SELECT id, n|DROP m, v |> AGGREGATE count(*) AS c GROUP BY t|AGGREGATE sum(n) AS s, max(id) GROUP BY n % 2 AS k, b|AS x JOIN u ON x.n = u.n |> SELECT x.id, u.id AS j|SELECT id, n |> ORDER BY n, id |> LIMIT 3|SELECT n |> UNION ALL SELECT n FROM u |> AGGREGATE count(*) GROUP BY n|SELECT n, t |> PIVOT (count(*) FOR t IN ('a', 'b'))|SELECT id, n, i8 |> UNPIVOT (v FOR c IN (n, i8))|SELECT sum(n)|WHERE sum(n) > 1|AGGREGATE n GROUP BY t|EXTEND sum(n) OVER (PARTITION BY b) AS s |> SELECT id, s|SELECT id |> TABLESAMPLE (100 PERCENT)|SET nope = 1|DROP nope|SELECT id, n |> LEFT JOIN (SELECT n, id AS j FROM u) USING (n)|SELECT id |> EXCEPT SELECT id FROM u|AGGREGATE GROUP BY n|AGGREGATE count(*)|SELECT id, n |> RENAME n AS k|EXTEND id AS i, i + 1 AS j |> SELECT i, j|SELECT id |> ORDER BY id DESC |> OFFSET 2|LIMIT 0 |> SELECT id}
`)

var generated = shaped(`
SELECT id, {+explode|explode_outer|posexplode|posexplode_outer}({+{arr}|{m}|mi|aa|array()|map()|NULL|n|array(NULL)|split(t, '')|ast|array(n, id)|sequence(1, n)}) {+|AS p|AS (p)|AS (p, q)|AS (p, q, r)} FROM t
SELECT id, {+inline|inline_outer}({+ast|array(struct(n, t))|array(st, st)|arrays_zip(ai, as)|array()|ai|NULL|array(named_struct('a', n), NULL)}) FROM t
SELECT id, x.* FROM t LATERAL VIEW {+|OUTER} {+explode(ai)|posexplode(as)|explode(m)|inline(ast)|explode(array(n, id))|stack(2, n, id)|explode(NULL)|upper(t)|explode(n)|json_tuple(to_json(st), 'x', 'y')|explode(array())} x {+|AS p|AS p, q|AS p, q, r}
SELECT id, p, q FROM t LATERAL VIEW {+|OUTER} explode(aa) x AS p LATERAL VIEW {+|OUTER} explode(p) y AS q {+|WHERE q > 1|WHERE p IS NULL}
SELECT t.id, x.* FROM t{+, LATERAL| LEFT JOIN LATERAL| JOIN LATERAL} {+explode(t.ai)|explode_outer(t.m)|posexplode(t.as)|inline(t.ast)|stack(2, t.n, t.id)|explode(array(t.n, NULL))|variant_explode(t.v)|json_tuple(to_json(t.st), 'x')} AS x
SELECT * FROM {+range(3)|range(1, 5, 2)|range(5, 1, -2)|range(n)|range(0)|range(1, 3, 0)|explode(array(1, 2))|stack(2, 1, 'a', 2, 'b')|stack(2, 1, 2, 3)|stack(0, 1)|inline(array(struct(1, 'a')))|posexplode(map(1, 2))|range('3')|range(1.5)|range(NULL)|range(1, 2, 3, 4, 5)|nope(1)|upper('x')|explode(1)} {+|AS x|AS x (p)|x (p, q)}
SELECT {+stack(2, n, id)|stack(2, n, t, id, s)|stack(3, n, id)|stack(1, n)|stack(n, 1)|explode(ai) + 1|array(explode(ai))|explode(explode(aa))|explode(ai), explode(as)|json_tuple('{"a":1}', 'a', 'b')|explode(collect_list(n))|max(explode(ai))|sum(n), explode(array(1, 2))} FROM t
SELECT id, e FROM (SELECT id, explode(ai) AS e FROM t) WHERE {+e > 1|e IS NULL|e IN (SELECT n FROM u)} {+|ORDER BY e, id LIMIT 3}
`)
