package stream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// driver runs one query: batch after batch, in its own goroutine.
type driver struct {
	m       *Manager
	q       *Query
	rt      *engine.Runtime
	ctx     context.Context // of the run; cancelled by Stop
	conf    Conf
	zone    *time.Location
	mode    stateful.Mode
	trigger trigger
	id      string
	loc     location
	plan    *compiled
	sink    sink.Sink
	info    sink.Info
	reopen  func(id string) error
	refusal error // what the query fails with before its first batch
	ck      *checkpoint.Checkpoint
	// fsys is the runtime's, but for temporary checkpoints: those need not survive a crash, and nobody waits for the disk.
	fsys fs.FS
	// hides is set when nothing of a batch can be seen before it is committed: see stager.
	hides bool
	// eager is set when commits are not put off: something outside of the engine has seen the batch.
	eager bool

	frozen frozen
	// wantPartitions is the number of partitions that the state is to get before the next batch is planned; 0 is none. moved is set
	// until the log says that it has them. forgot is the generation before which nothing is left.
	wantPartitions int
	// added is set when aggregates have come or gone and the state must be written anew for that.
	added   bool
	moved   bool
	forgot  generation
	tracker *tracker
	inputs  []*input
	news    chan struct{} // holds a token when a source has heard of something new
	task    exec.Task     // what all batches have in common
	noData  bool          // batches without data may run
	optIn   optIn
	sides   []*side
	closing bool // what is open is closed by one last batch: see closeAll

	batch  int64                 // the next batch, or the one at hand
	logged *checkpoint.OffsetSeq // its entry in the offset log once it has one: the batch must be run so
	// previousMs is the watermark of the batch before, by which rows are late.
	previousMs int64
	ran        bool    // a batch has run in this run
	stampMs    int64   // the time that the latest batch was given
	pending    *commit // done and not yet written down
	logging    *logging
	purging    *logging

	clock reporter
	late  []int64 // scratch, by operator
	evict []int64
}

// run is the query's goroutine.
func (d *driver) run() {
	err := d.guarded()
	for _, await := range []func() error{func() error { return d.awaitLog(d.ctx) }, d.awaitPurge} {
		if aerr := await(); aerr != nil {
			err = errors.Join(err, aerr)
		}
	}
	// What was done stays done: a batch whose commit still waits is not to be run again.
	err = errors.Join(err, d.flush(context.WithoutCancel(d.ctx)))
	if d.q.isStopping() && d.ctx.Err() != nil {
		err = nil // whatever a batch said that was interrupted
	}
	if broken := d.q.breakage(); broken != nil {
		err = broken
	}
	if err != nil {
		abort(d.plan.operators)
	}
	d.close()
	if d.loc.temporary && (err == nil || d.conf.Bool(keyDeleteTemporary)) {
		if rerr := d.fsys.RemoveAll(d.loc.dir); rerr != nil {
			d.rt.Log.Warn("temporary checkpoint not removed", "dir", d.loc.dir, "err", rerr)
		}
	}
	d.q.cancel()
	d.m.registry.release(d.loc.dir, d.q)
	if err != nil {
		d.rt.Log.Error("streaming query failed", "id", d.q.id, "run", d.q.runID, "batch", d.batch, "err", err)
	} else {
		d.rt.Log.Info("streaming query stopped", "id", d.q.id, "run", d.q.runID)
	}
	d.q.end(err)
}

// guarded keeps a panic of a connector from ending the process.
func (d *driver) guarded() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errclass.Recovered(r)
		}
	}()
	return d.main(d.ctx)
}

func (d *driver) close() {
	var errs []error
	for _, in := range d.inputs {
		errs = append(errs, in.stream.Close())
	}
	errs = append(errs, d.sink.Close(), d.closeSides(), closeStores(d.plan.operators), d.ck.Close())
	if err := errors.Join(errs...); err != nil {
		d.rt.Log.Warn("streaming query not closed cleanly", "id", d.q.id, "err", err)
	}
}

func (d *driver) main(ctx context.Context) error {
	d.q.say("Initializing sources")
	if d.refusal != nil {
		return d.refusal
	}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	switch d.trigger.kind {
	case Once:
		_, err := d.step(ctx, source.LimitNone)
		return err
	case AvailableNow:
		return d.availableNow(ctx)
	}
	if d.trigger.every > 0 {
		return d.onGrid(ctx)
	}
	return d.backToBack(ctx)
}

// step is one trigger. The crash remarks say what a crash after the line means.
func (d *driver) step(ctx context.Context, limit source.Limit) (ran bool, err error) {
	look := d.q.look()
	d.clock.begin()
	for _, in := range d.inputs {
		in.from = in.start
	}
	if d.logged == nil {
		planned, err := d.construct(ctx, limit) // once the offsets are logged the batch is run as logged, until then it is planned afresh
		if err != nil {
			return false, err
		}
		if !planned {
			return false, d.rest(ctx, look)
		}
	}
	result, err := d.runBatch(ctx) // state is durable and the sink has committed: it will see the same batch id again
	if err != nil {
		return false, err
	}
	d.finish(result)
	if err := d.clock.timed("commitOffsets", func() error { return d.maintain(ctx) }); err != nil {
		return false, err
	}
	if d.eager {
		if err := d.timedFlush(ctx); err != nil { // the next batch follows
			return true, err
		}
	}
	d.clock.executed(result)
	if d.trigger.every > 0 && !result.news && !d.advanced() {
		// A batch for the clock alone comes with every trigger: whoever waits for the data must not wait for the last of them.
		if err := d.flush(ctx); err != nil {
			return true, err
		}
		d.q.nothing(look)
	}
	return true, nil
}

