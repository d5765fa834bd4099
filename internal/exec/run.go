package exec

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
)

// Run reads all parts with up to t.Workers goroutines, which take the parts in ordinal order, and calls each once for every
// part. It returns when all have ended. Of several errors it returns that of the lowest part, which does not depend on timing
// as long as parts fail by themselves.
func Run(ctx context.Context, t *Task, p Parts, each func(ctx context.Context, i int, s Stream) error) error {
	workers := max(1, min(t.Workers, p.N))
	if workers == 1 {
		for i := range p.N {
			if err := runPart(ctx, p, i, each); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu     sync.Mutex
		next   int
		failed = p.N
		first  error
		wg     sync.WaitGroup
	)
	for range workers {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= failed
				mu.Unlock()
				if i >= p.N || stop {
					return
				}
				if err := runPart(ctx, p, i, each); err != nil {
					mu.Lock()
					if i < failed {
						failed, first = i, err
					}
					mu.Unlock()
					// Lower parts run on: one of them may hold the error that comes first.
				}
			}
		})
	}
	wg.Wait()
	return first
}

func runPart(ctx context.Context, p Parts, i int, each func(ctx context.Context, i int, s Stream) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errclass.Internal(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := p.Open(ctx, i)
	if err != nil {
		return err
	}
	defer s.Close()
	return each(ctx, i, s)
}

// Drain reads a stream to its end and yields between batches, so that short queries get in between long ones.
func Drain(ctx context.Context, s Stream, each func(b *vec.Batch) error) error {
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(b); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
}

// gatherAhead is how many batches a part may be ahead of the reader of Gather.
const gatherAhead = 16

// Gather hands all batches to each, in ordinal order, while later parts are computed ahead within bounds. Batches are Owned.
// An error of each ends it; the error ErrStop ends it without being returned.
func Gather(ctx context.Context, t *Task, p Parts, each func(b *vec.Batch) error) error {
	workers := max(1, min(t.Workers, p.N))
	if workers == 1 {
		for i := range p.N {
			err := runPart(ctx, p, i, func(ctx context.Context, _ int, s Stream) error {
				return Drain(ctx, s, func(b *vec.Batch) error { return each(b.Own()) })
			})
			if err == ErrStop {
				return nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return gatherParallel(ctx, p, workers, each)
}

// ErrStop ends Gather early.
var ErrStop = fmt.Errorf("exec: stop")

func gatherParallel(ctx context.Context, p Parts, workers int, each func(b *vec.Batch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	type part struct {
		i       int
		batches chan *vec.Batch
		err     error // set before batches is closed
	}
	// Parts are taken in order, and only as many as the two channels hold are ahead of the reader.
	work, order := make(chan *part), make(chan *part, workers)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(work)
		defer close(order)
		for i := range p.N {
			q := &part{i: i, batches: make(chan *vec.Batch, gatherAhead)}
			select {
			case order <- q:
			case <-ctx.Done():
				return
			}
			select {
			case work <- q:
			case <-ctx.Done():
				q.err = ctx.Err()
				close(q.batches)
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for q := range work {
				q.err = runPart(ctx, p, q.i, func(ctx context.Context, _ int, s Stream) error {
					return Drain(ctx, s, func(b *vec.Batch) error {
						select {
						case q.batches <- b.Own():
							return nil
						case <-ctx.Done():
							return ctx.Err()
						}
					})
				})
				close(q.batches)
			}
		})
	}
	err := func() error {
		for q := range order {
			for b := range q.batches {
				if err := each(b); err != nil {
					return err
				}
			}
			if q.err != nil {
				return q.err
			}
		}
		return ctx.Err()
	}()
	cancel()
	wg.Wait()
	if err == ErrStop {
		return nil
	}
	return err
}

// Collect returns all rows as Owned batches in ordinal order.
func Collect(ctx context.Context, t *Task, op Op) ([]*vec.Batch, error) {
	p, err := op.Parts(ctx, t)
	if err != nil {
		return nil, err
	}
	var out []*vec.Batch
	err = Gather(ctx, t, p, func(b *vec.Batch) error {
		out = append(out, b)
		return nil
	})
	return out, err
}
