package grpcserver_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connectpb"
)

func TestOrderOfResponses(t *testing.T) {
	c := serve(t, nil)
	for name, p := range map[string]*connectpb.Plan{
		"rows":    root(rangeOf(3)),
		"no rows": root(rangeOf(0)),
	} {
		rs := c.run(p)
		if d := cmp.Diff([]string{"schema", "rows", "metrics", "complete"}, kinds(rs)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for _, r := range rs {
			if r.GetSessionId() != c.session || r.GetServerSideSessionId() == "" || r.GetOperationId() == "" {
				t.Errorf("%s: ids of a response: %v", name, r)
			}
		}
	}
	if d := cmp.Diff([]string{"0", "1", "2"}, rows(t, c.run(root(rangeOf(3))))); d != "" {
		t.Error(d)
	}
	plain, err := drain(c.ExecutePlan(t.Context(), c.request(root(rangeOf(3)), false)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"schema", "rows", "metrics"}, kinds(plain)); d != "" {
		t.Errorf("not reattachable: %s", d)
	}
}

func TestSQLCommand(t *testing.T) {
	c := serve(t, nil)
	sql := func(text string) *connectpb.Relation {
		rs := c.run(command(&connectpb.Command{CommandType: &connectpb.Command_SqlCommand{
			SqlCommand: &connectpb.SqlCommand{Input: query(text)},
		}}))
		if d := cmp.Diff([]string{"*connectpb.ExecutePlanResponse_SqlCommandResult_", "complete"}, kinds(rs)); d != "" {
			t.Fatal(d)
		}
		return rs[0].GetSqlCommandResult().GetRelation()
	}
	if r := sql("SELECT 1"); r.GetSql().GetQuery() != "SELECT 1" {
		t.Errorf("a query is not given back: %v", r)
	}
	r := sql("SET spark.sql.shuffle.partitions = 7")
	if d := cmp.Diff([]string{"spark.sql.shuffle.partitions"}, rows(t, c.run(root(r)))); d != "" {
		t.Errorf("a statement's rows: %s", d)
	}
	_, err := drain(c.ExecutePlan(t.Context(), c.request(command(&connectpb.Command{CommandType: &connectpb.Command_SqlCommand{
		SqlCommand: &connectpb.SqlCommand{Input: query("SELECT nope")},
	}}), true)))
	wantCondition(t, err, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION")
}

// Every stream is cut after one response; the client goes on with the response after the last one it has.
func TestReattachAfterEveryResponse(t *testing.T) {
	c := serve(t, map[string]string{
		"spark.connect.execute.reattachable.senderMaxStreamSize": "1b",
		"spark.millrace.connect.batchBytes":                      "1k",
	})
	req := c.request(root(rangeOf(20000)), true)
	all, err := drain(c.ExecutePlan(t.Context(), req))
	streams := 1
	for err == nil && all[len(all)-1].GetResultComplete() == nil {
		var more []*connectpb.ExecutePlanResponse
		more, err = drain(c.ReattachExecute(t.Context(), &connectpb.ReattachExecuteRequest{
			SessionId: c.session, OperationId: req.GetOperationId(), LastResponseId: &all[len(all)-1].ResponseId,
		}))
		if len(more) > 1 {
			t.Fatalf("a stream of %d responses was not cut", len(more))
		}
		all = append(all, more...)
		streams++
	}
	if err != nil {
		t.Fatal(err)
	}
	if streams < 6 {
		t.Errorf("only %d streams", streams)
	}
	got := rows(t, all)
	for i, v := range got {
		if v != strconv.Itoa(i) {
			t.Fatalf("row %d is %s", i, v)
		}
	}
	if len(got) != 20000 {
		t.Errorf("%d rows", len(got))
	}
}

func TestReplay(t *testing.T) {
	c := serve(t, nil)
	req := c.request(root(rangeOf(10)), true)
	ids := func(rs []*connectpb.ExecutePlanResponse, err error) []string {
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range rs {
			out = append(out, r.GetResponseId())
		}
		return out
	}
	first := ids(drain(c.ExecutePlan(t.Context(), req)))
	if d := cmp.Diff(first, ids(drain(c.ExecutePlan(t.Context(), req)))); d != "" {
		t.Errorf("the same request again: %s", d)
	}
	reattach := &connectpb.ReattachExecuteRequest{SessionId: c.session, OperationId: req.GetOperationId()}
	if d := cmp.Diff(first, ids(drain(c.ReattachExecute(t.Context(), reattach)))); d != "" {
		t.Errorf("reattached without a position: %s", d)
	}
	reattach.LastResponseId = &first[1]
	if d := cmp.Diff(first[2:], ids(drain(c.ReattachExecute(t.Context(), reattach)))); d != "" {
		t.Errorf("reattached in the middle: %s", d)
	}
	release := &connectpb.ReleaseExecuteRequest{SessionId: c.session, OperationId: req.GetOperationId()}
	release.Release = &connectpb.ReleaseExecuteRequest_ReleaseUntil_{
		ReleaseUntil: &connectpb.ReleaseExecuteRequest_ReleaseUntil{ResponseId: first[2]},
	}
	if r, err := c.ReleaseExecute(t.Context(), release); err != nil || r.GetOperationId() != req.GetOperationId() {
		t.Errorf("release until: %v, %v", r, err)
	}
	_, err := drain(c.ReattachExecute(t.Context(), reattach))
	wantCondition(t, err, "INVALID_CURSOR.POSITION_NOT_AVAILABLE")
	reattach.LastResponseId = ptr(uuid.NewString())
	_, err = drain(c.ReattachExecute(t.Context(), reattach))
	wantCondition(t, err, "INVALID_CURSOR.POSITION_NOT_FOUND")

	release.Release = &connectpb.ReleaseExecuteRequest_ReleaseAll_{ReleaseAll: &connectpb.ReleaseExecuteRequest_ReleaseAll{}}
	for range 2 { // the second finds nothing, which is no error
		if _, err := c.ReleaseExecute(t.Context(), release); err != nil {
			t.Error(err)
		}
	}
	_, err = drain(c.ExecutePlan(t.Context(), req))
	wantCondition(t, err, "INVALID_HANDLE.OPERATION_ABANDONED")
	reattach.OperationId, reattach.LastResponseId = uuid.NewString(), nil
	_, err = drain(c.ReattachExecute(t.Context(), reattach))
	wantCondition(t, err, "INVALID_HANDLE.OPERATION_NOT_FOUND")
}

func TestNotReattachable(t *testing.T) {
	c := serve(t, nil)
	req := c.request(root(rangeOf(1e15)), false)
	s, err := c.ExecutePlan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	_, err = drain(c.ReattachExecute(t.Context(), &connectpb.ReattachExecuteRequest{
		SessionId: c.session, OperationId: req.GetOperationId(),
	}))
	wantCondition(t, err, "INVALID_CURSOR.NOT_REATTACHABLE")
	other := c.request(root(rangeOf(1)), true)
	other.OperationId = req.OperationId
	_, err = drain(c.ExecutePlan(t.Context(), other))
	wantCondition(t, err, "INVALID_HANDLE.OPERATION_ALREADY_EXISTS")
}

func TestInterrupt(t *testing.T) {
	c := serve(t, nil)
	endless := query("SELECT sum(id) FROM range(0, 1000000000000000)")
	interrupts := map[string]func(op string) *connectpb.InterruptRequest{
		"all": func(string) *connectpb.InterruptRequest {
			return &connectpb.InterruptRequest{InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_ALL}
		},
		"tag": func(string) *connectpb.InterruptRequest {
			return &connectpb.InterruptRequest{
				InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_TAG,
				Interrupt:     &connectpb.InterruptRequest_OperationTag{OperationTag: "slow"},
			}
		},
		"id": func(op string) *connectpb.InterruptRequest {
			return &connectpb.InterruptRequest{
				InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_OPERATION_ID,
				Interrupt:     &connectpb.InterruptRequest_OperationId{OperationId: op},
			}
		},
	}
	for name, make := range interrupts {
		req := c.request(root(endless), true)
		req.Tags = []string{"slow"}
		s, err := c.ExecutePlan(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); err != nil { // the schema: it runs
			t.Fatal(err)
		}
		i := make(req.GetOperationId())
		i.SessionId = c.session
		r, err := c.Interrupt(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{req.GetOperationId()}, r.GetInterruptedIds()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		_, err = drain(s, nil)
		wantCondition(t, err, "OPERATION_CANCELED")
	}
	r, err := c.Interrupt(t.Context(), &connectpb.InterruptRequest{
		SessionId: c.session, InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_ALL,
	})
	if err != nil || len(r.GetInterruptedIds()) > 0 {
		t.Errorf("with nothing running: %v, %v", r, err)
	}
}

func TestGetStatus(t *testing.T) {
	c := serve(t, nil)
	good, bad := c.request(root(rangeOf(1)), true), c.request(root(query("nonsense")), true)
	_, _ = drain(c.ExecutePlan(t.Context(), good))
	_, _ = drain(c.ExecutePlan(t.Context(), bad))
	unknown := uuid.NewString()
	r, err := c.GetStatus(t.Context(), &connectpb.GetStatusRequest{
		SessionId: c.session, OperationStatus: &connectpb.GetStatusRequest_OperationStatusRequest{
			OperationIds: []string{good.GetOperationId(), bad.GetOperationId(), unknown},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.GetOperationStatuses() {
		got = append(got, s.GetState().String())
	}
	want := []string{"OPERATION_STATE_TERMINATING", "OPERATION_STATE_FAILED", "OPERATION_STATE_UNKNOWN"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A command that only waits shows that it is alive, and its stream is cut all the same.
func TestSignsOfLife(t *testing.T) {
	c := serve(t, map[string]string{
		"spark.connect.progress.reportInterval":                      "5ms",
		"spark.connect.execute.reattachable.senderMaxStreamDuration": "400ms",
	})
	req := c.request(command(&connectpb.Command{CommandType: &connectpb.Command_StreamingQueryListenerBusCommand{
		StreamingQueryListenerBusCommand: &connectpb.StreamingQueryListenerBusCommand{
			Command: &connectpb.StreamingQueryListenerBusCommand_AddListenerBusListener{AddListenerBusListener: true},
		},
	}}), true)
	rs, err := drain(c.ExecutePlan(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	if !rs[0].GetStreamingQueryListenerEventsResult().GetListenerBusListenerAdded() {
		t.Errorf("first response: %v", rs[0])
	}
	if last := rs[len(rs)-1]; len(rs) < 3 || last.GetExecutionProgress() == nil {
		t.Errorf("%d responses, the last %v", len(rs), last)
	}
	c.run(command(&connectpb.Command{CommandType: &connectpb.Command_StreamingQueryListenerBusCommand{
		StreamingQueryListenerBusCommand: &connectpb.StreamingQueryListenerBusCommand{
			Command: &connectpb.StreamingQueryListenerBusCommand_RemoveListenerBusListener{RemoveListenerBusListener: true},
		},
	}}))
	rest, err := drain(c.ReattachExecute(t.Context(), &connectpb.ReattachExecuteRequest{
		SessionId: c.session, OperationId: req.GetOperationId(), LastResponseId: &rs[len(rs)-1].ResponseId,
	}))
	if err != nil || len(rest) == 0 || rest[len(rest)-1].GetResultComplete() == nil {
		t.Errorf("after removal: %v, %v", rest, err)
	}
}
