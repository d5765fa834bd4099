package fn

import (
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// onOverflow says what integer arithmetic does when a result does not fit.
type onOverflow uint8

const (
	raise onOverflow = iota
	null
	wrap
)

// intOp is one of the operations of integers.
type intOp uint8

const (
	opAdd intOp = iota
	opSub
	opMul
)

var (
	intOpSymbols = [...]string{"+", "-", "*"}
	intOpTries   = [...]string{"try_add", "try_subtract", "try_multiply"}
)

// addInts stores the sums and tells whether one may have overflowed.
func addInts[T signed](dst, x, y []T) bool {
	dst, y = dst[:len(x)], y[:len(x)]
	var over T
	for i := range x {
		s := x[i] + y[i]
		over |= (x[i] ^ s) & (y[i] ^ s)
		dst[i] = s
	}
	return over < 0
}

func addConst[T signed](dst, x []T, c T) bool {
	dst = dst[:len(x)]
	var over T
	for i := range x {
		s := x[i] + c
		over |= (x[i] ^ s) & (c ^ s)
		dst[i] = s
	}
	return over < 0
}

func subInts[T signed](dst, x, y []T) bool {
	dst, y = dst[:len(x)], y[:len(x)]
	var over T
	for i := range x {
		d := x[i] - y[i]
		over |= (x[i] ^ y[i]) & (x[i] ^ d)
		dst[i] = d
	}
	return over < 0
}

func subConst[T signed](dst, x []T, c T) bool {
	dst = dst[:len(x)]
	var over T
	for i := range x {
		d := x[i] - c
		over |= (x[i] ^ c) & (x[i] ^ d)
		dst[i] = d
	}
	return over < 0
}

// mulInts stores the products. Factors of half the width cannot overflow; larger ones are looked at again.
func mulInts[T signed](dst, x, y []T) bool {
	dst, y = dst[:len(x)], y[:len(x)]
	half := T(1) << (unsafe.Sizeof(T(0))*4 - 1)
	var large T
	for i := range x {
		large |= (x[i] ^ x[i]>>(unsafe.Sizeof(T(0))*8-1) | y[i] ^ y[i]>>(unsafe.Sizeof(T(0))*8-1)) &^ (half - 1)
		dst[i] = x[i] * y[i]
	}
	return large != 0
}

func mulConst[T signed](dst, x []T, c T) bool {
	dst = dst[:len(x)]
	half := T(1) << (unsafe.Sizeof(T(0))*4 - 1)
	large := (c ^ c>>(unsafe.Sizeof(T(0))*8-1)) &^ (half - 1)
	for i := range x {
		large |= (x[i] ^ x[i]>>(unsafe.Sizeof(T(0))*8-1)) &^ (half - 1)
		dst[i] = x[i] * c
	}
	return large != 0
}

// overflows tells whether an operation on single values does not fit.
func overflows[T signed](op intOp, x, y T) bool {
	switch op {
	case opAdd:
		s := x + y
		return (x^s)&(y^s) < 0
	case opSub:
		d := x - y
		return (x^y)&(x^d) < 0
	}
	if unsafe.Sizeof(x) < 8 {
		p := int64(x) * int64(y)
		return p != int64(T(p))
	}
	return mul64Overflows(int64(x), int64(y))
}

func mul64Overflows(x, y int64) bool {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	h := int64(hi) - (x>>63)&y - (y>>63)&x
	return h != int64(lo)>>63
}

// intKernel computes op over integers of one width.
func intKernel[T signed](op intOp, mode onOverflow) Kernel {
	var sx, sy []T
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		x := flat(args[0], n, &sx)
		var over bool
		if args[1].Encoding() == vec.Const && n > 0 {
			c := vec.Fixed[T](args[1])[0]
			switch op {
			case opAdd:
				over = addConst(dst, x, c)
			case opSub:
				over = subConst(dst, x, c)
			case opMul:
				over = mulConst(dst, x, c)
			}
		} else {
			y := flat(args[1], n, &sy)
			switch op {
			case opAdd:
				over = addInts(dst, x, y)
			case opSub:
				over = subInts(dst, x, y)
			case opMul:
				over = mulInts(dst, x, y)
			}
		}
		if over && mode != wrap {
			y := flat(args[1], n, &sy)
			for i := range x { // cold: a null row may hold garbage that overflows
				if !overflows(op, x[i], y[i]) || anyNull(args, i) {
					continue
				}
				if mode == null {
					setNull(out, i)
				} else {
					e.Errs.Add(i, intOverflow(op, x[i], y[i]))
				}
			}
		}
		return out
	}
}

