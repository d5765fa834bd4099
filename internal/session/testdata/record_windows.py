"""Records windows.jsonl: what Apache Spark 4.2.0 answers to queries with window functions.

    python record_windows.py sc://HOST:PORT > windows.jsonl

The first line holds the views that the others read. A row is recorded as JSON text, an error by its condition.
"""

import json
import random
import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

SIZES = [0, 1, 5, 23, 60, 200]
VIEW = """CREATE OR REPLACE TEMP VIEW w{0} AS SELECT id, CAST(id % 4 AS INT) p, CAST(IF(id % 7 = 0, NULL, (id * 37) % 11) AS INT) k,
 CAST(IF(id % 5 = 1, NULL, (id * 13) % 17 - 8) AS INT) v, CAST(IF(id % 6 = 2, NULL, ((id * 29) % 23) / 8.0) AS DOUBLE) d,
 IF(id % 9 = 4, NULL, concat('s', CAST((id * 5) % 13 AS STRING))) s, CAST(IF(id % 8 = 3, NULL, ((id * 17) % 31) * 1.25) AS DECIMAL(8,2)) m,
 date_add(DATE'2024-01-25', CAST((id * 11) % 40 AS INT)) dt,
 TIMESTAMP'2024-03-09 00:00:00' + make_dt_interval(0, CAST((id * 7) % 50 AS INT)) ts, id % 3 = 0 b FROM range({0})""".replace("\n", "")

ROWS = ["", "rows between unbounded preceding and current row", "rows between 2 preceding and 1 following",
        "rows between 3 preceding and 1 preceding", "rows between 1 following and 4 following",
        "rows between current row and unbounded following", "rows between unbounded preceding and unbounded following",
        "rows between unbounded preceding and 2 preceding", "rows 1 preceding", "rows between 50 preceding and 50 following"]
RANGES = {
    "k": ["range between 2 preceding and 1 following", "range between current row and 3 following",
          "range between unbounded preceding and 1 preceding", "range between 1 following and unbounded following",
          "range between current row and current row"],
    "d": ["range between 0.5 preceding and 0.25 following"],
    "m": ["range between 3 preceding and 1.5 following"],
    "dt": ["range between 3 preceding and current row", "range between interval 5 days preceding and interval 2 days following",
           "range between interval 1 month preceding and current row"],
    "ts": ["range between interval 5 hours preceding and interval 3 hours following",
           "range between interval 1 day preceding and current row"],
}
AGGREGATES = ["sum(v)", "sum(d)", "sum(m)", "avg(v)", "avg(d)", "avg(m)", "count(*)", "count(s)", "min(s)", "max(d)", "min(dt)", "max(v)",
              "collect_list(v)", "first_value(v)", "last_value(s)", "first_value(v) ignore nulls", "last_value(s) ignore nulls",
              "nth_value(v,2)", "nth_value(s,2) ignore nulls", "max_by(s,v)", "count_if(b)", "bool_or(b)", "stddev_pop(d)", "var_samp(v)",
              "corr(v,d)", "sum(v) filter (where b)", "count(*) filter (where v > 0)", "first(s) filter (where b)", "any_value(v)",
              "bit_xor(v)", "try_sum(v)", "skewness(d)", "approx_count_distinct(k)", "min_by(k,d)", "listagg(s, ',')"]
RANKS = ["row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)", "lag(v)", "lead(s,2)", "lag(v,3,-99)",
         "lead(d) ignore nulls", "lag(s,2,'none') ignore nulls", "lag(m,1,v)", "lead(v,-2)", "lag(v,0)", "lead(dt,1,CAST(ts AS DATE))"]
# What these give depends on the order of equal rows, or on that of additions.
BY_ORDER = ("list", "first", "last", "nth", "any_value", "by(", "sum(d", "avg(d", "stddev", "corr", "skew")

