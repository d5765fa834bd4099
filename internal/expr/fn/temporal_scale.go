package fn

import (
	"math"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// scale is interval * number and interval / number. Results round half away from zero.
func (t *temporal) scale(divide bool) (*Bound, error) {
	l, r := t.Args[t.x].Type, t.Args[t.y].Type
	var num types.DataType = types.Double
	var result types.DataType = types.DayTimeInterval
	if kindOf(l) == kYearMonth {
		result = types.YearMonthInterval
	}
	switch {
	case IsIntegral(r):
		num = types.Long
	case isDecimal(r):
		num = r
	}
	mode := t.mode()
	return t.bind(result, l, num, func() Kernel { return scaleInterval(num, divide, mode) }), nil
}

// scaleCalendar is the same of calendar intervals, whose parts are scaled one by one: fractions of months and days are dropped. Outside of
// ANSI mode a zero divides to null, and what is too large becomes the largest there is, as microseconds do in any mode. NaN gives nothing.
func (t *temporal) scaleCalendar(divide bool) (*Bound, error) {
	mode, exact := t.mode(), t.try || t.ANSI
	if !exact {
		mode = expr.Null
	}
	bound := t.bind(types.CalendarInterval, types.CalendarInterval, types.Double, func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, y, dst := vec.Fixed[vec.Interval](args[0]), vec.Fixed[float64](args[1]), vec.Fixed[vec.Interval](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				if divide && y[i] == 0 {
					fails(e, out, mode, i, func() error { return errclass.New("INTERVAL_DIVIDED_BY_ZERO") })
					continue
				}
				part := func(v int64) float64 {
					if divide {
						return float64(v) / y[i]
					}
					return float64(v) * y[i]
				}
				months, days := part(int64(x[i].Months)), part(int64(x[i].Days))
				if exact && (!fitsInt(months) || !fitsInt(days)) {
					fails(e, out, mode, i, func() error { return overflowError("overflow", "") })
					continue
				}
				v := vec.Interval{Months: nearInt(months), Days: nearInt(days)}
				v.Micros = nearLong(math.Floor(part(x[i].Micros) + datetime.Day*(days-float64(v.Days)) + 0.5)) // parts of days are hours
				dst[i] = v
			}
			return out
		}
	})
	bound.Nullable = true
	return bound, nil
}

func fitsInt(x float64) bool {
	return x != x || math.Trunc(x) >= math.MinInt32 && math.Trunc(x) <= math.MaxInt32
}

// nearInt is the whole number in front of the point, or what is nearest to it, or 0.
func nearInt(x float64) int32 {
	if x != x {
		return 0
	}
	return int32(max(math.MinInt32, min(math.MaxInt32, x)))
}

func nearLong(x float64) int64 {
	switch {
	case x != x:
		return 0
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return math.MinInt64
	}
	return int64(x)
}

func scaleInterval(num types.DataType, divide bool, mode expr.Mode) Kernel {
	d, isDec := num.(types.DecimalType)
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		months := out.Phys() == vec.PhysInt32
		for i := range n {
			if anyNull(args, i) {
				continue
			}
			var x int64
			if months {
				x = int64(vec.At[int32](args[0], i))
			} else {
				x = vec.At[int64](args[0], i)
			}
			var (
				v    int64
				ok   bool
				zero bool
			)
			switch {
			case args[1].Phys() == vec.PhysFloat64:
				v, ok, zero = scaleFloat(x, vec.At[float64](args[1], i), divide)
			case isDec:
				v, ok, zero = scaleDecimal(x, loadDecimal(args[1], i), d.Scale, divide)
			default:
				v, ok, zero = scaleDecimal(x, decimal.FromInt64(vec.At[int64](args[1], i)), 0, divide)
			}
			switch {
			case zero:
				fails(e, out, mode, i, func() error { return errclass.New("INTERVAL_DIVIDED_BY_ZERO") })
			case !ok || months && v != int64(int32(v)):
				fails(e, out, mode, i, func() error { return errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION") })
			default:
				storeInt(out, i, v)
			}
		}
		return out
	}
}

func scaleFloat(x int64, f float64, divide bool) (v int64, ok, zero bool) {
	p := float64(x) * f
	if divide {
		if f == 0 {
			return 0, false, true
		}
		p = float64(x) / f
	}
	p = math.Trunc(p + math.Copysign(0.5, p))
	if !(p >= -1<<63 && p < 1<<63) {
		return 0, false, false
	}
	return int64(p), true, false
}

func scaleDecimal(x int64, d decimal.Int, scale int, divide bool) (v int64, ok, zero bool) {
	var p decimal.Int
	if divide {
		if d == (decimal.Int{}) {
			return 0, false, true
		}
		p, ok = decimal.Div(decimal.FromInt64(x), d, scale, decimal.MaxPrecision)
	} else {
		p, ok = decimal.Mul(decimal.FromInt64(x), d, scale, decimal.MaxPrecision)
	}
	v, fits := decimal.Int64(p)
	return v, ok && fits, false
}
