package agg

import (
	"strconv"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func averageFunctions() []*Function {
	return []*Function{
		{Name: "avg", Aliases: []string{"mean"}, Bind: func(b *Binding) (*Bound, error) { return bindAverage(b, false) }},
		{Name: "try_avg", Bind: func(b *Binding) (*Bound, error) { return bindAverage(b, true) }},
	}
}

// summedExactly tells whether sums of a type are the same in any order: integers as doubles are, up to 2^53.
func summedExactly(t types.DataType) bool {
	p := vec.PhysOf(t)
	return p != vec.PhysFloat32 && p != vec.PhysFloat64 && p != vec.PhysBytes
}

// bindAverage divides a sum by a count. Integers are summed as doubles.
func bindAverage(b *Binding, try bool) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := acceptSummed(c)
	if err != nil {
		return nil, err
	}
	t := b.arg(casts, 0)
	mode := overflowMode(b.ANSI, try)
	bound := &Bound{Args: casts, Nullable: true, Orderless: summedExactly(b.Args[0].Type)}
	counter := field("count", types.Long, false)
	switch t := t.(type) {
	case types.DecimalType:
		sum := types.DecimalType{Precision: min(38, t.Precision+10), Scale: t.Scale}
		result := averageType(t)
		bound.Type = result
		bound.State = []types.Field{field("sum", sum, true), counter}
		bound.New = func() States {
			return &averages{sums: &decimalSums{t: sum}, t: result, emit: decimalAverage(sum, result, mode == raise)}
		}
	case types.DayTimeIntervalType:
		bound.Type = types.DayTimeInterval
		bound.State = []types.Field{field("sum", types.DayTimeInterval, true), counter}
		bound.New = func() States {
			return &averages{sums: &intSums[int64]{t: types.DayTimeInterval, mode: intervalMode(try)}, t: bound.Type, emit: intervalAverage}
		}
	case types.YearMonthIntervalType:
		bound.Type = types.YearMonthInterval
		bound.State = []types.Field{field("sum", types.YearMonthInterval, true), counter}
		bound.New = func() States {
			return &averages{sums: &intSums[int32]{t: types.YearMonthInterval, mode: intervalMode(try)}, t: bound.Type, emit: intervalAverage}
		}
	default:
		if !types.Equal(t, types.Double) {
			casts[0] = types.Double
		}
		bound.Type = types.Double
		bound.State = []types.Field{field("sum", types.Double, true), counter}
		bound.New = func() States { return &averages{sums: &floatSums{}, t: types.Double, emit: floatAverage} }
	}
	return bound, nil
}

// averageType has four more digits behind the point, at the cost of those before it where there is no room.
func averageType(t types.DecimalType) types.DecimalType {
	return types.DecimalType{Precision: min(38, t.Precision+4), Scale: min(38, t.Scale+4)}
}

// averages are sums with their counts.
type averages struct {
	sums   States
	counts counts
	t      types.DataType
	emit   func(e *expr.Eval, r, sum *vec.Vector, n []int64, groups []uint32)
}

func (s *averages) Grow(n int) {
	s.sums.Grow(n)
	s.counts.Grow(n)
}

func (s *averages) Update(e *expr.Eval, groups []uint32, args []*vec.Vector) {
	s.sums.Update(e, groups, args)
	s.counts.Update(e, groups, args)
}

func (s *averages) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	// The state has no isEmpty: a missing sum is an overflow exactly when something was counted.
	empty := vec.NewFixed(types.Boolean, len(groups))
	dst := vec.Fixed[uint8](empty)
	for i, c := range vec.Fixed[int64](flatten(partial[1])) {
		if c == 0 {
			dst[i] = 1
		}
	}
	s.sums.Merge(e, groups, []*vec.Vector{partial[0], empty})
	s.counts.Merge(e, groups, partial[1:])
}

func (s *averages) Emit(e *expr.Eval, groups []uint32) *vec.Vector {
	r := vec.NewFixed(s.t, len(groups))
	sum := s.sums.Save(groups)[0]
	s.emit(e, r, sum, s.counts.n, groups)
	return r
}

func (s *averages) Save(groups []uint32) []*vec.Vector {
	return append(s.sums.Save(groups)[:1:1], s.counts.Save(groups)...)
}

func (s *averages) Clear(groups []uint32) {
	s.sums.Clear(groups)
	s.counts.Clear(groups)
}

func (s *averages) Bytes() int64 { return s.sums.Bytes() + s.counts.Bytes() }

func setNull(v *vec.Vector, i int) {
	b := v.Validity()
	if b == nil {
		b = vec.NewBitmapSet(v.Len())
		v.SetValidity(b)
	}
	b.Clear(i)
}

func floatAverage(_ *expr.Eval, r, sum *vec.Vector, n []int64, groups []uint32) {
	dst, x := vec.Fixed[float64](r), vec.Fixed[float64](sum)
	for i, g := range groups {
		if n[g] == 0 {
			setNull(r, i)
			continue
		}
		dst[i] = x[i] / float64(n[g])
	}
}

func decimalAverage(sum, result types.DecimalType, raise bool) func(e *expr.Eval, r, sums *vec.Vector, n []int64, groups []uint32) {
	return func(e *expr.Eval, r, sums *vec.Vector, n []int64, groups []uint32) {
		for i, g := range groups {
			if n[g] == 0 || sums.IsNull(i) {
				setNull(r, i)
				if n[g] != 0 && raise {
					e.Errs.Add(i, errclass.New("ARITHMETIC_OVERFLOW", "message", "Overflow in sum of decimals",
						"alternative", " Use 'try_avg' to tolerate overflow and return NULL instead.", "config", errclass.Conf(setting.ANSI)))
				}
				continue
			}
			x := decimalAt(sums, i)
			q, ok := decimal.Div(x, decimal.FromInt64(n[g]), result.Scale-sum.Scale, result.Precision)
			if !ok {
				setNull(r, i)
				if raise {
					e.Errs.Add(i, errclass.New("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "value", decimal.String(x, sum.Scale),
						"precision", strconv.Itoa(result.Precision), "scale", strconv.Itoa(result.Scale), "config", errclass.Conf(setting.ANSI)))
				}
				continue
			}
			if r.Phys() == vec.PhysInt64 {
				vec.Fixed[int64](r)[i] = int64(q.Lo)
			} else {
				vec.Fixed[decimal.Int](r)[i] = q
			}
		}
	}
}

func decimalAt(v *vec.Vector, i int) decimal.Int {
	if v.Phys() == vec.PhysInt64 {
		return decimal.FromInt64(vec.At[int64](v, i))
	}
	return vec.At[decimal.Int](v, i)
}

// intervalAverage rounds half away from zero.
func intervalAverage(_ *expr.Eval, r, sum *vec.Vector, n []int64, groups []uint32) {
	for i, g := range groups {
		if n[g] == 0 || sum.IsNull(i) {
			setNull(r, i)
			continue
		}
		var x int64
		if sum.Phys() == vec.PhysInt32 {
			x = int64(vec.At[int32](sum, i))
		} else {
			x = vec.At[int64](sum, i)
		}
		q, _ := decimal.Div(decimal.FromInt64(x), decimal.FromInt64(n[g]), 0, decimal.MaxPrecision)
		if r.Phys() == vec.PhysInt32 {
			vec.Fixed[int32](r)[i] = int32(q.Lo)
		} else {
			vec.Fixed[int64](r)[i] = int64(q.Lo)
		}
	}
}
