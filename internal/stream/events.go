package stream

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/errclass"
)

// EventKind is the kind of an Event.
type EventKind uint8

// The kinds, in the order in which a query raises them.
const (
	QueryStarted EventKind = iota
	QueryProgress
	QueryIdle
	QueryTerminated
)

// Event is something that happened to a query.
type Event struct {
	Kind      EventKind
	ID, RunID string
	Name      string
	Timestamp time.Time
	Tags      []string        // QueryStarted
	Progress  *Progress       // QueryProgress
	Err       *errclass.Error // QueryTerminated: the STREAM_FAILED error, nil for a clean end
}

// JSON is the event as the listener bus carries it.
func (e Event) JSON() string {
	w := &jsonWriter{}
	w.open()
	switch e.Kind {
	case QueryProgress:
		w.key("progress")
		w.b = e.Progress.json(dialect{event: true}, w.b)
	case QueryStarted:
		w.str("id", e.ID)
		w.str("runId", e.RunID)
		w.nullable("name", e.Name)
		w.str("timestamp", isoTime(e.Timestamp))
		w.key("jobTags")
		w.b = append(w.b, '[')
		for i, t := range e.Tags {
			w.element(i)
			w.text(t)
		}
		w.b = append(w.b, ']')
	case QueryIdle:
		w.str("id", e.ID)
		w.str("runId", e.RunID)
		w.str("timestamp", isoTime(e.Timestamp))
	case QueryTerminated:
		w.str("id", e.ID)
		w.str("runId", e.RunID)
		text, class := failure(e.Err)
		w.nullable("exception", text)
		w.nullable("errorClassOnException", class)
	}
	w.close()
	return string(w.b)
}

// failure is how events tell an error: its cause, not the STREAM_FAILED around it.
func failure(e *errclass.Error) (text, class string) {
	if e == nil {
		return "", ""
	}
	c, ok := e.Cause.(*errclass.Error)
	if !ok {
		if e.Cause == nil {
			return "java.lang.RuntimeException: " + e.Message, ""
		}
		return "java.lang.RuntimeException: " + e.Cause.Error(), ""
	}
	return c.Classes()[0] + ": " + c.Detail(), c.Told()
}

// maxQueued bounds what waits for a slow listener; what comes on top is dropped and logged.
const maxQueued = 10_000

// Events are what one listener has still to see, in order.
type Events struct {
	mu      sync.Mutex
	queue   []Event
	dropped int
	closed  bool
	wake    chan struct{} // holds one token while there may be something new
}

// Next returns the next event. After the subscription was cancelled it returns those raised before, and then io.EOF.
func (e *Events) Next(ctx context.Context) (Event, error) {
	for {
		e.mu.Lock()
		if len(e.queue) > 0 {
			ev := e.queue[0]
			e.queue = e.queue[1:]
			e.mu.Unlock()
			return ev, nil
		}
		closed := e.closed
		e.mu.Unlock()
		if closed {
			return Event{}, io.EOF
		}
		select {
		case <-e.wake:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// Dropped is how many events were lost because the listener was too slow.
func (e *Events) Dropped() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dropped
}

func (e *Events) add(ev Event) (ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return true
	}
	if len(e.queue) >= maxQueued {
		e.dropped++
		return false
	}
	e.queue = append(e.queue, ev)
	e.signal()
	return true
}

func (e *Events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.signal()
}

func (e *Events) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// bus hands the events of a session's queries to its listeners. It never waits for one.
type bus struct {
	mu   sync.Mutex
	subs []*Events
}

func (b *bus) subscribe() (*Events, func()) {
	e := &Events{wake: make(chan struct{}, 1)}
	b.mu.Lock()
	b.subs = append(b.subs, e)
	b.mu.Unlock()
	return e, func() {
		b.mu.Lock()
		for i, s := range b.subs {
			if s == e {
				b.subs = append(b.subs[:i:i], b.subs[i+1:]...)
				break
			}
		}
		b.mu.Unlock()
		e.close()
	}
}

// post returns how many listeners were too slow to get the event.
func (b *bus) post(ev Event) (lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.subs {
		if !s.add(ev) {
			lost++
		}
	}
	return lost
}
