package exec

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// SessionAgg groups rows by keys of which one is a session window. Every row comes with the window that it would make alone; windows of
// the other keys' group that touch or overlap are one session, from the first start to the last end. Its output is that of the
// grouping, with the session in the place of the row's window.
//
// Rows go to shards by the other keys and are fed to the aggregates by time within a session. Sessions come out by shard and,
// within one, by their keys and then by time.
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
		d := newDealer(a.Group, t, a.Group.chunkFiles(nil), shards, shardOf)
		d.keys-- // the window is dealt out among the arguments
		ev := NewEvaluator(t, part, a.Group.inputs())
		err := Drain(ctx, s, func(b *vec.Batch) error {
			cols, n, err := ev.Compute(b)
			if err != nil {
				return err
			}
			return a.deal(d, cols, n)
		})
		if err == nil {
			err = ev.pending
		}
		if err == nil {
			perPart[part], err = d.end()
		}
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
func (a *SessionAgg) deal(d *dealer, cols []*vec.Vector, n int) error {
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
	return d.deal(false, d.flat[:keys-1], d.flat[keys-1:], n)
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
	shards := t.Shards()
	if len(a.Group.Keys) == 1 {
		shards = 1
	}
	chunks, err := a.Shuffle(ctx, t, shards, t.Shard)
	if err != nil {
		return Parts{}, err
	}
	if t.Coalesce {
		chunks = joinFew(chunks)
		shards = len(chunks)
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

// joinFew makes one shard of all when they have few rows.
func joinFew(shards [][]SessionChunk) [][]SessionChunk {
	rows := 0
	for _, chunks := range shards {
		for _, c := range chunks {
			rows += c.N
		}
	}
	if rows > sortedGroups {
		return shards
	}
	return [][]SessionChunk{slices.Concat(shards...)}
}

// sessionStream holds the sessions of one shard, which are the groups of acc by number, and emits them.
type sessionStream struct {
	a     *SessionAgg
	acc   *Accumulator
	table group.Table

	keys         []uint32 // by session
	starts, ends []int64
	order        []uint32 // in which sessions come out
	next         int      // session to come out, by place in order
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
	s.arrange()
	return in.Feed(ctx, s.acc, sorter.Order(), groups)
}

// arrange orders sessions by key and start, as Spark's sort does; very many are left by the first row of the key.
func (s *sessionStream) arrange() {
	n := len(s.keys)
	if n > 0 && n <= sortedGroups {
		starts := vec.NewFixed(types.Long, n)
		copy(vec.Fixed[int64](starts), s.starts)
		s.order = vec.SortIndex(append(s.table.Keys(s.keys), starts), nil, n)
		return
	}
	s.order = make([]uint32, n)
	for i := range s.order {
		s.order[i] = uint32(i)
	}
}

// Next implements Stream.
func (s *sessionStream) Next(context.Context) (*vec.Batch, error) {
	if s.next == len(s.keys) {
		return nil, io.EOF
	}
	ids := s.order[s.next:min(s.next+vec.BatchRows, len(s.order))]
	s.next += len(ids)
	results, err := s.acc.Emit(ids)
	if err != nil {
		return nil, err
	}
	keys, starts, ends := make([]uint32, len(ids)), make([]int64, len(ids)), make([]int64, len(ids))
	for i, g := range ids {
		keys[i], starts[i], ends[i] = s.keys[g], s.starts[g], s.ends[g]
	}
	return vec.NewBatch(len(ids), s.a.Columns(s.table.Keys(keys), starts, ends, results)...), nil
}

// Close implements Stream.
func (s *sessionStream) Close() error { return nil }
