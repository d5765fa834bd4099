"""Corners where several features meet: chains of stateful operators, restarts with outer joins, lengths out of range, values that cannot be compared."""
import os
import shutil

from conformlib import *

DDL = "ts TIMESTAMP, k STRING, v INT"


def tried(fn, *params):
    """What fn gives, or a description of what it raised."""
    try:
        return fn()
    except Exception as e:
        return error_info(e, *params)


def at(*recs):
    return [(ts(x[0]),) + tuple(x[1:]) for x in recs]


def replay(df, steps, mode="append", prog=False):
    """play() with feeds that hold nothing yet."""
    for st in steps:
        for feed, _ in (st if isinstance(st, list) else [st]):
            for n in os.listdir(feed.dir):
                os.remove(os.path.join(feed.dir, n))
    return play(df, steps, mode, prog)


@case
def cn_lengths_out_of_range(spark, tmp):
    """No length of a window or a delay wraps around."""
    s = Feed(spark, tmp, DDL).stream()
    s.createOrReplaceTempView("s")
    longest, days = "9223372036854775807 microseconds", "106751992 days"
    windows = [(longest,), (days,), ("200000000 days",), ("400000000 days",), ("1 hour", days), ("1 hour", "1 hour", days), ("9223372036854775808 microseconds",), ("3000000000 days",)]
    delays = [longest, "106751991 days", "106751991 days 5 hours", days, "400000000 days", "100000000 months", "300000 years", "-200000000 days", "1 month -31 days", "9223372036854775807 microseconds 1 day"]
    return {"window": [err(lambda: s.groupBy(F.window("ts", *w)).count().schema, "funcName") for w in windows],
            "delay": [err(lambda: s.withWatermark("ts", d).schema) for d in delays],
            "clause": [err(lambda: spark.sql("SELECT * FROM STREAM s WATERMARK ts DELAY OF INTERVAL " + d).schema) for d in ("200000000 DAYS", "'178000000' YEAR", "'106751991' DAY")]}


@case
def cn_duplicates_of_what_cannot_be_compared(spark, tmp):
    s = Feed(spark, tmp, DDL).stream().select("ts", "v", F.create_map("k", "v").alias("m"), F.to_variant_object(F.struct("k")).alias("x"))
    w = s.withWatermark("ts", "1 minute")
    frames = {"map": lambda: s.dropDuplicates(["m"]), "all": lambda: s.select("m", "v").dropDuplicates(), "distinct": lambda: s.select("m").distinct(), "struct": lambda: s.select(F.struct("m").alias("p")).dropDuplicates(["p"]),
              "array": lambda: s.select(F.array("m").alias("p")).dropDuplicates(["p"]), "variant": lambda: s.dropDuplicates(["x"]), "other column": lambda: s.dropDuplicates(["v"]), "forgetting": lambda: w.dropDuplicatesWithinWatermark(["m"]),
              "forgetting, variant": lambda: w.dropDuplicatesWithinWatermark(["x"]), "batch": lambda: spark.range(1).select(F.create_map("id", "id").alias("m")).dropDuplicates(["m"]), "sql": lambda: spark.sql("SELECT DISTINCT map(1, 2) AS m")}
    return {n: err(lambda: f().schema, "colName", "dataType") for n, f in frames.items()}


@case
def cn_observed_metrics_of_window_functions(spark, tmp):
    from pyspark.sql import Window
    s = Feed(spark, tmp, DDL).stream()
    over = Window.partitionBy("k").orderBy("v")
    metrics = {"rank": F.row_number().over(over), "inside an aggregate": F.sum(F.row_number().over(over)), "deep inside": F.max(F.col("v") + F.abs(F.sum("v").over(over))), "nested": F.sum(F.abs(F.max("v"))),
               "distinct inside": F.sum(F.countDistinct("k")), "random inside": F.sum(F.rand()), "random": F.rand() + F.sum("v"), "of a column": F.col("v") + F.sum("v")}
    return {n: err(lambda: s.observe("o", m.alias("x")).schema) for n, m in metrics.items()}


