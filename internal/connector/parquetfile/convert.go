package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

var (
	errTooWide  = errors.New("the values of a few rows take more than a gigabyte")
	errOverflow = errors.New("a number does not fit its column")
)

// maxBatchBytes bounds the bytes of one column in one batch; offsets are 32 bits wide.
const maxBatchBytes = 1 << 30

// opener opens the column chunk of a row group as a reader of a type's vectors.
type opener func(rg *file.RowGroupReader) (leafReader, error)

// leafOpener finds how a column is read as a type; ok is false when it cannot be.
func leafOpener(col *schema.Column, i int, t types.DataType, cal calendars) (open opener, ok bool) {
	make, ok := leafMaker(col, t, cal)
	if !ok {
		return nil, false
	}
	return func(rg *file.RowGroupReader) (leafReader, error) {
		o, err := openChunk(rg, i, col)
		if err != nil {
			return nil, err
		}
		return make(o), nil
	}, true
}

func direct[T vec.FixedWidth](col *schema.Column, t types.DataType, p pager[T]) leafReader {
	return &leaf[T]{p: p, sink: &directSink[T]{typ: t}, maxDef: col.MaxDefinitionLevel(), maxRep: col.MaxRepetitionLevel()}
}

func converted[T any, V vec.FixedWidth](col *schema.Column, t types.DataType, p pager[T], convert func([]V, []T) error) leafReader {
	return &leaf[T]{p: p, sink: &convertSink[T, V]{typ: t, convert: convert}, maxDef: col.MaxDefinitionLevel(), maxRep: col.MaxRepetitionLevel()}
}

func convertedBytes[V vec.FixedWidth](col *schema.Column, t types.DataType, p pager[[]byte], convert func([]byte) (V, error)) leafReader {
	return &leaf[[]byte]{p: p, sink: &convertBytesSink[V]{typ: t, convert: convert}, maxDef: col.MaxDefinitionLevel(), maxRep: col.MaxRepetitionLevel()}
}

// each makes a conversion of slices of one of values.
func each[T, V any](f func(T) V) func([]V, []T) error {
	return func(dst []V, src []T) error {
		for i, x := range src {
			dst[i] = f(x)
		}
		return nil
	}
}

// eachOK is each for conversions that can fail.
func eachOK[T, V any](f func(T) (V, bool)) func([]V, []T) error { return eachOr(errOverflow, f) }

func eachOr[T, V any](failure error, f func(T) (V, bool)) func([]V, []T) error {
	return func(dst []V, src []T) error {
		for i, x := range src {
			v, ok := f(x)
			if !ok {
				return failure
			}
			dst[i] = v
		}
		return nil
	}
}

func leafMaker(col *schema.Column, t types.DataType, cal calendars) (func(openColumn) leafReader, bool) {
	logical := col.LogicalType()
	switch col.PhysicalType() {
	case parquet.Types.Boolean:
		if _, ok := t.(types.BooleanType); ok {
			return func(o openColumn) leafReader { return direct(col, t, o.bools) }, true
		}
	case parquet.Types.Int32:
		return int32Maker(col, logical, t, cal)
	case parquet.Types.Int64:
		return int64Maker(col, logical, t, cal)
	case parquet.Types.Int96:
		switch t.(type) {
		case types.TimestampType, types.TimestampNTZType:
			if cal.int96 != datetime.Corrected && t == types.DataType(types.Timestamp) {
				convert := eachOr(cal.ancientInt96, func(x parquet.Int96) (int64, bool) { return cal.int96.Micros(int96Micros(x), cal.zone) })
				return func(o openColumn) leafReader { return converted(col, t, o.int96s, convert) }, true
			}
			return func(o openColumn) leafReader { return converted(col, t, o.int96s, each(int96Micros)) }, true
		}
	case parquet.Types.Float:
		switch t.(type) {
		case types.FloatType:
			return func(o openColumn) leafReader { return direct(col, t, o.floats) }, true
		case types.DoubleType:
			return func(o openColumn) leafReader {
				return converted(col, t, o.floats, each(func(x float32) float64 { return float64(x) }))
			}, true
		}
	case parquet.Types.Double:
		if _, ok := t.(types.DoubleType); ok {
			return func(o openColumn) leafReader { return direct(col, t, o.double) }, true
		}
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return bytesMaker(col, logical, t)
	}
	return nil, false
}

