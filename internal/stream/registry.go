package stream

import (
	"context"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/state/lsm"
	"github.com/millrace/millrace/internal/state/mem"
)

// Registry knows which checkpoints are in use in this process, by whichever session. Everything that runs on one runtime shares
// one registry.
type Registry struct {
	mu     sync.Mutex
	active map[string]*Query // by checkpoint

	memory lsm.Memory // of all states that are not in memory
	merges mem.Merges // of those that are
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{active: map[string]*Query{}} }

// claim takes a checkpoint for a query. Another query that has it, or has a copy of it and hence the same id, is stopped first,
// without an error on it, or is reason to refuse.
func (r *Registry) claim(ctx context.Context, dir string, q *Query, stopOther bool) error {
	for {
		r.mu.Lock()
		other := r.active[dir]
		for _, a := range r.active {
			if other == nil && a.ID() == q.ID() {
				other = a
			}
		}
		if other == nil {
			r.active[dir] = q
			r.mu.Unlock()
			return nil
		}
		r.mu.Unlock()
		if !stopOther {
			return errclass.New("INVALID_STREAMING_OPTION.QUERY_ACTIVE", "checkpointLocation", dir, "id", other.ID())
		}
		if err := other.Stop(ctx); err != nil {
			return err
		}
		select { // Stop does not wait when it is called from within the other query
		case <-other.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release gives a checkpoint back.
func (r *Registry) release(dir string, q *Query) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active[dir] == q {
		delete(r.active, dir)
	}
}
