package exprtest

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// layout is a way to lay out the columns of a batch.
type layout int

const (
	flat  layout = iota
	dict         // dictionaries, nulls in their bases and beside them
	mixed        // dictionaries and flat columns in turns
)

func (l layout) String() string { return [...]string{"flat", "dictionary", "mixed"}[l] }

// columns lays out rows. There is garbage where a null hides it.
func columns(t TB, ts []types.DataType, rows []types.Row, l layout) []*vec.Vector {
	t.Helper()
	cols := make([]*vec.Vector, len(ts))
	for c, dt := range ts {
		values := make([]any, len(rows))
		for i, row := range rows {
			values[i] = row[c]
		}
		if l == dict || l == mixed && c%2 == 0 {
			cols[c] = dictionary(t, dt, values)
		} else {
			cols[c] = fromValues(t, dt, values)
		}
	}
	return cols
}

func fromValues(t TB, dt types.DataType, values []any) *vec.Vector {
	t.Helper()
	v, err := vec.FromValues(dt, values...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	spoil(v)
	return v
}

// spoil writes garbage behind nulls.
func spoil(v *vec.Vector) {
	for i := range v.Len() {
		if v.Phys() == vec.PhysNull || v.Validity().Get(i) {
			continue
		}
		switch v.Phys() {
		case vec.PhysBool, vec.PhysInt8:
			vec.Fixed[uint8](v)[i] = 0xa5
		case vec.PhysInt16:
			vec.Fixed[int16](v)[i] = -0x5a5b
		case vec.PhysInt32:
			vec.Fixed[int32](v)[i] = 0x7fffffff
		case vec.PhysInt64:
			vec.Fixed[int64](v)[i] = -1 << 63
		case vec.PhysFloat32:
			vec.Fixed[uint32](v)[i] = 0xffffffff
		case vec.PhysFloat64:
			vec.Fixed[uint64](v)[i] = ^uint64(0)
		case vec.PhysInt128:
			vec.Fixed[vec.Int128](v)[i] = vec.Int128{Lo: ^uint64(0), Hi: -1 << 63}
		case vec.PhysInterval:
			vec.Fixed[vec.Interval](v)[i] = vec.Interval{Months: 1<<31 - 1, Days: -1 << 31, Micros: -1 << 63}
		case vec.PhysBytes:
			v.Spans()[i] = vec.Span{Off: 0, Len: uint32(min(len(v.Bytes()), 3))}
		case vec.PhysList, vec.PhysMap:
			v.Spans()[i] = vec.Span{Off: 0, Len: uint32(min(v.Kids()[0].Len(), 3))}
		}
	}
}

// dictionary stores every value once or more, backwards, beside one that no row uses. Every other null is one of the index.
func dictionary(t TB, dt types.DataType, values []any) *vec.Vector {
	t.Helper()
	var base []any
	idx := make([]uint32, len(values))
	valid := vec.NewBitmapSet(len(values))
	nulls := 0
	for i := len(values) - 1; i >= 0; i-- {
		if values[i] == nil {
			if nulls++; nulls%2 == 0 {
				valid.Clear(i)
				idx[i] = 1 << 30 // must not be looked at
				continue
			}
		}
		idx[i] = uint32(len(base))
		base = append(base, values[i])
	}
	if len(values) > 0 {
		base = append(base, values[0])
	}
	if valid.All(len(values)) {
		valid = nil
	}
	return vec.NewDict(fromValues(t, dt, base), idx, valid)
}
