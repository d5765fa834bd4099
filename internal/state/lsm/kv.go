package lsm

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/sorted"
)

// kvStore implements state.KVStore.
type kvStore struct{ *store }

// KV implements state.KVStore.
func (s *kvStore) KV(shard int) state.KV { return s.shards[shard].(*kv) }

// kv implements state.KV: over the tree lies a map with what has changed since, and with values that were asked for, as long as there
// is room. What was changed in this batch has its epoch.
type kv struct {
	s     *store
	shard int
	over  *sorted.Map
	epoch uint32
	// changed are the keys that have changed in this batch, some of them more than once.
	changed [][]byte
	count   int64 // keys, in memory or not
	inTree  bool  // the tree has keys
	room    int64 // for values that were asked for

	it      *pebble.Iterator // for single keys, opened when it is needed
	idle    *pebble.Iterator // for a cursor
	cursors map[*kvCursor]struct{}
	key     []byte // scratch
}

func newKV(s *store, shard int) *kv {
	return &kv{s: s, shard: shard, over: sorted.New(), epoch: 1, cursors: map[*kvCursor]struct{}{}}
}

// begin implements shard.
func (t *kv) begin(bool) (err error) {
	_, t.count, err = t.s.meta(t.shard)
	t.inTree = t.count > 0
	t.room = t.s.grant.workingSet() / int64(len(t.s.shards))
	return err
}

// pause implements shard.
func (t *kv) pause() {
	for c := range t.cursors {
		c.end(errPaused)
	}
	for _, it := range []**pebble.Iterator{&t.it, &t.idle} {
		if *it != nil {
			_ = (*it).Close()
			*it = nil
		}
	}
}

var errPaused = errors.New("the batch that opened the cursor has ended")

// abort implements shard.
func (t *kv) abort() {
	t.pause()
	t.forget()
	t.changed = nil
}

// forget implements shard.
func (t *kv) forget() { t.over.Reset() }

// rows implements shard.
func (t *kv) rows() int64 { return t.count }

// bytes implements shard.
func (t *kv) bytes() int64 { return t.over.Bytes() + int64(cap(t.changed))*sliceBytes }

const sliceBytes = 24

// treeKey is a key as the tree has it.
func (t *kv) treeKey(p, key []byte) []byte {
	return append(append(p, byteKind, byte(t.shard)), key...)
}

// find looks a key up in the tree. The value is valid until the next call.
func (t *kv) find(key []byte) (value []byte, found bool, err error) {
	if !t.inTree {
		return nil, false, nil
	}
	if t.it == nil {
		if t.it, err = t.s.iterate(nil, nil); err != nil {
			return nil, false, err
		}
	}
	t.key = t.treeKey(t.key[:0], key)
	if !t.it.SeekPrefixGE(t.key) {
		if err := t.it.Error(); err != nil {
			return nil, false, t.s.readError(err)
		}
		return nil, false, nil
	}
	if value, err = t.it.ValueAndErr(); err != nil {
		return nil, false, t.s.readError(err)
	}
	return value, true, nil
}

// entry returns what is known of a key: with the tree's value if the map has none.
func (t *kv) entry(key []byte) (e sorted.Entry, found bool, err error) {
	if e, found = t.over.Get(key); found {
		return e, !e.Gone, nil
	}
	value, found, err := t.find(key)
	if err != nil || !found {
		return e, false, err
	}
	e = sorted.Entry{Value: value, Stored: true}
	if t.over.Bytes() < t.room {
		e.Key, e.Value = own(key, value)
		t.over.Set(e)
	}
	return e, true, nil
}

// own copies a key and its value.
func own(key, value []byte) (k, v []byte) {
	both := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	return both[:len(key):len(key)], both[len(key):]
}

// Get implements state.KV.
func (t *kv) Get(key []byte) (value []byte, found bool, err error) {
	e, found, err := t.entry(key)
	if !found {
		return nil, false, err
	}
	return e.Value, true, nil
}

// Put implements state.KV.
func (t *kv) Put(key, value []byte) error {
	if err := state.CheckKey(key); err != nil {
		return err
	}
	k, v := own(key, value) // before the tree is asked, whose value it may be
	was, found, err := t.entry(key)
	if err != nil {
		return err
	}
	if !found {
		t.count++
	}
	t.set(k, v, was, false)
	return nil
}

// Delete implements state.KV.
func (t *kv) Delete(key []byte) error {
	was, found, err := t.entry(key)
	if err != nil || !found {
		return err
	}
	t.count--
	if was.Stored {
		t.set(bytes.Clone(key), nil, was, true)
	} else {
		t.over.Delete(key)
	}
	return nil
}

