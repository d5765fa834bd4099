package agg

import (
	"bytes"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// number are the fixed-width values that are computed with.
type number interface {
	~uint8 | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// grown returns s with length n, new elements zero.
func grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[min(old, n):])
		return s
	}
	t := make([]T, n, n+n/4)
	copy(t, s)
	return t
}

// column makes an Owned vector of the values of some groups. has marks the groups that have a value; nil means all.
func column[T vec.FixedWidth](t types.DataType, values []T, has []bool, groups []uint32) *vec.Vector {
	v := vec.NewFixed(t, len(groups))
	dst := vec.Fixed[T](v)
	for i, g := range groups {
		dst[i] = values[g]
	}
	v.SetValidity(validity(has, groups))
	return v
}

func validity(has []bool, groups []uint32) vec.Bitmap {
	if has == nil {
		return nil
	}
	var b vec.Bitmap
	for i, g := range groups {
		if has[g] {
			continue
		}
		if b == nil {
			b = vec.NewBitmapSet(len(groups))
		}
		b.Clear(i)
	}
	return b
}

// bools makes a boolean column.
func bools(values []bool, groups []uint32) *vec.Vector {
	v := vec.NewFixed(types.Boolean, len(groups))
	dst := vec.Fixed[uint8](v)
	for i, g := range groups {
		if values[g] {
			dst[i] = 1
		}
	}
	return v
}

// flatten returns v as a Flat vector.
func flatten(v *vec.Vector) *vec.Vector {
	if v.Encoding() == vec.Flat {
		return v
	}
	return v.Flatten()
}

// cells hold one value, or null, for each group. They are for values of any type; setting one is not meant for the inside of the
// hottest loops.
type cells interface {
	grow(n int)
	// set copies row i of a vector of any encoding.
	set(g uint32, v *vec.Vector, i int)
	// compare orders group g's value, which is not null, against row i, which is not null either.
	compare(g uint32, v *vec.Vector, i int) int
	// null tells whether group g has no value.
	null(g uint32) bool
	clear(groups []uint32)
	// column returns the values of some groups as an Owned vector.
	column(groups []uint32) *vec.Vector
	size() int64
}

func newCells(t types.DataType) cells {
	switch vec.PhysOf(t) {
	case vec.PhysNull:
		return nullCells{}
	case vec.PhysBool:
		return &fixedCells[uint8]{t: t}
	case vec.PhysInt8:
		return &fixedCells[int8]{t: t}
	case vec.PhysInt16:
		return &fixedCells[int16]{t: t}
	case vec.PhysInt32:
		return &fixedCells[int32]{t: t}
	case vec.PhysInt64:
		return &fixedCells[int64]{t: t}
	case vec.PhysFloat32:
		return &fixedCells[float32]{t: t}
	case vec.PhysFloat64:
		return &fixedCells[float64]{t: t}
	case vec.PhysBytes:
		return &byteCells{t: t}
	}
	return &boxCells{t: t}
}

// nullCells are the cells of the type VOID.
type nullCells struct{}

func (nullCells) grow(int)                             {}
func (nullCells) set(uint32, *vec.Vector, int)         {}
func (nullCells) compare(uint32, *vec.Vector, int) int { return 0 }
func (nullCells) null(uint32) bool                     { return true }
func (nullCells) clear([]uint32)                       {}
func (nullCells) size() int64                          { return 0 }

func (nullCells) column(groups []uint32) *vec.Vector { return vec.NewNulls(types.Null, len(groups)) }

// fixedCells hold numbers and the like.
type fixedCells[T number] struct {
	t      types.DataType
	values []T
	has    []bool
}

func (c *fixedCells[T]) grow(n int) { c.values, c.has = grown(c.values, n), grown(c.has, n) }

func (c *fixedCells[T]) set(g uint32, v *vec.Vector, i int) {
	if c.has[g] = !v.IsNull(i); c.has[g] {
		c.values[g] = vec.At[T](v, i)
	}
}

func (c *fixedCells[T]) compare(g uint32, v *vec.Vector, i int) int {
	return compareNumbers(c.values[g], vec.At[T](v, i))
}

