package millrace

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// outputSchema is the schema of rows of a Go type.
func outputSchema[T any](given types.StructType) (types.StructType, error) {
	t := reflect.TypeFor[T]()
	switch {
	case t == reflect.TypeFor[Row]():
		if given.Len() == 0 {
			return given, errclass.New("CANNOT_BE_EMPTY", "item", "column of TransformOptions.Schema, which Rows need,")
		}
		return given, nil
	case t.Kind() == reflect.Struct && !isValue(t), t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !isValue(t.Elem()):
		return types.SchemaOf(reflect.Zero(t).Interface())
	}
	dt := types.DataType(types.DecimalSystem)
	if t != reflect.TypeFor[types.Decimal]() {
		var err error
		if dt, err = types.TypeOf(reflect.Zero(t).Interface()); err != nil {
			return types.StructType{}, err
		}
	}
	var s types.StructType
	return s.Add("value", dt, nullableType(t)), nil
}

func nullableType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

// outRows is how many emitted rows are put into one record.
const outRows = 4096

// rowWriter gathers emitted rows and turns them into Arrow records, column by column.
type rowWriter[T any] struct {
	schema types.StructType
	as     *arrow.Schema
	rows   []T
	deep   bool // values hold pointers to what the program may change after it has emitted them
	write  writer
	b      *array.RecordBuilder
	n      int // rows in b
	err    error
}

// writer appends n values of a Go type, size bytes apart, to a record.
type writer func(b *array.RecordBuilder, src unsafe.Pointer, size uintptr, n int) error

// add is the processor's emit.
func (w *rowWriter[T]) add(v T) error {
	if w.err != nil {
		return w.err
	}
	if w.write == nil {
		if w.err = w.start(); w.err != nil {
			return w.err
		}
	}
	w.rows = append(w.rows, v)
	if w.deep || len(w.rows) == cap(w.rows) {
		w.err = w.flush()
	}
	return w.err
}

func (w *rowWriter[T]) start() (err error) {
	t := reflect.TypeFor[T]()
	w.as = types.ArrowSchema(w.schema, types.ArrowOptions{})
	w.deep = shared(t)
	w.rows = make([]T, 0, blockRows)
	w.write, err = newWriter(t, w.schema)
	return err
}

// flush writes the gathered rows to the record.
func (w *rowWriter[T]) flush() error {
	if len(w.rows) == 0 {
		return nil
	}
	if w.b == nil {
		w.b = array.NewRecordBuilder(allocator, w.as)
	}
	err := w.write(w.b, unsafe.Pointer(unsafe.SliceData(w.rows)), unsafe.Sizeof(w.rows[0]), len(w.rows))
	w.n += len(w.rows)
	clear(w.rows)
	w.rows = w.rows[:0]
	return err
}

// take returns a record of the rows emitted so far once there are enough of them, or all of them.
func (w *rowWriter[T]) take(all bool) (arrow.RecordBatch, error) {
	if w.err != nil {
		return nil, w.err
	}
	if !all && w.n < outRows {
		return nil, nil
	}
	if w.err = w.flush(); w.err != nil || w.n == 0 {
		return nil, w.err
	}
	rec := w.b.NewRecordBatch()
	w.n = 0
	return rec, nil
}

// shared tells whether a program could change a value that it has handed over.
func shared(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return true
	case reflect.Array:
		return shared(t.Elem())
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return false
		}
		for i := range t.NumField() {
			if shared(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// newWriter compiles the conversion of a Go type to columns.
func newWriter(t reflect.Type, s types.StructType) (writer, error) {
	if t == reflect.TypeFor[Row]() || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !isValue(t.Elem()) {
		return func(b *array.RecordBuilder, src unsafe.Pointer, size uintptr, n int) error {
			for i := range n {
				row, err := rowOf(reflect.NewAt(t, unsafe.Add(src, uintptr(i)*size)).Elem(), s)
				if err != nil {
					return err
				}
				for c, v := range row {
					if err := appendValue(b.Field(c), v); err != nil {
						return err
					}
				}
			}
			return nil
		}, nil
	}
	type part struct {
		write columnWriter
		at    uintptr
	}
	var parts []part
	if t.Kind() != reflect.Struct || isValue(t) {
		parts = append(parts, part{newColumnWriter(t, s.Fields[0].Type), 0})
	} else {
		for i := range t.NumField() {
			if _, ok := types.ColumnName(t.Field(i)); ok {
				parts = append(parts, part{newColumnWriter(t.Field(i).Type, s.Fields[len(parts)].Type), t.Field(i).Offset})
			}
		}
	}
	return func(b *array.RecordBuilder, src unsafe.Pointer, size uintptr, n int) error {
		for c, p := range parts {
			if err := p.write(b.Field(c), unsafe.Add(src, p.at), size, n); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

type columnWriter func(b array.Builder, src unsafe.Pointer, size uintptr, n int) error

// newColumnWriter converts one field. The types that rows mostly have get loops of their own.
func newColumnWriter(t reflect.Type, dt types.DataType) columnWriter {
	switch {
	case dt == types.Long && t.Size() == 8 && (t.Kind() == reflect.Int64 || t.Kind() == reflect.Int):
		return loop(func(b *array.Int64Builder, v int64) { b.Append(v) })
	case dt == types.Integer && t.Kind() == reflect.Int32:
		return loop(func(b *array.Int32Builder, v int32) { b.Append(v) })
	case dt == types.Double && t.Kind() == reflect.Float64:
		return loop(func(b *array.Float64Builder, v float64) { b.Append(v) })
	case dt == types.Boolean && t.Kind() == reflect.Bool:
		return loop(func(b *array.BooleanBuilder, v bool) { b.Append(v) })
	case t.Kind() == reflect.String:
		return loop(func(b *array.StringBuilder, v string) { b.Append(v) })
	case t == reflect.TypeFor[time.Time]():
		return loop(func(b *array.TimestampBuilder, v time.Time) { b.Append(arrow.Timestamp(types.MicrosOf(v))) })
	}
	if t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Struct {
		write, width := newColumnWriter(t.Elem(), dt), t.Elem().Size()
		return func(b array.Builder, src unsafe.Pointer, size uintptr, n int) error {
			for i := range n {
				p := *(*unsafe.Pointer)(unsafe.Add(src, uintptr(i)*size))
				if p == nil {
					b.AppendNull()
					continue
				}
				if err := write(b, p, width, 1); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return func(b array.Builder, src unsafe.Pointer, size uintptr, n int) error {
		for i := range n {
			v, err := types.ToValue(plain(reflect.NewAt(t, unsafe.Add(src, uintptr(i)*size)).Elem().Interface()), dt)
			if err == nil {
				err = appendValue(b, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// loop writes the values of one field to the builder of its column.
func loop[B array.Builder, T any](put func(b B, v T)) columnWriter {
	return func(b array.Builder, src unsafe.Pointer, size uintptr, n int) error {
		to, ok := b.(B)
		if !ok {
			return noPlace(b, *(*T)(src))
		}
		b.Reserve(n)
		for i := range n {
			put(to, *(*T)(unsafe.Add(src, uintptr(i)*size)))
		}
		return nil
	}
}
