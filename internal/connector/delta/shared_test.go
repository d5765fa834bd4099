package delta_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/delta"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// However many parts a batch of a stream has, it adds one file to each partition, with the statistics of all its rows.
func TestOneFile(t *testing.T) {
	const ddl, parts, values = "id INT, v INT", 20, 150
	for _, mode := range []sink.Mode{sink.Append, sink.Complete} {
		tb := newTable(t)
		snk, err := tb.sink(t.Context(), writer{mode: mode, stream: true, by: []string{"v"}, ddl: ddl})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		var recs []arrow.RecordBatch
		for p := range int32(parts) {
			var rows []types.Row
			for v := range int32(values) {
				rows = append(rows, types.Row{p, v})
				want[fmt.Sprint(v)] = fmt.Sprintf("%d rows from 0 to %d", parts, parts-1)
			}
			recs = append(recs, records(t, ddl, rows...))
		}
		if err := write(t.Context(), snk, 0, recs...); err != nil {
			t.Fatal(err)
		}
		snap, err := delta.OpenLog(tb.fs, tb.path, tb.now).Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		files, err := snap.Files(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, f := range files {
			var stats struct {
				NumRecords           int
				MinValues, MaxValues struct{ ID int }
			}
			if err := json.Unmarshal([]byte(f.Stats), &stats); err != nil {
				t.Fatal(err)
			}
			got[*f.PartitionValues["v"]] += fmt.Sprintf("%d rows from %d to %d", stats.NumRecords, stats.MinValues.ID, stats.MaxValues.ID)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("mode %d: %s", mode, d)
		}
		if n := len(tb.rows(t)); n != parts*values {
			t.Errorf("%d rows of %d", n, parts*values)
		}
	}
}
