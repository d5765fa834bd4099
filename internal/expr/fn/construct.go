package fn

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func constructFunctions() []*Function {
	return []*Function{
		{Name: "named_struct", Bind: bindNamedStruct},
		{Name: "struct", Bind: bindStruct},
		{Name: "array", Bind: bindArray},
		{Name: "map", Aliases: []string{"create_map"}, Bind: bindMap},
	}
}

// bindNamedStruct binds name, value, name, value, ...
func bindNamedStruct(b *Binding) (*Bound, error) {
	if len(b.Args)%2 != 0 {
		return nil, errclass.New("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "functionName", "`named_struct`", "expectedNum", "2n (n > 0)",
			"actualNum", itoa(len(b.Args)))
	}
	t := types.StructType{Fields: make([]types.Field, len(b.Args)/2)}
	var values []int
	var odd, null []string
	for i := range t.Fields {
		switch name := b.Args[2*i]; {
		case name.Const == nil || !isText(name.Type):
			odd = append(odd, `"`+name.SQL+`"`)
		case name.Const.IsNull(0):
			null = append(null, `"`+name.SQL+`"`)
		}
	}
	switch {
	case odd != nil:
		return nil, errclass.New("DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING", "sqlExpr", b.SQL(),
			"inputExprs", "["+strings.Join(odd, ", ")+"]")
	case null != nil:
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_NULL", "sqlExpr", b.SQL(), "exprName", "["+strings.Join(null, ", ")+"]")
	}
	for i := range t.Fields {
		name, a := b.Args[2*i], b.Args[2*i+1]
		t.Fields[i] = types.Field{Name: string(name.Const.BytesAt(0)), Type: a.Type, Nullable: a.Nullable}
		values = append(values, 2*i+1)
	}
	return structOf(b, t, values), nil
}

// bindStruct binds values without names: the analyser gives names through named_struct.
func bindStruct(b *Binding) (*Bound, error) {
	t := types.StructType{Fields: make([]types.Field, len(b.Args))}
	values := make([]int, len(b.Args))
	for i, a := range b.Args {
		t.Fields[i] = types.Field{Name: "col" + strconv.Itoa(i+1), Type: a.Type, Nullable: a.Nullable}
		values[i] = i
	}
	return structOf(b, t, values), nil
}

func structOf(b *Binding, t types.StructType, values []int) *Bound {
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: t, NullsAreArgs: true, TakesConst: true, New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			kids := make([]*vec.Vector, len(values))
			for k, i := range values {
				kids[k] = args[i]
			}
			return borrowed(vec.NewStruct(t, n, kids))
		}
	}}
}

func bindArray(b *Binding) (*Bound, error) {
	e, c, err := b.common(0, 1, "array", "DATATYPE_MISMATCH.DATA_DIFF_TYPES")
	if err != nil {
		return nil, err
	}
	t := types.ArrayType{Element: e, ContainsNull: b.nullable(c)}
	return &Bound{Args: c, Type: t, NullsAreArgs: true, New: func() Kernel { return arrayKernel(t) }}, nil
}

// common finds the common type of every step-th argument from the first given on, and the casts to it.
func (b *Binding) common(from, step int, name, class string) (types.DataType, []types.DataType, error) {
	var ts []types.DataType
	for i := from; i < len(b.Args); i += step {
		ts = append(ts, b.Args[i].Type)
	}
	t, ok := CommonTypes(ts, b.ANSI)
	if !ok {
		if class == "DATATYPE_MISMATCH.DATA_DIFF_TYPES" {
			return nil, nil, b.dataDiffTypes(ts, name)
		}
		list := ""
		for i, t := range ts {
			if i > 0 {
				list += ", "
			}
			list += quoteType(t)
		}
		return nil, nil, errclass.New(class, "sqlExpr", b.SQL(), "functionName", "`"+name+"`", "dataType", "["+list+"]")
	}
	c := make([]types.DataType, len(b.Args))
	for i := from; i < len(b.Args); i += step {
		if !types.Equal(b.Args[i].Type, t) {
			c[i] = t
		}
	}
	return t, c, nil
}

// interleave gives the rows of k vectors of n rows in turn: row i of each, then row i+1.
func interleave(vs []*vec.Vector, n int, idx []uint32) (*vec.Vector, []uint32) {
	k := len(vs)
	if k == 1 {
		return vs[0], idx
	}
	if cap(idx) < n*k {
		idx = make([]uint32, n*k)
	}
	idx = idx[:n*k]
	for i := range n {
		for j := range k {
			idx[i*k+j] = uint32(j*n + i)
		}
	}
	return vec.Take(vec.Concat(vs), idx, nil), idx
}

func evenSpans(spans []vec.Span, n, k int) []vec.Span {
	if cap(spans) < n {
		spans = make([]vec.Span, n)
	}
	spans = spans[:n]
	for i := range spans {
		spans[i] = vec.Span{Off: uint32(i * k), Len: uint32(k)}
	}
	return spans
}

func arrayKernel(t types.ArrayType) Kernel {
	var (
		idx   []uint32
		spans []vec.Span
		empty = emptyOf(t.Element)
	)
	return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		spans = evenSpans(spans, n, len(args))
		kid := empty
		if len(args) > 0 {
			kid, idx = interleave(args, n, idx)
		}
		return borrowed(vec.NewList(t, spans, kid.WithType(t.Element)))
	}
}

