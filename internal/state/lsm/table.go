package lsm

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// tableStore implements state.Store.
type tableStore struct{ *store }

// Attach implements state.Store.
func (s *tableStore) Attach(shard int, v state.Values) {
	t := newTable(s.store, shard, v)
	s.layout = t.layout
	s.shards[shard] = t
}

// Table implements state.Store.
func (s *tableStore) Table(shard int) state.Table { return s.shards[shard].(*table) }

// table is one shard's working set: rows that were brought in or added, with what the tree does not know of them yet.
type table struct {
	s      *store
	shard  int
	spec   *state.Spec
	layout layout
	values state.Values
	timed  state.Timed // the values, when rows expire by one of them

	keyTypes, valueTypes []types.DataType

	keys    group.Table
	numbers []uint64   // by row: the order of all rows, in memory or not
	times   []int64    // by row: event time, when rows expire
	stored  vec.Bitmap // rows that the tree has, maybe with other values
	treeAt  []int64    // by row: the event time by which the tree knows a stored row
	dirty   vec.Bitmap // rows to be saved
	groups  group.Table

	next    uint64 // number of the next new row
	count   int64  // rows, in memory or not
	inTree  bool   // the tree has rows
	expired int64  // rows of the tree up to this event time are gone

	filter *filter // of the tree's keys, when lookups are often in vain
	misses int64   // lookups in vain without a filter

	// What was deleted of the tree's rows: operations for the next changes, keys, and where they are.
	gone     []byte
	goneKeys group.Table
	goneAt   []place

	err    error            // of a look into the tree in this batch
	it     *pebble.Iterator // over the tree, opened when it is needed
	cursor *cursor          // the one that is open

	enc, valueEnc, groupEnc rowBuf
	arena                   []byte
	probes                  []probe
}

// place is where a row stands: by event time, if rows expire, and then by number.
type place struct {
	at     int64
	number uint64
	row    uint32
}

func byPlace(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number)) }

// probe is a key to be looked for in the tree.
type probe struct {
	key []byte
	i   uint32
}

func newTable(s *store, shard int, values state.Values) *table {
	t := &table{s: s, shard: shard, spec: &s.spec, values: values, keyTypes: s.spec.KeyTypes(), valueTypes: s.spec.ValueTypes()}
	t.timed, _ = values.(state.Timed)
	t.layout = layoutOf(t.spec, t.timed != nil)
	t.enc.canonical, t.groupEnc.canonical = true, true
	t.forget()
	t.clean()
	return t
}

// forget drops the working set.
func (t *table) forget() {
	t.keys = group.New(t.keyTypes)
	t.numbers, t.times, t.treeAt, t.stored, t.dirty, t.groups = nil, nil, nil, nil, nil, nil
	t.values.Reset()
}

// clean forgets what the tree did not know.
func (t *table) clean() {
	clear(t.dirty)
	t.expired = noBound
	t.gone, t.goneKeys, t.goneAt = nil, nil, nil
}

// pause implements shard.
func (t *table) pause() {
	if t.cursor != nil {
		_ = t.cursor.Close()
	}
	if t.it != nil {
		_ = t.it.Close()
		t.it = nil
	}
}

// abort implements shard.
func (t *table) abort() {
	t.pause()
	t.forget()
	t.clean()
	t.err = nil
}

// begin implements shard.
func (t *table) begin(fresh bool) (err error) {
	if fresh {
		t.filter, t.misses = nil, 0
	}
	t.next, t.count, err = t.s.meta(t.shard)
	t.inTree = t.count > 0
	return err
}

func (t *table) iterator() (*pebble.Iterator, error) {
	if err := t.s.ok(); err != nil {
		return nil, t.readError(err)
	}
	if t.it == nil {
		it, err := t.s.iterate(nil, nil)
		if err != nil {
			t.err = err
			return nil, err
		}
		t.it = it
	}
	return t.it, nil
}

// readError is the error of a look into the tree. The changes of a batch that has had one cannot be saved, whoever has dropped it.
func (t *table) readError(err error) error {
	t.err = t.s.readError(err)
	return t.err
}

// grow makes room for all row numbers.
func (t *table) grow() {
	n := t.keys.Cap()
	t.values.Grow(n)
	t.numbers = growTo(t.numbers, n)
	if t.layout.Expires {
		t.times, t.treeAt = growTo(t.times, n), growTo(t.treeAt, n)
	}
	t.stored, t.dirty = growTo(t.stored, (n+63)/64), growTo(t.dirty, (n+63)/64)
}

func growTo[T any, S ~[]T](s S, n int) S {
	if n <= len(s) {
		return s
	}
	return append(s, make([]T, n-len(s))...)
}

