package fn

import (
	"bytes"
	"errors"
	"strings"
	"unicode"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func jsonFunctions() []*Function {
	return append(simples(
		nullable(textTo("get_json_object", 2, 2, getJSONObject, strict(text))),
		nullable(textTo(JSONField, 2, 2, jsonField)),
		nullable(simple{name: "json_array_length", least: 1, most: 1, args: []Accept{strict(text)}, result: types.Integer, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int32, bool) {
				n, ok := jsonArrayLength(args[0].BytesAt(i))
				return int32(n), ok
			})
		}}),
	), &Function{Name: "from_json", Bind: bindFromJSON}, &Function{Name: "to_json", Bind: bindToJSON},
		&Function{Name: "schema_of_json", Bind: bindSchemaOfJSON}, &Function{Name: "json_object_keys", Bind: bindJSONKeys},
		&Function{Name: Records, Bind: bindRecords})
}

// options reads a constant map of texts.
func (b *Binding) options(i int) (map[string]string, error) {
	opts := map[string]string{}
	if i >= len(b.Args) {
		return opts, nil
	}
	m := b.Args[i].Const
	if m == nil || m.Phys() != vec.PhysMap || m.IsNull(0) {
		return nil, errclass.New("INVALID_OPTIONS.NON_MAP_FUNCTION")
	}
	s, owner := m.SpanAt(0)
	for k := s.Off; k < s.Off+s.Len; k++ {
		keys, values := owner.Kids()[0], owner.Kids()[1]
		if keys.Phys() != vec.PhysBytes || values.Phys() != vec.PhysBytes {
			return nil, errclass.New("INVALID_OPTIONS.NON_STRING_TYPE", "mapType", quoteType(m.Type()))
		}
		if !values.IsNull(int(k)) {
			opts[strings.ToLower(string(keys.BytesAt(int(k))))] = string(values.BytesAt(int(k)))
		}
	}
	return opts, nil
}

func (b *Binding) jsonOptions(i int) (jsonrow.Options, error) {
	opts, err := b.options(i)
	if err != nil {
		return jsonrow.Options{}, err
	}
	get := func(key string) (string, bool) {
		v, ok := opts[strings.ToLower(key)]
		return v, ok
	}
	return jsonrow.ParseOptions(get, func(string) string { return "" }, b.Zone)
}

// schemaArg is the type that a constant text describes, as DDL or JSON.
func (b *Binding) schemaArg(i int) (types.DataType, error) {
	a := b.Args[i]
	if a.Const == nil || !isText(a.Type) || a.Const.IsNull(0) {
		return nil, errclass.New("INVALID_SCHEMA.NON_STRING_LITERAL", "inputSchema", `"`+a.SQL+`"`)
	}
	s := string(a.Const.BytesAt(0))
	if t, err := types.ParseType(s); err == nil {
		return t, nil
	}
	if t, err := types.ParseJSON([]byte(s)); err == nil {
		return t, nil
	}
	t, err := types.ParseDDL(s)
	if err != nil && isWord(s) {
		return nil, errclass.New("UNSUPPORTED_DATATYPE", "typeName", `"`+strings.ToUpper(strings.TrimSpace(s))+`"`)
	}
	if err != nil {
		return nil, unplaced(err)
	}
	return t, nil
}

// unplaced takes the place in the text of a schema from an error: in the query it is that of the call.
func unplaced(err error) error {
	if e, ok := errors.AsType[*errclass.Error](err); ok {
		e.Context = nil
	}
	return err
}

// isWord tells whether a text is one word, which can only be meant as the name of a type.
func isWord(s string) bool {
	return strings.TrimFunc(strings.TrimSpace(s), func(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }) == "" &&
		strings.TrimSpace(s) != ""
}

// nullableParts makes everything inside of a type nullable: a text may leave out what it likes.
func nullableParts(t types.DataType) types.DataType {
	switch t := t.(type) {
	case types.ArrayType:
		return types.ArrayOf(nullableParts(t.Element))
	case types.MapType:
		return types.MapOf(nullableParts(t.Key), nullableParts(t.Value))
	case types.StructType:
		r := types.StructType{Fields: make([]types.Field, len(t.Fields))}
		for i, f := range t.Fields {
			f.Type, f.Nullable = nullableParts(f.Type), true
			r.Fields[i] = f
		}
		return r
	}
	return t
}

