// Package textfile is the format text: files whose lines are the values of one string column.
// It is tested with files of every kind of line end; what it shares with other formats is tested in package files.
package textfile

import (
	"bytes"
	"context"
	"io"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is the format text.
type Kind struct{}

// Name implements files.Kind.
func (Kind) Name() string { return "text" }

// Prepare implements files.Kind.
func (Kind) Prepare(req source.Request) (files.Decoder, error) {
	d := &decoder{text: files.TextOptions{Raw: true}} // whatever encoding says
	var err error
	if d.text.Sep, err = files.EncodedLineSep(req.Options.Get, "text"); err != nil {
		return nil, err
	}
	if _, err := files.CodecOption(req.Options.Get); err != nil {
		return nil, err
	}
	d.whole, err = files.Flag(req, "wholetext", false)
	return d, err
}

type decoder struct {
	text  files.TextOptions
	whole bool
}

var schema = types.StructType{Fields: []types.Field{{Name: "value", Type: types.String, Nullable: true}}}

// Fixed implements files.Decoder.
func (d *decoder) Fixed() (types.StructType, bool) { return schema, true }

// Infer implements files.Decoder.
func (d *decoder) Infer(context.Context, []*files.File) (types.StructType, bool, error) {
	return schema, true, nil
}

// Check implements files.Decoder.
func (d *decoder) Check(st types.StructType) error {
	if len(st.Fields) != 1 {
		return errclass.New("INVALID_OPTION_VALUE", "option", "schema", "format", "text", "value", st.DDL(),
			"requirement", "the format has one column of type STRING.")
	}
	if f := st.Fields[0]; !types.IsString(f.Type) {
		return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "Text", "columnName", errclass.Ident(f.Name), "columnType", errclass.Expr(f.Type.SQL()))
	}
	return nil
}

// Cut implements files.Decoder.
func (d *decoder) Cut(f *files.File) int64 {
	if d.whole {
		return 0
	}
	return files.CutText(f, d.text)
}

// Open implements files.Decoder.
func (d *decoder) Open(_ context.Context, p files.Piece, want types.StructType, _ []source.Filter) (files.Rows, error) {
	if d.whole {
		text, end, err := files.ReadText(p.File, d.text)
		if err != nil {
			return nil, err
		}
		return &wholeRows{text: text[:end], want: want}, nil
	}
	lines, err := files.OpenLines(p, d.text)
	if err != nil {
		return nil, err
	}
	return &lineRows{lines: lines, sep: []byte(d.text.Sep), want: want, value: vec.NewBuilder(types.String)}, nil
}

// batchOf gives the wanted columns: the value, or none for a query that only counts lines.
func batchOf(want types.StructType, value *vec.Vector) *vec.Batch {
	b := vec.NewBatch(value.Len())
	for range want.Fields {
		b.Cols = append(b.Cols, value)
	}
	return b
}

// wholeRows is a file as one row.
type wholeRows struct {
	text []byte
	want types.StructType
	done bool
}

// Next implements files.Rows.
func (r *wholeRows) Next(context.Context) (*vec.Batch, error) {
	if r.done {
		return nil, io.EOF
	}
	r.done = true
	return batchOf(r.want, vec.NewBytes(types.String, []vec.Span{{Len: uint32(len(r.text))}}, r.text)), nil
}

// Close implements files.Rows.
func (r *wholeRows) Close() error { return nil }

// maxBatch caps a batch in bytes.
const maxBatch = 8 << 20

// lineRows are the lines of a piece of a file.
type lineRows struct {
	lines *files.Lines
	sep   []byte // empty for a line feed, a carriage return or both
	want  types.StructType
	value *vec.Builder
	text  []byte // what is left of the last text of whole lines
}

// Next implements files.Rows.
func (r *lineRows) Next(ctx context.Context) (*vec.Batch, error) {
	for size := 0; r.value.Len() < vec.BatchRows && size < maxBatch; {
		if len(r.text) == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			text, from, end, err := r.lines.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			r.text = text[from:end]
			continue
		}
		line, rest := r.cut()
		r.value.AppendBytes(line)
		r.text = rest
		size += len(line)
	}
	if r.value.Len() == 0 {
		return nil, io.EOF
	}
	return batchOf(r.want, r.value.Finish()), nil
}

// cut takes the first line off the text.
func (r *lineRows) cut() (line, rest []byte) {
	if len(r.sep) > 0 {
		line, rest, _ = bytes.Cut(r.text, r.sep)
		return line, rest
	}
	at := bytes.IndexByte(r.text, '\n')
	if at < 0 {
		at = len(r.text)
	}
	if cr := bytes.IndexByte(r.text[:at], '\r'); cr >= 0 {
		line, rest = r.text[:cr], r.text[cr+1:]
		if len(rest) > 0 && rest[0] == '\n' {
			rest = rest[1:]
		}
		return line, rest
	}
	return r.text[:at], r.text[min(at+1, len(r.text)):]
}

// Close implements files.Rows.
func (r *lineRows) Close() error { return r.lines.Close() }
