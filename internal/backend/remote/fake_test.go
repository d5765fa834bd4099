package remote

import (
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/millrace/millrace/internal/connectpb"
)

// step is what the fake server does in one stream: responses, then an error, or the end of the stream if it is nil.
type step struct {
	ids  []string // response ids; "end" is the result_complete
	err  error
	hang bool // wait for the client to go instead of ending
}

// server is a scripted Spark Connect server.
type server struct {
	connectpb.UnimplementedSparkConnectServiceServer

	mu      sync.Mutex
	steps   []step
	calls   []string
	details *connectpb.FetchErrorDetailsResponse
	headers metadata.MD
	bodies  []*connectpb.AddArtifactsRequest
	damaged bool
	refuse  int // analyse calls to answer with Unavailable
}

func (s *server) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.calls...)
}

func (s *server) play(stream grpc.ServerStreamingServer[connectpb.ExecutePlanResponse]) error {
	s.mu.Lock()
	if len(s.steps) == 0 {
		s.mu.Unlock()
		return status.Error(codes.Internal, "no more steps")
	}
	next := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	for _, id := range next.ids {
		r := &connectpb.ExecutePlanResponse{ResponseId: id}
		if id == "end" {
			r.ResponseType = &connectpb.ExecutePlanResponse_ResultComplete_{ResultComplete: &connectpb.ExecutePlanResponse_ResultComplete{}}
		}
		if err := stream.Send(r); err != nil {
			return err
		}
	}
	if next.hang {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	return next.err
}

func (s *server) ExecutePlan(r *connectpb.ExecutePlanRequest, stream grpc.ServerStreamingServer[connectpb.ExecutePlanResponse]) error {
	s.note("execute " + r.GetOperationId())
	s.mu.Lock()
	s.headers, _ = metadata.FromIncomingContext(stream.Context())
	s.mu.Unlock()
	return s.play(stream)
}

func (s *server) ReattachExecute(r *connectpb.ReattachExecuteRequest, stream grpc.ServerStreamingServer[connectpb.ExecutePlanResponse]) error {
	s.note("reattach " + r.GetOperationId() + " after " + r.GetLastResponseId())
	return s.play(stream)
}

func (s *server) ReleaseExecute(_ context.Context, r *connectpb.ReleaseExecuteRequest) (*connectpb.ReleaseExecuteResponse, error) {
	s.note("release " + r.GetOperationId())
	return &connectpb.ReleaseExecuteResponse{}, nil
}

func (s *server) Interrupt(_ context.Context, r *connectpb.InterruptRequest) (*connectpb.InterruptResponse, error) {
	s.note("interrupt " + r.GetOperationId())
	return &connectpb.InterruptResponse{}, nil
}

func (s *server) FetchErrorDetails(context.Context, *connectpb.FetchErrorDetailsRequest) (*connectpb.FetchErrorDetailsResponse, error) {
	if s.details == nil {
		return nil, status.Error(codes.Unimplemented, "none")
	}
	return s.details, nil
}

func (s *server) AnalyzePlan(context.Context, *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	s.note("analyze")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse > 0 {
		s.refuse--
		return nil, status.Error(codes.Unavailable, "starting")
	}
	return &connectpb.AnalyzePlanResponse{}, nil
}

func (s *server) AddArtifacts(stream grpc.ClientStreamingServer[connectpb.AddArtifactsRequest, connectpb.AddArtifactsResponse]) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			break
		}
		s.bodies = append(s.bodies, r)
	}
	return stream.SendAndClose(&connectpb.AddArtifactsResponse{
		Artifacts: []*connectpb.AddArtifactsResponse_ArtifactSummary{{Name: "a", IsCrcSuccessful: !s.damaged}},
	})
}

// serve starts the server and returns a client of it.
func serve(t *testing.T, s *server, params string) *Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	connectpb.RegisterSparkConnectServiceServer(g, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(l)
	}()
	a, err := ParseAddress("sc://" + l.Addr().String() + params)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		g.Stop()
		<-done
	})
	return c
}