func bindMap(b *Binding) (*Bound, error) {
	if len(b.Args)%2 != 0 {
		return nil, errclass.New("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "functionName", "`map`", "expectedNum", "2n (n is an integer >= 0)",
			"actualNum", itoa(len(b.Args)))
	}
	k, ck, err := b.common(0, 2, "map", "DATATYPE_MISMATCH.CREATE_MAP_KEY_DIFF_TYPES")
	if err != nil {
		return nil, err
	}
	v, cv, err := b.common(1, 2, "map", "DATATYPE_MISMATCH.CREATE_MAP_VALUE_DIFF_TYPES")
	if err != nil {
		return nil, err
	}
	if isMap(k) || !types.IsGroupable(k) {
		return nil, errclass.New("DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE", "sqlExpr", b.SQL(), "keyType", quoteType(k))
	}
	t := types.MapType{Key: k, Value: v}
	for i := range ck {
		if cv[i] != nil {
			ck[i] = cv[i]
		}
		if i%2 == 1 {
			t.ValueContainsNull = t.ValueContainsNull || b.argNullable(cv, i)
		}
	}
	return &Bound{Args: ck, Type: t, NullsAreArgs: true, CanFail: true, New: func() Kernel { return mapKernel(t, b.lastWins()) }}, nil
}

func mapKernel(t types.MapType, lastWins bool) Kernel {
	var idx []uint32
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if len(args) == 0 {
			return borrowed(vec.NewMap(t, make([]vec.Span, n), emptyOf(t.Key), emptyOf(t.Value)))
		}
		var ks, vs []*vec.Vector
		for i := 0; i < len(args); i += 2 {
			ks, vs = append(ks, args[i]), append(vs, args[i+1])
		}
		var keys, values *vec.Vector
		keys, idx = interleave(ks, n, idx)
		values, idx = interleave(vs, n, idx)
		m := newMaps(e, t, evenSpans(nil, n, len(ks)), keys, values, nil, lastWins, false)
		return borrowed(m)
	}
}

// newMaps makes maps of keys and values. A null key is an error of its row, and so is one that occurs twice, unless the last wins. valid
// are the rows to look at.
// A key -0.0 becomes 0.0 unless the keys stay as given, as those of an array of their own do.
func newMaps(e *expr.Eval, t types.MapType, spans []vec.Span, keys, values *vec.Vector, valid vec.Bitmap, lastWins, asGiven bool) *vec.Vector {
	keys, values = keys.WithType(t.Key), values.WithType(t.Value)
	if floats(t.Key, false) && !asGiven {
		keys = withoutNegativeZeros(keys)
	}
	if lastWins {
		return lastMaps(e, t, spans, keys, values, valid)
	}
	for i, s := range spans {
		if !valid.Get(i) {
			continue
		}
		if err := checkKeys(keys, s); err != nil {
			e.Errs.Add(i, err)
		}
	}
	return vec.NewMap(t, spans, keys, values)
}

// lastWins is the policy for keys that occur twice: the value that comes last is kept, in the place of the first.
func (b *Binding) lastWins() bool {
	return b.Conf != nil && strings.EqualFold(b.Conf(setting.MapKeyPolicy), "LAST_WIN")
}

func lastMaps(e *expr.Eval, t types.MapType, spans []vec.Span, keys, values *vec.Vector, valid vec.Bitmap) *vec.Vector {
	var buf vec.KeyBuffer
	vec.EncodeKeys([]*vec.Vector{keys}, keys.Len(), &buf)
	out := make([]vec.Span, len(spans))
	var from, last []uint32
	seen := map[string]int{}
	for i, s := range spans {
		out[i] = vec.Span{Off: uint32(len(from))}
		if !valid.Get(i) {
			continue
		}
		clear(seen)
		for k := s.Off; k < s.Off+s.Len; k++ {
			if keys.IsNull(int(k)) {
				e.Errs.Add(i, errclass.New("NULL_MAP_KEY"))
				break
			}
			key := string(buf.Key(int(k)))
			if at, ok := seen[key]; ok {
				last[at] = k
				continue
			}
			seen[key] = len(from)
			from, last = append(from, k), append(last, k)
		}
		out[i].Len = uint32(len(from)) - out[i].Off
	}
	return vec.NewMap(t, out, vec.Take(keys, from, nil).Flatten(), vec.Take(values, last, nil).Flatten())
}

// checkKeys finds null and duplicate keys.
func checkKeys(keys *vec.Vector, s vec.Span) error {
	for k := s.Off; k < s.Off+s.Len; k++ {
		if keys.IsNull(int(k)) {
			return errclass.New("NULL_MAP_KEY")
		}
	}
	if s.Len > 16 {
		return checkManyKeys(keys, s)
	}
	for k := s.Off; k < s.Off+s.Len; k++ {
		for j := s.Off; j < k; j++ {
			if vec.Compare(keys, int(j), keys, int(k)) == 0 {
				return duplicateKey(keys, int(k))
			}
		}
	}
	return nil
}

func checkManyKeys(keys *vec.Vector, s vec.Span) error {
	var buf vec.KeyBuffer
	idx := make([]uint32, s.Len)
	for k := range idx {
		idx[k] = s.Off + uint32(k)
	}
	part := vec.Take(keys, idx, nil)
	vec.EncodeKeys([]*vec.Vector{part}, part.Len(), &buf)
	seen := make(map[string]struct{}, s.Len)
	for k := range idx {
		key := string(buf.Key(k))
		if _, ok := seen[key]; ok {
			return duplicateKey(part, k)
		}
		seen[key] = struct{}{}
	}
	return nil
}

func duplicateKey(keys *vec.Vector, i int) error {
	text := string(castEnv{}.writer(keys.Type())(nil, keys, i))
	return errclass.New("DUPLICATED_MAP_KEY", "key", text, "mapKeyDedupPolicy", errclass.Conf(setting.MapKeyPolicy))
}
