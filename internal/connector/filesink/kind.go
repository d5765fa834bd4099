package filesink

import (
	"io"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Kind is a file format.
type Kind interface {
	// Name is the format's short name, such as "json".
	Name() string
	// Prepare settles the options of a request. It is called when the first batch begins: a stream finds mistakes in options while
	// it runs, as in Spark.
	Prepare(req sink.Request) (Encoder, error)
}

// Encoder is a file format with its options settled. It is used by many goroutines.
type Encoder interface {
	// Check refuses columns that the format cannot hold.
	Check(schema types.StructType) error
	// Ext is the end of a file's name: ".json.gz".
	Ext() string
	// Create begins a file on w, which is buffered.
	Create(w io.Writer, schema types.StructType) (File, error)
}

// File is a file being written.
type File interface {
	// Write writes the rows of a batch without selection.
	Write(b *vec.Batch) error
	// Close finishes the content. It does not close what is written to.
	Close() error
}
