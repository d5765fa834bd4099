package session

import (
	"context"

	"github.com/millrace/millrace/internal/plan"
)

// StorageLevel says where a kept relation's rows are to be. The engine keeps the wish only: it computes relations afresh.
type StorageLevel struct {
	Disk, Memory, OffHeap, Deserialized bool
	Replication                         int32
}

// Persist notes a storage level for a relation, Unpersist takes it back, StorageLevelOf finds it.
func (s *Session) Persist(ctx context.Context, n plan.Node, l StorageLevel) error {
	return s.level(ctx, n, func(key string) {
		if _, kept := s.levels[key]; !kept {
			s.levels[key] = l
		}
	})
}

// Unpersist forgets a relation's storage level.
func (s *Session) Unpersist(ctx context.Context, n plan.Node) error {
	return s.level(ctx, n, func(key string) { delete(s.levels, key) })
}

// StorageLevelOf is the level of a relation, the zero value when it is not kept.
func (s *Session) StorageLevelOf(ctx context.Context, n plan.Node) (l StorageLevel, err error) {
	err = s.level(ctx, n, func(key string) { l = s.levels[key] })
	return l, err
}

func (s *Session) level(ctx context.Context, n plan.Node, do func(key string)) error {
	n, err := s.Analyze(ctx, n)
	if err != nil {
		return err
	}
	key := Semantics(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	do(key)
	return nil
}
