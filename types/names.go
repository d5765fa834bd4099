package types

import (
	"strconv"
	"strings"
)

// TypeName implements DataType.
func (NullType) TypeName() string { return "void" }

// SimpleString implements DataType.
func (NullType) SimpleString() string { return "void" }

// SQL implements DataType.
func (NullType) SQL() string { return "VOID" }

// TypeName implements DataType.
func (BooleanType) TypeName() string { return "boolean" }

// SimpleString implements DataType.
func (BooleanType) SimpleString() string { return "boolean" }

// SQL implements DataType.
func (BooleanType) SQL() string { return "BOOLEAN" }

// TypeName implements DataType.
func (ByteType) TypeName() string { return "byte" }

// SimpleString implements DataType.
func (ByteType) SimpleString() string { return "tinyint" }

// SQL implements DataType.
func (ByteType) SQL() string { return "TINYINT" }

// TypeName implements DataType.
func (ShortType) TypeName() string { return "short" }

// SimpleString implements DataType.
func (ShortType) SimpleString() string { return "smallint" }

// SQL implements DataType.
func (ShortType) SQL() string { return "SMALLINT" }

// TypeName implements DataType.
func (IntegerType) TypeName() string { return "integer" }

// SimpleString implements DataType.
func (IntegerType) SimpleString() string { return "int" }

// SQL implements DataType.
func (IntegerType) SQL() string { return "INT" }

// TypeName implements DataType.
func (LongType) TypeName() string { return "long" }

// SimpleString implements DataType.
func (LongType) SimpleString() string { return "bigint" }

// SQL implements DataType.
func (LongType) SQL() string { return "BIGINT" }

// TypeName implements DataType.
func (FloatType) TypeName() string { return "float" }

// SimpleString implements DataType.
func (FloatType) SimpleString() string { return "float" }

// SQL implements DataType.
func (FloatType) SQL() string { return "FLOAT" }

// TypeName implements DataType.
func (DoubleType) TypeName() string { return "double" }

// SimpleString implements DataType.
func (DoubleType) SimpleString() string { return "double" }

// SQL implements DataType.
func (DoubleType) SQL() string { return "DOUBLE" }

// TypeName implements DataType.
func (t DecimalType) TypeName() string {
	return "decimal(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
}

// SimpleString implements DataType.
func (t DecimalType) SimpleString() string { return t.TypeName() }

// SQL implements DataType.
func (t DecimalType) SQL() string { return strings.ToUpper(t.TypeName()) }

// TypeName implements DataType.
func (t StringType) TypeName() string {
	if t.Collation == "" {
		return "string"
	}
	return "string collate " + t.Collation
}

// SimpleString implements DataType.
func (t StringType) SimpleString() string { return t.TypeName() }

// SQL implements DataType.
func (t StringType) SQL() string {
	if t.Collation == "" {
		return "STRING"
	}
	return "STRING COLLATE " + t.Collation
}

// TypeName implements DataType.
func (t CharType) TypeName() string { return "char(" + strconv.Itoa(t.Length) + ")" }

// SimpleString implements DataType.
func (t CharType) SimpleString() string { return t.TypeName() }

// SQL implements DataType.
func (t CharType) SQL() string { return strings.ToUpper(t.TypeName()) }

// TypeName implements DataType.
func (t VarcharType) TypeName() string { return "varchar(" + strconv.Itoa(t.Length) + ")" }

// SimpleString implements DataType.
func (t VarcharType) SimpleString() string { return t.TypeName() }

// SQL implements DataType.
func (t VarcharType) SQL() string { return strings.ToUpper(t.TypeName()) }

// TypeName implements DataType.
func (BinaryType) TypeName() string { return "binary" }

// SimpleString implements DataType.
func (BinaryType) SimpleString() string { return "binary" }

// SQL implements DataType.
func (BinaryType) SQL() string { return "BINARY" }

// TypeName implements DataType.
func (DateType) TypeName() string { return "date" }

// SimpleString implements DataType.
func (DateType) SimpleString() string { return "date" }

// SQL implements DataType.
func (DateType) SQL() string { return "DATE" }

// TypeName implements DataType.
func (TimestampType) TypeName() string { return "timestamp" }

// SimpleString implements DataType.
func (TimestampType) SimpleString() string { return "timestamp" }

// SQL implements DataType.
func (TimestampType) SQL() string { return "TIMESTAMP" }

// TypeName implements DataType.
func (TimestampNTZType) TypeName() string { return "timestamp_ntz" }

