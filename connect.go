package millrace

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/backend/remote"
	"github.com/millrace/millrace/internal/errclass"
)

// ConnectOption changes how Connect makes a session.
type ConnectOption func(*connectOptions)

type connectOptions struct {
	userID    string
	sessionID string
	conf      map[string]string
	console   io.Writer
	exact     bool // run the embedded engine as if it were behind a wire
}

// WithUserID names the user of the session. A server tells sessions apart by user and session id.
func WithUserID(id string) ConnectOption { return func(o *connectOptions) { o.userID = id } }

// WithSessionID joins the session of that id, a UUID, or makes it.
func WithSessionID(id string) ConnectOption { return func(o *connectOptions) { o.sessionID = id } }

// WithConf sets a configuration key before Connect returns. An engine in this process takes any key, a server only those that a session can
// change.
func WithConf(key, value string) ConnectOption {
	return func(o *connectOptions) {
		if o.conf == nil {
			o.conf = map[string]string{}
		}
		o.conf[key] = value
	}
}

// WithConsole names where queries of the session print to that write to the console: standard output unless set, of this process, also
// when a millrace server runs them.
func WithConsole(out io.Writer) ConnectOption { return func(o *connectOptions) { o.console = out } }

// connectTimeout bounds the first call to a server when ctx has no deadline.
const connectTimeout = 15 * time.Second

// Connect makes a session at an address:
//
//	local        the engine in this process, one worker
//	local[4]     the same with four workers
//	local[*]     the same with a worker for each core
//	sc://host    a Spark Connect server, millrace's or Spark's
//
// The engine in this process must be linked into the program:
//
//	import _ "github.com/millrace/millrace/engine"
//
// A server's address has the form sc://host:port/;key=value;... The port is 15002 unless given. The keys use_ssl, token, user_id,
// user_agent and session_id have a meaning; any other one goes along as a header with every call.
//
// Connect talks to the server once, so that a wrong address is found here.
func Connect(ctx context.Context, address string, opts ...ConnectOption) (*Session, error) {
	var o connectOptions
	for _, f := range opts {
		f(&o)
	}
	b, err := open(ctx, address, &o)
	if err != nil {
		return nil, err
	}
	if o.sessionID == "" {
		o.sessionID = uuid.NewString()
	}
	s := newSession(b, o.userID, o.sessionID)
	if o.console != nil {
		s.console = o.console
	}
	if err := s.begin(ctx, address, o.conf); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return s, nil
}

// open makes the backend that an address asks for.
func open(ctx context.Context, address string, o *connectOptions) (backend.Backend, error) {
	workers, ok, err := localWorkers(address)
	if err != nil {
		return nil, err
	}
	if ok {
		embedded := backend.EmbeddedFor(ctx)
		if embedded == nil {
			return nil, errclass.New("NO_EMBEDDED_ENGINE", "address", address)
		}
		conf := o.conf
		o.conf = nil // the engine starts with it, so that settings work that a session cannot change
		return embedded(ctx, backend.Config{Workers: workers, Conf: conf, Exact: o.exact})
	}
	a, err := remote.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	if o.userID == "" {
		o.userID = a.UserID
	}
	if o.sessionID == "" {
		o.sessionID = a.SessionID
	}
	return remote.Dial(a)
}

// localWorkers reads local, local[n] and local[*].
func localWorkers(address string) (workers int, ok bool, err error) {
	switch {
	case address == "local":
		return 1, true, nil
	case address == "local[*]":
		return runtime.GOMAXPROCS(0), true, nil
	case strings.HasPrefix(address, "local[") && strings.HasSuffix(address, "]"):
		n, err := strconv.Atoi(address[len("local[") : len(address)-1])
		if err != nil || n < 1 || n > maxWorkers {
			return 0, false, errclass.New("INVALID_CONNECT_URL", "detail", address)
		}
		return n, true, nil
	}
	return 0, false, nil
}

const maxWorkers = 1 << 10

// begin makes the first call of a session, which finds out whether the server is there, and sets its configuration.
func (s *Session) begin(ctx context.Context, address string, conf map[string]string) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, connectTimeout)
		defer cancel()
	}
	if _, err := s.Version(ctx); err != nil {
		if _, ok := errors.AsType[*Error](err); !ok {
			err = errclass.New("CONNECTION_FAILED", "address", address, "reason", err.Error()).WithCause(err)
		}
		return err
	}
	for _, key := range sortedKeys(conf) {
		if err := s.Conf().Set(ctx, key, conf[key]); err != nil {
			return err
		}
	}
	return nil
}
