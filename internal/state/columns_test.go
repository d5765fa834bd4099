package state

import (
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Columns whose rows are overwritten and removed again and again hold about what is alive.
func TestColumnsHoldWhatIsAlive(t *testing.T) {
	const n = 10_000
	c := NewColumns([]types.Field{{Name: "s", Type: types.String}, {Name: "v", Type: types.Long}})
	c.Grow(n)
	want := make([]string, n)
	for round := range 30 {
		var rows, gone []uint32
		text, number := vec.NewBuilder(types.String), vec.NewBuilder(types.Long)
		for i := range n {
			switch (i + round) % 3 {
			case 0:
				rows = append(rows, uint32(i))
				want[i] = fmt.Sprint(round, " ", i)
				if err := text.AppendValue(want[i]); err != nil {
					t.Fatal(err)
				}
				if err := number.AppendValue(int64(round)); err != nil {
					t.Fatal(err)
				}
			case 1:
				if round%5 == 4 {
					gone = append(gone, uint32(i))
					want[i] = ""
				}
			}
		}
		c.Clear(gone)
		if err := c.Load(rows, []*vec.Vector{text.Finish(), number.Finish()}); err != nil {
			t.Fatal(err)
		}
		if size := c.cols[0].Len(); size > 3*n {
			t.Fatalf("round %d: %d places for %d rows", round, size, n)
		}
	}
	var rows []uint32
	for i, text := range want {
		if text != "" {
			rows = append(rows, uint32(i))
		}
	}
	for i, v := range c.Save(rows) {
		for j, r := range rows {
			var round int
			if _, err := fmt.Sscan(want[r], &round); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(vec.ValueAt(v, j)); i == 0 && got != want[r] || i == 1 && got != fmt.Sprint(round) {
				t.Fatalf("column %d of row %d is %s, want %s", i, r, got, want[r])
			}
		}
	}
}
