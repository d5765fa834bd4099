package vec

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/millrace/millrace/types"
)

// FromArrow returns the rows of a record as an Owned batch with the columns of a schema, which are the record's in order. Memory
// is shared where the layouts agree: the record must not be written to, and must have come from the Go allocator, so that a
// Release by its reader leaves the memory alone.
//
// Integers and floats may be narrower than the column, times and intervals may be in any unit, dictionaries, runs and views
// are understood, and a column of nulls fits every type. Fields of nested structs are found by name.
func FromArrow(rec arrow.RecordBatch, st types.StructType) (*Batch, error) {
	if int(rec.NumCols()) != len(st.Fields) {
		return nil, fmt.Errorf("vec: a record of %d columns for a schema of %d", rec.NumCols(), len(st.Fields))
	}
	b := &Batch{N: int(rec.NumRows()), Cols: make([]*Vector, len(st.Fields))}
	for i, f := range st.Fields {
		v, err := FromArrowArray(rec.Column(i), f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		b.Cols[i] = v
	}
	return b, nil
}

// FromArrowArray returns an array as an Owned vector of a type, as FromArrow does for the columns of a record.
func FromArrowArray(a arrow.Array, t types.DataType) (*Vector, error) {
	if u, ok := t.(types.UserDefinedType); ok {
		v, err := FromArrowArray(a, u.Storage)
		if err != nil {
			return nil, err
		}
		return v.WithType(t), nil
	}
	phys := PhysOf(t)
	n := a.Len()
	switch a := a.(type) {
	case *array.Null:
		return NewNulls(t, n), nil
	case array.ExtensionArray:
		return FromArrowArray(a.Storage(), t)
	case *array.Dictionary:
		return fromDictionary(a, t)
	case *array.RunEndEncoded:
		return fromRuns(a, t)
	}
	v := &Vector{typ: t, phys: phys, n: n}
	v.valid = fromValidity(a)
	var ok bool
	var err error
	switch phys {
	case PhysNull:
		ok = a.NullN() == n
	case PhysBool:
		if b, is := a.(*array.Boolean); is {
			ok = true
			v.data = growAligned(nil, n)
			if n > 0 {
				UnpackBits(Fixed[uint8](v), b.Data().Buffers()[1].Bytes(), b.Data().Offset(), n)
			}
		}
	case PhysInt8, PhysInt16, PhysInt32, PhysInt64, PhysInt128, PhysFloat32, PhysFloat64, PhysInterval:
		ok, err = fromFixed(v, a, t)
	case PhysBytes:
		ok, err = fromBytes(v, a)
	case PhysList:
		ok, err = fromList(v, a, KidTypes(t)[0])
	case PhysMap:
		ok, err = fromMap(v, a, KidTypes(t))
	case PhysStruct:
		ok, err = fromStruct(v, a, StructFields(t))
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("vec: values of Arrow type %s cannot be read as %s", a.DataType(), t.SimpleString())
	}
	return v, nil
}

// fromValidity returns an array's validity, sharing memory when its bits start at a word.
func fromValidity(a arrow.Array) Bitmap {
	d := a.Data()
	if a.NullN() == 0 || len(d.Buffers()) == 0 || d.Buffers()[0] == nil {
		return nil
	}
	return bitmapOf(d.Buffers()[0].Bytes(), d.Offset(), d.Len())
}

func bitmapOf(b []byte, off, n int) Bitmap {
	if off&63 == 0 && len(b) > off>>3 {
		b := b[off>>3:]
		words := (n + 63) / 64
		// The last word may reach into memory past the buffer's length, which belongs to it all the same.
		if cap(b) >= words*8 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))&7 == 0 {
			return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), words)
		}
	}
	m := NewBitmap(n)
	for i := range n {
		if bitutil.BitIsSet(b, off+i) {
			m.Set(i)
		}
	}
	return m
}

