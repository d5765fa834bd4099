package types

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
)

// CheckValue reports whether a value is of a type, in exactly the Go form that the package
// comment lists. Nulls are allowed where the type allows them.
func CheckValue(v any, t DataType) bool {
	if v == nil {
		return true
	}
	switch t := t.(type) {
	case BooleanType:
		return is[bool](v)
	case ByteType:
		return is[int8](v)
	case ShortType:
		return is[int16](v)
	case IntegerType:
		return is[int32](v)
	case LongType:
		return is[int64](v)
	case FloatType:
		return is[float32](v)
	case DoubleType:
		return is[float64](v)
	case DecimalType:
		d, ok := v.(Decimal)
		return ok && d.Scale == t.Scale && d.Precision() <= t.Precision
	case StringType, CharType, VarcharType:
		return is[string](v)
	case BinaryType:
		return is[[]byte](v)
	case DateType:
		return is[Days](v)
	case TimestampType:
		return is[Micros](v)
	case TimestampNTZType:
		return is[MicrosNTZ](v)
	case TimeType:
		return is[TimeOfDay](v)
	case CalendarIntervalType:
		return is[Interval](v)
	case YearMonthIntervalType:
		return is[YearMonth](v)
	case DayTimeIntervalType:
		return is[DayTime](v)
	case VariantType:
		return is[VariantValue](v)
	case ArrayType:
		a, ok := v.([]any)
		for _, e := range a {
			if e == nil && !t.ContainsNull || !CheckValue(e, t.Element) {
				return false
			}
		}
		return ok
	case MapType:
		m, ok := v.(MapValue)
		for _, e := range m {
			if e.Key == nil || !CheckValue(e.Key, t.Key) ||
				e.Value == nil && !t.ValueContainsNull || !CheckValue(e.Value, t.Value) {
				return false
			}
		}
		return ok
	case StructType:
		r, ok := v.(Row)
		if !ok || len(r) != len(t.Fields) {
			return false
		}
		for i, f := range t.Fields {
			if r[i] == nil && !f.Nullable || !CheckValue(r[i], f.Type) {
				return false
			}
		}
		return true
	case UserDefinedType:
		return CheckValue(v, orNull(t.Storage))
	}
	return false
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

// ToValue turns a Go value of a program into the form that the package comment lists. It takes
// integers of any size, floats, *big.Int, time.Time and time.Duration, pointers (nil is null),
// slices, maps, and for a struct a Row, a map by field name or a Go struct. Texts are not
// parsed and only a float64 for a FLOAT is rounded; what does not fit is an error that names
// its place.
func ToValue(v any, t DataType) (any, error) { return toValue(v, t, "value") }

// ToRow is ToValue for the columns of a row.
func ToRow(v any, s StructType) (Row, error) {
	r, err := toValue(v, s, "row")
	if err != nil {
		return nil, err
	}
	row, ok := r.(Row)
	if !ok {
		return nil, errclass.New("INVALID_VALUE.NULL", "path", "row")
	}
	return row, nil
}

func toValue(v any, t DataType, path string) (any, error) {
	if v == nil {
		return nil, nil
	}
	if u, ok := t.(UserDefinedType); ok {
		return toValue(v, orNull(u.Storage), path)
	}
	if !IsNested(t) && CheckValue(v, t) {
		return v, nil
	}
	if r, ok := v.(VariantValue); ok && t == Variant {
		return r, nil
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return nil, nil
		}
		if n, ok := v.(*big.Int); ok {
			return bigValue(n, t, path)
		}
		return toValue(rv.Elem().Interface(), t, path)
	}
	switch t := t.(type) {
	case ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, DecimalType:
		return number(rv, t, path)
	case BooleanType:
		if rv.Kind() == reflect.Bool {
			return rv.Bool(), nil
		}
	case StringType, CharType, VarcharType:
		if rv.Kind() == reflect.String {
			return rv.String(), nil
		}
	case BinaryType:
		if rv.Kind() == reflect.Slice && rv.Type().Elem().Kind() == reflect.Uint8 {
			return rv.Bytes(), nil
		}
	case DateType, TimestampType, TimestampNTZType, TimeType:
		if x, ok := v.(time.Time); ok {
			return instant(x, t), nil
		}
	case DayTimeIntervalType:
		if d, ok := v.(time.Duration); ok {
			return DayTimeOf(d), nil
		}
	case ArrayType:
		if rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array {
			return arrayValue(rv, t, path)
		}
	case MapType:
		return mapValue(rv, t, path)
	case StructType:
		return structValue(rv, t, path)
	}
	return nil, mismatch(v, t, path)
}

