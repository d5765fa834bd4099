package vec

import "github.com/millrace/millrace/types"

// Batch is some rows of several columns. Rows that count are those of Sel, in its order; all N when Sel is nil.
type Batch struct {
	Cols []*Vector
	N    int      // rows in each column
	Sel  []uint32 // ascending row numbers, or nil
}

// NewBatch returns a batch of n rows over columns of that length.
func NewBatch(n int, cols ...*Vector) *Batch { return &Batch{Cols: cols, N: n} }

// EmptyBatch returns a batch without rows.
func EmptyBatch(ts []types.DataType) *Batch {
	b := &Batch{Cols: make([]*Vector, len(ts))}
	for i, t := range ts {
		b.Cols[i] = emptyStored(t, 0)
	}
	return b
}

// Rows is the number of rows that count.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// WithSelection returns the same columns with another selection, which is not copied.
func (b *Batch) WithSelection(sel []uint32) *Batch { return &Batch{Cols: b.Cols, N: b.N, Sel: sel} }

// Compact returns the rows that count as a batch without selection: b itself when it has none, else the rows gathered into
// scratch, or into new memory when scratch is nil.
func (b *Batch) Compact(scratch *Batch) *Batch {
	if b.Sel == nil {
		return b
	}
	return b.Take(b.Sel, scratch)
}

// Take gathers rows of all columns, as the function Take does for one; the index counts all N rows, and the selection is not
// looked at. A nil column stays nil.
func (b *Batch) Take(idx []uint32, scratch *Batch) *Batch {
	fresh := scratch == nil
	if fresh {
		scratch = &Batch{}
	}
	for len(scratch.Cols) < len(b.Cols) {
		scratch.Cols = append(scratch.Cols, nil)
	}
	scratch.Cols = scratch.Cols[:len(b.Cols)]
	scratch.N, scratch.Sel = len(idx), nil
	for i, c := range b.Cols {
		switch {
		case c == nil:
		case fresh:
			scratch.Cols[i] = Take(c, idx, nil)
		default:
			if scratch.Cols[i] == nil {
				scratch.Cols[i] = &Vector{}
			}
			Take(c, idx, scratch.Cols[i])
		}
	}
	return scratch
}

// Own returns the rows that count as a batch that may be kept: without selection, its columns Owned. The batch itself and its
// list of columns are always new, since producers reuse theirs.
func (b *Batch) Own() *Batch {
	o := &Batch{N: b.Rows(), Cols: make([]*Vector, len(b.Cols))}
	for i, c := range b.Cols {
		if b.Sel == nil {
			o.Cols[i] = c.Own()
			continue
		}
		t := Take(c, b.Sel, nil)
		if t.enc == Flat {
			// A few rows must not keep the bytes of all alive.
			t = t.copyShared()
		} else {
			t = t.Own()
		}
		o.Cols[i] = t
	}
	return o
}

// Slice returns rows off to off+n-1 of those that count, without copying values.
func (b *Batch) Slice(off, n int) *Batch {
	if off == 0 && n == b.Rows() {
		return b
	}
	if b.Sel != nil {
		return b.WithSelection(b.Sel[off : off+n : off+n])
	}
	s := &Batch{N: n, Cols: make([]*Vector, len(b.Cols))}
	for i, c := range b.Cols {
		s.Cols[i] = c.Slice(off, n)
	}
	return s
}

// Owned tells whether the batch may be kept as it is.
func (b *Batch) Owned() bool {
	if b.Sel != nil {
		return false
	}
	for _, c := range b.Cols {
		if !c.Owned() {
			return false
		}
	}
	return true
}

// SizeBytes estimates the memory that the batch takes.
func (b *Batch) SizeBytes() int {
	size := len(b.Sel) * 4
	for _, c := range b.Cols {
		size += c.SizeBytes()
	}
	return size
}

// ConcatBatches returns the rows that count of all batches as one Owned batch without selection. There must be at least one.
func ConcatBatches(bs []*Batch) *Batch {
	if len(bs) == 1 {
		return bs[0].Own()
	}
	out := &Batch{Cols: make([]*Vector, len(bs[0].Cols))}
	dense := make([]*Batch, len(bs))
	for i, b := range bs {
		dense[i] = b.Compact(nil)
		out.N += dense[i].N
	}
	part := make([]*Vector, len(bs))
	for c := range out.Cols {
		for i, b := range dense {
			part[i] = b.Cols[c]
		}
		out.Cols[c] = Concat(part)
	}
	return out
}
