package millrace

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// literalExpr is the expression of a Go value. Nested values are calls of array, map and named_struct, as other clients send them.
func literalExpr(v any) (*connectpb.Expression, error) {
	if n, ok := v.(int); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
		v = int32(n)
	}
	t, err := types.TypeOf(v)
	if err != nil {
		return nil, err
	}
	value, err := types.ToValue(v, t)
	if err != nil {
		return nil, err
	}
	return valueExpr(value, t)
}

func valueExpr(v any, t types.DataType) (*connectpb.Expression, error) {
	if isEmpty(v) { // a call without arguments has no type of its own
		e := function(nestedFunction(t), false)
		return cast(e, t, connectpb.Expression_Cast_EVAL_MODE_UNSPECIFIED), nil
	}
	var args []*connectpb.Expression
	add := func(v any, t types.DataType) error {
		e, err := valueExpr(v, t)
		args = append(args, e)
		return err
	}
	var err error
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			err = firstError(err, add(e, t.(types.ArrayType).Element))
		}
		return function(nestedFunction(t), false, args...), err
	case types.MapValue:
		for _, e := range v {
			err = firstError(err, add(e.Key, t.(types.MapType).Key), add(e.Value, t.(types.MapType).Value))
		}
		return function(nestedFunction(t), false, args...), err
	case types.Row:
		for i, e := range v {
			f := t.(types.StructType).Fields[i]
			err = firstError(err, add(f.Name, types.String), add(e, f.Type))
		}
		return function(nestedFunction(t), false, args...), err
	}
	l, err := literal(v, t)
	return &connectpb.Expression{ExprType: &connectpb.Expression_Literal_{Literal: l}}, err
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case types.MapValue:
		return len(v) == 0
	}
	return false
}

// nestedFunction is the function that makes values of a nested type.
func nestedFunction(t types.DataType) string {
	switch t.(type) {
	case types.ArrayType:
		return "array"
	case types.MapType:
		return "map"
	}
	return "named_struct"
}

// literal is the message of a value that is not nested.
func literal(v any, t types.DataType) (*connectpb.Expression_Literal, error) {
	l := &connectpb.Expression_Literal{}
	switch v := v.(type) {
	case nil:
		l.LiteralType = &connectpb.Expression_Literal_Null{Null: typepb.Message(t)}
	case bool:
		l.LiteralType = &connectpb.Expression_Literal_Boolean{Boolean: v}
	case int8:
		l.LiteralType = &connectpb.Expression_Literal_Byte{Byte: int32(v)}
	case int16:
		l.LiteralType = &connectpb.Expression_Literal_Short{Short: int32(v)}
	case int32:
		l.LiteralType = &connectpb.Expression_Literal_Integer{Integer: v}
	case int64:
		l.LiteralType = &connectpb.Expression_Literal_Long{Long: v}
	case float32:
		l.LiteralType = &connectpb.Expression_Literal_Float{Float: v}
	case float64:
		l.LiteralType = &connectpb.Expression_Literal_Double{Double: v}
	case types.Decimal:
		d := t.(types.DecimalType)
		l.LiteralType = &connectpb.Expression_Literal_Decimal_{Decimal: &connectpb.Expression_Literal_Decimal{
			Value: v.String(), Precision: proto.Int32(int32(d.Precision)), Scale: proto.Int32(int32(d.Scale)),
		}}
	case string:
		l.LiteralType = &connectpb.Expression_Literal_String_{String_: v}
	case []byte:
		l.LiteralType = &connectpb.Expression_Literal_Binary{Binary: v}
	case types.Days:
		l.LiteralType = &connectpb.Expression_Literal_Date{Date: int32(v)}
	case types.Micros:
		l.LiteralType = &connectpb.Expression_Literal_Timestamp{Timestamp: int64(v)}
	case types.MicrosNTZ:
		l.LiteralType = &connectpb.Expression_Literal_TimestampNtz{TimestampNtz: int64(v)}
	case types.TimeOfDay:
		l.LiteralType = &connectpb.Expression_Literal_Time_{Time: &connectpb.Expression_Literal_Time{Nano: int64(v)}}
	case types.Interval:
		l.LiteralType = &connectpb.Expression_Literal_CalendarInterval_{CalendarInterval: &connectpb.Expression_Literal_CalendarInterval{
			Months: v.Months, Days: v.Days, Microseconds: v.Micros,
		}}
	case types.YearMonth:
		l.LiteralType = &connectpb.Expression_Literal_YearMonthInterval{YearMonthInterval: int32(v)}
	case types.DayTime:
		l.LiteralType = &connectpb.Expression_Literal_DayTimeInterval{DayTimeInterval: int64(v)}
	default:
		return nil, errclass.New("INVALID_VALUE.NO_TYPE", "goType", fmt.Sprintf("%T", v), "path", "literal")
	}
	return l, nil
}

