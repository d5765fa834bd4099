"""Records which values Spark takes for each of its settings, and how it refuses the others, into values.jsonl.

    python record_values.py sc://localhost:15002 < names.txt > values.jsonl

Needs pyspark-client 4.2 and a Spark 4.2 server. names.txt has a setting on each line. Settings with the same answers share a line:
"keys" has them with their defaults (null: there is none; "?": it is that of a machine), "taken" the values that conf.set takes, "refused" for each answer the
values that get it. Sentences about a requirement are left out: those of millrace are its own. SET is asked for a few of the values
and must answer alike.
"""

import json
import re
import sys
import warnings

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

VALUES = """|#|a b|no_such|a.b.C|[|true|TRUE|#True#|false|yes|t|0|-0|+1|1|-1|-2|#7#|007|2|3|4|5|6|8|9|10|15|16|20|22|23|30|31|100|599|600|601|
1024|65536|1.5|1.0|2.0|0.0|-0.5|0.5|0.99|1e3|1f|1d|NaN|Infinity|-Infinity|0x10|0x1p3|inf|1_000|1,000|1L|2147483632|2147483633|2147483646|2147483647|2147483648|
-2147483649|4294967296|9223372036854775807|9223372036854775808|1s|1S|-1s|5 s|1.5s|1m|1min|90m|1h|1w|500ms|999ms|1000ms|10us|999us|106751991167d|106751991168d|9223372036854775807d|
1b|0b|-1b|1k|1K|1kb|1 kb|1kib|1.5m|1MB|2047m|2048m|1g|1t|1p|8191p|8192p|9223372036854775807p|9223372036854775807k|1e|UTC|Europe/Berlin|GMT+2|+02:00|UTC+25|
NONE|LEGACY|legacy|#snappy#|(?i)x|(""".replace("\n", "").replace("#", " ").split("|")


OF_MACHINES = {
    "spark.connect.grpc.binding.port", "spark.sql.connect.serverStacktrace.enabled", "spark.sql.maven.additionalRemoteRepositories",
    "spark.sql.warehouse.dir",
}


def answers(spark, key, more):
    refused, taken = {}, []
    for value in dict.fromkeys([*VALUES, *more]):
        answer = ask(spark, key, value, lambda: spark.conf.set(key, value))
        if answer is None:
            taken.append(value)
        else:
            refused.setdefault(json.dumps(answer), []).append(value)
    for value in ["no_such", "-1", "0", "1", "true", "1s", "1kb"]:
        answer = ask(spark, key, value, lambda: spark.sql(f"SET {key}={value}").collect())
        if (answer is None) != (value in taken) or answer is not None and value not in refused.get(json.dumps(answer), []):
            sys.exit(f"SET {key}={value}: {answer}")
    return taken, refused


def ask(spark, key, value, change):
    """None when the value is taken, or [condition, SQLSTATE, parameters beside the name and the value]."""
    try:
        change()
    except PySparkException as e:
        more = {k: v for k, v in (e.getMessageParameters() or {}).items() if k not in ("confName", "key", "confValue", "confRequirement")}
        return [e.getCondition(), e.getSqlState(), more]
    got = spark.conf.get(key)
    if got != value:
        sys.exit(f"{key} = {value!r} reads {got!r}")
    spark.conf.unset(key)
    return None


def main():
    warnings.simplefilter("ignore")
    spark = SparkSession.builder.remote(sys.argv[1]).create()
    spark.conf.set("spark.sql.connect.serverStacktrace.enabled", "false")
    spark.sql("SET -v").collect()
    groups = {}
    for key in sorted(set(sys.stdin.read().split())):
        default = spark.conf.get(key)
        taken, refused = answers(spark, key, [])
        words = re.findall(r'"confOptions": "([^"]*)"', " ".join(refused).replace("\\", ""))
        if words:
            words = words[0].split(", ")
        elif any("REQUIREMENT" in r for r in refused) and not any(v in taken for v in ["1", "3", "600", "0.5", "1k", "1s"]) and default:
            words = {"min": ["min", "max"], "unsaferow": ["unsaferow", "avro"]}.get(default.lower(), [default])
            words += ["simple", "extended", "codegen", "cost", "formatted"] if default.lower() == "formatted" else []
            words += ["DISK_ONLY", "DISK_ONLY_3", "OFF_HEAP"] if default == "MEMORY_AND_DISK_SER" else []
        if words:
            taken, refused = answers(spark, key, [f(w) for w in words for f in (str, str.upper, str.lower, str.title, lambda w: f" {w} ")])
        g = groups.setdefault(json.dumps([taken, refused]), {"keys": {}, "taken": taken, "refused": [[*json.loads(r), v] for r, v in refused.items()]})
        g["keys"][key] = "?" if key in OF_MACHINES else default
        print(key, file=sys.stderr)
    for g in groups.values():
        print(json.dumps(g, ensure_ascii=False))


main()
