package remote

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
)

// Execute implements backend.Backend. Nothing is sent before the first Next.
func (c *Client) Execute(ctx context.Context, req *connectpb.ExecutePlanRequest) (backend.Responses, error) {
	sent := &connectpb.ExecutePlanRequest{ // the caller's message stays as it is; a plan can be large, so it is not copied
		SessionId: req.SessionId, UserContext: req.UserContext, OperationId: req.OperationId, Plan: req.Plan, Tags: req.Tags,
		ClientType: req.ClientType, ClientObservedServerSideSessionId: req.ClientObservedServerSideSessionId,
	}
	if sent.OperationId == nil {
		sent.OperationId = proto.String(uuid.NewString())
	}
	reattach := &connectpb.ExecutePlanRequest_RequestOption{RequestOption: &connectpb.ExecutePlanRequest_RequestOption_ReattachOptions{
		ReattachOptions: &connectpb.ReattachOptions{Reattachable: true},
	}}
	sent.RequestOptions = append(req.RequestOptions[:len(req.RequestOptions):len(req.RequestOptions)], reattach)
	ctx, cancel := context.WithCancel(c.outgoing(ctx))
	return &execution{c: c, ctx: ctx, cancel: cancel, req: sent, session: session(req)}, nil
}

// execution is one reattachable execution. It is for one goroutine.
type execution struct {
	c       *Client
	ctx     context.Context
	cancel  context.CancelFunc
	req     *connectpb.ExecutePlanRequest
	session backend.Session

	stream grpc.ServerStreamingClient[connectpb.ExecutePlanResponse]
	last   string // id of the last response seen
	asked  bool   // the server may have the operation
	seen   bool   // a response has come, so the server has it
	ended  bool   // the server has come to an end with it
	closed bool
}

// Next implements backend.Responses.
func (x *execution) Next() (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error) {
	if x.ended || x.closed {
		return nil, nil, io.EOF
	}
	for wait, tries := backoffFirst, 0; ; tries++ {
		r, err := x.receive()
		if err == nil {
			x.last, x.seen = r.GetResponseId(), true
			if r.GetResultComplete() != nil {
				x.end()
				return nil, nil, io.EOF
			}
			return r, nil, nil
		}
		x.stream = nil
		switch {
		case x.ctx.Err() != nil:
			return nil, nil, x.c.typed(x.ctx, x.session, err)
		case errors.Is(err, io.EOF):
			// The server ends a stream that has become long or old; the next one goes on where it ended.
			if tries == 0 {
				continue
			}
			err = errNoEnd
		case !transient(err):
			x.end()
			return nil, nil, x.c.typed(x.ctx, x.session, err)
		}
		if tries == retries {
			x.end()
			return nil, nil, x.c.typed(x.ctx, x.session, err)
		}
		select {
		case <-x.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(wait*backoffFactor, backoffMost)
	}
}

// errNoEnd is about a server that again and again ends the stream without a response.
var errNoEnd = errors.New("the server has ended the responses without a result")

func (x *execution) receive() (*connectpb.ExecutePlanResponse, error) {
	if x.stream == nil {
		if err := x.open(); err != nil {
			return nil, err
		}
	}
	return x.stream.Recv()
}

// open starts the execution, or goes on with it after the last response. To start it a second time is safe as long as nothing has
// been seen of it: the server knows it by its id.
func (x *execution) open() error {
	var err error
	if !x.seen {
		x.asked = true
		x.stream, err = x.c.rpc.ExecutePlan(x.ctx, x.req)
		return err
	}
	r := &connectpb.ReattachExecuteRequest{
		SessionId: x.req.SessionId, UserContext: x.req.UserContext, ClientType: x.req.ClientType,
		OperationId: x.req.GetOperationId(), ClientObservedServerSideSessionId: x.req.ClientObservedServerSideSessionId,
	}
	if x.last != "" {
		r.LastResponseId = proto.String(x.last)
	}
	x.stream, err = x.c.rpc.ReattachExecute(x.ctx, r)
	return err
}

// goodbyeTimeout bounds the calls that end an execution.
const goodbyeTimeout = 5 * time.Second

// goodbye is a context for a call that is made whether or not the caller's context has ended.
func (x *execution) goodbye() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(x.ctx), goodbyeTimeout)
}

// end notes that the server has come to an end, and lets it forget the responses. The client waits for that call when it is closed. An
// error does no harm: the server forgets by itself after a while.
func (x *execution) end() {
	x.ended = true
	if !x.asked {
		return
	}
	x.c.calls.Go(func() {
		ctx, cancel := x.goodbye()
		defer cancel()
		_, _ = x.c.rpc.ReleaseExecute(ctx, &connectpb.ReleaseExecuteRequest{
			SessionId: x.req.SessionId, UserContext: x.req.UserContext, ClientType: x.req.ClientType, OperationId: x.req.GetOperationId(),
			Release: &connectpb.ReleaseExecuteRequest_ReleaseAll_{ReleaseAll: &connectpb.ReleaseExecuteRequest_ReleaseAll{}},
		})
	})
}

// Close implements backend.Responses. An execution that has not come to its end is interrupted.
func (x *execution) Close() error {
	if x.closed {
		return nil
	}
	x.closed = true
	if x.asked && !x.ended {
		ctx, cancel := x.goodbye()
		_, _ = x.c.rpc.Interrupt(ctx, &connectpb.InterruptRequest{
			SessionId: x.req.SessionId, UserContext: x.req.UserContext, ClientType: x.req.ClientType,
			InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_OPERATION_ID,
			Interrupt:     &connectpb.InterruptRequest_OperationId{OperationId: x.req.GetOperationId()},
		})
		cancel()
		x.end()
	}
	x.cancel()
	return nil
}
