package fn

import (
	"testing"

	"github.com/millrace/millrace/types"
)

func TestDecimalResults(t *testing.T) {
	dec := func(precision, scale int) types.DecimalType {
		return types.DecimalType{Precision: precision, Scale: scale}
	}
	for _, c := range []struct{ got, want types.DecimalType }{
		{boundedDecimal(38, 18), dec(38, 18)},
		{boundedDecimal(39, 18), dec(38, 17)},
		{boundedDecimal(77, 36), dec(38, 6)},
		{boundedDecimal(60, 3), dec(38, 3)},
		{widerDecimal(dec(10, 2), dec(5, 4)), dec(12, 4)},
		{widerDecimal(dec(38, 18), dec(38, 0)), dec(38, 0)},
		{decimalResult(decAdd, dec(10, 2), dec(5, 4)), dec(13, 4)},
		{decimalResult(decAdd, dec(38, 10), dec(38, 10)), dec(38, 9)},
		{decimalResult(decMul, dec(10, 2), dec(5, 4)), dec(16, 6)},
		{decimalResult(decMul, dec(38, 18), dec(38, 18)), dec(38, 6)},
		{decimalResult(decDiv, dec(10, 2), dec(5, 4)), dec(20, 8)},
		{decimalResult(decDiv, dec(38, 18), dec(38, 18)), dec(38, 6)},
		{decimalResult(decRem, dec(10, 2), dec(5, 4)), dec(5, 4)},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got.SQL(), c.want.SQL())
		}
	}
}
