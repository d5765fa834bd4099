package stream

import (
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
}

func newTracker(marks []*watermark, policy string, global int64) *tracker {
	return &tracker{marks: marks, latest: policy == "max", own: map[uint64]int64{}, global: global}
}

// advance takes in what the operators saw in a batch. The global watermark never goes back.
func (t *tracker) advance(seen map[uint64]stateful.EventTimes) {
	if len(t.marks) == 0 {
		return
	}
	var chosen int64
	for i, m := range t.marks {
		id := uint64(m.id)
		if e := seen[id]; e.Count > 0 {
			if w, known := t.own[id]; !known || e.Max-m.delay > w {
				t.own[id] = e.Max - m.delay
			}
		} else if _, known := t.own[id]; !known {
			t.own[id] = 0
		}
		w := t.own[id]
		if i == 0 || t.latest && w > chosen || !t.latest && w < chosen {
			chosen = w
		}
	}
	t.global = max(t.global, chosen)
}
