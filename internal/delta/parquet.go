package delta

import (
	"context"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Codec reads and writes Parquet files for checkpoints.
type Codec interface {
	// Read hands the rows of a file to each: the columns that are wanted, nulls for those that the file lacks.
	Read(ctx context.Context, fsys fs.FS, path string, want types.StructType, each func(*vec.Batch) error) error
	// Encode gives a file its content.
	Encode(w fs.Writer, schema types.StructType, batches []*vec.Batch) error
}
