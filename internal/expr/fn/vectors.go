package fn

import (
	"math"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// FloatVector are arrays of FLOAT.
var FloatVector = Accept{name: `"ARRAY<FLOAT>"`, strict: true, has: func(t types.DataType) bool {
	a, ok := t.(types.ArrayType)
	return ok && types.SameType(a.Element, types.Float)
}}

func vectorFunctions() []*Function {
	pair := func(name string, f func(x, y []float32) (float32, bool)) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindVectorPair(b, f) }}
	}
	return []*Function{
		pair("vector_cosine_similarity", cosine),
		pair("vector_inner_product", func(x, y []float32) (float32, bool) { return dot(x, y), true }),
		pair("vector_l2_distance", func(x, y []float32) (float32, bool) {
			var sum float32
			for i, v := range x {
				d := v - y[i]
				sum += d * d
			}
			return float32(math.Sqrt(float64(sum))), true
		}),
		{Name: "vector_norm", Bind: bindVectorNorm},
		{Name: "vector_normalize", Bind: bindVectorNormalize},
	}
}

func dot(x, y []float32) (sum float32) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// cosine is null for a vector of length zero.
func cosine(x, y []float32) (float32, bool) {
	n := float32(math.Sqrt(float64(dot(x, x) * dot(y, y))))
	return dot(x, y) / n, n != 0
}

// VectorAt is the numbers of row i; ok is false when there is a null among them.
func VectorAt(v *vec.Vector, i int) (x []float32, ok bool) {
	s, owner := v.SpanAt(i)
	kid := owner.Kids()[0]
	if kid.Validity() != nil || kid.Phys() == vec.PhysNull {
		for k := s.Off; k < s.Off+s.Len; k++ {
			if kid.IsNull(int(k)) {
				return nil, false
			}
		}
	}
	return vec.Fixed[float32](kid)[s.Off : s.Off+s.Len], true
}

// bindVectorPair binds a number made of two vectors with as many elements.
func bindVectorPair(b *Binding, f func(x, y []float32) (float32, bool)) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(FloatVector)
	if err != nil {
		return nil, err
	}
	name := "`" + b.Name + "`"
	return &Bound{Args: c, Type: types.Float, Nullable: true, CanFail: true, New: func() Kernel {
		return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (float32, bool) {
			m, _ := args[0].SpanAt(i)
			n, _ := args[1].SpanAt(i)
			if m.Len != n.Len {
				e.Errs.Add(i, errclass.New("VECTOR_DIMENSION_MISMATCH", "functionName", name,
					"leftDim", itoa(int(m.Len)), "rightDim", itoa(int(n.Len))))
				return 0, true
			}
			x, ok1 := VectorAt(args[0], i)
			y, ok2 := VectorAt(args[1], i)
			if !ok1 || !ok2 {
				return 0, false
			}
			return f(x, y)
		})
	}}, nil
}

// normDegree is the degree that row i wants, 2 by default.
func normDegree(e *expr.Eval, args []*vec.Vector, i int, name string) (degree float32, ok bool) {
	degree = 2
	if len(args) == 2 {
		degree = vec.At[float32](args[1], i)
	}
	if degree != 1 && degree != 2 && !math.IsInf(float64(degree), 1) {
		e.Errs.Add(i, errclass.New("INVALID_VECTOR_NORM_DEGREE", "functionName", name, "degree", string(numtext.AppendFloat(nil, float64(degree), 32))))
		return 0, false
	}
	return degree, true
}

func norm(x []float32, degree float32) float32 {
	switch degree {
	case 1:
		var sum float32
		for _, v := range x {
			sum += float32(math.Abs(float64(v)))
		}
		return sum
	case 2:
		return float32(math.Sqrt(float64(dot(x, x))))
	}
	var most float32
	for _, v := range x {
		most = max(most, float32(math.Abs(float64(v))))
	}
	return most
}

func vectorArgs(b *Binding) ([]types.DataType, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	return b.Accept(FloatVector, strict(only(types.Float)))
}

// bindVectorNorm binds vector_norm(vector[, degree]) with the degrees 1, 2 and infinity.
func bindVectorNorm(b *Binding) (*Bound, error) {
	c, err := vectorArgs(b)
	if err != nil {
		return nil, err
	}
	name := "`" + b.Name + "`"
	return &Bound{Args: c, Type: types.Float, Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
		return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (float32, bool) {
			degree, ok := normDegree(e, args, i, name)
			if !ok {
				return 0, true
			}
			x, ok := VectorAt(args[0], i)
			return norm(x, degree), ok
		})
	}}, nil
}

// bindVectorNormalize binds the division of a vector by its norm.
func bindVectorNormalize(b *Binding) (*Bound, error) {
	c, err := vectorArgs(b)
	if err != nil {
		return nil, err
	}
	t := types.ArrayType{Element: types.Float}
	name := "`" + b.Name + "`"
	return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
		var values []float32
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			kid := vec.NewFixed(types.Float, 0)
			spans := out.ResetList(n, kid)
			values = values[:0]
			for i := range spans {
				spans[i] = vec.Span{Off: uint32(len(values))}
				if anyNull(args, i) {
					continue
				}
				degree, ok := normDegree(e, args, i, name)
				if !ok {
					continue
				}
				x, ok := VectorAt(args[0], i)
				length := norm(x, degree)
				if !ok || length == 0 && len(x) > 0 {
					setNull(out, i)
					continue
				}
				for _, v := range x {
					values = append(values, v/length)
				}
				spans[i].Len = uint32(len(x))
			}
			kid.ResetFixed(len(values))
			copy(vec.Fixed[float32](kid), values)
			return out
		}
	}}, nil
}
