package fn

import (
	"math"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// floats tells whether values of a type are, or deep also hold, floating point numbers.
func floats(t types.DataType, deep bool) bool {
	switch t := t.(type) {
	case types.FloatType, types.DoubleType:
		return true
	case types.ArrayType:
		return deep && floats(t.Element, deep)
	case types.StructType:
		for _, f := range t.Fields {
			if deep && floats(f.Type, deep) {
				return true
			}
		}
	}
	return false
}

// HoldsFloats tells whether values of a type are or hold floating point numbers, of which two that differ may be equal.
func HoldsFloats(t types.DataType) bool { return floats(t, true) }

// withoutNegativeZeros gives 0.0 for -0.0 and one NaN for all, in the parts of values too.
func withoutNegativeZeros(v *vec.Vector) *vec.Vector {
	if !floats(v.Type(), true) {
		return v
	}
	v = v.Flatten()
	switch t := v.Type().(type) {
	case types.FloatType:
		out := vec.NewFixed(t, v.Len())
		dst := vec.Fixed[float32](out)
		for i, x := range vec.Fixed[float32](v)[:v.Len()] {
			if dst[i] = x + 0; x != x {
				dst[i] = float32(math.NaN())
			}
		}
		out.SetValidity(v.Validity())
		return out
	case types.DoubleType:
		out := vec.NewFixed(t, v.Len())
		dst := vec.Fixed[float64](out)
		for i, x := range vec.Fixed[float64](v)[:v.Len()] {
			if dst[i] = x + 0; x != x {
				dst[i] = math.NaN()
			}
		}
		out.SetValidity(v.Validity())
		return out
	case types.ArrayType:
		out := vec.NewList(t, v.Spans(), withoutNegativeZeros(v.Kids()[0]))
		out.SetValidity(v.Validity())
		return out
	case types.StructType:
		kids := make([]*vec.Vector, len(v.Kids()))
		for i, k := range v.Kids() {
			kids[i] = withoutNegativeZeros(k)
		}
		out := vec.NewStruct(t, v.Len(), kids)
		out.SetValidity(v.Validity())
		return out
	}
	return v
}
