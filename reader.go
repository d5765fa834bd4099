package millrace

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/types"
)

// scan is what the readers of bounded data and of streams have in common.
type scan struct {
	s       *Session
	stream  bool
	format  string
	schema  string // DDL or JSON
	name    string
	options options
	err     error
}

func (r *scan) setDDL(ddl string) {
	_, err := types.ParseDDL(ddl)
	r.schema, r.err = ddl, firstError(r.err, mistake(err))
}

func (r *scan) load(format string, paths []string) *DataFrame {
	m := &connectpb.Read_DataSource{Options: r.options.get(), Paths: slices.Clone(paths)}
	if format != "" {
		m.Format = &format
	}
	if r.schema != "" {
		m.Schema = proto.String(r.schema)
	}
	if r.name != "" {
		m.SourceName = proto.String(r.name)
	}
	return r.read(&connectpb.Read{ReadType: &connectpb.Read_DataSource_{DataSource: m}})
}

func (r *scan) table(name string) *DataFrame {
	return r.read(&connectpb.Read{ReadType: &connectpb.Read_NamedTable_{
		NamedTable: &connectpb.Read_NamedTable{UnparsedIdentifier: name, Options: r.options.get()},
	}})
}

func (r *scan) read(m *connectpb.Read) *DataFrame {
	m.IsStreaming = r.stream
	return newDataFrame(r.s, &connectpb.Relation{RelType: &connectpb.Relation_Read{Read: m}}, r.err, r.options.err)
}

// DataFrameReader describes bounded data to be read. Its methods change it and return it; Load and its like make a DataFrame.
type DataFrameReader struct{ scan scan }

// Read reads bounded data.
func (s *Session) Read() *DataFrameReader { return &DataFrameReader{scan{s: s}} }

// Format names the kind of source: json, csv, parquet, text, orc, kafka and others.
func (r *DataFrameReader) Format(name string) *DataFrameReader { r.scan.format = name; return r }

// Schema gives the schema of the data, instead of one that is inferred.
func (r *DataFrameReader) Schema(s types.StructType) *DataFrameReader {
	r.scan.schema = s.JSON()
	return r
}

// SchemaDDL gives the schema as text: "id BIGINT, name STRING".
func (r *DataFrameReader) SchemaDDL(ddl string) *DataFrameReader { r.scan.setDDL(ddl); return r }

// Option sets an option of the source to a text, a boolean or a number.
func (r *DataFrameReader) Option(key string, value any) *DataFrameReader {
	r.scan.options.set(key, value)
	return r
}

// Options sets several options.
func (r *DataFrameReader) Options(m map[string]string) *DataFrameReader {
	r.scan.options.setAll(m)
	return r
}

// Load reads paths in the reader's format.
func (r *DataFrameReader) Load(paths ...string) *DataFrame { return r.scan.load(r.scan.format, paths) }

// JSON reads files with a JSON object in each line.
func (r *DataFrameReader) JSON(paths ...string) *DataFrame { return r.scan.load("json", paths) }

// CSV reads CSV files.
func (r *DataFrameReader) CSV(paths ...string) *DataFrame { return r.scan.load("csv", paths) }

// Parquet reads Parquet files.
func (r *DataFrameReader) Parquet(paths ...string) *DataFrame { return r.scan.load("parquet", paths) }

// ORC reads ORC files.
func (r *DataFrameReader) ORC(paths ...string) *DataFrame { return r.scan.load("orc", paths) }

// XML reads XML files. The option rowTag names the element that is a row.
func (r *DataFrameReader) XML(paths ...string) *DataFrame { return r.scan.load("xml", paths) }

// Text reads the lines of files, as the column value.
func (r *DataFrameReader) Text(paths ...string) *DataFrame { return r.scan.load("text", paths) }

// Table reads a table or view.
func (r *DataFrameReader) Table(name string) *DataFrame { return r.scan.table(name) }

// DataStreamReader describes a stream to be read. Its methods change it and return it; Load and its like make a DataFrame.
type DataStreamReader struct{ scan scan }

// ReadStream reads a stream.
func (s *Session) ReadStream() *DataStreamReader {
	return &DataStreamReader{scan{s: s, stream: true}}
}

// Format names the kind of source: json, csv, parquet, text, rate, socket, kafka and others.
func (r *DataStreamReader) Format(name string) *DataStreamReader { r.scan.format = name; return r }

// Schema gives the schema of the data. Files need one.
func (r *DataStreamReader) Schema(s types.StructType) *DataStreamReader {
	r.scan.schema = s.JSON()
	return r
}

// SchemaDDL gives the schema as text: "ts TIMESTAMP, user STRING".
func (r *DataStreamReader) SchemaDDL(ddl string) *DataStreamReader { r.scan.setDDL(ddl); return r }

// Option sets an option of the source to a text, a boolean or a number.
func (r *DataStreamReader) Option(key string, value any) *DataStreamReader {
	r.scan.options.set(key, value)
	return r
}

// Options sets several options.
func (r *DataStreamReader) Options(m map[string]string) *DataStreamReader {
	r.scan.options.setAll(m)
	return r
}

// Name names the source in the query's checkpoint.
func (r *DataStreamReader) Name(name string) *DataStreamReader { r.scan.name = name; return r }

// Load reads a path, if the format needs one.
func (r *DataStreamReader) Load(path ...string) *DataFrame { return r.scan.load(r.scan.format, path) }

// JSON reads new files of a directory, with a JSON object in each line.
func (r *DataStreamReader) JSON(path string) *DataFrame { return r.scan.load("json", []string{path}) }

// CSV reads new CSV files of a directory.
func (r *DataStreamReader) CSV(path string) *DataFrame { return r.scan.load("csv", []string{path}) }

// Parquet reads new Parquet files of a directory.
func (r *DataStreamReader) Parquet(path string) *DataFrame {
	return r.scan.load("parquet", []string{path})
}

// ORC reads new ORC files of a directory.
func (r *DataStreamReader) ORC(path string) *DataFrame { return r.scan.load("orc", []string{path}) }

// XML reads new XML files of a directory. The option rowTag names the element that is a row.
func (r *DataStreamReader) XML(path string) *DataFrame { return r.scan.load("xml", []string{path}) }

// Text reads the lines of new files of a directory, as the column value.
func (r *DataStreamReader) Text(path string) *DataFrame { return r.scan.load("text", []string{path}) }

// Table reads a table or a streaming view as a stream.
func (r *DataStreamReader) Table(name string) *DataFrame { return r.scan.table(name) }
