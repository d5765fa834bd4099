package typepb

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

var simple = []types.DataType{
	types.Null, types.Boolean, types.Byte, types.Short, types.Integer, types.Long, types.Float, types.Double, types.String, types.Binary,
	types.Date, types.Timestamp, types.TimestampNTZ, types.Time, types.CalendarInterval, types.Variant,
	types.StringType{Collation: "UNICODE_CI"},
	types.CharType{Length: 3},
	types.VarcharType{Length: 4},
	types.TimeType{Precision: 0},
	types.DecimalType{Precision: 38, Scale: 2},
	types.YearMonthIntervalType{},
	types.YearMonthInterval,
	types.DayTimeIntervalType{Start: types.HourField, End: types.SecondField},
	types.DayTimeInterval,
	types.UserDefinedType{Storage: types.Long, Class: "a.B", PyClass: "m.C", SerializedPythonClass: "x"},
}

func anyType(depth int) *rapid.Generator[types.DataType] {
	return rapid.Custom(func(t *rapid.T) types.DataType {
		kind := rapid.IntRange(0, len(simple)+2).Draw(t, "kind")
		if kind < len(simple) || depth == 0 {
			return simple[kind%len(simple)]
		}
		inner := anyType(depth - 1)
		null := rapid.Bool().Draw(t, "null")
		switch kind - len(simple) {
		case 0:
			return types.ArrayType{Element: inner.Draw(t, "element"), ContainsNull: null}
		case 1:
			return types.MapType{Key: inner.Draw(t, "key"), Value: inner.Draw(t, "value"), ValueContainsNull: null}
		}
		s := types.StructType{}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			s.Fields = append(s.Fields, types.Field{
				Name: rapid.String().Draw(t, "name"), Type: inner.Draw(t, "type"), Nullable: null,
				Metadata: rapid.SampledFrom([]string{"", `{"comment":"c"}`}).Draw(t, "metadata"),
			})
		}
		return s
	})
}

func TestTypesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyType(3).Draw(t, "type")
		raw, err := proto.Marshal(Message(want))
		if err != nil {
			t.Fatal(err)
		}
		m := &connectpb.DataType{}
		if err := proto.Unmarshal(raw, m); err != nil {
			t.Fatal(err)
		}
		got, err := Type(m)
		if err != nil {
			t.Fatal(err)
		}
		if !types.Equal(want, got) {
			t.Errorf("%s became %s", want.SQL(), got.SQL())
		}
	})
}

func TestBadMessages(t *testing.T) {
	deep := &connectpb.DataType{Kind: &connectpb.DataType_Long_{Long: &connectpb.DataType_Long{}}}
	for range maxDepth + 1 {
		deep = &connectpb.DataType{Kind: &connectpb.DataType_Array_{Array: &connectpb.DataType_Array{ElementType: deep}}}
	}
	for name, tt := range map[string]struct {
		m     *connectpb.DataType
		class string
	}{
		"nothing":   {nil, "CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET"},
		"element":   {&connectpb.DataType{Kind: &connectpb.DataType_Array_{Array: &connectpb.DataType_Array{}}}, "CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET"},
		"geometry":  {&connectpb.DataType{Kind: &connectpb.DataType_Geometry_{}}, "CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SUPPORTED"},
		"depth":     {deep, "CONNECT_INVALID_PLAN.TOO_DEEP"},
		"precision": {&connectpb.DataType{Kind: &connectpb.DataType_Decimal_{Decimal: &connectpb.DataType_Decimal{Precision: proto.Int32(39)}}}, "CONNECT_INVALID_PLAN.MALFORMED"},
		"time":      {&connectpb.DataType{Kind: &connectpb.DataType_Time_{Time: &connectpb.DataType_Time{Precision: proto.Int32(7)}}}, "CONNECT_INVALID_PLAN.MALFORMED"},
	} {
		if got, err := Type(tt.m); !errclass.Has(err, tt.class) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	if _, err := Schema(Message(types.Long)); !errclass.Has(err, "CONNECT_INVALID_PLAN.INVALID_SCHEMA") {
		t.Errorf("a schema that is no struct: %v", err)
	}
}
