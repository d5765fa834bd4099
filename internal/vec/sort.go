package vec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// SortIndex returns the row numbers of n rows of columns in sorted order. Rows that are equal keep their order. There is one
// order for each column; missing ones are ascending with nulls first.
func SortIndex(cols []*Vector, orders []Order, n int) []uint32 {
	if len(cols) == 1 {
		var o Order
		if len(orders) > 0 {
			o = orders[0]
		}
		if idx, ok := sortOne(cols[0], o, n); ok {
			return idx
		}
	}
	var keys KeyBuffer
	EncodeSortKeys(cols, orders, n, &keys)
	s := &keySorter{keys: &keys, rows: make([]sortRow, n)}
	for i := range s.rows {
		s.rows[i].row = uint32(i)
	}
	s.sort(s.rows, 0)
	return indexOf(s.rows, make([]uint32, 0, n))
}

// sortRow is a row with up to eight bytes of its key.
type sortRow struct {
	key uint64
	row uint32
}

func indexOf(rows []sortRow, idx []uint32) []uint32 {
	for _, r := range rows {
		idx = append(idx, r.row)
	}
	return idx
}

// sortOne sorts by a single column whose values fit eight bytes.
func sortOne(v *Vector, o Order, n int) ([]uint32, bool) {
	if v.enc == Const || v.phys == PhysNull {
		idx := make([]uint32, n)
		for i := range idx {
			idx[i] = uint32(i)
		}
		return idx, true
	}
	v = v.Flatten()
	var at func(i int) uint64
	switch v.phys {
	case PhysBool:
		xs := Fixed[uint8](v)
		at = func(i int) uint64 { return uint64(xs[i]) }
	case PhysInt8:
		xs := Fixed[int8](v)
		at = func(i int) uint64 { return uint64(int64(xs[i])) ^ 1<<63 }
	case PhysInt16:
		xs := Fixed[int16](v)
		at = func(i int) uint64 { return uint64(int64(xs[i])) ^ 1<<63 }
	case PhysInt32:
		xs := Fixed[int32](v)
		at = func(i int) uint64 { return uint64(int64(xs[i])) ^ 1<<63 }
	case PhysInt64:
		xs := Fixed[int64](v)
		at = func(i int) uint64 { return uint64(xs[i]) ^ 1<<63 }
	case PhysFloat32:
		xs := Fixed[float32](v)
		at = func(i int) uint64 { return uint64(sortable32(xs[i])) }
	case PhysFloat64:
		xs := Fixed[float64](v)
		at = func(i int) uint64 { return sortable64(xs[i]) }
	default:
		return nil, false
	}
	rows := make([]sortRow, 0, n)
	var nulls []uint32
	for i := range n {
		if !v.valid.Get(i) {
			nulls = append(nulls, uint32(i))
			continue
		}
		key := at(i)
		if o.Desc {
			key = ^key
		}
		rows = append(rows, sortRow{key, uint32(i)})
	}
	radixSort(rows, nil)
	idx := make([]uint32, 0, n)
	if !o.NullsLast {
		idx = append(idx, nulls...)
	}
	idx = indexOf(rows, idx)
	if o.NullsLast {
		idx = append(idx, nulls...)
	}
	return idx, true
}

// radixFrom is the number of rows from which counting bytes beats comparing.
const radixFrom = 256

// radixSort sorts rows by key, keeping the order of equal ones, a byte at a time from the lowest. tmp is scratch, or nil.
func radixSort(rows, tmp []sortRow) {
	if len(rows) < radixFrom {
		slices.SortFunc(rows, func(a, b sortRow) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) })
		return
	}
	var counts [8][256]uint32
	for _, r := range rows {
		for b := range counts {
			counts[b][byte(r.key>>(8*b))]++
		}
	}
	if len(tmp) < len(rows) {
		tmp = make([]sortRow, len(rows))
	}
	from, to := rows, tmp[:len(rows)]
	for b := range counts {
		count := &counts[b]
		if count[byte(from[0].key>>(8*b))] == uint32(len(rows)) {
			continue // all keys have the same byte here
		}
		at := uint32(0)
		for i, c := range count {
			count[i] = at
			at += c
		}
		shift := 8 * b
		for _, r := range from {
			d := &count[byte(r.key>>shift)]
			to[*d] = r
			*d++
		}
		from, to = to, from
	}
	if &from[0] != &rows[0] {
		copy(rows, from)
	}
}

// keySorter sorts rows by their byte keys: eight bytes at a time, then what is equal so far by the next eight.
type keySorter struct {
	keys *KeyBuffer
	rows []sortRow
	tmp  []sortRow
}

func (s *keySorter) sort(rows []sortRow, depth int) {
	if len(rows) < 2 {
		return
	}
	if len(rows) < 16 {
		slices.SortFunc(rows, func(a, b sortRow) int {
			return cmp.Or(bytes.Compare(s.rest(a.row, depth), s.rest(b.row, depth)), cmp.Compare(a.row, b.row))
		})
		return
	}
	more := false
	for i := range rows {
		rest := s.rest(rows[i].row, depth)
		if len(rest) >= 8 {
			rows[i].key = binary.BigEndian.Uint64(rest)
			more = more || len(rest) > 8
			continue
		}
		// No key is a prefix of another, so that zeros behind its end decide nothing.
		var b [8]byte
		copy(b[:], rest)
		rows[i].key = binary.BigEndian.Uint64(b[:])
	}
	if s.tmp == nil && len(rows) >= radixFrom {
		s.tmp = make([]sortRow, len(rows))
	}
	radixSort(rows, s.tmp)
	if !more {
		return
	}
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].key == rows[from].key {
			to++
		}
		if to-from > 1 {
			s.sort(rows[from:to], depth+8)
		}
		from = to
	}
}

func (s *keySorter) rest(row uint32, depth int) []byte {
	key := s.keys.Key(int(row))
	return key[min(depth, len(key)):]
}
