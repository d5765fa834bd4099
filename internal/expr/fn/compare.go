package fn

import (
	"bytes"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// cmpOp is a comparison. All are made of two: equal and less, turned around or negated, because every type has a total order (NaN is
// one value above all others).
type cmpOp uint8

const (
	cmpEq cmpOp = iota
	cmpNe
	cmpLt
	cmpLe
	cmpGt
	cmpGe
)

func comparisonFunctions() []*Function {
	op := func(name string, o cmpOp, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindComparison(b, o, false) }}
	}
	return []*Function{
		op("==", cmpEq, "="), op("!=", cmpNe, "<>"), op("<", cmpLt), op("<=", cmpLe), op(">", cmpGt), op(">=", cmpGe),
		{Name: "<=>", Aliases: []string{"equal_null"}, Bind: func(b *Binding) (*Bound, error) { return bindComparison(b, cmpEq, true) }},
	}
}

func bindComparison(b *Binding, op cmpOp, nullSafe bool) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	x, y := b.Args[0].Type, b.Args[1].Type
	if isDecimal(x) != isDecimal(y) {
		x, y = literalDecimal(b.Args[0], x), literalDecimal(b.Args[1], y)
	}
	t, ok := ComparisonType(x, y, b.ANSI)
	if !ok && !b.ANSI && op == cmpEq { // true is 1
		switch {
		case isBoolean(x) && IsNumeric(y):
			t, ok = y, true
		case isBoolean(y) && IsNumeric(x):
			t, ok = x, true
		}
	}
	if !ok {
		if !types.SameShape(x, y) {
			return nil, b.differentTypes()
		}
		t = x
	}
	if !Orderable(t) {
		return nil, b.Unordered(t)
	}
	bound := &Bound{Args: casts(b, t, t), Type: types.Boolean, TakesConst: true, NullsAreArgs: nullSafe}
	for i, a := range b.Args {
		if types.SameShape(a.Type, t) {
			bound.Args[i] = nil // names of fields and nullability do not matter
		}
	}
	bound.Nullable = !nullSafe && b.nullable(bound.Args)
	if isNull(t) {
		bound.Nullable = !nullSafe
	}
	bound.New = func() Kernel {
		k := compareKernel(t, op)
		if nullSafe {
			return nullSafeEqual(k)
		}
		return k
	}
	return bound, nil
}

// compareKernel compares two vectors of type t.
func compareKernel(t types.DataType, op cmpOp) Kernel {
	switch vec.PhysOf(t) {
	case vec.PhysNull:
		return func(_ *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			return out
		}
	case vec.PhysBool:
		return compareInts[uint8](op)
	case vec.PhysInt8:
		return compareInts[int8](op)
	case vec.PhysInt16:
		return compareInts[int16](op)
	case vec.PhysInt32:
		return compareInts[int32](op)
	case vec.PhysInt64:
		return compareInts[int64](op)
	case vec.PhysFloat32:
		return compareFloats[float32](op)
	case vec.PhysFloat64:
		return compareFloats[float64](op)
	case vec.PhysInt128:
		return compareWide(op)
	case vec.PhysBytes:
		return compareBytes(op)
	}
	return compareNested(op)
}

// parts gives a comparison as less or equal, with turned sides, and negated (flip is 1).
func (op cmpOp) parts() (less, turned bool, flip uint8) {
	switch op {
	case cmpEq:
		return false, false, 0
	case cmpNe:
		return false, false, 1
	case cmpLt:
		return true, false, 0
	case cmpLe:
		return true, true, 1
	case cmpGt:
		return true, true, 0
	}
	return true, false, 1
}

// sides evaluates the arguments' order and encodings.
func sides(args []*vec.Vector, turned bool) (x, y *vec.Vector) {
	if turned {
		return args[1], args[0]
	}
	return args[0], args[1]
}

func compareInts[T signed | ~uint8](op cmpOp) Kernel {
	less, turned, flip := op.parts()
	var sx []T
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		if n == 0 {
			return out
		}
		dst := vec.Fixed[uint8](out)
		a, b := sides(args, turned)
		x, y := vec.Fixed[T](a), vec.Fixed[T](b)
		ca, cb := a.Encoding() == vec.Const, b.Encoding() == vec.Const
		if ca && cb {
			x, ca = flat(a, n, &sx), false
		}
		switch {
		case cb && !less:
			equalConst(dst, x, y[0], flip)
		case ca && !less:
			equalConst(dst, y, x[0], flip)
		case cb:
			lessConst(dst, x, y[0], flip)
		case ca:
			greaterConst(dst, y, x[0], flip)
		case less:
			lessInts(dst, x, y, flip)
		default:
			equalInts(dst, x, y, flip)
		}
		return out
	}
}

