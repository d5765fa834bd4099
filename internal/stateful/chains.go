package stateful

import (
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// chains finds rows by a key that several of them share. Rows are numbered by the caller; those of one key are found in the order in
// which they were added.
type chains struct {
	keys  group.Table
	types []types.DataType
	head  []int32 // by key: its first row, or -1
	tail  []int32
	next  []int32 // by row: the next row of its key, or -1
	dead  vec.Bitmap
	ids   []uint32
}

func newChains(keyTypes []types.DataType) *chains {
	return &chains{keys: group.New(keyTypes), types: keyTypes}
}

// find returns the key of each of n rows, or group.None where no row was ever added with it. The result is valid until the next
// call.
func (c *chains) find(keys []*vec.Vector, n int, insert bool) []uint32 {
	if cap(c.ids) < n {
		c.ids = make([]uint32, max(n, vec.BatchRows))
	}
	ids := c.ids[:n]
	c.keys.Resolve(keys, n, insert, ids, nil)
	for len(c.head) < c.keys.Cap() {
		c.head, c.tail = append(c.head, -1), append(c.tail, -1)
	}
	return ids
}

// add puts a row at the end of its key's chain.
func (c *chains) add(row uint32, key uint32) {
	for int(row) >= len(c.next) {
		c.next = append(c.next, -1)
	}
	for int(row)>>6 >= len(c.dead) {
		c.dead = append(c.dead, 0)
	}
	c.next[row] = -1
	if c.tail[key] < 0 {
		c.head[key] = int32(row)
	} else {
		c.next[c.tail[key]] = int32(row)
	}
	c.tail[key] = int32(row)
}

// remove marks a row; it is taken out of its chain when somebody passes.
func (c *chains) remove(row uint32) {
	if int(row) < len(c.next) {
		c.dead.Set(int(row))
	}
}

// each calls f for the rows of a key until it answers false.
func (c *chains) each(key uint32, f func(row uint32) bool) {
	if key == group.None {
		return
	}
	last := int32(-1)
	for r := c.head[key]; r >= 0; r = c.next[r] {
		if c.dead.Get(int(r)) {
			if last < 0 {
				c.head[key] = c.next[r]
			} else {
				c.next[last] = c.next[r]
			}
			if c.tail[key] == r {
				c.tail[key] = last
			}
			continue
		}
		last = r
		if !f(uint32(r)) {
			return
		}
	}
}

// Bytes estimates the memory held.
func (c *chains) Bytes() int64 {
	return c.keys.Bytes() + int64(cap(c.head)+cap(c.tail)+cap(c.next))*4
}
