package streamtest

import (
	"sort"
	"sync"
	"time"
)

// ManualClock is a clock that stands still until it is turned. It implements engine.Clock.
type ManualClock struct {
	mu      sync.Mutex
	now     time.Time
	waiting []*alarm
}

type alarm struct {
	at time.Time
	ch chan time.Time
}

// NewClock returns a clock that shows a time.
func NewClock(now time.Time) *ManualClock { return &ManualClock{now: now} }

// Now implements engine.Clock.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After implements engine.Clock.
func (c *ManualClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{at: c.now.Add(d), ch: make(chan time.Time, 1)}
	if d <= 0 {
		a.ch <- c.now
		return a.ch, func() {}
	}
	c.waiting = append(c.waiting, a)
	return a.ch, func() { c.drop(a) }
}

func (c *ManualClock) drop(a *alarm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.waiting {
		if w == a {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			return
		}
	}
}

// Waiting is how many waits are on the clock.
func (c *ManualClock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// Advance turns the clock forward; waits end in the order of their times.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	sort.SliceStable(c.waiting, func(i, j int) bool { return c.waiting[i].at.Before(c.waiting[j].at) })
	for len(c.waiting) > 0 && !c.waiting[0].at.After(c.now) {
		c.waiting[0].ch <- c.now
		c.waiting = c.waiting[1:]
	}
}
