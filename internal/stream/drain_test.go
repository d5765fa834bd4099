package stream

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// TestDrain drains a query while a batch is being written and more rows are there: the batch is finished, committed, and the last one.
func TestDrain(t *testing.T) {
	for _, trig := range []Trigger{{}, {Kind: AvailableNow}, {Kind: ProcessingTime, Interval: "1 hour"}} {
		w := newWorld(t)
		s := streamtest.NewSource("n INT")
		s.PerBatch = 1
		w.views["e"] = streamOf(s)
		s.Add([]any{int32(1)})
		s.Add([]any{int32(2)})
		writing, goOn := make(chan bool), make(chan bool)
		w.sink.Fail = func(call string, batch int64) error {
			if call == "Commit" && batch == 0 {
				close(writing)
				<-goOn
			}
			return nil
		}
		q := w.start(w.request(w.resolve("SELECT n FROM e"), "append", trig))
		<-writing
		brief, cancel := context.WithCancel(context.Background())
		cancel()
		if err := q.Drain(brief); !errors.Is(err, context.Canceled) {
			t.Errorf("drain with a context that has ended: %v", err)
		}
		close(goOn)
		if err := q.Drain(context.Background()); err != nil || q.IsActive() {
			t.Errorf("drain: %v, active %v", err, q.IsActive())
		}
		if got := w.sink.Batches(); !slices.Equal(got, []int64{0}) {
			t.Errorf("trigger %v: batches %v", trig.Kind, got)
		}
		w.sink.Fail = nil
		// It is committed: the next run begins with the next.
		q = w.run(w.resolve("SELECT n FROM e"), "append")
		if got := w.sink.Batches(); !slices.Equal(got, []int64{0, 1}) || len(w.sink.Differences()) > 0 {
			t.Errorf("batches after the restart %v, %v", got, w.sink.Differences())
		}
		if err := q.Drain(context.Background()); err != nil {
			t.Errorf("drain of a query that has ended: %v", err)
		}
	}
}

// TestDrainWhileResting drains all queries of a session while they wait for the clock, which stands still.
func TestDrainWhileResting(t *testing.T) {
	w := newWorld(t)
	clock := streamtest.NewClock(streamtest.Day)
	w.rt.Clock = clock
	s := streamtest.NewSource("n INT")
	w.views["e"] = streamOf(s)
	a := w.request(w.resolve("SELECT n FROM e"), "append", Trigger{})
	b := w.request(w.resolve("SELECT n + 1 FROM e"), "append", Trigger{Kind: ProcessingTime, Interval: "1 minute"})
	b.Options = map[string]string{"checkpointLocation": checkpointDir + "-b"}
	qs := []*Query{w.start(a), w.start(b)}
	if err := qs[0].ProcessAllAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := w.m.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	for _, q := range qs {
		if q.IsActive() || q.Exception() != nil {
			t.Errorf("active %v, %v", q.IsActive(), q.Exception())
		}
	}
}

// TestDrainFailing drains a query whose batch has failed, and is told.
func TestDrainFailing(t *testing.T) {
	w := newWorld(t)
	s := streamtest.NewSource("n INT")
	w.views["e"] = streamOf(s)
	s.Add([]any{int32(1)})
	w.sink.Fail = func(call string, _ int64) error {
		if call == "Commit" {
			return errors.New("no room")
		}
		return nil
	}
	q := w.start(w.request(w.resolve("SELECT n FROM e"), "append", Trigger{}))
	<-q.Done()
	if err := q.Drain(t.Context()); !errclass.Has(err, "STREAM_FAILED") {
		t.Errorf("drain: %v", err)
	}
}
