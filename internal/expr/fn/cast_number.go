package fn

import (
	"math"
	"math/big"
	"strconv"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func (c castEnv) fromBool(to types.DataType) Kernel {
	switch vec.PhysOf(to) {
	case vec.PhysInt8:
		return boolTo[int8](1)
	case vec.PhysInt16:
		return boolTo[int16](1)
	case vec.PhysInt32:
		return boolTo[int32](1)
	case vec.PhysFloat32:
		return boolTo[float32](1)
	case vec.PhysFloat64:
		return boolTo[float64](1)
	}
	d, ok := to.(types.DecimalType)
	if !ok {
		return boolTo[int64](1) // bigint, and a timestamp of one microsecond outside of ANSI mode
	}
	if d.Precision == d.Scale {
		return c.trueTooLarge(d)
	}
	if d.Precision <= 18 {
		return boolTo(decimal.Pow10Int64(d.Scale))
	}
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[decimal.Int](out)
		for i, x := range vec.Fixed[uint8](args[0]) {
			dst[i] = decimal.Int{}
			if x != 0 {
				dst[i] = decimal.Pow10(d.Scale)
			}
		}
		return out
	}
}

// trueTooLarge is the cast to a decimal without digits before the point: false is all that fits.
func (c castEnv) trueTooLarge(d types.DecimalType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		narrow(out, make([]decimal.Int, n))
		for i, x := range vec.Fixed[uint8](args[0]) {
			if x != 0 && !args[0].IsNull(i) {
				c.fail(e, out, i, func() error { return outOfRange("1", d) })
			}
		}
		return out
	}
}

func boolTo[T number](one T) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[uint8](args[0]), vec.Fixed[T](out)
		dst = dst[:len(x)]
		for i := range x {
			dst[i] = T(x[i]) * one
		}
		return out
	}
}

// fromNumber casts integers, floating point numbers and decimals.
func (c castEnv) fromNumber(from, to types.DataType) Kernel {
	if d, ok := from.(types.DecimalType); ok {
		return c.fromDecimal(d, to)
	}
	switch vec.PhysOf(from) {
	case vec.PhysInt8:
		return fromInt[int8](c, from, to)
	case vec.PhysInt16:
		return fromInt[int16](c, from, to)
	case vec.PhysInt32:
		return fromInt[int32](c, from, to)
	case vec.PhysInt64:
		return fromInt[int64](c, from, to)
	case vec.PhysFloat32:
		return fromFloat[float32](c, from, to)
	}
	return fromFloat[float64](c, from, to)
}

func fromInt[T signed](c castEnv, from, to types.DataType) Kernel {
	switch t := to.(type) {
	case types.BooleanType:
		return notZero[T]
	case types.ByteType:
		return intToInt[T, int8](c, from, to)
	case types.ShortType:
		return intToInt[T, int16](c, from, to)
	case types.IntegerType:
		return intToInt[T, int32](c, from, to)
	case types.LongType:
		return intToInt[T, int64](c, from, to)
	case types.FloatType:
		return intToFloat[T, float32]
	case types.DoubleType:
		return intToFloat[T, float64]
	case types.DecimalType:
		return intToDecimal[T](c, t)
	case types.TimestampType:
		return intToTimestamp[T]
	case types.DayTimeIntervalType:
		unit := dayTimeUnits[t.End]
		return c.intToUnits(from, to, func(x int64) (int64, bool) { p := x * unit; return p, !mul64Overflows(x, unit) }, load64[T])
	case types.YearMonthIntervalType:
		unit := int64(12)
		if t.End == types.MonthField {
			unit = 1
		}
		return c.intToUnits(from, to, func(x int64) (int64, bool) { p := x * unit; return p, !mul64Overflows(x, unit) && p == int64(int32(p)) }, load64[T])
	case types.BinaryType:
		return intToBinary[T]
	}
	return retype(to)
}

var dayTimeUnits = [...]int64{86400e6, 3600e6, 60e6, 1e6}

