package stateful

import (
	"testing"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// TestRowsWithoutTime: they count as rows of 1970, with a selection and without.
func TestRowsWithoutTime(t *testing.T) {
	const second = 1_000_000
	b := vec.NewBuilder(types.Timestamp)
	for _, x := range []int64{10 * second, 0, 20 * second} {
		if x == 0 {
			b.AppendNull()
		} else {
			b.AppendInt64(x)
		}
	}
	col := b.Finish()
	for _, c := range []struct {
		sel                  []uint32
		count, min, max, avg int64
	}{
		{nil, 3, 0, 20_000, 10_000},
		{[]uint32{1}, 1, 0, 0, 0},
		{[]uint32{0, 2}, 2, 10_000, 20_000, 15_000},
		{[]uint32{}, 0, 0, 0, 0},
	} {
		in := vec.NewBatch(3, col)
		in.Sel = c.sel
		s := &eventTimeStream{w: &EventTime{}}
		s.note(in)
		if e := &s.seen; e.Count != c.count || e.Min != c.min || e.Max != c.max || e.Count > 0 && e.Avg() != c.avg {
			t.Errorf("%v: %+v", c.sel, e)
		}
	}
}
