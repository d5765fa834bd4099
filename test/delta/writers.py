#!/usr/bin/env python3
"""writers.py FIRST SECOND SECONDS: clients of two servers and a delta-rs process append rows (writer, n) to one table, each its own n from 0
on and as fast as it can. At the end every row of every commit that was reported as done is there once, and the log has no gaps."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time


def spark_writer(remote, name, path, seconds, done):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(remote).create()
    n, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        spark.range(n, n + 1).selectExpr("'%s' writer" % name, "id n").write.format("delta").mode("append").save(path)
        n += 1
        done[name] = n
    spark.stop()


def rust_writer(path, seconds):
    import pyarrow as pa
    from deltalake import write_deltalake
    from deltalake import DeltaTable
    from deltalake.exceptions import CommitFailedError, DeltaError

    def there(n):
        while True:
            try:
                return DeltaTable(path).to_pyarrow_table(filters=[("writer", "=", "rust"), ("n", "=", n)]).num_rows > 0
            except DeltaError as e:
                if "contiguous" not in str(e):
                    raise

    n, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        table = pa.table({"writer": pa.array(["rust"]), "n": pa.array([n], pa.int64())})
        try:
            write_deltalake(path, table, mode="append")
        except CommitFailedError as e:  # overtaken too often: the commit is not there, and the row is tried again
            print("delta-rs: %s" % str(e).splitlines()[0], file=sys.stderr)
            continue
        except DeltaError as e:  # a listing that lacks a commit which came while it was made, before the row was written or after
            if "contiguous" not in str(e):
                raise
            print("delta-rs: a listing with a gap", file=sys.stderr)
            if not there(n):
                continue
        n += 1
    print(n)


def main():
    if sys.argv[1] == "rust":
        return rust_writer(sys.argv[2], float(sys.argv[3]))
    first, second, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    from deltalake import DeltaTable
    from pyspark.sql import SparkSession

    tmp = tempfile.mkdtemp(prefix="delta-writers-")
    path = os.path.join(tmp, "t")
    spark = SparkSession.builder.remote(first).create()
    spark.sql("CREATE TABLE delta.`%s` (writer STRING, n BIGINT) USING delta" % path).collect()
    done = {}
    failed = []

    def guarded(*args):
        try:
            spark_writer(*args)
        except Exception as e:
            failed.append("%s: %s" % (args[1], e))

    threads = [threading.Thread(target=guarded, args=(r, w, path, seconds, done)) for r, w in ((first, "first"), (second, "second"))]
    rust = subprocess.Popen([sys.executable, os.path.abspath(__file__), "rust", path, str(seconds)], stdout=subprocess.PIPE, text=True)
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    done["rust"] = int(rust.communicate(timeout=seconds + 300)[0] or 0)
    for f in failed:
        print("FAILED", f)

    bad = len(failed)
    table = DeltaTable(path)
    for reader, rows in (("delta-rs", [(r["writer"], r["n"]) for r in table.to_pyarrow_table().to_pylist()]),
                         ("millrace", [(r[0], r[1]) for r in spark.read.format("delta").load(path).collect()])):
        want = {(w, n) for w, m in done.items() for n in range(m)}
        missing, twice = want - set(rows), len(rows) - len(set(rows))
        print("%s reads %d rows of %s; %d missing, %d twice" % (reader, len(rows), json.dumps(done, sort_keys=True), len(missing), twice))
        bad += len(missing) + twice
    names = sorted(int(m[1]) for m in (re.fullmatch(r"(\d{20})\.json", x) for x in os.listdir(path + "/_delta_log")) if m)
    gaps = [v for v in range(names[0], names[-1] + 1) if v not in set(names)]
    print("versions %d to %d, %d gaps, %d checkpoints" % (
        names[0], names[-1], len(gaps), sum(".checkpoint" in x for x in os.listdir(path + "/_delta_log"))))
    bad += len(gaps) + any(done.get(w, 0) == 0 for w in ("first", "second", "rust"))
    if not bad:
        shutil.rmtree(tmp)
    else:
        print("the table is kept in", path)
    return 1 if bad else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Without the interpreter's end: threads of pyarrow that still read ahead through delta-rs abort the process when Python goes first.
    os._exit(code or 0)
