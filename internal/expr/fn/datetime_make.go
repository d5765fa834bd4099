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

func makeFunctions() []*Function {
	stamp := func(name string, t types.DataType, try bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindMakeTimestamp(b, t, try) }}
	}
	return []*Function{
		{Name: "make_date", Bind: bindMakeDate},
		stamp("make_timestamp", types.Timestamp, false), stamp("make_timestamp_ltz", types.Timestamp, false),
		stamp("make_timestamp_ntz", types.TimestampNTZ, false),
		stamp("try_make_timestamp", types.Timestamp, true), stamp("try_make_timestamp_ltz", types.Timestamp, true),
		stamp("try_make_timestamp_ntz", types.TimestampNTZ, true),
		{Name: "make_interval", Bind: func(b *Binding) (*Bound, error) { return bindMakeInterval(b, false) }},
		{Name: "try_make_interval", Bind: func(b *Binding) (*Bound, error) { return bindMakeInterval(b, true) }},
		{Name: "make_dt_interval", Bind: bindMakeDTInterval},
		{Name: "make_ym_interval", Bind: bindMakeYMInterval},
	}
}

func fieldError(message, try string) error {
	return errclass.New("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "rangeMessage", message, "suggestedFunc", "`"+try+"`")
}

// dateProblem says what is wrong with a date, or nothing.
func dateProblem(y, m, d int) string {
	switch {
	case m < 1 || m > 12:
		return "the month " + itoa(m) + " is not within 1 to 12"
	case d < 1 || d > 31:
		return "the day " + itoa(d) + " is not within 1 to 31"
	case !datetime.Valid(y, m, d):
		return "there is no day " + itoa(d) + " in month " + itoa(m) + " of " + itoa(y)
	}
	return ""
}

func bindMakeDate(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(integer)
	if err != nil {
		return nil, err
	}
	mode := b.Mode()
	return &Bound{Args: c, Type: types.Date, Nullable: mode == expr.Null || b.nullable(c), CanFail: mode == expr.Raise, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			ys, ms, ds, dst := vec.Fixed[int32](args[0]), vec.Fixed[int32](args[1]), vec.Fixed[int32](args[2]), vec.Fixed[int32](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				if p := dateProblem(int(ys[i]), int(ms[i]), int(ds[i])); p != "" {
					fails(e, out, mode, i, func() error { return fieldError(p, "try_make_date") })
					continue
				}
				dst[i] = int32(datetime.DaysOf(int64(ys[i]), int64(ms[i]), int64(ds[i])))
			}
			return out
		}
	}}, nil
}

var secondsType = types.DecimalType{Precision: 16, Scale: 6}

// bindMakeTimestamp binds (year, month, day, hour, minute, second[, zone]).
func bindMakeTimestamp(b *Binding, t types.DataType, try bool) (*Bound, error) {
	most := 7
	if kindOf(t) == kNTZ {
		most = 6
	}
	if n := len(b.Args); n <= 3 && n >= 1 && (n == 2 || kindOf(t) == kTimestamp && (n == 3 || strings.HasSuffix(b.Name, "make_timestamp"))) {
		return bindDateAndTime(b, t)
	}
	if err := b.Arity(6, most); err != nil {
		return nil, err
	}
	seconds := Accept{
		name: quoteType(secondsType), to: []types.DataType{secondsType},
		has: func(t types.DataType) bool { return types.Equal(t, secondsType) },
	}
	c, err := b.Accept(integer, integer, integer, integer, integer, anySeconds(seconds), text)
	if err != nil {
		return nil, err
	}
	if !types.Equal(b.Args[5].Type, secondsType) {
		c[5] = secondsType
	}
	mode := parseMode(b, try)
	zone := b.Zone
	plain := !try && mode == expr.Raise && !b.Args[5].Nullable
	for i := range b.Args {
		if i != 5 && b.argNullable(c, i) {
			plain = false
		}
	}
	return &Bound{Args: c, Type: t, Nullable: !plain, CanFail: true, New: func() Kernel {
		z := localZone(t, zone)
		var cache zoneCache
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			var part [5][]int32
			for k := range part {
				part[k] = vec.Fixed[int32](args[k])
			}
			secs, dst := vec.Fixed[int64](args[5]), vec.Fixed[int64](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				local, problem := makeTimestamp(int(part[0][i]), int(part[1][i]), int(part[2][i]), int(part[3][i]), int(part[4][i]), secs[i])
				if problem != nil {
					fails(e, out, mode, i, func() error { return problem })
					continue
				}
				at := z
				if len(args) == 7 {
					var ok bool
					if at, ok = cache.get(args[6].StringAt(i)); !ok {
						fails(e, out, mode, i, func() error { return unknownZone(args[6].StringAt(i)) })
						continue
					}
				}
				dst[i] = at.Instant(local)
			}
			return out
		}
	}}, nil
}

