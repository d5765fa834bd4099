package stateful

import (
	"slices"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// chains finds the rows of a join by the join key, which several of them share. Rows are numbered by the caller, in ascending order;
// those of one key and side are found in the order in which they were added.
type chains struct {
	keys  group.Table
	sides [2]chainEnds
	next  []int32  // by row: the next row of its key and side, or -1
	of    []uint32 // by row: its key, or group.None
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
	if n <= len(c.next) {
		return
	}
	c.next, c.of = slices.Grow(c.next, n-len(c.next)), slices.Grow(c.of, n-len(c.of))
	for len(c.next) < n {
		c.next, c.of = append(c.next, -1), append(c.of, group.None)
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
	s.tail[key], c.of[row] = int32(row), key
}

// move gives rows other numbers: row rows[i] becomes row i; the rows ascend, and others are forgotten, as are keys that have none
// left when they are many.
func (c *chains) move(rows []uint32, side func(row uint32) uint8) {
	of := make([]uint32, len(rows))
	used, count := vec.NewBitmap(c.keys.Cap()), 0
	for i, r := range rows {
		of[i] = c.of[r]
		if of[i] != group.None && !used.Get(int(of[i])) {
			used.Set(int(of[i]))
			count++
		}
	}
	if 2*count < c.keys.Cap() {
		var gone []uint32
		renumbered, next := make([]uint32, c.keys.Cap()), uint32(0)
		for _, key := range c.keys.Live(nil) {
			if !used.Get(int(key)) {
				gone = append(gone, key)
				continue
			}
			renumbered[key] = next
			next++
		}
		c.keys.Delete(gone)
		c.keys.Compact()
		for i, key := range of {
			if key != group.None {
				of[i] = renumbered[key]
			}
		}
	}
	for i := range c.sides {
		s := &c.sides[i]
		s.head, s.tail = s.head[:c.keys.Cap()], s.tail[:c.keys.Cap()]
		for key := range s.head {
			s.head[key], s.tail[key] = -1, -1
		}
	}
	c.next, c.of, c.dead = nil, nil, nil
	c.grow(len(rows))
	for i, key := range of {
		if key != group.None {
			c.add(side(uint32(i)), uint32(i), key)
		}
	}
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
	n := c.keys.Bytes() + int64(cap(c.next)+cap(c.of))*4 + int64(cap(c.dead))*8
	for i := range c.sides {
		n += int64(cap(c.sides[i].head)+cap(c.sides[i].tail)) * 4
	}
	return n
}
