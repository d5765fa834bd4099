package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func byFunctions() []*Function {
	return []*Function{
		{Name: "max_by", Bind: func(b *Binding) (*Bound, error) { return bindBy(b, -1) }},
		{Name: "min_by", Bind: func(b *Binding) (*Bound, error) { return bindBy(b, 1) }},
	}
}

// bindBy binds the value that belongs to the largest or smallest key. Rows with a null key do not count.
func bindBy(b *Binding, sign int) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 3); err != nil {
		return nil, err
	}
	if len(b.Args) == 3 {
		return bindTop(b, sign)
	}
	t, key := b.Args[0].Type, b.Args[1].Type
	if !fn.Orderable(key) {
		return nil, c.Unordered(key)
	}
	return &Bound{
		Args: make([]types.DataType, 2), Type: t, Nullable: true,
		State: []types.Field{field("value", t, true), field("key", key, true)},
		New:   func() States { return &bys{values: newCells(t), keys: newCells(key), sign: sign} },
	}, nil
}

// bys keep a key and the value that came with it.
type bys struct {
	values, keys cells
	sign         int // of the comparison of the key held with a better one
}

func (s *bys) Grow(n int) {
	s.values.grow(n)
	s.keys.grow(n)
}

func (s *bys) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v, k := args[0], args[1]
	for i, g := range groups {
		if k.IsNull(i) {
			continue
		}
		// Of equal keys the last one counts.
		if !s.keys.null(g) && s.keys.compare(g, k, i) == -s.sign {
			continue
		}
		s.keys.set(g, k, i)
		s.values.set(g, v, i)
	}
}

func (s *bys) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	s.Update(e, groups, partial)
}

func (s *bys) Emit(_ *expr.Eval, groups []uint32) *vec.Vector { return s.values.column(groups) }

func (s *bys) Save(groups []uint32) []*vec.Vector {
	return []*vec.Vector{s.values.column(groups), s.keys.column(groups)}
}

func (s *bys) Clear(groups []uint32) {
	s.values.clear(groups)
	s.keys.clear(groups)
}

func (s *bys) Bytes() int64 { return s.values.size() + s.keys.size() }
