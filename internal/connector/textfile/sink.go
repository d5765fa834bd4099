package textfile

import (
	"io"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SinkKind is the format text for writing: one string column, a line for each row.
type SinkKind struct{}

// Name implements filesink.Kind.
func (SinkKind) Name() string { return "text" }

// Prepare implements filesink.Kind.
func (SinkKind) Prepare(req sink.Request) (filesink.Encoder, error) {
	text, err := filesink.ParseRawOptions(req, ".txt")
	return &encoder{text: text}, err
}

// encoder writes text files.
type encoder struct{ text filesink.TextOptions }

// Check implements filesink.Encoder.
func (e *encoder) Check(st types.StructType) error {
	for _, f := range st.Fields {
		if !types.IsString(f.Type) {
			return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "Text", "columnName", errclass.Ident(f.Name), "columnType", errclass.Expr(f.Type.SQL()))
		}
	}
	if len(st.Fields) != 1 {
		return errclass.New("INVALID_OPTION_VALUE", "option", "schema", "format", "text", "value", st.DDL(),
			"requirement", "the format has one column of type STRING; put the columns together with concat_ws or to_json.")
	}
	return nil
}

// Ext implements filesink.Encoder.
func (e *encoder) Ext() string { return e.text.Ext() }

// Create implements filesink.Encoder.
func (e *encoder) Create(w io.Writer, _ types.StructType) (filesink.File, error) {
	return e.text.Create(w, &lines{sep: e.text.Sep})
}

// lines prints rows as lines; a null is an empty one.
type lines struct {
	v   *vec.Vector
	sep string
}

// Head implements filesink.Lines.
func (l *lines) Head(b []byte) []byte { return b }

// Bind implements filesink.Lines.
func (l *lines) Bind(b *vec.Batch) error {
	l.v = b.Cols[0].Flatten()
	return nil
}

// AppendRow implements filesink.Lines.
func (l *lines) AppendRow(b []byte, i int) []byte {
	if !l.v.IsNull(i) {
		b = append(b, l.v.BytesAt(i)...)
	}
	return append(b, l.sep...)
}
