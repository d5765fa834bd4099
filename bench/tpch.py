#!/usr/bin/env python3
"""TPC-H over Spark Connect: the 22 queries, their answers compared and their times.

The same SQL texts run on every server named with --remote NAME=sc://HOST:PORT, interleaved query by query; answers must
equal those of the server named last. A figure is the median of the seconds from spark.sql to the last row.

  tpch.py --remote millrace=sc://127.0.0.1:15002 --remote spark=sc://127.0.0.1:15099
  tpch.py --remote ... --scale 0.01 --runs 0      only: are the answers the same?
  tpch.py --remote ... --duckdb                   DuckDB beside, in this process, on the same files

Tables and query texts come from DuckDB's extension tpch, once per scale; afterwards the folder is all that is needed.

Needs: pyspark-client, pyarrow; for a new scale duckdb and duckdb-extension-tpch. Every server must see the data folder.
"""
import argparse
import datetime
import decimal
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import time

TABLES = ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"]


# ---------------------------------------------------------------- data

def duckdb_with_tpch():
    import duckdb
    import duckdb_extension_tpch
    folder = os.path.join(os.path.dirname(duckdb_extension_tpch.__file__), "extensions")
    for root, _, names in os.walk(folder):
        for name in names:
            if name == "tpch.duckdb_extension":
                db = duckdb.connect()
                db.execute(f"LOAD '{os.path.join(root, name)}'")
                return db
    raise SystemExit("duckdb-extension-tpch has no extension for this DuckDB")


def prepare(folder, scale):
    """Writes tables as Parquet and queries as text. The folder appears when it is whole."""
    if os.path.exists(folder):
        return
    db = duckdb_with_tpch()
    db.execute(f"CALL dbgen(sf = {scale})")
    tmp = folder + ".tmp"
    shutil.rmtree(tmp, ignore_errors=True)
    os.makedirs(tmp)
    for table in TABLES:
        db.execute(f"COPY {table} TO '{tmp}/{table}.parquet' (FORMAT parquet)")
    for number, text in db.execute("SELECT query_nr, query FROM tpch_queries()").fetchall():
        with open(f"{tmp}/q{number:02d}.sql", "w") as f:
            f.write(text)
    os.rename(tmp, folder)


# ---------------------------------------------------------------- targets

class Server:
    def __init__(self, name, url, folder, partitions):
        from pyspark.sql import SparkSession
        self.name, self.spark = name, SparkSession.builder.remote(url).create()
        self.spark.conf.set("spark.sql.shuffle.partitions", partitions)
        self.spark.conf.set("spark.sql.session.timeZone", "UTC")
        for table in TABLES:
            self.spark.read.parquet(f"{folder}/{table}.parquet").createOrReplaceTempView(table)

    def rows(self, text):
        return [tuple(row) for row in self.spark.sql(text).collect()]


class DuckDB:
    name = "duckdb"

    def __init__(self, folder, threads):
        import duckdb
        self.db = duckdb.connect(config={"threads": threads})
        for table in TABLES:
            self.db.execute(f"CREATE VIEW {table} AS SELECT * FROM '{folder}/{table}.parquet'")

    def rows(self, text):
        return self.db.execute(text).fetchall()


# ---------------------------------------------------------------- answers

def same_value(a, b):
    if isinstance(a, (float, decimal.Decimal)) and isinstance(b, (float, decimal.Decimal)):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def difference(rows, want):
    """The first difference as text, or "". Equal keys of ORDER BY may come in any order, so rows are compared sorted."""
    if len(rows) != len(want):
        return f"{len(rows)} rows, not {len(want)}"

    def key(row):
        return [(v is not None, str(v) if isinstance(v, (str, datetime.date)) else round(float(v), 2) if v is not None else 0) for v in row]
    for a, b in zip(sorted(rows, key=key), sorted(want, key=key)):
        if len(a) != len(b) or not all(map(same_value, a, b)):
            return f"{a} instead of {b}"
    return ""


# ---------------------------------------------------------------- driver

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--remote", action="append", default=[], metavar="NAME=sc://HOST:PORT")
    ap.add_argument("--duckdb", action="store_true", help="run DuckDB beside the servers, before the one named last")
    ap.add_argument("--scale", type=float, default=0.1)
    ap.add_argument("--runs", type=int, default=3, help="measured runs after one that warms up; 0: compare answers only")
    ap.add_argument("-k", default="", help="queries whose name contains this: q01 to q22; several between commas")
    ap.add_argument("--limit", type=float, default=120, help="a server that took longer for a query is not asked again")
    ap.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "millrace-bench"))
    ap.add_argument("--partitions", default="2", help="spark.sql.shuffle.partitions on every server")
    ap.add_argument("--json")
    a = ap.parse_args()
    os.makedirs(a.data, exist_ok=True)
    folder = os.path.join(a.data, f"tpch-{a.scale:g}")
    prepare(folder, a.scale)
    targets = [Server(*spec.split("=", 1), folder, a.partitions) for spec in a.remote]
    if a.duckdb:
        targets.insert(max(0, len(targets) - 1), DuckDB(folder, os.cpu_count()))
    base, results, wrong = targets[-1], {}, 0
    for number in range(1, 23):
        name = f"q{number:02d}"
        if not any(k in name for k in a.k.split(",")):
            continue
        with open(f"{folder}/{name}.sql") as f:
            text = f.read().strip().rstrip(";")
        times, answers, notes = {t.name: [] for t in targets}, {}, []
        dropped = set()
        for turn in range(a.runs + 1):
            for t in targets:
                if t.name in dropped:
                    continue
                start = time.perf_counter()
                try:
                    rows = t.rows(text)
                except Exception as e:  # a server that cannot run it
                    dropped.add(t.name)
                    notes.append(f"{t.name}: {type(e).__name__}: {str(e).strip().splitlines()[0][:200]}")
                    continue
                took = time.perf_counter() - start
                answers.setdefault(t.name, rows)
                if turn or a.runs == 0:
                    times[t.name].append(took)
                if took > a.limit:
                    dropped.add(t.name)
                    notes.append(f"{t.name}: over the limit of {a.limit:g} s")
        for t in targets:
            if t is not base and t.name in answers and base.name in answers:
                d = difference(answers[t.name], answers[base.name])
                if d:
                    wrong += not isinstance(t, DuckDB)  # its averages and decimals have digits of their own
                    notes.append(f"{t.name} DIFFERS: {d[:300]}")
            elif t.name not in answers and not isinstance(t, DuckDB):
                wrong += 1
        results[name] = {t.name: statistics.median(times[t.name]) if times[t.name] else None for t in targets}
        cells = []
        for t in targets:
            took, ref = results[name][t.name], results[name][base.name]
            ratio = f" ({ref / took:5.1f}x)" if took and ref and t is not base else ""
            cells.append(f"{t.name} {took:7.3f}s{ratio}" if took else f"{t.name} failed")
        print(f"{name}  " + "   ".join(cells), flush=True)
        for note in notes:
            print(f"     # {note}", flush=True)
    both = [r for r in results.values() if all(r.values())]
    if both and a.runs:
        means = {t.name: statistics.geometric_mean([r[t.name] for r in both]) for t in targets}
        cells = [f"{n} {m:7.3f}s" + (f" ({means[base.name] / m:5.1f}x)" if n != base.name else "") for n, m in means.items()]
        print(f"geometric mean of {len(both)}: " + "   ".join(cells))
    print(f"{len(results)} queries, {wrong} wrong or failed")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(results, f, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
