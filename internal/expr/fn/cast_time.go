package fn

import (
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// fromTime casts dates, timestamps and times of day.
func (c castEnv) fromTime(from, to types.DataType) Kernel {
	switch f, t := kindOf(from), kindOf(to); {
	case f == kDate && t == kTimestamp:
		return dateToMicros(datetime.NewZone(c.zone))
	case f == kDate && t == kNTZ:
		return dateToMicros(datetime.NewZone(nil))
	case f == kDate:
		return func(_ *expr.Eval, n int, _ []*vec.Vector, _ *vec.Vector) *vec.Vector { return vec.NewNulls(to, n) } // legacy: date as number
	case f == kTimestamp && t == kDate:
		return microsToDate(datetime.NewZone(c.zone))
	case f == kNTZ && t == kDate:
		return microsToDate(datetime.NewZone(nil))
	case f == kTimestamp && t == kNTZ:
		return shiftMicros(datetime.NewZone(c.zone), (*datetime.Zone).Local)
	case f == kNTZ && t == kTimestamp:
		return shiftMicros(datetime.NewZone(c.zone), (*datetime.Zone).Instant)
	case f == kTime && t == kTime:
		return truncateNanos(to.(types.TimeType).Precision)
	case f == kTimestamp && t == kBool:
		return notZero[int64]
	case f == kTimestamp && t == kFloat:
		return microsToSeconds
	case f == kTimestamp && t == kDecimal:
		return c.scaledToDecimal(6, to.(types.DecimalType))
	case f == kTimestamp && t == kInt:
		return c.unitsToInt(from, to, 1e6, true)
	case f == kTime && t == kInt:
		return c.unitsToInt(from, to, 1e9, true)
	case f == kTime && t == kDecimal:
		return c.scaledToDecimal(9, to.(types.DecimalType))
	}
	return retype(to)
}

// dateToMicros gives midnight of a day. Spark fails for days whose microseconds do not fit; such days are some 290 000 years away.
func dateToMicros(z *datetime.Zone) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[int32](args[0]), vec.Fixed[int64](out)
		dst = dst[:len(x)]
		for i := range x {
			dst[i] = int64(x[i]) * datetime.Day
		}
		if !z.IsUTC() {
			for i := range dst {
				dst[i] = z.Instant(dst[i])
			}
		}
		return out
	}
}

func microsToDate(z *datetime.Zone) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		x, dst := vec.Fixed[int64](args[0]), vec.Fixed[int32](out)
		dst = dst[:len(x)]
		if z.IsUTC() {
			for i := range x {
				dst[i] = int32(datetime.FloorDiv(x[i], datetime.Day))
			}
			return out
		}
		for i := range x {
			dst[i] = int32(datetime.FloorDiv(z.Local(x[i]), datetime.Day))
		}
		return out
	}
}

func shiftMicros(z *datetime.Zone, shift func(*datetime.Zone, int64) int64) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		if z.IsUTC() {
			return args[0].WithType(out.Type())
		}
		out.ResetFixed(n)
		x, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](out)
		for i := range x {
			dst[i] = shift(z, x[i])
		}
		return out
	}
}

// truncateNanos cuts a time of day off behind some digits.
func truncateNanos(precision int) Kernel {
	unit := int64(1e9)
	for range precision {
		unit /= 10
	}
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[int64](out)
		for i, x := range vec.Fixed[int64](args[0]) {
			dst[i] = x - x%unit
		}
		return out
	}
}

func microsToSeconds(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	for i, x := range vec.Fixed[int64](args[0]) {
		f := float64(x) / 1e6
		if out.Phys() == vec.PhysFloat32 {
			vec.Fixed[float32](out)[i] = float32(f)
		} else {
			vec.Fixed[float64](out)[i] = f
		}
	}
	return out
}

