package fn

import (
	"math"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// bindTemporal binds an operator whose operands are dates, times or intervals; done is false when they are not.
func bindTemporal(b *Binding, op string, try bool) (bound *Bound, done bool, err error) {
	x, y := 0, 1
	if op == "+" && (isDateTime(b.Args[1].Type) && !isDateTime(b.Args[0].Type) || isInterval(b.Args[0].Type) && isText(b.Args[1].Type)) ||
		op == "*" && isInterval(b.Args[1].Type) && !isInterval(b.Args[0].Type) {
		x, y = 1, 0
	}
	l, r := b.Args[x].Type, b.Args[y].Type
	t := &temporal{Binding: b, x: x, y: y, try: try, minus: op == "-"}
	switch {
	case (op == "*" || op == "/") && kindOf(l) == kCalendar && (IsNumeric(r) || isText(r) || isNull(r)):
		bound, err = t.scaleCalendar(op == "/")
	case (op == "*" || op == "/") && isAnsiInterval(l) && (IsNumeric(r) || isText(r) || isNull(r)):
		bound, err = t.scale(op == "/")
	case b.ANSI && (op == "*" || op == "/") && isInterval(l) && !isInterval(r):
		err = t.wrongType(y, `"NUMERIC"`)
	case op != "+" && op != "-":
		return nil, false, nil
	case kindOf(l) == kDate && isDateTime(r) && op == "-":
		bound, err = t.difference()
	case op == "-" && kindOf(l) == kDate && (isText(r) && b.ANSI || isNull(r)):
		bound, err = t.difference()
	case op == "-" && isTimestamp(l) && (isDateTime(r) || isText(r) || isNull(r)):
		bound, err = t.difference()
	case op == "-" && isDateTime(r) && (isText(l) || isNull(l)):
		bound, err = t.difference()
	case op == "+" && isDateTime(l) && isNull(r):
		bound, err = t.addNull(), nil
	case kindOf(l) == kDate && (IsIntegral(r) || isNull(r)):
		bound, err = t.addDays()
	case isText(l) && kindOf(r) == kYearMonth:
		err = b.differentTypes()
	case isDateTime(l) && isInterval(r), isText(l) && isInterval(r):
		bound, err = t.addInterval()
	case isInterval(l) && isInterval(r):
		bound, err = t.sum()
	case isInterval(l) && isNull(r), isNull(l) && isInterval(r):
		bound, err = t.sum()
	case (kindOf(l) == kDate || kindOf(r) == kDate) && (b.ANSI || !isText(l) && !isText(r)):
		err = t.wrongDays() // what is left of dates is a number of days
	case t.otherOperand(op, l, r):
		err = t.wrongOperand()
	default:
		return nil, false, nil
	}
	return bound, true, err
}

// otherOperand tells operands that Spark takes for those of times and intervals, and then refuses.
func (t *temporal) otherOperand(op string, l, r types.DataType) bool {
	odd := func(o types.DataType) bool {
		return !isText(o) && !isNull(o) && !isInterval(o) && !isDateTime(o) && !isTime(o)
	}
	moves := func(o types.DataType) bool { return kindOf(o) == kDayTime || kindOf(o) == kCalendar }
	if op == "-" && (isTimestamp(l) && odd(r) || isTimestamp(r) && (odd(l) || isInterval(l))) {
		return true
	}
	return moves(r) && odd(l) || op == "+" && moves(l) && odd(r)
}

func (t *temporal) wrongOperand() error {
	i := 0
	if !isTimestamp(t.Args[1].Type) && (isInterval(t.Args[0].Type) || isTimestamp(t.Args[0].Type)) {
		i = 1
	}
	err := t.wrongType(i, anyTimestamp.name)
	if i == 1 && isInterval(t.Args[0].Type) { // the interval comes second
		err = errclass.Renamed(err, "paramIndex", ordinal(1))
	}
	if l, r := t.Args[0], t.Args[1]; (kindOf(r.Type) == kDayTime || kindOf(r.Type) == kCalendar) && !isInterval(l.Type) {
		sign, right := " + ", r.SQL
		if t.minus {
			right = "(- " + right + ")"
		}
		err = errclass.Renamed(err, "sqlExpr", `"`+l.SQL+sign+right+`"`)
	}
	return err
}

// temporal is an operator with the date or time on the left.
type temporal struct {
	*Binding
	x, y  int // arguments in that order
	try   bool
	minus bool
}

// bind makes the result from a kernel that sees the operands in order.
func (t *temporal) bind(result types.DataType, lt, rt types.DataType, kernel func() Kernel) *Bound {
	want := make([]types.DataType, 2)
	want[t.x], want[t.y] = lt, rt
	bound := &Bound{Args: casts(t.Binding, want...), Type: result, CanFail: true, TryArgs: t.try, First: t.x}
	bound.Nullable = t.try || t.nullable(bound.Args)
	x, y := t.x, t.y
	bound.New = func() Kernel {
		k := kernel()
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			return k(e, n, []*vec.Vector{args[x], args[y]}, out)
		}
	}
	return bound
}

