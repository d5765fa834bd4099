package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

var variantArg = only(types.Variant)

func variantFunctions() []*Function {
	return []*Function{
		{Name: "parse_json", Bind: func(b *Binding) (*Bound, error) { return bindParseJSON(b, false) }},
		{Name: "try_parse_json", Bind: func(b *Binding) (*Bound, error) { return bindParseJSON(b, true) }},
		{Name: "variant_get", Bind: func(b *Binding) (*Bound, error) { return bindVariantGet(b, false) }},
		{Name: "try_variant_get", Bind: func(b *Binding) (*Bound, error) { return bindVariantGet(b, true) }},
		{Name: "is_variant_null", Bind: bindIsVariantNull},
		{Name: "is_valid_variant", Bind: bindIsValidVariant},
		{Name: "schema_of_variant", Bind: bindSchemaOfVariant},
		{Name: "to_variant_object", Bind: bindToVariantObject},
		{Name: VariantParts, Bind: bindVariantParts},
	}
}

// bindParseJSON binds parse_json(text).
func bindParseJSON(b *Binding, try bool) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	if t := b.Args[0].Type; !isText(t) && !isNull(t) {
		return nil, b.wrongType(0, text.name)
	}
	c, err := b.Accept(text)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Variant, Nullable: try || b.Args[0].Nullable, TakesConst: true, CanFail: !try, New: func() Kernel {
		r := jsonrow.NewVariantReader(b.flag(setting.VariantDuplicateKeys))
		out := vec.NewBuilder(types.Variant)
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			out.Reset()
			for i := range n {
				if args[0].IsNull(i) {
					out.AppendNull()
					continue
				}
				v, err := r.Read(args[0].BytesAt(i))
				if err == nil && v.TooLarge() {
					err = variantTooLarge(b.Name)
				}
				if err != nil {
					if !try {
						e.Errs.Add(i, err)
					}
					out.AppendNull()
					continue
				}
				appendVariant(out, v)
			}
			return out.Borrow()
		}
	}}, nil
}

// bindVariantGet binds variant_get(variant, path[, type]).
func bindVariantGet(b *Binding, try bool) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	to := types.DataType(types.Variant)
	if len(b.Args) == 3 {
		var err error
		if to, err = b.schemaArg(2); err != nil {
			return nil, err
		}
		if err := checkVariantTarget(to); err != nil {
			return nil, err
		}
		to = nullableParts(to)
	}
	c, err := b.Accept(variantArg, text, anyType)
	if err != nil {
		return nil, err
	}
	if t := b.Args[1].Type; !isText(t) && !isNull(t) {
		return nil, b.wrongType(1, text.name)
	}
	if !fromVariantAllowed(to) {
		return nil, errclass.New("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "sqlExpr", b.SQL(), "srcType", quoteType(types.Variant),
			"targetType", quoteType(to))
	}
	var constant []variant.Step
	if p := b.Args[1].Const; p != nil && !isNull(p.Type()) && !p.IsNull(0) {
		var ok bool
		if constant, ok = variant.ParsePath(string(p.BytesAt(0))); !ok {
			return refusing(c, to, invalidPath(strings.Clone(p.StringAt(0)), b.Name)), nil
		}
		if constant == nil {
			constant = []variant.Step{}
		}
	}
	return &Bound{Args: c, Type: to, Nullable: true, TakesConst: true, CanFail: !try || constant == nil, New: func() Kernel {
		return variantGet(b, to, constant, try)
	}}, nil
}

// checkVariantTarget refuses the types that cannot be written in a schema.
func checkVariantTarget(t types.DataType) error {
	switch t.(type) {
	case types.CharType, types.VarcharType:
		return errclass.New("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING")
	case types.TimeType:
		return errclass.New("UNSUPPORTED_TIME_TYPE")
	}
	return nil
}

func invalidPath(path, function string) error {
	return errclass.New("INVALID_VARIANT_GET_PATH", "path", path, "functionName", "`"+function+"`")
}

func variantGet(b *Binding, to types.DataType, constant []variant.Step, try bool) Kernel {
	w := newVariantCast(to, b.Zone)
	var vals []variant.Value
	var scratch vec.Bitmap
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		vals = variantRows(args[0], n, vals)
		valid := live(args[:2], n, &scratch)
		for i := range vals {
			if !valid.Get(i) {
				vals[i] = variant.Value{}
				continue
			}
			path := constant
			if path == nil {
				var ok bool
				if path, ok = variant.ParsePath(string(args[1].BytesAt(i))); !ok {
					e.Errs.Add(i, invalidPath(string(args[1].BytesAt(i)), b.Name))
				}
			}
			vals[i], _ = vals[i].Get(path)
		}
		r := w.cast(vals)
		if !try {
			w.report(e)
		}
		return r
	}
}

