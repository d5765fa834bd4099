package millrace

import (
	"context"
	"sync"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Observation receives metrics that are computed over the rows of a DataFrame while an action runs. See DataFrame.ObserveInto.
type Observation struct {
	name string

	once   sync.Once
	done   chan struct{}
	values map[string]any
}

// NewObservation makes an observation of that name for one DataFrame.
func NewObservation(name string) *Observation {
	return &Observation{name: name, done: make(chan struct{})}
}

// Get waits for the first action over the observed DataFrame to end and returns the metrics by name.
func (o *Observation) Get(ctx context.Context) (map[string]any, error) {
	select {
	case <-o.done:
		return o.values, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Observe computes aggregates over the rows that pass, without changing them. A streaming query reports them with its progress.
func (d *DataFrame) Observe(name string, metrics ...Column) *DataFrame {
	exprs, err := expressions(metrics)
	if len(exprs) == 0 {
		err = mistake(errclass.New("CANNOT_BE_EMPTY", "item", "metric"))
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_CollectMetrics{CollectMetrics: &connectpb.CollectMetrics{
		Input: d.rel, Name: name, Metrics: exprs,
	}}}, err)
}

// ObserveInto is Observe for a bounded DataFrame, whose metrics the program itself wants.
func (d *DataFrame) ObserveInto(o *Observation, metrics ...Column) *DataFrame {
	out := d.Observe(o.name, metrics...)
	d.s.origin().observations.Store(out.id, o)
	return out
}

// observe hands metrics that came with a response to those who wait for them.
func (s *Session) observe(metrics []*connectpb.ExecutePlanResponse_ObservedMetrics) {
	for _, m := range metrics {
		v, ok := s.origin().observations.LoadAndDelete(m.GetPlanId())
		if !ok {
			continue
		}
		o := v.(*Observation)
		o.once.Do(func() {
			o.values = make(map[string]any, len(m.GetKeys()))
			for i, key := range m.GetKeys() {
				if i < len(m.GetValues()) {
					o.values[key] = literalValue(m.GetValues()[i])
				}
			}
			close(o.done)
		})
	}
}
