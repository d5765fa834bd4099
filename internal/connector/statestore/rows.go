package statestore

import (
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// rows turns rows of the state into key, value and partition.
func (t *table) rows(b *vec.Batch) *vec.Batch {
	if t.view.Side != nil {
		side := b.Cols[t.keys].Flatten()
		b = only(b, func(i int) bool { return int8(vec.Fixed[uint8](side)[i]) == *t.view.Side })
	}
	partition := t.partitionOf(b)
	if t.o.partition >= 0 {
		p := vec.Fixed[int32](partition)
		b = only(b, func(i int) bool { return int64(p[i]) == t.o.partition })
		partition = t.partitionOf(b)
	}
	return vec.NewBatch(b.N, t.structVector(t.view.Key, b), t.structVector(t.view.Value, b), partition)
}

// gone turns keys that were removed into keys, nulls and partitions.
func (t *table) gone(b *vec.Batch) *vec.Batch {
	none := vec.NewBuilder(t.schema.Fields[t.fieldOf("value")].Type)
	none.AppendNulls(b.N)
	return vec.NewBatch(b.N, t.structVector(t.view.Key, b), none.Finish(), t.partitionOf(b))
}

func (t *table) fieldOf(name string) int {
	for i, f := range t.schema.Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// only keeps rows for which a condition holds.
func only(b *vec.Batch, keep func(i int) bool) *vec.Batch {
	idx := make([]uint32, 0, b.N)
	for i := range b.N {
		if keep(i) {
			idx = append(idx, uint32(i))
		}
	}
	return vec.NewBatch(len(idx), vec.TakeAll(b.Cols, idx)...)
}

// structVector makes a struct of columns of the state.
func (t *table) structVector(cols []state.ViewColumn, b *vec.Batch) *vec.Vector {
	st, _ := t.structOf(cols) // was checked
	fields := make([]*vec.Vector, len(cols))
	for i, c := range cols {
		switch {
		case c.Fields != nil:
			fields[i] = t.structVector(c.Fields, b)
		case c.Column == state.NullColumn:
			none := vec.NewBuilder(types.Null)
			none.AppendNulls(b.N)
			fields[i] = none.Finish()
		default:
			fields[i] = b.Cols[c.Column].Flatten()
		}
	}
	return vec.NewStruct(st, b.N, fields)
}

// partitionOf is the partition of each row.
func (t *table) partitionOf(b *vec.Batch) *vec.Vector {
	out := vec.NewFixed(types.Integer, b.N)
	if len(t.view.Hash) == 0 {
		return out // all is in one
	}
	keys := make([]*vec.Vector, len(t.view.Hash))
	for i, c := range t.view.Hash {
		keys[i] = b.Cols[c]
	}
	for i, h := range vec.PartitionHash(keys, b.N, nil)[:b.N] {
		vec.Fixed[int32](out)[i] = int32(state.PartitionOf(h, t.partitions))
	}
	return out
}
