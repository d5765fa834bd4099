package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/connect/grpcserver"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/session"
)

type serveCmd struct {
	Host      string            `help:"Address to listen on." default:"127.0.0.1"`
	Port      int               `help:"Port to listen on." default:"15002"`
	Listen    string            `help:"Address and port in one, in place of --host and --port."`
	Conf      map[string]string `help:"Settings that sessions start with (key=value)." short:"c" mapsep:"none"`
	Workers   int               `help:"How many goroutines compute at a time; all cores by default."`
	Warehouse string            `help:"Directory of tables." default:"spark-warehouse"`
	Drain     time.Duration     `help:"How long streaming queries may finish their batches after SIGINT or SIGTERM; 0 abandons them." default:"5s" name:"drain-timeout"`
	LogLevel  slog.Level        `help:"Least level of what is logged." default:"INFO"`
}

// stopWithin is how long running work may take to end after a signal.
const stopWithin = 8 * time.Second

// Run serves until the context ends.
func (s *serveCmd) Run(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: s.LogLevel}))
	address := s.Listen
	if address == "" {
		address = net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
	}
	registerConnectors()
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	rt, err := session.Runtime(engine.Runtime{Log: log, Parallelism: s.Workers, Warehouse: s.Warehouse}, s.Conf)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(rt.Memory.Process()) // near it the collector runs more often, so that what is held is most of what is taken
	}
	conf := map[string]string{"spark.master": "local[" + strconv.Itoa(rt.Parallelism) + "]"}
	for k, v := range s.Conf {
		conf[k] = v
	}
	svc, err := connect.New(session.NewServer(rt, conf), conf)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	srv := grpcserver.New(svc)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	log.Info("serving Spark Connect", "url", "sc://"+l.Addr().String())
	select {
	case err = <-failed:
	case <-ctx.Done():
		log.Info("stopping")
	}
	if err == nil && s.Drain > 0 {
		drain, cancel := context.WithTimeout(context.Background(), s.Drain)
		if derr := svc.Drain(drain); derr != nil {
			log.Warn("some batches did not finish in time and are run again by the next run of their query", "timeout", s.Drain)
		}
		cancel()
	}
	end, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if cerr := svc.Close(end); cerr != nil {
		log.Warn("some work did not end in time", "error", cerr)
	}
	srv.Stop(end)
	return err
}
