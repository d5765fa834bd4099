package connect

import (
	"context"
	"time"
)

// Clients make the start event of a query themselves when they have the reply of its start, while all other events come to them on
// another stream. For a start event to come first, a query's events are held back until the reply has been read.

// starting notes that a query is being started; the run is "" as long as it is not known.
func (h *holder) starting(op *operation, run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.starts[op] = run
}

// started forgets a start.
func (h *holder) started(op *operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.starts, op)
}

// pendingStart finds a start that may be that of a run.
func (h *holder) pendingStart(run string) *operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	for op, r := range h.starts {
		if r == "" || r == run {
			return op
		}
	}
	return nil
}

// startWait is how long events wait for a client that does not read its reply.
const startWait = 3 * time.Second

// ackWait is how long events wait for a client to release an execution whose responses have been sent.
const ackWait = 500 * time.Millisecond

// acknowledged waits until the client has released a reattachable execution: what was sent may still be on its way.
func (h *holder) acknowledged(ctx context.Context, op *operation) {
	if !op.reattachable {
		return
	}
	late, stop := h.svc.clock.After(ackWait)
	defer stop()
	select {
	case <-op.gone:
	case <-late:
	case <-ctx.Done():
	}
}

// awaitStart waits until the client has read the reply of the start of a run.
func (h *holder) awaitStart(ctx context.Context, run string) {
	var late <-chan time.Time
	for {
		op := h.pendingStart(run)
		if op == nil {
			return
		}
		op.mu.Lock()
		read, attends, changed := op.done && op.sent >= op.first+int64(len(op.buf))-1, op.attends, op.changed
		read = read || attends && op.sent > 0 // the start is its first response, and not its last
		op.mu.Unlock()
		if read {
			if !attends {
				h.acknowledged(ctx, op)
			}
			h.started(op)
			continue
		}
		if late == nil {
			var stop func()
			late, stop = h.svc.clock.After(startWait)
			defer stop()
		}
		select {
		case <-changed:
		case <-late:
			h.started(op)
			return
		case <-ctx.Done():
			return
		}
	}
}
