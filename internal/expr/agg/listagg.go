package agg

import (
	"slices"
	"strconv"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// bindListAgg binds the texts, or bytes, of a group joined by a constant, which is nothing by default.
func bindListAgg(b *Binding) (*Bound, error) {
	args := len(b.Args) - len(b.Keys)
	values := *b
	values.Args = b.Args[:args]
	c := values.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.CastTo(types.String, types.Binary))
	if err != nil {
		return nil, err
	}
	t := values.arg(casts, 0)
	sep := ""
	if args == 2 {
		if b.Args[1].Const == nil {
			return nil, c.NotFoldable(1, "`delimiter`", `"`+types.String.SQL()+`"`)
		}
		if st := values.arg(casts, 1); !types.Equal(st, t) && !types.Equal(b.Args[1].Type, types.Null) {
			_, x := t.(types.BinaryType)
			if _, y := st.(types.BinaryType); x != y {
				return nil, c.DifferentTypes(t, st)
			}
		}
		if v := b.Args[1].Const; v.Phys() == vec.PhysBytes && !v.IsNull(0) {
			sep = string(v.BytesAt(0))
		} else {
			sep, _ = fn.ConstText(b.Args[1])
		}
	}
	join := func(out *vec.Builder, v *vec.Vector, rows func(yield func(int) bool)) {
		buf := out.Buffer()
		first := true
		for row := range rows {
			if !first {
				buf = append(buf, sep...)
			}
			first = false
			buf = append(buf, v.BytesAt(row)...)
		}
		out.CommitBytes(buf)
	}
	if len(b.Keys) == 0 {
		return &Bound{
			Args: casts, Type: t, Nullable: true, State: []types.Field{field("values", types.ArrayType{Element: t}, false)},
			New: newRanks(t, t, func(out *vec.Builder, v *vec.Vector, s vec.Span) {
				join(out, v, func(yield func(int) bool) {
					for k := range int(s.Len) {
						if !yield(int(s.Off) + k) {
							return
						}
					}
				})
			}),
		}, nil
	}
	for _, a := range b.Args[args:] {
		if !fn.Orderable(a.Type) {
			return nil, b.call().Unordered(a.Type)
		}
	}
	entry := sortedEntry(t, b.Args[args:])
	keys := slices.Clone(b.Keys)
	return &Bound{
		Args: append(casts, make([]types.DataType, len(keys))...), Type: t, Nullable: true,
		State: []types.Field{field("entries", types.ArrayType{Element: entry}, false)},
		New: func() States {
			r := ranks{lists: lists{t: types.ArrayType{Element: entry}}, result: t}
			r.emit = func(out *vec.Builder, v *vec.Vector, s vec.Span) {
				join(out, v.Kids()[0], slices.Values(inOrder(v, s, keys)))
			}
			return &sorted{ranks: r, keys: args}
		},
	}, nil
}

// sortedEntry is a value with its sort keys.
func sortedEntry(t types.DataType, keys []fn.Arg) types.StructType {
	entry := types.StructType{Fields: []types.Field{field("value", t, true)}}
	for i, a := range keys {
		entry.Fields = append(entry.Fields, field("key"+strconv.Itoa(i+1), a.Type, true))
	}
	return entry
}

// inOrder are the rows of a span of entries in the order of their keys; equal ones stay as they came.
func inOrder(v *vec.Vector, s vec.Span, keys []Key) []int {
	rows := make([]int, s.Len)
	for k := range rows {
		rows[k] = int(s.Off) + k
	}
	cols := v.Kids()[1:]
	slices.SortStableFunc(rows, func(x, y int) int {
		for k, key := range keys {
			c := 0
			switch a, b := cols[k].IsNull(x), cols[k].IsNull(y); {
			case a && b:
				continue
			case a || b:
				if a == key.NullsFirst {
					return -1
				}
				return 1
			default:
				c = vec.Compare(cols[k], x, cols[k], y)
			}
			if key.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}

// sorted are ranks of values with the keys that they are sorted by; a value that is null does not count.
type sorted struct {
	ranks
	keys int // the first key among the arguments
}

func (s *sorted) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	if args[0].Phys() == vec.PhysNull {
		return
	}
	var rows, owners []uint32
	for i, g := range groups {
		if !args[0].IsNull(i) {
			rows, owners = append(rows, uint32(i)), append(owners, g)
		}
	}
	if len(rows) == 0 {
		return
	}
	kids := []*vec.Vector{vec.Take(args[0], rows, nil).Flatten()}
	for _, k := range args[s.keys:] {
		kids = append(kids, vec.Take(k, rows, nil).Flatten())
	}
	s.add(owners, vec.NewStruct(s.t.Element, len(rows), kids))
}
