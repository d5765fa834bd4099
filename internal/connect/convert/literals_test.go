package convert

import (
	"reflect"
	"testing"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// A value that goes out as a message comes back the same.
func TestLiteralsThereAndBack(t *testing.T) {
	point := types.Struct(types.Field{Name: "x", Type: types.Integer}, types.NewField("s", types.String))
	for _, c := range []struct {
		t types.DataType
		v any
	}{
		{types.Boolean, true},
		{types.Byte, int8(-3)},
		{types.Short, int16(300)},
		{types.Integer, int32(1)},
		{types.Long, int64(1 << 40)},
		{types.Float, float32(1.5)},
		{types.Double, 2.5},
		{types.DecimalType{Precision: 10, Scale: 2}, types.DecimalFromInt64(150, 2)},
		{types.String, "x"},
		{types.Binary, []byte{1, 2}},
		{types.Date, types.Days(1)},
		{types.Timestamp, types.Micros(1)},
		{types.TimestampNTZ, types.MicrosNTZ(1)},
		{types.Time, types.TimeOfDay(1)},
		{types.CalendarInterval, types.Interval{Months: 1, Days: 2, Micros: 3}},
		{types.YearMonthInterval, types.YearMonth(13)},
		{types.DayTimeInterval, types.DayTime(1)},
		{types.ArrayOf(types.Integer), []any{int32(1), nil}},
		{types.MapOf(types.String, types.Long), types.MapValue{{Key: "a", Value: int64(1)}, {Key: "b"}}},
		{point, types.Row{int32(1), nil}},
		{types.ArrayOf(point), []any{types.Row{int32(1), "x"}}},
		{types.Integer, nil},
		{types.ArrayType{Element: types.String}, nil},
	} {
		l, err := Literal(LiteralMessage(c.v, c.t))
		if err != nil {
			t.Errorf("%s: %v", c.t.SQL(), err)
			continue
		}
		if !reflect.DeepEqual(c.v, l.Value) {
			t.Errorf("%s: %v came back as %v", c.t.SQL(), c.v, l.Value)
		}
		if !types.Equal(c.t, l.T) {
			t.Errorf("%s came back as %s", c.t.SQL(), l.T.SQL())
		}
	}
}

func TestBadLiterals(t *testing.T) {
	for want, m := range map[string]*connectpb.Expression_Literal{
		"CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET": {},
		"CONNECT_INVALID_PLAN.LITERAL": {LiteralType: &connectpb.Expression_Literal_Decimal_{
			Decimal: &connectpb.Expression_Literal_Decimal{Value: "1.x"},
		}},
	} {
		if _, err := Literal(m); !errclass.Has(err, want) {
			t.Errorf("%v: %v", m, err)
		}
	}
	big := &connectpb.Expression_Literal{LiteralType: &connectpb.Expression_Literal_Byte{Byte: 300}}
	if _, err := Literal(big); !errclass.Has(err, "CONNECT_INVALID_PLAN.LITERAL") {
		t.Errorf("a TINYINT of 300: %v", err)
	}
	deep := big
	for range maxTypeDepth + 1 {
		deep = &connectpb.Expression_Literal{LiteralType: &connectpb.Expression_Literal_Array_{
			Array: &connectpb.Expression_Literal_Array{Elements: []*connectpb.Expression_Literal{deep}},
		}}
	}
	if _, err := Literal(deep); !errclass.Has(err, "CONNECT_INVALID_PLAN.TOO_DEEP") {
		t.Errorf("a deep literal: %v", err)
	}
}
