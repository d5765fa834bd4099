package stateful

import (
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// joinRows are the stored rows of both sides of a join in one shard, as the value columns of its table. They lie at positions, in the
// order in which they came.
type joinRows struct {
	j     *Join
	slots *joinSlots

	// By position.
	cols    []*vec.Builder // by slot
	side    []uint8
	row     []uint32 // the table's row
	expires []int64  // the watermark by which it is forgotten
	matched vec.Bitmap
	links   *chains // by join key

	at []uint32 // by row of the table: its position, or noPosition
}

const noPosition = ^uint32(0)

// Reset implements state.Values.
func (v *joinRows) Reset() {
	v.cols, v.side, v.row, v.expires, v.matched, v.at = nil, nil, nil, nil, nil, nil
	for _, t := range v.slots.types {
		v.cols = append(v.cols, vec.NewBuilder(t))
	}
	v.links = newChains(v.slots.keyTypes())
}

// Grow implements state.Values.
func (v *joinRows) Grow(n int) {
	for len(v.at) < n {
		v.at = append(v.at, noPosition)
	}
}

// newcomers are rows to be stored.
type newcomers struct {
	rows    []uint32 // of the table
	side    []uint8
	expires []int64
	keys    []uint32      // see chains; group.None for rows that can't match by their key
	cols    []*vec.Vector // by slot, nil for slots that have nothing
}

// add stores rows that have had no match.
func (v *joinRows) add(x newcomers) {
	first, n := len(v.row), len(x.rows)
	for c, b := range v.cols {
		if x.cols[c] == nil {
			b.AppendNulls(n)
		} else {
			b.AppendAll(x.cols[c])
		}
	}
	v.side = append(v.side, x.side...)
	v.row = append(v.row, x.rows...)
	v.expires = append(v.expires, x.expires...)
	for len(v.matched)*64 < first+n {
		v.matched = append(v.matched, 0)
	}
	v.links.grow(first + n)
	for i, r := range x.rows {
		pos := uint32(first + i)
		v.at[r] = pos
		if x.keys[i] != group.None {
			v.links.add(x.side[i], pos, x.keys[i])
		}
	}
}

// find returns the join keys of rows for chains: group.None for rows that can't match, and unless they are to be added for keys
// that no stored row has.
func (v *joinRows) find(keys []*vec.Vector, n int, insert bool) []uint32 {
	ids := v.links.find(keys, n, insert)
	if v.j.nullKeys(keys) {
		for i := range ids {
			if v.j.nullKey(keys, i) {
				ids[i] = group.None
			}
		}
	}
	return ids
}

// nullKeys tells whether there may be rows that can't match because a key compared with = is null.
func (j *Join) nullKeys(keys []*vec.Vector) bool {
	for k, v := range keys {
		if !j.NullSafe[k] && v.HasNulls() {
			return true
		}
	}
	return false
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

// Load implements state.Values. A row that is there already, from an earlier segment, differs in having had a match at most.
func (v *joinRows) Load(rows []uint32, cols []*vec.Vector) error {
	sides, matched, slots := vec.Fixed[uint8](cols[0].Flatten()), vec.Fixed[uint8](cols[1].Flatten()), cols[2:]
	idx := make([]uint32, 0, len(rows))
	for i, r := range rows {
		if v.at[r] == noPosition {
			idx = append(idx, uint32(i))
		}
	}
	if len(idx) > 0 {
		x := newcomers{rows: rows, side: sides, cols: slots}
		side := cols[0]
		if len(idx) < len(rows) {
			x.rows, x.side, x.cols = nil, nil, vec.TakeAll(slots, idx)
			side = vec.Take(side.Flatten(), idx, nil)
			for _, i := range idx {
				x.rows, x.side = append(x.rows, rows[i]), append(x.side, sides[i])
			}
		}
		n := len(idx)
		x.keys = v.find(v.slots.keys(side, x.cols, n), n, true)
		x.expires = v.expiry(x.side[:n], x.cols)
		v.add(x)
	}
	for i, r := range rows {
		if matched[i] != 0 {
			v.matched.Set(int(v.at[r]))
		}
	}
	return nil
}

// expiry is the watermark by which each row is forgotten.
func (v *joinRows) expiry(side []uint8, cols []*vec.Vector) []int64 {
	out := make([]int64, len(side))
	for i := range out {
		out[i] = state.NoTime
	}
	for s := range uint8(2) {
		js := v.j.side(int(s))
		if js.Expiry < 0 {
			continue
		}
		for i, at := range js.expiries(cols[v.slots.of[s][js.Expiry]], len(side)) {
			if side[i] == s {
				out[i] = at
			}
		}
	}
	return out
}

// expiries reads the watermarks by which rows are forgotten from the column Expiry.
func (s *JoinSide) expiries(col *vec.Vector, n int) []int64 {
	times := TimesOf(col, n, state.NoTime)
	for i, at := range times {
		if at != state.NoTime {
			times[i] = at - s.Offset
		}
	}
	return times
}

// Times implements state.Timed.
func (v *joinRows) Times(rows []uint32) []int64 {
	out := make([]int64, len(rows))
	for i, r := range rows {
		out[i] = v.expires[v.at[r]]
	}
	return out
}

// Save implements state.Values.
func (v *joinRows) Save(rows []uint32) []*vec.Vector {
	pos := make([]uint32, len(rows))
	for i, r := range rows {
		pos[i] = v.at[r]
	}
	side, matched := vec.NewFixed(byteType, len(rows)), vec.NewFixed(booleanType, len(rows))
	sides, flags := vec.Fixed[uint8](side), vec.Fixed[uint8](matched)
	for i, p := range pos {
		sides[i], flags[i] = v.side[p], 0
		if v.matched.Get(int(p)) {
			flags[i] = 1
		}
	}
	out := []*vec.Vector{side, matched}
	for slot := range v.cols {
		out = append(out, v.take(slot, pos))
	}
	return out
}

// take returns a slot of rows by position.
func (v *joinRows) take(slot int, pos []uint32) *vec.Vector {
	return vec.Take(v.cols[slot].Borrow(), pos, nil).Own()
}

// takeSide returns the columns of one side's rows by position.
func (v *joinRows) takeSide(side int, pos []uint32) []*vec.Vector {
	out := make([]*vec.Vector, v.j.side(side).Columns)
	for c := range out {
		out[c] = v.take(v.slots.of[side][c], pos)
	}
	return out
}

// Clear implements state.Values. The columns keep the rows until the table is made anew.
func (v *joinRows) Clear(rows []uint32) {
	for _, r := range rows {
		if at := v.at[r]; at != noPosition {
			v.links.remove(at)
			v.at[r] = noPosition
		}
	}
}

// Move implements state.Movable.
func (v *joinRows) Move(rows []uint32) {
	renumbered := make([]uint32, len(v.at))
	for i, r := range rows {
		renumbered[r] = uint32(i)
	}
	old := make([]uint32, 0, len(rows)) // positions of rows that are there
	for pos, r := range v.row {
		if v.at[r] == uint32(pos) {
			old = append(old, uint32(pos))
		}
	}
	cols, side, expires, matched := v.cols, v.side, v.expires, v.matched
	row := v.row
	v.cols, v.side, v.row, v.expires = nil, make([]uint8, len(old)), make([]uint32, len(old)), make([]int64, len(old))
	v.matched, v.at = vec.NewBitmap(len(old)), make([]uint32, len(rows))
	for i, pos := range old {
		v.side[i], v.row[i], v.expires[i] = side[pos], renumbered[row[pos]], expires[pos]
		v.matched.SetTo(i, matched.Get(int(pos)))
		v.at[v.row[i]] = uint32(i)
	}
	for slot, b := range cols {
		kept := vec.NewBuilder(v.slots.types[slot])
		kept.AppendAll(vec.Take(b.Borrow(), old, nil))
		v.cols = append(v.cols, kept)
	}
	v.links.move(old, func(row uint32) uint8 { return v.side[row] })
}

// Bytes estimates the memory held.
func (v *joinRows) Bytes() int64 {
	n := int64(cap(v.at)+cap(v.row))*4 + int64(cap(v.side)) + int64(cap(v.expires)+cap(v.matched))*8 + v.links.Bytes()
	for _, b := range v.cols {
		n += int64(b.Size())
	}
	return n
}
