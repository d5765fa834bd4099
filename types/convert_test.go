package types

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
)

func TestTimes(t *testing.T) {
	berlin := time.FixedZone("x", 2*3600)
	at := time.Date(2026, 1, 31, 23, 30, 1, 500_000_999, berlin)
	if got := DaysOf(at).String(); got != "2026-01-31" {
		t.Errorf("date %s", got)
	}
	if got := DaysOf(at.UTC().Add(2 * time.Hour)).String(); got != "2026-01-31" {
		t.Errorf("date %s", got)
	}
	if got := MicrosOf(at).String(); got != "2026-01-31 21:30:01.5" {
		t.Errorf("timestamp %s", got)
	}
	if got := MicrosOf(at).In(berlin); got != "2026-01-31 23:30:01.5" {
		t.Errorf("timestamp in its zone %s", got)
	}
	if got := MicrosNTZOf(at).String(); got != "2026-01-31 23:30:01.5" {
		t.Errorf("timestamp without zone %s", got)
	}
	if got := TimeOfDayOf(at).String(); got != "23:30:01.500000999" {
		t.Errorf("time of day %s", got)
	}
	if got := Micros(-1).String(); got != "1969-12-31 23:59:59.999999" {
		t.Errorf("before the epoch: %s", got)
	}
	for d, want := range map[Days]string{-719162: "0001-01-01", -719163: "0000-12-31", -719529: "-0001-12-31", 2932897: "+10000-01-01", 0: "1970-01-01"} {
		if got := d.String(); got != want {
			t.Errorf("day %d is %s, want %s", d, got, want)
		}
	}
	if DayTimeOf(1500*time.Microsecond) != 1500 || DayTime(7).Duration() != 7*time.Microsecond ||
		DayTime(math.MaxInt64).Duration() < 292*365*24*time.Hour || TimeOfDay(5).Duration() != 5 {
		t.Error("a duration is converted wrongly")
	}
}

func TestTimeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("x", rapid.IntRange(-18*3600, 18*3600).Draw(t, "offset"))
		at := time.UnixMicro(rapid.Int64Range(-1<<55, 1<<55).Draw(t, "micros")).In(zone)
		if !MicrosOf(at).Time().Equal(at) {
			t.Fatal("an instant must survive")
		}
		ntz := MicrosNTZOf(at).Time()
		if ntz.Format(time.DateTime) != at.Format(time.DateTime) {
			t.Fatalf("the clock shows %s, not %s", ntz, at)
		}
		if d := DaysOf(at); d.Time().Format(time.DateOnly) != at.Format(time.DateOnly) || DaysOf(d.Time()) != d {
			t.Fatalf("the date of %s is %s", at, d)
		}
	})
}

type address struct {
	Street string
	Zip    *int32 `millrace:"postcode"`
}

type person struct {
	Name    string
	Age     int
	Balance Decimal
	Born    time.Time
	Home    *address
	Tags    []string
	Scores  map[string]float32
	Raw     []byte
	secret  int
	Skip    func() `millrace:"-"`
}

func TestSchemaOf(t *testing.T) {
	s, err := SchemaOf(person{})
	if err != nil {
		t.Fatal(err)
	}
	want := "name STRING NOT NULL,age BIGINT NOT NULL,balance DECIMAL(38,18) NOT NULL,born TIMESTAMP NOT NULL," +
		"home STRUCT<street: STRING NOT NULL, postcode: INT>,tags ARRAY<STRING>,scores MAP<STRING, FLOAT>,raw BINARY"
	if d := cmp.Diff(want, s.DDL()); d != "" {
		t.Error(d)
	}
	zip := int32(10115)
	p := person{
		Name: "a", Age: 3, Balance: DecimalFromInt64(150, 2), Born: time.Unix(1, 0), Home: &address{"s", &zip},
		Tags: []string{"x"}, Scores: map[string]float32{"b": 1, "a": 2}, secret: 1,
	}
	got, err := ToRow(p, s)
	if err != nil {
		t.Fatal(err)
	}
	balance, _ := ParseDecimal("1.500000000000000000")
	wantRow := Row{
		"a", int64(3), balance, Micros(1e6),
		Row{"s", int32(10115)},
		[]any{"x"},
		MapValue{{"a", float32(2)}, {"b", float32(1)}},
		[]byte(nil),
	}
	if d := cmp.Diff(wantRow, got, cmp.AllowUnexported(Decimal{}), cmp.Comparer(func(a, b Decimal) bool { return a == b })); d != "" {
		t.Error(d)
	}
	type loop struct{ Next []*loop }
	for _, v := range []any{nil, 1, loop{}, struct{ C chan int }{}, struct{ F any }{}} {
		if _, err := SchemaOf(v); !errclass.Has(err, "INVALID_VALUE") {
			t.Errorf("%T: %v", v, err)
		}
	}
}

