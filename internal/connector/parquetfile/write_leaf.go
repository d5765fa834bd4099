package parquetfile

import (
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func newLeafWriter(t types.DataType) leafWriter {
	switch t := t.(type) {
	case types.NullType:
		return nullWriter{}
	case types.BooleanType:
		return &boolWriter{}
	case types.ByteType:
		return &fixedWriter[int8, int32]{to: func(x int8) int32 { return int32(x) }, put: putInt32}
	case types.ShortType:
		return &fixedWriter[int16, int32]{to: func(x int16) int32 { return int32(x) }, put: putInt32}
	case types.IntegerType, types.DateType, types.YearMonthIntervalType:
		return &fixedWriter[int32, int32]{put: putInt32}
	case types.FloatType:
		return &fixedWriter[float32, float32]{put: func(w file.ColumnChunkWriter, v []float32, d, r []int16) error {
			_, err := w.(*file.Float32ColumnChunkWriter).WriteBatch(v, d, r)
			return err
		}}
	case types.DoubleType:
		return &fixedWriter[float64, float64]{put: func(w file.ColumnChunkWriter, v []float64, d, r []int16) error {
			_, err := w.(*file.Float64ColumnChunkWriter).WriteBatch(v, d, r)
			return err
		}}
	case types.TimeType:
		return &fixedWriter[int64, int64]{to: func(x int64) int64 { return x / 1000 }, put: putInt64}
	case types.DecimalType:
		switch {
		case t.Precision <= 9:
			return &fixedWriter[int64, int32]{to: func(x int64) int32 { return int32(x) }, put: putInt32}
		case t.Precision <= 18:
			return &fixedWriter[int64, int64]{put: putInt64}
		}
		return &decimalWriter{size: decimalBytes(t.Precision)}
	case types.StringType, types.CharType, types.VarcharType, types.BinaryType:
		return &bytesWriter{}
	}
	return &fixedWriter[int64, int64]{put: putInt64}
}

func putInt32(w file.ColumnChunkWriter, v []int32, d, r []int16) error {
	_, err := w.(*file.Int32ColumnChunkWriter).WriteBatch(v, d, r)
	return err
}

func putInt64(w file.ColumnChunkWriter, v []int64, d, r []int16) error {
	_, err := w.(*file.Int64ColumnChunkWriter).WriteBatch(v, d, r)
	return err
}

// fixedWriter writes values of fixed width, converted when to is set.
type fixedWriter[V vec.FixedWidth, T any] struct {
	to  func(V) T
	put func(w file.ColumnChunkWriter, v []T, defs, reps []int16) error
	buf []T
}

func (f *fixedWriter[V, T]) write(out file.ColumnChunkWriter, v *vec.Vector, idx []uint32, defs, reps []int16) error {
	values := vec.Fixed[V](v.Flatten())
	if direct, ok := any(values).([]T); ok && idx == nil && f.to == nil {
		return f.put(out, direct[:len(defs)], defs, reps)
	}
	n := len(idx)
	if idx == nil {
		n = len(defs)
	}
	f.buf = growTo(f.buf[:0], n)
	buf := f.buf
	switch direct, same := any(values).([]T); {
	case f.to == nil && same:
		for i, x := range idx {
			buf[i] = direct[x]
		}
	case idx == nil:
		for i := range buf {
			buf[i] = f.to(values[i])
		}
	default:
		for i, x := range idx {
			buf[i] = f.to(values[x])
		}
	}
	return f.put(out, buf, defs, reps)
}

// boolWriter writes booleans.
type boolWriter struct{ buf []bool }

func (b *boolWriter) write(out file.ColumnChunkWriter, v *vec.Vector, idx []uint32, defs, reps []int16) error {
	values := vec.Fixed[uint8](v.Flatten())
	b.buf = b.buf[:0]
	if idx == nil {
		for _, x := range values[:len(defs)] {
			b.buf = append(b.buf, x != 0)
		}
	}
	for _, x := range idx {
		b.buf = append(b.buf, values[x] != 0)
	}
	_, err := out.(*file.BooleanColumnChunkWriter).WriteBatch(b.buf, defs, reps)
	return err
}

// nullWriter writes a column of nulls.
type nullWriter struct{}

func (nullWriter) write(out file.ColumnChunkWriter, _ *vec.Vector, _ []uint32, defs, reps []int16) error {
	_, err := out.(*file.BooleanColumnChunkWriter).WriteBatch(nil, defs, reps)
	return err
}

// bytesWriter writes strings and binary values.
type bytesWriter struct{ buf []parquet.ByteArray }

func (b *bytesWriter) write(out file.ColumnChunkWriter, v *vec.Vector, idx []uint32, defs, reps []int16) error {
	b.buf = b.buf[:0]
	if v.Encoding() == vec.Flat {
		spans, bytes := v.Spans(), v.Bytes()
		if idx == nil {
			for _, s := range spans[:len(defs)] {
				b.buf = append(b.buf, bytes[s.Off:s.Off+s.Len:s.Off+s.Len])
			}
		}
		for _, x := range idx {
			s := spans[x]
			b.buf = append(b.buf, bytes[s.Off:s.Off+s.Len:s.Off+s.Len])
		}
	} else {
		if idx == nil {
			for i := range defs {
				b.buf = append(b.buf, v.BytesAt(i))
			}
		}
		for _, x := range idx {
			b.buf = append(b.buf, v.BytesAt(int(x)))
		}
	}
	_, err := out.(*file.ByteArrayColumnChunkWriter).WriteBatch(b.buf, defs, reps)
	return err
}

// decimalWriter writes decimals as big-endian numbers of fixed length.
type decimalWriter struct {
	size int
	mem  []byte
	buf  []parquet.FixedLenByteArray
}

func (d *decimalWriter) write(out file.ColumnChunkWriter, v *vec.Vector, idx []uint32, defs, reps []int16) error {
	values := vec.Fixed[vec.Int128](v.Flatten())
	n := len(idx)
	if idx == nil {
		n = len(defs)
	}
	d.mem = growTo(d.mem[:0], n*d.size)
	d.buf = d.buf[:0]
	for i := range n {
		row := i
		if idx != nil {
			row = int(idx[i])
		}
		b := d.mem[i*d.size : (i+1)*d.size]
		putBigEndian(b, values[row])
		d.buf = append(d.buf, b)
	}
	_, err := out.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(d.buf, defs, reps)
	return err
}

func putBigEndian(b []byte, x vec.Int128) {
	lo, hi := x.Lo, uint64(x.Hi)
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte(lo)
		lo = lo>>8 | hi<<56
		hi = uint64(int64(hi) >> 8)
	}
}
