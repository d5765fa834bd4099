"""Records spark_order.json from an Apache Spark 4.2.0 server with two cores: record_order.py sc://HOST:PORT FILE."""
import json, sys
from pyspark.sql import SparkSession
s = SparkSession.builder.remote(sys.argv[1]).create()
import random
r = random.Random(11)
words = ['ab','b','cde','dog','e','fox','g','hat','i','jar','kite','lamp']
vals = ', '.join("('%s', %s, %s, %s)" % (r.choice(words), r.randint(0,20), r.choice(["'x'","'y'","'z'","NULL"]), r.choice(['1.5','2.25','0.1','7.3','NULL'])) for _ in range(60))
setup = ["CREATE TEMPORARY VIEW t AS SELECT * FROM VALUES %s AS t(w, n, k, d)" % vals,
  "CREATE TEMPORARY VIEW small AS SELECT * FROM VALUES (1,'a'),(2,'b'),(3,'c'),(1,'d'),(9,'e'),(NULL,'f') AS small(n, v)"]
for q in setup: s.sql(q)
queries = """SELECT w, count(*) c FROM t GROUP BY w
SELECT k, sum(n) s FROM t GROUP BY k
SELECT k, n, count(*) c FROM t GROUP BY k, n
SELECT DISTINCT k, n FROM t
SELECT DISTINCT k FROM t
SELECT 'a' a, k, count(*) c FROM t GROUP BY 1, 2
SELECT n, k, max(d) m FROM t GROUP BY n, k, n
SELECT k, max(w) m FROM t GROUP BY k
SELECT n, min(w) m, sum(d) s FROM t GROUP BY n
SELECT w, collect_list(n) l FROM t GROUP BY w
SELECT id % 300 a, collect_list(id) l FROM range(300) GROUP BY id % 300
SELECT id % 30 a, collect_list(id) l FROM range(60) GROUP BY id % 30
SELECT w, count(DISTINCT n) c FROM t GROUP BY w
SELECT k, count(DISTINCT w) c FROM t GROUP BY k
SELECT n % 3 m, sum(n) s FROM t GROUP BY n % 3
SELECT k, n % 3 m, count(*) c FROM t GROUP BY ROLLUP (k, n % 3)
SELECT k, n % 3 m, grouping_id() g FROM t GROUP BY CUBE (k, n % 3)
SELECT id % 7 a, count(*) c FROM range(0, 50, 1, 1) GROUP BY id % 7
SELECT id % 7 a, count(*) c FROM range(0, 50, 1, 3) GROUP BY id % 7
SELECT a, count(*) c FROM (SELECT id % 7 a FROM range(50) LIMIT 20) GROUP BY a
SELECT c, count(*) m FROM (SELECT w, count(*) c FROM t GROUP BY w) GROUP BY c
SELECT w, c, count(*) m FROM (SELECT w, sum(n) c FROM t GROUP BY w) GROUP BY w, c
SELECT w, first(n) f FROM (SELECT * FROM t ORDER BY w) GROUP BY w
SELECT w FROM t UNION SELECT k FROM t
SELECT n FROM t INTERSECT SELECT n FROM small
SELECT n FROM t EXCEPT SELECT n FROM small
SELECT t.w, t.n, v FROM t JOIN small ON t.n = small.n
SELECT t.w, t.n, v FROM small JOIN t ON t.n = small.n
SELECT t.w, t.n, v FROM t LEFT JOIN small ON t.n = small.n
SELECT t.w, t.n, small.n m, v FROM t RIGHT JOIN small ON t.n = small.n
SELECT t.w, t.n, small.n m, v FROM t FULL JOIN small ON t.n = small.n
SELECT t.w, t.n, v FROM t FULL JOIN small ON t.n = small.n AND v > 'a'
SELECT a.n, b.id FROM small a CROSS JOIN range(2) b
SELECT b.id, a.n FROM range(2) b CROSS JOIN small a
SELECT k, session_window(ts, '5 minutes').start s, count(*) c FROM (SELECT timestamp_seconds(id * (id % 5) * 100) ts, string(id % 7) k FROM range(40)) GROUP BY k, session_window(ts, '5 minutes')
SELECT id, spark_partition_id() p FROM (SELECT /*+ REPARTITION(3) */ * FROM range(20))
SELECT id, spark_partition_id() p FROM (SELECT /*+ REPARTITION(3, id) */ * FROM range(20))
SELECT id, spark_partition_id() p FROM (SELECT /*+ REPARTITION_BY_RANGE(3, id) */ * FROM range(20))
SELECT id, spark_partition_id() p FROM (SELECT /*+ REPARTITION(id) */ * FROM range(20))
SELECT id, spark_partition_id() p FROM (SELECT /*+ COALESCE(2) */ * FROM range(0, 20, 1, 5))
SELECT id, spark_partition_id() p FROM (SELECT * FROM range(20) DISTRIBUTE BY id % 3 SORT BY id DESC)
SELECT w, n, k, d, spark_partition_id() p FROM (SELECT /*+ REPARTITION(4) */ * FROM t)
SELECT x, y, spark_partition_id() p FROM (SELECT /*+ REPARTITION(4) */ array(n, n) x, named_struct('a', w, 'b', map(w, k)) y, CAST(n AS DECIMAL(30, 2)) z, CAST(NULL AS DECIMAL(20, 1)) u, CAST(w AS BINARY) b, CAST(n AS FLOAT) f, n > 5 g, array(k, w) h, CAST(n AS SMALLINT) i, CAST(n AS TINYINT) j, array(CAST(n AS SMALLINT)) l FROM t)
SELECT w, n, spark_partition_id() p FROM t SORT BY w, n
SELECT id, spark_partition_id() p, monotonically_increasing_id() m FROM range(9)
SELECT w, spark_partition_id() p, monotonically_increasing_id() m FROM t
SELECT w, count(*) c, spark_partition_id() p FROM t GROUP BY w
SELECT k, rand(3) r FROM (SELECT DISTINCT k FROM t)
SELECT id, rand(5) r FROM range(9)
SELECT id, randn(5) r FROM range(200)""".split('\n')
cases = []
for q in queries:
    rows = [x[0] for x in s.sql("SELECT to_json(struct(*)) j FROM (%s)" % q).collect()]
    cases.append({"sql": q, "rows": rows})
for conf in ["spark.sql.adaptive.enabled=false", "spark.sql.shuffle.partitions=5"]:
    k, v = conf.split('=')
    s.conf.set(k, v)
    for q in queries[:16]:
        q += ''
        rows = [x[0] for x in s.sql("SELECT to_json(struct(*)) j FROM (SELECT *, spark_partition_id() p FROM (%s))" % q).collect()]
        cases.append({"set": conf, "sql": "SELECT *, spark_partition_id() p FROM (%s)" % q, "rows": rows})
    s.conf.unset(k)
json.dump({"note": "recorded from Apache Spark 4.2.0, local[2]", "setup": setup, "cases": cases}, open(sys.argv[2], "w"), indent=0)
