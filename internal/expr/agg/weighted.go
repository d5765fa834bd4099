package agg

import (
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// weighted is percentile(x, fractions, frequency): values each of which stands for as many as its frequency says. The two lists of a
// group are of one length.
type weighted struct {
	values, counts lists
	fs             []float64
	many           bool
}

func (s *weighted) Grow(n int) { s.values.Grow(n); s.counts.Grow(n) }

func (s *weighted) Update(e *expr.Eval, groups []uint32, args []*vec.Vector) {
	x, v := flatten(args[0]), flatten(args[2])
	times, valid := vec.Fixed[int64](v), v.Validity()
	var rows, owners []uint32
	for i, g := range groups {
		switch {
		case x.IsNull(i) || !valid.Get(i) || times[i] == 0:
		case times[i] < 0:
			e.Errs.Add(i, errclass.New("NEGATIVE_VALUES_IN_FREQUENCY_EXPRESSION",
				"frequencyExpression", "`frequency`", "negativeValue", strconv.FormatInt(times[i], 10)))
		default:
			rows, owners = append(rows, uint32(i)), append(owners, g)
		}
	}
	if len(rows) > 0 {
		s.values.add(owners, vec.Take(x, rows, nil))
		s.counts.add(owners, vec.Take(v, rows, nil))
	}
}

func (s *weighted) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	s.values.Merge(e, groups, partial[:1])
	s.counts.Merge(e, groups, partial[1:])
}

func (s *weighted) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	out := vec.NewBuilder(resultOf(types.Double, s.many))
	xs, cs := s.values.Emit(nil, groups), s.counts.Emit(nil, groups)
	for i := range groups {
		at, _ := xs.SpanAt(i)
		ct, _ := cs.SpanAt(i)
		if at.Len == 0 {
			out.AppendNull()
			continue
		}
		x := vec.Fixed[float64](xs.Kids()[0])[at.Off : at.Off+at.Len]
		n := vec.Fixed[int64](cs.Kids()[0])[ct.Off : ct.Off+ct.Len]
		order := make([]int, len(x))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return compareNumbers(x[a], x[b]) })
		upTo := make([]int64, len(x)) // how many values are not behind the k-th
		total := int64(0)
		for k, row := range order {
			total += n[row]
			upTo[k] = total
		}
		value := func(at int64) float64 { // counted from 0
			return x[order[sort.Search(len(upTo), func(k int) bool { return upTo[k] > at })]]
		}
		appendResults(out, s.many, s.fs, func(out *vec.Builder, f float64) {
			at := f * float64(total-1)
			lo, hi := math.Floor(at), math.Ceil(at)
			a, b := value(int64(lo)), value(int64(hi))
			if lo != hi && a != b {
				a = (hi-at)*a + (at-lo)*b
			}
			out.AppendFloat64(a)
		})
	}
	return out.Finish()
}

func (s *weighted) Save(groups []uint32) []*vec.Vector {
	return append(s.values.Save(groups), s.counts.Save(groups)...)
}

func (s *weighted) Clear(groups []uint32) { s.values.Clear(groups); s.counts.Clear(groups) }

func (s *weighted) Bytes() int64 { return s.values.Bytes() + s.counts.Bytes() }
