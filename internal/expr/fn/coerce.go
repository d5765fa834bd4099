package fn

import (
	"strings"

	"github.com/millrace/millrace/types"
)

// CommonType finds the type that values of a and b are both cast to where they meet: in the branches of CASE, IF and COALESCE, the
// list of IN, the elements of array() and map(), and the columns of set operations. ok is false when there is none.
func CommonType(a, b types.DataType, ansi bool) (t types.DataType, ok bool) {
	return coercion{ansi: ansi, strings: true}.wider(a, b)
}

// ComparisonType finds the type in which values of a and b are compared. Unlike with CommonType, strings inside of arrays, maps
// and structs are not promoted, and outside of ANSI mode a string gives way to what it is compared with.
func ComparisonType(a, b types.DataType, ansi bool) (t types.DataType, ok bool) {
	if t, ok := (coercion{ansi: ansi}).wider(a, b); ok {
		return t, true
	}
	if _, other, ok := oneString(a, b); ok && kindOf(other) == kVariant {
		return other, true
	}
	if !ansi {
		return legacyComparison(a, b)
	}
	if s, other, ok := oneString(a, b); ok {
		return promoteString(s, other)
	}
	return nil, false
}

// WiderType is CommonType without any promotion of strings: greatest and least ask for it.
func WiderType(a, b types.DataType, ansi bool) (t types.DataType, ok bool) {
	return coercion{ansi: ansi}.wider(a, b)
}

// coercion are the rules in force.
type coercion struct {
	ansi    bool
	strings bool // strings give way to other atomic types
}

func (c coercion) wider(a, b types.DataType) (types.DataType, bool) {
	if types.Equal(a, b) {
		return a, true
	}
	if _, ok := a.(types.NullType); ok {
		return b, true
	}
	if _, ok := b.(types.NullType); ok {
		return a, true
	}
	if IsNumeric(a) && IsNumeric(b) {
		return c.widerNumber(a, b), true
	}
	if isText(a) && isText(b) {
		return widerText(a, b)
	}
	switch x := a.(type) {
	case types.DateType, types.TimestampType, types.TimestampNTZType:
		if isDateTime(b) {
			return widerDateTime(a, b), true
		}
	case types.DayTimeIntervalType:
		if y, ok := b.(types.DayTimeIntervalType); ok {
			return types.DayTimeIntervalType{Start: min(x.Start, y.Start), End: max(x.End, y.End)}, true
		}
	case types.YearMonthIntervalType:
		if y, ok := b.(types.YearMonthIntervalType); ok {
			return types.YearMonthIntervalType{Start: min(x.Start, y.Start), End: max(x.End, y.End)}, true
		}
	case types.ArrayType:
		if y, ok := b.(types.ArrayType); ok {
			return c.widerArray(x, y)
		}
	case types.MapType:
		if y, ok := b.(types.MapType); ok {
			return c.widerMap(x, y)
		}
	case types.StructType:
		if y, ok := b.(types.StructType); ok {
			return c.widerStruct(x, y)
		}
	}
	if c.strings {
		if s, other, ok := oneString(a, b); ok {
			if kindOf(other) == kVariant && c.ansi {
				return other, true
			}
			if kindOf(other) == kVariant {
				return s, true
			}
			if c.ansi {
				return promoteString(s, other)
			}
			if _, isBool := other.(types.BooleanType); isAtomic(other) && !isBool && !isBinary(other) {
				return s, true
			}
		}
	}
	return nil, false
}

func (c coercion) widerArray(x, y types.ArrayType) (types.DataType, bool) {
	e, ok := c.wider(x.Element, y.Element)
	if !ok {
		return nil, false
	}
	null := x.ContainsNull || y.ContainsNull || ForcesNull(x.Element, e) || ForcesNull(y.Element, e)
	return types.ArrayType{Element: e, ContainsNull: null}, true
}

func (c coercion) widerMap(x, y types.MapType) (types.DataType, bool) {
	k, ok1 := c.wider(x.Key, y.Key)
	v, ok2 := c.wider(x.Value, y.Value)
	if !ok1 || !ok2 || ForcesNull(x.Key, k) || ForcesNull(y.Key, k) {
		return nil, false
	}
	null := x.ValueContainsNull || y.ValueContainsNull || ForcesNull(x.Value, v) || ForcesNull(y.Value, v)
	return types.MapType{Key: k, Value: v, ValueContainsNull: null}, true
}

