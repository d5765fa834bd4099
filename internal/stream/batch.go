package stream

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// batchResult is what a batch leaves for its report.
type batchResult struct {
	id          int64
	news        bool // it had data
	watermarkMs int64
	rows        int64 // given to the sink
	skipped     bool  // the sink had it already
	eventTimes  map[uint64]stateful.EventTimes
	figures     []stateful.OpStats
	commitMs    int64 // of the state
	observed    []ObservedRow
	aside       map[string]int64 // rows that have left beside the result, by metric
}

// runBatch runs the batch at hand as it is logged: rows, clock and watermark come from the log and nowhere else, so that a batch run
// again is the same batch.
func (d *driver) runBatch(ctx context.Context) (_ *batchResult, err error) {
	meta := d.logged.Metadata
	r := &batchResult{id: d.batch, watermarkMs: meta.BatchWatermarkMs}
	for _, in := range d.inputs {
		r.news = r.news || in.moved()
	}
	if r.news {
		d.q.say("Processing new data")
	} else {
		d.q.say("No new data but cleaning up state")
	}
	d.q.setStatus(func(s *Status) { s.IsDataAvailable = r.news })
	t := d.task
	t.Memory = spill.NewScope(d.rt)
	defer t.Memory.CloseInto(&err)
	t.Batch = &expr.BatchParams{Now: meta.BatchTimestampMs * 1000, Ran: d.rt.Clock.Now().UnixMicro(), Zone: d.zone, Seed: d.batch}
	t.Inputs = map[uint64]exec.Input{}
	t.Observed = &exec.Observed{}
	if d.optIn.deadPath != "" {
		t.Dead = &exec.DeadLetters{Max: d.optIn.deadMax}
	}
	for i, in := range d.inputs {
		err := d.clock.timed("getBatch", func() error {
			ps, err := in.parts(ctx)
			if t.Dead != nil {
				ps = t.Dead.Records(ps, -1-i, i)
			}
			t.Inputs[uint64(in.plan.id)] = exec.Input{Parts: ps, Read: func(rows int) { in.rows.Add(int64(rows)) }}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var batch *stateful.Batch
	if err := d.clock.timed("queryPlanning", func() error { batch = d.bind(meta.BatchWatermarkMs); return d.plan.refusal }); err != nil {
		return nil, err
	}
	t.Streaming = batch
	d.q.explained()
	if err := d.clock.timed("addBatch", func() error { return d.execute(ctx, &t, batch, r) }); err != nil {
		return nil, err
	}
	r.eventTimes, r.figures = batch.EventTimes(), batch.Ops
	return r, nil
}

// bind gives the operators their bounds: rows are late by the watermark of the batch before, state is final by that of this one.
func (d *driver) bind(watermarkMs int64) *stateful.Batch {
	ops := d.plan.operators
	previous := d.previousMs
	if !d.conf.Bool(keyAllowMultiple) {
		previous = watermarkMs
	}
	propagate(d.plan.root, previous, d.late)
	propagate(d.plan.root, watermarkMs, d.evict)
	b := &stateful.Batch{
		Mode: d.mode, ID: d.batch, QueryID: d.q.ID(), RunID: d.q.runID, Bounds: make([]stateful.Bounds, len(ops)), Stores: make([]state.Store, len(ops)), KVs: make([]state.KVStore, len(ops)),
		Values: make([][]state.Values, len(ops)), Ops: make([]stateful.OpStats, len(ops)),
	}
	for i, o := range ops {
		o.bound = d.evict[i]
		b.Bounds[i] = stateful.Bounds{Late: micros(d.late[i]), Evict: micros(d.evict[i])}
		b.Stores[i], b.KVs[i], b.Values[i] = o.tables, o.kv, o.values
	}
	return b
}

// stager is a sink of whose batches nothing can be seen before they are committed, and whose files are made durable in one round with
// the state of the batch.
type stager interface {
	// Stage adds what makes a batch part of the output to a round, when all its writers are closed. Commit follows when the round is
	// done, Abort when it has failed.
	Stage(ctx context.Context, out sink.Batch, messages []sink.Message, r *fs.Round) error
}

// execute computes the batch into the sink and makes state and output durable. A crash anywhere in it has the batch run again.
func (d *driver) execute(ctx context.Context, t *exec.Task, batch *stateful.Batch, r *batchResult) error {
	if err := load(ctx, d.plan.operators, d.batch); err != nil {
		return err
	}
	out, skip, err := d.sink.Begin(ctx, d.batch)
	if err != nil {
		return err
	}
	r.skipped = skip
	if skip && len(d.plan.operators) == 0 && len(d.plan.watermarks) == 0 && len(d.sides) == 0 {
		return d.awaitLog(ctx)
	}
	if skip {
		out = nil // the rows are computed all the same: for the state, the watermark and what leaves beside the result
	}
	sides, err := d.beginSides(ctx, batch)
	var messages []sink.Message
	if err == nil {
		messages, err = d.write(ctx, t, out, r)
	}
	if err == nil && t.Dead != nil {
		err = d.writeLetters(ctx, t.Dead, d.letters(sides))
	}
	if err == nil {
		err = d.observe(ctx, t, r)
	}
	if err == nil {
		r.aside = d.leftAside(sides)
		err = d.save(ctx, sides, out, messages, r)
	}
	if err != nil {
		if out != nil {
			out.Abort(context.WithoutCancel(ctx))
		}
		sides.abort(ctx)
	}
	return err
}

// save makes a batch durable that has been computed. All files are written and synced first, side by side. They get their names when the
// batch is in the offset log: state, side outputs, output. Of a power cut right after that any of these may be left. That is why the batch
// is done only when all are durable, and runs again otherwise: each log skips what it has, and the state is written anew.
func (d *driver) save(ctx context.Context, sides *sideBatch, out sink.Batch, messages []sink.Message, b *batchResult) error {
	began := d.rt.Clock.Now()
	var r fs.Round
	err := d.stageState(ctx, &r)
	if err == nil {
		err = sides.stage(ctx, &r)
	}
	if d.hides && out != nil && err == nil {
		err = d.sink.(stager).Stage(ctx, out, messages, &r)
	}
	if err != nil {
		return errors.Join(err, r.Discard())
	}
	if err := r.Sync(ctx); err != nil {
		return err
	}
	waited, err := d.clock.apart("addBatch", "walCommit", func() error { return d.awaitLog(ctx) })
	if err != nil {
		return errors.Join(err, r.Discard())
	}
	if err := r.Commit(ctx); err != nil {
		return err
	}
	b.commitMs = (d.rt.Clock.Now().Sub(began) - waited).Milliseconds()
	if err := sides.commit(ctx); err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	return out.Commit(ctx, messages)
}

// counter is a batch of a sink that wants to know of how many parts the result is: writers are opened for those with rows alone.
type counter interface{ Parts(n int) }

// write runs the plan and hands the rows to the sink, part by part.
func (d *driver) write(ctx context.Context, t *exec.Task, out sink.Batch, r *batchResult) ([]sink.Message, error) {
	parts, err := d.plan.root.Parts(ctx, t)
	if err != nil {
		return nil, err
	}
	if c, ok := out.(counter); ok {
		c.Parts(parts.N)
	}
	schema := types.ArrowSchema(d.plan.schema, types.ArrowOptions{})
	written := make([]sink.Message, parts.N)
	used := make([]bool, parts.N)
	var rows atomic.Int64
	err = exec.Run(ctx, t, parts, func(ctx context.Context, i int, s exec.Stream) error {
		p := partWriter{out: out, part: i, schema: schema}
		err := exec.Drain(ctx, s, func(b *vec.Batch) error { return p.write(ctx, b) })
		if err != nil {
			p.abort()
			return err
		}
		rows.Add(p.rows)
		written[i], used[i], err = p.close(ctx)
		return err
	})
	r.rows = rows.Load()
	if err != nil {
		return nil, err
	}
	var messages []sink.Message
	for i, m := range written {
		if used[i] {
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// partWriter writes one part. It opens the sink's writer with the first row, so that parts without rows make no files.
type partWriter struct {
	out    sink.Batch
	part   int
	schema *arrow.Schema
	w      sink.Writer
	rows   int64
}

func (p *partWriter) write(ctx context.Context, b *vec.Batch) error {
	p.rows += int64(b.Rows())
	if p.out == nil {
		return nil
	}
	if p.w == nil {
		w, err := p.out.Writer(ctx, p.part)
		if err != nil {
			return err
		}
		p.w = w
	}
	return exec.WriteBatch(ctx, p.w, b, p.schema)
}

func (p *partWriter) close(ctx context.Context) (m sink.Message, used bool, err error) {
	if p.w == nil {
		return nil, false, nil
	}
	m, err = p.w.Close(ctx)
	return m, true, err
}

func (p *partWriter) abort() {
	if p.w != nil {
		p.w.Abort()
	}
}

// stageState adds the changes of all operators to a round.
func (d *driver) stageState(ctx context.Context, r *fs.Round) error {
	for i, o := range d.plan.operators {
		if d.batch == 0 {
			s, err := d.ck.StageOperator(o.describe(i, d.frozen.partitions))
			if err != nil {
				return err
			}
			if s != nil {
				r.Publish(s)
			} else {
				d.ck.SyncOperator(r, int64(i))
			}
		}
		s, err := o.store.Prepare(ctx)
		if err != nil {
			return err
		}
		r.Publish(s)
	}
	return nil
}

// maintain lets the stores merge files, and delete those that no batch to be kept needs. It comes after the batch.
func (d *driver) maintain(ctx context.Context) error {
	keep := max(0, d.batch-d.keep())
	for _, o := range d.plan.operators {
		if err := o.store.Maintain(ctx, keep); err != nil {
			return err
		}
	}
	return d.forgetOld(keep)
}

// observe computes the observed metrics of the batch.
func (d *driver) observe(ctx context.Context, t *exec.Task, r *batchResult) error {
	for _, o := range d.plan.observed {
		row, err := t.Observed.Row(ctx, t, o)
		if err != nil {
			return err
		}
		values := make([]any, len(row.Cols))
		for i, c := range row.Cols {
			values[i] = vec.ValueAt(c, 0)
		}
		r.observed = append(r.observed, ObservedRow{Name: o.Name, Schema: o.Schema, Values: values})
	}
	return nil
}
