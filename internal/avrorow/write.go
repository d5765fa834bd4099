package avrorow

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// shape is how the values of one place of a record are written.
type shape struct {
	t    types.DataType
	name string // of the column or field, for messages
	// union is set for places that say which branch follows: value or null, by their positions.
	union       bool
	value, null byte
	size        int      // of a fixed, -1 for bytes
	symbols     []string // of an enum
	millis      bool     // a time in milliseconds
	calendar    *Calendar
	kids        []*shape // of a record, in the order of the schema; the element; or a map's value
	from        []int    // the field of the struct for each of kids, -1 for one that is always null
}

// Writer writes values as records. It never changes once it writes, so that goroutines may share it.
type Writer struct{ root *shape }

// NewWriter returns a writer of the values of a type, in the form that the type has by itself: what may be null is a union.
func NewWriter(t types.DataType, nullable bool) (*Writer, error) {
	s, err := shapeOf(t, nullable, "value")
	return &Writer{s}, err
}

// NewWriterAs returns a writer of values in the form of a schema.
func NewWriterAs(t types.DataType, schema avro.Schema) (*Writer, error) {
	s, err := shapeAs(t, schema, "value")
	return &Writer{s}, err
}

// Keep has days and times written in a calendar. A value that it does not take is then refused with ErrAncient.
func (w *Writer) Keep(c *Calendar) { w.root.keep(c) }

func (s *shape) keep(c *Calendar) {
	s.calendar = c
	for _, k := range s.kids {
		k.keep(c)
	}
}

func shapeOf(t types.DataType, nullable bool, name string) (*shape, error) {
	s := &shape{t: t, name: name, size: -1, value: 0, null: 2, union: nullable && t != types.DataType(types.Null)}
	kid := func(t types.DataType, nullable bool, name string) error {
		k, err := shapeOf(t, nullable, name)
		s.kids = append(s.kids, k)
		return err
	}
	switch t := t.(type) {
	case types.BooleanType, types.ByteType, types.ShortType, types.IntegerType, types.LongType, types.FloatType, types.DoubleType,
		types.StringType, types.CharType, types.VarcharType, types.BinaryType, types.DateType, types.TimestampType, types.TimestampNTZType,
		types.TimeType, types.YearMonthIntervalType, types.DayTimeIntervalType, types.NullType:
		return s, nil
	case types.DecimalType:
		s.size = bytesFor(t.Precision)
		return s, nil
	case types.ArrayType:
		return s, kid(t.Element, t.ContainsNull, name+".element")
	case types.MapType:
		if types.IsString(t.Key) {
			return s, kid(t.Value, t.ValueContainsNull, name+".value")
		}
	case types.StructType:
		for i, f := range t.Fields {
			if !IsName(f.Name) {
				return nil, errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "AVRO", "columnName", "`"+f.Name+"`",
					"columnType", `"`+f.Type.SQL()+`"`)
			}
			s.from = append(s.from, i)
			if err := kid(f.Type, f.Nullable, f.Name); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	return nil, errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "AVRO", "columnName", "`"+name+"`", "columnType", `"`+t.SQL()+`"`)
}

// IsName tells whether Avro takes a text for a name: letters, digits and _, no digit first.
func IsName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// bytesFor is how many bytes hold every decimal of so many digits.
func bytesFor(precision int) int {
	return int(math.Ceil((float64(precision)*math.Log2(10) + 1) / 8))
}

func shapeAs(t types.DataType, schema avro.Schema, name string) (*shape, error) {
	whole := schema
	s := &shape{t: t, name: name, size: -1}
	schema = deref(schema)
	if u, ok := schema.(*avro.UnionSchema); ok {
		branches, _ := branchesOf(u)
		if len(branches) != 1 || len(u.Types()) > 2 {
			return nil, mismatch(t, whole, name)
		}
		schema = branches[0]
		if len(u.Types()) == 2 {
			s.union = true
			if deref(u.Types()[0]).Type() == avro.Null {
				s.value = 2
			} else {
				s.null = 2
			}
		} else {
			s.union, s.null = true, 1 // there is no null: see Append
		}
	}
	kind, logical := schema.Type(), logicalOf(schema)
	ok := false
	switch t := t.(type) {
	case types.NullType:
		ok = kind == avro.Null
	case types.BooleanType:
		ok = kind == avro.Boolean
	case types.ByteType, types.ShortType, types.IntegerType, types.DateType, types.YearMonthIntervalType:
		ok = kind == avro.Int
	case types.LongType, types.DayTimeIntervalType:
		ok = kind == avro.Long
	case types.TimeType:
		ok = kind == avro.Long && logical == avro.TimeMicros
	case types.FloatType:
		ok = kind == avro.Float
	case types.DoubleType:
		ok = kind == avro.Double
	case types.StringType, types.CharType, types.VarcharType:
		if e, enum := schema.(*avro.EnumSchema); enum {
			s.symbols = e.Symbols()
		}
		ok = kind == avro.String || kind == avro.Enum
	case types.BinaryType:
		if f, fixed := schema.(*avro.FixedSchema); fixed {
			s.size = f.Size()
		}
		ok = kind == avro.Bytes || kind == avro.Fixed
	case types.DecimalType:
		ok = s.decimal(t, schema)
	case types.TimestampType:
		s.millis = logical == avro.TimestampMillis || logical == ""
		ok = kind == avro.Long && (s.millis || logical == avro.TimestampMicros)
	case types.TimestampNTZType:
		s.millis = logical == avro.LocalTimestampMillis || logical == ""
		ok = kind == avro.Long && (s.millis || logical == avro.LocalTimestampMicros)
	case types.ArrayType:
		if a, is := schema.(*avro.ArraySchema); is {
			return s, s.kid(t.Element, a.Items(), name+".element", -1)
		}
	case types.MapType:
		if m, is := schema.(*avro.MapSchema); is && types.IsString(t.Key) {
			return s, s.kid(t.Value, m.Values(), name+".value", -1)
		}
	case types.StructType:
		if r, is := schema.(*avro.RecordSchema); is {
			return s, s.record(t, r, whole)
		}
	}
	if !ok {
		return nil, mismatch(t, whole, name)
	}
	return s, nil
}

