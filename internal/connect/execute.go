package connect

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// ExecuteOptions are what the transport wants of an execution.
type ExecuteOptions struct {
	// Records asks for rows as Arrow records beside messages without data, instead of as bytes in them.
	Records bool
}

// ExecutePlan starts an operation, or attaches to it when the client sends it again.
func (s *Service) ExecutePlan(_ context.Context, req *connectpb.ExecutePlanRequest, o ExecuteOptions) (_ *Stream, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	id := req.GetOperationId()
	switch {
	case req.OperationId == nil:
		id = uuid.NewString()
	case !isUUID(id):
		return nil, h.fail(errclass.New("INVALID_HANDLE.FORMAT", "handle", id))
	}
	reattachable := false
	for _, r := range req.GetRequestOptions() {
		if r.GetReattachOptions().GetReattachable() {
			reattachable = true
		}
	}
	op := newOperation(h, req, id, reattachable, o.Records)
	old, err := h.register(op)
	if err != nil {
		return nil, h.fail(err)
	}
	if old != nil {
		if !old.reattachable || !reattachable || !proto.Equal(old.req.GetPlan(), req.GetPlan()) {
			return nil, h.fail(errclass.New("INVALID_HANDLE.OPERATION_ALREADY_EXISTS", "handle", id))
		}
		return h.attach(old, 0)
	}
	st, err := op.attach(0)
	if err != nil {
		return nil, h.fail(err)
	}
	h.wg.Go(op.run)
	return st, nil
}

// register makes an operation known, or returns the one that has its id.
func (h *holder) register(op *operation) (*operation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errclass.New("INVALID_HANDLE.SESSION_CLOSED", "handle", h.ID)
	}
	if old := h.ops[op.id]; old != nil {
		return old, nil
	}
	if h.abandoned.has(op.id) {
		return nil, errclass.New("INVALID_HANDLE.OPERATION_ABANDONED", "handle", op.id)
	}
	h.ops[op.id] = op
	return nil, nil
}

func (h *holder) attach(op *operation, last int64) (*Stream, error) {
	st, err := op.attach(last)
	if err != nil {
		return nil, h.fail(err)
	}
	return st, nil
}

// forget drops an operation.
func (h *holder) forget(id string) *operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := h.ops[id]
	if op != nil {
		delete(h.ops, id)
		h.abandoned.add(id)
		close(op.gone)
	}
	return op
}

// run does an operation's work.
func (op *operation) run() {
	if err := op.settle(op.work()); err != nil {
		op.finish(op.h.fail(err))
	} else {
		op.finish(nil)
	}
	op.cancel(nil)
}

func (op *operation) work() (err error) {
	defer op.h.svc.guard(&err)
	if err := op.ctx.Err(); err != nil {
		return err
	}
	p, err := decompressed(op.req.GetPlan())
	if err != nil {
		return err
	}
	switch k := p.GetOpType().(type) {
	case *connectpb.Plan_Root:
		return op.query(k.Root)
	case *connectpb.Plan_Command:
		return op.command(k.Command)
	}
	return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET", "fullName", "spark.connect.Plan.op_type", "name", "op_type")
}

// operation finds a live operation.
func (h *holder) operation(id string) (*operation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := h.ops[id]
	if op == nil {
		if h.abandoned.has(id) {
			return nil, errclass.New("INVALID_HANDLE.OPERATION_ABANDONED", "handle", id)
		}
		return nil, errclass.New("INVALID_HANDLE.OPERATION_NOT_FOUND", "handle", id)
	}
	return op, nil
}

