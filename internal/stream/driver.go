package stream

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
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
	task    exec.Task // what all batches have in common
	noData  bool      // batches without data may run
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

	clock reporter
	late  []int64 // scratch, by operator
	evict []int64
}

// commit is an entry of the commit log that waits to be written.
type commit struct {
	batch       int64
	watermarkMs int64
	inputs      []int64 // watermarks of the inputs, when they are kept
}

// run is the query's goroutine.
func (d *driver) run() {
	err := d.guarded()
	// What was done stays done: a batch whose commit still waits is not to be run again.
	err = errors.Join(err, d.flush(context.WithoutCancel(d.ctx)))
	if d.q.isStopping() && d.ctx.Err() != nil {
		err = nil // whatever a batch said that was interrupted
	}
	if err != nil {
		abort(d.plan.operators)
	}
	d.close()
	if d.loc.temporary && (err == nil || d.conf.Bool("spark.sql.streaming.forceDeleteTempCheckpointLocation")) {
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

// prepare finds out where the query goes on and opens what it reads and remembers.
func (d *driver) prepare(ctx context.Context) error {
	if n := d.conf.Int("spark.sql.streaming.numRecentProgressUpdates"); n < 1 {
		return errclass.New("INVALID_CONF_VALUE.REQUIREMENT", "confName", "spark.sql.streaming.numRecentProgressUpdates",
			"confValue", strconv.FormatInt(n, 10), "confRequirement", "it must be positive")
	}
	at, err := d.ck.Resume()
	if err != nil {
		return err
	}
	if at.CommitsBehind {
		d.rt.Log.Warn("commit log is more than one batch behind the offset log", "id", d.q.id, "batch", at.Batch)
	}
	d.batch, d.logged = at.Batch, at.Logged
	last := at.Logged
	if last == nil {
		last = at.Previous
	}
	if at.Batch > 0 { // before it matters by whom state would be kept
		if err := checkOperators(d.ck, d.plan.operators, true); err != nil {
			return err
		}
	}
	if d.frozen, err = freeze(last, d.conf, d.rt.Parallelism, len(d.plan.operators) > 0); err != nil {
		return err
	}
	if len(d.plan.operators) > 0 && (at.Batch > 0 || at.Logged != nil) {
		if d.wantPartitions, err = d.wantedPartitions(); err != nil {
			return err
		}
	}
	if at.Previous != nil {
		d.previousMs = at.Previous.Metadata.BatchWatermarkMs
	}
	d.tracker = newTracker(d.plan.watermarks, d.frozen.policy, at.WatermarkMs)
	d.tracker.watch(d.optIn.idleTimeout, d.rt.Clock.Now())
	if d.optIn.perInput {
		d.tracker.resume(at.InputWatermarksMs)
	}
	if at.WatermarkMs >= endOfTime && len(d.plan.operators) > 0 {
		d.rt.Log.Warn("an earlier run has closed everything: all rows are late for what keeps state", "id", d.q.id, "option", optFinalFlush)
	}
	d.noData = d.conf.Value("spark.sql.streaming.noDataMicroBatches.enabled") != "false"
	d.clock = newReporter(d)
	if err := d.openState(ctx, at); err != nil {
		return err
	}
	if d.inputs, err = openInputs(ctx, d.plan.sources, d.ck); err != nil {
		return err
	}
	return d.seek(at)
}

// seek sets the offsets of the inputs to where the log says.
func (d *driver) seek(at checkpoint.Resume) error {
	if at.Previous != nil {
		if err := d.count(at.Previous); err != nil {
			return err
		}
		for i, in := range d.inputs {
			in.start = at.Previous.Offsets[i]
		}
	}
	if at.Logged != nil {
		if err := d.count(at.Logged); err != nil {
			return err
		}
		for i, in := range d.inputs {
			in.end = at.Logged.Offsets[i]
		}
	}
	return nil
}

func (d *driver) count(o *checkpoint.OffsetSeq) error {
	if len(o.Offsets) == len(d.inputs) {
		return nil
	}
	return errclass.New("CHECKPOINT_SOURCE_MISMATCH", "loggedSources", strconv.Itoa(len(o.Offsets)), "sources", strconv.Itoa(len(d.inputs)))
}

func (d *driver) openState(ctx context.Context, at checkpoint.Resume) error {
	ops := d.plan.operators
	if at.Batch == 0 && at.Logged == nil && d.conf.Value("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart") != "false" {
		if err := d.ck.CheckNoState(); err != nil {
			return err
		}
	}
	if at.Batch == 0 {
		if err := checkOperators(d.ck, ops, false); err != nil {
			return err
		}
	}
	d.task = exec.Task{Workers: d.rt.Parallelism, Partitions: d.frozen.partitions, Batch: &expr.BatchParams{Zone: d.zone}}
	d.late, d.evict = make([]int64, len(ops)), make([]int64, len(ops))
	if err := d.settle(ctx); err != nil {
		return err
	}
	provider, err := d.openProvider()
	if err != nil {
		return err
	}
	g := d.frozen.generation
	if d.optIn.allowAdded && at.Batch > 0 {
		if err := d.findAdded(at); err != nil {
			return err
		}
	}
	return openStores(ops, providerOf(g, provider), g.Dir(d.ck.StateDir()), &d.task)
}

// backToBack runs a batch as soon as the one before is done, and looks again after a short while when there was nothing.
func (d *driver) backToBack(ctx context.Context) error {
	delay := d.conf.Duration("spark.sql.streaming.pollingDelay")
	for !d.q.draining() {
		ran, err := d.step(ctx, source.LimitDefault)
		if err != nil {
			return err
		}
		if ran {
			continue
		}
		if err := d.poll(ctx, delay); err != nil {
			return err
		}
	}
	return nil
}

// poll waits before the next look. Whoever waits for all data to be processed cuts it short.
func (d *driver) poll(ctx context.Context, delay time.Duration) error {
	passed, stop := d.rt.Clock.After(delay)
	defer stop()
	for {
		select {
		case <-passed:
			return nil
		case <-d.q.drain:
			return nil
		case <-d.q.wake:
			if d.q.awaited() {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// onGrid runs a batch at every multiple of the interval since 1970. A batch that takes longer is followed at once: by the grid
// point that it has missed, once, however many there were.
func (d *driver) onGrid(ctx context.Context) error {
	every := d.trigger.every
	for !d.q.draining() {
		began := d.rt.Clock.Now()
		next := began.Truncate(0).Add(every - time.Duration(floorMod(began.UnixNano(), int64(every))))
		if _, err := d.step(ctx, source.LimitDefault); err != nil {
			return err
		}
		if err := d.flush(ctx); err != nil {
			return err
		}
		if d.trigger.kind == Continuous && d.batch > 0 {
			d.q.say("Committing epoch " + strconv.FormatInt(d.batch-1, 10))
			d.q.setStatus(func(s *Status) { s.IsDataAvailable = false })
		} else {
			d.q.say("Waiting for next trigger")
		}
		if took := d.rt.Clock.Now().Sub(began); took > every {
			d.rt.Log.Warn("batch takes longer than the trigger's interval", "id", d.q.id, "took", took, "interval", every)
		}
		if err := d.sleep(ctx, next.Sub(d.rt.Clock.Now())); err != nil {
			return err
		}
	}
	return nil
}

func floorMod(x, y int64) int64 {
	if m := x % y; m < 0 {
		return m + y
	}
	return x % y
}

// availableNow runs batches until the ends that the sources had at the beginning are reached, and those without data that are due
// then. With a source that cannot fix its end it is a single batch of all there is.
func (d *driver) availableNow(ctx context.Context) error {
	for _, in := range d.inputs {
		if _, ok := in.stream.(source.AvailableNow); !ok {
			d.rt.Log.Warn("source cannot fix its end for availableNow: the query runs a single batch", "id", d.q.id, "source", in.stream.Description())
			if _, err := d.step(ctx, source.LimitNone); err != nil {
				return err
			}
			return d.closeAll(ctx)
		}
	}
	for _, in := range d.inputs {
		if err := in.stream.(source.AvailableNow).PrepareAvailableNow(ctx); err != nil {
			return err
		}
	}
	for !d.q.draining() {
		ran, err := d.step(ctx, source.LimitDefault)
		if err != nil {
			return err
		}
		if !ran {
			return d.closeAll(ctx)
		}
	}
	return nil
}

// step is one trigger. The crash remarks say what a crash after the line means.
func (d *driver) step(ctx context.Context, limit source.Limit) (ran bool, err error) {
	look := d.q.look()
	d.clock.begin()
	for _, in := range d.inputs {
		in.from = in.start
	}
	if d.logged == nil {
		planned, err := d.construct(ctx, limit) // the offsets are logged: from now on the batch is run as logged
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
	if err := d.flush(ctx); err != nil {
		return err
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
	for _, in := range d.inputs {
		o.Offsets = append(o.Offsets, in.end)
	}
	d.q.say("Writing offsets to log")
	if err := d.clock.timed("walCommit", func() error { return d.log(ctx, o) }); err != nil {
		return false, err
	}
	if d.moved {
		d.moved = false
		if err := errors.Join(d.settle(ctx), d.ck.ForgetRepartition()); err != nil {
			return false, err
		}
	}
	d.logged = &o
	if d.batch == 0 {
		return true, nil
	}
	for _, in := range d.inputs {
		if in.start != nil {
			if err := in.stream.Commit(ctx, in.start); err != nil {
				return false, err
			}
		}
	}
	return true, d.purge()
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

// log makes the offsets of the batch at hand durable, together with the commit of the one before.
func (d *driver) log(ctx context.Context, o checkpoint.OffsetSeq) error {
	var r fs.Round
	waits := d.pending
	if err := d.stageCommit(&r); err != nil {
		return err
	}
	s, err := d.ck.Offsets.Stage(d.batch, o)
	if err != nil {
		d.pending = waits // it is written when the query ends, if that can be done
		return errors.Join(err, discard(&r))
	}
	r.Publish(s)
	return r.Commit(ctx)
}

func (d *driver) stageCommit(r *fs.Round) error {
	if d.pending == nil {
		return nil
	}
	s, err := d.ck.Commits.Stage(d.pending.batch, checkpoint.Commit{
		NextBatchWatermarkMs: d.pending.watermarkMs, InputWatermarksMs: d.pending.inputs,
	})
	if err != nil {
		return err
	}
	r.Publish(s)
	d.pending = nil
	return nil
}

// flush writes down the commit that waits.
func (d *driver) flush(ctx context.Context) error {
	if d.pending == nil {
		return nil
	}
	var r fs.Round
	if err := d.stageCommit(&r); err != nil {
		return err
	}
	return r.Commit(ctx)
}

func (d *driver) timedFlush(ctx context.Context) error {
	return d.clock.timed("commitOffsets", func() error { return d.flush(ctx) })
}

// purge deletes what is too old to be asked for.
func (d *driver) purge() error {
	keep := d.keep()
	if d.batch <= keep {
		return nil
	}
	return d.ck.Purge(d.batch - keep)
}

func (d *driver) keep() int64 { return max(2, d.conf.Int("spark.sql.streaming.minBatchesToRetain")) }

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