// Resolve implements state.Table.
func (t *table) Resolve(keys []*vec.Vector, n int, insert bool, rows, fresh []uint32) ([]uint32, error) {
	before, first := len(fresh), t.keys.Cap()
	fresh = t.keys.Resolve(keys, n, true, rows, fresh)
	news := fresh[before:]
	if len(news) == 0 {
		return fresh, nil
	}
	t.grow()
	absent := news
	cols := t.keys.Keys(news)
	if t.layout.Expires {
		t.timesOf(news, cols)
	}
	if t.inTree && !t.layout.Grouped {
		var err error
		if absent, err = t.fetch(news, cols); err != nil {
			return fresh, err
		}
	}
	if insert {
		for _, r := range absent {
			t.numbers[r] = t.next
			t.next++
		}
		t.count += int64(len(absent))
		return fresh[:before+len(absent)], nil
	}
	t.keys.Delete(absent)
	for i, r := range rows[:n] {
		if r != group.None && int(r) >= first && !t.stored.Get(int(r)) {
			rows[i] = group.None
		}
	}
	return fresh[:before], nil
}

// timesOf sets the event times of new rows.
func (t *table) timesOf(rows []uint32, cols []*vec.Vector) {
	if t.spec.Time == nil {
		for _, r := range rows {
			t.times[r] = state.NoTime
		}
		return
	}
	for i, at := range t.spec.Time(cols, len(rows)) {
		t.times[rows[i]] = at
	}
}

// rowKey appends the key under which the tree has a row that is found by its key, of which enc holds the bytes.
func (t *table) rowKey(p []byte, i int, at int64) []byte {
	p = append(p, rowKind, byte(t.shard))
	if t.layout.ByTime {
		p = appendTime(p, at)
	}
	return append(p, t.enc.row(i)...)
}

// fetch brings in those of some new rows that the tree has, and moves the others to the front. Keys are looked for in the order of
// the tree.
func (t *table) fetch(rows []uint32, cols []*vec.Vector) (absent []uint32, err error) {
	it, err := t.iterator()
	if err != nil {
		return rows, err
	}
	t.enc.encode(cols, len(rows))
	gone := t.isGone(cols, len(rows))
	t.arena, t.probes = t.arena[:0], t.probes[:0]
	t.arena = slices.Grow(t.arena, len(t.enc.data)+len(rows)*(2+timeBytes))
	for i, r := range rows {
		if gone != nil && gone[i] != group.None {
			continue
		}
		at := int64(0)
		if t.layout.ByTime {
			if at = t.times[r]; at <= t.expired {
				continue
			}
		}
		from := len(t.arena)
		t.arena = t.rowKey(t.arena, i, at)
		if key := t.arena[from:len(t.arena):len(t.arena)]; t.passes(key) {
			t.probes = append(t.probes, probe{key, uint32(i)})
		} else {
			t.arena = t.arena[:from]
		}
	}
	slices.SortFunc(t.probes, func(a, b probe) int { return bytes.Compare(a.key, b.key) })
	var found []uint32
	var held [][]byte
	var buf []byte
	for _, p := range t.probes {
		if !it.SeekPrefixGE(p.key) {
			if err := it.Error(); err != nil {
				return rows, t.readError(err)
			}
			continue
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return rows, t.readError(err)
		}
		from := len(buf)
		buf = append(buf, v...)
		found, held = append(found, rows[p.i]), append(held, buf[from:len(buf):len(buf)])
	}
	if err := t.missed(len(t.probes) - len(found)); err != nil || len(found) == 0 {
		return rows, err
	}
	kept := found[:0:0]
	for k, r := range found {
		number, at, rest, err := t.layout.cutHead(held[k])
		if err != nil {
			return rows, t.readError(err)
		}
		if t.layout.indexed() && at <= t.expired {
			continue
		}
		t.place(r, number, at)
		held[len(kept)] = rest
		kept = append(kept, r)
	}
	if err := t.fill(kept, held[:len(kept)]); err != nil {
		return rows, err
	}
	absent = rows[:0]
	for _, r := range rows {
		if !t.stored.Get(int(r)) {
			absent = append(absent, r)
		}
	}
	return absent, nil
}

// place notes that a row is one of the tree. at is its event time there, in indexed layouts.
func (t *table) place(row uint32, number uint64, at int64) {
	t.numbers[row] = number
	t.stored.Set(int(row))
	switch {
	case t.layout.indexed():
		t.times[row], t.treeAt[row] = at, at
	case t.layout.Expires:
		t.treeAt[row] = t.times[row]
	}
}

// fill gives rows the values that are left of what the tree holds.
func (t *table) fill(rows []uint32, held [][]byte) error {
	if len(rows) == 0 {
		return nil
	}
	cols, err := decodeRows(held, t.valueTypes)
	if err != nil {
		return t.readError(err)
	}
	for _, h := range held {
		if len(h) > 0 {
			return t.readError(errRow)
		}
	}
	return t.values.Load(rows, cols)
}

