package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stream/streamtest"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// simple is a world with one stream e (k STRING, v INT), which has no watermark.
func simple(t testing.TB) (*world, *streamtest.Source) {
	w := newWorld(t)
	s := streamtest.NewSource("k STRING, v INT")
	w.views["e"] = streamOf(s)
	return w, s
}

func row(k string, v int) []any { return []any{k, int32(v)} }

func (w *world) stop(q *Query) {
	w.t.Helper()
	if err := q.Stop(w.t.Context()); err != nil {
		w.t.Fatalf("stop: %v", err)
	}
}

func (w *world) allDone(q *Query) {
	w.t.Helper()
	if err := q.ProcessAllAvailable(w.t.Context()); err != nil {
		w.t.Fatalf("processAllAvailable: %v", err)
	}
}

// batchTimes are the starts of the triggers that ran a batch, in seconds since the beginning of the test.
func batchTimes(q *Query, began time.Time) []int {
	var out []int
	for _, p := range q.RecentProgress() {
		if _, ok := p.DurationMs["addBatch"]; ok {
			out = append(out, int(p.Timestamp.Sub(began)/time.Second))
		}
	}
	return out
}

func TestDefaultTriggerRunsBackToBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.PerBatch = 1
		for i := range 4 {
			s.Add(row("a", i))
		}
		q := w.start(w.request(w.query("SELECT * FROM e"), "append", Trigger{}))
		w.allDone(q)
		if d := cmp.Diff([]int64{0, 1, 2, 3}, w.sink.Batches()); d != "" {
			t.Error(d)
		}
		s.Add(row("b", 9))
		w.allDone(q)
		if d := cmp.Diff([]string{"b 9"}, w.sink.Rows(4)); d != "" {
			t.Error(d)
		}
		w.stop(q)
	})
}

func TestProcessingTimeFollowsTheGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.PerBatch = 1
		for i := range 6 {
			s.Add(row("a", i))
		}
		began := time.Now() // the bubble begins at midnight, on the grid
		time.Sleep(3 * time.Second)
		slow := map[int64]time.Duration{2: 13 * time.Second, 3: 25 * time.Second}
		w.sink.Fail = func(call string, batch int64) error {
			if call == "Commit" {
				time.Sleep(slow[batch])
			}
			return nil
		}
		q := w.start(w.request(w.query("SELECT * FROM e"), "append", Trigger{Kind: ProcessingTime, Interval: "10 seconds"}))
		time.Sleep(90 * time.Second)
		// At once, then on the grid. Batch 2 takes 13 s: the next begins at once; batch 3 takes 25 s: the same, and then the grid again.
		if d := cmp.Diff([]int{3, 10, 20, 33, 58, 60}, batchTimes(q, began)); d != "" {
			t.Error(d)
		}
		w.stop(q)
	})
}

func TestStatusWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.Add(row("a", 1))
		q := w.start(w.request(w.query("SELECT * FROM e"), "append", Trigger{Kind: ProcessingTime, Interval: "1 hour"}))
		synctest.Wait()
		if d := cmp.Diff(Status{Message: "Waiting for next trigger", IsDataAvailable: true}, q.Status()); d != "" {
			t.Error(d)
		}
		if _, err := w.mem.Stat(checkpointDir + "/commits/0"); err != nil {
			t.Errorf("a batch is committed before the query waits: %v", err)
		}
		w.stop(q)
		if d := cmp.Diff(Status{Message: "Stopped"}, q.Status()); d != "" {
			t.Error(d)
		}
		q = w.start(w.request(w.query("SELECT * FROM e"), "append", Trigger{}))
		synctest.Wait()
		if d := cmp.Diff(Status{Message: "Waiting for data to arrive"}, q.Status()); d != "" {
			t.Error(d)
		}
		w.stop(q)
	})
}

