package millrace

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones of sessions must be known on machines without a zone database

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// decodeRecord reads the record of an Arrow IPC stream. A stream without one is an empty record.
func decodeRecord(data []byte) (arrow.RecordBatch, error) {
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, badArrow(err)
	}
	var recs []arrow.RecordBatch
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, badArrow(err)
		}
		recs = append(recs, rec.NewSlice(0, rec.NumRows())) // the reader frees its own with the next one
	}
	switch len(recs) {
	case 0:
		return emptyRecord(r.Schema()), nil
	case 1:
		return recs[0], nil
	}
	return nil, errclass.New("UNEXPECTED_RESPONSE", "reason", "a batch has more than one Arrow record")
}

func badArrow(err error) error {
	return errclass.New("UNEXPECTED_RESPONSE", "reason", "its Arrow data cannot be read: "+err.Error()).WithCause(err)
}

func emptyRecord(s *arrow.Schema) arrow.RecordBatch {
	b := array.NewRecordBuilder(allocator, s)
	return b.NewRecordBatch()
}

// decoder turns records of one schema into rows.
type decoder struct {
	schema *types.StructType
}

func newDecoder(s *arrow.Schema) (*decoder, error) {
	st, err := types.FromArrowSchema(s)
	if err != nil {
		return nil, err
	}
	return &decoder{schema: &st}, nil
}

// rows converts a record. The values of all rows share one slice.
func (d *decoder) rows(rec arrow.RecordBatch) ([]Row, error) {
	n, width := int(rec.NumRows()), int(rec.NumCols())
	if width != d.schema.Len() {
		return nil, errclass.New("UNEXPECTED_RESPONSE", "reason", "a batch has other columns than the one before")
	}
	values := make([]any, n*width)
	for c := range width {
		get, err := getter(rec.Column(c), d.schema.Fields[c].Type)
		if err != nil {
			return nil, err
		}
		for i := range n {
			values[i*width+c] = get(i)
		}
	}
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{schema: d.schema, values: values[i*width : (i+1)*width : (i+1)*width]}
	}
	return rows, nil
}

// values is what arrays of one Go type have in common.
type values[T any] interface {
	arrow.Array
	Value(i int) T
}

// mapped reads an array and converts each value.
func mapped[T, R any](a values[T], f func(T) R) func(i int) any {
	return func(i int) any {
		if a.IsNull(i) {
			return nil
		}
		return f(a.Value(i))
	}
}

func same[T any](v T) T { return v }

// getter returns the function that reads values of a column as Rows hold them.
func getter(a arrow.Array, t types.DataType) (func(i int) any, error) {
	switch a := a.(type) {
	case *array.Null:
		return func(int) any { return nil }, nil
	case *array.Boolean:
		return mapped(a, same[bool]), nil
	case *array.Int8:
		return mapped(a, same[int8]), nil
	case *array.Int16:
		return mapped(a, same[int16]), nil
	case *array.Int32:
		return mapped(a, same[int32]), nil
	case *array.Int64:
		return mapped(a, same[int64]), nil
	case *array.Float32:
		return mapped(a, same[float32]), nil
	case *array.Float64:
		return mapped(a, same[float64]), nil
	case *array.String:
		return mapped(a, strings.Clone), nil // rows must not keep whole batches alive
	case *array.LargeString:
		return mapped(a, strings.Clone), nil
	case *array.Binary:
		return mapped(a, bytes.Clone), nil
	case *array.LargeBinary:
		return mapped(a, bytes.Clone), nil
	case *array.Decimal128:
		scale := int(a.DataType().(*arrow.Decimal128Type).Scale)
		return func(i int) any {
			if a.IsNull(i) {
				return nil
			}
			return types.Decimal{Unscaled: a.Value(i), Scale: scale}
		}, nil
	case *array.Date32:
		return mapped(a, func(v arrow.Date32) time.Time { return types.Days(v).Time() }), nil
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType)
		zone := location(unit.TimeZone)
		return mapped(a, func(v arrow.Timestamp) time.Time { return v.ToTime(unit.Unit).In(zone) }), nil
	case *array.Time64:
		unit := a.DataType().(*arrow.Time64Type).Unit
		return mapped(a, func(v arrow.Time64) types.TimeOfDay { return types.TimeOfDay(int64(v) * int64(unit.Multiplier())) }), nil
	case *array.Duration:
		unit := a.DataType().(*arrow.DurationType).Unit
		if unit == arrow.Microsecond {
			return mapped(a, func(v arrow.Duration) time.Duration { return types.DayTime(v).Duration() }), nil
		}
		return mapped(a, func(v arrow.Duration) time.Duration { return time.Duration(v) * unit.Multiplier() }), nil
	case *array.MonthInterval:
		return mapped(a, func(v arrow.MonthInterval) types.YearMonth { return types.YearMonth(v) }), nil
	case *array.MonthDayNanoInterval:
		return mapped(a, func(v arrow.MonthDayNanoInterval) types.Interval {
			return types.Interval{Months: v.Months, Days: v.Days, Micros: v.Nanoseconds / 1000}
		}), nil
	case *array.Map:
		return mapGetter(a, t)
	case *array.Struct:
		return structGetter(a, t)
	case array.ListLike:
		return listGetter(a, t)
	}
	return nil, errclass.New("UNSUPPORTED_ARROWTYPE", "typeName", errclass.Expr(a.DataType().String()))
}