// isGone looks keys up among those that were deleted in this batch; nil when there are none.
func (t *table) isGone(cols []*vec.Vector, n int) []uint32 {
	if t.goneKeys == nil {
		return nil
	}
	ids := make([]uint32, n)
	t.goneKeys.Resolve(cols, n, false, ids, nil)
	return ids
}

// Touch implements state.Table.
func (t *table) Touch(rows []uint32) {
	for _, r := range rows {
		t.dirty.Set(int(r))
	}
	if t.timed != nil && len(rows) > 0 {
		for i, at := range t.timed.Times(rows) {
			t.times[rows[i]] = at
		}
	}
}

// Delete implements state.Table.
func (t *table) Delete(rows []uint32) {
	if len(rows) == 0 {
		return
	}
	var stored []uint32
	for _, r := range rows {
		if t.stored.Get(int(r)) {
			stored = append(stored, r)
		}
	}
	if len(stored) > 0 {
		t.deleteStored(stored)
	}
	t.remove(rows)
}

// deleteStored notes that rows of the tree are gone.
func (t *table) deleteStored(rows []uint32) {
	cols := t.keys.Keys(rows)
	if t.goneKeys == nil {
		t.goneKeys = group.New(t.keyTypes)
	}
	t.goneKeys.Resolve(cols, len(rows), true, make([]uint32, len(rows)), nil)
	t.encodeKeys(rows, cols, nil)
	var key []byte
	for i, r := range rows {
		p := place{number: t.numbers[r]}
		if t.layout.Expires {
			p.at = t.treeAt[r]
		}
		t.goneAt = append(t.goneAt, p)
		key = t.fullKey(key[:0], i, r)
		t.gone = appendDelete(t.gone, key)
		if t.layout.indexed() && p.at != state.NoTime {
			t.gone = appendDelete(t.gone, t.timeKey(key[:0], r, p.at))
		}
	}
}

// encodeKeys prepares the keys of rows for fullKey. values may be nil if they are still to be asked for.
func (t *table) encodeKeys(rows []uint32, cols, values []*vec.Vector) {
	t.enc.encode(cols, len(rows))
	if t.layout.Grouped {
		if values == nil {
			values = t.values.Save(rows)
		}
		t.groupEnc.encode(t.spec.Group(cols, values, len(rows)), len(rows))
	}
}

// fullKey appends the key under which the tree has, or will have, row r: row i of encodeKeys.
func (t *table) fullKey(p []byte, i int, r uint32) []byte {
	if t.layout.Grouped {
		p = appendGroup(append(p, rowKind, byte(t.shard)), t.groupEnc.row(i))
		return appendNumber(p, t.numbers[r])
	}
	at := int64(0)
	if t.layout.ByTime {
		at = t.times[r]
	}
	return t.rowKey(p, i, at)
}

// timeKey appends the key by which row r is found by event time.
func (t *table) timeKey(p []byte, r uint32, at int64) []byte {
	return appendNumber(appendTime(append(p, timeKind, byte(t.shard)), at), t.numbers[r])
}

// remove takes rows out of the working set.
func (t *table) remove(rows []uint32) {
	t.count -= int64(len(rows))
	t.release(rows)
}

// release lets go of rows, which are still there if the tree has them.
func (t *table) release(rows []uint32) {
	t.keys.Delete(rows)
	t.values.Clear(rows)
	for _, r := range rows {
		t.dirty.Clear(int(r))
		t.stored.Clear(int(r))
	}
}

// Gather implements state.Table.
func (t *table) Gather(groups []*vec.Vector, n int) error {
	if t.groups == nil {
		t.groups = group.New(columnTypes(groups))
	}
	ids := make([]uint32, n)
	fresh := t.groups.Resolve(groups, n, true, ids, nil)
	if len(fresh) == 0 || !t.inTree {
		return nil
	}
	it, err := t.iterator()
	if err != nil {
		return err
	}
	t.groupEnc.encode(t.groups.Keys(fresh), len(fresh))
	t.arena, t.probes = t.arena[:0], t.probes[:0]
	t.arena = slices.Grow(t.arena, len(t.groupEnc.data)+len(fresh)*6)
	for i := range fresh {
		from := len(t.arena)
		t.arena = appendGroup(append(t.arena, rowKind, byte(t.shard)), t.groupEnc.row(i))
		if key := t.arena[from:len(t.arena):len(t.arena)]; t.passes(key) {
			t.probes = append(t.probes, probe{key, uint32(i)})
		} else {
			t.arena = t.arena[:from]
		}
	}
	slices.SortFunc(t.probes, func(a, b probe) int { return bytes.Compare(a.key, b.key) })
	var l loader
	misses := 0
	for _, p := range t.probes {
		before := len(l.entries)
		for ok := it.SeekGE(p.key); ok && bytes.HasPrefix(it.Key(), p.key); ok = it.Next() {
			v, err := it.ValueAndErr()
			if err != nil {
				return t.readError(err)
			}
			number, at, rest, err := t.layout.cutHead(v)
			if err != nil {
				return t.readError(err)
			}
			if t.layout.Expires && at <= t.expired {
				continue
			}
			l.add(entry{at: at, number: number, value: rest})
		}
		if err := it.Error(); err != nil {
			return t.readError(err)
		}
		if len(l.entries) == before {
			misses++
		}
	}
	if _, err := t.bring(&l); err != nil {
		return err
	}
	return t.missed(misses)
}

