package agg

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch/hll"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func hllFunctions() []*Function {
	return []*Function{{Name: "hll_sketch_agg", Bind: bindHLLSketch}, {Name: "hll_union_agg", Bind: bindHLLUnion}}
}

// hllState is a sketch, or a union once sketches were merged.
type hllState struct {
	s *hll.Sketch
	u *hll.Union
}

func (h *hllState) sketch() *hll.Sketch {
	if h.u != nil {
		return h.u.Result()
	}
	return h.s
}

// bindHLLSketch binds hll_sketch_agg(value[, lgConfigK]).
func bindHLLSketch(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.OneOf(types.Integer, types.Long, types.String, types.Binary), fn.OneOf(types.Integer))
	if err != nil {
		return nil, err
	}
	lgK := int64(12)
	if len(b.Args) > 1 {
		if b.Args[1].Const == nil {
			return nil, errclass.New("HLL_K_MUST_BE_CONSTANT", "function", "`"+b.Name+"`")
		}
		lgK, _ = fn.ConstLong(b.Args[1])
	}
	if lgK < hll.MinLgK || lgK > hll.MaxLgK {
		return nil, errclass.New("HLL_INVALID_LG_K", "function", "`"+b.Name+"`", "min", strconv.Itoa(hll.MinLgK), "max", strconv.Itoa(hll.MaxLgK),
			"value", strconv.FormatInt(lgK, 10))
	}
	k := hllKind(b.Name, int(lgK))
	k.update = func(_ *expr.Eval, get func(g uint32) *hllState, groups []uint32, args []*vec.Vector) {
		v := args[0]
		switch v.Phys() {
		case vec.PhysInt32:
			x := vec.Fixed[int32](flatten(v))
			for i, g := range groups {
				if !v.IsNull(i) {
					get(g).s.AddLong(int64(x[i]))
				}
			}
		case vec.PhysInt64:
			x := vec.Fixed[int64](flatten(v))
			for i, g := range groups {
				if !v.IsNull(i) {
					get(g).s.AddLong(x[i])
				}
			}
		case vec.PhysBytes:
			for i, g := range groups {
				if !v.IsNull(i) {
					get(g).s.AddBytes(v.BytesAt(i))
				}
			}
		}
	}
	return k.bound(casts, false), nil
}

func hllKind(name string, lgK int) *objectKind[hllState] {
	k := &objectKind[hllState]{
		result: types.Binary,
		save:   func(b []byte, s *hllState) []byte { return s.sketch().Image(b) },
		size:   func(s *hllState) int64 { return s.sketch().Size() },
		fresh:  func() *hllState { return &hllState{s: hll.New(lgK)} },
	}
	k.emit = func(out *vec.Builder, s *hllState) error {
		if s == nil {
			s = k.fresh()
		}
		appendImage(out, s.sketch().Image)
		return nil
	}
	k.merge = func(s *hllState, image []byte) (*hllState, error) {
		o, err := hll.Parse(image)
		if err != nil {
			return nil, fn.BadSketch("HLL", name)
		}
		u := hll.NewUnion(o.LgK())
		if s != nil {
			u.Add(s.sketch())
		}
		u.Add(o)
		return &hllState{s: u.Result()}, nil
	}
	return k
}

// bindHLLUnion binds hll_union_agg(sketch[, allowDifferentLgConfigK]).
func bindHLLUnion(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.OneOf(types.Binary), fn.OneOf(types.Boolean))
	if err != nil {
		return nil, err
	}
	allow := false
	if len(b.Args) > 1 {
		v := b.Args[1].Const
		allow = v != nil && v.Phys() == vec.PhysBool && !v.IsNull(0) && vec.At[uint8](v, 0) != 0
	}
	k := hllKind(b.Name, 12)
	k.fresh = func() *hllState { return &hllState{} }
	add := func(s *hllState, o *hll.Sketch) error {
		switch {
		case s.u == nil:
			s.u = hll.NewUnion(o.LgK())
		case s.u.Result().LgK() != o.LgK() && !allow:
			return fn.DifferentHLL(b.Name, s.u.Result().LgK(), o.LgK())
		}
		s.u.Add(o)
		return nil
	}
	k.update = func(e *expr.Eval, get func(g uint32) *hllState, groups []uint32, args []*vec.Vector) {
		for i, g := range groups {
			if args[0].IsNull(i) {
				continue
			}
			o, err := hll.Parse(args[0].BytesAt(i))
			if err != nil {
				err = fn.BadSketch("HLL", b.Name)
			} else {
				err = add(get(g), o)
			}
			if err != nil {
				e.Errs.Add(i, err)
			}
		}
	}
	k.merge = func(s *hllState, image []byte) (*hllState, error) {
		o, err := hll.Parse(image)
		if err != nil {
			return nil, fn.BadSketch("HLL", b.Name)
		}
		if s == nil {
			s = &hllState{}
		}
		return s, add(s, o)
	}
	k.emit = func(out *vec.Builder, s *hllState) error {
		if s == nil || s.u == nil {
			appendImage(out, hll.New(12).Image)
			return nil
		}
		appendImage(out, s.u.Result().Image)
		return nil
	}
	return k.bound(casts, false), nil
}
