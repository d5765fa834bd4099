package connect

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connector/rate"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
)

// attended starts a query that is attended, and returns the operation, the query and the first batch.
func attended(t *testing.T, s *Service, session string, wants connectpb.AttendQuery_Wants) (*Stream, *connectpb.StreamingQueryInstanceId, *connectpb.Attend) {
	t.Helper()
	source.Register("rate-micro-batch", rate.MicroBatch{})
	format := "rate-micro-batch"
	c, err := connectpb.NewExtension(&connectpb.AttendQuery{Wants: wants, Start: &connectpb.WriteStreamOperationStart{
		Input: &connectpb.Relation{RelType: &connectpb.Relation_Read{Read: &connectpb.Read{IsStreaming: true, ReadType: &connectpb.Read_DataSource_{
			DataSource: &connectpb.Read_DataSource{Format: &format, Options: map[string]string{"rowsPerBatch": "3"}},
		}}}},
		Options: map[string]string{"checkpointLocation": t.TempDir()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.ExecutePlan(t.Context(), request(session, &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: c}}), ExecuteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := st.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	query := r.GetWriteStreamOperationStartResult().GetQueryId()
	r, _, err = st.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := &connectpb.Attend{}
	if err := r.GetExtension().UnmarshalTo(m); err != nil {
		t.Fatal(err)
	}
	return st, query, m
}

func request(session string, p *connectpb.Plan) *connectpb.ExecutePlanRequest {
	id := uuid.NewString()
	return &connectpb.ExecutePlanRequest{
		SessionId: session, OperationId: &id, Plan: p,
		RequestOptions: []*connectpb.ExecutePlanRequest_RequestOption{{RequestOption: &connectpb.ExecutePlanRequest_RequestOption_ReattachOptions{
			ReattachOptions: &connectpb.ReattachOptions{Reattachable: true},
		}}},
	}
}

// awaitEnd waits until a query has ended and returns its error.
func awaitEnd(t *testing.T, s *Service, session string, id *connectpb.StreamingQueryInstanceId) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	st, err := s.ExecutePlan(ctx, request(session, &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: &connectpb.Command{
		CommandType: &connectpb.Command_StreamingQueryCommand{StreamingQueryCommand: &connectpb.StreamingQueryCommand{
			QueryId: id, Command: &connectpb.StreamingQueryCommand_AwaitTermination{AwaitTermination: &connectpb.StreamingQueryCommand_AwaitTerminationCommand{}},
		}},
	}}}), ExecuteOptions{})
	for err == nil {
		_, _, err = st.Next(ctx)
	}
	st.Close()
	return err
}

// finished waits until an operation's work has ended.
func finished(op *operation) {
	for {
		op.mu.Lock()
		done, changed := op.done, op.changed
		op.mu.Unlock()
		if done {
			return
		}
		<-changed
	}
}

// A client that does not come back fails its query, and so does one that lets go of the operation.
func TestAttendantGone(t *testing.T) {
	for name, leave := range map[string]func(s *Service, clock *stopped, st *Stream){
		"silent": func(s *Service, clock *stopped, st *Stream) {
			clock.advance(s.settings.DetachedTimeout + time.Second)
			s.sweep()
		},
		"released": func(s *Service, _ *stopped, st *Stream) {
			_, err := s.ReleaseExecute(context.Background(), &connectpb.ReleaseExecuteRequest{
				SessionId: st.op.h.ID, OperationId: st.op.id, Release: &connectpb.ReleaseExecuteRequest_ReleaseAll_{ReleaseAll: &connectpb.ReleaseExecuteRequest_ReleaseAll{}},
			})
			if err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := testService(t)
			session := uuid.NewString()
			st, id, m := attended(t, s, session, connectpb.AttendQuery_WANTS_BATCHES)
			st.Close()
			leave(s, clock, st)
			err := awaitEnd(t, s, session, id)
			if !errclass.Has(err, "STREAM_FAILED") || !errclass.Has(err, "STREAMING_CLIENT_GONE") {
				t.Errorf("the query ended with %v", err)
			}
			finished(st.op)
			if err := version(s, m.GetSessionId()); !errclass.Has(err, "INVALID_HANDLE.SESSION_CLOSED") {
				t.Errorf("the query's session is still there: %v", err)
			}
		})
	}
}

// A connection that is cut is none of the query's business: the client goes on where it was. What the session is told to interrupt is
// none either.
func TestAttendantComesBack(t *testing.T) {
	s, clock := testService(t)
	session := uuid.NewString()
	st, id, m := attended(t, s, session, connectpb.AttendQuery_WANTS_BATCHES)
	st.Close()
	clock.advance(time.Minute)
	s.sweep()
	if _, err := s.Interrupt(t.Context(), &connectpb.InterruptRequest{SessionId: session, InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_ALL}); err != nil {
		t.Fatal(err)
	}
	st, err := s.ReattachExecute(t.Context(), &connectpb.ReattachExecuteRequest{SessionId: session, OperationId: st.op.id})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the start, and the batch that waits
		if _, _, err := st.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, batch := range []int64{m.GetBatchId() + 5, m.GetBatchId(), m.GetBatchId()} { // of no batch; the right one; again
		c, err := connectpb.NewExtension(&connectpb.AnswerAttend{QueryId: id, BatchId: batch})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.ExecutePlan(t.Context(), request(session, &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: c}}), ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := answer.Next(t.Context()); err != nil {
			t.Errorf("answer: %v", err)
		}
		answer.Close()
	}
	r, _, err := st.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := &connectpb.Attend{}
	if err := r.GetExtension().UnmarshalTo(next); err != nil || next.GetBatchId() != m.GetBatchId()+1 {
		t.Errorf("batch %d follows %d: %v", next.GetBatchId(), m.GetBatchId(), err)
	}
	st.Close()
}
