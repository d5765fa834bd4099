package processor

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Read reads a value that a Codec has written, in the form of package types, and returns the bytes behind it.
func Read(b []byte, t types.DataType, nullable bool) (any, []byte, error) {
	return reader{}.value(b, t, nullable)
}

// ReadKey reads a key that a Codec for keys or AppendKey has written.
func ReadKey(b []byte, t types.DataType, nullable bool) (any, []byte, error) {
	return reader{ordered: true}.value(b, t, nullable)
}

type reader struct{ ordered bool }

func (r reader) value(b []byte, t types.DataType, nullable bool) (any, []byte, error) {
	if nullable {
		if len(b) == 0 || b[0] > 1 {
			return nil, nil, errShort
		}
		if b[0] == 0 {
			return nil, b[1:], nil
		}
		b = b[1:]
	}
	switch t := t.(type) {
	case types.NullType:
		return nil, b, nil
	case types.BooleanType:
		if len(b) == 0 || b[0] > 1 {
			return nil, nil, errShort
		}
		return b[0] == 1, b[1:], nil
	case types.ByteType:
		x, rest, err := r.integer(b, 1)
		return int8(x), rest, err
	case types.ShortType:
		x, rest, err := r.integer(b, 2)
		return int16(x), rest, err
	case types.IntegerType:
		x, rest, err := r.integer(b, 4)
		return int32(x), rest, err
	case types.LongType:
		x, rest, err := r.integer(b, 8)
		return x, rest, err
	case types.DateType:
		x, rest, err := readFixed(b, 4, r.ordered)
		return types.Days(x), rest, err
	case types.YearMonthIntervalType:
		x, rest, err := readFixed(b, 4, r.ordered)
		return types.YearMonth(x), rest, err
	case types.TimestampType:
		x, rest, err := readFixed(b, 8, r.ordered)
		return types.Micros(x), rest, err
	case types.TimestampNTZType:
		x, rest, err := readFixed(b, 8, r.ordered)
		return types.MicrosNTZ(x), rest, err
	case types.TimeType:
		x, rest, err := readFixed(b, 8, r.ordered)
		return types.TimeOfDay(x), rest, err
	case types.DayTimeIntervalType:
		x, rest, err := readFixed(b, 8, r.ordered)
		return types.DayTime(x), rest, err
	case types.CalendarIntervalType:
		x, rest, err := readInterval(b, r.ordered)
		return x, rest, err
	case types.FloatType:
		x, rest, err := readFloat32(b, r.ordered)
		return x, rest, err
	case types.DoubleType:
		x, rest, err := readFloat64(b, r.ordered)
		return x, rest, err
	case types.DecimalType:
		x, rest, err := readWide(b, r.ordered)
		return types.Decimal{Unscaled: x, Scale: t.Scale}, rest, err
	case types.StringType, types.CharType, types.VarcharType:
		x, rest, err := readText(b, r.ordered)
		return string(x), rest, err
	case types.BinaryType:
		x, rest, err := readText(b, r.ordered)
		return bytes.Clone(x), rest, err
	case types.VariantType:
		x, rest, err := readVariant(b)
		return x, rest, err
	case types.ArrayType:
		return r.array(b, t)
	case types.MapType:
		return r.mapping(b, t)
	case types.StructType:
		row := make(types.Row, len(t.Fields))
		var err error
		for i, f := range t.Fields {
			if row[i], b, err = r.value(b, f.Type, f.Nullable); err != nil {
				return nil, nil, err
			}
		}
		return row, b, nil
	case types.UserDefinedType:
		return r.value(b, t.Storage, false)
	}
	return nil, nil, noKey(t)
}

func (r reader) integer(b []byte, width int) (int64, []byte, error) {
	if r.ordered {
		return readInt(b, width)
	}
	return readFixed(b, 0, false)
}

