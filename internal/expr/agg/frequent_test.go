package agg

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// feed computes an aggregate of one group in so many parts, each saved and merged.
func feed(t *testing.T, name string, v *vec.Vector, parts int) *vec.Vector {
	t.Helper()
	bound, err := Lookup(name).Bind(&Binding{Name: name, Args: []fn.Arg{{Type: v.Type(), Nullable: true, SQL: "v"}}, ANSI: true})
	if err != nil {
		t.Fatal(err)
	}
	e := &expr.Eval{}
	all := bound.New()
	all.Grow(1)
	for part := range parts {
		var rows []uint32
		for i := part; i < v.Len(); i += parts {
			rows = append(rows, uint32(i))
		}
		one := bound.New()
		one.Grow(1)
		one.Update(e, make([]uint32, len(rows)), []*vec.Vector{vec.Take(v, rows, nil)})
		all.Merge(e, []uint32{0}, one.Save([]uint32{0}))
	}
	out := all.Emit(e, []uint32{0})
	if _, err, bad := e.Errs.First(); bad {
		t.Fatal(err)
	}
	return out
}

// What sketches of frequent items count does not depend on how rows, or sketches, come together.
func TestFrequentItemsInParts(t *testing.T) {
	v, err := vec.FromValues(types.String, "a", "b", "a", nil, "c", "a", "b", nil, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := feed(t, "approx_top_k", v, 1)
	estimate, err := fn.Lookup("approx_top_k_estimate").Bind(&fn.Binding{Name: "approx_top_k_estimate", Args: []fn.Arg{{Type: feed(t, "approx_top_k_accumulate", v, 1).Type()}}})
	if err != nil {
		t.Fatal(err)
	}
	items := func(state *vec.Vector) any {
		e := &expr.Eval{}
		out := estimate.New()(e, 1, []*vec.Vector{state}, nil)
		if _, err, bad := e.Errs.First(); bad {
			t.Fatal(err)
		}
		return vec.ValueAt(out, 0)
	}
	for _, parts := range []int{1, 2, 10} {
		if diff := cmp.Diff(vec.ValueAt(want, 0), items(feed(t, "approx_top_k_accumulate", v, parts))); diff != "" {
			t.Errorf("in %d parts: %s", parts, diff)
		}
		states := make([]*vec.Vector, 10)
		for i := range states {
			states[i] = feed(t, "approx_top_k_accumulate", v.Slice(i, 1), 1)
		}
		slices.Reverse(states)
		if diff := cmp.Diff(vec.ValueAt(want, 0), items(feed(t, "approx_top_k_combine", vec.Concat(states), parts))); diff != "" {
			t.Errorf("combined in %d parts: %s", parts, diff)
		}
	}
}
