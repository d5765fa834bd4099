package agg

import (
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch/countmin"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func countMinFunctions() []*Function {
	return []*Function{{Name: "count_min_sketch", Bind: bindCountMin}}
}

// maxCounters bounds the table of a sketch: a tiny eps would take all memory.
const maxCounters = 1 << 26

// bindCountMin binds count_min_sketch(value, eps, confidence[, seed]).
func bindCountMin(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(3, 4); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Countable, fn.OneOf(types.Double), fn.OneOf(types.Double), fn.OneOf(types.Integer, types.Long))
	if err != nil {
		return nil, err
	}
	names, kinds := []string{"", "eps", "confidence", "seed"}, []string{"", `"DOUBLE"`, `"DOUBLE"`, `"LONG"`}
	for i, a := range b.Args[1:] {
		switch i++; {
		case a.Const == nil:
			return nil, c.NotFoldable(i, "`"+names[i]+"`", kinds[i])
		case a.Const.IsNull(0):
			return nil, c.IsNull(names[i])
		}
	}
	eps, _ := constFloat(b.Args[1])
	confidence, _ := constFloat(b.Args[2])
	width, depth := countmin.Shape(eps, confidence)
	out := func(name, from string, a fn.Arg) error {
		return errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", c.SQL(), "exprName", name, "valueRange", from, "currentValue", a.SQL)
	}
	switch {
	case !(eps > 0):
		return nil, out("eps", "(0.0, 1.7976931348623157E308]", b.Args[1])
	case !(confidence > 0 && confidence < 1):
		return nil, out("confidence", "(0.0, 1.0]", b.Args[2])
	case width*depth > maxCounters:
		return nil, out("eps", "["+strconv.FormatFloat(2*math.Max(depth, 1)/maxCounters, 'g', 3, 64)+", 1.7976931348623157E308]", b.Args[1])
	}
	seed := int64(0)
	if len(b.Args) == 4 {
		seed, _ = fn.ConstLong(b.Args[3])
		seed = int64(int32(seed)) // Spark uses no more of it
	}
	if fn.IsIntegral(b.arg(casts, 0)) && !types.Equal(b.arg(casts, 0), types.Long) || types.Equal(b.Args[0].Type, types.Null) {
		casts[0] = types.Long
	}
	k := &objectKind[countmin.Sketch]{
		result: types.Binary,
		fresh:  func() *countmin.Sketch { return countmin.New(eps, confidence, seed) },
		save:   func(b []byte, s *countmin.Sketch) []byte { return s.Image(b) },
		size:   func(s *countmin.Sketch) int64 { return s.Size() },
	}
	k.emit = func(out *vec.Builder, s *countmin.Sketch) error {
		if s == nil {
			s = k.fresh()
		}
		appendImage(out, s.Image)
		return nil
	}
	k.merge = func(s *countmin.Sketch, image []byte) (*countmin.Sketch, error) {
		o, err := countmin.Parse(image)
		if err != nil {
			return nil, errclass.New("INTERNAL_ERROR", "message", "count_min_sketch: "+err.Error())
		}
		if s != nil && s.Merge(o) {
			return s, nil
		}
		return o, nil
	}
	k.update = func(_ *expr.Eval, get func(g uint32) *countmin.Sketch, groups []uint32, args []*vec.Vector) {
		v := flatten(args[0])
		if v.Phys() == vec.PhysBytes {
			for i, g := range groups {
				if !v.IsNull(i) {
					get(g).AddBytes(v.BytesAt(i))
				}
			}
			return
		}
		for i, x := range vec.Fixed[int64](v)[:len(groups)] {
			if !v.IsNull(i) {
				get(groups[i]).AddLong(x)
			}
		}
	}
	return k.bound(casts, false), nil
}
