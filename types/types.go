package types

import (
	"strconv"
	"strings"
)

// DataType is a type of Spark SQL. The set of implementations is closed: a type switch over
// the struct types of this package is complete.
type DataType interface {
	// TypeName is the name in JSON and in printSchema: "integer", "decimal(10,2)", "struct".
	TypeName() string
	// SimpleString is the short form: "int", "array<int>", "struct<a:int>".
	SimpleString() string
	// SQL is the form that ParseType reads: "INT", "ARRAY<INT>", "STRUCT<a: INT NOT NULL>".
	SQL() string

	dataType()
}

// The types without parameters.
type (
	// NullType is VOID, the type of the literal NULL.
	NullType struct{}
	// BooleanType is BOOLEAN.
	BooleanType struct{}
	// ByteType is TINYINT, 8 bits.
	ByteType struct{}
	// ShortType is SMALLINT, 16 bits.
	ShortType struct{}
	// IntegerType is INT, 32 bits.
	IntegerType struct{}
	// LongType is BIGINT, 64 bits.
	LongType struct{}
	// FloatType is FLOAT, 32 bits.
	FloatType struct{}
	// DoubleType is DOUBLE, 64 bits.
	DoubleType struct{}
	// BinaryType is BINARY.
	BinaryType struct{}
	// DateType is DATE, days since 1970-01-01 in the proleptic Gregorian calendar.
	DateType struct{}
	// TimestampType is TIMESTAMP, an instant in microseconds since 1970-01-01 UTC, shown in the
	// time zone of the session.
	TimestampType struct{}
	// TimestampNTZType is TIMESTAMP_NTZ, a date and a time of day without a time zone.
	TimestampNTZType struct{}
	// CalendarIntervalType is INTERVAL: months, days and microseconds that do not convert into each other.
	CalendarIntervalType struct{}
	// VariantType is VARIANT, semi-structured data in two binary parts.
	VariantType struct{}
)

// DecimalType is DECIMAL(Precision, Scale): Precision digits, Scale of them behind the point.
type DecimalType struct{ Precision, Scale int }

// StringType is STRING. Collation is empty for UTF8_BINARY.
type StringType struct{ Collation string }

// CharType is CHAR(Length), padded with blanks.
type CharType struct{ Length int }

// VarcharType is VARCHAR(Length).
type VarcharType struct{ Length int }

// TimeType is TIME(Precision), a time of day with up to Precision digits behind the seconds.
type TimeType struct{ Precision int }

// The fields of ANSI interval types, numbered as on the wire.
const (
	YearField  uint8 = 0
	MonthField uint8 = 1

	DayField    uint8 = 0
	HourField   uint8 = 1
	MinuteField uint8 = 2
	SecondField uint8 = 3
)

// YearMonthIntervalType is INTERVAL Start TO End with YearField and MonthField. The zero value
// is INTERVAL YEAR; the full type is the variable YearMonthInterval.
type YearMonthIntervalType struct{ Start, End uint8 }

// DayTimeIntervalType is INTERVAL Start TO End with DayField to SecondField. The zero value is
// INTERVAL DAY; the full type is the variable DayTimeInterval.
type DayTimeIntervalType struct{ Start, End uint8 }

// ArrayType is ARRAY<Element>.
type ArrayType struct {
	Element      DataType
	ContainsNull bool
}

// MapType is MAP<Key, Value>. Keys are never null.
type MapType struct {
	Key, Value        DataType
	ValueContainsNull bool
}

// StructType is STRUCT<...> and, at the top, a schema.
type StructType struct{ Fields []Field }

// Schema is the type of rows.
type Schema = StructType

// Field is a field of a struct or a column of a schema.
type Field struct {
	Name     string
	Type     DataType
	Nullable bool
	Metadata string // a JSON object, or empty for none
}

