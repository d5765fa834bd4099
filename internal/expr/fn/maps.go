package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/javare"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func mapFunctions() []*Function {
	part := func(name string, of func(t types.MapType) types.ArrayType, kid func(m *vec.Vector, t types.ArrayType) *vec.Vector) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindMapPart(b, of, kid) }}
	}
	return []*Function{
		part("map_keys", func(t types.MapType) types.ArrayType { return types.ArrayOf(t.Key) },
			func(m *vec.Vector, _ types.ArrayType) *vec.Vector { return m.Kids()[0] }),
		part("map_values", func(t types.MapType) types.ArrayType { return types.ArrayOf(t.Value) }, func(m *vec.Vector, _ types.ArrayType) *vec.Vector { return m.Kids()[1] }),
		part("map_entries", func(t types.MapType) types.ArrayType {
			return types.ArrayType{Element: types.Struct(types.Field{Name: "key", Type: t.Key},
				types.Field{Name: "value", Type: t.Value, Nullable: t.ValueContainsNull})}
		}, func(m *vec.Vector, t types.ArrayType) *vec.Vector {
			return vec.NewStruct(t.Element, m.Kids()[0].Len(), []*vec.Vector{m.Kids()[0], m.Kids()[1]})
		}),
		{Name: "map_from_arrays", Bind: bindMapFromArrays},
		{Name: "map_from_entries", Bind: bindMapFromEntries},
		{Name: "map_concat", Bind: bindMapConcat},
		{Name: "map_contains_key", Bind: bindMapContainsKey},
		{Name: "str_to_map", Bind: bindStrToMap},
	}
}

func bindMapPart(b *Binding, of func(t types.MapType) types.ArrayType, kid func(m *vec.Vector, t types.ArrayType) *vec.Vector) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	m, ok := b.Args[0].Type.(types.MapType)
	if !ok {
		return nil, b.wrongType(0, `"MAP"`)
	}
	t := of(m)
	return &Bound{Args: make([]types.DataType, 1), Type: t, Nullable: b.Args[0].Nullable, New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			return borrowed(vec.NewList(t, args[0].Spans()[:n], kid(args[0], t)))
		}
	}}, nil
}

func bindMapFromArrays(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	var parts [2]types.ArrayType
	for i, a := range b.Args {
		t, ok := a.Type.(types.ArrayType)
		if !ok {
			return nil, b.wrongType(i, `"ARRAY"`)
		}
		parts[i] = t
	}
	t := types.MapType{Key: parts[0].Element, Value: parts[1].Element, ValueContainsNull: parts[1].ContainsNull}
	return &Bound{Args: make([]types.DataType, 2), Type: t, Nullable: b.nullable(nil), CanFail: true, New: func() Kernel {
		var scratch vec.Bitmap
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			valid := live(args, n, &scratch)
			spans := make([]vec.Span, n)
			var keys, values []uint32
			for i := range spans {
				at := len(keys)
				if valid.Get(i) {
					s, _ := args[0].SpanAt(i)
					r, _ := args[1].SpanAt(i)
					if s.Len != r.Len {
						e.Errs.Add(i, errclass.New("MAP_KEY_VALUE_SIZE_MISMATCH"))
						s.Len, r.Len = 0, 0
					}
					for k := range s.Len {
						keys, values = append(keys, s.Off+k), append(values, r.Off+k)
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(keys) - at)}
			}
			ks := vec.Take(args[0].Kids()[0], keys, nil).Flatten()
			vs := vec.Take(args[1].Kids()[0], values, nil).Flatten()
			return borrowed(newMaps(e, t, spans, ks, vs, valid, b.lastWins(), true))
		}
	}}, nil
}

// bindMapFromEntries makes maps of arrays of pairs; a null pair makes the map null.
func bindMapFromEntries(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	a, _ := b.Args[0].Type.(types.ArrayType)
	pair, ok := a.Element.(types.StructType)
	if !ok || len(pair.Fields) != 2 {
		return nil, b.wrongType(0, `"ARRAY" of pair "STRUCT"`)
	}
	t := types.MapType{Key: pair.Fields[0].Type, Value: pair.Fields[1].Type, ValueContainsNull: pair.Fields[1].Nullable}
	return &Bound{Args: make([]types.DataType, 1), Type: t, Nullable: b.Args[0].Nullable || a.ContainsNull, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			v := args[0]
			pairs := v.Kids()[0].Flatten()
			valid := vec.NewBitmapSet(n)
			for i := range n {
				if v.IsNull(i) {
					valid.Clear(i)
					continue
				}
				s, _ := v.SpanAt(i)
				for k := s.Off; k < s.Off+s.Len; k++ {
					if pairs.IsNull(int(k)) {
						valid.Clear(i)
					}
				}
			}
			m := newMaps(e, t, v.Spans()[:n], pairs.Kids()[0].Flatten(), pairs.Kids()[1].Flatten(), valid, b.lastWins(), false)
			m.SetValidity(valid)
			return borrowed(m)
		}
	}}, nil
}

