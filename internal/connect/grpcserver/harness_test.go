package grpcserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/uuid"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/connect/grpcserver"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/internal/session"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// client is a client of a server of its own.
type client struct {
	connectpb.SparkConnectServiceClient
	t       *testing.T
	session string
}

// serve starts a server with some settings beside the defaults.
func serve(t *testing.T, conf map[string]string) *client {
	t.Helper()
	rt := engine.New(engine.Runtime{Parallelism: 2})
	svc, err := connect.New(session.NewServer(rt, conf), conf)
	if err != nil {
		t.Fatal(err)
	}
	srv := grpcserver.New(svc)
	l := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///server",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(128<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if err := svc.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		_ = conn.Close()
		srv.Stop(ctx)
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return &client{connectpb.NewSparkConnectServiceClient(conn), t, uuid.NewString()}
}

// ---- plans

func root(r *connectpb.Relation) *connectpb.Plan {
	return &connectpb.Plan{OpType: &connectpb.Plan_Root{Root: r}}
}

func command(c *connectpb.Command) *connectpb.Plan {
	return &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: c}}
}

func rangeOf(n int64) *connectpb.Relation {
	return &connectpb.Relation{RelType: &connectpb.Relation_Range{Range: &connectpb.Range{End: n, Step: 1}}}
}

func query(text string) *connectpb.Relation {
	return &connectpb.Relation{RelType: &connectpb.Relation_Sql{Sql: &connectpb.SQL{Query: text}}}
}

func (c *client) request(p *connectpb.Plan, reattachable bool) *connectpb.ExecutePlanRequest {
	id := uuid.NewString()
	return &connectpb.ExecutePlanRequest{
		SessionId: c.session, Plan: p, OperationId: &id,
		RequestOptions: []*connectpb.ExecutePlanRequest_RequestOption{
			{RequestOption: &connectpb.ExecutePlanRequest_RequestOption_ReattachOptions{
				ReattachOptions: &connectpb.ReattachOptions{Reattachable: reattachable},
			}},
			{RequestOption: &connectpb.ExecutePlanRequest_RequestOption_ResultChunkingOptions{
				ResultChunkingOptions: &connectpb.ResultChunkingOptions{AllowArrowBatchChunking: true},
			}},
		},
	}
}

// ---- results

type stream = grpc.ServerStreamingClient[connectpb.ExecutePlanResponse]

// drain reads a stream to its end.
func drain(s stream, err error) ([]*connectpb.ExecutePlanResponse, error) {
	if err != nil {
		return nil, err
	}
	var out []*connectpb.ExecutePlanResponse
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
}

// run executes a plan to its end and fails the test if it fails.
func (c *client) run(p *connectpb.Plan) []*connectpb.ExecutePlanResponse {
	c.t.Helper()
	out, err := drain(c.ExecutePlan(c.t.Context(), c.request(p, true)))
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// rows are the values of the result's only column, as texts.
func rows(t *testing.T, rs []*connectpb.ExecutePlanResponse) []string {
	t.Helper()
	var out []string
	var chunks []byte
	for _, r := range rs {
		b := r.GetArrowBatch()
		if b == nil {
			continue
		}
		if b.GetChunkIndex() == 0 && int(b.GetStartOffset()) != len(out) {
			t.Fatalf("a batch starts at %d after %d rows", b.GetStartOffset(), len(out))
		}
		chunks = append(chunks, b.GetData()...)
		if b.GetChunkIndex()+1 < b.GetNumChunksInBatch() {
			continue
		}
		rd, err := ipc.NewReader(bytes.NewReader(chunks))
		if err != nil {
			t.Fatal(err)
		}
		chunks = nil
		n := 0
		for rd.Next() {
			col := rd.RecordBatch().Column(0)
			for i := range col.Len() {
				out = append(out, col.ValueStr(i))
			}
			n += col.Len()
		}
		if int64(n) != b.GetRowCount() {
			t.Fatalf("a batch of %d rows says %d", n, b.GetRowCount())
		}
	}
	return out
}

// kinds are the kinds of responses, repeated ones once, without signs of life.
func kinds(rs []*connectpb.ExecutePlanResponse) []string {
	var out []string
	for _, r := range rs {
		k := fmt.Sprintf("%T", r.GetResponseType())
		switch {
		case r.GetExecutionProgress() != nil:
			continue
		case r.GetSchema() != nil:
			k = "schema"
		case r.GetMetrics() != nil:
			k = "metrics"
		case r.GetArrowBatch() != nil:
			k = "rows"
		case r.GetResultComplete() != nil:
			k = "complete"
		}
		if len(out) == 0 || out[len(out)-1] != k {
			out = append(out, k)
		}
	}
	return out
}

// condition is the condition of a failed call, with the error's id.
func condition(t *testing.T, err error) (class, id string) {
	t.Helper()
	st, ok := status.FromError(err)
	if !ok || err == nil {
		t.Fatalf("no status: %v", err)
	}
	for _, d := range st.Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			if i.GetDomain() != "org.apache.spark" || i.GetReason() == "" || i.GetMetadata()["classes"] == "" {
				t.Errorf("incomplete details: %v", i)
			}
			return i.GetMetadata()["errorClass"], i.GetMetadata()["errorId"]
		}
	}
	t.Fatalf("no details: %v", err)
	return "", ""
}

func wantCondition(t *testing.T, err error, want string) {
	t.Helper()
	if got, _ := condition(t, err); got != want {
		t.Errorf("condition %s, want %s (%v)", got, want, err)
	}
}

func ptr[T any](v T) *T { return &v }
