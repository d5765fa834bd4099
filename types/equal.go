package types

// Equal reports whether two types are the same in every respect: names, nullability and
// metadata included.
func Equal(a, b DataType) bool { return same(a, b, strict) }

// SameType is Equal without regard to nullability and metadata.
func SameType(a, b DataType) bool { return same(a, b, names) }

// SameShape is SameType without regard to the names of struct fields. It is what set
// operations ask for.
func SameShape(a, b DataType) bool { return same(a, b, shape) }

type strictness uint8

const (
	shape strictness = iota
	names
	strict
)

func same(a, b DataType, s strictness) bool {
	switch x := a.(type) {
	case ArrayType:
		y, ok := b.(ArrayType)
		return ok && (s < strict || x.ContainsNull == y.ContainsNull) && same(x.Element, y.Element, s)
	case MapType:
		y, ok := b.(MapType)
		return ok && (s < strict || x.ValueContainsNull == y.ValueContainsNull) &&
			same(x.Key, y.Key, s) && same(x.Value, y.Value, s)
	case StructType:
		y, ok := b.(StructType)
		if !ok || len(x.Fields) != len(y.Fields) {
			return false
		}
		for i, f := range x.Fields {
			g := y.Fields[i]
			if s >= names && f.Name != g.Name || !same(f.Type, g.Type, s) {
				return false
			}
			if s == strict && (f.Nullable != g.Nullable || !sameMetadata(f.Metadata, g.Metadata)) {
				return false
			}
		}
		return true
	case UserDefinedType:
		y, ok := b.(UserDefinedType)
		return ok && x.Class == y.Class && x.PyClass == y.PyClass && same(x.Storage, y.Storage, s)
	}
	switch b.(type) {
	case StructType, ArrayType, MapType, UserDefinedType:
		return false // == below must not meet a type that holds a slice
	}
	return a == b
}
