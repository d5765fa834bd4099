package jsonfile

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is the format json.
type Kind struct{}

// Name implements files.Kind.
func (Kind) Name() string { return "json" }

// Prepare implements files.Kind.
func (Kind) Prepare(req source.Request) (files.Decoder, error) {
	d := &decoder{}
	var err error
	if d.opts, err = jsonrow.ParseOptions(req.Options.Get, req.Env.Conf, req.Env.Zone); err != nil {
		return nil, err
	}
	if req.Env.Now != nil {
		d.opts.Now = req.Env.Now
	}
	if d.text, d.ignoreCorrupt, err = files.RecordOptions(req, "json"); err != nil {
		return nil, err
	}
	if d.text.Sep, err = files.LineSepOption(req.Options.Get, "json"); err != nil {
		return nil, err
	}
	for _, key := range []string{"wholeFile", "multiLine"} {
		if d.multiLine, err = files.Flag(req, key, d.multiLine); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// decoder reads JSON files.
type decoder struct {
	opts      jsonrow.Options
	text      files.TextOptions
	multiLine bool
	// ignoreCorrupt says that files which cannot be read have no part in the schema.
	ignoreCorrupt bool
}

// WithAbsent implements files.Absenter.
func (d *decoder) WithAbsent(values map[string]*vec.Vector) files.Decoder {
	c := *d
	c.opts.Absent = values
	return &c
}

// Fixed implements files.Decoder.
func (d *decoder) Fixed() (types.StructType, bool) { return types.StructType{}, false }

// Cut implements files.Decoder.
func (d *decoder) Cut(f *files.File) int64 {
	if d.multiLine {
		return 0
	}
	return files.CutText(f, d.text)
}

// Check implements files.Decoder.
func (d *decoder) Check(schema types.StructType) error {
	if err := files.CheckCorruptColumn(schema, d.opts.CorruptColumn); err != nil {
		return err
	}
	return jsonrow.Unsupported(schema, "JSON")
}

// CheckColumns implements files.ColumnChecker.
func (d *decoder) CheckColumns(want types.StructType) error {
	return files.CheckOnlyCorruptColumn(want, d.opts.CorruptColumn)
}

// Open implements files.Decoder.
func (d *decoder) Open(ctx context.Context, p files.Piece, want types.StructType, _ []source.Filter) (files.Rows, error) {
	opts := d.opts
	opts.Divert = files.Divert(ctx, p.File)
	r, err := jsonrow.NewReader(want, opts)
	if err != nil {
		return nil, err
	}
	if d.multiLine {
		text, end, err := files.ReadText(p.File, d.text)
		if err != nil {
			return nil, err
		}
		return &documentRows{r: r}, r.Document(text, end)
	}
	return files.ReadRecords(p, d.text, r)
}

// documentRows hands out the records of one document.
type documentRows struct {
	r     *jsonrow.Reader
	batch *vec.Batch
	at    int
}

// Next implements files.Rows.
func (d *documentRows) Next(context.Context) (*vec.Batch, error) {
	if d.batch == nil {
		d.batch = d.r.Take()
	}
	if d.at >= d.batch.N {
		return nil, io.EOF
	}
	b := d.batch.Slice(d.at, min(vec.BatchRows, d.batch.N-d.at))
	d.at += b.N
	return b, nil
}

// Close implements files.Rows.
func (d *documentRows) Close() error { return nil }

// Infer implements files.Decoder.
func (d *decoder) Infer(ctx context.Context, list []*files.File) (types.StructType, bool, error) {
	inf, err := jsonrow.NewInference(d.opts)
	if err != nil {
		return types.StructType{}, false, err
	}
	for _, f := range list {
		if err := files.InferError(f, d.inferFile(ctx, f, inf), d.ignoreCorrupt); err != nil {
			return types.StructType{}, false, err
		}
	}
	return inf.Schema(), len(list) > 0, nil
}

func (d *decoder) inferFile(ctx context.Context, f *files.File, inf *jsonrow.Inference) error {
	if d.multiLine {
		text, end, err := files.ReadText(f, d.text)
		if err != nil {
			return err
		}
		return inf.Document(text, end)
	}
	return files.InferRecords(ctx, f, d.text, inf)
}
