package types

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
)

func TestArrowForms(t *testing.T) {
	opt := ArrowOptions{TimeZone: "Europe/Berlin"}
	for _, c := range []struct {
		t    DataType
		want string
	}{
		{Null, "null"},
		{Boolean, "bool"},
		{Byte, "int8"},
		{Short, "int16"},
		{Integer, "int32"},
		{Long, "int64"},
		{Float, "float32"},
		{Double, "float64"},
		{DecimalType{10, 2}, "decimal(10, 2)"},
		{StringType{"UNICODE"}, "utf8"},
		{CharType{3}, "utf8"},
		{Binary, "binary"},
		{Date, "date32"},
		{Timestamp, "timestamp[us, tz=Europe/Berlin]"},
		{TimestampNTZ, "timestamp[us]"},
		{Time, "time64[ns]"},
		{CalendarInterval, "month_day_nano_interval"},
		{YearMonthInterval, "month_interval"},
		{DayTimeInterval, "duration[us]"},
		{ArrayType{Integer, false}, "list<element: int32>"},
		{ArrayOf(Integer), "list<element: int32, nullable>"},
		{MapOf(String, Long), "map<utf8, int64, items_nullable>"},
		{Struct(Field{Name: "a", Type: Integer}, NewField("b", String)), "struct<a: int32, b: utf8 nullable>"},
		{Variant, "struct<value: binary, metadata: binary>"},
		{UserDefinedType{Storage: Double}, "float64"},
	} {
		if got := ArrowType(c.t, opt).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.t.SQL(), got, c.want)
		}
	}
	large := ArrowOptions{LargeVarTypes: true}
	if got := ArrowType(Struct(NewField("s", String), NewField("b", Binary), NewField("v", Variant), NewField("t", Timestamp)), large).String(); got !=
		"struct<s: large_utf8 nullable, b: large_binary nullable, v: struct<value: large_binary, metadata: large_binary> nullable, t: timestamp[us, tz=UTC] nullable>" {
		t.Errorf("large types: %s", got)
	}
	m := ArrowType(MapType{String, Long, false}, opt).(*arrow.MapType)
	if m.KeyField().Nullable || m.ItemField().Nullable || m.ElemField().Name != "entries" || m.KeyField().Name != "key" || m.ItemField().Name != "value" {
		t.Errorf("map: %+v %+v", m.KeyField(), m.ItemField())
	}
	f := ArrowField(Field{Name: "a", Type: Integer, Metadata: `{"x":1}`}, opt)
	if v, ok := f.Metadata.GetValue("SPARK::metadata::json"); !ok || v != `{"x":1}` || f.Nullable {
		t.Errorf("field: %+v", f)
	}
}

func TestFromArrowForeign(t *testing.T) {
	for _, c := range []struct {
		a    arrow.DataType
		want DataType
	}{
		{arrow.PrimitiveTypes.Uint8, Short},
		{arrow.PrimitiveTypes.Uint16, Integer},
		{arrow.PrimitiveTypes.Uint32, Long},
		{arrow.PrimitiveTypes.Uint64, DecimalType{20, 0}},
		{arrow.FixedWidthTypes.Float16, Float},
		{arrow.BinaryTypes.LargeString, String},
		{arrow.BinaryTypes.StringView, String},
		{&arrow.FixedSizeBinaryType{ByteWidth: 4}, Binary},
		{arrow.FixedWidthTypes.Date64, Date},
		{arrow.FixedWidthTypes.Timestamp_ns, Timestamp},
		{&arrow.TimestampType{Unit: arrow.Second}, TimestampNTZ},
		{arrow.FixedWidthTypes.Time32ms, Time},
		{arrow.FixedWidthTypes.Duration_s, DayTimeInterval},
		{arrow.LargeListOf(arrow.PrimitiveTypes.Int8), ArrayOf(Byte)},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), ArrayOf(Byte)},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, String},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), Long},
		{&arrow.Decimal256Type{Precision: 38, Scale: 3}, DecimalType{38, 3}},
		{&arrow.Decimal128Type{Precision: 5, Scale: -2}, DecimalType{7, 0}},
		{&arrow.Decimal32Type{Precision: 9, Scale: 2}, DecimalType{9, 2}},
		{
			arrow.StructOf(arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}),
			Struct(Field{Name: "value", Type: Binary}, Field{Name: "metadata", Type: Binary}),
		},
	} {
		if got, err := fromArrow(c.a, 0); err != nil || !Equal(got, c.want) {
			t.Errorf("%s: %v, %v", c.a, got, err)
		}
	}
	for _, a := range []arrow.DataType{
		nil, &arrow.Decimal256Type{Precision: 60, Scale: 3}, arrow.DenseUnionOf(nil, nil), arrow.ListOf(arrow.DenseUnionOf(nil, nil)),
		arrow.StructOf(arrow.Field{Name: "u", Type: arrow.DenseUnionOf(nil, nil)}),
	} {
		if got, err := fromArrow(a, 0); got != nil || !errclass.Has(err, "UNSUPPORTED_ARROWTYPE") {
			t.Errorf("%v: %v, %v", a, got, err)
		}
	}
	odd := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Metadata: arrow.NewMetadata([]string{arrowMetadataKey}, []string{"oops"})}
	if f, err := fromArrowField(odd, 0); err != nil || f.Metadata != "" {
		t.Errorf("foreign metadata: %+v, %v", f, err)
	}
}

// inArrow gives what Arrow can say about a type.
func inArrow(t DataType) DataType {
	switch t := t.(type) {
	case StringType, CharType, VarcharType:
		return String
	case TimeType:
		return Time
	case YearMonthIntervalType:
		return YearMonthInterval
	case DayTimeIntervalType:
		return DayTimeInterval
	case ArrayType:
		return ArrayType{inArrow(t.Element), t.ContainsNull}
	case MapType:
		return MapType{inArrow(t.Key), inArrow(t.Value), t.ValueContainsNull}
	case StructType:
		s := StructType{}
		for _, f := range t.Fields {
			f.Type = inArrow(f.Type)
			s.Fields = append(s.Fields, f)
		}
		return s
	}
	return t
}

func TestArrowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyStruct(2).Draw(t, "schema")
		opt := ArrowOptions{LargeVarTypes: rapid.Bool().Draw(t, "large"), TimeZone: rapid.SampledFrom([]string{"", "Asia/Tokyo"}).Draw(t, "zone")}
		back, err := FromArrowSchema(ArrowSchema(s, opt))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(JSON(inArrow(s)), JSON(back)); d != "" {
			t.Fatal(d)
		}
	})
}
