package vec

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/internal/errclass"
)

// ToArrow returns the rows that count as a record of a schema, whose types are those that package types maps the columns' types
// to; strings and binary values may be large ones too. Owned memory is shared where the layouts agree, Borrowed memory is
// copied, so that the record may always be kept.
func ToArrow(b *Batch, schema *arrow.Schema) (arrow.RecordBatch, error) {
	if len(b.Cols) != schema.NumFields() {
		return nil, fmt.Errorf("vec: %d columns for an Arrow schema of %d", len(b.Cols), schema.NumFields())
	}
	b = b.Own()
	cols := make([]arrow.Array, len(b.Cols))
	for i, c := range b.Cols {
		a, err := ToArrowArray(c, schema.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", schema.Field(i).Name, err)
		}
		cols[i] = a
	}
	return array.NewRecordBatch(schema, cols, int64(b.N)), nil
}

// ToArrowArray returns a vector as an array of a type, as ToArrow does for the columns of a batch.
func ToArrowArray(v *Vector, at arrow.DataType) (arrow.Array, error) {
	d, err := arrowData(v.Own().Flatten(), at)
	if err != nil {
		return nil, err
	}
	return array.MakeFromData(d), nil
}

// arrowData converts a Flat vector whose memory may be shared.
func arrowData(v *Vector, at arrow.DataType) (*array.Data, error) {
	if v.phys == PhysNull {
		return array.NewData(arrow.Null, v.n, []*memory.Buffer{nil}, nil, v.n, 0), nil
	}
	if e, ok := at.(arrow.ExtensionType); ok {
		d, err := arrowData(v, e.StorageType())
		if err != nil {
			return nil, err
		}
		return array.NewData(at, d.Len(), d.Buffers(), d.Children(), d.NullN(), 0), nil
	}
	var values []byte
	ok := false
	switch v.phys {
	case PhysBool:
		ok = at.ID() == arrow.BOOL
		values = make([]byte, (v.n+7)/8)
		PackBits(values, Fixed[uint8](v))
	case PhysInt8:
		ok = at.ID() == arrow.INT8
		values = v.data
	case PhysInt16:
		ok = at.ID() == arrow.INT16
		values = v.data
	case PhysInt32:
		switch at.ID() {
		case arrow.INT32, arrow.DATE32, arrow.INTERVAL_MONTHS:
			ok = true
		}
		values = v.data
	case PhysInt64:
		switch at := at.(type) {
		case *arrow.Int64Type:
			ok = true
		case *arrow.TimestampType:
			ok = at.Unit == arrow.Microsecond
		case *arrow.DurationType:
			ok = at.Unit == arrow.Microsecond
		case *arrow.Time64Type:
			ok = at.Unit == arrow.Nanosecond
		case *arrow.Decimal128Type:
			wide := make([]Int128, v.n)
			for i, x := range Fixed[int64](v) {
				wide[i] = int128(x)
			}
			return fixedData(v, at, bytesOf(wide)), nil
		}
		values = v.data
	case PhysFloat32:
		ok = at.ID() == arrow.FLOAT32
		values = v.data
	case PhysFloat64:
		ok = at.ID() == arrow.FLOAT64
		values = v.data
	case PhysInt128:
		ok = at.ID() == arrow.DECIMAL128
		values = v.data
	case PhysInterval:
		if at.ID() == arrow.INTERVAL_MONTH_DAY_NANO {
			return intervalData(v, at)
		}
	case PhysBytes:
		switch at.ID() {
		case arrow.STRING, arrow.BINARY:
			return bytesData[int32](v, at)
		case arrow.LARGE_STRING, arrow.LARGE_BINARY:
			return bytesData[int64](v, at)
		}
	case PhysList:
		if lt, is := at.(*arrow.ListType); is {
			return listData(v, at, lt.Elem())
		}
	case PhysMap:
		if mt, is := at.(*arrow.MapType); is {
			return listData(v, at, mt.Elem())
		}
	case PhysStruct:
		if st, is := at.(*arrow.StructType); is && st.NumFields() == len(v.kids) {
			return structData(v, st)
		}
	}
	if !ok {
		return nil, fmt.Errorf("vec: values of %s cannot be written as Arrow type %s", v.typ.SimpleString(), at)
	}
	return fixedData(v, at, values), nil
}

func fixedData(v *Vector, at arrow.DataType, values []byte) *array.Data {
	valid, nulls := validityBuffer(v)
	return array.NewData(at, v.n, []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0)
}

// validityBuffer is v's bitmap in Arrow's form: none without nulls.
func validityBuffer(v *Vector) (*memory.Buffer, int) {
	nulls := v.n - v.valid.Count(v.n)
	if nulls == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(bytesOf(v.valid)[:(v.n+7)/8]), nulls
}

