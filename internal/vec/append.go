package vec

// AppendAll appends the rows of a vector of the builder's type, for tables that grow batch by batch. Memory grows by doubling.
func (b *Builder) AppendAll(v *Vector) { b.appendRange(v.Flatten(), 0, v.n) }

// appendRange appends rows off to off+n-1 of a Flat vector.
func (b *Builder) appendRange(v *Vector, off, n int) {
	if need := b.n + n; need > b.room {
		b.resize(max(need, 2*b.room))
	}
	switch {
	case b.phys == PhysNull:
		b.AppendNulls(n)
		return
	case b.width > 0:
		copy(b.data[b.n*b.width:], v.data[off*b.width:(off+n)*b.width])
		b.n += n
	case b.phys == PhysBytes:
		for i := off; i < off+n; i++ {
			s := v.spans[i]
			if v.valid.Get(i) {
				b.AppendBytes(v.buf[s.Off : s.Off+s.Len])
			} else {
				b.AppendBytes(nil)
			}
		}
	case b.phys == PhysStruct:
		for k, kid := range v.kids {
			b.kids[k].appendRange(kid, off, n)
		}
		b.n += n
	default: // lists and maps
		for i := off; i < off+n; i++ {
			b.StartList()
			if s := v.spans[i]; v.valid.Get(i) {
				for k, kid := range v.kids {
					b.kids[k].appendRange(kid, int(s.Off), int(s.Len))
				}
			}
			b.EndList()
		}
	}
	if v.valid == nil {
		return
	}
	if b.valid == nil {
		b.valid = NewBitmapSet(b.room)
	}
	for i := range n {
		if !v.valid.Get(off + i) {
			b.valid.Clear(b.n - n + i)
			b.nulls++
		}
	}
}