func columnTypes(cols []*vec.Vector) []types.DataType {
	ts := make([]types.DataType, len(cols))
	for i, c := range cols {
		ts[i] = c.Type()
	}
	return ts
}

// Sort implements state.Table.
func (t *table) Sort(rows []uint32) {
	before := func(a, b uint32) int { return cmp.Compare(t.numbers[a], t.numbers[b]) }
	if !slices.IsSortedFunc(rows, before) {
		slices.SortFunc(rows, before)
	}
}

// Keys implements state.Table.
func (t *table) Keys(rows []uint32) []*vec.Vector { return t.keys.Keys(rows) }

// rows implements shard.
func (t *table) rows() int64 { return t.count }

// bytes estimates the memory held.
func (t *table) bytes() int64 {
	n := t.keys.Bytes() + int64(cap(t.numbers)+cap(t.times)+cap(t.treeAt)+cap(t.stored)+cap(t.dirty))*8
	if t.groups != nil {
		n += t.groups.Bytes()
	}
	if t.filter != nil {
		n += int64(len(t.filter.bits)) * 8
	}
	if v, ok := t.values.(interface{ Bytes() int64 }); ok {
		n += v.Bytes()
	}
	return n
}

// save writes what the tree does not know. The rows are those of the tree afterwards: that is true once the file is durable and in
// the tree, and otherwise all is dropped.
func (t *table) save(b *blockWriter) error {
	if t.err != nil {
		return t.err
	}
	t.pause()
	if t.expired != noBound {
		b.ops = appendExpire(b.ops, t.shard, t.expired)
	}
	b.ops = append(b.ops, t.gone...)
	b.full()
	rows := make([]uint32, 0, state.ChunkRows)
	for w, word := range t.dirty {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(w*64+bits.TrailingZeros64(word)))
			if len(rows) == state.ChunkRows {
				t.saveRows(b, rows)
				rows = rows[:0]
			}
		}
	}
	t.saveRows(b, rows)
	b.ops = appendPut(b.ops, prefix(metaKind, t.shard), metaValue(t.next, t.count))
	b.full()
	t.clean()
	t.inTree = t.count > 0
	return b.err
}

func (t *table) saveRows(b *blockWriter, rows []uint32) {
	if len(rows) == 0 {
		return
	}
	cols, values := t.keys.Keys(rows), t.values.Save(rows)
	t.encodeKeys(rows, cols, values)
	t.valueEnc.encode(values, len(rows))
	t.arena, t.probes = t.arena[:0], t.probes[:0]
	ends := make([]int, 0, len(rows))
	for i, r := range rows {
		t.arena = t.fullKey(t.arena, i, r)
		ends = append(ends, len(t.arena))
	}
	from := 0
	for i, end := range ends {
		t.probes = append(t.probes, probe{t.arena[from:end:end], uint32(i)})
		from = end
	}
	// The tree takes keys in order much faster.
	slices.SortFunc(t.probes, func(a, b probe) int { return bytes.Compare(a.key, b.key) })
	var head, key []byte
	for _, p := range t.probes {
		r, at := rows[p.i], int64(0)
		if t.layout.Expires {
			at = t.times[r]
		}
		if t.filter != nil && !t.stored.Get(int(r)) {
			t.filter.add(t.layout.filterKey(p.key))
		}
		head = t.layout.appendHead(head[:0], t.numbers[r], at)
		if t.layout.Grouped {
			head = append(head, t.enc.row(int(p.i))...)
		}
		b.ops = appendPut(b.ops, p.key, head, t.valueEnc.row(int(p.i)))
		if t.layout.indexed() {
			was := state.NoTime
			if t.stored.Get(int(r)) {
				was = t.treeAt[r]
			}
			if was != at && was != state.NoTime {
				key = t.timeKey(key[:0], r, was)
				b.ops = appendDelete(b.ops, key)
			}
			if was != at && at != state.NoTime {
				key = t.timeKey(key[:0], r, at)
				b.ops = appendPut(b.ops, key, p.key[2:])
			}
		}
		t.stored.Set(int(r))
		if t.layout.Expires {
			t.treeAt[r] = at
		}
		b.full()
	}
}