func TestOnceTakesEverythingAndCleansNothing(t *testing.T) {
	w, s := newWorld(t), streamtest.NewSource("ts TIMESTAMP, v INT")
	w.views["e"] = marked(streamOf(s), "ts", "5m")
	s.PerBatch = 1
	const query = "SELECT window(ts, '10 minutes'), sum(v) FROM e GROUP BY window(ts, '10 minutes')"
	once := func() *Query {
		q := w.start(w.request(w.query(query), "append", Trigger{Kind: Once}))
		if _, err := q.AwaitTermination(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		return q
	}
	s.Add([]any{"10:01", int32(1)})
	s.Add([]any{"10:30", int32(2)})
	q := once()
	if d := cmp.Diff([]string{"batch 0 in 2 wm 0 rows none", "  op stateStoreSave tot 2 upd 2 rem 0 late 0 inst 2"}, ran(q, w.sink.Rows)); d != "" {
		t.Error(d)
	}
	// The window that the watermark closed waits for the next run with data.
	q = once()
	if n := len(q.RecentProgress()); n != 1 {
		t.Errorf("a run without data makes %d reports, want 1", n)
	}
	s.Add([]any{"10:31", int32(4)})
	q = once()
	if d := cmp.Diff([]string{"batch 1 in 1 wm 10:25 rows [10:00,10:10] 1", "  op stateStoreSave tot 1 upd 1 rem 1 late 0 inst 2"}, ran(q, w.sink.Rows)); d != "" {
		t.Error(d)
	}
}

func TestAvailableNow(t *testing.T) {
	t.Run("stops at the end it found", func(t *testing.T) {
		w, s := simple(t)
		s.PerBatch = 1
		s.Add(row("a", 1))
		s.Add(row("a", 2))
		added := false
		w.sink.Fail = func(call string, batch int64) error {
			if call == "Commit" && !added {
				added = true
				s.Add(row("late", 3))
			}
			return nil
		}
		w.run(w.query("SELECT * FROM e"), "append")
		if d := cmp.Diff([]string{"a 1", "a 2"}, w.sink.All()); d != "" {
			t.Error(d)
		}
	})
	t.Run("is one batch where a source has no end", func(t *testing.T) {
		w, s := simple(t)
		s.PerBatch, s.NoEnd = 1, true
		s.Add(row("a", 1))
		s.Add(row("a", 2))
		w.run(w.query("SELECT * FROM e"), "append")
		if d := cmp.Diff([]int64{0}, w.sink.Batches()); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"a 1", "a 2"}, w.sink.All()); d != "" {
			t.Error(d)
		}
	})
	t.Run("reports once when there is nothing", func(t *testing.T) {
		w, _ := simple(t)
		q := w.run(w.query("SELECT * FROM e"), "append")
		ps := q.RecentProgress()
		if len(ps) != 1 || ps[0].BatchID != 0 || ps[0].NumInputRows != 0 || ps[0].Sink.NumOutputRows != -1 || ps[0].EventTime != nil {
			t.Errorf("reports: %+v", ps)
		}
	})
}

func TestFailedBatch(t *testing.T) {
	w, s := simple(t)
	s.PerBatch = 1
	s.Add(row("a", 1))
	s.Add(row("a", 0))
	q := w.start(w.request(w.query("SELECT 1 div v FROM e"), "append", Trigger{Kind: AvailableNow}))
	_, err := q.AwaitTermination(t.Context(), -1)
	e, ok := errors.AsType[*errclass.Error](err)
	if !ok || e.Class != "STREAM_FAILED" || !errclass.Has(err, "DIVIDE_BY_ZERO") {
		t.Fatalf("got %v", err)
	}
	if e.Params["id"] != q.ID() || e.Params["runId"] != q.RunID() {
		t.Errorf("parameters %v", e.Params)
	}
	if q.IsActive() || q.Exception() == nil || !strings.HasPrefix(q.Status().Message, "Terminated with exception: [DIVIDE_BY_ZERO]") {
		t.Errorf("active %t, status %v", q.IsActive(), q.Status())
	}
	if ended, err := w.m.AwaitAny(t.Context(), -1); !ended || !errclass.Has(err, "STREAM_FAILED") {
		t.Errorf("AwaitAny: %t %v", ended, err)
	}
	w.m.ResetTerminated()
	// The batch is logged and not committed: it comes again, with the query changed so that it works.
	q = w.run(w.query("SELECT v FROM e"), "append")
	if got := ran(q, w.sink.Rows); len(got) != 1 || got[0] != "batch 1 in 1 wm none rows 0" {
		t.Errorf("re-run: %q", got)
	}
}

