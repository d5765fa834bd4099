package millrace

import (
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/types"
)

// blockRows is how many rows a rowReader converts at a time.
const blockRows = 256

// rowReader turns rows of Arrow records into values of a Go type, column by column: a block of rows is filled at a time, by a loop for each
// column. What comes out is what CollectAs gives.
type rowReader[T any] struct {
	schema types.StructType
	recs   []arrow.RecordBatch // of processor.ChunkRows rows, but for the last
	chunk  int                 // the record that fill is for, or -1
	fill   filler
	block  []T
	lo, hi int // the rows in block
}

// bind sets the records.
func (r *rowReader[T]) bind(recs []arrow.RecordBatch) error {
	r.recs, r.chunk, r.lo, r.hi = recs, -1, 0, 0
	if r.block == nil {
		r.block = make([]T, blockRows)
	}
	return nil
}

// at is row i. It is valid until the next call. The caller means to read on up to end.
func (r *rowReader[T]) at(i, end int) (*T, error) {
	if i < r.lo || i >= r.hi {
		if err := r.load(i); err != nil {
			return nil, err
		}
	}
	return &r.block[i-r.lo], nil
}

func (r *rowReader[T]) load(i int) error {
	c := i / processor.ChunkRows
	rec := r.recs[c]
	if c != r.chunk {
		f, err := newFiller(reflect.TypeFor[T](), r.schema, rec)
		if err != nil {
			return err
		}
		r.fill, r.chunk = f, c
	}
	from := i - c*processor.ChunkRows
	n := min(blockRows, int(rec.NumRows())-from)
	r.lo, r.hi = 0, 0
	clear(r.block[:n])
	if err := r.fill(unsafe.Pointer(unsafe.SliceData(r.block)), unsafe.Sizeof(r.block[0]), from, n); err != nil {
		if n == 1 {
			return err
		}
		// A bad row must not be seen before the good ones in front of it.
		clear(r.block[:n])
		if err := r.fill(unsafe.Pointer(unsafe.SliceData(r.block)), unsafe.Sizeof(r.block[0]), from, 1); err != nil {
			return err
		}
		n = 1
	}
	r.lo, r.hi = i, i+n
	return nil
}

// filler sets n values of a Go type, size bytes apart, from rows of a record.
type filler func(dst unsafe.Pointer, size uintptr, from, n int) error

// fits tells whether rows of a schema can become values of a type.
func fits[T any](s types.StructType) error {
	if s.Len() == 0 {
		return nil
	}
	_, err := setter(reflect.TypeFor[T](), s)
	return err
}

// newFiller compiles the conversion of a record's rows.
func newFiller(t reflect.Type, s types.StructType, rec arrow.RecordBatch) (filler, error) {
	switch {
	case t == reflect.TypeFor[Row]() || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !isValue(t.Elem()):
		return rowFiller(t, s, rec)
	case s.Len() == 0: // grouped by nothing
		return func(unsafe.Pointer, uintptr, int, int) error { return nil }, nil
	case t.Kind() == reflect.Struct && !isValue(t):
		return structFiller(t, s, rec)
	case s.Len() == 1:
		return columnFiller(t, rec.Column(0), s.Fields[0].Type, s.Fields[0].Name)
	}
	return nil, errclass.New("RESULT_CONVERSION.COLUMNS", "goType", t.String(), "count", strconv.Itoa(s.Len()))
}

