package fn

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// itemFunctions are the subscripts x[i] of SQL and getItem of the DataFrame API.
func itemFunctions() []*Function { return []*Function{{Name: "getitem", Bind: bindItem}} }

func bindItem(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	switch t := b.Args[0].Type.(type) {
	case types.ArrayType:
		return b.bindElement(t)
	case types.MapType:
		return b.bindEntry(t)
	}
	return nil, b.wrongType(0, `("ARRAY" or "MAP")`)
}

// bindElement binds an array's element by its position from 0. A position outside of the array fails under ANSI.
func (b *Binding) bindElement(t types.ArrayType) (*Bound, error) {
	if !IsIntegral(b.Args[1].Type) && !isNull(b.Args[1].Type) {
		return nil, b.wrongType(1, integral.name)
	}
	ansi, null := b.ANSI, true
	if k, ok := b.constIndex(1); ok {
		if inside, isNull := b.constElement(k); inside {
			null = isNull
		}
	}
	return &Bound{
		Args: []types.DataType{nil, types.Long}, Type: t.Element, CanFail: ansi, Nullable: null,
		New: func() Kernel {
			var idx []uint32
			return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				idx = idx[:0]
				spans, pos := args[0].Spans(), vec.Fixed[int64](args[1])
				for i := range n {
					row := vec.NoRow
					if !args[0].IsNull(i) && !args[1].IsNull(i) {
						if p := pos[i]; p >= 0 && p < int64(spans[i].Len) {
							row = spans[i].Off + uint32(p)
						} else if ansi {
							e.Errs.Add(i, errclass.New("INVALID_ARRAY_INDEX", "indexValue", strconv.FormatInt(p, 10),
								"arraySize", strconv.Itoa(int(spans[i].Len))))
						}
					}
					idx = append(idx, row)
				}
				return vec.Take(args[0].Kids()[0], idx, out)
			}
		},
	}, nil
}

// bindEntry binds a map's value by key; there is none for a key that the map lacks.
func (b *Binding) bindEntry(t types.MapType) (*Bound, error) {
	key := b.Args[1]
	if !isNull(key.Type) && !ImplicitCast(key, t.Key, b.ANSI) {
		return nil, b.wrongType(1, quoteType(t.Key))
	}
	return &Bound{
		Args: []types.DataType{nil, t.Key}, Type: t.Value, Nullable: true,
		New: func() Kernel {
			var idx []uint32
			return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				idx = idx[:0]
				keys, values := args[0].Kids()[0], args[0].Kids()[1]
				for i := range n {
					row := vec.NoRow
					if !args[0].IsNull(i) && !args[1].IsNull(i) {
						s := args[0].Spans()[i]
						for k := s.Off; k < s.Off+s.Len; k++ {
							if vec.Equal(keys, int(k), args[1], i) {
								row = k
								break
							}
						}
					}
					idx = append(idx, row)
				}
				return vec.Take(values, idx, out)
			}
		},
	}, nil
}
