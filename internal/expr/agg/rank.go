package agg

import (
	"math"
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// rankFunctions are those that look at all values of a group in order. They keep the values, as collect_list does.
func rankFunctions() []*Function {
	return []*Function{
		{Name: "percentile", Bind: bindPercentile},
		{Name: "percentile_cont", Bind: bindPercentileCont},
		{Name: "percentile_disc", Bind: bindPercentileDisc},
		{Name: "median", Bind: bindMedian},
		{Name: "mode", Bind: bindMode},
		{Name: "listagg", Aliases: []string{"string_agg"}, Bind: bindListAgg},
	}
}

// ranks are lists whose result is computed from the values of each group.
type ranks struct {
	lists
	// emit appends the result of the rows of one group to out.
	result types.DataType
	emit   func(out *vec.Builder, v *vec.Vector, s vec.Span)
}

func (s *ranks) Update(e *expr.Eval, groups []uint32, args []*vec.Vector) {
	s.lists.Update(e, groups, args[:1])
}

func (s *ranks) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	all := s.lists.Emit(nil, groups)
	out := vec.NewBuilder(s.result)
	for i := range groups {
		if span, _ := all.SpanAt(i); span.Len == 0 {
			out.AppendNull()
		} else {
			s.emit(out, all.Kids()[0], span)
		}
	}
	return out.Finish()
}

func newRanks(element, result types.DataType, emit func(out *vec.Builder, v *vec.Vector, s vec.Span)) func() States {
	return func() States {
		return &ranks{lists: lists{t: types.ArrayType{Element: element}}, result: result, emit: emit}
	}
}

// fractions reads the constant argument i: one number from 0 to 1, or an array of them.
func (b *Binding) fractions(i int) (fs []float64, many bool, err error) {
	a := b.Args[i]
	bad := func() error {
		return errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", b.call().SQL(), "exprName", "percentage", "valueRange", "[0.0, 1.0]",
			"currentValue", a.SQL)
	}
	accepted := make([]fn.Accept, i+1)
	for k := range accepted {
		accepted[k] = fn.AnyType
	}
	accepted[i] = fn.CastTo(types.Double, types.ArrayType{Element: types.Double, ContainsNull: true})
	if _, err := b.call().Accept(append(accepted, fn.AnyType)...); err != nil {
		return nil, false, err
	}
	if a.Const == nil {
		return nil, false, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.call().SQL(), "inputName", "`percentage`",
			"inputType", `"DOUBLE"`, "inputExpr", `"`+a.SQL+`"`)
	}
	if a.Const.IsNull(0) {
		return nil, false, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_NULL", "sqlExpr", b.call().SQL(), "exprName", "percentage")
	}
	fs, many, ok := fn.ConstDoubles(a)
	if !ok {
		return nil, many, bad()
	}
	for _, f := range fs {
		if !(f >= 0 && f <= 1) {
			return nil, many, bad()
		}
	}
	return fs, many, nil
}

// bindPercentile binds percentile(x, fractions[, frequency]), which interpolates between neighbours.
func bindPercentile(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 3); err != nil {
		return nil, err
	}
	fs, many, err := b.fractions(1)
	if err != nil {
		return nil, err
	}
	values := fn.NumericOrInterval
	if len(b.Args) == 3 && !isOne(b.Args[2]) {
		values = fn.Numeric
	}
	casts, err := c.Accept(values, fn.AnyType, fn.IntegralOnly)
	if err != nil {
		return nil, err
	}
	bound := interpolated(b, casts, fs, many)
	if len(b.Args) == 3 && !isOne(b.Args[2]) {
		if !types.Equal(b.arg(casts, 2), types.Long) {
			casts[2] = types.Long
		}
		bound.State = append(bound.State, field("counts", types.ArrayType{Element: types.Long}, false))
		bound.New = func() States {
			return &weighted{
				values: lists{t: types.ArrayType{Element: types.Double}}, counts: lists{t: types.ArrayType{Element: types.Long}},
				fs: fs, many: many,
			}
		}
	}
	return bound, nil
}

// isOne tells whether an argument is the constant 1.
func isOne(a fn.Arg) bool {
	f, ok := constFloat(a)
	return ok && f == 1
}

// within checks that a call has WITHIN GROUP, and the number of arguments besides the ordered value.
func (b *Binding) within(n int) error {
	if !b.Within {
		return errclass.New("INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING", "funcName", errclass.Ident(b.Name))
	}
	return b.call().Arity(1+n, 1+n)
}

// bindPercentileCont binds percentile_cont(fractions) WITHIN GROUP (ORDER BY x).
func bindPercentileCont(b *Binding) (*Bound, error) {
	if err := b.within(1); err != nil {
		return nil, err
	}
	fs, many, err := b.fractions(1)
	if err != nil {
		return nil, err
	}
	casts, err := b.call().Accept(fn.NumericOrInterval, fn.AnyType)
	if err != nil {
		return nil, err
	}
	return interpolated(b, casts, fs, many), nil
}

