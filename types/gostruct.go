package types

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/millrace/millrace/internal/errclass"
)

// SchemaOf is the schema of a Go struct type: one column per exported field, named as by ColumnName.
// Pointers, slices and maps are nullable. A field tagged "-" is left out.
func SchemaOf(v any) (StructType, error) {
	t, err := typeOfGo(reflect.TypeOf(v), "row", nil)
	if err != nil {
		return StructType{}, err
	}
	if s, ok := t.(StructType); ok {
		return s, nil
	}
	return StructType{}, errclass.New("INVALID_VALUE.NO_TYPE", "goType", fmt.Sprintf("%T", v), "path", "row")
}

// TypeOf is the type of a Go value as a literal or a parameter; int is BIGINT. Elements of an
// []any decide by the first one that is not nil.
func TypeOf(v any) (DataType, error) {
	switch v := v.(type) {
	case nil:
		return Null, nil
	case Decimal:
		return DecimalType{max(v.Precision(), v.Scale), v.Scale}, nil
	case *big.Int:
		if d, ok := DecimalFromBig(v, 0); v != nil && ok {
			return DecimalType{d.Precision(), 0}, nil
		}
	case []any:
		t := ArrayType{Element: Null}
		for _, e := range v {
			if e == nil {
				t.ContainsNull = true
			} else if t.Element == Null {
				et, err := TypeOf(e)
				if err != nil {
					return nil, err
				}
				t.Element = et
			}
		}
		return t, nil
	}
	return typeOfGo(reflect.TypeOf(v), "value", nil)
}

var goTypes = map[reflect.Type]DataType{
	reflect.TypeFor[Days]():          Date,
	reflect.TypeFor[Micros]():        Timestamp,
	reflect.TypeFor[MicrosNTZ]():     TimestampNTZ,
	reflect.TypeFor[TimeOfDay]():     Time,
	reflect.TypeFor[Interval]():      CalendarInterval,
	reflect.TypeFor[YearMonth]():     YearMonthInterval,
	reflect.TypeFor[DayTime]():       DayTimeInterval,
	reflect.TypeFor[VariantValue]():  Variant,
	reflect.TypeFor[Decimal]():       DecimalSystem,
	reflect.TypeFor[big.Int]():       DecimalType{MaxPrecision, 0},
	reflect.TypeFor[time.Time]():     Timestamp,
	reflect.TypeFor[time.Duration](): DayTimeInterval,
}

// isValueStruct tells the Go structs that are single values.
func isValueStruct(t reflect.Type) bool {
	_, ok := goTypes[t]
	return ok
}

// typeOfGo maps a Go type; around are the types that it is inside of, because a type that holds
// itself has no schema.
func typeOfGo(t reflect.Type, path string, around []reflect.Type) (DataType, error) {
	if t == nil || slices.Contains(around, t) {
		return nil, noType(t, path)
	}
	if dt, ok := goTypes[t]; ok {
		return dt, nil
	}
	inside := append(slices.Clip(around), t)
	switch t.Kind() {
	case reflect.Pointer:
		return typeOfGo(t.Elem(), path, inside)
	case reflect.Bool:
		return Boolean, nil
	case reflect.Int8:
		return Byte, nil
	case reflect.Int16, reflect.Uint8:
		return Short, nil
	case reflect.Int32, reflect.Uint16:
		return Integer, nil
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return Long, nil
	case reflect.Uint, reflect.Uint64:
		return DecimalType{20, 0}, nil
	case reflect.Float32:
		return Float, nil
	case reflect.Float64:
		return Double, nil
	case reflect.String:
		return String, nil
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return Binary, nil
		}
		element, err := typeOfGo(t.Elem(), path+"[]", inside)
		if err != nil {
			return nil, err
		}
		return ArrayType{element, nullableGo(t.Elem())}, nil
	case reflect.Map:
		key, err := typeOfGo(t.Key(), path+"[]", inside)
		if err != nil {
			return nil, err
		}
		value, err := typeOfGo(t.Elem(), path+"[]", inside)
		if err != nil {
			return nil, err
		}
		return MapType{key, value, nullableGo(t.Elem())}, nil
	case reflect.Struct:
		s := StructType{}
		for i := range t.NumField() {
			name, ok := ColumnName(t.Field(i))
			if !ok {
				continue
			}
			ft, err := typeOfGo(t.Field(i).Type, path+"."+name, inside)
			if err != nil {
				return nil, err
			}
			s.Fields = append(s.Fields, Field{Name: name, Type: ft, Nullable: nullableGo(t.Field(i).Type)})
		}
		return s, nil
	}
	return nil, noType(t, path)
}

func noType(t reflect.Type, path string) error {
	return errclass.New("INVALID_VALUE.NO_TYPE", "goType", fmt.Sprint(t), "path", path)
}

func nullableGo(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

// ColumnName is the column of a field of a Go struct, or false for a field that has none: its tag `millrace:"name"`, or its name with
// small letters at the beginning (ID gives id, URLPath gives urlPath).
func ColumnName(f reflect.StructField) (string, bool) {
	tag := f.Tag.Get("millrace")
	if !f.IsExported() || tag == "-" {
		return "", false
	}
	if tag != "" {
		return tag, true
	}
	name := []rune(f.Name)
	for i, r := range name {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(name) && unicode.IsLower(name[i+1]) {
			break
		}
		name[i] = unicode.ToLower(r)
	}
	return string(name), true
}

// fieldIndex finds the Go field of each field of a struct type, by exact name or without
// regard to case.
func fieldIndex(t reflect.Type, s StructType, path string) ([]int, error) {
	index := make([]int, len(s.Fields))
	for i, f := range s.Fields {
		index[i] = -1
		for j := range t.NumField() {
			name, ok := ColumnName(t.Field(j))
			if ok && (name == f.Name || index[i] < 0 && strings.EqualFold(name, f.Name)) {
				index[i] = j
			}
		}
		if index[i] < 0 {
			return nil, errclass.New("INVALID_VALUE.TYPE", "path", path+"."+f.Name, "goType", t.String()+" without such a field",
				"dataType", f.Type.SQL())
		}
	}
	return index, nil
}
