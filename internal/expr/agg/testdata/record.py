"""Records what Spark answers for the aggregates of agg.txt over the table of table.json: python record.py sc://host:port"""
import json
import pathlib
import sys

from pyspark.sql import SparkSession

here = pathlib.Path(__file__).parent
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
table = json.loads((here / "table.json").read_text())


def cell(v, t):
    return "cast(null as %s)" % t if v is None else "cast('%s' as %s)" % (v, t)


n = len(table[0]["values"])
rows = ["(%s)" % ", ".join(cell(c["values"][i], c["type"]) for c in table) for i in range(n)]
spark.sql("select * from values %s as t(%s)" % (", ".join(rows), ", ".join(c["name"] for c in table))).createOrReplaceTempView("t")


def answer(e):
    try:
        field = spark.sql("select %s as v from t" % e).schema.fields[0]
        text = "hex(%s)" % e if field.dataType.simpleString() == "binary" else "cast(%s as string)" % e
        got = spark.sql("select g, %s as v from t group by g order by g" % text).collect()
        return {"type": field.dataType.simpleString(), "nullable": field.nullable, "values": [r[1] for r in got]}
    except Exception as x:
        get = getattr(x, "getCondition", lambda: None)
        return {"error": get() or type(x).__name__}


out = []
for line in (here / "agg.txt").read_text().splitlines():
    if line.startswith("# ansi="):
        spark.conf.set("spark.sql.ansi.enabled", line[7:].strip())
        out.append({"set": "ansi", "to": line[7:].strip()})
    elif line.strip():
        out.append({"expr": line.strip()} | answer(line.strip()))
(here / "agg.json").write_text("[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in out) + "\n]\n")
print(len(out))
