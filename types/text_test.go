package types

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
)

func TestParseDDL(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		" -- nothing\n /* at all */":             "",
		"ts TIMESTAMP, user STRING, n INT":       "ts TIMESTAMP,user STRING,n INT",
		"a int not null comment 'it''s \\'x\\''": `a INT NOT NULL COMMENT 'it\'s \'x\''`,
		"`a b` LONG, `c``d` integer":             "`a b` BIGINT,`c``d` INT",
		"a: byte, b:decimal(16,8)":               "a TINYINT,b DECIMAL(16,8)",
		"struct<a: int, b: array<map<string,struct<c:real>>>>":                                              "a INT,b ARRAY<MAP<STRING, STRUCT<c: FLOAT>>>",
		"s STRUCT<x: INT NOT NULL COMMENT \"c\", y: ARRAY<STRING>>":                                         "s STRUCT<x: INT NOT NULL COMMENT 'c', y: ARRAY<STRING>>",
		"timestamp timestamp, date date, interval interval, time int":                                       "timestamp TIMESTAMP,date DATE,interval INTERVAL,time INT",
		"i INTERVAL DAY TO SECOND, j interval year":                                                         "i INTERVAL DAY TO SECOND,j INTERVAL YEAR",
		"a dec, b numeric(5), c DECIMAL ( 38 , 18 )":                                                        "a DECIMAL(10,0),b DECIMAL(5,0),c DECIMAL(38,18)",
		"a timestamp_ltz, b timestamp_ntz, c timestamp without time zone, d timestamp with local time zone": "a TIMESTAMP,b TIMESTAMP_NTZ,c TIMESTAMP_NTZ,d TIMESTAMP",
		"a char(3), b varchar(4), c character(5), d time(3), e time":                                        "a CHAR(3),b VARCHAR(4),c CHAR(5),d TIME(3),e TIME(6)",
		"a string collate unicode_ci, b string collate utf8_binary":                                         "a STRING COLLATE UNICODE_CI,b STRING",
		"a void, b variant, c binary, d boolean, e short, f double":                                         "a VOID,b VARIANT,c BINARY,d BOOLEAN,e SMALLINT,f DOUBLE",
		"é STRUCT<>, _1a int": "`é` STRUCT<>,_1a INT",
	} {
		s, err := ParseDDL(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if d := cmp.Diff(want, s.DDL()); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestParseDDLErrors(t *testing.T) {
	for _, c := range []struct {
		text, class, fragment string
		start                 int
	}{
		{"a", "PARSE_SYNTAX_ERROR", "", 1},
		{"a foo", "UNSUPPORTED_DATATYPE", "foo", 2},
		{"a int b string", "PARSE_SYNTAX_ERROR", "b", 6},
		{"a int,", "PARSE_SYNTAX_ERROR", "", 6},
		{"a array<int", "PARSE_SYNTAX_ERROR", "", 11},
		{"a array", "INCOMPLETE_TYPE_DEFINITION.ARRAY", "array", 2},
		{"é map<int>", "PARSE_SYNTAX_ERROR", ">", 9},
		{"a char", "DATATYPE_MISSING_SIZE", "char", 2},
		{"a decimal(40,2)", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "decimal", 2},
		{"a decimal(4,5)", "DECIMAL_SCALE_EXCEEDS_PRECISION", "decimal", 2},
		{"a decimal(1,2,3)", "UNSUPPORTED_DATATYPE", "decimal", 2},
		{"a decimal(99999999999)", "PARSE_SYNTAX_ERROR", "99999999999", 10},
		{"a int(3)", "UNSUPPORTED_DATATYPE", "int", 2},
		{"a time(9)", "UNSUPPORTED_DATATYPE", "time", 2},
		{"a int not", "PARSE_SYNTAX_ERROR", "", 9},
		{"a int comment x", "PARSE_SYNTAX_ERROR", "x", 14},
		{"a interval second to day", "INVALID_INTERVAL_TYPE", "day", 21},
		{"a interval year to day", "INVALID_INTERVAL_TYPE", "day", 19},
		{"a string collate", "PARSE_SYNTAX_ERROR", "", 16},
		{"`a int", "PARSE_SYNTAX_ERROR", "`a int", 0},
		{"1 int", "PARSE_SYNTAX_ERROR", "1", 0},
		{"a int /* open", "PARSE_SYNTAX_ERROR", "/", 6},
		{"a timestamp with time zone", "PARSE_SYNTAX_ERROR", "time", 17},
		{strings.Repeat("array<", 1000) + "int", "FAILED_TO_PARSE_TOO_COMPLEX", "array", 6 * 201},
	} {
		_, err := ParseDDL(c.text)
		if strings.HasPrefix(c.text, "array<") {
			_, err = ParseType(c.text)
		}
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if e.Class != c.class || len(e.Context) != 1 || e.Context[0].Fragment != c.fragment || e.Context[0].Start != c.start {
			t.Errorf("%q: %s %+v", c.text, e.Class, e.Context)
		}
		if e.Classes()[0] != "org.apache.spark.sql.catalyst.parser.ParseException" {
			t.Errorf("%q: is a %s", c.text, e.Classes()[0])
		}
	}
	if _, err := ParseDDL("int"); !errclass.Has(err, "INVALID_SCHEMA") {
		t.Errorf("got %v", err)
	}
}

func TestParseSchema(t *testing.T) {
	want := Struct(NewField("a", Integer))
	for _, text := range []string{"a INT", "struct<a:int>", `{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}}]}`} {
		if s, err := ParseSchema(text); err != nil || !Equal(s, want) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{`{"type":"array","elementType":"integer","containsNull":true}`, `{"type":"struct"`, "array<int>"} {
		if _, err := ParseSchema(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	for text, want := range map[string]DataType{"int": Integer, "a int": Struct(NewField("a", Integer)), "a: int": Struct(NewField("a", Integer))} {
		if got, err := ParseDDLType(text); err != nil || !Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := ParseDDLType("foo"); !errclass.Has(err, "UNSUPPORTED_DATATYPE") {
		t.Errorf("got %v", err)
	}
}

func TestDDLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyStruct(2).Draw(t, "schema")
		back, err := ParseDDL(s.DDL())
		if err != nil {
			t.Fatalf("%s: %v", s.DDL(), err)
		}
		if d := cmp.Diff(plain(s).(StructType).JSON(), back.JSON()); d != "" {
			t.Fatal(d)
		}
		typ := anyType(2).Draw(t, "type")
		one, err := ParseType(typ.SQL())
		if err != nil || !Equal(plain(typ), one) {
			t.Fatalf("%s: %v, %v", typ.SQL(), one, err)
		}
	})
}

func FuzzParseDDL(f *testing.F) {
	for _, s := range []string{
		"ts TIMESTAMP, user STRING NOT NULL COMMENT 'x', a STRUCT<x: INT, y: ARRAY<STRING>>",
		"`a``b`: decimal(10,2), i INTERVAL DAY TO SECOND", "map<string,array<int>>", "a string collate unicode -- c", "/**/", "a 'x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseDDL(text)
		if err != nil {
			if _, ok := errors.AsType[*errclass.Error](err); !ok {
				t.Fatalf("%q: error without a class: %v", text, err)
			}
			return
		}
		back, err := ParseDDL(s.DDL())
		if err != nil || !Equal(s, back) {
			t.Fatalf("%q: printed as %q, read back as %v, %v", text, s.DDL(), back, err)
		}
	})
}

func TestJSON(t *testing.T) {
	s := Struct(
		Field{Name: "a", Type: Integer, Metadata: `{"comment":"x"}`},
		NewField("b", ArrayType{MapOf(String, DecimalType{10, 2}), false}),
		NewField("c", Struct(NewField("d", DayTimeInterval), NewField("e", Null))),
		NewField("f", MapOf(StringType{"UTF8_LCASE"}, ArrayOf(StringType{"UNICODE"}))),
		NewField(`g"<>`, UserDefinedType{Storage: Double, PyClass: "m.C", SerializedPythonClass: "AA=="}),
	)
	want := `{"type":"struct","fields":[` +
		`{"name":"a","type":"integer","nullable":false,"metadata":{"comment":"x"}},` +
		`{"name":"b","type":{"type":"array","elementType":{"type":"map","keyType":"string","valueType":"decimal(10,2)","valueContainsNull":true},"containsNull":false},"nullable":true,"metadata":{}},` +
		`{"name":"c","type":{"type":"struct","fields":[{"name":"d","type":"interval day to second","nullable":true,"metadata":{}},{"name":"e","type":"void","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},` +
		`{"name":"f","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"string","containsNull":true},"valueContainsNull":true},"nullable":true,"metadata":{"__COLLATIONS":{"f.key":"spark.UTF8_LCASE","f.value.element":"icu.UNICODE"}}},` +
		`{"name":"g\"<>","type":{"type":"udt","pyClass":"m.C","serializedClass":"AA==","sqlType":"double"},"nullable":true,"metadata":{}}]}`
	if d := cmp.Diff(want, s.JSON()); d != "" {
		t.Error(d)
	}
	back, err := ParseJSON([]byte(want))
	if err != nil || !Equal(back, s) {
		t.Errorf("read back as %v, %v", back, err)
	}
}

func TestParseJSONForms(t *testing.T) {
	for text, want := range map[string]DataType{
		`"integer"`: Integer, `"int"`: Integer, `"bigint"`: Long, `"null"`: Null, `"decimal"`: DecimalDefault,
		`"decimal( 5 , 2 )"`: DecimalType{5, 2}, `"interval month"`: YearMonthIntervalType{MonthField, MonthField},
		`"string collate UNICODE"`: StringType{"UNICODE"}, `"time(3)"`: TimeType{3}, `"varchar(7)"`: VarcharType{7},
		`{"type":"array","elementType":"long"}`:                         ArrayOf(Long),
		`{"type":"struct","fields":[{"name":"a","type":"string"}]}`:     Struct(NewField("a", String)),
		` {"fields":[],"type":"struct"} `:                               Struct(),
		`{"type":"map","keyType":"string","valueType":"timestamp_ntz"}`: MapOf(String, TimestampNTZ),
	} {
		if got, err := ParseJSON([]byte(text)); err != nil || !Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		``, `"foo"`, `"decimal(39,1)"`, `"interval month to year"`, `{}`, `{"type":"struct","fields":[{"type":"string"}]}`,
		`"int" 1`, `{"type":"array"}`, `[1]`, `{"type":"struct","fields":[{"name":"a","type":"string","metadata":[1]}]}`,
		strings.Repeat(`{"type":"array","elementType":`, 300) + `"int"` + strings.Repeat("}", 300), `"char"`, `"string collate "`,
	} {
		if got, err := ParseJSON([]byte(text)); err == nil {
			t.Errorf("%s: read as %v", text, got)
		} else if _, ok := errors.AsType[*errclass.Error](err); !ok {
			t.Errorf("%s: error without a class: %v", text, err)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyStruct(2).Draw(t, "schema")
		back, err := ParseJSON([]byte(s.JSON()))
		if err != nil || !Equal(s, back) || JSON(back) != s.JSON() {
			t.Fatalf("%s: %v, %v", s.JSON(), back, err)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"integer","containsNull":true},"nullable":true,"metadata":{"__COLLATIONS":{"a.element":"icu.UNICODE"}}}]}`))
	f.Add([]byte(`{"type":"udt","class":"x","sqlType":{"type":"map","keyType":"string","valueType":"time(6)","valueContainsNull":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		typ, err := ParseJSON(text)
		if err != nil {
			return
		}
		back, err := ParseJSON([]byte(JSON(typ)))
		if err != nil {
			t.Fatalf("%q: printed as %s: %v", text, JSON(typ), err)
		}
		if JSON(back) != JSON(typ) {
			t.Fatalf("%q: %s became %s", text, JSON(typ), JSON(back))
		}
	})
}
