package millrace_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
)

// events are three files of JSON, as in examples/windowed-totals.
func events(t *testing.T) (dir string) {
	dir = filepath.Join(t.TempDir(), "in")
	write(t, dir, "e0.json", `{"ts": "2026-01-01 10:01:00", "user": "u0", "amount": 10}`)
	write(t, dir, "e1.json", `{"ts": "2026-01-01 10:04:00", "user": "u1", "amount": 20}`)
	write(t, dir, "e2.json", `{"ts": "2026-01-01 10:12:00", "user": "u0", "amount": 30}`)
	return dir
}

// totals adds up amounts in windows of ten minutes.
func totals(spark *millrace.Session, dir string) *millrace.DataFrame {
	return spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(dir).
		WithWatermark("ts", "5 minutes").
		GroupBy(f.Window("ts", "10 minutes")).
		Agg(f.Sum("amount").As("total"))
}

// name is a query's name that no other test uses.
func name() string { return "q" + strings.ReplaceAll(uuid.NewString(), "-", "") }

// finish starts a query and waits for its end.
func finish(t *testing.T, w *millrace.DataStreamWriter) *millrace.StreamingQuery {
	t.Helper()
	q, err := w.Start(ctx(t))
	if err != nil {
		t.Fatalf("start: %v", detail(err))
	}
	if err := q.AwaitTermination(ctx(t)); err != nil {
		t.Fatalf("query: %v", detail(err))
	}
	return q
}

func TestWindowedTotals(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		n := name()
		q := finish(t, totals(spark, events(t)).WriteStream().OutputMode(millrace.Update).Format("memory").QueryName(n).
			Option("checkpointLocation", t.TempDir()).Trigger(millrace.AvailableNow()))
		expect(t, sql(t, spark, "SELECT window.start AS start, total FROM "+n+" ORDER BY start"),
			row("2026-01-01 10:00:00 UTC", int64(30)), row("2026-01-01 10:10:00 UTC", int64(30)))

		if q.Name() != n || uuid.Validate(q.ID()) != nil || uuid.Validate(q.RunID()) != nil {
			t.Errorf("query %q %q %q", q.Name(), q.ID(), q.RunID())
		}
		if active, err := q.IsActive(ctx(t)); err != nil || active {
			t.Errorf("active = %v, %v", active, err)
		}
		if failure, err := q.Exception(ctx(t)); failure != nil || err != nil {
			t.Errorf("exception %v, %v", failure, err)
		}
		if err := q.Stop(ctx(t)); err != nil {
			t.Errorf("stop: %v", err)
		}
		checkProgress(t, q, n)
	})
}

func checkProgress(t *testing.T, q *millrace.StreamingQuery, name string) {
	t.Helper()
	all, err := q.RecentProgress(ctx(t))
	if err != nil || len(all) != 2 {
		t.Fatalf("%d reports, %v", len(all), err)
	}
	p := all[0]
	if p.ID != q.ID() || p.RunID != q.RunID() || p.Name != name || p.BatchID != 0 || p.NumInputRows() != 3 || len(p.Sources) != 1 || len(p.StateOperators) != 1 {
		t.Errorf("report %s", p.JSON())
	}
	if age := time.Since(p.Timestamp); age < 0 || age > time.Hour {
		t.Errorf("timestamp %v", p.Timestamp)
	}
	if p.EventTime["max"] != "2026-01-01T10:12:00.000Z" || p.EventTime["watermark"] != "1970-01-01T00:00:00.000Z" {
		t.Errorf("event time %v", p.EventTime)
	}
	for _, step := range []string{"triggerExecution", "queryPlanning", "getBatch", "latestOffset", "addBatch", "walCommit", "commitOffsets"} {
		if _, ok := p.DurationMs[step]; !ok {
			t.Errorf("no duration of %s in %v", step, p.DurationMs)
		}
	}
	src := p.Sources[0]
	if src.StartOffset != "" || src.EndOffset != `{"logOffset":0}` || !strings.HasPrefix(src.Description, "FileStreamSource[file:/") {
		t.Errorf("source %+v", src)
	}
	if p.Sink.Description != "MemorySink" || p.Sink.NumOutputRows != 2 {
		t.Errorf("sink %+v", p.Sink)
	}
	if op := p.StateOperators[0]; op.OperatorName != "stateStoreSave" || op.NumRowsTotal != 2 || op.NumRowsUpdated != 2 {
		t.Errorf("state %+v", op)
	}
	last, err := q.LastProgress(ctx(t))
	if err != nil || last == nil || last.BatchID != 1 || last.EventTime["watermark"] != "2026-01-01T10:07:00.000Z" {
		t.Errorf("last report %v, %v", last, err)
	}
}