@case
def cn_groupings_of_groupings(spark, tmp):
    a = Feed(spark, tmp, "ts TIMESTAMP, k STRING, v INT")
    d = a.stream().withWatermark("ts", "5 minutes")
    x = d.groupBy(F.window("ts", "5 minutes"), "k").agg(F.sum("v").alias("s"))
    y = x.groupBy(F.window(F.window_time("window"), "15 minutes")).agg(F.max("s").alias("m"), F.count("*").alias("n"))
    z = y.groupBy(F.window(F.window_time("window"), "1 hour")).agg(F.sum("n").alias("n"))
    steps = [(a, at(("10:00", "a", 1), ("10:07", "b", 2))), (a, at(("10:21", "a", 3))), (a, at(("10:09", "a", 3), ("10:40", "c", 1))), (a, at(("12:00", "c", 1))), (a, at(("14:00", "c", 1)))]
    out = {}
    out["two"] = tried(lambda: replay(y, steps, prog=True))
    out["three"] = tried(lambda: replay(z, steps, prog=True))
    out["update"] = tried(lambda: replay(y, steps, mode="update", prog=True))
    return out


@case
def cn_sessions_with_gaps_of_rows(spark, tmp):
    a = Feed(spark, tmp, "ts TIMESTAMP, k STRING, g STRING, v DOUBLE")
    d = a.stream().withWatermark("ts", "10 minutes")
    gap = F.when(F.col("k") == "a", "5 minutes").when(F.col("k") == "b", F.col("g")).otherwise("30 seconds")
    q = d.groupBy(F.session_window("ts", gap), "k").agg(F.count("*").alias("n"), F.sum("v").alias("s"), F.collect_list("v").alias("l"))
    q = q.select("session_window.start", "session_window.end", "k", "n", "s", F.sort_array("l").alias("l"))
    steps = [(a, at(("10:00", "a", None, 1.0), ("10:04", "a", None, 2.0), ("10:00", "b", "1 minute", 3.0), ("10:01", "c", None, 1.0))),
             (a, at(("10:09", "a", None, 2.5), ("10:02", "b", "0 seconds", 3.0), ("10:02", "b", "-5 minutes", 3.0), ("10:03", "b", None, 3.0))),
             (a, at(("11:00", "b", "1 hour", 1.0))), (a, at(("10:02", "a", None, 9.0), ("11:30", "b", "1 hour", 1.0))), (a, at(("14:00", "z", None, 1.0)))]
    return {m: tried(lambda: replay(q, steps, mode=m, prog=True)) for m in ("append", "update", "complete")}


@case
def cn_gaps_that_are_none(spark, tmp):
    a = Feed(spark, tmp, "ts TIMESTAMP, k STRING, g STRING")
    a.add(at(("10:00", "a", "5 minutes"), ("10:00", "a", "nonsense"), ("10:01", "a", "1 month")))
    q = a.stream().withWatermark("ts", "10 minutes").groupBy(F.session_window("ts", F.col("g")), "k").count()
    out = {}
    out["bad"] = tried(lambda: fail(q.writeStream.format("memory").queryName("s1").trigger(availableNow=True)))
    out["rows"] = tried(lambda: rows(spark.table("s1")))
    out["month"] = tried(lambda: err(lambda: a.stream().withWatermark("ts", "10 minutes").groupBy(F.session_window("ts", "1 month"), "k").count().writeStream.format("noop").start()))
    out["int"] = tried(lambda: err(lambda: a.stream().groupBy(F.session_window("ts", F.lit(5)), "k").count().schema))
    out["neg"] = tried(lambda: err(lambda: a.stream().groupBy(F.session_window("ts", "-5 minutes"), "k").count().schema))
    return out


@case
def cn_outer_joins_over_restarts(spark, tmp):
    a, b = Feed(spark, tmp, "ts TIMESTAMP, k INT, v STRING", "a"), Feed(spark, tmp, "ts2 TIMESTAMP, k2 INT, w STRING", "b")
    out = {}
    for how in ("left_outer", "right_outer", "full_outer", "left_semi"):
        a, b = Feed(spark, tmp, "ts TIMESTAMP, k INT, v STRING", "a" + how), Feed(spark, tmp, "ts2 TIMESTAMP, k2 INT, w STRING", "b" + how)
        j = a.stream().withWatermark("ts", "5 minutes").join(b.stream().withWatermark("ts2", "5 minutes"), F.expr("k = k2 AND ts2 >= ts - INTERVAL 5 MINUTES AND ts2 <= ts + INTERVAL 10 MINUTES"), how)
        def run(i):
            o = os.path.join(tmp, "out" + how)
            q = now(j.writeStream.format("json").option("checkpointLocation", os.path.join(tmp, "ck" + how)), o)
            return brief(q)
        res = []
        for i, st in enumerate([[(a, at(("10:00", 1, "a"), ("10:01", 2, "b"))), (b, at(("10:05", 1, "x"), ("10:05", 3, "y")))],
                   [(a, at(("11:00", 5, "a")))], [(b, at(("11:00", 5, "a"), ("10:00", 2, "late")))], [(a, at(("12:00", 6, "c"))), (b, at(("12:00", 7, "d")))], [(a, at(("13:00", 8, "c"))), (b, at(("13:00", 9, "d")))]]):
            for fd, dta in st: fd.add(dta)
            res.append(tried(lambda: run(i)))
        out[how] = [res, rows(spark.read.json(os.path.join(tmp, "out" + how)))]
    return out


