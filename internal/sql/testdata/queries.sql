# Queries that must read as printed, one a line.
SELECT FROM t
SELECT * FROM
SELECT * FROM t WHERE
SELECT 1 FROM range(1) GROUP
SELECT 1 from
SELECT 1 order
SELECT a FROM range(1) LIMIT
SELECT id LIKE ANY ('a','b') FROM range(1)
SELECT id BETWEEN 1 AND 2, id IS TRUE, id != 1, id <> 1, NOT id = 1, id IN (1,2), id NOT IN (1) FROM range(1)
SELECT true IS TRUE, 'a' || 'b', 1 & 2, 1 << 2, ~1, -id, +id, - 1, -1, id IS DISTINCT FROM 1, CAST(id AS string), id::string from range(1)
SELECT case when id=1 then 2 else 3 end, case id when 1 then 2 end, count(*) from range(1) group by id
SELECT INTERVAL 1 DAY, INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH, INTERVAL 5 MINUTES 3 SECONDS, INTERVAL '1 day 2 hours', INTERVAL 1 WEEK, DATE'2020-01-01', TIMESTAMP'2020-01-01 00:00:00', X'1F', 1.5, 1e5, 1.5BD, 2L, 3Y
SELECT extract(year from date'2020-01-01'), substring('abc' from 2), trim(both 'a' from 'aba'), trim(both from 'a'), position('a' in 'ba'), timestampadd(day, 1, date'2020-01-01'), dateadd(day, 1, date'2020-01-01'), overlay('abc' placing 'x' from 2)
SELECT 'a' "b", 'a''b', r'\n', "x""y"
SELECT 1;
SELECT id[0] FROM
SELECT * FROM range(1) WATERMARK id DELAY OF INTERVAL 5 MINUTES
SELECT * FROM (select timestamp'2020-01-01' ts) WATERMARK ts DELAY OF INTERVAL 5 MINUTES
SELECT * FROM (select '2020-01-01' s) WATERMARK to_timestamp(s) as ts DELAY OF INTERVAL 5 MINUTES x
FROM range(1) |> WHERE id = 0 |> SELECT id + 1
SELECT current_date, current_timestamp, current_user, user, session_user, current_time, localtimestamp, current_catalog
FROM range(1)
SELECT * FROM range(2) WHERE 1 IN ((select 1 union all select 2))
SELECT substr('abc',2), substring('abc',2,1), trim('a','aba'), btrim('a')
SELECT struct(1 a, 2), (1, 2), (1 as x, 2 y), struct()
SELECT first(id ignore nulls), last(id), any_value(id) from range(1)
SELECT transform(array(1), x -> x + 1), transform(array(1), (x, i) -> x + i), aggregate(array(1), 0, (acc, x) -> acc + x)
SELECT id::int::string, -1::int, -id::int, id + 1::int FROM range(1)
SELECT 1 = 1 = true, 1 + 2 * 3, 2 & 3 | 4 ^ 5, 1 < 2 is null, not 1 = 2 and true
SELECT a.* except (id) from range(1) a
SELECT * except (id), 1 x from range(1)
SELECT grouping_id(), count(*) from range(1) group by cube(id, (id, id))
SELECT id, count(*) from range(1) group by id with rollup
SELECT id % 2 k, count(*) from range(4) group by all
SELECT * from range(3) order by all
SELECT * FROM (select 1 a, 2 b) PIVOT (sum(a) FOR b IN (2, 3 AS x))
SELECT * FROM (select 1 a, 2 b) PIVOT (sum(a) s, max(a) FOR b IN (2, 3 AS x)) p
SELECT * FROM (select 1 a, 2 b, 3 c) UNPIVOT (v FOR n IN (a, b AS bee))
SELECT * FROM (select 1 a, 2 b, 3 c) UNPIVOT INCLUDE NULLS ((v, w) FOR n IN ((a, b) AS x, (b, c)))
VALUES 1, 2
VALUES (1, 2), (3, 4) AS t(a, b)
SELECT * FROM VALUES (1, 'a'), (2, 'b') t(k, v)
TABLE range
SELECT explode(array(1,2)) AS x, stack(1, 1, 2) AS (a, b)
SELECT stack(1, 1, 2) (a, b)
SELECT * FROM range(2) t(x) LATERAL VIEW explode(array(x)) e AS y
SELECT * FROM range(2) t(x) LATERAL VIEW explode(array(x)) AS y
SELECT * FROM range(2) t(x) LATERAL VIEW OUTER explode(array(x)) e
SELECT * FROM range(2) t(x), LATERAL (SELECT x + 1 y)
SELECT * FROM range(2) t(x) JOIN LATERAL (SELECT x + 1 y) ON true
SELECT * FROM LATERAL (SELECT 1)
SELECT * FROM t TABLESAMPLE (5 ROWS)
SELECT * FROM t TABLESAMPLE (50 PERCENT) REPEATABLE (3) x
SELECT * FROM t TABLESAMPLE (BUCKET 1 OUT OF 2)
SELECT /*+ BROADCAST(a), COALESCE(1) */ * FROM range(10) a
SELECT row_number() OVER (PARTITION BY id ORDER BY id DESC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) r FROM range(2)
SELECT sum(id) OVER w FROM range(2) WINDOW w AS (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)
SELECT sum(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM range(2)
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM range(2)
SELECT count(*) FILTER (WHERE id > 0) FROM range(2)
SELECT IDENTIFIER('id') FROM range(1)
SELECT IDENTIFIER('up' || 'per')('x')
SELECT * FROM IDENTIFIER('ran' || 'ge')(2)
SELECT 1 UNION SELECT 2 EXCEPT SELECT 1 INTERSECT SELECT 3 MINUS SELECT 4
WITH t(a) AS (SELECT 1), u AS (SELECT a + 1 b FROM t) SELECT * FROM t, u
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r
SELECT timestampadd(foo, 1, current_date)
SELECT * FROM range(1) JOIN range(2) USING (id)
SELECT sum(id) over (order by id rows between 1 following and unbounded following) from range(1)
SELECT a from values (1) t(a) where exists (select 1) and not exists (select 2)
SELECT (select 1) + 1, ((select 1) + 1), ((1))
SELECT 'a' 'b' AS c, 'x' y
SELECT current_database, current_catalog, current_schema
SELECT collate('a', 'UTF8_LCASE'), 'a' collate utf8_lcase
SELECT * FROM range(1) AS
SELECT DISTINCT FROM range(1)
SELECT x -> x
SELECT EXTRACT(foo FROM current_date)
VALUES (1), (2, 3)
SELECT * FROM a.b.c.d
SELECT a FROM t1, t2 JOIN t3 ON a = b WHERE x
SELECT 'it''s', "say ""hi""", 'a\nb', '\u0041', '\101', '%\%_\_', 'a\qb', r'a\nb', R"x'y"
SELECT 1e5, 1E-5D, .5, 5., 1.5e3BD, 0x1F
SELECT 1a
SELECT 1a FROM range(1)
SELECT 5.a
SELECT `a``b` FROM range(1)
SELECT `` FROM range(1)
SELECT 1 == 1, 1 <=> null, 1 <> 2, 1 != 2, !true
SELECT NOT 1 = 1 OR true AND false
SELECT a IS NOT DISTINCT FROM b FROM values (1, 2) t(a, b)
SELECT 1 BETWEEN 0 AND 2 AND true
SELECT 'a' LIKE 'b' OR 'c' NOT LIKE 'd' ESCAPE '!' , 'a' RLIKE 'b', 'a' REGEXP 'b', 'a' NOT ILIKE 'b'
SELECT 'a' LIKE ALL ('a', 'b'), 'a' NOT LIKE ANY ('a', 'b'), 'a' LIKE SOME ('a')
SELECT 1 -- comment
SELECT 1 --comment
SELECT 1 /* a /* nested */ b */ + 2
SELECT /* + not a hint */ 1
SELECT /*+ FOO BAR(1, x) */ 1
SELECT count(DISTINCT 1, 2), count(ALL 1), sum(DISTINCT 1)
SELECT max(struct(1 AS a)).a
SELECT array(1,2)[0], map('a', 1)['a'], named_struct('x', 1).x, (array(1))[0]
SELECT cast('1' as decimal(10, 2)), cast(1 as array<map<string, struct<a: int, b: array<int>>>>)
SELECT 1::decimal(10,2)::string, array(1)::array<bigint>[0]
SELECT cast('a' as string collate utf8_lcase)
SELECT cast('1' as interval day to second)
SELECT try_cast('a' as int)
SELECT date_add(current_date(), 1), date_add(DAY, 1, current_date()), datediff(current_date(), current_date()), datediff(DAY, current_date(), current_date())
SELECT day FROM (select 1 day, 2 year, 3 month, 4 date, 5 timestamp, 6 interval)
SELECT date, timestamp, interval, year FROM (select 1 day, 2 year, 3 month, 4 date, 5 timestamp, 6 interval)
SELECT date + 1 FROM (select 4 date)
SELECT interval + 1, interval - 1 FROM (select 6 interval)
SELECT user, table, order, group, select, where, left, right FROM (select 1 user, 2 table, 3 `order`, 4 group, 5 select, 6 where, 7 left, 8 right)
SELECT left('abc', 1), right('abc', 1), if(true, 1, 2), replace('a', 'b'), mod(1, 2), any(true), some(true), every(true)
SELECT `left`.id FROM range(1) `left`
SELECT a.id FROM range(1) a LEFT JOIN range(1) b ON a.id = b.id
SELECT a.id FROM range(1) a LEFT SEMI JOIN range(1) b USING (id)
SELECT a.id FROM range(1) a ANTI JOIN range(1) b USING (id)
SELECT a.id FROM range(1) a LEFT JOIN range(1) b
SELECT * FROM range(1) a CROSS JOIN range(1) b ON true
SELECT * FROM range(1) a NATURAL LEFT JOIN range(1) b
SELECT * FROM (range(1) a JOIN range(2) b)
SELECT * FROM (range(1) a JOIN range(2) b) c
SELECT * FROM ((SELECT 1 a)) x
SELECT * FROM ((SELECT 1 a) UNION ALL (SELECT 2)) x
SELECT * FROM ((SELECT 1 a) x JOIN (SELECT 2 b) y)
(SELECT 1) UNION (SELECT 2) ORDER BY 1 LIMIT 1
((SELECT 1))
SELECT 1 LIMIT 1 OFFSET 1
SELECT 1 LIMIT ALL
SELECT id FROM range(3) DISTRIBUTE BY id SORT BY id DESC
SELECT id FROM range(3) CLUSTER BY id
SELECT id FROM range(3) HAVING id > 1
SELECT sum(id) FROM range(3) HAVING sum(id) > 1
SELECT id FROM range(3) GROUP BY id, HAVING
SELECT id, sum(id) FROM range(3) GROUP BY GROUPING SETS ((id), ())
SELECT id, sum(id) FROM range(3) GROUP BY id GROUPING SETS ((id), ())
SELECT id, sum(id) FROM range(3) GROUP BY id, ROLLUP(id)
SELECT id, sum(id) FROM range(3) GROUP BY GROUPING SETS (ROLLUP(id), CUBE(id), ())
SELECT * FROM STREAM nosuch
SELECT * FROM STREAM(nosuch)
SELECT * FROM STREAM nosuch WATERMARK ts DELAY OF INTERVAL 5 MINUTES
SELECT * FROM STREAM range(5)
SELECT * FROM STREAM(range(5))
SELECT * FROM nosuch VERSION AS OF 1
SELECT * FROM nosuch TIMESTAMP AS OF '2020-01-01'
SELECT * FROM nosuch FOR SYSTEM_TIME AS OF current_date()
SELECT * FROM nosuch WITH (`a` = 1, 'b' = 'c')
SELECT * FROM json.`/tmp/x`
FROM range(2) |> AGGREGATE sum(id) s GROUP BY id % 2 AS k
FROM range(2) |> EXTEND id + 1 AS x |> SET x = x + 1 |> DROP id |> AS q |> SELECT q.x |> ORDER BY x |> LIMIT 1 OFFSET 1
FROM range(2) |> UNION ALL SELECT 1 |> JOIN range(2) b USING (id)
FROM range(2) |> SELECT id |> PIVOT (sum(id) FOR id IN (1))
FROM range(2) |> SELECT id |> TABLESAMPLE (50 PERCENT)
FROM range(2) |>
FROM range(2) SELECT id WHERE id > 0
SELECT sum(id) OVER () FROM range(1)
SELECT sum(id) OVER (w) FROM range(1) WINDOW w AS (PARTITION BY id), v AS w
SELECT sum(id) OVER (PARTITION BY id ORDER BY id RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM range(1)
SELECT sum(id) over FROM range(1)
SELECT sum(id) FILTER (WHERE id > 1) OVER (PARTITION BY id), lag(id) IGNORE NULLS OVER (ORDER BY id) FROM range(1)
SELECT transform(array(1), x -> x.a.b)
SELECT filter(array(1), (x, y) -> x > y AND x IN (1, 2)), exists(array(1), x -> x > 0), forall(array(1), x -> x > 0)
SELECT mask(str => 'abc', upperChar => 'X')
SELECT * FROM range(start => 1, end => 3)
SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1)
SELECT 1 WHERE (1, 2) IN (SELECT 1, 2)
SELECT 1 WHERE 1 NOT IN (SELECT 1)
SELECT (SELECT max(id) FROM range(3)) AS m
SELECT 1 WHERE (SELECT 1) = (SELECT 1)
SELECT interval '1' year + date'2020-01-01', date'2020-01-01' - interval 1 month - interval 2 days
SELECT INTERVAL '1' DAY '2' HOUR, INTERVAL 1 DAY 2 HOURS - INTERVAL 3 MINUTES, - INTERVAL 1 DAY, INTERVAL -1 DAY, INTERVAL -'1-2' YEAR TO MONTH, INTERVAL '-1' DAY
SELECT INTERVAL 1.5 SECONDS, INTERVAL 100 MILLISECONDS, INTERVAL 1 MICROSECOND, INTERVAL '1 02:03:04.5' DAY TO SECOND, INTERVAL '02:03' HOUR TO MINUTE
SELECT TIMESTAMP_NTZ'2020-01-01 00:00:00', TIMESTAMP_LTZ'2020-01-01 00:00:00+02:00', TIMESTAMP'2020-01-01T00:00:00Z', TIMESTAMP'2020-01-01 1:2:3.5 Europe/Berlin', TIME'12:34:56', DATE'2020', DATE'2020-1-2', DATE'epoch'
SELECT TIMESTAMP_NTZ'2020-01-01 00:00:00Z'
SELECT CURRENT_DATE(), CURRENT_TIMESTAMP(), now(), CURRENT_USER(), USER()
SELECT TRIM(LEADING FROM ' a'), TRIM(TRAILING 'x' FROM 'ax'), TRIM('x' FROM 'ax'), TRIM(' a '), LTRIM('a'), TRIM(BOTH)
SELECT position('a', 'ba'), position('a' IN 'ba'), substring('abc' FROM 2 FOR 1), substring('abc', 2), overlay('abc' PLACING 'x' FROM 1 FOR 2)
SELECT a.*, b.* FROM range(1) a, range(1) b
SELECT * EXCEPT (id) FROM range(1)
SELECT struct(*) FROM range(1)
SELECT map(1, 2), array(), struct(), named_struct('a', 1)
SELECT date('2020-01-01'), timestamp('2020-01-01'), int('1'), string(1), decimal('1'), binary('a'), boolean('true')
SELECT grouping(id), grouping_id(id) FROM range(1) GROUP BY CUBE(id)
FROM range(3) |> WHERE id > 0 ORDER BY id DESC LIMIT 1
SELECT 1 id UNION ALL FROM range(3) |> WHERE id > 1
SELECT 1 id INTERSECT FROM range(3) |> WHERE id > 1 UNION ALL SELECT 5
FROM range(3) |> UNION ALL SELECT 1 UNION ALL SELECT 2
FROM range(3) |> UNION ALL (SELECT 1) |> LIMIT 1
WITH x AS (SELECT 1 a) FROM x |> SELECT a
FROM range(3) |> SELECT sum(id) OVER w s WINDOW w AS (ORDER BY id)
VALUES (1), (2) |> WHERE col1 > 1
TABLE nosuch |> WHERE true
(SELECT 1 a) |> SELECT a + 1
FROM range(3) |> AS q |> JOIN range(2) r ON q.id = r.id |> SELECT q.id
FROM range(3) |> AGGREGATE count(*) AS c, sum(id)
FROM range(3) |> AGGREGATE GROUP BY id
FROM range(3) |> ORDER BY id |> LIMIT 2 |> OFFSET 1
FROM range(3) |> SET id = 2, id = 3
FROM range(3) |> EXTEND id AS x, x + 1 AS y
FROM range(3) |> DROP id, nosuch
FROM range(3) |> SELECT DISTINCT id
FROM VALUES 1, LATERAL (SELECT 2)
SELECT date'2020-01-01' + interval 1 day * 2
SELECT 'a' || 'b' LIKE 'ab'
SELECT 1 IN (SELECT 1) AS x
SELECT ANY(true), ALL(true)
SELECT -(1), -(-1), - - 1, +1, + +1
SELECT 1 + + 1, 1 - - 1, 1 -- 1
SELECT a.* FROM (SELECT struct(1 x) a)
SELECT (a).x, (a)['x'], a.x, a['x'] FROM (SELECT struct(1 x) a)
SELECT 1 AS (a)
SELECT 1 AS (a, b)
SELECT * AS x FROM range(1)
SELECT CAST(1 AS STRING) COLLATE UNICODE
SELECT 1::INT::STRING || 'a'
SELECT EXTRACT(DAY FROM INTERVAL '1' DAY)
SELECT CEIL(1.5), CEILING(1.5, 1)
SELECT CURRENT_TIMESTAMP(3)
SELECT `a`.`b` FROM (SELECT struct(1 b) a)
SELECT t.`a b` FROM (SELECT 1 `a b`) t
SELECT t . a FROM (SELECT 1 a) t
SELECT 1 WHERE true GROUP BY 1 ORDER BY 1
SELECT 1 FROM range(1) WHERE true HAVING true
SELECT DISTINCT(id) FROM range(1)
SELECT ALL id FROM range(1)
SELECT DISTINCT id, id FROM range(1)
SELECT all FROM (SELECT 1 all)
SELECT count(all) FROM (SELECT 1 all)
SELECT count(distinct) FROM (SELECT 1 distinct)
SELECT sum(DISTINCT id) FROM range(1)
SELECT count(DISTINCT id, id) FROM range(1)
SELECT CASE id WHEN 0 THEN 'z' ELSE 'n' END case FROM range(1)
SELECT case, end FROM (SELECT 1 case, 2 end)
SELECT x.case FROM (SELECT 1 case) x
SELECT max(id) FILTER (WHERE id > 0) AS filter FROM range(1)
SELECT filter FROM (SELECT 1 filter)
SELECT over FROM (SELECT 1 over)
SELECT id over, id filter, id within, id ignore FROM range(1)
SELECT sum(id) filter FROM range(1)
SELECT sum(id) within FROM range(1)
SELECT sum(id) ignore FROM range(1)
SELECT sum(id) nulls FROM range(1)
SELECT id not FROM range(1)
SELECT id desc FROM range(1)
SELECT id asc, id nulls, id first, id last FROM range(1) ORDER BY asc DESC, nulls
SELECT * FROM range(1) where
SELECT * FROM range(1) window
SELECT * FROM range(1) tablesample
SELECT * FROM range(1) pivot
SELECT * FROM range(1) watermark
SELECT * FROM range(1) limit
SELECT * FROM range(1) set
SELECT * FROM range(1) having
SELECT * FROM range(1) values
SELECT * FROM values
SELECT * FROM (values 1)
SELECT * FROM stream
SELECT * FROM stream s
SELECT * FROM table
SELECT * FROM table(range(3))
SELECT * FROM range(TABLE(range(3)))
SELECT * FROM lateral
SELECT * FROM natural
SELECT * FROM range(1) a, range(2) b JOIN range(3) c ON a.id = c.id
SELECT * FROM range(1) RIGHT JOIN range(2) USING (id)
SELECT * FROM range(1) INNER JOIN range(2) ON true
SELECT * FROM range(1) FULL JOIN range(2) b USING (id)
SELECT * FROM range(1) LEFT OUTER JOIN LATERAL (SELECT 1) ON true
SELECT * FROM range(1), LATERAL range(2)
SELECT * FROM range(1), LATERAL explode(array(1)) AS e(x)
SELECT 0x
SELECT 1 ; ;
SELECT f(a => 1, 2)
