package fn

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func collectionFunctions() []*Function {
	return joined([]*Function{
		{Name: "size", Aliases: []string{"cardinality"}, Bind: bindSize},
		{Name: "array_size", Bind: bindArraySize},
		{Name: "array_contains", Bind: bindArrayContains},
		{Name: "array_position", Bind: bindArrayPosition},
		{Name: "element_at", Bind: func(b *Binding) (*Bound, error) { return bindElementAt(b, false) }},
		{Name: "try_element_at", Bind: func(b *Binding) (*Bound, error) { return bindElementAt(b, true) }},
		{Name: "get", Bind: bindGet},
	}, arrayFunctions(), mapFunctions())
}

// bindSize counts the elements of an array or the entries of a map. Of null it is -1 outside of ANSI mode.
func bindSize(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	if !isArray(t) && !isMap(t) && !isNull(t) {
		return nil, b.wrongType(0, `("ARRAY" or "MAP")`)
	}
	legacy := !b.ANSI
	return &Bound{
		Args: make([]types.DataType, 1), Type: types.Integer, Nullable: !legacy && b.Args[0].Nullable, NullsAreArgs: legacy,
		New: func() Kernel {
			return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				out.ResetFixed(n)
				dst := vec.Fixed[int32](out)
				if args[0].Phys() == vec.PhysNull {
					fill(dst, -1)
					return out
				}
				spans, valid := args[0].Spans(), args[0].Validity()
				for i := range dst {
					if valid.Get(i) {
						dst[i] = int32(spans[i].Len)
					} else {
						dst[i] = -1
					}
				}
				return out
			}
		},
	}, nil
}

func bindArraySize(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	if _, err := b.Accept(anyArray); err != nil {
		return nil, err
	}
	bound, err := bindSize(b)
	if err != nil {
		return nil, err
	}
	bound.NullsAreArgs, bound.Nullable = false, b.Args[0].Nullable
	return bound, nil
}

