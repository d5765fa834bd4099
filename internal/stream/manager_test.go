package stream

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// startAt starts SELECT * FROM e with a checkpoint and a name of its own.
func (w *world) startAt(m *Manager, dir, name string) (*Query, error) {
	r := w.request(w.query("SELECT * FROM e"), "append", Trigger{})
	r.Options, r.Name = map[string]string{"checkpointLocation": dir}, name
	return m.Start(context.Background(), r)
}

func TestSecondRunOnACheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := simple(t)
		registry := NewRegistry()
		one, two := NewManager(w.rt, registry), NewManager(w.rt, registry)
		q1, err := w.startAt(one, "/ck", "")
		if err != nil {
			t.Fatal(err)
		}
		q2, err := w.startAt(two, "/ck", "") // another session
		if err != nil {
			t.Fatal(err)
		}
		if q1.IsActive() || q1.Exception() != nil {
			t.Errorf("the first run: active %t, %v", q1.IsActive(), q1.Exception())
		}
		if q1.ID() != q2.ID() || q1.RunID() == q2.RunID() {
			t.Error("ids: the same query, another run")
		}
		w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.stopActiveRunOnRestart": "false"})
		if _, err := w.startAt(one, "/ck", ""); !errclass.Has(err, "INVALID_STREAMING_OPTION.QUERY_ACTIVE") {
			t.Errorf("got %v", err)
		}
		if !q2.IsActive() {
			t.Error("the second run was stopped")
		}
		w.stop(q2)
	})
}

func TestManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := simple(t)
		ctx := t.Context()
		if ended, err := w.m.AwaitAny(ctx, time.Second); ended || err != nil {
			t.Errorf("nothing has run: %t %v", ended, err)
		}
		q1, err := w.startAt(w.m, "/ck1", "one")
		if err != nil {
			t.Fatal(err)
		}
		q2, err := w.startAt(w.m, "/ck2", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.startAt(w.m, "/ck3", "one"); !errclass.Has(err, "INVALID_STREAMING_OPTION.DUPLICATE_QUERY_NAME") {
			t.Errorf("name in use: %v", err)
		}
		if got := w.m.Active(); len(got) != 2 || got[0] != q1 || got[1] != q2 || w.m.Get(q1.ID()) != q1 {
			t.Errorf("active: %v", got)
		}
		if ended, err := q1.AwaitTermination(ctx, time.Second); ended || err != nil {
			t.Errorf("await: %t %v", ended, err)
		}
		w.stop(q1)
		w.stop(q1) // twice is no error
		if w.m.Get(q1.ID()) != nil {
			t.Error("a stopped query is no longer active")
		}
		if q, err := w.m.Find(q1.ID(), q1.RunID()); err != nil || q != q1 {
			t.Errorf("find: %v", err)
		}
		if _, err := w.m.Find(q2.ID(), q1.RunID()); !errclass.Has(err, "CONNECT_INVALID_PLAN.STREAMING_QUERY_RUN_ID_MISMATCH") {
			t.Errorf("find another run: %v", err)
		}
		if _, err := w.m.Find(q1.ID(), q2.RunID()); !errclass.Has(err, "CONNECT_INVALID_PLAN.STREAMING_QUERY_NOT_FOUND") {
			t.Errorf("find another run of a query that has ended: %v", err)
		}
		if _, err := w.m.Find("x", "y"); !errclass.Has(err, "CONNECT_INVALID_PLAN.STREAMING_QUERY_NOT_FOUND") {
			t.Errorf("find nothing: %v", err)
		}
		for range 2 { // it is remembered
			if ended, err := w.m.AwaitAny(ctx, time.Second); !ended || err != nil {
				t.Errorf("one has ended: %t %v", ended, err)
			}
		}
		w.m.ResetTerminated()
		if ended, _ := w.m.AwaitAny(ctx, time.Second); ended {
			t.Error("forgotten")
		}
		if err := q1.ProcessAllAvailable(ctx); err != nil {
			t.Errorf("processAllAvailable after the end: %v", err)
		}
		if _, err := w.startAt(w.m, "/ck1", "one"); err != nil { // the name is free again
			t.Error(err)
		}
		if err := w.m.StopAll(ctx); err != nil {
			t.Error(err)
		}
		if len(w.m.Active()) != 0 || q2.Exception() != nil {
			t.Error("StopAll")
		}
		time.Sleep(2 * keepEnded)
		q, err := w.startAt(w.m, "/ck4", "")
		if err != nil {
			t.Fatal(err)
		}
		w.stop(q)
		if _, err := w.m.Find(q2.ID(), q2.RunID()); err == nil {
			t.Error("ended queries are kept for ever")
		}
	})
}

