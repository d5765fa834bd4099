package vec

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/millrace/millrace/types"
)

// ValueAt returns row i as a Go value by the conventions of package types; nil is null. Bytes are copied. It is meant for cold
// paths: rows shown or handed to a user's function, constants, tests.
func ValueAt(v *Vector, i int) any {
	for v.enc == Dict {
		if !v.valid.Get(i) {
			return nil
		}
		i, v = int(v.idx[i]), v.base
	}
	i = v.stored(i)
	if v.phys == PhysNull || !v.valid.Get(i) {
		return nil
	}
	return storedValue(v, i, v.typ)
}

// storedValue is ValueAt for a row of a Flat or Const vector that is not null.
func storedValue(v *Vector, i int, t types.DataType) any {
	switch t := t.(type) {
	case types.BooleanType:
		return Fixed[uint8](v)[i] != 0
	case types.ByteType:
		return Fixed[int8](v)[i]
	case types.ShortType:
		return Fixed[int16](v)[i]
	case types.IntegerType:
		return Fixed[int32](v)[i]
	case types.LongType:
		return Fixed[int64](v)[i]
	case types.FloatType:
		return Fixed[float32](v)[i]
	case types.DoubleType:
		return Fixed[float64](v)[i]
	case types.DecimalType:
		if v.phys == PhysInt64 {
			return types.DecimalFromInt64(Fixed[int64](v)[i], t.Scale)
		}
		x := Fixed[Int128](v)[i]
		return types.Decimal{Unscaled: decimal128.New(x.Hi, x.Lo), Scale: t.Scale}
	case types.StringType, types.CharType, types.VarcharType:
		return string(v.BytesAt(i))
	case types.BinaryType:
		return append([]byte{}, v.BytesAt(i)...)
	case types.DateType:
		return types.Days(Fixed[int32](v)[i])
	case types.TimestampType:
		return types.Micros(Fixed[int64](v)[i])
	case types.TimestampNTZType:
		return types.MicrosNTZ(Fixed[int64](v)[i])
	case types.TimeType:
		return types.TimeOfDay(Fixed[int64](v)[i])
	case types.CalendarIntervalType:
		return types.Interval(Fixed[Interval](v)[i])
	case types.YearMonthIntervalType:
		return types.YearMonth(Fixed[int32](v)[i])
	case types.DayTimeIntervalType:
		return types.DayTime(Fixed[int64](v)[i])
	case types.ArrayType:
		s := v.spans[i]
		out := make([]any, s.Len)
		for j := range out {
			out[j] = ValueAt(v.kids[0], int(s.Off)+j)
		}
		return out
	case types.MapType:
		s := v.spans[i]
		out := make(types.MapValue, s.Len)
		for j := range out {
			out[j] = types.MapEntry{Key: ValueAt(v.kids[0], int(s.Off)+j), Value: ValueAt(v.kids[1], int(s.Off)+j)}
		}
		return out
	case types.StructType:
		out := make(types.Row, len(v.kids))
		for j, k := range v.kids {
			out[j] = ValueAt(k, i)
		}
		return out
	case types.VariantType:
		value, _ := ValueAt(v.kids[0], i).([]byte)
		metadata, _ := ValueAt(v.kids[1], i).([]byte)
		return types.VariantValue{Value: value, Metadata: metadata}
	case types.UserDefinedType:
		return storedValue(v, i, t.Storage)
	}
	return nil
}

// RowAt returns row i of a batch, which counts all N rows.
func RowAt(b *Batch, i int) types.Row {
	row := make(types.Row, len(b.Cols))
	for c, v := range b.Cols {
		row[c] = ValueAt(v, i)
	}
	return row
}

// AppendValue appends a Go value that follows the conventions of package types; nil is null. A value of another kind is an
// error that leaves the builder as it was.
func (b *Builder) AppendValue(x any) error {
	n := b.n
	if err := b.appendValue(x, b.typ); err != nil {
		b.Truncate(n)
		return err
	}
	return nil
}

