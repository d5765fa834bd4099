package agg

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// TestListsAgainstModel adds to, reads and clears groups in random order and compares with slices.
func TestListsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const groups = 7
		s := &lists{t: types.ArrayType{Element: types.String}}
		s.Grow(groups)
		model := make([][]string, groups)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 2:
				s.seal()
			case 0:
				g := uint32(rapid.IntRange(0, groups-1).Draw(t, "cleared"))
				s.Clear([]uint32{g})
				model[g] = nil
			case 1:
				compareLists(t, s, model)
			default:
				b := vec.NewBuilder(types.String)
				var ids []uint32
				for range rapid.IntRange(0, 40).Draw(t, "rows") {
					g := rapid.IntRange(0, groups-1).Draw(t, "group")
					ids = append(ids, uint32(g))
					if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
						b.AppendNull()
						continue
					}
					x := rapid.StringN(0, 5, 10).Draw(t, "value")
					b.AppendString(x)
					model[g] = append(model[g], x)
				}
				s.Update(nil, ids, []*vec.Vector{b.Finish()})
			}
		}
		compareLists(t, s, model)
	})
}

func compareLists(t *rapid.T, s *lists, model [][]string) {
	ids := make([]uint32, len(model))
	for i := range ids {
		ids[i] = uint32(len(model) - 1 - i)
	}
	out := s.Emit(nil, ids)
	for i, g := range ids {
		span, owner := out.SpanAt(i)
		var got []string
		for k := span.Off; k < span.Off+span.Len; k++ {
			got = append(got, string(owner.Kids()[0].BytesAt(int(k))))
		}
		if fmt.Sprint(got) != fmt.Sprint(model[g]) {
			t.Fatalf("group %d: %q, want %q", g, got, model[g])
		}
	}
}

// TestListsAreReclaimed keeps few values of many.
func TestListsAreReclaimed(t *testing.T) {
	s := &lists{t: types.ArrayType{Element: types.Long}}
	s.Grow(2)
	v := vec.NewFixed(types.Long, 1000)
	zeros := make([]uint32, 1000)
	s.Update(nil, []uint32{1}, []*vec.Vector{v.Slice(0, 1)})
	for range 1000 {
		s.Update(nil, zeros, []*vec.Vector{v})
		s.Clear([]uint32{0})
	}
	if s.Bytes() > 1<<20 {
		t.Errorf("%d bytes are held for one value", s.Bytes())
	}
	if span, _ := s.Emit(nil, []uint32{1}).SpanAt(0); span.Len != 1 {
		t.Errorf("the value that was kept has become %d", span.Len)
	}
}
