package fn

import (
	"strings"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// dateField is a part of a date.
type dateField uint8

const (
	fieldYear dateField = iota
	fieldQuarter
	fieldMonth
	fieldDay
	fieldDayOfYear
	fieldDayOfWeek // 1 is Sunday
	fieldWeekday   // 0 is Monday
	fieldISODay    // 1 is Monday
	fieldWeek
	fieldYearOfWeek
)

// timeField is a part of a time of day, as its length in microseconds and how many of it there are in the next unit.
type timeField struct{ unit, modulus int64 }

var (
	fieldHour   = timeField{datetime.Hour, 24}
	fieldMinute = timeField{datetime.Minute, 60}
	fieldSecond = timeField{datetime.Second, 60}
)

func dateFieldFunctions() []*Function {
	date := func(f dateField, name string, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindDateField(b, 0, 1, f) }}
	}
	clock := func(f timeField, name string) *Function {
		return &Function{Name: name, Takes: 1, Bind: func(b *Binding) (*Bound, error) {
			if err := b.Arity(1, -1); err != nil {
				return nil, err
			}
			return bindTimeField(b, 0, 1, f)
		}}
	}
	return []*Function{
		date(fieldYear, "year"), date(fieldQuarter, "quarter"), date(fieldMonth, "month"),
		date(fieldDay, "dayofmonth", "day"), date(fieldDayOfYear, "dayofyear"), date(fieldDayOfWeek, "dayofweek"),
		date(fieldWeekday, "weekday"), date(fieldWeek, "weekofyear"),
		clock(fieldHour, "hour"), clock(fieldMinute, "minute"), clock(fieldSecond, "second"),
		{Name: "dayname", Bind: func(b *Binding) (*Bound, error) { return bindName(b, fieldWeekday) }},
		{Name: "monthname", Bind: func(b *Binding) (*Bound, error) { return bindName(b, fieldMonth) }},
		{Name: "date_part", Aliases: []string{"datepart", "extract"}, Bind: bindExtract},
		{Name: "last_day", Bind: bindLastDay},
	}
}

// bindDateField binds a part of the date that is argument i of n.
func bindDateField(b *Binding, i, n int, f dateField) (*Bound, error) {
	if err := b.Arity(n, n); err != nil {
		return nil, err
	}
	c := make([]types.DataType, n)
	to, ok := date.implicit(b.Args[i], b.ANSI)
	if !ok {
		return nil, b.wrongType(i, date.name)
	}
	c[i] = to
	return &Bound{Args: c, Type: types.Integer, Nullable: b.argNullable(c, i), New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int32](args[i]), vec.Fixed[int32](out)
			dst = dst[:len(x)]
			for k, d := range x {
				dst[k] = int32(f.of(int64(d)))
			}
			return out
		}
	}}, nil
}

func (f dateField) of(days int64) int {
	switch f {
	case fieldDayOfYear:
		return datetime.DayOfYear(days)
	case fieldDayOfWeek:
		return (datetime.Weekday(days)+1)%7 + 1
	case fieldWeekday:
		return datetime.Weekday(days)
	case fieldISODay:
		return datetime.Weekday(days) + 1
	case fieldWeek:
		_, w := datetime.ISOWeek(days)
		return w
	case fieldYearOfWeek:
		y, _ := datetime.ISOWeek(days)
		return y
	}
	y, m, d := datetime.Civil(days)
	switch f {
	case fieldYear:
		return y
	case fieldQuarter:
		return (m + 2) / 3
	case fieldMonth:
		return m
	}
	return d
}

// localZone is the zone in which values of a timestamp type are shown.
func localZone(t types.DataType, zone *time.Location) *datetime.Zone {
	if kindOf(t) == kTimestamp {
		return datetime.NewZone(zone)
	}
	return datetime.NewZone(nil)
}

