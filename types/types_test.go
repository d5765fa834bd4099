package types

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	nested := Struct(
		Field{Name: "a", Type: Integer},
		NewField("b c", ArrayOf(MapOf(String, DecimalType{10, 2}))),
		NewField("d", Timestamp).WithMetadata("comment", `it's`),
	)
	for _, c := range []struct {
		t                     DataType
		typeName, simple, sql string
	}{
		{Null, "void", "void", "VOID"},
		{Boolean, "boolean", "boolean", "BOOLEAN"},
		{Byte, "byte", "tinyint", "TINYINT"},
		{Short, "short", "smallint", "SMALLINT"},
		{Integer, "integer", "int", "INT"},
		{Long, "long", "bigint", "BIGINT"},
		{Float, "float", "float", "FLOAT"},
		{Double, "double", "double", "DOUBLE"},
		{DecimalDefault, "decimal(10,0)", "decimal(10,0)", "DECIMAL(10,0)"},
		{String, "string", "string", "STRING"},
		{StringType{"UNICODE_CI"}, "string collate UNICODE_CI", "string collate UNICODE_CI", "STRING COLLATE UNICODE_CI"},
		{CharType{3}, "char(3)", "char(3)", "CHAR(3)"},
		{VarcharType{3}, "varchar(3)", "varchar(3)", "VARCHAR(3)"},
		{Binary, "binary", "binary", "BINARY"},
		{Date, "date", "date", "DATE"},
		{Timestamp, "timestamp", "timestamp", "TIMESTAMP"},
		{TimestampNTZ, "timestamp_ntz", "timestamp_ntz", "TIMESTAMP_NTZ"},
		{Time, "time(6)", "time(6)", "TIME(6)"},
		{CalendarInterval, "interval", "interval", "INTERVAL"},
		{YearMonthInterval, "interval year to month", "interval year to month", "INTERVAL YEAR TO MONTH"},
		{YearMonthIntervalType{MonthField, MonthField}, "interval month", "interval month", "INTERVAL MONTH"},
		{DayTimeInterval, "interval day to second", "interval day to second", "INTERVAL DAY TO SECOND"},
		{DayTimeIntervalType{HourField, MinuteField}, "interval hour to minute", "interval hour to minute", "INTERVAL HOUR TO MINUTE"},
		{Variant, "variant", "variant", "VARIANT"},
		{ArrayOf(Integer), "array", "array<int>", "ARRAY<INT>"},
		{MapOf(String, Long), "map", "map<string,bigint>", "MAP<STRING, BIGINT>"},
		{
			nested, "struct", "struct<a:int,b c:array<map<string,decimal(10,2)>>,d:timestamp>",
			"STRUCT<a: INT NOT NULL, `b c`: ARRAY<MAP<STRING, DECIMAL(10,2)>>, d: TIMESTAMP COMMENT 'it\\'s'>",
		},
		{Struct(), "struct", "struct<>", "STRUCT<>"},
		{UserDefinedType{Storage: Double}, "udt", "udt", "DOUBLE"},
	} {
		if c.t.TypeName() != c.typeName || c.t.SimpleString() != c.simple || c.t.SQL() != c.sql {
			t.Errorf("got %q, %q, %q\nwant %q, %q, %q", c.t.TypeName(), c.t.SimpleString(), c.t.SQL(), c.typeName, c.simple, c.sql)
		}
	}
	want := "a INT NOT NULL,`b c` ARRAY<MAP<STRING, DECIMAL(10,2)>>,d TIMESTAMP COMMENT 'it\\'s'"
	if d := cmp.Diff(want, nested.DDL()); d != "" {
		t.Error(d)
	}
}

func TestEqual(t *testing.T) {
	a := Struct(NewField("x", ArrayOf(Integer)))
	null := Struct(Field{Name: "x", Type: ArrayType{Integer, false}, Metadata: `{"k":1}`})
	name := Struct(NewField("y", ArrayOf(Integer)))
	other := Struct(NewField("x", ArrayOf(Long)))
	for _, c := range []struct {
		b                  DataType
		equal, same, shape bool
	}{
		{a, true, true, true},
		{null, false, true, true},
		{name, false, false, true},
		{other, false, false, false},
		{Integer, false, false, false},
		{Struct(), false, false, false},
	} {
		if Equal(a, c.b) != c.equal || SameType(a, c.b) != c.same || SameShape(a, c.b) != c.shape {
			t.Errorf("%s: %t, %t, %t", c.b.SQL(), Equal(a, c.b), SameType(a, c.b), SameShape(a, c.b))
		}
	}
	if Equal(Integer, a) || !Equal(DecimalType{3, 1}, DecimalType{3, 1}) || Equal(String, StringType{"UNICODE"}) {
		t.Error("simple types are compared wrongly")
	}
	x := Struct(Field{Name: "x", Type: Integer, Metadata: `{"a": 1, "b": [2]}`})
	y := Struct(Field{Name: "x", Type: Integer, Metadata: `{"b":[2],"a":1}`})
	if !Equal(x, y) {
		t.Error("the order of metadata must not matter")
	}
	if !Equal(Struct(Field{Name: "x", Type: Integer, Metadata: "{}"}), Struct(Field{Name: "x", Type: Integer})) {
		t.Error("{} and no metadata are the same")
	}
}

func TestEqualityLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyType(2).Draw(t, "a"), anyType(2).Draw(t, "b")
		if !Equal(a, a) || Equal(a, b) != Equal(b, a) {
			t.Fatal("Equal must be reflexive and symmetric")
		}
		if Equal(a, b) && !SameType(a, b) || SameType(a, b) && !SameShape(a, b) {
			t.Fatal("each comparison must imply the weaker one")
		}
		if Equal(a, b) && JSON(a) != JSON(b) && a.SQL() == b.SQL() {
			return // metadata in another order
		}
		if !SameType(a, Nullable(a)) {
			t.Fatal("Nullable must change nullability only")
		}
	})
}

func TestStructLookup(t *testing.T) {
	s := Struct(NewField("a", Integer), NewField("B", String), NewField("b", Long))
	if s.Index("b") != 2 || s.IndexFold("b") != 1 || s.Index("c") != -1 || s.IndexFold("C") != -1 || s.Len() != 3 {
		t.Error("a field is not found")
	}
	u := s.Add("d", Date, false)
	if s.Len() != 3 || u.Names()[3] != "d" || u.Fields[3].Nullable {
		t.Errorf("Add gives %s", u.DDL())
	}
}

func TestMetadata(t *testing.T) {
	f := NewField("a", Integer).WithMetadata("z", 1).WithMetadata("comment", "<b> & 'c'").WithMetadata("z", []int{2})
	if want := `{"z":[2],"comment":"<b> & 'c'"}`; f.Metadata != want {
		t.Errorf("got %s, want %s", f.Metadata, want)
	}
	if c, ok := f.Comment(); !ok || c != "<b> & 'c'" {
		t.Errorf("comment %q", c)
	}
	if v, ok := f.MetadataValue("z"); !ok || string(v) != "[2]" {
		t.Errorf("z is %s", v)
	}
	if f = f.WithoutMetadata("z").WithoutMetadata("comment"); f.Metadata != "" {
		t.Errorf("left: %s", f.Metadata)
	}
	if _, ok := f.Comment(); ok {
		t.Error("there is no comment any more")
	}
	for _, bad := range []string{"x", "[1]", `{"a"`, `{"a":}`} {
		g := Field{Metadata: bad}
		if _, ok := g.MetadataValue("a"); ok {
			t.Errorf("%s was read", bad)
		}
		if got := g.WithMetadata("a", 1).Metadata; got != `{"a":1}` {
			t.Errorf("%s became %s", bad, got)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		t                                                                DataType
		integral, fractional, text, datetime, nested, orderable, grouped bool
	}{
		{Long, true, false, false, false, false, true, true},
		{DecimalDefault, false, true, false, false, false, true, true},
		{CharType{2}, false, false, true, false, false, true, true},
		{TimestampNTZ, false, false, false, true, false, true, true},
		{Struct(NewField("a", MapOf(String, String))), false, false, false, false, true, false, true},
		{ArrayOf(Variant), false, false, false, false, true, false, false},
		{CalendarInterval, false, false, false, false, false, false, true},
	} {
		if IsIntegral(c.t) != c.integral || IsFractional(c.t) != c.fractional || IsString(c.t) != c.text ||
			IsDatetime(c.t) != c.datetime || IsNested(c.t) != c.nested || IsOrderable(c.t) != c.orderable || IsGroupable(c.t) != c.grouped {
			t.Errorf("%s is classified wrongly", c.t.SQL())
		}
	}
	if !IsNumeric(Byte) {
		t.Error("a number is classified wrongly")
	}
}

func TestTreeString(t *testing.T) {
	s := Struct(
		Field{Name: "id", Type: Long},
		NewField("tags", ArrayType{String, false}),
		NewField("m", MapOf(String, Struct(NewField("x\ty", DecimalType{5, 1})))),
		NewField("aa", ArrayOf(ArrayOf(Integer))),
	)
	want := `root
 |-- id: long (nullable = false)
 |-- tags: array (nullable = true)
 |    |-- element: string (containsNull = false)
 |-- m: map (nullable = true)
 |    |-- key: string
 |    |-- value: struct (valueContainsNull = true)
 |    |    |-- x\ty: decimal(5,1) (nullable = true)
 |-- aa: array (nullable = true)
 |    |-- element: array (containsNull = true)
 |    |    |-- element: integer (containsNull = true)
`
	if d := cmp.Diff(want, s.TreeString(0)); d != "" {
		t.Error(d)
	}
	want = "root\n |-- id: long (nullable = false)\n |-- tags: array (nullable = true)\n" +
		" |-- m: map (nullable = true)\n |-- aa: array (nullable = true)\n"
	if d := cmp.Diff(want, s.TreeString(1)); d != "" {
		t.Error(d)
	}
}
