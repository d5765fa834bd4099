"""What a query shows besides its rows: reports, files, the moment and the condition of a refusal."""
from conformlib import *

DDL = "ts TIMESTAMP, k STRING, v INT"
W10 = lambda df: df.groupBy(F.window("ts", "10 minutes")).count()


def r(*hms):
    return [(ts(h), "k", 1) for h in hms]


def reports(df, steps, mode="append"):
    """Per batch: rows that came in and out, event times, and of each operator the name, rows in state, updated, removed, late, and stores."""
    q = df.writeStream.format("memory").queryName("q").outputMode(mode).start()
    try:
        for feed, data in steps:
            feed.add(data)
            q.processAllAvailable()
    finally:
        q.stop()
    return [{"id": p["batchId"], "in": [s["numInputRows"] for s in p["sources"]], "out": p["sink"]["numOutputRows"], "times": p["eventTime"],
             "ops": [[o[n] for n in ("operatorName", "numRowsTotal", "numRowsUpdated", "numRowsRemoved", "numRowsDroppedByWatermark", "numStateStoreInstances")]
                     for o in p["stateOperators"]]} for p in progress(q)]


def go(make, mode="append"):
    """When a query fails, and with what: while it is built, at start, in a batch, or not at all."""
    try:
        df = make()
        df.schema
    except Exception as e:
        return {"at": "build", **error_info(e)}
    return fail(df.writeStream.format("noop").outputMode(mode).trigger(availableNow=True))


@case
def sh_event_times_of_first_watermark_that_saw_any(spark, tmp):
    f, g = Feed(spark, tmp, DDL, "f"), Feed(spark, tmp, DDL, "g")
    df = f.stream().withWatermark("ts", "5 minutes").union(g.stream().withWatermark("ts", "20 minutes"))
    return reports(W10(df), [(f, r("10:05")), (g, r("10:06", "10:08")), (f, r("11:00"))])


@case
def sh_event_times_before_1970(spark, tmp):
    f = Feed(spark, tmp, DDL)
    old = lambda *t: [(x, "k", 1) for x in t]
    return reports(f.stream().withWatermark("ts", "1 minute"), [(f, old("1969-12-31 23:59:59.999", "1969-12-31 23:59:59.998")), (f, old("0001-01-01 00:00:00", "1960-01-01 00:00:00"))])


@case
def sh_limit_zero(spark, tmp):
    """Nothing below is run; the query has a watermark all the same."""
    f, g, h = Feed(spark, tmp, DDL, "f"), Feed(spark, tmp, DDL, "g"), Feed(spark, tmp, DDL, "h")
    return {"stateless": reports(f.stream().withWatermark("ts", "5 minutes").limit(0), [(f, r("10:00")), (f, r("10:30"))]),
            "complete": reports(W10(g.stream().withWatermark("ts", "5 minutes")).limit(0), [(g, r("10:00"))], "complete"),
            "sorted": reports(h.stream().groupBy("k").count().orderBy("k").limit(0), [(h, r("10:00"))], "complete")}


@case
def sh_false_condition_above_grouping(spark, tmp):
    f = Feed(spark, tmp, DDL)
    return reports(W10(f.stream().withWatermark("ts", "5 minutes")).where("false"), [(f, r("10:00")), (f, r("10:30"))], "update")


@case
def sh_sorted_result_reports_twice(spark, tmp):
    """A sort looks at the result once to learn how its keys are spread."""
    out = {}
    for n, fn in {"sort": lambda s: s.groupBy("k").count().orderBy("k"), "limit": lambda s: s.groupBy("k").count().orderBy("k").limit(1),
                  "global": lambda s: s.groupBy().count().orderBy("count"), "within": lambda s: s.groupBy("k").count().sortWithinPartitions("k")}.items():
        f = Feed(spark, tmp, DDL, n)
        out[n] = reports(fn(f.stream()), [(f, [(ts("10:00"), k, 1) for k in "abc"]), (f, [(ts("10:00"), k, 1) for k in "ad"])], "complete")
    return out


