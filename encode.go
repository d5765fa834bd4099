package millrace

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// appendValue appends a value, in the form of package types, to the builder of its type.
func appendValue(b array.Builder, v any) error {
	if v == nil {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return put(b, v, b.Append)
	case *array.Int8Builder:
		return put(b, v, b.Append)
	case *array.Int16Builder:
		return put(b, v, b.Append)
	case *array.Int32Builder:
		return put(b, v, b.Append)
	case *array.Int64Builder:
		return put(b, v, b.Append)
	case *array.Float32Builder:
		return put(b, v, b.Append)
	case *array.Float64Builder:
		return put(b, v, b.Append)
	case *array.StringBuilder:
		return put(b, v, b.Append)
	case *array.BinaryBuilder:
		return put(b, v, b.Append)
	case *array.Decimal128Builder:
		return put(b, v, func(d types.Decimal) { b.Append(d.Unscaled) })
	case *array.Date32Builder:
		return put(b, v, func(d types.Days) { b.Append(arrow.Date32(d)) })
	case *array.TimestampBuilder:
		if n, ok := v.(types.MicrosNTZ); ok {
			v = types.Micros(n)
		}
		return put(b, v, func(m types.Micros) { b.Append(arrow.Timestamp(m)) })
	case *array.Time64Builder:
		return put(b, v, func(t types.TimeOfDay) { b.Append(arrow.Time64(t)) })
	case *array.DurationBuilder:
		return put(b, v, func(d types.DayTime) { b.Append(arrow.Duration(d)) })
	case *array.MonthIntervalBuilder:
		return put(b, v, func(m types.YearMonth) { b.Append(arrow.MonthInterval(m)) })
	case *array.MonthDayNanoIntervalBuilder:
		return put(b, v, func(i types.Interval) {
			b.Append(arrow.MonthDayNanoInterval{Months: i.Months, Days: i.Days, Nanoseconds: i.Micros * 1000})
		})
	case *array.MapBuilder:
		m, ok := v.(types.MapValue)
		if !ok {
			break
		}
		b.Append(true)
		for _, e := range m {
			if err := firstError(appendValue(b.KeyBuilder(), e.Key), appendValue(b.ItemBuilder(), e.Value)); err != nil {
				return err
			}
		}
		return nil
	case *array.ListBuilder:
		list, ok := v.([]any)
		if !ok {
			break
		}
		b.Append(true)
		for _, e := range list {
			if err := appendValue(b.ValueBuilder(), e); err != nil {
				return err
			}
		}
		return nil
	case *array.StructBuilder:
		var fields []any
		switch v := v.(type) {
		case types.Row:
			fields = v
		case types.VariantValue:
			fields = []any{v.Value, v.Metadata}
		}
		if len(fields) != b.NumField() {
			break
		}
		b.Append(true)
		for i, f := range fields {
			if err := appendValue(b.FieldBuilder(i), f); err != nil {
				return err
			}
		}
		return nil
	}
	return noPlace(b, v)
}

func put[T any](b array.Builder, v any, add func(T)) error {
	x, ok := v.(T)
	if !ok {
		return noPlace(b, v)
	}
	add(x)
	return nil
}

func noPlace(b array.Builder, v any) error {
	return errclass.New("INVALID_VALUE.TYPE", "path", "value", "goType", fmt.Sprintf("%T", v), "dataType", b.Type().String())
}