// otherKeys tells whether a type has maps whose keys are no strings.
func otherKeys(t types.DataType) bool {
	switch t := t.(type) {
	case types.ArrayType:
		return otherKeys(t.Element)
	case types.MapType:
		return !isText(t.Key) || otherKeys(t.Value)
	case types.StructType:
		for _, f := range t.Fields {
			if otherKeys(f.Type) {
				return true
			}
		}
	}
	return false
}

// bindFromJSON binds from_json(text, schema[, options]).
func bindFromJSON(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	t, err := b.schemaArg(1)
	if err != nil {
		return nil, err
	}
	opts, err := b.jsonOptions(2)
	if err != nil {
		return nil, err
	}
	t = nullableParts(t)
	switch kindOf(t) {
	case kStruct, kArray, kMap, kVariant:
	case kNull:
		return nullResult(b, types.String), nil
	default:
		return nil, errclass.New("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA", "sqlExpr", b.SQL(), "schema", quoteType(t))
	}
	if otherKeys(t) {
		return nil, errclass.New("DATATYPE_MISMATCH.INVALID_JSON_MAP_KEY_TYPE", "sqlExpr", b.SQL(), "schema", quoteType(t))
	}
	to, ok := strict(text).implicit(b.Args[0], b.ANSI)
	if !ok || kindOf(b.Args[0].Type) == kVariant {
		return nil, b.wrongType(0, text.name)
	}
	schema, wrap := t.(types.StructType)
	if !wrap {
		schema = types.Struct(types.NewField("value", t))
	}
	if _, err := jsonrow.NewReader(schema, opts); err != nil {
		return nil, err
	}
	c := make([]types.DataType, len(b.Args))
	c[0] = to
	if err := b.parseMode(opts.Mode); err != nil {
		return refusing(c, t, err), nil
	}
	if err := badCorruptColumn(schema, opts.CorruptColumn); err != nil && wrap {
		return refusing(c, t, err), nil
	}
	return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, CanFail: opts.Mode == textrecord.FailFast, New: func() Kernel {
		return fromJSON(schema, opts, t, !wrap)
	}}, nil
}

// fromJSON reads texts. What is no struct is read as the only field of one.
func fromJSON(schema types.StructType, opts jsonrow.Options, t types.DataType, wrap bool) Kernel {
	opts.OneRecord = true
	r, err := jsonrow.NewReader(schema, opts)
	list, _ := t.(types.ArrayType)
	records := wrap && kindOf(list.Element) == kStruct
	var scratch vec.Bitmap
	var rows []uint32
	var buf []byte
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if err != nil {
			return vec.NewNulls(t, n) // binding has refused it
		}
		valid := live(args[:1], n, &scratch)
		rows = rows[:0]
		for i := range n {
			row := vec.NoRow
			if valid.Get(i) {
				s, at := args[0].BytesAt(i), r.Rows()
				switch {
				case records && bytes.HasPrefix(bytes.TrimLeft(s, " \t\r\n"), []byte("{")): // a record is an array of one
					buf = append(append(append(buf[:0], `{"value":[`...), s...), "]}"...)
					s = buf
				case wrap:
					buf = append(append(append(buf[:0], `{"value":`...), s...), '}')
					s = buf
				}
				if err := r.Record(s); err != nil {
					e.Errs.Add(i, err)
				} else if r.Rows() > at {
					row = uint32(at)
				}
			}
			rows = append(rows, row)
		}
		batch := r.Take()
		if batch == nil || batch.N == 0 {
			return vec.NewNulls(t, n)
		}
		if wrap {
			return vec.Take(batch.Cols[0], rows, nil).WithType(t)
		}
		return vec.Take(vec.NewStruct(t, batch.N, batch.Cols), rows, nil)
	}
}

