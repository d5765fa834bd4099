package connect

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/stream"
)

// Service runs Spark Connect requests. It is safe for use by several goroutines.
type Service struct {
	server   *session.Server
	settings Settings
	log      *slog.Logger
	clock    engine.Clock
	registry *stream.Registry

	ctx    context.Context // of everything that runs
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	sessions map[sessionKey]*holder
	closed   map[sessionKey]time.Time // released sessions, whose ids are refused
	closing  bool
}

// New returns a service over a server's sessions, with the limits that settings ask for. Close ends it.
func New(sv *session.Server, conf map[string]string) (*Service, error) {
	settings, err := settingsOf(conf)
	if err != nil {
		return nil, err
	}
	s := &Service{
		server: sv, settings: settings, log: sv.Runtime.Log, clock: sv.Runtime.Clock,
		sessions: map[sessionKey]*holder{}, closed: map[sessionKey]time.Time{}, registry: stream.NewRegistry(),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.sweepAll)
	return s, nil
}

// Close ends all sessions with their work and waits for them, but no longer than ctx lasts.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	var all []*holder
	for _, h := range s.sessions {
		if !h.twin { // they end with their originals, when what is done in them has ended
			all = append(all, h)
		}
	}
	clear(s.sessions)
	s.mu.Unlock()
	var err error // set before done is closed
	done := make(chan struct{})
	go func() { // owned by this call, which outlives it only when ctx ends first
		defer close(done)
		var wg sync.WaitGroup
		for _, h := range all {
			wg.Go(func() { h.close(ctx) })
		}
		wg.Wait()
		s.cancel()
		s.wg.Wait()
		err = s.server.Close()
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		s.cancel()
		return ctx.Err()
	}
}

// Drain lets the batches in flight of all streaming queries finish, as the last ones, but no longer than ctx lasts. Requests are served
// meanwhile, so that clients see their queries end.
func (s *Service) Drain(ctx context.Context) error {
	s.mu.Lock()
	var all []*holder
	for _, h := range s.sessions {
		all = append(all, h)
	}
	s.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, h := range all {
		wg.Go(func() { errs[i] = h.streams.Drain(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// sweepEvery is how often expired sessions and operations are looked for.
const sweepEvery = 15 * time.Second

func (s *Service) sweepAll() {
	for engine.Sleep(s.ctx, s.clock, sweepEvery) == nil {
		s.sweep()
	}
}

// sweep ends sessions and operations that nobody has asked about for too long.
func (s *Service) sweep() {
	now := s.clock.Now()
	var idle []*holder
	s.mu.Lock()
	for k, h := range s.sessions {
		if h.expire(now) {
			idle = append(idle, h)
			delete(s.sessions, k)
			s.closed[k] = now
		}
	}
	for k, at := range s.closed {
		if now.Sub(at) > closedFor {
			delete(s.closed, k)
		}
	}
	s.mu.Unlock()
	for _, h := range idle {
		s.log.Info("session expired", "session", h.ID)
		h.close(s.ctx)
	}
}

// closedFor is how long the id of a released session is refused.
const closedFor = 24 * time.Hour

// guard runs a request's work and turns a panic into an error.
func (s *Service) guard(err *error) {
	if v := recover(); v != nil {
		e := errclass.Recovered(v)
		s.log.Error("panic in a request", "error", e.Message, "stack", string(debug.Stack()))
		*err = e
	}
}
