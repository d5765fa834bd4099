package lsm

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// entry is a row as the tree holds it.
type entry struct {
	at     int64
	number uint64
	// key is what follows kind, shard and time in the row's key; nothing in grouped layouts, where value begins with the key.
	key, value []byte
}

// loader gathers rows of the tree that are to be brought in. It keeps copies.
type loader struct {
	buf     []byte
	entries []entry
	keys    [][]byte
}

func (l *loader) reset() { l.buf, l.entries = l.buf[:0], l.entries[:0] }

func (l *loader) copy(p []byte) []byte {
	from := len(l.buf)
	l.buf = append(l.buf, p...)
	return l.buf[from:len(l.buf):len(l.buf)]
}

func (l *loader) add(e entry) {
	e.key, e.value = l.copy(e.key), l.copy(e.value)
	l.entries = append(l.entries, e)
}

// bring adds the gathered rows to the working set, but for those that are in it and those that are gone. It returns the row of
// each, group.None of those that are gone.
func (t *table) bring(l *loader) ([]uint32, error) {
	n := len(l.entries)
	if n == 0 {
		return nil, nil
	}
	l.keys = l.keys[:0]
	for _, e := range l.entries {
		if t.layout.Grouped {
			l.keys = append(l.keys, e.value)
		} else {
			l.keys = append(l.keys, e.key)
		}
	}
	cols, err := decodeRows(l.keys, t.keyTypes)
	if err != nil {
		return nil, t.readError(err)
	}
	rows := make([]uint32, n)
	fresh := t.keys.Resolve(cols, n, true, rows, nil)
	if len(fresh) == 0 {
		return rows, nil
	}
	t.grow()
	gone := t.isGone(cols, n)
	held := make([][]byte, 0, len(fresh))
	kept, left := fresh[:0:0], fresh
	for i, r := range rows {
		if len(left) == 0 {
			break
		}
		if r != left[0] {
			continue
		}
		left = left[1:]
		if gone != nil && gone[i] != group.None {
			t.keys.Delete(rows[i : i+1])
			rows[i] = group.None
			continue
		}
		e := l.entries[i]
		if t.layout.ByTime {
			t.times[r] = e.at
		}
		t.place(r, e.number, e.at)
		rest := e.value
		if t.layout.Grouped {
			rest = l.keys[i]
		}
		held, kept = append(held, rest), append(kept, r)
	}
	return rows, t.fill(kept, held)
}

// present lists the rows in the working set whose event time is at most bound, by place.
func (t *table) present(bound int64) []place {
	var out []place
	for _, r := range t.keys.Live(nil) {
		if t.times[r] <= bound {
			out = append(out, place{t.times[r], t.numbers[r], r})
		}
	}
	slices.SortFunc(out, byPlace)
	return out
}

// known lists the places in the tree, from above lower up to bound, of rows that are in the working set or deleted. Whoever reads the
// tree passes over them.
func (t *table) known(lower, bound int64) []place {
	var out []place
	for _, r := range t.keys.Live(nil) {
		if t.stored.Get(int(r)) {
			p := place{number: t.numbers[r]}
			if t.layout.Expires {
				p.at = t.treeAt[r]
			}
			out = append(out, p)
		}
	}
	out = append(out, t.goneAt...)
	out = slices.DeleteFunc(out, func(p place) bool { return t.layout.Expires && (p.at <= lower || p.at > bound) })
	return out
}

// whole tells whether all rows are in the working set.
func (t *table) whole() bool { return int64(t.keys.Len()) == t.count }

// expires tells whether there may be rows whose event time is at most bound.
func (t *table) expires(bound int64) bool { return t.layout.Expires && bound != noBound && t.count > 0 }

// Remove implements state.Table.
func (t *table) Remove(bound int64) (int64, error) {
	if !t.expires(bound) {
		return 0, nil
	}
	inTree := int64(0)
	if t.inTree && bound > t.expired && !t.whole() {
		n, err := t.countTree(bound)
		if err != nil {
			return 0, err
		}
		inTree = n - int64(len(t.known(t.expired, bound)))
	}
	var rows []uint32
	for _, p := range t.present(bound) {
		rows = append(rows, p.row)
	}
	t.count -= inTree
	t.removeExpired(rows, bound)
	t.expireTree(bound)
	return inTree + int64(len(rows)), nil
}

// removeExpired removes rows whose event time is at most bound. Those that the tree knows by a later one don't expire there.
func (t *table) removeExpired(rows []uint32, bound int64) {
	if t.timed != nil {
		var later []uint32
		for _, r := range rows {
			if t.stored.Get(int(r)) && t.treeAt[r] > bound {
				later = append(later, r)
			}
		}
		if len(later) > 0 {
			t.deleteStored(later)
		}
	}
	t.remove(rows)
}

// countTree counts the tree's rows that expire.
func (t *table) countTree(bound int64) (n int64, err error) {
	it, err := t.iterator()
	if err != nil {
		return 0, err
	}
	kind := byte(timeKind)
	if t.layout.ByTime {
		kind = rowKind
	}
	lower, upper := upTo(kind, t.shard, t.expired, bound)
	for ok := it.SeekGE(lower); ok && bytes.Compare(it.Key(), upper) < 0; ok = it.Next() {
		n++
	}
	if err := it.Error(); err != nil {
		return 0, t.readError(err)
	}
	return n, nil
}

// expireTree notes that the tree's rows up to an event time are gone. Rows in the working set that have a later one now are new to it.
func (t *table) expireTree(bound int64) {
	if bound <= t.expired {
		return
	}
	t.expired = bound
	for _, r := range t.keys.Live(nil) {
		if t.treeAt[r] <= bound {
			t.stored.Clear(int(r))
		}
	}
	t.goneAt = slices.DeleteFunc(t.goneAt, func(p place) bool { return p.at <= bound })
}

