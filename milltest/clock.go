package milltest

import (
	"time"

	"github.com/millrace/millrace/internal/stream/streamtest"
)

// Clock is the engine's clock. It stands still until it is turned.
type Clock struct{ manual *streamtest.ManualClock }

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time { return c.manual.Now() }

// Advance turns the clock forward. What was waiting for that time goes on, at its own pace: see Query.Advance.
func (c *Clock) Advance(d time.Duration) { c.manual.Advance(d) }
