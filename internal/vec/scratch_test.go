package vec

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/types"
)

func TestBitmaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		draw := func() (Bitmap, []bool) {
			model := make([]bool, n)
			if rapid.IntRange(0, 3).Draw(t, "nil") == 0 {
				fill(model, true)
				return nil, model
			}
			b := NewBitmap(n)
			for i := range model {
				model[i] = rapid.Bool().Draw(t, "bit")
				b.SetTo(i, model[i])
			}
			return b, model
		}
		same := func(what string, b Bitmap, want []bool) {
			t.Helper()
			set := 0
			for i, on := range want {
				if b.Get(i) != on {
					t.Fatalf("%s: bit %d is %v", what, i, b.Get(i))
				}
				if on {
					set++
				}
			}
			if b.Count(len(want)) != set || b.All(len(want)) != (set == len(want)) {
				t.Fatalf("%s: count %d, want %d", what, b.Count(len(want)), set)
			}
		}
		x, xm := draw()
		y, ym := draw()
		and := make([]bool, n)
		for i := range and {
			and[i] = xm[i] && ym[i]
		}
		same("x", x, xm)
		same("clone", x.Clone(), xm)
		same("and", AndInto(NewBitmapSet(3), x, y, n), and)
		off := rapid.IntRange(0, n).Draw(t, "off")
		same("slice", x.Slice(off, n-off), xm[off:])
		joined := NewBitmap(2 * n)
		joined.CopyFrom(0, x, n)
		joined.CopyFrom(n, y, n)
		same("joined", joined, append(append([]bool{}, xm...), ym...))

		values := make([]uint8, n)
		packed := make([]byte, (n+7)/8)
		for i := range values {
			if values[i] = 0xa4; xm[i] { // only the lowest bit counts
				values[i] = 0xa5
			}
		}
		PackBits(packed, values)
		back := make([]uint8, n-off)
		UnpackBits(back, packed, off, n-off)
		for i, b := range back {
			if (b == 1) != xm[off+i] || b > 1 {
				t.Fatalf("unpacked bit %d is %d", off+i, b)
			}
		}
	})
}

func TestMutableValidityIsNotShared(t *testing.T) {
	shared := NewBitmapSet(70)
	shared.Clear(1)
	v := NewFixed(types.Long, 70)
	v.SetValidity(shared)
	v.MutableValidity().Clear(2)
	if !shared.Get(2) || v.Validity().Get(1) || v.Validity().Get(2) {
		t.Error("a shared bitmap was changed or not copied")
	}
	mine := v.Validity()
	if v.MutableValidity().Clear(3); &mine[0] != &v.Validity()[0] {
		t.Error("the vector's own bitmap was copied")
	}
	if v.ResetFixed(5); v.Validity() != nil || !v.MutableValidity().All(5) {
		t.Error("a reset vector has nulls")
	}
}

func TestScratchDoesNotTouchWhatItShared(t *testing.T) {
	src := mustFrom(t, types.String, []any{"one", "two"})
	var scratch Vector
	scratch.Retype(types.String)
	Take(src, []uint32{1}, &scratch) // shares the bytes of src
	buf := append(scratch.Buffer(), "xxxxxx"...)
	scratch.ResetBytes(1, nil)[0] = Span{0, 6}
	scratch.SetBuffer(buf)
	Take(NewConst(mustFrom(t, types.Long, []any{int64(7)}), 3), []uint32{0, 1}, &scratch)
	longs := mustFrom(t, types.Long, []any{int64(7)})
	Take(NewConst(longs, 3), []uint32{0, 1}, &scratch) // shares the value of longs
	scratch.ResetFixed(1)
	Fixed[int64](&scratch)[0] = 8
	if d := diff([]any{"one", "two"}, valuesOf(src)); d != "" {
		t.Error(d)
	}
	if d := diff([]any{int64(7)}, valuesOf(longs)); d != "" {
		t.Error(d)
	}
}

func TestBuilderBuffer(t *testing.T) {
	b := NewBuilder(types.String)
	for range 2 {
		b.CommitBytes(append(b.Buffer(), "abc"...))
		b.AppendNulls(70)
		b.CommitBytes(b.Buffer())
		b.AppendString("de")
		if b.Len() != 73 || b.Size() != 73*8+5 {
			t.Errorf("%d rows, %d bytes", b.Len(), b.Size())
		}
		v := b.Borrow()
		if v.StringAt(0) != "abc" || !v.IsNull(70) || v.IsNull(71) || v.StringAt(71) != "" || !bytes.Equal(v.BytesAt(72), []byte("de")) {
			t.Errorf("got %v", valuesOf(v))
		}
		b.Reset()
	}
	s := NewBuilder(types.Struct(types.NewField("a", types.Long), types.NewField("b", types.Long)))
	s.Child(1).AppendInt64(2)
	s.AppendStruct(true) // the first field has nothing yet
	s.Child(0).AppendInt64(1)
	s.AppendStruct(false)
	want := []any{types.Row{nil, int64(2)}, nil}
	if got := valuesOf(s.Finish()); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestConcatKeepsASharedDictionary(t *testing.T) {
	base := mustFrom(t, types.String, []any{"x", nil, "z"})
	a, b := NewDict(base, []uint32{0, 2}, nil), NewDict(base, []uint32{1, 0}, Bitmap{1})
	c := Concat([]*Vector{a, b})
	if c.Encoding() != Dict {
		t.Error("the dictionary was expanded")
	}
	if d := diff([]any{"x", "z", nil, nil}, valuesOf(c)); d != "" {
		t.Error(d)
	}
}

func TestConstructors(t *testing.T) {
	elements := NewConst(mustFrom(t, types.Long, []any{int64(5)}), 3)
	list := NewList(types.ArrayOf(types.Long), []Span{{0, 2}, {2, 1}}, elements)
	m := NewMap(types.MapOf(types.Long, types.Long), []Span{{0, 0}, {0, 3}}, elements, elements)
	st := NewStruct(types.Struct(types.NewField("l", list.Type()), types.NewField("m", m.Type())), 2, []*Vector{list, m})
	five := types.MapEntry{Key: int64(5), Value: int64(5)}
	want := []any{
		types.Row{[]any{int64(5), int64(5)}, types.MapValue{}},
		types.Row{[]any{int64(5)}, types.MapValue{five, five, five}},
	}
	if d := diff(want, valuesOf(st)); d != "" {
		t.Error(d)
	}
	var scratch Vector
	scratch.Retype(list.Type())
	copy(scratch.ResetList(2, elements.Flatten()), list.Spans())
	if d := diff(valuesOf(list), valuesOf(&scratch)); d != "" {
		t.Error(d)
	}
	s, of := scratch.SpanAt(1)
	if s != (Span{2, 1}) || of != &scratch {
		t.Errorf("got %v", s)
	}
	b := EmptyBatch([]types.DataType{types.Long, st.Type()})
	if b.Rows() != 0 || len(b.Cols) != 2 || NewBatch(2, st).SizeBytes() == 0 {
		t.Error("a batch without rows has some")
	}
	if !Equal(st, 0, st, 0) || Equal(st, 0, st, 1) {
		t.Error("rows are not equal to themselves only")
	}
}
