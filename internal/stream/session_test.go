package stream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/stream/streamtest"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// collected runs a query over tables.
func (w *world) collected(query string) []string {
	w.t.Helper()
	opt, err := optimize.Plan(w.resolve(query), optimize.Options{Zone: time.UTC})
	if err != nil {
		w.t.Fatal(err)
	}
	op, err := (&physical.Planner{Zone: time.UTC}).Plan(opt)
	if err != nil {
		w.t.Fatal(err)
	}
	bs, err := exec.Collect(context.Background(), &exec.Task{Workers: 2, Partitions: 3, Batch: &expr.BatchParams{Zone: time.UTC}}, op)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, b := range bs {
		for i := range b.N {
			var cells []string
			for _, c := range b.Cols {
				cells = append(cells, streamtest.Cell(vec.ValueAt(c, i)))
			}
			out = append(out, strings.Join(cells, " "))
		}
	}
	slices.Sort(out)
	return out
}

// TestSessionsOfAStreamAreThoseOfATable: rows that come in several batches, in any order and with stops between them, make the
// sessions that they make at once.
func TestSessionsOfAStreamAreThoseOfATable(t *testing.T) {
	const ddl = "ts TIMESTAMP, k STRING, v INT, g STRING"
	queries := []string{
		"SELECT session_window(ts, '5 minutes'), k, count(*), sum(v), min(v), sort_array(collect_list(v)) FROM e GROUP BY session_window(ts, '5 minutes'), k",
		"SELECT k, session_window(ts, g), v % 2, count(*), max(v) FROM e GROUP BY k, session_window(ts, g), v % 2",
	}
	rapid.Check(t, func(r *rapid.T) {
		query := rapid.SampledFrom(queries).Draw(r, "query")
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) []any {
			at := fmt.Sprintf("10:%02d:%02d", rapid.IntRange(0, 59).Draw(r, "minute"), rapid.SampledFrom([]int{0, 0, 30}).Draw(r, "second"))
			return []any{
				any(at), rapid.SampledFrom([]any{"a", "b", nil}).Draw(r, "key"), int32(rapid.IntRange(0, 99).Draw(r, "value")),
				rapid.SampledFrom([]any{"1 minute", "3 minutes", "20 minutes", "0 seconds", "soon", nil}).Draw(r, "gap"),
			}
		}), 1, 60).Draw(r, "rows")
		w := newWorld(t)
		s := streamtest.NewSource(ddl)
		s.PerBatch, s.Pieces = 1, rapid.IntRange(1, 3).Draw(r, "pieces")
		w.views["e"] = streamOf(s)
		for left := rows; len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(r, "unit")
			s.Add(left[:n]...)
			left = left[n:]
			if rapid.Bool().Draw(r, "stop") || len(left) == 0 {
				w.run(w.resolve(query), "complete")
			}
		}
		ids := w.sink.Batches()
		table := make([][]any, len(rows))
		for i, row := range rows {
			table[i] = slices.Clone(row)
			table[i][0] = types.MicrosOf(streamtest.Time(row[0].(string)))
		}
		w.views["e"] = localRows(ddl, table...)
		if d := cmp.Diff(w.collected(query), w.sink.Rows(ids[len(ids)-1])); d != "" {
			r.Fatalf("(-table +stream)\n%s", d)
		}
	})
}

// TestSessionsOverTime: what a stream has put out in append mode when all is final is what a table gives, as long as nothing is late.
func TestSessionsOverTime(t *testing.T) {
	const query = "SELECT session_window(ts, '1 minute'), k, count(*), sum(v) FROM e GROUP BY session_window(ts, '1 minute'), k"
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
		s.PerBatch = rapid.IntRange(1, 2).Draw(r, "units")
		w.views["e"] = marked(streamOf(s), "ts", "10m")
		var table [][]any
		at := 0 // seconds; a row is at most five minutes older than the newest
		for range rapid.IntRange(1, 12).Draw(r, "batches") {
			var unit [][]any
			for range rapid.IntRange(0, 8).Draw(r, "rows") {
				at += rapid.IntRange(0, 120).Draw(r, "passed")
				row := []any{
					streamtest.Day.Add(10*time.Hour + time.Duration(at-rapid.IntRange(0, 300).Draw(r, "age"))*time.Second).Format(time.DateTime),
					rapid.SampledFrom([]any{"a", "b"}).Draw(r, "key"), int32(rapid.IntRange(0, 99).Draw(r, "value")),
				}
				unit = append(unit, row)
				table = append(table, []any{types.MicrosOf(streamtest.Time(row[0].(string))), row[1], row[2]})
			}
			s.Add(unit...)
			if rapid.IntRange(0, 3).Draw(r, "stop") == 0 {
				w.run(w.resolve(query), "append")
			}
		}
		s.Add([]any{"23:00", "end", int32(0)})
		w.run(w.resolve(query), "append")
		w.views["e"] = localRows("ts TIMESTAMP, k STRING, v INT", table...)
		if d := cmp.Diff(strings.Join(w.collected(query), "\n"), strings.Join(w.sink.All(), "\n")); d != "" {
			r.Fatalf("(-table +stream)\n%s", d)
		}
	})
}
