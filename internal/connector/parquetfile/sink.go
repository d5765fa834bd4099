package parquetfile

import (
	"io"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SinkKind is the format parquet for writing.
type SinkKind struct{}

// Name implements filesink.Kind.
func (SinkKind) Name() string { return "parquet" }

// Prepare implements filesink.Kind.
func (SinkKind) Prepare(req sink.Request) (filesink.Encoder, error) {
	name, ok := req.Options.Get("compression")
	if !ok {
		name, ok = req.Options.Get("parquet.compression")
	}
	if !ok && req.Env.Conf != nil {
		name = req.Env.Conf(setting.ParquetCodec)
	}
	if !ok && name == "" {
		name = "snappy"
	}
	e := &encoder{size: parseSize(req.Options.Get, "parquet.block.size", groupBytes)}
	var err error
	if e.codec, err = findCodec(name); err != nil {
		return nil, err
	}
	e.cal, err = writeCalendarsOf(req.Env)
	return e, err
}

// encoder writes Parquet files.
type encoder struct {
	codec codec
	size  int64
	cal   writeCalendars
}

// Check implements filesink.Encoder.
func (e *encoder) Check(schema types.StructType) error {
	if err := checkTypes(schema); err != nil {
		return err
	}
	_, err := fileSchema(schema)
	return err
}

// Ext implements filesink.Encoder.
func (e *encoder) Ext() string { return e.codec.ext + ".parquet" }

// Create implements filesink.Encoder.
func (e *encoder) Create(w io.Writer, schema types.StructType) (filesink.File, error) {
	return newWriter(w, schema, e.codec, e.size, e.cal)
}
