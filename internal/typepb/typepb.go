package typepb

import (
	"fmt"
	"strconv"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// maxDepth bounds how deep data types nest.
const maxDepth = 500

// Type is the type that a message describes.
func Type(m *connectpb.DataType) (types.DataType, error) { return dataType(m, 0) }

func dataType(m *connectpb.DataType, depth int) (types.DataType, error) {
	if depth > maxDepth {
		return nil, errclass.New("CONNECT_INVALID_PLAN.TOO_DEEP", "limit", strconv.Itoa(maxDepth))
	}
	switch k := m.GetKind().(type) {
	case *connectpb.DataType_Null:
		return types.Null, nil
	case *connectpb.DataType_Binary_:
		return types.Binary, nil
	case *connectpb.DataType_Boolean_:
		return types.Boolean, nil
	case *connectpb.DataType_Byte_:
		return types.Byte, nil
	case *connectpb.DataType_Short_:
		return types.Short, nil
	case *connectpb.DataType_Integer_:
		return types.Integer, nil
	case *connectpb.DataType_Long_:
		return types.Long, nil
	case *connectpb.DataType_Float_:
		return types.Float, nil
	case *connectpb.DataType_Double_:
		return types.Double, nil
	case *connectpb.DataType_Decimal_:
		return decimalType(k.Decimal)
	case *connectpb.DataType_String_:
		if c := k.String_.GetCollation(); c != "" && c != "UTF8_BINARY" {
			return types.StringType{Collation: c}, nil
		}
		return types.String, nil
	case *connectpb.DataType_Char_:
		return types.CharType{Length: int(k.Char.GetLength())}, nil
	case *connectpb.DataType_VarChar_:
		return types.VarcharType{Length: int(k.VarChar.GetLength())}, nil
	case *connectpb.DataType_Date_:
		return types.Date, nil
	case *connectpb.DataType_Timestamp_:
		return types.Timestamp, nil
	case *connectpb.DataType_TimestampNtz:
		return types.TimestampNTZ, nil
	case *connectpb.DataType_Time_:
		if k.Time.Precision == nil {
			return types.Time, nil
		}
		if p := k.Time.GetPrecision(); p >= 0 && p <= 6 {
			return types.TimeType{Precision: int(p)}, nil
		}
		return nil, malformed("a TIME has a precision of 0 to 6")
	case *connectpb.DataType_CalendarInterval_:
		return types.CalendarInterval, nil
	case *connectpb.DataType_YearMonthInterval_:
		m := k.YearMonthInterval
		start, end, ok := intervalFields(m.StartField, m.EndField, int32(types.YearField), int32(types.MonthField))
		if !ok {
			return nil, malformed("the fields of a year-month interval are 0 and 1, in this order")
		}
		return types.YearMonthIntervalType{Start: start, End: end}, nil
	case *connectpb.DataType_DayTimeInterval_:
		m := k.DayTimeInterval
		start, end, ok := intervalFields(m.StartField, m.EndField, int32(types.DayField), int32(types.SecondField))
		if !ok {
			return nil, malformed("the fields of a day-time interval are 0 to 3, in this order")
		}
		return types.DayTimeIntervalType{Start: start, End: end}, nil
	case *connectpb.DataType_Array_:
		e, err := dataType(k.Array.GetElementType(), depth+1)
		if err != nil {
			return nil, err
		}
		return types.ArrayType{Element: e, ContainsNull: k.Array.GetContainsNull()}, nil
	case *connectpb.DataType_Map_:
		key, err := dataType(k.Map.GetKeyType(), depth+1)
		if err != nil {
			return nil, err
		}
		v, err := dataType(k.Map.GetValueType(), depth+1)
		if err != nil {
			return nil, err
		}
		return types.MapType{Key: key, Value: v, ValueContainsNull: k.Map.GetValueContainsNull()}, nil
	case *connectpb.DataType_Struct_:
		st := types.StructType{Fields: make([]types.Field, len(k.Struct.GetFields()))}
		for i, f := range k.Struct.GetFields() {
			t, err := dataType(f.GetDataType(), depth+1)
			if err != nil {
				return nil, err
			}
			st.Fields[i] = types.Field{Name: f.GetName(), Type: t, Nullable: f.GetNullable(), Metadata: f.GetMetadata()}
		}
		return st, nil
	case *connectpb.DataType_Variant_:
		return types.Variant, nil
	case *connectpb.DataType_Udt:
		return userType(k.Udt, depth)
	case *connectpb.DataType_Unparsed_:
		return types.ParseDDLType(k.Unparsed.GetDataTypeString())
	case nil:
		return nil, errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET", "fullName", "spark.connect.DataType.kind", "name", "kind")
	}
	return nil, errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SUPPORTED",
		"fullName", "spark.connect.DataType", "name", fmt.Sprintf("%T", m.GetKind()))
}