// TestCopiedCheckpoint: a copy has the query's id, and of one query only one run may be at work.
func TestCopiedCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := simple(t)
		first, err := w.startAt(w.m, "/ck", "first")
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(fs.MakeDirs(w.mem, "/copy"), fs.WriteOnce(t.Context(), w.mem, "/copy/metadata", []byte(`{"id":"`+first.ID()+`"}`)))
		if err != nil {
			t.Fatal(err)
		}
		second, err := w.startAt(w.m, "/copy", "second")
		if err != nil {
			t.Fatal(err)
		}
		if second.ID() != first.ID() || first.IsActive() || first.Exception() != nil || !second.IsActive() {
			t.Errorf("same id %t, first active %t, second active %t", second.ID() == first.ID(), first.IsActive(), second.IsActive())
		}
		w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.stopActiveRunOnRestart": "false"})
		if _, err := w.startAt(w.m, "/ck", "third"); !errclass.Has(err, "INVALID_STREAMING_OPTION.QUERY_ACTIVE") {
			t.Errorf("got %v", err)
		}
		w.stop(second)
	})
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.noDataProgressEventInterval": "5000"})
		events, cancel := w.m.Subscribe()
		q, err := w.startAt(w.m, "/ck", "watched")
		if err != nil {
			t.Fatal(err)
		}
		first, err := events.Next(t.Context())
		if err != nil || first.Kind != QueryStarted || first.JSON() != q.Started().JSON() {
			t.Fatalf("the first event is the start: %v %v", first, err)
		}
		s.Add(row("a", 1))
		w.allDone(q)
		time.Sleep(12 * time.Second)
		s.Add(row("a", 2))
		w.allDone(q)
		w.stop(q)
		cancel()
		var kinds []EventKind
		for {
			ev, err := events.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, ev.Kind)
		}
		want := []EventKind{QueryProgress, QueryIdle, QueryIdle, QueryProgress, QueryTerminated}
		if d := cmp.Diff(want, kinds); d != "" {
			t.Error(d)
		}
	})
}

func TestSlowListenerLosesEvents(t *testing.T) {
	var b bus
	slow, cancel := b.subscribe()
	fast, cancelFast := b.subscribe()
	defer cancelFast()
	lost := 0
	for range maxQueued + 3 {
		lost += b.post(Event{Kind: QueryIdle})
		if _, err := fast.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if lost != 3 || slow.Dropped() != 3 || fast.Dropped() != 0 {
		t.Errorf("lost %d, slow %d, fast %d", lost, slow.Dropped(), fast.Dropped())
	}
	cancel()
	for range maxQueued {
		if _, err := slow.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := slow.Next(t.Context()); err != io.EOF {
		t.Errorf("got %v", err)
	}
}

func TestTerminatedEvent(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 0))
	events, cancel := w.m.Subscribe()
	defer cancel()
	q := w.start(w.request(w.query("SELECT 1 div v FROM e"), "append", Trigger{}))
	if _, err := q.AwaitTermination(t.Context(), -1); err == nil {
		t.Fatal("no error")
	}
	var last Event
	for last.Kind != QueryTerminated {
		var err error
		if last, err = events.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last.Kind == QueryProgress {
			t.Error("a failed batch has no report")
		}
	}
	text, class := failure(last.Err)
	if class != "DIVIDE_BY_ZERO" || len(text) < 20 || text[:len("org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO]")] != "org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO]" {
		t.Errorf("class %s, text %s", class, text)
	}
}
