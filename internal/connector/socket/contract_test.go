package socket

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// server sends the lines that it has to whoever connects, and new ones to all.
type server struct {
	net.Listener
	done chan struct{}

	mu    sync.Mutex
	lines int
	conns []net.Conn
}

func serve(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l, done: make(chan struct{})}
	go s.accept()
	t.Cleanup(func() {
		l.Close()
		<-s.done
		for _, c := range s.conns {
			c.Close()
		}
	})
	return s
}

func (s *server) accept() {
	defer close(s.done)
	for {
		c, err := s.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		for n := range s.lines {
			send(c, n)
		}
		s.mu.Unlock()
	}
}

// send sends a line. The connections of streams that are closed do not take it.
func send(c net.Conn, n int) { _, _ = fmt.Fprintf(c, "line %d\n", n) }

func (s *server) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 3 {
		for _, c := range s.conns {
			send(c, s.lines)
		}
		s.lines++
	}
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines
}

// settled is a socket whose streams see what the server has sent, as it were at once.
type settled struct {
	source.Streamer
	s *server
}

type settledStream struct {
	*stream
	s   *server
	got chan struct{} // nil when the tokens are for somebody else, who has to wait for the lines
}

func (d settled) Stream(ctx context.Context, env source.StreamEnv) (source.Stream, error) {
	inner, err := d.Streamer.Stream(ctx, env)
	if err != nil {
		return nil, err
	}
	s := &settledStream{stream: inner.(*stream), s: d.s, got: make(chan struct{}, 1)}
	s.stream.Notify(s.got)
	return s, nil
}

// Notify implements source.Notifier.
func (s *settledStream) Notify(news chan<- struct{}) {
	s.got = nil
	s.stream.Notify(news)
}

// LatestOffset waits for the lines that were sent. A call that is told to stop does not.
func (s *settledStream) LatestOffset(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, error) {
	for {
		end, err := s.stream.LatestOffset(ctx, start, limit)
		if err != nil || ctx.Err() != nil || s.got == nil {
			return end, err
		}
		if at, err := position(end); err != nil || at+1 == int64(s.s.count()) {
			return end, err
		}
		select {
		case <-s.got:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func TestContract(t *testing.T) {
	for name, options := range map[string]source.Options{"lines": {}, "with times": {"includeTimestamp": "true"}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			host, port, _ := net.SplitHostPort(s.Addr().String())
			options["host"], options["port"] = host, port
			sourcetest.Stream(t, sourcetest.StreamHarness{
				Open:     func(t *testing.T) source.Streamer { return settled{open(t, options).(source.Streamer), s} },
				Add:      func(*testing.T) { s.add() },
				Volatile: true,
			})
		})
	}
}
