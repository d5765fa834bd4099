package stream

import (
	"context"
)

// Drain lets the batch in flight finish, ends the query and waits for that; no other batch is begun. The error is that of a batch that
// failed meanwhile. When ctx ends first the query still ends as soon as its batch has: Stop abandons it. Called from within the query
// it does not wait.
func (q *Query) Drain(ctx context.Context) error {
	q.lastBatch()
	if ctx.Value(inQuery{}) == q {
		return nil
	}
	select {
	case <-q.done:
		return q.failed()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lastBatch makes the batch in flight the last one.
func (q *Query) lastBatch() { q.drainOnce.Do(func() { close(q.drain) }) }

// draining tells whether no other batch is to be begun.
func (q *Query) draining() bool {
	select {
	case <-q.drain:
		return true
	default:
		return false
	}
}

// Drain drains all queries side by side and waits until all have ended, or until ctx ends. Queries that have failed meanwhile are
// found among the ended ones as ever.
func (m *Manager) Drain(ctx context.Context) error {
	active := m.Active()
	for _, q := range active {
		q.lastBatch()
	}
	for _, q := range active {
		select {
		case <-q.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
