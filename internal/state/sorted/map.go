package sorted

import (
	"bytes"

	"github.com/tidwall/btree"
)

// Entry is what a map holds of one key.
type Entry struct {
	Key, Value []byte // never changed once they are in a map

	// The rest is the owner's.

	// Gone marks a key that was removed.
	Gone bool
	// Stored marks a key that is also kept elsewhere.
	Stored bool
	// Epoch is when the entry was put.
	Epoch uint32
}

// Map holds entries by key. It belongs to one goroutine at a time.
type Map struct {
	tree    *btree.BTreeG[Entry]
	bytes   int64
	cursors int // open ones that look at tree itself
}

// entryBytes is about what a key takes beside its bytes.
const entryBytes = 72

// New returns an empty map.
func New() *Map {
	m := &Map{}
	m.Reset()
	return m
}

// Reset forgets everything.
func (m *Map) Reset() {
	m.tree = btree.NewBTreeGOptions(func(a, b Entry) bool { return bytes.Compare(a.Key, b.Key) < 0 }, btree.Options{NoLocks: true})
	m.bytes, m.cursors = 0, 0
}

// Len counts the entries.
func (m *Map) Len() int { return m.tree.Len() }

// Bytes estimates the memory held.
func (m *Map) Bytes() int64 { return m.bytes }

// Get finds a key.
func (m *Map) Get(key []byte) (Entry, bool) { return m.tree.Get(Entry{Key: key}) }

// Set puts an entry, whose bytes become the map's, and returns the one it replaces.
func (m *Map) Set(e Entry) (was Entry, replaced bool) {
	m.part()
	was, replaced = m.tree.Set(e)
	m.bytes += size(e)
	if replaced {
		m.bytes -= size(was)
	}
	return was, replaced
}

// Delete removes a key and returns what it had.
func (m *Map) Delete(key []byte) (was Entry, found bool) {
	m.part()
	was, found = m.tree.Delete(Entry{Key: key})
	if found {
		m.bytes -= size(was)
	}
	return was, found
}

func size(e Entry) int64 { return int64(len(e.Key)+len(e.Value)) + entryBytes }

// part leaves the tree to the cursors that look at it, if there are any: from here on nodes are copied before they change.
func (m *Map) part() {
	if m.cursors > 0 {
		m.tree, m.cursors = m.tree.Copy(), 0
	}
}

// Cursor goes through a range of a map as it was when the cursor was made.
type Cursor struct {
	m    *Map
	tree *btree.BTreeG[Entry]
	it   btree.IterG[Entry]
	from []byte
	to   []byte
	open bool // it was moved to the first entry
	done bool
}

// Scan returns a cursor over the keys from from on and below to; nil is no bound. The bounds must not change while it is used.
func (m *Map) Scan(from, to []byte) *Cursor {
	m.cursors++
	return &Cursor{m: m, tree: m.tree, it: m.tree.Iter(), from: from, to: to}
}

// Next returns the next entry.
func (c *Cursor) Next() (Entry, bool) {
	if c.done {
		return Entry{}, false
	}
	ok := false
	if c.open {
		ok = c.it.Next()
	} else {
		ok = c.it.Seek(Entry{Key: c.from})
		c.open = true
	}
	if ok {
		if e := c.it.Item(); c.to == nil || bytes.Compare(e.Key, c.to) < 0 {
			return e, true
		}
	}
	c.Close()
	return Entry{}, false
}

// Close ends the cursor. A map whose cursors are closed changes without copying.
func (c *Cursor) Close() {
	if c.done {
		return
	}
	c.done = true
	c.it.Release()
	if c.m.tree == c.tree {
		c.m.cursors--
	}
}
