package lsm

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// oneAtATime lets a tree merge its files one merge at a time, when it asks or when the one before is done. Unlike the library's own
// scheduler it has no goroutine, which would be left behind by a tree that could not be opened, nor a clock.
type oneAtATime struct {
	mu       sync.Mutex
	cond     sync.Cond
	db       pebble.DBForCompaction
	running  int
	granting bool // db is being asked
	closed   bool
}

func newScheduler() *oneAtATime {
	s := &oneAtATime{}
	s.cond.L = &s.mu
	return s
}

// Register implements pebble.CompactionScheduler.
func (s *oneAtATime) Register(_ int, db pebble.DBForCompaction) { s.db = db }

// Unregister implements pebble.CompactionScheduler: db is not called any more when it returns.
func (s *oneAtATime) Unregister() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for s.granting {
		s.cond.Wait()
	}
}

// TrySchedule implements pebble.CompactionScheduler.
func (s *oneAtATime) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.running > 0 {
		return false, nil
	}
	s.running++
	return true, s
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler.
func (s *oneAtATime) UpdateGetAllowedWithoutPermission() {}

// Done implements pebble.CompactionGrantHandle: the next merge follows.
func (s *oneAtATime) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if s.closed || s.running > 0 || s.granting {
		return
	}
	s.granting = true
	s.running++ // before it can be done
	s.mu.Unlock()
	waiting, _ := s.db.GetWaitingCompaction()
	accepted := waiting && s.db.Schedule(s)
	s.mu.Lock()
	if !accepted {
		s.running--
	}
	s.granting = false
	s.cond.Broadcast()
}

// Started implements pebble.CompactionGrantHandle.
func (s *oneAtATime) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (s *oneAtATime) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (s *oneAtATime) CumulativeStats(pebble.CompactionGrantHandleStats) {}
