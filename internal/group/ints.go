package group

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// ints is the table for a single key of up to eight bytes.
type ints struct {
	index
	typ  types.DataType
	load func(v *vec.Vector, n int, dst []int64) []int64
	keys []int64 // by group
	null uint32  // the null key's group plus one, 0 when absent
	buf  []int64
}

func newInts(t types.DataType, load func(*vec.Vector, int, []int64) []int64) *ints {
	x := &ints{typ: t, load: load}
	x.init()
	return x
}

func loadInt64(v *vec.Vector, n int, dst []int64) []int64 {
	if v.Encoding() == vec.Flat {
		return vec.Fixed[int64](v)
	}
	return fill(dst, n, vec.Fixed[int64](v)[0])
}

func loadInt32(v *vec.Vector, n int, dst []int64) []int64 {
	if v.Encoding() != vec.Flat {
		return fill(dst, n, int64(vec.Fixed[int32](v)[0]))
	}
	if cap(dst) < n {
		dst = make([]int64, n)
	}
	dst = dst[:n]
	for i, k := range vec.Fixed[int32](v) {
		dst[i] = int64(k)
	}
	return dst
}

func fill(dst []int64, n int, k int64) []int64 {
	if cap(dst) < n {
		dst = make([]int64, n)
	}
	dst = dst[:n]
	for i := range dst {
		dst[i] = k
	}
	return dst
}

// Resolve implements Table.
func (x *ints) Resolve(cols []*vec.Vector, n int, insert bool, ids, fresh []uint32) []uint32 {
	v := cols[0]
	keys := x.load(v, n, x.buf)
	if v.Encoding() != vec.Flat || v.Phys() == vec.PhysInt32 {
		x.buf = keys
	}
	x.refresh()
	if insert {
		x.reserve(n + 1)
	}
	valid := v.Validity()
	if v.Encoding() == vec.Const && valid != nil && !valid.Get(0) {
		for i := range ids[:n] {
			ids[i], fresh = x.nullGroup(insert, fresh)
		}
		return fresh
	}
	if v.Encoding() == vec.Const {
		valid = nil
	}
	for i, k := range keys[:n] {
		if valid != nil && !valid.Get(i) {
			ids[i], fresh = x.nullGroup(insert, fresh)
			continue
		}
		h := vec.HashUint64(uint64(k))
		tag := uint32(h)
		put := ^uint64(0)
		for s := h & x.mask; ; s = (s + 1) & x.mask {
			e := x.slots[s]
			if e == 0 {
				if !insert {
					ids[i] = None
					break
				}
				if put != ^uint64(0) {
					s = put
				} else {
					x.used++
				}
				id := x.add(tag)
				x.slots[s] = slotOf(tag, id)
				x.keys = append(x.keys, k)
				fresh = append(fresh, id)
				ids[i] = id
				break
			}
			if e == tombstone {
				if put == ^uint64(0) {
					put = s
				}
				continue
			}
			if g := uint32(e); uint32(e>>32) == tag && x.keys[g-1] == k && g != x.null {
				ids[i] = g - 1
				break
			}
		}
	}
	return fresh
}

func (x *ints) nullGroup(insert bool, fresh []uint32) (uint32, []uint32) {
	if x.null != 0 {
		return x.null - 1, fresh
	}
	if !insert {
		return None, fresh
	}
	id := x.addNull()
	x.keys = append(x.keys, 0)
	x.null = id + 1
	return id, append(fresh, id)
}

// Keys implements Table.
func (x *ints) Keys(ids []uint32) []*vec.Vector {
	v := vec.NewFixed(x.typ, len(ids))
	if v.Phys() == vec.PhysInt32 {
		dst := vec.Fixed[int32](v)
		for i, g := range ids {
			dst[i] = int32(x.keys[g])
		}
	} else {
		dst := vec.Fixed[int64](v)
		for i, g := range ids {
			dst[i] = x.keys[g]
		}
	}
	if x.null != 0 {
		for i, g := range ids {
			if g == x.null-1 {
				if v.Validity() == nil {
					v.SetValidity(vec.NewBitmapSet(len(ids)))
				}
				v.Validity().Clear(i)
			}
		}
	}
	return []*vec.Vector{v}
}

// Delete implements Table.
func (x *ints) Delete(ids []uint32) {
	x.remove(ids)
	if x.null != 0 && !x.live.Get(int(x.null-1)) {
		x.null = 0
	}
}

// Compact implements Table.
func (x *ints) Compact() {
	old := x.compact()
	x.keys, x.null = keepRows(x.keys, old, 1), renumbered(old, x.null)
}

// Bytes implements Table.
func (x *ints) Bytes() int64 { return x.bytes() + int64(cap(x.keys))*8 }

// Probe implements Table.
func (x *ints) Probe() Table {
	x.refresh()
	y := *x
	y.buf = nil
	return &y
}
