package remote

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Execute implements backend.Backend.
func (c *Client) Execute(ctx context.Context, req *connectpb.ExecutePlanRequest) (backend.Responses, error) {
	req = proto.CloneOf(req)
	if req.OperationId == nil {
		req.OperationId = proto.String(uuid.NewString())
	}
	req.RequestOptions = append(req.RequestOptions, &connectpb.ExecutePlanRequest_RequestOption{
		RequestOption: &connectpb.ExecutePlanRequest_RequestOption_ReattachOptions{
			ReattachOptions: &connectpb.ReattachOptions{Reattachable: true}}})
	ctx, cancel := context.WithCancel(c.outgoing(ctx))
	x := &execution{c: c, ctx: ctx, cancel: cancel, req: req, session: session(req)}
	return x, nil
}

// execution is one reattachable execution. It is for one goroutine.
type execution struct {
	c       *Client
	ctx     context.Context
	cancel  context.CancelFunc
	req     *connectpb.ExecutePlanRequest
	session backend.Session

	stream   grpc.ServerStreamingClient[connectpb.ExecutePlanResponse]
	last     string // id of the last response seen
	started  bool   // the server has the operation
	done     bool
	releases sync.WaitGroup
}

// Next implements backend.Responses.
func (x *execution) Next() (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error) {
	wait := backoffFirst
	for tries := 0; ; {
		if x.done {
			return nil, nil, io.EOF
		}
		r, err := x.receive()
		if err == nil {
			x.last, x.started = r.GetResponseId(), true
			if r.GetResultComplete() != nil {
				x.done = true
				x.release()
				continue
			}
			return r, nil, nil
		}
		x.stream = nil
		if errors.Is(err, io.EOF) {
			continue // the server ended a long stream; go on with the next one
		}
		typed := x.c.typed(x.ctx, x.session, err)
		if !x.started && errclass.Has(typed, "INVALID_HANDLE.OPERATION_NOT_FOUND") {
			continue
		}
		if tries == retries || !transient(err) || x.ctx.Err() != nil {
			x.done = true
			return nil, nil, typed
		}
		tries++
		select {
		case <-x.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(wait*backoffFactor, backoffMost)
	}
}

func (x *execution) receive() (*connectpb.ExecutePlanResponse, error) {
	if x.stream == nil {
		if err := x.open(); err != nil {
			return nil, err
		}
	}
	return x.stream.Recv()
}

// open starts the execution, or goes on with it after the last response.
func (x *execution) open() error {
	var err error
	if !x.started {
		x.stream, err = x.c.rpc.ExecutePlan(x.ctx, x.req)
		return err
	}
	r := &connectpb.ReattachExecuteRequest{SessionId: x.req.SessionId, UserContext: x.req.UserContext, ClientType: x.req.ClientType,
		OperationId: x.req.GetOperationId(), ClientObservedServerSideSessionId: x.req.ClientObservedServerSideSessionId}
	if x.last != "" {
		r.LastResponseId = proto.String(x.last)
	}
	x.stream, err = x.c.rpc.ReattachExecute(x.ctx, r)
	return err
}

// releaseTimeout bounds the call that lets the server forget an execution.
const releaseTimeout = 5 * time.Second

// release tells the server that the execution's responses are no longer needed. An error does no harm: the server forgets by itself
// after a while.
func (x *execution) release() {
	if !x.started {
		return
	}
	x.releases.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), releaseTimeout)
		defer cancel()
		_, _ = x.c.rpc.ReleaseExecute(ctx, &connectpb.ReleaseExecuteRequest{
			SessionId: x.req.SessionId, UserContext: x.req.UserContext, ClientType: x.req.ClientType, OperationId: x.req.GetOperationId(),
			Release: &connectpb.ReleaseExecuteRequest_ReleaseAll_{ReleaseAll: &connectpb.ReleaseExecuteRequest_ReleaseAll{}}})
	})
}

// Close implements backend.Responses. An execution that has not come to its end is interrupted.
func (x *execution) Close() error {
	if !x.done {
		x.done = true
		if x.started {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), releaseTimeout)
			_, _ = x.c.rpc.Interrupt(ctx, &connectpb.InterruptRequest{
				SessionId: x.req.SessionId, UserContext: x.req.UserContext, ClientType: x.req.ClientType,
				InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_OPERATION_ID,
				Interrupt:     &connectpb.InterruptRequest_OperationId{OperationId: x.req.GetOperationId()}})
			cancel()
			x.release()
		}
	}
	x.releases.Wait()
	x.cancel()
	return nil
}
