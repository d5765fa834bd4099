package jsonrow

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// kind is what the scanner does with a value: a type, with what the inner loop must know of it folded in.
type kind uint8

const (
	kNull kind = iota
	kBool
	kInt8
	kInt16
	kInt32
	kInt64
	kFloat32
	kFloat64
	kDecimal64
	kDecimal128
	kString
	kBinary
	kDate
	kTimestamp
	kTimestampNTZ
	kTime
	kYearMonth
	kDayTime
	kCalendar
	kArray
	kMap
	kStruct
	kVariant
)

// conv is a compiled data type.
type conv struct {
	kind   kind
	typ    types.DataType
	p, s   int            // of decimals
	fields []field        // of a struct
	index  map[string]int // names of fields to their numbers
	elem   *conv          // of arrays and maps
	// guess holds the keys of the object read last, in order: objects of one stream mostly have the same.
	guess []guess
}

type field struct {
	name string
	conv *conv
}

// guess is a key as it is expected in the text, with its quotes and colon.
type guess struct {
	text  string
	field int // -1 when the key is not wanted
}

// maxGuesses bounds the memory for objects whose keys are data.
const maxGuesses = 512

func compile(t types.DataType, format string, path string) (*conv, error) {
	c := &conv{typ: t}
	switch t := t.(type) {
	case types.NullType:
		c.kind = kNull
	case types.BooleanType:
		c.kind = kBool
	case types.ByteType:
		c.kind = kInt8
	case types.ShortType:
		c.kind = kInt16
	case types.IntegerType:
		c.kind = kInt32
	case types.LongType:
		c.kind = kInt64
	case types.FloatType:
		c.kind = kFloat32
	case types.DoubleType:
		c.kind = kFloat64
	case types.DecimalType:
		c.kind, c.p, c.s = kDecimal64, t.Precision, t.Scale
		if t.Precision > 18 {
			c.kind = kDecimal128
		}
	case types.StringType, types.CharType, types.VarcharType:
		c.kind = kString
	case types.BinaryType:
		c.kind = kBinary
	case types.DateType:
		c.kind = kDate
	case types.TimestampType:
		c.kind = kTimestamp
	case types.TimestampNTZType:
		c.kind = kTimestampNTZ
	case types.TimeType:
		c.kind = kTime
	case types.YearMonthIntervalType:
		c.kind = kYearMonth
	case types.DayTimeIntervalType:
		c.kind = kDayTime
	case types.CalendarIntervalType:
		c.kind = kCalendar
	case types.VariantType:
		c.kind = kVariant
	case types.UserDefinedType:
		return compile(t.Storage, format, path)
	case types.ArrayType:
		c.kind = kArray
		elem, err := compile(t.Element, format, path)
		c.elem = elem
		return c, err
	case types.MapType:
		c.kind = kMap
		if !types.IsString(t.Key) {
			return nil, unsupported(t, format, path)
		}
		elem, err := compile(t.Value, format, path)
		c.elem = elem
		return c, err
	case types.StructType:
		c.kind = kStruct
		c.index = make(map[string]int, len(t.Fields))
		for i, f := range t.Fields {
			name := path
			if name != "" {
				name += "."
			}
			fc, err := compile(f.Type, format, name+f.Name)
			if err != nil {
				return nil, err
			}
			c.fields = append(c.fields, field{f.Name, fc})
			c.index[f.Name] = i
			c.guess = append(c.guess, guess{quoteKey(f.Name), i})
		}
		return c, nil
	default:
		return nil, unsupported(t, format, path)
	}
	return c, nil
}

func unsupported(t types.DataType, format, path string) error {
	return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", format,
		"columnName", "`"+path+"`", "columnType", `"`+t.SQL()+`"`)
}

// quoteKey is the usual spelling of a key in a text. A key with marks that need an escape is never guessed right and is found by
// the longer way.
func quoteKey(name string) string { return strconv.Quote(name) + ":" }

// Unsupported tells whether files of JSON text can hold columns; err names the one that cannot. They refuse calendar intervals, which
// the functions take.
func Unsupported(s types.StructType, format string) error {
	for _, f := range s.Fields {
		c, err := compile(f.Type, format, f.Name)
		if err != nil {
			return err
		}
		if c.holds(kCalendar) {
			return unsupported(f.Type, format, f.Name)
		}
	}
	return nil
}

// Unwritable is Unsupported for columns that are only written: keys of maps may be of any type then.
func Unwritable(s types.StructType, format string) error {
	for _, f := range s.Fields {
		if types.Contains(f.Type, func(t types.DataType) bool { return t == types.CalendarInterval }) {
			return unsupported(f.Type, format, f.Name)
		}
	}
	return nil
}

// holds tells whether a value of a kind is in the type somewhere.
func (c *conv) holds(k kind) bool {
	if c.kind == k || c.elem != nil && c.elem.holds(k) {
		return true
	}
	for _, f := range c.fields {
		if f.conv.holds(k) {
			return true
		}
	}
	return false
}