@case
def cn_forgotten_duplicates_over_restarts(spark, tmp):
    a = Feed(spark, tmp, "ts TIMESTAMP, k STRING, d DOUBLE, m DECIMAL(10,2)")
    d = a.stream().withWatermark("ts", "10 minutes")
    def run(cols, n):
        q = now(d.dropDuplicatesWithinWatermark(cols).writeStream.format("json").option("checkpointLocation", os.path.join(tmp, "ck" + n)), os.path.join(tmp, "o" + n))
        return brief(q)
    out = {"k": [], "d": [], "m": [], "all": []}
    for st in [at(("10:00", "a", 0.0, "1.10"), ("10:05", "a", float(0), "1.1"), ("10:00", None, None, None), ("10:01", None, None, None)),
               at(("10:16", "a", -0.0, "1.1"), ("10:12", "b", 1.0, "2.00")), at(("10:40", "a", 0.0, "1.1"), ("10:01", "late", 7.0, "2.00")), at(("11:40", "a", 0.0, "1.1"))]:
        a.add(st)
        for n, c in (("k", ["k"]), ("d", ["d"]), ("m", ["m"]), ("all", None)):
            out[n].append(tried(lambda: run(c, n)))
    for n in ("k", "d", "m", "all"):
        out[n].append(tried(lambda: len(rows(spark.read.schema("ts TIMESTAMP, k STRING, d DOUBLE, m DECIMAL(10,2)").json(os.path.join(tmp, "o" + n))))))
    return out


@case
def cn_modes_change_over_restarts(spark, tmp):
    a = Feed(spark, tmp, "ts TIMESTAMP, k STRING, v INT")
    w = lambda: a.stream().withWatermark("ts", "10 minutes").groupBy(F.window("ts", "10 minutes")).agg(F.sum("v").alias("s"))
    out = []
    for i, m in enumerate(["append", "update", "complete", "append", "update", "complete"]):
        a.add(at(("1%d:00" % i, "a", i), ("10:00", "a", 100)))
        out.append([m, tried(lambda: brief(now(w().writeStream.format("noop").outputMode(m).option("checkpointLocation", os.path.join(tmp, "ck")))))])
    g = lambda: a.stream().groupBy("k").count()
    for i, m in enumerate(["update", "complete", "update"]):
        a.add(at(("10:00", "a", 100)))
        out.append([m, tried(lambda: brief(now(g().writeStream.format("memory").queryName("mq").outputMode(m).option("checkpointLocation", os.path.join(tmp, "ck2"))))), tried(lambda: rows(spark.table("mq")))])
    return out


