package vec

// Flatten returns the rows of v as a Flat vector: v itself when it is one. Bytes and children are shared with v.
func (v *Vector) Flatten() *Vector {
	if v.enc == Flat {
		return v
	}
	dst := &Vector{}
	v.flattenInto(dst)
	dst.borrowed = v.borrowed && dst.shares()
	return dst
}

// FlattenInto is Flatten into scratch. The result is v itself when it is Flat, else dst.
func (v *Vector) FlattenInto(dst *Vector) *Vector {
	if v.enc == Flat {
		return v
	}
	v.flattenInto(dst)
	dst.borrowed = true
	return dst
}

func (v *Vector) flattenInto(dst *Vector) {
	dst.typ, dst.phys, dst.enc, dst.n, dst.base = v.typ, v.phys, Flat, v.n, nil
	dst.valid, dst.buf = nil, nil
	if v.enc == Const {
		v.spread(dst)
		return
	}
	idx := v.idx
	if v.valid != nil {
		// Rows that only the dictionary makes null may have any index.
		idx = make([]uint32, v.n)
		for i := range idx {
			if idx[i] = NoRow; v.valid.Get(i) {
				idx[i] = v.idx[i]
			}
		}
	}
	takeFlat(v.base, idx, dst)
}

// spread repeats a constant's one stored row.
func (v *Vector) spread(dst *Vector) {
	n := v.n
	switch v.phys {
	case PhysNull:
		return
	case PhysBytes, PhysList, PhysMap:
		fill(dst.growSpans(n), v.spans[0])
		dst.buf, dst.kids = v.buf, v.kids
	case PhysStruct:
		m := dst.mem()
		for len(m.kids) < len(v.kids) {
			m.kids = append(m.kids, &Vector{})
		}
		dst.kids = m.kids[:len(v.kids)]
		for i, k := range v.kids {
			NewConst(k, n).FlattenInto(dst.kids[i])
		}
	default:
		dst.ResetFixed(n)
		if n == 0 {
			break
		}
		switch v.phys.Width() {
		case 1:
			fill(Fixed[uint8](dst), Fixed[uint8](v)[0])
		case 2:
			fill(Fixed[int16](dst), Fixed[int16](v)[0])
		case 4:
			fill(Fixed[int32](dst), Fixed[int32](v)[0])
		case 8:
			fill(Fixed[int64](dst), Fixed[int64](v)[0])
		case 16:
			fill(Fixed[Int128](dst), Fixed[Int128](v)[0])
		}
	}
	if !v.valid.Get(0) {
		m := dst.mem()
		m.valid = GrowBitmap(m.valid, n)
		clear(m.valid)
		dst.valid = m.valid
	}
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

// Slice returns rows off to off+n-1 of v without copying values; the result is Owned when v is.
func (v *Vector) Slice(off, n int) *Vector {
	if off == 0 && n == v.n {
		return v
	}
	c := v.header()
	c.n = n
	switch {
	case v.enc == Const:
		return c
	case v.enc == Dict:
		c.idx = v.idx[off : off+n : off+n]
	default:
		switch v.phys {
		case PhysNull:
		case PhysBytes, PhysList, PhysMap:
			c.spans = v.spans[off : off+n : off+n]
		case PhysStruct:
			c.kids = make([]*Vector, len(v.kids))
			for i, k := range v.kids {
				c.kids[i] = k.Slice(off, n)
			}
		default:
			w := v.phys.Width()
			c.data = v.data[off*w : (off+n)*w : (off+n)*w]
		}
	}
	c.valid = v.valid.Slice(off, n)
	return c
}