func (t *temporal) mode() expr.Mode {
	if t.try {
		return expr.Null
	}
	return expr.Raise
}

// addNull is date + null, where null is taken for an interval with hours.
func (t *temporal) addNull() *Bound {
	result := t.Args[t.x].Type
	if kindOf(result) == kDate {
		result = types.Timestamp
	}
	bound := t.bind(result, nil, nil, func() Kernel { return allNull(result) })
	bound.CanFail, bound.Nullable = false, true
	return bound
}

// addDays is date + int and date - int.
func (t *temporal) addDays() (*Bound, error) {
	if r := rank(t.Args[t.y].Type); r == 4 {
		return nil, t.wrongDays()
	}
	sign := int32(1)
	if t.minus {
		sign = -1
	}
	return t.bind(types.Date, types.Date, types.Integer, func() Kernel { return addDays(sign) }), nil
}

func (t *temporal) wrongDays() error {
	op := "+"
	if t.minus {
		op = "-"
	}
	return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", `"`+CallSQL(op, t.Args)+`"`, "paramIndex", "second",
		"requiredType", smallInt.name, "inputSql", `"`+t.Args[t.y].SQL+`"`, "inputType", quoteType(t.Args[t.y].Type))
}

// addDays wraps on overflow, as Spark does.
func addDays(sign int32) Kernel {
	var sy []int32
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int32](args[0]), flat(args[1], n, &sy), vec.Fixed[int32](out)
		dst, y = dst[:len(x)], y[:len(x)]
		for i := range x {
			dst[i] = x[i] + sign*y[i]
		}
		return out
	}
}

// difference is date - date in days and timestamp - timestamp in microseconds of local time.
func (t *temporal) difference() (*Bound, error) {
	l, r, mode := t.Args[0].Type, t.Args[1].Type, t.mode()
	if (kindOf(l) == kDate || isText(l) || isNull(l)) && kindOf(r) == kDate || kindOf(l) == kDate && (isText(r) || isNull(r)) {
		return t.bind(types.DayTimeIntervalType{}, types.Date, types.Date, func() Kernel { return dateDifference(mode) }), nil
	}
	var common types.DataType = types.TimestampNTZ
	if kindOf(l) == kTimestamp || kindOf(r) == kTimestamp {
		common = types.Timestamp
	}
	zone := t.Zone
	return t.bind(types.DayTimeInterval, common, common, func() Kernel {
		z := datetime.NewZone(nil)
		if kindOf(common) == kTimestamp {
			z = datetime.NewZone(zone)
		}
		return timeDifference(z, mode)
	}), nil
}

func dateDifference(mode expr.Mode) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int32](args[0]), vec.Fixed[int32](args[1]), vec.Fixed[int64](out)
		for i := range dst {
			days := int64(x[i]) - int64(y[i])
			dst[i] = days * datetime.Day
			if mul64Overflows(days, datetime.Day) && !anyNull(args, i) {
				fails(e, out, mode, i, longOverflow)
			}
		}
		return out
	}
}

func timeDifference(z *datetime.Zone, mode expr.Mode) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](args[1]), vec.Fixed[int64](out)
		dst, y = dst[:len(x)], y[:len(x)]
		large := int64(0) // negative when an operand is so large that the difference may not fit
		if z.IsUTC() {
			for i := range x {
				dst[i] = x[i] - y[i]
				large |= (x[i] ^ x[i]<<1) | (x[i] ^ x[i]<<2) | (y[i] ^ y[i]<<1) | (y[i] ^ y[i]<<2)
			}
		} else {
			for i := range x {
				dst[i] = z.Local(x[i]) - z.Local(y[i])
				large |= (x[i] ^ x[i]<<1) | (x[i] ^ x[i]<<2) | (y[i] ^ y[i]<<1) | (y[i] ^ y[i]<<2)
			}
		}
		for i := 0; large < 0 && i < len(x); i++ { // a null row may hold garbage
			if math.Abs(float64(x[i])-float64(y[i])-float64(dst[i])) > 1<<63 && !anyNull(args, i) {
				fails(e, out, mode, i, longOverflow)
			}
		}
		return out
	}
}

