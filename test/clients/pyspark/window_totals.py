"""Windowed totals with an unmodified PySpark client: JSON files, a watermark, update mode, a memory table.

window_totals.py sc://HOST:PORT DIR. The second run goes on from the first one's checkpoint.
"""
import json
import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

remote, base = sys.argv[1:3]
source = os.path.join(base, "events")
os.makedirs(source)


def write(name, *events):
    """One file of (time, user, amount), there at once."""
    hidden = os.path.join(source, "." + name)
    with open(hidden, "w", encoding="utf-8") as f:
        for time, user, amount in events:
            f.write(json.dumps({"ts": "2026-01-01 " + time, "user": user, "amount": amount}) + "\n")
    os.rename(hidden, os.path.join(source, name))


def run(spark, table):
    """Runs the query over what is there and returns its table."""
    events = (spark.readStream.schema("ts TIMESTAMP, user STRING, amount INT").json(source)
              .withWatermark("ts", "5 minutes"))
    totals = events.groupBy(F.window("ts", "10 minutes")).agg(F.sum("amount").alias("total"))
    query = (totals.writeStream.format("parquet" if table is None else "memory").queryName(table or "files")
             .outputMode("append" if table is None else "update").trigger(availableNow=True)
             .option("checkpointLocation", os.path.join(base, "checkpoint", table or "files"))
             .start(*[os.path.join(base, "out")] if table is None else []))
    assert query.awaitTermination(240) is True, query.status
    assert query.exception() is None, query.exception()
    out = spark.read.parquet(os.path.join(base, "out")) if table is None else spark.table(table)
    rows = out.selectExpr("date_format(window.start, 'HH:mm') AS start", "total").orderBy("start").collect()
    return [tuple(r) for r in rows]


def expect(got, want):
    if got != want:
        sys.exit("want %s, got %s" % (want, got))


spark = SparkSession.builder.remote(remote).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")

write("a.json", ("10:01:00", "u0", 10), ("10:04:00", "u1", 20))
write("b.json", ("10:12:00", "u0", 30))
expect(run(spark, "totals"), [("10:00", 30), ("10:10", 30)])

# Files, append mode: a window comes out once the watermark has passed its end, over a restart too.
expect(run(spark, None), [])
write("c.json", ("10:16:00", "u1", 5))
expect(run(spark, None), [("10:00", 30)])
write("d.json", ("10:30:00", "u0", 7), ("10:03:00", "late", 99))
expect(run(spark, None), [("10:00", 30), ("10:10", 35)])
spark.stop()
