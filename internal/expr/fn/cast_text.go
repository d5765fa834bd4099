package fn

import (
	"strconv"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// toText casts to STRING.
func (c castEnv) toText(from types.DataType) Kernel {
	if isBinary(from) {
		return retype(types.String)
	}
	write := c.writer(from)
	var buf []byte
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		spans := out.ResetBytes(n, nil)
		v := args[0]
		buf = buf[:0]
		switch v.Phys() {
		case vec.PhysInt32:
			if _, ok := from.(types.IntegerType); ok {
				buf = appendInts(buf, spans, vec.Fixed[int32](v))
				out.SetBytes(buf)
				return out
			}
		case vec.PhysInt64:
			if _, ok := from.(types.LongType); ok {
				buf = appendInts(buf, spans, vec.Fixed[int64](v))
				out.SetBytes(buf)
				return out
			}
		}
		for i := range spans {
			at := len(buf)
			if !v.IsNull(i) {
				buf = write(buf, v, i)
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
		}
		out.SetBytes(buf)
		return out
	}
}

func appendInts[T signed](buf []byte, spans []vec.Span, x []T) []byte {
	spans = spans[:len(x)]
	for i, v := range x {
		at := len(buf)
		buf = strconv.AppendInt(buf, int64(v), 10)
		spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
	}
	return buf
}

// textWriter prints row i, which is not null, of a vector of any encoding.
type textWriter func(b []byte, v *vec.Vector, i int) []byte

// TextWriter returns a printer of values as a cast to STRING shows them. It belongs to one goroutine.
func TextWriter(t types.DataType, env *Binding) func(b []byte, v *vec.Vector, i int) []byte {
	mode := CastLegacy
	if env.ANSI {
		mode = CastANSI
	}
	return castEnv{mode: mode, zone: env.Zone}.writer(t)
}

func (c castEnv) writer(t types.DataType) textWriter {
	switch t := t.(type) {
	case types.BooleanType:
		return func(b []byte, v *vec.Vector, i int) []byte { return strconv.AppendBool(b, vec.At[uint8](v, i) != 0) }
	case types.ByteType:
		return writeInt[int8]
	case types.ShortType:
		return writeInt[int16]
	case types.IntegerType:
		return writeInt[int32]
	case types.LongType:
		return writeInt[int64]
	case types.FloatType:
		return func(b []byte, v *vec.Vector, i int) []byte {
			return numtext.AppendFloat(b, float64(vec.At[float32](v, i)), 32)
		}
	case types.DoubleType:
		return func(b []byte, v *vec.Vector, i int) []byte { return numtext.AppendFloat(b, vec.At[float64](v, i), 64) }
	case types.DecimalType:
		if c.mode == CastLegacy {
			return func(b []byte, v *vec.Vector, i int) []byte {
				return numtext.AppendDecimal(b, loadDecimal(v, i), t.Scale)
			}
		}
		return func(b []byte, v *vec.Vector, i int) []byte { return decimal.Append(b, loadDecimal(v, i), t.Scale) }
	case types.StringType, types.CharType, types.VarcharType, types.BinaryType:
		return func(b []byte, v *vec.Vector, i int) []byte { return append(b, v.BytesAt(i)...) }
	case types.DateType:
		return func(b []byte, v *vec.Vector, i int) []byte { return datetime.AppendDate(b, int64(vec.At[int32](v, i))) }
	case types.TimestampType:
		z := datetime.NewZone(c.zone)
		return func(b []byte, v *vec.Vector, i int) []byte {
			return datetime.AppendTimestamp(b, z.Local(vec.At[int64](v, i)))
		}
	case types.TimestampNTZType:
		return func(b []byte, v *vec.Vector, i int) []byte { return datetime.AppendTimestamp(b, vec.At[int64](v, i)) }
	case types.TimeType:
		return func(b []byte, v *vec.Vector, i int) []byte { return datetime.AppendTimeNanos(b, vec.At[int64](v, i)) }
	case types.CalendarIntervalType:
		return func(b []byte, v *vec.Vector, i int) []byte {
			return append(b, interval.Interval(vec.At[vec.Interval](v, i)).String()...)
		}
	case types.DayTimeIntervalType:
		return func(b []byte, v *vec.Vector, i int) []byte {
			return interval.AppendDayTime(b, vec.At[int64](v, i), t.Start, t.End)
		}
	case types.YearMonthIntervalType:
		return func(b []byte, v *vec.Vector, i int) []byte {
			return interval.AppendYearMonth(b, vec.At[int32](v, i), t.Start, t.End)
		}
	case types.VariantType:
		z := datetime.NewZone(c.zone)
		return func(b []byte, v *vec.Vector, i int) []byte {
			b, _ = jsonrow.AppendVariant(b, variantAt(v, i), z)
			return b
		}
	case types.ArrayType:
		element := c.part(t.Element)
		return func(b []byte, v *vec.Vector, i int) []byte {
			s, owner := v.SpanAt(i)
			kid := owner.Kids()[0]
			b = append(b, '[')
			for k := range s.Len {
				if k > 0 {
					b = append(b, ", "...)
				}
				b = element(b, kid, int(s.Off+k))
			}
			return append(b, ']')
		}
	case types.MapType:
		key, value := c.part(t.Key), c.part(t.Value)
		return func(b []byte, v *vec.Vector, i int) []byte {
			s, owner := v.SpanAt(i)
			kids := owner.Kids()
			b = append(b, '{')
			for k := range s.Len {
				if k > 0 {
					b = append(b, ", "...)
				}
				b = key(b, kids[0], int(s.Off+k))
				b = append(b, " -> "...)
				b = value(b, kids[1], int(s.Off+k))
			}
			return append(b, '}')
		}
	case types.StructType:
		fields := make([]textWriter, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = c.part(f.Type)
		}
		return func(b []byte, v *vec.Vector, i int) []byte {
			i, v = fieldRow(v, i)
			b = append(b, '{')
			for k, w := range fields {
				if k > 0 {
					b = append(b, ", "...)
				}
				b = w(b, v.Kids()[k], i)
			}
			return append(b, '}')
		}
	}
	return func(b []byte, _ *vec.Vector, _ int) []byte { return append(b, "null"...) }
}

// part prints a value inside of another, null as null.
func (c castEnv) part(t types.DataType) textWriter {
	write := c.writer(t)
	return func(b []byte, v *vec.Vector, i int) []byte {
		if v.IsNull(i) {
			return append(b, "null"...)
		}
		return write(b, v, i)
	}
}

// fieldRow finds the row of a struct's children that belongs to row i.
func fieldRow(v *vec.Vector, i int) (int, *vec.Vector) {
	for v.Encoding() == vec.Dict {
		i, v = int(v.Index()[i]), v.Base()
	}
	if v.Encoding() == vec.Const {
		i = 0
	}
	return i, v
}

func writeInt[T signed](b []byte, v *vec.Vector, i int) []byte {
	return strconv.AppendInt(b, int64(vec.At[T](v, i)), 10)
}
