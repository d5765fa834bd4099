package vec

// Concat returns the rows of all vectors, one after the other, as one Owned vector. There must be at least one, and all must
// be of one type. A single vector is returned as it is when it is Owned.
func Concat(vs []*Vector) *Vector {
	if len(vs) == 1 {
		return vs[0].Own()
	}
	n, same := 0, true
	for _, v := range vs {
		n += v.n
		same = same && v.enc == Dict && vs[0].enc == Dict && v.base == vs[0].base && v.base.Owned()
	}
	if same {
		return concatDicts(vs, n)
	}
	flat := make([]*Vector, len(vs))
	for i, v := range vs {
		flat[i] = v.Flatten()
	}
	return concatFlat(flat, n)
}

func concatFlat(vs []*Vector, n int) *Vector {
	c := &Vector{typ: vs[0].typ, phys: vs[0].phys, n: n}
	c.valid = concatValidity(vs, n)
	switch c.phys {
	case PhysNull:
	case PhysBytes:
		total := 0
		for _, v := range vs {
			total += v.rowBytes()
		}
		c.spans = make([]Span, n)
		c.buf = make([]byte, 0, total)
		at := 0
		for _, v := range vs {
			c.buf = appendRowBytes(c.buf, v, c.spans[at:at+v.n])
			at += v.n
		}
	case PhysList, PhysMap:
		c.spans = make([]Span, n)
		c.kids = make([]*Vector, len(vs[0].kids))
		parts := make([][]*Vector, len(c.kids))
		at, rows := 0, 0
		var idx []uint32
		for _, v := range vs {
			if from, to, ok := v.stretch(); ok {
				shift := uint32(rows) - from
				for i, s := range v.spans {
					c.spans[at+i] = Span{s.Off + shift, s.Len}
				}
				for k, kid := range v.kids {
					parts[k] = append(parts[k], kid.Slice(int(from), int(to-from)))
				}
				rows += int(to - from)
			} else {
				idx = appendChildRows(idx[:0], v, c.spans[at:at+v.n], rows)
				for k, kid := range v.kids {
					parts[k] = append(parts[k], Take(kid, idx, nil))
				}
				rows += len(idx)
			}
			at += v.n
		}
		checkSize(uint64(rows))
		for k := range c.kids {
			c.kids[k] = concatFlat(parts[k], rows)
		}
	case PhysStruct:
		c.kids = make([]*Vector, len(vs[0].kids))
		part := make([]*Vector, len(vs))
		for k := range c.kids {
			for i, v := range vs {
				part[i] = v.kids[k]
			}
			c.kids[k] = concatFlat(part, n)
		}
	default:
		c.data = growAligned(nil, n*c.phys.Width())
		at := 0
		for _, v := range vs {
			at += copy(c.data[at:], v.data[:v.n*c.phys.Width()])
		}
	}
	return c
}

func concatDicts(vs []*Vector, n int) *Vector {
	idx := make([]uint32, 0, n)
	for _, v := range vs {
		idx = append(idx, v.idx...)
	}
	return NewDict(vs[0].base, idx, concatValidity(vs, n))
}

// concatValidity joins the vectors' own bitmaps, nil when none has one.
func concatValidity(vs []*Vector, n int) Bitmap {
	any := false
	for _, v := range vs {
		any = any || v.valid != nil
	}
	if !any {
		return nil
	}
	b := NewBitmap(n)
	at := 0
	for _, v := range vs {
		b.CopyFrom(at, v.valid, v.n)
		at += v.n
	}
	return b
}