func TestAppendWaitsForTheWatermark(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		dir, n := events(t), name()
		write(t, dir, "e3.json", `{"ts": "2026-01-01 10:16:00", "user": "u0", "amount": 1}`)
		finish(t, totals(spark, dir).WriteStream().Format("memory").QueryName(n).
			Option("checkpointLocation", t.TempDir()).Trigger(millrace.AvailableNow()))
		expect(t, sql(t, spark, "SELECT window.start, total FROM "+n), row("2026-01-01 10:00:00 UTC", int64(30)))
	})
}

func TestFilesAndRestarts(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		dir, out, checkpoint := events(t), filepath.Join(t.TempDir(), "out"), t.TempDir()
		run := func() *millrace.StreamingQuery {
			in := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").Option("maxFilesPerTrigger", 1).JSON(dir)
			return finish(t, in.Where(f.Col("amount").Gt(10)).WriteStream().Format("json").PartitionBy("user").
				Option("checkpointLocation", checkpoint).Option("path", out).Trigger(millrace.AvailableNow()))
		}
		first := run()
		// A DataFrame lists its files once: Spark keeps the analysed plan.
		written := func() *millrace.DataFrame {
			return spark.Read().SchemaDDL("amount INT, user STRING").JSON(out).Select("user", "amount").OrderBy("amount")
		}
		expect(t, written(), row("u1", int32(20)), row("u0", int32(30)))
		write(t, dir, "e3.json", `{"ts": "2026-01-01 10:20:00", "user": "u1", "amount": 40}`)
		second := run()
		expect(t, written(), row("u1", int32(20)), row("u0", int32(30)), row("u1", int32(40)))
		if first.ID() != second.ID() || first.RunID() == second.RunID() {
			t.Errorf("ids %q and %q, runs %q and %q", first.ID(), second.ID(), first.RunID(), second.RunID())
		}
	})
}

// Avro goes through queries from files to files, batch by batch; a query that goes on finds what came since.
// Spark needs a package for it, which the server of the suite does not have.
func TestAvroBothWays(t *testing.T) {
	onOurs(t, func(t *testing.T, spark *millrace.Session) {
		dir := t.TempDir()
		in, out, checkpoint := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "checkpoint")
		add := func(text string) {
			rows := sql(t, spark, "SELECT k, CAST(n AS INT) AS n, CAST(a AS ARRAY<INT>) AS a FROM VALUES "+text+" AS t(k, n, a)")
			if err := rows.Write().Format("avro").Mode(millrace.SaveAppend).Save(ctx(t), in); err != nil {
				t.Fatal(detail(err))
			}
		}
		run := func() {
			finish(t, spark.ReadStream().Format("avro").SchemaDDL("k STRING, n INT, a ARRAY<INT>").Option("maxFilesPerTrigger", 1).Load(in).
				SelectExpr("k", "n * 2 AS n", "size(a) AS s").WriteStream().Format("avro").PartitionBy("k").
				Option("path", out).Option("checkpointLocation", checkpoint).Trigger(millrace.AvailableNow()))
		}
		written := func() *millrace.DataFrame {
			return spark.Read().Format("avro").Load(out).Select("k", "n", "s").OrderBy("n")
		}
		add("('a', 1, array(1, 2)), ('b', 2, array())")
		add("('a', 3, array(NULL))")
		run()
		expect(t, written(), row("a", int32(2), int32(2)), row("b", int32(4), int32(0)), row("a", int32(6), int32(1)))
		add("('b', NULL, array(7))")
		run()
		expect(t, written(), row("b", nil, int32(1)), row("a", int32(2), int32(2)), row("b", int32(4), int32(0)), row("a", int32(6), int32(1)))
	})
}

