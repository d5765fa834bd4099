package stateful

import (
	"sync/atomic"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// Operator is an operator that keeps state between micro-batches.
type Operator interface {
	exec.Op
	// Number is the operator's number in the plan, counted from the sources: its place in the checkpoint and in Batch.
	Number() int
	// Spec describes the state for a number of partitions. meaning fingerprints what the rows are about.
	Spec(partitions int, meaning string) state.Spec
}

// TableOperator is an operator whose state is tables; that of others is ordered bytes.
type TableOperator interface {
	Operator
	// Attach makes the store's shards ready for the operator. It is called once, when the query starts.
	Attach(s state.Store, partitions int, t *exec.Task) []state.Values
}

// Rekeyer is an operator of ordered bytes whose keys say for which number of partitions they were made.
type Rekeyer interface {
	// Rekey returns the key for another number of partitions.
	Rekey(key []byte, partitions int) ([]byte, error)
}

// tally adds up the figures of shards, which work side by side.
type tally struct{ updated, removed, late, updateNanos, removalNanos atomic.Int64 }

func (t *tally) into(o *OpStats) {
	o.Updated += t.updated.Load()
	o.Removed += t.removed.Load()
	o.DroppedLate += t.late.Load()
	o.UpdateNanos += t.updateNanos.Load()
	o.RemovalNanos += t.removalNanos.Load()
}

// noValues are the values of a state that consists of keys alone.
type noValues struct{}

func (noValues) Grow(int)                           {}
func (noValues) Load([]uint32, []*vec.Vector) error { return nil }
func (noValues) Save([]uint32) []*vec.Vector        { return nil }
func (noValues) Clear([]uint32)                     {}
func (noValues) Reset()                             {}
func (noValues) Move([]uint32)                      {}

// longs is one column of 64 bit integers by row. Rows without a value hold empty.
type longs struct {
	xs    []int64
	empty int64
}

func (v *longs) Grow(n int) {
	for len(v.xs) < n {
		v.xs = append(v.xs, v.empty)
	}
}

func (v *longs) Load(rows []uint32, cols []*vec.Vector) error {
	xs := vec.Fixed[int64](cols[0].Flatten())
	for i, r := range rows {
		v.xs[r] = xs[i]
	}
	return nil
}

func (v *longs) Save(rows []uint32) []*vec.Vector {
	out := vec.NewFixed(longType, len(rows))
	dst := vec.Fixed[int64](out)
	for i, r := range rows {
		dst[i] = v.xs[r]
	}
	return []*vec.Vector{out}
}

func (v *longs) Clear(rows []uint32) {
	for _, r := range rows {
		v.xs[r] = v.empty
	}
}

func (v *longs) Reset() { v.xs = nil }

// Move implements state.Movable.
func (v *longs) Move(rows []uint32) {
	xs := make([]int64, len(rows))
	for i, r := range rows {
		xs[i] = v.xs[r]
	}
	v.xs = xs
}

// Bytes estimates the memory held.
func (v *longs) Bytes() int64 { return int64(cap(v.xs)) * 8 }