// scaledToDecimal casts an integer that counts parts of 10^-scale.
func (c castEnv) scaledToDecimal(scale int, t types.DecimalType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i, x := range vec.Fixed[int64](args[0]) {
			if args[0].IsNull(i) {
				continue
			}
			d, ok := decimal.Rescale(decimal.FromInt64(x), scale, t.Scale, t.Precision)
			if !ok {
				c.fail(e, out, i, func() error { return outOfRange(decimal.String(decimal.FromInt64(x), scale), t) })
				continue
			}
			storeDecimal(out, i, d)
		}
		return out
	}
}

// unitsToInt divides by a unit, rounding down or towards zero.
func (c castEnv) unitsToInt(from, to types.DataType, unit int64, floor bool) Kernel {
	write := c.literal(from)
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		bits := uint(64 - 8*out.Phys().Width())
		v := args[0]
		for i := range n {
			if v.IsNull(i) {
				continue
			}
			var x int64
			if v.Phys() == vec.PhysInt32 {
				x = int64(vec.At[int32](v, i))
			} else {
				x = vec.At[int64](v, i)
			}
			q := x / unit
			if floor {
				q = datetime.FloorDiv(x, unit)
			}
			if q<<bits>>bits != q {
				c.fail(e, out, i, func() error { return castOverflow(string(write(nil, v, i)), from, to) })
				continue
			}
			storeInt(out, i, q)
		}
		return out
	}
}

// literal prints a value as SQL would write it.
func (c castEnv) literal(t types.DataType) textWriter {
	write := c.writer(t)
	switch t.(type) {
	case types.TimestampType:
		return func(b []byte, v *vec.Vector, i int) []byte {
			return append(write(append(b, "TIMESTAMP '"...), v, i), '\'')
		}
	case types.TimeType:
		return func(b []byte, v *vec.Vector, i int) []byte { return append(write(append(b, "TIME '"...), v, i), '\'') }
	}
	return write
}

// fromInterval casts ANSI intervals.
func (c castEnv) fromInterval(from, to types.DataType) Kernel {
	if c.mode == CastLegacy { // what does not fit fails in that mode, too
		c.mode = CastANSI
	}
	unit, scale := int64(1), 0
	switch f := from.(type) {
	case types.DayTimeIntervalType:
		if t, ok := to.(types.DayTimeIntervalType); ok {
			return truncateMicros(dayTimeUnits[t.End], t.End == types.SecondField)
		}
		unit = dayTimeUnits[f.End]
		scale = 6
	case types.YearMonthIntervalType:
		if t, ok := to.(types.YearMonthIntervalType); ok {
			return truncateMonths(t.End == types.YearField)
		}
		if f.End == types.YearField {
			unit = 12
		}
	}
	if d, ok := to.(types.DecimalType); ok {
		return c.intervalToDecimal(d, unit, scale)
	}
	return c.unitsToInt(from, to, unit, false)
}

func truncateMicros(unit int64, whole bool) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		if whole {
			return args[0].WithType(out.Type())
		}
		out.ResetFixed(n)
		x, dst := vec.Fixed[int64](args[0]), vec.Fixed[int64](out)
		for i := range x {
			dst[i] = x[i] - x[i]%unit
		}
		return out
	}
}

func truncateMonths(years bool) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		if !years {
			return args[0].WithType(out.Type())
		}
		out.ResetFixed(n)
		x, dst := vec.Fixed[int32](args[0]), vec.Fixed[int32](out)
		for i := range x {
			dst[i] = x[i] - x[i]%12
		}
		return out
	}
}

func (c castEnv) intervalToDecimal(t types.DecimalType, unit int64, scale int) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		v := args[0]
		for i := range n {
			if v.IsNull(i) {
				continue
			}
			var x int64
			if v.Phys() == vec.PhysInt32 {
				x = int64(vec.At[int32](v, i))
			} else {
				x = vec.At[int64](v, i)
			}
			digits := scale
			if unit != 1e6 || scale != 6 {
				x, digits = x/unit, 0
			}
			d, ok := decimal.Rescale(decimal.FromInt64(x), digits, t.Scale, t.Precision)
			if !ok {
				c.fail(e, out, i, func() error { return outOfRange(decimal.String(decimal.FromInt64(x), digits), t) })
				continue
			}
			storeDecimal(out, i, d)
		}
		return out
	}
}
