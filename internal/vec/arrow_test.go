package vec

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec/valuetest"
	"github.com/millrace/millrace/types"
)

// throughIPC writes a record as a stream and reads it back.
func throughIPC(t interface{ Fatalf(string, ...any) }, rec arrow.RecordBatch) arrow.RecordBatch {
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(rec.Schema()))
	if err := w.Write(rec); err != nil {
		t.Fatalf("write: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	r, err := ipc.NewReader(&buf)
	if err != nil {
		t.Fatalf("reader: %v", err)
	}
	if !r.Next() {
		t.Fatalf("no record: %v", r.Err())
	}
	return r.RecordBatch()
}

func TestArrowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawLen(t)
		st := types.Struct(types.NewField("a", valuetest.Type(t, 2)), types.NewField("b", valuetest.Type(t, 2)))
		b := &Batch{N: n}
		rows := make([][]any, 2)
		for c, f := range st.Fields {
			v, r := drawVector(t, f.Type, n)
			b.Cols, rows[c] = append(b.Cols, v), r
		}
		schema := types.ArrowSchema(st, types.ArrowOptions{LargeVarTypes: rapid.Bool().Draw(t, "large")})
		rec, err := ToArrow(b, schema)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "ipc") {
			rec = throughIPC(t, rec)
		}
		back, err := FromArrow(rec, st)
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.IntRange(0, n).Draw(t, "from")
		to := rapid.IntRange(from, n).Draw(t, "to")
		part, err := FromArrow(rec.NewSlice(int64(from), int64(to)), st)
		if err != nil {
			t.Fatal(err)
		}
		for c := range st.Fields {
			wantValues(t, "back", back.Cols[c], rows[c])
			wantValues(t, "slice", part.Cols[c], rows[c][from:to])
		}
	})
}

func TestToArrowSharesMemory(t *testing.T) {
	b := NewBuilder(types.String)
	for i := range 100 {
		b.AppendString(fmt.Sprint("row", i))
	}
	v := b.Finish()
	a, err := ToArrowArray(v, arrow.BinaryTypes.String)
	if err != nil {
		t.Fatal(err)
	}
	if &a.Data().Buffers()[2].Bytes()[0] != &v.Bytes()[0] {
		t.Error("the bytes of contiguous strings were copied")
	}
	v = NewFixed(types.Long, 100)
	if a, err = ToArrowArray(v, arrow.PrimitiveTypes.Int64); err != nil {
		t.Fatal(err)
	}
	if &a.Data().Buffers()[1].Bytes()[0] != &v.data[0] {
		t.Error("fixed-width values were copied")
	}
	v.SetBorrowed(true)
	if a, err = ToArrowArray(v, arrow.PrimitiveTypes.Int64); err != nil {
		t.Fatal(err)
	}
	if &a.Data().Buffers()[1].Bytes()[0] == &v.data[0] {
		t.Error("borrowed values were shared")
	}
}

func buildArray(b array.Builder, fill func()) arrow.Array {
	fill()
	return b.NewArray()
}