func longOverflow() error { return overflowError("long overflow", "") }

// addInterval is a date or time plus or minus an interval.
func (t *temporal) addInterval() (*Bound, error) {
	l, r := t.Args[t.x].Type, t.Args[t.y].Type
	sign := int64(1)
	if t.minus {
		sign = -1
	}
	zone := t.Zone
	mode := t.mode()
	if kindOf(l) == kDate {
		switch r := r.(type) {
		case types.YearMonthIntervalType:
			return t.bind(types.Date, nil, nil, func() Kernel { return dateAddMonths(sign) }), nil
		case types.CalendarIntervalType:
			return t.bind(types.Date, nil, nil, func() Kernel { return dateAddCalendar(sign, mode) }), nil
		case types.DayTimeIntervalType:
			if r.End == types.DayField {
				return t.bind(types.Date, nil, nil, func() Kernel { return dateAddDayTime(sign) }), nil
			}
			l = types.Timestamp
		}
	}
	result := l
	if isText(l) {
		l = types.Timestamp
	}
	newZone := func() *datetime.Zone {
		if kindOf(l) == kNTZ {
			return datetime.NewZone(nil)
		}
		return datetime.NewZone(zone)
	}
	bound := t.bind(l, l, nil, func() Kernel {
		switch r.(type) {
		case types.YearMonthIntervalType:
			return timeAddMonths(newZone(), sign, mode)
		case types.DayTimeIntervalType:
			return timeAddMicros(newZone(), sign, mode)
		}
		return timeAddCalendar(newZone(), sign, mode)
	})
	if isText(result) { // a string stays one
		inner, timestamps := bound.New, types.Timestamp
		bound.Type = types.String
		env := castEnv{zone: zone}
		bound.New = func() Kernel {
			add, print, tmp := inner(), env.toText(timestamps), vec.NewFixed(timestamps, 0)
			return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				tmp = add(e, n, args, tmp)
				return print(e, n, []*vec.Vector{tmp}, out)
			}
		}
	}
	return bound, nil
}

func dateAddDayTime(sign int64) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int32](args[0]), vec.Fixed[int64](args[1]), vec.Fixed[int32](out)
		for i := range dst {
			dst[i] = x[i] + int32(sign*(y[i]/datetime.Day))
		}
		return out
	}
}

func dateAddMonths(sign int64) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int32](args[0]), vec.Fixed[int32](args[1]), vec.Fixed[int32](out)
		for i := range dst {
			dst[i] = int32(datetime.AddMonths(int64(x[i]), sign*int64(y[i])))
		}
		return out
	}
}

func dateAddCalendar(sign int64, mode expr.Mode) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int32](args[0]), vec.Fixed[vec.Interval](args[1]), vec.Fixed[int32](out)
		for i := range dst {
			if anyNull(args, i) {
				continue
			}
			if y[i].Micros != 0 {
				fails(e, out, mode, i, func() error {
					return errclass.New("INVALID_INTERVAL_WITH_MICROSECONDS_ADDITION", "ansiConfig", ansiConfig)
				})
				continue
			}
			dst[i] = int32(datetime.AddMonths(int64(x[i]), sign*int64(y[i].Months)) + sign*int64(y[i].Days))
		}
		return out
	}
}

func timeAddMonths(z *datetime.Zone, sign int64, mode expr.Mode) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int64](args[0]), vec.Fixed[int32](args[1]), vec.Fixed[int64](out)
		for i := range dst {
			if !anyNull(args, i) {
				dst[i] = addCalendar(e, out, z, mode, i, x[i], sign*int64(y[i]), 0, 0)
			}
		}
		return out
	}
}

func timeAddMicros(z *datetime.Zone, sign int64, mode expr.Mode) Kernel {
	var sy []int64
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int64](args[0]), flat(args[1], n, &sy), vec.Fixed[int64](out)
		dst, y = dst[:len(x)], y[:len(x)]
		if z.IsUTC() {
			var over int64
			for i := range x {
				d := sign * y[i]
				s := x[i] + d
				over |= (x[i] ^ s) & (d ^ s)
				dst[i] = s
			}
			if over >= 0 {
				return out
			}
		}
		for i := range x {
			if anyNull(args, i) {
				continue
			}
			days, micros := y[i]/datetime.Day, y[i]%datetime.Day
			dst[i] = addCalendar(e, out, z, mode, i, x[i], 0, sign*days, sign*micros)
		}
		return out
	}
}

