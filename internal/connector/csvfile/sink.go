package csvfile

import (
	"io"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/csvrow"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SinkKind is the format csv for writing.
type SinkKind struct{}

// Name implements filesink.Kind.
func (SinkKind) Name() string { return "csv" }

// Prepare implements filesink.Kind.
func (SinkKind) Prepare(req sink.Request) (filesink.Encoder, error) {
	e := &encoder{}
	var err error
	if e.opts, err = csvrow.ParseOptions(req.Options.Get, req.Env.Conf, req.Env.Zone); err != nil {
		return nil, err
	}
	e.text, err = filesink.ParseTextOptions(req, "."+e.opts.Extension)
	return e, err
}

// encoder writes CSV files.
type encoder struct {
	opts csvrow.Options
	text filesink.TextOptions
}

// Check implements filesink.Encoder.
func (e *encoder) Check(schema types.StructType) error {
	if err := csvrow.Unsupported(schema, "CSV"); err != nil {
		return err
	}
	_, err := csvrow.NewWriter(schema, e.opts)
	return err
}

// Ext implements filesink.Encoder.
func (e *encoder) Ext() string { return e.text.Ext() }

// Create implements filesink.Encoder.
func (e *encoder) Create(w io.Writer, schema types.StructType) (filesink.File, error) {
	rows, err := csvrow.NewWriter(schema, e.opts)
	if err != nil {
		return nil, err
	}
	return e.text.Create(w, &lines{w: rows, sep: e.text.Sep, header: e.opts.Header})
}

// lines prints rows as lines.
type lines struct {
	w      *csvrow.Writer
	sep    string
	header bool
}

// Head implements filesink.Lines.
func (l *lines) Head(b []byte) []byte {
	if !l.header {
		return b
	}
	return append(l.w.AppendHeader(b), l.sep...)
}

// Bind implements filesink.Lines.
func (l *lines) Bind(b *vec.Batch) error {
	l.w.Bind(b.Cols)
	return nil
}

// AppendRow implements filesink.Lines.
func (l *lines) AppendRow(b []byte, i int) []byte {
	n := len(b)
	if b = l.w.AppendRow(b, i); len(b) == n {
		return b // an empty line is no row
	}
	return append(b, l.sep...)
}
