package vec

import (
	"math"
	"math/big"
	"testing"

	"github.com/millrace/millrace/types"
)

func mustDecimal(t *testing.T, s string, dt types.DecimalType) types.Decimal {
	d, ok := types.ParseDecimal(s)
	if !ok {
		t.Fatalf("no decimal: %s", s)
	}
	r, ok := d.Rescale(dt)
	if !ok {
		t.Fatalf("%s does not fit %s", s, dt.SimpleString())
	}
	return r
}

// TestPartitionHash compares with what SELECT hash(...) gives on Apache Spark 4.2.0.
func TestPartitionHash(t *testing.T) {
	wide, narrow := types.DecimalType{Precision: 30, Scale: 5}, types.DecimalType{Precision: 3, Scale: 2}
	whole := types.DecimalType{Precision: 30}
	ints := types.ArrayOf(types.Integer)
	pair := types.Struct(types.NewField("a", types.Integer), types.NewField("b", types.String))
	type col struct {
		t types.DataType
		x any
	}
	cases := []struct {
		cols []col
		want int32
	}{
		{[]col{{types.Integer, int32(1)}}, -559580957},
		{[]col{{types.Integer, int32(-1)}}, -1604776387},
		{[]col{{types.Long, int64(1)}}, -1712319331},
		{[]col{{types.Long, int64(-5000000000)}}, 1755508969},
		{[]col{{types.Boolean, true}}, -559580957},
		{[]col{{types.Boolean, false}}, 933211791},
		{[]col{{types.Byte, int8(1)}}, -559580957},
		{[]col{{types.Short, int16(-3)}}, -1573329414},
		{[]col{{types.String, "a"}}, 1485273170},
		{[]col{{types.String, "abcd"}}, -396302900},
		{[]col{{types.String, "abcde"}}, 814637928},
		{[]col{{types.String, "héllo wörld"}}, -281075962},
		{[]col{{types.String, ""}}, 142593372},
		{[]col{{types.Float, float32(1.5)}}, -221251528},
		{[]col{{types.Double, 1.5}}, 1290763749},
		{[]col{{types.Double, math.Copysign(0, -1)}}, -1670924195},
		{[]col{{types.Double, math.NaN()}}, -1281358385},
		{[]col{{types.Float, float32(math.Copysign(0, -1))}}, 933211791},
		{[]col{{types.Float, float32(math.NaN())}}, -349261430},
		{[]col{{narrow, mustDecimal(t, "1.23", narrow)}}, -46242105},
		{[]col{{wide, mustDecimal(t, "-12345678901234567890.12345", wide)}}, -241151136},
		{[]col{{whole, mustDecimal(t, "128", whole)}}, -544401882},
		{[]col{{types.Date, types.Days(20454)}}, -80271844},
		{[]col{{types.Timestamp, types.Micros(1767261600000000)}}, 2021638796},
		{[]col{{ints, []any{int32(1), nil, int32(3)}}}, 1066699649},
		{[]col{{pair, types.Row{int32(1), "x"}}}, -1305545736},
		{[]col{{types.Null, nil}}, 42},
		{[]col{{types.Integer, int32(1)}, {types.String, "a"}, {types.Null, nil}, {types.Long, int64(2)}}, -947240264},
		{[]col{{types.Binary, []byte{0, 0xff, 0x80}}}, -2052482636},
		{[]col{{types.YearMonthInterval, types.YearMonth(1)}}, -559580957},
		{[]col{{types.DayTimeInterval, types.DayTime(2 * 86_400_000_000)}}, -879985862},
		{[]col{{types.CalendarInterval, types.Interval{Months: 14, Days: 3, Micros: 1_500_000}}}, -1911956485},
		{[]col{{types.ArrayOf(types.ArrayOf(types.String)), []any{[]any{"a"}, []any{}}}}, 1485273170},
	}
	for _, c := range cases {
		var cols []*Vector
		for _, x := range c.cols {
			cols = append(cols, mustFrom(t, x.t, []any{x.x}))
		}
		if got := int32(PartitionHash(cols, 1, nil)[0]); got != c.want {
			t.Errorf("hash of %v is %d, want %d", c.cols, got, c.want)
		}
	}
}

func TestMinimalBytes(t *testing.T) {
	for _, s := range []string{"0", "1", "127", "128", "255", "-1", "-128", "-129", "9223372036854775808", "-9223372036854775809"} {
		n, _ := new(big.Int).SetString(s, 10)
		d, _ := types.DecimalFromBig(n, 0)
		got := MinimalBytes(Int128{d.Unscaled.LowBits(), d.Unscaled.HighBits()})
		x := new(big.Int).SetBytes(got)
		if got[0] >= 0x80 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(len(got)*8)))
		}
		if x.Cmp(n) != 0 || len(got) != n.BitLen()/8+1 && s != "-128" {
			t.Errorf("%s is %x", s, got)
		}
	}
}