func (b *Builder) appendValue(x any, t types.DataType) error {
	if x == nil {
		b.AppendNull()
		return nil
	}
	switch t := t.(type) {
	case types.BooleanType:
		if x, ok := x.(bool); ok {
			b.AppendBool(x)
			return nil
		}
	case types.ByteType:
		if x, ok := x.(int8); ok {
			b.AppendInt8(x)
			return nil
		}
	case types.ShortType:
		if x, ok := x.(int16); ok {
			b.AppendInt16(x)
			return nil
		}
	case types.IntegerType:
		if x, ok := x.(int32); ok {
			b.AppendInt32(x)
			return nil
		}
	case types.LongType:
		if x, ok := x.(int64); ok {
			b.AppendInt64(x)
			return nil
		}
	case types.FloatType:
		if x, ok := x.(float32); ok {
			b.AppendFloat32(x)
			return nil
		}
	case types.DoubleType:
		if x, ok := x.(float64); ok {
			b.AppendFloat64(x)
			return nil
		}
	case types.DecimalType:
		if x, ok := x.(types.Decimal); ok {
			return b.appendDecimal(x, t)
		}
	case types.StringType, types.CharType, types.VarcharType:
		if x, ok := x.(string); ok {
			b.AppendString(x)
			return nil
		}
	case types.BinaryType:
		if x, ok := x.([]byte); ok {
			b.AppendBytes(x)
			return nil
		}
	case types.DateType:
		if x, ok := x.(types.Days); ok {
			b.AppendInt32(int32(x))
			return nil
		}
	case types.TimestampType:
		if x, ok := x.(types.Micros); ok {
			b.AppendInt64(int64(x))
			return nil
		}
	case types.TimestampNTZType:
		if x, ok := x.(types.MicrosNTZ); ok {
			b.AppendInt64(int64(x))
			return nil
		}
	case types.TimeType:
		if x, ok := x.(types.TimeOfDay); ok {
			b.AppendInt64(int64(x))
			return nil
		}
	case types.CalendarIntervalType:
		if x, ok := x.(types.Interval); ok {
			b.AppendInterval(Interval(x))
			return nil
		}
	case types.YearMonthIntervalType:
		if x, ok := x.(types.YearMonth); ok {
			b.AppendInt32(int32(x))
			return nil
		}
	case types.DayTimeIntervalType:
		if x, ok := x.(types.DayTime); ok {
			b.AppendInt64(int64(x))
			return nil
		}
	case types.VariantType:
		if x, ok := x.(types.VariantValue); ok {
			b.kids[0].AppendBytes(x.Value)
			b.kids[1].AppendBytes(x.Metadata)
			b.AppendStruct(true)
			return nil
		}
	case types.UserDefinedType:
		return b.appendValue(x, t.Storage)
	default:
		return b.appendNested(x, t)
	}
	return errValue(x, t)
}

func errValue(x any, t types.DataType) error {
	return fmt.Errorf("vec: a value of Go type %T for a column of type %s", x, t.SimpleString())
}

func (b *Builder) appendNested(x any, t types.DataType) error {
	switch t := t.(type) {
	case types.ArrayType:
		list, ok := x.([]any)
		if !ok {
			return errValue(x, t)
		}
		b.StartList()
		for _, e := range list {
			if err := b.kids[0].AppendValue(e); err != nil {
				return err
			}
		}
		b.EndList()
	case types.MapType:
		entries, ok := x.(types.MapValue)
		if !ok {
			return errValue(x, t)
		}
		b.StartList()
		for _, e := range entries {
			if err := b.kids[0].AppendValue(e.Key); err != nil {
				return err
			}
			if err := b.kids[1].AppendValue(e.Value); err != nil {
				return err
			}
		}
		b.EndList()
	case types.StructType:
		row, ok := x.(types.Row)
		if !ok || len(row) != len(b.kids) {
			return errValue(x, t)
		}
		for i, f := range row {
			if err := b.kids[i].AppendValue(f); err != nil {
				return fmt.Errorf("field %s: %w", t.Fields[i].Name, err)
			}
		}
		b.AppendStruct(true)
	default:
		return errValue(x, t)
	}
	return nil
}

func (b *Builder) appendDecimal(x types.Decimal, t types.DecimalType) error {
	if x.Scale != t.Scale {
		r, ok := x.Rescale(t)
		if !ok {
			return fmt.Errorf("vec: the decimal %s does not fit %s", x, t.SimpleString())
		}
		x = r
	}
	if b.phys == PhysInt128 {
		b.AppendInt128(Int128{Lo: x.Unscaled.LowBits(), Hi: x.Unscaled.HighBits()})
		return nil
	}
	n, ok := x.Int64()
	if !ok || n == math.MinInt64 {
		return fmt.Errorf("vec: the decimal %s does not fit %s", x, t.SimpleString())
	}
	b.AppendInt64(n)
	return nil
}

// FromValues returns a vector of Go values that follow the conventions of package types.
func FromValues(t types.DataType, values ...any) (*Vector, error) {
	b := NewBuilder(t)
	for i, x := range values {
		if err := b.AppendValue(x); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return b.Finish(), nil
}