func int32Maker(col *schema.Column, logical schema.LogicalType, t types.DataType, cal calendars) (func(openColumn) leafReader, bool) {
	unsigned := isUnsigned(logical)
	if d, ok := logical.(schema.DecimalLogicalType); ok {
		return decimalMaker(col, int(d.Precision()), int(d.Scale()), t, func(o openColumn) func(int) leafReader {
			return scaledInts(col, t, o.ints)
		})
	}
	switch t.(type) {
	case types.IntegerType:
		if !unsigned {
			return func(o openColumn) leafReader { return direct(col, t, o.ints) }, true
		}
		return func(o openColumn) leafReader {
			return converted(col, t, o.ints, eachOK(func(x int32) (int32, bool) { return x, x >= 0 }))
		}, true
	case types.DateType:
		if cal.days != datetime.Corrected {
			return func(o openColumn) leafReader {
				return converted(col, t, o.ints, eachOr(cal.ancientDay, cal.days.Day))
			}, true
		}
		return func(o openColumn) leafReader { return direct(col, t, o.ints) }, true
	case types.YearMonthIntervalType:
		return func(o openColumn) leafReader { return direct(col, t, o.ints) }, true
	case types.ByteType:
		return func(o openColumn) leafReader {
			return converted(col, t, o.ints, eachOK(func(x int32) (int8, bool) { return int8(x), x == int32(int8(x)) }))
		}, true
	case types.ShortType:
		return func(o openColumn) leafReader {
			return converted(col, t, o.ints, eachOK(func(x int32) (int16, bool) { return int16(x), x == int32(int16(x)) }))
		}, true
	case types.LongType:
		return func(o openColumn) leafReader {
			return converted(col, t, o.ints, each(func(x int32) int64 {
				if unsigned {
					return int64(uint32(x))
				}
				return int64(x)
			}))
		}, true
	case types.DoubleType:
		return func(o openColumn) leafReader {
			return converted(col, t, o.ints, each(func(x int32) float64 { return float64(x) }))
		}, true
	case types.TimeType:
		if tm, ok := logical.(schema.TimeLogicalType); ok && tm.TimeUnit() == schema.TimeUnitMillis {
			return func(o openColumn) leafReader {
				return converted(col, t, o.ints, each(func(x int32) int64 { return int64(x) * 1e6 }))
			}, true
		}
	case types.DecimalType:
		return decimalMaker(col, 10, 0, t, func(o openColumn) func(int) leafReader { return scaledInts(col, t, o.ints) })
	}
	return nil, false
}

func isUnsigned(l schema.LogicalType) bool {
	i, ok := l.(schema.IntLogicalType)
	return ok && !i.IsSigned()
}

func int64Maker(col *schema.Column, logical schema.LogicalType, t types.DataType, cal calendars) (func(openColumn) leafReader, bool) {
	if d, ok := logical.(schema.DecimalLogicalType); ok {
		return decimalMaker(col, int(d.Precision()), int(d.Scale()), t, func(o openColumn) func(int) leafReader {
			return scaledInts(col, t, o.longs)
		})
	}
	switch t := t.(type) {
	case types.LongType, types.DayTimeIntervalType:
		if !isUnsigned(logical) {
			return func(o openColumn) leafReader { return direct(col, t, o.longs) }, true
		}
		return func(o openColumn) leafReader {
			return converted(col, t, o.longs, eachOK(func(x int64) (int64, bool) { return x, x >= 0 }))
		}, true
	case types.TimestampType, types.TimestampNTZType:
		ts, ok := logical.(schema.TimestampLogicalType)
		if !ok {
			return nil, false
		}
		if _, zoned := types.DataType(t).(types.TimestampType); zoned && cal.days != datetime.Corrected && ts.TimeUnit() != schema.TimeUnitNanos {
			return func(o openColumn) leafReader { return converted(col, t, o.longs, cal.micros(ts.TimeUnit())) }, true
		}
		switch ts.TimeUnit() {
		case schema.TimeUnitMillis:
			return func(o openColumn) leafReader {
				return converted(col, t, o.longs, eachOK(func(x int64) (int64, bool) {
					return x * 1000, x <= math.MaxInt64/1000 && x >= math.MinInt64/1000
				}))
			}, true
		case schema.TimeUnitNanos:
			return func(o openColumn) leafReader { return converted(col, t, o.longs, each(nanosToMicros)) }, true
		}
		return func(o openColumn) leafReader { return direct(col, t, o.longs) }, true
	case types.TimeType:
		if tm, ok := logical.(schema.TimeLogicalType); ok {
			unit := int64(1)
			if tm.TimeUnit() == schema.TimeUnitMicros {
				unit = 1000
			}
			return func(o openColumn) leafReader {
				return converted(col, t, o.longs, each(func(x int64) int64 { return x * unit }))
			}, true
		}
	case types.DecimalType:
		if isUnsigned(logical) {
			if t.Precision < 20 || t.Scale != 0 {
				return nil, false
			}
			return func(o openColumn) leafReader {
				return converted(col, t, o.longs, each(func(x int64) vec.Int128 { return vec.Int128{Lo: uint64(x)} }))
			}, true
		}
		return decimalMaker(col, 20, 0, t, func(o openColumn) func(int) leafReader { return scaledInts(col, t, o.longs) })
	}
	return nil, false
}

