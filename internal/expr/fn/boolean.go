package fn

import (
	"slices"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func booleanFunctions() []*Function {
	return []*Function{
		{Name: "not", Aliases: []string{"!"}, Bind: bindNot},
		{Name: "isnull", Bind: bindIsNull(1)},
		{Name: "isnotnull", Bind: bindIsNull(0)},
		{Name: "isnan", Bind: bindIsNaN},
		{Name: "in", Bind: bindIn},
	}
}

func bindNot(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	operand := boolean
	operand.strict = !b.ANSI
	c, err := b.Accept(operand)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Boolean, Nullable: b.nullable(c), New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			x, dst := vec.Fixed[uint8](args[0]), vec.Fixed[uint8](out)
			dst = dst[:len(x)]
			for i := range x {
				dst[i] = x[i] ^ 1
			}
			return out
		}
	}}, nil
}

// bindIsNull binds the test that gives null for rows that are null.
func bindIsNull(null uint8) func(b *Binding) (*Bound, error) {
	return func(b *Binding) (*Bound, error) {
		if err := b.Arity(1, 1); err != nil {
			return nil, err
		}
		return &Bound{Args: make([]types.DataType, 1), Type: types.Boolean, NullsAreArgs: true, TakesConst: true, New: func() Kernel {
			return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				out.ResetFixed(n)
				dst := vec.Fixed[uint8](out)
				v := args[0]
				switch {
				case !v.HasNulls():
					fill(dst, null^1)
				case v.Encoding() == vec.Const || v.Phys() == vec.PhysNull:
					fill(dst, b2u(n > 0 && v.IsNull(0))^null^1)
				default:
					valid := v.Validity()
					for i := range dst {
						dst[i] = uint8(valid[i>>6]>>(uint(i)&63)&1) ^ null
					}
				}
				return out
			}
		}}, nil
	}
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

func bindIsNaN(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(Accept{
		name: `("DOUBLE" or "FLOAT")`, to: []types.DataType{types.Double},
		has: func(t types.DataType) bool { return rank(t) >= 5 },
	})
	if err != nil {
		return nil, err
	}
	float := vec.PhysOf(b.result(c, 0)) == vec.PhysFloat32
	return &Bound{Args: c, Type: types.Boolean, NullsAreArgs: true, New: func() Kernel {
		if float {
			return isNaN[float32]
		}
		return isNaN[float64]
	}}, nil
}

func isNaN[T floating](_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
	out.ResetFixed(n)
	x, dst := vec.Fixed[T](args[0]), vec.Fixed[uint8](out)
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = b2u(x[i] != x[i])
	}
	if valid := args[0].Validity(); valid != nil {
		for i := range dst {
			dst[i] &= b2u(valid.Get(i))
		}
	}
	return out
}

// bindIn binds x IN (values...). Nothing in the list is evaluated lazily. The result is null when there is no match and x or a
// value is null.
func bindIn(b *Binding) (*Bound, error) {
	if err := b.Arity(2, -1); err != nil {
		return nil, err
	}
	ts := make([]types.DataType, len(b.Args))
	for i, a := range b.Args {
		ts[i] = a.Type
	}
	t, ok := CommonTypes(ts, b.ANSI)
	if !ok && sameShapes(ts) { // the fields of structs may have other names
		t, ok = ts[0], true
	}
	if !ok {
		return nil, b.dataDiffTypes(ts, "in")
	}
	if !Orderable(t) {
		return nil, b.Unordered(t)
	}
	want := make([]types.DataType, len(b.Args))
	for i := range want {
		want[i] = t
	}
	bound := &Bound{Args: casts(b, want...), Type: types.Boolean, NullsAreArgs: true, TakesConst: true, Reached: notFound}
	bound.Nullable = b.nullable(bound.Args)
	bound.New = func() Kernel { return inKernel(compareKernel(t, cmpEq), vec.NewFixed(types.Boolean, 0)) }
	return bound, nil
}

// notFound tells whether the rest of a list matters: there is a value, and it was not among the items before.
func notFound(before []*vec.Vector, row int) bool {
	x := before[0]
	return !x.IsNull(row) && !slices.ContainsFunc(before[1:], func(y *vec.Vector) bool { return !y.IsNull(row) && vec.Equal(x, row, y, row) })
}

