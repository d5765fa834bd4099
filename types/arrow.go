package types

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/errclass"
)

// ArrowOptions are the choices in the Arrow form of a schema.
type ArrowOptions struct {
	// TimeZone is the zone that TIMESTAMP columns carry; empty stands for UTC. It does not
	// change the values.
	TimeZone string
	// LargeVarTypes makes strings and binaries use 64 bit offsets.
	LargeVarTypes bool
	// DistinctNames numbers the fields of a struct that have the same name, as Spark Connect does.
	DistinctNames bool
}

// variantMark is how Spark marks the metadata child of a variant's struct.
var variantMark = arrow.NewMetadata([]string{"variant"}, []string{"true"})

// ArrowSchema is the Arrow form of a schema, as Spark Connect sends it.
func ArrowSchema(s StructType, opt ArrowOptions) *arrow.Schema {
	return arrow.NewSchema(arrowFields(s.Fields, opt), nil)
}

func arrowFields(fields []Field, opt ArrowOptions) []arrow.Field {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		out[i] = ArrowField(f, opt)
	}
	return out
}

// distinguish numbers fields of the same name: a_0, a_1.
func distinguish(fields []arrow.Field) {
	count := map[string]int{}
	for _, f := range fields {
		count[f.Name]++
	}
	next := map[string]int{}
	for i, f := range fields {
		if count[f.Name] > 1 {
			fields[i].Name = fmt.Sprintf("%s_%d", f.Name, next[f.Name])
			next[f.Name]++
		}
	}
}

// ArrowField is the Arrow form of a column. Its metadata are kept as Spark keeps them.
func ArrowField(f Field, opt ArrowOptions) arrow.Field {
	a := arrow.Field{Name: f.Name, Type: ArrowType(f.Type, opt), Nullable: f.Nullable}
	if f.Metadata != "" && f.Metadata != emptyJSONObject {
		a.Metadata = arrow.NewMetadata([]string{arrowMetadataKey}, []string{f.Metadata})
	}
	return a
}

// ArrowType is the Arrow form of a type.
func ArrowType(t DataType, opt ArrowOptions) arrow.DataType {
	switch t := t.(type) {
	case BooleanType:
		return arrow.FixedWidthTypes.Boolean
	case ByteType:
		return arrow.PrimitiveTypes.Int8
	case ShortType:
		return arrow.PrimitiveTypes.Int16
	case IntegerType:
		return arrow.PrimitiveTypes.Int32
	case LongType:
		return arrow.PrimitiveTypes.Int64
	case FloatType:
		return arrow.PrimitiveTypes.Float32
	case DoubleType:
		return arrow.PrimitiveTypes.Float64
	case DecimalType:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case StringType, CharType, VarcharType:
		if opt.LargeVarTypes {
			return arrow.BinaryTypes.LargeString
		}
		return arrow.BinaryTypes.String
	case BinaryType:
		return arrowBinary(opt)
	case DateType:
		return arrow.FixedWidthTypes.Date32
	case TimestampType:
		zone := opt.TimeZone
		if zone == "" {
			zone = "UTC"
		}
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: zone}
	case TimestampNTZType:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case TimeType:
		return arrow.FixedWidthTypes.Time64ns
	case CalendarIntervalType:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case YearMonthIntervalType:
		return arrow.FixedWidthTypes.MonthInterval
	case DayTimeIntervalType:
		return arrow.FixedWidthTypes.Duration_us
	case ArrayType:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: ArrowType(t.Element, opt), Nullable: t.ContainsNull})
	case MapType:
		return arrow.MapOfFields(
			arrow.Field{Name: "key", Type: ArrowType(t.Key, opt)},
			arrow.Field{Name: "value", Type: ArrowType(t.Value, opt), Nullable: t.ValueContainsNull})
	case StructType:
		fields := arrowFields(t.Fields, opt)
		if opt.DistinctNames {
			distinguish(fields)
		}
		return arrow.StructOf(fields...)
	case VariantType:
		return arrow.StructOf(
			arrow.Field{Name: "value", Type: arrowBinary(opt)},
			arrow.Field{Name: "metadata", Type: arrowBinary(opt), Metadata: variantMark})
	case UserDefinedType:
		return ArrowType(orNull(t.Storage), opt)
	}
	return arrow.Null
}

func arrowBinary(opt ArrowOptions) arrow.DataType {
	if opt.LargeVarTypes {
		return arrow.BinaryTypes.LargeBinary
	}
	return arrow.BinaryTypes.Binary
}

