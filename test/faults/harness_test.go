package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/backend/embedded"
	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/connector"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/session"
)

// scenario is a query from files to files.
type scenario struct {
	name string
	// inputs are the folders that are read, with the files that come into them.
	inputs map[string][]string
	// query gives the rows; the inputs are views with a watermark.
	query func(context.Context, *millrace.Session) (*millrace.DataFrame, error)
	// closing comes into all inputs when everything else is done, twice: after it nothing waits for the watermark.
	closing   string
	mode      millrace.OutputMode
	format    string
	partition string
}

// sqlQuery is a query written in SQL.
func sqlQuery(text string) func(context.Context, *millrace.Session) (*millrace.DataFrame, error) {
	return func(ctx context.Context, s *millrace.Session) (*millrace.DataFrame, error) { return s.SQL(ctx, text) }
}

// variant is how a scenario is run.
type variant struct {
	provider     string
	availableNow bool
}

func (v variant) String() string {
	trigger := "default"
	if v.availableNow {
		trigger = "availableNow"
	}
	return v.provider + " " + trigger
}

// machine is a disk, and what reads its files as the engine does.
type machine struct {
	sc    scenario
	v     variant
	mem   *errfs.Mem
	files int // written into inputs
	// refused is set when what a lying disk has kept was found out.
	refused bool
}

const start = 1767268800 // 2026-01-01 12:00 UTC

func newMachine(sc scenario, v variant) *machine {
	m := &machine{sc: sc, v: v, mem: errfs.NewMem()}
	m.mem.SetClock(func() time.Time { return time.Unix(int64(start+m.files), 0).UTC() })
	for _, dir := range slices.Sorted(maps.Keys(sc.inputs)) {
		for _, c := range sc.inputs[dir] {
			m.put(dir, c)
		}
	}
	return m
}

// put brings a file into an input, durably.
func (m *machine) put(dir, content string) {
	m.files++
	name := fmt.Sprintf("/in/%s/%03d.json", dir, m.files)
	if err := errors.Join(m.mem.MkdirAll("/in/"+dir), fs.WriteOnce(context.Background(), m.mem, name, []byte(content)),
		m.mem.SyncDir("/"), m.mem.SyncDir("/in")); err != nil {
		panic(err)
	}
}

// close brings the files after which all windows are closed, and runs the query over each.
func (m *machine) close() error {
	for range 2 {
		for _, dir := range slices.Sorted(maps.Keys(m.sc.inputs)) {
			m.put(dir, m.sc.closing)
		}
		if err := m.run(m.mem); err != nil {
			return err
		}
	}
	return nil
}

// files is the file system that the connectors of this process use: that of the machine whose turn it is.
var files router

type router struct {
	mu  sync.Mutex
	now fs.FS
}

func (r *router) set(fsys fs.FS) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = fsys
}

func (r *router) get() fs.FS {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *router) Open(name string) (fs.File, error)       { return r.get().Open(name) }
func (r *router) Create(name string) (fs.Writer, error)   { return r.get().Create(name) }
func (r *router) Rename(from, to string) error            { return r.get().Rename(from, to) }
func (r *router) RenameNew(from, to string) error         { return r.get().RenameNew(from, to) }
func (r *router) Remove(name string) error                { return r.get().Remove(name) }
func (r *router) RemoveAll(name string) error             { return r.get().RemoveAll(name) }
func (r *router) MkdirAll(name string) error              { return r.get().MkdirAll(name) }
func (r *router) ReadDir(name string) ([]fs.Entry, error) { return r.get().ReadDir(name) }
func (r *router) Stat(name string) (fs.Info, error)       { return r.get().Stat(name) }
func (r *router) Sync(name string) error                  { return r.get().Sync(name) }
func (r *router) SyncDir(name string) error               { return r.get().SyncDir(name) }
func (r *router) Lock(name string) (io.Closer, error)     { return r.get().Lock(name) }

func init() { connector.Register(&files) }

// session opens an engine on a file system, as a new process does.
func (m *machine) session(fsys fs.FS) (context.Context, *millrace.Session, error) {
	files.set(fsys)
	ctx := backend.WithEmbedded(context.Background(), func(_ context.Context, c backend.Config) (backend.Backend, error) {
		rt := engine.New(engine.Runtime{Clock: fast{}, FS: fsys, Parallelism: c.Workers, Warehouse: "/warehouse"})
		svc, err := connect.New(session.NewServer(rt, c.Conf), c.Conf)
		if err != nil {
			return nil, err
		}
		return embedded.New(svc, true), nil
	})
	s, err := millrace.Connect(ctx, "local[2]", millrace.WithConf("spark.sql.shuffle.partitions", "2"),
		millrace.WithConf("spark.sql.session.timeZone", "UTC"),
		millrace.WithConf("spark.sql.streaming.minBatchesToRetain", "2"),
		millrace.WithConf("spark.sql.streaming.fileSource.log.compactInterval", "3"),
		millrace.WithConf("spark.sql.streaming.fileSink.log.compactInterval", "3"),
		millrace.WithConf("spark.sql.streaming.stateStore.providerClass", m.v.provider))
	return ctx, s, err
}

// fast is a clock that does not wait long.
type fast struct{}

func (fast) Now() time.Time { return time.Now() }

func (fast) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(min(d, time.Millisecond))
	return t.C, func() { t.Stop() }
}

// run runs the query over all files there are and returns the error that its user gets.
func (m *machine) run(fsys fs.FS) (err error) {
	ctx, s, err := m.session(fsys)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return m.runIn(ctx, s)
}

func (m *machine) runIn(ctx context.Context, s *millrace.Session) error {
	for dir := range m.sc.inputs {
		df := s.ReadStream().Format("json").SchemaDDL("ts TIMESTAMP, k STRING, v INT").Option("maxFilesPerTrigger", "1").Load("/in/" + dir)
		if err := df.WithWatermark("ts", "1 minute").CreateOrReplaceTempView(ctx, dir); err != nil {
			return err
		}
	}
	df, err := m.sc.query(ctx, s)
	if err != nil {
		return err
	}
	w := df.WriteStream().OutputMode(m.sc.mode).Format(m.sc.format).Option("checkpointLocation", "/ck")
	if m.sc.partition != "" {
		w = w.PartitionBy(m.sc.partition)
	}
	if m.v.availableNow {
		w = w.Trigger(millrace.AvailableNow())
	}
	q, err := w.Option("path", "/out").Start(ctx)
	if err != nil {
		return err
	}
	if m.v.availableNow {
		return q.AwaitTermination(ctx)
	}
	if err := q.ProcessAllAvailable(ctx); err != nil {
		return err
	}
	return q.Stop(ctx)
}

// rows are the query's output, sorted.
func (m *machine) rows() (out []string, err error) {
	ctx, s, err := m.session(m.mem)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rows, err := s.Read().Format(m.sc.format).Load("/out").Collect(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		out = append(out, fmt.Sprint(r))
	}
	slices.Sort(out)
	return out, nil
}

// watched fails when f takes too long, and says what everybody was doing then.
func watched(t *testing.T, what string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Minute): // a busy machine may starve a process for some
		var b strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
		panic(fmt.Sprintf("%s does not end\n%s", what, b.String()))
	}
}
