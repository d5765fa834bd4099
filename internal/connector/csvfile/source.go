package csvfile

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/csvrow"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is the format csv.
type Kind struct{}

// Name implements files.Kind.
func (Kind) Name() string { return "csv" }

// Prepare implements files.Kind.
func (Kind) Prepare(req source.Request) (files.Decoder, error) {
	d := &decoder{}
	var err error
	if d.opts, err = csvrow.ParseOptions(req.Options.Get, req.Env.Conf, req.Env.Zone); err != nil {
		return nil, err
	}
	if req.Env.Now != nil {
		d.opts.Now = req.Env.Now
	}
	if d.text, d.ignoreCorrupt, err = files.RecordOptions(req, "csv"); err != nil {
		return nil, err
	}
	d.text.Sep = d.opts.LineSep
	return d, nil
}

// decoder reads CSV files.
type decoder struct {
	opts csvrow.Options
	text files.TextOptions
	data types.StructType // the columns of the files, set by Check
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
	if d.opts.MultiLine {
		return 0
	}
	return files.CutText(f, d.text)
}

// Check implements files.Decoder.
func (d *decoder) Check(schema types.StructType) error {
	if err := files.CheckCorruptColumn(schema, d.opts.CorruptColumn); err != nil {
		return err
	}
	d.data = schema
	if err := csvrow.Unsupported(schema, "CSV"); err != nil {
		return err
	}
	_, err := csvrow.NewReader(schema, schema, d.opts) // looks at the patterns that the schema needs
	return err
}

// CheckColumns implements files.ColumnChecker.
func (d *decoder) CheckColumns(want types.StructType) error {
	return files.CheckOnlyCorruptColumn(want, d.opts.CorruptColumn)
}

// Open implements files.Decoder.
func (d *decoder) Open(ctx context.Context, p files.Piece, want types.StructType, _ []source.Filter) (files.Rows, error) {
	opts := d.opts
	opts.Divert = files.Divert(ctx, p.File)
	r, err := csvrow.NewReader(d.data, want, opts)
	if err != nil {
		return nil, err
	}
	if d.opts.Header && p.Off == 0 {
		r.SkipHeader()
	}
	if d.opts.MultiLine {
		text, end, err := files.ReadText(p.File, d.text)
		if err != nil {
			return nil, err
		}
		return &documentRows{r: r}, r.Document(text[:end])
	}
	return files.ReadRecords(p, d.text, r)
}

// documentRows reads records that may span lines.
type documentRows struct {
	r    *csvrow.Reader
	done bool
	err  error
}

// Next implements files.Rows.
func (d *documentRows) Next(ctx context.Context) (*vec.Batch, error) {
	if d.err != nil {
		return nil, d.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d.done {
		return nil, io.EOF
	}
	more, err := d.r.Records(vec.BatchRows)
	d.done = !more
	if d.r.Rows() == 0 {
		if err == nil {
			err = io.EOF
		}
		return nil, err
	}
	d.err = err // after the rows before the bad one
	return d.r.Take(), nil
}

// Close implements files.Rows.
func (d *documentRows) Close() error { return nil }

// Infer implements files.Decoder.
func (d *decoder) Infer(ctx context.Context, list []*files.File) (types.StructType, bool, error) {
	inf, err := csvrow.NewInference(d.opts)
	if err != nil {
		return types.StructType{}, false, err
	}
	for _, f := range list {
		if inf.Done() {
			break
		}
		if err := files.InferError(f, d.inferFile(ctx, f, inf), d.ignoreCorrupt); err != nil {
			return types.StructType{}, false, err
		}
	}
	return inf.Schema(), len(list) > 0, nil
}

func (d *decoder) inferFile(ctx context.Context, f *files.File, inf *csvrow.Inference) error {
	if d.opts.MultiLine {
		text, end, err := files.ReadText(f, d.text)
		if err != nil {
			return err
		}
		return inf.Document(text[:end])
	}
	return files.InferRecords(ctx, f, d.text, inf)
}