// FromArrowSchema is the type of rows that an Arrow schema describes.
func FromArrowSchema(s *arrow.Schema) (StructType, error) {
	return fromArrowFields(s.Fields(), 0)
}

func fromArrowFields(fields []arrow.Field, depth int) (StructType, error) {
	out := StructType{}
	for _, a := range fields {
		f, err := fromArrowField(a, depth)
		if err != nil {
			return StructType{}, err
		}
		out.Fields = append(out.Fields, f)
	}
	return out, nil
}

func fromArrowField(a arrow.Field, depth int) (Field, error) {
	t, err := fromArrow(a.Type, depth)
	if err != nil {
		return Field{}, err
	}
	f := Field{Name: a.Name, Type: t, Nullable: a.Nullable}
	if text, ok := a.Metadata.GetValue(arrowMetadataKey); ok {
		if m, err := parseObject(text); err == nil { // foreign metadata that are no object are not ours
			f.Metadata = m.String()
		}
	}
	return f, nil
}

func fromArrow(a arrow.DataType, depth int) (DataType, error) {
	if depth > maxDepth {
		return nil, errclass.New("FAILED_TO_PARSE_TOO_COMPLEX")
	}
	switch a := a.(type) {
	case *arrow.NullType:
		return Null, nil
	case *arrow.BooleanType:
		return Boolean, nil
	case *arrow.Int8Type:
		return Byte, nil
	case *arrow.Int16Type, *arrow.Uint8Type:
		return Short, nil
	case *arrow.Int32Type, *arrow.Uint16Type:
		return Integer, nil
	case *arrow.Int64Type, *arrow.Uint32Type:
		return Long, nil
	case *arrow.Uint64Type:
		return DecimalType{20, 0}, nil
	case *arrow.Float16Type, *arrow.Float32Type:
		return Float, nil
	case *arrow.Float64Type:
		return Double, nil
	case arrow.DecimalType:
		p, s := int(a.GetPrecision()), int(a.GetScale())
		if s < 0 {
			p, s = p-s, 0
		}
		if p <= MaxPrecision && s <= p {
			return DecimalType{p, s}, nil
		}
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return String, nil
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		return Binary, nil
	case *arrow.Date32Type, *arrow.Date64Type:
		return Date, nil
	case *arrow.TimestampType:
		if a.TimeZone == "" {
			return TimestampNTZ, nil
		}
		return Timestamp, nil
	case *arrow.Time32Type, *arrow.Time64Type:
		return Time, nil
	case *arrow.MonthDayNanoIntervalType:
		return CalendarInterval, nil
	case *arrow.MonthIntervalType:
		return YearMonthInterval, nil
	case *arrow.DurationType, *arrow.DayTimeIntervalType:
		return DayTimeInterval, nil
	case *arrow.MapType:
		key, err := fromArrow(a.KeyType(), depth+1)
		if err != nil {
			return nil, err
		}
		value, err := fromArrow(a.ItemType(), depth+1)
		if err != nil {
			return nil, err
		}
		return MapType{key, value, a.ItemField().Nullable}, nil
	case arrow.ListLikeType:
		element, err := fromArrow(a.Elem(), depth+1)
		if err != nil {
			return nil, err
		}
		return ArrayType{element, a.ElemField().Nullable}, nil
	case *arrow.StructType:
		if isArrowVariant(a) {
			return Variant, nil
		}
		return orError(fromArrowFields(a.Fields(), depth+1))
	case *arrow.DictionaryType:
		return fromArrow(a.ValueType, depth+1)
	case *arrow.RunEndEncodedType:
		return fromArrow(a.Encoded(), depth+1)
	case arrow.ExtensionType:
		return fromArrow(a.StorageType(), depth+1)
	}
	name := "nil"
	if a != nil {
		name = a.String()
	}
	return nil, errclass.New("UNSUPPORTED_ARROWTYPE", "typeName", errclass.Expr(name))
}

// orError keeps a failed struct from becoming a non-nil DataType.
func orError(s StructType, err error) (DataType, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func isArrowVariant(a *arrow.StructType) bool {
	if a.NumFields() != 2 {
		return false
	}
	for _, f := range a.Fields() {
		if f.Name == "metadata" {
			mark, ok := f.Metadata.GetValue("variant")
			return ok && mark == "true"
		}
	}
	return false
}
