package session

import (
	"context"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
)

// pin is a relation that a client has asked to be kept, as the client sends it and as it was read: while its rows are kept it goes on
// meaning the files that were there.
type pin struct {
	message any
	n       plan.Node
	of      *kept
	store   *exec.Store
}

// Pin keeps a relation as Persist does, and what it reads with it. id is the client's id of the relation, message what it sent.
func (s *Session) Pin(ctx context.Context, id int64, message any, n plan.Node, l StorageLevel) error {
	n, err := plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		if r, ok := n.(*plan.Read); ok && !r.Stream {
			return s.Analyze(ctx, r)
		}
		return n, nil
	})
	if err != nil {
		return err
	}
	resolved, err := s.keep(ctx, n, "", l)
	if err != nil {
		return err
	}
	k := s.server.cache.find(s, resolved)
	if k == nil {
		return nil // dropped by another session meanwhile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pins[id] = pin{message, n, k, s.server.cache.storeOf(k)}
	return nil
}

// Pinned is the relation that was pinned under an id, and the message that it came with. It is not when its rows were dropped.
func (s *Session) Pinned(id int64) (message any, n plan.Node, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pins[id]
	if !ok {
		return nil, nil, false
	}
	if !s.server.cache.holds(p.of, p.store) {
		delete(s.pins, id)
		return nil, nil, false
	}
	return p.message, p.n, true
}
