//go:build invariants

package vec

import (
	"testing"

	"github.com/millrace/millrace/types"
)

func TestPoison(t *testing.T) {
	src := mustFrom(t, types.Long, []any{int64(1), int64(2)})
	var scratch Vector
	got := Take(src, []uint32{1, 0}, &scratch)
	kept, owned := NewBatch(2, got), got.Own()
	Poison(kept)
	if Fixed[int64](got)[0] == 2 {
		t.Error("scratch was not overwritten")
	}
	if Fixed[int64](owned)[0] != 2 || Fixed[int64](src)[0] != 1 {
		t.Error("owned memory was overwritten")
	}
	share := Take(NewConst(src, 3), []uint32{0}, &scratch)
	Poison(NewBatch(1, share))
	if Fixed[int64](src)[0] != 1 {
		t.Error("memory shared with a constant was overwritten")
	}
}
