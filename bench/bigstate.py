#!/usr/bin/env python3
"""States larger than memory, side by side over Spark Connect.

Ten million distinct keys go through a deduplication and through a windowed
aggregation, with the state provider that is meant for that: RocksDB on Spark,
and what stands for it on millrace. Servers run the same program over the same
Parquet files, one after the other; printed are rows per second, the ratio to
the server named last, and the memory that was resident at most meanwhile.

  bigstate.py --remote millrace=sc://127.0.0.1:15002 --pid millrace=PID \\
              --remote spark=sc://127.0.0.1:15003 --pid spark=PID

--limit is millrace's limit for all states of the process; --resident-limit
makes the command fail when more MiB were resident. Needs the server on this
machine, the right to reset its peak (Linux), pyspark-client, pyarrow, numpy.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

EPOCH = 1767225600  # 2026-01-01T00:00:00Z
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "ts TIMESTAMP, id BIGINT, amount BIGINT"


def files(folder, rows, per_file):
    """Every row has a key of its own; keys next to each other in time are far from each other in order."""
    if os.path.exists(folder):
        return
    making = folder + ".making"
    shutil.rmtree(making, ignore_errors=True)
    os.makedirs(making)
    for k, first in enumerate(range(0, rows, per_file)):
        n = np.arange(first, min(rows, first + per_file), dtype=np.uint64)
        table = pa.table({
            # an hour of event time for every two million rows
            "ts": pa.array((EPOCH * 1_000_000 + n * np.uint64(1800)).astype("int64"), pa.timestamp("us", "UTC")),
            "id": pa.array((n * np.uint64(0x9E3779B97F4A7C15)).astype("int64")),
            "amount": pa.array((n % np.uint64(1000)).astype("int64")),
        })
        pq.write_table(table, os.path.join(making, f"{k:05}.parquet"))
    os.rename(making, folder)


def dedup(events):
    return events.withWatermark("ts", "30 days").dropDuplicates(["id", "ts"])


def window(events):
    return (events.withWatermark("ts", "6 hours").groupBy(F.window("ts", "1 hour"), F.hex("id"))
            .agg(F.count("*").alias("n"), F.sum("amount").alias("total")))


QUERIES = {"dedup": dedup, "window": window}


def peak(pid, reset=False):
    """MiB that were resident at most since the last reset."""
    if reset:
        with open(f"/proc/{pid}/clear_refs", "w") as f:
            f.write("5")
    with open(f"/proc/{pid}/status") as f:
        return int(next(line.split()[1] for line in f if line.startswith("VmHWM"))) // 1024


def run(url, query, source, per_batch, partitions, limit):
    """Returns the seconds that the query took and the rows it held in the end."""
    spark = SparkSession.builder.remote(url).create()
    for key, value in {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.millrace.state.memoryLimit": limit,
    }.items():
        spark.conf.set(key, value)
    tmp = tempfile.mkdtemp(prefix="bigstate-")
    try:
        events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", per_batch).parquet(source)
        start = time.perf_counter()
        q = (QUERIES[query](events).writeStream.format("noop").outputMode("append")
             .option("checkpointLocation", tmp).trigger(availableNow=True).start())
        q.awaitTermination()
        took = time.perf_counter() - start
        if q.exception():
            raise RuntimeError(str(q.exception())[:300])
        held = [p["stateOperators"][0]["numRowsTotal"] for p in q.recentProgress if p["stateOperators"]]
        return took, max(held or [0])
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
        spark.stop()


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--remote", action="append", required=True, metavar="NAME=sc://HOST:PORT")
    ap.add_argument("--pid", action="append", default=[], metavar="NAME=PID")
    ap.add_argument("--rows", type=int, default=10_000_000)
    ap.add_argument("--per-file", type=int, default=200_000)
    ap.add_argument("--per-batch", type=int, default=2, help="files of a batch")
    ap.add_argument("--partitions", default="2")
    ap.add_argument("--limit", default="1g")
    ap.add_argument("--resident-limit", type=int, metavar="MiB", help="of the server named first")
    ap.add_argument("-k", default="", help="only queries with this in their name")
    ap.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "millrace-bench"))
    a = ap.parse_args()
    os.makedirs(a.data, exist_ok=True)
    source = os.path.join(a.data, f"bigstate-{a.rows}-{a.per_file}")
    files(source, a.rows, a.per_file)
    servers = dict(spec.split("=", 1) for spec in a.remote)
    pids = dict(spec.split("=", 1) for spec in a.pid)
    first, last = next(iter(servers)), list(servers)[-1]
    failed = False
    for query in QUERIES:
        if a.k not in query:
            continue
        rates, cells = {}, []
        for name, url in servers.items():
            if name in pids:
                peak(pids[name], reset=True)
            took, held = run(url, query, source, a.per_batch, a.partitions, a.limit)
            rates[name] = a.rows / took
            cell = f"{name} {rates[name]:,.0f} rows/s, {held:,} rows held at most"
            if name in pids:
                resident = peak(pids[name])
                cell += f", {resident:,} MiB resident"
                if name == first and a.resident_limit and resident > a.resident_limit:
                    failed = True
                    cell += f" (more than {a.resident_limit:,})"
            cells.append(cell)
        ratio = f"   {rates[first] / rates[last]:.1f}x {last}" if first != last else ""
        print(f"{query:8} " + "   ".join(cells) + ratio, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