func intOverflow[T signed](op intOp, x, y T) error {
	suffix := ""
	switch unsafe.Sizeof(x) {
	case 1, 2:
		suffix = "S"
		return errclass.New("BINARY_ARITHMETIC_OVERFLOW", "value1", strconv.FormatInt(int64(x), 10)+suffix, "symbol", intOpSymbols[op],
			"value2", strconv.FormatInt(int64(y), 10)+suffix, "functionName", "`"+intOpTries[op]+"`")
	}
	return overflowError("overflow", intOpTries[op])
}

// floatKernel computes op over floating point numbers.
func floatKernel[T floating](op intOp) Kernel {
	var sx, sy []T
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		x, y := flat(args[0], n, &sx), flat(args[1], n, &sy)
		dst, y = dst[:len(x)], y[:len(x)]
		switch op {
		case opAdd:
			for i := range x {
				dst[i] = x[i] + y[i]
			}
		case opSub:
			for i := range x {
				dst[i] = x[i] - y[i]
			}
		case opMul:
			for i := range x {
				dst[i] = x[i] * y[i]
			}
		}
		return out
	}
}

// divFloats divides doubles. A zero divisor is an error or null, never infinity.
func divFloats(mode expr.Mode) Kernel {
	var sx, sy []float64
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[float64](out)
		x, y := flat(args[0], n, &sx), flat(args[1], n, &sy)
		dst, y = dst[:len(x)], y[:len(x)]
		zero := false
		for i := range x {
			zero = zero || y[i] == 0
			dst[i] = x[i] / y[i]
		}
		if zero {
			zeroRows(e, args, out, y, mode, divideByZero)
		}
		return out
	}
}

// fromLong makes doubles of the BIGINTs that are argument i of a kernel.
func fromLong(i int, kernel Kernel) Kernel {
	var scratch []int64
	double := vec.NewFixed(types.Double, 0)
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		double.ResetFixed(n)
		dst := vec.Fixed[float64](double)
		for k, v := range flat(args[i], n, &scratch) {
			dst[k] = float64(v)
		}
		if args[i].Encoding() != vec.Const {
			double.SetValidity(args[i].Validity())
		}
		with := [2]*vec.Vector{args[0], args[1]}
		with[i] = double
		return kernel(e, n, with[:], out)
	}
}

// zeroRows deals with the rows whose divisor is zero.
func zeroRows[T number](e *expr.Eval, args []*vec.Vector, out *vec.Vector, y []T, mode expr.Mode, err func() error) {
	for i := range y {
		if y[i] == 0 && !anyNull(args, i) {
			fails(e, out, mode, i, err)
		}
	}
}

// divInts is the integer division of bigints.
func divInts(mode expr.Mode, wraps bool) Kernel {
	var sx, sy []int64
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[int64](out)
		x, y := flat(args[0], n, &sx), flat(args[1], n, &sy)
		dst, y = dst[:len(x)], y[:len(x)]
		bad := false
		for i := range x {
			d := y[i]
			if d == 0 || d == -1 && x[i] == -x[i] && x[i] != 0 {
				bad = true
				dst[i] = x[i]
				continue
			}
			dst[i] = x[i] / d
		}
		if !bad {
			return out
		}
		for i := range x {
			switch {
			case anyNull(args, i):
			case y[i] == 0:
				fails(e, out, mode, i, divideByZero)
			case y[i] == -1 && x[i] == -x[i] && x[i] != 0 && !wraps:
				fails(e, out, mode, i, func() error { return overflowError("Overflow in integral divide", "try_divide") })
			}
		}
		return out
	}
}

// remInts is the remainder towards zero, or for pmod the one that has not the dividend's sign when that is negative.
func remInts[T signed](mode expr.Mode, positive bool) Kernel {
	var sx, sy []T
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		x, y := flat(args[0], n, &sx), flat(args[1], n, &sy)
		dst, y = dst[:len(x)], y[:len(x)]
		zero := false
		for i := range x {
			d := y[i]
			if d == 0 {
				zero = true
				continue
			}
			r := x[i] % d
			if positive && r < 0 {
				if s := int64(r) + int64(d); unsafe.Sizeof(r) < 4 { // small numbers are added as INT
					r = T(s % int64(d))
				} else {
					r = (r + d) % d
				}
			}
			dst[i] = r
		}
		if zero {
			zeroRows(e, args, out, y, mode, remainderByZero)
		}
		return out
	}
}