func nanosToMicros(x int64) int64 {
	q := x / 1000
	if x%1000 < 0 {
		q--
	}
	return q
}

// int96Micros reads nanoseconds of the day and a Julian day number.
func int96Micros(x parquet.Int96) int64 {
	nanos := int64(binary.LittleEndian.Uint64(x[:8]))
	days := int64(binary.LittleEndian.Uint32(x[8:]))
	const epoch = 2440588
	return (days-epoch)*86_400_000_000 + nanos/1000
}

// decimalMaker reads numbers of a precision and scale as decimals. Digits must not get lost: the type's scale is not smaller, and
// it has no fewer digits before the point.
func decimalMaker(_ *schema.Column, p, s int, t types.DataType, open func(openColumn) func(raise int) leafReader) (func(openColumn) leafReader, bool) {
	d, ok := t.(types.DecimalType)
	if !ok || d.Scale < s || d.Precision-d.Scale < p-s {
		return nil, false
	}
	return func(o openColumn) leafReader { return open(o)(d.Scale - s) }, true
}

// scaledInts reads unscaled values that get some more digits of scale.
func scaledInts[T int32 | int64](col *schema.Column, t types.DataType, p pager[T]) func(raise int) leafReader {
	d, _ := t.(types.DecimalType)
	return func(raise int) leafReader {
		if d.Precision <= 18 {
			f := decimal.Pow10Int64(raise)
			return converted(col, t, p, each(func(x T) int64 { return int64(x) * f }))
		}
		return converted(col, t, p, eachOK(func(x T) (vec.Int128, bool) {
			return decimal.Rescale(decimal.FromInt64(int64(x)), 0, raise, d.Precision)
		}))
	}
}

func bytesMaker(col *schema.Column, logical schema.LogicalType, t types.DataType) (func(openColumn) leafReader, bool) {
	if d, ok := logical.(schema.DecimalLogicalType); ok {
		dt, isDecimal := t.(types.DecimalType)
		s := int(d.Scale())
		if !isDecimal || dt.Scale < s || dt.Precision-dt.Scale < int(d.Precision())-s {
			return nil, false
		}
		if dt.Precision <= 18 {
			return func(o openColumn) leafReader {
				return convertedBytes(col, t, o.bytes, func(b []byte) (int64, error) {
					x, err := bytesDecimal(b, dt, s)
					v, _ := decimal.Int64(x)
					return v, err
				})
			}, true
		}
		return func(o openColumn) leafReader {
			return convertedBytes(col, t, o.bytes, func(b []byte) (vec.Int128, error) { return bytesDecimal(b, dt, s) })
		}, true
	}
	switch t.(type) {
	case types.StringType, types.CharType, types.VarcharType:
		if _, ok := logical.(schema.UUIDLogicalType); ok {
			return func(o openColumn) leafReader {
				return &leaf[[]byte]{p: &mapped[[]byte, []byte]{pager: o.bytes, to: uuidText}, sink: newBytesSink(t), maxDef: col.MaxDefinitionLevel(), maxRep: col.MaxRepetitionLevel()}
			}, true
		}
	case types.BinaryType:
	case types.FloatType:
		if _, ok := logical.(schema.Float16LogicalType); ok {
			return func(o openColumn) leafReader {
				return convertedBytes(col, t, o.bytes, func(b []byte) (float32, error) {
					return float16.FromLEBytes(b).Float32(), nil
				})
			}, true
		}
		return nil, false
	default:
		return nil, false
	}
	return func(o openColumn) leafReader {
		return &leaf[[]byte]{p: o.bytes, sink: newBytesSink(t), maxDef: col.MaxDefinitionLevel(), maxRep: col.MaxRepetitionLevel()}
	}, true
}

func bytesDecimal(b []byte, t types.DecimalType, scale int) (decimal.Int, error) {
	x, ok := decimal.FromBytes(b)
	if ok {
		x, ok = decimal.Rescale(x, scale, t.Scale, t.Precision)
	}
	if !ok {
		return x, errOverflow
	}
	return x, nil
}

func uuidText(b []byte) []byte {
	return fmt.Appendf(nil, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
