package group

import (
	"bytes"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// byteTable is the table for keys compared as byte strings: a single string or binary column as it is, or an encoded row.
type byteTable struct {
	index
	types []types.DataType
	plain bool // one column, stored without encoding
	keys  []keyRef
	arena []byte
	dead  int // bytes of the arena that belong to deleted keys
	null  uint32
	enc   encoder
}

func newBytes(keyTypes []types.DataType, plain bool) *byteTable {
	x := &byteTable{types: keyTypes, plain: plain}
	x.init()
	return x
}

// keyRef is where a key lies in the arena, which may be larger than a Span can address.
type keyRef struct {
	off uint64
	len uint32
}

func (x *byteTable) key(g uint32) []byte {
	k := x.keys[g]
	return x.arena[k.off : k.off+uint64(k.len)]
}

// Resolve implements Table.
func (x *byteTable) Resolve(cols []*vec.Vector, n int, insert bool, ids, fresh []uint32) []uint32 {
	x.refresh()
	if insert {
		x.reserve(n + 1)
		if x.dead > 1<<16 && x.dead > len(x.arena)/2 {
			x.sweep()
		}
	}
	if !x.plain {
		x.enc.encode(cols, n)
		from := uint32(0)
		for i, to := range x.enc.ends {
			ids[i], fresh = x.find(x.enc.buf[from:to], insert, fresh)
			from = to
		}
		return fresh
	}
	v := cols[0]
	spans, data, valid := v.Spans(), v.Bytes(), v.Validity()
	one := v.Encoding() == vec.Const
	for i := range ids[:n] {
		j := pick(i, one)
		if !valid.Get(j) {
			ids[i], fresh = x.nullGroup(insert, fresh)
			continue
		}
		s := spans[j]
		ids[i], fresh = x.find(data[s.Off:s.Off+s.Len], insert, fresh)
	}
	return fresh
}

func (x *byteTable) find(key []byte, insert bool, fresh []uint32) (uint32, []uint32) {
	h := vec.HashBytes(key)
	tag := uint32(h)
	put := ^uint64(0)
	for s := h & x.mask; ; s = (s + 1) & x.mask {
		e := x.slots[s]
		if e == 0 {
			if !insert {
				return None, fresh
			}
			if put != ^uint64(0) {
				s = put
			} else {
				x.used++
			}
			id := x.add(tag)
			x.slots[s] = slotOf(tag, id)
			x.store(key)
			return id, append(fresh, id)
		}
		if e == tombstone {
			if put == ^uint64(0) {
				put = s
			}
			continue
		}
		if g := uint32(e); uint32(e>>32) == tag && g != x.null && bytes.Equal(x.key(g-1), key) {
			return g - 1, fresh
		}
	}
}

func (x *byteTable) store(key []byte) {
	s := keyRef{off: uint64(len(x.arena)), len: uint32(len(key))}
	x.arena = append(x.arena, key...)
	x.keys = append(x.keys, s)
}

// sweep drops the bytes of deleted keys, so that a table whose keys come and go stays as large as what is alive.
func (x *byteTable) sweep() {
	arena := make([]byte, 0, len(x.arena)-x.dead)
	for g := range x.keys {
		if x.live.Get(g) {
			key := x.key(uint32(g))
			x.keys[g].off = uint64(len(arena))
			arena = append(arena, key...)
		}
	}
	x.arena, x.dead = arena, 0
}

func (x *byteTable) nullGroup(insert bool, fresh []uint32) (uint32, []uint32) {
	if x.null != 0 {
		return x.null - 1, fresh
	}
	if !insert {
		return None, fresh
	}
	id := x.addNull()
	x.store(nil)
	x.null = id + 1
	return id, append(fresh, id)
}

// Keys implements Table.
func (x *byteTable) Keys(ids []uint32) []*vec.Vector {
	if !x.plain {
		d := decoder{rows: make([][]byte, len(ids))}
		for i, g := range ids {
			d.rows[i] = x.key(g)
		}
		cols := make([]*vec.Vector, len(x.types))
		for c, t := range x.types {
			cols[c] = d.column(t)
		}
		return cols
	}
	size := 0
	for _, g := range ids {
		size += int(x.keys[g].len)
	}
	spans, buf := make([]vec.Span, len(ids)), make([]byte, 0, size)
	var valid vec.Bitmap
	for i, g := range ids {
		if g+1 == x.null {
			if valid == nil {
				valid = vec.NewBitmapSet(len(ids))
			}
			valid.Clear(i)
			continue
		}
		key := x.key(g)
		spans[i] = vec.Span{Off: uint32(len(buf)), Len: uint32(len(key))}
		buf = append(buf, key...)
	}
	v := vec.NewBytes(x.types[0], spans, buf)
	v.SetValidity(valid)
	return []*vec.Vector{v}
}

// Delete implements Table.
func (x *byteTable) Delete(ids []uint32) {
	x.remove(ids)
	for _, g := range ids {
		x.dead += int(x.keys[g].len)
	}
	if x.null != 0 && !x.live.Get(int(x.null-1)) {
		x.null = 0
	}
}

// Compact implements Table.
func (x *byteTable) Compact() {
	if x.dead > 0 {
		x.sweep()
	}
	old := x.compact()
	x.keys, x.null = keepRows(x.keys, old, 1), renumbered(old, x.null)
}

// Bytes implements Table.
func (x *byteTable) Bytes() int64 { return x.bytes() + int64(cap(x.keys))*16 + int64(cap(x.arena)) }

// Probe implements Table.
func (x *byteTable) Probe() Table {
	x.refresh()
	y := *x
	y.enc = encoder{}
	return &y
}
