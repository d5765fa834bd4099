package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// maxMessage is the largest message either way; a plan with local data can be tens of MiB.
const maxMessage = 1 << 30

// Client implements backend.Backend.
type Client struct {
	addr Address
	conn *grpc.ClientConn
	rpc  connectpb.SparkConnectServiceClient

	calls sync.WaitGroup // that nobody waits for before Close
}

// Dial makes a client. The connection is opened with the first call.
func Dial(a Address) (*Client, error) {
	creds := insecure.NewCredentials()
	if a.SSL || a.Token != "" && !a.local() { // a token must not cross a network in the clear
		creds = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
	}
	if a.UserAgent != "" {
		opts = append(opts, grpc.WithUserAgent(a.UserAgent))
	}
	conn, err := grpc.NewClient("passthrough:///"+a.Host, opts...)
	if err != nil {
		return nil, err
	}
	return &Client{addr: a, conn: conn, rpc: connectpb.NewSparkConnectServiceClient(conn)}, nil
}

// Close implements backend.Backend.
func (c *Client) Close() error {
	c.calls.Wait()
	return c.conn.Close()
}

func (c *Client) outgoing(ctx context.Context) context.Context {
	pairs := c.addr.pairs()
	if c.addr.Token != "" {
		pairs = append(pairs, "authorization", "Bearer "+c.addr.Token)
	}
	if len(pairs) == 0 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// The schedule of repeated calls: waits grow by backoffFactor from backoffFirst to backoffMost.
const (
	backoffFirst  = 50 * time.Millisecond
	backoffMost   = 10 * time.Second
	backoffFactor = 4
	retries       = 8
)

// retry repeats a call while the server can't be reached.
func retry[T any](ctx context.Context, call func() (T, error)) (T, error) {
	wait := backoffFirst
	for i := 0; ; i++ {
		v, err := call()
		if err == nil || i == retries || !transient(err) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, err
		case <-time.After(wait):
		}
		wait = min(wait*backoffFactor, backoffMost)
	}
}

// transient tells whether a call may work when it is made again: the server is not there, or it says that it has lost the client.
func transient(err error) bool {
	st, ok := status.FromError(err)
	if !ok {
		return false
	}
	return st.Code() == codes.Unavailable || errorInfo(st).GetMetadata()["errorClass"] == "INVALID_CURSOR.DISCONNECTED"
}

// unary makes one call with retries and turns its error into the typed one.
func unary[Q, R any](ctx context.Context, c *Client, s backend.Session, req Q, call func(context.Context, Q, ...grpc.CallOption) (R, error)) (R, error) {
	ctx = c.outgoing(ctx)
	r, err := retry(ctx, func() (R, error) { return call(ctx, req) })
	return r, c.typed(ctx, s, err)
}

func session(r interface {
	GetSessionId() string
	GetUserContext() *connectpb.UserContext
},
) backend.Session {
	return backend.Session{ID: r.GetSessionId(), UserID: r.GetUserContext().GetUserId()}
}

// Analyze implements backend.Backend.
func (c *Client) Analyze(ctx context.Context, req *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	return unary(ctx, c, session(req), req, c.rpc.AnalyzePlan)
}

// Config implements backend.Backend.
func (c *Client) Config(ctx context.Context, req *connectpb.ConfigRequest) (*connectpb.ConfigResponse, error) {
	return unary(ctx, c, session(req), req, c.rpc.Config)
}

// Interrupt implements backend.Backend.
func (c *Client) Interrupt(ctx context.Context, req *connectpb.InterruptRequest) (*connectpb.InterruptResponse, error) {
	return unary(ctx, c, session(req), req, c.rpc.Interrupt)
}

// CloneSession implements backend.Backend.
func (c *Client) CloneSession(ctx context.Context, req *connectpb.CloneSessionRequest) (*connectpb.CloneSessionResponse, error) {
	return unary(ctx, c, session(req), req, c.rpc.CloneSession)
}

