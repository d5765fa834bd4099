package millrace

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// StreamingQuery is a handle of a streaming query. It stays valid when the query has ended.
type StreamingQuery struct {
	s               *Session
	id, runID, name string
}

// ID is the query's id, which it keeps over restarts from its checkpoint.
func (q *StreamingQuery) ID() string { return q.id }

// RunID is the id of this run of the query.
func (q *StreamingQuery) RunID() string { return q.runID }

// Name is the query's name, empty if it has none.
func (q *StreamingQuery) Name() string { return q.name }

// StreamingQueryStatus is what a query is doing.
type StreamingQueryStatus struct {
	Message         string
	IsDataAvailable bool
	IsTriggerActive bool
	IsActive        bool
}

func (q *StreamingQuery) call(ctx context.Context, c *connectpb.StreamingQueryCommand) (*connectpb.StreamingQueryCommandResult, error) {
	c.QueryId = &connectpb.StreamingQueryInstanceId{Id: q.id, RunId: q.runID}
	var out *connectpb.StreamingQueryCommandResult
	err := q.s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_StreamingQueryCommand{StreamingQueryCommand: c}},
		func(r *connectpb.ExecutePlanResponse) {
			if x := r.GetStreamingQueryCommandResult(); x != nil {
				out = x
			}
		})
	return out, q.s.attendants.explain(err)
}

// Status tells what the query is doing.
func (q *StreamingQuery) Status(ctx context.Context) (StreamingQueryStatus, error) {
	r, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_Status{Status: true}})
	s := r.GetStatus()
	return StreamingQueryStatus{
		Message: s.GetStatusMessage(), IsDataAvailable: s.GetIsDataAvailable(), IsTriggerActive: s.GetIsTriggerActive(), IsActive: s.GetIsActive(),
	}, err
}

// IsActive tells whether the query runs.
func (q *StreamingQuery) IsActive(ctx context.Context) (bool, error) {
	s, err := q.Status(ctx)
	return s.IsActive, err
}

// LastProgress is the report on the latest batch, or nil before the first.
func (q *StreamingQuery) LastProgress(ctx context.Context) (*StreamingQueryProgress, error) {
	r, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_LastProgress{LastProgress: true}})
	if err != nil {
		return nil, err
	}
	all, err := parseProgresses(r.GetRecentProgress().GetRecentProgressJson())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[len(all)-1], nil
}

// RecentProgress are the reports on the latest batches, the oldest first.
func (q *StreamingQuery) RecentProgress(ctx context.Context) ([]StreamingQueryProgress, error) {
	r, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_RecentProgress{RecentProgress: true}})
	if err != nil {
		return nil, err
	}
	return parseProgresses(r.GetRecentProgress().GetRecentProgressJson())
}

// AwaitTermination waits until the query ends: nil when it was stopped or has finished, STREAM_FAILED when it has failed.
func (q *StreamingQuery) AwaitTermination(ctx context.Context) error {
	_, err := q.await(ctx, nil)
	return err
}

// AwaitTerminationTimeout is AwaitTermination that waits no longer than d, and tells whether the query has ended.
func (q *StreamingQuery) AwaitTerminationTimeout(ctx context.Context, d time.Duration) (bool, error) {
	ms, err := timeout(d)
	if err != nil {
		return false, err
	}
	return q.await(ctx, &ms)
}

func (q *StreamingQuery) await(ctx context.Context, ms *int64) (bool, error) {
	r, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_AwaitTermination{
		AwaitTermination: &connectpb.StreamingQueryCommand_AwaitTerminationCommand{TimeoutMs: ms},
	}})
	if ended := r.GetAwaitTermination().GetTerminated(); ended || err != nil && ctx.Err() == nil {
		q.s.attendants.settle(ctx, q.runID)
	}
	return r.GetAwaitTermination().GetTerminated(), err
}

// timeout is a duration in milliseconds, at least one: the protocol takes no shorter wait.
func timeout(d time.Duration) (int64, error) {
	if d <= 0 {
		return 0, mistake(errclass.New("VALUE_NOT_ALLOWED", "argName", "The timeout", "allowed", "positive", "value", d.String()))
	}
	return max(1, d.Milliseconds()), nil
}

// ProcessAllAvailable waits until everything that was there when it was called has been written. It is for tests: with data that keep
// coming it may never return.
func (q *StreamingQuery) ProcessAllAvailable(ctx context.Context) error {
	_, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_ProcessAllAvailable{ProcessAllAvailable: true}})
	return err
}

// Stop stops the query and waits for it to end. To stop a query that has ended is no error.
func (q *StreamingQuery) Stop(ctx context.Context) error {
	_, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_Stop{Stop: true}})
	if err == nil {
		q.s.attendants.settle(ctx, q.runID)
	}
	return err
}

// Drain lets the batch in flight finish, stops the query and waits for it to end; Stop abandons the batch, and the next run does it
// again. The error is that of a batch that failed meanwhile. If ctx ends before the batch, the query still ends after it. Spark has no
// such command: only millrace's own server and an engine in the process can drain.
func (q *StreamingQuery) Drain(ctx context.Context) error {
	c, err := connectpb.NewDrainQuery(&connectpb.StreamingQueryInstanceId{Id: q.id, RunId: q.runID})
	if err != nil {
		return err
	}
	err = q.s.command(ctx, c, nil)
	if e, ok := errors.AsType[*Error](err); ok && strings.Contains(e.Message, "No handler found for extension") {
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.DRAIN", "id", q.id).WithCause(e)
	}
	if err == nil {
		q.s.attendants.settle(ctx, q.runID)
	}
	return q.s.attendants.explain(err)
}

// Explain is the plan of the latest batch as text, with all stages of planning if extended.
func (q *StreamingQuery) Explain(ctx context.Context, extended bool) (string, error) {
	r, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_Explain{
		Explain: &connectpb.StreamingQueryCommand_ExplainCommand{Extended: extended},
	}})
	return r.GetExplain().GetResult(), err
}

// Exception is what the query failed of, or nil. The error beside it is that of asking.
func (q *StreamingQuery) Exception(ctx context.Context) (failure *Error, err error) {
	r, err := q.call(ctx, &connectpb.StreamingQueryCommand{Command: &connectpb.StreamingQueryCommand_Exception{Exception: true}})
	x := r.GetException()
	if err != nil || x.GetExceptionMessage() == "" {
		return nil, err
	}
	text := x.GetExceptionMessage()
	var classes []string
	if class, rest, ok := strings.Cut(text, ": "); ok && !strings.ContainsAny(class, " [") {
		classes, text = []string{class}, rest
	}
	class, message, state := errclass.Split(text)
	failure = &Error{Class: x.GetErrorClass(), Message: text, JavaClasses: classes}
	if class == failure.Class {
		failure.Message, failure.SQLState = message, state
	} else if class != "" {
		failure.Cause = &Error{Class: class, Message: message, SQLState: state}
	}
	q.s.attendants.explainRun(q.runID, failure)
	return failure, nil
}
