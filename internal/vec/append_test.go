package vec_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/vec/valuetest"
)

// A builder that is fed vectors holds what concatenating them gives, however often it is looked at on the way.
func TestAppendAllIsConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := valuetest.Type(t, 2)
		b := vec.NewBuilder(dt)
		var want []any
		for range rapid.IntRange(1, 5).Draw(t, "vectors") {
			part := vec.NewBuilder(dt)
			for range rapid.IntRange(0, 100).Draw(t, "rows") {
				v := valuetest.Value(t, dt, true)
				want = append(want, v)
				if err := part.AppendValue(v); err != nil {
					t.Fatal(err)
				}
			}
			b.AppendAll(part.Finish())
			_ = b.Borrow()
		}
		got := b.Finish()
		if got.Len() != len(want) {
			t.Fatalf("%d rows, want %d", got.Len(), len(want))
		}
		again, err := vec.FromValues(dt, want...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if !vec.Equal(again, i, got, i) {
				t.Fatalf("row %d is %v, want %v", i, vec.ValueAt(got, i), want[i])
			}
		}
	})
}
