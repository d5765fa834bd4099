package milltest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

// QueryOption changes how a query is started.
type QueryOption func(*queryOptions)

type queryOptions struct {
	mode    millrace.OutputMode
	trigger millrace.Trigger
	// triggered is set when batches run by another rule than that there is something to do.
	triggered bool
	name      string
	options   map[string]string
}

// Mode is the output mode; append unless set.
func Mode(m millrace.OutputMode) QueryOption { return func(o *queryOptions) { o.mode = m } }

// Trigger says when batches run. Without one a batch runs whenever Process is called and there is something to do.
func Trigger(t millrace.Trigger) QueryOption {
	return func(o *queryOptions) { o.trigger, o.triggered = t, true }
}

// NoTrigger takes back the trigger of an earlier start.
func NoTrigger() QueryOption {
	return func(o *queryOptions) { o.trigger, o.triggered = millrace.Trigger{}, false }
}

// Name is the query's name.
func Name(name string) QueryOption { return func(o *queryOptions) { o.name = name } }

// WriterOption sets an option of the writer.
func WriterOption(key, value string) QueryOption {
	return func(o *queryOptions) { o.options[key] = value }
}

// NoWriterOptions takes back the options of the writer that an earlier start has set.
func NoWriterOptions() QueryOption {
	return func(o *queryOptions) { clear(o.options) }
}

// Query is a streaming query with a checkpoint and a sink that outlive its runs.
type Query struct {
	e    *Engine
	id   string
	df   *millrace.DataFrame
	o    queryOptions
	out  *written
	run  *millrace.StreamingQuery
	seen int // reports of this run that were looked at
	// planned is the batch that was planned and not committed when this run began, or -1.
	planned int64
	all     []Batch
}

// Start starts a query over a new checkpoint. What its streams hold already is processed when it returns, unless there is a trigger; the
// next Process returns the batches. It fails the test when it can't.
func (e *Engine) Start(df *millrace.DataFrame, opts ...QueryOption) *Query {
	e.t.Helper()
	q, err := e.TryStart(df, opts...)
	if err != nil {
		e.t.Fatalf("start: %v", err)
	}
	return q
}

// TryStart is Start for a query that may be refused.
func (e *Engine) TryStart(df *millrace.DataFrame, opts ...QueryOption) (*Query, error) {
	e.ids++
	q := &Query{e: e, id: fmt.Sprintf("%p-%d", e, e.ids), df: df, out: newWritten(e), planned: -1, o: queryOptions{options: map[string]string{}}}
	sinks.add(q.id, q.out)
	e.t.Cleanup(func() { sinks.drop(q.id) })
	return q, q.start(opts)
}

var errNotStarted = errors.New("milltest: the query was not started")

// Checkpoint is the directory of the query's checkpoint on the engine's disk.
func (q *Query) Checkpoint() string { return "/checkpoints/" + path.Base(q.id) }

func (q *Query) start(opts []QueryOption) error {
	for _, f := range opts {
		f(&q.o)
	}
	w := q.df.WriteStream().OutputMode(q.o.mode).Trigger(q.o.trigger).Format(Format).QueryName(q.o.name).Options(q.o.options).
		Option("sink", q.id).Option("checkpointLocation", q.Checkpoint())
	q.planned = -1
	if planned, done := q.Log(); planned > done {
		q.planned = planned
	}
	run, err := w.Start(q.e.ctx)
	if err != nil {
		return err
	}
	q.run, q.seen = run, 0
	if !q.o.triggered {
		// Its first look at the streams must not fall between two things that the test does. An error shows when the test asks.
		_ = run.ProcessAllAvailable(q.e.ctx)
	}
	return nil
}

// Run is the handle of the present run.
func (q *Query) Run() *millrace.StreamingQuery { return q.run }

// Process runs batches until everything that the streams hold is processed, those without data that are due then among them, and
// returns them. It fails the test when the query fails.
func (q *Query) Process() []Batch {
	q.e.t.Helper()
	bs, err := q.TryProcess()
	if err != nil {
		q.e.t.Fatalf("query: %v", err)
	}
	return bs
}

// TryProcess is Process for a query that may fail. The batches are those before the failure.
func (q *Query) TryProcess() ([]Batch, error) {
	q.e.t.Helper()
	if q.run == nil {
		return nil, errNotStarted
	}
	err := q.run.ProcessAllAvailable(q.e.ctx)
	bs, lookErr := q.collect()
	if err == nil {
		err = lookErr
	}
	return bs, err
}

// Await waits until a query whose trigger ends it has ended, and returns the batches that ran.
func (q *Query) Await() ([]Batch, error) {
	q.e.t.Helper()
	if q.run == nil {
		return nil, errNotStarted
	}
	err := q.run.AwaitTermination(q.e.ctx)
	bs, lookErr := q.collect()
	if err == nil {
		err = lookErr
	}
	return bs, err
}

// Advance turns the engine's clock forward, lets the query do what is due then, and returns the batches that ran. It works only in a
// bubble of testing/synctest, which knows when everything rests again.
func (q *Query) Advance(d time.Duration) []Batch {
	q.e.t.Helper()
	q.e.Clock.Advance(d)
	synctest.Wait()
	bs, err := q.collect()
	if err != nil {
		q.e.t.Fatalf("query: %v", err)
	}
	return bs
}

// Expect processes everything and fails the test unless these are the rows that came out, in any order.
func (q *Query) Expect(rows ...string) {
	q.e.t.Helper()
	bs := q.Process()
	got := RowsOf(bs)
	slices.Sort(rows)
	if !slices.Equal(got, rows) {
		q.e.t.Errorf("rows:\n\t%s\nwant:\n\t%s\nbatches:\n%s", strings.Join(got, "\n\t"), strings.Join(rows, "\n\t"), FormatBatches(bs))
	}
}