func TestPanicOfAConnectorEndsTheQuery(t *testing.T) {
	w, s := simple(t)
	s.Fail = func(string) error { panic("oops") }
	q := w.start(w.request(w.query("SELECT * FROM e"), "append", Trigger{}))
	_, err := q.AwaitTermination(t.Context(), -1)
	if !errclass.Has(err, "INTERNAL_ERROR") {
		t.Errorf("got %v", err)
	}
}

func TestConnectorsOwnWords(t *testing.T) {
	w, s := simple(t)
	s.Fail = func(string) error { return errors.New("connection refused by the sensor") }
	events, cancel := w.m.Subscribe()
	defer cancel()
	q := w.start(w.request(w.query("SELECT * FROM e"), "append", Trigger{}))
	_, err := q.AwaitTermination(t.Context(), -1)
	if !errclass.Has(err, "STREAM_FAILED") || errclass.Has(err, "INTERNAL_ERROR") || !strings.Contains(err.Error(), "connection refused by the sensor") {
		t.Errorf("got %v", err)
	}
	for {
		ev, err := events.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == QueryTerminated {
			if text, class := failure(ev.Err); class != "" || text != "java.lang.RuntimeException: connection refused by the sensor" {
				t.Errorf("event: %q %q", text, class)
			}
			return
		}
	}
}

func TestStopInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.PerBatch = 1
		s.Add(row("a", 1))
		s.Add(row("a", 2))
		inBatch := make(chan struct{})
		w.sink.Fail = func(call string, batch int64) error {
			if call == "Write" && batch == 1 {
				close(inBatch)
				time.Sleep(time.Minute) // long enough for Stop to come in between
			}
			return nil
		}
		q := w.start(w.request(w.query("SELECT * FROM e"), "append", Trigger{}))
		<-inBatch
		w.stop(q)
		if q.Exception() != nil {
			t.Errorf("a stopped query has failed: %v", q.Exception())
		}
		if d := cmp.Diff([]int64{0}, w.sink.Batches()); d != "" {
			t.Errorf("batches in the sink: %s", d)
		}
		if _, err := w.mem.Stat(checkpointDir + "/commits/1"); err == nil {
			t.Error("an abandoned batch is committed")
		}
		w.sink.Fail = nil
		q = w.run(w.query("SELECT * FROM e"), "append")
		if d := cmp.Diff([]string{"batch 1 in 1 wm none rows a 2"}, ran(q, w.sink.Rows)); d != "" {
			t.Error(d)
		}
	})
}

func TestStopFromWithin(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1))
	r := w.request(w.query("SELECT * FROM e"), "append", Trigger{})
	within := &stopper{Sink: w.sink, q: make(chan *Query, 1)}
	r.Sink = within
	q := w.start(r)
	within.q <- q
	if _, err := q.AwaitTermination(t.Context(), -1); err != nil {
		t.Error(err)
	}
}

// stopper stops its own query in Commit, as a function of foreachBatch may do.
type stopper struct {
	*streamtest.Sink
	q chan *Query
}

func (s *stopper) Open(ctx context.Context, req sink.Request) (sink.Sink, error) {
	in, err := s.Sink.Open(ctx, req)
	return &stoppingSink{in, s}, err
}

type stoppingSink struct {
	sink.Sink
	s *stopper
}

func (s *stoppingSink) Begin(ctx context.Context, id int64) (sink.Batch, bool, error) {
	b, skip, err := s.Sink.Begin(ctx, id)
	return &stoppingBatch{b, s.s}, skip, err
}

type stoppingBatch struct {
	sink.Batch
	s *stopper
}

