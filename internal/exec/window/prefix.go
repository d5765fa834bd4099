package window

import (
	"math"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Exact says how an aggregate is made of sums.
type Exact uint8

// The ways.
const (
	NoSum     Exact = iota
	Count           // the number of rows in which no argument is null
	CountTrue       // the number of rows in which the argument is true
	Sum             // the sum of the argument
	Average         // the same with the number of its values
)

// totals are the sums of rows 0 to i-1, for all i.
type totals interface {
	// partial returns the State columns of frames.
	partial(f frames) []*vec.Vector
}

// newTotals makes the totals of an aggregate, nil when frames cannot be computed from them without any difference: sums that can
// overflow, and sums of doubles that are rounded.
func newTotals(f Func, args []*vec.Vector, n int) totals {
	switch f.Exact {
	case Count, CountTrue:
		return countTotals(args, n, f.Exact == CountTrue)
	case Sum, Average:
		v := args[0]
		if v.Phys() == vec.PhysNull {
			return nil
		}
		s := &sumTotals{state: f.Agg.State, average: f.Exact == Average, count: countTotals(args, n, false)}
		if !s.add(v.Flatten(), n) {
			return nil
		}
		return s
	}
	return nil
}

type counts []int64

func countTotals(args []*vec.Vector, n int, onlyTrue bool) counts {
	c := make(counts, n+1)
	for i := range n {
		one := int64(1)
		for _, v := range args {
			if v.IsNull(i) || onlyTrue && vec.At[uint8](v, i) == 0 {
				one = 0
			}
		}
		c[i+1] = c[i] + one
	}
	return c
}

func (c counts) column(f frames) *vec.Vector {
	v := vec.NewFixed(types.Long, len(f.lo))
	dst := vec.Fixed[int64](v)
	for i, lo := range f.lo {
		dst[i] = c[f.hi[i]] - c[lo]
	}
	return v
}

func (c counts) partial(f frames) []*vec.Vector { return []*vec.Vector{c.column(f)} }

// sumTotals are totals of numbers, in one of three forms.
type sumTotals struct {
	state   []types.Field
	average bool
	count   counts
	ints    []int64
	wide    []decimal.Int
	floats  []float64
}

// add makes the totals of v, which is Flat; false when they are not exact.
func (s *sumTotals) add(v *vec.Vector, n int) bool {
	valid := v.Validity()
	switch v.Phys() {
	case vec.PhysInt8:
		return addInts(s, vec.Fixed[int8](v), valid)
	case vec.PhysInt16:
		return addInts(s, vec.Fixed[int16](v), valid)
	case vec.PhysInt32:
		return addInts(s, vec.Fixed[int32](v), valid)
	case vec.PhysInt64:
		return addInts(s, vec.Fixed[int64](v), valid)
	case vec.PhysFloat32:
		return addFloats(s, vec.Fixed[float32](v), valid)
	case vec.PhysFloat64:
		return addFloats(s, vec.Fixed[float64](v), valid)
	case vec.PhysInt128:
		return s.addWide(vec.Fixed[decimal.Int](v), valid)
	}
	return n == 0
}

// addInts adds up integers. The total of their absolute values must fit what the aggregate adds up in.
func addInts[T int8 | int16 | int32 | int64](s *sumTotals, x []T, valid vec.Bitmap) bool {
	s.ints = make([]int64, len(x)+1)
	limit := uint64(math.MaxInt64)
	if vec.PhysOf(s.state[0].Type) == vec.PhysInt32 { // months
		limit = math.MaxInt32
	}
	all := uint64(0)
	for i, d := range x {
		y := int64(d)
		if !valid.Get(i) {
			y = 0
		}
		abs := uint64(y)
		if y < 0 {
			abs = -abs
		}
		if all += abs; all > limit || abs > limit {
			return false
		}
		s.ints[i+1] = s.ints[i] + y
	}
	return true
}

func (s *sumTotals) addWide(x []decimal.Int, valid vec.Bitmap) bool {
	s.wide = make([]decimal.Int, len(x)+1)
	all, ok := decimal.Int{}, true
	for i, y := range x {
		if !valid.Get(i) {
			y = decimal.Int{}
		}
		if all, ok = decimal.Add(all, decimal.Abs(y)); !ok || !decimal.Fits(all, decimal.MaxPrecision) {
			return false
		}
		s.wide[i+1], _ = decimal.Add(s.wide[i], y)
	}
	return true
}

// addFloats adds up numbers that are integers: their sums are exact as long as they have no more than 53 bits.
func addFloats[T float32 | float64](s *sumTotals, x []T, valid vec.Bitmap) bool {
	s.floats = make([]float64, len(x)+1)
	all := 0.0
	for i, d := range x {
		y := float64(d)
		if !valid.Get(i) {
			y = 0
		}
		all += math.Abs(y)
		if y != math.Trunc(y) || !(all < 1<<53) {
			return false
		}
		s.floats[i+1] = s.floats[i] + y
	}
	return true
}

func (s *sumTotals) partial(f frames) []*vec.Vector {
	count := s.count.column(f)
	n := vec.Fixed[int64](count)
	sum := vec.NewFixed(s.state[0].Type, len(f.lo))
	switch {
	case s.floats != nil:
		dst := vec.Fixed[float64](sum)
		for i, lo := range f.lo {
			dst[i] = s.floats[f.hi[i]] - s.floats[lo]
		}
	case s.wide != nil:
		dst := vec.Fixed[decimal.Int](sum)
		for i, lo := range f.lo {
			dst[i], _ = decimal.Sub(s.wide[f.hi[i]], s.wide[lo])
		}
	default:
		for i, lo := range f.lo {
			put(sum, i, s.ints[f.hi[i]]-s.ints[lo])
		}
	}
	var valid vec.Bitmap
	for i, k := range n {
		if k == 0 {
			if valid == nil {
				valid = vec.NewBitmapSet(len(n))
			}
			valid.Clear(i)
		}
	}
	sum.SetValidity(valid)
	if s.average {
		return []*vec.Vector{sum, count}
	}
	if len(s.state) == 1 {
		return []*vec.Vector{sum}
	}
	empty := vec.NewFixed(types.Boolean, len(n))
	dst := vec.Fixed[uint8](empty)
	for i, k := range n {
		if k == 0 {
			dst[i] = 1
		}
	}
	return []*vec.Vector{sum, empty}
}

// put stores an integer in a vector of integers or of decimals.
func put(v *vec.Vector, i int, x int64) {
	switch v.Phys() {
	case vec.PhysInt32:
		vec.Fixed[int32](v)[i] = int32(x)
	case vec.PhysInt64:
		vec.Fixed[int64](v)[i] = x
	case vec.PhysFloat64:
		vec.Fixed[float64](v)[i] = float64(x)
	default:
		vec.Fixed[decimal.Int](v)[i] = decimal.FromInt64(x)
	}
}

// fromTotals computes frames from totals: the aggregate makes its result of their partial results.
func (a *aggregate) fromTotals(f frames) *vec.Vector {
	var out []*vec.Vector
	for from := 0; from < len(f.lo); from += vec.BatchRows {
		to := min(from+vec.BatchRows, len(f.lo))
		ids := a.counting(to - from)
		a.begin(to - from)
		a.states.Merge(&a.eval, ids, a.totals.partial(f.slice(from, to)))
		mark := a.eval.Errs.Len()
		out = append(out, a.states.Emit(&a.eval, ids))
		a.shiftErrs(mark, from)
	}
	return vec.Concat(out)
}

// ExactOf tells how an aggregate function can be computed from sums.
func ExactOf(f *agg.Function) Exact {
	switch f.Name {
	case "count":
		return Count
	case "count_if":
		return CountTrue
	case "sum", "try_sum":
		return Sum
	case "avg", "try_avg":
		return Average
	}
	return NoSum
}