// UserDefinedType is a type of a client that is stored as another one. The names of its
// classes are only passed on.
type UserDefinedType struct {
	Storage               DataType
	Class                 string // JVM class, or empty
	PyClass               string // module and class of Python, or empty
	SerializedPythonClass string
}

// The types that need no parameters, and usual instances of those that take some.
var (
	Null              = NullType{}
	Boolean           = BooleanType{}
	Byte              = ByteType{}
	Short             = ShortType{}
	Integer           = IntegerType{}
	Long              = LongType{}
	Float             = FloatType{}
	Double            = DoubleType{}
	String            = StringType{}
	Binary            = BinaryType{}
	Date              = DateType{}
	Timestamp         = TimestampType{}
	TimestampNTZ      = TimestampNTZType{}
	Time              = TimeType{Precision: 6}
	CalendarInterval  = CalendarIntervalType{}
	YearMonthInterval = YearMonthIntervalType{YearField, MonthField}
	DayTimeInterval   = DayTimeIntervalType{DayField, SecondField}
	Variant           = VariantType{}
)

func (NullType) dataType()              {}
func (BooleanType) dataType()           {}
func (ByteType) dataType()              {}
func (ShortType) dataType()             {}
func (IntegerType) dataType()           {}
func (LongType) dataType()              {}
func (FloatType) dataType()             {}
func (DoubleType) dataType()            {}
func (DecimalType) dataType()           {}
func (StringType) dataType()            {}
func (CharType) dataType()              {}
func (VarcharType) dataType()           {}
func (BinaryType) dataType()            {}
func (DateType) dataType()              {}
func (TimestampType) dataType()         {}
func (TimestampNTZType) dataType()      {}
func (TimeType) dataType()              {}
func (CalendarIntervalType) dataType()  {}
func (YearMonthIntervalType) dataType() {}
func (DayTimeIntervalType) dataType()   {}
func (ArrayType) dataType()             {}
func (MapType) dataType()               {}
func (StructType) dataType()            {}
func (VariantType) dataType()           {}
func (UserDefinedType) dataType()       {}

// NewField is a nullable field.
func NewField(name string, t DataType) Field { return Field{Name: name, Type: t, Nullable: true} }

// Struct is a struct type of the given fields.
func Struct(fields ...Field) StructType { return StructType{Fields: fields} }

// ArrayOf is an array whose elements may be null.
func ArrayOf(element DataType) ArrayType { return ArrayType{Element: element, ContainsNull: true} }

// MapOf is a map whose values may be null.
func MapOf(key, value DataType) MapType {
	return MapType{Key: key, Value: value, ValueContainsNull: true}
}

// Len is the number of fields.
func (t StructType) Len() int { return len(t.Fields) }

// Names gives the names of the fields.
func (t StructType) Names() []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names
}

// Index is the position of the first field of that name, or -1. Case matters.
func (t StructType) Index(name string) int {
	for i, f := range t.Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// IndexFold is Index without regard to case.
func (t StructType) IndexFold(name string) int {
	for i, f := range t.Fields {
		if strings.EqualFold(f.Name, name) {
			return i
		}
	}
	return -1
}

// Add gives the struct with one more field; the receiver is not changed.
func (t StructType) Add(name string, dt DataType, nullable bool) StructType {
	fields := make([]Field, len(t.Fields), len(t.Fields)+1)
	copy(fields, t.Fields)
	return StructType{Fields: append(fields, Field{Name: name, Type: dt, Nullable: nullable})}
}

var (
	yearMonthNames = []string{"year", "month"}
	dayTimeNames   = []string{"day", "hour", "minute", "second"}
)

func intervalName(names []string, start, end uint8) string {
	if int(start) >= len(names) || int(end) >= len(names) {
		return "interval field " + strconv.Itoa(int(start)) + " to " + strconv.Itoa(int(end))
	}
	if start == end {
		return "interval " + names[start]
	}
	return "interval " + names[start] + " to " + names[end]
}
