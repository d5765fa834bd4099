package agg

import (
	bits64 "math/bits"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func sumFunctions() []*Function {
	return []*Function{
		{Name: "sum", Bind: func(b *Binding) (*Bound, error) { return bindSum(b, false) }},
		{Name: "try_sum", Bind: func(b *Binding) (*Bound, error) { return bindSum(b, true) }},
	}
}

// acceptSummed casts what is to be summed: numbers and intervals are, and timestamps as seconds.
func acceptSummed(c *fn.Binding) ([]types.DataType, error) {
	if len(c.Args) == 1 && types.SameType(c.Args[0].Type, types.Timestamp) {
		return []types.DataType{types.Double}, nil
	}
	return c.Accept(fn.NumericOrInterval)
}

// overflow says what a sum does that does not fit.
type overflow uint8

const (
	raise overflow = iota
	null
	wrap
)

func overflowMode(ansi, try bool) overflow {
	switch {
	case try:
		return null
	case ansi:
		return raise
	}
	return wrap
}

func bindSum(b *Binding, try bool) (*Bound, error) {
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
	bound := &Bound{Args: casts, Nullable: true, Orderless: summedExactly(t)}
	switch t := t.(type) {
	case types.DecimalType:
		r := types.DecimalType{Precision: min(38, t.Precision+10), Scale: t.Scale}
		bound.Type = r
		bound.State = []types.Field{field("sum", r, true), field("isEmpty", types.Boolean, false)}
		bound.New = func() States { return &decimalSums{t: r, raise: mode == raise} }
		return bound, nil
	case types.FloatType, types.DoubleType:
		bound.Type = types.Double
		bound.State = []types.Field{field("sum", types.Double, true)}
		single := vec.PhysOf(t) == vec.PhysFloat32
		bound.New = func() States { return &floatSums{single: single} }
		return bound, nil
	case types.DayTimeIntervalType:
		bound.Type = t
		mode = intervalMode(try)
	case types.YearMonthIntervalType:
		bound.Type = t
		mode = intervalMode(try)
	default:
		bound.Type = types.Long
	}
	bound.State = []types.Field{field("sum", bound.Type, true)}
	if mode == null {
		bound.State = append(bound.State, field("isEmpty", types.Boolean, false))
	}
	result := bound.Type
	switch vec.PhysOf(t) {
	case vec.PhysInt8:
		bound.New = func() States { return &intSums[int8]{t: result, mode: mode} }
	case vec.PhysInt16:
		bound.New = func() States { return &intSums[int16]{t: result, mode: mode} }
	case vec.PhysInt32:
		bound.New = func() States { return &intSums[int32]{t: result, mode: mode} }
	default:
		bound.New = func() States { return &intSums[int64]{t: result, mode: mode} }
	}
	return bound, nil
}

func intervalMode(try bool) overflow {
	if try {
		return null
	}
	return raise
}

// intSums add integers in 64 bits.
type intSums[T int8 | int16 | int32 | int64] struct {
	t     types.DataType
	mode  overflow
	sums  []int64
	has   []bool // a value was added
	spilt []bool // has overflowed: null for ever
}

func (s *intSums[T]) Grow(n int) {
	s.sums, s.has = grown(s.sums, n), grown(s.has, n)
	if s.mode == null {
		s.spilt = grown(s.spilt, n)
	}
}

func (s *intSums[T]) Update(e *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := flatten(args[0])
	x, valid := vec.Fixed[T](v), v.Validity()
	sums, has := s.sums, s.has
	if valid == nil {
		x = x[:len(groups)]
		for i, g := range groups {
			old, d := sums[g], int64(x[i])
			sum := old + d
			sums[g] = sum
			has[g] = true
			if (old^sum)&(d^sum) < 0 {
				s.overflowed(e, i, g)
			}
		}
		return
	}
	for i, g := range groups {
		if valid[i>>6]>>(uint(i)&63)&1 != 0 {
			s.add(e, i, g, int64(x[i]))
		}
	}
}

func (s *intSums[T]) add(e *expr.Eval, i int, g uint32, d int64) {
	old := s.sums[g]
	sum := old + d
	s.sums[g], s.has[g] = sum, true
	if (old^sum)&(d^sum) < 0 {
		s.overflowed(e, i, g)
	}
}

// overflowed is called after row i has made group g's sum too large.
func (s *intSums[T]) overflowed(e *expr.Eval, i int, g uint32) {
	switch s.mode {
	case raise:
		e.Errs.Add(i, sumOverflow(s.t))
	case null:
		s.spilt[g] = true
	}
}

func sumOverflow(t types.DataType) error {
	switch t.(type) {
	case types.DayTimeIntervalType, types.YearMonthIntervalType:
		return errclass.New("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION", "functionName", "`try_add`")
	}
	return errclass.New("ARITHMETIC_OVERFLOW", "message", "overflow",
		"alternative", " Use 'try_add' to tolerate overflow and return NULL instead.", "config", errclass.Conf(setting.ANSI))
}

func (s *intSums[T]) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	v := flatten(partial[0])
	months := v.Phys() == vec.PhysInt32
	for i, g := range groups {
		if v.IsNull(i) {
			if s.mode == null && vec.At[uint8](partial[1], i) == 0 {
				s.has[g], s.spilt[g] = true, true
			}
			continue
		}
		if months {
			s.add(e, i, g, int64(vec.At[int32](v, i)))
		} else {
			s.add(e, i, g, vec.At[int64](v, i))
		}
	}
}