func malformed(reason string) error {
	return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", reason)
}

func decimalType(m *connectpb.DataType_Decimal) (types.DataType, error) {
	t := types.DecimalType{Precision: 10}
	if m.Precision != nil {
		t.Precision = int(m.GetPrecision())
	}
	t.Scale = int(m.GetScale())
	if t.Precision < 1 || t.Precision > types.MaxPrecision || t.Scale < 0 || t.Scale > t.Precision {
		return nil, malformed("there is no type " + t.SimpleString())
	}
	return t, nil
}

func intervalFields(start, end *int32, first, last int32) (uint8, uint8, bool) {
	s, e := first, last
	if start != nil {
		s = *start
		e = s
	}
	if end != nil {
		e = *end
	}
	if start == nil && end == nil {
		e = last
	}
	return uint8(s), uint8(e), s >= first && s <= e && e <= last
}

func userType(m *connectpb.DataType_UDT, depth int) (types.DataType, error) {
	u := types.UserDefinedType{
		Class: m.GetJvmClass(), PyClass: m.GetPythonClass(), SerializedPythonClass: m.GetSerializedPythonClass(),
	}
	if m.GetSqlType() != nil {
		t, err := dataType(m.GetSqlType(), depth+1)
		if err != nil {
			return nil, err
		}
		u.Storage = t
	}
	return u, nil
}

// Schema is the type of rows that a message describes; it must be a struct.
func Schema(m *connectpb.DataType) (types.StructType, error) {
	t, err := Type(m)
	if err != nil {
		return types.StructType{}, err
	}
	st, ok := t.(types.StructType)
	if !ok {
		return types.StructType{}, errclass.New("CONNECT_INVALID_PLAN.INVALID_SCHEMA", "schema", t.SQL())
	}
	return st, nil
}