@case
def sh_watermark_on_window_column(spark, tmp):
    """Its value is where the window stands in the row, and so stays in 1970."""
    f, g = Feed(spark, tmp, DDL, "f"), Feed(spark, tmp, DDL, "g")
    w = lambda s: s.select(F.window("ts", "10 minutes").alias("w"), "v")
    return {"marked": reports(w(f.stream()).withWatermark("w", "5 minutes").groupBy("w").count(), [(f, r("10:00")), (f, r("10:31"))]),
            "within": reports(w(g.stream().withWatermark("ts", "5 minutes")).dropDuplicatesWithinWatermark(["v"]), [(g, r("10:00", "10:01")), (g, r("10:31"))])}


@case
def sh_sessions_merged_first(spark, tmp):
    """Sessions of a batch are made before late ones are dropped: a late row beside one that is not late stays."""
    spark.conf.set("spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition", "true")
    f = Feed(spark, tmp, DDL)
    df = f.stream().withWatermark("ts", "1 minute").groupBy(F.session_window("ts", "5 minutes"), "k").count()
    return play(df, [(f, r("11:00")), (f, r("11:01")), (f, r("10:00", "10:01", "10:20") + [(ts("10:00"), "z", 1)]), (f, r("10:52", "10:56", "12:00")), (f, r("12:01"))], prog=True)


@case
def sh_outer_join_below_grouping(spark, tmp):
    """Rows padded on the side whose window is grouped by are dropped, so fewer have to be kept."""
    f, g = Feed(spark, tmp, "lt TIMESTAMP, k INT", "f"), Feed(spark, tmp, "rt TIMESTAMP, rk INT", "g")
    df = f.stream().withWatermark("lt", "5 minutes").join(g.stream().withWatermark("rt", "5 minutes"), F.expr("k = rk and rt between lt and lt + interval 5 minutes"), "full_outer")
    return reports(df.groupBy(F.window("lt", "10 minutes")).count(), [(f, [(ts("10:00"), 1), (ts("10:01"), 2)]), (g, [(ts("10:02"), 1), (ts("10:03"), 9)]),
                                                                      (f, [(ts("11:00"), 3)]), (g, [(ts("11:00"), 3)])])


@case
def sh_grouping_sets_over_windows(spark, tmp):
    f, g = Feed(spark, tmp, DDL, "f"), Feed(spark, tmp, DDL, "g")
    w = F.window("ts", "10 minutes")
    return {"rollup": play(f.stream().rollup(w, "k").count(), [(f, r("10:00", "10:01")), (f, r("10:30"))], "update"),
            "cube": play(g.stream().withWatermark("ts", "5 minutes").cube(w, "k").count(), [(g, r("10:00")), (g, r("10:30"))], "update", prog=True)}


@case
def sh_dedup_above_grouping(spark, tmp):
    f = Feed(spark, tmp, DDL)
    w = W10(f.stream().withWatermark("ts", "5 minutes"))
    return {"%s-%s" % (n, m): go(lambda: fn(), m) for m in ("append", "update", "complete") for n, fn in {
        "time": lambda: w.dropDuplicates(["window"]), "other": lambda: w.dropDuplicates(["count"]), "within": lambda: w.dropDuplicatesWithinWatermark(["count"]),
        "all": lambda: w.distinct()}.items()}