func sameShapes(ts []types.DataType) bool {
	return !slices.ContainsFunc(ts, func(t types.DataType) bool { return !types.SameShape(ts[0], t) })
}

// setSize is the length from which a list of constants is looked up in a set.
const setSize = 12

func inKernel(equal Kernel, tmp *vec.Vector) Kernel {
	var set *constSet
	var batch *expr.BatchParams
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[uint8](out)
		x, list := args[0], args[1:]
		if n == 0 {
			return out
		}
		if len(list) >= setSize && (set == nil || batch != e.Batch) { // constants may be the batch's own
			set, batch = newConstSet(list), e.Batch
		}
		if set != nil && set.usable(x) {
			set.find(dst, x)
			in := set.null
			for i := range dst {
				if x.IsNull(i) || dst[i] == 0 && in {
					setNull(out, i)
				}
			}
			return out
		}
		clear(dst)
		sawNull := false
		pair := [2]*vec.Vector{x}
		for _, y := range list {
			if y.Encoding() == vec.Const && y.IsNull(0) {
				sawNull = true
				continue
			}
			pair[1] = y
			tmp = equal(e, n, pair[:], tmp)
			eq := vec.Fixed[uint8](tmp)
			if !x.HasNulls() && !y.HasNulls() {
				for i := range dst {
					dst[i] |= eq[i]
				}
				continue
			}
			for i := range dst {
				dst[i] |= eq[i] & b2u(!x.IsNull(i) && !y.IsNull(i))
			}
		}
		nullable := sawNull || x.HasNulls()
		for _, y := range list {
			nullable = nullable || y.HasNulls()
		}
		for i := 0; nullable && i < len(dst); i++ {
			if dst[i] == 0 && (sawNull || x.IsNull(i) || anyNull(list, i)) {
				setNull(out, i)
			}
		}
		return out
	}
}

// constSet holds the values of a long list of constants.
type constSet struct {
	phys  vec.Phys
	ints  map[int64]struct{}
	texts map[string]struct{}
	null  bool // the list has a null
}

// newConstSet returns a set that is never usable when the values are not all constants of a layout that it takes.
func newConstSet(list []*vec.Vector) *constSet {
	s := &constSet{phys: list[0].Phys(), ints: map[int64]struct{}{}, texts: map[string]struct{}{}}
	for _, v := range list {
		if v.Encoding() != vec.Const || v.Len() == 0 {
			return &constSet{}
		}
		if v.IsNull(0) {
			s.null = true
			continue
		}
		switch s.phys {
		case vec.PhysInt8:
			s.ints[int64(vec.At[int8](v, 0))] = struct{}{}
		case vec.PhysInt16:
			s.ints[int64(vec.At[int16](v, 0))] = struct{}{}
		case vec.PhysInt32:
			s.ints[int64(vec.At[int32](v, 0))] = struct{}{}
		case vec.PhysInt64:
			s.ints[vec.At[int64](v, 0)] = struct{}{}
		case vec.PhysBytes:
			s.texts[string(v.BytesAt(0))] = struct{}{}
		default:
			return &constSet{}
		}
	}
	return s
}

func (s *constSet) usable(x *vec.Vector) bool {
	return s.ints != nil && x.Phys() == s.phys && x.Encoding() == vec.Flat
}

func (s *constSet) find(dst []uint8, x *vec.Vector) {
	switch s.phys {
	case vec.PhysInt8:
		findInts(s.ints, dst, vec.Fixed[int8](x))
	case vec.PhysInt16:
		findInts(s.ints, dst, vec.Fixed[int16](x))
	case vec.PhysInt32:
		findInts(s.ints, dst, vec.Fixed[int32](x))
	case vec.PhysInt64:
		findInts(s.ints, dst, vec.Fixed[int64](x))
	case vec.PhysBytes:
		for i := range dst {
			if x.IsNull(i) {
				continue
			}
			_, ok := s.texts[string(x.BytesAt(i))]
			dst[i] = b2u(ok)
		}
	}
}

func findInts[T signed](set map[int64]struct{}, dst []uint8, x []T) {
	for i, v := range x {
		_, ok := set[int64(v)]
		dst[i] = b2u(ok)
	}
}
