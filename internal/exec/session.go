package exec

import (
	"context"
	"fmt"
	"io"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// SessionAgg groups rows by keys of which one is a session window. Every row comes with the window that it would make alone; windows of
// the other keys' group that touch or overlap are one session, from the first start to the last end. Its output is that of the
// grouping, with the session in the place of the row's window.
//
// Rows go to shards by the other keys and are fed to the aggregates by time within a session. Sessions come out by shard and,
// within one, by the first row of their key and then by time.
type SessionAgg struct {
	Group *HashAgg
	// Session is the key that holds the row's window, a struct of start and end.
	Session int
}

// Types implements Op.
func (a *SessionAgg) Types() []types.DataType { return a.Group.Types() }

// Inputs implements Op.
func (a *SessionAgg) Inputs() []Op { return a.Group.Inputs() }

// Label implements Op.
func (a *SessionAgg) Label() string {
	return fmt.Sprintf("SessionWindowAggregate [%d keys, %d aggregates]", len(a.Group.Keys), len(a.Group.Aggs))
}

// KeyTypes are the types of the keys but the session.
func (a *SessionAgg) KeyTypes() []types.DataType {
	ts := append([]types.DataType(nil), a.Group.KeyTypes()...)
	return append(ts[:a.Session], ts[a.Session+1:]...)
}

// TimeType is the type of a session's start and end.
func (a *SessionAgg) TimeType() types.DataType { return vec.KidTypes(a.Group.Keys[a.Session].Type)[0] }

// SessionChunk is what one part sends to one shard: rows with their keys but the session, the windows that they make alone, and the
// arguments of the aggregates. Everything is Owned.
type SessionChunk struct {
	N            int
	Keys         []*vec.Vector
	Starts, Ends []int64
	Args         []*vec.Vector
}

// Shuffle runs the input and deals its rows out to shards by a function of the partition hash of their keys: the result has for every
// shard its chunks in the order of the parts. Rows without a window are left out.
func (a *SessionAgg) Shuffle(ctx context.Context, t *Task, shards int, shardOf func(hash uint32) int) ([][]SessionChunk, error) {
	ps, err := a.Group.In.Parts(ctx, t)
	if err != nil {
		return nil, err
	}
	perPart := make([][][]Chunk, ps.N)
	err = Run(ctx, t, ps, func(ctx context.Context, part int, s Stream) error {
		d := &dealer{shards: shards, shardOf: shardOf, out: make([][]Chunk, shards)}
		ev := NewEvaluator(t, part, a.Group.inputs())
		err := Drain(ctx, s, func(b *vec.Batch) error {
			cols, n, err := ev.Compute(b)
			if err == nil {
				a.deal(d, cols, n)
			}
			return err
		})
		if err == nil {
			err = ev.pending
		}
		perPart[part] = d.out
		return err
	})
	if err != nil {
		return nil, err
	}
	chunks := make([][]SessionChunk, shards)
	for _, out := range perPart {
		for s, cs := range out {
			for _, c := range cs {
				chunks[s] = append(chunks[s], SessionChunk{
					N: c.N, Keys: c.Keys, Starts: vec.Fixed[int64](c.Cols[0]), Ends: vec.Fixed[int64](c.Cols[1]), Args: c.Cols[2:],
				})
			}
		}
	}
	return chunks, nil
}

// deal cuts the rows of one batch: cols are the keys and the arguments.
func (a *SessionAgg) deal(d *dealer, cols []*vec.Vector, n int) {
	keys := len(a.Group.Keys)
	session := cols[a.Session].Flatten()
	start, end := session.Kids()[0], session.Kids()[1]
	valid := vec.AndInto(nil, session.Validity(), start.Validity(), n)
	valid = vec.AndInto(nil, valid, end.Validity(), n)
	var kept []uint32
	if valid.Count(n) < n {
		kept = make([]uint32, 0, n)
		for i := range n {
			if valid.Get(i) {
				kept = append(kept, uint32(i))
			}
		}
	}
	d.flat = d.flat[:0]
	for i, v := range cols[:keys] {
		if i != a.Session {
			d.flat = append(d.flat, v)
		}
	}
	d.flat = append(append(d.flat, start, end), cols[keys:]...)
	for i, v := range d.flat {
		if v.Encoding() == vec.Dict {
			v = v.Flatten()
		}
		if kept != nil {
			v = vec.Take(v, kept, nil)
		}
		d.flat[i] = v
	}
	if kept != nil {
		n = len(kept)
	}
	d.deal(false, d.flat[:keys-1], d.flat[keys-1:], n)
}

// Columns puts sessions together as the grouping's output has them: other keys, windows, results.
func (a *SessionAgg) Columns(keys []*vec.Vector, starts, ends []int64, results []*vec.Vector) []*vec.Vector {
	kids := []*vec.Vector{vec.NewFixed(a.TimeType(), len(starts)), vec.NewFixed(a.TimeType(), len(ends))}
	copy(vec.Fixed[int64](kids[0]), starts)
	copy(vec.Fixed[int64](kids[1]), ends)
	out := append(make([]*vec.Vector, 0, len(keys)+1+len(results)), keys[:a.Session]...)
	out = append(out, vec.NewStruct(a.Group.Keys[a.Session].Type, len(starts), kids))
	return append(append(out, keys[a.Session:]...), results...)
}

// Parts implements Op.
func (a *SessionAgg) Parts(ctx context.Context, t *Task) (Parts, error) {
	shards := t.Partitions
	if len(a.Group.Keys) == 1 {
		shards = 1
	}
	chunks, err := a.Shuffle(ctx, t, shards, func(hash uint32) int { return Shard(hash, shards) })
	if err != nil {
		return Parts{}, err
	}
	done := make([]*sessionStream, shards)
	err = Run(ctx, t, Parts{N: shards, Open: openNothing}, func(ctx context.Context, i int, _ Stream) error {
		s := &sessionStream{a: a, acc: a.Group.NewAccumulator(t), table: group.New(a.KeyTypes())}
		done[i] = s
		err := s.build(ctx, chunks[i])
		chunks[i] = nil
		return err
	})
	if err != nil {
		return Parts{}, err
	}
	return Parts{N: shards, Open: func(_ context.Context, i int) (Stream, error) { return done[i], nil }}, nil
}

// sessionStream holds the sessions of one shard, which are the groups of acc by number, and emits them.
type sessionStream struct {
	a     *SessionAgg
	acc   *Accumulator
	table group.Table

	keys         []uint32 // by session
	starts, ends []int64
	next         int // session to come out
}

// build makes sessions of all rows of the shard.
func (s *sessionStream) build(ctx context.Context, chunks []SessionChunk) error {
	in := GatherSessions(chunks, s.table)
	var sorter SessionSorter
	sorter.Sort(in.Keys, in.Starts, in.Ends, s.table.Cap())
	groups, from := make([]uint32, len(sorter.Rows)), 0
	for k, to := range sorter.Upto {
		var end int64
		for i := from; i < to; i++ {
			r := &sorter.Rows[i]
			if i == from || r.Start > end {
				s.keys, s.starts, s.ends = append(s.keys, sorter.Keys[k]), append(s.starts, r.Start), append(s.ends, r.End)
				end = r.End
			}
			end = max(end, r.End)
			s.ends[len(s.ends)-1] = end
			groups[i] = uint32(len(s.ends) - 1)
		}
		from = to
	}
	s.acc.Grow(len(s.keys))
	return in.Feed(ctx, s.acc, sorter.Order(), groups)
}

// Next implements Stream.
func (s *sessionStream) Next(context.Context) (*vec.Batch, error) {
	if s.next == len(s.keys) {
		return nil, io.EOF
	}
	from := s.next
	s.next = min(from+vec.BatchRows, len(s.keys))
	ids := make([]uint32, s.next-from)
	for i := range ids {
		ids[i] = uint32(from + i)
	}
	results, err := s.acc.Emit(ids)
	if err != nil {
		return nil, err
	}
	keys := s.table.Keys(s.keys[from:s.next])
	return vec.NewBatch(len(ids), s.a.Columns(keys, s.starts[from:s.next], s.ends[from:s.next], results)...), nil
}

// Close implements Stream.
func (s *sessionStream) Close() error { return nil }