func load64[T signed](v *vec.Vector, i int) int64 { return int64(vec.Fixed[T](v)[i]) }

func notZero[T number](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, dst := vec.Fixed[T](args[0]), vec.Fixed[uint8](out)
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = b2u(x[i] != 0)
	}
	return out
}

func intToInt[S, D signed](c castEnv, from, to types.DataType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[S](args[0]), vec.Fixed[D](out)
		dst = dst[:len(x)]
		var lost S
		for i := range x {
			d := D(x[i])
			lost |= x[i] ^ S(d)
			dst[i] = d
		}
		if lost == 0 || c.mode == CastLegacy {
			return out
		}
		for i := range x { // cold: null rows may hold anything
			if S(dst[i]) != x[i] && !args[0].IsNull(i) {
				c.fail(e, out, i, func() error { return castOverflow(intLiteral(int64(x[i]), from), from, to) })
			}
		}
		return out
	}
}

// intLiteral prints an integer with the suffix of its type.
func intLiteral(v int64, t types.DataType) string {
	s := strconv.FormatInt(v, 10)
	switch t.(type) {
	case types.ByteType:
		return s + "Y"
	case types.ShortType:
		return s + "S"
	case types.LongType:
		return s + "L"
	}
	return s
}

func intToFloat[S signed, D floating](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, dst := vec.Fixed[S](args[0]), vec.Fixed[D](out)
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = D(x[i])
	}
	return out
}

func intToDecimal[S signed](c castEnv, t types.DecimalType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x := vec.Fixed[S](args[0])
		whole := t.Precision - t.Scale
		if t.Precision <= 18 {
			dst := vec.Fixed[int64](out)
			unit, limit := decimal.Pow10Int64(t.Scale), decimal.Pow10Int64(whole)
			large := false
			for i := range x {
				v := int64(x[i])
				large = large || v >= limit || v <= -limit
				dst[i] = v * unit
			}
			if large {
				for i := range x {
					if v := int64(x[i]); (v >= limit || v <= -limit) && !args[0].IsNull(i) {
						c.fail(e, out, i, func() error { return outOfRange(strconv.FormatInt(v, 10), t) })
					}
				}
			}
			return out
		}
		dst := vec.Fixed[decimal.Int](out)
		for i := range x {
			d, ok := decimal.Rescale(decimal.FromInt64(int64(x[i])), 0, t.Scale, t.Precision)
			dst[i] = d
			if !ok && !args[0].IsNull(i) {
				c.fail(e, out, i, func() error { return outOfRange(strconv.FormatInt(int64(x[i]), 10), t) })
			}
		}
		return out
	}
}

// intToTimestamp takes seconds; what lies too far away becomes the last instant there is.
func intToTimestamp[S signed](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, dst := vec.Fixed[S](args[0]), vec.Fixed[int64](out)
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = saturatedMicros(int64(x[i]))
	}
	return out
}

func saturatedMicros(seconds int64) int64 {
	const limit = math.MaxInt64 / 1000000
	switch {
	case seconds > limit:
		return math.MaxInt64
	case seconds < -limit:
		return math.MinInt64
	}
	return seconds * 1e6
}

func intToBinary[S signed](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	spans := out.ResetBytes(n, nil)
	width := args[0].Phys().Width()
	buf := make([]byte, 0, n*width)
	for i, x := range vec.Fixed[S](args[0]) {
		spans[i] = vec.Span{Off: uint32(len(buf)), Len: uint32(width)}
		for b := width - 1; b >= 0; b-- {
			buf = append(buf, byte(int64(x)>>(8*b)))
		}
	}
	out.SetBytes(buf)
	return out
}

// intToUnits casts to an interval whose value is a multiple of the integer.
func (c castEnv) intToUnits(from, to types.DataType, scale func(int64) (int64, bool), load func(*vec.Vector, int) int64) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i := range n {
			if args[0].IsNull(i) {
				continue
			}
			x := load(args[0], i)
			v, ok := scale(x)
			if !ok {
				c.interval(e, out, i, func() error { return castOverflow(intLiteral(x, from), from, to) })
				continue
			}
			storeInt(out, i, v)
		}
		return out
	}
}

