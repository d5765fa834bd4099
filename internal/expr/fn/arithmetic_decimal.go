package fn

import (
	"math"
	"math/big"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// decOp is an operation of decimals.
type decOp uint8

const (
	decAdd decOp = iota
	decSub
	decMul
	decDiv
	decRem
	decPmod
)

// decimalResult is the result type of an operation; with too many digits it keeps at least six behind the point if there are so
// many, and gives up others.
func decimalResult(op decOp, x, y types.DecimalType) types.DecimalType {
	switch op {
	case decAdd, decSub:
		s := max(x.Scale, y.Scale)
		return boundedDecimal(max(x.Precision-x.Scale, y.Precision-y.Scale)+s+1, s)
	case decMul:
		return boundedDecimal(x.Precision+y.Precision+1, x.Scale+y.Scale)
	case decDiv:
		s := max(6, x.Scale+y.Precision+1)
		return boundedDecimal(x.Precision-x.Scale+y.Scale+s, s)
	}
	s := max(x.Scale, y.Scale)
	return boundedDecimal(min(x.Precision-x.Scale, y.Precision-y.Scale)+s, s)
}

// decimalKernel computes op. Where the result type holds every result it cannot fail and, if all have at most 18 digits, runs over
// plain integers.
func decimalKernel(op decOp, x, y, r types.DecimalType, mode expr.Mode) Kernel {
	if r.Precision <= 18 && x.Precision <= 18 && y.Precision <= 18 {
		switch op {
		case decAdd, decSub:
			return smallDecimalSum(op == decSub, decimal.Pow10Int64(r.Scale-x.Scale), decimal.Pow10Int64(r.Scale-y.Scale))
		case decMul:
			return smallDecimalProduct
		}
	}
	var sx, sy, sr []decimal.Int
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		a, b := wide(args[0], n, &sx), wide(args[1], n, &sy)
		if cap(sr) < n {
			sr = make([]decimal.Int, n)
		}
		sr = sr[:n]
		for i := range sr {
			v, ok := decimalOp(op, a[i], b[i], x.Scale, y.Scale, r)
			sr[i] = v
			if ok || anyNull(args, i) {
				continue
			}
			fails(e, out, mode, i, func() error { return decimalOpError(op, a[i], b[i], x.Scale, y.Scale, r) })
		}
		narrow(out, sr)
		return out
	}
}

func decimalOp(op decOp, a, b decimal.Int, sa, sb int, r types.DecimalType) (decimal.Int, bool) {
	switch op {
	case decAdd:
		return decimal.AddScaled(a, sa, b, sb, r.Scale, r.Precision)
	case decSub:
		return decimal.AddScaled(a, sa, decimal.Neg(b), sb, r.Scale, r.Precision)
	case decMul:
		return decimal.Mul(a, b, sa+sb-r.Scale, r.Precision)
	}
	if b == (decimal.Int{}) {
		return decimal.Int{}, false
	}
	if op == decDiv {
		return decimal.Div(a, b, r.Scale-sa+sb, r.Precision)
	}
	v, ok := decimal.Rem(a, sa, b, sb, r.Scale, r.Precision)
	if op == decPmod && ok && v.Hi < 0 && b.Hi >= 0 { // a negative divisor leaves the remainder as it is
		return decimal.AddScaled(v, r.Scale, b, sb, r.Scale, r.Precision)
	}
	return v, ok
}

func decimalOpError(op decOp, a, b decimal.Int, sa, sb int, r types.DecimalType) error {
	if op >= decDiv && b == (decimal.Int{}) {
		if op == decDiv {
			return divideByZero()
		}
		return remainderByZero()
	}
	x, y := decimal.Big(a), decimal.Big(b)
	v := new(big.Rat)
	p := func(s int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s)), nil) }
	rx, ry := new(big.Rat).SetFrac(x, p(sa)), new(big.Rat).SetFrac(y, p(sb))
	scale := max(sa, sb)
	switch op {
	case decAdd:
		v.Add(rx, ry)
	case decSub:
		v.Sub(rx, ry)
	case decMul:
		v.Mul(rx, ry)
		scale = sa + sb
	case decDiv:
		v.Quo(rx, ry)
		scale = r.Scale
	}
	return outOfRange(v.FloatString(scale), r)
}

// outOfRange is the error for a number that has too many digits for its type.
func outOfRange(value string, t types.DecimalType) error {
	return errclass.New("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "value", value,
		"precision", itoa(t.Precision), "scale", itoa(t.Scale), "config", ansiConfig)
}

// smallDecimalSum adds or subtracts after bringing both to one scale.
func smallDecimalSum(sub bool, mx, my int64) Kernel {
	var sx, sy []int64
	if sub {
		my = -my
	}
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[int64](out)
		x, y := flat(args[0], n, &sx), flat(args[1], n, &sy)
		dst, y = dst[:len(x)], y[:len(x)]
		for i := range x {
			dst[i] = x[i]*mx + y[i]*my
		}
		return out
	}
}

func smallDecimalProduct(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	var sx, sy []int64
	dst := vec.Fixed[int64](out)
	x, y := flat(args[0], n, &sx), flat(args[1], n, &sy)
	dst, y = dst[:len(x)], y[:len(x)]
	for i := range x {
		dst[i] = x[i] * y[i]
	}
	return out
}

// decimalDiv is the integer division of decimals, whose result wraps like a cast to bigint would outside of ANSI mode.
func decimalDiv(x, y types.DecimalType, mode expr.Mode) Kernel {
	var sx, sy []decimal.Int
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[int64](out)
		a, b := wide(args[0], n, &sx), wide(args[1], n, &sy)
		for i := range dst {
			if b[i] == (decimal.Int{}) {
				if !anyNull(args, i) {
					fails(e, out, mode, i, divideByZero)
				}
				continue
			}
			q, _ := decimal.IntQuo(a[i], x.Scale, b[i], y.Scale)
			dst[i] = int64(q.Lo)
		}
		return out
	}
}

// remFloats is the remainder of floating point numbers, or pmod.
func remFloats[T floating](mode expr.Mode, positive bool) Kernel {
	var sx, sy []T
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		x, y := flat(args[0], n, &sx), flat(args[1], n, &sy)
		zero := false
		for i := range x {
			r := math.Mod(float64(x[i]), float64(y[i]))
			if positive && r < 0 {
				r = math.Mod(r+float64(y[i]), float64(y[i]))
			}
			dst[i] = T(r)
			zero = zero || y[i] == 0
		}
		if zero {
			zeroRows(e, args, out, y, mode, remainderByZero)
		}
		return out
	}
}
