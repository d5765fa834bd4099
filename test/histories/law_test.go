package histories

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/internal/plan/plantest"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

var nan, inf, negativeZero = math.NaN(), math.Inf(1), math.Copysign(0, -1)

// checks is how many cases of a law every run of the tests looks at.
const checks = 120

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", fmt.Sprint(checks)); err != nil {
		panic(err)
	}
	flag.Parse()
	leaktest.Main(m)
}

// world is an engine with the views that queries are over: the streams e and f, and the table u.
type world struct {
	*milltest.Engine
	t       *rapid.T
	e, f, g *milltest.Stream
}

func newWorld(t *rapid.T, opts ...milltest.Option) *world {
	w := &world{Engine: milltest.New(t, opts...), t: t}
	w.e, w.f = w.Stream(schema), w.Stream(schema)
	u := w.Session.CreateDataFrameDDL([][]any{{1, "one"}, {2, "two"}, {2, "deux"}, {nil, "none"}}, "ua INT, us STRING")
	w.view(u, "u")
	return w
}

func (w *world) view(df *millrace.DataFrame, name string) {
	if err := df.CreateOrReplaceTempView(context.Background(), name); err != nil {
		w.t.Fatalf("view %s: %v", name, err)
	}
}

func (w *world) sql(text string) *millrace.DataFrame {
	df, err := w.Session.SQL(context.Background(), text)
	if err != nil {
		w.t.Fatalf("%v\nquery: %s", err, text)
	}
	return df
}

// table makes a view of rows.
func (w *world) table(name string, rows []types.Row) {
	list := make([][]any, len(rows))
	for i, r := range rows {
		list[i] = r
	}
	w.view(w.Session.CreateDataFrameDDL(list, schema), name)
}

// batch runs a query over all rows at once.
func (w *world) batch(text string, rows []types.Row) []string {
	w.table("e", rows)
	return w.collect(w.sql(text))
}

func (w *world) collect(df *millrace.DataFrame) []string {
	got, err := df.Collect(context.Background())
	if err != nil {
		w.t.Fatalf("batch query: %v", err)
	}
	out := make([]string, len(got))
	for i, r := range got {
		out[i] = milltest.FormatRow(milltest.PlainRow(r))
	}
	slices.Sort(out)
	return out
}

// history is what happens to a query while its rows come.
type history struct {
	w *world
	q *milltest.Query
}

// start starts the query over the stream.
func (w *world) start(q query) *history {
	df := w.e.DataFrame()
	if rapid.Bool().Draw(w.t, "watermark") && q.mode != "update" {
		df = df.WithWatermark("ts", "10 minutes")
	}
	w.view(df, "e")
	return &history{w, w.Start(w.sql(q.text), milltest.Mode(millrace.OutputMode(q.mode)))}
}

// live brings the rows of e and processes them, with stops and crashes in between.
func (h *history) live(units [][]types.Row) { h.liveBoth(units, nil) }

// liveBoth brings the rows of both streams, one or the other or both at a time.
func (h *history) liveBoth(e, f [][]types.Row) {
	t := h.w.t
	for len(e) > 0 || len(f) > 0 {
		who := 0
		if len(f) > 0 {
			who = rapid.IntRange(0, 2).Draw(t, "who")
		}
		if len(e) > 0 && who != 1 {
			h.w.e.AddRows(e[0])
			e = e[1:]
		}
		if len(f) > 0 && (who != 0 || len(e) == 0) {
			h.w.f.AddRows(f[0])
			f = f[1:]
		}
		switch rapid.IntRange(0, 5).Draw(t, "event") {
		case 0: // more comes before anything is processed
		case 1:
			h.q.Restart()
		case 2, 3:
			h.crash(rapid.IntRange(1, 40).Draw(t, "write"), rapid.Uint64().Draw(t, "survivors"))
		default:
			h.process()
		}
	}
	h.process()
}

func (h *history) process() {
	if _, err := h.q.TryProcess(); err != nil {
		h.w.t.Fatalf("query: %v", err)
	}
}