func listGetter(a array.ListLike, t types.DataType) (func(i int) any, error) {
	lt, ok := t.(types.ArrayType)
	if !ok {
		return nil, errclass.New("UNSUPPORTED_ARROWTYPE", "typeName", errclass.Expr(a.DataType().String()))
	}
	element, err := getter(a.ListValues(), lt.Element)
	if err != nil {
		return nil, err
	}
	return func(i int) any {
		if a.IsNull(i) {
			return nil
		}
		from, to := a.ValueOffsets(i)
		out := make([]any, to-from)
		for j := range out {
			out[j] = element(int(from) + j)
		}
		return out
	}, nil
}

func mapGetter(a *array.Map, t types.DataType) (func(i int) any, error) {
	mt, ok := t.(types.MapType)
	if !ok {
		return nil, errclass.New("UNSUPPORTED_ARROWTYPE", "typeName", errclass.Expr(a.DataType().String()))
	}
	key, err := getter(a.Keys(), mt.Key)
	if err != nil {
		return nil, err
	}
	value, err := getter(a.Items(), mt.Value)
	if err != nil {
		return nil, err
	}
	return func(i int) any {
		if a.IsNull(i) {
			return nil
		}
		from, to := a.ValueOffsets(i)
		out := make(types.MapValue, to-from)
		for j := range out {
			out[j] = types.MapEntry{Key: key(int(from) + j), Value: value(int(from) + j)}
		}
		return out
	}, nil
}

func structGetter(a *array.Struct, t types.DataType) (func(i int) any, error) {
	if t == types.Variant {
		return variantGetter(a)
	}
	st, ok := t.(types.StructType)
	if !ok || st.Len() != a.NumField() {
		return nil, errclass.New("UNSUPPORTED_ARROWTYPE", "typeName", errclass.Expr(a.DataType().String()))
	}
	fields := make([]func(int) any, st.Len())
	for f := range fields {
		var err error
		if fields[f], err = getter(a.Field(f), st.Fields[f].Type); err != nil {
			return nil, err
		}
	}
	return func(i int) any {
		if a.IsNull(i) {
			return nil
		}
		row := make([]any, len(fields))
		for f, get := range fields {
			row[f] = get(i)
		}
		return Row{schema: &st, values: row}
	}, nil
}

func variantGetter(a *array.Struct) (func(i int) any, error) {
	at := a.DataType().(*arrow.StructType)
	part := func(name string) *array.Binary {
		i, ok := at.FieldIdx(name)
		if !ok {
			return nil
		}
		b, _ := a.Field(i).(*array.Binary)
		return b
	}
	value, metadata := part("value"), part("metadata")
	if value == nil || metadata == nil {
		return nil, errclass.New("UNSUPPORTED_ARROWTYPE", "typeName", errclass.Expr(at.String()))
	}
	return func(i int) any {
		if a.IsNull(i) {
			return nil
		}
		return types.VariantValue{Value: bytes.Clone(value.Value(i)), Metadata: bytes.Clone(metadata.Value(i))}
	}, nil
}

// location is the time zone of a name as Spark writes it. One that is not known shows instants in UTC.
func location(name string) *time.Location {
	if l, err := time.LoadLocation(name); err == nil {
		return l
	}
	text := name
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		text = strings.TrimPrefix(text, prefix)
	}
	if len(text) < 2 || text[0] != '+' && text[0] != '-' {
		return time.UTC
	}
	seconds := 0
	for i, part := range strings.Split(text[1:], ":") {
		n, err := strconv.Atoi(part)
		if err != nil || i > 2 {
			return time.UTC
		}
		seconds += n * [...]int{3600, 60, 1}[i]
	}
	if text[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(name, seconds)
}