func mismatch(v any, t DataType, path string) error {
	return errclass.New("INVALID_VALUE.TYPE", "path", path, "goType", fmt.Sprintf("%T", v), "dataType", t.SQL())
}

func outOfRange(v any, t DataType, path string) error {
	return errclass.New("INVALID_VALUE.RANGE", "path", path, "value", fmt.Sprint(v), "dataType", t.SQL())
}

func number(rv reflect.Value, t DataType, path string) (any, error) {
	v := rv.Interface()
	switch {
	case rv.CanInt():
		switch v.(type) {
		case Days, Micros, MicrosNTZ, TimeOfDay, YearMonth, DayTime, time.Duration:
			return nil, mismatch(v, t, path) // integers by accident
		}
		return intValue(rv.Int(), t, path)
	case rv.CanUint():
		if n := rv.Uint(); n <= math.MaxInt64 {
			return intValue(int64(n), t, path)
		}
		return bigValue(new(big.Int).SetUint64(rv.Uint()), t, path)
	case rv.CanFloat():
		f := rv.Float()
		switch t.(type) {
		case DoubleType:
			return f, nil
		case FloatType:
			if math.IsInf(float64(float32(f)), 0) && !math.IsInf(f, 0) {
				return nil, outOfRange(v, t, path)
			}
			return float32(f), nil
		}
	}
	if d, ok := v.(Decimal); ok {
		if dt, ok := t.(DecimalType); ok {
			r, ok := d.Rescale(dt)
			if !ok || r.Cmp(d) != 0 {
				return nil, outOfRange(v, t, path)
			}
			return r, nil
		}
	}
	return nil, mismatch(v, t, path)
}

func intValue(n int64, t DataType, path string) (any, error) {
	fits := true
	var v any
	switch t := t.(type) {
	case ByteType:
		v, fits = int8(n), n == int64(int8(n))
	case ShortType:
		v, fits = int16(n), n == int64(int16(n))
	case IntegerType:
		v, fits = int32(n), n == int64(int32(n))
	case LongType:
		v = n
	case FloatType:
		v, fits = float32(n), n >= -1<<24 && n <= 1<<24
	case DoubleType:
		v, fits = float64(n), n >= -1<<53 && n <= 1<<53
	case DecimalType:
		v, fits = DecimalFromInt64(n, 0).Rescale(t)
	}
	if !fits {
		return nil, outOfRange(n, t, path)
	}
	return v, nil
}

func bigValue(n *big.Int, t DataType, path string) (any, error) {
	if dt, ok := t.(DecimalType); ok {
		if d, ok := DecimalFromBig(n, 0); ok {
			if r, ok := d.Rescale(dt); ok {
				return r, nil
			}
		}
		return nil, outOfRange(n, t, path)
	}
	if IsNumeric(t) && n.IsInt64() {
		return intValue(n.Int64(), t, path)
	}
	if IsNumeric(t) {
		return nil, outOfRange(n, t, path)
	}
	return nil, mismatch(n, t, path)
}

func instant(x time.Time, t DataType) any {
	switch t.(type) {
	case DateType:
		return DaysOf(x)
	case TimestampNTZType:
		return MicrosNTZOf(x)
	case TimeType:
		return TimeOfDayOf(x)
	}
	return MicrosOf(x)
}

