package embedded

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Backend implements backend.Backend over a service, which it owns.
type Backend struct {
	svc   *connect.Service
	exact bool
}

// New returns a backend that closes the service with itself.
func New(svc *connect.Service, exact bool) *Backend { return &Backend{svc: svc, exact: exact} }

// closeTimeout bounds how long running work may take to end.
const closeTimeout = 30 * time.Second

// Close implements backend.Backend.
func (b *Backend) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return b.svc.Close(ctx)
}

// wire gives a message as it comes out of a wire.
func wire[M proto.Message](b *Backend, m M) (M, error) {
	if !b.exact {
		return m, nil
	}
	raw, err := proto.Marshal(m)
	if err != nil {
		return m, err
	}
	out := m.ProtoReflect().New().Interface()
	return out.(M), proto.Unmarshal(raw, out)
}

// call makes a unary call.
func call[Q, R proto.Message](ctx context.Context, b *Backend, req Q, method func(context.Context, Q) (R, error)) (R, error) {
	var none R
	req, err := wire(b, req)
	if err != nil {
		return none, err
	}
	resp, err := method(ctx, req)
	if err != nil {
		return none, plain(err)
	}
	return wire(b, resp)
}

// Analyze implements backend.Backend.
func (b *Backend) Analyze(ctx context.Context, req *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	return call(ctx, b, req, b.svc.AnalyzePlan)
}

// Config implements backend.Backend.
func (b *Backend) Config(ctx context.Context, req *connectpb.ConfigRequest) (*connectpb.ConfigResponse, error) {
	return call(ctx, b, req, b.svc.Config)
}

// Interrupt implements backend.Backend.
func (b *Backend) Interrupt(ctx context.Context, req *connectpb.InterruptRequest) (*connectpb.InterruptResponse, error) {
	return call(ctx, b, req, b.svc.Interrupt)
}

// CloneSession implements backend.Backend.
func (b *Backend) CloneSession(ctx context.Context, req *connectpb.CloneSessionRequest) (*connectpb.CloneSessionResponse, error) {
	return call(ctx, b, req, b.svc.CloneSession)
}

// ReleaseSession implements backend.Backend.
func (b *Backend) ReleaseSession(ctx context.Context, req *connectpb.ReleaseSessionRequest) (*connectpb.ReleaseSessionResponse, error) {
	return call(ctx, b, req, b.svc.ReleaseSession)
}

// ArtifactStatus implements backend.Backend.
func (b *Backend) ArtifactStatus(ctx context.Context, req *connectpb.ArtifactStatusesRequest) (*connectpb.ArtifactStatusesResponse, error) {
	return call(ctx, b, req, b.svc.ArtifactStatus)
}

// AddArtifacts implements backend.Backend.
func (b *Backend) AddArtifacts(ctx context.Context, s backend.Session, artifacts iter.Seq2[backend.Artifact, error]) error {
	next, stop := iter.Pull2(artifacts)
	defer stop()
	_, err := b.svc.AddArtifacts(ctx, func() (*connectpb.AddArtifactsRequest, error) {
		a, err, ok := next()
		if !ok {
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		content := &connectpb.AddArtifactsRequest_ArtifactChunk{Data: a.Content, Crc: int64(crc32.ChecksumIEEE(a.Content))}
		return wire(b, &connectpb.AddArtifactsRequest{
			SessionId: s.ID, UserContext: &connectpb.UserContext{UserId: s.UserID},
			Payload: &connectpb.AddArtifactsRequest_Batch_{Batch: &connectpb.AddArtifactsRequest_Batch{
				Artifacts: []*connectpb.AddArtifactsRequest_SingleChunkArtifact{{Name: a.Name, Data: content}},
			}},
		})
	})
	return plain(err)
}

// RegisterFunction implements backend.Functions.
func (b *Backend) RegisterFunction(s backend.Session, id string, f any) error {
	return plain(b.svc.RegisterFunction(s.UserID, s.ID, id, f))
}

// NameFunction implements backend.Functions.
func (b *Backend) NameFunction(s backend.Session, name string, f any) error {
	return plain(b.svc.NameFunction(s.UserID, s.ID, name, f))
}

// Execute implements backend.Backend.
func (b *Backend) Execute(ctx context.Context, req *connectpb.ExecutePlanRequest) (backend.Responses, error) {
	req, err := wire(b, req)
	if err != nil {
		return nil, err
	}
	st, err := b.svc.ExecutePlan(ctx, req, connect.ExecuteOptions{Records: !b.exact})
	if err != nil {
		return nil, plain(err)
	}
	return &responses{b: b, ctx: ctx, st: st}, nil
}

// responses reads an operation that ends with its reader.
type responses struct {
	b   *Backend
	ctx context.Context
	st  *connect.Stream
}

// Next implements backend.Responses.
func (r *responses) Next() (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error) {
	msg, rec, err := r.st.Next(r.ctx)
	if err != nil {
		return nil, nil, plain(err)
	}
	msg, err = wire(r.b, msg)
	return msg, rec, err
}

// Close implements backend.Responses.
func (r *responses) Close() error {
	r.st.Close()
	return nil
}

// plain is an error as a remote client sees it: class, text, parameters and places, and causes that have a class.
func plain(err error) error {
	e, ok := errors.AsType[*errclass.Error](err)
	if !ok {
		return err // io.EOF, or the end of the caller's context
	}
	out := &errclass.Error{
		Class: e.Told(), SQLState: e.SQLState, Params: e.Params, Message: e.Message, Kind: errclass.Other, JavaClasses: e.Classes(),
	}
	for _, c := range e.Context {
		c.SQL = ""
		out.Context = append(out.Context, c)
	}
	if cause, ok := errors.AsType[*errclass.Error](e.Cause); ok {
		out.Cause = plain(cause)
	}
	return out
}