// interval deals with row i of a cast to an interval, which fails in every mode but that of try_cast.
func (c castEnv) interval(e *expr.Eval, out *vec.Vector, i int, err func() error) {
	if c.mode == CastTry {
		setNull(out, i)
		return
	}
	e.Errs.Add(i, err())
}

// storeInt stores into a vector of 32 or 64 bit integers.
func storeInt(out *vec.Vector, i int, v int64) {
	switch out.Phys() {
	case vec.PhysInt8:
		vec.Fixed[int8](out)[i] = int8(v)
	case vec.PhysInt16:
		vec.Fixed[int16](out)[i] = int16(v)
	case vec.PhysInt32:
		vec.Fixed[int32](out)[i] = int32(v)
	default:
		vec.Fixed[int64](out)[i] = v
	}
}

func fromFloat[T floating](c castEnv, from, to types.DataType) Kernel {
	switch t := to.(type) {
	case types.BooleanType:
		return notZero[T]
	case types.ByteType:
		return floatToInt[T, int8](c, from, to, math.MinInt8, math.MaxInt8)
	case types.ShortType:
		return floatToInt[T, int16](c, from, to, math.MinInt16, math.MaxInt16)
	case types.IntegerType:
		return floatToInt[T, int32](c, from, to, math.MinInt32, math.MaxInt32)
	case types.LongType:
		return floatToInt[T, int64](c, from, to, math.MinInt64, math.MaxInt64)
	case types.FloatType:
		return floatToFloat[T, float32]
	case types.DoubleType:
		return floatToFloat[T, float64]
	case types.DecimalType:
		return floatToDecimal[T](c, t)
	}
	return floatToTimestamp[T](c, from, to)
}

func floatToFloat[S, D floating](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, dst := vec.Fixed[S](args[0]), vec.Fixed[D](out)
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = D(x[i])
	}
	return out
}

// floatToInt cuts off the fraction. low and high are the bounds of D as floating point numbers, high possibly rounded up.
func floatToInt[S floating, D signed](c castEnv, from, to types.DataType, low, high float64) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[S](args[0]), vec.Fixed[D](out)
		dst = dst[:len(x)]
		bad := false
		for i := range x {
			f := math.Trunc(float64(x[i]))
			if !(f >= low && f <= high) || high >= 1<<63 && f == high {
				bad = true
				dst[i] = D(javaLong(f, to))
				continue
			}
			dst[i] = D(f)
		}
		if !bad || c.mode == CastLegacy {
			return out
		}
		for i := range x {
			f := math.Trunc(float64(x[i]))
			if f >= low && f <= high || args[0].IsNull(i) { // 2^63 itself becomes the largest bigint
				continue
			}
			c.fail(e, out, i, func() error { return castOverflow(floatLiteral(float64(x[i]), from), from, to) })
		}
		return out
	}
}

// javaLong is what the JVM makes of a floating point number that does not fit an integer type: NaN is 0, others go to the nearest
// int or bigint, of which narrower types keep the low bits.
func javaLong(f float64, to types.DataType) int64 {
	low, high := int64(math.MinInt32), int64(math.MaxInt32)
	if _, ok := to.(types.LongType); ok {
		low, high = math.MinInt64, math.MaxInt64
	}
	switch {
	case f != f:
		return 0
	case f >= float64(high):
		return high
	case f <= float64(low):
		return low
	}
	return int64(f)
}

func floatLiteral(f float64, t types.DataType) string {
	bits := 64
	if _, ok := t.(types.FloatType); ok {
		bits = 32
	}
	s := string(numtext.AppendFloat(nil, f, bits))
	if bits == 64 && !math.IsNaN(f) && !math.IsInf(f, 0) {
		s += "D"
	}
	return s
}

