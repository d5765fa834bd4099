package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch/theta"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func tupleFunctions() []*Function {
	return append(tupleFunctionsOf("_double", types.Double, theta.Doubles), tupleFunctionsOf("_integer", types.Integer, theta.Integers)...)
}

func tupleFunctionsOf[N float64 | int32](suffix string, t types.DataType, form theta.Tuple[theta.Summary[N]]) []*Function {
	return []*Function{
		{Name: "tuple_sketch_agg" + suffix, Bind: func(b *Binding) (*Bound, error) { return bindTupleSketch(b, t, form) }},
		{Name: "tuple_union_agg" + suffix, Bind: func(b *Binding) (*Bound, error) { return bindTupleUnion(b, form) }},
		{Name: "tuple_intersection_agg" + suffix, Bind: func(b *Binding) (*Bound, error) { return bindTupleIntersection(b, form) }},
	}
}

func tupleKind[N float64 | int32](name string, lgK int, mode theta.Mode, form theta.Tuple[theta.Summary[N]]) *objectKind[theta.Union[theta.Summary[N]]] {
	type union = theta.Union[theta.Summary[N]]
	k := &objectKind[union]{
		result: types.Binary,
		fresh: func() *union {
			return theta.NewUnion(lgK, func(have *theta.Summary[N], o theta.Summary[N]) { have.Merge(mode, o) })
		},
		save: func(b []byte, u *union) []byte { return form.TupleImage(b, u.Result()) },
		size: func(u *union) int64 { return int64(u.Size())*24 + 128 },
	}
	k.emit = func(out *vec.Builder, u *union) error {
		if u == nil {
			u = k.fresh()
		}
		appendImage(out, func(b []byte) []byte { return form.TupleImage(b, u.Result()) })
		return nil
	}
	k.merge = func(u *union, image []byte) (*union, error) {
		c, err := fn.ParseTuple(form, name, image)
		if err != nil {
			return nil, err
		}
		if u == nil {
			u = k.fresh()
		}
		u.Merge(c)
		return u, nil
	}
	return k
}

// bindTupleSketch binds tuple_sketch_agg_x(key, summary[, lgNomEntries[, mode]]).
func bindTupleSketch[N float64 | int32](b *Binding, t types.DataType, form theta.Tuple[theta.Summary[N]]) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 4); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.CastTo(hashable...), fn.CastTo(t), fn.CastTo(types.Integer), fn.CastTo(types.String))
	if err != nil {
		return nil, err
	}
	lgK, err := c.TupleSize(2)
	if err != nil {
		return nil, err
	}
	mode, err := c.TupleMode(3)
	if err != nil {
		return nil, err
	}
	k := tupleKind(b.Name, lgK, mode, form)
	k.update = func(_ *expr.Eval, get func(g uint32) *theta.Union[theta.Summary[N]], groups []uint32, args []*vec.Vector) {
		numbers := flatten(args[1])
		x := vec.Fixed[N](numbers)
		eachHash(args[0], len(groups), func(i int, h uint64) {
			if numbers.IsNull(i) {
				return
			}
			u := get(groups[i])
			switch s, added := u.Add(h); {
			case added:
				*s = theta.Start[N](mode)
				s.Add(x[i])
				u.Tidy()
			case s != nil:
				s.Add(x[i])
			}
		})
	}
	return k.bound(casts, false), nil
}

// bindTupleUnion binds tuple_union_agg_x(sketch[, lgNomEntries[, mode]]).
func bindTupleUnion[N float64 | int32](b *Binding, form theta.Tuple[theta.Summary[N]]) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 3); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.CastTo(types.Binary), fn.CastTo(types.Integer), fn.CastTo(types.String))
	if err != nil {
		return nil, err
	}
	lgK, err := c.TupleSize(1)
	if err != nil {
		return nil, err
	}
	mode, err := c.TupleMode(2)
	if err != nil {
		return nil, err
	}
	k := tupleKind(b.Name, lgK, mode, form)
	k.update = func(e *expr.Eval, get func(g uint32) *theta.Union[theta.Summary[N]], groups []uint32, args []*vec.Vector) {
		for i, g := range groups {
			if args[0].IsNull(i) {
				continue
			}
			s, err := fn.ParseTuple(form, b.Name, args[0].BytesAt(i))
			if err != nil {
				e.Errs.Add(i, err)
				continue
			}
			get(g).Merge(s)
		}
	}
	return k.bound(casts, false), nil
}

// bindTupleIntersection binds tuple_intersection_agg_x(sketch[, mode]).
func bindTupleIntersection[N float64 | int32](b *Binding, form theta.Tuple[theta.Summary[N]]) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.CastTo(types.Binary), fn.CastTo(types.String))
	if err != nil {
		return nil, err
	}
	mode, err := c.TupleMode(1)
	if err != nil {
		return nil, err
	}
	return intersections(b.Name, func(image []byte) (*theta.Sketch[theta.Summary[N]], error) { return fn.ParseTuple(form, b.Name, image) },
		form.TupleImage, func(s, o theta.Summary[N]) theta.Summary[N] { s.Merge(mode, o); return s }).bound(casts, false), nil
}
