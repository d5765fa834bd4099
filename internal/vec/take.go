package vec

// NoRow in an index stands for a row that is null.
const NoRow = ^uint32(0)

// Take gathers rows: row i of the result is row idx[i] of v, or null where idx[i] is NoRow. Strings, arrays and maps share
// their bytes and children with v; constants stay constant and dictionaries keep their base.
//
// dst is scratch to be reused, or nil. A result in scratch is Borrowed; a new one is Owned if nothing in it is shared with
// Borrowed memory. dst must not be v nor anything that v shares memory with.
func Take(v *Vector, idx []uint32, dst *Vector) *Vector {
	if dst == nil {
		dst = &Vector{}
		takeInto(v, idx, dst)
		dst.borrowed = v.borrowed && dst.shares()
		return dst
	}
	takeInto(v, idx, dst)
	dst.borrowed = true
	return dst
}

// TakeAll gathers rows of several columns into new memory.
func TakeAll(cols []*Vector, idx []uint32) []*Vector {
	out := make([]*Vector, len(cols))
	for i, c := range cols {
		out[i] = Take(c, idx, nil)
	}
	return out
}

// shares tells whether vectors of this layout and encoding point into memory of the vector they were taken from.
func (v *Vector) shares() bool {
	if v.enc != Flat {
		return true
	}
	switch v.phys {
	case PhysBytes, PhysList, PhysMap:
		return true
	case PhysStruct:
		for _, k := range v.kids {
			if k.shares() {
				return true
			}
		}
	}
	return false
}

func takeInto(v *Vector, idx []uint32, dst *Vector) {
	n := len(idx)
	dst.typ, dst.phys, dst.enc, dst.n, dst.base = v.typ, v.phys, Flat, n, nil
	dst.valid, dst.buf = nil, nil
	switch v.enc {
	case Const:
		if hasNoRow(idx) {
			takeConst(v, idx, dst)
			return
		}
		dst.enc = Const
		dst.valid, dst.data, dst.spans, dst.buf, dst.kids = v.valid, v.data, v.spans, v.buf, v.kids
		dst.holds = false
		return
	case Dict:
		takeDict(v, idx, dst)
		return
	}
	takeFlat(v, idx, dst)
}

// takeFlat gathers from a vector with one stored value for each row.
func takeFlat(v *Vector, idx []uint32, dst *Vector) {
	n := len(idx)
	var missing bool
	switch v.phys {
	case PhysNull:
		return
	case PhysBool, PhysInt8:
		dst.ResetFixed(n)
		missing = gather(Fixed[uint8](dst), Fixed[uint8](v), idx)
	case PhysInt16:
		dst.ResetFixed(n)
		missing = gather(Fixed[int16](dst), Fixed[int16](v), idx)
	case PhysInt32, PhysFloat32:
		dst.ResetFixed(n)
		missing = gather(Fixed[int32](dst), Fixed[int32](v), idx)
	case PhysInt64, PhysFloat64:
		dst.ResetFixed(n)
		missing = gather(Fixed[int64](dst), Fixed[int64](v), idx)
	case PhysInt128, PhysInterval:
		dst.ResetFixed(n)
		missing = gather(Fixed[Int128](dst), Fixed[Int128](v), idx)
	case PhysBytes, PhysList, PhysMap:
		missing = gather(dst.growSpans(n), v.spans, idx)
		dst.buf, dst.kids = v.buf, v.kids
	case PhysStruct:
		missing = hasNoRow(idx)
		m := dst.mem()
		for len(m.kids) < len(v.kids) {
			m.kids = append(m.kids, &Vector{})
		}
		dst.kids = m.kids[:len(v.kids)]
		for i, k := range v.kids {
			Take(k, idx, dst.kids[i])
		}
	}
	if missing || v.valid != nil {
		m := dst.mem()
		m.valid = GrowBitmap(m.valid, n)
		dst.valid = m.valid
		gatherBits(dst.valid, v.valid, idx)
	}
}

// gather copies src[idx[i]] to dst[i], a zero value for NoRow, and tells whether there was one. The one comparison serves
// as the bounds check too.
func gather[T any](dst, src []T, idx []uint32) (missing bool) {
	var zero T
	dst = dst[:len(idx)]
	for i, j := range idx {
		if uint(j) < uint(len(src)) {
			dst[i] = src[j]
		} else {
			dst[i] = zero
			missing = true
		}
	}
	return missing
}

// gatherBits stores bit idx[i] of src as bit i of dst, clear for NoRow.
func gatherBits(dst, src Bitmap, idx []uint32) {
	for w := range dst {
		part := idx[w<<6:]
		if len(part) > 64 {
			part = part[:64]
		}
		var word uint64
		if src == nil {
			for i, j := range part {
				if j != NoRow {
					word |= 1 << uint(i&63)
				}
			}
		} else {
			for i, j := range part {
				if j != NoRow {
					word |= (src[j>>6] >> (j & 63) & 1) << uint(i&63)
				}
			}
		}
		dst[w] = word
	}
}

func hasNoRow(idx []uint32) bool {
	for _, j := range idx {
		if j == NoRow {
			return true
		}
	}
	return false
}

// takeConst gathers rows of a constant some of which are to be null: a dictionary over the one stored row.
func takeConst(v *Vector, idx []uint32, dst *Vector) {
	n := len(idx)
	one := v.header()
	one.enc, one.n = Flat, 1
	dst.hold()
	dst.enc, dst.base = Dict, one
	dst.idx = growIndex(dst.idx, n)
	clear(dst.idx)
	m := dst.mem()
	m.valid = GrowBitmap(m.valid, n)
	gatherBits(m.valid, nil, idx)
	dst.valid = m.valid
}

func takeDict(v *Vector, idx []uint32, dst *Vector) {
	n := len(idx)
	dst.hold()
	dst.enc, dst.base = Dict, v.base
	dst.idx = growIndex(dst.idx, n)
	if missing := gather(dst.idx, v.idx, idx); missing || v.valid != nil {
		m := dst.mem()
		m.valid = GrowBitmap(m.valid, n)
		gatherBits(m.valid, v.valid, idx)
		dst.valid = m.valid
	}
}

func growIndex(idx []uint32, n int) []uint32 {
	if cap(idx) < n {
		return make([]uint32, n, n+n/4)
	}
	return idx[:n]
}
