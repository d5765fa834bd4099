package session

import (
	"context"
	"math/rand/v2"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Query is a batch query that is ready to run.
type Query struct {
	Schema types.StructType
	// Analyzed and Optimized are the logical plan after those stages, Physical is what runs.
	Analyzed, Optimized plan.Node
	Physical            exec.Op

	task     exec.Task
	observed []Observation
}

// Prepare takes a plan through all stages up to the operators. A plan with streams is refused; operation names what the user was
// about to do.
func (s *Session) Prepare(ctx context.Context, n plan.Node, operation string) (*Query, error) {
	n, err := s.Analyze(ctx, n)
	if err != nil {
		return nil, err
	}
	return s.PrepareResolved(n, operation)
}

// PrepareResolved is Prepare for a plan that is resolved.
func (s *Session) PrepareResolved(n plan.Node, operation string) (*Query, error) {
	if err := analyze.CheckBatch(n, operation); err != nil {
		return nil, err
	}
	q := &Query{Schema: plan.Schema(n), Analyzed: n}
	zone, now := s.Zone(), s.server.Runtime.Clock.Now().UnixMicro()
	var err error
	if q.Optimized, err = optimize.Plan(n, optimize.Options{Zone: zone}); err != nil {
		return nil, err
	}
	p := physical.Planner{Zone: zone, Now: now}
	if q.Physical, err = p.Plan(q.Optimized); err != nil {
		return nil, err
	}
	q.task = exec.Task{
		Workers: s.server.Runtime.Parallelism, Partitions: s.Partitions(),
		Batch: &expr.BatchParams{Now: now, Zone: zone, Seed: rand.Int64()},
	}
	return q, nil
}

// Run hands all rows to each, in order, as Owned batches of at least one row.
func (q *Query) Run(ctx context.Context, each func(b *vec.Batch) error) error {
	task, err := q.start(ctx)
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

func (q *Query) start(ctx context.Context) (*run, error) {
	r := &run{Task: q.task, observes: observes(q.Physical, nil)}
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

// Observation is the outcome of one observe().
type Observation struct {
	Name   string
	Schema types.StructType
	Row    types.Row
}

// Observed are the observed metrics of a query that has run.
func (q *Query) Observed() []Observation { return q.observed }

// Batches are all rows of a plan.
func (s *Session) Batches(ctx context.Context, n plan.Node, operation string) ([]*vec.Batch, types.StructType, error) {
	q, err := s.Prepare(ctx, n, operation)
	if err != nil {
		return nil, types.StructType{}, err
	}
	out, err := q.Collect(ctx)
	return out, q.Schema, err
}

// Rows are all rows of a plan as Go values, for small results that the session itself needs.
func (s *Session) Rows(ctx context.Context, n plan.Node) ([]types.Row, types.StructType, error) {
	batches, st, err := s.Batches(ctx, n, "collect")
	if err != nil {
		return nil, st, err
	}
	var rows []types.Row
	for _, b := range batches {
		for i := range b.N {
			rows = append(rows, vec.RowAt(b, i))
		}
	}
	return rows, st, nil
}

// LocalRows is a relation of a few rows.
func LocalRows(st types.StructType, rows []types.Row) (plan.Node, error) {
	n := &plan.Local{Out: plan.Attrs(st)}
	if len(rows) == 0 {
		return n, nil
	}
	builders := vec.NewBuilders(st)
	for _, r := range rows {
		for i, b := range builders {
			if err := b.AppendValue(r[i]); err != nil {
				return nil, errclass.Internal(err)
			}
		}
	}
	b := vec.NewBatch(len(rows))
	for _, bld := range builders {
		b.Cols = append(b.Cols, bld.Finish())
	}
	n.Rows = []*vec.Batch{b}
	return n, nil
}