func (s *intSums[T]) Emit(e *expr.Eval, groups []uint32) *vec.Vector {
	r := vec.NewFixed(s.t, len(groups))
	valid := validity(s.has, groups)
	if r.Phys() == vec.PhysInt64 {
		dst := vec.Fixed[int64](r)
		for i, g := range groups {
			dst[i] = s.sums[g]
		}
	} else {
		dst := vec.Fixed[int32](r)
		for i, g := range groups {
			dst[i] = int32(s.sums[g])
			if int64(dst[i]) != s.sums[g] && s.has[g] {
				e.Errs.Add(i, sumOverflow(s.t))
			}
		}
	}
	for i, g := range groups {
		if s.spilt != nil && s.spilt[g] {
			if valid == nil {
				valid = vec.NewBitmapSet(len(groups))
			}
			valid.Clear(i)
		}
	}
	r.SetValidity(valid)
	return r
}

func (s *intSums[T]) Save(groups []uint32) []*vec.Vector {
	sum := s.Emit(&expr.Eval{}, groups)
	if s.mode != null {
		return []*vec.Vector{sum}
	}
	return []*vec.Vector{sum, isEmpty(s.has, groups)}
}

func isEmpty(has []bool, groups []uint32) *vec.Vector {
	v := vec.NewFixed(types.Boolean, len(groups))
	dst := vec.Fixed[uint8](v)
	for i, g := range groups {
		if !has[g] {
			dst[i] = 1
		}
	}
	return v
}

func (s *intSums[T]) Clear(groups []uint32) {
	for _, g := range groups {
		s.sums[g], s.has[g] = 0, false
		if s.spilt != nil {
			s.spilt[g] = false
		}
	}
}

func (s *intSums[T]) Bytes() int64 { return int64(cap(s.sums))*9 + int64(cap(s.spilt)) }

// floatSums add doubles, in the order of the rows.
type floatSums struct {
	single bool // the arguments are floats
	sums   []float64
	has    []bool
}

func (s *floatSums) Grow(n int) { s.sums, s.has = grown(s.sums, n), grown(s.has, n) }

func (s *floatSums) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := flatten(args[0])
	if s.single {
		addFloats(s.sums, s.has, groups, vec.Fixed[float32](v), v.Validity())
	} else {
		addFloats(s.sums, s.has, groups, vec.Fixed[float64](v), v.Validity())
	}
}

func addFloats[T float32 | float64](sums []float64, has []bool, groups []uint32, x []T, valid vec.Bitmap) {
	if valid == nil {
		x = x[:len(groups)]
		for i, g := range groups {
			sums[g] += float64(x[i])
			has[g] = true
		}
		return
	}
	for i, g := range groups {
		if valid[i>>6]>>(uint(i)&63)&1 != 0 {
			sums[g] += float64(x[i])
			has[g] = true
		}
	}
}

func (s *floatSums) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	v := flatten(partial[0])
	addFloats(s.sums, s.has, groups, vec.Fixed[float64](v), v.Validity())
}