func bindTimeField(b *Binding, i, n int, f timeField) (*Bound, error) {
	if err := b.Arity(n, n); err != nil {
		return nil, err
	}
	c := make([]types.DataType, n)
	if kindOf(b.Args[i].Type) == kTime {
		return &Bound{Args: c, Type: types.Integer, Nullable: true, New: func() Kernel { return timeOfDayField(i, f) }}, nil
	}
	to, ok := anyTimestamp.implicit(b.Args[i], b.ANSI)
	if !ok {
		return nil, b.wrongType(i, anyTimestamp.name)
	}
	c[i] = to
	t, zone := b.result(c, i), b.Zone
	return &Bound{Args: c, Type: types.Integer, Nullable: b.argNullable(c, i), New: func() Kernel {
		z := localZone(t, zone)
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int64](args[i]), vec.Fixed[int32](out)
			dst = dst[:len(x)]
			for k, micros := range x {
				dst[k] = int32(datetime.FloorMod(datetime.FloorDiv(z.Local(micros), f.unit), f.modulus))
			}
			return out
		}
	}}, nil
}

func timeOfDayField(i int, f timeField) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[int32](out)
		for k, nanos := range vec.Fixed[int64](args[i]) {
			dst[k] = int32(nanos / (f.unit * 1000) % f.modulus)
		}
		return out
	}
}

// bindName binds the first three letters of a day's or a month's name.
func bindName(b *Binding, f dateField) (*Bound, error) {
	bound, err := bindDateField(b, 0, 1, f)
	if err != nil {
		return nil, err
	}
	bound.Type = types.String
	bound.New = func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			spans := out.ResetBytes(n, nil)
			buf := make([]byte, 0, 3*n)
			for k, d := range vec.Fixed[int32](args[0]) {
				v := f.of(int64(d))
				name := ""
				if f == fieldMonth {
					name = datetime.MonthName(v)[:3]
				} else {
					name = datetime.WeekdayName(v)[:3]
				}
				spans[k] = vec.Span{Off: uint32(len(buf)), Len: 3}
				buf = append(buf, name...)
			}
			out.SetBytes(buf)
			return out
		}
	}
	return bound, nil
}

var extractDates = map[string]dateField{
	"YEAR": fieldYear, "Y": fieldYear, "YEARS": fieldYear, "YR": fieldYear, "YRS": fieldYear,
	"YEAROFWEEK": fieldYearOfWeek, "QUARTER": fieldQuarter, "QTR": fieldQuarter,
	"MONTH": fieldMonth, "MON": fieldMonth, "MONS": fieldMonth, "MONTHS": fieldMonth,
	"WEEK": fieldWeek, "W": fieldWeek, "WEEKS": fieldWeek, "DAY": fieldDay, "D": fieldDay, "DAYS": fieldDay,
	"DAYOFWEEK": fieldDayOfWeek, "DOW": fieldDayOfWeek, "DAYOFWEEK_ISO": fieldISODay, "DOW_ISO": fieldISODay, "DOY": fieldDayOfYear,
}

var extractTimes = map[string]timeField{
	"HOUR": fieldHour, "H": fieldHour, "HOURS": fieldHour, "HR": fieldHour, "HRS": fieldHour,
	"MINUTE": fieldMinute, "M": fieldMinute, "MIN": fieldMinute, "MINS": fieldMinute, "MINUTES": fieldMinute,
	"SECOND": fieldSecond, "S": fieldSecond, "SEC": fieldSecond, "SECONDS": fieldSecond, "SECS": fieldSecond,
}

// bindExtract binds a part that a constant text names, of a date, a time or an interval.
func bindExtract(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	name := b.Args[0].Const
	if name == nil || !isText(b.Args[0].Type) {
		return nil, errclass.New("NON_FOLDABLE_ARGUMENT", "funcName", "`"+b.Name+"`", "paramName", "`field`", "paramType", `"STRING"`)
	}
	if name.IsNull(0) {
		return &Bound{Args: make([]types.DataType, 2), Type: types.Double, Nullable: true, New: func() Kernel {
			return func(_ *expr.Eval, n int, _ []*vec.Vector, _ *vec.Vector) *vec.Vector {
				return vec.NewNulls(types.Double, n)
			}
		}}, nil
	}
	field := strings.ToUpper(name.StringAt(0))
	if isInterval(b.Args[1].Type) {
		if bound := bindIntervalField(b, field); bound != nil {
			return bound, nil
		}
	} else if f, ok := extractDates[field]; ok && !isTime(b.Args[1].Type) {
		return bindDateField(b, 1, 2, f)
	} else if f, ok := extractTimes[field]; ok {
		if f == fieldSecond {
			return bindSeconds(b)
		}
		return bindTimeField(b, 1, 2, f)
	}
	return nil, errclass.New("INVALID_EXTRACT_FIELD", "field", "`"+name.StringAt(0)+"`", "expr", `"`+b.Args[1].SQL+`"`)
}

