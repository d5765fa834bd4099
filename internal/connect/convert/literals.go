package convert

import (
	"math"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// maxTypeDepth bounds how deep literals nest.
const maxTypeDepth = 500

// Literal translates a constant.
func Literal(m *connectpb.Expression_Literal) (*plan.Literal, error) {
	v, t, err := literal(m, nil, 0)
	if err != nil {
		return nil, err
	}
	return &plan.Literal{Value: v, T: t}, nil
}

// literal translates a constant. want is the type that the surrounding literal gives it, or nil.
func literal(m *connectpb.Expression_Literal, want types.DataType, depth int) (any, types.DataType, error) {
	if depth > maxTypeDepth {
		return nil, nil, tooDeep(maxTypeDepth)
	}
	if m.GetDataType() != nil {
		t, err := typepb.Type(m.GetDataType())
		if err != nil {
			return nil, nil, err
		}
		want = t
	}
	switch k := m.GetLiteralType().(type) {
	case *connectpb.Expression_Literal_Null:
		if k.Null.GetKind() == nil && want != nil {
			return nil, want, nil
		}
		t, err := typepb.Type(k.Null)
		return nil, t, err
	case *connectpb.Expression_Literal_Binary:
		return k.Binary, types.Binary, nil
	case *connectpb.Expression_Literal_Boolean:
		return k.Boolean, types.Boolean, nil
	case *connectpb.Expression_Literal_Byte:
		if k.Byte < math.MinInt8 || k.Byte > math.MaxInt8 {
			return nil, nil, badLiteral("a TINYINT is out of range")
		}
		return int8(k.Byte), types.Byte, nil
	case *connectpb.Expression_Literal_Short:
		if k.Short < math.MinInt16 || k.Short > math.MaxInt16 {
			return nil, nil, badLiteral("a SMALLINT is out of range")
		}
		return int16(k.Short), types.Short, nil
	case *connectpb.Expression_Literal_Integer:
		return k.Integer, types.Integer, nil
	case *connectpb.Expression_Literal_Long:
		return k.Long, types.Long, nil
	case *connectpb.Expression_Literal_Float:
		return k.Float, types.Float, nil
	case *connectpb.Expression_Literal_Double:
		return k.Double, types.Double, nil
	case *connectpb.Expression_Literal_Decimal_:
		return decimalLiteral(k.Decimal)
	case *connectpb.Expression_Literal_String_:
		if s, ok := want.(types.StringType); ok {
			return k.String_, s, nil
		}
		return k.String_, types.String, nil
	case *connectpb.Expression_Literal_Date:
		return types.Days(k.Date), types.Date, nil
	case *connectpb.Expression_Literal_Timestamp:
		return types.Micros(k.Timestamp), types.Timestamp, nil
	case *connectpb.Expression_Literal_TimestampNtz:
		return types.MicrosNTZ(k.TimestampNtz), types.TimestampNTZ, nil
	case *connectpb.Expression_Literal_Time_:
		t := types.Time
		if k.Time.Precision != nil {
			t = types.TimeType{Precision: int(k.Time.GetPrecision())}
		}
		return types.TimeOfDay(k.Time.GetNano()), t, nil
	case *connectpb.Expression_Literal_CalendarInterval_:
		i := k.CalendarInterval
		return types.Interval{Months: i.GetMonths(), Days: i.GetDays(), Micros: i.GetMicroseconds()}, types.CalendarInterval, nil
	case *connectpb.Expression_Literal_YearMonthInterval:
		return types.YearMonth(k.YearMonthInterval), types.YearMonthInterval, nil
	case *connectpb.Expression_Literal_DayTimeInterval:
		return types.DayTime(k.DayTimeInterval), types.DayTimeInterval, nil
	case *connectpb.Expression_Literal_Array_:
		return arrayLiteral(k.Array, want, depth)
	case *connectpb.Expression_Literal_Map_:
		return mapLiteral(k.Map, want, depth)
	case *connectpb.Expression_Literal_Struct_:
		return structLiteral(k.Struct, want, depth)
	case *connectpb.Expression_Literal_SpecializedArray_:
		return specialArray(k.SpecializedArray)
	case nil:
		return nil, nil, notSet("spark.connect.Expression.Literal", "literal_type")
	}
	return nil, nil, notSupported("spark.connect.Expression.Literal.literal_type", m.GetLiteralType())
}

func badLiteral(reason string) error {
	return errclass.New("CONNECT_INVALID_PLAN.LITERAL", "reason", reason)
}

func decimalLiteral(m *connectpb.Expression_Literal_Decimal) (any, types.DataType, error) {
	d, ok := types.ParseDecimal(m.GetValue())
	if !ok {
		return nil, nil, badLiteral("'" + m.GetValue() + "' is no decimal number")
	}
	t := types.DecimalType{Precision: max(d.Precision(), d.Scale, 1), Scale: d.Scale}
	if m.Precision != nil {
		t.Precision = int(m.GetPrecision())
	}
	if m.Scale != nil {
		t.Scale = int(m.GetScale())
	}
	if t.Scale < 0 || t.Precision > types.MaxPrecision || t.Scale > t.Precision {
		return nil, nil, badLiteral("there is no type " + t.SimpleString())
	}
	r, ok := d.Rescale(t)
	if !ok {
		return nil, nil, badLiteral("the number " + m.GetValue() + " does not fit " + t.SimpleString())
	}
	return r, t, nil
}

// elements translates the values of a nested literal. Without a type from outside they have that of the first which has one.
func elements(ms []*connectpb.Expression_Literal, want types.DataType, depth int) ([]any, types.DataType, error) {
	out := make([]any, len(ms))
	for i, m := range ms {
		v, t, err := literal(m, want, depth+1)
		if err != nil {
			return nil, nil, err
		}
		out[i] = v
		if want == nil && t != types.Null {
			want = t
		}
	}
	if want == nil {
		want = types.Null
	}
	for i, v := range out {
		if !types.CheckValue(v, want) {
			fitted, err := types.ToValue(v, want)
			if err != nil {
				return nil, nil, badLiteral("the elements of an array or a map have different types")
			}
			out[i] = fitted
		}
	}
	return out, want, nil
}

// wanted translates a type message that may be absent.
func wanted(m *connectpb.DataType, outer types.DataType) (types.DataType, error) {
	if m.GetKind() == nil {
		return outer, nil
	}
	return typepb.Type(m)
}

func arrayLiteral(m *connectpb.Expression_Literal_Array, want types.DataType, depth int) (any, types.DataType, error) {
	var elem types.DataType
	arr, typed := want.(types.ArrayType)
	if typed {
		elem = arr.Element
	}
	elem, err := wanted(elementType(m), elem)
	if err != nil {
		return nil, nil, err
	}
	vs, elem, err := elements(m.GetElements(), elem, depth)
	if err != nil {
		return nil, nil, err
	}
	if !typed {
		arr = types.ArrayOf(elem)
	}
	return vs, arr, nil
}

func mapLiteral(m *connectpb.Expression_Literal_Map, want types.DataType, depth int) (any, types.DataType, error) {
	var kt, vt types.DataType
	mt, typed := want.(types.MapType)
	if typed {
		kt, vt = mt.Key, mt.Value
	}
	kt, err := wanted(keyType(m), kt)
	if err != nil {
		return nil, nil, err
	}
	vt, err = wanted(valueType(m), vt)
	if err != nil {
		return nil, nil, err
	}
	if len(m.GetKeys()) != len(m.GetValues()) {
		return nil, nil, badLiteral("a map has as many keys as values")
	}
	ks, kt, err := elements(m.GetKeys(), kt, depth)
	if err != nil {
		return nil, nil, err
	}
	vs, vt, err := elements(m.GetValues(), vt, depth)
	if err != nil {
		return nil, nil, err
	}
	out := make(types.MapValue, len(ks))
	for i := range ks {
		if ks[i] == nil {
			return nil, nil, badLiteral("a key of a map is null")
		}
		out[i] = types.MapEntry{Key: ks[i], Value: vs[i]}
	}
	if !typed {
		mt = types.MapOf(kt, vt)
	}
	return out, mt, nil
}

func structLiteral(m *connectpb.Expression_Literal_Struct, want types.DataType, depth int) (any, types.DataType, error) {
	want, err := wanted(structType(m), want)
	if err != nil {
		return nil, nil, err
	}
	st, ok := want.(types.StructType)
	if !ok {
		return nil, nil, badLiteral("a struct has no struct type")
	}
	if len(st.Fields) != len(m.GetElements()) {
		return nil, nil, badLiteral("a struct has as many values as its type has fields")
	}
	row := make(types.Row, len(st.Fields))
	for i, e := range m.GetElements() {
		v, _, err := literal(e, st.Fields[i].Type, depth+1)
		if err != nil {
			return nil, nil, err
		}
		if !types.CheckValue(v, st.Fields[i].Type) {
			if v, err = types.ToValue(v, st.Fields[i].Type); err != nil {
				return nil, nil, badLiteral("the value of the field " + st.Fields[i].Name + " is not of its type")
			}
		}
		row[i] = v
	}
	return row, st, nil
}

func specialArray(m *connectpb.Expression_Literal_SpecializedArray) (any, types.DataType, error) {
	switch k := m.GetValueType().(type) {
	case *connectpb.Expression_Literal_SpecializedArray_Bools:
		return boxed(k.Bools.GetValues()), types.ArrayType{Element: types.Boolean}, nil
	case *connectpb.Expression_Literal_SpecializedArray_Ints:
		return boxed(k.Ints.GetValues()), types.ArrayType{Element: types.Integer}, nil
	case *connectpb.Expression_Literal_SpecializedArray_Longs:
		return boxed(k.Longs.GetValues()), types.ArrayType{Element: types.Long}, nil
	case *connectpb.Expression_Literal_SpecializedArray_Floats:
		return boxed(k.Floats.GetValues()), types.ArrayType{Element: types.Float}, nil
	case *connectpb.Expression_Literal_SpecializedArray_Doubles:
		return boxed(k.Doubles.GetValues()), types.ArrayType{Element: types.Double}, nil
	case *connectpb.Expression_Literal_SpecializedArray_Strings:
		return boxed(k.Strings.GetValues()), types.ArrayType{Element: types.String}, nil
	}
	return nil, nil, notSet("spark.connect.Expression.Literal.SpecializedArray", "value_type")
}

func boxed[T any](vs []T) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}

