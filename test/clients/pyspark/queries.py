"""Batch queries with an unmodified PySpark client: results of every shape, values of every type, tables as text.

queries.py sc://HOST:PORT DIR
"""
import datetime
import decimal
import sys

from pyspark.sql import Observation, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

remote = sys.argv[1]


def expect(got, want):
    if got != want:
        sys.exit("want %s\ngot  %s" % (want, got))


spark = SparkSession.builder.remote(remote).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
expect(spark.version, "4.2.0")

# Results: some rows, none, very many.
expect(spark.range(10).filter("id > 7").collect(), [Row(id=8), Row(id=9)])
expect(spark.range(0).collect(), [])
expect(spark.range(3).limit(0).toPandas().shape, (0, 1))
expect([r.id for r in spark.range(300_000).collect()], list(range(300_000)))
expect(sum(r.id for r in spark.range(50_000).toLocalIterator()), 50_000 * 49_999 // 2)
expect(spark.sql("SELECT 1 + 1").collect()[0][0], 2)
expect(spark.sql("SELECT :a AS x", args={"a": 5}).first().x, 5)
expect(spark.sql("SELECT ? AS x, ? AS y", args=[1, "q"]).first(), Row(x=1, y="q"))
expect(spark.range(4).tail(2), [Row(id=2), Row(id=3)])
expect(spark.range(4).count(), 4)
long = "x" * 3_000_000
expect(spark.createDataFrame([(long,)], "s STRING").first().s, long)

# Local data, values of every type there and back.
schema = T.StructType([
    T.StructField("b", T.BooleanType()), T.StructField("i1", T.ByteType()), T.StructField("i2", T.ShortType()),
    T.StructField("i4", T.IntegerType()), T.StructField("i8", T.LongType()), T.StructField("f", T.FloatType()),
    T.StructField("d", T.DoubleType()), T.StructField("dc", T.DecimalType(20, 3)), T.StructField("s", T.StringType()),
    T.StructField("bin", T.BinaryType()), T.StructField("dt", T.DateType()), T.StructField("ts", T.TimestampType()),
    T.StructField("tn", T.TimestampNTZType()), T.StructField("dti", T.DayTimeIntervalType()),
    T.StructField("a", T.ArrayType(T.IntegerType())), T.StructField("m", T.MapType(T.StringType(), T.LongType())),
    T.StructField("st", T.StructType([T.StructField("x", T.IntegerType()), T.StructField("y", T.StringType())])),
])
row = (True, 1, -2, 3, 1 << 40, 1.5, 2.5, decimal.Decimal("12345678901234567.125"), "héllo", bytearray(b"\x01\x02"),
       datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 678901), datetime.datetime(1960, 1, 1),
       datetime.timedelta(days=1, microseconds=5), [1, None], {"k": 1, "n": None}, Row(x=1, y=None))
df = spark.createDataFrame([row, (None,) * len(row)], schema)
expect(df.schema, schema)
expect([tuple(r) for r in df.collect()], [row, (None,) * len(row)])
expect(spark.createDataFrame([(1, "a")], ["n", "t"]).collect(), [Row(n=1, t="a")])
expect(spark.createDataFrame([], "a INT").collect(), [])
pdf = df.select("i8", "s", "ts").toPandas()
expect(spark.createDataFrame(pdf).count(), 2)

# More than the threshold above which local data are uploaded and kept.
big = spark.createDataFrame([(i, "%0100d" % i) for i in range(30_000)], "i INT, s STRING")
expect(big.agg(F.count("*"), F.sum("i"), F.max("s")).first()[:], (30_000, 449_985_000, "%0100d" % 29_999))

# Expressions.
d = spark.createDataFrame([(1, "a", 10), (2, "a", 20), (3, "b", 30)], "k INT, g STRING, v INT")
expect(d.groupBy("g").agg(F.sum("v").alias("t")).orderBy("g").collect(), [Row(g="a", t=30), Row(g="b", t=30)])
expect(d.withColumn("w", F.when(F.col("v") > 15, "big").otherwise("small")).filter(d.g == "a").select("w").collect(),
       [Row(w="small"), Row(w="big")])
expect(d.join(d.withColumnRenamed("v", "v2").drop("g"), "k").select("k", "v2").orderBy("k").collect()[2], Row(k=3, v2=30))
expect(d.alias("x").join(d.alias("y"), F.col("x.k") == F.col("y.k") - 1).select("x.k", "y.v").orderBy("k").collect(),
       [Row(k=1, v=20), Row(k=2, v=30)])
expect(d.na.fill(0).dropDuplicates(["g"]).count(), 2)
expect(d.describe("v").collect()[1][:], ("mean", "20.0"))
expect(d.stat.corr("k", "v"), 1.0)
obs = Observation("seen")
expect(d.observe(obs, F.count(F.lit(1)).alias("n"), F.max("v").alias("m")).count(), 3)
expect(obs.get, {"n": 3, "m": 30})

# Text.
expect(d._show_string(2, 20, False), """\
+---+---+---+
|  k|  g|  v|
+---+---+---+
|  1|  a| 10|
|  2|  a| 20|
+---+---+---+
only showing top 2 rows
""")
expect(d._show_string(1, 20, True), """\
-RECORD 0--
 k   | 1   
 g   | a   
 v   | 10  
only showing top 1 row
""")
expect(d.schema.simpleString(), "struct<k:int,g:string,v:int>")
if "== Physical Plan ==" not in d._explain_string():
    sys.exit("explain: " + d._explain_string())
spark.stop()
