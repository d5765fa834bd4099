package xmlfile

import (
	"io"
	"strings"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/xmlrow"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SinkKind is the format xml for writing.
type SinkKind struct{}

// Name implements filesink.Kind.
func (SinkKind) Name() string { return "xml" }

// Prepare implements filesink.Kind.
func (SinkKind) Prepare(req sink.Request) (filesink.Encoder, error) {
	e := &encoder{}
	if err := xmlrow.CheckRowTag(req.Options.Get); err != nil {
		return nil, err
	}
	var err error
	if e.opts, err = xmlrow.ParseOptions(req.Options.Get, req.Env.Conf, req.Env.Zone); err != nil {
		return nil, err
	}
	e.text, err = filesink.ParseTextOptions(req, ".xml")
	return e, err
}

// encoder writes XML files.
type encoder struct {
	opts xmlrow.Options
	text filesink.TextOptions
}

// Check implements filesink.Encoder.
func (e *encoder) Check(schema types.StructType) error {
	_, err := xmlrow.NewWriter(schema, e.opts)
	return err
}

// Ext implements filesink.Encoder.
func (e *encoder) Ext() string { return e.text.Ext() }

// Create implements filesink.Encoder.
func (e *encoder) Create(w io.Writer, schema types.StructType) (filesink.File, error) {
	rows, err := xmlrow.NewWriter(schema, e.opts)
	if err != nil {
		return nil, err
	}
	if e.opts.Indent != "" {
		rows.At(1)
	}
	return e.text.Create(w, &lines{w: rows, opts: e.opts})
}

// lines prints rows between the start and the end of the root. A file without rows is empty.
type lines struct {
	w     *xmlrow.Writer
	opts  xmlrow.Options
	begun bool
}

// Head implements filesink.Lines.
func (l *lines) Head(b []byte) []byte { return b }

// Bind implements filesink.Lines.
func (l *lines) Bind(b *vec.Batch) error {
	l.w.BindColumns(b.N, b.Cols)
	return nil
}

// AppendRow implements filesink.Lines.
func (l *lines) AppendRow(b []byte, i int) []byte {
	if !l.begun {
		l.begun = true
		if l.opts.Declaration != "" {
			b = append(append(append(b, "<?xml "...), l.opts.Declaration...), "?>\n"...)
		}
		b = append(append(append(b, '<'), l.opts.RootTag...), '>')
		if l.opts.Indent == "" {
			b = append(b, '\n')
		}
	}
	if l.opts.Indent != "" {
		b = append(append(b, '\n'), l.opts.Indent...)
	}
	return l.w.AppendRow(b, i)
}

// Tail implements filesink.Tailed.
func (l *lines) Tail(b []byte) []byte {
	if !l.begun {
		return b
	}
	if l.opts.Indent != "" {
		b = append(b, '\n')
	}
	name, _, _ := strings.Cut(l.opts.RootTag, " ")
	return append(append(append(b, "</"...), name...), '>')
}
