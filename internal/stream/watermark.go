package stream

import (
	"slices"
	"time"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
)

// tracker moves the global watermark: from what the watermark operators see in a batch to the value with which the next one runs.
// All values are milliseconds since 1970.
type tracker struct {
	marks []*watermark
	// latest is the policy max of several watermarks instead of min.
	latest bool
	// own is each operator's highest watermark in this run, 0 before its first row: with min an input that has not delivered yet
	// holds the global watermark at 1970.
	own    map[uint64]int64
	global int64

	// patience is how long an input may deliver nothing before it holds the global watermark no longer; 0 is for ever.
	patience int64
	// heard is when each operator last had a row: the time of the batch, or that of the run's start.
	heard map[uint64]int64
}

func newTracker(marks []*watermark, policy string, global int64) *tracker {
	return &tracker{marks: marks, latest: policy == "max", own: map[uint64]int64{}, global: global, heard: map[uint64]int64{}}
}

// watch makes inputs that deliver nothing for a time not count. What they did before now is not known: a restart begins afresh.
func (t *tracker) watch(patience time.Duration, now time.Time) {
	t.patience = patience.Milliseconds()
	for _, m := range t.marks {
		t.heard[uint64(m.id)] = now.UnixMilli()
	}
}

// advance takes in what the operators saw in a batch that has run. The global watermark never goes back.
func (t *tracker) advance(seen map[uint64]stateful.EventTimes, batchMs int64) {
	for _, m := range t.marks {
		id := uint64(m.id)
		if e := seen[id]; e.Count > 0 {
			if w, known := t.own[id]; !known || e.Max-m.delay > w {
				t.own[id] = e.Max - m.delay
			}
			t.heard[id] = max(t.heard[id], batchMs)
		} else if _, known := t.own[id]; !known {
			t.own[id] = 0
		}
	}
	t.choose(func(m *watermark) bool { return t.overdue(m, batchMs) })
}

// wait looks at the clock before a batch is planned. busy tells which sources have something for it: who is about to be read is not
// idle, however long the batch before has taken.
func (t *tracker) wait(now time.Time, busy func(source plan.ID) bool) {
	if t.patience == 0 {
		return
	}
	ms := now.UnixMilli()
	t.choose(func(m *watermark) bool { return t.overdue(m, ms) && !slices.ContainsFunc(m.sources, busy) })
}

func (t *tracker) overdue(m *watermark, nowMs int64) bool {
	return t.patience > 0 && nowMs-t.heard[uint64(m.id)] >= t.patience
}

// choose sets the global watermark to that of the slowest input, or the fastest, of those that count. When none does, nobody holds it
// back: then it is that of the fastest, whichever became idle first.
func (t *tracker) choose(idle func(*watermark) bool) {
	var slowest, fastest int64
	counted := 0
	for i, m := range t.marks {
		w := t.own[uint64(m.id)]
		if i == 0 || w > fastest {
			fastest = w
		}
		if idle(m) {
			continue
		}
		if counted == 0 || w < slowest {
			slowest = w
		}
		counted++
	}
	switch {
	case len(t.marks) == 0:
	case t.latest || counted == 0:
		t.global = max(t.global, fastest)
	default:
		t.global = max(t.global, slowest)
	}
}

// inputs are the watermarks of the operators, in the order in which a checkpoint keeps them; nil before the first batch.
func (t *tracker) inputs() []int64 {
	var out []int64
	for _, m := range t.marks {
		if w, known := t.own[uint64(m.id)]; known {
			out = append(out, w)
		}
	}
	return out
}

// resume takes up the watermarks that a checkpoint has kept. Those of another number of operators mean nothing.
func (t *tracker) resume(inputs []int64) {
	if len(inputs) != len(t.marks) {
		return
	}
	for i, m := range t.marks {
		t.own[uint64(m.id)] = inputs[i]
	}
}