// A stream of whole files needs their schema, and takes those that come.
func TestStreamOfBinaryFiles(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		dir := t.TempDir()
		in, out, checkpoint := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "checkpoint")
		write(t, in, "a.bin", "abc")
		write(t, in, "b.txt", "not of interest")
		if _, err := spark.ReadStream().Format("binaryFile").Load(in).Schema(ctx(t)); err == nil {
			t.Error("a stream without a schema is read")
		}
		run := func() {
			finish(t, spark.ReadStream().Format("binaryFile").SchemaDDL("path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY").
				Option("pathGlobFilter", "*.bin").Load(in).
				SelectExpr("regexp_extract(path, '[^/]*$', 0) AS name", "length", "CAST(content AS STRING) AS content").WriteStream().Format("json").
				Option("path", out).Option("checkpointLocation", checkpoint).Trigger(millrace.AvailableNow()))
		}
		written := func() *millrace.DataFrame {
			return spark.Read().SchemaDDL("name STRING, length BIGINT, content STRING").JSON(out).OrderBy("name")
		}
		run()
		expect(t, written(), row("a.bin", int64(3), "abc"))
		write(t, in, "c.bin", "\n")
		run()
		expect(t, written(), row("a.bin", int64(3), "abc"), row("c.bin", int64(1), "\n"))
	})
}

func TestQueriesThatRun(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		dir, n := events(t), name()
		in := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(dir)
		if streaming, err := in.IsStreaming(ctx(t)); err != nil || !streaming {
			t.Errorf("streaming = %v, %v", streaming, err)
		}
		q, err := in.GroupBy("user").Agg(f.Sum("amount").As("s")).WriteStream().OutputMode(millrace.Complete).Format("memory").QueryName(n).
			Option("checkpointLocation", t.TempDir()).Trigger(millrace.ProcessingTime(10 * time.Millisecond)).Start(ctx(t))
		if err != nil {
			t.Fatal(detail(err))
		}
		if err := q.ProcessAllAvailable(ctx(t)); err != nil {
			t.Fatal(detail(err))
		}
		result := spark.Table(n).OrderBy("user")
		expect(t, result, row("u0", int64(40)), row("u1", int64(20)))
		write(t, dir, "e3.json", `{"ts": "2026-01-01 10:20:00", "user": "u1", "amount": 5}`)
		if err := q.ProcessAllAvailable(ctx(t)); err != nil {
			t.Fatal(detail(err))
		}
		expect(t, result, row("u0", int64(40)), row("u1", int64(25)))

		if s, err := q.Status(ctx(t)); err != nil || !s.IsActive || s.Message == "" {
			t.Errorf("status %+v, %v", s, err)
		}
		if done, err := q.AwaitTerminationTimeout(ctx(t), 20*time.Millisecond); err != nil || done {
			t.Errorf("terminated = %v, %v", done, err)
		}
		if text, err := q.Explain(ctx(t), false); err != nil || !strings.Contains(text, "== Physical Plan ==") {
			t.Errorf("explain %q, %v", text, err)
		}

		m := spark.Streams()
		active, err := m.Active(ctx(t))
		if err != nil || len(active) != 1 || active[0].ID() != q.ID() || active[0].Name() != n {
			t.Errorf("active %v, %v", active, err)
		}
		same, ok, err := m.Get(ctx(t), q.ID())
		if err != nil || !ok || same.RunID() != q.RunID() {
			t.Errorf("get %v, %v, %v", same, ok, err)
		}
		if _, ok, err := m.Get(ctx(t), uuid.NewString()); err != nil || ok {
			t.Errorf("get of an unknown id: %v, %v", ok, err)
		}
		if done, err := m.AwaitAnyTerminationTimeout(ctx(t), 20*time.Millisecond); err != nil || done {
			t.Errorf("any terminated = %v, %v", done, err)
		}
		if err := q.Stop(ctx(t)); err != nil {
			t.Fatal(err)
		}
		if done, err := q.AwaitTerminationTimeout(ctx(t), time.Minute); err != nil || !done {
			t.Errorf("terminated = %v, %v", done, err)
		}
		if err := m.AwaitAnyTermination(ctx(t)); err != nil {
			t.Error(err)
		}
		if err := m.ResetTerminated(ctx(t)); err != nil {
			t.Error(err)
		}
		if active, err := m.Active(ctx(t)); err != nil || len(active) != 0 {
			t.Errorf("active %v, %v", active, err)
		}
	})
}

