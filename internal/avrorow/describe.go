package avrorow

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/types"
)

// Describe is the schema, in JSON, by which NewWriter writes records: columns that may be null are unions, and what is named within
// is named by where it lies.
func Describe(t types.StructType, name, space string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 { // the whole name
		name, space = name[i+1:], name[:i]
	}
	return string(describe(nil, t, name, space))
}

func describe(b []byte, t types.DataType, name, space string) []byte {
	within := name
	if space != "" {
		within = space + "." + name
	}
	named := func(kind, name, space string) {
		b = append(b, `{"type":"`+kind+`","name":"`+name+`"`...)
		if space != "" {
			b = append(b, `,"namespace":"`+space+`"`...)
		}
	}
	switch t := t.(type) {
	case types.NullType:
		return append(b, `"null"`...)
	case types.BooleanType:
		return append(b, `"boolean"`...)
	case types.ByteType, types.ShortType, types.IntegerType:
		return append(b, `"int"`...)
	case types.LongType:
		return append(b, `"long"`...)
	case types.FloatType:
		return append(b, `"float"`...)
	case types.DoubleType:
		return append(b, `"double"`...)
	case types.BinaryType:
		return append(b, `"bytes"`...)
	case types.DateType:
		return append(b, `{"type":"int","logicalType":"date"}`...)
	case types.TimestampType:
		return append(b, `{"type":"long","logicalType":"timestamp-micros"}`...)
	case types.TimestampNTZType:
		return append(b, `{"type":"long","logicalType":"local-timestamp-micros"}`...)
	case types.TimeType:
		return append(b, `{"type":"long","logicalType":"time-micros"}`...)
	case types.YearMonthIntervalType:
		return append(b, `{"type":"int","spark.sql.catalyst.type":"`+t.TypeName()+`"}`...)
	case types.DayTimeIntervalType:
		return append(b, `{"type":"long","spark.sql.catalyst.type":"`+t.TypeName()+`"}`...)
	case types.DecimalType:
		named("fixed", "fixed", within)
		return append(b, `,"size":`+strconv.Itoa(bytesFor(t.Precision))+`,"logicalType":"decimal","precision":`+strconv.Itoa(t.Precision)+
			`,"scale":`+strconv.Itoa(t.Scale)+`}`...)
	case types.ArrayType:
		b = append(b, `{"type":"array","items":`...)
		return append(describeNullable(b, t.Element, t.ContainsNull, name, space), '}')
	case types.MapType:
		b = append(b, `{"type":"map","values":`...)
		return append(describeNullable(b, t.Value, t.ValueContainsNull, name, space), '}')
	case types.StructType:
		named("record", name, space)
		b = append(b, `,"fields":[`...)
		for i, f := range t.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, `{"name":"`+f.Name+`","type":`...)
			b = append(describeNullable(b, f.Type, f.Nullable, f.Name, within), '}')
		}
		return append(b, `]}`...)
	}
	return append(b, `"string"`...)
}

func describeNullable(b []byte, t types.DataType, nullable bool, name, space string) []byte {
	if !nullable || t == types.DataType(types.Null) {
		return describe(b, t, name, space)
	}
	return append(describe(append(b, '['), t, name, space), `,"null"]`...)
}
