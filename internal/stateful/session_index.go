package stateful

import (
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// sessionIndex links the sessions of each key that are in memory, in the order of time. Rows that were loaded wait: what their keys
// are is asked when somebody looks for sessions.
type sessionIndex struct {
	types []types.DataType
	keys  group.Table
	head  []int32  // by key: the row of its first session, or -1
	next  []int32  // by row: the next session of its key, or -1
	keyOf []uint32 // by row: its key, or one of the two below
	start []int64

	pending     []uint32 // rows that wait, and rows that did once
	waits, rows int      // how many wait, how many are linked
}

// What keyOf holds for a row that is in no chain.
const (
	unlinked = group.None
	waiting  = group.None - 1
)

func newSessionIndex(keyTypes []types.DataType) *sessionIndex {
	return &sessionIndex{types: keyTypes, keys: group.New(keyTypes)}
}

// grow makes room for rows 0 to n-1.
func (x *sessionIndex) grow(n int) {
	for len(x.next) < n {
		x.next, x.keyOf, x.start = append(x.next, -1), append(x.keyOf, unlinked), append(x.start, 0)
	}
}

// await notes rows that were loaded. Those that are linked stay where they are: a session keeps its key and start.
func (x *sessionIndex) await(rows []uint32) {
	for _, r := range rows {
		if x.keyOf[r] == unlinked {
			x.keyOf[r] = waiting
			x.pending = append(x.pending, r)
			x.waits++
		}
	}
}

// remove forgets rows.
func (x *sessionIndex) remove(rows []uint32) {
	for _, r := range rows {
		switch key := x.keyOf[r]; key {
		case unlinked:
		case waiting:
			x.waits--
		default:
			x.rows--
			if last := x.before(key, int32(r)); last < 0 {
				x.head[key] = x.next[r]
			} else {
				x.next[last] = x.next[r]
			}
		}
		x.keyOf[r] = unlinked
	}
	if len(x.pending) > 2*x.waits+minIndexed {
		x.take()
	}
}

// before is the row before r in a key's chain, or -1.
func (x *sessionIndex) before(key uint32, r int32) int32 {
	last := int32(-1)
	for at := x.head[key]; at != r; at = x.next[at] {
		last = at
	}
	return last
}

// take leaves in pending the rows that wait, once each.
func (x *sessionIndex) take() {
	waits := x.pending[:0]
	for _, r := range x.pending {
		if x.keyOf[r] == waiting {
			x.keyOf[r] = unlinked
			waits = append(waits, r)
		}
	}
	for _, r := range waits {
		x.keyOf[r] = waiting
	}
	x.pending = waits
}

// minIndexed keeps small indexes from being made anew.
const minIndexed = 1 << 12

// update links the rows that wait, whose keys and ends the table and its values know.
func (x *sessionIndex) update(table state.Table, ends []int64) {
	if x.keys.Cap() > 2*x.rows+minIndexed {
		x.restart()
	}
	if x.waits == 0 {
		return
	}
	x.take()
	rows := x.pending
	ids, starts := make([]uint32, len(rows)), make([]int64, 0, len(rows))
	var fresh []uint32
	for at := 0; at < len(rows); at += vec.BatchRows {
		part := rows[at:min(at+vec.BatchRows, len(rows))]
		cols := table.Keys(part)
		other := len(cols) - 1
		fresh = x.keys.Resolve(cols[:other], len(part), true, ids[at:at+len(part)], fresh[:0])
		starts = append(starts, vec.Fixed[int64](cols[other].Flatten())...)
	}
	x.growKeys()
	var order exec.SessionSorter
	order.Sort(ids, starts, takeLongs(ends, rows), x.keys.Cap())
	from := 0
	for k, key := range order.Keys {
		x.merge(key, rows, order.Rows[from:order.Upto[k]])
		from = order.Upto[k]
	}
	x.rows += len(rows)
	x.pending, x.waits = nil, 0
}

// restart forgets keys that have no session any more: all linked rows wait again.
func (x *sessionIndex) restart() {
	for r, key := range x.keyOf {
		if key != unlinked && key != waiting {
			x.keyOf[r] = waiting
			x.pending = append(x.pending, uint32(r))
			x.waits++
		}
	}
	x.keys, x.head, x.rows = group.New(x.types), nil, 0
}

func (x *sessionIndex) growKeys() {
	for len(x.head) < x.keys.Cap() {
		x.head = append(x.head, -1)
	}
}

// merge puts sessions, sorted by time, into a key's chain. They are numbered as rows lists them.
func (x *sessionIndex) merge(key uint32, rows []uint32, sorted []exec.SessionRow) {
	last, old := int32(-1), x.head[key]
	for i := range sorted {
		for old >= 0 && x.start[old] <= sorted[i].Start {
			last, old = old, x.next[old]
		}
		last = x.link(key, last, rows[sorted[i].Row], sorted[i].Start)
		x.next[last] = old
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

// unlink takes the sessions of a key out of its chain, which is made anew.
func (x *sessionIndex) unlink(key uint32) {
	for r := x.head[key]; r >= 0; r = x.next[r] {
		x.keyOf[r] = unlinked
		x.rows--
	}
	x.head[key] = -1
}

// Bytes estimates the memory held.
func (x *sessionIndex) Bytes() int64 {
	return x.keys.Bytes() + int64(cap(x.head)+cap(x.next)+cap(x.keyOf)+cap(x.pending))*4 + int64(cap(x.start))*8
}
