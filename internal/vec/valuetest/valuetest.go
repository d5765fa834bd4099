// Package valuetest draws data types and values for the tests of packages that compute on vectors. It knows package types only,
// so that the tests of package vec can use it too.
package valuetest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/types"
)

// leaves are the types without children.
var leaves = []types.DataType{
	types.Null, types.Boolean, types.Byte, types.Short, types.Integer, types.Long, types.Float, types.Double,
	types.DecimalType{Precision: 9, Scale: 2},
	types.DecimalType{Precision: 30, Scale: 5},
	types.String, types.Binary, types.Date,
	types.Timestamp, types.TimestampNTZ, types.Time, types.CalendarInterval, types.YearMonthInterval, types.DayTimeInterval,
	types.Variant,
}

// Type draws a type of at most depth levels of arrays, maps and structs.
func Type(t *rapid.T, depth int) types.DataType {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") > 0 {
		return rapid.SampledFrom(leaves).Draw(t, "type")
	}
	switch rapid.IntRange(0, 2).Draw(t, "nested") {
	case 0:
		return types.ArrayOf(Type(t, depth-1))
	case 1:
		key := rapid.SampledFrom([]types.DataType{types.String, types.Integer}).Draw(t, "key")
		return types.MapOf(key, Type(t, depth-1))
	}
	var st types.StructType
	for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
		st = st.Add(fmt.Sprint("f", i), Type(t, depth-1), true)
	}
	return st
}

// Value draws a value of a type by the conventions of package types; null only if nulls is set. Integers below 64 bits and floats
// are from small sets, so that equal values turn up. Floats are neither NaN nor negative zero.
func Value(t *rapid.T, dt types.DataType, nulls bool) any {
	if dt == types.DataType(types.Null) || nulls && rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil
	}
	i64 := func() int64 { return rapid.Int64().Draw(t, "i") }
	small := func() int { return rapid.IntRange(-3, 3).Draw(t, "s") }
	switch dt := dt.(type) {
	case types.BooleanType:
		return rapid.Bool().Draw(t, "b")
	case types.ByteType:
		return int8(i64())
	case types.ShortType:
		return int16(i64())
	case types.IntegerType:
		return int32(small())
	case types.LongType:
		return i64()
	case types.FloatType:
		return float32(small()) / 4
	case types.DoubleType:
		return float64(small()) / 4
	case types.DecimalType:
		d := types.DecimalFromInt64(i64()%1_000_000_000, dt.Scale)
		return d
	case types.StringType:
		return rapid.SampledFrom([]string{"", "a", "b", "ab", "a\x00b", "a\x00", "long enough to be more than sixteen bytes", "ünï"}).Draw(t, "str")
	case types.BinaryType:
		return rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "bin")
	case types.DateType:
		return types.Days(small())
	case types.TimestampType:
		return types.Micros(i64())
	case types.TimestampNTZType:
		return types.MicrosNTZ(i64())
	case types.TimeType:
		return types.TimeOfDay(rapid.Int64Range(0, 86_400_000_000_000-1).Draw(t, "time"))
	case types.CalendarIntervalType:
		return types.Interval{Months: int32(small()), Days: int32(small()), Micros: i64() / 1000}
	case types.YearMonthIntervalType:
		return types.YearMonth(small())
	case types.DayTimeIntervalType:
		return types.DayTime(i64())
	case types.VariantType:
		return types.VariantValue{Value: []byte{byte(small())}, Metadata: []byte{1, 0, 0}}
	case types.ArrayType:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "len"))
		for i := range list {
			list[i] = Value(t, dt.Element, nulls)
		}
		return list
	case types.MapType:
		m := make(types.MapValue, rapid.IntRange(0, 3).Draw(t, "len"))
		for i := range m {
			var key any = int32(i)
			if dt.Key == types.DataType(types.String) {
				key = fmt.Sprint("k", i)
			}
			m[i] = types.MapEntry{Key: key, Value: Value(t, dt.Value, nulls)}
		}
		return m
	case types.StructType:
		row := make(types.Row, len(dt.Fields))
		for i, f := range dt.Fields {
			row[i] = Value(t, f.Type, nulls)
		}
		return row
	}
	panic("no values of " + dt.SimpleString())
}

// Rows draws n values of a type; about half of the time none of them is null.
func Rows(t *rapid.T, dt types.DataType, n int) []any {
	nulls := rapid.Bool().Draw(t, "nulls")
	rows := make([]any, n)
	for i := range rows {
		rows[i] = Value(t, dt, nulls)
	}
	return rows
}
