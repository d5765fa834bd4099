"""check.py windows|rows EVENTS parquet FOLDER | delta TABLE | kafka BROKER TOPIC: does the output hold what the query makes of the
events, each row once? Files of a folder are those of its _spark_metadata."""
import collections
import datetime
import json
import os
import sys
import urllib.parse


def moment(text):
    t = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if isinstance(text, str) else text
    return t if t.tzinfo else t.replace(tzinfo=datetime.timezone.utc)


def parquet(folder):
    import pyarrow.parquet as pq

    log = os.path.join(folder, "_spark_metadata")
    batches = sorted(int(n.split(".")[0]) for n in os.listdir(log) if n.split(".")[0].isdigit())
    compact = max((int(n.split(".")[0]) for n in os.listdir(log) if n.endswith(".compact") and not n.startswith(".")), default=-1)
    files = []
    for b in batches:
        if b >= compact:
            with open(os.path.join(log, "%d%s" % (b, ".compact" if b == compact else ""))) as f:
                assert f.readline().rstrip() == "v1"
                files += [json.loads(line) for line in f]
    assert all(f["action"] == "add" for f in files)
    names = [urllib.parse.unquote(urllib.parse.urlparse(f["path"]).path) for f in files]
    assert len(names) == len(set(names)), "a file is listed twice"
    rows = []
    for name in names:
        user = os.path.basename(os.path.dirname(name)).partition("=")[2]
        rows += [dict(row, user=user) for row in pq.ParquetFile(name).read().to_pylist()]
    return rows, "pyarrow reads %d files of %d batches" % (len(names), batches[-1] + 1)


def delta(path):
    import deltalake

    table = deltalake.DeltaTable(path)
    batches = []
    for v in range(table.version() + 1):
        with open(os.path.join(path, "_delta_log", "%020d.json" % v)) as f:
            batches += [json.loads(line)["txn"]["version"] for line in f if line.startswith('{"txn"')]
    assert len(batches) == len(set(batches)), "a batch is committed twice"
    rows = table.to_pyarrow_table().to_pylist()
    return rows, "delta-rs %s reads %d files of %d versions" % (deltalake.__version__, len(table.file_uris()), table.version() + 1)


def kafka(broker, topic):
    import confluent_kafka as ck

    c = ck.Consumer({"bootstrap.servers": broker, "group.id": topic, "isolation.level": "read_committed", "auto.offset.reset": "earliest",
                     "enable.auto.commit": False, "enable.partition.eof": True})
    parts = [ck.TopicPartition(topic, p, 0) for p in c.list_topics(topic, 240).topics[topic].partitions]
    c.assign(parts)
    rows, ends = [], 0
    while ends < len(parts):
        m = c.poll(240)
        assert m is not None, "no record for minutes"
        if m.error():
            assert m.error().code() == ck.KafkaError._PARTITION_EOF, m.error()
            ends += 1
        else:
            rows.append(json.loads(m.value()))
    c.close()
    return rows, "librdkafka reads %d committed records" % len(rows)


def main(query, events, form, *where):
    with open(events) as f:
        events = [json.loads(line) for line in f]
    rows, how = {"parquet": parquet, "delta": delta, "kafka": kafka}[form](*where)
    if query == "rows":
        want = collections.Counter((e["id"], moment(e["ts"]), e["user"], e["amount"]) for e in events)
        got = collections.Counter((r["id"], moment(r["ts"]), r["user"], r["amount"]) for r in rows)
    else:
        sums = {}
        for e in events:
            t = moment(e["ts"])
            total = sums.setdefault((t.replace(minute=t.minute - t.minute % 10, second=0), e["user"]), [0, 0])
            total[0] += e["amount"]
            total[1] += 1
        want = collections.Counter((*k, *v) for k, v in sums.items() if k[1] != "end")
        got = collections.Counter((moment(r["start"]), r["user"], r["total"], r["n"]) for r in rows)
    print("%s: %d rows, %d missing, %d too many" % (how, sum(got.values()), (want - got).total(), (got - want).total()))
    return 0 if want == got else 1


code = main(*sys.argv[1:])
sys.stdout.flush()
# Without the interpreter's end: threads of pyarrow that still read ahead through delta-rs abort the process when Python goes first.
os._exit(code)