// literalValue is the value of a literal that a server sends, as Rows hold it.
func literalValue(l *connectpb.Expression_Literal) any {
	switch k := l.GetLiteralType().(type) {
	case *connectpb.Expression_Literal_Boolean:
		return k.Boolean
	case *connectpb.Expression_Literal_Byte:
		return int8(k.Byte)
	case *connectpb.Expression_Literal_Short:
		return int16(k.Short)
	case *connectpb.Expression_Literal_Integer:
		return k.Integer
	case *connectpb.Expression_Literal_Long:
		return k.Long
	case *connectpb.Expression_Literal_Float:
		return k.Float
	case *connectpb.Expression_Literal_Double:
		return k.Double
	case *connectpb.Expression_Literal_Decimal_:
		d, _ := types.ParseDecimal(k.Decimal.GetValue())
		return d
	case *connectpb.Expression_Literal_String_:
		return k.String_
	case *connectpb.Expression_Literal_Binary:
		return k.Binary
	case *connectpb.Expression_Literal_Date:
		return types.Days(k.Date).Time()
	case *connectpb.Expression_Literal_Timestamp:
		return types.Micros(k.Timestamp).Time()
	case *connectpb.Expression_Literal_TimestampNtz:
		return types.MicrosNTZ(k.TimestampNtz).Time()
	case *connectpb.Expression_Literal_Time_:
		return types.TimeOfDay(k.Time.GetNano())
	case *connectpb.Expression_Literal_YearMonthInterval:
		return types.YearMonth(k.YearMonthInterval)
	case *connectpb.Expression_Literal_DayTimeInterval:
		return types.DayTime(k.DayTimeInterval).Duration()
	case *connectpb.Expression_Literal_CalendarInterval_:
		i := k.CalendarInterval
		return types.Interval{Months: i.GetMonths(), Days: i.GetDays(), Micros: i.GetMicroseconds()}
	case *connectpb.Expression_Literal_Array_:
		return literalValues(k.Array.GetElements())
	case *connectpb.Expression_Literal_Map_:
		keys, values := literalValues(k.Map.GetKeys()), literalValues(k.Map.GetValues())
		m := make(types.MapValue, min(len(keys), len(values)))
		for i := range m {
			m[i] = types.MapEntry{Key: keys[i], Value: values[i]}
		}
		return m
	case *connectpb.Expression_Literal_Struct_:
		return literalRow(l)
	}
	return nil
}

func literalValues(ls []*connectpb.Expression_Literal) []any {
	out := make([]any, len(ls))
	for i, l := range ls {
		out[i] = literalValue(l)
	}
	return out
}

// literalRow is a Row of a struct's values, with its names if they came along.
func literalRow(l *connectpb.Expression_Literal) Row {
	m := l.GetStruct()
	r := Row{values: literalValues(m.GetElements())}
	if s, err := typepb.Schema(l.GetDataType()); err == nil && s.Len() == len(r.values) {
		r.schema = &s
	}
	return r
}
