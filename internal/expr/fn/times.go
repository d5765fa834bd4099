package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Times of day are nanoseconds since midnight. Functions give whole microseconds.
const (
	nanosPerMicro = 1000
	nanosPerDay   = datetime.Day * nanosPerMicro
)

var timeOfDay = Accept{name: `"TIME"`, has: isTime, to: []types.DataType{types.Time}}

func isTime(t types.DataType) bool { _, ok := t.(types.TimeType); return ok }

// strict is a set that casts nothing but nulls.
func strict(a Accept) Accept {
	a.strict = true
	return a
}

func timeFunctions() []*Function {
	parse := func(name string, try bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindToTime(b, try) }}
	}
	from := func(name string, unit int64, arg Accept) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindTimeFrom(b, unit, arg) }}
	}
	to := func(name string, unit int64) simple {
		return nullable(simple{name: name, least: 1, most: 1, args: []Accept{strict(timeOfDay)}, result: types.Long, kernel: func(*Binding) Kernel {
			return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				out.ResetFixed(n)
				var scratch []int64
				x, dst := flat(args[0], n, &scratch), vec.Fixed[int64](out)
				for i, nanos := range x {
					dst[i] = nanos / unit
				}
				return out
			}
		}})
	}
	seconds := to("time_to_seconds", nanosPerMicro)
	seconds.result = types.DecimalType{Precision: 14, Scale: 6}
	return append(simples(
		seconds, to("time_to_millis", datetime.Millisecond*nanosPerMicro), to("time_to_micros", nanosPerMicro),
		failing(nullable(simple{name: "time_diff", least: 3, most: 3, args: []Accept{text, timeOfDay, timeOfDay}, result: types.Long, kernel: func(*Binding) Kernel {
			return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
				unit := timeUnit(e, args[0], i, "time_diff")
				return (vec.At[int64](args[2], i) - vec.At[int64](args[1], i)) / unit, true
			})
		}})),
	),
		parse("to_time", false), parse("try_to_time", true),
		from("time_from_seconds", datetime.Second, strict(numeric)), from("time_from_millis", datetime.Millisecond, strict(integral)),
		from("time_from_micros", 1, strict(integral)),
		&Function{Name: "make_time", Bind: bindMakeTime}, &Function{Name: "time_trunc", Bind: bindTimeTrunc},
		&Function{Name: "current_time", Bind: bindCurrentTime}, &Function{Name: "time_bucket", Bind: bindTimeBucket},
	)
}

var timeUnits = map[string]int64{
	"HOUR": datetime.Hour, "MINUTE": datetime.Minute, "SECOND": datetime.Second, "MILLISECOND": datetime.Millisecond, "MICROSECOND": 1,
}

// timeUnit is the length of the unit that row i names, in nanoseconds.
func timeUnit(e *expr.Eval, v *vec.Vector, i int, function string) int64 {
	unit := timeUnits[strings.ToUpper(v.StringAt(i))]
	if unit == 0 {
		e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.TIME_UNIT", "functionName", "`"+function+"`", "parameter", "`unit`",
			"invalidValue", quoteText(string(v.BytesAt(i)))))
		return 1
	}
	return unit * nanosPerMicro
}

func outOfDay(message string) error {
	return errclass.New("DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION", "rangeMessage", message)
}

// bindMakeTime binds make_time(hour, minute, second).
func bindMakeTime(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(integer, integer, only(secondsType))
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Time, Nullable: true, CanFail: true, Eager: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			hours, minutes, secs := vec.Fixed[int32](args[0]), vec.Fixed[int32](args[1]), vec.Fixed[int64](args[2])
			dst := vec.Fixed[int64](out)
			for i := range dst {
				h, m, s := int64(hours[i]), int64(minutes[i]), secs[i]
				if h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s >= datetime.Minute {
					if !anyNull(args, i) {
						e.Errs.Add(i, outOfDay("there is no time "+itoa(int(h))+":"+itoa(int(m))+":"+decimal.String(decimal.FromInt64(s), 6)))
					}
					continue
				}
				dst[i] = (h*datetime.Hour + m*datetime.Minute + s) * nanosPerMicro
			}
			return out
		}
	}}, nil
}

