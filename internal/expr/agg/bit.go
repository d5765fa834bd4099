package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

type bitOp uint8

const (
	bitAnd bitOp = iota
	bitOr
	bitXor
)

func bitFunctions() []*Function {
	op := func(name string, o bitOp) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindBits(b, name, o) }}
	}
	return []*Function{op("bit_and", bitAnd), op("bit_or", bitOr), op("bit_xor", bitXor)}
}

func bindBits(b *Binding, name string, op bitOp) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.IntegralOnly)
	if err != nil {
		return nil, err
	}
	t := b.arg(casts, 0)
	bound := &Bound{Args: casts, Type: t, Nullable: true, State: []types.Field{field(name, t, true)}, Orderless: true}
	switch vec.PhysOf(t) {
	case vec.PhysInt8:
		bound.New = func() States { return &bits[int8]{fixedCells[int8]{t: t}, op} }
	case vec.PhysInt16:
		bound.New = func() States { return &bits[int16]{fixedCells[int16]{t: t}, op} }
	case vec.PhysInt32:
		bound.New = func() States { return &bits[int32]{fixedCells[int32]{t: t}, op} }
	default:
		bound.New = func() States { return &bits[int64]{fixedCells[int64]{t: t}, op} }
	}
	return bound, nil
}

// bits combine integers bit by bit.
type bits[T int8 | int16 | int32 | int64] struct {
	fixedCells[T]
	op bitOp
}

func (s *bits[T]) Grow(n int) { s.grow(n) }

func (s *bits[T]) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := flatten(args[0])
	x, valid := vec.Fixed[T](v), v.Validity()
	for i, g := range groups {
		if !valid.Get(i) {
			continue
		}
		switch {
		case !s.has[g]:
			s.values[g], s.has[g] = x[i], true
		case s.op == bitAnd:
			s.values[g] &= x[i]
		case s.op == bitOr:
			s.values[g] |= x[i]
		default:
			s.values[g] ^= x[i]
		}
	}
}

func (s *bits[T]) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	s.Update(e, groups, partial)
}

func (s *bits[T]) Emit(_ *expr.Eval, groups []uint32) *vec.Vector { return s.column(groups) }
func (s *bits[T]) Save(groups []uint32) []*vec.Vector             { return []*vec.Vector{s.column(groups)} }
func (s *bits[T]) Clear(groups []uint32)                          { s.clear(groups) }
func (s *bits[T]) Bytes() int64                                   { return s.size() }
