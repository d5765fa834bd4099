package convert

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// parse reads a column of texts as if each were a line of a file: DataFrameReader.json, csv and xml of a DataFrame.
func (c *Converter) parse(m *connectpb.Parse) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Parse")
	if err != nil {
		return nil, err
	}
	format := ""
	switch m.GetFormat() {
	case connectpb.Parse_PARSE_FORMAT_JSON:
		format = "json"
	case connectpb.Parse_PARSE_FORMAT_CSV:
		format = "csv"
	case connectpb.Parse_PARSE_FORMAT_XML:
		format = "xml"
	default:
		return nil, unsupported("reading rows of " + m.GetFormat().String())
	}
	if in, err = c.s.Analyze(c.ctx, in); err != nil {
		return nil, err
	}
	st := plan.Schema(in)
	if len(st.Fields) != 1 {
		return nil, errclass.New("DATAFRAME_INPUT_NOT_SINGLE_COLUMN", "numColumns", strconv.Itoa(len(st.Fields)))
	}
	if !types.IsString(st.Fields[0].Type) {
		return nil, errclass.New("DATAFRAME_INPUT_NOT_STRING_TYPE", "dataType", errclass.Expr(st.Fields[0].Type.SQL()))
	}
	options := map[string]string{}
	for k, v := range m.GetOptions() {
		options[strings.ToLower(k)] = v
	}
	header := &plan.Literal{T: types.String}
	var schema types.StructType
	if m.GetSchema() != nil {
		if schema, err = typepb.Schema(m.GetSchema()); err != nil {
			return nil, err
		}
	}
	withHeader := format == "csv" && strings.EqualFold(options["header"], "true")
	if m.GetSchema() == nil || withHeader {
		var first []byte
		inferred, err := c.inferTexts(in, format, options, &first)
		if err != nil {
			return nil, err
		}
		if m.GetSchema() == nil {
			schema = inferred
		}
		if withHeader && first != nil {
			header.Value = string(first)
		}
	}
	args := []plan.Expr{column(st.Fields[0].Name), lit(format, types.String), lit(schema.DDL(), types.String), header}
	if len(options) > 0 {
		var kv []plan.Expr
		for k, v := range options {
			kv = append(kv, lit(k, types.String), lit(v, types.String))
		}
		args = append(args, call("map", kv...))
	}
	rows := call(fn.Records, args...)
	if len(schema.Fields) == 0 {
		rows = lit([]any{}, types.ArrayOf(types.Struct())) // nothing says what the rows would be
	}
	return &plan.Project{Cols: []plan.Expr{call("inline", rows)}, Child: in}, nil
}

// inferTexts finds a schema that fits the records of a relation's only column, and the first of them.
func (c *Converter) inferTexts(in plan.Node, format string, options map[string]string, first *[]byte) (types.StructType, error) {
	get := func(key string) (string, bool) {
		v, ok := options[strings.ToLower(key)]
		return v, ok
	}
	inf, err := fn.NewRecordInference(format, get, c.s.Conf.Value, c.s.Zone())
	if err != nil {
		return types.StructType{}, err
	}
	q, err := c.s.PrepareResolved(in, "read")
	if err != nil {
		return types.StructType{}, err
	}
	err = q.Run(c.ctx, func(b *vec.Batch) error {
		texts := b.Cols[0].Flatten()
		for i := range b.N {
			var text []byte
			if !texts.IsNull(i) {
				text = texts.BytesAt(i)
			}
			if err := inf.Record(text); err != nil {
				return err
			}
			if inf.Done() {
				return exec.ErrStop
			}
		}
		return nil
	})
	if err != nil {
		return types.StructType{}, err
	}
	if f, ok := inf.(interface{ First() []byte }); ok {
		*first = f.First()
	}
	return inf.Schema(), nil
}