// ExpectBatches processes everything and fails the test unless the batches print so; see Batch.String.
func (q *Query) ExpectBatches(lines string) {
	q.e.t.Helper()
	if got, want := FormatBatches(q.Process()), strings.TrimSpace(lines); got != want {
		q.e.t.Errorf("batches:\n%s\nwant:\n%s", got, want)
	}
}

// Written are the rows of all batches that the sink has got, sorted; a batch that came twice is there once.
func (q *Query) Written() []string {
	var out []string
	for _, id := range q.out.ids() {
		out = append(out, FormatRows(q.out.rows(id))...)
	}
	slices.Sort(out)
	return out
}

// Rows are what the sink has of a batch, whether or not the query has reported it.
func (q *Query) Rows(batch int64) []types.Row { return q.out.rows(batch) }

// Batches are all batches of all runs. After a power failure a batch may be there twice.
func (q *Query) Batches() []Batch {
	q.watermarks(q.all)
	return slices.Clone(q.all)
}

// Stop stops the query. What it was doing is done again by the next run.
func (q *Query) Stop() {
	q.e.t.Helper()
	if err := q.run.Stop(q.e.ctx); err != nil {
		q.e.t.Fatalf("stop: %v", err)
	}
	if _, err := q.collect(); err != nil {
		q.e.t.Fatalf("stop: %v", err)
	}
}

// Restart stops the query, if it runs, gives power back after a crash, and starts the query again from its checkpoint.
func (q *Query) Restart(opts ...QueryOption) {
	q.e.t.Helper()
	if err := q.TryRestart(opts...); err != nil {
		q.e.t.Fatalf("restart: %v", err)
	}
}

// TryRestart is Restart for a query that may be refused.
func (q *Query) TryRestart(opts ...QueryOption) error {
	q.e.t.Helper()
	if q.run != nil {
		q.Stop()
	}
	q.e.PowerOn(nil)
	return q.start(opts)
}

// Change replaces the query's plan from the next restart on.
func (q *Query) Change(df *millrace.DataFrame) { q.df = df }

// CrashAfter processes until power fails at a point, and returns the batches that were finished. It fails the test when the query
// comes to rest without having got there.
func (q *Query) CrashAfter(p Point) []Batch {
	q.e.t.Helper()
	q.e.disk.armPoint(p)
	bs, crashed := q.processUntilCrash()
	if !crashed {
		q.e.t.Fatalf("there was no batch that power could fail in")
	}
	return bs
}

// CrashAtWrite processes until power fails at the k-th operation from now on, counted from 1, that changes anything on the disk; a
// write is cut in half. It tells whether it came to that; if not, everything is processed.
func (q *Query) CrashAtWrite(k int) (bs []Batch, crashed bool) {
	q.e.t.Helper()
	q.e.CrashAtWrite(k)
	return q.processUntilCrash()
}

func (q *Query) processUntilCrash() ([]Batch, bool) {
	q.e.t.Helper()
	bs, err := q.TryProcess()
	if q.e.Crashed() {
		return append(bs, q.Bury()...), true
	}
	if err != nil {
		q.e.t.Fatalf("query: %v", err)
	}
	q.e.disk.reboot(nil)
	return bs, false
}

// Bury waits until a query without power has ended, and returns the batches that were reported last.
func (q *Query) Bury() []Batch {
	q.e.t.Helper()
	if q.run == nil {
		return nil
	}
	// It may have come to rest before it noticed: nothing was left to write.
	if err := q.run.Stop(context.WithoutCancel(q.e.ctx)); err != nil {
		q.e.t.Fatalf("stop: %v", err)
	}
	bs, _ := q.collect()
	return bs
}

// collect takes the batches that were reported since the last call.
func (q *Query) collect() ([]Batch, error) {
	q.e.t.Helper()
	for _, text := range q.out.complaints() {
		q.e.t.Errorf("%s", text)
	}
	ps, err := q.run.RecentProgress(q.e.ctx)
	if err != nil {
		return nil, err
	}
	var out []Batch
	for _, p := range ps[q.seen:] {
		if _, ran := p.DurationMs["addBatch"]; !ran {
			continue
		}
		b, err := BatchOf(p)
		if err != nil {
			return nil, err
		}
		b.Rows, b.Rerun = q.out.rows(p.BatchID), p.BatchID == q.planned
		out = append(out, b)
	}
	q.seen = len(ps)
	q.watermarks(out)
	q.all = append(q.all, out...)
	return out, nil
}

// watermarks fills in the watermark after each batch: that of the batch that follows, or of the commit log.
func (q *Query) watermarks(bs []Batch) {
	for i := range bs {
		b := &bs[i]
		if b.Watermark.IsZero() {
			continue
		}
		if i+1 < len(bs) && bs[i+1].ID == b.ID+1 {
			b.Next = bs[i+1].Watermark
		} else if ms, ok := q.nextWatermark(b.ID); ok {
			b.Next = time.UnixMilli(ms)
		}
	}
}

// RestartCrashingAt is Restart with power failing at the k-th write from then on: while the query goes on where it was, or processes
// what has come. A trigger must be one that ends the query; then that is waited for. It reports whether there were so many writes.
func (q *Query) RestartCrashingAt(k int, opts ...QueryOption) (crashed bool, err error) {
	q.e.t.Helper()
	if q.run != nil {
		q.Stop()
	}
	q.e.PowerOn(nil)
	q.e.CrashAtWrite(k)
	old := q.run
	err = q.start(opts)
	if err == nil && q.o.triggered {
		_, err = q.Await()
	}
	if !q.e.Crashed() {
		q.e.disk.reboot(nil)
		return false, err
	}
	if q.run != old {
		q.Bury()
	}
	return true, nil
}
