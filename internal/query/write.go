package query

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// WriteTo writes all rows as the one batch of a sink.
func (q *Query) WriteTo(ctx context.Context, snk sink.Sink) error {
	b, skip, err := snk.Begin(ctx, 0)
	if err != nil || skip {
		return err
	}
	messages, err := q.WriteParts(ctx, b)
	if err == nil {
		err = b.Commit(ctx, messages)
	}
	if err != nil {
		b.Abort(context.WithoutCancel(ctx))
	}
	return err
}

// WriteParts writes the parts of the result with one writer for each worker, who takes neighbouring parts: a result of many
// small parts does not become many small files.
func (q *Query) WriteParts(ctx context.Context, b sink.Batch) (_ []sink.Message, err error) {
	task, err := q.start(ctx)
	defer task.Memory.CloseInto(&err)
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
