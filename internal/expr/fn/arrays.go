package fn

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func arrayFunctions() []*Function {
	one := func(name string, keep func(t types.ArrayType) types.ArrayType, choose chooser) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindOneArray(b, keep, sameValues, choose) }}
	}
	same := func(t types.ArrayType) types.ArrayType { return t }
	two := func(name string, op setOp) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindTwoArrays(b, op) }}
	}
	extreme := func(name string, sign int) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindArrayExtreme(b, sign) }}
	}
	return []*Function{
		{Name: "array_distinct", Bind: func(b *Binding) (*Bound, error) {
			bound, err := bindOneArray(b, same, withoutNegativeZeros, distinctRows)
			if t := b.Args; err == nil && isArray(t[0].Type) && !Orderable(t[0].Type) {
				return nil, b.Unordered(t[0].Type)
			}
			return bound, err
		}},
		one("array_compact", func(t types.ArrayType) types.ArrayType { t.ContainsNull = false; return t }, notNullRows),
		{Name: "sort_array", Bind: bindSortArray},
		{Name: "array_sort", Bind: func(b *Binding) (*Bound, error) {
			return bindSorted(b, 1, func([]*vec.Vector, int) (bool, bool) { return false, true })
		}},
		{Name: "array_join", Bind: bindArrayJoin},
		extreme("array_max", 1), extreme("array_min", -1),
		{Name: "array_repeat", Bind: bindArrayRepeat},
		{Name: "array_remove", Bind: bindArrayRemove},
		{Name: "array_append", Bind: func(b *Binding) (*Bound, error) { return bindArrayAdd(b, false) }},
		{Name: "array_prepend", Bind: func(b *Binding) (*Bound, error) { return bindArrayAdd(b, true) }},
		{Name: "array_insert", Bind: bindArrayInsert},
		two("array_union", setUnion), two("array_intersect", setIntersect), two("array_except", setExcept),
		{Name: "arrays_overlap", Bind: bindArraysOverlap},
		{Name: "arrays_zip", Bind: bindArraysZip},
		{Name: "flatten", Bind: bindFlatten},
		{Name: "slice", Bind: bindSlice},
		{Name: "sequence", Bind: bindSequence},
		{Name: "shuffle", Bind: bindShuffle},
	}
}

// chooser appends the child rows that make up row i's result.
type chooser func(e *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32

// arrayOf makes arrays of child rows that choose picks out of the vector that from gives.
func arrayOf(t types.ArrayType, from func(args []*vec.Vector) *vec.Vector, choose chooser) Kernel {
	var (
		rows    []uint32
		spans   []vec.Span
		scratch vec.Bitmap
	)
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if cap(spans) < n {
			spans = make([]vec.Span, n)
		}
		spans, rows = spans[:n], rows[:0]
		valid := live(args, n, &scratch)
		child := from(args)
		for i := range spans {
			at := len(rows)
			if valid.Get(i) {
				rows = choose(e, rows, args, i)
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(rows) - at)}
		}
		kid := vec.Take(child, rows, nil).Flatten().WithType(t.Element)
		return borrowed(vec.NewList(t, spans, kid))
	}
}

func sameValues(v *vec.Vector) *vec.Vector { return v }

// bindOneArray binds a function whose results have elements of its argument, after a change to all of them.
func bindOneArray(
	b *Binding, keep func(t types.ArrayType) types.ArrayType, change func(kid *vec.Vector) *vec.Vector, choose chooser,
) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	t, ok := b.Args[0].Type.(types.ArrayType)
	if !ok {
		return nil, b.wrongType(0, `"ARRAY"`)
	}
	t = keep(t)
	return &Bound{Args: make([]types.DataType, 1), Type: t, Nullable: b.Args[0].Nullable, New: func() Kernel {
		return arrayOf(t, func(args []*vec.Vector) *vec.Vector { return change(elements(args)) }, choose)
	}}, nil
}

func notNullRows(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
	s, owner := args[0].SpanAt(i)
	for k := s.Off; k < s.Off+s.Len; k++ {
		if !owner.Kids()[0].IsNull(int(k)) {
			rows = append(rows, k)
		}
	}
	return rows
}