// bindIsVariantNull binds is_variant_null(variant): null itself is none.
func bindIsVariantNull(b *Binding) (*Bound, error) {
	bound, err := b.variantTest(func(v variant.Value) bool { return v.Kind() == variant.Null })
	if err == nil {
		bound.Nullable, bound.NullsAreArgs = false, true
	}
	return bound, err
}

func bindIsValidVariant(b *Binding) (*Bound, error) {
	return b.variantTest(variant.Value.Valid)
}

// variantTest is a function that tells whether a variant is something.
func (b *Binding) variantTest(is func(variant.Value) bool) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(variantArg)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Boolean, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[uint8](out)
			for i := range dst {
				dst[i] = b2u(!args[0].IsNull(i) && is(variantAt(args[0], i)))
			}
			return out
		}
	}}, nil
}

func bindSchemaOfVariant(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(variantArg)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.String, Nullable: b.nullable(c), TakesConst: true, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			spans := out.ResetBytes(n, nil)
			buf := out.Buffer()
			for i := range spans {
				at := len(buf)
				if !args[0].IsNull(i) {
					if t, ok := variantAt(args[0], i).Schema(); ok {
						buf = append(buf, variant.SchemaText(t)...)
					} else {
						e.Errs.Add(i, malformedVariant())
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
			}
			out.SetBuffer(buf)
			return out
		}
	}}, nil
}

// VariantSchema is the schema of row i, which is not null, of a variant vector.
func VariantSchema(v *vec.Vector, i int) (types.DataType, error) {
	t, ok := variantAt(v, i).Schema()
	if !ok {
		return nil, malformedVariant()
	}
	return t, nil
}

// VariantArg is the set of the type VARIANT.
var VariantArg = variantArg

// bindToVariantObject binds to_variant_object(value), which makes objects of structs and maps.
func bindToVariantObject(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	switch kindOf(t) {
	case kArray, kMap, kStruct:
	default:
		return nil, b.noVariant(t)
	}
	if !toVariantAllowed(t, true) {
		return nil, b.noVariant(t)
	}
	return &Bound{
		Args: make([]types.DataType, 1), Type: types.Variant, Nullable: b.Args[0].Nullable, TakesConst: true, CanFail: true,
		New: func() Kernel { return toVariant(t) },
	}, nil
}

func (b *Binding) noVariant(t types.DataType) error {
	return errclass.New("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "sqlExpr", b.SQL(), "srcType", quoteType(t), "targetType", quoteType(types.Variant))
}

// variantJSON prints variants as JSON.
func variantJSON(b *Binding) Kernel {
	zone := datetime.NewZone(b.Zone)
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		spans := out.ResetBytes(n, nil)
		buf := out.Buffer()
		for i := range spans {
			at := len(buf)
			if !args[0].IsNull(i) {
				var ok bool
				if buf, ok = jsonrow.AppendVariant(buf, variantAt(args[0], i), zone); !ok {
					e.Errs.Add(i, malformedVariant())
				}
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
		}
		out.SetBuffer(buf)
		return out
	}
}

// VariantParts is the name of a function for the engine itself: it makes an array of a variant's elements, or of the fields of an
// object with their names. No call in a query can have it.
const VariantParts = "variant parts"

func bindVariantParts(b *Binding) (*Bound, error) {
	c, err := b.Accept(variantArg)
	if err != nil {
		return nil, err
	}
	t := types.ArrayType{Element: types.Struct(types.NewField("key", types.String), types.Field{Name: "value", Type: types.Variant})}
	return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
		out := vec.NewBuilder(t)
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			out.Reset()
			for i := range n {
				if args[0].IsNull(i) {
					out.AppendNull()
					continue
				}
				out.StartList()
				if !appendParts(out.Child(0), variantAt(args[0], i)) {
					e.Errs.Add(i, malformedVariant())
				}
				out.EndList()
			}
			return out.Borrow()
		}
	}}, nil
}

// appendParts appends a row for each element or field of a value. They share its metadata. Ok is false when one is not whole.
func appendParts(out *vec.Builder, v variant.Value) (ok bool) {
	part := func(x variant.Value) {
		value := out.Child(1)
		value.Child(0).AppendBytes(x.Own())
		value.Child(1).AppendBytes(v.Meta)
		value.AppendStruct(true)
		out.AppendStruct(true)
		ok = ok && x.Kind() != variant.Malformed
	}
	ok = v.Kind() != variant.Malformed
	if e, isArray := v.Elements(); isArray {
		for i := range e.Len() {
			out.Child(0).AppendNull()
			part(e.At(i))
		}
	}
	if f, isObject := v.Fields(); isObject {
		for i := range f.Len() {
			name, x := f.At(i)
			out.Child(0).AppendBytes(name)
			part(x)
		}
	}
	return ok
}
