// Package engine links the engine into a program, so that millrace.Connect takes the addresses local, local[N] and local[*]:
//
//	import _ "github.com/millrace/millrace/engine"
//
// Serve makes a Spark Connect server of it. The package puts the parts together and registers the connectors; it owns nothing else. It
// is tested by the API's test-suite, which runs on both.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/backend/embedded"
	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/connect/grpcserver"
	"github.com/millrace/millrace/internal/connector"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/setting"
)

func init() {
	connector.RegisterAll()
	backend.RegisterEmbedded(func(_ context.Context, c backend.Config) (backend.Backend, error) {
		svc, err := newService(Options{Workers: c.Workers, Conf: c.Conf})
		if err != nil {
			return nil, err
		}
		return embedded.New(svc, c.Exact), nil
	})
}

// Options are how an engine is set up.
type Options struct {
	// Workers is the number of goroutines that compute side by side, 0 for one for each core.
	Workers int
	// Drain is how long streaming queries may finish their batches when the server is told to stop; 0 abandons them, and the next run
	// of the query does them again.
	Drain time.Duration
	// Conf are settings that sessions start with.
	Conf map[string]string
	// Functions are Go functions that all sessions of a server can call, from SQL and from any client, by their names: those that
	// millrace.UDF1 and its like make. They hide built-in functions of the same name.
	Functions map[string]Function
	// Log is told about the lives of queries and sessions; nil for silence.
	Log *slog.Logger
}

// Function is a function of a program, of the kind that expressions call.
type Function interface{ Function() any }

func newService(o Options) (*connect.Service, error) {
	rt, err := session.Runtime(engine.Runtime{Parallelism: o.Workers, Log: o.Log, Warehouse: o.Conf[setting.Warehouse]}, o.Conf)
	if err != nil {
		return nil, err
	}
	conf := map[string]string{"spark.master": "local[" + strconv.Itoa(rt.Parallelism) + "]"}
	maps.Copy(conf, o.Conf)
	sv := session.NewServer(rt, conf)
	functions := map[string]any{}
	for name, f := range o.Functions {
		if f != nil {
			functions[name] = f.Function()
		}
	}
	if err := sv.NameFunctions(functions); err != nil {
		return nil, err
	}
	return connect.New(sv, conf)
}

// stopTimeout bounds how long running work may take to end.
const stopTimeout = 10 * time.Second

// Serve serves Spark Connect on a listener until ctx ends, then ends all sessions with their queries.
func Serve(ctx context.Context, l net.Listener, o Options) error {
	svc, err := newService(o)
	if err != nil {
		return err
	}
	srv := grpcserver.New(svc)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	serving := true
	select {
	case err = <-failed:
		serving = false
	case <-ctx.Done():
	}
	if serving && o.Drain > 0 {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Drain)
		_ = svc.Drain(drain) // what has not ended by then is stopped below
		cancel()
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err = errors.Join(err, svc.Close(end))
	srv.Stop(end)
	if serving {
		if e := <-failed; !errors.Is(e, grpc.ErrServerStopped) {
			err = errors.Join(err, e)
		}
	}
	return err
}
