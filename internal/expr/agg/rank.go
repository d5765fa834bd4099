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
		{Name: "median", Bind: bindMedian},
		{Name: "percentile_approx", Aliases: []string{"approx_percentile"}, Bind: bindPercentileApprox},
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
	if a.Const == nil {
		return nil, false, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.call().SQL(), "inputName", "`percentage`",
			"inputType", `"DOUBLE"`, "inputExpr", `"`+a.SQL+`"`)
	}
	if a.Const.IsNull(0) {
		return nil, false, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_NULL", "sqlExpr", b.call().SQL(), "exprName", "percentage")
	}
	v, span := a.Const, vec.Span{Len: 1}
	if _, many = a.Type.(types.ArrayType); many {
		var owner *vec.Vector
		span, owner = a.Const.SpanAt(0)
		v = owner.Kids()[0]
	}
	for k := span.Off; k < span.Off+span.Len; k++ {
		f, ok := constFloat(fn.Arg{Const: vec.Take(v, []uint32{k}, nil)})
		if !ok || !(f >= 0 && f <= 1) {
			return nil, many, bad()
		}
		fs = append(fs, f)
	}
	return fs, many, nil
}

// bindPercentile binds percentile(x, fractions), which interpolates between neighbours.
func bindPercentile(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 2); err != nil {
		return nil, err
	}
	fs, many, err := b.fractions(1)
	if err != nil {
		return nil, err
	}
	return bindInterpolated(b, fs, many)
}

func bindMedian(b *Binding) (*Bound, error) {
	if err := b.call().Arity(1, 1); err != nil {
		return nil, err
	}
	return bindInterpolated(b, []float64{0.5}, false)
}

func bindInterpolated(b *Binding, fs []float64, many bool) (*Bound, error) {
	casts, err := b.call().Accept(fn.Numeric, fn.AnyType)
	if err != nil {
		return nil, err
	}
	if !types.Equal(b.arg(casts, 0), types.Double) {
		casts[0] = types.Double
	}
	result := resultOf(types.Double, many)
	return &Bound{
		Args: casts, Type: result, Nullable: true, State: []types.Field{field("values", types.ArrayType{Element: types.Double}, false)},
		New: newRanks(types.Double, result, func(out *vec.Builder, v *vec.Vector, s vec.Span) {
			x := vec.Fixed[float64](v)[s.Off : s.Off+s.Len]
			slices.SortFunc(x, compareNumbers[float64])
			appendResults(out, many, fs, func(out *vec.Builder, f float64) {
				at := f * float64(len(x)-1)
				lo, hi := int(math.Floor(at)), int(math.Ceil(at))
				if lo == hi || x[lo] == x[hi] {
					out.AppendFloat64(x[lo])
					return
				}
				out.AppendFloat64((float64(hi)-at)*x[lo] + (at-float64(lo))*x[hi])
			})
		}),
	}, nil
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

// bindPercentileApprox binds percentile_approx(x, fractions[, accuracy]): the smallest value that is not below so many of the others.
func bindPercentileApprox(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 3); err != nil {
		return nil, err
	}
	fs, many, err := b.fractions(1)
	if err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.NumericOrTime, fn.AnyType, fn.Integral)
	if err != nil {
		return nil, err
	}
	t := b.arg(casts, 0)
	result := resultOf(t, many)
	return &Bound{
		Args: casts, Type: result, Nullable: true, State: []types.Field{field("values", types.ArrayType{Element: t}, false)},
		New: newRanks(t, result, func(out *vec.Builder, v *vec.Vector, s vec.Span) {
			rows := make([]int, s.Len)
			for k := range rows {
				rows[k] = int(s.Off) + k
			}
			slices.SortFunc(rows, func(x, y int) int { return vec.Compare(v, x, v, y) })
			appendResults(out, many, fs, func(out *vec.Builder, f float64) {
				at := max(int(math.Ceil(f*float64(len(rows))))-1, 0)
				appendRow(out, v, rows[at])
			})
		}),
	}, nil
}

// appendRow appends row i, which is not null, to a builder of the same type.
func appendRow(out *vec.Builder, v *vec.Vector, i int) {
	// The values come from a vector of the builder's type, so they always fit.
	if err := out.AppendValue(vec.ValueAt(v, i)); err != nil {
		out.AppendNull()
	}
}

// bindMode binds the most frequent value; of several the one that came first.
func bindMode(b *Binding) (*Bound, error) {
	if err := b.call().Arity(1, 1); err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	return &Bound{
		Args: make([]types.DataType, 1), Type: t, Nullable: true, State: []types.Field{field("values", types.ArrayType{Element: t}, false)},
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
				if c := counts[string(keys.Key(i))]; c > n {
					best, n = i, c
				}
			}
			appendRow(out, part, best)
		}),
	}, nil
}

// bindListAgg binds the texts of a group joined by a constant, which is nothing by default.
func bindListAgg(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Text)
	if err != nil {
		return nil, err
	}
	sep := ""
	if len(b.Args) == 2 {
		v := b.Args[1].Const
		if v == nil || v.Phys() != vec.PhysBytes && v.Phys() != vec.PhysNull {
			return nil, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", c.SQL(), "inputName", "`delimiter`",
				"inputType", `"STRING"`, "inputExpr", `"`+b.Args[1].SQL+`"`)
		}
		if !v.IsNull(0) {
			sep = string(v.BytesAt(0))
		}
	}
	return &Bound{
		Args: casts, Type: types.String, Nullable: true,
		State: []types.Field{field("values", types.ArrayType{Element: types.String}, false)},
		New: newRanks(types.String, types.String, func(out *vec.Builder, v *vec.Vector, s vec.Span) {
			buf := out.Buffer()
			for k := s.Off; k < s.Off+s.Len; k++ {
				if k > s.Off {
					buf = append(buf, sep...)
				}
				buf = append(buf, v.BytesAt(int(k))...)
			}
			out.CommitBytes(buf)
		}),
	}, nil
}
