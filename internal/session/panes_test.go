package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Grouping by pane gives the rows of one copy for each window, in their order. The copies are made where an aggregate minds the order
// of rows, as first does.
func TestPanesLikeCopies(t *testing.T) {
	s := newShell(t)
	rapid.Check(t, func(t *rapid.T) {
		slide := rapid.IntRange(1, 20).Draw(t, "slide")
		duration := slide + rapid.IntRange(1, 40).Draw(t, "more")
		start := rapid.IntRange(1-slide, slide-1).Draw(t, "start")
		row := func() string {
			ts := "CAST(NULL AS TIMESTAMP)"
			if rapid.IntRange(0, 9).Draw(t, "null") > 0 {
				ts = fmt.Sprintf("timestamp_micros(%d)", rapid.IntRange(-100, 100).Draw(t, "ts"))
			}
			k := rapid.SampledFrom([]string{"'a'", "'b'", "NULL"}).Draw(t, "k")
			v := rapid.SampledFrom([]string{"1", "2", "-7", "NULL"}).Draw(t, "v")
			return fmt.Sprintf("(%s, %s, %s)", ts, k, v)
		}
		var parts []string
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			var rows []string
			for range rapid.IntRange(1, 12).Draw(t, "rows") {
				rows = append(rows, row())
			}
			parts = append(parts, "SELECT * FROM VALUES "+strings.Join(rows, ", ")+" AS t(ts, k, v)")
		}
		key := rapid.SampledFrom([]string{"", ", k", ", k, v % 2"}).Draw(t, "key")
		query := func(more string) string {
			return fmt.Sprintf(`SELECT window.start, window.end%s, count(*), count(v), sum(v), min(k), max(v) FILTER (WHERE v > 0), avg(v), sum(v) + count(*)%s
				FROM (%s) GROUP BY window(ts, '%d microseconds', '%d microseconds', '%d microseconds')%s`,
				key, more, strings.Join(parts, " UNION ALL "), duration, slide, start, key)
		}
		set := fmt.Sprintf("SET spark.sql.shuffle.partitions = %d; ", rapid.IntRange(1, 3).Draw(t, "partitions"))
		got, condition := s.try(set + query(""))
		if condition != "" {
			t.Fatal(condition)
		}
		want, condition := s.try(query(", first(v)"))
		if condition != "" {
			t.Fatal(condition)
		}
		for i, w := range want {
			want[i] = w[:strings.LastIndexByte(w, '|')]
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%s\n(-copies +panes)\n%s", query(""), d)
		}
	})
}

// Which groupings are done by pane.
func TestWhatIsGroupedByPane(t *testing.T) {
	s := newShell(t)
	for query, panes := range map[string]bool{
		"SELECT window, count(*) FROM e GROUP BY window(ts, '10 minutes', '5 minutes')":                                 true,
		"SELECT window, k, sum(v) FROM e WHERE v > 1 GROUP BY window(ts, '10 minutes', '4 minutes', '1 minute'), k":     true,
		"SELECT window.start, window.end, avg(v) FROM e GROUP BY window(ts, '10 minutes', '4 minutes')":                 true,
		"SELECT w, count(*) FROM (SELECT window(ts, '10 minutes', '5 minutes') AS w, v FROM e) GROUP BY w":              false,
		"SELECT window, count(*) FROM e GROUP BY window(ts, '10 minutes')":                                              false,
		"SELECT window, collect_list(v) FROM e GROUP BY window(ts, '10 minutes', '5 minutes')":                          false,
		"SELECT window, count(DISTINCT v) FROM e GROUP BY window(ts, '10 minutes', '5 minutes')":                        false,
		"SELECT window, sum(CAST(v AS DOUBLE)) FROM e GROUP BY window(ts, '10 minutes', '5 minutes')":                   false,
		"SELECT window, max(window.start) FROM e GROUP BY window(ts, '10 minutes', '5 minutes')":                        false,
		"SELECT window, window.start, count(*) FROM e GROUP BY window(ts, '10 minutes', '5 minutes'), window.start + v": false,
	} {
		rows, condition := s.try("CREATE OR REPLACE TEMP VIEW e AS SELECT timestamp_micros(id) AS ts, id AS k, id AS v FROM range(10); EXPLAIN " + query)
		if condition != "" {
			t.Errorf("%s: %s", query, condition)
			continue
		}
		if text := strings.Join(rows, "\n"); strings.Contains(text, "panes of") != panes {
			t.Errorf("%s: by panes %t\n%s", query, !panes, text)
		}
	}
}
