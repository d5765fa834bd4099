package mem

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// tableStore implements state.Store.
type tableStore struct {
	*store
	tables []*table
}

// Attach implements state.Store.
func (s *tableStore) Attach(shard int, v state.Values) { s.tables[shard] = newTable(&s.spec, v) }

// Table implements state.Store.
func (s *tableStore) Table(shard int) state.Table { return s.tables[shard] }

func (s *tableStore) encode(h state.Header, whole bool) ([]byte, error) {
	shards := make([]state.Changes, len(s.tables))
	rows := 0
	for _, t := range s.tables {
		rows += t.keys.Cap()
	}
	err := s.spec.EachShard(rows, func(i int) error {
		shards[i] = s.tables[i].changes(whole)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return state.EncodeSegment(s.spec, h, shards)
}

func (s *tableStore) saved() error {
	rows := 0
	for _, t := range s.tables {
		rows += t.keys.Cap()
	}
	return s.spec.EachShard(rows, func(i int) error { return s.tables[i].saved() })
}

func (s *tableStore) apply(name string, segment []byte) (state.Header, error) {
	h, shards, err := state.DecodeSegment(s.spec, name, segment)
	if err != nil {
		return h, err
	}
	if len(shards) != len(s.tables) || h.Partitions != s.spec.Partitions {
		return h, state.Damaged(name, fmt.Errorf("it has %d partitions", h.Partitions))
	}
	for i, c := range shards {
		if err := s.tables[i].apply(c); err != nil {
			return h, err
		}
	}
	return h, nil
}

func (s *tableStore) reset() {
	for _, t := range s.tables {
		t.reset()
	}
}

func (s *tableStore) stats(st *state.Stats) {
	for _, t := range s.tables {
		st.Rows += int64(t.keys.Len())
		st.Bytes += t.keys.Bytes() + int64(cap(t.times))*8
		if v, ok := t.values.(interface{ Bytes() int64 }); ok {
			st.Bytes += v.Bytes()
		}
	}
}

// table is one shard: keys in a hash table, values with the operator, and a note of what has changed since the last segment.
type table struct {
	spec   *state.Spec
	keys   group.Table
	values state.Values
	timed  state.Timed // the values, when rows expire by one of them
	times  []int64     // event time by row, when the state expires
	dirty  vec.Bitmap  // rows to be saved
	gone   []*vec.Batch
	rows   []uint32 // scratch
	min    int64    // no live row has an earlier time
}

func newTable(spec *state.Spec, values state.Values) *table {
	t := &table{spec: spec, values: values}
	t.timed, _ = values.(state.Timed)
	t.reset()
	return t
}

func newKeys(spec *state.Spec) group.Table {
	if spec.Serial {
		return group.NewSerial()
	}
	return group.New(spec.KeyTypes())
}

func (t *table) reset() {
	t.keys = newKeys(t.spec)
	t.times, t.dirty, t.gone = nil, nil, nil
	t.min = state.NoTime
	t.values.Reset()
}

// Resolve implements state.Table.
func (t *table) Resolve(keys []*vec.Vector, n int, insert bool, rows, fresh []uint32) ([]uint32, error) {
	before := len(fresh)
	fresh = t.keys.Resolve(keys, n, insert, rows, fresh)
	if len(fresh) == before {
		return fresh, nil
	}
	size := t.keys.Cap()
	t.values.Grow(size)
	for len(t.dirty)*64 < size {
		t.dirty = append(t.dirty, 0)
	}
	if t.spec.Time != nil || t.timed != nil {
		for len(t.times) < size {
			t.times = append(t.times, state.NoTime)
		}
	}
	if t.spec.Time != nil {
		t.noteTimes(t.spec.Time(keys, n), rows, fresh[before:])
	}
	return fresh, nil
}

// noteTimes stores the event times of new rows; rows holds the row number of each input key, fresh the new ones in the order of
// their first key.
func (t *table) noteTimes(times []int64, rows, fresh []uint32) {
	next := 0
	for i, r := range rows {
		if next < len(fresh) && r == fresh[next] {
			t.times[r] = times[i]
			t.min = min(t.min, times[i])
			next++
		}
	}
}

// Touch implements state.Table.
func (t *table) Touch(rows []uint32) {
	for _, r := range rows {
		t.dirty.Set(int(r))
	}
	t.retime(rows)
}

// retime asks the values for the event times of rows.
func (t *table) retime(rows []uint32) {
	if t.timed == nil || len(rows) == 0 {
		return
	}
	for i, at := range t.timed.Times(rows) {
		t.times[rows[i]] = at
		t.min = min(t.min, at)
	}
}

// Delete implements state.Table.
func (t *table) Delete(rows []uint32) {
	if len(rows) == 0 {
		return
	}
	t.gone = append(t.gone, vec.NewBatch(len(rows), t.keys.Keys(rows)...))
	t.keys.Delete(rows)
	t.values.Clear(rows)
	for _, r := range rows {
		t.dirty.Clear(int(r))
		if t.times != nil {
			t.times[r] = state.NoTime
		}
	}
}

// expired lists the rows whose event time is at most bound by row number. low is the earliest time of the others.
func (t *table) expired(bound int64) (rows []uint32, low int64) {
	if bound < t.min {
		return nil, t.min
	}
	low = state.NoTime
	for r, at := range t.times {
		if at <= bound {
			rows = append(rows, uint32(r))
		} else {
			low = min(low, at)
		}
	}
	return rows, low
}

// Expire implements state.Table.
func (t *table) Expire(bound int64) (state.Cursor, error) {
	rows, low := t.expired(bound)
	t.sortByTime(rows)
	return &cursor{t: t, rows: rows, remove: true, low: low}, nil
}

// sortByTime puts rows, which ascend, in the order of their times. Times and rows are sorted together: looking times up in each
// comparison takes twice as long.
func (t *table) sortByTime(rows []uint32) {
	type timed struct {
		at  int64
		row uint32
	}
	list := make([]timed, len(rows))
	sorted := true
	for i, r := range rows {
		list[i] = timed{t.times[r], r}
		sorted = sorted && (i == 0 || list[i-1].at <= list[i].at)
	}
	if sorted {
		return
	}
	slices.SortFunc(list, func(a, b timed) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return cmp.Compare(a.row, b.row)
	})
	for i, x := range list {
		rows[i] = x.row
	}
}

// Remove implements state.Table.
func (t *table) Remove(bound int64) (int64, error) {
	rows, low := t.expired(bound)
	t.Delete(rows)
	t.min = low
	return int64(len(rows)), nil
}

// Scan implements state.Table.
func (t *table) Scan() (state.Cursor, error) { return &cursor{t: t, rows: t.keys.Live(nil)}, nil }

// cursor implements state.Cursor over a list.
type cursor struct {
	t      *table
	rows   []uint32
	last   int // rows handed out by the last call
	remove bool
	low    int64 // when it removes: the earliest time of what stays
}

// Next implements state.Cursor.
func (c *cursor) Next() ([]uint32, error) {
	if c.remove {
		c.t.Delete(c.rows[:c.last])
	}
	c.rows = c.rows[c.last:]
	c.last = min(len(c.rows), state.ChunkRows)
	if c.remove && c.last == 0 {
		c.t.min = c.low
	}
	return c.rows[:c.last], nil
}

// Close implements state.Cursor.
func (c *cursor) Close() error { return nil }

// Sort implements state.Table: row numbers ascend as keys come.
func (t *table) Sort(rows []uint32) {
	if !slices.IsSorted(rows) {
		slices.Sort(rows)
	}
}

// Gather implements state.Table: all rows are there.
func (t *table) Gather([]*vec.Vector, int) error { return nil }

// Keys implements state.Table.
func (t *table) Keys(rows []uint32) []*vec.Vector { return t.keys.Keys(rows) }

// changes are the rows to be saved since the last segment; all rows for a snapshot.
func (t *table) changes(snapshot bool) state.Changes {
	rows := t.rows[:0]
	if snapshot {
		rows = t.keys.Live(rows)
	} else {
		for w, word := range t.dirty {
			for ; word != 0; word &= word - 1 {
				rows = append(rows, uint32(w*64+bits.TrailingZeros64(word)))
			}
		}
	}
	t.rows = rows
	c := state.Changes{Puts: len(rows)}
	if len(rows) > 0 {
		c.Keys, c.Values = t.keys.Keys(rows), t.values.Save(rows)
	}
	if len(t.gone) > 0 && !snapshot {
		all := vec.ConcatBatches(t.gone)
		c.Deleted, c.Deletes = all.Cols, all.N
	}
	return c
}

// saved forgets what the last segment holds.
func (t *table) saved() error {
	clear(t.dirty)
	t.gone = nil
	if t.keys.Cap() < 2*t.keys.Len()+minRows {
		return nil
	}
	return t.rebuild()
}

// minRows keeps small tables from being rebuilt.
const minRows = 1 << 12

// rebuild makes the table anew without the numbers of deleted rows, in the same order: what a batch puts out must not depend on
// when this happens or on restarts.
func (t *table) rebuild() error {
	rows := t.keys.Live(nil)
	if m, ok := t.values.(state.Movable); ok {
		t.keys.Compact()
		m.Move(rows)
		t.dirty = vec.NewBitmap(len(rows))
		if t.times != nil {
			times := make([]int64, len(rows))
			for i, r := range rows {
				times[i] = t.times[r]
			}
			t.times = times
		}
		return nil
	}
	c := state.Changes{Puts: len(rows)}
	if len(rows) > 0 {
		c.Keys, c.Values = t.keys.Keys(rows), t.values.Save(rows)
	}
	t.reset()
	return t.put(c)
}

// apply brings in the changes of a segment. Deletions come first: a key that was removed and added again in one batch is in both.
func (t *table) apply(c state.Changes) error {
	if c.Deletes > 0 {
		rows := make([]uint32, c.Deletes)
		t.keys.Resolve(c.Deleted, c.Deletes, false, rows, nil)
		live := rows[:0]
		for _, r := range rows {
			if r != group.None {
				live = append(live, r)
			}
		}
		slices.Sort(live) // a key that came and went more than once is there as often
		t.Delete(slices.Compact(live))
	}
	if err := t.put(c); err != nil {
		return err
	}
	return t.saved()
}

// put sets the rows of a segment.
func (t *table) put(c state.Changes) error {
	if c.Puts == 0 {
		return nil
	}
	rows := make([]uint32, c.Puts)
	if _, err := t.Resolve(c.Keys, c.Puts, true, rows, nil); err != nil {
		return err
	}
	if err := t.values.Load(rows, c.Values); err != nil {
		return err
	}
	t.retime(rows)
	return nil
}
