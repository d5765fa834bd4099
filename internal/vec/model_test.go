package vec

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec/valuetest"
	"github.com/millrace/millrace/types"
)

// The model of a vector is the slice of its values: every operation is compared with the same one on slices.

func mustFrom(t interface{ Fatalf(string, ...any) }, dt types.DataType, rows []any) *Vector {
	v, err := FromValues(dt, rows...)
	if err != nil {
		t.Fatalf("FromValues: %v", err)
	}
	return v
}

// drawVector returns a vector of n rows in some encoding and memory layout, and its values.
func drawVector(t *rapid.T, dt types.DataType, n int) (*Vector, []any) {
	switch rapid.IntRange(0, 6).Draw(t, "layout") {
	case 0:
		row := valuetest.Rows(t, dt, 1)
		rows := make([]any, n)
		for i := range rows {
			rows[i] = row[0]
		}
		return NewConst(mustFrom(t, dt, row), n), rows
	case 1:
		base := valuetest.Rows(t, dt, 3)
		rows := make([]any, n)
		idx := make([]uint32, n)
		valid := NewBitmapSet(n)
		for i := range rows {
			idx[i] = uint32(rapid.IntRange(0, 3).Draw(t, "idx"))
			if idx[i] == 3 {
				valid.Clear(i)
				continue
			}
			rows[i] = base[idx[i]]
		}
		return NewDict(mustFrom(t, dt, base), idx, valid), rows
	case 2: // a slice of something longer
		off := rapid.IntRange(0, 70).Draw(t, "off")
		all := valuetest.Rows(t, dt, off+n+1)
		return mustFrom(t, dt, all).Slice(off, n), all[off : off+n]
	case 4: // with values behind some of the nulls
		all := valuetest.Rows(t, dt, n)
		v := mustFrom(t, dt, all).WithType(dt)
		valid := NewBitmapSet(n)
		rows := append([]any{}, all...)
		for i := range rows {
			if rapid.IntRange(0, 3).Draw(t, "hide") == 0 {
				rows[i] = nil
			}
			valid.SetTo(i, rows[i] != nil)
		}
		v.SetValidity(valid)
		return v, rows
	case 3: // gathered, so that rows lie in disorder
		all := valuetest.Rows(t, dt, n)
		idx := make([]uint32, n)
		rows := make([]any, n)
		for i := range idx {
			j := rapid.IntRange(-1, n-1).Draw(t, "from")
			idx[i] = NoRow
			if j >= 0 {
				idx[i], rows[i] = uint32(j), all[j]
			}
		}
		return Take(mustFrom(t, dt, all), idx, &Vector{}), rows
	}
	rows := valuetest.Rows(t, dt, n)
	return mustFrom(t, dt, rows), rows
}

func valuesOf(v *Vector) []any {
	out := make([]any, v.Len())
	for i := range out {
		out[i] = ValueAt(v, i)
	}
	return out
}

func wantValues(t *rapid.T, what string, v *Vector, want []any) {
	t.Helper()
	if v.Len() != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, v.Len(), len(want))
	}
	got := valuesOf(v)
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s (%s): row %d is %v, want %v", what, v.Type().SimpleString(), i, got[i], want[i])
		}
	}
}

func drawLen(t *rapid.T) int {
	return rapid.SampledFrom([]int{0, 1, 3, 63, 64, 65, 130}).Draw(t, "n")
}

func TestValuesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, rows := drawVector(t, valuetest.Type(t, 2), drawLen(t))
		wantValues(t, "drawn", v, rows)
		flat := v.Flatten()
		if flat.Encoding() != Flat {
			t.Fatalf("not flat")
		}
		wantValues(t, "flattened", flat, rows)
		scratch := &Vector{}
		wantValues(t, "flattened into scratch", v.FlattenInto(scratch), rows)
		wantValues(t, "flattened into used scratch", v.FlattenInto(scratch), rows)
		v.SetBorrowed(true)
		own := v.Own()
		if !own.Owned() || own == v {
			t.Fatalf("not owned")
		}
		wantValues(t, "owned", own, rows)
		for i := range rows {
			if v.IsNull(i) != (rows[i] == nil) {
				t.Fatalf("IsNull(%d) is %v", i, v.IsNull(i))
			}
		}
	})
}

func TestTake(t *testing.T) {
	scratch := &Vector{} // used again for every type and layout, as a worker's is
	rapid.Check(t, func(t *rapid.T) {
		n := drawLen(t)
		v, rows := drawVector(t, valuetest.Type(t, 2), n)
		before := valuesOf(v)
		idx := make([]uint32, drawLen(t))
		want := make([]any, len(idx))
		holes := rapid.Bool().Draw(t, "holes")
		for i := range idx {
			lo := 0
			if holes || n == 0 {
				lo = -1
			}
			j := rapid.IntRange(lo, n-1).Draw(t, "j")
			idx[i] = NoRow
			if j >= 0 {
				idx[i], want[i] = uint32(j), rows[j]
			}
		}
		wantValues(t, "taken", Take(v, idx, nil), want)
		got := Take(v, idx, scratch)
		wantValues(t, "taken into scratch", got, want)
		wantValues(t, "owned", got.Own(), want)
		wantValues(t, "source", v, before)
	})
}

func TestSliceAndConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := valuetest.Type(t, 2)
		var parts []*Vector
		var want []any
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			n := drawLen(t)
			v, rows := drawVector(t, dt, n)
			from := rapid.IntRange(0, n).Draw(t, "from")
			to := rapid.IntRange(from, n).Draw(t, "to")
			s := v.Slice(from, to-from)
			wantValues(t, "slice", s, rows[from:to])
			parts = append(parts, s)
			want = append(want, rows[from:to]...)
		}
		c := Concat(parts)
		if !c.Owned() {
			t.Fatalf("not owned")
		}
		wantValues(t, "concat", c, want)
	})
}

func TestBatchOwnCompactConcat(t *testing.T) {
	scratch := &Batch{}
	rapid.Check(t, func(t *rapid.T) {
		ts := []types.DataType{valuetest.Type(t, 1), valuetest.Type(t, 1)}
		var bs []*Batch
		want := make([][]any, len(ts))
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			n := drawLen(t)
			b := &Batch{N: n}
			rows := make([][]any, len(ts))
			for c, dt := range ts {
				v, r := drawVector(t, dt, n)
				b.Cols, rows[c] = append(b.Cols, v), r
			}
			if rapid.Bool().Draw(t, "sel") {
				b.Sel = []uint32{}
				for i := range n {
					if rapid.Bool().Draw(t, "in") {
						b.Sel = append(b.Sel, uint32(i))
					}
				}
				for c, r := range rows {
					rows[c] = nil
					for _, i := range b.Sel {
						rows[c] = append(rows[c], r[i])
					}
				}
			}
			for c := range ts {
				wantValues(t, "compact", b.Compact(scratch).Cols[c], rows[c])
				o := b.Own()
				if !o.Owned() {
					t.Fatalf("not owned")
				}
				wantValues(t, "own", o.Cols[c], rows[c])
				from := rapid.IntRange(0, len(rows[c])).Draw(t, "from")
				wantValues(t, "slice", b.Slice(from, len(rows[c])-from).Compact(nil).Cols[c], rows[c][from:])
				want[c] = append(want[c], rows[c]...)
			}
			bs = append(bs, b)
		}
		all := ConcatBatches(bs)
		for c := range ts {
			wantValues(t, "concat", all.Cols[c], want[c])
		}
	})
}

func TestBuilderTruncate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := valuetest.Type(t, 2)
		b := NewBuilder(dt)
		var want []any
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			for _, x := range valuetest.Rows(t, dt, rapid.IntRange(0, 80).Draw(t, "rows")) {
				if err := b.AppendValue(x); err != nil {
					t.Fatal(err)
				}
				want = append(want, x)
			}
			if len(b.kids) > 0 { // an unfinished row
				if err := b.kids[0].AppendValue(valuetest.Value(t, b.kids[0].typ, true)); err != nil {
					t.Fatal(err)
				}
			}
			keep := rapid.IntRange(0, len(want)).Draw(t, "keep")
			b.Truncate(keep)
			want = want[:keep]
		}
		wantValues(t, "borrowed", b.Borrow(), want)
		v := b.Finish()
		wantValues(t, "finished", v, want)
		if v.spans != nil && v.valid == nil {
			if _, _, ok := v.stretch(); !ok {
				t.Fatalf("rows are not contiguous")
			}
		}
		more := valuetest.Rows(t, dt, 5)
		for _, x := range more {
			if err := b.AppendValue(x); err != nil {
				t.Fatal(err)
			}
		}
		wantValues(t, "finished, after more", v, want)
		wantValues(t, "next", b.Finish(), more)
	})
}

func TestAppendValueOfWrongKind(t *testing.T) {
	b := NewBuilder(types.Struct(types.NewField("a", types.Long), types.NewField("b", types.String)))
	if err := b.AppendValue(types.Row{int64(1), "x"}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []any{types.Row{int64(1), 2}, types.Row{int64(1)}, 7, types.Row{"x", "y"}} {
		if err := b.AppendValue(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if err := b.AppendValue(types.Row{nil, "z"}); err != nil {
		t.Fatal(err)
	}
	want := []any{types.Row{int64(1), "x"}, types.Row{nil, "z"}}
	if got := valuesOf(b.Finish()); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func diff(want, got []any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("got %v, want %v", got, want)
}

// Whoever takes a child out of a producer's scratch must see that it is scratch, though the child was made as an ordinary vector.
func TestChildrenOfScratchAreScratch(t *testing.T) {
	kid := mustFrom(t, types.Long, []any{int64(1), int64(2)})
	inner := NewStruct(types.Struct(types.NewField("x", types.Long)), 2, []*Vector{kid})
	outer := NewStruct(types.Struct(types.NewField("s", inner.Type())), 2, []*Vector{inner})
	outer.SetBorrowed(true)
	got := outer.Kids()[0].Kids()[0]
	if outer.Kids()[0].Owned() || got.Owned() {
		t.Error("a child of scratch says that it may be kept")
	}
	if !kid.Owned() || !inner.Owned() {
		t.Error("vectors of others were marked")
	}
	kept := got.Own()
	Fixed[int64](kid)[0] = 7
	if Fixed[int64](kept)[0] != 1 || Fixed[int64](got)[0] != 7 {
		t.Error("Own did not copy, or the mark did")
	}
}
