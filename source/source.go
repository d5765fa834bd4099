// Package source is what a connector implements to be read by millrace, in batch or as a stream. The engine's own connectors
// use the same interfaces and the same registry; package sourcetest holds the contract tests.
//
// Rows travel as Arrow record batches. A source never sees plans or engine types.
package source

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/types"
)

// Options are a reader's options. Keys are looked up in any case; the original spelling is kept for messages.
type Options map[string]string

// Get returns the value of an option and whether it was given.
func (o Options) Get(key string) (string, bool) {
	if v, ok := o[key]; ok {
		return v, true
	}
	for k, v := range o {
		if strings.EqualFold(k, key) {
			return v, true
		}
	}
	return "", false
}

// Env is what the engine lends a connector.
type Env struct {
	Now  func() time.Time
	Log  *slog.Logger
	Zone *time.Location
	// Conf answers session settings (spark.sql.…), "" when unset.
	Conf func(key string) string
	// Parallelism is the number of splits that keep the machine busy.
	Parallelism int
	// Constant gives the value of a constant expression of SQL as one of a type; nil where there is no SQL.
	Constant func(ctx context.Context, text string, t types.DataType) (any, error)
}

// Request asks a Format for a table.
type Request struct {
	Format  string
	Schema  *types.StructType // nil when the user gave none
	Options Options
	Paths   []string
	Stream  bool // readStream rather than read
	Env     Env
}

// Format is what is registered under a name such as "json".
type Format interface {
	// Open looks at the request, finds or checks the schema and reports mistakes as *millrace.Error. It does not read rows
	// except to infer a schema.
	Open(ctx context.Context, req Request) (Table, error)
}

// Table is a source whose schema is known. It implements Batch, Streamer or both.
type Table interface {
	Schema() types.StructType
}

// Batch is a table that can be read as a whole.
type Batch interface {
	Table
	// Scan cuts the present content into splits in a fixed order.
	Scan(ctx context.Context, want Projection) ([]Split, error)
}

// Streamer is a table that can be read as a stream.
type Streamer interface {
	Table
	// Stream opens the stream. It does no I/O before the first LatestOffset.
	Stream(ctx context.Context, s StreamEnv) (Stream, error)
}

// Hidden is implemented by tables with columns that are not part of their schema and are read only when a query names them, such
// as _metadata of files. They are asked for in Projection.Columns like any other.
type Hidden interface {
	HiddenColumns() []types.Field
}

// Log is the source's private log in the checkpoint: small entries written once, durably.
type Log interface {
	// Add writes entry n; an existing one is an error that matches fs.ErrExist.
	Add(n int64, content []byte) error
	Get(n int64) ([]byte, error)
	// Dir is the log's directory, for sources with a format of their own.
	Dir() string
}

// StreamEnv is what a stream gets from the query that it belongs to.
type StreamEnv struct {
	Log  Log
	Want Projection
}

// Projection says what the plan needs of a table.
type Projection struct {
	// Columns are the needed columns by name, in the order in which the splits must deliver them; nil means all.
	Columns []string
	// Filters are conditions that rows must meet to be of use. A source may skip rows that fail them and need not.
	Filters []Filter
}

// Offset is a position in a stream as JSON; it is written to the offset log as it is. nil is "before everything".
type Offset = json.RawMessage

// Limit says how much LatestOffset may advance.
type Limit uint8

// The limits.
const (
	// LimitDefault applies the source's own options (maxFilesPerTrigger and the like).
	LimitDefault Limit = iota
	// LimitNone takes everything available: Trigger.Once.
	LimitNone
)

// Stream is a running streaming source of one query. All methods are called from one goroutine.
type Stream interface {
	// LatestOffset returns the end of the next batch after start, or start itself when nothing is new. Whatever it needs to
	// read the same range again later must be durable before it returns.
	LatestOffset(ctx context.Context, start Offset, limit Limit) (Offset, error)
	// Plan cuts (start, end] into splits. It is called again after a restart with the logged offsets and must give the same rows
	// in the same order.
	Plan(ctx context.Context, start, end Offset) ([]Split, error)
	// Commit says that end will never be asked for again.
	Commit(ctx context.Context, end Offset) error
	// Description is how progress names the source, in Spark's form.
	Description() string
	Close() error
}

// AvailableNow is implemented by streams that can fix their end for Trigger.AvailableNow. A query with a stream that cannot
// runs a single batch instead.
type AvailableNow interface {
	// PrepareAvailableNow fixes the end; LatestOffset does not go past it afterwards.
	PrepareAvailableNow(ctx context.Context) error
}

// Notifier is implemented by streams that hear of new rows by themselves. A query that waits looks at them at once then, and need not let
// the polling delay pass.
type Notifier interface {
	// Notify names the channel that gets a token, without blocking, whenever there may be something new. It is called once, before the
	// first LatestOffset.
	Notify(news chan<- struct{})
}

// Reporter is implemented by streams that report a latest offset and metrics in progress.
type Reporter interface {
	// ReportLatest is the newest offset known, or nil.
	ReportLatest() Offset
	// Metrics are shown in progress, by Spark's names.
	Metrics() map[string]string
}

// Split is a part of a table's rows that one worker reads.
type Split interface {
	Open(ctx context.Context) (Reader, error)
}

// Reader yields the rows of a split.
type Reader interface {
	// Next returns the next rows, or io.EOF. The record belongs to the caller and stays valid.
	Next(ctx context.Context) (arrow.RecordBatch, error)
	Close() error
}

// FilterOp is the comparison of a Filter.
type FilterOp uint8

// The comparisons.
const (
	Equal FilterOp = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	IsNull
	IsNotNull
	In
)

// Filter compares a column with constants; values follow the conventions of package types.
type Filter struct {
	Column string
	Op     FilterOp
	Values []any
}

var (
	mu      sync.RWMutex
	formats = map[string]Format{}
)

// Register makes a format known under a name. A later registration of the same name wins, so that a program can replace a
// connector.
func Register(name string, f Format) {
	mu.Lock()
	defer mu.Unlock()
	formats[strings.ToLower(name)] = f
}

// Lookup finds a format by name in any case; nil when there is none.
func Lookup(name string) Format {
	mu.RLock()
	defer mu.RUnlock()
	return formats[strings.ToLower(name)]
}
