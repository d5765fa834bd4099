package stateful

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// looked is what a join sees of its stored rows: per side and key their values in order, and all rows as they are saved.
func looked(t *rapid.T, v *joinRows, rows []uint32) (seen []any) {
	keys := vec.NewFixed(types.Long, 5)
	for i := range 5 {
		vec.Fixed[int64](keys)[i] = int64(i)
	}
	ids := append([]uint32(nil), v.find([]*vec.Vector{keys}, 5, false)...)
	for side := range 2 {
		places, pos, more := v.links.pairs(side, ids, nil, &spot{}, make([]uint32, 0, 1000), make([]uint32, 0, 1000))
		if more {
			t.Fatal("more rows than there are")
		}
		seen = append(seen, places)
		for _, p := range pos {
			for _, c := range v.takeSide(side, []uint32{p}) {
				seen = append(seen, vec.ValueAt(c, 0))
			}
		}
	}
	for _, c := range v.Save(rows) {
		for i := range rows {
			seen = append(seen, vec.ValueAt(c, i))
		}
	}
	return append(seen, v.Times(rows))
}

// Giving the rows of a join new numbers changes nothing that a join sees, whatever came and went before.
func TestMovedJoinRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := &Join{NullSafe: []bool{rapid.Bool().Draw(t, "nullSafe")}}
		j.Left = JoinSide{In: &exec.Values{Out: []types.DataType{types.Long, types.Timestamp, types.String}}, Columns: 3, Keys: []int{0}, Expiry: 1}
		j.Right = JoinSide{In: &exec.Values{Out: []types.DataType{types.String, types.Long}}, Columns: 2, Keys: []int{1}, Expiry: -1}
		v := &joinRows{j: j, slots: j.slots()}
		v.Reset()
		next := uint32(0)
		var live []uint32
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			n := rapid.IntRange(1, 8).Draw(t, "rows")
			v.Grow(int(next) + n)
			rows := make([]uint32, n)
			fields := []types.DataType{types.Byte, types.Boolean}
			var cols []*vec.Vector
			for c, dt := range append(fields, v.slots.types...) {
				b := vec.NewBuilder(dt)
				for range n {
					x := rapid.Int64Range(0, 4).Draw(t, "x")
					switch {
					case c == 0:
						b.AppendInt8(int8(x % 2))
					case c == 1:
						b.AppendBool(x%2 == 0)
					case x == 4:
						b.AppendNull()
					case types.Equal(dt, types.String):
						b.AppendString("abcd"[:x])
					default:
						b.AppendInt64(x)
					}
				}
				cols = append(cols, b.Finish())
			}
			for i := range rows {
				rows[i] = next
				live = append(live, next)
				next++
			}
			if err := v.Load(rows, cols); err != nil {
				t.Fatal(err)
			}
			var kept, gone []uint32
			for _, r := range live {
				if rapid.IntRange(0, 2).Draw(t, "fate") == 0 {
					gone = append(gone, r)
				} else {
					kept = append(kept, r)
				}
			}
			v.Clear(gone)
			live = kept
			want := looked(t, v, live)
			v.Move(live)
			next = uint32(len(live))
			for i := range live {
				live[i] = uint32(i)
			}
			if d := cmp.Diff(want, looked(t, v, live)); d != "" {
				t.Fatalf("(-before +after)\n%s", d)
			}
			if v.links.keys.Cap() > 2*len(live)+1 && v.links.keys.Len() > 2*len(live) {
				t.Fatalf("%d keys for %d rows", v.links.keys.Len(), len(live))
			}
			for r, key := range v.links.of {
				if key == group.None && !j.nullKey(v.slots.keys(cols[0], v.views(), len(live)), r) {
					t.Fatalf("row %d is in no chain", r)
				}
			}
		}
	})
}

func (v *joinRows) views() []*vec.Vector {
	var out []*vec.Vector
	for _, b := range v.cols {
		out = append(out, b.Borrow())
	}
	return out
}