// distinctRows keeps the first of equal elements.
func distinctRows(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
	s, owner := args[0].SpanAt(i)
	return appendDistinct(rows, len(rows), owner.Kids()[0], s)
}

// appendDistinct adds the rows of a span that do not equal a row from start on.
func appendDistinct(rows []uint32, start int, kid *vec.Vector, s vec.Span) []uint32 {
	if s.Len > 32 {
		return appendDistinctMany(rows, start, kid, s)
	}
next:
	for k := s.Off; k < s.Off+s.Len; k++ {
		for _, r := range rows[start:] {
			if vec.Compare(kid, int(r), kid, int(k)) == 0 {
				continue next
			}
		}
		rows = append(rows, k)
	}
	return rows
}

func appendDistinctMany(rows []uint32, start int, kid *vec.Vector, s vec.Span) []uint32 {
	all := append([]uint32(nil), rows[start:]...)
	old := len(all)
	for k := s.Off; k < s.Off+s.Len; k++ {
		all = append(all, k)
	}
	var keys vec.KeyBuffer
	vec.EncodeKeys([]*vec.Vector{vec.Take(kid, all, nil)}, len(all), &keys)
	seen := make(map[string]struct{}, len(all))
	for i, k := range all {
		key := string(keys.Key(i))
		if _, ok := seen[key]; !ok {
			seen[key] = struct{}{}
			if i >= old {
				rows = append(rows, k)
			}
		}
	}
	return rows
}

// bindSortArray binds sort_array(array[, ascending]); nulls come first when ascending and last otherwise.
func bindSortArray(b *Binding) (*Bound, error) {
	if len(b.Args) == 2 {
		a := b.Args[1]
		if !isArray(b.Args[0].Type) && !isNull(b.Args[0].Type) {
			return nil, b.wrongType(0, anyArray.name)
		}
		if a.Const == nil {
			return nil, b.NotFoldable(1, "`ascendingOrder`", quoteType(a.Type))
		}
		if !isNull(a.Type) && !isBoolean(a.Type) {
			return nil, b.wrongType(1, boolean.name)
		}
	}
	return bindSorted(b, 2, func(args []*vec.Vector, i int) (descending, nullsLast bool) {
		descending = len(args) == 2 && vec.At[uint8](args[1], i) == 0
		return descending, descending
	})
}

func bindSorted(b *Binding, most int, order func(args []*vec.Vector, i int) (descending, nullsLast bool)) (*Bound, error) {
	if err := b.Arity(1, most); err != nil {
		return nil, err
	}
	array := anyArray
	if most == 2 {
		array.to = []types.DataType{types.ArrayType{Element: types.NullType{}, ContainsNull: true}}
	}
	c, err := b.Accept(array, boolean)
	if err != nil {
		return nil, err
	}
	if isNull(b.Args[0].Type) && most == 2 { // sort_array takes a null for an array of nulls
		t := types.ArrayType{Element: types.NullType{}, ContainsNull: true}
		c[0] = t
		return &Bound{Args: c, Type: t, Nullable: true, New: func() Kernel { return allNull(t) }}, nil
	}
	t, ok := b.Args[0].Type.(types.ArrayType)
	if !ok {
		return nil, b.wrongType(0, `"ARRAY"`)
	}
	if !Orderable(t.Element) {
		return nil, b.Unordered(t)
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), New: func() Kernel {
		return arrayOf(t, elements, func(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
			s, owner := args[0].SpanAt(i)
			kid := owner.Kids()[0]
			at := len(rows)
			for k := s.Off; k < s.Off+s.Len; k++ {
				rows = append(rows, k)
			}
			descending, nullsLast := order(args, i)
			slices.SortStableFunc(rows[at:], func(x, y uint32) int {
				nx, ny := kid.IsNull(int(x)), kid.IsNull(int(y))
				if nx || ny {
					if nx == ny {
						return 0
					}
					if nx == nullsLast {
						return 1
					}
					return -1
				}
				c := vec.Compare(kid, int(x), kid, int(y))
				if descending {
					return -c
				}
				return c
			})
			return rows
		})
	}}, nil
}