// TestFromArrowForms reads arrays whose layout is not the engine's.
func TestFromArrowForms(t *testing.T) {
	mem := memory.NewGoAllocator()
	ts := func(u arrow.TimeUnit, xs ...int64) arrow.Array {
		b := array.NewTimestampBuilder(mem, &arrow.TimestampType{Unit: u, TimeZone: "UTC"})
		return buildArray(b, func() {
			for _, x := range xs {
				b.Append(arrow.Timestamp(x))
			}
			b.AppendNull()
		})
	}
	sb := array.NewStringViewBuilder(mem)
	views := buildArray(sb, func() {
		sb.Append("short")
		sb.AppendNull()
		sb.Append("a string that is too long for the header")
		sb.Append("another string that is too long for the header")
	})
	dict := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	dicts := buildArray(dict, func() {
		for _, s := range []string{"x", "y", "x"} {
			if err := dict.AppendString(s); err != nil {
				t.Fatal(err)
			}
		}
		dict.AppendNull()
	})
	runs := array.NewRunEndEncodedBuilder(mem, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64)
	ree := buildArray(runs, func() {
		runs.Append(3)
		runs.ValueBuilder().(*array.Int64Builder).Append(7)
		runs.Append(2)
		runs.ValueBuilder().(*array.Int64Builder).AppendNull()
	})
	fb := array.NewFixedSizeListBuilder(mem, 2, arrow.PrimitiveTypes.Int16)
	fixedList := buildArray(fb, func() {
		fb.Append(true)
		fb.ValueBuilder().(*array.Int16Builder).AppendValues([]int16{1, 2}, nil)
		fb.AppendNull()
		fb.Append(true)
		fb.ValueBuilder().(*array.Int16Builder).AppendValues([]int16{3, 4}, nil)
	})
	lb := array.NewLargeListBuilder(mem, arrow.PrimitiveTypes.Int64)
	largeList := buildArray(lb, func() {
		lb.Append(true)
		lb.ValueBuilder().(*array.Int64Builder).AppendValues([]int64{1, 2}, nil)
		lb.AppendNull()
	})
	u8 := array.NewUint8Builder(mem)
	u64 := array.NewUint64Builder(mem)
	f16 := array.NewFloat16Builder(mem)
	d256 := array.NewDecimal256Builder(mem, &arrow.Decimal256Type{Precision: 40, Scale: 1})
	d64 := array.NewDecimal64Builder(mem, &arrow.Decimal64Type{Precision: 5, Scale: 1})
	date64 := array.NewDate64Builder(mem)
	t32 := array.NewTime32Builder(mem, arrow.FixedWidthTypes.Time32s.(*arrow.Time32Type))
	dur := array.NewDurationBuilder(mem, arrow.FixedWidthTypes.Duration_ms.(*arrow.DurationType))
	fsb := array.NewFixedSizeBinaryBuilder(mem, &arrow.FixedSizeBinaryType{ByteWidth: 2})

	cases := []struct {
		name string
		a    arrow.Array
		t    types.DataType
		want []any
	}{
		{"seconds", ts(arrow.Second, 1, -1), types.Timestamp, []any{types.Micros(1_000_000), types.Micros(-1_000_000), nil}},
		{"millis", ts(arrow.Millisecond, 1), types.Timestamp, []any{types.Micros(1000), nil}},
		{"nanos", ts(arrow.Nanosecond, 1500, -1), types.TimestampNTZ, []any{types.MicrosNTZ(1), types.MicrosNTZ(-1), nil}},
		{"views", views, types.String, []any{"short", nil, "a string that is too long for the header", "another string that is too long for the header"}},
		{"dictionary", dicts, types.String, []any{"x", "y", "x", nil}},
		{"dictionary slice", array.NewSlice(dicts, 1, 4), types.String, []any{"y", "x", nil}},
		{"runs", ree, types.Long, []any{int64(7), int64(7), int64(7), nil, nil}},
		{"runs slice", array.NewSlice(ree, 2, 4), types.Long, []any{int64(7), nil}},
		{"fixed list", fixedList, types.ArrayOf(types.Short), []any{[]any{int16(1), int16(2)}, nil, []any{int16(3), int16(4)}}},
		{"fixed list slice", array.NewSlice(fixedList, 2, 3), types.ArrayOf(types.Long), []any{[]any{int64(3), int64(4)}}},
		{"large list", largeList, types.ArrayOf(types.Long), []any{[]any{int64(1), int64(2)}, nil}},
		{"nulls", array.NewNull(2), types.ArrayOf(types.Long), []any{nil, nil}},
		{"uint8", buildArray(u8, func() { u8.Append(200) }), types.Short, []any{int16(200)}},
		{"uint64", buildArray(u64, func() { u64.Append(1 << 63) }), types.DecimalType{Precision: 20}, []any{types.Decimal{Unscaled: decimal128.New(0, 1<<63)}}},
		{"half", buildArray(f16, func() { f16.Append(float16.New(0.5)) }), types.Float, []any{float32(0.5)}},
		{"decimal256", buildArray(d256, func() { d256.Append(decimal256.FromI64(-15)) }), types.DecimalType{Precision: 38, Scale: 1}, []any{types.DecimalFromInt64(-15, 1)}},
		{"decimal64", buildArray(d64, func() { d64.Append(-15) }), types.DecimalType{Precision: 5, Scale: 1}, []any{types.DecimalFromInt64(-15, 1)}},
		{"date64", buildArray(date64, func() { date64.Append(-86_400_000) }), types.Date, []any{types.Days(-1)}},
		{"time32", buildArray(t32, func() { t32.Append(2) }), types.Time, []any{types.TimeOfDay(2_000_000_000)}},
		{"duration", buildArray(dur, func() { dur.Append(2) }), types.DayTimeInterval, []any{types.DayTime(2000)}},
		{"fixed binary", buildArray(fsb, func() { fsb.Append([]byte("ab")); fsb.Append([]byte("cd")) }), types.Binary, []any{[]byte("ab"), []byte("cd")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := FromArrowArray(c.a, c.t)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(c.want, valuesOf(v)); d != "" {
				t.Error(d)
			}
		})
	}
	for _, c := range []struct {
		name string
		a    arrow.Array
		t    types.DataType
	}{
		{"text as number", views, types.Long},
		{"number as text", ree, types.String},
		{"list as struct", largeList, types.Struct(types.NewField("a", types.Long))},
		{"wide as narrow", buildArray(u64, func() { u64.Append(1) }), types.Integer},
		{"seconds that overflow", ts(arrow.Second, 1<<62), types.Timestamp},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v, err := FromArrowArray(c.a, c.t); err == nil {
				t.Errorf("was read as %v", valuesOf(v))
			}
		})
	}
}

// TestFromArrowBadOffsets reads an array that an untrusted client might send.
func TestFromArrowBadOffsets(t *testing.T) {
	for _, offsets := range [][]int32{{0, 5, 3}, {-1, 0, 1}, {0, 1, 99}} {
		bufs := []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf(offsets)), memory.NewBufferBytes([]byte("abc"))}
		d := array.NewData(arrow.BinaryTypes.Binary, 2, bufs, nil, 0, 0)
		func() {
			defer func() { _ = recover() }() // the library may see it first
			if v, err := FromArrowArray(array.MakeFromData(d), types.Binary); err == nil {
				t.Errorf("offsets %v were read as %v", offsets, valuesOf(v))
			}
		}()
	}
}

func TestStructFieldsByName(t *testing.T) {
	mem := memory.NewGoAllocator()
	b := array.NewStructBuilder(mem, arrow.StructOf(
		arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary}))
	b.Append(true)
	b.FieldBuilder(0).(*array.BinaryBuilder).Append([]byte("m"))
	b.FieldBuilder(1).(*array.BinaryBuilder).Append([]byte("v"))
	v, err := FromArrowArray(b.NewArray(), types.Variant)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{types.VariantValue{Value: []byte("v"), Metadata: []byte("m")}}
	if d := diff(want, valuesOf(v)); d != "" {
		t.Error(d)
	}
}