@case
def cn_damaged_checkpoints(spark, tmp):
    a = Feed(spark, tmp, "ts TIMESTAMP, k STRING, v INT")
    def w(): return a.stream(maxFilesPerTrigger=1).withWatermark("ts", "10 minutes").groupBy(F.window("ts", "10 minutes"), "k").count()
    for i in range(3): a.add(at(("1%d:00" % i, "a", 1)))
    base = os.path.join(tmp, "base")
    now(w().writeStream.format("noop").outputMode("update").option("checkpointLocation", base))
    a.add(at(("15:00", "a", 1)))
    def damage(name, fn):
        ck = os.path.join(tmp, "ck_" + name)
        shutil.copytree(base, ck)
        for b, _, fs in os.walk(ck):
            for x in fs:
                if x.endswith(".crc"): os.remove(os.path.join(b, x))
        fn(ck)
        try:
            q = now(w().writeStream.format("noop").outputMode("update").option("checkpointLocation", ck))
            return brief(q)
        except Exception as e:
            return error_info(e)
    wr = lambda rel, text: lambda ck: open(os.path.join(ck, rel), "w").write(text)
    rm = lambda rel: lambda ck: (shutil.rmtree if os.path.isdir(os.path.join(ck, rel)) else os.remove)(os.path.join(ck, rel))
    out = {}
    out["moved"] = damage("moved", lambda ck: None)
    out["no_metadata"] = damage("nometa", rm("metadata"))
    out["bad_metadata"] = damage("badmeta", wr("metadata", "{nonsense"))
    out["empty_metadata"] = damage("emptymeta", wr("metadata", ""))
    out["no_commits"] = damage("nocommits", rm("commits"))
    out["no_last_commit"] = damage("nolast", rm("commits/3"))
    out["no_offsets"] = damage("nooffsets", rm("offsets"))
    out["no_last_offset"] = damage("nolastoff", rm("offsets/3"))
    out["no_mid_offset"] = damage("nomid", rm("offsets/1"))
    out["empty_offset"] = damage("emptyoff", wr("offsets/3", ""))
    out["v9_offset"] = damage("v9", wr("offsets/3", "v9\n{}\n"))
    out["no_version"] = damage("nov", wr("offsets/3", "{}\n"))
    out["empty_commit"] = damage("emptycom", wr("commits/3", ""))
    out["bad_commit"] = damage("badcom", wr("commits/3", "v1\nnonsense"))
    out["no_state"] = damage("nostate", rm("state"))
    out["no_sources"] = damage("nosources", rm("sources"))
    out["stray"] = damage("stray", wr("offsets/abc", "x"))
    out["future_commit"] = damage("future", wr("commits/9", "v1\n{\"nextBatchWatermarkMs\":0}"))
    out["file"] = tried(lambda: err(lambda: w().writeStream.format("noop").outputMode("update").option("checkpointLocation", os.path.join(base, "metadata")).start()))
    return out


@case
def cn_windows_small_and_large(spark, tmp):
    a = Feed(spark, tmp, "ts TIMESTAMP, v INT")
    steps = [(a, [("2026-01-01 10:00:00.000001", 1), ("1969-12-31 23:59:59.999999", 2), ("0001-01-01 00:00:00", 3), ("9999-12-31 23:59:59.999999", 4), (None, 5)])]
    steps2 = [(a, [("2026-01-01 10:00:00.000001", 1), ("2026-01-01 10:00:00.000002", 1)]), (a, [("2026-01-01 10:00:00.000500", 1)]), (a, [("2026-01-01 10:00:01", 1)])]
    d = a.stream()
    wm = lambda x: d.withWatermark("ts", x)
    st = lambda w: d.groupBy(w).count().select(F.col("window.start").cast("string"), F.col("window.end").cast("string"), "count")
    out = {}
    for n, w in {"us": ("1 microsecond",), "3us": ("3 microseconds", "1 microsecond"), "week": ("1 week",), "7d_off": ("7 days", "7 days", "3 days"), "100y": ("36500 days",), "neg_off": ("1 hour", "1 hour", "-15 minutes"), "off_big": ("1 hour", "1 hour", "90 minutes"),
                 "slide_gt": ("1 hour", "2 hours"), "zero": ("0 seconds",), "month": ("1 month",), "mixed": ("1 day 2 hours 3 minutes 4.5 seconds",), "neg": ("-1 hour",), "frac": ("1.5 hours",), "huge": ("300000 days",), "overflow": ("200000000 days",), "many": ("1 hour", "10 seconds")}.items():
        out[n] = tried(lambda: replay(st(F.window("ts", *w)), steps, mode="update") if n != "many" else len(replay(st(F.window("ts", *w)), steps, mode="update")[0]))
    for n in ("0 seconds", "1 microsecond", "999 microseconds", "1 millisecond", "1 year", "106751991 days", "10000000 days", "1 month 1 day"):
        out["wm " + n] = tried(lambda: replay(wm(n).groupBy(F.window("ts", "1 millisecond")).count().select(F.col("window.start").cast("string"), "count"), steps2, prog=True))
    out["extreme_wm"] = tried(lambda: replay(wm("1 day").groupBy(F.window("ts", "1 hour")).count().select(F.col("window.start").cast("string"), "count"), steps + steps2, prog=True))
    out["extreme_neg"] = tried(lambda: replay(wm("1 day").groupBy(F.window("ts", "1 hour")).count().select(F.col("window.start").cast("string"), "count"), [(a, [("0001-01-01 00:00:00", 3)]), (a, [("1960-01-01 00:00:00", 3)])], prog=True))
    return out