@case
def sh_several_event_times(spark, tmp):
    """Found when the first batch is planned, hence never without data."""
    f, g = Feed(spark, tmp, DDL, "f"), Feed(spark, tmp, "t2 TIMESTAMP, k2 STRING", "g")
    s, t = f.stream().withWatermark("ts", "5 minutes"), g.stream().withWatermark("t2", "5 minutes")
    j = lambda: s.join(t, F.expr("k = k2 and t2 between ts and ts + interval 5 minutes"))
    out = {"empty": go(lambda: s.groupBy(F.window("ts", "10 minutes"), "ts").count())}
    f.add(r("10:00")); g.add([(ts("10:00"), "k")])
    out.update(grouping=go(lambda: s.groupBy(F.window("ts", "10 minutes"), "ts").count()), dedup=go(lambda: j().dropDuplicates(["k"])),
               join=go(lambda: j().join(Feed(spark, tmp, "t3 TIMESTAMP, k3 STRING", "h").stream().withWatermark("t3", "1 minute"), F.expr("k = k3"))),
               one=go(lambda: j().select("ts", "k").dropDuplicates(["k"])))
    return out


@case
def sh_clock_where_values_must_be_determined(spark, tmp):
    f, g = Feed(spark, tmp, DDL, "f"), Feed(spark, tmp, "k2 STRING", "g")
    f.add(r("10:00")); g.add([("k",)])
    s = f.stream()
    ct = F.current_timestamp()
    return {"aggregate": go(lambda: s.groupBy("k").agg(F.max(ct)), "complete"), "observed": go(lambda: s.observe("m", F.max(ct).alias("x"))),
            "join": go(lambda: s.join(g.stream(), F.expr("k = k2 and current_timestamp() > timestamp'2020-01-01'"))),
            "filter": go(lambda: s.where(ct > F.lit("2020-01-01"))), "key": go(lambda: s.groupBy(F.window(ct, "1 hour")).count(), "complete")}


@case
def sh_misplaced_expressions(spark, tmp):
    f, g = Feed(spark, tmp, "k STRING, v INT, xs ARRAY<INT>", "f"), Feed(spark, tmp, "k2 STRING, v2 INT", "g")
    s, t = f.stream(), g.stream()
    ob = lambda e: err(lambda: s.observe("m", F.expr(e).alias("x")).schema)
    return {"observe-" + e: ob(e) for e in ("explode(xs)", "sum(explode(xs))", "explode(collect_list(v))", "grouping(v)", "rand(v)", "sum(rand(v))", "sum(rand())")} | {
        "twice": err(lambda: s.observe("m", F.count("*").alias("a")).observe("m", F.count("*").alias("a")).schema),
        "join-generator": err(lambda: s.join(t, F.expr("k = k2 and explode(array(true))")).schema), "join-seed": err(lambda: s.join(t, F.expr("k = k2 and rand(v) > 0")).schema),
        "filter-seed": err(lambda: s.where("rand(v) > 0").schema), "select-seed": err(lambda: s.select(F.expr("randn(v)")).schema)}


@case
def sh_star_of_a_window(spark, tmp):
    """The window of a grouping has no columns to expand yet; its name and alias can be used."""
    f = Feed(spark, tmp, DDL)
    s = f.stream()
    s.createOrReplaceTempView("t")
    return {"sql": err(lambda: spark.sql("select window.*, count(*) from t group by window(ts, '10 minutes')").schema),
            "session": err(lambda: spark.sql("select session_window.*, count(*) from t group by session_window(ts, '10 minutes'), k").schema),
            "agg": err(lambda: s.groupBy(F.window("ts", "10 minutes")).agg(F.col("window.*")).schema),
            "alias": schema(s.groupBy(F.window("ts", "10 minutes").alias("w")).agg(F.col("w.start"), F.count("*").alias("n"))),
            "above": schema(W10(s).select("window.*", "count"))}


@case
def sh_streams_as_values_and_kept(spark, tmp):
    f = Feed(spark, tmp, DDL)
    s = f.stream()
    s.createOrReplaceTempView("sv")
    q = lambda t: err(lambda: spark.sql(t).schema)
    return {"in": q("select * from (select 1 a) where a in (select v from sv)"), "scalar": q("select *, (select max(v) from sv) from sv"),
            "exists": q("select * from sv where exists (select 1 from sv s2 where s2.k = sv.k)"), "batch-subquery": q("select * from sv where v in (select 1)"),
            "cache": err(lambda: (s.cache(), None)[1]), "persist": err(lambda: (s.persist(), None)[1]), "cacheTable": err(lambda: spark.catalog.cacheTable("sv")),
            "inputFiles": err(lambda: (s.inputFiles(), None)[1]), "no-columns": err(lambda: s.dropDuplicates([]).schema)}


