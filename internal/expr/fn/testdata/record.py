"""Records what Spark answers for the expressions of *.txt: python record.py sc://host:port [name ...]

Each line of name.txt is an expression; lines that begin with # are comments, "# ansi=false" switches the mode for what follows.
name.json gets, for each, its type, whether it is nullable and its value as text, or the error's class and SQLSTATE.
Answers that name.json has already are kept; remove it to ask for all of them again.
"""
import json
import logging
import pathlib
import sys

from pyspark.sql import SparkSession

logging.disable(logging.CRITICAL)
here = pathlib.Path(__file__).parent
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()


def answer(e):
    try:
        field = spark.sql("select %s as v" % e).schema.fields[0]
        kind = field.dataType.simpleString()
        text = "hex(%s)" % e if kind == "binary" else "cast(%s as string)" % e
        if kind == "variant":
            text = "to_json(%s)" % e
        value = spark.sql("select %s as v" % text).collect()[0][0]
        return {"type": kind, "nullable": field.nullable, "value": value}
    except Exception as x:
        if "Grpc" in type(x).__name__:
            raise  # the server is gone: that is no answer
        get = getattr(x, "getCondition", None) or getattr(x, "getErrorClass", lambda: None)
        state = getattr(x, "getSqlState", lambda: None)()
        return {"error": get() or type(x).__name__, "state": state}


for path in sorted(here.glob("*.txt")):
    if sys.argv[2:] and path.stem not in sys.argv[2:]:
        continue
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.timeType.enabled", "true")
    out, mode = [], ""
    known = {}
    if path.with_suffix(".json").exists():
        was = ""
        for x in json.loads(path.with_suffix(".json").read_text()):
            if "set" in x:
                was += "%(set)s=%(to)s " % x
            else:
                known[was, x["expr"]] = x
    for line in path.read_text().splitlines():
        line = line.strip()
        if line.startswith("#"):
            if "=" in line:
                key, value = line[1:].strip().split("=", 1)
                name = {"ansi": "spark.sql.ansi.enabled", "zone": "spark.sql.session.timeZone"}[key]
                spark.conf.set(name, value)
                out.append({"set": key, "to": value})
                mode += "%s=%s " % (key, value)
        elif line:
            out.append(known.get((mode, line)) or {"expr": line} | answer(line))
    path.with_suffix(".json").write_text("[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in out) + "\n]\n")
    print(path.stem, len(out))
