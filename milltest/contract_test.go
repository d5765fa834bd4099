package milltest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// Streams and sinks of the kit keep the contract that they are there to help with.
func TestStreamContract(t *testing.T) {
	e := New(t, Splits(2))
	s := e.Stream("n INT, text STRING").LimitPerBatch(1)
	n := 0
	sourcetest.Stream(t, sourcetest.StreamHarness{
		Open: func(*testing.T) source.Streamer { return table{s} },
		Add: func(*testing.T) {
			for range 2 {
				s.Add([]any{n, fmt.Sprint("a", n)}, []any{n + 1, nil})
				n += 2
			}
		},
	})
}

func TestSinkContract(t *testing.T) {
	w := newWritten(New(t))
	sinktest.Stream(t, sinktest.Harness{
		Open: func(*testing.T) sink.Sink { return &opened{w, sinktest.Schema()} },
		Read: func(*testing.T) []string {
			var out []string
			for _, id := range slices.Sorted(slices.Values(w.ids())) {
				for _, r := range w.rows(id) {
					out = append(out, fmt.Sprintf("%v | %v", r[0], r[1]))
				}
			}
			return out
		},
		Repeats: true,
	})
}
