package agg

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

const maxTop = 100000

// bindTop binds max_by(value, key, k) and min_by(value, key, k): the values of the k best keys, the best first.
func bindTop(b *Binding, sign int) (*Bound, error) {
	c := b.call()
	t, key := b.Args[0].Type, b.Args[1].Type
	casts, err := c.Accept(fn.AnyType, fn.AnyType, fn.CastTo(types.Integer))
	if err != nil {
		return nil, err
	}
	if !fn.Orderable(key) {
		return nil, c.Unordered(key)
	}
	if b.Args[2].Const == nil {
		return nil, c.NotFoldable(2, "k", "int")
	}
	if b.Args[2].Const.IsNull(0) {
		return nil, c.IsNull("k")
	}
	k, ok := fn.ConstLong(b.Args[2])
	if ok && (k < 1 || k > maxTop) {
		return nil, errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", c.SQL(), "exprName", "`k`", "valueRange", "[1, 100000]",
			"currentValue", b.Args[2].SQL)
	}
	pair := types.ArrayType{Element: types.StructType{Fields: []types.Field{field("value", t, true), field("key", key, false)}}}
	result := types.ArrayType{Element: t, ContainsNull: true}
	return &Bound{
		Args: casts, Type: result, Nullable: true, State: []types.Field{field("pairs", pair, false)},
		New: func() States { return &tops{lists: lists{t: pair}, result: result, k: int(k), sign: sign} },
	}, nil
}

// tops keep pairs of value and key, up to twice as many as are wanted.
type tops struct {
	lists
	result  types.ArrayType
	k, sign int
}

func (s *tops) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	key := args[1]
	var rows, owners []uint32
	for i, g := range groups {
		if key.Phys() != vec.PhysNull && !key.IsNull(i) {
			rows, owners = append(rows, uint32(i)), append(owners, g)
		}
	}
	if len(rows) == 0 {
		return
	}
	value := vec.Take(args[0], rows, nil).Flatten()
	s.add(owners, vec.NewStruct(s.t.Element, len(rows), []*vec.Vector{value, vec.Take(key, rows, nil).Flatten()}))
	s.prune(owners)
}

func (s *tops) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	s.lists.Merge(e, groups, partial)
	s.prune(groups)
}

// prune drops pairs of groups that have far too many.
func (s *tops) prune(groups []uint32) {
	for _, g := range groups {
		if len(s.refs[g]) >= 2*s.k && len(s.refs[g]) > 8 {
			s.keepBest(g)
		}
	}
}

// keepBest puts the best pairs of a group in order and drops the others.
func (s *tops) keepBest(g uint32) {
	refs := s.refs[g]
	slices.SortStableFunc(refs, func(a, b ref) int {
		v, i := s.find(a)
		w, k := s.find(b)
		return s.sign * vec.Compare(v.Kids()[1], i, w.Kids()[1], k)
	})
	if len(refs) > s.k {
		s.live -= len(refs) - s.k
		s.bytes -= int64(len(refs)-s.k) * 8
		s.refs[g] = refs[:s.k:s.k]
	}
}

func (s *tops) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	for _, g := range groups {
		s.keepBest(g)
	}
	all := s.lists.Emit(nil, groups)
	spans := make([]vec.Span, len(groups))
	var none vec.Bitmap
	for i := range groups {
		spans[i], _ = all.SpanAt(i)
		if spans[i].Len == 0 {
			if none == nil {
				none = vec.NewBitmapSet(len(groups))
			}
			none.Clear(i)
		}
	}
	values := vec.NewBuilder(s.result.Element).Finish()
	if all.Kids()[0].Len() > 0 {
		values = all.Kids()[0].Kids()[0].Flatten().Own().WithType(s.result.Element)
	}
	out := vec.NewList(s.result, spans, values)
	out.SetValidity(none)
	return out
}
