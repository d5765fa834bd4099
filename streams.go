package millrace

import (
	"context"
	"time"

	"github.com/millrace/millrace/internal/connectpb"
)

// StreamingQueryManager knows the streaming queries of a session.
type StreamingQueryManager struct{ s *Session }

// Streams is the manager of the session's streaming queries.
func (s *Session) Streams() StreamingQueryManager { return StreamingQueryManager{s} }

func (m StreamingQueryManager) call(ctx context.Context, c *connectpb.StreamingQueryManagerCommand) (*connectpb.StreamingQueryManagerCommandResult, error) {
	var out *connectpb.StreamingQueryManagerCommandResult
	err := m.s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_StreamingQueryManagerCommand{StreamingQueryManagerCommand: c}},
		func(r *connectpb.ExecutePlanResponse) {
			if x := r.GetStreamingQueryManagerCommandResult(); x != nil {
				out = x
			}
		})
	return out, m.s.attendants.explain(err)
}

func (m StreamingQueryManager) handle(i *connectpb.StreamingQueryManagerCommandResult_StreamingQueryInstance) *StreamingQuery {
	return &StreamingQuery{s: m.s, id: i.GetId().GetId(), runID: i.GetId().GetRunId(), name: i.GetName()}
}

// Active are the queries that run.
func (m StreamingQueryManager) Active(ctx context.Context) ([]*StreamingQuery, error) {
	r, err := m.call(ctx, &connectpb.StreamingQueryManagerCommand{Command: &connectpb.StreamingQueryManagerCommand_Active{Active: true}})
	if err != nil {
		return nil, err
	}
	var out []*StreamingQuery
	for _, i := range r.GetActive().GetActiveQueries() {
		out = append(out, m.handle(i))
	}
	return out, nil
}

// Get is the running query of that id; ok is false if there is none.
func (m StreamingQueryManager) Get(ctx context.Context, id string) (q *StreamingQuery, ok bool, err error) {
	r, err := m.call(ctx, &connectpb.StreamingQueryManagerCommand{Command: &connectpb.StreamingQueryManagerCommand_GetQuery{GetQuery: id}})
	if err != nil || r.GetQuery() == nil {
		return nil, false, err
	}
	return m.handle(r.GetQuery()), true, nil
}

// AwaitAnyTermination waits until some query has ended since the session began or ResetTerminated was called. If one has failed, that is
// the error.
func (m StreamingQueryManager) AwaitAnyTermination(ctx context.Context) error {
	_, err := m.await(ctx, nil)
	return err
}

// AwaitAnyTerminationTimeout is AwaitAnyTermination that waits no longer than d, and tells whether a query has ended.
func (m StreamingQueryManager) AwaitAnyTerminationTimeout(ctx context.Context, d time.Duration) (bool, error) {
	ms, err := timeout(d)
	if err != nil {
		return false, err
	}
	return m.await(ctx, &ms)
}

func (m StreamingQueryManager) await(ctx context.Context, ms *int64) (bool, error) {
	r, err := m.call(ctx, &connectpb.StreamingQueryManagerCommand{Command: &connectpb.StreamingQueryManagerCommand_AwaitAnyTermination{
		AwaitAnyTermination: &connectpb.StreamingQueryManagerCommand_AwaitAnyTerminationCommand{TimeoutMs: ms},
	}})
	return r.GetAwaitAnyTermination().GetTerminated(), err
}

// ResetTerminated forgets the queries that have ended, for AwaitAnyTermination.
func (m StreamingQueryManager) ResetTerminated(ctx context.Context) error {
	_, err := m.call(ctx, &connectpb.StreamingQueryManagerCommand{Command: &connectpb.StreamingQueryManagerCommand_ResetTerminated{ResetTerminated: true}})
	return err
}

// AddListener sends the events of the session's queries to a listener, one after the other, from a goroutine of the session.
func (m StreamingQueryManager) AddListener(ctx context.Context, l StreamingQueryListener) error {
	return m.s.bus.add(ctx, l)
}

// RemoveListener ends what AddListener began. Events that were raised before are delivered first, so a listener must not call it. A
// listener that is not there is no error.
func (m StreamingQueryManager) RemoveListener(ctx context.Context, l StreamingQueryListener) error {
	return m.s.bus.remove(ctx, l)
}
