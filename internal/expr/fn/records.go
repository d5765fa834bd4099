package fn

import (
	"bytes"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/csvrow"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/xmlrow"
	"github.com/millrace/millrace/types"
)

// Records is the name of a function for the engine itself: records(text, format, schema, header[, options]) is an array of the rows that
// a reader of files would make of a text, as opposed to from_json and the like, which always give one value. No call in a query can
// have the name. format is json, csv or xml; texts equal to a header, which may be null, hold no rows.
const Records = "text records"

// recordReader is what the readers of records have in common.
type recordReader interface {
	Record(text []byte) error
	Rows() int
	Take() *vec.Batch
}

// recordSettings are those of a format and make its readers.
type recordSettings struct {
	mode  textrecord.Mode
	open  func(schema types.StructType) (recordReader, error)
	infer func() (RecordInference, error)
	// check compares a header with a schema.
	check func(schema types.StructType, header []byte) error
	// nulls tells whether a null is a record, with a null in every column.
	nulls bool
	// corrupt is the name of the column for the text of bad records.
	corrupt string
}

func newRecordSettings(format string, get func(string) (string, bool), conf func(string) string, zone *time.Location) (*recordSettings, error) {
	switch format {
	case "json":
		opts, err := jsonrow.ParseOptions(get, conf, zone)
		return &recordSettings{
			mode: opts.Mode, nulls: true, corrupt: opts.CorruptColumn,
			open:  func(s types.StructType) (recordReader, error) { return jsonrow.NewReader(s, opts) },
			infer: func() (RecordInference, error) { return jsonrow.NewInference(opts) },
		}, err
	case "xml":
		opts, err := xmlrow.ParseOptions(get, conf, zone)
		return &recordSettings{
			mode: opts.Mode, nulls: true, corrupt: opts.CorruptColumn,
			open:  func(s types.StructType) (recordReader, error) { return xmlrow.NewReader(s, opts) },
			infer: func() (RecordInference, error) { return xmlrow.NewInference(opts) },
		}, err
	case "csv":
		opts, err := csvrow.ParseOptions(get, conf, zone)
		return &recordSettings{
			mode: opts.Mode, corrupt: opts.CorruptColumn,
			open:  func(s types.StructType) (recordReader, error) { return csvrow.NewReader(s, s, opts) },
			infer: func() (RecordInference, error) { return csvrow.NewInference(opts) },
			check: func(s types.StructType, header []byte) error {
				r, err := csvrow.NewReader(s, s, opts)
				if err != nil {
					return err
				}
				r.SkipHeader()
				return r.Record(header)
			},
		}, err
	}
	return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "reading texts of the format "+format)
}

// RecordInference finds the schema of records.
type RecordInference interface {
	// Record looks at one record.
	Record(text []byte) error
	// Done is set when further records change nothing.
	Done() bool
	Schema() types.StructType
}

// NewRecordInference starts an inference of records that are texts of a format.
func NewRecordInference(format string, get func(string) (string, bool), conf func(string) string, zone *time.Location) (RecordInference, error) {
	s, err := newRecordSettings(format, get, conf, zone)
	if err != nil {
		return nil, err
	}
	inf, err := s.infer()
	if err != nil || !s.nulls {
		return inf, err
	}
	return nullInference{inf}, nil
}

// nullInference takes nulls for bad records.
type nullInference struct{ RecordInference }

// Record implements RecordInference.
func (n nullInference) Record(text []byte) error {
	if text == nil {
		text = []byte("{<")
	}
	return n.RecordInference.Record(text)
}

// bindRecords binds the function Records.
func bindRecords(b *Binding) (*Bound, error) {
	if err := b.Arity(4, 5); err != nil {
		return nil, err
	}
	t, err := b.schemaArg(2)
	if err != nil {
		return nil, err
	}
	schema, ok := nullableParts(t).(types.StructType)
	if !ok {
		return nil, errclass.New("INVALID_SCHEMA.NON_STRUCT_TYPE", "inputSchema", `"`+b.Args[2].SQL+`"`, "dataType", quoteType(t))
	}
	opts, err := b.options(4)
	if err != nil {
		return nil, err
	}
	get := func(key string) (string, bool) {
		v, ok := opts[strings.ToLower(key)]
		return v, ok
	}
	s, err := newRecordSettings(string(b.Args[1].Const.BytesAt(0)), get, b.Conf, b.Zone)
	if err != nil {
		return nil, err
	}
	if i := schema.Index(s.corrupt); i >= 0 && !types.IsString(schema.Fields[i].Type) {
		return nil, errclass.New("INVALID_CORRUPT_RECORD_TYPE", "columnName", errclass.Ident(s.corrupt), "actualType", quoteType(schema.Fields[i].Type))
	}
	if _, err := s.open(schema); err != nil {
		return nil, err
	}
	var header []byte
	if h := b.Args[3].Const; h != nil && !h.IsNull(0) {
		header = bytes.Clone(h.BytesAt(0))
		if err := s.check(schema, header); err != nil {
			return nil, err
		}
	}
	return &Bound{
		Args: make([]types.DataType, len(b.Args)), Type: types.ArrayOf(schema), TakesConst: true, NullsAreArgs: true,
		CanFail: s.mode == textrecord.FailFast, New: func() Kernel { return records(s, schema, header) },
	}, nil
}

func records(s *recordSettings, schema types.StructType, header []byte) Kernel {
	t := types.ArrayOf(schema)
	r, err := s.open(schema)
	var idx []uint32
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		if err != nil {
			return vec.NewNulls(t, n) // binding has refused it
		}
		idx = idx[:0]
		spans := make([]vec.Span, n)
		for i := range n {
			spans[i].Off = uint32(len(idx))
			if args[0].IsNull(i) {
				if s.nulls {
					idx = append(idx, vec.NoRow)
				}
			} else if text := args[0].BytesAt(i); header == nil || !bytes.Equal(text, header) {
				at := r.Rows()
				if err := r.Record(text); err != nil {
					e.Errs.Add(i, err)
				}
				for ; at < r.Rows(); at++ {
					idx = append(idx, uint32(at))
				}
			}
			spans[i].Len = uint32(len(idx)) - spans[i].Off
		}
		batch := r.Take()
		if batch == nil || batch.N == 0 {
			return vec.NewList(t, spans, vec.NewNulls(schema, len(idx)))
		}
		rows := vec.NewStruct(schema, batch.N, batch.Cols)
		if len(idx) > batch.N { // nulls between them
			rows = vec.Take(rows, idx, nil)
		}
		return vec.NewList(t, spans, rows)
	}
}