func (b *stoppingBatch) Commit(ctx context.Context, m []sink.Message) error {
	if err := (<-b.s.q).Stop(ctx); err != nil {
		return err
	}
	return b.Batch.Commit(ctx, m)
}

func TestClockOfTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.Add(row("a", 1))
		query := func() plan.Node { return w.query("SELECT k, current_timestamp() FROM e") }
		w.sink.Fail = func(call string, _ int64) error {
			if call == "Commit" {
				return fmt.Errorf("disk on fire")
			}
			return nil
		}
		q := w.start(w.request(query(), "append", Trigger{Kind: AvailableNow}))
		if _, err := q.AwaitTermination(t.Context(), -1); err == nil {
			t.Fatal("no error")
		}
		then := time.Now().UTC()
		time.Sleep(48 * time.Hour)
		w.sink.Fail = nil
		w.run(query(), "append")
		if d := cmp.Diff([]string{"a " + then.Format(time.DateTime)}, w.sink.All()); d != "" {
			t.Errorf("a batch that runs again sees the old clock: %s", d)
		}
	})
}

// TestTimesOfBatchesDiffer: in synctest's bubble no time passes but by waiting, as on a machine that does several batches in a
// millisecond.
func TestTimesOfBatchesDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.PerBatch = 1
		var want []string
		for i := range 3 {
			s.Add(row("a", i))
			want = append(want, time.Now().UTC().Add(time.Duration(i)*time.Millisecond).Format("2006-01-02 15:04:05.999"))
		}
		w.run(w.query("SELECT CAST(current_timestamp() AS STRING) FROM e"), "append")
		if d := cmp.Diff(want, w.sink.All()); d != "" {
			t.Error(d)
		}
	})
}

func TestSourcesLearnWhatIsDone(t *testing.T) {
	w, s := simple(t)
	s.PerBatch = 1
	s.Add(row("a", 1))
	s.Add(row("a", 2))
	s.Add(row("a", 3))
	w.run(w.query("SELECT * FROM e"), "append")
	if got := string(s.Committed()); got != "1" { // batch 2 is the last: nothing after it has been planned
		t.Errorf("committed %q, want 1", got)
	}
}

func TestSelfUnionIsOneSource(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1), row("b", 2))
	q := w.run(w.query("SELECT v FROM e WHERE k = 'b' UNION ALL SELECT v + 10 FROM e"), "append")
	if d := cmp.Diff([]string{"11", "12", "2"}, w.sink.All()); d != "" {
		t.Error(d)
	}
	p := q.LastProgress()
	if len(p.Sources) != 1 || p.NumInputRows != 4 { // read twice, as Spark counts it
		t.Errorf("%d sources, %d rows", len(p.Sources), p.NumInputRows)
	}
}

func TestObservedMetrics(t *testing.T) {
	w, s := simple(t)
	s.PerBatch = 1
	s.Add(row("a", 1), row("b", 2))
	s.Add(row("c", 5))
	agg := w.query("SELECT count(*) AS n, max(k) AS m, sum(v) AS s FROM e").(*plan.Aggregate)
	q := w.run(&plan.Observe{Name: "stats", Aggs: agg.Aggs, Child: agg.Child}, "append")
	var got []string
	for _, p := range q.RecentProgress() {
		got = append(got, fmt.Sprint(p.Observed[0].Name, p.Observed[0].Values))
	}
	if d := cmp.Diff([]string{"stats[2 b 3]", "stats[1 c 5]"}, got); d != "" {
		t.Error(d)
	}
}

