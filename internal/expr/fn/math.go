package fn

import (
	"math"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// measure is what histograms are made of.
var measure = Accept{
	name: `("DOUBLE" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND")`, to: double.to,
	has: func(t types.DataType) bool { k := kindOf(t); return double.has(t) || k == kYearMonth || k == kDayTime },
}

func mathFunctions() []*Function {
	one := func(name string, f func(float64) float64, aliases ...string) *Function {
		return doubles(name, 1, func(x []float64) (float64, bool) { return f(x[0]), true }, true, aliases...)
	}
	// Logarithms have no value at and below a bound.
	logarithm := func(name string, bound float64, f func(float64) float64) *Function {
		return doubles(name, 1, func(x []float64) (float64, bool) { return f(x[0]), !(x[0] <= bound) }, true)
	}
	two := func(name string, f func(x, y float64) float64, aliases ...string) *Function {
		return doubles(name, 2, func(x []float64) (float64, bool) { return f(x[0], x[1]), true }, false, aliases...)
	}
	constant := func(name string, v float64) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) {
			return &Bound{Type: types.Double, New: func() Kernel {
				return func(_ *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
					out.ResetFixed(n)
					fill(vec.Fixed[float64](out), v)
					return out
				}
			}}, b.Arity(0, 0)
		}}
	}
	return joined([]*Function{
		one("sqrt", math.Sqrt), one("cbrt", math.Cbrt), one("exp", exp), one("expm1", math.Expm1),
		logarithm("ln", 0, ln), logarithm("log10", 0, log10), logarithm("log2", 0, func(x float64) float64 { return ln(x) / math.Ln2 }),
		logarithm("log1p", -1, math.Log1p),
		{Name: "log", Bind: bindLog},
		one("sin", math.Sin), one("cos", math.Cos), one("tan", tangent),
		one("cot", func(x float64) float64 { return 1 / tangent(x) }), one("sec", func(x float64) float64 { return 1 / math.Cos(x) }),
		one("csc", func(x float64) float64 { return 1 / math.Sin(x) }),
		one("asin", math.Asin), one("acos", math.Acos), one("atan", math.Atan), two("atan2", math.Atan2),
		one("sinh", math.Sinh), one("cosh", cosh), one("tanh", math.Tanh),
		one("asinh", math.Asinh), one("acosh", math.Acosh),
		one("atanh", func(x float64) float64 { return 0.5 * (math.Log1p(x) - math.Log1p(-x)) }),
		one("degrees", degrees), one("radians", radians),
		one("rint", math.RoundToEven), two("hypot", math.Hypot), two("power", power, "pow"),
		{Name: "sign", Aliases: []string{"signum"}, Bind: bindSignum},
		{Name: "nanvl", Bind: bindNanvl},
		constant("e", math.E), constant("pi", math.Pi),
	}, simples(
		nullable(simple{name: "factorial", least: 1, most: 1, args: []Accept{integer}, result: types.Long, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
				n := int32At(args[0], i)
				if n < 0 || n > 20 {
					return 0, false
				}
				f := int64(1)
				for k := int64(2); k <= int64(n); k++ {
					f *= k
				}
				return f, true
			})
		}}),
	), []*Function{{Name: "width_bucket", Bind: bindWidthBucket}})
}

// exp computes the exponential function as the JVM does, to the last digit: by a rational approximation on a small interval. Processors'
// own approximations differ in that digit.
func exp(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
		p1    = 1.66666666666666019037e-01
		p2    = -2.77777777770155933842e-03
		p3    = 6.61375632143793436117e-05
		p4    = -1.65339022054652515390e-06
		p5    = 4.13813679705723846039e-08
	)
	const overflow = 7.09782712893383973096e+02
	if !(math.Abs(x) < 700) && !(x > 0 && x <= overflow) || math.Abs(x) < 1e-8 {
		return math.Exp(x) // NaN, infinity and the edges of the range
	}
	k, hi, lo := 0.0, x, 0.0
	if math.Abs(x) > 0.5*math.Ln2 {
		k = math.Trunc(x/math.Ln2 + math.Copysign(0.5, x))
		if math.Abs(x) < 1.5*math.Ln2 {
			k = math.Copysign(1, x)
		}
		hi, lo = x-k*ln2Hi, k*ln2Lo
	}
	r := hi - lo
	t := r * r
	c := r - t*(p1+t*(p2+t*(p3+t*(p4+t*p5))))
	if k == 0 {
		return 1 - ((r*c)/(c-2) - r)
	}
	return math.Ldexp(1-((lo-(r*c)/(2-c))-hi), int(k))
}