// SimpleString implements DataType.
func (TimestampNTZType) SimpleString() string { return "timestamp_ntz" }

// SQL implements DataType.
func (TimestampNTZType) SQL() string { return "TIMESTAMP_NTZ" }

// TypeName implements DataType.
func (t TimeType) TypeName() string { return "time(" + strconv.Itoa(t.Precision) + ")" }

// SimpleString implements DataType.
func (t TimeType) SimpleString() string { return t.TypeName() }

// SQL implements DataType.
func (t TimeType) SQL() string { return strings.ToUpper(t.TypeName()) }

// TypeName implements DataType.
func (CalendarIntervalType) TypeName() string { return "interval" }

// SimpleString implements DataType.
func (CalendarIntervalType) SimpleString() string { return "interval" }

// SQL implements DataType.
func (CalendarIntervalType) SQL() string { return "INTERVAL" }

// TypeName implements DataType.
func (t YearMonthIntervalType) TypeName() string {
	return intervalName(yearMonthNames, t.Start, t.End)
}

// SimpleString implements DataType.
func (t YearMonthIntervalType) SimpleString() string { return t.TypeName() }

// SQL implements DataType.
func (t YearMonthIntervalType) SQL() string { return strings.ToUpper(t.TypeName()) }

// TypeName implements DataType.
func (t DayTimeIntervalType) TypeName() string { return intervalName(dayTimeNames, t.Start, t.End) }

// SimpleString implements DataType.
func (t DayTimeIntervalType) SimpleString() string { return t.TypeName() }

// SQL implements DataType.
func (t DayTimeIntervalType) SQL() string { return strings.ToUpper(t.TypeName()) }

// TypeName implements DataType.
func (ArrayType) TypeName() string { return "array" }

// SimpleString implements DataType.
func (t ArrayType) SimpleString() string { return "array<" + t.Element.SimpleString() + ">" }

// SQL implements DataType.
func (t ArrayType) SQL() string { return "ARRAY<" + t.Element.SQL() + ">" }

// TypeName implements DataType.
func (MapType) TypeName() string { return "map" }

// SimpleString implements DataType.
func (t MapType) SimpleString() string {
	return "map<" + t.Key.SimpleString() + "," + t.Value.SimpleString() + ">"
}

// SQL implements DataType.
func (t MapType) SQL() string { return "MAP<" + t.Key.SQL() + ", " + t.Value.SQL() + ">" }

// TypeName implements DataType.
func (StructType) TypeName() string { return "struct" }

// SimpleString implements DataType. Unlike Spark's it is never shortened.
func (t StructType) SimpleString() string {
	var b strings.Builder
	b.WriteString("struct<")
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.Name + ":" + f.Type.SimpleString())
	}
	b.WriteByte('>')
	return b.String()
}

// SQL implements DataType.
func (t StructType) SQL() string {
	var b strings.Builder
	b.WriteString("STRUCT<")
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteIfNeeded(f.Name) + ": " + f.Type.SQL() + f.suffix())
	}
	b.WriteByte('>')
	return b.String()
}

// TypeName implements DataType.
func (VariantType) TypeName() string { return "variant" }

// SimpleString implements DataType.
func (VariantType) SimpleString() string { return "variant" }

// SQL implements DataType.
func (VariantType) SQL() string { return "VARIANT" }

// TypeName implements DataType.
func (UserDefinedType) TypeName() string { return "udt" }

// SimpleString implements DataType.
func (UserDefinedType) SimpleString() string { return "udt" }

// SQL implements DataType. It is the type that the values are stored as.
func (t UserDefinedType) SQL() string {
	if t.Storage == nil {
		return "VOID"
	}
	return t.Storage.SQL()
}

// DDL prints the fields as ParseDDL reads them: "a INT,b STRING NOT NULL COMMENT 'x'".
func (t StructType) DDL() string {
	parts := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		parts[i] = f.DDL()
	}
	return strings.Join(parts, ",")
}

// DDL prints one column.
func (f Field) DDL() string { return quoteIfNeeded(f.Name) + " " + f.Type.SQL() + f.suffix() }

// suffix is what follows the type: nullability and comment.
func (f Field) suffix() string {
	s := ""
	if !f.Nullable {
		s = " NOT NULL"
	}
	if c, ok := f.Comment(); ok {
		s += " COMMENT '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(c) + "'"
	}
	return s
}

// quoteIfNeeded puts backticks around a name that is no plain identifier.
func quoteIfNeeded(name string) string {
	plain := name != ""
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
