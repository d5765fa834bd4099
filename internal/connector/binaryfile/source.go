// Package binaryfile is the format binaryFile: each file is a row with its path, times, length and content. It is for reading alone.
//
// It is tested with real files; what a row holds and what is refused is Spark's answer.
package binaryfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is the format binaryFile.
type Kind struct{}

// Name implements files.Kind.
func (Kind) Name() string { return "binaryFile" }

// Prepare implements files.Kind.
func (Kind) Prepare(req source.Request) (files.Decoder, error) {
	d := &decoder{most: math.MaxInt32}
	if req.Env.Conf != nil {
		if n, err := strconv.ParseInt(req.Env.Conf("spark.sql.sources.binaryFile.maxLength"), 10, 32); err == nil {
			d.most = n
		}
	}
	return d, nil
}

// schema is that of all such tables, before the columns of partition directories.
var schema = types.StructType{Fields: []types.Field{
	{Name: "path", Type: types.String},
	{Name: "modificationTime", Type: types.Timestamp},
	{Name: "length", Type: types.Long},
	{Name: "content", Type: types.Binary, Nullable: true},
}}

type decoder struct {
	most int64 // bytes of a content that is read
}

// Fixed implements files.Decoder. A stream wants the schema to be given, as if it could be another.
func (d *decoder) Fixed() (types.StructType, bool) { return types.StructType{}, false }

// Infer implements files.Decoder.
func (d *decoder) Infer(context.Context, []*files.File) (types.StructType, bool, error) {
	return schema, true, nil
}

// Check implements files.Decoder.
func (d *decoder) Check(st types.StructType) error {
	same := len(st.Fields) == len(schema.Fields)
	for i := 0; same && i < len(schema.Fields); i++ {
		same = st.Fields[i].Name == schema.Fields[i].Name && types.SameType(st.Fields[i].Type, schema.Fields[i].Type)
	}
	if same {
		return nil
	}
	return errclass.New("INVALID_OPTION_VALUE", "option", "schema", "format", "binaryFile", "value", st.DDL(),
		"requirement", "the format has the columns "+schema.DDL()+".").WithKind(errclass.IllegalArgument)
}

// Cut implements files.Decoder.
func (d *decoder) Cut(*files.File) int64 { return 0 }

// Open implements files.Decoder. Length and time are those of the file as it is now, not as it was listed.
func (d *decoder) Open(_ context.Context, p files.Piece, want types.StructType, filters []source.Filter) (files.Rows, error) {
	info, err := p.FS.Stat(p.Path)
	if err != nil {
		return nil, err
	}
	facts := map[string]any{
		"path": fs.ShortURI(p.Path), "modificationTime": types.Micros(info.ModTime().UnixMilli() * 1000), "length": info.Size(),
	}
	for _, f := range filters {
		if v, ok := facts[f.Column]; ok && !files.MayMatch(f, v) {
			return &rows{}, nil
		}
	}
	b := vec.NewBatch(1)
	for _, f := range want.Fields {
		value, ok := facts[f.Name]
		if !ok {
			if value, err = d.content(p.File, info.Size()); err != nil {
				return nil, err
			}
		}
		column := vec.NewBuilder(f.Type)
		if err := column.AppendValue(value); err != nil {
			return nil, err
		}
		b.Cols = append(b.Cols, column.Finish())
	}
	return &rows{b}, nil
}

// content reads a file of about size bytes.
func (d *decoder) content(f *files.File, size int64) (_ []byte, err error) {
	if size > d.most {
		return nil, d.tooLong(f, size)
	}
	h, err := f.FS.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	text := make([]byte, 0, size+1) // one more, for the end to be found without another buffer
	for {
		n, err := h.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case int64(len(text)) > d.most:
			return nil, d.tooLong(f, int64(len(text)))
		case err == io.EOF:
			return text, nil
		case err != nil:
			return nil, err
		case len(text) == cap(text): // it has grown
			text = append(text, 0)[:len(text)]
		}
	}
}

func (d *decoder) tooLong(f *files.File, size int64) error {
	return errclass.New("FAILED_READ_FILE.NO_HINT", "path", fs.URI(f.Path), "reason", fmt.Sprintf(
		"it has %d bytes, and spark.sql.sources.binaryFile.maxLength allows %d. Leave the column content out, or raise the setting.", size, d.most))
}

// rows is the row of a file, or none.
type rows struct{ batch *vec.Batch }

// Next implements files.Rows.
func (r *rows) Next(context.Context) (*vec.Batch, error) {
	if r.batch == nil {
		return nil, io.EOF
	}
	b := r.batch
	r.batch = nil
	return b, nil
}

// Close implements files.Rows.
func (r *rows) Close() error { return nil }

// SinkKind refuses to write.
type SinkKind struct{}

// Name implements filesink.Kind.
func (SinkKind) Name() string { return "binaryFile" }

// Prepare implements filesink.Kind.
func (SinkKind) Prepare(sink.Request) (filesink.Encoder, error) {
	return nil, errclass.New("UNSUPPORTED_FEATURE.WRITE_FOR_BINARY_SOURCE")
}
