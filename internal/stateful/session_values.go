package stateful

import (
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// sessionValues are the sessions of one shard as the value columns of a table.
type sessionValues struct {
	s    *Session
	t    *exec.Task
	acc  *exec.Accumulator
	ends longs // by row; NoTime where there is no session
	// index finds the sessions of a key.
	index *sessionIndex
}

func (v *sessionValues) Grow(n int) {
	v.acc.Grow(n)
	v.ends.Grow(n)
	v.index.grow(n)
}

func (v *sessionValues) Load(rows []uint32, cols []*vec.Vector) error {
	if err := v.ends.Load(rows, cols[:1]); err != nil {
		return err
	}
	v.index.await(rows)
	v.acc.Clear(rows)
	v.acc.Merge(rows, cols[1:])
	return v.acc.Err()
}

func (v *sessionValues) Save(rows []uint32) []*vec.Vector {
	ends := vec.NewFixed(v.s.Group.TimeType(), len(rows))
	for i, r := range rows {
		vec.Fixed[int64](ends)[i] = v.ends.xs[r]
	}
	return append([]*vec.Vector{ends}, v.acc.Save(rows)...)
}

func (v *sessionValues) Clear(rows []uint32) {
	v.index.remove(rows)
	v.ends.Clear(rows)
	v.acc.Clear(rows)
}

func (v *sessionValues) Reset() {
	v.acc, v.ends = v.s.Group.Group.NewAccumulator(v.t), longs{empty: state.NoTime}
	v.index = newSessionIndex(v.s.Group.KeyTypes())
}

// Times implements state.Timed: a session is final when the watermark has come to its end.
func (v *sessionValues) Times(rows []uint32) []int64 { return takeLongs(v.ends.xs, rows) }

// Bytes estimates the memory held.
func (v *sessionValues) Bytes() int64 { return v.acc.Bytes() + v.ends.Bytes() + v.index.Bytes() }

func takeLongs(xs []int64, rows []uint32) []int64 {
	out := make([]int64, len(rows))
	for i, r := range rows {
		out[i] = xs[r]
	}
	return out
}
