package millrace

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// CollectAs runs the plan and returns its rows as values of T: a struct, or any other type if there is one column.
//
// A field of a struct takes the column that types.ColumnName names, without regard to case; the tag `millrace:"-"` leaves a field out. Columns without a field are left out; a field without a column is an error. Pointers take nulls. Numbers are
// converted if they fit; slices, maps and structs take ARRAY, MAP and STRUCT.
func CollectAs[T any](ctx context.Context, d *DataFrame) ([]T, error) {
	var out []T
	for v, err := range RowsAs[T](ctx, d) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// RowsAs is CollectAs that yields the values as they arrive.
func RowsAs[T any](ctx context.Context, d *DataFrame) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var set func(reflect.Value, Row) error
		for row, err := range d.Rows(ctx) {
			var v T
			if err == nil && set == nil {
				set, err = setter(reflect.TypeFor[T](), row.Schema())
			}
			if err == nil {
				err = set(reflect.ValueOf(&v).Elem(), row)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// GetAs is the value of a column of a row as a T, converted as by CollectAs.
func GetAs[T any](r Row, name string) (T, error) {
	var v T
	i := r.index(name)
	if i < 0 {
		return v, noColumn(name, r.Schema())
	}
	err := assign(reflect.ValueOf(&v).Elem(), r.values[i], name)
	return v, err
}

// getAt is GetAs by position.
func getAt[T any](r Row, i int) (T, error) {
	var v T
	if i >= len(r.values) {
		return v, errclass.New("UNEXPECTED_RESPONSE", "reason", fmt.Sprintf("a row has %d columns", len(r.values)))
	}
	err := assign(reflect.ValueOf(&v).Elem(), r.values[i], strconv.Itoa(i))
	return v, err
}

func noColumn(path string, s types.StructType) error {
	return errclass.New("RESULT_CONVERSION.NO_COLUMN", "path", path, "columns", strings.Join(s.Names(), ", "))
}

// setter prepares the conversion of rows of a schema to a Go type.
func setter(t reflect.Type, s types.StructType) (func(reflect.Value, Row) error, error) {
	if t == reflect.TypeFor[Row]() {
		return func(dst reflect.Value, r Row) error { dst.Set(reflect.ValueOf(r)); return nil }, nil
	}
	if t.Kind() == reflect.Struct && !isValue(t) {
		return structSetter(t, s, "")
	}
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !isValue(t.Elem()) {
		inner, err := structSetter(t.Elem(), s, "")
		if err != nil {
			return nil, err
		}
		return func(dst reflect.Value, r Row) error {
			dst.Set(reflect.New(t.Elem()))
			return inner(dst.Elem(), r)
		}, nil
	}
	if s.Len() != 1 {
		return nil, errclass.New("RESULT_CONVERSION.COLUMNS", "goType", t.String(), "count", strconv.Itoa(s.Len()))
	}
	name := s.Fields[0].Name
	return func(dst reflect.Value, r Row) error { return assign(dst, r.values[0], name) }, nil
}

// structSetter matches the fields of a Go struct with columns, once for all rows.
func structSetter(t reflect.Type, s types.StructType, path string) (func(reflect.Value, Row) error, error) {
	type target struct {
		field, column int
		path          string
	}
	var targets []target
	for i := range t.NumField() {
		name, ok := types.ColumnName(t.Field(i))
		if !ok {
			continue
		}
		column := s.Index(name)
		if column < 0 {
			column = s.IndexFold(name)
		}
		if column < 0 {
			return nil, noColumn(path+name, s)
		}
		targets = append(targets, target{i, column, path + name})
	}
	return func(dst reflect.Value, r Row) error {
		for _, t := range targets {
			if err := assign(dst.Field(t.field), r.values[t.column], t.path); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// isValue tells the Go structs that are single values.
func isValue(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[types.Decimal](), reflect.TypeFor[types.Interval](), reflect.TypeFor[types.VariantValue](),
		reflect.TypeFor[big.Int](), reflect.TypeFor[Row]():
		return true
	}
	return false
}

// assign converts a value of a row to what dst holds.
func assign(dst reflect.Value, v any, path string) error {
	t := dst.Type()
	if v == nil {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
			dst.SetZero()
			return nil
		}
		return errclass.New("RESULT_CONVERSION.NULL", "path", path, "goType", t.String())
	}
	src := reflect.ValueOf(v)
	if t.Kind() != reflect.Slice && src.Type().AssignableTo(t) {
		dst.Set(src)
		return nil
	}
	if t.Kind() == reflect.Pointer && t != reflect.TypeFor[*big.Int]() {
		dst.Set(reflect.New(t.Elem()))
		return assign(dst.Elem(), v, path)
	}
	switch v := v.(type) {
	case []any:
		return assignList(dst, v, path)
	case types.MapValue:
		return assignMap(dst, v, path)
	case Row:
		if t.Kind() == reflect.Struct && !isValue(t) {
			set, err := structSetter(t, v.Schema(), path+".")
			if err != nil {
				return err
			}
			return set(dst, v)
		}
	case types.Decimal:
		return assignDecimal(dst, v, path)
	}
	return assignScalar(dst, src, path)
}

func badType(t reflect.Type, v any, path string) error {
	return errclass.New("RESULT_CONVERSION.TYPE", "path", path, "dataType", sqlName(v), "goType", t.String())
}

// sqlName is the SQL type of a value of a row, for messages.
func sqlName(v any) string {
	if r, ok := v.(Row); ok {
		return r.Schema().SQL()
	}
	t, err := types.TypeOf(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return t.SQL()
}

// assignScalar sets numbers, strings and booleans, also of named types.
func assignScalar(dst, src reflect.Value, path string) error {
	t := dst.Type()
	number := src.CanInt() && src.Type().PkgPath() == "" // not one of the value types with a meaning of their own
	switch {
	case dst.CanInt() && number && (t.PkgPath() == "" || t.PkgPath() != reflect.TypeFor[types.Days]().PkgPath() && t != reflect.TypeFor[time.Duration]()):
		if dst.OverflowInt(src.Int()) {
			return outOfRange(t, src.Interface(), path)
		}
		dst.SetInt(src.Int())
	case dst.CanUint() && number:
		if src.Int() < 0 || dst.OverflowUint(uint64(src.Int())) {
			return outOfRange(t, src.Interface(), path)
		}
		dst.SetUint(uint64(src.Int()))
	case dst.CanFloat() && src.CanFloat():
		if dst.OverflowFloat(src.Float()) {
			return outOfRange(t, src.Interface(), path)
		}
		dst.SetFloat(src.Float())
	case dst.CanFloat() && number:
		f := float64(src.Int())
		if t.Kind() == reflect.Float32 {
			f = float64(float32(f))
		}
		if int64(f) != src.Int() {
			return outOfRange(t, src.Interface(), path)
		}
		dst.SetFloat(f)
	case t.Kind() == src.Kind() && (t.Kind() == reflect.String || t.Kind() == reflect.Bool):
		dst.Set(src.Convert(t))
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && src.Type() == reflect.TypeFor[[]byte]():
		dst.SetBytes(src.Bytes())
	default:
		return badType(t, src.Interface(), path)
	}
	return nil
}

func outOfRange(t reflect.Type, v any, path string) error {
	return errclass.New("RESULT_CONVERSION.RANGE", "path", path, "value", fmt.Sprint(v), "goType", t.String())
}

// assignDecimal sets *big.Int, integers and floats of decimals; a fraction is only lost in a float.
func assignDecimal(dst reflect.Value, d types.Decimal, path string) error {
	t := dst.Type()
	if dst.CanFloat() {
		dst.SetFloat(d.Float64())
		return nil
	}
	whole, ok := d.Rescale(types.DecimalType{Precision: types.MaxPrecision})
	if !ok || whole.Cmp(d) != 0 {
		return outOfRange(t, d, path)
	}
	n := whole.Big()
	switch {
	case t == reflect.TypeFor[*big.Int]():
		dst.Set(reflect.ValueOf(n))
		return nil
	case dst.CanInt() && n.IsInt64() && !dst.OverflowInt(n.Int64()):
		dst.SetInt(n.Int64())
		return nil
	case dst.CanUint() && n.IsUint64() && !dst.OverflowUint(n.Uint64()):
		dst.SetUint(n.Uint64())
		return nil
	case dst.CanInt() || dst.CanUint():
		return outOfRange(t, d, path)
	}
	return badType(t, d, path)
}

func assignList(dst reflect.Value, list []any, path string) error {
	t := dst.Type()
	switch t.Kind() {
	case reflect.Slice:
		out := reflect.MakeSlice(t, len(list), len(list))
		dst.Set(out)
		dst = out
	case reflect.Array:
		if t.Len() != len(list) {
			return errclass.New("RESULT_CONVERSION.FIXED_ARRAY", "path", path, "count", strconv.Itoa(len(list)), "goType", t.String())
		}
	default:
		return badType(t, list, path)
	}
	for i, v := range list {
		if err := assign(dst.Index(i), v, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	return nil
}

func assignMap(dst reflect.Value, m types.MapValue, path string) error {
	t := dst.Type()
	if t == reflect.TypeFor[types.MapValue]() {
		dst.Set(reflect.ValueOf(m))
		return nil
	}
	if t.Kind() != reflect.Map {
		return badType(t, m, path)
	}
	out := reflect.MakeMapWithSize(t, len(m))
	for _, e := range m {
		place := path + "[" + fmt.Sprint(e.Key) + "]"
		k, v := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if err := firstError(assign(k, e.Key, place), assign(v, e.Value, place)); err != nil {
			return err
		}
		if !k.Comparable() {
			return badType(t, m, path)
		}
		out.SetMapIndex(k, v)
	}
	dst.Set(out)
	return nil
}