// LiteralMessage is the message of a value.
func LiteralMessage(v any, t types.DataType) *connectpb.Expression_Literal {
	m := &connectpb.Expression_Literal{}
	switch v := v.(type) {
	case bool:
		m.LiteralType = &connectpb.Expression_Literal_Boolean{Boolean: v}
	case int8:
		m.LiteralType = &connectpb.Expression_Literal_Byte{Byte: int32(v)}
	case int16:
		m.LiteralType = &connectpb.Expression_Literal_Short{Short: int32(v)}
	case int32:
		m.LiteralType = &connectpb.Expression_Literal_Integer{Integer: v}
	case int64:
		m.LiteralType = &connectpb.Expression_Literal_Long{Long: v}
	case float32:
		m.LiteralType = &connectpb.Expression_Literal_Float{Float: v}
	case float64:
		m.LiteralType = &connectpb.Expression_Literal_Double{Double: v}
	case types.Decimal:
		d := &connectpb.Expression_Literal_Decimal{Value: v.String()}
		if dt, ok := t.(types.DecimalType); ok {
			p, s := int32(dt.Precision), int32(dt.Scale)
			d.Precision, d.Scale = &p, &s
		}
		m.LiteralType = &connectpb.Expression_Literal_Decimal_{Decimal: d}
	case string:
		m.LiteralType = &connectpb.Expression_Literal_String_{String_: v}
	case []byte:
		m.LiteralType = &connectpb.Expression_Literal_Binary{Binary: v}
	case types.Days:
		m.LiteralType = &connectpb.Expression_Literal_Date{Date: int32(v)}
	case types.Micros:
		m.LiteralType = &connectpb.Expression_Literal_Timestamp{Timestamp: int64(v)}
	case types.MicrosNTZ:
		m.LiteralType = &connectpb.Expression_Literal_TimestampNtz{TimestampNtz: int64(v)}
	case types.TimeOfDay:
		m.LiteralType = &connectpb.Expression_Literal_Time_{Time: &connectpb.Expression_Literal_Time{Nano: int64(v)}}
	case types.Interval:
		m.LiteralType = &connectpb.Expression_Literal_CalendarInterval_{
			CalendarInterval: &connectpb.Expression_Literal_CalendarInterval{Months: v.Months, Days: v.Days, Microseconds: v.Micros},
		}
	case types.YearMonth:
		m.LiteralType = &connectpb.Expression_Literal_YearMonthInterval{YearMonthInterval: int32(v)}
	case types.DayTime:
		m.LiteralType = &connectpb.Expression_Literal_DayTimeInterval{DayTimeInterval: int64(v)}
	case []any:
		nestedArray(m, v, t)
	case types.MapValue:
		nestedMap(m, v, t)
	case types.Row:
		nestedStruct(m, v, t)
	default:
		m.LiteralType = &connectpb.Expression_Literal_Null{Null: typepb.Message(t)}
	}
	return m
}

