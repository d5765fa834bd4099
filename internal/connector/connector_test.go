package connector

import (
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

func TestNames(t *testing.T) {
	RegisterAll()
	for _, name := range []string{"json", "parquet", "text", "rate", "rate-micro-batch", "socket", "JSON"} {
		if source.Lookup(name) == nil {
			t.Errorf("there is no source %s", name)
		}
	}
	for _, name := range []string{"csv", "json", "parquet", "text", "memory", "console", "noop"} {
		if sink.Lookup(name) == nil {
			t.Errorf("there is no sink %s", name)
		}
	}
	_, err := source.Lookup("jdbc").Open(t.Context(), source.Request{Format: "jdbc", Stream: true})
	if !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.SOURCE") || sink.Lookup("jdbc") != nil {
		t.Errorf("jdbc: %v", err)
	}
}