func (s *floatSums) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	return column(types.Double, s.sums, s.has, groups)
}

func (s *floatSums) Save(groups []uint32) []*vec.Vector { return []*vec.Vector{s.Emit(nil, groups)} }

func (s *floatSums) Clear(groups []uint32) {
	for _, g := range groups {
		s.sums[g], s.has[g] = 0, false
	}
}

func (s *floatSums) Bytes() int64 { return int64(cap(s.sums)) * 9 }

// decimalSums add decimals. A sum with too many digits stays without a value, whatever is added later.
type decimalSums struct {
	t     types.DecimalType
	raise bool
	sums  []decimal.Int
	has   []bool
	spilt []bool
}

func (s *decimalSums) Grow(n int) {
	s.sums, s.has, s.spilt = grown(s.sums, n), grown(s.has, n), grown(s.spilt, n)
}

func (s *decimalSums) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := flatten(args[0])
	valid := v.Validity()
	if v.Phys() == vec.PhysInt64 {
		s.addSmall(groups, vec.Fixed[int64](v), valid)
		return
	}
	x := vec.Fixed[decimal.Int](v)
	for i, g := range groups {
		if valid.Get(i) {
			s.add(g, x[i])
		}
	}
}

// addSmall adds numbers of 64 bits, of which no table has enough to overflow 128.
func (s *decimalSums) addSmall(groups []uint32, x []int64, valid vec.Bitmap) {
	sums, has := s.sums, s.has
	for i, g := range groups {
		if !valid.Get(i) {
			continue
		}
		sum := &sums[g]
		lo, carry := bits64.Add64(sum.Lo, uint64(x[i]), 0)
		sum.Lo, sum.Hi = lo, sum.Hi+x[i]>>63+int64(carry)
		has[g] = true
	}
}

func (s *decimalSums) add(g uint32, x decimal.Int) {
	sum, ok := decimal.Add(s.sums[g], x)
	s.sums[g], s.has[g] = sum, true
	if !ok {
		s.spilt[g] = true
	}
}

func (s *decimalSums) over(g uint32) bool {
	return s.spilt[g] || !decimal.Fits(s.sums[g], s.t.Precision)
}

func (s *decimalSums) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	v, empty := flatten(partial[0]), flatten(partial[1])
	for i, g := range groups {
		switch {
		case vec.Fixed[uint8](empty)[i] != 0:
		case v.IsNull(i):
			s.has[g], s.spilt[g] = true, true
		case v.Phys() == vec.PhysInt64:
			s.add(g, decimal.FromInt64(vec.Fixed[int64](v)[i]))
		default:
			s.add(g, vec.Fixed[decimal.Int](v)[i])
		}
	}
}

func (s *decimalSums) Emit(e *expr.Eval, groups []uint32) *vec.Vector {
	if s.raise {
		for i, g := range groups {
			if s.has[g] && s.over(g) {
				e.Errs.Add(i, errclass.New("ARITHMETIC_OVERFLOW", "message", "Overflow in sum of decimals",
					"alternative", " Use 'try_sum' to tolerate overflow and return NULL instead.", "config", errclass.Conf(setting.ANSI)))
			}
		}
	}
	return s.values(groups)
}

func (s *decimalSums) values(groups []uint32) *vec.Vector {
	r := vec.NewFixed(s.t, len(groups))
	var valid vec.Bitmap
	for i, g := range groups {
		if !s.has[g] || s.over(g) {
			if valid == nil {
				valid = vec.NewBitmapSet(len(groups))
			}
			valid.Clear(i)
			continue
		}
		if r.Phys() == vec.PhysInt64 {
			vec.Fixed[int64](r)[i] = int64(s.sums[g].Lo)
		} else {
			vec.Fixed[decimal.Int](r)[i] = s.sums[g]
		}
	}
	r.SetValidity(valid)
	return r
}

func (s *decimalSums) Save(groups []uint32) []*vec.Vector {
	return []*vec.Vector{s.values(groups), isEmpty(s.has, groups)}
}

func (s *decimalSums) Clear(groups []uint32) {
	for _, g := range groups {
		s.sums[g], s.has[g], s.spilt[g] = decimal.Int{}, false, false
	}
}

func (s *decimalSums) Bytes() int64 { return int64(cap(s.sums)) * 18 }
