package session

import (
	"context"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/show"
	"github.com/millrace/millrace/types"
)

// ShowFormat is how the session shows values.
func (s *Session) ShowFormat() show.Format {
	return show.Format{Zone: s.Zone(), Binary: s.Conf.Value(setting.BinaryStyle)}
}

// Show renders the first rows of a plan as a table, or as HTML.
func (s *Session) Show(ctx context.Context, n plan.Node, o show.Options, html bool) (string, error) {
	o.Format = s.ShowFormat()
	n = &plan.Limit{N: &plan.Literal{Value: int32(o.Limit()), T: types.Integer}, Child: n}
	batches, st, err := s.Batches(ctx, n, "show")
	if err != nil {
		return "", err
	}
	if html {
		return show.HTML(st, batches, o)
	}
	return show.Table(st, batches, o)
}
