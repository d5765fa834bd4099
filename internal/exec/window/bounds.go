package window

import (
	"bytes"

	"github.com/millrace/millrace/internal/vec"
)

// bounds finds the frames of rows, which are asked for in order.
type bounds struct {
	r      *rows
	lo, hi end
}

// end finds one end of each frame.
type end struct {
	r     *rows
	b     Bound
	rows  bool
	upper bool
	walk  *walk // for distances of the order key
}

func newBounds(r *rows, f Frame) *bounds {
	return &bounds{r: r, lo: newEnd(r, f.Lo, f.Rows, false), hi: newEnd(r, f.Hi, f.Rows, true)}
}

func newEnd(r *rows, b Bound, rows, upper bool) end {
	e := end{r: r, b: b, rows: rows, upper: upper}
	if !rows && !b.Unbounded && b.Value >= 0 {
		k := r.order[0]
		e.walk = newWalk(r.cols[b.Key], r.cols[b.Value], vec.Order{Desc: k.Desc, NullsLast: !k.NullsFirst}, r.n)
	}
	return e
}

// find stores the frames of rows from to to-1: those of row from+i are lo[i] to hi[i]-1.
func (b *bounds) find(from, to int, lo, hi []uint32) {
	b.hi.find(from, to, hi, nil)
	b.lo.find(from, to, lo, hi)
	for i, h := range hi[:to-from] {
		lo[i] = min(lo[i], h)
	}
}

// find stores ends. A lower end goes no further than upper, which are the upper ends: where the key at it has overflowed, the rows that
// come later still have frames.
func (e *end) find(from, to int, out, upper []uint32) {
	r := e.r
	switch {
	case e.b.Unbounded && e.upper:
		copy(out, r.partHi[from:to])
	case e.b.Unbounded:
		copy(out, r.partLo[from:to])
	case e.rows:
		n := e.b.N
		if e.upper {
			n++
		}
		for i := from; i < to; i++ {
			out[i-from] = uint32(min(max(int64(i)+n, int64(r.partLo[i])), int64(r.partHi[i])))
		}
	case e.walk != nil:
		for i := from; i < to; i++ {
			most := r.partHi[i]
			if upper != nil {
				most = min(most, upper[i-from])
			}
			out[i-from] = e.walk.to(uint32(i), r.partLo[i], most, e.upper)
		}
	case e.upper:
		copy(out, r.peerHi[from:to])
	default:
		copy(out, r.peerLo[from:to])
	}
}

// walk compares order keys with the keys that frames end at. Both are in order, so that it only goes forward.
type walk struct {
	at         uint32
	keys, ends vec.KeyBuffer
}

func newWalk(key, value *vec.Vector, o vec.Order, n int) *walk {
	w := &walk{}
	vec.EncodeSortKeys([]*vec.Vector{key}, []vec.Order{o}, n, &w.keys)
	vec.EncodeSortKeys([]*vec.Vector{value}, []vec.Order{o}, n, &w.ends)
	return w
}

// to is the first row of the partition whose key is not before the end of row i's frame; for an upper end, the first behind it.
func (w *walk) to(i, partLo, most uint32, upper bool) uint32 {
	w.at = max(w.at, partLo)
	last := -1
	if upper {
		last = 0
	}
	want := w.ends.Key(int(i))
	for w.at < most && bytes.Compare(w.keys.Key(int(w.at)), want) <= last {
		w.at++
	}
	return w.at
}
