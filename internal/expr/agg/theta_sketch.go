package agg

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch"
	"github.com/millrace/millrace/internal/sketch/theta"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func thetaFunctions() []*Function {
	return []*Function{
		{Name: "theta_sketch_agg", Bind: bindThetaSketch},
		{Name: "theta_union_agg", Bind: bindThetaUnion},
		{Name: "theta_intersection_agg", Bind: bindThetaIntersection},
	}
}

// hashable are the types that Theta and Tuple sketches take values of.
var hashable = []types.DataType{
	types.ArrayType{Element: types.Integer, ContainsNull: true},
	types.ArrayType{Element: types.Long, ContainsNull: true},
	types.Binary, types.Double, types.Float, types.Integer, types.Long, types.String,
}

// eachHash calls add with the hash of each value that counts: NULL, empty texts and empty arrays do not.
func eachHash(v *vec.Vector, n int, add func(i int, h uint64)) {
	v = flatten(v)
	switch v.Phys() {
	case vec.PhysInt32:
		for i, x := range vec.Fixed[int32](v)[:n] {
			if !v.IsNull(i) {
				add(i, theta.HashLong(int64(x)))
			}
		}
	case vec.PhysInt64:
		for i, x := range vec.Fixed[int64](v)[:n] {
			if !v.IsNull(i) {
				add(i, theta.HashLong(x))
			}
		}
	case vec.PhysFloat32:
		for i, x := range vec.Fixed[float32](v)[:n] {
			if !v.IsNull(i) {
				add(i, theta.HashLong(sketch.DoubleBits(float64(x))))
			}
		}
	case vec.PhysFloat64:
		for i, x := range vec.Fixed[float64](v)[:n] {
			if !v.IsNull(i) {
				add(i, theta.HashLong(sketch.DoubleBits(x)))
			}
		}
	case vec.PhysBytes:
		for i := range n {
			if !v.IsNull(i) && len(v.BytesAt(i)) > 0 {
				add(i, theta.HashBytes(v.BytesAt(i)))
			}
		}
	case vec.PhysList:
		eachListHash(v, n, add)
	}
}

func eachListHash(v *vec.Vector, n int, add func(i int, h uint64)) {
	items := flatten(v.Kids()[0])
	var longs []int64
	var ints []int32
	for i := range n {
		span, ok := v.SpanAt(i)
		if v.IsNull(i) || ok == nil || span.Len == 0 {
			continue
		}
		from, to := span.Off, span.Off+span.Len
		if items.Phys() == vec.PhysInt32 {
			ints = append(ints[:0], vec.Fixed[int32](items)[from:to]...)
			for k := range ints {
				if items.IsNull(int(from) + k) {
					ints[k] = 0
				}
			}
			add(i, theta.HashInts(ints))
			continue
		}
		longs = append(longs[:0], vec.Fixed[int64](items)[from:to]...)
		for k := range longs {
			if items.IsNull(int(from) + k) {
				longs[k] = 0
			}
		}
		add(i, theta.HashLongs(longs))
	}
}

type thetaUnion = theta.Union[theta.None]

// thetaSize reads argument i as lgNomEntries.
func thetaSize(b *Binding, i int) (int, error) {
	lgK := int64(12)
	if i < len(b.Args) {
		if b.Args[i].Const == nil {
			return 0, errclass.New("THETA_LG_NOM_ENTRIES_MUST_BE_CONSTANT", "function", "`"+b.Name+"`")
		}
		lgK, _ = fn.ConstLong(b.Args[i])
	}
	if lgK < theta.MinLgK || lgK > theta.MaxLgK {
		return 0, fn.BadSize(b.Name, lgK)
	}
	return int(lgK), nil
}

func thetaKind(name string, lgK int) *objectKind[thetaUnion] {
	k := &objectKind[thetaUnion]{
		result: types.Binary,
		fresh:  func() *thetaUnion { return theta.NewUnion(lgK, func(*theta.None, theta.None) {}) },
		save:   func(b []byte, u *thetaUnion) []byte { return theta.Image(b, u.Result()) },
		size:   func(u *thetaUnion) int64 { return int64(u.Size())*8 + 128 },
	}
	k.emit = func(out *vec.Builder, u *thetaUnion) error {
		if u == nil {
			u = k.fresh()
		}
		appendImage(out, func(b []byte) []byte { return theta.Image(b, u.Result()) })
		return nil
	}
	k.merge = func(u *thetaUnion, image []byte) (*thetaUnion, error) {
		c, err := theta.Parse(image)
		if err != nil {
			return nil, fn.BadSketch("THETA", name)
		}
		if u == nil {
			u = k.fresh()
		}
		u.Merge(c)
		return u, nil
	}
	return k
}

