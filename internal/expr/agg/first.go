package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func firstFunctions() []*Function {
	one := func(name string, last bool, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindFirst(b, last) }}
	}
	return []*Function{one("first", false, "first_value", "any_value"), one("last", true, "last_value")}
}

// bindFirst binds the first or last value. A second argument, a constant, says whether nulls are passed over.
func bindFirst(b *Binding, last bool) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.AnyType, fn.Boolean)
	if err != nil {
		return nil, err
	}
	ignore := b.IgnoreNulls
	if len(b.Args) == 2 {
		if v := b.Args[1].Const; v != nil && !v.IsNull(0) && v.Phys() == vec.PhysBool {
			ignore = ignore || vec.At[uint8](v, 0) != 0
		}
	}
	t := b.Args[0].Type
	name := "first"
	if last {
		name = "last"
	}
	return &Bound{
		Args: casts, Type: t, Nullable: true,
		State: []types.Field{field(name, t, true), field("valueSet", types.Boolean, false)},
		New:   func() States { return &firsts{cells: newCells(t), last: last, ignore: ignore} },
	}, nil
}

// firsts keep the first or last value of each group.
type firsts struct {
	cells  cells
	seen   []bool // a row has been taken, null perhaps
	last   bool
	ignore bool
}

func (s *firsts) Grow(n int) {
	s.cells.grow(n)
	s.seen = grown(s.seen, n)
}

func (s *firsts) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := args[0]
	for i, g := range groups {
		if s.seen[g] && !s.last || s.ignore && v.IsNull(i) {
			continue
		}
		s.cells.set(g, v, i)
		s.seen[g] = true
	}
}

func (s *firsts) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	v := partial[0]
	for i, g := range groups {
		if vec.At[uint8](partial[1], i) == 0 || s.seen[g] && !s.last {
			continue
		}
		s.cells.set(g, v, i)
		s.seen[g] = true
	}
}

func (s *firsts) Emit(_ *expr.Eval, groups []uint32) *vec.Vector { return s.cells.column(groups) }

func (s *firsts) Save(groups []uint32) []*vec.Vector {
	return []*vec.Vector{s.cells.column(groups), bools(s.seen, groups)}
}

func (s *firsts) Clear(groups []uint32) {
	s.cells.clear(groups)
	for _, g := range groups {
		s.seen[g] = false
	}
}

func (s *firsts) Bytes() int64 { return s.cells.size() + int64(cap(s.seen)) }
