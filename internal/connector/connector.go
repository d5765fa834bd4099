package connector

import (
	"os"

	"github.com/millrace/millrace/internal/connector/avrofile"
	"github.com/millrace/millrace/internal/connector/binaryfile"
	"github.com/millrace/millrace/internal/connector/console"
	"github.com/millrace/millrace/internal/connector/csvfile"
	"github.com/millrace/millrace/internal/connector/delta"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/connector/kafka"
	"github.com/millrace/millrace/internal/connector/memory"
	"github.com/millrace/millrace/internal/connector/noop"
	"github.com/millrace/millrace/internal/connector/parquetfile"
	"github.com/millrace/millrace/internal/connector/rate"
	"github.com/millrace/millrace/internal/connector/socket"
	"github.com/millrace/millrace/internal/connector/statestore"
	"github.com/millrace/millrace/internal/connector/textfile"
	"github.com/millrace/millrace/internal/connector/xmlfile"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// RegisterAll makes the connectors known, over the local file system.
func RegisterAll() { Register(fs.Local()) }

// Register makes the connectors known, with files on fsys.
func Register(fsys fs.FS) {
	source.Register("avro", files.Format{Kind: avrofile.Kind{FS: fsys}, FS: fsys})
	source.Register("binaryFile", files.Format{Kind: binaryfile.Kind{}, FS: fsys})
	source.Register("csv", files.Format{Kind: csvfile.Kind{}, FS: fsys})
	source.Register("delta", delta.Format{FS: fsys})
	source.Register("jdbc", batchOnly{})
	source.Register("json", files.Format{Kind: jsonfile.Kind{}, FS: fsys})
	source.Register("kafka", kafka.Format{FS: fsys})
	source.Register("parquet", files.Format{Kind: parquetfile.Kind{}, FS: fsys})
	source.Register("rate", rate.Rate{FS: fsys})
	source.Register("rate-micro-batch", rate.MicroBatch{})
	source.Register("socket", socket.Format{})
	source.Register("state-metadata", statestore.Metadata{FS: fsys})
	source.Register("statestore", statestore.Format{FS: fsys})
	source.Register("text", files.Format{Kind: textfile.Kind{}, FS: fsys})
	source.Register("xml", files.Format{Kind: xmlfile.Kind{}, FS: fsys})

	sink.Register("avro", filesink.Format{Kind: avrofile.SinkKind{FS: fsys}, FS: fsys})
	sink.Register("binaryFile", filesink.Format{Kind: binaryfile.SinkKind{}, FS: fsys})
	sink.Register("console", console.Format{Out: os.Stdout})
	sink.Register("csv", filesink.Format{Kind: csvfile.SinkKind{}, FS: fsys})
	sink.Register("delta", delta.SinkFormat{FS: fsys})
	sink.Register("json", filesink.Format{Kind: jsonfile.SinkKind{}, FS: fsys})
	sink.Register("kafka", kafka.SinkFormat{})
	sink.Register("memory", memory.Format{})
	sink.Register("noop", noop.Format{})
	sink.Register("parquet", filesink.Format{Kind: parquetfile.SinkKind{}, FS: fsys})
	sink.Register("text", filesink.Format{Kind: textfile.SinkKind{}, FS: fsys})
	sink.Register("xml", filesink.Format{Kind: xmlfile.SinkKind{}, FS: fsys})
}
