"""Handles, the manager and listeners of streaming queries with an unmodified PySpark client.

streams.py sc://HOST:PORT DIR
"""
import json
import os
import sys
import time
import uuid

from pyspark.errors import IllegalArgumentException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQueryListener

remote, base = sys.argv[1:3]
source = os.path.join(base, "in")
os.makedirs(source)


def expect(got, want):
    if got != want:
        sys.exit("want %s\ngot  %s" % (want, got))


def write(name, *values):
    hidden = os.path.join(source, "." + name)
    with open(hidden, "w", encoding="utf-8") as f:
        for v in values:
            f.write(json.dumps({"v": v}) + "\n")
    os.rename(hidden, os.path.join(source, name))


def until(what, condition):
    end = time.time() + 240
    while not condition():
        if time.time() > end:
            sys.exit("this did not come true: " + what)
        time.sleep(0.02)


class Events(StreamingQueryListener):
    def __init__(self):
        self.seen = []

    def onQueryStarted(self, event):
        self.seen.append(("started", str(event.runId)))

    def onQueryProgress(self, event):
        self.seen.append(("progress", str(event.progress.runId), event.progress.batchId, event.progress.numInputRows))

    def onQueryIdle(self, event):
        self.seen.append(("idle", str(event.runId)))

    def onQueryTerminated(self, event):
        self.seen.append(("terminated", str(event.runId), event.errorClassOnException))


spark = SparkSession.builder.remote(remote).create()
events = Events()
spark.streams.addListener(events)
write("a.json", 1, 2)
numbers = spark.readStream.schema("v INT").json(source)
expect(numbers.isStreaming, True)

q = numbers.writeStream.format("memory").queryName("t").start()
q.processAllAvailable()
expect(spark.table("t").count(), 2)
write("b.json", 3)
q.processAllAvailable()
expect(sorted(r.v for r in spark.table("t").collect()), [1, 2, 3])
expect(q.isActive, True)
expect(q.name, "t")
expect(q.lastProgress.name, "t")
expect([p.batchId for p in q.recentProgress if p.numInputRows > 0], [0, 1])
expect(q.awaitTermination(1), False)
expect(q.exception(), None)
expect([x.id for x in spark.streams.active], [q.id])
expect(spark.streams.get(q.id).runId, q.runId)
expect(spark.streams.get(str(uuid.uuid4())), None)
try:
    numbers.writeStream.format("memory").queryName("t").start()
    sys.exit("a second query of the same name")
except IllegalArgumentException:
    pass
q.stop()
expect(q.isActive, False)
expect(q.status["message"], "Stopped")
expect(spark.streams.active, [])
expect(spark.streams.awaitAnyTermination(240), True)
spark.streams.resetTerminated()
expect(spark.streams.awaitAnyTermination(1), False)

bad = numbers.selectExpr("1 / (v - 2) AS x").writeStream.format("memory").queryName("bad").start()
try:
    bad.awaitTermination()
    sys.exit("a division by zero went through")
except StreamingQueryException as e:
    expect(e.getCondition(), "STREAM_FAILED")
    if "DIVIDE_BY_ZERO" not in str(e):
        sys.exit(str(e))
if "DIVIDE_BY_ZERO" not in str(bad.exception()):
    sys.exit("exception: %s" % bad.exception())

until("the listener saw both queries end", lambda: sum(e[0] == "terminated" for e in events.seen) == 2)
run = str(q.runId)
mine = [e for e in events.seen if e[1] == run]
expect(mine[0], ("started", run))
expect(mine[-1], ("terminated", run, None))
expect([e[2:] for e in mine if e[0] == "progress"], [(0, 2), (1, 1)])
expect([e[2] for e in events.seen if e[0] == "terminated" and e[1] != run], ["DIVIDE_BY_ZERO"])
spark.streams.removeListener(events)
spark.stop()
