package session

import (
	"context"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Prepare takes a plan through all stages up to the operators. A plan with streams is refused; operation names what the user was
// about to do.
func (s *Session) Prepare(ctx context.Context, n plan.Node, operation string) (*query.Query, error) {
	n, err := s.Analyze(ctx, n)
	if err != nil {
		return nil, err
	}
	return s.PrepareResolved(n, operation)
}

// PrepareResolved is Prepare for a plan that is resolved.
func (s *Session) PrepareResolved(n plan.Node, operation string) (*query.Query, error) {
	if err := analyze.CheckBatch(n, operation); err != nil {
		return nil, err
	}
	runs, err := s.server.cache.use(s, n)
	if err != nil {
		return nil, err
	}
	return query.New(s.server.Runtime, n, runs, query.Options{
		Zone: s.Zone(), Partitions: s.Partitions(), Slices: s.slices(), Coalesce: s.Conf.Bool(setting.Adaptive) && s.Conf.Bool(setting.Coalesce),
	})
}

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
	q, err := s.Prepare(ctx, n, "collect")
	if err != nil {
		return nil, types.StructType{}, err
	}
	rows, err := q.Rows(ctx)
	return rows, q.Schema, err
}
