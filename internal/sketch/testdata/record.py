"""Records the images that Apache Spark 4.2.0 makes of sketches of the numbers from 0 to n-1: python record.py sc://host:port"""
import json
import pathlib
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
cases = []


def ask(kind, k, n, value, estimate="0"):
    row = spark.sql("select hex(v), %s from (select %s as v from range(0, %d, 1, 1))" % (estimate, value, n)).collect()[0]
    cases.append({"kind": kind, "k": k, "n": n, "image": row[0], "estimate": row[1]})


for k in (4, 7, 8, 11):
    for n in (0, 1, 7, 8, 9, 24, 25, 90, 200, 3000):
        ask("hll", k, n, "hll_sketch_agg(id, %d)" % k, "hll_sketch_estimate(v)")
        row = spark.sql("select hex(v), hll_sketch_estimate(v) from (select /*+ COALESCE(1) */ %s as v from (select /*+ COALESCE(1) */ x from (select hll_sketch_agg(id, %d) as x from range(0, %d, 1, 1) union all select hll_sketch_agg(id + 50, %d) from range(0, %d, 1, 1))))" % ("hll_union_agg(x)", k, n, k, n)).collect()[0]
        cases.append({"kind": "hll union", "k": k, "n": n, "image": row[0], "estimate": row[1]})
for k in (4, 6, 12):
    for n in (0, 1, 2, 15, 16, 31, 33, 100, 1000):
        ask("theta", k, n, "theta_sketch_agg(id, %d)" % k, "theta_sketch_estimate(v)")
        ask("doubles", k, n, "tuple_sketch_agg_double(id, id * 0.5D, %d)" % k, "tuple_sketch_estimate_double(v)")
        ask("integers", k, n, "tuple_sketch_agg_integer(id, cast(id as int), %d, 'max')" % k, "tuple_sketch_estimate_integer(v)")
        x, y = "theta_sketch_agg(id, %d)" % k, "theta_sketch_agg(id + 10, %d)" % k
        ask("intersection", k, n, "theta_intersection(%s, %s)" % (x, y), "theta_sketch_estimate(v)")
        ask("difference", k, n, "theta_difference(%s, %s)" % (x, y), "theta_sketch_estimate(v)")
for n in (0, 1, 2, 7):
    ask("longs", 8, n, "kll_sketch_agg_bigint(id, 8)", "kll_sketch_get_n_bigint(v)")
    ask("floats", 8, n, "kll_sketch_agg_float(cast(id as float), 8)", "kll_sketch_get_n_float(v)")
for n in (0, 1, 5, 100):
    ask("count", 1, n, "count_min_sketch(id, 0.1D, 0.9D, 1)")
    ask("count texts", 42, n, "count_min_sketch(repeat('aé', cast(id as int)), 0.1D, 0.9D, 42)")
out = pathlib.Path(__file__).parent / "images.json"
out.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(len(cases))