WRITTEN = """
SELECT row_number() OVER (ORDER BY id) rn, rn + 1 AS next FROM w5
SELECT id, row_number() OVER (PARTITION BY p ORDER BY id) rn FROM w23 QUALIFY rn = 1
SELECT id FROM w23 QUALIFY max(v) OVER (PARTITION BY p) = v
SELECT p, sum(v) t FROM w23 GROUP BY p QUALIFY rank() OVER (ORDER BY t) = 1
SELECT p, sum(v) t FROM w23 GROUP BY p HAVING t > 1 QUALIFY rank() OVER (ORDER BY t) = 1
SELECT DISTINCT p FROM w23 QUALIFY count(*) OVER (PARTITION BY p) > 5
SELECT id FROM w23 QUALIFY id = 1
SELECT p, sum(sum(v)) OVER () AS t FROM w23 GROUP BY p
SELECT sum(sum(v)) OVER (ORDER BY p) AS t FROM w23
SELECT sum(row_number() OVER (ORDER BY id)) OVER (ORDER BY id DESC) AS t FROM w5
SELECT id, count(*) OVER w AS c, sum(v) OVER u AS t FROM w5 WINDOW w AS (ORDER BY id), u AS (PARTITION BY p)
SELECT count(*) OVER w AS c FROM w5
SELECT count(DISTINCT v) OVER () AS c FROM w5
SELECT row_number() OVER () AS c FROM w5
SELECT row_number() OVER (ORDER BY id ROWS 1 PRECEDING) AS c FROM w5
SELECT rank() IGNORE NULLS OVER (ORDER BY id) AS c FROM w5
SELECT rank() FILTER (WHERE b) OVER (ORDER BY id) AS c FROM w5
SELECT sum(v) IGNORE NULLS OVER (ORDER BY id) AS c FROM w5
SELECT ntile(0) OVER (ORDER BY id) AS c FROM w5
SELECT ntile(v) OVER (ORDER BY id) AS c FROM w5
SELECT lag(v, v) OVER (ORDER BY id) AS c FROM w5
SELECT nth_value(v, 0) OVER (ORDER BY id) AS c FROM w5
SELECT nth_value(v, '2') OVER (ORDER BY id) AS c FROM w5
SELECT abs(v) OVER (ORDER BY id) AS c FROM w5
SELECT median(v) OVER (ORDER BY id) AS c FROM w5
SELECT median(v) OVER (PARTITION BY p) AS c FROM w23
SELECT sum(v) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM w5
SELECT sum(v) OVER (ORDER BY k, v RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM w5
SELECT sum(v) OVER (ORDER BY s RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM w5
SELECT sum(v) OVER (ORDER BY ts RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM w5
SELECT sum(v) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 1 HOUR FOLLOWING) AS c FROM w5
SELECT sum(v) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) AS c FROM w5
SELECT sum(v) OVER (ORDER BY id ROWS BETWEEN 1.5 PRECEDING AND 1 PRECEDING) AS c FROM w5
SELECT sum(v) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) AS c FROM w5
SELECT sum(v) OVER (ORDER BY id ROWS BETWEEN v PRECEDING AND CURRENT ROW) AS c FROM w5
SELECT sum(v) OVER (ORDER BY 2147483647 RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING) AS c FROM w5
SELECT sum(v) OVER (PARTITION BY map(1, 2)) AS c FROM w5
SELECT sum(v) FILTER (WHERE row_number() OVER (ORDER BY id) > 1) OVER () AS c FROM w5
SELECT id FROM w5 WHERE row_number() OVER (ORDER BY id) = 1
""".strip().splitlines()


def queries(n):
    r = random.Random(7)
    for _ in range(n):
        items = []
        for i in range(r.randint(2, 4)):
            part = r.choice(["", "partition by p ", "partition by p, b ", "partition by s ", "partition by k "])
            key = r.choice(["k", "k", "d", "m", "dt", "ts", "s", "v"])
            order = f"order by {key}" + r.choice(["", " desc", " asc nulls last", " desc nulls first"])
            if r.random() < 0.4:
                f, frame, order = r.choice(RANKS), "", order + ", id"
            else:
                f = r.choice(AGGREGATES)
                if r.random() < 0.5 and key in RANGES and not any(x in f for x in BY_ORDER):
                    frame = r.choice(RANGES[key])
                else:
                    frame, order = r.choice(ROWS), order + ", id"
            items.append(f"{f} over ({part}{order} {frame}) as c{i}")
        yield f"select id, {', '.join(items)} from w{r.choice(SIZES)}"


def main():
    spark = SparkSession.builder.remote(sys.argv[1]).create()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    views = [VIEW.format(n) for n in SIZES]
    for v in views:
        spark.sql(v).collect()
    print(json.dumps({"views": views}))
    for q in [*WRITTEN, *queries(120)]:
        out = {"query": q}
        try:
            rows = spark.sql(f"SELECT to_json(struct(*), map('ignoreNullFields', 'false')) j FROM ({q})").collect()
            out["rows"] = sorted(r.j for r in rows)
        except PySparkException as e:
            out["class"], out["state"] = e.getCondition(), e.getSqlState() or ""
        print(json.dumps(out), flush=True)


main()