// bindTimeFrom binds the times that are so many units after midnight.
func bindTimeFrom(b *Binding, unit int64, arg Accept) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(arg)
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	nanos, scale := unit*nanosPerMicro, 0
	if d, ok := t.(types.DecimalType); ok {
		scale = d.Scale
	}
	const day = datetime.Day * nanosPerMicro
	return &Bound{Args: c, Type: types.Time, Nullable: true, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst, v := vec.Fixed[int64](out), args[0]
			for i := range dst {
				if v.IsNull(i) {
					continue
				}
				x, ok := int64(0), true
				switch {
				case isFloating(t):
					f, _ := floatOf(v, i)
					f *= float64(nanos)
					x, ok = int64(f), f >= 0 && f < day
				case isDecimal(t): // which must not have more digits than nanoseconds have
					d := loadDecimal(v, i)
					if d, ok = decimal.Rescale(d, scale, max(scale, 9), 38); ok {
						q, r := decimal.QuoRem(d, decimal.Pow10(max(scale, 9)-9))
						if x, ok = decimal.Int64(q); r != (decimal.Int{}) {
							ok = false
						}
					}
				default:
					x = loadInt(v, i)
					ok = x >= 0 && x < day/nanos
					x *= nanos
				}
				if !ok || x < 0 || x >= day {
					e.Errs.Add(i, outOfDay("the value is not within a day"))
					continue
				}
				dst[i] = x
			}
			return out
		}
	}}, nil
}

// bindTimeTrunc binds time_trunc(unit, time), whose result has the precision of the time.
func bindTimeTrunc(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(text, timeOfDay)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: b.result(c, 1), Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
		return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
			x, unit := vec.At[int64](args[1], i), timeUnit(e, args[0], i, "time_trunc")
			return x - x%unit, true
		})
	}}, nil
}

func allNull(t types.DataType) Kernel {
	return func(_ *expr.Eval, n int, _ []*vec.Vector, _ *vec.Vector) *vec.Vector { return vec.NewNulls(t, n) }
}

// bindToTime binds to_time(text[, pattern]).
func bindToTime(b *Binding, try bool) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(text))
	if err != nil {
		return nil, err
	}
	if len(b.Args) == 2 && isNull(b.Args[1].Type) {
		return &Bound{Args: c, Type: types.String, Nullable: true, New: func() Kernel { return allNull(types.String) }}, nil
	}
	return &Bound{Args: c, Type: types.Time, Nullable: true, TakesConst: true, CanFail: true, TryArgs: try, New: func() Kernel {
		cache := &patterns{parsing: true}
		utc := datetime.NewZone(nil)
		return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
			s := args[0].BytesAt(i)
			var (
				micros int64
				ok     bool
				form   = "HH:mm:ss.SSSSSS"
			)
			if len(args) == 1 {
				micros, ok = datetime.ParseTimeOfDay(s)
			} else {
				form = args[1].StringAt(i)
				p, err := cache.get(form)
				if err != nil && try {
					return 0, false
				}
				if err != nil {
					e.Errs.Add(i, datetime.BadPattern(strings.Clone(form)))
					return 0, true
				}
				if micros, ok = p.Parse(s, utc); ok {
					micros = datetime.FloorMod(micros, datetime.Day)
				}
			}
			if !ok && !try {
				e.Errs.Add(i, errclass.New("CANNOT_PARSE_TIME", "input", quoteText(string(s)), "format", quoteText(form)))
			}
			return micros * nanosPerMicro, ok || !try
		})
	}}, nil
}

