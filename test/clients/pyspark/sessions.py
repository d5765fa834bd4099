"""Sessions, settings, views, errors and interrupts with an unmodified PySpark client.

sessions.py sc://HOST:PORT DIR
"""
import sys
import threading
import time

from pyspark.errors import AnalysisException, ArithmeticException, IllegalArgumentException, ParseException
from pyspark.sql import Row, SparkSession

remote = sys.argv[1]


def expect(got, want):
    if got != want:
        sys.exit("want %s\ngot  %s" % (want, got))


def fails(kind, condition, state, fn):
    """fn must raise an exception of a kind, with a condition and a state; returns it."""
    try:
        fn()
    except kind as e:
        expect((e.getCondition(), e.getSqlState()), (condition, state))
        return e
    except Exception as e:
        sys.exit("want %s, got %r" % (condition, e))
    sys.exit("want %s, got no error" % condition)


spark = SparkSession.builder.remote(remote).create()

# Settings belong to the session.
expect(spark.conf.get("spark.sql.shuffle.partitions"), "200")
spark.conf.set("spark.sql.shuffle.partitions", "3")
expect(spark.conf.get("spark.sql.shuffle.partitions"), "3")
expect(spark.conf.get("spark.nope", "d"), "d")
expect(spark.conf.isModifiable("spark.sql.ansi.enabled"), True)
fails(AnalysisException, "CANNOT_MODIFY_STATIC_CONFIG", "46110", lambda: spark.conf.set("spark.sql.warehouse.dir", "/x"))
fails(IllegalArgumentException, "INVALID_CONF_VALUE.TYPE_MISMATCH", "22022", lambda: spark.conf.set("spark.sql.ansi.enabled", "1"))
expect(spark.sql("SET spark.sql.shuffle.partitions").collect(), [Row(key="spark.sql.shuffle.partitions", value="3")])
other = SparkSession.builder.remote(remote).create()
expect(other.conf.get("spark.sql.shuffle.partitions"), "200")

# So do temporary views; global ones do not.
spark.range(3).createOrReplaceTempView("v")
spark.range(2).createOrReplaceGlobalTempView("g")
expect(spark.sql("SELECT count(*) AS n FROM v JOIN v AS w USING (id)").first().n, 3)
expect(other.sql("SELECT count(*) AS n FROM global_temp.g").first().n, 2)
fails(AnalysisException, "TABLE_OR_VIEW_NOT_FOUND", "42P01", lambda: other.table("v").collect())
fails(AnalysisException, "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "42P07", lambda: spark.range(1).createTempView("v"))
expect([t.name for t in spark.catalog.listTables() if t.isTemporary], ["v"])
expect(spark.catalog.dropTempView("v"), True)
expect(spark.catalog.dropTempView("v"), False)
expect(spark.catalog.dropGlobalTempView("g"), True)

# Errors come with their class, their parameters and their place.
e = fails(AnalysisException, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703", lambda: spark.sql("SELECT no_such_col FROM range(1)"))
expect(e.getMessageParameters(), {"objectName": "`no_such_col`", "proposal": "`id`"})
expect((e.getQueryContext()[0].fragment(), e.getQueryContext()[0].startIndex()), ("no_such_col", 7))
fails(ParseException, "PARSE_SYNTAX_ERROR", "42601", lambda: spark.sql("SELECT 1 +"))
fails(ArithmeticException, "DIVIDE_BY_ZERO", "22012", lambda: spark.sql("SELECT 1 / 0").collect())
spark.conf.set("spark.sql.ansi.enabled", "false")
expect(spark.sql("SELECT 1 / 0 AS x").first().x, None)
spark.conf.unset("spark.sql.ansi.enabled")


# Interrupts.
def interrupted(interrupt):
    """Starts something endless and interrupts it; returns how it ended."""
    ended = []

    def work():
        spark.addTag("endless")
        try:
            spark.sql("SELECT sum(id) FROM range(0, 1000000000000000)").collect()
        except Exception as e:
            ended.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive() and not interrupt():
        time.sleep(0.02)
    thread.join()
    expect(thread.is_alive(), False)
    expect(["OPERATION_CANCELED" in str(x) for x in ended], [True])


interrupted(spark.interruptAll)
interrupted(lambda: spark.interruptTag("endless"))
expect(spark.interruptAll(), [])

# A released session is gone.
spark.stop()
other.stop()
last = SparkSession.builder.remote(remote).create()
expect(last.range(1).count(), 1)
last.stop()
try:
    last.range(1).count()
    sys.exit("a stopped session still answers")
except Exception:
    pass
