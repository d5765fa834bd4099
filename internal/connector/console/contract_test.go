package console

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
)

// What is printed is the rows of committed batches, and nothing else.
func TestContract(t *testing.T) {
	var out strings.Builder
	sinktest.Stream(t, sinktest.Harness{
		Open: func(t *testing.T) sink.Sink {
			s, err := Format{Out: &out}.Open(t.Context(), sink.Request{
				Schema: sinktest.Schema(), Options: sink.Options{"numRows": "1000", "truncate": "false"}, Stream: true, Env: sinktest.Env(),
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Read: func(*testing.T) []string {
			var rows []string
			for _, line := range strings.Split(out.String(), "\n") {
				cells := strings.Split(strings.Trim(line, "|"), "|")
				if !strings.HasPrefix(line, "|") || strings.TrimSpace(cells[0]) == "part" {
					continue
				}
				for i, c := range cells {
					cells[i] = strings.TrimSpace(c)
				}
				rows = append(rows, strings.Join(cells, " | "))
			}
			return rows
		},
		Repeats: true,
	})
}
