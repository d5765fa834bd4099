package exec

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/vec"
)

// joinHeaps is how many heaps both sides of a join are dealt out to when the build side does not fit into memory. One heap of the build
// side has to fit.
const joinHeaps = 64

// builder gathers the build side, in memory as long as it fits, then dealt out to heaps.
type builder struct {
	j    *HashJoin
	t    *Task
	ev   *Evaluator
	rows []*vec.Batch
	held int64
	pile *pile // nil as long as it fits
}

func (b *builder) add(in *vec.Batch) error {
	if b.pile != nil {
		return b.t.dealRows(b.pile, b.ev, in)
	}
	b.rows = append(b.rows, in)
	size := int64(in.SizeBytes())
	b.held += size
	if b.t.Memory.Grow(size) || len(b.j.BuildKeys) == 0 || b.held < minSpill(b.t.Memory) {
		return nil
	}
	b.pile = newPile(b.t.Memory, b.t.Memory.NewSet(b.j.Build.Types()), joinHeaps)
	b.t.Memory.Release(b.held)
	for i, in := range b.rows {
		b.rows[i] = nil
		if err := b.t.dealRows(b.pile, b.ev, in); err != nil {
			return err
		}
	}
	b.rows, b.held = nil, 0
	return nil
}

// dealRows puts the rows of a batch on heaps by the hash of some keys.
func (t *Task) dealRows(p *pile, keys *Evaluator, in *vec.Batch) error {
	in = in.Compact(nil)
	cols, err := keys.ComputeAll(in)
	if err != nil {
		return err
	}
	sel := make([][]uint32, len(p.heaps))
	for i, h := range vec.PartitionHash(flattened(cols), in.N, nil)[:in.N] {
		sel[h%uint32(len(sel))] = append(sel[h%uint32(len(sel))], uint32(i))
	}
	for i, s := range sel {
		if len(s) > 0 {
			if err := p.add(i, (&vec.Batch{N: in.N, Cols: in.Cols, Sel: s}).Own()); err != nil {
				return err
			}
		}
	}
	return nil
}

// heaped joins heap by heap: each is a part. Rows come out in the order of the heaps.
func (j *HashJoin) heaped(ctx context.Context, t *Task, build *pile) (Parts, error) {
	if err := build.files.Seal(); err != nil {
		return Parts{}, err
	}
	ps, err := j.Probe.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	probe := make([]*pile, ps.N)
	files := t.Memory.NewSet(j.Probe.Types())
	err = Run(ctx, t, ps, func(ctx context.Context, i int, s Stream) error {
		probe[i] = newPile(t.Memory, files, joinHeaps)
		ev := NewEvaluator(t, i, j.ProbeKeys)
		err := Drain(ctx, s, func(b *vec.Batch) error { return t.dealRows(probe[i], ev, b) })
		if err == nil {
			err = probe[i].end()
		}
		return err
	})
	if err == nil {
		err = files.Seal()
	}
	if err != nil {
		return Parts{}, err
	}
	return Parts{N: joinHeaps, Open: func(ctx context.Context, i int) (Stream, error) {
		list, err := loadAll(build.heaps[i])
		if err != nil {
			return nil, err
		}
		bt, err := j.table(t, list)
		if err != nil {
			return nil, err
		}
		in := &pieces{}
		for _, p := range probe {
			in.list = append(in.list, p.heaps[i]...)
		}
		s := &heapStream{j: j, bt: bt, t: t, held: int64(bt.rows.SizeBytes()), in: j.probe(t, i, in, bt)}
		t.Memory.Grow(s.held)
		return s, nil
	}}, nil
}

func loadAll(list []piece) ([]*vec.Batch, error) {
	out := make([]*vec.Batch, len(list))
	for i, p := range list {
		var err error
		if out[i], err = p.load(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pieces are the rows of a heap as a stream.
type pieces struct{ list []piece }

// Next implements Stream.
func (s *pieces) Next(context.Context) (*vec.Batch, error) {
	if len(s.list) == 0 {
		return nil, io.EOF
	}
	p := s.list[0]
	s.list = s.list[1:]
	return p.load()
}

// Close implements Stream.
func (s *pieces) Close() error { return nil }

// heapStream joins one heap.
type heapStream struct {
	j    *HashJoin
	t    *Task
	in   Stream
	bt   *built
	held int64
	rest []*vec.Batch // build rows without a match
	done bool
}

// Next implements Stream.
func (s *heapStream) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.done {
		b, err := s.in.Next(ctx)
		if err != io.EOF {
			return b, err
		}
		s.done = true
		if s.j.Kind == JoinFull {
			s.rest = s.j.unmatched(s.bt)
		}
	}
	if len(s.rest) == 0 {
		return nil, io.EOF
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b, nil
}

// Close implements Stream.
func (s *heapStream) Close() error {
	s.t.Memory.Release(s.held)
	s.held = 0
	return s.in.Close()
}
