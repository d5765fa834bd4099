package fn

import (
	"bytes"
	"math"
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func shiftFunctions() []*Function {
	days := func(name string, sign int32, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindAddDays(b, sign) }}
	}
	zone := func(name string, toUTC bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindUTC(b, toUTC) }}
	}
	return []*Function{
		days("date_add", 1), days("date_sub", -1),
		{Name: "dateadd", Bind: bindDateAdd},
		{Name: "date_diff", Aliases: []string{"datediff"}, Bind: bindDateDiff},
		{Name: "timestampadd", Bind: bindTimestampAdd},
		{Name: "timestampdiff", Bind: bindTimestampDiff},
		{Name: "add_months", Bind: bindAddMonths},
		{Name: "months_between", Bind: bindMonthsBetween},
		{Name: "next_day", Bind: bindNextDay},
		zone("from_utc_timestamp", false), zone("to_utc_timestamp", true),
		{Name: "convert_timezone", Bind: bindConvertTimezone},
	}
}

func bindAddDays(b *Binding, sign int32) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	if days := &b.Args[1]; !b.ANSI && isText(days.Type) && days.Const != nil && !days.Const.IsNull(0) { // Spark makes a number of it at once
		if n, ok := numtext.ParseInt(bytes.TrimSpace(days.Const.BytesAt(0)), false); !ok || n != int64(int32(n)) {
			return nil, errclass.New("SECOND_FUNCTION_ARGUMENT_NOT_INTEGER", "functionName", b.Name)
		}
		c, err := b.Accept(date)
		if err != nil {
			return nil, err
		}
		c[1] = types.Integer
		return addDaysBound(c, b.argNullable(c, 0), sign), nil
	}
	number := smallInt
	number.strict = !b.ANSI && b.Args[1].Const == nil // a text must be a constant to be taken for a number
	c, err := b.Accept(date, number)
	if err != nil {
		return nil, err
	}
	if c[1] == nil && !types.Equal(b.Args[1].Type, types.Integer) {
		c[1] = types.Integer
	}
	return addDaysBound(c, b.nullable(c), sign), nil
}

func addDaysBound(c []types.DataType, null bool, sign int32) *Bound {
	return &Bound{Args: c, Type: types.Date, Nullable: null, TakesConst: true, New: func() Kernel {
		var sx []int32
		add := addDays(sign)
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			if args[0].Encoding() == vec.Const {
				out.ResetFixed(n)
				x, y, dst := flat(args[0], n, &sx), vec.Fixed[int32](args[1]), vec.Fixed[int32](out)
				for i := range dst {
					dst[i] = x[i] + sign*y[min(i, len(y)-1)]
				}
				return out
			}
			return add(e, n, args, out)
		}
	}}
}

// bindDateAdd binds dateadd(date, days) and dateadd(unit, n, time).
func bindDateAdd(b *Binding) (*Bound, error) {
	if len(b.Args) == 3 {
		return bindTimestampAdd(b)
	}
	return bindAddDays(b, 1)
}

// bindDateDiff binds datediff(end, start) in days and datediff(unit, start, end).
func bindDateDiff(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(date, date)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Integer, Nullable: b.nullable(c), New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, y, dst := vec.Fixed[int32](args[0]), vec.Fixed[int32](args[1]), vec.Fixed[int32](out)
			dst, y = dst[:len(x)], y[:len(x)]
			for i := range x {
				dst[i] = x[i] - y[i]
			}
			return out
		}
	}}, nil
}

func bindAddMonths(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(date, integer)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Date, Nullable: b.nullable(c), New: func() Kernel { return dateAddMonths(1) }}, nil
}

// bindMonthsBetween counts months of 31 days; two last days of months, and equal days of the month, make whole months.
func bindMonthsBetween(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	half := boolean
	half.strict = !b.ANSI
	c, err := b.Accept(timestamp, timestamp, half)
	if err != nil {
		return nil, err
	}
	zone := b.Zone
	return &Bound{Args: c, Type: types.Double, Nullable: b.nullable(c), New: func() Kernel {
		z := datetime.NewZone(zone)
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, y, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](args[1]), vec.Fixed[float64](out)
			for i := range dst {
				round := len(args) < 3 || vec.Fixed[uint8](args[2])[i] != 0
				dst[i] = monthsBetween(z.Local(x[i]), z.Local(y[i]), round)
			}
			return out
		}
	}}, nil
}

