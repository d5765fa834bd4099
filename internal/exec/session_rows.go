package exec

import (
	"cmp"
	"context"
	"slices"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
)

// SessionRows are all rows of a shard: what they are grouped by, and the aggregates' arguments.
type SessionRows struct {
	Keys         []uint32 // the group of the row's keys in a table
	Starts, Ends []int64
	Args         []*vec.Vector
}

// GatherSessions puts chunks together and gives their keys numbers in a table, which grows by those that are new.
func GatherSessions(chunks []SessionChunk, table group.Table) *SessionRows {
	n := 0
	for _, c := range chunks {
		n += c.N
	}
	in := &SessionRows{Keys: make([]uint32, n), Starts: make([]int64, 0, n), Ends: make([]int64, 0, n)}
	if n == 0 {
		return in
	}
	in.Args = make([]*vec.Vector, len(chunks[0].Args))
	var fresh []uint32
	at := 0
	for _, c := range chunks {
		fresh = table.Resolve(c.Keys, c.N, true, in.Keys[at:at+c.N], fresh[:0])
		in.Starts, in.Ends = append(in.Starts, c.Starts...), append(in.Ends, c.Ends...)
		at += c.N
	}
	part := make([]*vec.Vector, len(chunks))
	for k := range in.Args {
		for i, c := range chunks {
			part[i] = c.Args[k]
		}
		in.Args[k] = vec.Concat(part)
	}
	return in
}

// Feed adds rows to an accumulator, in the order given: row rows[i] to groups[i].
func (in *SessionRows) Feed(ctx context.Context, acc *Accumulator, rows, groups []uint32) error {
	args, scratch := make([]*vec.Vector, len(in.Args)), make([]vec.Vector, len(in.Args))
	for len(rows) > 0 {
		n := min(len(rows), vec.BatchRows)
		for k, v := range in.Args {
			args[k] = vec.Take(v, rows[:n], &scratch[k])
		}
		acc.Update(groups[:n], args, n)
		if err := acc.Err(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, groups = rows[n:], groups[n:]
	}
	return nil
}

// SessionRow is a row as it is sorted: the window that it makes alone, and its number.
type SessionRow struct {
	Start, End int64
	Row        uint32
}

// SessionSorter brings rows into the order in which sessions are made of them: by key, then by start, end and number. Its slices
// are used again by the next Sort.
type SessionSorter struct {
	Rows []SessionRow
	// Keys are the keys that occur, by their first row; the rows of Keys[i] end at Upto[i] and begin where those of Keys[i-1] end.
	Keys []uint32
	Upto []int

	place []uint32 // by key: its place in Keys plus one; all zero between two sorts
	order []uint32
}

// Sort takes for each row its key, a number below limit, and its window.
func (s *SessionSorter) Sort(keys []uint32, starts, ends []int64, limit int) {
	if len(s.place) < limit {
		s.place = make([]uint32, limit+limit/4)
	}
	s.Keys, s.Upto = s.Keys[:0], s.Upto[:0]
	for _, k := range keys {
		if s.place[k] == 0 {
			s.Keys, s.Upto = append(s.Keys, k), append(s.Upto, 0)
			s.place[k] = uint32(len(s.Keys))
		}
		s.Upto[s.place[k]-1]++
	}
	at := 0
	for i, n := range s.Upto {
		s.Upto[i] = at
		at += n
	}
	s.Rows = slices.Grow(s.Rows[:0], len(keys))[:len(keys)]
	for i, k := range keys {
		p := &s.Upto[s.place[k]-1]
		s.Rows[*p] = SessionRow{Start: starts[i], End: ends[i], Row: uint32(i)}
		*p++ // ends up where the next key begins
	}
	from := 0
	for i, k := range s.Keys {
		s.place[k] = 0
		sortSession(s.Rows[from:s.Upto[i]])
		from = s.Upto[i]
	}
}

// Order are the numbers of the sorted rows.
func (s *SessionSorter) Order() []uint32 {
	s.order = slices.Grow(s.order[:0], len(s.Rows))[:len(s.Rows)]
	for i := range s.Rows {
		s.order[i] = s.Rows[i].Row
	}
	return s.order
}

// moves is how far on average insertion may move a row before sorting starts over by another method.
const moves = 12

// sortSession sorts the rows of one key. Events come nearly in order of time, so that inserting each where it belongs is quick; what
// does not is sorted in general.
func sortSession(rows []SessionRow) {
	left := moves * len(rows)
	for i := 1; i < len(rows); i++ {
		r := rows[i]
		j := i
		for j > 0 && rows[j-1].after(&r) {
			rows[j] = rows[j-1]
			j--
		}
		rows[j] = r
		if left -= i - j; left < 0 {
			slices.SortFunc(rows, func(a, b SessionRow) int {
				return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Row, b.Row))
			})
			return
		}
	}
}

// after tells whether r belongs behind o, whose number is higher.
func (r *SessionRow) after(o *SessionRow) bool {
	return r.Start > o.Start || r.Start == o.Start && r.End > o.End
}
