package histories

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
)

// TestEveryRowOnce: however the input is cut and wherever the query is stopped or power fails, every row comes to one place once: it is in
// the result, in the folder of late rows, or in that of dead letters.
func TestEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := milltest.New(t, append(settings(t), milltest.Conf("spark.sql.ansi.enabled", "true"))...)
		in := e.Stream("ts TIMESTAMP, id INT, v STRING")
		if err := in.DataFrame().WithWatermark("ts", "5 minutes").CreateOrReplaceTempView(e.Context(), "e"); err != nil {
			t.Fatal(err)
		}
		df, err := e.Session.SQL(e.Context(), "SELECT id, sum(CAST(v AS INT)) AS n FROM e GROUP BY window(ts, '10 minutes'), id")
		if err != nil {
			t.Fatal(err)
		}
		q := e.Start(df, milltest.Mode(millrace.Update), milltest.WriterOption("lateRowsPath", "/late"), milltest.WriterOption("deadLetterPath", "/dead"))
		var want []string
		hour := 1
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			var lines []string
			for range rapid.IntRange(0, 6).Draw(t, "rows") {
				hour = min(22, hour+rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "later"))
				at := max(0, hour-rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "earlier"))
				v := rapid.SampledFrom([]string{"1", "2", "x"}).Draw(t, "v")
				lines = append(lines, fmt.Sprintf("%02d:%02d  %d  %s", at, rapid.IntRange(0, 59).Draw(t, "minute"), len(want), v))
				want = append(want, fmt.Sprint(len(want)))
			}
			if len(lines) > 0 {
				in.AddText(lines...)
			}
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				q.Restart()
			case 1:
				if _, crashed := q.CrashAtWrite(rapid.IntRange(1, 40).Draw(t, "write")); crashed {
					e.PowerOn(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "kept") })
					q.Restart()
				}
			}
			q.Process()
		}
		q.Process()
		var got []string
		for _, row := range q.Written() {
			id, _, _ := strings.Cut(strings.Trim(row, "()"), ",")
			got = append(got, id)
		}
		for _, folder := range []string{"/late", "/dead"} {
			lines, err := e.Folder(folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				var r struct {
					ID  *int   `json:"id"`
					Row string `json:"row"`
				}
				err := json.Unmarshal([]byte(line), &r)
				if err == nil && r.Row != "" {
					err = json.Unmarshal([]byte(r.Row), &r)
				}
				if err != nil || r.ID == nil {
					t.Fatalf("%s has %s: %v", folder, line, err)
				}
				got = append(got, fmt.Sprint(*r.ID))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("rows that came:\n%v\nrows that were brought:\n%v\n%s", got, want, milltest.FormatBatches(q.Batches()))
		}
	})
}
