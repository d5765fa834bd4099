package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// level is what a time is truncated to.
type level uint8

const (
	noLevel level = iota
	toMicrosecond
	toMillisecond
	toSecond
	toMinute
	toHour
	toDay
	toWeek
	toMonth
	toQuarter
	toYear
)

var levels = map[string]level{
	"MICROSECOND": toMicrosecond, "MILLISECOND": toMillisecond, "SECOND": toSecond, "MINUTE": toMinute, "HOUR": toHour,
	"DAY": toDay, "DD": toDay, "WEEK": toWeek, "MON": toMonth, "MONTH": toMonth, "MM": toMonth, "QUARTER": toQuarter,
	"YEAR": toYear, "YYYY": toYear, "YY": toYear,
}

func truncFunctions() []*Function {
	return []*Function{{Name: "date_trunc", Bind: bindDateTrunc}, {Name: "trunc", Bind: bindTrunc}}
}

// levelCache looks levels up, mostly the same one row after row.
type levelCache struct {
	text  string
	level level
	known bool
}

func (c *levelCache) get(s string) level {
	if !c.known || c.text != s {
		c.text, c.known = strings.Clone(s), true
		c.level = levels[strings.ToUpper(s)]
	}
	return c.level
}

// namesLevel tells whether a text is the name of a level, the lowest or a higher one. What would be truncated to any other is not looked at.
func namesLevel(lowest level) func(v *vec.Vector, row int) bool {
	return func(v *vec.Vector, row int) bool { return levels[strings.ToUpper(v.StringAt(row))] >= lowest }
}

// bindDateTrunc binds date_trunc(level, timestamp). An unknown level gives null.
func bindDateTrunc(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(text, timestamp)
	if err != nil {
		return nil, err
	}
	zone := b.Zone
	return &Bound{Args: c, Type: types.Timestamp, Nullable: true, TakesConst: true, Needs: namesLevel(toMicrosecond), New: func() Kernel {
		z := datetime.NewZone(zone)
		var cache levelCache
		var sx []int64
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := flat(args[1], n, &sx), vec.Fixed[int64](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				l := cache.get(args[0].StringAt(i))
				if l == noLevel {
					setNull(out, i)
					continue
				}
				dst[i] = truncMicros(x[i], l, z)
			}
			return out
		}
	}}, nil
}

func truncMicros(micros int64, l level, z *datetime.Zone) int64 {
	switch l {
	case toMicrosecond:
		return micros
	case toMillisecond:
		return micros - datetime.FloorMod(micros, datetime.Millisecond)
	case toSecond:
		return micros - datetime.FloorMod(micros, datetime.Second)
	case toMinute, toHour:
		unit := int64(datetime.Minute)
		if l == toHour {
			unit = datetime.Hour
		}
		off := z.Offset(micros)
		local := micros + off
		return local - datetime.FloorMod(local, unit) - off
	}
	local := z.Local(micros)
	days := datetime.FloorDiv(local, datetime.Day)
	return z.Instant(truncDays(days, l) * datetime.Day)
}

func truncDays(days int64, l level) int64 {
	switch l {
	case toDay:
		return days
	case toWeek:
		return days - int64(datetime.Weekday(days))
	}
	y, m, _ := datetime.Civil(days)
	switch l {
	case toQuarter:
		m = (m-1)/3*3 + 1
	case toYear:
		m = 1
	}
	return datetime.DaysOf(int64(y), int64(m), 1)
}

// bindTrunc binds trunc(date, level). Levels below the week give null.
func bindTrunc(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(date, text)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Date, Nullable: true, TakesConst: true, First: 1, Needs: namesLevel(toWeek), New: func() Kernel {
		var cache levelCache
		var sx []int32
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := flat(args[0], n, &sx), vec.Fixed[int32](out)
			for i := range dst {
				if anyNull(args, i) {
					continue
				}
				l := cache.get(args[1].StringAt(i))
				if l < toWeek {
					setNull(out, i)
					continue
				}
				dst[i] = int32(truncDays(int64(x[i]), l))
			}
			return out
		}
	}}, nil
}