// bindArrayJoin binds array_join(array, delimiter[, text for nulls]); without the last, nulls are left out.
func bindArrayJoin(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	a, ok := b.Args[0].Type.(types.ArrayType)
	if !ok {
		return nil, b.wrongType(0, `"ARRAY<STRING>"`)
	}
	strs := types.ArrayType{Element: types.String, ContainsNull: a.ContainsNull}
	c, err := b.Accept(Accept{
		name: `"ARRAY<STRING>"`, to: []types.DataType{strs},
		has: func(t types.DataType) bool { e, ok := t.(types.ArrayType); return ok && isText(e.Element) },
	}, strict(text))
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.String, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			s, owner := args[0].SpanAt(i)
			kid := owner.Kids()[0]
			first := true
			for k := s.Off; k < s.Off+s.Len; k++ {
				null := kid.IsNull(int(k))
				if null && len(args) < 3 {
					continue
				}
				if !first {
					b = append(b, args[1].BytesAt(i)...)
				}
				first = false
				if null {
					b = append(b, args[2].BytesAt(i)...)
				} else {
					b = append(b, kid.BytesAt(int(k))...)
				}
			}
			return b, true
		})
	}}, nil
}

func bindArrayExtreme(b *Binding, sign int) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	t, ok := b.Args[0].Type.(types.ArrayType)
	if !ok {
		return nil, b.wrongType(0, `"ARRAY"`)
	}
	if !Orderable(t.Element) {
		return nil, b.Unordered(t)
	}
	return &Bound{Args: make([]types.DataType, 1), Type: t.Element, Nullable: true, New: func() Kernel {
		return pick(elements, func(_ *expr.Eval, args []*vec.Vector, i int) uint32 {
			s, owner := args[0].SpanAt(i)
			kid := owner.Kids()[0]
			best := vec.NoRow
			for k := s.Off; k < s.Off+s.Len; k++ {
				if !kid.IsNull(int(k)) && (best == vec.NoRow || vec.Compare(kid, int(k), kid, int(best)) == sign) {
					best = k
				}
			}
			return best
		})
	}}, nil
}

// bindArrayRepeat repeats a value, which may be null.
func bindArrayRepeat(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(anyType, strict(integer))
	if err != nil {
		return nil, err
	}
	t := types.ArrayType{Element: b.Args[0].Type, ContainsNull: b.Args[0].Nullable}
	return &Bound{Args: c, Type: t, Nullable: b.argNullable(c, 1), NullsAreArgs: true, New: func() Kernel {
		var rows []uint32
		return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			spans := make([]vec.Span, n)
			rows = rows[:0]
			for i := range spans {
				at := len(rows)
				if !args[1].IsNull(i) {
					for range max(int32At(args[1], i), 0) {
						rows = append(rows, uint32(i))
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(rows) - at)}
			}
			list := vec.NewList(t, spans, vec.Take(args[0], rows, nil).Flatten())
			list.SetValidity(args[1].Validity())
			return borrowed(list)
		}
	}}, nil
}

func bindArrayRemove(b *Binding) (*Bound, error) {
	c, t, err := b.element()
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), New: func() Kernel {
		return arrayOf(t, elements, func(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
			s, owner := args[0].SpanAt(i)
			kid := owner.Kids()[0]
			for k := s.Off; k < s.Off+s.Len; k++ {
				if kid.IsNull(int(k)) || vec.Compare(kid, int(k), args[1], i) != 0 {
					rows = append(rows, k)
				}
			}
			return rows
		})
	}}, nil
}

// both puts the elements of an array and single values behind one another, values from row base on.
func both(values func(args []*vec.Vector) *vec.Vector) (from func(args []*vec.Vector) *vec.Vector, base *uint32) {
	base = new(uint32)
	return func(args []*vec.Vector) *vec.Vector {
		kid := elements(args).Flatten()
		*base = uint32(kid.Len())
		return vec.Concat([]*vec.Vector{kid, values(args).WithType(kid.Type())})
	}, base
}

