package stateful

import (
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// sessionValues are the sessions of one shard as the value columns of a table.
type sessionValues struct {
	s    *Session
	t    *exec.Task
	acc  *exec.Accumulator
	ends longs // by row; NoTime where there is no session
	low  int64 // no session ends earlier
	// index finds the sessions of a key. It is nil when rows were loaded since it was made; whoever needs it makes it anew.
	index *sessionIndex
}

func (v *sessionValues) Grow(n int) {
	v.acc.Grow(n)
	v.ends.Grow(n)
}

func (v *sessionValues) Load(rows []uint32, cols []*vec.Vector) error {
	v.index = nil
	if err := v.ends.Load(rows, cols[:1]); err != nil {
		return err
	}
	for _, r := range rows {
		v.low = min(v.low, v.ends.xs[r])
	}
	v.acc.Clear(rows)
	v.acc.Merge(rows, cols[1:])
	return v.acc.Err()
}

func (v *sessionValues) Save(rows []uint32) []*vec.Vector {
	return append(v.ends.Save(rows), v.acc.Save(rows)...)
}

func (v *sessionValues) Clear(rows []uint32) {
	v.ends.Clear(rows)
	v.acc.Clear(rows)
}

func (v *sessionValues) Reset() {
	v.acc, v.ends, v.low, v.index = v.s.Group.Group.NewAccumulator(v.t), longs{empty: state.NoTime}, state.NoTime, nil
}

// Bytes estimates the memory held.
func (v *sessionValues) Bytes() int64 {
	n := v.acc.Bytes() + v.ends.Bytes()
	if x := v.index; x != nil {
		n += x.keys.Bytes() + int64(cap(x.head)+cap(x.next)+cap(x.keyOf))*4 + int64(cap(x.start))*8
	}
	return n
}

// sessionIndex links the sessions of each key in the order of time.
type sessionIndex struct {
	keys  group.Table
	head  []int32 // by key: the row of its first session, or -1
	next  []int32 // by row: the next session of its key, or -1
	keyOf []uint32
	start []int64
}

// indexed returns the index of the sessions in the table.
func (v *sessionValues) indexed(table state.Table) (*sessionIndex, error) {
	if v.index != nil {
		return v.index, nil
	}
	x := &sessionIndex{keys: group.New(v.s.Group.KeyTypes())}
	rows, err := table.All(nil)
	if err != nil {
		return nil, err
	}
	ids, starts, ends := make([]uint32, len(rows)), make([]int64, 0, len(rows)), make([]int64, 0, len(rows))
	var fresh []uint32
	for at := 0; at < len(rows); at += vec.BatchRows {
		part := rows[at:min(at+vec.BatchRows, len(rows))]
		cols := table.Keys(part)
		other := len(cols) - 1
		fresh = x.keys.Resolve(cols[:other], len(part), true, ids[at:at+len(part)], fresh[:0])
		starts = append(starts, vec.Fixed[int64](cols[other].Flatten())...)
	}
	for _, r := range rows {
		ends = append(ends, v.ends.xs[r])
	}
	var order exec.SessionSorter
	order.Sort(ids, starts, ends, x.keys.Cap())
	x.grow(len(v.ends.xs))
	from := 0
	for k, key := range order.Keys {
		last := int32(-1)
		for _, o := range order.Rows[from:order.Upto[k]] {
			last = x.link(key, last, rows[o.Row], o.Start)
		}
		from = order.Upto[k]
	}
	v.index = x
	return x, nil
}

// grow makes room for all keys, and for rows 0 to n-1.
func (x *sessionIndex) grow(n int) {
	for len(x.head) < x.keys.Cap() {
		x.head = append(x.head, -1)
	}
	for len(x.next) < n {
		x.next, x.keyOf, x.start = append(x.next, -1), append(x.keyOf, 0), append(x.start, 0)
	}
}

// link makes a row the last of its key's chain, behind row last or, when that is -1, as the first. It returns the row.
func (x *sessionIndex) link(key uint32, last int32, row uint32, start int64) int32 {
	x.next[row], x.keyOf[row], x.start[row] = -1, key, start
	if last < 0 {
		x.head[key] = int32(row)
	} else {
		x.next[last] = int32(row)
	}
	return int32(row)
}

// sweep takes rows out of their chains. They are those whose end, in ends, is NoTime.
func (x *sessionIndex) sweep(rows []uint32, ends []int64) {
	for _, r := range rows {
		key, last := x.keyOf[r], int32(-1)
		next := x.head[key]
		x.head[key] = -1
		for next >= 0 {
			at := next
			next = x.next[at]
			if ends[at] != state.NoTime {
				last = x.link(key, last, uint32(at), x.start[at])
			}
		}
	}
}