// compareNumbers takes NaN as the largest number.
func compareNumbers[T number](x, y T) int {
	switch {
	case x < y || y != y && x == x:
		return -1
	case x == y || x != x && y != y:
		return 0
	}
	return 1
}

func (c *fixedCells[T]) null(g uint32) bool { return !c.has[g] }

func (c *fixedCells[T]) clear(groups []uint32) {
	for _, g := range groups {
		c.has[g] = false
	}
}

func (c *fixedCells[T]) column(groups []uint32) *vec.Vector {
	return column(c.t, c.values, c.has, groups)
}

func (c *fixedCells[T]) size() int64 { return int64(cap(c.has)) * int64(1+vec.PhysOf(c.t).Width()) }

// byteCells hold strings and binaries. nil is null.
type byteCells struct {
	t      types.DataType
	values [][]byte
	bytes  int64
}

func (c *byteCells) grow(n int) { c.values = grown(c.values, n) }

func (c *byteCells) set(g uint32, v *vec.Vector, i int) {
	if v.IsNull(i) {
		c.values[g] = nil
		return
	}
	b := v.BytesAt(i)
	if cap(c.values[g]) < len(b) || c.values[g] == nil {
		c.bytes += int64(len(b) - cap(c.values[g]))
		c.values[g] = make([]byte, len(b))
	}
	c.values[g] = append(c.values[g][:0], b...)
}

func (c *byteCells) compare(g uint32, v *vec.Vector, i int) int {
	return bytes.Compare(c.values[g], v.BytesAt(i))
}
func (c *byteCells) null(g uint32) bool { return c.values[g] == nil }

func (c *byteCells) clear(groups []uint32) {
	for _, g := range groups {
		c.bytes -= int64(cap(c.values[g]))
		c.values[g] = nil
	}
}

func (c *byteCells) column(groups []uint32) *vec.Vector {
	b := vec.NewBuilder(c.t)
	b.Reserve(len(groups))
	for _, g := range groups {
		if c.values[g] == nil {
			b.AppendNull()
		} else {
			b.AppendBytes(c.values[g])
		}
	}
	return b.Finish()
}

func (c *byteCells) size() int64 { return int64(cap(c.values))*24 + c.bytes }

// boxCells hold values with parts, and decimals of many digits, each as a vector of one row. nil is null.
type boxCells struct {
	t      types.DataType
	values []*vec.Vector
	bytes  int64
}

func (c *boxCells) grow(n int) { c.values = grown(c.values, n) }

func (c *boxCells) set(g uint32, v *vec.Vector, i int) {
	c.drop(g)
	if v.IsNull(i) {
		return
	}
	one := vec.Take(v, []uint32{uint32(i)}, nil).Flatten().Own().WithType(c.t)
	c.values[g] = one
	c.bytes += int64(one.SizeBytes())
}

func (c *boxCells) drop(g uint32) {
	if c.values[g] != nil {
		c.bytes -= int64(c.values[g].SizeBytes())
		c.values[g] = nil
	}
}

func (c *boxCells) compare(g uint32, v *vec.Vector, i int) int {
	return vec.Compare(c.values[g], 0, v, i)
}
func (c *boxCells) null(g uint32) bool { return c.values[g] == nil }

func (c *boxCells) clear(groups []uint32) {
	for _, g := range groups {
		c.drop(g)
	}
}

func (c *boxCells) column(groups []uint32) *vec.Vector {
	parts := make([]*vec.Vector, 0, len(groups))
	idx := make([]uint32, len(groups))
	for i, g := range groups {
		idx[i] = vec.NoRow
		if c.values[g] != nil {
			idx[i] = uint32(len(parts))
			parts = append(parts, c.values[g])
		}
	}
	if len(parts) == 0 {
		return vec.NewNulls(c.t, len(groups))
	}
	return vec.Take(vec.Concat(parts), idx, nil).Flatten().Own()
}

func (c *boxCells) size() int64 { return int64(cap(c.values))*8 + c.bytes }
