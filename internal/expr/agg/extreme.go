package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func extremeFunctions() []*Function {
	boolean := func(name string, max bool, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindExtreme(b, max, &fn.Boolean) }}
	}
	return []*Function{
		{Name: "min", Bind: func(b *Binding) (*Bound, error) { return bindExtreme(b, false, nil) }},
		{Name: "max", Bind: func(b *Binding) (*Bound, error) { return bindExtreme(b, true, nil) }},
		boolean("bool_and", false, "every"),
		boolean("bool_or", true, "some", "any"),
	}
}

// bindExtreme binds the smallest or largest value; for booleans that is AND and OR.
func bindExtreme(b *Binding, max bool, only *fn.Accept) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts := make([]types.DataType, 1)
	if only != nil {
		var err error
		if casts, err = c.Accept(*only); err != nil {
			return nil, err
		}
	}
	t := b.arg(casts, 0)
	if !fn.Orderable(t) {
		return nil, c.Unordered(t)
	}
	name := "min"
	if max {
		name = "max"
	}
	return &Bound{
		Args: casts, Type: t, Nullable: true, State: []types.Field{field(name, t, true)}, Orderless: oneOfEqual(t),
		New: func() States { return newExtremes(t, max) },
	}, nil
}

// oneOfEqual tells whether values of a type that are equal are the same, so that it does not matter which comes first.
func oneOfEqual(t types.DataType) bool {
	switch vec.PhysOf(t) {
	case vec.PhysBool, vec.PhysInt8, vec.PhysInt16, vec.PhysInt32, vec.PhysInt64, vec.PhysInt128:
		return true
	case vec.PhysBytes:
		s, ok := t.(types.StringType)
		return !ok || s.Collation == ""
	}
	return false
}

func newExtremes(t types.DataType, max bool) States {
	switch vec.PhysOf(t) {
	case vec.PhysBool:
		return &fixedExtremes[uint8]{fixedCells[uint8]{t: t}, max}
	case vec.PhysInt8:
		return &fixedExtremes[int8]{fixedCells[int8]{t: t}, max}
	case vec.PhysInt16:
		return &fixedExtremes[int16]{fixedCells[int16]{t: t}, max}
	case vec.PhysInt32:
		return &fixedExtremes[int32]{fixedCells[int32]{t: t}, max}
	case vec.PhysInt64:
		return &fixedExtremes[int64]{fixedCells[int64]{t: t}, max}
	case vec.PhysFloat32:
		return &fixedExtremes[float32]{fixedCells[float32]{t: t}, max}
	case vec.PhysFloat64:
		return &fixedExtremes[float64]{fixedCells[float64]{t: t}, max}
	}
	sign := -1 // of the comparison of the value held with a better one
	if !max {
		sign = 1
	}
	return &extremes{cells: newCells(t), sign: sign}
}

// fixedExtremes keep numbers.
type fixedExtremes[T number] struct {
	fixedCells[T]
	max bool
}

func (s *fixedExtremes[T]) Grow(n int) { s.grow(n) }

func (s *fixedExtremes[T]) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := flatten(args[0])
	x, valid := vec.Fixed[T](v), v.Validity()
	values, has := s.values, s.has
	for i, g := range groups {
		if !valid.Get(i) {
			continue
		}
		d := x[i]
		if !has[g] {
			has[g], values[g] = true, d
			continue
		}
		old := values[g]
		if s.max {
			if d > old || d != d {
				values[g] = d
			}
		} else if d < old || old != old {
			values[g] = d
		}
	}
}

func (s *fixedExtremes[T]) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	s.Update(e, groups, partial)
}

func (s *fixedExtremes[T]) Emit(_ *expr.Eval, groups []uint32) *vec.Vector { return s.column(groups) }

func (s *fixedExtremes[T]) Save(groups []uint32) []*vec.Vector {
	return []*vec.Vector{s.column(groups)}
}
func (s *fixedExtremes[T]) Clear(groups []uint32) { s.clear(groups) }
func (s *fixedExtremes[T]) Bytes() int64          { return s.size() }

// extremes keep values of any type.
type extremes struct {
	cells cells
	sign  int
}

func (s *extremes) Grow(n int) { s.cells.grow(n) }

func (s *extremes) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := args[0]
	for i, g := range groups {
		if !v.IsNull(i) && (s.cells.null(g) || s.cells.compare(g, v, i) == s.sign) {
			s.cells.set(g, v, i)
		}
	}
}

func (s *extremes) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	s.Update(e, groups, partial)
}

func (s *extremes) Emit(_ *expr.Eval, groups []uint32) *vec.Vector { return s.cells.column(groups) }
func (s *extremes) Save(groups []uint32) []*vec.Vector {
	return []*vec.Vector{s.cells.column(groups)}
}
func (s *extremes) Clear(groups []uint32) { s.cells.clear(groups) }
func (s *extremes) Bytes() int64          { return s.cells.size() }
