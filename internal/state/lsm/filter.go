package lsm

import (
	"bytes"

	"github.com/millrace/millrace/internal/vec"
)

// filter says of a key that the tree does not have it, or that it may. A stream of new keys asks mostly for what is not there; the
// tree would look into several tables for each. It is a Bloom filter in blocks of a cache line.
type filter struct {
	bits   []uint64
	blocks uint64
	room   int64 // keys that may still come
}

const (
	blockWords    = 8
	filterBits    = 10 // for a key
	filterHashes  = 6
	minFilterKeys = 1 << 12
)

// filterBytes is the size of a filter for some keys.
func filterBytes(keys int64) int64 { return (keys*filterBits/512 + 1) * blockWords * 8 }

func newFilter(keys int64) *filter {
	n := filterBytes(keys) / 8
	return &filter{bits: make([]uint64, n), blocks: uint64(n / blockWords), room: keys}
}

// block is where a key's bits are. The other half of the hash says which.
func (f *filter) block(h uint64) []uint64 {
	at := (h >> 32) * f.blocks >> 32 * blockWords
	return f.bits[at : at+blockWords]
}

func (f *filter) add(key []byte) {
	h := vec.HashBytes(key)
	b := f.block(h)
	for x, step, i := uint32(h), uint32(h>>17)|1, 0; i < filterHashes; i++ {
		b[x>>6&(blockWords-1)] |= 1 << (x & 63)
		x += step
	}
	f.room--
}

func (f *filter) has(key []byte) bool {
	h := vec.HashBytes(key)
	b := f.block(h)
	for x, step, i := uint32(h), uint32(h>>17)|1, 0; i < filterHashes; i++ {
		if b[x>>6&(blockWords-1)]&(1<<(x&63)) == 0 {
			return false
		}
		x += step
	}
	return true
}

// filterKey is the part of a row's key that lookups know, without kind and shard: the key, or the group.
func (l layout) filterKey(key []byte) []byte {
	if l.Grouped {
		return key[2 : len(key)-numberBytes]
	}
	return key[2:]
}

// passes tells whether the tree may have a row of a key, or of a group, given as it begins there.
func (t *table) passes(key []byte) bool { return t.filter == nil || t.filter.has(key[2:]) }

// missed counts lookups in vain. When they have cost more than reading all keys would, a filter is made: a key in a scan costs about
// a twentieth of a lookup. So is a new one when the old one has more keys than it was made for.
func (t *table) missed(n int) error {
	if t.filter != nil && t.filter.room >= 0 {
		return nil
	}
	if t.filter == nil {
		if t.misses += int64(n); t.misses < max(t.s.filterKeys, t.count/10) {
			return nil
		}
	}
	t.misses, t.filter = 0, nil
	keys := max(2*t.count, 4*t.s.filterKeys)
	if filterBytes(keys)*int64(len(t.s.shards)) > t.s.grant.workingSet()/2 {
		return nil
	}
	return t.makeFilter(keys)
}

// makeFilter reads all keys of the tree.
func (t *table) makeFilter(keys int64) error {
	lower := prefix(rowKind, t.shard)
	it, err := t.s.iterate(lower, after(lower))
	if err != nil {
		t.err = err
		return err
	}
	defer it.Close()
	f := newFilter(keys)
	var last []byte
	for ok := it.First(); ok; ok = it.Next() {
		key := t.layout.filterKey(it.Key())
		if t.layout.Grouped && bytes.Equal(key, last) {
			continue
		}
		f.add(key)
		last = append(last[:0], key...)
	}
	if err := it.Error(); err != nil {
		return t.readError(err)
	}
	t.filter = f
	return nil
}
