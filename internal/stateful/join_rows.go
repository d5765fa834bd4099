package stateful

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// joinRows are the stored rows of both sides of a join in one shard, as the value columns of its table.
type joinRows struct {
	j     *Join
	sides [2]sideRows
	at    []rowAt // by row of the table
}

// rowAt says which row of which side a row of the table is.
type rowAt struct {
	side int8
	pos  uint32
}

// sideRows are one side's rows, found by position or by join key.
type sideRows struct {
	types   []types.DataType
	cols    []*vec.Builder
	row     []uint32   // by position: the table's row
	matched vec.Bitmap // by position
	byKey   *chains    // rows are positions
}

// Reset implements state.Values.
func (v *joinRows) Reset() {
	v.at = nil
	for i := range v.sides {
		side := v.j.side(i)
		s := &v.sides[i]
		*s = sideRows{types: side.In.Types()}
		keyTypes := make([]types.DataType, len(side.Keys))
		for k, c := range side.Keys {
			keyTypes[k] = s.types[c]
		}
		s.byKey = newChains(keyTypes)
		for _, t := range s.types {
			s.cols = append(s.cols, vec.NewBuilder(t))
		}
	}
}

// Grow implements state.Values.
func (v *joinRows) Grow(n int) {
	for len(v.at) < n {
		v.at = append(v.at, rowAt{side: -1})
	}
}

// add stores rows of one side: row rows[i] of the table is row i of b. Rows that can't match by their key are in no chain.
func (v *joinRows) add(side int, rows []uint32, b *vec.Batch, matched func(i int) bool) {
	s := &v.sides[side]
	keys := make([]*vec.Vector, len(v.j.side(side).Keys))
	for k, c := range v.j.side(side).Keys {
		keys[k] = b.Cols[c].Flatten()
	}
	ids := s.byKey.find(keys, b.N, true)
	for c, col := range b.Cols {
		s.cols[c].AppendAll(col.Flatten())
	}
	for i, r := range rows {
		pos := uint32(len(s.row))
		s.row = append(s.row, r)
		for int(pos)>>6 >= len(s.matched) {
			s.matched = append(s.matched, 0)
		}
		s.matched.SetTo(int(pos), matched(i))
		if old := v.at[r]; old.side >= 0 { // a row that is loaded again, from a later segment, takes its own place
			v.sides[old.side].byKey.remove(old.pos)
		}
		v.at[r] = rowAt{int8(side), pos}
		if !v.j.nullKey(keys, i) {
			s.byKey.add(pos, ids[i])
		}
	}
}

// nullKey tells whether a row can't match because a key compared with = is null.
func (j *Join) nullKey(keys []*vec.Vector, i int) bool {
	for k, v := range keys {
		if !j.NullSafe[k] && v.HasNulls() && v.IsNull(i) {
			return true
		}
	}
	return false
}

// Load implements state.Values.
func (v *joinRows) Load(rows []uint32, cols []*vec.Vector) error {
	side := vec.Fixed[int64](cols[0].Flatten())
	matched := vec.Fixed[uint8](cols[1].Flatten())
	cols = cols[2:]
	for s := range v.sides {
		width := len(v.sides[s].types)
		var idx, mine []uint32
		for i, r := range rows {
			if side[i] == int64(s) {
				idx, mine = append(idx, uint32(i)), append(mine, r)
			}
		}
		if len(idx) > 0 {
			b := (&vec.Batch{Cols: cols[:width], N: len(rows)}).Take(idx, nil)
			v.add(s, mine, b, func(i int) bool { return matched[idx[i]] != 0 })
		}
		cols = cols[width:]
	}
	return nil
}

// Save implements state.Values.
func (v *joinRows) Save(rows []uint32) []*vec.Vector {
	side, matched := vec.NewFixed(types.Long, len(rows)), vec.NewFixed(types.Boolean, len(rows))
	sides, flags := vec.Fixed[int64](side), vec.Fixed[uint8](matched)
	var pos [2][]uint32
	for i := range pos {
		pos[i] = make([]uint32, len(rows))
		for k := range pos[i] {
			pos[i][k] = vec.NoRow
		}
	}
	for i, r := range rows {
		at := v.at[r]
		sides[i] = int64(at.side)
		flags[i] = 0
		if v.sides[at.side].matched.Get(int(at.pos)) {
			flags[i] = 1
		}
		pos[at.side][i] = at.pos
	}
	out := []*vec.Vector{side, matched}
	for s := range v.sides {
		out = append(out, v.sides[s].take(pos[s])...)
	}
	return out
}

// take returns rows of a side by position; vec.NoRow is a row of nulls.
func (s *sideRows) take(pos []uint32) []*vec.Vector {
	out := make([]*vec.Vector, len(s.cols))
	for c, b := range s.cols {
		out[c] = vec.Take(b.Borrow(), pos, nil).Own()
	}
	return out
}

// Clear implements state.Values. The columns keep the rows until the table is made anew.
func (v *joinRows) Clear(rows []uint32) {
	for _, r := range rows {
		if at := v.at[r]; at.side >= 0 {
			v.sides[at.side].byKey.remove(at.pos)
		}
	}
}

// Bytes estimates the memory held.
func (v *joinRows) Bytes() int64 {
	n := int64(cap(v.at)) * 8
	for i := range v.sides {
		s := &v.sides[i]
		n += s.byKey.Bytes() + int64(cap(s.row))*4
		for _, b := range s.cols {
			n += int64(b.Size())
		}
	}
	return n
}