func (s *shape) kid(t types.DataType, schema avro.Schema, name string, from int) error {
	k, err := shapeAs(t, schema, name)
	s.kids, s.from = append(s.kids, k), append(s.from, from)
	return err
}

func (s *shape) decimal(t types.DecimalType, schema avro.Schema) bool {
	l, ok := schema.(avro.LogicalTypeSchema)
	if !ok {
		return false
	}
	d, ok := l.Logical().(*avro.DecimalLogicalSchema)
	if f, fixed := schema.(*avro.FixedSchema); fixed {
		s.size = f.Size()
	}
	return ok && d.Precision() == t.Precision && d.Scale() == t.Scale
}

// record gives each field of a schema that of the struct with its name. A field that is missing must be one that may be null.
func (s *shape) record(t types.StructType, r *avro.RecordSchema, whole avro.Schema) error {
	used := 0
	for _, f := range r.Fields() {
		k := slices.IndexFunc(t.Fields, func(x types.Field) bool { return x.Name == f.Name() })
		if k < 0 {
			k = slices.IndexFunc(t.Fields, func(x types.Field) bool { return strings.EqualFold(x.Name, f.Name()) })
		}
		if k >= 0 {
			used++
			if err := s.kid(t.Fields[k].Type, f.Type(), f.Name(), k); err != nil {
				return err
			}
			continue
		}
		null, ok := nullOf(f.Type())
		if !ok {
			return mismatch(t, whole, s.name)
		}
		s.kids, s.from = append(s.kids, null), append(s.from, -1)
	}
	if used != len(t.Fields) {
		return mismatch(t, whole, s.name)
	}
	return nil
}

// nullOf is the shape of a place that is always null.
func nullOf(schema avro.Schema) (*shape, bool) {
	schema = deref(schema)
	s := &shape{t: types.Null}
	u, ok := schema.(*avro.UnionSchema)
	if !ok {
		return s, schema.Type() == avro.Null
	}
	k := slices.IndexFunc(u.Types(), func(b avro.Schema) bool { return deref(b).Type() == avro.Null })
	s.union, s.null = true, byte(2*k)
	return s, k >= 0
}

func mismatch(t types.DataType, schema avro.Schema, name string) error {
	return errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", schema.String(),
		"reason", "values of `"+name+"` have the type "+t.SQL()+", which the schema does not take; cast them, or change the schema")
}

// Append writes row i of a vector.
func (w *Writer) Append(b []byte, v *vec.Vector, i int) ([]byte, error) {
	return w.root.append(b, v, i)
}

