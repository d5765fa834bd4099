package fn

import (
	"errors"
	"math"
	"strconv"
	"unsafe"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// rounding is a direction.
type rounding uint8

const (
	halfUp   rounding = iota // away from zero
	halfEven                 // to the even neighbour
	down                     // to the smaller number
	up                       // to the larger number
)

func roundFunctions() []*Function {
	round := func(name string, r rounding) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindRound(b, r) }}
	}
	return []*Function{
		round("round", halfUp), round("bround", halfEven),
		{Name: "floor", Bind: func(b *Binding) (*Bound, error) { return bindFloor(b, down) }},
		{Name: "ceil", Aliases: []string{"ceiling"}, Bind: func(b *Binding) (*Bound, error) { return bindFloor(b, up) }},
	}
}

// lateError is an error in a constant, which only rows meet.
type lateError struct{ error }

// places is the constant number of digits that argument 1 asks for.
func (b *Binding) places() (n int, null bool, err error) {
	if len(b.Args) < 2 {
		return 0, false, nil
	}
	a := b.Args[1]
	whole := b.Name == "floor" || b.Name == "ceil" || b.Name == "ceiling"
	if whole && (a.Const == nil || !IsIntegral(a.Type)) {
		return 0, false, errclass.New("NON_FOLDABLE_ARGUMENT", "funcName", "`"+b.Name+"`", "paramName", "`scale`", "paramType", `"INT"`)
	}
	if _, ok := integer.implicit(Arg{Type: a.Type}, b.ANSI); !ok {
		return 0, false, b.wrongType(1, integer.name)
	}
	if a.Const == nil {
		return 0, false, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.SQL(), "inputName", "`scale`", "inputType", `"INT"`,
			"inputExpr", `"`+a.SQL+`"`)
	}
	if !IsIntegral(a.Type) && !isNull(a.Type) {
		mode := CastLegacy
		if b.ANSI {
			mode = CastANSI
		}
		cast, err := BindCast(a.Type, types.Integer, mode, b.Zone)
		if err != nil {
			return 0, false, err
		}
		var ev expr.Eval
		a.Const = cast.New()(&ev, 1, []*vec.Vector{a.Const.Flatten()}, vec.NewFixed(types.Integer, 1))
		if _, err, failed := ev.Errs.First(); failed {
			return 0, false, &lateError{err}
		}
	}
	if a.Const.IsNull(0) {
		return 0, true, nil
	}
	return int(loadInt(a.Const, 0)), false, nil
}

func nullResult(b *Binding, t types.DataType) *Bound {
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: t, Nullable: true, NullsAreArgs: true, TakesConst: true, New: func() Kernel {
		return func(_ *expr.Eval, n int, _ []*vec.Vector, _ *vec.Vector) *vec.Vector { return vec.NewNulls(t, n) }
	}}
}

