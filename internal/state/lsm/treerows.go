package lsm

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/millrace/millrace/internal/state"
)

// treeRows goes through rows of the tree that the working set does not know, by place.
type treeRows struct {
	t     *table
	known []place // in the same order
	it    *pebble.Iterator
	// Rows come from a sorter or, when they lie in the order of their places, as they lie.
	sorted *sorter
	byTime *timeRows
}

// treeRows opens the rows that expire, or all.
func (t *table) treeRows(expire bool, bound int64) (*treeRows, error) {
	lower, upper := prefix(rowKind, t.shard), after(prefix(rowKind, t.shard))
	x := &treeRows{t: t}
	switch {
	case !expire && t.layout.ByTime:
		lower, _ = upTo(rowKind, t.shard, t.expired, 0)
		x.known = t.known(t.expired, math.MaxInt64)
	case !expire:
		x.known = t.known(noBound, math.MaxInt64)
	case t.layout.ByTime:
		lower, upper = upTo(rowKind, t.shard, t.expired, bound)
		x.known = t.known(t.expired, bound)
	default:
		lower, upper = upTo(timeKind, t.shard, t.expired, bound)
		x.known = t.known(t.expired, bound)
	}
	if !expire {
		for i := range x.known {
			x.known[i].at = 0
		}
	}
	slices.SortFunc(x.known, byPlace)
	it, err := t.s.iterate(lower, upper)
	if err != nil {
		t.err = err
		return nil, err
	}
	x.it = it
	if expire && !t.layout.ByTime {
		x.byTime = &timeRows{t: t, it: it}
		return x, nil
	}
	x.sorted = newSorter(t.s, t.s.grant.workingSet()/int64(2*len(t.s.shards)))
	if err := x.sort(expire); err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

// sort reads all rows and puts them in order.
func (x *treeRows) sort(expire bool) error {
	l := x.t.layout
	for ok := x.it.First(); ok; ok = x.it.Next() {
		v, err := x.it.ValueAndErr()
		if err != nil {
			return x.t.readError(err)
		}
		e, err := l.entry(x.it.Key(), v)
		if err != nil {
			return x.t.readError(err)
		}
		if l.Expires && e.at <= x.t.expired {
			continue
		}
		if err := x.sorted.add(e, expire); err != nil {
			return err
		}
	}
	if err := x.it.Error(); err != nil {
		return x.t.readError(err)
	}
	return x.sorted.finish()
}

// next returns the next row, valid until the next call, or io.EOF.
func (x *treeRows) next() (entry, error) {
	for {
		var e entry
		var err error
		if x.byTime != nil {
			e, err = x.byTime.next()
		} else {
			e, err = x.sorted.next()
		}
		if err != nil {
			return e, err
		}
		at := place{e.at, e.number, 0}
		if x.sorted != nil {
			at.at = x.sorted.at
		}
		for len(x.known) > 0 && byPlace(x.known[0], at) < 0 {
			x.known = x.known[1:]
		}
		if len(x.known) > 0 && byPlace(x.known[0], at) == 0 {
			continue
		}
		return e, nil
	}
}

func (x *treeRows) close() error {
	err := x.it.Close()
	if x.byTime != nil {
		err = errors.Join(err, x.byTime.close())
	}
	if x.sorted != nil {
		err = errors.Join(err, x.sorted.close())
	}
	return err
}

// timeRows reads rows through the keys by event time, a chunk at a time.
type timeRows struct {
	t       *table
	it      *pebble.Iterator // over the keys by time
	rows    *pebble.Iterator
	l       loader
	at      int
	started bool
	done    bool
}

func (x *timeRows) next() (entry, error) {
	for x.at == len(x.l.entries) {
		if x.done {
			return entry{}, io.EOF
		}
		if err := x.read(); err != nil {
			return entry{}, err
		}
	}
	x.at++
	return x.l.entries[x.at-1], nil
}

// read gathers the next chunk: keys in the order of time, then their rows in the order of the tree.
func (x *timeRows) read() error {
	x.l.reset()
	x.at = 0
	ok := false
	for len(x.l.entries) < state.ChunkRows {
		if x.started {
			ok = x.it.Next()
		} else {
			ok = x.it.First()
			x.started = true
		}
		if !ok {
			break
		}
		rest, err := x.it.ValueAndErr()
		if err != nil {
			return x.t.readError(err)
		}
		key := x.it.Key()[2:]
		if len(key) != timeBytes+numberBytes {
			return x.t.readError(errRow)
		}
		x.l.add(entry{at: readTime(key), number: readNumber(key[timeBytes:]), key: rest})
	}
	if err := x.it.Error(); err != nil {
		return x.t.readError(err)
	}
	x.done = !ok
	return x.readRows()
}

func (x *timeRows) readRows() error {
	if x.rows == nil {
		it, err := x.t.s.iterate(nil, nil)
		if err != nil {
			return err
		}
		x.rows = it
	}
	order := make([]int, len(x.l.entries))
	for i := range order {
		order[i] = i
	}
	es := x.l.entries
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(es[a].key, es[b].key) })
	key := prefix(rowKind, x.t.shard)
	for _, i := range order {
		e := &es[i]
		key = append(key[:2], e.key...)
		if !x.rows.SeekPrefixGE(key) {
			if err := x.rows.Error(); err != nil {
				return x.t.readError(err)
			}
			return x.t.readError(errors.New("a row that is listed by its event time does not exist"))
		}
		v, err := x.rows.ValueAndErr()
		if err != nil {
			return x.t.readError(err)
		}
		_, _, rest, err := x.t.layout.cutHead(v)
		if err != nil {
			return x.t.readError(err)
		}
		e.value = x.l.copy(rest)
		if x.t.layout.Grouped {
			e.key = nil
		}
	}
	return nil
}

func (x *timeRows) close() error {
	if x.rows == nil {
		return nil
	}
	return x.rows.Close()
}