func monthsBetween(x, y int64, round bool) float64 {
	dx, dy := datetime.FloorDiv(x, datetime.Day), datetime.FloorDiv(y, datetime.Day)
	y1, m1, d1 := datetime.Civil(dx)
	y2, m2, d2 := datetime.Civil(dy)
	months := float64((y1-y2)*12 + m1 - m2)
	if d1 == d2 || d1 == datetime.MonthLength(y1, m1) && d2 == datetime.MonthLength(y2, m2) {
		return months
	}
	seconds := int64(d1-d2)*86400 + (x-dx*datetime.Day)/datetime.Second - (y-dy*datetime.Day)/datetime.Second
	diff := months + float64(seconds)/(31*86400)
	if round {
		return math.Round(diff*1e8) / 1e8
	}
	return diff
}

var weekdays = map[string]int{
	"MO": 0, "MON": 0, "MONDAY": 0, "TU": 1, "TUE": 1, "TUESDAY": 1, "WE": 2, "WED": 2, "WEDNESDAY": 2, "TH": 3, "THU": 3, "THURSDAY": 3,
	"FR": 4, "FRI": 4, "FRIDAY": 4, "SA": 5, "SAT": 5, "SATURDAY": 5, "SU": 6, "SUN": 6, "SUNDAY": 6,
}

func bindNextDay(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(date, text)
	if err != nil {
		return nil, err
	}
	mode := b.Mode()
	return &Bound{Args: c, Type: types.Date, Nullable: true, CanFail: mode == expr.Raise, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int32](args[0]), vec.Fixed[int32](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				name := args[1].StringAt(i)
				day, ok := weekdays[strings.ToUpper(strings.TrimSpace(name))]
				if !ok {
					fails(e, out, mode, i, func() error { return errclass.New("ILLEGAL_DAY_OF_WEEK", "string", strings.Clone(name)) })
					continue
				}
				ahead := day - datetime.Weekday(int64(x[i]))
				if ahead <= 0 {
					ahead += 7
				}
				dst[i] = x[i] + int32(ahead)
			}
			return out
		}
	}}, nil
}

// zoneCache looks zones up, mostly the same one row after row.
type zoneCache struct {
	text string
	zone *datetime.Zone
	ok   bool
}

func (c *zoneCache) get(s string) (*datetime.Zone, bool) {
	if c.zone == nil && !c.ok || c.text != s {
		c.text = strings.Clone(s)
		loc, ok := datetime.ParseZone(c.text)
		c.zone, c.ok = datetime.NewZone(loc), ok
	}
	return c.zone, c.ok
}

func unknownZone(name string) error {
	return errclass.New("INVALID_TIMEZONE", "timeZone", strings.Clone(name))
}

// bindUTC binds the two functions that shift a timestamp by the offset of a zone.
func bindUTC(b *Binding, toUTC bool) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(timestamp, text)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Timestamp, Nullable: b.nullable(c), TakesConst: true, CanFail: true, New: func() Kernel {
		var cache zoneCache
		var sx []int64
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := flat(args[0], n, &sx), vec.Fixed[int64](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				z, ok := cache.get(args[1].StringAt(i))
				switch {
				case !ok:
					e.Errs.Add(i, unknownZone(args[1].StringAt(i)))
				case toUTC:
					dst[i] = z.Instant(x[i])
				default:
					dst[i] = z.Local(x[i])
				}
			}
			return out
		}
	}}, nil
}