// rest ends a trigger that has found nothing to do.
func (d *driver) rest(ctx context.Context, look int64) error {
	d.q.say("Waiting for data to arrive")
	if err := errors.Join(d.flush(ctx), d.awaitPurge()); err != nil {
		return err // now, while somebody may wait for the data, and not in the next batch
	}
	d.clock.idle()
	d.q.nothing(look)
	return nil
}

// construct plans the next batch and logs it, or finds that there is none.
func (d *driver) construct(ctx context.Context, limit source.Limit) (planned bool, err error) {
	if d.wantPartitions > 0 || d.added {
		if err := d.repartition(ctx); err != nil {
			return false, err
		}
	}
	news := false
	for _, in := range d.inputs {
		if d.closing { // nothing is read any more
			break
		}
		d.q.say("Getting offsets from " + in.stream.Description())
		if err := d.clock.timed("latestOffset", func() error { return in.latest(ctx, limit) }); err != nil {
			return false, err
		}
		news = news || in.moved()
	}
	d.q.setStatus(func(s *Status) { s.IsDataAvailable = news })
	d.tracker.wait(d.rt.Clock.Now(), d.hasNews)
	if !news && !d.another() {
		return false, nil
	}
	if err := d.stamp(ctx); err != nil {
		return false, err
	}
	o := checkpoint.OffsetSeq{Metadata: checkpoint.OffsetMetadata{
		BatchWatermarkMs: d.tracker.global, BatchTimestampMs: d.stampMs, Conf: d.frozen.conf,
	}}
	if d.optIn.perInput {
		o.Metadata.InputWatermarksMs = d.tracker.inputs()
	}
	for _, i := range d.plan.uses {
		o.Offsets = append(o.Offsets, d.inputs[i].end)
	}
	d.q.say("Writing offsets to log")
	if err := d.clock.timed("walCommit", func() error { return d.log(ctx, o) }); err != nil {
		return false, err
	}
	d.logged = &o
	if d.early() {
		return true, nil
	}
	return true, d.clock.timed("walCommit", func() error { return d.awaitLog(ctx) })
}

// hasNews tells whether a source has something for the batch that is being planned.
func (d *driver) hasNews(id plan.ID) bool {
	return slices.ContainsFunc(d.inputs, func(in *input) bool { return in.plan.id == id && in.moved() })
}

// stamp takes the time of the next batch. Programs tell batches apart by current_timestamp(), so one that would begin in the
// millisecond of the batch before waits for the next; a clock that a test moves by hand stands still and isn't waited for.
func (d *driver) stamp(ctx context.Context) error {
	now := d.rt.Clock.Now()
	if _, moves := d.rt.Clock.(engine.System); moves {
		for now.UnixMilli() == d.stampMs {
			if err := engine.Sleep(ctx, d.rt.Clock, now.Truncate(time.Millisecond).Add(time.Millisecond).Sub(now)); err != nil {
				return err
			}
			now = d.rt.Clock.Now()
		}
	}
	d.stampMs = now.UnixMilli()
	return nil
}

// another tells whether a batch without data is due: the watermark has moved since some operator last cleaned its state. A run that
// has not run a batch does not know, as in Spark.
func (d *driver) another() bool {
	if !d.closing && (!d.noData || !d.ran) {
		return false
	}
	if d.advanced() {
		return true
	}
	now := d.rt.Clock.Now().UnixMilli()
	return slices.ContainsFunc(d.plan.operators, func(o *operator) bool { return o.clocked && (d.trigger.every > 0 || o.due <= now) })
}

// advanced tells whether the watermark has moved since some operator last cleaned its state.
func (d *driver) advanced() bool {
	propagate(d.plan.root, d.tracker.global, d.evict)
	return slices.ContainsFunc(d.plan.operators, func(o *operator) bool { return o.cleans && d.evict[o.op.Number()] > o.bound })
}

// finish notes that the batch at hand is done.
func (d *driver) finish(b *batchResult) {
	d.previousMs = d.logged.Metadata.BatchWatermarkMs
	d.tracker.advance(b.eventTimes, d.logged.Metadata.BatchTimestampMs)
	d.pending = &commit{batch: d.batch, watermarkMs: d.tracker.global}
	if d.optIn.perInput {
		d.pending.inputs = d.tracker.inputs()
	}
	for i, o := range d.plan.operators {
		o.due = b.figures[i].NextDue
	}
	for _, in := range d.inputs {
		if in.end != nil {
			in.start = in.end
		}
	}
	d.logged, d.ran = nil, true
	d.batch++
}
