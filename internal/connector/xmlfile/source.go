package xmlfile

import (
	"context"
	"io"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/xmlrow"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is the format xml.
type Kind struct{}

// Name implements files.Kind.
func (Kind) Name() string { return "xml" }

// Prepare implements files.Kind.
func (Kind) Prepare(req source.Request) (files.Decoder, error) {
	d := &decoder{}
	if err := xmlrow.CheckRowTag(req.Options.Get); err != nil {
		return nil, err
	}
	var err error
	if d.opts, err = xmlrow.ParseOptions(req.Options.Get, req.Env.Conf, req.Env.Zone); err != nil {
		return nil, err
	}
	if req.Env.Now != nil {
		d.opts.Now = req.Env.Now
	}
	if d.text, d.ignoreCorrupt, err = files.RecordOptions(req, "xml"); err != nil {
		return nil, err
	}
	multiLine, err := files.Flag(req, "multiLine", true)
	if err != nil {
		return nil, err
	}
	d.lines = !multiLine
	return d, nil
}

// decoder reads XML files.
type decoder struct {
	opts xmlrow.Options
	text files.TextOptions
	// lines says that each line is a record, whatever the name of its element.
	lines bool
	// ignoreCorrupt says that files which cannot be read have no part in the schema.
	ignoreCorrupt bool
}

// Fixed implements files.Decoder.
func (d *decoder) Fixed() (types.StructType, bool) { return types.StructType{}, false }

// Cut implements files.Decoder.
func (d *decoder) Cut(f *files.File) int64 {
	if d.lines {
		return files.CutText(f, d.text)
	}
	return 0
}

// Check implements files.Decoder.
func (d *decoder) Check(schema types.StructType) error {
	if err := files.CheckCorruptColumn(schema, d.opts.CorruptColumn); err != nil {
		return err
	}
	return xmlrow.Unsupported(schema)
}

// CheckColumns implements files.ColumnChecker.
func (d *decoder) CheckColumns(want types.StructType) error {
	return files.CheckOnlyCorruptColumn(want, d.opts.CorruptColumn)
}

// Open implements files.Decoder.
func (d *decoder) Open(ctx context.Context, p files.Piece, want types.StructType, _ []source.Filter) (files.Rows, error) {
	opts := d.opts
	opts.Divert = files.Divert(ctx, p.File)
	r, err := xmlrow.NewReader(want, opts)
	if err != nil {
		return nil, err
	}
	if d.lines {
		return files.ReadRecords(p, d.text, r)
	}
	text, end, err := files.ReadText(p.File, d.text)
	if err != nil {
		return nil, err
	}
	r.Open(text[:end])
	return &rows{r: r}, nil
}

// rows are the records of a file.
type rows struct{ r *xmlrow.Reader }

// Next implements files.Rows.
func (d *rows) Next(ctx context.Context) (*vec.Batch, error) {
	for !d.r.Full() {
		more, err := d.r.Next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if d.r.Rows() == 0 {
		return nil, io.EOF
	}
	return d.r.Take(), nil
}

// Close implements files.Rows.
func (d *rows) Close() error { return nil }

// Infer implements files.Decoder.
func (d *decoder) Infer(ctx context.Context, list []*files.File) (types.StructType, bool, error) {
	inf, err := xmlrow.NewInference(d.opts)
	if err != nil {
		return types.StructType{}, false, err
	}
	for _, f := range list {
		if err := ctx.Err(); err != nil {
			return types.StructType{}, false, err
		}
		if err := files.InferError(f, d.inferFile(ctx, f, inf), d.ignoreCorrupt); err != nil {
			return types.StructType{}, false, err
		}
	}
	return inf.Schema(), len(list) > 0, nil
}

func (d *decoder) inferFile(ctx context.Context, f *files.File, inf *xmlrow.Inference) error {
	if d.lines {
		return files.InferRecords(ctx, f, d.text, inf)
	}
	text, end, err := files.ReadText(f, d.text)
	if err != nil {
		return err
	}
	return inf.Document(text[:end])
}