// bindToJSON binds to_json(value[, options]).
func bindToJSON(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	opts, err := b.jsonOptions(1)
	if err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	switch kindOf(t) {
	case kStruct, kArray, kMap, kVariant:
	case kNull:
		return nullResult(b, types.String), nil
	default:
		return nil, errclass.New("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA", "sqlExpr", b.SQL(), "schema", quoteType(t))
	}
	if kindOf(t) == kVariant {
		env := *b
		env.Zone = opts.Zone
		return &Bound{
			Args: make([]types.DataType, len(b.Args)), Type: types.String, Nullable: true, CanFail: true,
			New: func() Kernel { return variantJSON(&env) },
		}, nil
	}
	if _, err := jsonrow.NewValueWriter(t, opts); err != nil {
		return nil, err
	}
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: types.String, Nullable: true, New: func() Kernel {
		w, _ := jsonrow.NewValueWriter(t, opts) // was checked
		return rowTexts(w.BindValue, w.AppendRow)
	}}, nil
}

// sample is the constant text, the first argument, whose schema a call wants to know.
func (b *Binding) sample(name string) ([]byte, error) {
	a := b.Args[0]
	switch {
	case isNull(a.Type) || a.Const != nil && a.Const.IsNull(0):
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_NULL", "sqlExpr", b.SQL(), "exprName", name)
	case a.Const == nil:
		return nil, b.NotFoldable(0, "`"+name+"`", quoteType(a.Type))
	case !isText(a.Type):
		return nil, b.wrongType(0, text.name)
	}
	return a.Const.BytesAt(0), nil
}

// bindSchemaOfJSON gives the schema of a constant text as DDL.
func bindSchemaOfJSON(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	opts, err := b.jsonOptions(1)
	if err != nil {
		return nil, err
	}
	text, err := b.sample("json")
	if err != nil {
		return nil, err
	}
	inf, err := jsonrow.NewInference(opts)
	if err != nil {
		return nil, err
	}
	if first := jsonrow.First(text); first != nil { // what follows is not looked at
		text = first
	}
	record := append(append([]byte(`{"value":`), text...), '}')
	if err := inf.Record(record); err != nil {
		return nil, err
	}
	t := types.DataType(types.String)
	if s := inf.Schema(); len(s.Fields) > 0 && s.Fields[0].Name == "value" {
		t = s.Fields[0].Type
	}
	bound := constText(t.SQL())
	bound.Args, bound.TakesConst, bound.NullsAreArgs = make([]types.DataType, len(b.Args)), true, true
	return bound, nil
}

func bindJSONKeys(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(text))
	if err != nil {
		return nil, err
	}
	t := types.ArrayOf(types.String)
	return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, New: func() Kernel {
		out := vec.NewBuilder(t)
		var scratch vec.Bitmap
		return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			out.Reset()
			valid := live(args, n, &scratch)
			for i := range n {
				var keys []string
				ok := false
				if valid.Get(i) {
					keys, ok = jsonKeys(args[0].BytesAt(i))
				}
				if !ok {
					out.AppendNull()
					continue
				}
				out.StartList()
				for _, k := range keys {
					out.Child(0).AppendString(k)
				}
				out.EndList()
			}
			return out.Borrow()
		}
	}}, nil
}

// badCorruptColumn is the error of a schema whose column for bad records is none of texts. It is met by the first record.
func badCorruptColumn(schema types.StructType, name string) error {
	if i := schema.Index(name); i >= 0 && !types.IsString(schema.Fields[i].Type) {
		return errclass.New("INVALID_CORRUPT_RECORD_TYPE", "columnName", errclass.Ident(name), "actualType", quoteType(schema.Fields[i].Type))
	}
	return nil
}

// refusing binds the reading of texts that fails whatever the text.
func refusing(c []types.DataType, t types.DataType, failure error) *Bound {
	return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, _ []*vec.Vector, _ *vec.Vector) *vec.Vector {
			for i := range n {
				e.Errs.Add(i, failure)
			}
			return vec.NewNulls(t, n)
		}
	}}
}