func structFiller(t reflect.Type, s types.StructType, rec arrow.RecordBatch) (filler, error) {
	type part struct {
		fill filler
		at   uintptr
	}
	var parts []part
	for i := range t.NumField() {
		name, ok := types.ColumnName(t.Field(i))
		if !ok {
			continue
		}
		c := s.Index(name)
		if c < 0 {
			c = s.IndexFold(name)
		}
		if c < 0 {
			return nil, noColumn(name, s)
		}
		f, err := columnFiller(t.Field(i).Type, rec.Column(c), s.Fields[c].Type, name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{f, t.Field(i).Offset})
	}
	return func(dst unsafe.Pointer, size uintptr, from, n int) error {
		for _, p := range parts {
			if err := p.fill(unsafe.Add(dst, p.at), size, from, n); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// rowFiller converts by way of Rows.
func rowFiller(t reflect.Type, s types.StructType, rec arrow.RecordBatch) (filler, error) {
	set, err := setter(t, s)
	if err != nil {
		return nil, err
	}
	get := make([]func(int) any, s.Len())
	for c := range get {
		if get[c], err = getter(rec.Column(c), s.Fields[c].Type); err != nil {
			return nil, err
		}
	}
	return func(dst unsafe.Pointer, size uintptr, from, n int) error {
		for i := range n {
			row := Row{schema: &s, values: make([]any, len(get))}
			for c, g := range get {
				row.values[c] = g(from + i)
			}
			if err := set(reflect.NewAt(t, unsafe.Add(dst, uintptr(i)*size)).Elem(), row); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// columnFiller converts one column. The types that rows mostly have get loops of their own.
func columnFiller(t reflect.Type, a arrow.Array, dt types.DataType, path string) (filler, error) {
	plain := t.PkgPath() != reflect.TypeFor[types.Days]().PkgPath() && t != reflect.TypeFor[time.Duration]()
	switch a := a.(type) {
	case *array.Int64:
		if plain && (t.Kind() == reflect.Int64 || t.Kind() == reflect.Int && t.Size() == 8) {
			return fixedFiller[int64](t, a, a.Int64Values(), path), nil
		}
	case *array.Int32:
		if plain && t.Kind() == reflect.Int32 {
			return fixedFiller[int32](t, a, a.Int32Values(), path), nil
		}
		if plain && (t.Kind() == reflect.Int64 || t.Kind() == reflect.Int && t.Size() == 8) {
			return wideFiller(t, a, a.Int32Values(), path), nil
		}
	case *array.Int16:
		if plain && t.Kind() == reflect.Int16 {
			return fixedFiller[int16](t, a, a.Int16Values(), path), nil
		}
	case *array.Float64:
		if t.Kind() == reflect.Float64 {
			return fixedFiller[float64](t, a, a.Float64Values(), path), nil
		}
	case *array.Boolean:
		if t.Kind() == reflect.Bool {
			return valueFiller[bool](t, a, a.Value, path), nil
		}
	case *array.String:
		if t.Kind() == reflect.String {
			return valueFiller[string](t, a, a.Value, path), nil
		}
	case *array.Timestamp:
		if t == reflect.TypeFor[time.Time]() {
			ty := a.DataType().(*arrow.TimestampType)
			if ty.Unit == arrow.Microsecond {
				zone := location(ty.TimeZone)
				return valueFiller[time.Time](t, a, func(i int) time.Time { return time.UnixMicro(int64(a.Value(i))).In(zone) }, path), nil
			}
		}
	}
	if t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Struct {
		return pointerFiller(t, a, dt, path)
	}
	get, err := getter(a, dt)
	if err != nil {
		return nil, err
	}
	return func(dst unsafe.Pointer, size uintptr, from, n int) error {
		for i := range n {
			if err := assign(reflect.NewAt(t, unsafe.Add(dst, uintptr(i)*size)).Elem(), get(from+i), path); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// noNulls checks that rows which become values that cannot be null are not.
func noNulls(t reflect.Type, a arrow.Array, from, n int, path string) error {
	if a.NullN() == 0 {
		return nil
	}
	for i := from; i < from+n; i++ {
		if a.IsNull(i) {
			return errclass.New("RESULT_CONVERSION.NULL", "path", path, "goType", t.String())
		}
	}
	return nil
}

func fixedFiller[T int16 | int32 | int64 | float64](t reflect.Type, a arrow.Array, values []T, path string) filler {
	return func(dst unsafe.Pointer, size uintptr, from, n int) error {
		if err := noNulls(t, a, from, n, path); err != nil {
			return err
		}
		for i, v := range values[from : from+n] {
			*(*T)(unsafe.Add(dst, uintptr(i)*size)) = v
		}
		return nil
	}
}

func wideFiller(t reflect.Type, a arrow.Array, values []int32, path string) filler {
	return func(dst unsafe.Pointer, size uintptr, from, n int) error {
		if err := noNulls(t, a, from, n, path); err != nil {
			return err
		}
		for i, v := range values[from : from+n] {
			*(*int64)(unsafe.Add(dst, uintptr(i)*size)) = int64(v)
		}
		return nil
	}
}

func valueFiller[T any](t reflect.Type, a arrow.Array, value func(i int) T, path string) filler {
	return func(dst unsafe.Pointer, size uintptr, from, n int) error {
		if err := noNulls(t, a, from, n, path); err != nil {
			return err
		}
		for i := range n {
			*(*T)(unsafe.Add(dst, uintptr(i)*size)) = value(from + i)
		}
		return nil
	}
}

// pointerFiller makes one slice of values for all rows that are not null, and points into it. What is null stays nil.
func pointerFiller(t reflect.Type, a arrow.Array, dt types.DataType, path string) (filler, error) {
	fill, err := columnFiller(t.Elem(), a, dt, path)
	if err != nil {
		return nil, err
	}
	width := t.Elem().Size()
	list := reflect.SliceOf(t.Elem())
	return func(dst unsafe.Pointer, size uintptr, from, n int) error {
		values := reflect.MakeSlice(list, n, n).UnsafePointer()
		for i := 0; i < n; {
			if a.IsNull(from + i) {
				i++ // what is filled is nil already
				continue
			}
			run := i
			for run < n && !a.IsNull(from+run) {
				*(*unsafe.Pointer)(unsafe.Add(dst, uintptr(run)*size)) = unsafe.Add(values, uintptr(run)*width)
				run++
			}
			if err := fill(unsafe.Add(values, uintptr(i)*width), width, from+i, run-i); err != nil {
				return err
			}
			i = run
		}
		return nil
	}, nil
}