// bindArrayAdd binds array_append and array_prepend; a null value becomes an element.
func bindArrayAdd(b *Binding, front bool) (*Bound, error) {
	c, t, err := b.elementAny()
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: t, Nullable: b.argNullable(c, 0), NullsAreArgs: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			from, base := both(func(args []*vec.Vector) *vec.Vector { return args[1] })
			child := from(args)
			var rows []uint32
			spans := make([]vec.Span, n)
			for i := range spans {
				at := len(rows)
				if !args[0].IsNull(i) {
					if front {
						rows = append(rows, *base+uint32(i))
					}
					s, _ := args[0].SpanAt(i)
					for k := s.Off; k < s.Off+s.Len; k++ {
						rows = append(rows, k)
					}
					if !front {
						rows = append(rows, *base+uint32(i))
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(rows) - at)}
			}
			list := vec.NewList(t, spans, vec.Take(child, rows, nil).Flatten())
			list.SetValidity(args[0].Validity())
			return borrowed(list)
		}
	}}, nil
}

// elementAny is element for functions that do not compare values, so that nulls are welcome.
func (b *Binding) elementAny() ([]types.DataType, types.ArrayType, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, types.ArrayType{}, err
	}
	return b.elementTypes(0, 1)
}

func (b *Binding) elementTypes(array, value int) ([]types.DataType, types.ArrayType, error) {
	arr, ok := b.Args[array].Type.(types.ArrayType)
	if !ok && !isNull(b.Args[array].Type) && b.Name != "array_insert" {
		return nil, arr, b.wrongType(array, `"ARRAY"`)
	}
	t := types.DataType(types.Null)
	if ok {
		t, ok = WiderType(arr.Element, b.Args[value].Type, b.ANSI)
	}
	if !ok {
		return nil, arr, errclass.New("DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`",
			"dataType", `"ARRAY"`, "leftType", quoteType(b.Args[array].Type), "rightType", quoteType(b.Args[value].Type))
	}
	c := make([]types.DataType, len(b.Args))
	want := types.ArrayType{Element: t, ContainsNull: arr.ContainsNull || b.Args[value].Nullable}
	if !types.Equal(arr.Element, t) {
		c[array] = types.ArrayType{Element: t, ContainsNull: arr.ContainsNull || ForcesNull(arr.Element, t)}
	}
	if !types.Equal(b.Args[value].Type, t) {
		c[value] = t
	}
	return c, want, nil
}

// bindArrayInsert binds array_insert(array, position, value): positions from 1, or from the end; a gap is filled with nulls.
func bindArrayInsert(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 3); err != nil {
		return nil, err
	}
	c, t, err := b.elementTypes(0, 2)
	if err != nil {
		return nil, err
	}
	position := smallInt
	position.strict = true
	if _, ok := position.implicit(b.Args[1], b.ANSI); !ok || isNull(b.Args[1].Type) {
		return nil, b.wrongType(1, integer.name)
	}
	if !types.Equal(b.Args[1].Type, types.Integer) {
		c[1] = types.Integer
	}
	return &Bound{Args: c, Type: t, Nullable: b.argNullable(c, 0) || b.argNullable(c, 1), NullsAreArgs: true, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			from, base := both(func(args []*vec.Vector) *vec.Vector { return args[2] })
			child := from(args)
			var rows []uint32
			spans := make([]vec.Span, n)
			valid := vec.NewBitmapSet(n)
			for i := range spans {
				at := len(rows)
				if args[0].IsNull(i) || args[1].IsNull(i) {
					valid.Clear(i)
				} else {
					rows = insertRows(e, rows, args, i, *base+uint32(i))
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(rows) - at)}
			}
			list := vec.NewList(t, spans, vec.Take(child, rows, nil).Flatten())
			list.SetValidity(valid)
			return borrowed(list)
		}
	}}, nil
}

func insertRows(e *expr.Eval, rows []uint32, args []*vec.Vector, i int, value uint32) []uint32 {
	s, _ := args[0].SpanAt(i)
	n, pos := int(s.Len), int32At(args[1], i)
	if pos == 0 {
		e.Errs.Add(i, errclass.New("INVALID_INDEX_OF_ZERO"))
		return rows
	}
	if pos < 0 && -pos > n+1 { // in front of the array, with a gap
		rows = append(rows, value)
		for range -pos - n - 1 {
			rows = append(rows, vec.NoRow)
		}
		for k := range s.Len {
			rows = append(rows, s.Off+k)
		}
		return rows
	}
	at := pos - 1
	if pos < 0 {
		at = n + pos + 1
	}
	for k := range max(n, at) {
		if k == at {
			rows = append(rows, value)
		}
		if k < n {
			rows = append(rows, s.Off+uint32(k))
		} else {
			rows = append(rows, vec.NoRow)
		}
	}
	if at >= n {
		rows = append(rows, value)
	}
	return rows
}

