package stateful

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// joinSlots say in which value columns the columns of both sides of a join are stored. A row has one side, so that a left and a right
// column of one type share a slot; join keys share theirs with the key that they are compared with.
type joinSlots struct {
	types []types.DataType
	of    [2][]int // by side and input column
	byKey [2][]int // by side and join key: where it is
}

func (j *Join) slots() *joinSlots {
	l := &joinSlots{}
	var in [2][]types.DataType
	for side := range in {
		in[side] = j.side(side).In.Types()
		l.of[side] = make([]int, len(in[side]))
		for c := range l.of[side] {
			l.of[side][c] = -1
		}
	}
	for k := range j.NullSafe {
		left, right := j.Left.Keys[k], j.Right.Keys[k]
		if l.of[0][left] < 0 && l.of[1][right] < 0 && types.Equal(in[0][left], in[1][right]) {
			l.of[0][left], l.of[1][right] = len(l.types), len(l.types)
			l.types = append(l.types, in[0][left])
		}
	}
	var free []int // slots that no right column has
	for c, t := range in[0] {
		if l.of[0][c] < 0 {
			l.of[0][c] = len(l.types)
			free = append(free, len(l.types))
			l.types = append(l.types, t)
		}
	}
	for c, t := range in[1] {
		for i := 0; i < len(free) && l.of[1][c] < 0; i++ {
			if types.Equal(l.types[free[i]], t) {
				l.of[1][c] = free[i]
				free = append(free[:i], free[i+1:]...)
			}
		}
		if l.of[1][c] < 0 {
			l.of[1][c] = len(l.types)
			l.types = append(l.types, t)
		}
	}
	for side := range l.byKey {
		for _, c := range j.side(side).Keys {
			l.byKey[side] = append(l.byKey[side], l.of[side][c])
		}
	}
	return l
}

// keyTypes are the types of the join keys.
func (l *joinSlots) keyTypes() []types.DataType {
	ts := make([]types.DataType, len(l.byKey[0]))
	for k, slot := range l.byKey[0] {
		ts[k] = l.types[slot]
	}
	return ts
}

// keys reads the join keys of n stored rows of either side.
func (l *joinSlots) keys(sides *vec.Vector, slots []*vec.Vector, n int) []*vec.Vector {
	out := make([]*vec.Vector, len(l.byKey[0]))
	var order []uint32
	for k := range out {
		a, b := l.byKey[0][k], l.byKey[1][k]
		if a == b {
			out[k] = slots[a].Flatten()
			continue
		}
		if order == nil {
			// Rows of the two slots behind one another: which of them each row is.
			order = make([]uint32, n)
			for i, side := range vec.Fixed[uint8](sides.Flatten())[:n] {
				order[i] = uint32(int(side)*n + i)
			}
		}
		out[k] = vec.Take(vec.Concat([]*vec.Vector{slots[a], slots[b]}), order, nil).Flatten()
	}
	return out
}