func TestAQueryThatFails(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		dir := events(t)
		in := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(dir)
		q, err := in.Select(f.Col("amount").Div(f.Col("amount").Sub(20)).As("x")).WriteStream().Format("noop").
			Option("checkpointLocation", t.TempDir()).Trigger(millrace.AvailableNow()).Start(ctx(t))
		if err != nil {
			t.Fatal(detail(err))
		}
		err = q.AwaitTermination(ctx(t))
		e := expectClass(t, err, "STREAM_FAILED")
		if e.SQLState != "XXKST" || e.Params["id"] != q.ID() || e.Params["runId"] != q.RunID() {
			t.Errorf("got %+v", e)
		}
		if !millrace.HasClass(err, "DIVIDE_BY_ZERO") {
			t.Errorf("the cause is not a division: %v", e.Cause)
		}
		failure, err := q.Exception(ctx(t))
		if err != nil || failure == nil || failure.Class != "STREAM_FAILED" || !strings.Contains(failure.Error(), "DIVIDE_BY_ZERO") {
			t.Errorf("exception %v, %v", failure, err)
		}
		if s, err := q.Status(ctx(t)); err != nil || s.IsActive || !strings.HasPrefix(s.Message, "Terminated with exception: ") {
			t.Errorf("status %+v, %v", s, err)
		}
		expectClass(t, spark.Streams().AwaitAnyTermination(ctx(t)), "STREAM_FAILED")
	})
}

func TestWhatCannotStart(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		in := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(events(t))
		memory := func(d *millrace.DataFrame) *millrace.DataStreamWriter {
			return d.WriteStream().Format("memory").QueryName(name()).Option("checkpointLocation", t.TempDir())
		}
		for _, tt := range []struct {
			class string // empty where Spark has no name for it
			word  string // in the message
			w     *millrace.DataStreamWriter
		}{
			{"STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", "", memory(in.GroupBy("user").Count())},
			{"STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", "", memory(in).OutputMode(millrace.Complete)},
			{"STREAMING_OUTPUT_MODE.INVALID", "", memory(in).OutputMode("sometimes")},
			{"DATA_SOURCE_NOT_FOUND", "", in.WriteStream().Format("no_such_sink")},
			{"", "interval", memory(in).Trigger(millrace.ProcessingTime("now and then"))},
			{"WRITE_STREAM_NOT_ALLOWED", "", memory(spark.Range(0, 1, 1))},
			{"UNRESOLVED_COLUMN.WITH_SUGGESTION", "", memory(in.Select("nothing"))},
			{"EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "", memory(in.WithWatermark("user", "1 minute"))},
		} {
			q, err := tt.w.Start(ctx(t))
			if err == nil {
				t.Errorf("%s%s: it started", tt.class, tt.word)
				_ = q.Stop(ctx(t))
				continue
			}
			e, ok := asError(err)
			if !ok || tt.class != "" && e.Class != tt.class || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(tt.word)) {
				t.Errorf("%s%s: got %v", tt.class, tt.word, err)
			}
		}
		if _, err := in.Collect(ctx(t)); err == nil {
			t.Error("a stream was collected")
		}
	})
}

func TestFileSinksNeedACheckpoint(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		in := spark.ReadStream().SchemaDDL("amount INT").JSON(events(t))
		_, err := in.WriteStream().Format("json").Start(ctx(t), t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "checkpointLocation") {
			t.Errorf("got %v", err)
		}
	})
}