// floatToDecimal goes through the shortest decimal form of the double. NaN and infinity are null in every mode.
func floatToDecimal[S floating](c castEnv, t types.DecimalType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i, x := range vec.Fixed[S](args[0]) {
			if args[0].IsNull(i) {
				continue
			}
			d, st := decimal.FromFloat64(float64(x), 64, t.Precision, t.Scale)
			switch st {
			case decimal.OK:
				storeDecimal(out, i, d)
			case decimal.Invalid:
				setNull(out, i)
			case decimal.TooBig:
				c.fail(e, out, i, func() error { return outOfRange(strconv.FormatFloat(float64(x), 'f', -1, 64), t) })
			}
		}
		return out
	}
}

func storeDecimal(out *vec.Vector, i int, d decimal.Int) {
	if out.Phys() == vec.PhysInt64 {
		vec.Fixed[int64](out)[i] = int64(d.Lo)
	} else {
		vec.Fixed[decimal.Int](out)[i] = d
	}
}

func loadDecimal(v *vec.Vector, i int) decimal.Int {
	if v.Phys() == vec.PhysInt64 {
		return decimal.FromInt64(vec.At[int64](v, i))
	}
	return vec.At[decimal.Int](v, i)
}

func floatToTimestamp[S floating](c castEnv, from, to types.DataType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[int64](out)
		for i, x := range vec.Fixed[S](args[0]) {
			if args[0].IsNull(i) {
				continue
			}
			f := float64(x)
			if math.IsNaN(f) || math.IsInf(f, 0) {
				c.fail(e, out, i, func() error { return invalidInput(floatLiteral(f, from), from, to) })
				continue
			}
			f *= 1e6
			if c.mode != CastLegacy && (f >= 1<<63 || f < -1<<63) {
				c.fail(e, out, i, func() error { return castOverflow(floatLiteral(f, types.Double), types.Double, types.Long) })
				continue
			}
			dst[i] = javaLong(f, types.Long)
		}
		return out
	}
}

func (c castEnv) fromDecimal(from types.DecimalType, to types.DataType) Kernel {
	switch t := to.(type) {
	case types.DecimalType:
		return c.rescale(from, t)
	case types.FloatType, types.DoubleType:
		return decimalToFloat(from)
	case types.BooleanType:
		return decimalToBool
	case types.TimestampType:
		return c.decimalToUnits(from, to, 1e6, false)
	case types.DayTimeIntervalType:
		return c.decimalToUnits(from, to, dayTimeUnits[t.End], true)
	case types.YearMonthIntervalType:
		unit := int64(12)
		if t.End == types.MonthField {
			unit = 1
		}
		return c.decimalToUnits(from, to, unit, true)
	}
	return c.decimalToInt(from, to)
}

func (c castEnv) rescale(from, to types.DecimalType) Kernel {
	if to.Precision <= 18 && from.Precision <= 18 && to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale {
		unit := decimal.Pow10Int64(to.Scale - from.Scale)
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](out)
			dst = dst[:len(x)]
			for i := range x {
				dst[i] = x[i] * unit
			}
			return out
		}
	}
	var scratch []decimal.Int
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i, x := range wide(args[0], n, &scratch) {
			if args[0].IsNull(i) {
				continue
			}
			d, ok := decimal.Rescale(x, from.Scale, to.Scale, to.Precision)
			if !ok {
				c.fail(e, out, i, func() error { return outOfRange(decimal.String(x, from.Scale), to) })
				continue
			}
			storeDecimal(out, i, d)
		}
		return out
	}
}

func decimalToFloat(from types.DecimalType) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i := range n {
			if args[0].IsNull(i) {
				continue
			}
			f := decimal.Float64(loadDecimal(args[0], i), from.Scale)
			if out.Phys() == vec.PhysFloat32 {
				vec.Fixed[float32](out)[i] = float32(f)
			} else {
				vec.Fixed[float64](out)[i] = f
			}
		}
		return out
	}
}

func decimalToBool(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	dst := vec.Fixed[uint8](out)
	for i := range dst {
		dst[i] = b2u(loadDecimal(args[0], i) != decimal.Int{})
	}
	return out
}