func TestStartErrors(t *testing.T) {
	w, _ := simple(t)
	source.Register("streamtest-source-only", nil)
	good := func() StartRequest { return w.request(w.query("SELECT * FROM e"), "append", Trigger{}) }
	for _, c := range []struct {
		name, class string
		change      func(*StartRequest)
	}{
		{"mode", "STREAMING_OUTPUT_MODE.INVALID", func(r *StartRequest) { r.OutputMode = "upsert" }},
		{"batch frame", "WRITE_STREAM_NOT_ALLOWED", func(r *StartRequest) { r.Plan = w.query("SELECT 1") }},
		{"interval", "INVALID_TRIGGER_INTERVAL.NEGATIVE", func(r *StartRequest) { r.Trigger = Trigger{ProcessingTime, "-1 seconds"} }},
		{"months", "INVALID_TRIGGER_INTERVAL.MONTHS", func(r *StartRequest) { r.Trigger = Trigger{ProcessingTime, "1 month"} }},
		{"format", "DATA_SOURCE_NOT_FOUND", func(r *StartRequest) { r.Sink, r.Format = nil, "nosuch" }},
		{"continuous", "UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS", func(r *StartRequest) { r.Trigger = Trigger{Continuous, "1 second"} }},
		{"continuous clock", "UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS", func(r *StartRequest) {
			w.views["e"].(*plan.Scan).Name = "rate"
			r.Plan, r.Trigger = w.query("SELECT current_timestamp() FROM e"), Trigger{Continuous, "1 second"}
		}},
		{"continuous generator", "UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS", func(r *StartRequest) {
			r.Plan, r.Trigger = w.query("SELECT explode(array(v)) FROM e"), Trigger{Continuous, "1 second"}
		}},
		{"real time in append", "STREAMING_REAL_TIME_MODE.OUTPUT_MODE_NOT_SUPPORTED", func(r *StartRequest) { r.Trigger = Trigger{RealTime, "1 minute"} }},
		{"real time too short", "INVALID_STREAMING_REAL_TIME_MODE_TRIGGER_INTERVAL", func(r *StartRequest) {
			w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.realTimeMode.minBatchDuration": "5000"})
			r.Conf, r.OutputMode, r.Trigger = w.conf, "update", Trigger{RealTime, "1 second"}
		}},
		{"real time", "UNSUPPORTED_STREAMING_OPERATION.OTHER", func(r *StartRequest) { r.OutputMode, r.Trigger = "update", Trigger{RealTime, "1 minute"} }},
		{"check", "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", func(r *StartRequest) {
			r.Check = func(plan.Node, string) error {
				return errclass.New("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", "outputMode", "append", "operation", "x")
			}
		}},
		{"no checkpoint", "INVALID_STREAMING_OPTION.NO_CHECKPOINT_LOCATION", func(r *StartRequest) {
			s := streamtest.NewSink()
			s.Info.NeedsCheckpoint = true
			r.Sink, r.Options = s, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			c.change(&r)
			if _, err := w.m.Start(t.Context(), r); !errclass.Has(err, c.class) {
				t.Errorf("got %v, want %s", err, c.class)
			}
		})
	}
	if n := len(w.m.Active()); n != 0 {
		t.Errorf("%d queries are left", n)
	}
}

func TestWatermarkTwice(t *testing.T) {
	w, s := newWorld(t), streamtest.NewSource("ts TIMESTAMP, v INT")
	twice := marked(marked(streamOf(s), "ts", "5m"), "ts", "1m")
	_, err := w.m.Start(t.Context(), w.request(w.analyse(twice), "append", Trigger{}))
	if !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.WATERMARK_REDEFINED") {
		t.Errorf("got %v", err)
	}
	w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.statefulOperator.allowMultiple": "false"})
	w.run(w.analyse(twice), "append")
}

func TestTemporaryCheckpoint(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1))
	for _, fails := range []bool{false, true} {
		w.sink.Fail = func(call string, _ int64) error {
			if fails && call == "Begin" {
				return errors.New("no")
			}
			return nil
		}
		r := w.request(w.query("SELECT * FROM e"), "append", Trigger{Kind: AvailableNow})
		r.Options = nil
		q := w.start(r)
		_, _ = q.AwaitTermination(t.Context(), -1)
		left := 0
		for name := range w.mem.Tree() {
			if strings.Contains(name, "temporary-") && strings.HasSuffix(name, "/metadata") {
				left++
			}
		}
		if want := map[bool]int{false: 0, true: 1}[fails]; left != want {
			t.Errorf("fails=%t: %d temporary checkpoints are left, want %d", fails, left, want)
		}
	}
}