func TestListeners(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		type seen struct {
			kind, id string
			rows     int64
			class    string
		}
		got := make(chan seen, 100)
		l := &millrace.ListenerFuncs{
			Started: func(e millrace.QueryStartedEvent) { got <- seen{kind: "started", id: e.ID} },
			Progress: func(e millrace.QueryProgressEvent) {
				got <- seen{kind: "progress", id: e.Progress.ID, rows: e.Progress.NumInputRows()}
			},
			Terminated: func(e millrace.QueryTerminatedEvent) {
				got <- seen{kind: "terminated", id: e.ID, class: e.ErrorClassOnException}
			},
		}
		m := spark.Streams()
		if err := m.AddListener(ctx(t), l); err != nil {
			t.Fatal(err)
		}
		second := &millrace.ListenerFuncs{}
		if err := m.AddListener(ctx(t), second); err != nil {
			t.Fatal(err)
		}
		in := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(events(t))
		await := func(want ...seen) {
			t.Helper()
			var all []seen
			for len(all) < len(want) {
				select {
				case e := <-got:
					all = append(all, e)
				case <-ctx(t).Done():
					t.Fatal("no more events")
				}
			}
			if diff := cmp.Diff(want, all, cmp.AllowUnexported(seen{})); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		}
		good := finish(t, in.WriteStream().Format("noop").Option("checkpointLocation", t.TempDir()).Trigger(millrace.AvailableNow()))
		await(seen{kind: "started", id: good.ID()}, seen{kind: "progress", id: good.ID(), rows: 3}, seen{kind: "terminated", id: good.ID()})
		bad, err := in.Select(f.RaiseError(f.Lit("no"))).WriteStream().Format("noop").Option("checkpointLocation", t.TempDir()).
			Trigger(millrace.AvailableNow()).Start(ctx(t))
		if err != nil {
			t.Fatal(detail(err))
		}
		expectClass(t, bad.AwaitTermination(ctx(t)), "STREAM_FAILED")
		await(seen{kind: "started", id: bad.ID()}, seen{kind: "terminated", id: bad.ID(), class: "USER_RAISED_EXCEPTION"})

		for _, l := range []millrace.StreamingQueryListener{l, second, l} {
			if err := m.RemoveListener(ctx(t), l); err != nil {
				t.Error(err)
			}
		}
		finish(t, in.WriteStream().Format("noop").Option("checkpointLocation", t.TempDir()).Trigger(millrace.AvailableNow()))
		if len(got) > 0 {
			t.Errorf("a removed listener was told %v", <-got)
		}
		// The stream of events can be opened again, and ends with the session.
		if err := m.AddListener(ctx(t), l); err != nil {
			t.Fatal(err)
		}
	})
}

func TestObservedStreams(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		in := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(events(t))
		q := finish(t, in.Observe("sums", f.Sum("amount").As("s"), f.Count("*").As("n")).WriteStream().Format("noop").
			Option("checkpointLocation", t.TempDir()).Trigger(millrace.AvailableNow()))
		p, err := q.LastProgress(ctx(t))
		if err != nil || p == nil {
			t.Fatalf("progress %v, %v", p, err)
		}
		if raw := string(p.ObservedMetrics["sums"]); !strings.Contains(raw, "60") || !strings.Contains(raw, "3") {
			t.Errorf("metrics %v", p.ObservedMetrics)
		}
	})
}

// A drained query has written what it had begun; Spark has no such command and says so.
func TestDrain(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		n := name()
		q, err := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(events(t)).
			WriteStream().Format("memory").QueryName(n).Start(ctx(t))
		if err != nil {
			t.Fatal(detail(err))
		}
		if err := q.ProcessAllAvailable(ctx(t)); err != nil {
			t.Fatal(detail(err))
		}
		err = q.Drain(ctx(t))
		if strings.HasSuffix(t.Name(), "/spark") {
			if e, ok := errors.AsType[*millrace.Error](err); !ok || e.Class != "UNSUPPORTED_STREAMING_OPERATION.DRAIN" {
				t.Errorf("drain: %v", err)
			}
			_ = q.Stop(ctx(t))
			return
		}
		if active, aerr := q.IsActive(ctx(t)); err != nil || aerr != nil || active {
			t.Errorf("drain: %v, active %v, %v", err, active, aerr)
		}
		expect(t, sql(t, spark, "SELECT count(*) FROM "+n), row(int64(3)))
	})
}
