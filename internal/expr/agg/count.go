package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func countFunctions() []*Function {
	return []*Function{
		{Name: "count", Bind: bindCount},
		{Name: "count_if", Bind: bindCountIf},
		{Name: "regr_count", Bind: bindPairCount},
	}
}

// bindCount counts the rows in which no argument is null; without arguments, all rows.
func bindCount(b *Binding) (*Bound, error) {
	casts := make([]types.DataType, len(b.Args))
	return &Bound{
		Args: casts, Type: types.Long, State: []types.Field{field("count", types.Long, false)}, Orderless: true,
		New: func() States { return &counts{} },
	}, nil
}

// bindPairCount binds the number of rows in which both arguments are there.
func bindPairCount(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Numeric)
	if err != nil {
		return nil, err
	}
	bound, err := bindCount(b)
	if err == nil {
		bound.Args = casts
	}
	return bound, err
}

func bindCountIf(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Boolean)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: casts, Type: types.Long, State: []types.Field{field("count", types.Long, false)}, Orderless: true,
		New: func() States { return &counts{onlyTrue: true} },
	}, nil
}

type counts struct {
	n        []int64
	onlyTrue bool
	live     vec.Bitmap
}

func (s *counts) Grow(n int) { s.n = grown(s.n, n) }

func (s *counts) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	if s.onlyTrue {
		s.countTrue(groups, args[0])
		return
	}
	var live vec.Bitmap
	for _, a := range args {
		switch {
		case !a.HasNulls():
		case a.Encoding() == vec.Const || a.Phys() == vec.PhysNull:
			if len(groups) > 0 && a.IsNull(0) {
				return
			}
		case live == nil:
			live = a.Validity()
		default:
			s.live = vec.AndInto(s.live, live, a.Validity(), len(groups))
			live = s.live
		}
	}
	n := s.n
	if live == nil {
		for _, g := range groups {
			n[g]++
		}
		return
	}
	for i, g := range groups {
		n[g] += int64(live[i>>6] >> (uint(i) & 63) & 1)
	}
}

func (s *counts) countTrue(groups []uint32, v *vec.Vector) {
	if v.Phys() == vec.PhysNull {
		return
	}
	v = flatten(v)
	x, n := vec.Fixed[uint8](v), s.n
	if valid := v.Validity(); valid != nil {
		for i, g := range groups {
			n[g] += int64(x[i]) & int64(valid[i>>6]>>(uint(i)&63)&1)
		}
		return
	}
	for i, g := range groups {
		n[g] += int64(x[i])
	}
}

func (s *counts) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	x := vec.Fixed[int64](flatten(partial[0]))
	for i, g := range groups {
		s.n[g] += x[i]
	}
}

func (s *counts) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	return column(types.Long, s.n, nil, groups)
}

func (s *counts) Save(groups []uint32) []*vec.Vector {
	return []*vec.Vector{column(types.Long, s.n, nil, groups)}
}

func (s *counts) Clear(groups []uint32) {
	for _, g := range groups {
		s.n[g] = 0
	}
}

func (s *counts) Bytes() int64 { return int64(cap(s.n)) * 8 }
