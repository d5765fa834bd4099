// Package sink is what a connector implements to be written by millrace, in batch or as a stream. The engine's own connectors use
// the same interfaces and the same registry; package sinktest holds the contract tests.
package sink

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/types"
)

// Mode is what happens to earlier rows.
type Mode uint8

// The output modes of streams, and the save modes of batch writes.
const (
	Append Mode = iota
	Update
	Complete
	Overwrite
	ErrorIfExists
	Ignore
)

// Options are a writer's options. Keys are looked up in any case.
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
	Conf func(key string) string
	// Session is the session's private services for sinks that need them (the memory sink's table); nil elsewhere.
	Session any
}

// Request asks a Format for a sink.
type Request struct {
	Format      string
	Schema      types.StructType
	Options     Options
	Path        string
	PartitionBy []string
	Mode        Mode
	Stream      bool
	// QueryID and QueryName identify a stream; they are empty for batch writes.
	QueryID, QueryName string
	Env                Env
}

// Format is what is registered under a name such as "parquet".
type Format interface {
	// Open checks the request and reports mistakes as *millrace.Error, before any row is computed.
	Open(ctx context.Context, req Request) (Sink, error)
}

// Info is what a stream must know of its sink.
type Info struct {
	// Description is how progress names the sink, in Spark's form.
	Description string
	// CountsRows is set when progress shows the number of output rows, as for Spark's newer sinks; others show -1.
	CountsRows bool
	// NeedsCheckpoint is set when a stream must name a checkpoint location: the sink keeps data that outlives the query.
	NeedsCheckpoint bool
	// Recovers tells whether the sink may go on from a used checkpoint in the request's mode.
	Recovers bool
}

// Sink takes the batches of one query, or the one batch of a write.
type Sink interface {
	Info() Info
	// Begin starts batch id. A batch that was committed before must be accepted and skipped: skip is true, and nothing of it
	// may be written again.
	Begin(ctx context.Context, id int64) (b Batch, skip bool, err error)
	Close() error
}

// Starter is implemented by sinks that do something when their query has been accepted, before its first batch.
type Starter interface {
	Started() error
}

// Batch is one batch being written. Writers work side by side; the rest is called from one goroutine.
type Batch interface {
	// Writer opens the writer of part number part of the result. Parts have an order: a sink that keeps rows in order keeps that
	// of the part numbers.
	Writer(ctx context.Context, part int) (Writer, error)
	// Commit makes the batch visible, durably and at once, with the messages of all writers in part order.
	Commit(ctx context.Context, messages []Message) error
	// Abort drops what was written. It is called when any writer or Commit has failed.
	Abort(ctx context.Context)
}

// Message is what a writer hands to Commit. The engine does not look into it.
type Message any

// Writer writes the rows of one part.
type Writer interface {
	Write(ctx context.Context, rows arrow.RecordBatch) error
	// Close finishes the part; its data are durable when Commit runs.
	Close(ctx context.Context) (Message, error)
	// Abort drops the part.
	Abort()
}

var (
	mu      sync.RWMutex
	formats = map[string]Format{}
)

// Register makes a format known under a name; a later registration of the same name wins.
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
