package jsonfile

import (
	"io"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SinkKind is the format json for writing.
type SinkKind struct{}

// Name implements filesink.Kind.
func (SinkKind) Name() string { return "json" }

// Prepare implements filesink.Kind.
func (SinkKind) Prepare(req sink.Request) (filesink.Encoder, error) {
	e := &encoder{}
	var err error
	if e.opts, err = jsonrow.ParseOptions(req.Options.Get, req.Env.Conf, req.Env.Zone); err != nil {
		return nil, err
	}
	e.text, err = filesink.ParseTextOptions(req, ".json")
	return e, err
}

// encoder writes JSON files.
type encoder struct {
	opts jsonrow.Options
	text filesink.TextOptions
}

// Check implements filesink.Encoder.
func (e *encoder) Check(schema types.StructType) error {
	if err := jsonrow.Unwritable(schema, "JSON"); err != nil {
		return err
	}
	_, err := jsonrow.NewWriter(schema, e.opts)
	return err
}

// Ext implements filesink.Encoder.
func (e *encoder) Ext() string { return e.text.Ext() }

// Create implements filesink.Encoder.
func (e *encoder) Create(w io.Writer, schema types.StructType) (filesink.File, error) {
	rows, err := jsonrow.NewWriter(schema, e.opts)
	if err != nil {
		return nil, err
	}
	return e.text.Create(w, &lines{w: rows, sep: e.text.Sep})
}

// lines prints rows as lines.
type lines struct {
	w   *jsonrow.Writer
	sep string
}

// Head implements filesink.Lines.
func (l *lines) Head(b []byte) []byte { return b }

// Bind implements filesink.Lines.
func (l *lines) Bind(b *vec.Batch) error {
	l.w.Bind(b.Cols)
	return nil
}

// AppendRow implements filesink.Lines.
func (l *lines) AppendRow(b []byte, i int) []byte { return append(l.w.AppendRow(b, i), l.sep...) }
