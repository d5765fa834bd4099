package group

import (
	"slices"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// serial is the table for one LONG key, never null, that counts up: keys come in ascending order, so that a group's number is the
// key's place among them, and nothing is hashed. Keys that come out of turn turn it into an ordinary table.
type serial struct {
	keys  []int64 // by group, ascending
	live  vec.Bitmap
	count int
	other *ints // what it has turned into
}

// NewSerial returns an empty table for a LONG key that is never null and that nearly always is greater than all before it.
func NewSerial() Table { return &serial{} }

// Resolve implements Table.
func (x *serial) Resolve(cols []*vec.Vector, n int, insert bool, ids, fresh []uint32) []uint32 {
	if x.other != nil {
		return x.other.Resolve(cols, n, insert, ids, fresh)
	}
	for i, k := range vec.Fixed[int64](cols[0].Flatten())[:n] {
		last := len(x.keys) - 1
		if last < 0 || k > x.keys[last] {
			if ids[i] = None; insert {
				ids[i] = x.add(k)
				fresh = append(fresh, ids[i])
			}
			continue
		}
		g, found := slices.BinarySearch(x.keys, k)
		switch {
		case found && x.live.Get(g):
			ids[i] = uint32(g)
		case !insert:
			ids[i] = None
		default: // between others, or there before: the order of the keys is no longer that of their coming
			x.turn()
			return x.other.Resolve([]*vec.Vector{cols[0].Flatten().Slice(i, n-i)}, n-i, insert, ids[i:], fresh)
		}
	}
	return fresh
}

func (x *serial) add(k int64) uint32 {
	g := len(x.keys)
	x.keys = append(x.keys, k)
	if g>>6 >= len(x.live) {
		x.live = append(x.live, 0)
	}
	x.live.Set(g)
	x.count++
	return uint32(g)
}

// turn makes an ordinary table with the same numbers.
func (x *serial) turn() {
	x.other = newInts(types.Long, loadInt64)
	all := vec.NewFixed(types.Long, len(x.keys))
	copy(vec.Fixed[int64](all), x.keys)
	x.other.Resolve([]*vec.Vector{all}, len(x.keys), true, make([]uint32, len(x.keys)), nil)
	for g := range x.keys {
		if !x.live.Get(g) {
			x.other.Delete([]uint32{uint32(g)})
		}
	}
	x.keys, x.live = nil, nil
}

// Cap implements Table.
func (x *serial) Cap() int {
	if x.other != nil {
		return x.other.Cap()
	}
	return len(x.keys)
}

// Len implements Table.
func (x *serial) Len() int {
	if x.other != nil {
		return x.other.Len()
	}
	return x.count
}

// Keys implements Table.
func (x *serial) Keys(ids []uint32) []*vec.Vector {
	if x.other != nil {
		return x.other.Keys(ids)
	}
	v := vec.NewFixed(types.Long, len(ids))
	dst := vec.Fixed[int64](v)
	for i, g := range ids {
		dst[i] = x.keys[g]
	}
	return []*vec.Vector{v}
}

// Live implements Table.
func (x *serial) Live(ids []uint32) []uint32 {
	if x.other != nil {
		return x.other.Live(ids)
	}
	ids = slices.Grow(ids, x.count)
	for g := range x.keys {
		if x.live.Get(g) {
			ids = append(ids, uint32(g))
		}
	}
	return ids
}

// Delete implements Table.
func (x *serial) Delete(ids []uint32) {
	if x.other != nil {
		x.other.Delete(ids)
		return
	}
	for _, g := range ids {
		x.live.Clear(int(g))
	}
	x.count -= len(ids)
}

// Compact implements Table.
func (x *serial) Compact() {
	if x.other != nil {
		x.other.Compact()
		return
	}
	x.keys = keepRows(x.keys, x.Live(nil), 1)
	x.live = vec.NewBitmapSet(len(x.keys))
}

// Probe implements Table.
func (x *serial) Probe() Table {
	if x.other != nil {
		return x.other.Probe()
	}
	y := *x
	return &y
}

// Bytes implements Table.
func (x *serial) Bytes() int64 {
	if x.other != nil {
		return x.other.Bytes()
	}
	return int64(cap(x.keys))*8 + int64(cap(x.live))*8
}