// bindSeconds binds the seconds with their fraction.
func bindSeconds(b *Binding) (*Bound, error) {
	bound, err := bindTimeField(b, 1, 2, fieldSecond)
	if err != nil {
		return nil, err
	}
	bound.Type = types.DecimalType{Precision: 8, Scale: 6}
	t, zone := b.result(bound.Args, 1), b.Zone
	bound.New = func() Kernel {
		z := localZone(t, zone)
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int64](args[1]), vec.Fixed[int64](out)
			for k, micros := range x {
				if kindOf(t) == kTime {
					dst[k] = micros / 1000 % datetime.Minute
				} else {
					dst[k] = datetime.FloorMod(z.Local(micros), datetime.Minute)
				}
			}
			return out
		}
	}
	return bound, nil
}

// bindIntervalField binds a part of an interval, or gives nil when it has no such part.
func bindIntervalField(b *Binding, field string) *Bound {
	bound := &Bound{Args: make([]types.DataType, 2), Nullable: b.Args[1].Nullable}
	var of func(iv vec.Interval) int64
	f, isDate := extractDates[field]
	g, isTime := extractTimes[field]
	switch {
	case isDate && f == fieldYear:
		bound.Type = types.Integer
		of = func(iv vec.Interval) int64 { return int64(iv.Months / 12) }
	case isDate && f == fieldMonth:
		bound.Type = types.Byte
		of = func(iv vec.Interval) int64 { return int64(iv.Months % 12) }
	case isDate && f == fieldDay:
		bound.Type = types.Integer
		of = func(iv vec.Interval) int64 { return int64(iv.Days) }
	case isTime && g == fieldHour:
		bound.Type = types.Byte
		if kindOf(b.Args[1].Type) == kCalendar {
			bound.Type = types.Long
		}
		of = func(iv vec.Interval) int64 { return iv.Micros / datetime.Hour }
	case isTime && g == fieldMinute:
		bound.Type = types.Byte
		of = func(iv vec.Interval) int64 { return iv.Micros / datetime.Minute % 60 }
	case isTime && g == fieldSecond:
		bound.Type = types.DecimalType{Precision: 8, Scale: 6}
		of = func(iv vec.Interval) int64 { return iv.Micros % datetime.Minute }
	default:
		return nil
	}
	k := kindOf(b.Args[1].Type)
	if k == kYearMonth && !(isDate && (f == fieldYear || f == fieldMonth)) || k == kDayTime && isDate && f != fieldDay {
		return nil
	}
	bound.New = func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			for i := range n {
				var iv vec.Interval
				switch k {
				case kYearMonth:
					iv.Months = vec.At[int32](args[1], i)
				case kDayTime:
					micros := vec.At[int64](args[1], i)
					iv.Days, iv.Micros = int32(micros/datetime.Day), micros%datetime.Day
				default:
					iv = vec.At[vec.Interval](args[1], i)
				}
				if out.Phys() == vec.PhysInt64 && bound.Type != types.DataType(types.Long) {
					storeDecimal(out, i, decimal.FromInt64(of(iv)))
				} else {
					storeInt(out, i, of(iv))
				}
			}
			return out
		}
	}
	return bound
}

func bindLastDay(b *Binding) (*Bound, error) {
	bound, err := bindDateField(b, 0, 1, fieldDay)
	if err != nil {
		return nil, err
	}
	bound.Type = types.Date
	bound.New = func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int32](args[0]), vec.Fixed[int32](out)
			for k, days := range x {
				y, m, d := datetime.Civil(int64(days))
				dst[k] = days + int32(datetime.MonthLength(y, m)-d)
			}
			return out
		}
	}
	return bound, nil
}
