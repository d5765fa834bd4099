package fn

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/avrorow"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func avroFunctions() []*Function {
	return []*Function{{Name: "from_avro", Bind: bindFromAvro}, {Name: "to_avro", Bind: bindToAvro}, {Name: "schema_of_avro", Bind: bindSchemaOfAvro}}
}

// avroSchema reads a constant text as a schema.
func (b *Binding) avroSchema(i int, ordinal string) (avro.Schema, error) {
	a := b.Args[i]
	if a.Const == nil || !isText(a.Type) && a.Type != types.DataType(types.Null) {
		return nil, errclass.New("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT", "sqlExpr", b.SQL(),
			"msg", "the "+ordinal+" argument must be a schema in JSON, as a text that is known when the query is planned", "hint", "")
	}
	if a.Const.IsNull(0) {
		return nil, errclass.New("INVALID_SCHEMA.NULL")
	}
	return avrorow.Parse(string(a.Const.BytesAt(0)))
}

func (b *Binding) avroOptions(i int, ordinal string) (map[string]string, error) {
	if i < len(b.Args) {
		t := b.Args[i].Type
		if m, ok := t.(types.MapType); ok { // map() is empty
			t = m.Key
		}
		if isNull(t) {
			return nil, nil
		}
	}
	opts, err := b.options(i)
	if err != nil {
		return nil, errclass.New("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT", "sqlExpr", b.SQL(),
			"msg", "the "+ordinal+" argument must be a map from texts to texts that is known when the query is planned", "hint", "")
	}
	return opts, nil
}

// avroTyping is what options say on the types of schemas.
func avroTyping(opts map[string]string) (avrorow.Typing, error) {
	t, err := avrorow.TypingOf(func(key string) (string, bool) {
		v, ok := opts[strings.ToLower(key)]
		return v, ok
	})
	t.StableNames = strings.EqualFold(opts["enablestableidentifiersforuniontype"], "true")
	return t, err
}

// bindSchemaOfAvro binds schema_of_avro(schema[, options]), the type that from_avro would read, as DDL.
func bindSchemaOfAvro(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	s, err := b.avroSchema(0, "first")
	if err != nil {
		return nil, err
	}
	opts, err := b.avroOptions(1, "second")
	if err != nil {
		return nil, err
	}
	typing, err := avroTyping(opts)
	if err != nil {
		return nil, err
	}
	t, _, err := avrorow.TypeOf(s, typing)
	if err != nil {
		return nil, err
	}
	bound := constText(t.SQL())
	bound.Args, bound.TakesConst, bound.NullsAreArgs = make([]types.DataType, len(b.Args)), true, true
	return bound, nil
}

// bindFromAvro binds from_avro(bytes, schema[, options]).
func bindFromAvro(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	written, err := b.avroSchema(1, "second")
	if err != nil {
		return nil, err
	}
	opts, err := b.avroOptions(2, "third")
	if err != nil {
		return nil, err
	}
	if k := kindOf(b.Args[0].Type); k != kBinary && k != kNull {
		return nil, b.wrongType(0, "BINARY")
	}
	mode := textrecord.FailFast
	if m, ok := opts["mode"]; ok {
		mode = textrecord.ParseMode(m)
	}
	if mode == textrecord.DropMalformed {
		return nil, errclass.New("PARSE_MODE_UNSUPPORTED", "funcName", "`from_avro`", "mode", mode.String())
	}
	typing, err := avroTyping(opts)
	if err != nil {
		return nil, err
	}
	wanted := written
	if s, ok := opts["avroschema"]; ok {
		if wanted, err = avrorow.Parse(s); err != nil {
			return nil, err
		}
		// A schema that holds itself cannot be passed over either.
		if _, _, err := avrorow.TypeOf(written, typing); err != nil {
			return nil, err
		}
	}
	t, _, err := avrorow.TypeOf(wanted, typing)
	if err != nil {
		return nil, err
	}
	cal := &avrorow.Calendar{Zone: time.UTC}
	if b.Conf != nil {
		if cal.Rebase, err = setting.Calendar(b.Conf, setting.AvroReadCalendar); err != nil {
			return nil, err
		}
	}
	if name, ok := opts["datetimerebasemode"]; ok {
		if cal.Rebase, ok = datetime.ParseRebase(name); !ok {
			return nil, errclass.New("INVALID_OPTION_VALUE", "option", "datetimeRebaseMode", "format", "avro", "value", name, "requirement", "it is CORRECTED, LEGACY or EXCEPTION.")
		}
	}
	c := make([]types.DataType, len(b.Args))
	c[0] = types.Binary
	return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, NullsAreArgs: true, CanFail: mode == textrecord.FailFast, New: func() Kernel {
		return fromAvro(avrorow.NewReader(written, wanted, t, cal), mode)
	}}, nil
}

func fromAvro(r *avrorow.Reader, mode textrecord.Mode) Kernel {
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		r.Reset()
		for i := range n {
			if args[0].IsNull(i) {
				r.Absent()
				continue
			}
			record := args[0].BytesAt(i)
			if r.Record(record) {
				continue
			}
			r.Null()
			if mode == textrecord.FailFast {
				e.Errs.Add(i, malformedAvro(record, mode))
			}
		}
		return r.Borrow()
	}
}

func malformedAvro(record []byte, mode textrecord.Mode) error {
	const most = 32
	shown := "X'" + strings.ToUpper(hex.EncodeToString(record[:min(len(record), most)])) + "'"
	if len(record) > most {
		shown += "..."
	}
	return errclass.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "badRecord", shown, "failFastMode", mode.String())
}

// bindToAvro binds to_avro(value[, schema]).
func bindToAvro(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	var schema avro.Schema
	if len(b.Args) == 2 && b.Args[1].Type != types.DataType(types.Null) {
		var err error
		if schema, err = b.avroSchema(1, "second"); err != nil {
			return nil, err
		}
	}
	conf := b.Conf
	if conf == nil {
		conf = func(string) string { return "" }
	}
	cal, err := avrorow.WriteCalendar(conf)
	if err != nil {
		return nil, err
	}
	open := func() (*avrorow.Writer, error) {
		if schema != nil {
			return avrorow.NewWriterAs(t, schema)
		}
		return avrorow.NewWriter(t, b.Args[0].Nullable)
	}
	w, err := open()
	if err != nil {
		return nil, err
	}
	w.Keep(cal)
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: types.Binary, Nullable: b.Args[0].Nullable, TakesConst: true, NullsAreArgs: true, CanFail: true, New: func() Kernel {
		out := vec.NewBuilder(types.Binary)
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			out.Reset()
			for i := range n {
				if args[0].IsNull(i) {
					out.AppendNull()
					continue
				}
				buf, err := w.Append(out.Buffer(), args[0], i)
				out.CommitBytes(buf)
				if err != nil {
					e.Errs.Add(i, avrorow.WriteError(err))
				}
			}
			return out.Borrow()
		}
	}}, nil
}
