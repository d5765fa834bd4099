package stream

import (
	"testing"
	"time"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
)

// TestIdleInputs lets two inputs fall silent in either order: what is left of the watermark is the same.
func TestIdleInputs(t *testing.T) {
	const a, b = plan.ID(1), plan.ID(2)
	at := func(minute int) time.Time { return time.UnixMilli(int64(minute) * 60_000) }
	for _, firstSilent := range []plan.ID{a, b} {
		tr := newTracker([]*watermark{{id: a, sources: []plan.ID{a}}, {id: b, sources: []plan.ID{b}}}, "min", 0)
		tr.watch(10*time.Minute, at(0))
		see := func(minute int, ms map[plan.ID]int64) {
			seen := map[uint64]stateful.EventTimes{}
			for id, x := range ms {
				seen[uint64(id)] = stateful.EventTimes{Count: 1, Max: x}
			}
			tr.advance(seen, at(minute).UnixMilli())
		}
		check := func(what string, want int64) {
			t.Helper()
			if tr.global != want {
				t.Errorf("%d silent first: %s: the watermark is %d, not %d", firstSilent, what, tr.global, want)
			}
		}
		nobody := func(plan.ID) bool { return false }
		see(1, map[plan.ID]int64{a: 100, b: 50})
		check("both deliver", 50)
		last := map[plan.ID]int64{a: 100, b: 50}
		delete(last, firstSilent)
		see(5, last)
		tr.wait(at(11), func(id plan.ID) bool { return id == firstSilent })
		check("the first has rows after all", 50)
		tr.wait(at(11), nobody)
		check("one is silent", map[plan.ID]int64{a: 50, b: 100}[firstSilent])
		tr.wait(at(15), nobody)
		check("both are silent", 100)
		see(16, map[plan.ID]int64{a: 300, b: 60})
		check("the slow one is back", 100)
		see(17, map[plan.ID]int64{b: 200})
		check("and goes on", 200)
	}
}
