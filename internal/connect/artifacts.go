package connect

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// maxArtifact bounds an upload that is announced in chunks.
const maxArtifact = 4 << 30

// AddArtifacts takes an upload: next gives its messages, and io.EOF after the last.
func (s *Service) AddArtifacts(_ context.Context, next func() (*connectpb.AddArtifactsRequest, error)) (_ *connectpb.AddArtifactsResponse, err error) {
	defer s.guard(&err)
	var u *upload
	for {
		req, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if u == nil {
			h, err := s.session(req)
			if err != nil {
				return nil, err
			}
			u = &upload{h: h, resp: &connectpb.AddArtifactsResponse{SessionId: h.ID, ServerSideSessionId: h.ServerID}}
		}
		if err := u.take(req); err != nil {
			return nil, u.h.fail(err)
		}
	}
	if u == nil {
		return nil, errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", "an upload has no messages")
	}
	if u.left > 0 {
		return nil, u.h.fail(errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", "the upload of "+u.name+" ends before its last chunk"))
	}
	return u.resp, nil
}

// upload is one stream of artifacts.
type upload struct {
	h    *holder
	resp *connectpb.AddArtifactsResponse
	// The artifact that comes in chunks.
	name string
	data []byte
	size int64
	left int64
	good bool
}

func (u *upload) take(req *connectpb.AddArtifactsRequest) error {
	malformed := func(reason string) error {
		return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", reason)
	}
	switch k := req.GetPayload().(type) {
	case *connectpb.AddArtifactsRequest_Batch_:
		if u.left > 0 {
			return malformed("whole artifacts stand between the chunks of " + u.name)
		}
		for _, a := range k.Batch.GetArtifacts() {
			if err := u.keep(a.GetName(), a.GetData().GetData(), checksum(a.GetData())); err != nil {
				return err
			}
		}
	case *connectpb.AddArtifactsRequest_BeginChunk:
		b := k.BeginChunk
		if u.left > 0 {
			return malformed("an artifact begins between the chunks of " + u.name)
		}
		if b.GetNumChunks() < 1 || b.GetTotalBytes() < 0 || b.GetTotalBytes() > maxArtifact {
			return malformed("the artifact " + b.GetName() + " announces " + strconv.FormatInt(b.GetNumChunks(), 10) + " chunks and " +
				strconv.FormatInt(b.GetTotalBytes(), 10) + " bytes")
		}
		u.name, u.size, u.left, u.good = b.GetName(), b.GetTotalBytes(), b.GetNumChunks(), true
		u.data = nil
		return u.chunk(b.GetInitialChunk())
	case *connectpb.AddArtifactsRequest_Chunk:
		if u.left == 0 {
			return malformed("a chunk belongs to no artifact")
		}
		return u.chunk(k.Chunk)
	default:
		return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
			"fullName", "spark.connect.AddArtifactsRequest.payload", "name", "payload")
	}
	return nil
}

func checksum(c *connectpb.AddArtifactsRequest_ArtifactChunk) bool {
	return int64(crc32.ChecksumIEEE(c.GetData())) == c.GetCrc()
}

func (u *upload) chunk(c *connectpb.AddArtifactsRequest_ArtifactChunk) error {
	u.left--
	u.good = u.good && checksum(c)
	u.data = append(u.data, c.GetData()...)
	if int64(len(u.data)) > u.size {
		return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", "the artifact "+u.name+" is larger than it said")
	}
	if u.left > 0 {
		return nil
	}
	err := u.keep(u.name, u.data, u.good)
	u.data = nil
	return err
}

// keep notes the outcome for an artifact, and keeps one that arrived whole.
func (u *upload) keep(name string, data []byte, good bool) error {
	u.resp.Artifacts = append(u.resp.Artifacts, &connectpb.AddArtifactsResponse_ArtifactSummary{Name: name, IsCrcSuccessful: good})
	if !good {
		return nil
	}
	return u.h.PutArtifact(name, data)
}

// ArtifactStatus tells which uploads a session has.
func (s *Service) ArtifactStatus(_ context.Context, req *connectpb.ArtifactStatusesRequest) (_ *connectpb.ArtifactStatusesResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	resp := &connectpb.ArtifactStatusesResponse{
		SessionId: h.ID, ServerSideSessionId: h.ServerID, Statuses: map[string]*connectpb.ArtifactStatusesResponse_ArtifactStatus{},
	}
	for _, name := range req.GetNames() {
		_, exists := h.Artifact(name)
		resp.Statuses[name] = &connectpb.ArtifactStatusesResponse_ArtifactStatus{Exists: exists}
	}
	return resp, nil
}