// cursor implements state.Cursor: it merges rows of the working set with those that the tree alone has.
type cursor struct {
	t       *table
	remove  bool
	bound   int64
	present []place
	tree    *treeRows // nil when all rows are in the working set
	head    entry     // of tree
	more    bool      // there is a head
	l       loader
	rows    []uint32 // handed out by the last call
	brought []uint32 // those of them that were brought in for it
}

// Expire implements state.Table.
func (t *table) Expire(bound int64) (state.Cursor, error) {
	if !t.expires(bound) {
		return &cursor{t: t}, nil
	}
	return t.open(&cursor{t: t, remove: true, bound: bound, present: t.present(bound)}, t.inTree && bound > t.expired && !t.whole())
}

// Scan implements state.Table.
func (t *table) Scan() (state.Cursor, error) {
	c := &cursor{t: t}
	for _, r := range t.keys.Live(nil) {
		c.present = append(c.present, place{0, t.numbers[r], r})
	}
	slices.SortFunc(c.present, byPlace)
	return t.open(c, t.inTree && !t.whole())
}

func (t *table) open(c *cursor, readTree bool) (state.Cursor, error) {
	if t.cursor != nil {
		_ = t.cursor.Close()
	}
	t.cursor = c
	if !readTree {
		return c, nil
	}
	tree, err := t.treeRows(c.remove, c.bound)
	if err == nil {
		c.tree = tree
		err = c.advance()
	}
	if err != nil {
		t.err = errors.Join(err, c.Close())
		return nil, t.err
	}
	return c, nil
}

// advance reads the next row of the tree.
func (c *cursor) advance() error {
	e, err := c.tree.next()
	c.head, c.more = e, err == nil
	if err == io.EOF {
		return nil
	}
	return err
}

// maxSpare is how many row numbers may be out of use before the working set is made anew.
const maxSpare = 1 << 16

// Next implements state.Cursor.
func (c *cursor) Next() ([]uint32, error) {
	rows, err := c.next()
	if err != nil {
		c.t.err = err
	}
	return rows, err
}

func (c *cursor) next() ([]uint32, error) {
	t := c.t
	if c.remove {
		t.removeExpired(c.rows, c.bound)
	} else {
		t.release(c.brought)
	}
	c.rows, c.brought = c.rows[:0], c.brought[:0]
	if t.keys.Cap() > 2*t.keys.Len()+t.s.spare {
		if err := t.rebuild(c.present); err != nil {
			return nil, err
		}
	}
	c.l.reset()
	order := make([]int32, 0, state.ChunkRows) // ≥ 0: a row in the working set; otherwise one that is brought in
	for len(order) < state.ChunkRows {
		takePresent := len(c.present) > 0
		if takePresent && c.more {
			head := place{number: c.head.number}
			if c.remove {
				head.at = c.head.at
			}
			takePresent = byPlace(c.present[0], head) < 0
		}
		switch {
		case takePresent:
			order = append(order, int32(c.present[0].row))
			c.present = c.present[1:]
		case c.more:
			order = append(order, int32(-1-len(c.l.entries)))
			c.l.add(c.head)
			if err := c.advance(); err != nil {
				return nil, err
			}
		default:
			return c.chunk(order)
		}
	}
	return c.chunk(order)
}

// chunk brings in what is missing of a chunk.
func (c *cursor) chunk(order []int32) ([]uint32, error) {
	rows, err := c.t.bring(&c.l)
	if err != nil {
		return nil, err
	}
	c.brought = append(c.brought, rows...)
	for _, o := range order {
		if o < 0 {
			c.rows = append(c.rows, rows[-1-o])
		} else {
			c.rows = append(c.rows, uint32(o))
		}
	}
	if len(order) == 0 && c.remove {
		c.t.expireTree(c.bound)
	}
	return c.rows, nil
}

// Close implements state.Cursor.
func (c *cursor) Close() error {
	if c.t.cursor == c {
		c.t.cursor = nil
	}
	if !c.remove {
		c.t.release(c.brought)
	}
	c.rows, c.brought, c.present, c.more = nil, nil, nil, false
	if c.tree == nil {
		return nil
	}
	tree := c.tree
	c.tree = nil
	return tree.close()
}

// rebuild makes the working set anew without the row numbers that are out of use, in the same order. It corrects the numbers in a
// list.
func (t *table) rebuild(list []place) error {
	rows := t.keys.Live(nil)
	renumbered := make([]uint32, t.keys.Cap())
	for i, r := range rows {
		renumbered[r] = uint32(i)
	}
	for i := range list {
		list[i].row = renumbered[list[i].row]
	}
	numbers, times, treeAt, stored, dirty, groups := t.numbers, t.times, t.treeAt, t.stored, t.dirty, t.groups
	var cols, values []*vec.Vector
	if len(rows) > 0 {
		cols, values = t.keys.Keys(rows), t.values.Save(rows)
	}
	t.forget()
	t.groups = groups
	if len(rows) == 0 {
		return nil
	}
	t.keys.Resolve(cols, len(rows), true, make([]uint32, len(rows)), nil)
	t.grow()
	for i, r := range rows {
		t.numbers[i] = numbers[r]
		if t.layout.Expires {
			t.times[i], t.treeAt[i] = times[r], treeAt[r]
		}
		t.stored.SetTo(i, stored.Get(int(r)))
		t.dirty.SetTo(i, dirty.Get(int(r)))
		rows[i] = uint32(i)
	}
	return t.values.Load(rows, values)
}