// ReleaseSession implements backend.Backend.
func (c *Client) ReleaseSession(ctx context.Context, req *connectpb.ReleaseSessionRequest) (*connectpb.ReleaseSessionResponse, error) {
	return unary(ctx, c, session(req), req, c.rpc.ReleaseSession)
}

// ArtifactStatus implements backend.Backend.
func (c *Client) ArtifactStatus(ctx context.Context, req *connectpb.ArtifactStatusesRequest) (*connectpb.ArtifactStatusesResponse, error) {
	return unary(ctx, c, session(req), req, c.rpc.ArtifactStatus)
}

// artifactChunk is the size of the pieces in which a content travels.
const artifactChunk = 32 << 10

// AddArtifacts implements backend.Backend. The artifacts are gone through again when the call has to be repeated.
func (c *Client) AddArtifacts(ctx context.Context, s backend.Session, artifacts iter.Seq2[backend.Artifact, error]) error {
	ctx = c.outgoing(ctx)
	r, err := retry(ctx, func() (*connectpb.AddArtifactsResponse, error) { return c.addArtifacts(ctx, s, artifacts) })
	if err != nil {
		return c.typed(ctx, s, err)
	}
	for _, a := range r.GetArtifacts() {
		if !a.GetIsCrcSuccessful() {
			return errclass.New("UNEXPECTED_RESPONSE", "reason", "the artifact "+a.GetName()+" has arrived damaged")
		}
	}
	return nil
}

func (c *Client) addArtifacts(ctx context.Context, s backend.Session, artifacts iter.Seq2[backend.Artifact, error]) (*connectpb.AddArtifactsResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.AddArtifacts(ctx)
	if err != nil {
		return nil, err
	}
	send := func(r *connectpb.AddArtifactsRequest) error {
		r.SessionId, r.UserContext = s.ID, &connectpb.UserContext{UserId: s.UserID}
		return stream.Send(r)
	}
	for a, err := range artifacts {
		if err == nil {
			err = sendArtifact(a, send)
		}
		if errors.Is(err, io.EOF) {
			break // the server has ended the call; CloseAndRecv says why
		}
		if err != nil {
			return nil, err
		}
	}
	return stream.CloseAndRecv()
}

func sendArtifact(a backend.Artifact, send func(*connectpb.AddArtifactsRequest) error) error {
	pieces := (len(a.Content) + artifactChunk - 1) / artifactChunk
	piece := func(i int) *connectpb.AddArtifactsRequest_ArtifactChunk {
		data := a.Content[i*artifactChunk : min(len(a.Content), (i+1)*artifactChunk)]
		return &connectpb.AddArtifactsRequest_ArtifactChunk{Data: data, Crc: int64(crc32.ChecksumIEEE(data))}
	}
	if pieces <= 1 {
		data := &connectpb.AddArtifactsRequest_ArtifactChunk{Data: a.Content, Crc: int64(crc32.ChecksumIEEE(a.Content))}
		return send(&connectpb.AddArtifactsRequest{Payload: &connectpb.AddArtifactsRequest_Batch_{Batch: &connectpb.AddArtifactsRequest_Batch{
			Artifacts: []*connectpb.AddArtifactsRequest_SingleChunkArtifact{{Name: a.Name, Data: data}},
		}}})
	}
	first := &connectpb.AddArtifactsRequest_BeginChunkedArtifact{Name: a.Name, TotalBytes: int64(len(a.Content)), NumChunks: int64(pieces), InitialChunk: piece(0)}
	if err := send(&connectpb.AddArtifactsRequest{Payload: &connectpb.AddArtifactsRequest_BeginChunk{BeginChunk: first}}); err != nil {
		return err
	}
	for i := 1; i < pieces; i++ {
		if err := send(&connectpb.AddArtifactsRequest{Payload: &connectpb.AddArtifactsRequest_Chunk{Chunk: piece(i)}}); err != nil {
			return err
		}
	}
	return nil
}
