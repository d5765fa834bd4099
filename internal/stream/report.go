package stream

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/stateful"
)

// reporter times the steps of a trigger and makes its report.
type reporter struct {
	d     *driver
	began time.Time // of the trigger at hand
	last  time.Time // of the one before; zero at the first
	steps map[string]time.Duration
	// quiet is when the last report was made while nothing happened, or a batch ran; zero before both.
	quiet    time.Time
	interval time.Duration // between two reports that nothing happened
}

func newReporter(d *driver) reporter {
	return reporter{d: d, interval: d.conf.Duration(keyNoDataProgress)}
}

// begin starts the clock of a trigger.
func (r *reporter) begin() {
	r.last, r.began = r.began, r.d.rt.Clock.Now()
	r.steps = map[string]time.Duration{}
	r.d.q.setStatus(func(s *Status) { s.IsTriggerActive = true })
}

// timed runs a step and adds its time to the step's name.
func (r *reporter) timed(step string, do func() error) error {
	began := r.d.rt.Clock.Now()
	err := do()
	r.steps[step] += r.d.rt.Clock.Now().Sub(began)
	return err
}

// apart runs a step in the middle of another one, whose time it is not.
func (r *reporter) apart(within, step string, do func() error) (took time.Duration, err error) {
	began := r.d.rt.Clock.Now()
	err = do()
	took = r.d.rt.Clock.Now().Sub(began)
	r.steps[within] -= took
	r.steps[step] += took
	return took, err
}

// executed publishes the report of a batch that ran.
func (r *reporter) executed(b *batchResult) {
	d := r.d
	if b.skipped && !d.info.CountsRows {
		b = d.nothingDone(b)
	}
	p := r.report(b.id)
	p.Observed = b.observed
	p.Sink.NumOutputRows = b.rows
	if !d.info.CountsRows {
		p.Sink.NumOutputRows = -1
		p.Sink.Metrics = map[string]string{"numOutputRows": strconv.FormatInt(b.rows, 10)}
	}
	for name, n := range b.aside {
		if p.Sink.Metrics == nil {
			p.Sink.Metrics = map[string]string{}
		}
		p.Sink.Metrics[name] = strconv.FormatInt(n, 10)
	}
	for i, in := range d.inputs {
		s := &p.Sources[i]
		s.NumInputRows = in.rows.Load()
		p.NumInputRows += s.NumInputRows
		s.InputRowsPerSecond, s.ProcessedRowsPerSecond = r.rates(s.NumInputRows, p.BatchDuration)
	}
	p.InputRowsPerSecond, p.ProcessedRowsPerSecond = r.rates(p.NumInputRows, p.BatchDuration)
	if p.EventTime != nil {
		p.EventTime.Watermark = time.UnixMilli(b.watermarkMs).UTC()
		for _, w := range d.plan.watermarks { // the first that saw anything
			if e := b.eventTimes[uint64(w.id)]; e.Count > 0 {
				p.EventTime.note(e)
				break
			}
		}
	}
	for i, o := range d.plan.operators {
		o.last = o.report(&b.figures[i], d.frozen.partitions, b.commitMs)
	}
	for _, o := range topFirst(d.plan) {
		p.StateOperators = append(p.StateOperators, o.last)
	}
	r.quiet = d.rt.Clock.Now()
	r.publish(p)
	d.m.post(Event{Kind: QueryProgress, ID: p.ID, RunID: p.RunID, Name: p.Name, Timestamp: p.Timestamp, Progress: p})
}

// note takes over the event times of a batch.
func (p *EventTimeProgress) note(e stateful.EventTimes) {
	p.Seen = true
	p.Min, p.Max, p.Avg = time.UnixMilli(e.Min).UTC(), time.UnixMilli(e.Max).UTC(), time.UnixMilli(e.Avg()).UTC()
}

// nothingDone is what is reported of a batch that a file sink has already: nothing, as in Spark, which computes nothing either.
func (d *driver) nothingDone(b *batchResult) *batchResult {
	none := &batchResult{id: b.id, news: b.news, watermarkMs: b.watermarkMs, skipped: true, figures: make([]stateful.OpStats, len(d.plan.operators))}
	for i := range none.figures {
		none.figures[i].Counted = true
	}
	for _, in := range d.inputs {
		in.rows.Store(0)
	}
	return none
}

// idle publishes, once in a while, a report that nothing happened.
func (r *reporter) idle() {
	d := r.d
	now := d.rt.Clock.Now()
	first := r.quiet.IsZero()
	if !first && now.Sub(r.quiet) < r.interval {
		d.q.setStatus(func(s *Status) { s.IsTriggerActive = false })
		return
	}
	p := r.report(d.batch)
	if !d.ran { // there is nothing to tell of watermark and sink before the first batch of a run
		p.EventTime = nil
	}
	if !d.ran || !d.info.CountsRows {
		p.Sink.NumOutputRows = -1
	}
	if p.EventTime != nil {
		p.EventTime.Watermark = time.UnixMilli(d.tracker.global).UTC()
	}
	for _, o := range topFirst(d.plan) {
		if o.last.OperatorName != "" {
			p.StateOperators = append(p.StateOperators, o.idle())
		}
	}
	r.quiet = now
	r.publish(p)
	if !first {
		d.m.post(Event{Kind: QueryIdle, ID: p.ID, RunID: p.RunID, Name: p.Name, Timestamp: p.Timestamp})
	}
}

func (r *reporter) publish(p *Progress) {
	r.d.q.addProgress(p)
	r.d.q.setStatus(func(s *Status) { s.IsTriggerActive = false })
}

// report fills in what all reports have.
func (r *reporter) report(batch int64) *Progress {
	d := r.d
	took := d.rt.Clock.Now().Sub(r.began).Milliseconds()
	steps := map[string]int64{"triggerExecution": took}
	for step, t := range r.steps {
		steps[step] = t.Milliseconds()
	}
	p := &Progress{
		ID: d.q.id, RunID: d.q.runID, Name: d.q.name, Timestamp: r.began, BatchID: batch, BatchDuration: took,
		DurationMs: steps, Sink: SinkProgress{Description: d.info.Description},
	}
	if d.plan.timed {
		p.EventTime = &EventTimeProgress{}
	}
	for _, in := range d.inputs {
		p.Sources = append(p.Sources, in.report())
	}
	return p
}

// rates are rows a second since the last trigger and while the trigger lasted.
func (r *reporter) rates(rows, tookMs int64) (input, processed float64) {
	if !r.last.IsZero() {
		input = float64(rows) / (float64(r.began.Sub(r.last).Milliseconds()) / 1000)
	}
	if math.IsInf(input, 0) || math.IsNaN(input) {
		input = 0
	}
	return input, float64(rows) / (float64(max(1, tookMs)) / 1000)
}

// topFirst lists the operators as they stand in the plan, from the top.
func topFirst(c *compiled) []*operator {
	var out []*operator
	var walk func(op exec.Op)
	walk = func(op exec.Op) {
		if s, ok := op.(stateful.Operator); ok && !slices.Contains(out, c.operators[s.Number()]) {
			out = append(out, c.operators[s.Number()])
		}
		for _, k := range op.Inputs() {
			walk(k)
		}
	}
	walk(c.root)
	return out
}