func equalInts[T signed | ~uint8](dst []uint8, x, y []T, flip uint8) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i := range x {
		dst[i] = b2u(x[i] == y[i]) ^ flip
	}
}

func equalConst[T signed | ~uint8](dst []uint8, x []T, c T, flip uint8) {
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = b2u(x[i] == c) ^ flip
	}
}

func lessInts[T signed | ~uint8](dst []uint8, x, y []T, flip uint8) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i := range x {
		dst[i] = b2u(x[i] < y[i]) ^ flip
	}
}

func lessConst[T signed | ~uint8](dst []uint8, x []T, c T, flip uint8) {
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = b2u(x[i] < c) ^ flip
	}
}

func greaterConst[T signed | ~uint8](dst []uint8, x []T, c T, flip uint8) {
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = b2u(x[i] > c) ^ flip
	}
}

// compareFloats takes NaN as one value above all others.
func compareFloats[T floating](op cmpOp) Kernel {
	less, turned, flip := op.parts()
	var sx, sy []T
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[uint8](out)
		a, b := sides(args, turned)
		x, y := flat(a, n, &sx), flat(b, n, &sy)
		dst, y = dst[:len(x)], y[:len(x)]
		if less {
			for i := range x {
				dst[i] = (b2u(x[i] < y[i]) | b2u(y[i] != y[i])&b2u(x[i] == x[i])) ^ flip
			}
			return out
		}
		for i := range x {
			dst[i] = (b2u(x[i] == y[i]) | b2u(x[i] != x[i])&b2u(y[i] != y[i])) ^ flip
		}
		return out
	}
}

func compareWide(op cmpOp) Kernel {
	less, turned, flip := op.parts()
	var sx, sy []decimal.Int
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[uint8](out)
		a, b := sides(args, turned)
		x, y := flat(a, n, &sx), flat(b, n, &sy)
		dst, y = dst[:len(x)], y[:len(x)]
		if less {
			for i := range x {
				dst[i] = b2u(x[i].Hi < y[i].Hi || x[i].Hi == y[i].Hi && x[i].Lo < y[i].Lo) ^ flip
			}
			return out
		}
		for i := range x {
			dst[i] = b2u(x[i] == y[i]) ^ flip
		}
		return out
	}
}

func compareBytes(op cmpOp) Kernel {
	less, turned, flip := op.parts()
	var scratch vec.Bitmap
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[uint8](out)
		ok := live(args, n, &scratch)
		a, b := sides(args, turned)
		if !less {
			if a.Encoding() == vec.Const {
				a, b = b, a
			}
			if b.Encoding() == vec.Const && a.Encoding() == vec.Flat && ok.All(n) && n > 0 {
				equalBytesConst(dst, a, b.BytesAt(0), flip)
				return out
			}
		}
		for i := range dst {
			switch {
			case !ok.Get(i):
				dst[i] = 0
			case less:
				dst[i] = b2u(bytes.Compare(a.BytesAt(i), b.BytesAt(i)) < 0) ^ flip
			default:
				dst[i] = b2u(bytes.Equal(a.BytesAt(i), b.BytesAt(i))) ^ flip
			}
		}
		return out
	}
}

func equalBytesConst(dst []uint8, v *vec.Vector, c []byte, flip uint8) {
	spans, buf := v.Spans(), v.Bytes()
	spans = spans[:len(dst)]
	for i, s := range spans {
		dst[i] = b2u(int(s.Len) == len(c) && string(buf[s.Off:s.Off+s.Len]) == string(c)) ^ flip
	}
}

func compareNested(op cmpOp) Kernel {
	less, turned, flip := op.parts()
	var scratch vec.Bitmap
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[uint8](out)
		ok := live(args, n, &scratch)
		a, b := sides(args, turned)
		for i := range dst {
			if !ok.Get(i) {
				continue
			}
			c := vec.Compare(a, i, b, i)
			if less {
				dst[i] = b2u(c < 0) ^ flip
			} else {
				dst[i] = b2u(c == 0) ^ flip
			}
		}
		return out
	}
}

// nullSafeEqual makes null equal to null and to nothing else.
func nullSafeEqual(equal Kernel) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out = equal(e, n, args, out)
		if !args[0].HasNulls() && !args[1].HasNulls() {
			return out
		}
		dst := vec.Fixed[uint8](out)
		for i := range dst {
			x, y := args[0].IsNull(i), args[1].IsNull(i)
			if x || y {
				dst[i] = b2u(x && y)
			}
		}
		return out
	}
}
