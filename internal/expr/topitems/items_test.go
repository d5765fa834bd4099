package topitems_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/millrace/millrace/internal/expr/topitems"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// values has some values of each type that is counted, with a null.
func values(t *testing.T) []*vec.Vector {
	text, err := vec.FromValues(types.String, "a", "a", "", "日本語", nil)
	if err != nil {
		t.Fatal(err)
	}
	flag, err := vec.FromValues(types.Boolean, true, false, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := []*vec.Vector{text, flag}
	for typ, one := range map[types.DataType]func(b *vec.Builder, n int64){
		types.Byte:                                func(b *vec.Builder, n int64) { b.AppendInt8(int8(n)) },
		types.Short:                               func(b *vec.Builder, n int64) { b.AppendInt16(int16(n)) },
		types.Integer:                             func(b *vec.Builder, n int64) { b.AppendInt32(int32(n)) },
		types.Long:                                func(b *vec.Builder, n int64) { b.AppendInt64(n) },
		types.Float:                               func(b *vec.Builder, n int64) { b.AppendFloat32(float32(n) / 2) },
		types.Double:                              func(b *vec.Builder, n int64) { b.AppendFloat64(float64(n) / 2) },
		types.Date:                                func(b *vec.Builder, n int64) { b.AppendInt32(int32(n)) },
		types.Timestamp:                           func(b *vec.Builder, n int64) { b.AppendInt64(n) },
		types.DecimalType{Precision: 9}:           func(b *vec.Builder, n int64) { b.AppendInt64(n) },
		types.DecimalType{Precision: 18}:          func(b *vec.Builder, n int64) { b.AppendInt64(n) },
		types.DecimalType{Precision: 38}:          func(b *vec.Builder, n int64) { b.AppendInt128(vec.Int128{Lo: uint64(n), Hi: n >> 63}) },
		types.DecimalType{Precision: 25}:          func(b *vec.Builder, n int64) { b.AppendInt128(vec.Int128{Lo: uint64(n), Hi: n}) },
		types.DataType(types.TimestampNTZ):        func(b *vec.Builder, n int64) { b.AppendInt64(n << 40) },
		types.DecimalType{Precision: 5, Scale: 2}: func(b *vec.Builder, n int64) { b.AppendInt64(n * 100) },
	} {
		b := vec.NewBuilder(typ)
		for _, n := range []int64{0, -1, -1, 127, -128, 100, 3, 3, 3} {
			one(b, n)
		}
		b.AppendNull()
		out = append(out, b.Finish())
	}
	return out
}

// An image that is read and written again is the same, and one that is damaged is refused or read as something else, but never a panic.
func TestImages(t *testing.T) {
	for _, v := range values(t) {
		t.Run(v.Type().SQL(), func(t *testing.T) {
			s := topitems.New(16)
			a := topitems.NewAdder(v)
			for i := range v.Len() {
				a.Add(s, i)
			}
			image := s.Image(nil, v.Type())
			again, err := topitems.Parse(image, v.Type())
			if err != nil {
				t.Fatal(err)
			}
			if got := again.Image(nil, v.Type()); !bytes.Equal(got, image) {
				t.Errorf("read and written: %x, want %x", got, image)
			}
			item, err := topitems.ItemOf(topitems.Text(v.Type()))
			if err != nil || !types.SameType(item, v.Type()) {
				t.Errorf("the text %q means %v %v", topitems.Text(v.Type()), item, err)
			}
			for n := range image {
				_, _ = topitems.Parse(image[:n], v.Type())
				for _, c := range []byte{0, 0x7f, 0xff, ^image[n]} {
					d := slices.Clone(image)
					d[n] = c
					if s, err := topitems.Parse(d, v.Type()); err == nil {
						s.Emit(vec.NewBuilder(topitems.Type(v.Type())), 100)
					}
				}
			}
		})
	}
}