// bindConvertTimezone binds convert_timezone([from,] to, time), over times without a zone.
func bindConvertTimezone(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	want := []Accept{text, text, only(types.TimestampNTZ)}
	c, err := b.Accept(want[3-len(b.Args):]...)
	if err != nil {
		return nil, err
	}
	zone, last := b.Zone, len(b.Args)-1
	return &Bound{Args: c, Type: types.TimestampNTZ, Nullable: b.nullable(c), CanFail: true, New: func() Kernel {
		session := datetime.NewZone(zone)
		var from, to zoneCache
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[int64](args[last]), vec.Fixed[int64](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				src, ok := session, true
				if last == 2 {
					if src, ok = from.get(args[0].StringAt(i)); !ok {
						e.Errs.Add(i, unknownZone(args[0].StringAt(i)))
						continue
					}
				}
				dest, ok := to.get(args[last-1].StringAt(i))
				if !ok {
					e.Errs.Add(i, unknownZone(args[last-1].StringAt(i)))
					continue
				}
				dst[i] = dest.Local(src.Instant(x[i]))
			}
			return out
		}
	}}, nil
}

// span is a unit of timestampadd: months, days or microseconds.
type span struct{ months, days, micros int64 }

var addUnits = map[string]span{
	"MICROSECOND": {micros: 1}, "MILLISECOND": {micros: datetime.Millisecond}, "SECOND": {micros: datetime.Second},
	"MINUTE": {micros: datetime.Minute}, "HOUR": {micros: datetime.Hour}, "DAY": {days: 1}, "DAYOFYEAR": {days: 1}, "WEEK": {days: 7},
	"MONTH": {months: 1}, "QUARTER": {months: 3}, "YEAR": {months: 12},
}

// unit is the constant unit that is the first argument.
func (b *Binding) unit() (span, error) {
	v := b.Args[0].Const
	if v != nil && isText(b.Args[0].Type) && !v.IsNull(0) {
		if s, ok := addUnits[strings.ToUpper(v.StringAt(0))]; ok {
			return s, nil
		}
	}
	return span{}, errclass.New("INVALID_PARAMETER_VALUE.DATETIME_UNIT", "functionName", "`"+b.Name+"`", "parameter", "`unit`",
		"invalidValue", b.Args[0].SQL)
}

func bindTimestampAdd(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 3); err != nil {
		return nil, err
	}
	u, err := b.unit()
	if err != nil {
		return nil, err
	}
	c, err := b.Accept(text, bigint, anyTimestamp)
	if err != nil {
		return nil, err
	}
	t, zone := b.result(c, 2), b.Zone
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), CanFail: true, New: func() Kernel {
		z := localZone(t, zone)
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			by, x, dst := vec.Fixed[int64](args[1]), vec.Fixed[int64](args[2]), vec.Fixed[int64](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				if by[i] != int64(int32(by[i])) && u.micros == 0 || mul64Overflows(by[i], max(u.micros, 1)) {
					e.Errs.Add(i, timestampOverflow())
					continue
				}
				dst[i] = addCalendar(e, out, z, expr.Raise, i, x[i], by[i]*u.months, by[i]*u.days, by[i]*u.micros)
			}
			return out
		}
	}}, nil
}

func bindTimestampDiff(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 3); err != nil {
		return nil, err
	}
	u, err := b.unit()
	if err != nil {
		return nil, err
	}
	c, err := b.Accept(text, timestamp, timestamp)
	if err != nil {
		return nil, err
	}
	zone := b.Zone
	return &Bound{Args: c, Type: types.Long, Nullable: b.nullable(c), New: func() Kernel {
		z := datetime.NewZone(zone)
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, y, dst := vec.Fixed[int64](args[1]), vec.Fixed[int64](args[2]), vec.Fixed[int64](out)
			for i := range dst {
				dst[i] = u.between(z.Local(x[i]), z.Local(y[i]))
			}
			return out
		}
	}}, nil
}

// between counts the whole units from one local time to another.
func (u span) between(from, to int64) int64 {
	if u.months == 0 {
		return (to - from) / (u.days*datetime.Day + u.micros)
	}
	df, dt := datetime.FloorDiv(from, datetime.Day), datetime.FloorDiv(to, datetime.Day)
	y1, m1, d1 := datetime.Civil(df)
	y2, m2, d2 := datetime.Civil(dt)
	months := int64(y2-y1)*12 + int64(m2-m1)
	restF, restT := int64(d1)*datetime.Day+from-df*datetime.Day, int64(d2)*datetime.Day+to-dt*datetime.Day
	if months > 0 && restT < restF {
		months--
	} else if months < 0 && restT > restF {
		months++
	}
	return months / u.months
}
