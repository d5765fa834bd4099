package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// fromText casts a string.
func (c castEnv) fromText(to types.DataType) Kernel {
	switch t := to.(type) {
	case types.BinaryType:
		return retype(to)
	case types.BooleanType:
		return parseRows(c, to, func(s []byte) (uint8, bool) {
			b, ok := numtext.ParseBool(s)
			return b2u(b), ok
		})
	case types.ByteType:
		return parseInts[int8](c, to)
	case types.ShortType:
		return parseInts[int16](c, to)
	case types.IntegerType:
		return parseInts[int32](c, to)
	case types.LongType:
		return parseInts[int64](c, to)
	case types.FloatType:
		return parseRows(c, to, func(s []byte) (float32, bool) {
			f, ok := numtext.ParseFloat(s, 32)
			return float32(f), ok
		})
	case types.DoubleType:
		return parseRows(c, to, func(s []byte) (float64, bool) { return numtext.ParseFloat(s, 64) })
	case types.DecimalType:
		return c.parseDecimals(t)
	case types.DateType:
		return parseRows(c, to, datetime.ParseDate)
	case types.TimestampType:
		z := datetime.NewZone(c.zone)
		return c.parseTimestamps(z)
	case types.TimestampNTZType:
		return parseRows(c, to, parseNTZ)
	case types.TimeType:
		return parseRows(c, to, func(s []byte) (int64, bool) {
			m, ok := datetime.ParseTimeOfDay(s)
			return m * 1000, ok
		})
	case types.CalendarIntervalType:
		return parseRows(castEnv{mode: CastTry}, to, func(s []byte) (vec.Interval, bool) {
			iv, err := interval.Parse(string(s))
			return vec.Interval(iv), err == nil
		})
	case types.DayTimeIntervalType:
		return parseIntervals(c, to, func(s string) (int64, bool) { return interval.ParseDayTime(s, t.Start, t.End) })
	case types.YearMonthIntervalType:
		return parseIntervals(c, to, func(s string) (int32, bool) { return interval.ParseYearMonth(s, t.Start, t.End) })
	}
	return retype(to)
}

// parseRows reads each string with parse.
func parseRows[T vec.FixedWidth](c castEnv, to types.DataType, parse func([]byte) (T, bool)) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		v := args[0]
		spans, buf, valid := v.Spans(), v.Bytes(), v.Validity()
		for i := range dst {
			if !valid.Get(i) {
				continue
			}
			s := spans[i]
			x, ok := parse(buf[s.Off : s.Off+s.Len])
			if !ok {
				c.fail(e, out, i, func() error { return invalidInput(quoteText(string(v.BytesAt(i))), types.String, to) })
				continue
			}
			dst[i] = x
		}
		return out
	}
}

func parseIntervals[T vec.FixedWidth](c castEnv, to types.DataType, parse func(string) (T, bool)) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		for i := range dst {
			if args[0].IsNull(i) {
				continue
			}
			x, ok := parse(args[0].StringAt(i))
			if !ok {
				if c.mode == CastTry {
					setNull(out, i)
				} else {
					e.Errs.Add(i, intervalFormat(string(args[0].BytesAt(i)), to))
				}
				continue
			}
			dst[i] = x
		}
		return out
	}
}

func intervalFormat(input string, to types.DataType) error {
	family, format := "day-time", "`[+|-]d h:m:s.n`"
	if kindOf(to) == kYearMonth {
		family, format = "year-month", "`[+|-]y-m`"
	}
	format += ", `INTERVAL [+|-]'...' " + strings.TrimPrefix(to.SQL(), "INTERVAL ") + "`"
	class := "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING"
	if family == "day-time" {
		class += "_WITH_NOTICE"
	}
	return errclass.New(class, "input", input, "intervalStr", family,
		"typeName", to.SimpleString(), "supportedFormat", format)
}

func trimBlanks(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// parseInts reads integers. Outside of ANSI mode digits behind a point are cut off.
func parseInts[T signed](c castEnv, to types.DataType) Kernel {
	fraction := c.mode == CastLegacy
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		v := args[0]
		spans, buf, valid := v.Spans(), v.Bytes(), v.Validity()
		for i := range dst {
			if !valid.Get(i) {
				continue
			}
			s := spans[i]
			x, ok := numtext.ParseInt(buf[s.Off:s.Off+s.Len], fraction)
			if !ok || int64(T(x)) != x {
				c.fail(e, out, i, func() error { return invalidInput(quoteText(string(v.BytesAt(i))), types.String, to) })
				continue
			}
			dst[i] = T(x)
		}
		return out
	}
}

func (c castEnv) parseDecimals(t types.DecimalType) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i := range n {
			if args[0].IsNull(i) {
				continue
			}
			s := args[0].BytesAt(i)
			d, st := decimal.Parse(s, t.Precision, t.Scale)
			switch st {
			case decimal.OK:
				storeDecimal(out, i, d)
			case decimal.Invalid:
				c.fail(e, out, i, func() error { return invalidInput(quoteText(string(s)), types.String, t) })
			case decimal.TooBig:
				c.fail(e, out, i, func() error { return tooManyDigits(string(trimBlanks(s)), t) })
			}
		}
		return out
	}
}

// tooManyDigits is the error of a number in a text that does not fit its decimal type, or none at all.
func tooManyDigits(s string, t types.DecimalType) error {
	plain, ok := types.ParseDecimal(s)
	if !ok || plain.Sign() == 0 {
		return errclass.New("NUMERIC_OUT_OF_SUPPORTED_RANGE", "value", s)
	}
	return outOfRange(plain.String(), t)
}

// parseTimestamps reads timestamps. A time without a date is one of the day on which the batch runs.
func (c castEnv) parseTimestamps(z *datetime.Zone) Kernel {
	var now int64
	parse := parseRows(c, types.Timestamp, func(s []byte) (int64, bool) { return parseTimestamp(s, z, now) })
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		if e.Batch != nil && e.Batch.Now != 0 {
			now = e.Batch.Now
		} else {
			for i := range n { // where constants are folded there is no today
				if t, ok := datetime.ParseText(args[0].BytesAt(i)); ok && !t.HasDate && !args[0].IsNull(i) {
					e.Errs.Add(i, errclass.New("INTERNAL_ERROR", "message", "a time without a date is no constant"))
				}
			}
		}
		return parse(e, n, args, out)
	}
}

func parseTimestamp(s []byte, z *datetime.Zone, now int64) (int64, bool) {
	t, ok := datetime.ParseText(s)
	if !ok {
		return 0, false
	}
	if t.HasZone {
		loc, ok := datetime.ParseZone(t.Zone)
		if !ok {
			return 0, false
		}
		z = datetime.NewZone(loc)
	}
	if !t.HasDate {
		today := z.Local(now)
		return z.Instant(today - datetime.FloorMod(today, datetime.Day) + t.Local), true
	}
	return z.Instant(t.Local), true
}

func parseNTZ(s []byte) (int64, bool) {
	t, ok := datetime.ParseText(s)
	return t.Local, ok && t.HasDate
}