func (c coercion) widerStruct(x, y types.StructType) (types.DataType, bool) {
	if len(x.Fields) != len(y.Fields) {
		return nil, false
	}
	r := types.StructType{Fields: make([]types.Field, len(x.Fields))}
	for i, f := range x.Fields {
		g := y.Fields[i]
		if !strings.EqualFold(f.Name, g.Name) {
			return nil, false
		}
		t, ok := c.wider(f.Type, g.Type)
		if !ok {
			return nil, false
		}
		null := f.Nullable || g.Nullable || ForcesNull(f.Type, t) || ForcesNull(g.Type, t)
		r.Fields[i] = types.Field{Name: f.Name, Type: t, Nullable: null}
	}
	return r, true
}

// rank orders the numbers without digits to lose.
func rank(t types.DataType) int {
	switch t.(type) {
	case types.ByteType:
		return 1
	case types.ShortType:
		return 2
	case types.IntegerType:
		return 3
	case types.LongType:
		return 4
	case types.FloatType:
		return 5
	case types.DoubleType:
		return 6
	}
	return 0
}

func (c coercion) widerNumber(a, b types.DataType) types.DataType {
	x, xd := a.(types.DecimalType)
	y, yd := b.(types.DecimalType)
	switch {
	case xd && yd:
		return widerDecimal(x, y)
	case xd && IsIntegral(b):
		return widerDecimal(x, DecimalFor(b))
	case yd && IsIntegral(a):
		return widerDecimal(DecimalFor(a), y)
	case xd || yd:
		return types.Double
	}
	if rank(a) > rank(b) {
		a, b = b, a
	}
	if _, isFloat := b.(types.FloatType); isFloat && c.ansi && IsIntegral(a) {
		return types.Double // a float would lose digits of most integers
	}
	return b
}

// DecimalFor is the decimal type that holds every value of an integer type.
func DecimalFor(t types.DataType) types.DecimalType {
	switch t := t.(type) {
	case types.ByteType:
		return types.DecimalType{Precision: 3}
	case types.ShortType:
		return types.DecimalType{Precision: 5}
	case types.IntegerType:
		return types.DecimalType{Precision: 10}
	case types.LongType:
		return types.DecimalType{Precision: 20}
	case types.FloatType:
		return types.DecimalType{Precision: 14, Scale: 7}
	case types.DoubleType:
		return types.DecimalType{Precision: 30, Scale: 15}
	case types.DecimalType:
		return t
	}
	return types.DecimalType{Precision: 10}
}

// widerDecimal holds the digits of both on either side of the point; when there are more than 38, digits behind it go.
func widerDecimal(x, y types.DecimalType) types.DecimalType {
	scale := max(x.Scale, y.Scale)
	digits := max(x.Precision-x.Scale, y.Precision-y.Scale) + scale
	if digits > 38 {
		return types.DecimalType{Precision: 38, Scale: max(0, scale-(digits-38))}
	}
	return types.DecimalType{Precision: digits, Scale: scale}
}

// boundedDecimal cuts digits off a result type that is too wide, but leaves six behind the point if there are that many.
func boundedDecimal(precision, scale int) types.DecimalType {
	if precision <= 38 {
		return types.DecimalType{Precision: precision, Scale: scale}
	}
	return types.DecimalType{Precision: 38, Scale: max(38-(precision-scale), min(scale, 6))}
}

func widerDateTime(a, b types.DataType) types.DataType {
	_, x := a.(types.TimestampType)
	_, y := b.(types.TimestampType)
	if x || y {
		return types.Timestamp
	}
	return types.TimestampNTZ // not both are dates: those are equal
}

func widerText(a, b types.DataType) (types.DataType, bool) {
	x, xs := a.(types.StringType)
	y, ys := b.(types.StringType)
	switch {
	case xs && ys && x.Collation == "":
		return y, true
	case xs && ys && y.Collation == "", xs && !ys:
		return x, true
	case ys && !xs:
		return y, true
	case !xs && !ys:
		return types.String, true
	}
	return nil, false
}

// oneString takes the string out of a pair of which exactly one is a string.
func oneString(a, b types.DataType) (s, other types.DataType, ok bool) {
	switch {
	case isText(a) && !isText(b):
		return a, b, true
	case isText(b) && !isText(a):
		return b, a, true
	}
	return nil, nil, false
}

