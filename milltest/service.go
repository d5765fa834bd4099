package milltest

import (
	"context"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/session"
)

// service is the engine in this process as a backend.
type service struct{ *connect.Service }

func newService(rt *engine.Runtime) service {
	return service{connect.New(session.NewServer(rt, nil), connect.SettingsOf(nil))}
}

type stream struct {
	ctx context.Context
	s   *connect.Stream
}

func (s stream) Next() (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error) {
	return s.s.Next(s.ctx)
}
func (s stream) Close() error { s.s.Close(); return nil }

func (s service) Execute(ctx context.Context, req *connectpb.ExecutePlanRequest) (backend.Responses, error) {
	st, err := s.ExecutePlan(ctx, req, connect.ExecuteOptions{Records: true})
	if err != nil {
		return nil, err
	}
	return stream{ctx, st}, nil
}

func (s service) Analyze(ctx context.Context, req *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	return s.AnalyzePlan(ctx, req)
}

func (s service) AddArtifacts(ctx context.Context, id backend.Session, artifacts iter.Seq2[backend.Artifact, error]) error {
	next, stop := iter.Pull2(artifacts)
	defer stop()
	_, err := s.Service.AddArtifacts(ctx, func() (*connectpb.AddArtifactsRequest, error) {
		a, err, ok := next()
		if !ok {
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		return &connectpb.AddArtifactsRequest{
			SessionId: id.ID, UserContext: &connectpb.UserContext{UserId: id.UserID},
			Payload: &connectpb.AddArtifactsRequest_Batch_{Batch: &connectpb.AddArtifactsRequest_Batch{
				Artifacts: []*connectpb.AddArtifactsRequest_SingleChunkArtifact{{
					Name: a.Name, Data: &connectpb.AddArtifactsRequest_ArtifactChunk{Data: a.Content},
				}},
			}},
		}, nil
	})
	return err
}

func (s service) Close() error { return s.Service.Close(context.Background()) }
