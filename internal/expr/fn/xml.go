package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/xmlrow"
	"github.com/millrace/millrace/types"
)

func xmlFunctions() []*Function {
	return append(xpathFunctions(), &Function{Name: "from_xml", Bind: bindFromXML}, &Function{Name: "to_xml", Bind: bindToXML},
		&Function{Name: "schema_of_xml", Bind: bindSchemaOfXML})
}

func (b *Binding) xmlOptions(i int) (xmlrow.Options, error) {
	opts, err := b.options(i)
	if err != nil {
		return xmlrow.Options{}, err
	}
	get := func(key string) (string, bool) {
		v, ok := opts[strings.ToLower(key)]
		return v, ok
	}
	return xmlrow.ParseOptions(get, b.Conf, b.Zone)
}

// parseMode refuses the mode that leaves rows out, which a function cannot.
func (b *Binding) parseMode(m textrecord.Mode) error {
	if m == textrecord.DropMalformed {
		return errclass.New("PARSE_MODE_UNSUPPORTED", "funcName", "`"+b.Name+"`", "mode", m.String())
	}
	return nil
}

// bindFromXML binds from_xml(text, schema[, options]).
func bindFromXML(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	t, err := b.schemaArg(1)
	if err != nil {
		return nil, err
	}
	t = nullableParts(t)
	opts, err := b.xmlOptions(2)
	if err != nil {
		return nil, err
	}
	if kindOf(t) == kStruct && otherKeys(t) {
		return nil, errclass.New("DATATYPE_MISMATCH.INVALID_XML_MAP_KEY_TYPE", "sqlExpr", b.SQL(), "schema", quoteType(t))
	}
	schema, _ := t.(types.StructType)
	wrap := false
	switch kindOf(t) {
	case kStruct:
	case kVariant:
		opts.SingleVariant = true
		schema, wrap = types.Struct(types.NewField("value", t)), true
	default:
		return nil, errclass.New("DATATYPE_MISMATCH.INVALID_XML_SCHEMA", "sqlExpr", b.SQL(), "schema", quoteType(t))
	}
	if t := b.Args[0].Type; !isText(t) && !isNull(t) {
		return nil, b.wrongType(0, text.name)
	}
	if err := b.parseMode(opts.Mode); err != nil {
		return nil, err
	}
	if _, err := xmlrow.NewReader(schema, opts); err != nil {
		return nil, err
	}
	c := make([]types.DataType, len(b.Args))
	if isNull(b.Args[0].Type) {
		c[0] = types.String
	}
	if err := badCorruptColumn(schema, opts.CorruptColumn); err != nil && !wrap {
		return refusing(c, t, err), nil
	}
	return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, CanFail: opts.Mode == textrecord.FailFast, New: func() Kernel {
		return fromXML(schema, opts, t, wrap)
	}}, nil
}

func fromXML(schema types.StructType, opts xmlrow.Options, t types.DataType, wrap bool) Kernel {
	r, err := xmlrow.NewReader(schema, opts)
	var rows []uint32
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if err != nil {
			return vec.NewNulls(t, n) // binding has refused it
		}
		rows = rows[:0]
		for i := range n {
			row := vec.NoRow
			if !args[0].IsNull(i) {
				at := r.Rows()
				if err := r.Record(args[0].BytesAt(i)); err != nil {
					e.Errs.Add(i, err)
				} else if r.Rows() > at {
					row = uint32(at)
				}
			}
			rows = append(rows, row)
		}
		batch := r.Take()
		switch {
		case batch.N == 0:
			return vec.NewNulls(t, n)
		case wrap:
			return vec.Take(batch.Cols[0], rows, nil)
		}
		return vec.Take(vec.NewStruct(t, batch.N, batch.Cols), rows, nil)
	}
}

// bindToXML binds to_xml(value[, options]).
func bindToXML(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	opts, err := b.xmlOptions(1)
	if err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	switch kindOf(t) {
	case kStruct, kVariant:
	case kNull:
		t = types.Struct()
	default:
		return nil, b.wrongType(0, `"STRUCT"`)
	}
	if _, err := xmlrow.NewWriter(t, opts); err != nil {
		return nil, err
	}
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: types.String, Nullable: true, New: func() Kernel {
		w, _ := xmlrow.NewWriter(t, opts) // was checked
		return rowTexts(w.Bind, w.AppendRow)
	}}, nil
}

// bindSchemaOfXML gives the schema of a constant text as DDL.
func bindSchemaOfXML(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	opts, err := b.xmlOptions(1)
	if err != nil {
		return nil, err
	}
	if err := b.parseMode(opts.Mode); err != nil {
		return nil, err
	}
	text, err := b.sample("xml")
	if err != nil {
		return nil, err
	}
	inf, err := xmlrow.NewInference(opts)
	if err != nil {
		return nil, err
	}
	if err := inf.Record(text); err != nil {
		return nil, err
	}
	bound := constText(inf.Schema().SQL())
	bound.Args, bound.TakesConst, bound.NullsAreArgs = make([]types.DataType, len(b.Args)), true, true
	return bound, nil
}