func TestTypeOf(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "VOID"},
		{1, "BIGINT"},
		{int8(1), "TINYINT"},
		{uint16(1), "INT"},
		{uint64(1), "DECIMAL(20,0)"},
		{"", "STRING"},
		{true, "BOOLEAN"},
		{1.5, "DOUBLE"},
		{float32(1), "FLOAT"},
		{[]byte{}, "BINARY"},
		{time.Second, "INTERVAL DAY TO SECOND"},
		{Days(1), "DATE"},
		{[]any{nil, int32(1)}, "ARRAY<INT>"},
		{[]any{}, "ARRAY<VOID>"},
		{map[string][]int64{}, "MAP<STRING, ARRAY<BIGINT>>"},
		{DecimalFromInt64(5, 3), "DECIMAL(3,3)"},
		{big.NewInt(1234), "DECIMAL(4,0)"},
		{VariantValue{}, "VARIANT"},
		{MicrosNTZ(0), "TIMESTAMP_NTZ"},
		{Interval{}, "INTERVAL"},
		{YearMonth(1), "INTERVAL YEAR TO MONTH"},
		{[2]bool{}, "ARRAY<BOOLEAN>"},
		{TimeOfDay(0), "TIME(6)"},
	} {
		got, err := TypeOf(c.v)
		if err != nil || got.SQL() != c.want {
			t.Errorf("%T: %v, %v; want %s", c.v, got, err, c.want)
		}
	}
	if _, err := TypeOf([]any{make(chan int)}); err == nil {
		t.Error("a channel has no type")
	}
}

func TestToValue(t *testing.T) {
	point := Struct(NewField("x", Integer), Field{Name: "y", Type: Double})
	n := 7
	var null *int
	for _, c := range []struct {
		v    any
		t    DataType
		want any
	}{
		{nil, Integer, nil},
		{null, Integer, nil},
		{&n, Short, int16(7)},
		{uint8(200), Integer, int32(200)},
		{7, Double, 7.0},
		{7, DecimalType{5, 2}, DecimalFromInt64(700, 2)},
		{big.NewInt(-3), DecimalType{5, 0}, DecimalFromInt64(-3, 0)},
		{big.NewInt(9), Long, int64(9)},
		{0.1, Float, float32(0.1)},
		{float32(0.5), Double, 0.5},
		{true, Boolean, true},
		{"s", VarcharType{3}, "s"},
		{time.Unix(86400, 0).UTC(), Date, Days(1)},
		{time.Unix(1, 0), Timestamp, Micros(1e6)},
		{time.Unix(1, 0).UTC(), TimestampNTZ, MicrosNTZ(1e6)},
		{time.Minute, DayTimeInterval, DayTime(60e6)},
		{Days(3), Date, Days(3)},
		{[]int{1, 2}, ArrayOf(Long), []any{int64(1), int64(2)}},
		{[]any{1, nil}, ArrayOf(Byte), []any{int8(1), nil}},
		{map[int]string{2: "b", -1: "a"}, MapOf(Integer, String), MapValue{{int32(-1), "a"}, {int32(2), "b"}}},
		{MapValue{{"b", 1}, {"a", nil}}, MapOf(String, Integer), MapValue{{"b", int32(1)}, {"a", nil}}},
		{Row{1, 2}, point, Row{int32(1), 2.0}},
		{[]any{nil, 2}, point, Row{nil, 2.0}},
		{map[string]any{"y": 1.5}, point, Row{nil, 1.5}},
		{struct{ Y, X int }{1, 2}, point, Row{int32(2), 1.0}},
		{[]int(nil), ArrayOf(Long), nil},
		{VariantValue{Value: []byte{1}}, Variant, VariantValue{Value: []byte{1}}},
		{1.5, UserDefinedType{Storage: Double}, 1.5},
	} {
		got, err := ToValue(c.v, c.t)
		if err != nil {
			t.Errorf("%v as %s: %v", c.v, c.t.SQL(), err)
			continue
		}
		if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b Decimal) bool { return a == b })); d != "" {
			t.Errorf("%v as %s: %s", c.v, c.t.SQL(), d)
		}
		if !CheckValue(got, c.t) {
			t.Errorf("%v as %s: the result %v is not of the type", c.v, c.t.SQL(), got)
		}
	}
}

