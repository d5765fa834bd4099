package agg

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch/kll"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func kllFunctions() []*Function {
	all := kllFunctionsOf[int64]("_bigint", types.Long, fn.OneOf(types.Byte, types.Integer, types.Long, types.Short))
	all = append(all, kllFunctionsOf[float64]("_double", types.Double, fn.OneOf(types.Float, types.Double))...)
	return append(all, kllFunctionsOf[float32]("_float", types.Float, fn.OneOf(types.Float))...)
}

func kllFunctionsOf[T kll.Item](suffix string, item types.DataType, want fn.Accept) []*Function {
	return []*Function{
		{Name: "kll_sketch_agg" + suffix, Bind: func(b *Binding) (*Bound, error) { return bindKLLSketch[T](b, item, want) }},
		{Name: "kll_merge_agg" + suffix, Bind: bindKLLMerge[T]},
	}
}

// kllSize reads the second argument as k; it is 0 when left out.
func kllSize(b *Binding) (int, error) {
	if len(b.Args) < 2 {
		return 0, nil
	}
	c := b.call()
	if b.Args[1].Const == nil {
		return 0, c.NotFoldable(1, "`k`", `"INT"`)
	}
	k, ok := fn.ConstLong(b.Args[1])
	if !ok {
		return 0, c.IsNull("k")
	}
	if k < kll.MinK || k > kll.MaxK {
		return 0, c.Hint(errclass.New("KLL_SKETCH_K_OUT_OF_RANGE", "functionName", "`"+b.Name+"`", "k", strconv.FormatInt(k, 10)))
	}
	return int(k), nil
}

// kllKind are sketches of size k; with 0 they are of the size of the first that is merged.
func kllKind[T kll.Item](name string, k int) *objectKind[kll.Sketch[T]] {
	kind := &objectKind[kll.Sketch[T]]{
		result: types.Binary,
		fresh: func() *kll.Sketch[T] {
			if k == 0 {
				return kll.New[T](kll.DefaultK)
			}
			return kll.New[T](k)
		},
		save: func(b []byte, s *kll.Sketch[T]) []byte { return s.Image(b) },
		size: func(s *kll.Sketch[T]) int64 { return s.Size() },
	}
	kind.emit = func(out *vec.Builder, s *kll.Sketch[T]) error {
		if s == nil {
			s = kind.fresh()
		}
		appendImage(out, s.Image)
		return nil
	}
	kind.merge = func(s *kll.Sketch[T], image []byte) (*kll.Sketch[T], error) {
		o, err := kll.Parse[T](image)
		if err != nil {
			return nil, fn.BadSketch("KLL", name)
		}
		if s == nil {
			if k == 0 || k == o.K() {
				return o, nil
			}
			s = kind.fresh()
		}
		s.Merge(o)
		return s, nil
	}
	return kind
}

// bindKLLSketch binds kll_sketch_agg_x(value[, k]).
func bindKLLSketch[T kll.Item](b *Binding, item types.DataType, want fn.Accept) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(want, fn.OneOf(types.Integer))
	if err != nil {
		return nil, err
	}
	if !types.Equal(b.arg(casts, 0), item) {
		casts[0] = item
	}
	size, err := kllSize(b)
	if err != nil {
		return nil, err
	}
	kind := kllKind[T](b.Name, size)
	kind.update = func(_ *expr.Eval, get func(g uint32) *kll.Sketch[T], groups []uint32, args []*vec.Vector) {
		v := flatten(args[0])
		x := vec.Fixed[T](v)
		for i, g := range groups {
			if !v.IsNull(i) {
				get(g).Add(x[i])
			}
		}
	}
	return kind.bound(casts, false), nil
}

// bindKLLMerge binds kll_merge_agg_x(sketch[, k]).
func bindKLLMerge[T kll.Item](b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.OneOf(types.Binary), fn.OneOf(types.Integer))
	if err != nil {
		return nil, err
	}
	size, err := kllSize(b)
	if err != nil {
		return nil, err
	}
	kind := kllKind[T](b.Name, size)
	kind.fresh = func() *kll.Sketch[T] { return kll.New[T](max(size, kll.MinK)) }
	if size == 0 {
		kind.emit = func(out *vec.Builder, s *kll.Sketch[T]) error {
			if s == nil {
				s = kll.New[T](kll.DefaultK)
			}
			appendImage(out, s.Image)
			return nil
		}
	}
	kind.update = func(e *expr.Eval, get func(g uint32) *kll.Sketch[T], groups []uint32, args []*vec.Vector) {
		for i, g := range groups {
			if args[0].IsNull(i) {
				continue
			}
			o, err := kll.Parse[T](args[0].BytesAt(i))
			if err != nil {
				e.Errs.Add(i, fn.BadSketch("KLL", b.Name))
				continue
			}
			s := get(g)
			if size == 0 && s.N() == 0 {
				*s = *kll.New[T](o.K())
			}
			s.Merge(o)
		}
	}
	return kind.bound(casts, false), nil
}
