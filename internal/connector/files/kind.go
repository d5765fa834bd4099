package files

import (
	"context"
	"time"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is a file format.
type Kind interface {
	// Name is the format's short name, such as "json".
	Name() string
	// Prepare settles the options of a request.
	Prepare(req source.Request) (Decoder, error)
}

// Decoder is a file format with its options settled. It is used by many goroutines.
type Decoder interface {
	// Fixed is the schema of formats that have only one; ok is false for the others.
	Fixed() (schema types.StructType, ok bool)
	// Infer finds a schema that fits the files; ok is false when there is nothing to infer it from.
	Infer(ctx context.Context, files []*File) (schema types.StructType, ok bool, err error)
	// Check refuses schemas that the format cannot hold.
	Check(schema types.StructType) error
	// Cut is the size of the pieces that a file may be cut into; 0 when it must be read as a whole.
	Cut(f *File) int64
	// Open reads the rows of the piece of a file: those that begin in it. want are the columns wanted, filters what rows must
	// fulfil to be of use.
	Open(ctx context.Context, p Piece, want types.StructType, filters []source.Filter) (Rows, error)
}

// ColumnChecker is implemented by decoders that refuse to read some sets of columns.
type ColumnChecker interface {
	CheckColumns(want types.StructType) error
}

// Absenter is implemented by decoders that can tell what a file or a record does not have from what is null in it.
type Absenter interface {
	// WithAbsent is the decoder with vectors of one row, by column, that hold the value of those that are not there.
	WithAbsent(values map[string]*vec.Vector) Decoder
}

// Numberer is implemented by decoders that know the places of rows within their files, which are then row_index of _metadata.
type Numberer interface {
	// FirstRow is the place of the first row of the batch that was read last. The others follow it without gaps.
	FirstRow(rows Rows) int64
}

// Rows yields the rows of a piece. A batch is Owned.
type Rows interface {
	Next(ctx context.Context) (*vec.Batch, error) // io.EOF ends
	Close() error
}

// File is a file of a table.
type File struct {
	FS      fs.FS
	Path    string // of the host
	Size    int64
	ModTime time.Time
	// Values are those of the partition columns, nil for null.
	Values []any
}

// Piece is a byte range of a file.
type Piece struct {
	*File
	Off, Len int64
}

// Whole tells whether the piece is all of the file.
func (p Piece) Whole() bool { return p.Off == 0 && p.Len == p.Size }
