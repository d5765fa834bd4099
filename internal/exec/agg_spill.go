package exec

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Chunks of a shard that is too large for a table in memory are dealt out again, to subShards by what the hash says beyond the shard. After
// maxSplits times a shard is taken as it is: what is left are a few groups.
const (
	subShards = 16
	maxSplits = 5
)

// load returns the chunk with its columns, wherever they are.
func (c Chunk) load(keys int) (Chunk, error) {
	if c.file == nil {
		return c, nil
	}
	b, err := c.file.Read(c.at)
	if err != nil {
		return c, err
	}
	c.Keys, c.Cols = b.Cols[:keys], b.Cols[keys:]
	return c, nil
}

// chunkTypes are the columns of a chunk, keys first.
func (h *HashAgg) chunkTypes(partial bool) []types.DataType {
	ts := append([]types.DataType(nil), h.KeyTypes()...)
	if !partial {
		return append(ts, TypesOf(h.inputs()[len(h.Keys):])...)
	}
	for _, f := range h.StateFields() {
		ts = append(ts, f.Type)
	}
	return ts
}

// chunkFiles are the files that dealers of one grouping share.
type chunkFiles struct {
	memory      *spill.Scope // nil without a limit
	groups, raw *spill.Set
}

func (h *HashAgg) chunkFiles(memory *spill.Scope) *chunkFiles {
	return &chunkFiles{memory, memory.NewSet(h.chunkTypes(true)), memory.NewSet(h.chunkTypes(false))}
}

func (f *chunkFiles) seal() error {
	if err := f.groups.Seal(); err != nil {
		return err
	}
	return f.raw.Seal()
}

// tableFactor is about how much larger the tables of all groups are than their chunks.
const tableFactor = 4

// tooLarge tells whether the tables of all shards would take more than there is.
func tooLarge(memory *spill.Scope, chunks [][]Chunk) bool {
	if memory == nil {
		return false
	}
	size := int64(0)
	for _, cs := range chunks {
		for i := range cs {
			size += cs[i].size
		}
	}
	return !memory.Grow(0) || tableFactor*size > memory.Limit()
}

// share is part of a shard of groups: splits is how often it was dealt out again.
type share struct {
	chunks []Chunk
	splits int
}

// sharedStream emits the groups of one shard, a share that fits into memory at a time.
type sharedStream struct {
	h      *HashAgg
	t      *Task
	shards int
	shares []share // the last one comes next
	groups aggStream
	held   int64
}

func (h *HashAgg) sharedParts(t *Task, chunks [][]Chunk) Parts {
	return Parts{N: len(chunks), Open: func(_ context.Context, i int) (Stream, error) {
		return &sharedStream{h: h, t: t, shards: len(chunks), shares: []share{{chunks: chunks[i]}}}, nil
	}}
}

// Close implements Stream.
func (s *sharedStream) Close() error {
	s.t.Memory.Release(s.held)
	s.held = 0
	return nil
}

// Next implements Stream.
func (s *sharedStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.groups.x != nil {
			if b, err := s.groups.Next(ctx); err != io.EOF {
				return b, err
			}
			s.groups = aggStream{}
			s.t.Memory.Release(s.held)
			s.held = 0
		}
		if len(s.shares) == 0 {
			return nil, io.EOF
		}
		if err := s.prepare(ctx); err != nil {
			return nil, err
		}
	}
}

// prepare groups the next share, or deals it out.
func (s *sharedStream) prepare(ctx context.Context) error {
	next := s.shares[len(s.shares)-1]
	s.shares = s.shares[:len(s.shares)-1]
	size := int64(0)
	for _, c := range next.chunks {
		size += c.size
	}
	if tableFactor*size > s.t.Memory.Limit()/int64(2*max(1, s.t.Workers)) && next.splits < maxSplits && len(s.h.Keys) > 0 {
		return s.split(ctx, next)
	}
	x := newHashTable(s.h, s.t)
	for i := range next.chunks {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := s.use(&next.chunks[i])
		if err == nil {
			err = x.take(c)
		}
		if err != nil {
			return err
		}
	}
	s.held = x.bytes()
	s.t.Memory.Grow(s.held)
	if len(s.h.Keys) == 0 {
		x.resolve(nil, 1)
	}
	s.groups = aggStream{x: x, live: x.table.Live(nil)}
	return nil
}

// use loads a chunk for the last time.
func (s *sharedStream) use(at *Chunk) (Chunk, error) {
	c, err := at.load(len(s.h.Keys))
	if at.file == nil {
		s.t.Memory.Release(at.size)
	}
	*at = Chunk{}
	return c, err
}

func (s *sharedStream) split(ctx context.Context, sh share) error {
	by := uint32(s.shards)
	for range sh.splits {
		by *= subShards
	}
	files := s.h.chunkFiles(s.t.Memory)
	d := newDealer(s.h, s.t, files, subShards, func(hash uint32) int { return int(hash / by % subShards) })
	for i := range sh.chunks {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := s.use(&sh.chunks[i])
		if err == nil {
			err = d.deal(c.Partial, c.Keys, c.Cols, c.N)
		}
		if err != nil {
			return err
		}
	}
	out, err := d.end()
	if err == nil {
		err = files.seal()
	}
	if err != nil {
		return err
	}
	for i := subShards - 1; i >= 0; i-- {
		if len(out[i]) > 0 {
			s.shares = append(s.shares, share{out[i], sh.splits + 1})
		}
	}
	return nil
}
