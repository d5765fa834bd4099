package fn

import (
	"strings"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func datetimeTextFunctions() []*Function {
	parse := func(name string, to types.DataType, try bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindParse(b, to, try) }}
	}
	unix := func(name string) *Function { return &Function{Name: name, Bind: bindUnixTimestamp} }
	return []*Function{
		{Name: "date_format", Bind: bindDateFormat},
		{Name: "from_unixtime", Bind: bindFromUnixtime},
		parse("to_timestamp", types.Timestamp, false), parse("try_to_timestamp", types.Timestamp, true),
		parse("to_timestamp_ntz", types.TimestampNTZ, false), parse("to_timestamp_ltz", types.Timestamp, false),
		parse("to_date", types.Date, false), parse("try_to_date", types.Date, true),
		unix("unix_timestamp"), unix("to_unix_timestamp"),
	}
}

const defaultPattern = "yyyy-MM-dd HH:mm:ss"

// patterns compiles patterns, mostly the same one row after row.
type patterns struct {
	parsing bool
	text    string
	known   bool
	pattern *datetime.Pattern
	err     error
}

func (p *patterns) get(s string) (*datetime.Pattern, error) {
	if !p.known || p.text != s {
		p.text, p.known = strings.Clone(s), true
		p.pattern, p.err = datetime.Compile(s, p.parsing)
	}
	return p.pattern, p.err
}

// bindDateFormat binds date_format(timestamp, pattern).
func bindDateFormat(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(timestamp, text)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: c, Type: types.String, Nullable: b.nullable(c), TakesConst: true, CanFail: true,
		New: func() Kernel { return formatKernel(b.Zone, 1, 1) },
	}, nil
}

// bindFromUnixtime binds from_unixtime(seconds[, pattern]).
func bindFromUnixtime(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(bigint, text)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: c, Type: types.String, Nullable: true, TakesConst: true, CanFail: true,
		New: func() Kernel { return formatKernel(b.Zone, datetime.Second, len(c)-1) },
	}, nil
}

// formatKernel prints times given in units of some microseconds; the pattern is argument 1, or the default when pattern is 0.
func formatKernel(zone *time.Location, unit int64, pattern int) Kernel {
	z := datetime.NewZone(zone)
	cache := &patterns{}
	var sx []int64
	var buf []byte
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		spans := out.ResetBytes(n, nil)
		x := flat(args[0], n, &sx)
		buf = buf[:0]
		for i := range spans {
			at := len(buf)
			if !anyNull(args, i) {
				text := defaultPattern
				if pattern > 0 {
					text = args[1].StringAt(i)
				}
				p, err := cache.get(text)
				if err != nil {
					e.Errs.Add(i, err)
				} else {
					buf = p.Append(buf, x[i]*unit, z)
				}
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
		}
		out.SetBytes(buf)
		return out
	}
}

// parseMode is Null for the try_ functions and outside of ANSI mode.
func parseMode(b *Binding, try bool) expr.Mode {
	if try {
		return expr.Null
	}
	return b.Mode()
}

// bindParse binds to_timestamp and its kin: a cast, or with a pattern the reading of a text.
func bindParse(b *Binding, to types.DataType, try bool) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	in := b.Args[0].Type
	if len(b.Args) == 1 {
		if !isText(in) && !isDateTime(in) && (isAtomic(in) || b.ANSI && kindOf(in) == kCalendar) && !(kindOf(to) == kTimestamp && IsNumeric(in)) {
			// It is read as the text of what it is.
			as := *b
			as.Args = []Arg{{Type: types.String, Nullable: b.Args[0].Nullable, SQL: b.Args[0].SQL}}
			bound, err := bindAsCast(&as, to, try)
			if err == nil {
				bound.Args = []types.DataType{types.String}
			}
			return bound, err
		}
		return bindAsCast(b, to, try)
	}
	if isDateTime(in) {
		c, err := b.Accept(anyType, text)
		if err != nil {
			return nil, err
		}
		return &Bound{
			Args: c, Type: to, Nullable: b.nullable(c), NullsAreArgs: true, New: func() Kernel { return ofFirst(instants(in, to, b.Zone)) },
		}, nil
	}
	c, err := b.Accept(Accept{
		name: `("STRING" or "DATE" or "TIMESTAMP" or "TIMESTAMP_NTZ")`, has: isText, to: []types.DataType{types.String},
	}, text)
	if err != nil {
		return nil, err
	}
	mode := parseMode(b, try)
	bound := &Bound{Args: c, Type: to, Nullable: mode == expr.Null || b.nullable(c), TakesConst: true, CanFail: true}
	zone := b.Zone
	bound.New = func() Kernel {
		z, instead := localZone(to, zone), "`try_to_timestamp`"
		if kindOf(to) == kDate {
			z, instead = datetime.NewZone(zone), "`try_to_date`"
		}
		return parseKernel(mode, instead, func(out *vec.Vector, i int, instant int64) {
			if kindOf(to) == kDate {
				vec.Fixed[int32](out)[i] = int32(datetime.FloorDiv(z.Local(instant), datetime.Day))
			} else {
				vec.Fixed[int64](out)[i] = instant
			}
		}, z, 1)
	}
	return bound, nil
}

