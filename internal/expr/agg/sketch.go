package agg

import (
	"math"
	mathbits "math/bits"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func sketchFunctions() []*Function {
	return []*Function{{Name: "approx_count_distinct", Bind: bindApproxCountDistinct}}
}

// bindApproxCountDistinct binds HyperLogLog over Spark's hash. A second argument is the wanted relative standard deviation.
func bindApproxCountDistinct(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.AnyType, fn.Double)
	if err != nil {
		return nil, err
	}
	rsd := 0.05
	if len(b.Args) == 2 {
		v, ok := constFloat(b.Args[1])
		_, isDecimal := b.Args[1].Type.(types.DecimalType)
		if !ok || !isDecimal && !types.SameType(b.Args[1].Type, types.Double) {
			return nil, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", c.SQL(), "inputName", "`relativeSD`",
				"inputType", `"DOUBLE"`, "inputExpr", `"`+b.Args[1].SQL+`"`)
		}
		rsd = v
	}
	p := int(math.Ceil(2 * math.Log(1.106/rsd) / math.Log(2)))
	if p < 4 {
		return nil, errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", c.SQL(), "exprName", "relativeSD",
			"valueRange", "(0, 0.39]", "currentValue", b.Args[len(b.Args)-1].SQL)
	}
	return &Bound{
		Args: casts, Type: types.Long, State: []types.Field{field("registers", types.Binary, false)},
		New: func() States { return &sketches{p: min(p, 24)} },
	}, nil
}

func constFloat(a fn.Arg) (float64, bool) {
	v := a.Const
	if v == nil || v.IsNull(0) {
		return 0, false
	}
	switch v.Phys() {
	case vec.PhysFloat64:
		return vec.At[float64](v, 0), true
	case vec.PhysFloat32:
		return float64(vec.At[float32](v, 0)), true
	case vec.PhysInt32:
		return float64(vec.At[int32](v, 0)), true
	}
	if d, ok := v.Type().(types.DecimalType); ok {
		return float64FromDecimal(v, d), true
	}
	return 0, false
}

func float64FromDecimal(v *vec.Vector, d types.DecimalType) float64 {
	x := decimalAt(v, 0)
	f := float64(x.Lo)
	return f / math.Pow10(d.Scale)
}

// hashSeed is the seed of Spark's sketches.
const hashSeed = 42

// sketches hold 2^p registers for each group that has seen a value.
type sketches struct {
	p      int
	groups [][]uint8
	used   int
}

func (s *sketches) Grow(n int) { s.groups = grown(s.groups, n) }

func (s *sketches) registers(g uint32) []uint8 {
	if s.groups[g] == nil {
		s.groups[g] = make([]uint8, 1<<s.p)
		s.used++
	}
	return s.groups[g]
}

func (s *sketches) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := args[0]
	for i, g := range groups {
		if v.IsNull(i) {
			continue
		}
		h := fn.XXHashRow(v, i, hashSeed)
		idx := h >> (64 - s.p)
		rank := uint8(mathbits.LeadingZeros64(h<<s.p|1<<(s.p-1))) + 1
		r := s.registers(g)
		r[idx] = max(r[idx], rank)
	}
}

func (s *sketches) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	for i, g := range groups {
		b := partial[0].BytesAt(i)
		if len(b) != 1<<s.p {
			continue
		}
		r := s.registers(g)
		for k, x := range b {
			r[k] = max(r[k], x)
		}
	}
}

func (s *sketches) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	v := vec.NewFixed(types.Long, len(groups))
	dst := vec.Fixed[int64](v)
	for i, g := range groups {
		if s.groups[g] != nil {
			dst[i] = estimate(s.groups[g], s.p)
		}
	}
	return v
}

func (s *sketches) Save(groups []uint32) []*vec.Vector {
	b := vec.NewBuilder(types.Binary)
	for _, g := range groups {
		b.AppendBytes(s.groups[g])
	}
	return []*vec.Vector{b.Finish()}
}

func (s *sketches) Clear(groups []uint32) {
	for _, g := range groups {
		if s.groups[g] != nil {
			s.groups[g] = nil
			s.used--
		}
	}
}

func (s *sketches) Bytes() int64 { return int64(s.used)<<s.p + int64(cap(s.groups))*24 }
