#!/usr/bin/env python3
"""Runs the Kafka conformance cases against any Spark Connect server and a Kafka broker.

  kafka_conform.py --remote sc://127.0.0.1:15002 --bootstrap 127.0.0.1:9092 --check goldens
  kafka_conform.py … --record goldens        (only against real Spark)
  kafka_conform.py … --only sink_ --list

A case is a public function f(spark, tmp, kafka) in a file of --cases; it returns something JSON can
hold. tmp is a folder that both the client and the server can read and write. Each case makes its own
topics and checkpoints. The last line is 'N passed, N failed'.
"""
import argparse
import fnmatch
import glob
import importlib.util
import inspect
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def load(folder):
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.py"))):
        spec = importlib.util.spec_from_file_location(
            "kafka_case_" + os.path.basename(path)[:-3], path)
        mod = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(mod)
        for n, f in vars(mod).items():
            if (inspect.isfunction(f) and f.__module__ == mod.__name__ and not n.startswith("_")
                    and list(inspect.signature(f).parameters) == ["spark", "tmp", "kafka"]):
                if n in found:
                    sys.exit(f"case {n} is there twice")
                found[n] = f
    return found


def plain(result, kafka, tmp):
    """Strip what differs from run to run: topic suffixes, the broker's address, the folder."""
    text = json.dumps(result, sort_keys=True, ensure_ascii=False)
    for a, b in ((f"-{kafka.run}", ""), (kafka.bootstrap, "BOOTSTRAP"), (tmp, "TMP")):
        text = text.replace(a, b)
    return json.loads(text)


def differ(want, got, at="$"):
    if isinstance(want, dict) and isinstance(got, dict):
        for k in sorted(set(want) | set(got)):
            if k not in got:
                return f"{at}.{k}: missing, wanted {want[k]!r}"
            if k not in want:
                return f"{at}.{k}: not wanted, got {got[k]!r}"
            d = differ(want[k], got[k], f"{at}.{k}")
            if d:
                return d
        return None
    if isinstance(want, list) and isinstance(got, list):
        for i in range(min(len(want), len(got))):
            d = differ(want[i], got[i], f"{at}[{i}]")
            if d:
                return d
        if len(want) != len(got):
            return f"{at}: wanted {len(want)} items, got {len(got)}"
        return None
    return None if want == got and type(want) is type(got) else f"{at}: wanted {want!r}, got {got!r}"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    ap.add_argument("--remote")
    ap.add_argument("--bootstrap", default="127.0.0.1:9092")
    ap.add_argument("--cases", default=os.path.join(HERE, "cases"))
    ap.add_argument("--record", metavar="DIR")
    ap.add_argument("--check", metavar="DIR")
    ap.add_argument("--only", default="*", help="name pattern, or a part of the name")
    ap.add_argument("--timeout", type=int, default=600, help="seconds after which a case hangs, also on a machine that is busy otherwise")
    ap.add_argument("--list", action="store_true")
    ap.add_argument("--verbose", action="store_true", help="print results and stack traces")
    a = ap.parse_args()

    pat = a.only if any(c in a.only for c in "*?[") else f"*{a.only}*"
    cases = {n: f for n, f in load(a.cases).items() if fnmatch.fnmatch(n, pat)}
    if a.list:
        for n, f in cases.items():
            print(n, "-", (f.__doc__ or "").strip().split("\n")[0])
        return 0
    if not a.remote or bool(a.record) == bool(a.check):
        ap.error("--remote and one of --record and --check are needed")

    from pyspark.sql import SparkSession
    from kafka_lib import Kafka
    spark = SparkSession.builder.remote(a.remote).getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    goldens = a.record or a.check
    os.makedirs(goldens, exist_ok=True)

    def ring(*_):
        raise TimeoutError(f"no result in {a.timeout} s")
    signal.signal(signal.SIGALRM, ring)

    passed = failed = 0
    for n, f in cases.items():
        tmp = tempfile.mkdtemp(prefix="kafka-conform-")
        kafka, t = Kafka(a.bootstrap), time.time()
        path, why = os.path.join(goldens, n + ".json"), None
        try:
            signal.alarm(a.timeout)
            got = plain(f(spark, tmp, kafka), kafka, tmp)
            signal.alarm(0)
            if a.verbose:
                print(json.dumps(got, indent=1, sort_keys=True, ensure_ascii=False))
            if a.record:
                with open(path, "w") as o:
                    json.dump(got, o, indent=1, sort_keys=True, ensure_ascii=False)
                    o.write("\n")
            elif not os.path.exists(path):
                why = "no golden"
            else:
                with open(path) as o:
                    why = differ(json.load(o), got)
        except Exception as e:  # noqa: BLE001
            if a.verbose:
                traceback.print_exc()
            why = f"{type(e).__name__}: {str(e).strip().splitlines()[0][:300] if str(e) else ''}"
        finally:
            signal.alarm(0)
            try:
                for q in spark.streams.active:
                    q.stop()
            except Exception:  # noqa: BLE001
                pass
            shutil.rmtree(tmp, ignore_errors=True)
        passed, failed = passed + (why is None), failed + (why is not None)
        print(f"{'ok  ' if why is None else 'FAIL'} {n} {time.time() - t:.1f}s"
              + (f" - {why}" if why else ""), flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    from kafka_lib import leave
    leave(main())