func (r reader) array(b []byte, t types.ArrayType) (any, []byte, error) {
	out := []any{}
	if r.ordered {
		for {
			if len(b) == 0 || b[0] > 1 {
				return nil, nil, errShort
			}
			if b[0] == 0 {
				return out, b[1:], nil
			}
			x, rest, err := r.value(b[1:], t.Element, t.ContainsNull)
			if err != nil {
				return nil, nil, err
			}
			out, b = append(out, x), rest
		}
	}
	n, w := binary.Uvarint(b)
	if w <= 0 || n > math.MaxInt32 {
		return nil, nil, errShort
	}
	b = b[w:]
	for range n {
		x, rest, err := r.value(b, t.Element, t.ContainsNull)
		if err != nil {
			return nil, nil, err
		}
		out, b = append(out, x), rest
	}
	return out, b, nil
}

func (r reader) mapping(b []byte, t types.MapType) (any, []byte, error) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > math.MaxInt32 || r.ordered {
		return nil, nil, errShort
	}
	b = b[w:]
	out := types.MapValue{}
	for range n {
		k, rest, err := r.value(b, t.Key, false)
		if err != nil {
			return nil, nil, err
		}
		v, rest, err := r.value(rest, t.Value, t.ValueContainsNull)
		if err != nil {
			return nil, nil, err
		}
		out, b = append(out, types.MapEntry{Key: k, Value: v}), rest
	}
	return out, b, nil
}

func noKey(t types.DataType) error {
	return errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "a state key of the type "+t.SQL())
}

// AppendKey writes a value, in the form of package types, as a key: bytes that are in the order of the values and have an end.
func AppendKey(b []byte, v any, t types.DataType, nullable bool) ([]byte, error) {
	if nullable {
		if v == nil {
			return append(b, 0), nil
		}
		b = append(b, 1)
	}
	switch v := v.(type) {
	case bool:
		if v {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case int8:
		return appendInt(b, int64(v), 1), nil
	case int16:
		return appendInt(b, int64(v), 2), nil
	case int32:
		return appendInt(b, int64(v), 4), nil
	case int64:
		return appendInt(b, v, 8), nil
	case types.Days:
		return appendInt(b, int64(v), 4), nil
	case types.YearMonth:
		return appendInt(b, int64(v), 4), nil
	case types.Micros:
		return appendInt(b, int64(v), 8), nil
	case types.MicrosNTZ:
		return appendInt(b, int64(v), 8), nil
	case types.TimeOfDay:
		return appendInt(b, int64(v), 8), nil
	case types.DayTime:
		return appendInt(b, int64(v), 8), nil
	case types.Interval:
		return appendInt(appendInt(appendInt(b, int64(v.Months), 4), int64(v.Days), 4), v.Micros, 8), nil
	case float32:
		return appendFloat32(b, v), nil
	case float64:
		return appendFloat64(b, v), nil
	case types.Decimal:
		c := compiler{ordered: true}
		return c.appendWide(b, v.Unscaled), nil
	case string:
		return appendText(b, v), nil
	case []byte:
		return appendText(b, string(v)), nil
	case []any:
		if at, ok := t.(types.ArrayType); ok {
			return appendKeys(b, v, at)
		}
	case types.Row:
		st, ok := t.(types.StructType)
		if !ok || len(st.Fields) != len(v) {
			break
		}
		var err error
		for i, f := range st.Fields {
			if b, err = AppendKey(b, v[i], f.Type, f.Nullable); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, noKey(t)
}

func appendKeys(b []byte, list []any, t types.ArrayType) (_ []byte, err error) {
	for _, v := range list {
		if b, err = AppendKey(append(b, 1), v, t.Element, t.ContainsNull); err != nil {
			return nil, err
		}
	}
	return append(b, 0), nil
}

// AppendLong and AppendString are AppendKey for single columns that may be null but are not, without a look at the type. AppendInt is
// so for types of four bytes.
func AppendLong(b []byte, x int64) []byte { return appendInt(append(b, 1), x, 8) }

// AppendInt is AppendLong for four bytes.
func AppendInt(b []byte, x int32) []byte { return appendInt(append(b, 1), int64(x), 4) }

// AppendString is AppendLong for texts.
func AppendString(b []byte, s string) []byte { return appendText(append(b, 1), s) }

// AppendTime writes a time in milliseconds so that earlier times come first, and ReadTime reads it.
func AppendTime(b []byte, ms int64) []byte { return appendInt(b, ms, 8) }

// ReadTime reads what AppendTime has written, and returns the bytes behind it.
func ReadTime(b []byte) (ms int64, rest []byte, err error) { return readInt(b, 8) }