// Nested values carry their type in the field of today's clients and in the one of older ones.

func nestedArray(m *connectpb.Expression_Literal, v []any, t types.DataType) {
	a, _ := t.(types.ArrayType)
	out := newArray(a)
	for _, e := range v {
		out.Elements = append(out.Elements, LiteralMessage(e, a.Element))
	}
	m.LiteralType, m.DataType = &connectpb.Expression_Literal_Array_{Array: out}, typepb.Message(t)
}

func nestedMap(m *connectpb.Expression_Literal, v types.MapValue, t types.DataType) {
	mt, _ := t.(types.MapType)
	out := newMap(mt)
	for _, e := range v {
		out.Keys = append(out.Keys, LiteralMessage(e.Key, mt.Key))
		out.Values = append(out.Values, LiteralMessage(e.Value, mt.Value))
	}
	m.LiteralType, m.DataType = &connectpb.Expression_Literal_Map_{Map: out}, typepb.Message(t)
}

func nestedStruct(m *connectpb.Expression_Literal, v types.Row, t types.DataType) {
	st, _ := t.(types.StructType)
	out := newStruct(t)
	for i, e := range v {
		var ft types.DataType = types.Null
		if i < len(st.Fields) {
			ft = st.Fields[i].Type
		}
		out.Elements = append(out.Elements, LiteralMessage(e, ft))
	}
	m.LiteralType, m.DataType = &connectpb.Expression_Literal_Struct_{Struct: out}, typepb.Message(t)
}