// crash processes until power fails at a write, if there are so many, and starts the query again over what was left.
func (h *history) crash(write int, survivors uint64) {
	rng := rand.New(rand.NewPCG(survivors, 0))
	if _, crashed := h.q.CrashAtWrite(write); crashed {
		h.w.PowerOn(rng.IntN)
		h.q.Restart()
	}
}

// However the input is cut into batches, and wherever the query is stopped, crashes and starts again, a stateless query gives what it
// gives for all rows at once.
func TestStatelessHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, units := stateless(t), data(t)
		w := newWorld(t, settings(t)...)
		want := w.batch(q.text, slices.Concat(units...))
		h := w.start(q)
		h.live(units)
		if d := cmp.Diff(want, h.q.Written(), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("stream differs from batch (-batch +stream):\n%s\nquery: %s\n%s", d, q.text, milltest.FormatBatches(h.q.Batches()))
		}
	})
}

// Complete mode ends with the table that the query gives for all rows at once, and so do the last versions of all groups in update
// mode.
func TestGroupingHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, units := grouping(t), data(t)
		w := newWorld(t, settings(t)...)
		want := w.batch(q.text, slices.Concat(units...))
		h := w.start(q)
		h.live(units)
		got := h.last(q)
		if len(h.q.Batches()) == 0 {
			want = nil // not even an aggregation without keys gives a row then
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("stream differs from batch (-batch +stream):\n%s\nquery: %s\n%s mode\n%s", d, q.text, q.mode, milltest.FormatBatches(h.q.Batches()))
		}
	})
}

// last is the table that the batches make.
func (h *history) last(q query) []string {
	bs := h.q.Batches()
	if len(bs) == 0 {
		return nil
	}
	if q.mode == "complete" {
		return milltest.FormatRows(bs[len(bs)-1].Rows)
	}
	table := map[string]string{}
	for _, b := range bs {
		for _, r := range b.Rows {
			table[milltest.FormatRow(r[:q.keys])] = milltest.FormatRow(r)
		}
	}
	var out []string
	for _, r := range table {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

// In append mode every window comes out once and is what the query gives for all rows at once, if no row is late: rows are at most an
// hour and a half apart here. A last row long after them closes all windows but its own.
func TestAppendHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]string{"'10 minutes'", "'10 minutes', '5 minutes'", "'10 minutes', '4 minutes'"}).Draw(t, "size")
		key := rapid.SampledFrom([]string{"", ", a", ", s", ", d"}).Draw(t, "key")
		q := query{mode: "append", text: "SELECT window.start AS start" + key + ", count(*) AS n, sum(b) AS total, max(s) AS top FROM e GROUP BY window(ts, " + size + ")" + key}
		units := data(t)
		w := newWorld(t, settings(t)...)
		want := w.batch(q.text, slices.Concat(units...))

		w.view(w.e.DataFrame().WithWatermark("ts", "2 hours"), "e")
		h := &history{w, w.Start(w.sql(q.text), milltest.Mode(millrace.Append))}
		h.live(units)
		for day := range 2 { // the second is for settings without batches that have no data
			w.e.AddRows([]types.Row{{nil, nil, nil, nil, types.MicrosOf(milltest.Day.AddDate(0, 0, 2+day))}})
			h.process()
		}
		got := slices.DeleteFunc(h.q.Written(), func(r string) bool { return !strings.HasPrefix(r, "(1") })
		want = slices.DeleteFunc(want, func(r string) bool { return !strings.HasPrefix(r, "(1") })
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("stream differs from batch (-batch +stream):\n%s\nquery: %s\n%s", d, q.text, milltest.FormatBatches(h.q.Batches()))
		}
	})
}