// promoteString is ANSI mode's type for a string that meets another type.
func promoteString(_, other types.DataType) (types.DataType, bool) {
	switch other.(type) {
	case types.ByteType, types.ShortType, types.IntegerType, types.LongType:
		return types.Long, true
	case types.FloatType, types.DoubleType, types.DecimalType:
		return types.Double, true
	case types.BooleanType, types.BinaryType, types.DateType, types.TimestampType, types.TimestampNTZType, types.TimeType:
		return other, true
	}
	return nil, false
}

func legacyComparison(a, b types.DataType) (types.DataType, bool) {
	s, other, ok := oneString(a, b)
	if !ok {
		return nil, false
	}
	switch other.(type) {
	case types.DecimalType:
		return types.Double, true
	case types.BinaryType:
		return s, true
	case types.DayTimeIntervalType, types.YearMonthIntervalType:
		return nil, false
	}
	return other, isAtomic(other)
}

// ---- kinds of types

// IsNumeric tells integers, floating point numbers and decimals.
func IsNumeric(t types.DataType) bool {
	_, dec := t.(types.DecimalType)
	return dec || rank(t) > 0
}

// IsIntegral tells the four integer types.
func IsIntegral(t types.DataType) bool { r := rank(t); return r >= 1 && r <= 4 }

func isFractional(t types.DataType) bool { return IsNumeric(t) && !IsIntegral(t) }

func isFloating(t types.DataType) bool { return rank(t) >= 5 }

func isDecimal(t types.DataType) bool { _, ok := t.(types.DecimalType); return ok }

func isText(t types.DataType) bool {
	switch t.(type) {
	case types.StringType, types.CharType, types.VarcharType:
		return true
	}
	return false
}

func isBinary(t types.DataType) bool { _, ok := t.(types.BinaryType); return ok }

func isBoolean(t types.DataType) bool { _, ok := t.(types.BooleanType); return ok }

func isNull(t types.DataType) bool { _, ok := t.(types.NullType); return ok }

func isDateTime(t types.DataType) bool {
	switch t.(type) {
	case types.DateType, types.TimestampType, types.TimestampNTZType:
		return true
	}
	return false
}

func isTimestamp(t types.DataType) bool {
	switch t.(type) {
	case types.TimestampType, types.TimestampNTZType:
		return true
	}
	return false
}

func isAnsiInterval(t types.DataType) bool {
	switch t.(type) {
	case types.DayTimeIntervalType, types.YearMonthIntervalType:
		return true
	}
	return false
}

func isInterval(t types.DataType) bool {
	_, cal := t.(types.CalendarIntervalType)
	return cal || isAnsiInterval(t)
}

// isAtomic tells the types whose values have no parts. Calendar intervals do not count, as in Spark.
func isAtomic(t types.DataType) bool {
	switch t.(type) {
	case types.ArrayType, types.MapType, types.StructType, types.NullType, types.CalendarIntervalType, types.VariantType, types.UserDefinedType:
		return false
	}
	return true
}

// Orderable tells whether values of t can be sorted and compared with < and =.
func Orderable(t types.DataType) bool {
	switch t := t.(type) {
	case types.MapType, types.CalendarIntervalType, types.VariantType:
		return false
	case types.ArrayType:
		return Orderable(t.Element)
	case types.StructType:
		for _, f := range t.Fields {
			if !Orderable(f.Type) {
				return false
			}
		}
	case types.UserDefinedType:
		return Orderable(t.Storage)
	}
	return true
}

// CommonTypes is CommonType of any number of types. Strings come first, so that what they give way to does not depend on the order.
func CommonTypes(ts []types.DataType, ansi bool) (types.DataType, bool) {
	ordered := make([]types.DataType, 0, len(ts))
	for _, strings := range []bool{true, false} {
		for _, t := range ts {
			if hasText(t) == strings {
				ordered = append(ordered, t)
			}
		}
	}
	var common types.DataType = types.Null
	for _, t := range ordered {
		var ok bool
		if common, ok = CommonType(common, t, ansi); !ok {
			return nil, false
		}
	}
	return common, true
}

func hasText(t types.DataType) bool {
	if a, ok := t.(types.ArrayType); ok {
		return hasText(a.Element)
	}
	return isText(t)
}
