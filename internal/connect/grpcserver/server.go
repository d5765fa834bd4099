package grpcserver

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/connectpb"
)

// maxMessage bounds what is received: plans with local data are large.
const maxMessage = 512 << 20

// Server is a gRPC server for a service.
type Server struct {
	grpc *grpc.Server
}

// New returns a server. The service is not closed with it.
func New(svc *connect.Service) *Server {
	g := grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.InitialWindowSize(4<<20),
		grpc.InitialConnWindowSize(16<<20),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
	)
	connectpb.RegisterSparkConnectServiceServer(g, &adapter{svc: svc})
	return &Server{grpc: g}
}

// Serve accepts connections until Stop.
func (s *Server) Serve(l net.Listener) error { return s.grpc.Serve(l) }

// Stop refuses new calls and waits for those that run, but no longer than ctx lasts.
func (s *Server) Stop(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.grpc.GracefulStop()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
	}
}

// adapter is the service as gRPC wants it.
type adapter struct {
	connectpb.UnimplementedSparkConnectServiceServer
	svc *connect.Service
}

type responses = grpc.ServerStreamingServer[connectpb.ExecutePlanResponse]

// ExecutePlan implements the RPC.
func (a *adapter) ExecutePlan(req *connectpb.ExecutePlanRequest, out responses) error {
	st, err := a.svc.ExecutePlan(out.Context(), req, connect.ExecuteOptions{})
	return pump(st, out, err)
}

// ReattachExecute implements the RPC.
func (a *adapter) ReattachExecute(req *connectpb.ReattachExecuteRequest, out responses) error {
	st, err := a.svc.ReattachExecute(out.Context(), req)
	return pump(st, out, err)
}

// pump sends responses until the stream ends.
func pump(st *connect.Stream, out responses, err error) error {
	if err != nil {
		return toStatus(err)
	}
	defer st.Close()
	for {
		msg, _, err := st.Next(out.Context())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return toStatus(err)
		}
		if err := out.Send(msg); err != nil {
			return err
		}
	}
}

// AddArtifacts implements the RPC.
func (a *adapter) AddArtifacts(in grpc.ClientStreamingServer[connectpb.AddArtifactsRequest, connectpb.AddArtifactsResponse]) error {
	resp, err := a.svc.AddArtifacts(in.Context(), in.Recv)
	if err != nil {
		return toStatus(err)
	}
	return in.SendAndClose(resp)
}

// answer turns the result of a unary method into that of its RPC.
func answer[T any](resp *T, err error) (*T, error) {
	if err != nil {
		return nil, toStatus(err)
	}
	return resp, nil
}

// AnalyzePlan implements the RPC.
func (a *adapter) AnalyzePlan(ctx context.Context, req *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	return answer(a.svc.AnalyzePlan(ctx, req))
}

// Config implements the RPC.
func (a *adapter) Config(ctx context.Context, req *connectpb.ConfigRequest) (*connectpb.ConfigResponse, error) {
	return answer(a.svc.Config(ctx, req))
}

// ArtifactStatus implements the RPC.
func (a *adapter) ArtifactStatus(ctx context.Context, req *connectpb.ArtifactStatusesRequest) (*connectpb.ArtifactStatusesResponse, error) {
	return answer(a.svc.ArtifactStatus(ctx, req))
}

// Interrupt implements the RPC.
func (a *adapter) Interrupt(ctx context.Context, req *connectpb.InterruptRequest) (*connectpb.InterruptResponse, error) {
	return answer(a.svc.Interrupt(ctx, req))
}

// ReleaseExecute implements the RPC.
func (a *adapter) ReleaseExecute(ctx context.Context, req *connectpb.ReleaseExecuteRequest) (*connectpb.ReleaseExecuteResponse, error) {
	return answer(a.svc.ReleaseExecute(ctx, req))
}

// ReleaseSession implements the RPC.
func (a *adapter) ReleaseSession(ctx context.Context, req *connectpb.ReleaseSessionRequest) (*connectpb.ReleaseSessionResponse, error) {
	return answer(a.svc.ReleaseSession(ctx, req))
}

// FetchErrorDetails implements the RPC.
func (a *adapter) FetchErrorDetails(ctx context.Context, req *connectpb.FetchErrorDetailsRequest) (*connectpb.FetchErrorDetailsResponse, error) {
	return answer(a.svc.FetchErrorDetails(ctx, req))
}

// CloneSession implements the RPC.
func (a *adapter) CloneSession(ctx context.Context, req *connectpb.CloneSessionRequest) (*connectpb.CloneSessionResponse, error) {
	return answer(a.svc.CloneSession(ctx, req))
}

// GetStatus implements the RPC.
func (a *adapter) GetStatus(ctx context.Context, req *connectpb.GetStatusRequest) (*connectpb.GetStatusResponse, error) {
	return answer(a.svc.GetStatus(ctx, req))
}

// isStatus tells whether an error is a transport's own.
func isStatus(err error) bool {
	_, ok := status.FromError(err)
	return ok
}
