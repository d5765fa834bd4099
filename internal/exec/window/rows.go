package window

import (
	"bytes"

	"github.com/millrace/millrace/internal/vec"
)

// rows are a shard in the order of its keys. Partitions, and peers among their rows, are stretches.
type rows struct {
	n    int
	cols []*vec.Vector // Flat or Const, Owned
	// Each row's partition is rows partLo to partHi-1, and its peers, rows that are equal in the order keys, are peerLo to peerHi-1.
	partLo, partHi []uint32
	peerLo, peerHi []uint32
	order          []Key
}

func newRows(o *Op, batches []*vec.Batch) *rows {
	all := vec.ConcatBatches(batches)
	keys := make([]*vec.Vector, 0, len(o.Partition)+len(o.Order))
	orders := make([]vec.Order, len(o.Partition), cap(keys))
	for _, k := range o.Partition {
		keys = append(keys, all.Cols[k])
	}
	for _, k := range o.Order {
		keys = append(keys, all.Cols[k.Col])
		orders = append(orders, vec.Order{Desc: k.Desc, NullsLast: !k.NullsFirst})
	}
	r := &rows{n: all.N, order: o.Order, cols: make([]*vec.Vector, len(all.Cols))}
	var idx []uint32
	if len(keys) > 0 {
		idx = vec.SortIndex(keys, orders, all.N)
	}
	for i, c := range all.Cols {
		if idx != nil {
			c = vec.Take(c, idx, nil)
		}
		if c.Encoding() == vec.Dict {
			c = c.Flatten()
		}
		r.cols[i] = c.Own()
	}
	starts := make([]bool, r.n)
	for _, k := range o.Partition {
		markChanges(r.cols[k], starts)
	}
	r.partLo, r.partHi = stretches(starts)
	if len(o.Order) == 0 {
		r.peerLo, r.peerHi = r.partLo, r.partHi
		return r
	}
	for _, k := range o.Order {
		markChanges(r.cols[k.Col], starts)
	}
	r.peerLo, r.peerHi = stretches(starts)
	return r
}

// stretches gives for each row the stretch that it lies in. Row 0 starts one whether it is marked or not.
func stretches(starts []bool) (lo, hi []uint32) {
	n := len(starts)
	lo, hi = make([]uint32, n), make([]uint32, n)
	from := 0
	for i := 1; i <= n; i++ {
		if i < n && !starts[i] {
			continue
		}
		for k := from; k < i; k++ {
			lo[k], hi[k] = uint32(from), uint32(i)
		}
		from = i
	}
	return lo, hi
}

// markChanges marks the rows that differ from the row before them, by the equality of grouping.
func markChanges(v *vec.Vector, starts []bool) {
	if v.Encoding() == vec.Const || v.Phys() == vec.PhysNull {
		return
	}
	switch v.Phys() {
	case vec.PhysBool, vec.PhysInt8:
		markFixed(vec.Fixed[int8](v), v.Validity(), starts)
	case vec.PhysInt16:
		markFixed(vec.Fixed[int16](v), v.Validity(), starts)
	case vec.PhysInt32:
		markFixed(vec.Fixed[int32](v), v.Validity(), starts)
	case vec.PhysInt64:
		markFixed(vec.Fixed[int64](v), v.Validity(), starts)
	case vec.PhysInt128:
		markFixed(vec.Fixed[vec.Int128](v), v.Validity(), starts)
	case vec.PhysFloat32:
		markFloats(vec.Fixed[float32](v), v.Validity(), starts)
	case vec.PhysFloat64:
		markFloats(vec.Fixed[float64](v), v.Validity(), starts)
	case vec.PhysBytes:
		markBytes(v, starts)
	default:
		for i := 1; i < v.Len(); i++ {
			starts[i] = starts[i] || !vec.Equal(v, i-1, v, i)
		}
	}
}

func markFixed[T comparable](x []T, valid vec.Bitmap, starts []bool) {
	if valid == nil {
		for i := 1; i < len(x); i++ {
			starts[i] = starts[i] || x[i] != x[i-1]
		}
		return
	}
	for i := 1; i < len(x); i++ {
		a, b := valid.Get(i-1), valid.Get(i)
		starts[i] = starts[i] || a != b || a && x[i] != x[i-1]
	}
}

// markFloats takes NaN as equal to NaN.
func markFloats[T float32 | float64](x []T, valid vec.Bitmap, starts []bool) {
	for i := 1; i < len(x); i++ {
		a, b := valid.Get(i-1), valid.Get(i)
		starts[i] = starts[i] || a != b || a && x[i] != x[i-1] && (x[i] == x[i] || x[i-1] == x[i-1])
	}
}

func markBytes(v *vec.Vector, starts []bool) {
	valid := v.Validity()
	for i := 1; i < v.Len(); i++ {
		a, b := valid.Get(i-1), valid.Get(i)
		starts[i] = starts[i] || a != b || a && !bytes.Equal(v.BytesAt(i-1), v.BytesAt(i))
	}
}

// counted are the rows, of all, that a function looks at.
type counted struct {
	// before[i] is the number of them among rows 0 to i-1, and at their row numbers; both nil when all rows count.
	before, at []uint32
}

// countRows finds the rows in which the filter, unless nil, is true and value, unless nil, is not null.
func countRows(n int, filter, value *vec.Vector) counted {
	if filter == nil && (value == nil || !value.HasNulls()) {
		return counted{}
	}
	c := counted{before: make([]uint32, n+1), at: make([]uint32, 0, n)}
	for i := range n {
		c.before[i] = uint32(len(c.at))
		if filter != nil && (filter.IsNull(i) || vec.At[uint8](filter, i) == 0) || value != nil && value.IsNull(i) {
			continue
		}
		c.at = append(c.at, uint32(i))
	}
	c.before[n] = uint32(len(c.at))
	return c
}

// rank is the number of rows that count among rows 0 to i-1.
func (c *counted) rank(i uint32) uint32 {
	if c.before == nil {
		return i
	}
	return c.before[i]
}

// row is the number of the k-th row that counts, or NoRow when there are not that many.
func (c *counted) row(k uint32) uint32 {
	if c.before == nil {
		return k
	}
	if int(k) >= len(c.at) {
		return vec.NoRow
	}
	return c.at[k]
}
