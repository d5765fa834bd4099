package types

import "pgregory.net/rapid"

// anyType draws types of every kind. Names hold characters that need quotes.
func anyType(depth int) *rapid.Generator[DataType] {
	return rapid.Custom(func(t *rapid.T) DataType {
		kinds := 23
		if depth == 0 {
			kinds = 20
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return Null
		case 1:
			return Boolean
		case 2:
			return Byte
		case 3:
			return Short
		case 4:
			return Integer
		case 5:
			return Long
		case 6:
			return Float
		case 7:
			return Double
		case 8:
			p := rapid.IntRange(1, 38).Draw(t, "precision")
			return DecimalType{p, rapid.IntRange(0, p).Draw(t, "scale")}
		case 9:
			return StringType{rapid.SampledFrom([]string{"", "UTF8_LCASE", "UNICODE_CI", "DE_AI"}).Draw(t, "collation")}
		case 10:
			return CharType{rapid.IntRange(1, 255).Draw(t, "length")}
		case 11:
			return VarcharType{rapid.IntRange(1, 255).Draw(t, "length")}
		case 12:
			return Binary
		case 13:
			return Date
		case 14:
			return Timestamp
		case 15:
			return TimestampNTZ
		case 16:
			return TimeType{rapid.IntRange(0, 6).Draw(t, "precision")}
		case 17:
			s := rapid.Uint8Range(YearField, MonthField).Draw(t, "start")
			return YearMonthIntervalType{s, rapid.Uint8Range(s, MonthField).Draw(t, "end")}
		case 18:
			s := rapid.Uint8Range(DayField, SecondField).Draw(t, "start")
			return DayTimeIntervalType{s, rapid.Uint8Range(s, SecondField).Draw(t, "end")}
		case 19:
			return rapid.SampledFrom([]DataType{CalendarInterval, Variant}).Draw(t, "odd")
		case 20:
			return ArrayType{anyType(depth-1).Draw(t, "element"), rapid.Bool().Draw(t, "nullable")}
		case 21:
			return MapType{
				anyType(depth-1).Draw(t, "key"), anyType(depth-1).Draw(t, "value"),
				rapid.Bool().Draw(t, "nullable"),
			}
		default:
			return anyStruct(depth-1).Draw(t, "struct")
		}
	})
}

func anyStruct(depth int) *rapid.Generator[StructType] {
	return rapid.Custom(func(t *rapid.T) StructType {
		s := StructType{}
		for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
			f := Field{
				Name:     rapid.StringMatching("[a-zA-Zé_` .<>0-9]{1,5}").Draw(t, "name"),
				Type:     anyType(depth).Draw(t, "type"),
				Nullable: rapid.Bool().Draw(t, "nullable"),
			}
			if i%2 == 0 && rapid.Bool().Draw(t, "commented") {
				f = f.WithMetadata(CommentKey, rapid.String().Draw(t, "comment"))
			}
			s.Fields = append(s.Fields, f)
		}
		return s
	})
}

// plain gives the type without what DDL cannot say: which elements and values may be null.
func plain(t DataType) DataType {
	switch t := t.(type) {
	case ArrayType:
		return ArrayType{plain(t.Element), true}
	case MapType:
		return MapType{plain(t.Key), plain(t.Value), true}
	case StructType:
		s := StructType{}
		for _, f := range t.Fields {
			f.Type = plain(f.Type)
			s.Fields = append(s.Fields, f)
		}
		return s
	}
	return t
}