// bindThetaSketch binds theta_sketch_agg(value[, lgNomEntries]).
func bindThetaSketch(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.OneOf(hashable...), fn.OneOf(types.Integer))
	if err != nil {
		return nil, err
	}
	lgK, err := thetaSize(b, 1)
	if err != nil {
		return nil, err
	}
	k := thetaKind(b.Name, lgK)
	k.update = func(_ *expr.Eval, get func(g uint32) *thetaUnion, groups []uint32, args []*vec.Vector) {
		eachHash(args[0], len(groups), func(i int, h uint64) {
			u := get(groups[i])
			if _, added := u.Add(h); added {
				u.Tidy()
			}
		})
	}
	return k.bound(casts, false), nil
}

// bindThetaUnion binds theta_union_agg(sketch[, lgNomEntries]).
func bindThetaUnion(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.OneOf(types.Binary), fn.OneOf(types.Integer))
	if err != nil {
		return nil, err
	}
	lgK, err := thetaSize(b, 1)
	if err != nil {
		return nil, err
	}
	k := thetaKind(b.Name, lgK)
	k.update = func(e *expr.Eval, get func(g uint32) *thetaUnion, groups []uint32, args []*vec.Vector) {
		for i, g := range groups {
			if args[0].IsNull(i) {
				continue
			}
			s, err := theta.Parse(args[0].BytesAt(i))
			if err != nil {
				e.Errs.Add(i, fn.BadSketch("THETA", b.Name))
				continue
			}
			get(g).Merge(s)
		}
	}
	return k.bound(casts, false), nil
}

// bindThetaIntersection binds theta_intersection_agg(sketch).
func bindThetaIntersection(b *Binding) (*Bound, error) {
	if err := b.call().Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := b.call().Accept(fn.OneOf(types.Binary))
	if err != nil {
		return nil, err
	}
	k := intersections(b.Name, func(image []byte) (*theta.Sketch[theta.None], error) {
		s, err := theta.Parse(image)
		if err != nil {
			return nil, fn.BadSketch("THETA", b.Name)
		}
		return s, nil
	}, theta.Image, func(s, _ theta.None) theta.None { return s })
	return k.bound(casts, false), nil
}

// intersections keep what all sketches of a group have in common.
func intersections[S any](name string, parse func(image []byte) (*theta.Sketch[S], error), image func(b []byte, s *theta.Sketch[S]) []byte,
	merge func(s, o S) S,
) *objectKind[theta.Sketch[S]] {
	k := &objectKind[theta.Sketch[S]]{
		result: types.Binary, save: image,
		fresh: func() *theta.Sketch[S] { return &theta.Sketch[S]{} },
		size:  func(s *theta.Sketch[S]) int64 { return int64(len(s.Hashes))*16 + 96 },
	}
	k.emit = func(out *vec.Builder, s *theta.Sketch[S]) error {
		if s == nil {
			return errclass.New("INTERNAL_ERROR", "message", name+" has no sketch to intersect; filter out groups without any")
		}
		appendImage(out, func(b []byte) []byte { return image(b, s) })
		return nil
	}
	k.merge = func(s *theta.Sketch[S], part []byte) (*theta.Sketch[S], error) {
		o, err := parse(part)
		if err != nil || s == nil {
			return o, err
		}
		return theta.Intersect(s, o, merge), nil
	}
	k.update = func(e *expr.Eval, get func(g uint32) *theta.Sketch[S], groups []uint32, args []*vec.Vector) {
		for i, g := range groups {
			if args[0].IsNull(i) {
				continue
			}
			o, err := parse(args[0].BytesAt(i))
			if err != nil {
				e.Errs.Add(i, err)
				continue
			}
			if s := get(g); s.IsUnset() {
				*s = *o
			} else {
				*s = *theta.Intersect(s, o, merge)
			}
		}
	}
	return k
}
