package avrofile

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"io"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/avrorow"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SinkKind is the format avro for writing.
type SinkKind struct {
	FS fs.FS // for schemas in files
}

// Name implements filesink.Kind.
func (SinkKind) Name() string { return "avro" }

// Prepare implements filesink.Kind.
func (k SinkKind) Prepare(req sink.Request) (filesink.Encoder, error) {
	conf := req.Env.Conf
	if conf == nil {
		conf = func(string) string { return "" }
	}
	e := &encoder{record: "topLevelRecord"}
	name, ok := req.Options.Get("compression")
	if !ok {
		if name = conf("spark.sql.avro.compression.codec"); name == "" {
			name = "snappy"
		}
	}
	var err error
	if e.codec, err = findCodec(name); err != nil {
		return nil, err
	}
	e.level = level(e.codec.name, conf)
	if e.calendar, err = avrorow.WriteCalendar(conf); err != nil {
		return nil, err
	}
	if e.schema, e.text, err = schemaOption(k.FS, req.Options.Get); err != nil {
		return nil, err
	}
	if s, ok := req.Options.Get("recordName"); ok {
		e.record = s
	}
	e.space, _ = req.Options.Get("recordNamespace")
	e.byPosition, err = flag(req.Options.Get, "positionalFieldMatching", false)
	return e, err
}

// encoder writes Avro files.
type encoder struct {
	codec         *codec
	level         int
	schema        avro.Schema // given; nil for that of the rows
	text          string      // of schema
	record, space string
	byPosition    bool
	calendar      *avrorow.Calendar
}

// checkTypes refuses types that Spark does not put into Avro files.
func checkTypes(schema types.StructType) error {
	for _, f := range schema.Fields {
		if types.Contains(f.Type, func(t types.DataType) bool { _, ok := t.(types.TimeType); return ok }) {
			return errclass.New("UNSUPPORTED_TIME_TYPE")
		}
		if types.Contains(f.Type, func(t types.DataType) bool { return t == types.CalendarInterval || t == types.Variant }) {
			return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "Avro", "columnName", errclass.Ident(f.Name), "columnType", errclass.Expr(f.Type.SQL()))
		}
	}
	return nil
}

// Check implements filesink.Encoder.
func (e *encoder) Check(schema types.StructType) error {
	if err := checkTypes(schema); err != nil {
		return err
	}
	if e.schema != nil {
		_, err := avrorow.NewWriterAs(e.named(schema), e.schema)
		return err
	}
	for _, f := range schema.Fields {
		if !avrorow.IsName(f.Name) {
			return errclass.New("INVALID_COLUMN_NAME_AS_PATH", "datasource", "AvroFileFormat", "columnName", errclass.Ident(f.Name))
		}
	}
	if _, err := avrorow.NewWriter(schema, false); err != nil {
		return err
	}
	_, err := avrorow.Parse(avrorow.Describe(schema, e.record, e.space)) // finds names of records that are none
	return err
}

// named is the schema of rows with the names of the fields that they become.
func (e *encoder) named(schema types.StructType) types.StructType {
	r, ok := e.schema.(*avro.RecordSchema)
	if !ok || !e.byPosition || len(r.Fields()) != len(schema.Fields) {
		return schema
	}
	out := types.StructType{}
	for i, f := range schema.Fields {
		f.Name = r.Fields()[i].Name()
		out.Fields = append(out.Fields, f)
	}
	return out
}

// Ext implements filesink.Encoder.
func (e *encoder) Ext() string { return e.codec.ext + ".avro" }

// sparkVersion is written into files: readers take from it that times before 1582 are in today's calendar.
const sparkVersion = "4.2.0"

// Create implements filesink.Encoder.
func (e *encoder) Create(w io.Writer, schema types.StructType) (filesink.File, error) {
	f := &file{w: w, schema: schema}
	var err error
	text := avrorow.Describe(schema, e.record, e.space)
	if e.schema == nil {
		f.records, err = avrorow.NewWriter(schema, false)
	} else {
		f.schema = e.named(schema)
		f.records, err = avrorow.NewWriterAs(f.schema, e.schema)
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(e.text)); err != nil {
			return nil, err
		}
		text = b.String()
	}
	if err != nil {
		return nil, err
	}
	f.records.Keep(e.calendar)
	if f.pack, err = e.codec.packer(e.level); err != nil {
		return nil, err
	}
	if _, err := rand.Read(f.mark[:]); err != nil {
		return nil, err
	}
	head := append([]byte(nil), magic...)
	meta := []string{keySchema, text, keyVersion, sparkVersion, keyCodec, e.codec.name}
	if e.calendar.Rebase == datetime.Legacy {
		meta = append(meta, keyOld, "", keyZone, e.calendar.Zone.String())
	}
	head = binary.AppendVarint(head, int64(len(meta)/2))
	for _, s := range meta {
		head = append(binary.AppendVarint(head, int64(len(s))), s...)
	}
	head = append(append(head, 0), f.mark[:]...)
	_, err = w.Write(head)
	return f, err
}

// file is a file being written.
type file struct {
	w       io.Writer
	schema  types.StructType
	records *avrorow.Writer
	pack    packer
	mark    [markBytes]byte
	block   []byte // records of the block at hand
	n       int64  // how many
	packed  []byte
}

// blockBytes is what a block has before it is compressed, about.
const blockBytes = 64000

// Write implements filesink.File.
func (f *file) Write(b *vec.Batch) error {
	record := vec.NewStruct(f.schema, b.N, append([]*vec.Vector(nil), b.Cols...))
	for i := range b.N {
		var err error
		if f.block, err = f.records.Append(f.block, record, i); err != nil {
			return avrorow.WriteError(err)
		}
		f.n++
		if len(f.block) >= blockBytes {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Held implements filesink.Holder.
func (f *file) Held() int64 { return int64(len(f.block)) }

// flush writes the block at hand.
func (f *file) flush() (err error) {
	if f.n == 0 {
		return nil
	}
	if f.packed, err = f.pack(f.packed[:0], f.block); err != nil {
		return err
	}
	head := binary.AppendVarint(binary.AppendVarint(nil, f.n), int64(len(f.packed)))
	for _, p := range [][]byte{head, f.packed, f.mark[:]} {
		if _, err := f.w.Write(p); err != nil {
			return err
		}
	}
	f.block, f.n = f.block[:0], 0
	return nil
}

// Close implements filesink.File.
func (f *file) Close() error { return f.flush() }
