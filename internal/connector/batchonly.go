package connector

import (
	"context"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
)

// batchOnly is a format that Spark has for batches only and that is not here: the error tells it from a misspelt name.
type batchOnly struct{}

// Open implements source.Format.
func (batchOnly) Open(_ context.Context, req source.Request) (source.Table, error) {
	if req.Stream {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.SOURCE", "provider", req.Format)
	}
	return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "reading format "+req.Format)
}