// element settles the types of an array and a value that is compared with its elements.
func (b *Binding) element() ([]types.DataType, types.ArrayType, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, types.ArrayType{}, err
	}
	a, v := b.Args[0].Type, b.Args[1].Type
	if isNull(a) || isNull(v) {
		return nil, types.ArrayType{}, errclass.New("DATATYPE_MISMATCH.NULL_TYPE", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`")
	}
	arr, ok := a.(types.ArrayType)
	if !ok && b.Name != "array_remove" {
		return nil, types.ArrayType{}, b.wrongType(0, `"ARRAY"`)
	}
	t := types.DataType(types.Null)
	if ok {
		t, ok = WiderType(arr.Element, v, b.ANSI)
	}
	if !ok {
		return nil, types.ArrayType{}, errclass.New("DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES", "sqlExpr", b.SQL(),
			"functionName", "`"+b.Name+"`", "dataType", `"ARRAY"`, "leftType", quoteType(a), "rightType", quoteType(v))
	}
	if !Orderable(t) {
		return nil, types.ArrayType{}, b.Unordered(t)
	}
	want := types.ArrayType{Element: t, ContainsNull: arr.ContainsNull || ForcesNull(arr.Element, t)}
	c := make([]types.DataType, 2)
	if !types.Equal(arr.Element, t) {
		c[0] = want
	}
	if !types.Equal(v, t) {
		c[1] = t
	}
	return c, want, nil
}

// bindArrayContains is null when the value is not there and an element is null.
func bindArrayContains(b *Binding) (*Bound, error) {
	c, t, err := b.element()
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Boolean, Nullable: b.nullable(c) || t.ContainsNull, New: func() Kernel {
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
			at, null := findElement(args[0], args[1], i)
			return b2u(at >= 0), at >= 0 || !null
		})
	}}, nil
}

// findElement is the place of a value in row i's array, or -1; null tells that an element before it is null.
func findElement(v, value *vec.Vector, i int) (at int, null bool) {
	s, owner := v.SpanAt(i)
	kid := owner.Kids()[0]
	for k := range s.Len {
		switch row := int(s.Off + k); {
		case kid.IsNull(row):
			null = true
		case vec.Compare(kid, row, value, i) == 0:
			return int(k), null
		}
	}
	return -1, null
}

func bindArrayPosition(b *Binding) (*Bound, error) {
	c, _, err := b.element()
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Long, Nullable: b.nullable(c), New: func() Kernel {
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
			at, _ := findElement(args[0], args[1], i)
			return int64(at + 1), true
		})
	}}, nil
}

// pick makes the result of functions that choose one child row for each row: NoRow is null.
func pick(child func(args []*vec.Vector) *vec.Vector, choose func(e *expr.Eval, args []*vec.Vector, i int) uint32) Kernel {
	var (
		idx     []uint32
		scratch vec.Bitmap
		out     vec.Vector
	)
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if cap(idx) < n {
			idx = make([]uint32, n)
		}
		idx = idx[:n]
		valid := live(args, n, &scratch)
		for i := range idx {
			idx[i] = vec.NoRow
			if valid.Get(i) {
				idx[i] = choose(e, args, i)
			}
		}
		return vec.Take(child(args), idx, &out)
	}
}

func elements(args []*vec.Vector) *vec.Vector { return args[0].Kids()[0] }

func mapValues(args []*vec.Vector) *vec.Vector { return args[0].Kids()[1] }

// constElement tells whether a constant index leads to an element of a call of array, and whether that may be null. What is in
// other arrays Spark does not look at.
func (b *Binding) constElement(index int) (inside, null bool) {
	if of := b.Args[0].Elements; index >= 0 && index < len(of) {
		return true, of[index]
	}
	return false, true
}

func (b *Binding) constIndex(i int) (int, bool) {
	v := b.Args[i].Const
	if v == nil || v.IsNull(0) || !IsIntegral(b.Args[i].Type) {
		return 0, false
	}
	return int(loadInt(v, 0)), true
}

// bindMapItem looks a key up. A key that is not there gives null.
func bindMapItem(b *Binding, t types.MapType) (*Bound, error) {
	k, ok := WiderType(t.Key, b.Args[1].Type, b.ANSI)
	if ok && b.Name != "map_contains_key" && !tightest(t.Key, b.Args[1].Type, k) {
		ok = false
	}
	if !ok || isNull(b.Args[1].Type) && !isNull(t.Key) && b.Name == "map_contains_key" {
		return nil, b.otherKey()
	}
	if !Orderable(k) {
		return nil, b.Unordered(k)
	}
	c := casts(b, nil, k)
	if !types.Equal(k, t.Key) {
		c[0] = types.MapType{Key: k, Value: t.Value, ValueContainsNull: t.ValueContainsNull}
	}
	return &Bound{Args: c, Type: t.Value, Nullable: true, New: func() Kernel {
		return pick(mapValues, func(_ *expr.Eval, args []*vec.Vector, i int) uint32 { return findKey(args[0], args[1], i) })
	}}, nil
}

// tightest tells whether the wider type of two is one of them where a decimal is among them, and no other kind of number.
func tightest(x, y, wider types.DataType) bool {
	if types.Equal(x, y) || isNull(x) || isNull(y) || !isDecimal(x) && !isDecimal(y) {
		return true
	}
	return isDecimal(x) && IsIntegral(y) && types.Equal(wider, x) || isDecimal(y) && IsIntegral(x) && types.Equal(wider, y)
}

// otherKey is the error of a key that no map of such a type has: there is no promotion of strings between the two.
func (b *Binding) otherKey() error {
	if isNull(b.Args[1].Type) {
		return errclass.New("DATATYPE_MISMATCH.NULL_TYPE", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`")
	}
	return errclass.New("DATATYPE_MISMATCH.MAP_FUNCTION_DIFF_TYPES", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`", "dataType", `"MAP"`,
		"leftType", quoteType(b.Args[0].Type), "rightType", quoteType(b.Args[1].Type))
}

// findKey is the child row of row i's entry with a key, or NoRow.
func findKey(m, key *vec.Vector, i int) uint32 {
	s, owner := m.SpanAt(i)
	keys := owner.Kids()[0]
	for k := s.Off; k < s.Off+s.Len; k++ {
		if vec.Compare(keys, int(k), key, i) == 0 {
			return k
		}
	}
	return vec.NoRow
}

// bindElementAt binds element_at(array, index), from 1 or from the end, and element_at(map, key).
func bindElementAt(b *Binding, try bool) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	if t, ok := b.Args[0].Type.(types.MapType); ok {
		return bindMapItem(b, t)
	}
	t, ok := b.Args[0].Type.(types.ArrayType)
	if !ok {
		return nil, b.wrongType(0, `("ARRAY" or "MAP")`)
	}
	position := smallInt
	position.name, position.strict = integer.name, true
	c, err := b.Accept(anyArray, position)
	if err != nil {
		return nil, err
	}
	if !types.Equal(b.Args[1].Type, types.Integer) {
		c[1] = types.Integer
	}
	mode := b.Mode()
	if try {
		mode = expr.Null
	}
	null := true
	if k, ok := b.constIndex(1); ok {
		if k < 0 {
			k += len(b.Args[0].Elements) + 1
		}
		if inside, isNull := b.constElement(k - 1); inside {
			null = isNull
		}
	} else if mode == expr.Raise {
		null = b.nullable(c) || t.ContainsNull
	}
	return &Bound{Args: c, Type: t.Element, Nullable: null, CanFail: true, New: func() Kernel {
		return pick(elements, func(e *expr.Eval, args []*vec.Vector, i int) uint32 {
			k := int32At(args[1], i)
			s, _ := args[0].SpanAt(i)
			n := int(s.Len)
			switch {
			case k == 0:
				e.Errs.Add(i, errclass.New("INVALID_INDEX_OF_ZERO"))
				return vec.NoRow
			case k > n || k < -n:
				if mode == expr.Raise {
					e.Errs.Add(i, errclass.New("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "indexValue", itoa(k), "arraySize", itoa(n)))
				}
				return vec.NoRow
			case k < 0:
				return s.Off + uint32(n+k)
			}
			return s.Off + uint32(k-1)
		})
	}}, nil
}

// bindGet binds get(array, index), from 0, which gives null outside of the array.
func bindGet(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(anyArray, integer)
	if err != nil {
		return nil, err
	}
	t := b.Args[0].Type.(types.ArrayType)
	null := true
	if k, ok := b.constIndex(1); ok {
		if inside, isNull := b.constElement(k); inside {
			null = isNull
		}
	}
	return &Bound{Args: c, Type: t.Element, Nullable: null, New: func() Kernel {
		return pick(elements, func(_ *expr.Eval, args []*vec.Vector, i int) uint32 {
			k := int32At(args[1], i)
			s, _ := args[0].SpanAt(i)
			if k < 0 || k >= int(s.Len) {
				return vec.NoRow
			}
			return s.Off + uint32(k)
		})
	}}, nil
}
