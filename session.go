package millrace

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Session is a connection to an engine together with what belongs to one user of it: configuration, temporary views, streaming
// queries. It is safe for use by several goroutines.
type Session struct {
	backend *sharedBackend
	user    string
	id      string

	serverID atomic.Pointer[string] // the server's own id of the session, once known
	planIDs  atomic.Int64
	uploads  uploads
	bus      listenerBus

	// parent is the session that a streaming query was started in, whose functions this one is for; nil for any other session.
	parent     *Session
	attendants attendants
	millrace   atomic.Pointer[bool] // whether the server is millrace, once known
	console    io.Writer            // where queries print to that write to the console of a server

	observations sync.Map // plan id of an Observe to its *Observation
	subqueries   sync.Map // plan id of a DataFrame that is used within an expression to its *connectpb.Relation

	closing sync.Once
	closed  atomic.Bool
	err     error // of closing
}

// sharedBackend is closed with the last of the sessions that use it.
type sharedBackend struct {
	backend.Backend
	sessions atomic.Int64
}

func newSession(b backend.Backend, user, id string) *Session {
	return (&sharedBackend{Backend: b}).session(user, id)
}

func (b *sharedBackend) session(user, id string) *Session {
	b.sessions.Add(1)
	s := &Session{backend: b, user: user, id: id, console: os.Stdout}
	s.bus.s = s
	return s
}

func (b *sharedBackend) release() error {
	if b.sessions.Add(-1) > 0 {
		return nil
	}
	return b.Close()
}

// clientType is what the server is told about the client.
var clientType = fmt.Sprintf("_SPARK_CONNECT_GO millrace os/%s go/%s", runtime.GOOS, runtime.Version())

// ID is the session's id, a UUID.
func (s *Session) ID() string { return s.id }

// closeTimeout bounds the calls that say good-bye to the server.
const closeTimeout = 10 * time.Second

// Close ends the session: its streaming queries are stopped, its views and results are dropped. A second Close returns what the first
// did. A listener must not call it, nor a function of a streaming query: it waits for them. The session of a streaming query ends
// with the query, and Close does nothing.
func (s *Session) Close() error {
	if s.parent != nil {
		return nil
	}
	s.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		req := &connectpb.ReleaseSessionRequest{SessionId: s.id, UserContext: s.userContext(), ClientType: &clientType}
		_, err := s.backend.ReleaseSession(ctx, req)
		s.closed.Store(true)
		s.bus.close()
		s.attendants.close()
		s.err = firstError(err, s.backend.release())
	})
	return s.err
}

// NewSession makes a session with a configuration, views and queries of its own on the same connection. Each of the two must be closed.
func (s *Session) NewSession(ctx context.Context) (*Session, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	fresh := s.backend.session(s.user, uuid.NewString())
	fresh.console = s.console
	if _, err := fresh.Version(ctx); err != nil {
		return nil, firstError(err, s.backend.release())
	}
	return fresh, nil
}

// Clone makes a session that starts with the configuration and the temporary views of this one.
func (s *Session) Clone(ctx context.Context) (*Session, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	id := uuid.NewString()
	r, err := s.backend.CloneSession(ctx, &connectpb.CloneSessionRequest{
		SessionId: s.id, UserContext: s.userContext(), ClientType: &clientType, ClientObservedServerSideSessionId: s.observed(), NewSessionId: &id,
	})
	if err != nil {
		return nil, err
	}
	twin := s.backend.session(s.user, r.GetNewSessionId())
	twin.console = s.console
	twin.serverID.Store(proto.String(r.GetNewServerSideSessionId()))
	return twin, nil
}

// Version is the version of Spark that the server implements.
func (s *Session) Version(ctx context.Context) (string, error) {
	r, err := s.analyze(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_SparkVersion_{SparkVersion: &connectpb.AnalyzePlanRequest_SparkVersion{}},
	})
	if err != nil {
		return "", err
	}
	return r.GetSparkVersion().GetVersion(), nil
}

// InterruptAll cancels what runs in the session, except streaming queries, and returns the ids of the operations.
func (s *Session) InterruptAll(ctx context.Context) ([]string, error) {
	return s.interrupt(ctx, &connectpb.InterruptRequest{InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_ALL})
}

// InterruptTag cancels the operations that carry a tag. See WithTags.
func (s *Session) InterruptTag(ctx context.Context, tag string) ([]string, error) {
	return s.interrupt(ctx, &connectpb.InterruptRequest{
		InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_TAG, Interrupt: &connectpb.InterruptRequest_OperationTag{OperationTag: tag},
	})
}

// InterruptOperation cancels an operation.
func (s *Session) InterruptOperation(ctx context.Context, id string) ([]string, error) {
	return s.interrupt(ctx, &connectpb.InterruptRequest{
		InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_OPERATION_ID, Interrupt: &connectpb.InterruptRequest_OperationId{OperationId: id},
	})
}

func (s *Session) interrupt(ctx context.Context, req *connectpb.InterruptRequest) ([]string, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	req.SessionId, req.UserContext, req.ClientType, req.ClientObservedServerSideSessionId = s.id, s.userContext(), &clientType, s.observed()
	r, err := s.backend.Interrupt(ctx, req)
	if err != nil {
		return nil, err
	}
	return r.GetInterruptedIds(), s.answered(r)
}

type tagsKey struct{}

// WithTags returns a context whose operations carry tags, besides those that ctx brings along. InterruptTag cancels by tag.
func WithTags(ctx context.Context, tags ...string) context.Context {
	all := slices.Clone(tagsOf(ctx))
	for _, t := range tags {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return context.WithValue(ctx, tagsKey{}, all)
}

func tagsOf(ctx context.Context) []string {
	tags, _ := ctx.Value(tagsKey{}).([]string)
	return tags
}

// open tells whether the session can be used.
func (s *Session) open() error {
	if s.closed.Load() {
		return errclass.New("SESSION_CLOSED")
	}
	return nil
}

func (s *Session) userContext() *connectpb.UserContext {
	if s.user == "" {
		return nil
	}
	return &connectpb.UserContext{UserId: s.user, UserName: s.user}
}

// observed is the server's id of the session as requests carry it.
func (s *Session) observed() *string { return s.serverID.Load() }

// answered checks that a response comes from the session that was asked, and notes the server's id for it.
func (s *Session) answered(r interface {
	GetSessionId() string
	GetServerSideSessionId() string
},
) error {
	if id := r.GetSessionId(); id != "" && id != s.id {
		return errclass.New("UNEXPECTED_RESPONSE", "reason", "it is for the session "+id+", not "+s.id)
	}
	id := r.GetServerSideSessionId()
	if id == "" || s.serverID.CompareAndSwap(nil, &id) || *s.serverID.Load() == id {
		return nil
	}
	return errclass.New("INVALID_HANDLE.SESSION_CHANGED", "handle", s.id)
}

func (s *Session) nextPlanID() int64 { return s.origin().planIDs.Add(1) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
