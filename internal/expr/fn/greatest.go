package fn

import (
	"bytes"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func greatestFunctions() []*Function {
	return []*Function{
		{Name: "greatest", Bind: func(b *Binding) (*Bound, error) { return bindGreatest(b, 1) }},
		{Name: "least", Bind: func(b *Binding) (*Bound, error) { return bindGreatest(b, -1) }},
	}
}

// bindGreatest binds the choice of the largest (sign 1) or smallest (-1) argument; nulls are passed over.
func bindGreatest(b *Binding, sign int) (*Bound, error) {
	if err := b.Arity(2, -1); err != nil {
		return nil, err
	}
	t, ok := b.Args[0].Type, true
	want := make([]types.DataType, len(b.Args))
	null := true
	for _, a := range b.Args {
		if t, ok = WiderType(t, a.Type, b.ANSI); !ok {
			return nil, b.listedTypes()
		}
	}
	if !Orderable(t) {
		return nil, b.Unordered(t)
	}
	for i := range want {
		want[i] = t
	}
	bound := &Bound{Args: casts(b, want...), Type: t, NullsAreArgs: true}
	for i := range b.Args {
		null = null && b.argNullable(bound.Args, i)
	}
	bound.Nullable = null
	bound.New = func() Kernel { return greatestKernel(t, sign) }
	return bound, nil
}

// listedTypes is the error of arguments of different types, which greatest and least list in their own form.
func (b *Binding) listedTypes() error {
	quoted := make([]string, len(b.Args))
	for i, a := range b.Args {
		quoted[i] = quoteType(a.Type)
	}
	return errclass.New("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`",
		"dataType", "["+strings.Join(quoted, ", ")+"]")
}

func greatestKernel(t types.DataType, sign int) Kernel {
	switch vec.PhysOf(t) {
	case vec.PhysBool:
		return greatestFixed[uint8](sign)
	case vec.PhysInt8:
		return greatestFixed[int8](sign)
	case vec.PhysInt16:
		return greatestFixed[int16](sign)
	case vec.PhysInt32:
		return greatestFixed[int32](sign)
	case vec.PhysInt64:
		return greatestFixed[int64](sign)
	case vec.PhysFloat32:
		return greatestFixed[float32](sign)
	case vec.PhysFloat64:
		return greatestFixed[float64](sign)
	}
	var idx []uint32
	return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if cap(idx) < n {
			idx = make([]uint32, n)
		}
		idx = idx[:n]
		for i := range idx {
			best := -1
			for k, a := range args {
				if !a.IsNull(i) && (best < 0 || compareRow(a, args[best], i) == sign) {
					best = k
				}
			}
			idx[i] = vec.NoRow
			if best >= 0 {
				idx[i] = uint32(best*n + i)
			}
		}
		return vec.Take(vec.Concat(args), idx, nil)
	}
}

func compareRow(a, b *vec.Vector, i int) int {
	if a.Phys() == vec.PhysBytes {
		return bytes.Compare(a.BytesAt(i), b.BytesAt(i))
	}
	return vec.Compare(a, i, b, i)
}

func greatestFixed[T number | ~uint8](sign int) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		if n == 0 {
			return out
		}
		copy(dst, vec.Fixed[T](args[0]))
		valid := args[0].Validity().Clone()
		for _, a := range args[1:] {
			x := vec.Fixed[T](a)
			av := a.Validity()
			for i := range dst {
				if !av.Get(i) {
					continue
				}
				better := x[i] > dst[i] || x[i] != x[i] // NaN is the greatest
				if sign < 0 {
					better = x[i] < dst[i] || dst[i] != dst[i]
				}
				if !valid.Get(i) {
					valid.Set(i)
					better = true
				}
				if better {
					dst[i] = x[i]
				}
			}
		}
		out.SetValidity(valid)
		return out
	}
}
