package exec

import (
	"context"
	"io"
	"sync"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Observe passes rows on and computes aggregates over them on the way: Dataset.observe. Group has no keys; Result makes the named
// columns of its results.
type Observe struct {
	In     Op
	Name   string
	Group  *HashAgg
	Result *Project
	Schema types.StructType
}

// Observed collects what the Observe operators of one execution have seen.
type Observed struct {
	mu    sync.Mutex
	parts map[*Observe]map[int][]*vec.Vector
}

// Types implements Op.
func (o *Observe) Types() []types.DataType { return o.In.Types() }

// Inputs implements Op.
func (o *Observe) Inputs() []Op { return []Op{o.In} }

// Label implements Op.
func (o *Observe) Label() string { return "CollectMetrics " + o.Name }

// Parts implements Op.
func (o *Observe) Parts(ctx context.Context, t *Task) (Parts, error) {
	if t.Observed == nil {
		return o.In.Parts(ctx, t)
	}
	return mapParts(ctx, t, o.In, func(part int, in Stream) Stream {
		s := &observeStream{in: in, o: o, t: t, part: part, acc: o.Group.NewAccumulator(t), ev: NewEvaluator(t, part, o.Group.inputs())}
		s.acc.Grow(1)
		return s
	})
}

type observeStream struct {
	in     Stream
	o      *Observe
	t      *Task
	part   int
	acc    *Accumulator
	ev     *Evaluator
	groups []uint32
}

// Next implements Stream.
func (s *observeStream) Next(ctx context.Context) (*vec.Batch, error) {
	b, err := s.in.Next(ctx)
	if err == io.EOF {
		s.t.Observed.add(s.o, s.part, s.acc.Save([]uint32{0}))
	}
	if err != nil {
		return nil, err
	}
	cols, err := s.ev.ComputeAll(b)
	if err != nil {
		return nil, err
	}
	n := b.Rows()
	for len(s.groups) < n {
		s.groups = append(s.groups, 0)
	}
	s.acc.Update(s.groups, cols, n)
	if err := s.acc.Err(); err != nil {
		return nil, err
	}
	return b, nil
}

// Close implements Stream.
func (s *observeStream) Close() error { return s.in.Close() }

func (x *Observed) add(o *Observe, part int, states []*vec.Vector) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.parts == nil {
		x.parts = map[*Observe]map[int][]*vec.Vector{}
	}
	if x.parts[o] == nil {
		x.parts[o] = map[int][]*vec.Vector{}
	}
	x.parts[o][part] = states
}

// Row returns the one row of an Observe, with the columns of its Schema, after the execution has ended. Parts that were not read to
// their end do not count.
func (x *Observed) Row(ctx context.Context, t *Task, o *Observe) (*vec.Batch, error) {
	x.mu.Lock()
	parts := x.parts[o]
	x.mu.Unlock()
	acc := o.Group.NewAccumulator(t)
	acc.Grow(1)
	one := []uint32{0}
	for part, left := 0, len(parts); left > 0; part++ { // in order: first() and the like depend on it
		if states, ok := parts[part]; ok {
			acc.Merge(one, states)
			left--
		}
	}
	results, err := acc.Emit(one)
	if err != nil {
		return nil, err
	}
	named := &Project{In: &Values{Batches: []*vec.Batch{vec.NewBatch(1, results...)}, Out: o.Group.Types()}, Cols: o.Result.Cols}
	rows, err := Collect(ctx, t, named)
	if err != nil {
		return nil, err
	}
	return vec.ConcatBatches(rows), nil
}