// ReattachExecute continues an operation's responses.
func (s *Service) ReattachExecute(_ context.Context, req *connectpb.ReattachExecuteRequest) (_ *Stream, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	defer h.noted(&err)
	if !isUUID(req.GetOperationId()) {
		return nil, errclass.New("INVALID_HANDLE.FORMAT", "handle", req.GetOperationId())
	}
	op, err := h.operation(req.GetOperationId())
	if err != nil {
		return nil, err
	}
	if !op.reattachable {
		return nil, errclass.New("INVALID_CURSOR.NOT_REATTACHABLE")
	}
	last := int64(0)
	if req.LastResponseId != nil {
		op.mu.Lock()
		last, err = op.position(req.GetLastResponseId())
		op.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return op.attach(last)
}

// ReleaseExecute gives up responses, or the whole operation. That there is no such operation is no error.
func (s *Service) ReleaseExecute(_ context.Context, req *connectpb.ReleaseExecuteRequest) (_ *connectpb.ReleaseExecuteResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	defer h.noted(&err)
	id := req.GetOperationId()
	resp := &connectpb.ReleaseExecuteResponse{SessionId: h.ID, ServerSideSessionId: h.ServerID}
	switch r := req.GetRelease().(type) {
	case *connectpb.ReleaseExecuteRequest_ReleaseAll_:
		if op := h.forget(id); op != nil {
			resp.OperationId = &id
			op.cancel(errAbandoned)
		}
	case *connectpb.ReleaseExecuteRequest_ReleaseUntil_:
		op, err := h.operation(id)
		if err != nil {
			break
		}
		resp.OperationId = &id
		op.mu.Lock()
		defer op.mu.Unlock()
		if !op.reattachable {
			return nil, errclass.New("INVALID_CURSOR.NOT_REATTACHABLE")
		}
		n, err := op.position(r.ReleaseUntil.GetResponseId())
		if err != nil {
			return nil, err
		}
		op.release(n)
	default:
		return nil, errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
			"fullName", "spark.connect.ReleaseExecuteRequest.release", "name", "release")
	}
	return resp, nil
}

// Interrupt cancels running operations.
func (s *Service) Interrupt(_ context.Context, req *connectpb.InterruptRequest) (_ *connectpb.InterruptResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	defer h.noted(&err)
	var hit func(op *operation) bool
	switch req.GetInterruptType() {
	case connectpb.InterruptRequest_INTERRUPT_TYPE_ALL:
		hit = func(op *operation) bool { return !op.attending() }
	case connectpb.InterruptRequest_INTERRUPT_TYPE_TAG:
		if req.GetOperationTag() == "" {
			return nil, errclass.New("CONNECT_INVALID_PLAN.FIELD_NOT_SET", "fullName", "spark.connect.InterruptRequest", "name", "operation_tag")
		}
		hit = func(op *operation) bool {
			return !op.attending() && slices.Contains(op.req.GetTags(), req.GetOperationTag())
		}
	case connectpb.InterruptRequest_INTERRUPT_TYPE_OPERATION_ID:
		if req.GetOperationId() == "" {
			return nil, errclass.New("CONNECT_INVALID_PLAN.FIELD_NOT_SET", "fullName", "spark.connect.InterruptRequest", "name", "operation_id")
		}
		hit = func(op *operation) bool { return op.id == req.GetOperationId() }
	default:
		return nil, errclass.New("CONNECT_INVALID_PLAN.INVALID_ENUM",
			"fullName", "spark.connect.InterruptRequest.InterruptType", "name", req.GetInterruptType().String())
	}
	resp := &connectpb.InterruptResponse{SessionId: h.ID, ServerSideSessionId: h.ServerID}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, op := range h.ops {
		if hit(op) && op.interrupt() {
			resp.InterruptedIds = append(resp.InterruptedIds, id)
		}
	}
	return resp, nil
}

// attending tells whether the operation stays with a streaming query.
func (op *operation) attending() bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	return op.attends
}

// GetStatus lists the states of operations.
func (s *Service) GetStatus(_ context.Context, req *connectpb.GetStatusRequest) (_ *connectpb.GetStatusResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	resp := &connectpb.GetStatusResponse{SessionId: h.ID, ServerSideSessionId: h.ServerID}
	if req.GetOperationStatus() == nil {
		return resp, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	add := func(id string, op *operation) {
		st := &connectpb.GetStatusResponse_OperationStatus{
			OperationId: id, State: connectpb.GetStatusResponse_OperationStatus_OPERATION_STATE_UNKNOWN,
		}
		if op != nil {
			st.State = op.status()
		}
		resp.OperationStatuses = append(resp.OperationStatuses, st)
	}
	ids := req.GetOperationStatus().GetOperationIds()
	for _, id := range ids {
		add(id, h.ops[id])
	}
	if len(ids) == 0 {
		for id, op := range h.ops {
			add(id, op)
		}
	}
	return resp, nil
}

// status is the operation's state: a successful one is terminating as long as its client has not released it.
func (op *operation) status() connectpb.GetStatusResponse_OperationStatus_OperationState {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.state == connectpb.GetStatusResponse_OperationStatus_OPERATION_STATE_SUCCEEDED {
		return connectpb.GetStatusResponse_OperationStatus_OPERATION_STATE_TERMINATING
	}
	return op.state
}