// ofFirst is null where the first argument is, whatever the others are.
func ofFirst(k Kernel) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out = k(e, n, args, out)
		for i := range n {
			if args[0].IsNull(i) {
				setNull(out, i)
			}
		}
		return out
	}
}

// instants gives the microseconds of dates and timestamps another type. The clock of a timestamp without time zone is taken for one of
// UTC, and the other way round.
func instants(from, to types.DataType, zone *time.Location) Kernel {
	z := datetime.NewZone(zone)
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i := range n {
			var micros int64
			if kindOf(from) == kDate {
				micros = z.Instant(int64(vec.At[int32](args[0], i)) * datetime.Day)
			} else {
				micros = vec.At[int64](args[0], i)
			}
			if kindOf(to) == kDate {
				micros = datetime.FloorDiv(z.Local(micros), datetime.Day)
			}
			storeInt(out, i, micros)
		}
		return out
	}
}

// bindAsCast binds a function of one argument that is a cast by another name.
func bindAsCast(b *Binding, to types.DataType, try bool) (*Bound, error) {
	mode := CastLegacy
	switch {
	case try: // null where it fails, and nullable as outside of ANSI mode
		mode = CastLegacy
	case b.ANSI:
		mode = CastANSI
	}
	from := b.Args[0].Type
	if kindOf(from) == kVariant && mode == CastLegacy {
		mode = CastTry // other casts of variants fail in every mode
	}
	if err := CheckCast(from, to, mode, CallSQL(b.Name, b.Args)); err != nil {
		return nil, err
	}
	bound, err := BindCast(from, to, mode, b.Zone)
	if err != nil {
		return nil, err
	}
	bound.Nullable = CastNullable(from, to, mode, b.Args[0].Nullable)
	return bound, nil
}

// parseKernel reads texts by a pattern: argument 1, or the default when pattern is 0. A bad pattern is an error in every mode. instead is
// the function that messages recommend.
func parseKernel(mode expr.Mode, instead string, store func(out *vec.Vector, i int, instant int64), z *datetime.Zone, pattern int) Kernel {
	cache := &patterns{parsing: true}
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		for i := range n {
			if anyNull(args, i) {
				continue
			}
			text := defaultPattern
			if pattern > 0 {
				text = args[1].StringAt(i)
			}
			p, err := cache.get(text)
			if err != nil {
				e.Errs.Add(i, err)
				continue
			}
			instant, ok := p.Parse(args[0].BytesAt(i), z)
			if !ok {
				fails(e, out, mode, i, func() error {
					return errclass.New("CANNOT_PARSE_TIMESTAMP", "func", instead,
						"message", "The text '"+string(args[0].BytesAt(i))+"' does not have the form '"+text+"'")
				})
				continue
			}
			store(out, i, instant)
		}
		return out
	}
}

// bindUnixTimestamp binds unix_timestamp([time[, pattern]]). Fractions of a second are cut off, before 1970 too, as in Spark.
func bindUnixTimestamp(b *Binding) (*Bound, error) {
	least := 0
	if b.Name == "to_unix_timestamp" {
		least = 1
	}
	if err := b.Arity(least, 2); err != nil {
		return nil, err
	}
	if len(b.Args) == 0 {
		return &Bound{Type: types.Long, Nullable: !b.ANSI, New: func() Kernel {
			return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
				out.ResetFixed(n)
				fill(vec.Fixed[int64](out), datetime.FloorDiv(e.Batch.Now, datetime.Second))
				return out
			}
		}}, nil
	}
	c, err := b.Accept(Accept{
		name: `("STRING" or "DATE" or "TIMESTAMP" or "TIMESTAMP_NTZ")`, to: []types.DataType{types.String},
		has: func(t types.DataType) bool { return isText(t) || isDateTime(t) }, strict: true,
	}, strict(text))
	if err != nil {
		return nil, err
	}
	in, zone, mode := b.result(c, 0), b.Zone, b.Mode()
	bound := &Bound{Args: c, Type: types.Long, TakesConst: true, Nullable: b.nullable(c)}
	if isText(in) {
		bound.CanFail = true
		bound.Nullable = bound.Nullable || mode == expr.Null
		bound.New = func() Kernel {
			return parseKernel(mode, "`try_to_timestamp`", func(out *vec.Vector, i int, instant int64) {
				vec.Fixed[int64](out)[i] = instant / datetime.Second
			}, datetime.NewZone(zone), len(c)-1)
		}
		return bound, nil
	}
	bound.NullsAreArgs = true
	bound.New = func() Kernel {
		z := datetime.NewZone(zone)
		return ofFirst(func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int64](out)
			for i := range dst {
				if args[0].IsNull(i) {
					continue
				}
				var micros int64
				switch kindOf(in) {
				case kDate:
					micros = z.Instant(int64(vec.At[int32](args[0], i)) * datetime.Day)
				default: // the clock of a timestamp without time zone is taken for one of UTC
					micros = vec.At[int64](args[0], i)
				}
				dst[i] = micros / datetime.Second
			}
			return out
		})
	}
	return bound, nil
}
