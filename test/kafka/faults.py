#!/usr/bin/env python3
"""What a running Kafka query does while its broker is away, while partitions are added, and when records are deleted.

  KAFKA_SH=./kafka.sh PORT=… DIR=… faults.py --remote sc://… --bootstrap 127.0.0.1:PORT [--down SECONDS]

The broker is the one of kafka.sh with the same PORT and DIR; it is stopped and started again. The last line is 'N passed, N failed'.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kafka_lib import NET, Kafka, leave, reader, rec  # noqa: E402


def broker(what):
    subprocess.run([os.environ["KAFKA_SH"], what], check=True, timeout=2 * NET, stdout=subprocess.DEVNULL)


def copy(spark, kafka, tmp, source, out, **options):
    """A query that goes on: source to out, with the default trigger."""
    return (reader(spark, kafka, True, subscribe=source, startingOffsets="earliest", **options).load()
            .select("key", "value").writeStream.format("kafka").option("kafka.bootstrap.servers", kafka.bootstrap)
            .option("topic", out).option("checkpointLocation", f"{tmp}/ck").start())


def until(what, check):
    end = time.time() + NET
    while time.time() < end:
        if check():
            return
        time.sleep(0.2)
    raise AssertionError(f"not within {NET} s: {what}")


def values(kafka, topic):
    return sorted(r[3] for r in kafka.get(topic))


def broker_restart(spark, kafka, tmp, down):
    """The broker is away for some time: the query waits and goes on, and nothing is lost."""
    a, b = kafka.topic("restart", 2), kafka.topic("restart-out", 2)
    kafka.put(a, [rec(f"a{i}", p=i % 2) for i in range(20)])
    q = copy(spark, kafka, tmp, a, b)
    until("rows before", lambda: len(values(kafka, b)) == 20)
    broker("stop")
    time.sleep(down)
    assert q.isActive, q.exception()
    broker("start")
    kafka = Kafka(kafka.bootstrap)
    kafka.put(a, [rec(f"b{i}", p=i % 2) for i in range(20)])
    want = {f"{x}{i}" for x in "ab" for i in range(20)}
    until("rows after", lambda: set(values(kafka, b)) == want)
    assert q.isActive, q.exception()
    q.stop()


def added_partitions(spark, kafka, tmp, down):
    """Partitions are added under a running query, which reads them from their beginning."""
    a, b = kafka.topic("added", 1), kafka.topic("added-out", 1)
    kafka.put(a, [rec("a0")])
    q = copy(spark, kafka, tmp, a, b)
    until("the first row", lambda: values(kafka, b) == ["a0"])
    kafka.add_partitions(a, 3)
    kafka.put(a, [rec("a1", p=1), rec("a2", p=2), rec("a3", p=0)])
    until("rows of the new partitions", lambda: values(kafka, b) == ["a0", "a1", "a2", "a3"])
    q.stop()


def deleted_records(spark, kafka, tmp, down):
    """Records are deleted while no run looks: the next one fails, or goes on with what is left."""
    a, b = kafka.topic("deleted", 1), kafka.topic("deleted-out", 1)
    kafka.put(a, [rec("a0"), rec("a1")])
    q = copy(spark, kafka, tmp, a, b)
    until("the first rows", lambda: values(kafka, b) == ["a0", "a1"])
    q.stop()
    kafka.put(a, [rec("lost"), rec("lost"), rec("b0")])
    kafka.delete_records(a, {0: 4})
    q = copy(spark, kafka, tmp, a, b)
    until("the failure", lambda: not q.isActive)
    assert "failOnDataLoss" in str(q.exception()), q.exception()
    q = copy(spark, kafka, tmp, a, b, failOnDataLoss="false")
    until("what is left", lambda: values(kafka, b) == ["a0", "a1", "b0"])
    q.stop()


def deleted_topic(spark, kafka, tmp, down):
    """The topic of a running query is deleted: it fails and names the topic."""
    a, b = kafka.topic("dropped", 1), kafka.topic("dropped-out", 1)
    kafka.put(a, [rec("a0")])
    q = copy(spark, kafka, tmp, a, b)
    until("the first row", lambda: values(kafka, b) == ["a0"])
    kafka.delete_topic(a)
    until("the failure", lambda: not q.isActive)
    assert a in str(q.exception()), q.exception()


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--remote", required=True)
    ap.add_argument("--bootstrap", required=True)
    ap.add_argument("--down", type=float, default=30, help="seconds without a broker")
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.remote(a.remote).create()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    passed = failed = 0
    for f in (added_partitions, deleted_records, deleted_topic, broker_restart):
        if a.only not in f.__name__:
            continue
        tmp, began = tempfile.mkdtemp(prefix="kafka-faults-"), time.time()
        try:
            f(spark, Kafka(a.bootstrap), tmp, a.down)
            passed += 1
            print(f"ok   {f.__name__} {time.time() - began:.1f}s", flush=True)
        except Exception as e:  # noqa: BLE001
            failed += 1
            print(f"FAIL {f.__name__} {time.time() - began:.1f}s - {type(e).__name__}: {str(e)[:500]}", flush=True)
            if not isinstance(e, AssertionError):
                traceback.print_exc()
        finally:
            for q in spark.streams.active:
                q.stop()
            shutil.rmtree(tmp, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    leave(main())
