package mem

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/sorted"
)

// kvStore implements state.KVStore.
type kvStore struct {
	*store
	shards []*kv
}

func newKVs(s *store) *kvStore {
	kvs := &kvStore{store: s, shards: make([]*kv, state.Shards(s.spec.Partitions))}
	for i := range kvs.shards {
		kvs.shards[i] = newKV()
	}
	return kvs
}

// KV implements state.KVStore.
func (s *kvStore) KV(shard int) state.KV { return s.shards[shard] }

func (s *kvStore) encode(h state.Header, whole bool) ([]byte, error) {
	var c state.KVChanges
	for _, kv := range s.shards {
		c.Shard()
		kv.save(&c, whole)
	}
	return c.Encode(h)
}

func (s *kvStore) saved() error {
	for _, kv := range s.shards {
		kv.saved()
	}
	return nil
}

// apply puts keys where their hashes say.
func (s *kvStore) apply(name string, segment []byte) (state.Header, error) {
	of := func(key []byte) *kv { return s.shards[state.KeyShard(key, s.spec.Partitions)] }
	put := func(key, value []byte) { of(key).put(key, value) }
	h, err := state.DecodeKVSegment(s.spec, name, segment, put, func(key []byte) { of(key).m.Delete(key) })
	if err == nil && h.Partitions != s.spec.Partitions {
		err = state.Damaged(name, fmt.Errorf("it has %d partitions", h.Partitions))
	}
	return h, err
}

func (s *kvStore) reset() {
	for _, kv := range s.shards {
		kv.reset()
	}
}

func (s *kvStore) stats(st *state.Stats) {
	for _, kv := range s.shards {
		st.Rows += int64(kv.m.Len())
		st.Bytes += kv.m.Bytes() + int64(cap(kv.changed))*sliceBytes
	}
}

const sliceBytes = 24

// kv implements state.KV: everything is in a map. Keys that have changed since the last segment are listed, some of them more than once.
type kv struct {
	m       *sorted.Map
	changed [][]byte
	epoch   uint32 // of entries that are listed
}

func newKV() *kv { return &kv{m: sorted.New(), epoch: 1} }

func (s *kv) reset() {
	s.m.Reset()
	s.changed, s.epoch = nil, 1
}

// Get implements state.KV.
func (s *kv) Get(key []byte) (value []byte, found bool, err error) {
	e, found := s.m.Get(key)
	return e.Value, found, nil
}

// Put implements state.KV.
func (s *kv) Put(key, value []byte) error {
	if err := state.CheckKey(key); err != nil {
		return err
	}
	own := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	key, value = own[:len(key):len(key)], own[len(key):]
	if was, replaced := s.m.Set(sorted.Entry{Key: key, Value: value, Epoch: s.epoch}); !replaced || was.Epoch != s.epoch {
		s.changed = append(s.changed, key)
	}
	return nil
}

// put brings in a stored key.
func (s *kv) put(key, value []byte) {
	own := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	s.m.Set(sorted.Entry{Key: own[:len(key):len(key)], Value: own[len(key):]})
}

// Delete implements state.KV.
func (s *kv) Delete(key []byte) error {
	if was, found := s.m.Delete(key); found && was.Epoch != s.epoch {
		s.changed = append(s.changed, was.Key)
	}
	return nil
}

// Scan implements state.KV.
func (s *kv) Scan(from, to []byte) (state.KVCursor, error) {
	return cursorKV{s.m.Scan(bytes.Clone(from), bytes.Clone(to))}, nil
}

// cursorKV implements state.KVCursor.
type cursorKV struct{ *sorted.Cursor }

// Next implements state.KVCursor.
func (c cursorKV) Next() (key, value []byte, ok bool, err error) {
	e, ok := c.Cursor.Next()
	return e.Key, e.Value, ok, nil
}

// Close implements state.KVCursor.
func (c cursorKV) Close() error {
	c.Cursor.Close()
	return nil
}

// save adds what has changed since the last segment, or everything.
func (s *kv) save(c *state.KVChanges, whole bool) {
	if whole {
		all := s.m.Scan(nil, nil)
		for e, ok := all.Next(); ok; e, ok = all.Next() {
			c.Put(e.Key, e.Value)
		}
		return
	}
	slices.SortFunc(s.changed, bytes.Compare)
	s.changed = slices.CompactFunc(s.changed, bytes.Equal)
	for _, key := range s.changed {
		if e, found := s.m.Get(key); found {
			c.Put(e.Key, e.Value)
		} else {
			c.Delete(key)
		}
	}
}

// saved forgets what has changed.
func (s *kv) saved() {
	s.changed = nil
	s.epoch++
}