// set notes a change of a key of which was is what was known.
func (t *kv) set(key, value []byte, was sorted.Entry, gone bool) {
	t.over.Set(sorted.Entry{Key: key, Value: value, Gone: gone, Stored: was.Stored, Epoch: t.epoch})
	if was.Epoch != t.epoch {
		t.changed = append(t.changed, key)
	}
}

// save implements shard. The entries are those of the tree afterwards: that is true once the file is durable and in the tree, and
// otherwise all is dropped.
func (t *kv) save(b *blockWriter) error {
	t.pause()
	slices.SortFunc(t.changed, bytes.Compare)
	t.changed = slices.CompactFunc(t.changed, bytes.Equal)
	for _, key := range t.changed {
		e, found := t.over.Get(key)
		if !found {
			continue // it came and went
		}
		t.key = t.treeKey(t.key[:0], key)
		if e.Gone {
			b.ops = appendDelete(b.ops, t.key)
			t.over.Delete(key)
		} else {
			b.ops = appendPut(b.ops, t.key, e.Value)
			e.Stored = true
			t.over.Set(e)
		}
		b.full()
	}
	b.ops = appendPut(b.ops, prefix(metaKind, t.shard), metaValue(0, t.count))
	b.full()
	t.changed = nil
	t.epoch++
	t.inTree = t.count > 0
	return b.err
}

// Scan implements state.KV.
func (t *kv) Scan(from, to []byte) (state.KVCursor, error) {
	c := &kvCursor{t: t, over: t.over.Scan(bytes.Clone(from), bytes.Clone(to))}
	if t.inTree && (to == nil || bytes.Compare(from, to) < 0) { // an iterator's bounds must be in order
		lower, upper := t.treeKey(nil, from), after(prefix(byteKind, t.shard))
		if to != nil {
			upper = t.treeKey(nil, to)
		}
		var err error
		if c.it = t.idle; c.it != nil {
			t.idle = nil
			c.it.SetBounds(lower, upper)
		} else if c.it, err = t.s.iterate(lower, upper); err != nil {
			c.over.Close()
			return nil, err
		}
	}
	t.cursors[c] = struct{}{}
	return c, nil
}

// kvCursor implements state.KVCursor: it merges what the map had with what the tree has.
type kvCursor struct {
	t    *kv
	over *sorted.Cursor
	it   *pebble.Iterator // nil when there is nothing in the tree
	err  error

	started bool
	next    sorted.Entry // of the map, not handed out yet
	more    bool         // there is one
	inTree  bool         // the iterator stands at a key that was not handed out yet
	pending bool         // the iterator stands at the key that was handed out last
}

// end lets go of the tree.
func (c *kvCursor) end(err error) {
	c.over.Close()
	c.more, c.inTree = false, false
	if c.err == nil {
		c.err = err
	}
	delete(c.t.cursors, c)
	switch {
	case c.it == nil:
	case c.t.idle == nil && c.it.Error() == nil:
		c.t.idle = c.it
	default:
		_ = c.it.Close()
	}
	c.it = nil
}

// Close implements state.KVCursor.
func (c *kvCursor) Close() error {
	c.end(nil)
	return nil
}

// Next implements state.KVCursor.
func (c *kvCursor) Next() (key, value []byte, ok bool, err error) {
	for {
		if err := c.fill(); err != nil {
			return nil, nil, false, err
		}
		if !c.more && !c.inTree {
			err := c.err
			c.end(nil)
			return nil, nil, false, err
		}
		order := 0
		switch {
		case !c.inTree:
			order = -1
		case !c.more:
			order = 1
		default:
			order = bytes.Compare(c.next.Key, c.it.Key()[2:])
		}
		if order >= 0 {
			c.pending, c.inTree = true, false
		}
		if order > 0 {
			value, err := c.it.ValueAndErr()
			if err != nil {
				return nil, nil, false, c.t.s.readError(err)
			}
			return c.it.Key()[2:], value, true, nil
		}
		e := c.next
		c.more, c.next = false, sorted.Entry{}
		if !e.Gone {
			return e.Key, e.Value, true, nil
		}
	}
}

// fill brings the heads of both sides up.
func (c *kvCursor) fill() error {
	if !c.more {
		c.next, c.more = c.over.Next()
	}
	if c.it == nil || c.inTree {
		return nil
	}
	if !c.started {
		c.started = true
		c.inTree = c.it.First()
	} else if c.pending {
		c.inTree = c.it.Next()
	}
	c.pending = false
	if !c.inTree {
		if err := c.it.Error(); err != nil {
			return c.t.s.readError(err)
		}
	}
	return nil
}