// decimalToInt cuts off the fraction.
func (c castEnv) decimalToInt(from types.DecimalType, to types.DataType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		bits := uint(64 - 8*out.Phys().Width())
		asDouble := from.Precision > 18 && bits > 0 && c.mode != CastLegacy // Spark makes a double of it first
		for i := range n {
			if args[0].IsNull(i) {
				continue
			}
			x := loadDecimal(args[0], i)
			if asDouble {
				f, most := decimal.Float64(x, from.Scale), float64(int64(1)<<(63-bits)-1)
				if math.Floor(f) > most || math.Ceil(f) < -most-1 {
					c.fail(e, out, i, func() error { return castOverflow(decimal.String(x, from.Scale)+"BD", from, to) })
					continue
				}
				storeInt(out, i, int64(f))
				continue
			}
			q, _ := decimal.QuoRem(x, decimal.Pow10(from.Scale))
			v, ok := decimal.Int64(q)
			if (!ok || v<<bits>>bits != v) && c.mode != CastLegacy {
				c.fail(e, out, i, func() error { return castOverflow(decimal.String(x, from.Scale)+"BD", from, to) })
				continue
			}
			storeInt(out, i, v)
		}
		return out
	}
}

// scaleBig gives the low bits of x * unit / 10^scale, cut off or rounded half up, and whether they are all.
func scaleBig(x *big.Int, unit int64, scale int, round bool) (v int64, fits bool) {
	x.Mul(x, big.NewInt(unit))
	if digits := len(x.Text(10)) - 1; !round && digits > 34 { // the product has no more digits, as in Java
		drop := min(scale, digits-34)
		x, scale = roundHalfEven(x, drop), scale-drop
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	rest := new(big.Int)
	x.QuoRem(x, ten, rest)
	if round && rest.Lsh(rest, 1).CmpAbs(ten) >= 0 {
		x.Add(x, big.NewInt(int64(rest.Sign())))
	}
	if x.IsInt64() {
		return x.Int64(), true
	}
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	return int64(low.Uint64()), false
}

// roundHalfEven drops digits of a number.
func roundHalfEven(x *big.Int, digits int) *big.Int {
	unit, rest := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil), new(big.Int)
	q, _ := new(big.Int).QuoRem(x, unit, rest)
	if c := rest.Lsh(rest, 1).CmpAbs(unit); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(x.Sign())))
	}
	return q
}

// decimalToUnits multiplies by a unit: to a timestamp cutting digits off, to an interval rounding.
func (c castEnv) decimalToUnits(from types.DecimalType, to types.DataType, unit int64, round bool) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i := range n {
			if args[0].IsNull(i) {
				continue
			}
			x := loadDecimal(args[0], i)
			v, fits := int64(0), false
			if c.exact && from.Scale > 6 {
				if _, rest := decimal.QuoRem(x, decimal.Pow10(from.Scale-6)); rest != (decimal.Int{}) {
					e.Errs.Add(i, overflowError("there are digits behind the microseconds", ""))
					continue
				}
			}
			if p, ok := decimal.Mul(x, decimal.FromInt64(unit), 0, 34); ok {
				if round {
					p = decimal.DownScale(p, from.Scale)
				} else {
					p, _ = decimal.QuoRem(p, decimal.Pow10(from.Scale))
				}
				if v, fits = decimal.Int64(p); !fits {
					v = int64(p.Lo)
				}
			} else {
				v, fits = scaleBig(decimal.Big(x), unit, from.Scale, round)
			}
			// A timestamp has the low bits of what does not fit, in every mode.
			if round && (!fits || out.Phys() == vec.PhysInt32 && v != int64(int32(v))) {
				c.interval(e, out, i, func() error { return castOverflow(decimal.String(x, from.Scale)+"BD", from, to) })
				continue
			}
			if !fits && c.exact {
				e.Errs.Add(i, overflowError("overflow", ""))
				continue
			}
			storeInt(out, i, v)
		}
		return out
	}
}
