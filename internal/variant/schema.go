package variant

import (
	"strings"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/types"
)

// Schema is the type that a value, or each of some values, could be cast to without loss; where their types have nothing in common it
// is VARIANT. An object is a struct. Ok is false for a value that is not whole.
func (v Value) Schema() (t types.DataType, ok bool) { return v.schema(0) }

func (v Value) schema(depth int) (types.DataType, bool) {
	if depth > maxDepth {
		return nil, false
	}
	switch v.Kind() {
	case Null:
		return types.Null, true
	case Bool:
		return types.Boolean, true
	case Long:
		return types.Long, true
	case Double:
		return types.Double, true
	case Float:
		return types.Float, true
	case Decimal:
		x, scale := v.Stripped()
		scale = max(scale, 0)
		return types.DecimalType{Precision: max(decimal.Digits(x), scale, 1), Scale: scale}, true
	case Date:
		return types.Date, true
	case Timestamp:
		return types.Timestamp, true
	case TimestampNTZ:
		return types.TimestampNTZ, true
	case Binary:
		return types.Binary, true
	case String, UUID:
		return types.String, true
	case Object:
		f, _ := v.Fields()
		s := types.StructType{Fields: make([]types.Field, f.Len())}
		for i := range s.Fields {
			name, x := f.At(i)
			t, ok := x.schema(depth + 1)
			if !ok || name == nil {
				return nil, false
			}
			s.Fields[i] = types.NewField(string(name), t)
		}
		return s, true
	case Array:
		e, _ := v.Elements()
		element := types.DataType(types.Null)
		for i := range e.Len() {
			t, ok := e.At(i).schema(depth + 1)
			if !ok {
				return nil, false
			}
			element = MergeSchemas(element, t)
		}
		return types.ArrayOf(element), true
	}
	return nil, false
}

// Stripped is a Decimal without zeros at its end. The scale of whole numbers is 0.
func (v Value) Stripped() (x decimal.Int, scale int) {
	x, scale = v.Decimal()
	for scale > 0 {
		q, r := decimal.QuoRem(x, decimal.FromInt64(10))
		if r != (decimal.Int{}) {
			break
		}
		x, scale = q, scale-1
	}
	return x, scale
}

// MergeSchemas is the schema of values of two schemas.
func MergeSchemas(x, y types.DataType) types.DataType {
	switch {
	case types.Equal(x, y):
		return x
	case x == types.DataType(types.Null):
		return y
	case y == types.DataType(types.Null):
		return x
	}
	switch a := x.(type) {
	case types.ArrayType:
		if b, ok := y.(types.ArrayType); ok {
			return types.ArrayOf(MergeSchemas(a.Element, b.Element))
		}
	case types.StructType:
		if b, ok := y.(types.StructType); ok {
			return mergeStructs(a, b)
		}
	default:
		if t, ok := mergeScalars(x, y); ok {
			return t
		}
	}
	return types.Variant
}

// mergeStructs merges the fields of two objects, both in the order of their names.
func mergeStructs(a, b types.StructType) types.DataType {
	var s types.StructType
	i, k := 0, 0
	for i < len(a.Fields) || k < len(b.Fields) {
		c := 0
		switch {
		case i == len(a.Fields):
			c = 1
		case k == len(b.Fields):
			c = -1
		default:
			c = compareNames(a.Fields[i].Name, b.Fields[k].Name)
		}
		switch {
		case c < 0:
			s.Fields = append(s.Fields, a.Fields[i])
			i++
		case c > 0:
			s.Fields = append(s.Fields, b.Fields[k])
			k++
		default:
			s.Fields = append(s.Fields, types.NewField(a.Fields[i].Name, MergeSchemas(a.Fields[i].Type, b.Fields[k].Type)))
			i++
			k++
		}
	}
	return s
}

// mergeScalars gives the type that holds two kinds of numbers or times.
func mergeScalars(x, y types.DataType) (types.DataType, bool) {
	rx, ry := rankOf(x), rankOf(y)
	if rx > ry {
		x, y, rx, ry = y, x, ry, rx
	}
	switch {
	case rx == 0 || rx < rankDate && ry >= rankDate:
		return nil, false
	case rx >= rankDate:
		return y, true
	case rx == rankDecimal && ry > rankDecimal:
		return types.Double, true
	case ry > rankDecimal:
		return y, true
	}
	w1, s1 := digitsOf(x)
	w2, s2 := digitsOf(y)
	whole, scale := max(w1, w2), max(s1, s2)
	if whole+scale > decimal.MaxPrecision {
		return types.Double, true
	}
	return types.DecimalType{Precision: whole + scale, Scale: scale}, true
}

// The ranks of types that have something in common with others: of two such numbers or times the higher one prevails, but for decimals.
const (
	rankLong = iota + 1
	rankDecimal
	rankFloat
	rankDouble
	rankDate
	rankNTZ
	rankTimestamp
)

func rankOf(t types.DataType) int {
	switch t.(type) {
	case types.LongType:
		return rankLong
	case types.DecimalType:
		return rankDecimal
	case types.FloatType:
		return rankFloat
	case types.DoubleType:
		return rankDouble
	case types.DateType:
		return rankDate
	case types.TimestampNTZType:
		return rankNTZ
	case types.TimestampType:
		return rankTimestamp
	}
	return 0
}

// digitsOf are the digits before and behind the point that numbers of a type may have.
func digitsOf(t types.DataType) (whole, scale int) {
	if d, ok := t.(types.DecimalType); ok {
		return d.Precision - d.Scale, d.Scale
	}
	return 20, 0
}

// SchemaText prints a schema as schema_of_variant shows it: objects are called so.
func SchemaText(t types.DataType) string {
	switch t := t.(type) {
	case types.ArrayType:
		return "ARRAY<" + SchemaText(t.Element) + ">"
	case types.StructType:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = quoteName(f.Name) + ": " + SchemaText(f.Type)
		}
		return "OBJECT<" + strings.Join(parts, ", ") + ">"
	}
	return t.SQL()
}

// quoteName puts a name that is no plain word into backticks.
func quoteName(s string) string {
	plain := s != ""
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9' || i == 0) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}
