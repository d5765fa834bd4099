//go:build invariants

package vec

import "math"

// Invariants tells that the program was built to check itself.
const Invariants = true

const poisonByte = 0xa5

// Poison overwrites the scratch memory behind a batch's Borrowed columns. A producer calls it before it makes its next batch,
// so that whoever kept the last one without Own is found out.
func Poison(b *Batch) {
	for _, v := range b.Cols {
		if v != nil && v.borrowed {
			v.poison()
		}
	}
}

// poison overwrites what v may write to: memory that it shares with others stays as it is.
func (v *Vector) poison() {
	if v.holds {
		v.poisonRows()
		for i := range v.idx {
			v.idx[i] = math.MaxUint32 - 1
		}
	}
	if v.own != nil {
		fill(v.own.buf[:cap(v.own.buf)], poisonByte)
		for _, k := range v.own.kids {
			k.poison()
		}
	}
}

// poisonRows fills fixed-width values with garbage and makes spans point outside of every buffer.
func (v *Vector) poisonRows() {
	fill(v.data[:cap(v.data)], poisonByte)
	fill(v.spans[:cap(v.spans)], Span{math.MaxUint32 / 2, math.MaxUint32 / 4})
}