@case
def sh_paths_of_file_streams(spark, tmp):
    for n in ("in/a.json", "in/_h/b.json", "in/.h/c.json", "in/sub/d.json", "in/_e.json", "mixed/sub/a.json", "mixed/p=1/a.json"):
        put(tmp + "/" + n, '{"n":"%s"}\n' % n)
    s = lambda p, **o: spark.readStream.schema("n STRING").options(**o).json(tmp + "/" + p)
    return {"file": go(lambda: s("in/a.json")), "glob-of-one": collect(s("in/a.*")), "star": collect(s("in/*")), "directory": collect(s("in")), "mixed": err(lambda: s("mixed").schema),
            "ratio": go(lambda: s("in", discardCachedInputRatio="2")), "cached": go(lambda: s("in", maxCachedFiles="-1"))}


@case
def sh_not_null_columns_of_file_streams(spark, tmp):
    os.makedirs(tmp + "/in")
    out = {}
    for v in ("true", "false"):
        spark.conf.set("spark.sql.streaming.fileSource.schema.forceNullable", v)
        out[v] = schema(spark.readStream.schema("a INT NOT NULL, b STRUCT<x: INT NOT NULL>").json(tmp + "/in"))
    return out


@case
def sh_files_of_empty_batches(spark, tmp):
    out = {}
    for n, part in (("flat", None), ("parted", "k")):
        f = Feed(spark, tmp, "k STRING, v INT", "in" + n)
        w = f.stream(maxFilesPerTrigger="1").where("v > 1").writeStream.format("json").option("checkpointLocation", tmp + "/ck" + n)
        for v in (1, 2, 0):
            f.add([("a", v)])
        now(w.partitionBy(part) if part else w, tmp + "/" + n)
        out[n] = [[json.loads(x)["size"] > 0 for x in open(tmp + "/%s/_spark_metadata/%d" % (n, i)).read().splitlines()[1:]] for i in range(3)]
    return out


@case
def sh_all_columns_partition(spark, tmp):
    f = Feed(spark, tmp, "k STRING, v INT")
    f.add([("a", 1)])
    return {t: fail(f.stream().writeStream.format(t).partitionBy("k", "v").option("checkpointLocation", tmp + "/ck" + t).trigger(availableNow=True), tmp + "/" + t)
            for t in ("parquet", "json", "csv")}


@case
def sh_what_refused_queries_leave(spark, tmp):
    f = Feed(spark, tmp, DDL)
    f.add(r("10:00"))
    s = f.stream()

    def left(n, w, path=None):
        ck = tmp + "/ck-" + n
        x = fail(w.option("checkpointLocation", ck), path)
        return [x["at"], tree(ck) if os.path.isdir(ck) else None]

    an = lambda df, fmt="noop", mode="append": df.writeStream.format(fmt).outputMode(mode).trigger(availableNow=True)
    return {"operation": left("operation", an(s.groupBy("k").count())), "mode": left("mode", an(s, mode="complete")), "name": left("name", an(s, "memory")),
            "sink-mode": left("sink-mode", an(s, "parquet", "update"), tmp + "/o1"), "format": left("format", an(s, "nosuch")), "column": left("column", an(s, "parquet").partitionBy("zz"), tmp + "/o2"),
            "continuous": left("continuous", s.writeStream.format("noop").trigger(continuous="1 second")), "text": left("text", an(s, "text"), tmp + "/o3"),
            "value": left("value", an(s.selectExpr("1 div (v - 1)"))), "outputs": sorted(n for n in os.listdir(tmp) if n.startswith("o"))}


