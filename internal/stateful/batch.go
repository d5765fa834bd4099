package stateful

import (
	"sync"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
)

// Mode is the output mode of a query.
type Mode uint8

// The output modes.
const (
	Append Mode = iota
	Update
	Complete
)

// Bounds are the event times, in microseconds, up to which an operator acts in this batch.
type Bounds struct {
	// Late rows are those whose event time is at most Late: the previous batch's watermark.
	Late int64
	// Rows whose event time is at most Evict are final: this batch's watermark.
	Evict int64
}

// Batch is what operators see of their micro-batch. It is Task.Streaming.
type Batch struct {
	Mode Mode
	// Bounds and Stores are indexed by operator number.
	Bounds []Bounds
	Stores []state.Store
	// Values are the value columns that operators attached to their stores, by operator and shard.
	Values [][]state.Values
	// Ops collects the figures of each operator, indexed by operator number.
	Ops []OpStats

	mu         sync.Mutex
	eventTimes map[uint64]EventTimes
}

// Of returns the micro-batch that a task belongs to.
func Of(t *exec.Task) *Batch { return t.Streaming.(*Batch) }

// OpStats are one operator's figures for progress.
type OpStats struct {
	Updated, Removed int64
	DroppedLate      int64 // as Spark counts it: groups for aggregations
	DroppedLateRows  int64
	UpdateNanos      int64
	RemovalNanos     int64
	Custom           map[string]int64
}

// EventTimes are statistics of the event times that passed a watermark operator in one batch, in milliseconds.
type EventTimes struct {
	Count    int64
	Min, Max int64
	Sum      float64
}

// Add merges statistics.
func (e *EventTimes) Add(o EventTimes) {
	if o.Count == 0 {
		return
	}
	if e.Count == 0 {
		*e = o
		return
	}
	e.Count += o.Count
	e.Min, e.Max = min(e.Min, o.Min), max(e.Max, o.Max)
	e.Sum += o.Sum
}

func (b *Batch) noteEventTimes(id uint64, e EventTimes) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.eventTimes == nil {
		b.eventTimes = map[uint64]EventTimes{}
	}
	all := b.eventTimes[id]
	all.Add(e)
	b.eventTimes[id] = all
}

// EventTimes returns what the watermark operators saw, by their id.
func (b *Batch) EventTimes() map[uint64]EventTimes {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.eventTimes
}
