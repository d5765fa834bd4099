package vec

import (
	"bytes"
	"cmp"
)

// Compare orders row i of a against row j of b, which are of one type: -1, 0 or 1. Null comes before everything and equals
// null; NaN is the largest number and equals NaN; maps compare by their canonical keys. It is meant for cold paths.
func Compare(a *Vector, i int, b *Vector, j int) int {
	i, a = a.resolve(i)
	j, b = b.resolve(j)
	switch an, bn := a == nil, b == nil; {
	case an && bn:
		return 0
	case an:
		return -1
	case bn:
		return 1
	}
	switch a.phys {
	case PhysBool:
		return cmp.Compare(Fixed[uint8](a)[i], Fixed[uint8](b)[j])
	case PhysInt8:
		return cmp.Compare(Fixed[int8](a)[i], Fixed[int8](b)[j])
	case PhysInt16:
		return cmp.Compare(Fixed[int16](a)[i], Fixed[int16](b)[j])
	case PhysInt32:
		return cmp.Compare(Fixed[int32](a)[i], Fixed[int32](b)[j])
	case PhysInt64:
		return cmp.Compare(Fixed[int64](a)[i], Fixed[int64](b)[j])
	case PhysFloat32:
		return cmp.Compare(sortable32(Fixed[float32](a)[i]), sortable32(Fixed[float32](b)[j]))
	case PhysFloat64:
		return cmp.Compare(sortable64(Fixed[float64](a)[i]), sortable64(Fixed[float64](b)[j]))
	case PhysInt128:
		x, y := Fixed[Int128](a)[i], Fixed[Int128](b)[j]
		return cmp.Or(cmp.Compare(x.Hi, y.Hi), cmp.Compare(x.Lo, y.Lo))
	case PhysInterval:
		x, y := Fixed[Interval](a)[i], Fixed[Interval](b)[j]
		return cmp.Or(cmp.Compare(x.Months, y.Months), cmp.Compare(x.Days, y.Days), cmp.Compare(x.Micros, y.Micros))
	case PhysBytes:
		return bytes.Compare(a.BytesAt(i), b.BytesAt(j))
	case PhysList:
		s, t := a.spans[i], b.spans[j]
		for k := range min(s.Len, t.Len) {
			if c := Compare(a.kids[0], int(s.Off+k), b.kids[0], int(t.Off+k)); c != 0 {
				return c
			}
		}
		return cmp.Compare(s.Len, t.Len)
	case PhysMap:
		return bytes.Compare(appendKey(nil, a, i), appendKey(nil, b, j))
	}
	for k := range a.kids {
		if c := Compare(a.kids[k], i, b.kids[k], j); c != 0 {
			return c
		}
	}
	return 0
}

// resolve finds the stored row behind row i; the vector is nil when the row is null.
func (v *Vector) resolve(i int) (int, *Vector) {
	for v.enc == Dict {
		if !v.valid.Get(i) {
			return 0, nil
		}
		i, v = int(v.idx[i]), v.base
	}
	i = v.stored(i)
	if v.phys == PhysNull || !v.valid.Get(i) {
		return 0, nil
	}
	return i, v
}

// Equal tells whether row i of a and row j of b are the same value; null equals null.
func Equal(a *Vector, i int, b *Vector, j int) bool { return Compare(a, i, b, j) == 0 }