@case
def sh_operators_are_numbered_from_the_top(spark, tmp):
    f = Feed(spark, tmp, DDL)
    f.add(r("10:00"))
    s = f.stream().withWatermark("ts", "1 minute")
    now(W10(s.dropDuplicates(["k", "ts"])).writeStream.format("noop").option("checkpointLocation", tmp + "/ck"))
    return [json.loads(open(tmp + "/ck/state/%d/_metadata/metadata" % i).read().split("\n")[1])["operatorInfo"] for i in (0, 1)]


def sources_of(df, feed, ck):
    """Rows and end of each source by batch, the logs of sources, and the offsets that are logged. One run for each file: two sources
    that list one directory must not see it at different times."""
    seen = []
    for data in (r("10:00", "10:01"), r("10:30")):
        feed.add(data)
        q = df.writeStream.format("noop").option("checkpointLocation", ck).trigger(availableNow=True).start()
        q.awaitTermination(NET)
        seen += [[[s["numInputRows"], s["endOffset"]] for s in p["sources"]] for p in progress(q)]
    shown = lambda d: sorted(n for n in os.listdir(d) if not n.startswith("."))
    return {"progress": seen, "logs": {n: shown(ck + "/sources/" + n) for n in shown(ck + "/sources")},
            "offsets": [open(ck + "/offsets/" + n).read().split("\n")[2:] for n in shown(ck + "/offsets")]}


@case
def sh_stream_joined_with_itself(spark, tmp):
    """Sides that share columns of a stream are read by two sources, sides that only come from one are not."""
    viewed = lambda s: (s.createOrReplaceTempView("vv"), lambda q: spark.sql(q))[1]
    out = {}
    for n, fn in {
        "aliased": lambda s: s.alias("a").join(s.alias("b"), F.expr("a.k = b.k")).select("a.v"),
        "filtered": lambda s: s.where("v > 0").join(s.where("v < 5"), "k").select("k"),
        "interval": lambda s: (lambda w: w.alias("a").join(w.alias("b"), F.expr("a.k = b.k and a.ts >= b.ts and a.ts <= b.ts + interval 1 minute"), "left")
                               .select("a.ts", "b.v"))(s.withWatermark("ts", "5 minutes")),
        "frame in SQL": lambda s: spark.sql("select a.v, b.ts from {df} a join {df} b on a.k = b.k", df=s),
        "common table": lambda s: viewed(s)("with c as (select k, v from vv where v > 0) select a.v from c a join c b on a.k = b.k"),
        "view": lambda s: viewed(s)("select a.k, b.v from vv a join vv b on a.k = b.k"),
    }.items():
        f = Feed(spark, tmp, DDL, n)
        out[n] = sources_of(fn(f.stream()), f, tmp + "/ck" + n)
    return out


@case
def sh_stream_in_union_with_itself(spark, tmp):
    """It is one source, and each use has its line in the offset log."""
    out = {}
    for n, fn in {
        "union": lambda s: s.union(s),
        "grouped": lambda s: (lambda w: w.union(w).groupBy(F.window("ts", "10 minutes")).count())(s.withWatermark("ts", "5 minutes")),
        "join of groups": lambda s: (lambda a: a.join(a.withColumnRenamed("count", "c2"), "window"))(
            s.withWatermark("ts", "5 minutes").groupBy(F.window("ts", "10 minutes")).count()),
        "renamed": lambda s: s.join(s.select(F.col("k").alias("k2"), F.col("v").alias("v2")), F.expr("k = k2")),
        "after a join": lambda s: s.where("v > 0").join(s.where("v < 5"), "k").select("k").union(s.select("k")),
    }.items():
        f = Feed(spark, tmp, DDL, n.replace(" ", "_"))
        out[n] = sources_of(fn(f.stream()), f, tmp + "/ck" + n.replace(" ", "_"))
    return out
