package millrace

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// analyze fills in a request and makes it.
func (s *Session) analyze(ctx context.Context, req *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.uploads.send(ctx, s); err != nil {
		return nil, err
	}
	if err := s.bringFunctions(req); err != nil {
		return nil, err
	}
	req.SessionId, req.UserContext, req.ClientType, req.ClientObservedServerSideSessionId = s.id, s.userContext(), &clientType, s.observed()
	r, err := s.backend.Analyze(ctx, req)
	if err != nil {
		return nil, ended(ctx, err)
	}
	return r, s.answered(r)
}

// start begins to execute a plan.
func (s *Session) start(ctx context.Context, plan *connectpb.Plan) (*execution, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.uploads.send(ctx, s); err != nil {
		return nil, err
	}
	if err := s.bringFunctions(plan); err != nil {
		return nil, err
	}
	rs, err := s.backend.Execute(ctx, &connectpb.ExecutePlanRequest{
		SessionId: s.id, UserContext: s.userContext(), ClientType: &clientType, ClientObservedServerSideSessionId: s.observed(),
		Plan: plan, Tags: tagsOf(ctx),
	})
	if err != nil {
		return nil, ended(ctx, err)
	}
	return &execution{s: s, ctx: ctx, rs: rs}, nil
}

// execution reads the responses of one plan.
type execution struct {
	s    *Session
	ctx  context.Context
	rs   backend.Responses
	rows int64 // received so far
}

// next returns the next response and, if it brings rows, the record with them. io.EOF ends.
func (x *execution) next() (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error) {
	r, rec, err := x.rs.Next()
	if err != nil {
		return nil, nil, ended(x.ctx, err)
	}
	if err := x.s.answered(r); err != nil {
		return nil, nil, err
	}
	x.s.observe(r.GetObservedMetrics())
	b := r.GetArrowBatch()
	if b == nil {
		return r, nil, nil
	}
	if b.StartOffset != nil && b.GetStartOffset() != x.rows {
		return nil, nil, errclass.New("UNEXPECTED_RESPONSE", "reason", "rows are missing or come twice")
	}
	if rec == nil {
		if rec, err = decodeRecord(b.GetData()); err != nil {
			return nil, nil, err
		}
	}
	if rec.NumRows() != b.GetRowCount() {
		return nil, nil, errclass.New("UNEXPECTED_RESPONSE", "reason", "a batch does not have the number of rows that it claims")
	}
	x.rows += b.GetRowCount()
	return r, rec, nil
}

func (x *execution) close() error { return x.rs.Close() }

// ended makes an error that came of the end of ctx match ctx.Err(), whatever the backend made of it.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, io.EOF) || errors.Is(err, ctx.Err()) {
		return err
	}
	return errors.Join(context.Cause(ctx), err)
}

// command executes a command and hands over each of its responses.
func (s *Session) command(ctx context.Context, c *connectpb.Command, each func(*connectpb.ExecutePlanResponse)) (err error) {
	x, err := s.start(ctx, &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: c}})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, x.close()) }()
	for {
		r, _, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if each != nil {
			each(r)
		}
	}
}
