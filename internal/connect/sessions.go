package connect

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/stream"
)

type sessionKey struct{ user, id string }

// holder is a session with its operations and errors.
type holder struct {
	*session.Session
	svc    *Service
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // operations

	mu        sync.Mutex
	used      time.Time
	ops       map[string]*operation
	abandoned releasedIDs
	errs      errorLog
	closed    bool
	sub       *subscription         // of the listener bus, or nil
	starts    map[*operation]string // starts of streaming queries that clients have not read to the end, with the run or ""

	attending map[string]*attendance // queries that clients attend, by run

	streams *stream.Manager
	twin    bool // it is for the functions of a query, and ends with them
}

// header is what requests have in common.
type header interface {
	GetSessionId() string
	GetUserContext() *connectpb.UserContext
}

type observer interface {
	GetClientObservedServerSideSessionId() string
}

// isUUID tells whether a handle has the one form that clients send.
func isUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// looseUUID reads a UUID as Java does, which takes groups of hexadecimal digits of any case that are too short, and gives it in its
// one form.
func looseUUID(s string) (string, bool) {
	parts := strings.Split(s, "-")
	if len(s) > 36 || len(parts) != 5 {
		return "", false
	}
	for i, digits := range []int{8, 4, 4, 4, 12} {
		n, err := strconv.ParseUint(parts[i], 16, 64)
		if err != nil || len(parts[i]) > digits {
			return "", false
		}
		parts[i] = fmt.Sprintf("%0*x", digits, n)
	}
	return strings.Join(parts, "-"), true
}

// session finds the session of a request, or makes it.
func (s *Service) session(req header) (*holder, error) {
	id := req.GetSessionId()
	if !isUUID(id) {
		return nil, errclass.New("INVALID_HANDLE.FORMAT", "handle", id)
	}
	key := sessionKey{req.GetUserContext().GetUserId(), id}
	observed := ""
	if o, ok := req.(observer); ok {
		observed = o.GetClientObservedServerSideSessionId()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, gone := s.closed[key]; gone || s.closing {
		return nil, errclass.New("INVALID_HANDLE.SESSION_CLOSED", "handle", id)
	}
	h := s.sessions[key]
	if h == nil {
		if observed != "" {
			return nil, errclass.New("INVALID_HANDLE.SESSION_CHANGED", "handle", id)
		}
		h = s.newHolder(s.server.New(key.user, id))
		s.sessions[key] = h
		return h, nil
	}
	if observed != "" && observed != h.ServerID {
		return nil, errclass.New("INVALID_HANDLE.SESSION_CHANGED", "handle", id)
	}
	h.touch()
	return h, nil
}

func (s *Service) newHolder(ss *session.Session) *holder {
	h := &holder{
		Session: ss, svc: s, used: s.clock.Now(), ops: map[string]*operation{},
		starts: map[*operation]string{}, attending: map[string]*attendance{},
	}
	h.streams = stream.NewManager(s.server.Runtime, s.registry)
	h.ctx, h.cancel = context.WithCancel(s.ctx)
	return h
}

func (h *holder) touch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used = h.svc.clock.Now()
}

// expire forgets old operations and errors, and tells whether the session itself has had its time.
func (h *holder) expire(now time.Time) bool {
	h.mu.Lock()
	var stale []*operation
	for id, op := range h.ops {
		if op.detachedFor(now) > h.svc.settings.DetachedTimeout {
			stale = append(stale, op)
			delete(h.ops, id)
			h.abandoned.add(id)
		}
	}
	h.errs.expire(now)
	busy := len(h.ops) > 0 || h.streaming()
	idle := !busy && !h.twin && now.Sub(h.used) > h.svc.settings.SessionTimeout
	h.mu.Unlock()
	for _, op := range stale {
		op.cancel(errAbandoned)
	}
	return idle
}

// releasedIDs are the operations that were released last. Their ids are refused: a client that sends one again has lost its answer.
type releasedIDs struct {
	set  map[string]struct{}
	ring []string
	next int
}

// maxReleased is how many released operations a session remembers.
const maxReleased = 10_000

func (r *releasedIDs) add(id string) {
	if r.set == nil {
		r.set = map[string]struct{}{}
	}
	r.set[id] = struct{}{}
	if len(r.ring) < maxReleased {
		r.ring = append(r.ring, id)
		return
	}
	delete(r.set, r.ring[r.next])
	r.ring[r.next] = id
	r.next = (r.next + 1) % maxReleased
}

func (r *releasedIDs) has(id string) bool {
	_, ok := r.set[id]
	return ok
}

// close ends the session's work and waits for it, but no longer than ctx lasts.
func (h *holder) close(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.closeStreams(ctx)
	h.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.wg.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// ReleaseSession ends a session. Its id is refused afterwards unless the client wants to use it again.
func (s *Service) ReleaseSession(ctx context.Context, req *connectpb.ReleaseSessionRequest) (_ *connectpb.ReleaseSessionResponse, err error) {
	defer s.guard(&err)
	id := req.GetSessionId()
	if !isUUID(id) {
		return nil, errclass.New("INVALID_HANDLE.FORMAT", "handle", id)
	}
	key := sessionKey{req.GetUserContext().GetUserId(), id}
	s.mu.Lock()
	h := s.sessions[key]
	delete(s.sessions, key)
	if req.GetAllowReconnect() {
		delete(s.closed, key)
	} else {
		s.closed[key] = s.clock.Now()
	}
	s.mu.Unlock()
	resp := &connectpb.ReleaseSessionResponse{SessionId: id}
	if h != nil {
		resp.ServerSideSessionId = h.ServerID
		h.close(ctx)
	}
	return resp, nil
}

// CloneSession copies a session's settings and temporary views into a new one.
func (s *Service) CloneSession(_ context.Context, req *connectpb.CloneSessionRequest) (_ *connectpb.CloneSessionResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	id := req.GetNewSessionId()
	if req.NewSessionId == nil || id == "" {
		id = uuid.NewString()
	}
	if !isUUID(id) {
		return nil, errclass.New("INVALID_HANDLE.FORMAT", "handle", id)
	}
	key := sessionKey{h.User, id}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, gone := s.closed[key]; gone {
		return nil, errclass.New("INVALID_HANDLE.SESSION_CLOSED", "handle", id)
	}
	if s.sessions[key] != nil {
		return nil, errclass.New("CANNOT_CLONE_SESSION", "handle", h.ID, "reason", "there is a session "+id+" already")
	}
	c := s.newHolder(h.Clone(id))
	s.sessions[key] = c
	return &connectpb.CloneSessionResponse{
		SessionId: h.ID, ServerSideSessionId: h.ServerID, NewSessionId: id, NewServerSideSessionId: c.ServerID,
	}, nil
}