func intervalData(v *Vector, at arrow.DataType) (*array.Data, error) {
	out := make([]arrow.MonthDayNanoInterval, v.n)
	for i, x := range Fixed[Interval](v) {
		if !v.valid.Get(i) {
			continue
		}
		if x.Micros > math.MaxInt64/1000 || x.Micros < math.MinInt64/1000 {
			return nil, fmt.Errorf("vec: an interval of %d microseconds is out of range for Arrow", x.Micros)
		}
		out[i] = arrow.MonthDayNanoInterval{Months: x.Months, Days: x.Days, Nanoseconds: x.Micros * 1000}
	}
	return fixedData(v, at, bytesOf(out)), nil
}

// offsetsOf returns the offsets of v's spans when its rows lie behind one another; ok is false when they do not. Null rows that
// would make a gap are taken to be empty.
func offsetsOf[T int32 | int64](v *Vector) (offsets []T, ok bool) {
	offsets = make([]T, v.n+1)
	if v.n == 0 {
		return offsets, true
	}
	at := v.spans[0].Off
	ok = true
	for i, s := range v.spans {
		ok = ok && s.Off == at
		offsets[i] = T(at)
		at += s.Len
	}
	offsets[v.n] = T(at)
	if ok || v.valid == nil {
		return offsets, ok
	}
	at = 0
	for i, s := range v.spans { // a null row at the start says nothing about where the first value lies
		if v.valid.Get(i) {
			at = s.Off
			break
		}
	}
	for i, s := range v.spans {
		offsets[i] = T(at)
		if v.valid.Get(i) {
			if s.Off != at {
				return nil, false
			}
			at += s.Len
		}
	}
	offsets[v.n] = T(at)
	return offsets, true
}

func bytesData[T int32 | int64](v *Vector, at arrow.DataType) (*array.Data, error) {
	offsets, ok := offsetsOf[T](v)
	if !ok {
		v = v.copyRows()
		offsets, _ = offsetsOf[T](v)
	}
	if unsafe.Sizeof(offsets[0]) == 4 && len(v.buf) > math.MaxInt32 && v.n > 0 {
		if s := v.spans[v.n-1]; uint64(s.Off)+uint64(s.Len) > math.MaxInt32 {
			return nil, fmt.Errorf("vec: more than 2 GiB of text in one batch do not fit Arrow type %s", at)
		}
	}
	valid, nulls := validityBuffer(v)
	bufs := []*memory.Buffer{valid, memory.NewBufferBytes(bytesOf(offsets)), memory.NewBufferBytes(v.buf)}
	return array.NewData(at, v.n, bufs, nil, nulls, 0), nil
}

func (v *Vector) hasNulls() bool { return v.valid.Count(v.n) < v.n }

// listData converts arrays, and maps, whose one child in Arrow is a struct of key and value.
func listData(v *Vector, at, elem arrow.DataType) (*array.Data, error) {
	offsets, ok := offsetsOf[int32](v)
	if !ok {
		v = v.copyRows()
		offsets, _ = offsetsOf[int32](v)
	}
	if v.phys == PhysMap && v.kids[0].hasNulls() {
		v = v.copyRows() // nulls between the rows are none of theirs
		if offsets, _ = offsetsOf[int32](v); v.kids[0].hasNulls() {
			return nil, errclass.New("NULL_MAP_KEY") // Arrow has no such maps
		}
	}
	if v.kids[0].n > math.MaxInt32 {
		return nil, fmt.Errorf("vec: more than %d elements in one batch do not fit Arrow type %s", math.MaxInt32, at)
	}
	var child *array.Data
	var err error
	if v.phys == PhysMap {
		entries := &Vector{typ: v.typ, phys: PhysStruct, n: v.kids[0].n, kids: v.kids}
		child, err = structData(entries, elem.(*arrow.StructType))
	} else {
		child, err = arrowData(v.kids[0], elem)
	}
	if err != nil {
		return nil, err
	}
	valid, nulls := validityBuffer(v)
	bufs := []*memory.Buffer{valid, memory.NewBufferBytes(bytesOf(offsets))}
	return array.NewData(at, v.n, bufs, []arrow.ArrayData{child}, nulls, 0), nil
}

// structData converts structs; the fields of both are in one order.
func structData(v *Vector, st *arrow.StructType) (*array.Data, error) {
	kids := make([]arrow.ArrayData, len(v.kids))
	for i := range kids {
		d, err := arrowData(v.kids[i], st.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", st.Field(i).Name, err)
		}
		kids[i] = d
	}
	valid, nulls := validityBuffer(v)
	return array.NewData(st, v.n, []*memory.Buffer{valid}, kids, nulls, 0), nil
}
