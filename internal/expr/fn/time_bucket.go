package fn

import (
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// bindTimeBucket binds time_bucket(size, timestamp[, origin]): the start of the bucket that the time is in. Sizes of whole months, and
// days, follow the clock of the session's zone; smaller ones are elapsed time.
func bindTimeBucket(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	size := Accept{
		name: `("INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH")`, strict: true, to: []types.DataType{types.DayTimeInterval}, has: isAnsiInterval,
	}
	want := []Accept{size, strict(anyTimestamp)}
	if len(b.Args) == 3 {
		t := b.Args[1].Type
		if !isTimestamp(t) {
			t = types.Timestamp
		}
		want = append(want, strict(only(t)))
	}
	c, err := b.Accept(want...)
	if err != nil {
		return nil, err
	}
	for i, name := range map[int]string{0: "bucketSize", 2: "origin"} {
		if i < len(b.Args) && b.Args[i].Const == nil {
			return nil, b.notConst(i, name, quoteType(b.Args[i].Type))
		}
	}
	t := b.result(c, 1)
	bound := &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel { return allNull(t) }}
	if b.Args[0].Const.IsNull(0) {
		bound.Nullable = true
		return bound, nil
	}
	months := kindOf(b.Args[0].Type) == kYearMonth
	step := loadInt(b.Args[0].Const, 0)
	if step <= 0 {
		return nil, errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", b.SQL(), "exprName", "`bucketSize`",
			"valueRange", "(0, "+string(interval.AppendDayTime(nil, 1<<63-1, types.DayField, types.SecondField))+"]", "currentValue", b.Args[0].SQL)
	}
	zone := b.Zone
	bound.New = func() Kernel {
		z := localZone(t, zone)
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
			x := z.Local(vec.At[int64](args[1], i))
			origin := int64(0)
			if len(args) == 3 {
				origin = z.Local(vec.At[int64](args[2], i))
			}
			switch {
			case months:
				return z.Instant(monthBucket(x, origin, step)), true
			case step%datetime.Day == 0:
				return z.Instant(origin + datetime.FloorDiv(x-origin, step)*step), true
			}
			at := vec.At[int64](args[1], i)
			from := z.Instant(origin)
			return from + datetime.FloorDiv(at-from, step)*step, true
		})
	}
	return bound, nil
}

// monthBucket counts months from the origin, whose day of the month may be cut to the length of another.
func monthBucket(x, origin, step int64) int64 {
	day := datetime.FloorDiv(origin, datetime.Day)
	clock := origin - day*datetime.Day
	y0, m0, _ := datetime.Civil(day)
	y, m, _ := datetime.Civil(datetime.FloorDiv(x, datetime.Day))
	k := datetime.FloorDiv(int64(y-y0)*12+int64(m-m0), step)
	start := func(k int64) int64 { return datetime.AddMonths(day, k*step)*datetime.Day + clock }
	if s := start(k); s <= x {
		return s
	}
	return start(k - 1)
}
