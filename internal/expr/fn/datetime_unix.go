package fn

import (
	"math"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func unixFunctions() []*Function {
	from := func(name string, unit int64) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindFromUnits(b, unit) }}
	}
	to := func(name string, unit int64) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindToUnits(b, unit) }}
	}
	return []*Function{
		{Name: "timestamp_seconds", Bind: bindTimestampSeconds},
		from("timestamp_millis", datetime.Millisecond), from("timestamp_micros", 1),
		to("unix_seconds", datetime.Second), to("unix_millis", datetime.Millisecond), to("unix_micros", 1),
		{Name: "unix_date", Bind: func(b *Binding) (*Bound, error) { return bindRetype(b, strict(date), types.Integer) }},
		{Name: "date_from_unix_date", Bind: func(b *Binding) (*Bound, error) { return bindRetype(b, integer, types.Date) }},
	}
}

func bindRetype(b *Binding, in Accept, to types.DataType) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(in)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: to, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel { return retype(to) }}, nil
}

// bindTimestampSeconds takes any number of seconds.
func bindTimestampSeconds(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(numeric))
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	if IsIntegral(t) {
		if !types.Equal(t, types.Long) {
			c[0] = types.Long
		}
		return fromUnits(b, c, datetime.Second), nil
	}
	bound := &Bound{Args: c, Type: types.Timestamp, Nullable: b.nullable(c) || isFloating(t), CanFail: true}
	env := castEnv{mode: CastANSI, zone: b.Zone, exact: true}
	if isFloating(t) { // NaN and infinity are null
		env.mode = CastLegacy
	}
	bound.New = func() Kernel { return env.kernel(t, types.Timestamp) }
	return bound, nil
}

func bindFromUnits(b *Binding, unit int64) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	whole := bigint
	if !IsIntegral(b.Args[0].Type) {
		whole = strict(integral)
	}
	c, err := b.Accept(whole)
	if err != nil {
		return nil, err
	}
	return fromUnits(b, c, unit), nil
}

func fromUnits(b *Binding, c []types.DataType, unit int64) *Bound {
	return &Bound{Args: c, Type: types.Timestamp, Nullable: b.nullable(c), CanFail: unit > 1, New: func() Kernel {
		limit := math.MaxInt64 / unit
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](out)
			dst = dst[:len(x)]
			for i, v := range x {
				dst[i] = v * unit
				if unit > 1 && (v > limit || v < -limit) && !args[0].IsNull(i) {
					e.Errs.Add(i, longOverflow())
				}
			}
			return out
		}
	}}
}

// bindToUnits counts whole units since 1970, rounding down.
func bindToUnits(b *Binding, unit int64) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(timestamp))
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Long, Nullable: b.nullable(c), New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](out)
			dst = dst[:len(x)]
			for i, v := range x {
				dst[i] = datetime.FloorDiv(v, unit)
			}
			return out
		}
	}}, nil
}
