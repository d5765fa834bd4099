package fn

import (
	"math/bits"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

type bitOp uint8

const (
	bitAnd bitOp = iota
	bitOr
	bitXor
)

type shiftOp uint8

const (
	shiftLeft shiftOp = iota
	shiftRight
	shiftUnsigned
)

func bitFunctions() []*Function {
	two := func(name string, op bitOp) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindBits(b, op) }}
	}
	shift := func(name, symbol string, op shiftOp) *Function {
		return &Function{Name: name, Aliases: []string{symbol}, Bind: func(b *Binding) (*Bound, error) { return bindShift(b, op) }}
	}
	return []*Function{
		two("&", bitAnd), two("|", bitOr), two("^", bitXor),
		{Name: "~", Bind: bindBitNot},
		shift("shiftleft", "<<", shiftLeft), shift("shiftright", ">>", shiftRight), shift("shiftrightunsigned", ">>>", shiftUnsigned),
		{Name: "bit_count", Bind: bindBitCount},
		{Name: "bit_get", Aliases: []string{"getbit"}, Bind: bindBitGet},
	}
}

func (b *Binding) notIntegral(t types.DataType) error {
	return errclass.New("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", "sqlExpr", b.SQL(), "inputType", `"INTEGRAL"`, "actualDataType", quoteType(t))
}

func bindBits(b *Binding, op bitOp) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	x, y := b.Args[0].Type, b.Args[1].Type
	if s, other, ok := oneString(x, y); ok && !isNull(other) {
		// The string stands for what it meets, or outside of ANSI mode for a double.
		as := types.DataType(types.Double)
		if b.ANSI {
			if as, ok = promoteString(s, other); !ok {
				return nil, b.differentTypes()
			}
			if !IsIntegral(as) {
				return nil, b.notIntegral(as)
			}
		}
		if isText(x) {
			x = as
		} else {
			y = as
		}
		if !b.ANSI && !isFractional(other) {
			return nil, b.differentOperands(x, y)
		}
	} else if isText(x) && isText(y) && !b.ANSI {
		return nil, b.notIntegral(types.Double)
	}
	if isDecimal(x) && IsIntegral(y) || isDecimal(y) && IsIntegral(x) { // a literal is a decimal of its digits first
		x, y = literalDecimal(b.Args[0], x), literalDecimal(b.Args[1], y)
		return nil, b.differentOperands(x, y)
	}
	t, ok := WiderType(x, y, b.ANSI)
	if !ok {
		return nil, b.differentTypes()
	}
	if isNull(t) {
		t = types.Integer
	}
	if !IsIntegral(t) {
		if !types.SameType(x, y) && !isText(b.Args[0].Type) && !isText(b.Args[1].Type) {
			return nil, b.differentTypes()
		}
		return nil, b.notIntegral(t)
	}
	c := casts(b, t, t)
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), New: func() Kernel {
		switch vec.PhysOf(t) {
		case vec.PhysInt8:
			return bitKernel[int8](op)
		case vec.PhysInt16:
			return bitKernel[int16](op)
		case vec.PhysInt32:
			return bitKernel[int32](op)
		}
		return bitKernel[int64](op)
	}}, nil
}

func bitKernel[T signed](op bitOp) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[T](args[0]), vec.Fixed[T](args[1]), vec.Fixed[T](out)
		dst, y = dst[:len(x)], y[:len(x)]
		switch op {
		case bitAnd:
			for i := range x {
				dst[i] = x[i] & y[i]
			}
		case bitOr:
			for i := range x {
				dst[i] = x[i] | y[i]
			}
		case bitXor:
			for i := range x {
				dst[i] = x[i] ^ y[i]
			}
		}
		return out
	}
}

func bindBitNot(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(IntegralOnly)
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), New: func() Kernel {
		switch vec.PhysOf(t) {
		case vec.PhysInt8:
			return bitNot[int8]
		case vec.PhysInt16:
			return bitNot[int16]
		case vec.PhysInt32:
			return bitNot[int32]
		}
		return bitNot[int64]
	}}, nil
}

func bitNot[T signed](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, dst := vec.Fixed[T](args[0]), vec.Fixed[T](out)
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = ^x[i]
	}
	return out
}

func bindShift(b *Binding, op shiftOp) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(Accept{
		name: `("INT" or "BIGINT")`, to: []types.DataType{types.Integer, types.Long},
		has: func(t types.DataType) bool { r := rank(t); return r == 3 || r == 4 },
	}, integer)
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), New: func() Kernel {
		if vec.PhysOf(t) == vec.PhysInt32 {
			return shiftKernel[int32, uint32](op, 31)
		}
		return shiftKernel[int64, uint64](op, 63)
	}}, nil
}

// shiftKernel shifts by the low bits of the distance, as the JVM does.
func shiftKernel[T int32 | int64, U uint32 | uint64](op shiftOp, mask int32) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, by, dst := vec.Fixed[T](args[0]), vec.Fixed[int32](args[1]), vec.Fixed[T](out)
		dst, by = dst[:len(x)], by[:len(x)]
		for i := range x {
			s := uint(by[i] & mask)
			switch op {
			case shiftLeft:
				dst[i] = x[i] << s
			case shiftRight:
				dst[i] = x[i] >> s
			default:
				dst[i] = T(U(x[i]) >> s)
			}
		}
		return out
	}
}

func bindBitCount(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(Accept{
		name: `("INTEGRAL" or "BOOLEAN")`, to: []types.DataType{types.Integer}, strict: true,
		has: func(t types.DataType) bool { return IsIntegral(t) || isBoolean(t) },
	})
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Integer, Nullable: b.nullable(c), New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int32](out)
			for i := range dst {
				dst[i] = int32(bits.OnesCount64(uint64(loadInt(args[0], i))))
			}
			return out
		}
	}}, nil
}

// loadInt reads an integer, or a boolean, of any width from a Flat or Const vector.
func loadInt(v *vec.Vector, i int) int64 {
	switch v.Phys() {
	case vec.PhysBool:
		return int64(vec.At[uint8](v, i))
	case vec.PhysInt8:
		return int64(vec.At[int8](v, i))
	case vec.PhysInt16:
		return int64(vec.At[int16](v, i))
	case vec.PhysInt32:
		return int64(vec.At[int32](v, i))
	}
	return vec.At[int64](v, i)
}

func bindBitGet(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(integral), integer)
	if err != nil {
		return nil, err
	}
	width := 8 * vec.PhysOf(b.result(c, 0)).Width()
	name := b.Name
	return &Bound{Args: c, Type: types.Byte, Nullable: b.nullable(c), CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int8](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				pos := int(vec.At[int32](args[1], i))
				if pos < 0 || pos >= width {
					e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE", "functionName", "`"+name+"`", "parameter", "`pos`",
						"upper", itoa(width), "invalidValue", itoa(pos)))
					continue
				}
				dst[i] = int8(uint64(loadInt(args[0], i)) >> pos & 1)
			}
			return out
		}
	}}, nil
}
