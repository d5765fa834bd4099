package session

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
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
}

// SinkEnv is what sinks are lent.
func (s *Session) SinkEnv() sink.Env {
	rt := s.server.Runtime
	return sink.Env{Now: rt.Clock.Now, Log: rt.Log, Zone: s.Zone(), Conf: s.Conf.Value, Session: s}
}

// SinkFormat finds a sink by its name, which may be empty for the session's default.
func (s *Session) SinkFormat(name string) (string, sink.Format, error) {
	if name == "" {
		name = s.Conf.Value(KeySource)
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
func (s *Session) Write(ctx context.Context, w Write) ([]Observation, error) {
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
	return q.Observed(), err
}

// WriteTo writes all rows as the one batch of a sink.
func (q *Query) WriteTo(ctx context.Context, snk sink.Sink) error {
	b, skip, err := snk.Begin(ctx, 0)
	if err != nil || skip {
		return err
	}
	messages, err := q.writeParts(ctx, b)
	if err == nil {
		err = b.Commit(ctx, messages)
	}
	if err != nil {
		b.Abort(context.WithoutCancel(ctx))
	}
	return err
}

// writeParts writes the parts of the result with one writer for each worker, who takes neighbouring parts: a result of many
// small parts does not become many small files.
func (q *Query) writeParts(ctx context.Context, b sink.Batch) ([]sink.Message, error) {
	task, err := q.start(ctx)
	if err != nil {
		return nil, err
	}
	parts := task.parts
	groups := max(1, min(parts.N, task.Workers))
	grouped := exec.Parts{N: groups, Open: func(_ context.Context, g int) (exec.Stream, error) {
		return &chain{parts: parts, next: g * parts.N / groups, end: (g + 1) * parts.N / groups}, nil
	}}
	messages := make([]sink.Message, groups)
	wrote := make([]bool, groups)
	schema := types.ArrowSchema(q.Schema, types.ArrowOptions{})
	err = exec.Run(ctx, &task.Task, grouped, func(ctx context.Context, g int, s exec.Stream) error {
		var w sink.Writer
		err := exec.Drain(ctx, s, func(rows *vec.Batch) error {
			if w == nil {
				var err error
				if w, err = b.Writer(ctx, g); err != nil {
					return err
				}
			}
			return exec.WriteBatch(ctx, w, rows, schema)
		})
		if w == nil {
			return err
		}
		if err != nil {
			w.Abort()
			return err
		}
		messages[g], err = w.Close(ctx)
		wrote[g] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := q.finish(ctx, task); err != nil {
		return nil, err
	}
	var out []sink.Message
	for g, m := range messages {
		if wrote[g] {
			out = append(out, m)
		}
	}
	if out != nil {
		return out, nil
	}
	// An empty result is a file with nothing but its schema.
	w, err := b.Writer(ctx, 0)
	if err != nil {
		return nil, err
	}
	m, err := w.Close(ctx)
	if err != nil {
		return nil, err
	}
	return []sink.Message{m}, nil
}

// chain reads neighbouring parts one after the other.
type chain struct {
	parts     exec.Parts
	next, end int
	cur       exec.Stream
}

// Next implements exec.Stream.
func (c *chain) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if c.cur == nil {
			if c.next == c.end {
				return nil, io.EOF
			}
			s, err := c.parts.Open(ctx, c.next)
			if err != nil {
				return nil, err
			}
			c.cur = s
			c.next++
		}
		b, err := c.cur.Next(ctx)
		if err != io.EOF {
			return b, err
		}
		err = c.cur.Close()
		c.cur = nil
		if err != nil {
			return nil, err
		}
	}
}

// Close implements exec.Stream.
func (c *chain) Close() error {
	if c.cur == nil {
		return nil
	}
	return c.cur.Close()
}
