package session

import (
	"context"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// Write is a batch write to a sink of the registry.
type Write struct {
	Plan plan.Node
	// Format is empty for the default of the session.
	Format      string
	Path        string
	Mode        sink.Mode
	Options     map[string]string
	PartitionBy []string
	Buckets     *catalog.Buckets  // of a table that is made
	Properties  map[string]string // of a table that is made
	MustExist   bool              // for tables that are overwritten
	ByName      bool              // the columns that are inserted are matched by name, not by position
}

// SinkEnv is what sinks are lent.
func (s *Session) SinkEnv() sink.Env {
	rt := s.server.Runtime
	return sink.Env{Now: rt.Clock.Now, Log: rt.Log, Zone: s.Zone(), Conf: s.Conf.Value, Session: s}
}

// SinkFormat finds a sink by its name, which may be empty for the session's default.
func (s *Session) SinkFormat(name string) (string, sink.Format, error) {
	if name == "" {
		name = s.Conf.Value(setting.Source)
	}
	if f := sink.Lookup(name); f != nil {
		return name, f, nil
	}
	if source.Lookup(name) != nil {
		return name, nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "writing format "+name)
	}
	return name, nil, errclass.New("DATA_SOURCE_NOT_FOUND", "provider", name)
}

// Write computes a plan and writes its rows. It returns the observed metrics of the plan.
func (s *Session) Write(ctx context.Context, w Write) ([]query.Observation, error) {
	if observed, done, err := s.writeDelta(ctx, w); done {
		return observed, err
	}
	name, format, err := s.SinkFormat(w.Format)
	if err != nil {
		return nil, err
	}
	n, err := s.Analyze(ctx, w.Plan)
	if err != nil {
		return nil, err
	}
	if n.Streaming() {
		return nil, errclass.New("CALL_ON_STREAMING_DATASET_UNSUPPORTED", "methodName", errclass.Ident("write"))
	}
	q, err := s.PrepareResolved(n, "write")
	if err != nil {
		return nil, err
	}
	if p, ok := sink.Options(w.Options).Get("path"); ok && w.Path == "" {
		w.Path = p
	}
	snk, err := format.Open(ctx, sink.Request{
		Format: name, Schema: q.Schema, Options: w.Options, Path: w.Path, PartitionBy: w.PartitionBy, Mode: w.Mode, Env: s.SinkEnv(),
	})
	if err != nil {
		return nil, err
	}
	err = q.WriteTo(ctx, snk)
	if cerr := snk.Close(); err == nil {
		err = cerr
	}
	if w.Path != "" {
		if cerr := s.RefreshPath(w.Path); err == nil {
			err = cerr
		}
	}
	return q.Observed(), err
}
