package stateful

import (
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// chains finds the rows of a join by the join key, which several of them share. Rows are numbered by the caller, in ascending order;
// those of one key and side are found in the order in which they were added.
type chains struct {
	keys  group.Table
	sides [2]chainEnds
	next  []int32 // by row: the next row of its key and side, or -1
	dead  vec.Bitmap
	ids   []uint32
}

// chainEnds are by key the first and the last row of one side, or -1.
type chainEnds struct{ head, tail []int32 }

func newChains(keyTypes []types.DataType) *chains { return &chains{keys: group.New(keyTypes)} }

// find returns the key of each of n rows; group.None where there is none yet, unless it is to be added. The result is valid until the
// next call.
func (c *chains) find(keys []*vec.Vector, n int, insert bool) []uint32 {
	if cap(c.ids) < n {
		c.ids = make([]uint32, max(n, vec.BatchRows))
	}
	ids := c.ids[:n]
	c.keys.Resolve(keys, n, insert, ids, nil)
	for i := range c.sides {
		s := &c.sides[i]
		for len(s.head) < c.keys.Cap() {
			s.head, s.tail = append(s.head, -1), append(s.tail, -1)
		}
	}
	return ids
}

// grow makes room for rows below n. They are in no chain.
func (c *chains) grow(n int) {
	for len(c.next) < n {
		c.next = append(c.next, -1)
	}
	for len(c.dead)*64 < n {
		c.dead = append(c.dead, 0)
	}
}

// add puts a row at the end of a chain.
func (c *chains) add(side uint8, row, key uint32) {
	s := &c.sides[side]
	if last := s.tail[key]; last < 0 {
		s.head[key] = int32(row)
	} else {
		c.next[last] = int32(row)
	}
	s.tail[key] = int32(row)
}

// remove marks a row; it is taken out of its chain when somebody passes.
func (c *chains) remove(row uint32) { c.dead.Set(int(row)) }

// spot is where a walk along chains goes on: at which key of a list, and within its chain.
type spot struct {
	at         int
	inside     bool
	next, last int32
}

// pairs walks along one side's chains of the keys in ids, as many as there are, and lists for each row that it passes the place of
// its key among ids and the row. Rows in skip are left out. It stops when the lists are full; then more is true.
func (c *chains) pairs(side int, ids []uint32, skip vec.Bitmap, from *spot, places, rows []uint32) (p, r []uint32, more bool) {
	s := &c.sides[side]
	for ; from.at < len(ids); from.at++ {
		key := ids[from.at]
		if key == group.None {
			continue
		}
		row, last := s.head[key], int32(-1)
		if from.inside {
			row, last, from.inside = from.next, from.last, false
		}
		for ; row >= 0; row = c.next[row] {
			if c.dead.Get(int(row)) {
				c.unlink(s, key, row, last)
				continue
			}
			if skip == nil || !skip.Get(int(row)) {
				if len(rows) == cap(rows) {
					from.inside, from.next, from.last = true, row, last
					return places, rows, true
				}
				places, rows = append(places, uint32(from.at)), append(rows, uint32(row))
			}
			last = row
		}
	}
	return places, rows, false
}

// unlink takes a row out of its chain; last is the one before it, or -1.
func (c *chains) unlink(s *chainEnds, key uint32, row, last int32) {
	if last < 0 {
		s.head[key] = c.next[row]
	} else {
		c.next[last] = c.next[row]
	}
	if s.tail[key] == row {
		s.tail[key] = last
	}
}

// Bytes estimates the memory held.
func (c *chains) Bytes() int64 {
	n := c.keys.Bytes() + int64(cap(c.next))*4 + int64(cap(c.dead))*8
	for i := range c.sides {
		n += int64(cap(c.sides[i].head)+cap(c.sides[i].tail)) * 4
	}
	return n
}
