package milltest

import (
	"io"
	"math"
	"sync"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

// Point is a moment in a batch's life at which power may fail.
type Point string

// The points, in the order of a batch.
const (
	// AfterOffsets is when the batch has been planned: its offsets are in the log and nothing has been computed.
	AfterOffsets Point = "offsets"
	// AfterState is when the state of all operators is durable and the sink has not committed.
	AfterState Point = "state"
	// AfterSink is when the sink has committed and the batch is not in the commit log.
	AfterSink Point = "sink"
	// AfterCommits is when the batch is in the commit log.
	AfterCommits Point = "commits"
)

// disk is the engine's file system: one in memory that can lose power. A crash stops the engine's sources and sinks as well, because
// the process is gone; what they hold survives, because it lies elsewhere.
type disk struct {
	mu    sync.Mutex
	mem   *errfs.Mem
	rule  *errfs.Rule
	point Point
	now   fs.FS // mem behind rule
}

func newDisk(clock *Clock) *disk {
	d := &disk{mem: errfs.NewMem()}
	d.mem.SetClock(clock.Now)
	d.arm(errfs.CrashAt(math.MaxInt), "")
	return d
}

// arm puts a rule in the place of the one before.
func (d *disk) arm(r *errfs.Rule, p Point) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rule, d.point = r, p
	d.now = errfs.Wrap(d.mem, r)
}

func (d *disk) armPoint(p Point) {
	switch p {
	case AfterOffsets:
		d.arm(errfs.CrashAfter(1, errfs.Ops(errfs.SyncDir).Named("/offsets")), p)
	case AfterState:
		d.arm(errfs.CrashAfter(1, errfs.Ops(errfs.SyncDir).Named("/state/0")), p)
	case AfterCommits:
		d.arm(errfs.CrashAfter(1, errfs.Ops(errfs.SyncDir).Named("/commits")), p)
	default:
		d.arm(errfs.CrashAt(math.MaxInt), p)
	}
}

func (d *disk) get() fs.FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// found is the file system as it is now or, while power is off, as it will be found.
func (d *disk) found() fs.FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rule.Stopped() {
		return d.mem.Crash(nil)
	}
	return d.mem
}

// alive is an error when power is off. Sources and sinks ask it.
func (d *disk) alive() error {
	if d.crashed() {
		return errfs.ErrCrashed
	}
	return nil
}

func (d *disk) crashed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rule.Stopped()
}

// sinkCommitted is where AfterSink cuts.
func (d *disk) sinkCommitted() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.point == AfterSink {
		d.rule.Stop()
	}
}

// reboot brings back what a crash has left, as choose decides (see errfs.Mem.Crash), or, when there was none, disarms.
func (d *disk) reboot(choose errfs.Chooser) {
	d.mu.Lock()
	if d.rule.Stopped() {
		d.mem = d.mem.Crash(choose)
	}
	d.mu.Unlock()
	d.arm(errfs.CrashAt(math.MaxInt), "")
}

func (d *disk) Open(name string) (fs.File, error)       { return d.get().Open(name) }
func (d *disk) Create(name string) (fs.Writer, error)   { return d.get().Create(name) }
func (d *disk) Rename(from, to string) error            { return d.get().Rename(from, to) }
func (d *disk) RenameNew(from, to string) error         { return d.get().RenameNew(from, to) }
func (d *disk) Link(from, to string) error              { return fs.Link(d.get(), from, to) }
func (d *disk) Remove(name string) error                { return d.get().Remove(name) }
func (d *disk) RemoveAll(name string) error             { return d.get().RemoveAll(name) }
func (d *disk) MkdirAll(name string) error              { return d.get().MkdirAll(name) }
func (d *disk) ReadDir(name string) ([]fs.Entry, error) { return d.get().ReadDir(name) }
func (d *disk) Stat(name string) (fs.Info, error)       { return d.get().Stat(name) }
func (d *disk) Sync(name string) error                  { return d.get().Sync(name) }
func (d *disk) SyncDir(name string) error               { return d.get().SyncDir(name) }
func (d *disk) Lock(name string) (io.Closer, error)     { return d.get().Lock(name) }
