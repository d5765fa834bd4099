package stream

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/errclass"
)

// Query is the handle of one run of a streaming query. It stays usable after the end.
type Query struct {
	m           *Manager
	id, runID   string
	name        string
	started     time.Time
	tags        []string
	stopTimeout time.Duration // of Stop; 0 waits for ever
	cancel      context.CancelFunc
	wake        chan struct{} // one token: a driver that only polls looks at its sources again

	mu       sync.Mutex
	status   Status
	recent   ring
	stopping bool
	broken   error // what the query is to fail of, whatever it is doing
	err      *errclass.Error
	endedAt  time.Time
	explain  explanation
	// looks counts how often the driver has begun to look for new data, idle is the last look that found none, wanted the one that
	// somebody waits for.
	looks, idle, wanted int64
	changed             chan struct{} // closed and replaced whenever idle moves

	drain     chan struct{} // closed when no other batch is to be begun
	drainOnce sync.Once
	done      chan struct{} // closed when the run has ended and given everything back
}

// ID is the query's id, the same for all runs on one checkpoint.
func (q *Query) ID() string { q.mu.Lock(); defer q.mu.Unlock(); return q.id }

// RunID is the id of this run.
func (q *Query) RunID() string { return q.runID }

// Name is the query's name, or "".
func (q *Query) Name() string { return q.name }

// IsActive tells whether the query is running.
func (q *Query) IsActive() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.endedAt.IsZero()
}

// Done is closed when the query has ended.
func (q *Query) Done() <-chan struct{} { return q.done }

// Started is the event that was posted before Start returned.
func (q *Query) Started() Event {
	return Event{Kind: QueryStarted, ID: q.ID(), RunID: q.runID, Name: q.name, Timestamp: q.started, Tags: q.tags}
}

// Status says what the query is doing.
func (q *Query) Status() Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.status
}

func (q *Query) setStatus(change func(s *Status)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change(&q.status)
}

func (q *Query) say(message string) { q.setStatus(func(s *Status) { s.Message = message }) }

// LastProgress is the newest report, or nil before the first.
func (q *Query) LastProgress() *Progress {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.recent.last()
}

// RecentProgress are the latest reports, the oldest first.
func (q *Query) RecentProgress() []*Progress {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]*Progress(nil), q.recent.list...)
}

func (q *Query) addProgress(p *Progress) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.recent.add(p)
}

// Exception is why the query has failed, a STREAM_FAILED error, or nil.
func (q *Query) Exception() *errclass.Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// AwaitTermination waits until the query has ended; ended is false when the timeout has passed first. A negative timeout is none.
// The error is that of a query that has failed.
func (q *Query) AwaitTermination(ctx context.Context, timeout time.Duration) (ended bool, err error) {
	expired, stop := q.m.after(timeout)
	defer stop()
	select {
	case <-q.done:
		return true, q.failed()
	default:
	}
	select {
	case <-q.done:
		return true, q.failed()
	case <-expired:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// failed is Exception as an error: nil, not a nil pointer in an interface.
func (q *Query) failed() error {
	if e := q.Exception(); e != nil {
		return e
	}
	return nil
}

// ProcessAllAvailable waits until the query has looked for new data after the call and has found none, and all that it found
// before is committed.
func (q *Query) ProcessAllAvailable(ctx context.Context) error {
	q.mu.Lock()
	want := q.looks + 1
	q.wanted = max(q.wanted, want)
	q.mu.Unlock()
	for {
		q.mu.Lock()
		idle, changed := q.idle, q.changed
		q.mu.Unlock()
		if idle >= want {
			return nil
		}
		select { // a driver that sleeps between two looks need not sleep on
		case q.wake <- struct{}{}:
		default:
		}
		select {
		case <-changed:
		case <-q.done:
			return q.failed()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look notes that the driver begins to look for new data, and returns the number of the look.
func (q *Query) look() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looks++
	return q.looks
}

// awaited tells whether somebody waits for another look. A token in wake may be left from one who has got what he wanted.
func (q *Query) awaited() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.wanted > q.idle
}

// nothing notes that a look has found no data and all batches before it are committed.
func (q *Query) nothing(look int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.idle = look
	close(q.changed)
	q.changed = make(chan struct{})
}

// inQuery marks the context of a query's own goroutines.
type inQuery struct{}

// Stop ends the query and waits for it. A batch in flight is abandoned; the next run does it again. Called from within the query,
// by a function of foreachBatch, it does not wait.
func (q *Query) Stop(ctx context.Context) error {
	q.interrupt()
	if ctx.Value(inQuery{}) == q {
		return nil
	}
	limit := time.Duration(-1)
	if q.stopTimeout > 0 {
		limit = q.stopTimeout
	}
	expired, stop := q.m.after(limit)
	defer stop()
	select {
	case <-q.done:
		return nil
	case <-expired:
		return errclass.New("STREAMING_QUERY_STOP_TIMEOUT", "id", q.ID(), "timeout", q.stopTimeout.String())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// interrupt makes the query end, and end well.
func (q *Query) interrupt() {
	q.mu.Lock()
	q.stopping = true
	q.mu.Unlock()
	q.cancel()
}

// Break makes the query fail with an error that is not its own: somebody that it depends on has gone.
func (q *Query) Break(err error) {
	q.mu.Lock()
	if q.broken == nil {
		q.broken = err
	}
	q.mu.Unlock()
	q.cancel()
}

// breakage is the error of Break; a query that is being stopped ends well.
func (q *Query) breakage() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopping {
		return nil
	}
	return q.broken
}

func (q *Query) isStopping() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stopping
}

// end records how the run has ended and tells everybody. failure is nil for a clean end.
func (q *Query) end(failure error) {
	var e *errclass.Error
	message := "Stopped"
	if failure != nil {
		cause, ok := errors.AsType[*errclass.Error](failure)
		if !ok { // a connector's own words: the engine is not at fault
			cause = &errclass.Error{Message: failure.Error(), Kind: errclass.Other, Cause: failure}
		}
		e = errclass.New("STREAM_FAILED", "id", q.id, "runId", q.runID, "message", cause.Detail()).WithCause(cause)
		message = "Terminated with exception: " + cause.Error()
	}
	q.mu.Lock()
	q.err, q.endedAt = e, q.m.rt.Clock.Now()
	q.status = Status{Message: message}
	q.mu.Unlock()
	// Whoever sees the end must find it everywhere: the manager and the listeners come first.
	q.m.finished(q, e)
	q.m.post(Event{Kind: QueryTerminated, ID: q.id, RunID: q.runID, Name: q.name, Timestamp: q.endedAt, Err: e})
	close(q.done)
}

// discard ends a query that never got as far as running.
func (q *Query) discard() {
	q.cancel()
	q.m.drop(q)
	close(q.done)
}