@case
def cn_windows_in_time_zones(spark, tmp):
    out = {}
    a = Feed(spark, tmp, "ts TIMESTAMP, n TIMESTAMP_NTZ, v INT")
    steps = [(a, [("2026-03-29 01:30:00", "2026-03-29 02:30:00", 1), ("2026-03-29 02:30:00", "2026-03-29 02:30:00", 2), ("2026-10-25 02:30:00", "2026-10-25 02:30:00", 3), ("2026-10-25T02:30:00+05:00", "2026-10-25 02:30:00", 4)])]
    for tz in ("Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "+05:30", "Pacific/Apia"):
        spark.conf.set("spark.sql.session.timeZone", tz)
        d = a.stream()
        x = d.groupBy(F.window("ts", "1 day")).agg(F.sum("v").alias("s")).select(F.col("window.start").cast("string").alias("a"), F.col("window.end").cast("string").alias("b"), "s")
        out[tz] = [tried(lambda: replay(x, steps, mode="complete")), tried(lambda: replay(d.groupBy(F.to_date("ts")).count(), steps, mode="complete")), tried(lambda: replay(d.select(F.hour("ts"), F.date_trunc("day", "ts").cast("string")), steps))]
        out[tz + " ntz"] = tried(lambda: replay(d.groupBy(F.window("n", "1 hour")).count().select(F.col("window.start").cast("string"), "count"), steps, mode="complete"))
        out[tz + " wm"] = tried(lambda: replay(d.withWatermark("ts", "1 hour").groupBy(F.window("ts", "1 hour")).count().select(F.col("window.start").cast("string"), "count"), steps + steps, prog=True))
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    out["ntz wm"] = tried(lambda: replay(a.stream().withWatermark("n", "1 hour").groupBy(F.window("n", "1 hour")).count(), steps, prog=True))
    # the zone of a query is the one that its checkpoint began with
    ck = os.path.join(tmp, "ck")
    for tz in ("Europe/Berlin", "UTC"):
        spark.conf.set("spark.sql.session.timeZone", tz)
        a.add([("2026-06-01 00:30:00", "2026-06-01 00:30:00", 1)])
        q = now(a.stream().select(F.col("ts").cast("string").alias("t"), F.current_timezone().alias("z")).writeStream.format("json").option("checkpointLocation", ck), os.path.join(tmp, "o"))
    out["restart zone"] = rows(spark.read.json(os.path.join(tmp, "o")))
    return out


@case
def cn_parse_modes(spark, tmp):
    out = {}
    d = os.path.join(tmp, "j")
    put(os.path.join(d, "a.json"), '{"a": 1, "b": "x"}\n{"a": "nope", "b": "y"}\n{broken\n\n[{"a": 5}, {"a": 6}]\n{"a": 2, "a": 3}\n"text"\n{"A": 7}\n', t=1)
    for m in ("PERMISSIVE", "DROPMALFORMED", "FAILFAST", "bogus"):
        for ddl in ("a INT, b STRING", "a INT, b STRING, _corrupt_record STRING", "_corrupt_record STRING", "a INT NOT NULL"):
            out["json %s %s" % (m, ddl)] = tried(lambda: collect(spark.readStream.schema(ddl).option("mode", m).json(d)))
    out["json corrupt agg"] = tried(lambda: collect(spark.readStream.schema("a INT, _corrupt_record STRING").json(d).groupBy("_corrupt_record").count(), "complete"))
    out["json named"] = tried(lambda: collect(spark.readStream.schema("a INT, bad STRING").option("columnNameOfCorruptRecord", "bad").json(d).select("bad")))
    out["json bad type"] = tried(lambda: collect(spark.readStream.schema("a INT, bad INT").option("columnNameOfCorruptRecord", "bad").json(d)))
    c = os.path.join(tmp, "c")
    put(os.path.join(c, "a.csv"), 'a,b\n1,x\nnope,y\n2\n3,z,extra\n"open\n4,"q""r"\n', t=1)
    for m in ("PERMISSIVE", "DROPMALFORMED", "FAILFAST"):
        for ddl in ("a INT, b STRING", "a INT, b STRING, _corrupt_record STRING"):
            for h in ("true", "false"):
                out["csv %s %s %s" % (m, h, ddl)] = tried(lambda: collect(spark.readStream.schema(ddl).option("mode", m).option("header", h).csv(c)))
    out["csv enforce"] = tried(lambda: collect(spark.readStream.schema("z INT, b STRING").option("enforceSchema", "false").option("header", "true").csv(c)))
    return out