func timeAddCalendar(z *datetime.Zone, sign int64, mode expr.Mode) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[int64](args[0]), vec.Fixed[vec.Interval](args[1]), vec.Fixed[int64](out)
		for i := range dst {
			if !anyNull(args, i) {
				dst[i] = addCalendar(e, out, z, mode, i, x[i], sign*int64(y[i].Months), sign*int64(y[i].Days), sign*y[i].Micros)
			}
		}
		return out
	}
}

// addCalendar adds months and days on the local calendar and then microseconds of elapsed time.
func addCalendar(e *expr.Eval, out *vec.Vector, z *datetime.Zone, mode expr.Mode, i int, micros, months, days, rest int64) int64 {
	if months != 0 || days != 0 {
		local := z.Local(micros)
		day := datetime.FloorDiv(local, datetime.Day)
		moved := datetime.AddMonths(day, months) + days
		if moved > math.MaxInt64/datetime.Day-1 || moved < math.MinInt64/datetime.Day+1 {
			fails(e, out, mode, i, timestampOverflow)
			return 0
		}
		micros = z.Instant(moved*datetime.Day + local - day*datetime.Day)
	}
	s := micros + rest
	if (micros^s)&(rest^s) < 0 {
		fails(e, out, mode, i, timestampOverflow)
	}
	return s
}

func timestampOverflow() error {
	return errclass.New("DATETIME_OVERFLOW", "operation", "adding an interval to a timestamp")
}

// sum is interval + interval and interval - interval.
func (t *temporal) sum() (*Bound, error) {
	l, r := t.Args[0].Type, t.Args[1].Type
	if isNull(l) {
		l = r
	}
	if isNull(r) {
		r = l
	}
	if _, ok := l.(types.CalendarIntervalType); ok && types.SameType(l, r) {
		sign := int64(1)
		if t.minus {
			sign = -1
		}
		return t.bind(l, l, l, func() Kernel { return calendarSum(sign) }), nil
	}
	common, ok := WiderType(l, r, t.ANSI)
	if !ok {
		return nil, t.intervalMismatch()
	}
	op := opAdd
	if t.minus {
		op = opSub
	}
	over := raise
	if t.try {
		over = null
	}
	return t.bind(common, l, r, func() Kernel {
		if kindOf(common) == kYearMonth {
			return intervalErrors(intKernel[int32](op, over), op)
		}
		return intervalErrors(intKernel[int64](op, over), op)
	}), nil
}

// intervalMismatch is what Spark says when intervals of two families meet: it takes one for a time.
func (t *temporal) intervalMismatch() error {
	op := "+"
	x, y := 0, 1
	if t.minus {
		op = "-"
	} else if kindOf(t.Args[0].Type) == kDayTime {
		x, y = 1, 0
	}
	l, r := t.Args[x], t.Args[y]
	return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", `"`+l.SQL+" "+op+" "+r.SQL+`"`, "paramIndex", "first",
		"requiredType", anyTimestamp.name, "inputSql", `"`+l.SQL+`"`, "inputType", quoteType(l.Type))
}

// intervalErrors replaces the overflow errors of integers by those of intervals.
func intervalErrors(k Kernel, op intOp) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		inner := expr.Eval{}
		out = k(&inner, n, args, out)
		for _, r := range inner.Errs.All() {
			e.Errs.Add(r.Row, errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION", "functionName", "`"+intOpTries[op]+"`"))
		}
		return out
	}
}

func calendarSum(sign int64) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, y, dst := vec.Fixed[vec.Interval](args[0]), vec.Fixed[vec.Interval](args[1]), vec.Fixed[vec.Interval](out)
		for i := range dst {
			if anyNull(args, i) {
				continue
			}
			m, d := int64(x[i].Months)+sign*int64(y[i].Months), int64(x[i].Days)+sign*int64(y[i].Days)
			u := x[i].Micros + sign*y[i].Micros
			if m != int64(int32(m)) || d != int64(int32(d)) || (x[i].Micros^u)&(sign*y[i].Micros^u) < 0 {
				e.Errs.Add(i, errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"))
				continue
			}
			dst[i] = vec.Interval{Months: int32(m), Days: int32(d), Micros: u}
		}
		return out
	}
}