// setOp is an operation of two arrays as sets.
type setOp uint8

const (
	setUnion setOp = iota
	setIntersect
	setExcept
)

// twoArrays settles the common type of two arrays.
func (b *Binding) twoArrays() ([]types.DataType, types.ArrayType, types.ArrayType, error) {
	var x, y types.ArrayType
	if err := b.Arity(2, 2); err != nil {
		return nil, x, y, err
	}
	x, okX := b.Args[0].Type.(types.ArrayType)
	y, okY := b.Args[1].Type.(types.ArrayType)
	t := types.DataType(types.Null)
	ok := okX && okY
	if ok {
		t, ok = WiderType(x.Element, y.Element, b.ANSI)
	}
	if !ok {
		return nil, x, y, errclass.New("DATATYPE_MISMATCH.BINARY_ARRAY_DIFF_TYPES", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`",
			"arrayType", `"ARRAY"`, "leftType", quoteType(b.Args[0].Type), "rightType", quoteType(b.Args[1].Type))
	}
	if !Orderable(t) {
		return nil, x, y, b.Unordered(t)
	}
	c := make([]types.DataType, 2)
	for i, a := range []*types.ArrayType{&x, &y} {
		if !types.Equal(a.Element, t) {
			a.ContainsNull = a.ContainsNull || ForcesNull(a.Element, t)
			a.Element = t
			c[i] = *a
		}
	}
	return c, x, y, nil
}

func bindTwoArrays(b *Binding, op setOp) (*Bound, error) {
	c, x, y, err := b.twoArrays()
	if err != nil {
		return nil, err
	}
	t := x
	switch op {
	case setUnion:
		t.ContainsNull = x.ContainsNull || y.ContainsNull
	case setIntersect:
		t.ContainsNull = x.ContainsNull && y.ContainsNull
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), New: func() Kernel {
		from, base := both(func(args []*vec.Vector) *vec.Vector { return args[1].Kids()[0].Flatten() })
		var kid *vec.Vector
		return arrayOf(t, func(args []*vec.Vector) *vec.Vector { kid = withoutNegativeZeros(from(args)); return kid },
			func(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
				s, _ := args[0].SpanAt(i)
				r, _ := args[1].SpanAt(i)
				r.Off += *base
				start := len(rows)
				rows = appendDistinct(rows, start, kid, s)
				if op == setUnion {
					return appendDistinct(rows, start, kid, r)
				}
				kept := rows[:start]
				for _, row := range rows[start:] {
					if contains(kid, r, row) == (op == setIntersect) {
						kept = append(kept, row)
					}
				}
				return kept
			})
	}}, nil
}

func contains(kid *vec.Vector, s vec.Span, row uint32) bool {
	for k := s.Off; k < s.Off+s.Len; k++ {
		if vec.Compare(kid, int(k), kid, int(row)) == 0 {
			return true
		}
	}
	return false
}

// bindArraysOverlap is null when nothing is in common and there are nulls.
func bindArraysOverlap(b *Binding) (*Bound, error) {
	c, x, y, err := b.twoArrays()
	if err != nil {
		return nil, err
	}
	null := b.nullable(c) || x.ContainsNull || y.ContainsNull
	return &Bound{Args: c, Type: types.Boolean, Nullable: null, New: func() Kernel {
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
			s, a := args[0].SpanAt(i)
			r, z := args[1].SpanAt(i)
			null := false
			for k := s.Off; k < s.Off+s.Len; k++ {
				for j := r.Off; j < r.Off+r.Len; j++ {
					kn, jn := a.Kids()[0].IsNull(int(k)), z.Kids()[0].IsNull(int(j))
					if kn || jn {
						null = true
					} else if vec.Compare(a.Kids()[0], int(k), z.Kids()[0], int(j)) == 0 {
						return 1, true
					}
				}
			}
			return 0, !null
		})
	}}, nil
}
