package types

// IsIntegral reports whether the type is TINYINT, SMALLINT, INT or BIGINT.
func IsIntegral(t DataType) bool {
	switch t.(type) {
	case ByteType, ShortType, IntegerType, LongType:
		return true
	}
	return false
}

// IsFractional reports whether the type is FLOAT, DOUBLE or DECIMAL.
func IsFractional(t DataType) bool {
	switch t.(type) {
	case FloatType, DoubleType, DecimalType:
		return true
	}
	return false
}

// IsNumeric reports whether the type is a number.
func IsNumeric(t DataType) bool { return IsIntegral(t) || IsFractional(t) }

// IsString reports whether the type is STRING, CHAR or VARCHAR.
func IsString(t DataType) bool {
	switch t.(type) {
	case StringType, CharType, VarcharType:
		return true
	}
	return false
}

// IsDatetime reports whether the type is DATE, TIMESTAMP or TIMESTAMP_NTZ.
func IsDatetime(t DataType) bool {
	switch t.(type) {
	case DateType, TimestampType, TimestampNTZType:
		return true
	}
	return false
}

// IsNested reports whether the type is an array, a map or a struct.
func IsNested(t DataType) bool {
	switch t.(type) {
	case ArrayType, MapType, StructType:
		return true
	}
	return false
}

// IsOrderable reports whether values can be sorted and compared with <.
func IsOrderable(t DataType) bool {
	switch t := t.(type) {
	case MapType, VariantType, CalendarIntervalType:
		return false
	case ArrayType:
		return IsOrderable(t.Element)
	case StructType:
		for _, f := range t.Fields {
			if !IsOrderable(f.Type) {
				return false
			}
		}
	case UserDefinedType:
		return t.Storage != nil && IsOrderable(t.Storage)
	}
	return true
}

// IsGroupable reports whether values can be grouping keys and compared with =. Maps are:
// they are brought into a canonical order first.
func IsGroupable(t DataType) bool { return !Contains(t, func(t DataType) bool { return t == Variant }) }

// Contains reports whether the type or one inside of it fulfils the condition.
func Contains(t DataType, is func(DataType) bool) bool {
	if is(t) {
		return true
	}
	switch t := t.(type) {
	case ArrayType:
		return Contains(t.Element, is)
	case MapType:
		return Contains(t.Key, is) || Contains(t.Value, is)
	case StructType:
		for _, f := range t.Fields {
			if Contains(f.Type, is) {
				return true
			}
		}
	case UserDefinedType:
		return t.Storage != nil && Contains(t.Storage, is)
	}
	return false
}

// Nullable gives the type with null allowed at every place inside of it, as file sources do.
func Nullable(t DataType) DataType {
	switch t := t.(type) {
	case ArrayType:
		return ArrayType{Nullable(t.Element), true}
	case MapType:
		return MapType{Nullable(t.Key), Nullable(t.Value), true}
	case StructType:
		return NullableSchema(t)
	}
	return t
}

// NullableSchema is Nullable for a schema.
func NullableSchema(s StructType) StructType {
	fields := make([]Field, len(s.Fields))
	for i, f := range s.Fields {
		fields[i] = Field{f.Name, Nullable(f.Type), true, f.Metadata}
	}
	return StructType{fields}
}