// TestManualClock: with a clock that stands still a query that has nothing to do does nothing, and still answers.
func TestManualClock(t *testing.T) {
	w, s := simple(t)
	clock := streamtest.NewClock(streamtest.Day)
	w.rt = engine.New(engine.Runtime{FS: w.mem, Parallelism: 1, Clock: clock})
	w.m = NewManager(w.rt, NewRegistry())
	s.PerBatch = 1
	q := w.start(w.request(w.query("SELECT k, current_timestamp() FROM e"), "append", Trigger{}))
	w.allDone(q)
	s.Add(row("a", 1))
	w.allDone(q)
	clock.Advance(time.Hour)
	s.Add(row("b", 1))
	w.allDone(q)
	w.stop(q)
	if d := cmp.Diff([]string{"a 00:00", "b 01:00"}, w.sink.All()); d != "" {
		t.Error(d)
	}
}

// TestHeardOf: a source that hears of rows by itself is looked at at once, any other when the polling delay is over.
func TestHeardOf(t *testing.T) {
	for hears, want := range map[bool]time.Duration{true: 0, false: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w, s := simple(t)
			s.Hears = hears
			w.conf[keyPollingDelay] = "3600000"
			q := w.start(w.request(w.query("SELECT k FROM e"), "append", Trigger{}))
			synctest.Wait() // it has looked, and waits
			began := time.Now()
			s.Add(row("a", 1))
			for len(w.sink.All()) == 0 && time.Since(began) < 2*time.Hour {
				time.Sleep(time.Minute)
			}
			if took := time.Since(began).Truncate(2 * time.Minute); took != want {
				t.Errorf("hears=%t: the batch came after %s, want %s", hears, took, want)
			}
			w.stop(q)
		})
	}
}

func TestContinuousRunsEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		w.views["e"].(*plan.Scan).Name = "rate"
		q := w.start(w.request(w.query("SELECT v + 1 FROM e WHERE k = 'a'"), "append", Trigger{Continuous, "1 second"}))
		time.Sleep(time.Second / 2) // between two epochs
		for i := range 3 {
			s.Add(row("a", i))
			time.Sleep(time.Second)
		}
		if got, want := q.Status(), (Status{Message: fmt.Sprintf("Committing epoch %d", len(w.sink.Batches())-1)}); got != want {
			t.Errorf("got status %+v, want %+v", got, want)
		}
		w.stop(q)
		if d := cmp.Diff([]string{"1", "2", "3"}, w.sink.All()); d != "" || len(w.sink.Batches()) < 3 {
			t.Errorf("%d epochs: %s", len(w.sink.Batches()), d)
		}
	})
	w, _ := simple(t)
	w.views["e"].(*plan.Scan).Name = "rate"
	files := w.request(w.query("SELECT v FROM e"), "append", Trigger{Continuous, "1 second"})
	files.Format = "json"
	_, err := w.start(files).AwaitTermination(t.Context(), -1)
	if err == nil || !strings.Contains(err.Error(), "UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS") {
		t.Errorf("a continuous query into files: got %v", err)
	}
	_, err = w.m.Start(t.Context(), w.request(w.query("SELECT k, count(*) FROM e GROUP BY k"), "update", Trigger{Continuous, "1 second"}))
	if !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS") {
		t.Errorf("got %v", err)
	}
}

// TestLateRowsAreCountedTwice: in groups as Spark does, and in rows.
func TestLateRowsAreCountedTwice(t *testing.T) {
	w := newWorld(t)
	w.feed("B")
	q := w.run(w.query("SELECT window(ts, '10 minutes'), sum(v) FROM b GROUP BY window(ts, '10 minutes')"), "append")
	o := q.LastProgress().StateOperators[0]
	if groups, rows := o.NumRowsDroppedByWatermark, o.CustomMetrics[metricLateRows]; groups != 1 || rows != 3 {
		t.Errorf("%d groups, %d rows; want 1 and 3", groups, rows)
	}
}