// bindRound binds round and bround: numbers keep their type, decimals lose the digits that are rounded off.
func bindRound(b *Binding, r rounding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(numeric, anyType)
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	n, null, err := b.places()
	if e, ok := errors.AsType[*lateError](err); ok {
		return &Bound{Args: c, Type: t, Nullable: true, NullsAreArgs: true, TakesConst: true, CanFail: true, New: func() Kernel {
			return func(ev *expr.Eval, n int, _ []*vec.Vector, _ *vec.Vector) *vec.Vector {
				for i := range n {
					ev.Errs.Add(i, e.error)
				}
				return vec.NewNulls(t, n)
			}
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	if null {
		if d, ok := t.(types.DecimalType); ok {
			t = roundedType(d, 0)
		}
		return nullResult(b, t), nil
	}
	bound := &Bound{Args: c, Type: t, Nullable: true, TakesConst: true}
	if d, ok := t.(types.DecimalType); ok {
		bound.Type = roundedType(d, n)
		bound.CanFail = true
		bound.New = func() Kernel { return roundDecimal(d, bound.Type.(types.DecimalType), n, r, b.Mode()) }
		return bound, nil
	}
	raise := b.ANSI
	bound.CanFail = raise && IsIntegral(t) && n < 0
	bound.New = func() Kernel {
		switch vec.PhysOf(t) {
		case vec.PhysInt8:
			return roundInts[int8](n, r, raise)
		case vec.PhysInt16:
			return roundInts[int16](n, r, raise)
		case vec.PhysInt32:
			return roundInts[int32](n, r, raise)
		case vec.PhysInt64:
			return roundInts[int64](n, r, raise)
		case vec.PhysFloat32:
			return roundFloats[float32](n, r)
		}
		return roundFloats[float64](n, r)
	}
	return bound, nil
}

// roundedType has one digit more before the point, for numbers like 99.9.
func roundedType(d types.DecimalType, n int) types.DecimalType {
	whole := d.Precision - d.Scale + 1
	if n < 0 {
		// Digits in front of the point are rounded away too, but the number of digits grows to hold the place rounded to.
		return types.DecimalType{Precision: min(38, max(whole, -n+1)), Scale: 0}
	}
	scale := min(d.Scale, n)
	return types.DecimalType{Precision: min(38, whole+scale), Scale: scale}
}

// roundUnscaled divides by 10^drop and rounds.
func roundUnscaled(x decimal.Int, drop int, r rounding) decimal.Int {
	if drop <= 0 {
		return x
	}
	if drop > decimal.MaxPrecision {
		drop = decimal.MaxPrecision
	}
	unit := decimal.Pow10(drop)
	q, rem := decimal.QuoRem(x, unit)
	if rem == (decimal.Int{}) {
		return q
	}
	away := false // from zero
	switch r {
	case halfUp, halfEven:
		twice, _ := decimal.Add(decimal.Abs(rem), decimal.Abs(rem))
		c := decimal.Cmp(twice, unit)
		away = c > 0 || c == 0 && (r == halfUp || q.Lo&1 == 1) || twice.Hi < 0
	case down:
		away = x.Hi < 0
	case up:
		away = x.Hi >= 0
	}
	if away {
		one := decimal.FromInt64(1)
		if x.Hi < 0 {
			one = decimal.FromInt64(-1)
		}
		q, _ = decimal.Add(q, one)
	}
	return q
}

// roundDecimal rounds to n digits behind the point and brings the result to its type's scale.
func roundDecimal(from, to types.DecimalType, n int, r rounding, mode expr.Mode) Kernel {
	var scratch []decimal.Int
	return func(e *expr.Eval, rows int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(rows)
		for i, x := range wide(args[0], rows, &scratch) {
			q := roundUnscaled(x, from.Scale-n, r)
			scale := min(from.Scale, n)
			v, ok := decimal.Rescale(q, scale, to.Scale, to.Precision)
			if !ok && !args[0].IsNull(i) {
				fails(e, out, mode, i, func() error { return outOfRange(decimal.String(q, scale), to) })
				continue
			}
			storeDecimal(out, i, v)
		}
		return out
	}
}

// roundInts rounds off digits in front of the point; n at or above zero changes nothing.
func roundInts[T signed](n int, r rounding, raise bool) Kernel {
	return func(e *expr.Eval, rows int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		if n >= 0 {
			return args[0]
		}
		out.ResetFixed(rows)
		dst := vec.Fixed[T](out)
		for i := range dst {
			x := decimal.FromInt64(int64(vec.At[T](args[0], i)))
			q := roundUnscaled(x, -n, r)
			v, ok := decimal.Mul(q, decimal.Pow10(min(-n, decimal.MaxPrecision)), 0, decimal.MaxPrecision)
			dst[i] = T(v.Lo)
			if w, fits := decimal.Int64(v); raise && (!ok || !fits || int64(T(w)) != w) && !args[0].IsNull(i) {
				e.Errs.Add(i, overflowError("overflow", ""))
			}
		}
		return out
	}
}

// roundFloats rounds the shortest decimal form of a number, which is what a reader sees.
func roundFloats[T floating](n int, r rounding) Kernel {
	return func(_ *expr.Eval, rows int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(rows)
		dst := vec.Fixed[T](out)
		for i := range dst {
			x := vec.At[T](args[0], i)
			dst[i] = T(roundFloat(float64(x), n, r, 64))
		}
		return out
	}
}

func roundFloat(f float64, n int, r rounding, bits int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	if f == 0 {
		return 0 // no decimal is a negative zero
	}
	if n == 0 && math.Abs(f) < 1<<52 {
		if r == halfEven {
			return math.RoundToEven(f) + 0
		}
		return math.Round(f) + 0
	}
	var tmp [32]byte
	b := strconv.AppendFloat(tmp[:0], f, 'e', -1, bits)
	d, exp, ok := parseScientific(b)
	if !ok {
		return f
	}
	drop := -exp - n // digits behind the place rounded to
	if drop <= 0 {
		return f
	}
	q, ok := decimal.Int64(roundUnscaled(d, drop, r))
	if !ok {
		return f
	}
	b = strconv.AppendInt(b[:0], q, 10)
	b = strconv.AppendInt(append(b, 'e'), int64(-n), 10)
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	if err != nil {
		return f
	}
	return v
}

// parseScientific reads 1.25e+02 as 125 and the exponent 0.
func parseScientific(b []byte) (d decimal.Int, exp int, ok bool) {
	frac, neg, behind := 0, false, false
	v := int64(0)
	i := 0
	for ; i < len(b) && b[i] != 'e'; i++ {
		switch c := b[i]; {
		case c == '-':
			neg = true
		case c == '.':
			behind = true
		default:
			v = v*10 + int64(c-'0')
			if behind {
				frac++
			}
		}
	}
	if i == len(b) {
		return d, 0, false
	}
	e, err := strconv.Atoi(string(b[i+1:]))
	if neg {
		v = -v
	}
	return decimal.FromInt64(v), e - frac, err == nil
}

// bindFloor binds floor and ceil: bigint of integers and floating point numbers, decimals of decimals and wherever a number of places
// is given.
func bindFloor(b *Binding, r rounding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	n, null, err := b.places()
	if err != nil {
		return nil, err
	}
	of := numeric
	if of.name = `("DOUBLE" or "DECIMAL" or "BIGINT")`; len(b.Args) == 2 {
		of.name = `"DECIMAL"`
	}
	c, err := b.Accept(of, anyType)
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	bound := &Bound{Args: c, Nullable: true, TakesConst: true}
	if len(b.Args) == 2 || isDecimal(t) {
		d, ok := t.(types.DecimalType)
		if !ok {
			d = DecimalFor(t)
			if in := b.Args[0].Type; isText(in) || isNull(in) {
				d = types.DecimalType{Precision: 38, Scale: 18}
			}
			c[0] = d
		}
		bound.Type = roundedType(d, n)
		if len(b.Args) == 1 && d.Scale == 0 {
			bound.Type = d
		}
		if null {
			return nullResult(b, bound.Type), nil
		}
		bound.CanFail = true
		bound.New = func() Kernel { return roundDecimal(d, bound.Type.(types.DecimalType), n, r, b.Mode()) }
		return bound, nil
	}
	bound.Type = types.Long
	if IsIntegral(t) {
		if !types.Equal(t, types.Long) {
			c[0] = types.Long
		}
		bound.New = func() Kernel {
			return func(_ *expr.Eval, _ int, args []*vec.Vector, _ *vec.Vector) *vec.Vector { return args[0] }
		}
		return bound, nil
	}
	if !types.Equal(t, types.Double) {
		c[0] = types.Double
	}
	bound.New = func() Kernel {
		round := math.Floor
		if r == up {
			round = math.Ceil
		}
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
			return javaLong(round(vec.At[float64](args[0], i)), types.Long), true
		})
	}
	return bound, nil
}
