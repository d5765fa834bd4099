#!/usr/bin/env python3
"""Kafka to Kafka, side by side over Spark Connect: throughput and end-to-end latency.

  kafka_bench.py --bootstrap 127.0.0.1:9092 --remote millrace=sc://… --remote spark=sc://…

throughput: N events (JSON) already in a topic of 4 partitions -> from_json -> 10-second windows by user with a
watermark -> Kafka in update mode, availableNow; rows per second. latency: events produced at a fixed rate, each with
its send time -> from_json -> filter and projection -> Kafka with the default trigger; milliseconds from send
to receipt by a consumer, after a warm-up of 5 s.

Needs: a real broker (kafka.sh), pyspark-client, confluent-kafka, numpy.
"""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
import uuid

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SCHEMA = "ts TIMESTAMP, user STRING, amount INT, sent BIGINT"
EPOCH = 1767225600


def topic(bootstrap, partitions):
    name = "bench-" + uuid.uuid4().hex[:12]
    admin = AdminClient({"bootstrap.servers": bootstrap})  # must outlive its futures
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(30)
    return name


def fill(bootstrap, name, n, users):
    p = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "batch.size": 1 << 20,
                  "queue.buffering.max.messages": 1_000_000, "compression.type": "lz4"})
    for i in range(n):
        sec = EPOCH + i // 1000
        value = '{"ts":"%s","user":"u%d","amount":%d,"sent":0}' % (
            time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(sec)), i * 7919 % users, i % 1000)
        p.produce(name, value)
        if i % 20000 == 0:
            p.poll(0)
    p.flush(120)


def source(spark, bootstrap, name):
    return (spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
            .option("subscribe", name).option("startingOffsets", "earliest").load()
            .select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("e")).select("e.*"))


def sink(df, bootstrap, name, ckpt):
    return (df.writeStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
            .option("topic", name).option("checkpointLocation", ckpt))


def throughput(spark, a, filled):
    tmp = tempfile.mkdtemp(prefix="kbench-")
    out = topic(a.bootstrap, 4)
    try:
        df = (source(spark, a.bootstrap, filled).withWatermark("ts", "30 seconds")
              .groupBy(F.window("ts", "10 seconds"), "user").agg(F.sum("amount").alias("total"))
              .select(F.to_json(F.struct("window", "user", "total")).alias("value")))
        start = time.perf_counter()
        q = sink(df, a.bootstrap, out, os.path.join(tmp, "c")).outputMode("update").trigger(availableNow=True).start()
        q.awaitTermination()
        took = time.perf_counter() - start
        if q.exception():
            raise RuntimeError(str(q.exception())[:300])
        return a.events / took
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def latency(spark, a):
    tmp = tempfile.mkdtemp(prefix="kbench-")
    src, out = topic(a.bootstrap, 4), topic(a.bootstrap, 4)
    df = (source(spark, a.bootstrap, src).where("amount >= 0")
          .select(F.to_json(F.struct("user", "amount", "sent")).alias("value")))
    q = sink(df, a.bootstrap, out, os.path.join(tmp, "c")).start()
    seen, stop = [], threading.Event()

    def consume():
        c = Consumer({"bootstrap.servers": a.bootstrap, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest",
                      "fetch.wait.max.ms": 5})
        c.subscribe([out])
        while not stop.is_set():
            # One by one: consume(n, timeout) would wait for n of them, or for the timeout, and measure that.
            m = c.poll(0.05)
            if m is not None and not m.error():
                seen.append((time.time_ns() - json.loads(m.value())["sent"]) / 1e6)
        c.close()
    t = threading.Thread(target=consume)
    t.start()
    try:
        time.sleep(3)
        p = Producer({"bootstrap.servers": a.bootstrap, "linger.ms": 1})
        warm, begin, sent = None, time.time(), 0
        while time.time() - begin < a.seconds + 5:
            for _ in range(a.rate // 100):
                p.produce(src, '{"ts":"2026-01-01 00:00:00","user":"u%d","amount":%d,"sent":%d}'
                          % (sent % 1000, sent % 100, time.time_ns()))
                sent += 1
            p.poll(0)
            if warm is None and time.time() - begin > 5:
                warm = len(seen)
            time.sleep(max(0, begin + sent / a.rate - time.time()))
        p.flush(30)
        deadline = time.time() + 30
        while len(seen) < sent and time.time() < deadline:
            time.sleep(0.1)
        if q.exception():
            raise RuntimeError(str(q.exception())[:300])
        body = sorted(seen[warm or 0:])
        lost = sent - len(seen)
        pick = lambda f: body[min(len(body) - 1, int(len(body) * f))] if body else float("nan")
        return pick(0.5), pick(0.99), lost
    finally:
        stop.set()
        t.join()
        q.stop()
        shutil.rmtree(tmp, ignore_errors=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--bootstrap", default="127.0.0.1:9092")
    ap.add_argument("--remote", action="append", default=[], metavar="NAME=sc://HOST:PORT")
    ap.add_argument("--events", type=int, default=1_000_000)
    ap.add_argument("--users", type=int, default=1000)
    ap.add_argument("--rate", type=int, default=10_000)
    ap.add_argument("--seconds", type=int, default=20)
    ap.add_argument("--runs", type=int, default=2)
    a = ap.parse_args()
    servers = []
    for spec in a.remote:
        name, url = spec.split("=", 1)
        spark = SparkSession.builder.remote(url).create()
        spark.conf.set("spark.sql.shuffle.partitions", "2")
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        servers.append((name, spark))
    filled = topic(a.bootstrap, 4)
    fill(a.bootstrap, filled, a.events, a.users)
    figures = {n: [] for n, _ in servers}
    for turn in range(a.runs + 1):  # the first warms up
        for name, spark in servers:
            rate = throughput(spark, a, filled)
            if turn:
                figures[name].append(rate)
    base = statistics.median(figures[servers[-1][0]])
    print("throughput  rows/s  " + "   ".join(
        f"{n} {statistics.median(v):,.0f} ({statistics.median(v) / base:.1f}x)" for n, v in figures.items()), flush=True)
    for name, spark in servers:
        p50, p99, lost = latency(spark, a)
        print(f"latency at {a.rate}/s  {name}  p50 {p50:.1f} ms  p99 {p99:.1f} ms  not received {lost}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
