package stateful

import (
	"context"
	"slices"
	"time"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// sessionShard is the work of one micro-batch on one shard.
type sessionShard struct {
	s      *Session
	batch  *Batch
	bounds Bounds
	table  state.Table
	values *sessionValues

	made    []session // all sessions of the keys that this batch touches, key by key in the order of time
	joins   []join
	rounds  int
	lateSet group.Table // what was late, to be counted once

	updated, joined, late, lateRows, updateNanos int64
}

// session is one as it is after this batch.
type session struct {
	start, end int64
	key        uint32
	row        uint32 // of the table; None until a new one has got it
	changed    bool   // rows or other sessions have come in
	round      int
	fed        bool // rows of this round have come in
}

// join is a stored session that becomes part of another. Sessions are fed in the order of time: a stored one comes behind the rows
// before it. That is done in rounds, each of which merges stored sessions first and then adds rows.
type join struct {
	from  uint32 // row of the table
	to    int    // of made
	round int
}

// update brings the rows of this batch into the state.
func (s *sessionShard) update(ctx context.Context, chunks []exec.SessionChunk) error {
	began := time.Now()
	defer func() { s.updateNanos = time.Since(began).Nanoseconds() }()
	switch {
	case s.s.Timed && s.s.MergeFirst:
		chunks = s.mergedOnTime(chunks)
	case s.s.Timed:
		chunks = s.onTime(chunks)
	}
	if len(chunks) == 0 {
		return nil
	}
	for _, c := range chunks {
		if err := s.table.Gather(c.Keys, c.N); err != nil {
			return err
		}
	}
	x := s.values.index
	x.update(s.table, s.values.ends.xs)
	in := exec.GatherSessions(chunks, x.keys)
	x.growKeys()
	var sorter exec.SessionSorter
	sorter.Sort(in.Keys, in.Starts, in.Ends, x.keys.Cap())
	to, rounds := s.plan(x, &sorter)
	if err := s.place(x); err != nil {
		return err
	}
	for i, t := range to {
		to[i] = s.made[t].row
	}
	if err := s.feed(ctx, in, sorter.Order(), to, rounds); err != nil {
		return err
	}
	s.store(x)
	return nil
}

// onTime leaves out the rows whose own window ended before the late bound. Unlike other groupings this one does so in complete mode,
// too. What is counted are the different windows of different keys, as Spark does, which groups by them first.
func (s *sessionShard) onTime(chunks []exec.SessionChunk) []exec.SessionChunk {
	kept := chunks[:0]
	for _, c := range chunks {
		var late, rest []uint32
		for i, end := range c.Ends {
			if end <= s.bounds.Late {
				late = append(late, uint32(i))
			}
		}
		if len(late) == 0 {
			kept = append(kept, c)
			continue
		}
		s.countLate(c, late)
		for i, end := range c.Ends {
			if end > s.bounds.Late {
				rest = append(rest, uint32(i))
			}
		}
		kept = appendRows(kept, c, rest)
	}
	return kept
}

func appendRows(kept []exec.SessionChunk, c exec.SessionChunk, rows []uint32) []exec.SessionChunk {
	if len(rows) == 0 {
		return kept
	}
	return append(kept, exec.SessionChunk{
		N: len(rows), Keys: take(c.Keys, rows), Starts: takeLongs(c.Starts, rows), Ends: takeLongs(c.Ends, rows), Args: take(c.Args, rows),
	})
}

func (s *sessionShard) countLate(c exec.SessionChunk, late []uint32) {
	if s.lateSet == nil {
		s.lateSet = group.New(append(s.s.Group.KeyTypes(), longType, longType))
	}
	keys := append(take(c.Keys, late), longsOf(takeLongs(c.Starts, late)), longsOf(takeLongs(c.Ends, late)))
	s.late += int64(len(s.lateSet.Resolve(keys, len(late), true, make([]uint32, len(late)), nil)))
	s.lateRows += int64(len(late))
}

func longsOf(xs []int64) *vec.Vector {
	v := vec.NewFixed(longType, len(xs))
	copy(vec.Fixed[int64](v), xs)
	return v
}

// plan makes sessions of the sorted rows and of what is stored of their keys. It returns for every row its session in made, and the
// round in which it is fed. Where a row and a stored session start together, the stored one comes first, so that it stays.
func (s *sessionShard) plan(x *sessionIndex, in *exec.SessionSorter) (to []uint32, rounds []int) {
	to, rounds = make([]uint32, len(in.Rows)), make([]int, len(in.Rows))
	ends := s.values.ends.xs
	i := 0
	for k, key := range in.Keys {
		stored := x.head[key]
		var cur *session
		for stored >= 0 || i < in.Upto[k] {
			if stored >= 0 && (i == in.Upto[k] || x.start[stored] <= in.Rows[i].Start) {
				row := uint32(stored)
				stored = x.next[stored]
				if cur == nil || x.start[row] > cur.end {
					s.made = append(s.made, session{start: x.start[row], end: ends[row], key: key, row: row})
					cur = &s.made[len(s.made)-1]
					continue
				}
				if cur.fed {
					cur.round, cur.fed = cur.round+1, false
					s.rounds = max(s.rounds, cur.round)
				}
				cur.end, cur.changed = max(cur.end, ends[row]), true
				s.joins = append(s.joins, join{from: row, to: len(s.made) - 1, round: cur.round})
				continue
			}
			r := &in.Rows[i]
			if cur == nil || r.Start > cur.end {
				s.made = append(s.made, session{start: r.Start, end: r.End, key: key, row: group.None})
				cur = &s.made[len(s.made)-1]
			}
			cur.end, cur.changed, cur.fed = max(cur.end, r.End), true, true
			to[i], rounds[i] = uint32(len(s.made)-1), cur.round
			i++
		}
	}
	return to, rounds
}

// place gives new sessions their rows in the table.
func (s *sessionShard) place(x *sessionIndex) error {
	var fresh, keys, scratch []uint32
	for i := range s.made {
		if s.made[i].row == group.None {
			fresh, keys = append(fresh, uint32(i)), append(keys, s.made[i].key)
		}
	}
	rows := make([]uint32, vec.BatchRows)
	for len(fresh) > 0 {
		n := min(len(fresh), vec.BatchRows)
		starts := vec.NewFixed(s.s.Group.TimeType(), n)
		for i, m := range fresh[:n] {
			vec.Fixed[int64](starts)[i] = s.made[m].start
		}
		cols := append(x.keys.Keys(keys[:n]), starts)
		var err error
		if scratch, err = s.table.Resolve(cols, n, true, rows[:n], scratch[:0]); err != nil {
			return err
		}
		for i, m := range fresh[:n] {
			s.made[m].row = rows[i]
		}
		fresh, keys = fresh[n:], keys[n:]
	}
	return nil
}

// feed adds rows and merges stored sessions: rows[i] goes to row to[i] of the table.
func (s *sessionShard) feed(ctx context.Context, in *exec.SessionRows, rows, to []uint32, rounds []int) error {
	acc := s.values.acc
	if len(s.joins) == 0 {
		return in.Feed(ctx, acc, rows, to)
	}
	slices.SortStableFunc(s.joins, func(a, b join) int { return a.round - b.round })
	// Rows by round, in their order.
	upto := make([]int, s.rounds+2)
	for _, r := range rounds {
		upto[r+1]++
	}
	for r := range s.rounds + 1 {
		upto[r+1] += upto[r]
	}
	at := slices.Clone(upto)
	sorted, groups := make([]uint32, len(rows)), make([]uint32, len(rows))
	for i, r := range rounds {
		sorted[at[r]], groups[at[r]] = rows[i], to[i]
		at[r]++
	}
	joins := s.joins
	for r := range s.rounds + 1 {
		var from, into []uint32
		for len(joins) > 0 && joins[0].round == r {
			from, into = append(from, joins[0].from), append(into, s.made[joins[0].to].row)
			joins = joins[1:]
		}
		if len(from) > 0 {
			acc.Merge(into, acc.Save(from))
			if err := acc.Err(); err != nil {
				return err
			}
		}
		if err := in.Feed(ctx, acc, sorted[upto[r]:upto[r+1]], groups[upto[r]:upto[r+1]]); err != nil {
			return err
		}
	}
	return nil
}

// store notes what the sessions of the touched keys have become. All of them count as updated, as Spark writes them all.
func (s *sessionShard) store(x *sessionIndex) {
	gone, touched := make([]uint32, len(s.joins)), make([]uint32, 0, len(s.made))
	for i, j := range s.joins {
		gone[i] = j.from
	}
	last := int32(-1)
	for i := range s.made {
		m := &s.made[i]
		if i == 0 || s.made[i-1].key != m.key {
			x.unlink(m.key)
			last = -1
		}
		last = x.link(m.key, last, m.row, m.start)
		if m.changed {
			s.values.ends.xs[m.row] = m.end
			touched = append(touched, m.row)
		}
	}
	x.rows += len(s.made)
	s.table.Delete(gone)
	s.table.Touch(touched)
	s.updated, s.joined = int64(len(s.made)), int64(len(gone))
}

// emit computes the results of rows, at most a batch.
func (s *sessionShard) emit(rows []uint32) (*vec.Batch, error) {
	results, err := s.values.acc.Emit(rows)
	if err != nil {
		return nil, err
	}
	keys := s.table.Keys(rows)
	other := len(keys) - 1
	starts := vec.Fixed[int64](keys[other].Flatten())
	return vec.NewBatch(len(rows), s.s.Group.Columns(keys[:other], starts, takeLongs(s.values.ends.xs, rows), results)...), nil
}