func bindMapConcat(b *Binding) (*Bound, error) {
	ts := make([]types.DataType, len(b.Args))
	for i, a := range b.Args {
		ts[i] = a.Type
	}
	common, ok := CommonTypes(ts, b.ANSI)
	t, isM := common.(types.MapType)
	if len(b.Args) == 0 {
		t, ok, isM = types.MapType{Key: types.String, Value: types.String}, true, true
	}
	if !ok || !isM {
		return nil, errclass.New("DATATYPE_MISMATCH.MAP_CONCAT_DIFF_TYPES", "sqlExpr", b.SQL(), "functionName", "`map_concat`",
			"dataType", "["+typeList(ts)+"]")
	}
	want := make([]types.DataType, len(ts))
	for i := range want {
		if !types.SameShape(ts[i], t) {
			want[i] = t
		}
	}
	return &Bound{Args: want, Type: t, Nullable: b.nullable(nil), CanFail: true, New: func() Kernel {
		var scratch vec.Bitmap
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			spans := make([]vec.Span, n)
			if len(args) == 0 {
				return borrowed(vec.NewMap(t, spans, emptyOf(t.Key), emptyOf(t.Value)))
			}
			valid := live(args, n, &scratch)
			bases := make([]uint32, len(args))
			ks, vs := make([]*vec.Vector, len(args)), make([]*vec.Vector, len(args))
			total := uint32(0)
			for k, a := range args {
				ks[k], vs[k] = a.Kids()[0].Flatten().WithType(t.Key), a.Kids()[1].Flatten().WithType(t.Value)
				bases[k] = total
				total += uint32(ks[k].Len())
			}
			var rows []uint32
			for i := range spans {
				at := len(rows)
				if valid.Get(i) {
					for k, a := range args {
						s, _ := a.SpanAt(i)
						for j := range s.Len {
							rows = append(rows, bases[k]+s.Off+j)
						}
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(rows) - at)}
			}
			keys, values := vec.Take(vec.Concat(ks), rows, nil).Flatten(), vec.Take(vec.Concat(vs), rows, nil).Flatten()
			return borrowed(newMaps(e, t, spans, keys, values, valid, b.lastWins(), false))
		}
	}}, nil
}

func typeList(ts []types.DataType) string {
	quoted := make([]string, len(ts))
	for i, t := range ts {
		quoted[i] = quoteType(t)
	}
	return strings.Join(quoted, ", ")
}

func bindMapContainsKey(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	t, ok := b.Args[0].Type.(types.MapType)
	if !ok {
		return nil, b.otherKey()
	}
	bound, err := bindMapItem(b, t)
	if err != nil {
		return nil, err
	}
	bound.Type = types.Boolean
	bound.New = func() Kernel {
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
			return b2u(findKey(args[0], args[1], i) != vec.NoRow), true
		})
	}
	return bound, nil
}

// bindStrToMap binds str_to_map(text[, pair delimiter[, key delimiter]]), whose delimiters are regular expressions.
func bindStrToMap(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(text))
	if err != nil {
		return nil, err
	}
	t := types.MapOf(types.String, types.String)
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, CanFail: true, New: func() Kernel {
		out := vec.NewBuilder(t)
		pair, key := &regexps{function: "str_to_map"}, &regexps{function: "str_to_map"}
		var scratch vec.Bitmap
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			out.Reset()
			valid := live(args, n, &scratch)
			for i := range n {
				if !valid.Get(i) {
					out.AppendNull()
					continue
				}
				delim := [2]string{",", ":"}
				for k := range delim {
					if len(args) > k+1 {
						delim[k] = args[k+1].StringAt(i)
					}
				}
				out.StartList()
				pairs, err := pair.get(delim[0])
				keys, err2 := key.get(delim[1])
				if err == nil {
					err = err2
				}
				if err == nil {
					err = appendPairs(out, args[0].BytesAt(i), pairs, keys, b.lastWins())
				}
				if err != nil {
					e.Errs.Add(i, err)
				}
				out.EndList()
			}
			return out.Borrow()
		}
	}}, nil
}

// appendPairs adds the pairs of a text. Of a key that occurs twice the last value is kept, in the place of the first, when it wins.
func appendPairs(out *vec.Builder, s []byte, pairs, keys *javare.Regexp, lastWins bool) error {
	type pair struct {
		key, value string
		null       bool
	}
	var found []pair
	seen := map[string]int{}
	parts := vec.NewBuilder(types.String)
	splitRegexp(parts, s, pairs, -1)
	all := parts.Finish()
	for i := range all.Len() {
		kv := vec.NewBuilder(types.String)
		splitRegexp(kv, all.BytesAt(i), keys, 2)
		two := kv.Finish()
		p := pair{key: string(two.BytesAt(0)), null: two.Len() < 2}
		if !p.null {
			p.value = string(two.BytesAt(1))
		}
		at, again := seen[p.key]
		switch {
		case !again:
			seen[p.key] = len(found)
			found = append(found, p)
		case lastWins:
			found[at] = p
		default:
			return errclass.New("DUPLICATED_MAP_KEY", "key", p.key, "mapKeyDedupPolicy", errclass.Conf(setting.MapKeyPolicy))
		}
	}
	for _, p := range found {
		out.Child(0).AppendString(p.key)
		if p.null {
			out.Child(1).AppendNull()
		} else {
			out.Child(1).AppendString(p.value)
		}
	}
	return nil
}