// bufferAt returns the values of an array's buffer i as a slice of width-byte values, from the array's offset on.
func bufferAt[T any](d arrow.ArrayData, i int) ([]T, error) {
	var zero T
	w, n, off := int(unsafe.Sizeof(zero)), d.Len(), d.Offset()
	if n == 0 {
		return nil, nil
	}
	if i >= len(d.Buffers()) || d.Buffers()[i] == nil || d.Buffers()[i].Len() < (off+n)*w {
		return nil, fmt.Errorf("vec: Arrow array of %s is shorter than its length says", d.DataType())
	}
	b := d.Buffers()[i].Bytes()[off*w : (off+n)*w]
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%unsafe.Alignof(zero) != 0 {
		c := growAligned(nil, len(b))
		copy(c, b)
		b = c
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// bytesOf is the memory of a slice of fixed-width values.
func bytesOf[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// share makes the array's values those of v, without copying.
func share[T any](v *Vector, a arrow.Array) (bool, error) {
	s, err := bufferAt[T](a.Data(), 1)
	v.data = bytesOf(s)
	return true, err
}

// widen copies the array's values into v, converted.
func widen[D, S int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](v *Vector, a arrow.Array) (bool, error) {
	s, err := bufferAt[S](a.Data(), 1)
	if err != nil {
		return false, err
	}
	d := make([]D, len(s), len(s)+1)
	for i, x := range s {
		d[i] = D(x)
	}
	v.data = bytesOf(d)
	return true, nil
}

// scale copies the array's values into v, multiplied by mul and divided, rounding down, by div.
func scale[D int32 | int64, S int32 | int64](v *Vector, a arrow.Array, mul, div int64) (bool, error) {
	s, err := bufferAt[S](a.Data(), 1)
	if err != nil {
		return false, err
	}
	d := make([]D, len(s), len(s)+1)
	for i, x := range s {
		y := int64(x)
		if mul != 1 {
			if y > math.MaxInt64/mul || y < math.MinInt64/mul {
				if !v.valid.Get(i) {
					continue
				}
				return false, fmt.Errorf("vec: value %d of Arrow type %s is out of range", y, a.DataType())
			}
			y *= mul
		}
		if div != 1 {
			q := y / div
			if y%div < 0 {
				q--
			}
			y = q
		}
		d[i] = D(y)
	}
	v.data = bytesOf(d)
	return true, nil
}

// toMicros are the factors from an Arrow time unit to microseconds.
func toMicros(u arrow.TimeUnit) (mul, div int64) {
	switch u {
	case arrow.Second:
		return 1_000_000, 1
	case arrow.Millisecond:
		return 1000, 1
	case arrow.Microsecond:
		return 1, 1
	}
	return 1, 1000
}

// fromFixed reads numbers, dates, times, decimals and intervals.
func fromFixed(v *Vector, a arrow.Array, t types.DataType) (bool, error) {
	switch t := t.(type) {
	case types.ByteType:
		if a.DataType().ID() == arrow.INT8 {
			return share[int8](v, a)
		}
	case types.ShortType:
		switch a.DataType().ID() {
		case arrow.INT16:
			return share[int16](v, a)
		case arrow.INT8:
			return widen[int16, int8](v, a)
		case arrow.UINT8:
			return widen[int16, uint8](v, a)
		}
	case types.IntegerType:
		switch a.DataType().ID() {
		case arrow.INT32:
			return share[int32](v, a)
		case arrow.INT8:
			return widen[int32, int8](v, a)
		case arrow.INT16:
			return widen[int32, int16](v, a)
		case arrow.UINT8:
			return widen[int32, uint8](v, a)
		case arrow.UINT16:
			return widen[int32, uint16](v, a)
		}
	case types.LongType:
		switch a.DataType().ID() {
		case arrow.INT64:
			return share[int64](v, a)
		case arrow.INT8:
			return widen[int64, int8](v, a)
		case arrow.INT16:
			return widen[int64, int16](v, a)
		case arrow.INT32:
			return widen[int64, int32](v, a)
		case arrow.UINT8:
			return widen[int64, uint8](v, a)
		case arrow.UINT16:
			return widen[int64, uint16](v, a)
		case arrow.UINT32:
			return widen[int64, uint32](v, a)
		}
	case types.FloatType:
		switch a := a.(type) {
		case *array.Float32:
			return share[float32](v, a)
		case *array.Float16:
			d := make([]float32, a.Len(), a.Len()+1)
			for i := range d {
				d[i] = a.Value(i).Float32()
			}
			v.data = bytesOf(d)
			return true, nil
		}
	case types.DoubleType:
		switch a.DataType().ID() {
		case arrow.FLOAT64:
			return share[float64](v, a)
		case arrow.FLOAT32:
			return widen[float64, float32](v, a)
		case arrow.INT8:
			return widen[float64, int8](v, a)
		case arrow.INT16:
			return widen[float64, int16](v, a)
		case arrow.INT32:
			return widen[float64, int32](v, a)
		}
	case types.DateType:
		switch a.DataType().ID() {
		case arrow.DATE32:
			return share[int32](v, a)
		case arrow.DATE64:
			return scale[int32, int64](v, a, 1, 86_400_000)
		}
	case types.TimestampType, types.TimestampNTZType:
		switch at := a.DataType().(type) {
		case *arrow.TimestampType:
			if at.Unit == arrow.Microsecond {
				return share[int64](v, a)
			}
			mul, div := toMicros(at.Unit)
			return scale[int64, int64](v, a, mul, div)
		}
	case types.DecimalType:
		return fromDecimal(v, a, t)
	default:
		return fromInterval(v, a, t)
	}
	return false, nil
}

// fromInterval reads times of day, intervals and durations.
func fromInterval(v *Vector, a arrow.Array, t types.DataType) (bool, error) {
	switch t.(type) {
	case types.TimeType:
		switch at := a.DataType().(type) {
		case *arrow.Time64Type:
			if at.Unit == arrow.Nanosecond {
				return share[int64](v, a)
			}
			return scale[int64, int64](v, a, 1000, 1)
		case *arrow.Time32Type:
			if at.Unit == arrow.Second {
				return scale[int64, int32](v, a, 1_000_000_000, 1)
			}
			return scale[int64, int32](v, a, 1_000_000, 1)
		}
	case types.DayTimeIntervalType:
		switch at := a.DataType().(type) {
		case *arrow.DurationType:
			if at.Unit == arrow.Microsecond {
				return share[int64](v, a)
			}
			mul, div := toMicros(at.Unit)
			return scale[int64, int64](v, a, mul, div)
		case *arrow.DayTimeIntervalType:
			d := make([]int64, a.Len(), a.Len()+1)
			for i := range d {
				x := a.(*array.DayTimeInterval).Value(i)
				d[i] = int64(x.Days)*86_400_000_000 + int64(x.Milliseconds)*1000
			}
			v.data = bytesOf(d)
			return true, nil
		}
	case types.YearMonthIntervalType:
		if a.DataType().ID() == arrow.INTERVAL_MONTHS {
			return share[int32](v, a)
		}
	case types.CalendarIntervalType:
		d := make([]Interval, a.Len(), a.Len()+1)
		switch a := a.(type) {
		case *array.MonthDayNanoInterval:
			for i := range d {
				x := a.Value(i)
				d[i] = Interval{x.Months, x.Days, x.Nanoseconds / 1000}
			}
		case *array.DayTimeInterval:
			for i := range d {
				x := a.Value(i)
				d[i] = Interval{0, x.Days, int64(x.Milliseconds) * 1000}
			}
		case *array.MonthInterval:
			for i := range d {
				d[i] = Interval{Months: int32(a.Value(i))}
			}
		default:
			return false, nil
		}
		v.data = bytesOf(d)
		return true, nil
	}
	return false, nil
}

// fromDecimal reads decimals of any width with the same scale, and integers for a scale of 0.
func fromDecimal(v *Vector, a arrow.Array, t types.DecimalType) (bool, error) {
	wide := v.phys == PhysInt128
	switch at := a.DataType().(type) {
	case *arrow.Decimal128Type:
		if int(at.Scale) != t.Scale {
			return false, nil
		}
		if wide {
			return share[Int128](v, a)
		}
		s, err := bufferAt[Int128](a.Data(), 1)
		if err != nil {
			return false, err
		}
		d := make([]int64, len(s), len(s)+1)
		for i, x := range s {
			d[i] = int64(x.Lo)
			if x.Hi != d[i]>>63 && v.valid.Get(i) {
				return false, fmt.Errorf("vec: an Arrow decimal has more digits than %s", t.SimpleString())
			}
		}
		v.data = bytesOf(d)
		return true, nil
	case *arrow.Decimal256Type:
		if int(at.Scale) != t.Scale {
			return false, nil
		}
		s, err := bufferAt[[4]uint64](a.Data(), 1)
		if err != nil {
			return false, err
		}
		return putDecimals(v, len(s), func(i int) Int128 { return Int128{s[i][0], int64(s[i][1])} }), nil
	case *arrow.Decimal64Type:
		if int(at.Scale) != t.Scale {
			return false, nil
		}
		if !wide {
			return share[int64](v, a)
		}
		s, err := bufferAt[int64](a.Data(), 1)
		return putDecimals(v, len(s), func(i int) Int128 { return int128(s[i]) }), err
	case *arrow.Decimal32Type:
		if int(at.Scale) != t.Scale {
			return false, nil
		}
		s, err := bufferAt[int32](a.Data(), 1)
		return putDecimals(v, len(s), func(i int) Int128 { return int128(int64(s[i])) }), err
	case *arrow.Uint64Type:
		if t.Scale != 0 || !wide {
			return false, nil
		}
		s, err := bufferAt[uint64](a.Data(), 1)
		return putDecimals(v, len(s), func(i int) Int128 { return Int128{s[i], 0} }), err
	}
	return false, nil
}

func int128(x int64) Int128 { return Int128{uint64(x), x >> 63} }

// putDecimals fills v with n unscaled values, in its own width.
func putDecimals(v *Vector, n int, at func(i int) Int128) bool {
	if v.phys == PhysInt128 {
		d := make([]Int128, n, n+1)
		for i := range d {
			d[i] = at(i)
		}
		v.data = bytesOf(d)
		return true
	}
	d := make([]int64, n, n+1)
	for i := range d {
		d[i] = int64(at(i).Lo)
	}
	v.data = bytesOf(d)
	return true
}
