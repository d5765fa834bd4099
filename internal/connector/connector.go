package connector

import (
	"os"

	"github.com/millrace/millrace/internal/connector/console"
	"github.com/millrace/millrace/internal/connector/csvfile"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/connector/memory"
	"github.com/millrace/millrace/internal/connector/noop"
	"github.com/millrace/millrace/internal/connector/parquetfile"
	"github.com/millrace/millrace/internal/connector/rate"
	"github.com/millrace/millrace/internal/connector/socket"
	"github.com/millrace/millrace/internal/connector/statestore"
	"github.com/millrace/millrace/internal/connector/textfile"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// RegisterAll makes the connectors known, over the local file system.
func RegisterAll() { Register(fs.Local()) }

// Register makes the connectors known, with files on fsys.
func Register(fsys fs.FS) {
	source.Register("csv", files.Format{Kind: csvfile.Kind{}, FS: fsys})
	source.Register("jdbc", batchOnly{})
	source.Register("json", files.Format{Kind: jsonfile.Kind{}, FS: fsys})
	source.Register("parquet", files.Format{Kind: parquetfile.Kind{}, FS: fsys})
	source.Register("rate", rate.Rate{FS: fsys})
	source.Register("rate-micro-batch", rate.MicroBatch{})
	source.Register("socket", socket.Format{})
	source.Register("state-metadata", statestore.Metadata{FS: fsys})
	source.Register("statestore", statestore.Format{FS: fsys})
	source.Register("text", files.Format{Kind: textfile.Kind{}, FS: fsys})

	sink.Register("console", console.Format{Out: os.Stdout})
	sink.Register("csv", filesink.Format{Kind: csvfile.SinkKind{}, FS: fsys})
	sink.Register("json", filesink.Format{Kind: jsonfile.SinkKind{}, FS: fsys})
	sink.Register("memory", memory.Format{})
	sink.Register("noop", noop.Format{})
	sink.Register("parquet", filesink.Format{Kind: parquetfile.SinkKind{}, FS: fsys})
	sink.Register("text", filesink.Format{Kind: textfile.SinkKind{}, FS: fsys})
}
