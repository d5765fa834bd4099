package fn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/csvrow"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func csvFunctions() []*Function {
	return []*Function{
		{Name: "from_csv", Bind: bindFromCSV},
		{Name: "to_csv", Bind: bindToCSV},
		{Name: "schema_of_csv", Bind: bindSchemaOfCSV},
	}
}

func (b *Binding) csvOptions(i int, more ...string) (csvrow.Options, error) {
	opts, err := b.options(i)
	if err != nil {
		return csvrow.Options{}, err
	}
	for k := 0; k+1 < len(more); k += 2 {
		opts[strings.ToLower(more[k])] = more[k+1]
	}
	get := func(key string) (string, bool) {
		v, ok := opts[strings.ToLower(key)]
		return v, ok
	}
	return csvrow.ParseOptions(get, func(string) string { return "" }, b.Zone)
}

// bindFromCSV binds from_csv(text, schema[, options]).
func bindFromCSV(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	t, err := b.schemaArg(1)
	if err != nil {
		return nil, err
	}
	schema, isStruct := nullableParts(t).(types.StructType)
	if !isStruct {
		return nil, errclass.New("INVALID_SCHEMA.NON_STRUCT_TYPE", "inputSchema", `"`+b.Args[1].SQL+`"`, "dataType", quoteType(t))
	}
	opts, err := b.csvOptions(2)
	if err != nil {
		return nil, err
	}
	to, ok := strict(text).implicit(b.Args[0], b.ANSI)
	if !ok {
		return nil, b.wrongType(0, text.name)
	}
	if _, err := csvrow.NewReader(schema, schema, opts); err != nil {
		return nil, err
	}
	c := make([]types.DataType, len(b.Args))
	c[0] = to
	if err := cmp.Or(b.parseMode(opts.Mode), badCorruptColumn(schema, opts.CorruptColumn)); err != nil {
		return refusing(c, schema, err), nil
	}
	return &Bound{
		Args: c, Type: schema, Nullable: b.Args[0].Nullable, TakesConst: true, CanFail: opts.Mode == textrecord.FailFast,
		New: func() Kernel { return fromCSV(schema, opts) },
	}, nil
}

// fromCSV reads texts of one record each. A text without one, of blanks say, has nulls for all columns.
func fromCSV(schema types.StructType, opts csvrow.Options) Kernel {
	r, err := csvrow.NewReader(schema, schema, opts)
	var scratch vec.Bitmap
	var rows []uint32
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if err != nil {
			return vec.NewNulls(schema, n) // binding has refused it
		}
		valid := live(args[:1], n, &scratch)
		rows = rows[:0]
		var blank []int
		for i := range n {
			row := vec.NoRow
			if valid.Get(i) {
				at := r.Rows()
				if err := r.Record(args[0].BytesAt(i)); err != nil {
					e.Errs.Add(i, err)
				} else if r.Rows() > at {
					row = uint32(at)
				} else {
					blank = append(blank, i)
				}
			}
			rows = append(rows, row)
		}
		batch := r.Take()
		var cols []*vec.Vector
		read := 0
		if batch != nil {
			cols, read = batch.Cols, batch.N
		}
		if len(blank) > 0 { // one more row, of nulls
			wide := make([]*vec.Vector, len(schema.Fields))
			for k, f := range schema.Fields {
				wide[k] = vec.NewNulls(f.Type, 1)
				if read > 0 {
					wide[k] = vec.Concat([]*vec.Vector{cols[k], wide[k]})
				}
			}
			cols = wide
			for _, i := range blank {
				rows[i] = uint32(read)
			}
			read++
		}
		if read == 0 {
			return vec.NewNulls(schema, n)
		}
		return vec.Take(vec.NewStruct(schema, read, cols), rows, nil)
	}
}

// bindToCSV binds to_csv(struct[, options]).
func bindToCSV(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	opts, err := b.csvOptions(1)
	if err != nil {
		return nil, err
	}
	t, ok := b.Args[0].Type.(types.StructType)
	switch {
	case isNull(b.Args[0].Type):
		return nullResult(b, types.String), nil
	case !ok:
		return nil, errclass.New("DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE", "sqlExpr", b.SQL(), "functionName", "`to_csv`",
			"dataType", quoteType(b.Args[0].Type))
	}
	if holdsVariant(t) {
		return nil, errclass.New("DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE", "sqlExpr", b.SQL(), "functionName", "`to_csv`", "dataType", quoteType(t))
	}
	if _, err := csvrow.NewNestedWriter(t, opts); err != nil {
		return nil, err
	}
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: types.String, Nullable: true, New: func() Kernel {
		w, _ := csvrow.NewNestedWriter(t, opts) // was checked
		return rowTexts(func(v *vec.Vector) { w.Bind(v.Kids()) }, w.AppendRow)
	}}, nil
}

// bindSchemaOfCSV gives the schema of a constant text as DDL.
func bindSchemaOfCSV(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	opts, err := b.csvOptions(1, "inferSchema", "true", "header", "false")
	if err != nil {
		return nil, err
	}
	text, err := b.sample("csv")
	if err != nil {
		return nil, err
	}
	inf, err := csvrow.NewInference(opts)
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

func holdsVariant(t types.DataType) bool {
	switch t := t.(type) {
	case types.VariantType:
		return true
	case types.ArrayType:
		return holdsVariant(t.Element)
	case types.MapType:
		return holdsVariant(t.Key) || holdsVariant(t.Value)
	case types.StructType:
		return slices.ContainsFunc(t.Fields, func(f types.Field) bool { return holdsVariant(f.Type) })
	}
	return false
}