// bindDateAndTime binds (date[, time[, zone]]).
func bindDateAndTime(b *Binding, t types.DataType) (*Bound, error) {
	c, err := b.Accept(strict(date), strict(timeOfDay), strict(text))
	if err != nil {
		return nil, err
	}
	zone := b.Zone
	return &Bound{Args: c, Type: t, Nullable: kindOf(t) == kNTZ || b.nullable(c), TakesConst: true, CanFail: len(c) == 3, New: func() Kernel {
		z := localZone(t, zone)
		var cache zoneCache
		return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
			local, at := int64(vec.At[int32](args[0], i))*datetime.Day, z
			if len(args) > 1 {
				local += vec.At[int64](args[1], i) / nanosPerMicro
			}
			if len(args) == 3 {
				var ok bool
				if at, ok = cache.get(args[2].StringAt(i)); !ok {
					e.Errs.Add(i, unknownZone(args[2].StringAt(i)))
					return 0, true
				}
			}
			return at.Instant(local), true
		})
	}}, nil
}

// anySeconds takes any number as seconds.
func anySeconds(a Accept) Accept {
	exact := a.has
	a.has = func(t types.DataType) bool { return exact(t) || IsNumeric(t) }
	return a
}

func makeTimestamp(y, m, d, h, min int, micros int64) (int64, error) {
	if p := dateProblem(y, m, d); p != "" {
		return 0, fieldError(p, "try_make_timestamp")
	}
	switch {
	case h < 0 || h > 23:
		return 0, fieldError("the hour "+itoa(h)+" is not within 0 to 23", "try_make_timestamp")
	case min < 0 || min > 59:
		return 0, fieldError("the minute "+itoa(min)+" is not within 0 to 59", "try_make_timestamp")
	case micros > datetime.Minute && micros < datetime.Minute+datetime.Second:
		return 0, errclass.New("INVALID_FRACTION_OF_SECOND", "secAndMicros", decimal.String(decimal.FromInt64(micros), 6))
	case micros < 0 || micros > datetime.Minute:
		return 0, fieldError("the second "+decimal.String(decimal.FromInt64(micros), 6)+" is not within 0 to 59", "try_make_timestamp")
	}
	return datetime.DaysOf(int64(y), int64(m), int64(d))*datetime.Day + int64(h)*datetime.Hour + int64(min)*datetime.Minute + micros, nil
}

// bindMakeInterval binds (years, months, weeks, days, hours, minutes, seconds), all optional.
func bindMakeInterval(b *Binding, try bool) (*Bound, error) {
	least := 0
	if try {
		least = 1
	}
	if err := b.Arity(least, 7); err != nil {
		return nil, err
	}
	wide := types.DecimalType{Precision: 18, Scale: 6}
	c, err := b.Accept(integer, integer, integer, integer, integer, integer, numeric)
	if err != nil {
		return nil, err
	}
	null := b.nullable(c)
	if len(c) == 7 && !types.Equal(b.Args[6].Type, wide) {
		c[6] = wide
		null = null || b.argNullable(c, 6)
	}
	mode := parseMode(b, try)
	return &Bound{Args: c, Type: types.CalendarInterval, Nullable: mode == expr.Null || null, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[vec.Interval](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				var p [7]int64
				for k, a := range args {
					p[k] = loadInt(a, i)
				}
				months, days := p[0]*12+p[1], p[2]*7+p[3]
				if months != int64(int32(months)) || days != int64(int32(days)) {
					fails(e, out, mode, i, func() error { return errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION") })
					continue
				}
				dst[i] = vec.Interval{Months: int32(months), Days: int32(days), Micros: p[4]*datetime.Hour + p[5]*datetime.Minute + p[6]}
			}
			return out
		}
	}}, nil
}

func bindMakeDTInterval(b *Binding) (*Bound, error) {
	if err := b.Arity(0, 4); err != nil {
		return nil, err
	}
	wide := types.DecimalType{Precision: 18, Scale: 6}
	c, err := b.Accept(integer, integer, integer, numeric)
	if err != nil {
		return nil, err
	}
	null := b.nullable(c)
	if len(c) == 4 && !types.Equal(b.Args[3].Type, wide) {
		c[3] = wide
		null = null || b.argNullable(c, 3)
	}
	return &Bound{Args: c, Type: types.DayTimeInterval, Nullable: null, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int64](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				var p [4]int64
				for k, a := range args {
					p[k] = loadInt(a, i)
				}
				if mul64Overflows(p[0], datetime.Day) {
					e.Errs.Add(i, errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"))
					continue
				}
				dst[i] = p[0]*datetime.Day + p[1]*datetime.Hour + p[2]*datetime.Minute + p[3]
			}
			return out
		}
	}}, nil
}

func bindMakeYMInterval(b *Binding) (*Bound, error) {
	if err := b.Arity(0, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(integer)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.YearMonthInterval, Nullable: b.nullable(c), CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int32](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				var p [2]int64
				for k, a := range args {
					p[k] = loadInt(a, i)
				}
				months := p[0]*12 + p[1]
				if months != int64(int32(months)) {
					e.Errs.Add(i, errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"))
					continue
				}
				dst[i] = int32(months)
			}
			return out
		}
	}}, nil
}
