package convert

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
)

// maxDepth bounds how deep relations and expressions nest, so that a hostile plan ends in an error and not in a huge stack.
const maxDepth = 4000

// Converter translates the messages of one request. It belongs to one goroutine.
type Converter struct {
	ctx   context.Context
	s     *session.Session
	depth int
	vars  []*plan.LambdaVar // parameters of the lambdas around, the innermost last
	refs  map[int64]*connectpb.Relation
	// reads and marks give two uses of one DataFrame one source and one watermark.
	reads []identified
	marks []identified
	// observed are the names of the metrics in the plan, with the plan ids of their relations.
	observed map[string]int64
}

type identified struct {
	m  proto.Message
	id plan.ID
}

// New returns a converter for one request.
func New(ctx context.Context, s *session.Session) *Converter {
	return &Converter{ctx: ctx, s: s, refs: map[int64]*connectpb.Relation{}, observed: map[string]int64{}}
}

// Observed maps the names of the observed metrics that were met to the plan ids of their relations.
func (c *Converter) Observed() map[string]int64 { return c.observed }

func (c *Converter) enter() error {
	if c.depth++; c.depth > maxDepth {
		return tooDeep(maxDepth)
	}
	return nil
}

func (c *Converter) leave() { c.depth-- }

// identity returns the id of an earlier equal message with the same plan id, or a new one.
func identity(list *[]identified, planID *int64, m proto.Message) plan.ID {
	if planID == nil {
		return plan.NewID()
	}
	for _, e := range *list {
		if proto.Equal(e.m, m) {
			return e.id
		}
	}
	id := plan.NewID()
	*list = append(*list, identified{m, id})
	return id
}
