package exec

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
)

// vectorWriter is what writers of our own connectors are beside a sink.Writer: they take vectors, without the way over Arrow. They
// keep nothing of a batch, or a copy.
type vectorWriter interface {
	WriteBatch(ctx context.Context, b *vec.Batch) error
}

// WriteBatch hands the rows of a batch that count to a sink's writer. schema is their Arrow form.
func WriteBatch(ctx context.Context, w sink.Writer, b *vec.Batch, schema *arrow.Schema) error {
	if v, ok := w.(vectorWriter); ok {
		return v.WriteBatch(ctx, b)
	}
	rec, err := vec.ToArrow(b, schema)
	if err != nil {
		return err
	}
	return w.Write(ctx, rec)
}