// bindCurrentTime binds current_time([precision]): the time of day that is the same for all rows.
func bindCurrentTime(b *Binding) (*Bound, error) {
	if err := b.Arity(0, 1); err != nil {
		return nil, err
	}
	precision := 6
	c := make([]types.DataType, len(b.Args))
	if len(b.Args) == 1 {
		a := b.Args[0]
		if isNull(a.Type) {
			return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_NULL", "sqlExpr", b.SQL(), "exprName", "`precision`")
		}
		to, ok := integer.implicit(a, b.ANSI)
		if !ok {
			return nil, b.wrongType(0, integer.name)
		}
		if a.Const == nil {
			return nil, b.notConst(0, "precision", `"INT"`)
		}
		cast, err := BindCast(a.Type, types.Integer, CastTry, b.Zone)
		if err != nil {
			return nil, err
		}
		v := cast.New()(&expr.Eval{}, 1, []*vec.Vector{a.Const.Flatten()}, vec.NewFixed(types.Integer, 1))
		if v.IsNull(0) || int32At(v, 0) < 0 || int32At(v, 0) > 6 {
			value := "NULL"
			if !v.IsNull(0) {
				value = itoa(int32At(v, 0))
			}
			return nil, errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", b.SQL(), "exprName", "`precision`",
				"valueRange", "[0, 6]", "currentValue", value)
		}
		precision, c[0] = int32At(v, 0), to
	}
	unit := int64(datetime.Second)
	for range precision {
		unit /= 10
	}
	now, err := bindNow(&Binding{}, types.TimeType{Precision: precision}, func(p *expr.BatchParams) int64 {
		t := datetime.FloorMod(localNow(p), datetime.Day)
		return (t - t%unit) * nanosPerMicro
	})
	if err == nil {
		now.Args, now.TakesConst = c, true
	}
	return now, err
}

// bindTimeArithmetic binds time + interval, time - interval and time - time; done is false for other operands.
func bindTimeArithmetic(b *Binding, op string, try bool) (bound *Bound, done bool, err error) {
	x, y := 0, 1
	if op == "+" && isTime(b.Args[1].Type) && !isTime(b.Args[0].Type) {
		x, y = 1, 0
	}
	l, r := b.Args[x].Type, b.Args[y].Type
	t := &temporal{Binding: b, x: x, y: y, try: try, minus: op == "-"}
	switch {
	case op == "-" && (isTime(l) || isTime(r)) && (isTime(l) || isText(l) || isNull(l)) && (isTime(r) || isText(r) || isNull(r)):
		bound := t.bind(types.DayTimeIntervalType{Start: types.HourField, End: types.SecondField}, timeOr(l), timeOr(r), func() Kernel {
			return timeOfDayDifference
		})
		bound.Nullable = true
		return bound, true, nil
	case (op == "+" || op == "-") && isTime(l) && (kindOf(r) == kDayTime || isNull(r)):
		iv, _ := r.(types.DayTimeIntervalType)
		result := l.(types.TimeType)
		if isNull(r) {
			result.Precision = 6
		}
		if iv.End == types.SecondField && !isNull(r) {
			result.Precision = 6
		}
		if isNull(r) {
			iv = types.DayTimeIntervalType{Start: types.DayField, End: types.SecondField}
		}
		bound := t.bind(result, l, iv, func() Kernel { return addToTimeOfDay(t.minus, t.mode()) })
		bound.Nullable = true
		return bound, true, nil
	}
	return nil, false, nil
}

func timeOr(t types.DataType) types.DataType {
	if isTime(t) {
		return t
	}
	return types.Time
}

func timeOfDayDifference(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, y, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](args[1]), vec.Fixed[int64](out)
	dst, y = dst[:len(x)], y[:len(x)]
	for i := range x {
		dst[i] = (x[i] - y[i]) / nanosPerMicro
	}
	return out
}

// addToTimeOfDay fails beyond midnight on either side.
func addToTimeOfDay(minus bool, mode expr.Mode) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](args[1]), vec.Fixed[int64](out)
		dst, y = dst[:len(x)], y[:len(x)]
		for i := range x {
			d := y[i]
			if minus {
				d = -d
			}
			if d > datetime.Day || d < -datetime.Day {
				d = datetime.Day // too far in any case
			}
			s := x[i] + d*nanosPerMicro
			if uint64(s) >= uint64(nanosPerDay) && !anyNull(args, i) {
				fails(e, out, mode, i, func() error { return errclass.New("DATETIME_OVERFLOW", "operation", "the sum is not within the day") })
				continue
			}
			dst[i] = s
		}
		return out
	}
}
