package stream

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
)

// Manager has the streaming queries of one session.
type Manager struct {
	rt       *engine.Runtime
	registry *Registry
	bus      bus
	copyRows int64 // how many rows of state are written anew in one file

	mu     sync.Mutex
	active []*Query // in the order of their start
	ended  []*Query // the oldest first
	// What AwaitAny waits for: that a query has ended since the session or the last reset began, and the failure of one that did.
	anyEnded bool
	failure  *errclass.Error
	changed  chan struct{} // closed and replaced whenever a query ends
}

// Ended queries stay addressable for a while, but not without bound.
const (
	keepEnded    = time.Hour
	maxKeptEnded = 100
)

// NewManager returns the manager of a new session. The registry is that of the process.
func NewManager(rt *engine.Runtime, r *Registry) *Manager {
	return &Manager{rt: rt, registry: r, copyRows: copyRows, changed: make(chan struct{})}
}

// Subscribe returns the events of the session's queries from now on, in order; cancel ends them. A listener that is slow never
// slows a query down, it loses events when very many wait.
func (m *Manager) Subscribe() (events *Events, cancel func()) { return m.bus.subscribe() }

func (m *Manager) post(ev Event) {
	if lost := m.bus.post(ev); lost > 0 {
		m.rt.Log.Warn("event dropped: listener too slow", "query", ev.ID, "listeners", lost)
	}
}

// Active returns the queries that are running, in the order of their start.
func (m *Manager) Active() []*Query {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.active)
}

// Get returns the running query with an id, or nil.
func (m *Manager) Get(id string) *Query {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range m.active {
		if q.ID() == id {
			return q
		}
	}
	return nil
}

// Find returns one run of a query, also one that has ended not long ago.
func (m *Manager) Find(id, runID string) (*Query, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var running *Query
	for _, list := range [][]*Query{m.active, m.ended} {
		for _, q := range list {
			if q.ID() != id {
				continue
			}
			if q.RunID() == runID {
				return q, nil
			}
			if q.IsActive() {
				running = q
			}
		}
	}
	if running != nil {
		return nil, errclass.New("CONNECT_INVALID_PLAN.STREAMING_QUERY_RUN_ID_MISMATCH", "id", id, "runId", runID, "serverRunId", running.RunID())
	}
	return nil, errclass.New("CONNECT_INVALID_PLAN.STREAMING_QUERY_NOT_FOUND", "id", id)
}

// AwaitAny waits until some query has ended since the session began or since ResetTerminated. It returns that query's error when
// one has failed. A negative timeout is none; ended is false when the timeout has passed.
func (m *Manager) AwaitAny(ctx context.Context, timeout time.Duration) (ended bool, err error) {
	expired, stop := m.after(timeout)
	defer stop()
	for {
		m.mu.Lock()
		any, failure, changed := m.anyEnded, m.failure, m.changed
		m.mu.Unlock()
		if failure != nil {
			return true, failure
		}
		if any {
			return true, nil
		}
		select {
		case <-changed:
		case <-expired:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// after is the clock's After, or a wait without end for negative times.
func (m *Manager) after(d time.Duration) (<-chan time.Time, func()) {
	if d < 0 {
		return nil, func() {}
	}
	return m.rt.Clock.After(d)
}

// ResetTerminated forgets the queries that have ended, for AwaitAny.
func (m *Manager) ResetTerminated() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.anyEnded, m.failure = false, nil
}

// StopAll stops every query and waits until all have ended.
func (m *Manager) StopAll(ctx context.Context) error {
	active := m.Active()
	for _, q := range active {
		q.interrupt()
	}
	for _, q := range active {
		if err := q.Stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reserve adds a query under its name.
func (m *Manager) reserve(q *Query) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q.name != "" {
		for _, o := range m.active {
			if o.name == q.name {
				return errclass.New("INVALID_STREAMING_OPTION.DUPLICATE_QUERY_NAME", "queryName", q.name)
			}
		}
	}
	m.active = append(m.active, q)
	return nil
}

// drop takes out a query that was never started.
func (m *Manager) drop(q *Query) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active = slices.DeleteFunc(m.active, func(o *Query) bool { return o == q })
}

// finished is called once by every query that has ended.
func (m *Manager) finished(q *Query, failure *errclass.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active = slices.DeleteFunc(m.active, func(o *Query) bool { return o == q })
	now := m.rt.Clock.Now()
	m.ended = append(slices.DeleteFunc(m.ended, func(o *Query) bool { return now.Sub(o.endedAt) > keepEnded }), q)
	if over := len(m.ended) - maxKeptEnded; over > 0 {
		m.ended = slices.Delete(m.ended, 0, over)
	}
	m.anyEnded = true
	if failure != nil {
		m.failure = failure
	}
	close(m.changed)
	m.changed = make(chan struct{})
}