// dropDuplicates lets each combination of values through once, and each that there is.
func TestDedupHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, units := stateless(t), data(t)
		w := newWorld(t, settings(t)...)
		w.table("e", slices.Concat(units...))
		want := w.collect(w.sql(q.text).Distinct())
		w.view(w.e.DataFrame(), "e")
		h := &history{w, w.Start(w.sql(q.text).DropDuplicates(), milltest.Mode(millrace.Append))}
		h.live(units)
		if d := cmp.Diff(want, h.q.Written(), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("stream differs from batch (-batch +stream):\n%s\nquery: %s\n%s", d, q.text, milltest.FormatBatches(h.q.Batches()))
		}
	})
}

// Two streams joined without a watermark give what the two tables give, whichever row of a pair comes first.
func TestJoinHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &plantest.Gen{T: t}
		key := []string{"e.a = f.a", "e.a <=> f.a", "e.s = f.s AND e.a = f.b", "e.d = f.d", "e.a + 1 = f.b", "e.s <=> f.s"}[g.Pick(6, "key")]
		extra := []string{"", " AND e.b < f.b", " AND f.ts > e.ts", " AND e.a > 0", " AND f.s IS NOT NULL"}[g.Pick(5, "extra")]
		text := "SELECT e.a, e.b, e.s, f.a, f.b, f.s, f.ts FROM e JOIN f ON " + key + extra
		left, right := data(t), data(t)
		w := newWorld(t, settings(t)...)
		w.table("e", slices.Concat(left...))
		w.table("f", slices.Concat(right...))
		want := w.collect(w.sql(text))
		w.view(w.e.DataFrame(), "e")
		w.view(w.f.DataFrame(), "f")
		h := &history{w, w.Start(w.sql(text), milltest.Mode(millrace.Append))}
		h.liveBoth(left, right)
		if d := cmp.Diff(want, h.q.Written(), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("stream differs from batch (-batch +stream):\n%s\nquery: %s\n%s", d, text, milltest.FormatBatches(h.q.Batches()))
		}
	})
}

// A batch's rows and the files of the checkpoint are the same, byte for byte, with 1, 2 and 5 workers.
func TestWorkersDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, units := stateless(t), data(t)
		if rapid.Bool().Draw(t, "grouping") {
			q = grouping(t)
		}
		partitions, vectors := rapid.IntRange(1, 5).Draw(t, "partitions"), rapid.SampledFrom([]int{1, 3, 4096}).Draw(t, "vectors")
		splits := rapid.IntRange(1, 5).Draw(t, "splits")
		var first []string
		for _, workers := range []int{1, 2, 5} {
			w := newWorld(t, milltest.Conf("spark.sql.ansi.enabled", "false"), milltest.Partitions(partitions), milltest.VectorRows(vectors),
				milltest.Splits(splits), milltest.Workers(workers))
			w.view(w.e.DataFrame().WithWatermark("ts", "10 minutes"), "e")
			run := w.Start(w.sql(q.text), milltest.Mode(millrace.OutputMode(q.mode)))
			for _, u := range units {
				w.e.AddRows(u)
				if _, err := run.TryProcess(); err != nil {
					t.Fatalf("%v\nquery: %s", err, q.text)
				}
			}
			got := evidence(t, run)
			if first == nil {
				first = got
			} else if d := cmp.Diff(first, got); d != "" {
				t.Fatalf("%d workers (-1 +%d):\n%s\nquery: %s", workers, workers, d, q.text)
			}
		}
	})
}

// evidence is all that a query leaves behind: the rows of each batch in their order, and every file but the one with its random id.
func evidence(t *rapid.T, q *milltest.Query) []string {
	var out []string
	for _, b := range q.Batches() {
		line := fmt.Sprintf("batch %d:", b.ID)
		for _, r := range b.Rows {
			line += " " + milltest.FormatRow(r)
		}
		out = append(out, line)
	}
	for _, name := range q.Files() {
		if name == "metadata" {
			continue
		}
		content, err := q.ReadFile(name)
		if err != nil {
			t.Fatalf("%v", err)
		}
		out = append(out, fmt.Sprintf("%s: %q", name, content))
	}
	return out
}