func arrayValue(rv reflect.Value, t ArrayType, path string) (any, error) {
	if rv.Kind() == reflect.Slice && rv.IsNil() {
		return nil, nil
	}
	out := make([]any, rv.Len())
	for i := range out {
		place := path + "[" + strconv.Itoa(i) + "]"
		e, err := toValue(rv.Index(i).Interface(), t.Element, place)
		if err != nil {
			return nil, err
		}
		if e == nil && !t.ContainsNull {
			return nil, errclass.New("INVALID_VALUE.NULL", "path", place)
		}
		out[i] = e
	}
	return out, nil
}

// mapValue keeps the order of a MapValue and sorts the entries of a Go map, so that the same
// program gives the same rows.
func mapValue(rv reflect.Value, t MapType, path string) (any, error) {
	var entries MapValue
	switch {
	case rv.Type() == reflect.TypeFor[MapValue]():
		entries = slices.Clone(rv.Interface().(MapValue))
	case rv.Kind() == reflect.Map:
		for it := rv.MapRange(); it.Next(); {
			entries = append(entries, MapEntry{it.Key().Interface(), it.Value().Interface()})
		}
	default:
		return nil, mismatch(rv.Interface(), t, path)
	}
	if (rv.Kind() == reflect.Map || rv.Kind() == reflect.Slice) && rv.IsNil() {
		return nil, nil
	}
	out := make(MapValue, len(entries))
	for i, e := range entries {
		place := path + "[" + fmt.Sprint(e.Key) + "]"
		k, err := toValue(e.Key, t.Key, place)
		if err != nil {
			return nil, err
		}
		v, err := toValue(e.Value, t.Value, place)
		if err != nil {
			return nil, err
		}
		if k == nil || v == nil && !t.ValueContainsNull {
			return nil, errclass.New("INVALID_VALUE.NULL", "path", place)
		}
		out[i] = MapEntry{k, v}
	}
	if rv.Kind() == reflect.Map {
		slices.SortFunc(out, func(a, b MapEntry) int { return compareKeys(a.Key, b.Key) })
	}
	return out, nil
}

func compareKeys(a, b any) int {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.CanInt():
		return cmp.Compare(x.Int(), y.Int())
	case x.CanFloat():
		return cmp.Compare(x.Float(), y.Float())
	}
	if d, ok := a.(Decimal); ok {
		return d.Cmp(b.(Decimal))
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func structValue(rv reflect.Value, t StructType, path string) (any, error) {
	var get func(i int) any
	switch {
	case rv.Kind() == reflect.Slice && rv.Type().Elem() == reflect.TypeFor[any]():
		if rv.IsNil() {
			return nil, nil
		}
		if rv.Len() != len(t.Fields) {
			return nil, errclass.New("INVALID_VALUE.FIELD_COUNT", "path", path,
				"actual", strconv.Itoa(rv.Len()), "expected", strconv.Itoa(len(t.Fields)))
		}
		get = func(i int) any { return rv.Index(i).Interface() }
	case rv.Kind() == reflect.Map && rv.Type().Key().Kind() == reflect.String:
		if rv.IsNil() {
			return nil, nil
		}
		get = func(i int) any {
			key := reflect.ValueOf(t.Fields[i].Name).Convert(rv.Type().Key())
			if v := rv.MapIndex(key); v.IsValid() {
				return v.Interface()
			}
			return nil
		}
	case rv.Kind() == reflect.Struct && !isValueStruct(rv.Type()):
		index, err := fieldIndex(rv.Type(), t, path)
		if err != nil {
			return nil, err
		}
		get = func(i int) any { return rv.Field(index[i]).Interface() }
	default:
		return nil, mismatch(rv.Interface(), t, path)
	}
	row := make(Row, len(t.Fields))
	for i, f := range t.Fields {
		place := path + "." + f.Name
		v, err := toValue(get(i), f.Type, place)
		if err != nil {
			return nil, err
		}
		if v == nil && !f.Nullable {
			return nil, errclass.New("INVALID_VALUE.NULL", "path", place)
		}
		row[i] = v
	}
	return row, nil
}
