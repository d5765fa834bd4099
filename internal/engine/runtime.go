package engine

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/millrace/millrace/internal/fs"
)

// Runtime is handed to every part of the engine that touches the world. It is not changed after its first use.
type Runtime struct {
	Clock Clock
	FS    fs.FS
	Log   *slog.Logger
	// Parallelism is how many goroutines compute at a time.
	Parallelism int
	// Memory counts what operators hold; Scratch is the folder for what does not fit.
	Memory  *Memory
	Scratch string
	// Warehouse is the directory of tables without a location of their own.
	Warehouse string
}

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// After sends once on the channel when d has passed. stop frees what the wait holds; calling it late or twice is no error.
	After(d time.Duration) (passed <-chan time.Time, stop func())
}

// New returns a runtime with the given parts and usual ones for those that are zero: the system's clock, the local file system, a
// log that goes nowhere, all cores, half of the machine's memory, the system's folder for temporary files, ./spark-warehouse.
func New(r Runtime) *Runtime {
	if r.Clock == nil {
		r.Clock = System{}
	}
	if r.FS == nil {
		r.FS = fs.Local()
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	if r.Parallelism <= 0 {
		r.Parallelism = runtime.GOMAXPROCS(0)
	}
	if r.Memory == nil {
		r.Memory = NewMemory(0)
	}
	if r.Scratch == "" {
		r.Scratch = os.TempDir()
	}
	if r.Warehouse == "" {
		r.Warehouse = "spark-warehouse"
	}
	return &r
}

// System is the machine's clock.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time { return time.Now() }

// After implements Clock.
func (System) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// Sleep waits until d has passed or ctx is done, and returns ctx's error in the latter case.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	passed, stop := c.After(d)
	defer stop()
	select {
	case <-passed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
