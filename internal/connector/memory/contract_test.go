package memory

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// harness is a memory sink whose latest table is read.
func harness(mode sink.Mode) sinktest.Harness {
	kept := &session{}
	return sinktest.Harness{
		Open: func(t *testing.T) sink.Sink {
			env := sinktest.Env()
			env.Session = kept
			s, err := Format{}.Open(t.Context(), sink.Request{Schema: sinktest.Schema(), QueryName: "q", Mode: mode, Stream: true, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Read: func(t *testing.T) []string {
			splits, err := kept.table.Scan(t.Context(), source.Projection{})
			if err != nil {
				t.Fatal(err)
			}
			return sourcetest.Rows(t, splits)
		},
		Volatile: true,
	}
}

func TestSinkContract(t *testing.T) { sinktest.Stream(t, harness(sink.Append)) }

func TestCompleteContract(t *testing.T) { sinktest.Complete(t, harness(sink.Complete)) }

func TestTableContract(t *testing.T) {
	table := &Table{schema: sinktest.Schema()}
	table.add([]arrow.RecordBatch{sinktest.Rows(0, "a", "b"), sinktest.Rows(1, "c")}, false)
	sourcetest.Batch(t, func(*testing.T) source.Batch { return table })
}