// Message is the message of a type.
func Message(t types.DataType) *connectpb.DataType {
	m := &connectpb.DataType{}
	switch t := t.(type) {
	case types.BooleanType:
		m.Kind = &connectpb.DataType_Boolean_{Boolean: &connectpb.DataType_Boolean{}}
	case types.ByteType:
		m.Kind = &connectpb.DataType_Byte_{Byte: &connectpb.DataType_Byte{}}
	case types.ShortType:
		m.Kind = &connectpb.DataType_Short_{Short: &connectpb.DataType_Short{}}
	case types.IntegerType:
		m.Kind = &connectpb.DataType_Integer_{Integer: &connectpb.DataType_Integer{}}
	case types.LongType:
		m.Kind = &connectpb.DataType_Long_{Long: &connectpb.DataType_Long{}}
	case types.FloatType:
		m.Kind = &connectpb.DataType_Float_{Float: &connectpb.DataType_Float{}}
	case types.DoubleType:
		m.Kind = &connectpb.DataType_Double_{Double: &connectpb.DataType_Double{}}
	case types.DecimalType:
		p, s := int32(t.Precision), int32(t.Scale)
		m.Kind = &connectpb.DataType_Decimal_{Decimal: &connectpb.DataType_Decimal{Precision: &p, Scale: &s}}
	case types.StringType:
		c := t.Collation
		if c == "" {
			c = "UTF8_BINARY"
		}
		m.Kind = &connectpb.DataType_String_{String_: &connectpb.DataType_String{Collation: c}}
	case types.CharType:
		m.Kind = &connectpb.DataType_Char_{Char: &connectpb.DataType_Char{Length: int32(t.Length)}}
	case types.VarcharType:
		m.Kind = &connectpb.DataType_VarChar_{VarChar: &connectpb.DataType_VarChar{Length: int32(t.Length)}}
	case types.BinaryType:
		m.Kind = &connectpb.DataType_Binary_{Binary: &connectpb.DataType_Binary{}}
	case types.DateType:
		m.Kind = &connectpb.DataType_Date_{Date: &connectpb.DataType_Date{}}
	case types.TimestampType:
		m.Kind = &connectpb.DataType_Timestamp_{Timestamp: &connectpb.DataType_Timestamp{}}
	case types.TimestampNTZType:
		m.Kind = &connectpb.DataType_TimestampNtz{TimestampNtz: &connectpb.DataType_TimestampNTZ{}}
	case types.TimeType:
		p := int32(t.Precision)
		m.Kind = &connectpb.DataType_Time_{Time: &connectpb.DataType_Time{Precision: &p}}
	case types.CalendarIntervalType:
		m.Kind = &connectpb.DataType_CalendarInterval_{CalendarInterval: &connectpb.DataType_CalendarInterval{}}
	case types.YearMonthIntervalType:
		s, e := int32(t.Start), int32(t.End)
		m.Kind = &connectpb.DataType_YearMonthInterval_{
			YearMonthInterval: &connectpb.DataType_YearMonthInterval{StartField: &s, EndField: &e},
		}
	case types.DayTimeIntervalType:
		s, e := int32(t.Start), int32(t.End)
		m.Kind = &connectpb.DataType_DayTimeInterval_{
			DayTimeInterval: &connectpb.DataType_DayTimeInterval{StartField: &s, EndField: &e},
		}
	case types.ArrayType:
		m.Kind = &connectpb.DataType_Array_{
			Array: &connectpb.DataType_Array{ElementType: Message(t.Element), ContainsNull: t.ContainsNull},
		}
	case types.MapType:
		m.Kind = &connectpb.DataType_Map_{Map: &connectpb.DataType_Map{
			KeyType: Message(t.Key), ValueType: Message(t.Value), ValueContainsNull: t.ValueContainsNull,
		}}
	case types.StructType:
		st := &connectpb.DataType_Struct{}
		for _, f := range t.Fields {
			pf := &connectpb.DataType_StructField{Name: f.Name, DataType: Message(f.Type), Nullable: f.Nullable}
			if f.Metadata != "" {
				meta := f.Metadata
				pf.Metadata = &meta
			}
			st.Fields = append(st.Fields, pf)
		}
		m.Kind = &connectpb.DataType_Struct_{Struct: st}
	case types.VariantType:
		m.Kind = &connectpb.DataType_Variant_{Variant: &connectpb.DataType_Variant{}}
	case types.UserDefinedType:
		u := &connectpb.DataType_UDT{Type: "udt"}
		if t.Class != "" {
			u.JvmClass = &t.Class
		}
		if t.PyClass != "" {
			u.PythonClass = &t.PyClass
		}
		if t.SerializedPythonClass != "" {
			u.SerializedPythonClass = &t.SerializedPythonClass
		}
		if t.Storage != nil {
			u.SqlType = Message(t.Storage)
		}
		m.Kind = &connectpb.DataType_Udt{Udt: u}
	default:
		m.Kind = &connectpb.DataType_Null{Null: &connectpb.DataType_NULL{}}
	}
	return m
}
