package engine

import (
	"sync/atomic"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Memory counts what the operators of all queries of a process hold. It is a promise of those who hold something to count it and to put it
// into files when they are told to; nothing is taken from anyone.
type Memory struct {
	limit int64
	used  atomic.Int64
}

// NewMemory returns a count of nothing for a process that may take so many bytes; 0 is half of what the machine, or the process's control
// group, has. Half of it may be held: the collector lets the heap grow to twice what is in use.
func NewMemory(process int64) *Memory {
	if process <= 0 {
		process = machineMemory() / 2
	}
	return &Memory{limit: process / 2}
}

// otherwise is taken for the memory of a machine that does not say.
const otherwise = 4 << 30

func machineMemory() int64 {
	least := uint64(otherwise)
	if n, err := memlimit.FromSystem(); err == nil && n > 0 {
		least = n
	}
	if n, err := memlimit.FromCgroup(); err == nil && n > 0 {
		least = min(least, n)
	}
	return int64(least)
}

// Process is how much the process may take.
func (m *Memory) Process() int64 { return 2 * m.limit }

// Limit is how much may be held.
func (m *Memory) Limit() int64 { return m.limit }

// Used is how much is held.
func (m *Memory) Used() int64 { return m.used.Load() }

// Grow counts n bytes more, whatever comes of it. It is false when more than the limit is held now: then whoever asked had better let
// go of something.
func (m *Memory) Grow(n int64) bool { return m.used.Add(n) <= m.limit }

// Release counts n bytes less.
func (m *Memory) Release(n int64) { m.used.Add(-n) }