func TestToValueErrors(t *testing.T) {
	point := Struct(NewField("x", Integer), Field{Name: "y", Type: ArrayType{Byte, false}})
	for _, c := range []struct {
		v           any
		t           DataType
		class, path string
	}{
		{"1", Integer, "INVALID_VALUE.TYPE", "value"},
		{1, String, "INVALID_VALUE.TYPE", "value"},
		{Days(1), Long, "INVALID_VALUE.TYPE", "value"},
		{300, Byte, "INVALID_VALUE.RANGE", "value"},
		{uint64(math.MaxUint64), Long, "INVALID_VALUE.RANGE", "value"},
		{1.5, Long, "INVALID_VALUE.TYPE", "value"},
		{1e300, Float, "INVALID_VALUE.RANGE", "value"},
		{1000, DecimalType{2, 0}, "INVALID_VALUE.RANGE", "value"},
		{1 << 60, Double, "INVALID_VALUE.RANGE", "value"},
		{DecimalFromInt64(15, 1), DecimalType{5, 0}, "INVALID_VALUE.RANGE", "value"},
		{pow10Big(50), DecimalType{38, 0}, "INVALID_VALUE.RANGE", "value"},
		{big.NewInt(1), String, "INVALID_VALUE.TYPE", "value"},
		{pow10Big(30), Long, "INVALID_VALUE.RANGE", "value"},
		{Row{1, []int{1, 1000}}, point, "INVALID_VALUE.RANGE", "value.y[1]"},
		{Row{1, []any{nil}}, point, "INVALID_VALUE.NULL", "value.y[0]"},
		{Row{1, nil}, point, "INVALID_VALUE.NULL", "value.y"},
		{Row{1}, point, "INVALID_VALUE.FIELD_COUNT", "value"},
		{struct{ X int }{1}, point, "INVALID_VALUE.TYPE", "value.y"},
		{map[string]any{"a": "b"}, MapOf(String, Integer), "INVALID_VALUE.TYPE", "value[a]"},
		{MapValue{{nil, 1}}, MapOf(String, Integer), "INVALID_VALUE.NULL", "value[<nil>]"},
		{3, MapOf(String, Integer), "INVALID_VALUE.TYPE", "value"},
		{time.Now(), point, "INVALID_VALUE.TYPE", "value"},
		{3, ArrayOf(Integer), "INVALID_VALUE.TYPE", "value"},
		{1, Null, "INVALID_VALUE.TYPE", "value"},
	} {
		_, err := ToValue(c.v, c.t)
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok || e.Class != c.class || e.Params["path"] != c.path {
			t.Errorf("%v as %s: %v", c.v, c.t.SQL(), err)
		}
	}
	if _, err := ToRow(nil, point); !errclass.Has(err, "INVALID_VALUE.NULL") {
		t.Errorf("got %v", err)
	}
}