// bindPercentileDisc binds percentile_disc(fractions) WITHIN GROUP (ORDER BY x): the first value that so many are not behind.
func bindPercentileDisc(b *Binding) (*Bound, error) {
	if err := b.within(1); err != nil {
		return nil, err
	}
	fs, many, err := b.fractions(1)
	if err != nil {
		return nil, err
	}
	casts, err := b.call().Accept(fn.NumericOrInterval, fn.AnyType)
	if err != nil {
		return nil, err
	}
	return ordered(b, casts, fs, many, func(x []float64, f float64) float64 {
		return x[max(int(math.Ceil(f*float64(len(x))))-1, 0)]
	}), nil
}

func bindMedian(b *Binding) (*Bound, error) {
	if err := b.call().Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := b.call().Accept(fn.NumericOrInterval)
	if err != nil {
		return nil, err
	}
	return interpolated(b, casts, []float64{0.5}, false), nil
}

// interpolated gives what lies at fractions of the way from the first to the last value.
func interpolated(b *Binding, casts []types.DataType, fs []float64, many bool) *Bound {
	return ordered(b, casts, fs, many, func(x []float64, f float64) float64 {
		at := f * float64(len(x)-1)
		lo, hi := int(math.Floor(at)), int(math.Ceil(at))
		if lo == hi || x[lo] == x[hi] {
			return x[lo]
		}
		return (float64(hi)-at)*x[lo] + (at-float64(lo))*x[hi]
	})
}

// ordered picks results, by fractions, from the values of a group in order.
func ordered(b *Binding, casts []types.DataType, fs []float64, many bool, pick func(x []float64, f float64) float64) *Bound {
	t := b.arg(casts, 0)
	if fn.IsNumeric(t) && !types.Equal(t, types.Double) {
		t, casts[0] = types.Double, types.Double
	}
	result := resultOf(t, many)
	put := appendCentre(t)
	return &Bound{
		Args: casts, Type: result, Nullable: true, State: []types.Field{field("values", types.ArrayType{Element: t}, false)},
		New: newRanks(t, result, func(out *vec.Builder, v *vec.Vector, s vec.Span) {
			x := make([]float64, s.Len)
			at := doubles(v)
			for k := range x {
				x[k] = at(int(s.Off) + k)
			}
			slices.SortFunc(x, compareNumbers[float64])
			if b.Desc {
				slices.Reverse(x)
			}
			appendResults(out, many, fs, func(out *vec.Builder, f float64) { put(out, pick(x, f)) })
		}),
	}
}

func resultOf(t types.DataType, many bool) types.DataType {
	if many {
		return types.ArrayType{Element: t}
	}
	return t
}

func appendResults(out *vec.Builder, many bool, fs []float64, one func(out *vec.Builder, f float64)) {
	if !many {
		one(out, fs[0])
		return
	}
	out.StartList()
	for _, f := range fs {
		one(out.Child(0), f)
	}
	out.EndList()
}

// appendRow appends row i, which is not null, to a builder of the same type.
func appendRow(out *vec.Builder, v *vec.Vector, i int) {
	// The values come from a vector of the builder's type, so they always fit.
	if err := out.AppendValue(vec.ValueAt(v, i)); err != nil {
		out.AppendNull()
	}
}

// bindMode binds the most frequent value; of several the one that came first, or the smallest for mode(x, true) and the first in the
// order that WITHIN GROUP names.
func bindMode(b *Binding) (*Bound, error) {
	most := 2
	if b.Within {
		most = 1
	}
	if err := b.call().Arity(1, most); err != nil {
		return nil, err
	}
	smallest := b.Within && !b.Desc
	if len(b.Args) == 2 {
		v := b.Args[1].Const
		if v == nil {
			return nil, errclass.New("NON_FOLDABLE_ARGUMENT", "funcName", "`mode`", "paramName", "`deterministic`", "paramType", `"BOOLEAN"`)
		}
		if v.Phys() != vec.PhysBool {
			return nil, b.call().NotFoldable(1, "`deterministic`", `"BOOLEAN"`)
		}
		smallest = !v.IsNull(0) && vec.At[uint8](v, 0) != 0
	}
	t := b.Args[0].Type
	return &Bound{
		Args: make([]types.DataType, len(b.Args)), Type: t, Nullable: true, State: []types.Field{field("values", types.ArrayType{Element: t}, false)},
		New: newRanks(t, t, func(out *vec.Builder, v *vec.Vector, s vec.Span) {
			part := v.Slice(int(s.Off), int(s.Len))
			var keys vec.KeyBuffer
			vec.EncodeKeys([]*vec.Vector{part}, part.Len(), &keys)
			counts := map[string]int{}
			for i := range part.Len() {
				counts[string(keys.Key(i))]++
			}
			best, n := 0, 0
			for i := range part.Len() {
				c := counts[string(keys.Key(i))]
				if c > n || c == n && (smallest && vec.Compare(part, i, part, best) < 0 || b.Desc && vec.Compare(part, i, part, best) > 0) {
					best, n = i, c
				}
			}
			appendRow(out, part, best)
		}),
	}, nil
}