// ln is the natural logarithm, also of the smallest numbers, with which processors' own have trouble.
func ln(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// power is Java's, which has no number for powers of one that are none themselves.
func power(x, y float64) float64 {
	if math.IsNaN(y) || math.IsInf(y, 0) && math.Abs(x) == 1 {
		return math.NaN()
	}
	if y == math.Trunc(y) && math.Abs(y) <= 64 {
		if v, ok := wholePower(x, int(y)); ok {
			return v
		}
	}
	if x != 0 && math.Abs(x) < 0x1p-1022 { // the logarithm in it has trouble with these, see ln
		return math.Pow(x*0x1p54, y) * math.Exp2(-54*y)
	}
	return math.Pow(x, y)
}

// wholePower multiplies with twice the digits, so that the last digit is right; ok is false near the ends of the range.
func wholePower(x float64, n int) (v float64, ok bool) {
	times := func(ah, al, bh, bl float64) (float64, float64) {
		p := ah * bh
		e := math.FMA(ah, bh, -p) + (ah*bl + al*bh)
		s := p + e
		return s, e - (s - p)
	}
	h, l, bh, bl := 1.0, 0.0, x, 0.0
	for k := max(n, -n); k > 0; k >>= 1 {
		if k&1 == 1 {
			h, l = times(h, l, bh, bl)
		}
		if k > 1 {
			bh, bl = times(bh, bl, bh, bl)
		}
	}
	if a := math.Abs(h); !(a > 1e-280 && a < 1e280) {
		return 0, false
	}
	if n < 0 {
		q := 1 / h
		return q + q*(math.FMA(-q, h, 1)-q*l), true
	}
	return h + l, true
}

// cosh is by exp, as the JVM's.
func cosh(x float64) float64 {
	if x = math.Abs(x); x > 22 {
		return math.Cosh(x)
	}
	t := exp(x)
	return 0.5*t + 0.5/t
}

// doubles makes a function of doubles to a double; ok false is null.
func doubles(name string, n int, f func(x []float64) (v float64, ok bool), null bool, aliases ...string) *Function {
	return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindDoubles(b, n, f, null) }}
}

func bindDoubles(b *Binding, n int, f func(x []float64) (float64, bool), null bool) (*Bound, error) {
	if err := b.Arity(n, n); err != nil {
		return nil, err
	}
	c, err := b.Accept(double)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Double, Nullable: null || b.nullable(c), New: func() Kernel {
		x := make([]float64, n)
		return func(_ *expr.Eval, rows int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(rows)
			dst := vec.Fixed[float64](out)
			for i := range dst {
				for k, a := range args {
					x[k] = vec.Fixed[float64](a)[i]
				}
				v, ok := f(x)
				dst[i] = v
				if !ok {
					setNull(out, i)
				}
			}
			return out
		}
	}}, nil
}

// bindLog binds log(x) and log(base, x).
func bindLog(b *Binding) (*Bound, error) {
	if len(b.Args) == 1 {
		bound, err := bindDoubles(b, 1, func(x []float64) (float64, bool) { return ln(x[0]), !(x[0] <= 0) }, true)
		return bound, errclass.Renamed(err, "paramIndex", ordinal(2)) // the first is e
	}
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	return bindDoubles(b, 2, func(x []float64) (float64, bool) { return ln(x[1]) / ln(x[0]), !(x[0] <= 0 || x[1] <= 0) }, true)
}

// bindSignum gives -1, 0 or 1 as a double, also for intervals.
func bindSignum(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	if isAnsiInterval(b.Args[0].Type) {
		return &Bound{Args: make([]types.DataType, 1), Type: types.Double, Nullable: true, New: func() Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (float64, bool) {
				switch x := loadInt(args[0], i); {
				case x < 0:
					return -1, true
				case x > 0:
					return 1, true
				}
				return 0, true
			})
		}}, nil
	}
	if _, ok := double.implicit(b.Args[0], b.ANSI); !ok {
		return nil, b.wrongType(0, alternatives([]types.DataType{types.Double, types.YearMonthInterval, types.DayTimeInterval}))
	}
	return bindDoubles(b, 1, func(x []float64) (float64, bool) {
		switch {
		case x[0] > 0:
			return 1, true
		case x[0] < 0:
			return -1, true
		}
		return x[0], true
	}, true)
}

