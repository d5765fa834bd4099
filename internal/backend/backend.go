// Package backend is the seam between the public API and whoever runs its plans.
//
// The API builds Spark Connect messages and nothing else. A Backend runs them: package remote sends them over gRPC, package embedded
// hands them to the service in this process. The two must be indistinguishable; no feature works past the protocol.
//
// The suite of the root package tests both.
package backend

import (
	"context"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/connectpb"
)

// Backend runs Spark Connect requests. Requests are not changed once they are passed. Errors that the server reports are
// *errclass.Error.
type Backend interface {
	Execute(ctx context.Context, req *connectpb.ExecutePlanRequest) (Responses, error)
	Analyze(ctx context.Context, req *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error)
	Config(ctx context.Context, req *connectpb.ConfigRequest) (*connectpb.ConfigResponse, error)
	Interrupt(ctx context.Context, req *connectpb.InterruptRequest) (*connectpb.InterruptResponse, error)
	CloneSession(ctx context.Context, req *connectpb.CloneSessionRequest) (*connectpb.CloneSessionResponse, error)
	ReleaseSession(ctx context.Context, req *connectpb.ReleaseSessionRequest) (*connectpb.ReleaseSessionResponse, error)
	ArtifactStatus(ctx context.Context, req *connectpb.ArtifactStatusesRequest) (*connectpb.ArtifactStatusesResponse, error)
	// AddArtifacts uploads named contents into a session.
	AddArtifacts(ctx context.Context, session Session, artifacts iter.Seq2[Artifact, error]) error
	Close() error
}

// Functions is implemented by backends that run in the program's own process, hence can run its functions.
type Functions interface {
	// RegisterFunction makes a function known to a session, under an id by which plans name it. It does no I/O.
	RegisterFunction(session Session, id string, f any) error
	// NameFunction makes a function known to a session under a name by which SQL calls it.
	NameFunction(session Session, name string, f any) error
}

// Session names a session in requests that are made by the backend itself.
type Session struct{ ID, UserID string }

// Artifact is a named content.
type Artifact struct {
	Name    string
	Content []byte
}

// Responses yields the responses of one execution.
type Responses interface {
	// Next returns the next response, or io.EOF. An Arrow result travels either as IPC bytes inside the message or as the record
	// beside a message whose data field is empty.
	Next() (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error)
	Close() error
}

// Config is how an embedded engine is to be set up.
type Config struct {
	// Workers is the number of goroutines that work side by side, 0 for one for each core.
	Workers int
	// Conf are settings that sessions start with.
	Conf map[string]string
	// Exact makes every message and every record take the form that it would have on a wire, so that a test finds what gets past
	// the protocol.
	Exact bool
}

// Embedded makes a backend that runs in this process.
type Embedded func(ctx context.Context, c Config) (Backend, error)

var (
	mu       sync.Mutex
	embedded Embedded
)

// RegisterEmbedded makes the embedded engine known. Package engine calls it when it is linked into a program.
func RegisterEmbedded(e Embedded) {
	mu.Lock()
	defer mu.Unlock()
	embedded = e
}

type embeddedKey struct{}

// WithEmbedded returns a context in which another embedded engine takes the place of the registered one: that of package milltest,
// whose clock and files belong to a test.
func WithEmbedded(ctx context.Context, e Embedded) context.Context {
	return context.WithValue(ctx, embeddedKey{}, e)
}

// EmbeddedFor returns the embedded engine for sessions that are made under ctx, or nil when the program does not link one.
func EmbeddedFor(ctx context.Context) Embedded {
	if e, ok := ctx.Value(embeddedKey{}).(Embedded); ok {
		return e
	}
	return LookupEmbedded()
}

// LookupEmbedded returns the embedded engine that was registered, or nil when the program does not link it.
func LookupEmbedded() Embedded {
	mu.Lock()
	defer mu.Unlock()
	return embedded
}
