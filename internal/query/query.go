package query

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Options are what a session says of its queries.
type Options struct {
	Zone *time.Location
	// Partitions is the number of hash partitions, Slices that of the parts of what says nothing of parts.
	Partitions, Slices int
	Coalesce           bool // small partitions are put together
}

// Query is a batch query that is ready to run.
type Query struct {
	Schema types.StructType
	// Analyzed and Optimized are the logical plan after those stages, Physical is what runs.
	Analyzed, Optimized plan.Node
	Physical            exec.Op

	runtime  *engine.Runtime
	task     exec.Task
	observed []Observation
}

// New takes a resolved plan through the stages that are left. The plan that runs may have rows that are kept in the place of parts of
// the analyzed one.
func New(rt *engine.Runtime, analyzed, n plan.Node, o Options) (*Query, error) {
	q := &Query{Schema: plan.Schema(analyzed), Analyzed: analyzed, runtime: rt}
	now := rt.Clock.Now().UnixMicro()
	var err error
	if q.Optimized, err = optimize.Plan(n, optimize.Options{Zone: o.Zone}); err != nil {
		return nil, err
	}
	p := physical.Planner{Zone: o.Zone, Now: now, Slices: o.Slices}
	if q.Physical, err = p.Plan(q.Optimized); err != nil {
		return nil, err
	}
	q.task = exec.Task{
		Workers: rt.Parallelism, Partitions: o.Partitions, Coalesce: o.Coalesce,
		Batch: &expr.BatchParams{Now: now, Zone: o.Zone, Seed: rand.Int64()},
	}
	return q, nil
}

// Alone has one worker do all: what is written becomes one file.
func (q *Query) Alone() { q.task.Workers = 1 }

// Run hands all rows to each, in order, as Owned batches of at least one row.
func (q *Query) Run(ctx context.Context, each func(b *vec.Batch) error) (err error) {
	task, err := q.start(ctx)
	defer task.Memory.CloseInto(&err)
	if err != nil {
		return err
	}
	if err := exec.Gather(ctx, &task.Task, task.parts, each); err != nil {
		return err
	}
	return q.finish(ctx, task)
}

// run is one execution of a query.
type run struct {
	exec.Task
	parts    exec.Parts
	observes []*exec.Observe
}

// start begins an execution, whose Memory is to be closed whatever comes of it.
func (q *Query) start(ctx context.Context) (*run, error) {
	r := &run{Task: q.task, observes: observes(q.Physical, nil)}
	r.Memory = spill.NewScope(q.runtime)
	if len(r.observes) > 0 {
		r.Observed = &exec.Observed{}
	}
	var err error
	r.parts, err = q.Physical.Parts(ctx, &r.Task)
	return r, err
}

// finish reads the observed metrics of an execution that has ended.
func (q *Query) finish(ctx context.Context, r *run) error {
	q.observed = nil
	for _, o := range r.observes {
		b, err := r.Observed.Row(ctx, &r.Task, o)
		if err != nil {
			return err
		}
		q.observed = append(q.observed, Observation{o.Name, o.Schema, vec.RowAt(b, 0)})
	}
	return nil
}

func observes(op exec.Op, list []*exec.Observe) []*exec.Observe {
	if o, ok := op.(*exec.Observe); ok {
		list = append(list, o)
	}
	for _, in := range op.Inputs() {
		list = observes(in, list)
	}
	return list
}

// Collect returns all rows.
func (q *Query) Collect(ctx context.Context) ([]*vec.Batch, error) {
	var out []*vec.Batch
	err := q.Run(ctx, func(b *vec.Batch) error {
		out = append(out, b)
		return nil
	})
	return out, err
}

// Rows returns all rows as Go values, for small results.
func (q *Query) Rows(ctx context.Context) ([]types.Row, error) {
	batches, err := q.Collect(ctx)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, b := range batches {
		for i := range b.N {
			rows = append(rows, vec.RowAt(b, i))
		}
	}
	return rows, nil
}

// Observation is the outcome of one observe().
type Observation struct {
	Name   string
	Schema types.StructType
	Row    types.Row
}

// Observed are the observed metrics of a query that has run.
func (q *Query) Observed() []Observation { return q.observed }