func (s *shape) append(b []byte, v *vec.Vector, i int) ([]byte, error) {
	if v == nil || v.IsNull(i) {
		switch {
		case s.union && s.null != 1:
			return append(b, s.null), nil
		case s.t == types.DataType(types.Null):
			return b, nil
		}
		return b, errclass.New("AVRO_CANNOT_WRITE_NULL_FIELD", "name", "`"+s.name+"`", "dataType", `"`+s.t.SQL()+`"`)
	}
	if s.union {
		b = append(b, s.value)
	}
	v, i = v.Stored(i)
	switch t := s.t.(type) {
	case types.BooleanType:
		return append(b, vec.Fixed[uint8](v)[i]), nil
	case types.ByteType:
		return binary.AppendVarint(b, int64(vec.Fixed[int8](v)[i])), nil
	case types.ShortType:
		return binary.AppendVarint(b, int64(vec.Fixed[int16](v)[i])), nil
	case types.DateType:
		x := vec.Fixed[int32](v)[i]
		if s.calendar != nil {
			var ok bool
			if x, ok = s.calendar.OldDay(x); !ok {
				return b, ErrAncient
			}
		}
		return binary.AppendVarint(b, int64(x)), nil
	case types.IntegerType, types.YearMonthIntervalType:
		return binary.AppendVarint(b, int64(vec.Fixed[int32](v)[i])), nil
	case types.LongType, types.DayTimeIntervalType:
		return binary.AppendVarint(b, vec.Fixed[int64](v)[i]), nil
	case types.TimestampType, types.TimestampNTZType:
		x := vec.Fixed[int64](v)[i]
		if s.calendar != nil && t == types.DataType(types.Timestamp) {
			var ok bool
			if x, ok = s.calendar.OldMicros(x, s.calendar.Zone); !ok {
				return b, ErrAncient
			}
		}
		if s.millis {
			x = floorDiv(x, 1000)
		}
		return binary.AppendVarint(b, x), nil
	case types.TimeType:
		return binary.AppendVarint(b, vec.Fixed[int64](v)[i]/1000), nil
	case types.FloatType:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(vec.Fixed[float32](v)[i])), nil
	case types.DoubleType:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(vec.Fixed[float64](v)[i])), nil
	case types.DecimalType:
		return s.appendDecimal(b, unscaledAt(v, i, t))
	case types.ArrayType:
		return s.appendArray(b, v, i)
	case types.MapType:
		return s.appendMap(b, v, i)
	case types.StructType:
		return s.appendRecord(b, v, i)
	}
	return s.appendBytes(b, v.BytesAt(i))
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

func (s *shape) appendBytes(b, p []byte) ([]byte, error) {
	switch {
	case s.symbols != nil:
		k := slices.Index(s.symbols, string(p))
		if k < 0 {
			return b, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", strings.Join(s.symbols, ", "),
				"reason", "the value "+string(p)+" of `"+s.name+"` is no symbol of the enum")
		}
		return binary.AppendVarint(b, int64(k)), nil
	case s.size < 0:
		return append(binary.AppendVarint(b, int64(len(p))), p...), nil
	case len(p) != s.size:
		return b, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", "fixed", "reason",
			"a value of `"+s.name+"` has another number of bytes than the schema's fixed type")
	}
	return append(b, p...), nil
}

func unscaledAt(v *vec.Vector, i int, t types.DecimalType) decimal.Int {
	if t.Precision > 18 {
		return vec.Fixed[vec.Int128](v)[i]
	}
	return decimal.FromInt64(vec.Fixed[int64](v)[i])
}

// appendDecimal writes a number in two's complement, high byte first: in as few bytes as it needs, or in all of a fixed.
func (s *shape) appendDecimal(b []byte, x decimal.Int) ([]byte, error) {
	var all [16]byte
	binary.BigEndian.PutUint64(all[:], uint64(x.Hi))
	binary.BigEndian.PutUint64(all[8:], x.Lo)
	sign := byte(x.Hi >> 63)
	p := all[:]
	for len(p) > 1 && p[0] == sign && p[1]>>7 == sign&1 {
		p = p[1:]
	}
	if s.size < 0 {
		return append(binary.AppendVarint(b, int64(len(p))), p...), nil
	}
	if len(p) > s.size {
		return b, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", "fixed",
			"reason", "a value of `"+s.name+"` has more bytes than the schema's fixed type")
	}
	for range s.size - len(p) {
		b = append(b, sign)
	}
	return append(b, p...), nil
}

func (s *shape) appendArray(b []byte, v *vec.Vector, i int) (_ []byte, err error) {
	span, owner := v.SpanAt(i)
	if span.Len > 0 {
		b = binary.AppendVarint(b, int64(span.Len))
	}
	for k := span.Off; k < span.Off+span.Len; k++ {
		if b, err = s.kids[0].append(b, owner.Kids()[0], int(k)); err != nil {
			return b, err
		}
	}
	return append(b, 0), nil
}

func (s *shape) appendMap(b []byte, v *vec.Vector, i int) (_ []byte, err error) {
	span, owner := v.SpanAt(i)
	if span.Len > 0 {
		b = binary.AppendVarint(b, int64(span.Len))
	}
	for k := span.Off; k < span.Off+span.Len; k++ {
		key := owner.Kids()[0].BytesAt(int(k))
		b = append(binary.AppendVarint(b, int64(len(key))), key...)
		if b, err = s.kids[0].append(b, owner.Kids()[1], int(k)); err != nil {
			return b, err
		}
	}
	return append(b, 0), nil
}

func (s *shape) appendRecord(b []byte, v *vec.Vector, i int) (_ []byte, err error) {
	for k, kid := range s.kids {
		var field *vec.Vector
		if from := s.from[k]; from >= 0 {
			field = v.Kids()[from]
		}
		if b, err = kid.append(b, field, i); err != nil {
			return b, err
		}
	}
	return b, nil
}
