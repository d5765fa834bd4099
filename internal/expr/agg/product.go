package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func productFunctions() []*Function {
	return []*Function{{Name: "product", Bind: bindProduct}}
}

// bindProduct binds the product of all values as a double.
func bindProduct(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Numeric)
	if err != nil {
		return nil, err
	}
	if !types.Equal(b.arg(casts, 0), types.Double) {
		casts[0] = types.Double
	}
	return &Bound{
		Args: casts, Type: types.Double, Nullable: true, State: []types.Field{field("product", types.Double, true)},
		New: func() States { return &products{} },
	}, nil
}

// products multiply doubles, in the order of the rows.
type products struct {
	xs  []float64
	has []bool
}

func (s *products) Grow(n int) { s.xs, s.has = grown(s.xs, n), grown(s.has, n) }

func (s *products) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	s.multiply(groups, args[0])
}

func (s *products) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	s.multiply(groups, partial[0])
}

func (s *products) multiply(groups []uint32, v *vec.Vector) {
	v = flatten(v)
	x, valid := vec.Fixed[float64](v), v.Validity()
	for i, g := range groups {
		switch {
		case !valid.Get(i):
		case s.has[g]:
			s.xs[g] *= x[i]
		default:
			s.xs[g], s.has[g] = x[i], true
		}
	}
}

func (s *products) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	return column(types.Double, s.xs, s.has, groups)
}

func (s *products) Save(groups []uint32) []*vec.Vector { return []*vec.Vector{s.Emit(nil, groups)} }

func (s *products) Clear(groups []uint32) {
	for _, g := range groups {
		s.xs[g], s.has[g] = 0, false
	}
}

func (s *products) Bytes() int64 { return int64(cap(s.xs)) * 9 }
