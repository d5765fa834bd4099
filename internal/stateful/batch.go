package stateful

import (
	"cmp"
	"slices"
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
	// ID is the batch's number; QueryID and RunID are the query's.
	ID             int64
	QueryID, RunID string
	// Bounds, Stores and KVs are indexed by operator number. An operator has a store of tables or one of ordered bytes.
	Bounds []Bounds
	Stores []state.Store
	KVs    []state.KVStore
	// Values are the value columns that operators attached to their stores, by operator and shard.
	Values [][]state.Values
	// Ops collects the figures of each operator, indexed by operator number.
	Ops []OpStats
	// Late are the side outputs of late rows, by number; nil when nobody asks for them.
	Late []*exec.SideOutput

	mu         sync.Mutex
	eventTimes map[uint64][]partTimes
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
	// Rows is how many rows the state has, where Counted is set: not every key in it is one that counts.
	Rows    int64
	Counted bool
	// NextDue is the earliest time in ms at which the operator has something to do by the clock, without rows.
	NextDue int64
}

// EventTimes are statistics of the event times that passed a watermark operator in one batch, in milliseconds.
type EventTimes struct {
	Count    int64
	Min, Max int64
	// mean is computed as Spark does it, which shows in its last millisecond.
	mean float64
}

// partTimes are the event times of one part of a watermark operator's input.
type partTimes struct {
	part  int
	times EventTimes
}

// note adds one event time.
func (e *EventTimes) note(ms int64) {
	if e.Count == 0 {
		e.Min, e.Max = ms, ms
	}
	e.Count++
	e.Min, e.Max = min(e.Min, ms), max(e.Max, ms)
	e.mean += (float64(ms) - e.mean) / float64(e.Count)
}

// Avg is the mean, rounded towards 1970.
func (e *EventTimes) Avg() int64 { return int64(e.mean) }

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
	e.mean += (o.mean - e.mean) * float64(o.Count) / float64(e.Count)
}

func (b *Batch) noteEventTimes(id uint64, part int, e EventTimes) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.eventTimes == nil {
		b.eventTimes = map[uint64][]partTimes{}
	}
	b.eventTimes[id] = append(b.eventTimes[id], partTimes{part, e})
}

// EventTimes returns what the watermark operators saw, by their id. Parts count in their order, not in that in which they ended.
func (b *Batch) EventTimes() map[uint64]EventTimes {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[uint64]EventTimes{}
	for id, parts := range b.eventTimes {
		slices.SortStableFunc(parts, func(x, y partTimes) int { return cmp.Compare(x.part, y.part) })
		var all EventTimes
		for _, p := range parts {
			all.Add(p.times)
		}
		out[id] = all
	}
	return out
}
