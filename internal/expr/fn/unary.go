package fn

import (
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func signFunctions() []*Function {
	return []*Function{
		{Name: "negative", Bind: bindNegative},
		{Name: "positive", Bind: bindPositive},
		{Name: "abs", Bind: bindAbs},
	}
}

// numberOperand is the type in which the sign of an argument is changed.
func numberOperand(b *Binding, intervals bool) (types.DataType, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	switch {
	case isText(t), isNull(t):
		return types.Double, nil
	case IsNumeric(t), isAnsiInterval(t):
		return t, nil
	case intervals && isInterval(t):
		return t, nil
	}
	return nil, b.wrongType(0, numberOrInterval)
}

func bindPositive(b *Binding) (*Bound, error) {
	t, err := numberOperand(b, true)
	if err != nil {
		return nil, err
	}
	bound := &Bound{Args: casts(b, t), Type: t, TakesConst: true}
	bound.Nullable = b.nullable(bound.Args)
	bound.New = func() Kernel {
		return func(_ *expr.Eval, _ int, args []*vec.Vector, _ *vec.Vector) *vec.Vector { return args[0] }
	}
	return bound, nil
}

func bindNegative(b *Binding) (*Bound, error) { return bindSign(b, false, true) }

func bindAbs(b *Binding) (*Bound, error) { return bindSign(b, true, false) }

func bindSign(b *Binding, abs, calendar bool) (*Bound, error) {
	t, err := numberOperand(b, calendar)
	if err != nil {
		return nil, err
	}
	bound := &Bound{Args: casts(b, t), Type: t}
	bound.Nullable = b.nullable(bound.Args)
	mode := overflowMode(b.ANSI, false)
	failure := overflowError("overflow", "")
	if isInterval(t) {
		mode = raise
		if !abs {
			failure = errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION")
		}
	}
	bound.CanFail = mode == raise && !isFractional(t)
	d, isDec := t.(types.DecimalType)
	if isDec {
		bound.CanFail = d.Precision > signDigits
	}
	bound.New = func() Kernel {
		switch vec.PhysOf(t) {
		case vec.PhysInt8:
			return negateInts[int8](abs, mode, failure)
		case vec.PhysInt16:
			return negateInts[int16](abs, mode, failure)
		case vec.PhysInt32:
			return negateInts[int32](abs, mode, failure)
		case vec.PhysInt64:
			return negateInts[int64](abs, mode, failure)
		case vec.PhysFloat32:
			return negateFloats[float32](abs)
		case vec.PhysFloat64:
			return negateFloats[float64](abs)
		case vec.PhysInt128:
			return negateWide(abs, d)
		}
		return negateCalendar
	}
	return bound, nil
}

func negateInts[T signed](abs bool, mode onOverflow, failure error) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[T](args[0]), vec.Fixed[T](out)
		dst = dst[:len(x)]
		var over T // the smallest number is the only one that equals its negative, 0 aside
		for i, v := range x {
			r := -v
			if abs && v > 0 {
				r = v
			}
			over |= v & r
			dst[i] = r
		}
		if over < 0 && mode == raise {
			for i, v := range x {
				if v&dst[i] < 0 && v == -v && !args[0].IsNull(i) {
					e.Errs.Add(i, failure)
				}
			}
		}
		return out
	}
}

func negateFloats[T floating](abs bool) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[T](args[0]), vec.Fixed[T](out)
		dst = dst[:len(x)]
		for i, v := range x {
			if abs {
				dst[i] = T(math.Abs(float64(v)))
			} else {
				dst[i] = -v
			}
		}
		return out
	}
}

// signDigits is how many digits of a decimal survive a change of its sign: Spark computes it to that many.
const signDigits = 34

func negateWide(abs bool, t types.DecimalType) Kernel {
	limit := decimal.Pow10(signDigits)
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[decimal.Int](args[0]), vec.Fixed[decimal.Int](out)
		for i, v := range x {
			if abs && v.Hi >= 0 {
				dst[i] = v
				continue
			}
			r := decimal.Neg(v)
			if t.Precision > signDigits && decimal.Cmp(decimal.Abs(v), limit) >= 0 && !args[0].IsNull(i) {
				r = roundedToDigits(r, signDigits)
				if !decimal.Fits(r, t.Precision) {
					e.Errs.Add(i, errclass.New("NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION", "roundedValue", decimal.String(r, t.Scale),
						"originalValue", decimal.String(decimal.Neg(v), t.Scale), "precision", strconv.Itoa(t.Precision), "scale", strconv.Itoa(t.Scale)))
				}
			}
			dst[i] = r
		}
		return out
	}
}

// roundedToDigits keeps the first digits of a longer number; a half goes to the even neighbour.
func roundedToDigits(x decimal.Int, digits int) decimal.Int {
	unit := decimal.Pow10(decimal.Digits(x) - digits)
	q, r := decimal.QuoRem(x, unit)
	kept, _ := decimal.Sub(x, r)
	rest, _ := decimal.Sub(unit, decimal.Abs(r))
	if c := decimal.Cmp(decimal.Abs(r), rest); c > 0 || c == 0 && q.Lo&1 == 1 {
		if decimal.Sign(x) < 0 {
			unit = decimal.Neg(unit)
		}
		kept, _ = decimal.Add(kept, unit)
	}
	return kept
}

func negateCalendar(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, dst := vec.Fixed[vec.Interval](args[0]), vec.Fixed[vec.Interval](out)
	for i, v := range x {
		dst[i] = vec.Interval{Months: -v.Months, Days: -v.Days, Micros: -v.Micros}
	}
	return out
}