// bindNanvl binds nanvl(x, y): x unless it is NaN.
func bindNanvl(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	t := types.DataType(types.Double)
	if types.Equal(b.Args[0].Type, types.Float) && types.Equal(b.Args[1].Type, types.Float) {
		t = types.Float
	}
	for i, a := range b.Args {
		if _, ok := double.implicit(a, b.ANSI); !ok {
			return nil, b.wrongType(i, `("DOUBLE" or "FLOAT")`)
		}
	}
	c := casts(b, t, t)
	null := b.argNullable(c, 1) || b.argNullable(c, 0)
	return &Bound{Args: c, Type: t, Nullable: null, NullsAreArgs: true, Reached: firstIsNaN, New: func() Kernel {
		if vec.PhysOf(t) == vec.PhysFloat32 {
			return nanvl[float32]
		}
		return nanvl[float64]
	}}, nil
}

// firstIsNaN tells whether the first argument, of FLOAT or DOUBLE, is NaN.
func firstIsNaN(before []*vec.Vector, row int) bool {
	v, row := before[0].Stored(row)
	if v.Phys() == vec.PhysFloat32 {
		return !v.IsNull(row) && vec.At[float32](v, row) != vec.At[float32](v, row)
	}
	return !v.IsNull(row) && math.IsNaN(vec.At[float64](v, row))
}

func nanvl[T floating](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, y, dst := vec.Fixed[T](args[0]), vec.Fixed[T](args[1]), vec.Fixed[T](out)
	for i := range dst {
		dst[i] = x[i]
		switch {
		case args[0].IsNull(i):
			setNull(out, i)
		case x[i] != x[i] && args[1].IsNull(i):
			setNull(out, i)
		case x[i] != x[i]:
			dst[i] = y[i]
		}
	}
	return out
}

// widthBucket numbers equal buckets between two bounds; what lies outside gets 0 or one more than there are.
// bindWidthBucket binds width_bucket(value, from, to, buckets), the first three of which are numbers or intervals of one kind.
func bindWidthBucket(b *Binding) (*Bound, error) {
	if err := b.Arity(4, 4); err != nil {
		return nil, err
	}
	c, err := b.Accept(measure, measure, measure, bigint)
	if err != nil {
		return nil, err
	}
	ts := make([]types.DataType, 3)
	for i := range ts {
		if ts[i] = c[i]; ts[i] == nil {
			ts[i] = b.Args[i].Type
		}
	}
	k := kindOf(ts[0])
	if kindOf(ts[1]) != k || kindOf(ts[2]) != k {
		return nil, b.DifferentTypes(ts...)
	}
	at := func(v *vec.Vector, i int) float64 { return vec.At[float64](v, i) }
	switch k {
	case kYearMonth:
		at = func(v *vec.Vector, i int) float64 { return float64(vec.At[int32](v, i)) }
	case kDayTime:
		at = func(v *vec.Vector, i int) float64 { return float64(vec.At[int64](v, i)) }
	}
	return &Bound{Args: c, Type: types.Long, Nullable: true, New: func() Kernel {
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
			return widthBucket(at(args[0], i), at(args[1], i), at(args[2], i), vec.At[int64](args[3], i))
		})
	}}, nil
}

func widthBucket(x, lo, hi float64, n int64) (int64, bool) {
	if n <= 0 || n == math.MaxInt64 || x != x || lo == hi || math.IsNaN(lo) || math.IsNaN(hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return 0, false
	}
	lower, upper := min(lo, hi), max(lo, hi)
	if lo < hi {
		switch {
		case x < lower:
			return 0, true
		case x >= upper:
			return n + 1, true
		}
		return int64(float64(n)*(x-lower)/(upper-lower)) + 1, true
	}
	switch {
	case x > upper:
		return 0, true
	case x <= lower:
		return n + 1, true
	}
	return int64(float64(n)*(upper-x)/(upper-lower)) + 1, true
}

// log10 is exact for powers of ten and otherwise as near as a product of doubles allows; math.Log10 goes by way of the logarithm to
// base 2.
func log10(x float64) float64 {
	const (
		perLn = 4.34294481903251816668e-01
		high  = 3.01029995663611771306e-01 // of log10(2)
		low   = 3.69423907715893078616e-13
	)
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log10(x)
	}
	frac, exp := math.Frexp(x) // x = frac * 2^exp, frac from 1/2 to 1
	k := float64(exp - 1)
	frac *= 2
	if k < 0 { // take frac from 1/2 to 1 and the exponent next to 0
		frac /= 2
		k++
	}
	return k*low + perLn*math.Log(frac) + k*high
}
