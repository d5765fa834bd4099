package milltest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // its connectors
	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/backend/embedded"
	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// TB is what the kit needs of a test: a *testing.T, a *testing.B, a *rapid.T, or Panic.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Option changes how New sets an engine up.
type Option func(*options)

type options struct {
	workers, partitions, splits, vector int
	start                               time.Time
	conf                                map[string]string
}

// Workers is the number of goroutines that compute side by side; 2 unless set.
func Workers(n int) Option { return func(o *options) { o.workers = n } }

// Partitions is the number of partitions of state and exchanges (spark.sql.shuffle.partitions); 2 unless set.
func Partitions(n int) Option { return func(o *options) { o.partitions = n } }

// Splits is the number of pieces in which what one Add has brought is read, side by side; 1 unless set.
func Splits(n int) Option { return func(o *options) { o.splits = n } }

// VectorRows bounds the rows of the vectors in which streams deliver their rows. No result depends on it; a test that runs with 1, 3
// and 4096 finds out.
func VectorRows(n int) Option { return func(o *options) { o.vector = n } }

// StateProvider names the provider of state stores (spark.sql.streaming.stateStore.providerClass).
func StateProvider(name string) Option {
	return Conf("spark.sql.streaming.stateStore.providerClass", name)
}

// Conf sets a configuration key of the session.
func Conf(key, value string) Option { return func(o *options) { o.conf[key] = value } }

// At is the time that the clock shows at first; 12:00 on Day unless set.
func At(t time.Time) Option { return func(o *options) { o.start = t } }

// Engine is an engine in this process with a clock and a disk of its own.
type Engine struct {
	// Session is a session of the engine. It is closed at the end of the test.
	Session *millrace.Session
	Clock   *Clock

	t    TB
	o    options
	ctx  context.Context
	disk *disk
	ids  int
}

// New starts an engine for a test.
func New(t TB, opts ...Option) *Engine {
	t.Helper()
	o := options{workers: 2, partitions: 2, splits: 1, start: Day.Add(12 * time.Hour), conf: map[string]string{
		"spark.sql.streaming.numRecentProgressUpdates": "100000",
		"spark.sql.session.timeZone":                   "UTC",
	}}
	for _, f := range opts {
		f(&o)
	}
	o.conf["spark.sql.shuffle.partitions"] = strconv.Itoa(o.partitions)
	e := &Engine{t: t, o: o, Clock: &Clock{streamtest.NewClock(o.start)}}
	e.disk = newDisk(e.Clock)
	e.ctx = backend.WithEmbedded(context.Background(), func(_ context.Context, c backend.Config) (backend.Backend, error) {
		rt := engine.New(engine.Runtime{Clock: e.Clock.manual, FS: e.disk, Parallelism: c.Workers, Warehouse: "/warehouse"})
		svc, err := connect.New(session.NewServer(rt, c.Conf), c.Conf)
		if err != nil {
			return nil, err
		}
		return embedded.New(svc, true), nil
	})
	with := make([]millrace.ConnectOption, 0, len(o.conf))
	for k, v := range o.conf {
		with = append(with, millrace.WithConf(k, v))
	}
	s, err := millrace.Connect(e.ctx, fmt.Sprintf("local[%d]", o.workers), with...)
	if err != nil {
		t.Fatalf("start an engine: %v", err)
	}
	e.Session = s
	t.Cleanup(func() {
		e.disk.reboot(nil)
		if err := s.Close(); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	return e
}

// Context is the context of the engine's own calls.
func (e *Engine) Context() context.Context { return e.ctx }

// CrashAtWrite makes power fail at the k-th operation from now on, counted from 1, that changes anything on the disk; a write is cut in
// half. Whatever runs then fails.
func (e *Engine) CrashAtWrite(k int) { e.disk.arm(errfs.CrashAt(k), "") }

// FailAt makes the k-th use of the file system from now on fail, once, as if the disk had an error there. PowerOn takes it back.
func (e *Engine) FailAt(k int) {
	e.disk.arm(errfs.FailAt(k, func(errfs.Op) bool { return true }, errfs.ErrIO), "")
}

// Crashed tells whether power has failed and is not back.
func (e *Engine) Crashed() bool { return e.disk.crashed() }

// PowerOn brings back what a power failure has left, and disarms one that has not come. With a nil choose what was not synced is gone;
// otherwise choose, which returns a number from 0 to n-1, decides what of it is there.
func (e *Engine) PowerOn(choose func(n int) int) { e.disk.reboot(choose) }

// Panic is a TB for programs that are no tests: mistakes panic. Done runs what was to be cleaned up.
type Panic struct{ cleanup []func() }

// Helper implements TB.
func (*Panic) Helper() {}

// Errorf implements TB.
func (*Panic) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Fatalf implements TB.
func (*Panic) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Cleanup implements TB.
func (p *Panic) Cleanup(f func()) { p.cleanup = append(p.cleanup, f) }

// Done runs the functions given to Cleanup, the last first.
func (p *Panic) Done() {
	for i := len(p.cleanup) - 1; i >= 0; i-- {
		p.cleanup[i]()
	}
	p.cleanup = nil
}
