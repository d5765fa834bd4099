package histories

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

var long = flag.Duration("histories.time", 0, "for how long random histories are tried; 0 is as long as every run of the tests may take")

// event draws a row: mostly not far from a time that goes on, now and then very late, early, before 1970, or without a time.
func event(t *rapid.T, at int64) record {
	r := make(record, 6)
	if k := rapid.IntRange(0, 5).Draw(t, "k"); k > 0 {
		r[0] = []string{"a", "b", "ab", "", "ß"}[k-1]
	}
	if n := rapid.IntRange(-2, 3).Draw(t, "n"); n > -2 {
		r[1] = int32(n)
	}
	r[2] = rapid.SampledFrom([]any{nil, 0.0, negativeZero, 1.5, nan, inf, 1.5}).Draw(t, "d")
	if m := rapid.IntRange(-2, 2).Draw(t, "m"); m > -2 {
		r[3] = types.DecimalFromInt64(int64(m)*150, 2)
	}
	if v := rapid.IntRange(-5, 6).Draw(t, "v"); v < 6 {
		r[4] = int64(v)
	}
	switch when := rapid.IntRange(0, 60).Draw(t, "when"); {
	case when <= 40:
		at += minute * int64(when-25) / 2
	case when <= 50: // at the very edge of windows and bounds
		at = floorDiv(at, 5*minute)*5*minute + []int64{-1, 0, 1, 999, 1000, 1001, 999_999, 1_000_000, -1000, 60_000_000}[when-41]
	case when <= 53:
		at -= 300 * minute
	case when == 54:
		at += 200 * minute
	case when == 55:
		at = -7*minute - 1
	default:
		return r
	}
	r[5] = types.Micros(at)
	return r
}

// unit draws rows that come together.
func unit(t *rapid.T, i int) []record {
	at := int64(noon) + int64(i)*6*minute
	rows := make([]record, rapid.IntRange(0, 5).Draw(t, "rows"))
	for j := range rows {
		if j > 0 && rapid.IntRange(0, 5).Draw(t, "again") == 0 {
			rows[j] = rows[j-1]
			continue
		}
		rows[j] = event(t, at)
	}
	return rows
}

// story is a random history of a random query: what happens to it, and what the model says.
type story struct {
	t     *rapid.T
	w     *world
	s     *scheme
	m     *model
	q     *milltest.Query
	units [3][][]record
	log   []string

	first  int64 // batch of this run
	before int64 // how many batches were reported before this run
	noData bool
	taken  [3]int64 // units that the model has been given
	total  int      // rows that the model has given

	rerun    int64 // the batch that the run before has planned and not done, or -1
	flushing bool  // a run that closes everything has not been completed
}

func (h *story) say(format string, args ...any) { h.log = append(h.log, fmt.Sprintf(format, args...)) }

func (h *story) script() string {
	return h.s.String() + "\n\n" + strings.Join(h.log, "\n") + "\n\nbatches:\n" + milltest.FormatBatches(h.q.Batches())
}

func (h *story) fail(format string, args ...any) {
	h.t.Fatalf("%s\n\n%s", fmt.Sprintf(format, args...), h.script())
}

func tell(t *rapid.T) {
	s := drawScheme(t)
	s.observed = s.pick(4, "observed") == 0
	h := &story{t: t, s: s, m: newModel(s.root), rerun: -1, noData: rapid.IntRange(0, 3).Draw(t, "noData") > 0}
	retain := rapid.SampledFrom([]int{2, 3, 100}).Draw(t, "retain")
	h.m.latest = s.pick(5, "policy") == 0
	h.m.perInput = s.pick(5, "per input") == 0
	if s.pick(5, "patience") == 0 {
		h.m.patience = 10 * 60_000
		retain = 100 // what the clock has done stands in the offset log
	}
	opts := []milltest.Option{
		milltest.Conf("spark.sql.ansi.enabled", "false"),
		milltest.Partitions(rapid.IntRange(1, 7).Draw(t, "partitions")),
		milltest.VectorRows(rapid.SampledFrom([]int{1, 3, 4096}).Draw(t, "vectors")),
		milltest.Workers(rapid.IntRange(1, 5).Draw(t, "workers")),
		milltest.Splits(rapid.IntRange(1, 3).Draw(t, "splits")),
		milltest.StateProvider(rapid.SampledFrom([]string{"millrace.mem", "millrace.lsm"}).Draw(t, "provider")),
		milltest.Conf("spark.sql.streaming.minBatchesToRetain", strconv.Itoa(retain)),
		milltest.Conf("spark.sql.streaming.noDataMicroBatches.enabled", fmt.Sprint(h.noData)),
		milltest.Conf("spark.millrace.streaming.watermark.perInput", fmt.Sprint(h.m.perInput)),
	}
	if h.m.latest {
		h.say("the fastest stream moves the watermark")
		opts = append(opts, milltest.Conf("spark.sql.streaming.multipleWatermarkPolicy", "max"))
	}
	if h.m.perInput {
		h.say("the watermark of each stream outlives a run")
	}
	if h.m.patience > 0 {
		h.say("a stream is idle after 10 minutes")
		opts = append(opts, milltest.Conf("spark.millrace.streaming.watermark.idleTimeout", "10 minutes"))
	}
	h.w = newWideWorld(t, opts...)
	limit := rapid.IntRange(0, 2).Draw(t, "limit")
	for _, in := range h.w.streams() {
		in.LimitPerBatch(limit)
	}
	if limit > 0 {
		h.say("a batch takes %d units of a stream", limit)
	}
	h.m.started(h.now())
	h.q = h.w.Start(h.open(), milltest.Mode(millrace.OutputMode(s.mode)))
	h.rested()
	for i := range rapid.IntRange(1, 9).Draw(t, "steps") {
		h.step(i)
	}
	h.process()
	h.q.Stop()
	h.account()
	if got := len(h.q.Written()); got != h.total {
		h.fail("the sink has %d rows, and all batches have %d", got, h.total)
	}
}

func (w *world) streams() [3]*milltest.Stream { return [3]*milltest.Stream{w.e, w.f, w.g} }

func newWideWorld(t *rapid.T, opts ...milltest.Option) *world {
	w := &world{Engine: milltest.New(t, opts...), t: t}
	w.e, w.f, w.g = w.Stream(wide).Named("e"), w.Stream(wide).Named("f"), w.Stream(wide).Named("g")
	w.view(w.Session.CreateDataFrameDDL([][]any{{1, "one"}, {2, "two"}, {2, "deux"}, {nil, "none"}}, "ua INT, us STRING"), "u")
	return w
}

// open makes the query's views in the engine.
func (h *story) open() *millrace.DataFrame {
	for i, in := range h.w.streams() {
		df := in.DataFrame()
		if c := h.s.below[i]; c != nil {
			df = df.Filter(c.sql)
		}
		if d := h.s.delays[i]; d != noMark {
			df = df.WithWatermark("ts", fmt.Sprintf("%d milliseconds", d))
		}
		h.w.view(df, streams[i])
	}
	for _, v := range h.s.views {
		if v.do != nil {
			h.w.view(v.do(h.w.Session.Table(v.of)), v.name)
		} else {
			h.w.view(h.w.sql(v.text), v.name)
		}
	}
	df := h.w.Session.Table(h.s.last)
	if h.s.observed {
		df = df.Observe("out", f.Count(f.Lit(1)).As("n"))
	}
	return df
}

// step is one thing that happens.
func (h *story) step(i int) {
	who := 0
	if used := h.s.sources; len(used) > 1 || used[0] > 0 {
		if who = rapid.IntRange(0, len(used)).Draw(h.t, "who"); who < len(used) {
			who = used[who]
		} else {
			who = len(streams)
		}
	}
	for n, in := range h.w.streams() {
		if who == n || who == len(streams) {
			rows := unit(h.t, i)
			in.AddRows(rows)
			h.units[n] = append(h.units[n], rows)
			h.say("add %s\n  %s", streams[n], strings.Join(lines(rows), "\n  "))
		}
	}
	switch rapid.IntRange(0, 13).Draw(h.t, "event") {
	case 0: // more comes before anything is processed
	case 1:
		h.say("restart")
		h.q.Stop()
		h.again()
		if h.s.pick(3, "partitions") == 0 {
			h.scale()
		}
		h.q.Restart()
		h.rested()
	case 10:
		h.triggered()
	case 11:
		h.wait()
	case 2, 3, 4:
		at, seed := rapid.IntRange(1, 60).Draw(h.t, "write"), rapid.Uint64().Draw(h.t, "survivors")
		h.crash(at, seed)
	case 5, 6:
		h.fault(rapid.IntRange(1, 150).Draw(h.t, "use"))
	default:
		h.process()
	}
}

func lines(rows []record) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = milltest.FormatRow(r)
	}
	return out
}

// account gives the model the batches that the run has done, and compares their rows.
func (h *story) account() {
	offsets, commits := h.q.Log()
	end := commits + 1 // the batch with which the next run begins
	if offsets > commits {
		end = offsets
	}
	reports := h.q.Batches()
	byID := map[int64]milltest.Batch{}
	for _, b := range reports[h.before:] {
		byID[b.ID] = b
	}
	for id := h.first; id < end; id++ {
		b, ok := byID[id]
		if !ok { // an error came between
			b = h.logged(id)
		}
		h.check(b, id == h.rerun)
	}
	h.before, h.first = int64(len(reports)), end
}

// logged is a batch as the offset log has it.
func (h *story) logged(id int64) milltest.Batch {
	b := milltest.Batch{ID: id, Rows: h.q.Rows(id)}
	from := make([]string, len(h.s.uses))
	if id > 0 {
		_, _, from = h.entry(id - 1)
	}
	at, _, to := h.entry(id)
	b.Watermark = at
	for i := range to {
		b.Progress.Sources = append(b.Progress.Sources, millrace.SourceProgress{Description: streams[h.s.uses[i]], StartOffset: millrace.SourceOffset(from[i]), EndOffset: millrace.SourceOffset(to[i])})
	}
	return b
}

// entry reads an entry of the offset log.
func (h *story) entry(id int64) (watermark time.Time, stamp int64, offsets []string) {
	content, err := h.q.ReadFile(fmt.Sprintf("offsets/%d", id))
	if err != nil {
		h.fail("%v", err)
	}
	lines := strings.Split(string(content), "\n")
	var meta struct{ BatchWatermarkMs, BatchTimestampMs int64 }
	if err := json.Unmarshal([]byte(lines[1]), &meta); err != nil {
		h.fail("%v", err)
	}
	return time.UnixMilli(meta.BatchWatermarkMs), meta.BatchTimestampMs, lines[2:]
}

// check gives the model a batch and compares. A batch may have been planned by the run before.
func (h *story) check(got milltest.Batch, again bool) {
	b := &batch{id: got.ID}
	news := map[int]bool{}
	was := h.taken
	for _, in := range got.Progress.Sources { // a stream joined with itself is two sources
		s := slices.Index(streams[:], in.Description[:1])
		from, to := offsetOf(in.StartOffset), offsetOf(in.EndOffset)
		if from != was[s] || to < from || h.taken[s] != was[s] && h.taken[s] != to {
			h.fail("batch %d reads stream %s from %d to %d, and the batches before came to %d", got.ID, streams[s], from, to, was[s])
		}
		b.units[s], h.taken[s] = h.units[s][from:to], to
		if to > from {
			news[s] = true
		}
	}
	if h.m.patience > 0 {
		var at time.Time
		at, b.stamp, _ = h.entry(got.ID)
		if again { // how often the run that planned it has looked at the clock is not known
			h.m.global = max(h.m.global, at.UnixMilli())
		} else {
			h.m.look(b.stamp, news)
		}
	}
	last := got.Watermark.UnixMilli() == endOfTime && h.m.global < endOfTime
	if last {
		if !h.flushing || len(news) > 0 || !h.m.open() {
			h.fail("batch %d must not be one that closes everything", got.ID)
		}
		h.m.global = endOfTime
	}
	if len(news) == 0 && !last && !again && (!h.noData || h.m.ran && !h.m.due()) {
		h.fail("batch %d has no data and is not due", got.ID)
	}
	if s := h.m; h.s.delays[0] != noMark && !got.Watermark.Equal(time.UnixMilli(s.global)) {
		h.fail("batch %d runs with the watermark %s, want %s", got.ID, milltest.FormatTime(got.Watermark), milltest.FormatTime(time.UnixMilli(s.global)))
	}
	want := texts(h.m.do(b))
	h.total += len(want)
	if d := cmp.Diff(want, texts(got.Rows), cmpopts.EquateEmpty()); d != "" {
		h.fail("batch %d (-model +query):\n%s", got.ID, d)
	}
	if metrics := got.Progress.ObservedMetrics; h.s.observed && metrics != nil && !strings.HasPrefix(string(metrics["out"]), fmt.Sprintf(`{"values":[%d],`, len(want))) {
		h.fail("batch %d has observed %s, and %d rows", got.ID, metrics["out"], len(want))
	}
	kept := keepers(h.m.root)
	ops := got.Progress.StateOperators
	if ops == nil {
		return
	}
	if len(ops) != len(kept) {
		h.fail("batch %d has %d stateful operators, want %d", got.ID, len(ops), len(kept))
	}
	for i, k := range kept {
		if o := ops[i]; k.size() >= 0 && o.NumRowsTotal != int64(k.size()) {
			h.fail("batch %d: operator %s holds %d rows, want %d", got.ID, o.OperatorName, o.NumRowsTotal, k.size())
		}
	}
}

func offsetOf(o millrace.SourceOffset) int64 {
	n, _ := strconv.ParseInt(string(o), 10, 64)
	return n
}

// Every batch of a random query gives the rows that the model gives, with its watermark, and is in the sink once: however the rows are
// cut into batches, wherever the query is stopped, crashes, and crashes again while it recovers.
func TestHistories(t *testing.T) { forAsLongAs(t, checks/3, tell) }

// forAsLongAs checks a law n times, the same cases in every run, or as -rapid.checks and -rapid.seed say; with -histories.time new ones
// for so long. A failure names the seed with which -rapid.seed repeats it.
func forAsLongAs(t *testing.T, n int, law func(*rapid.T)) {
	stop := watch(t)
	defer stop()
	if *long == 0 {
		if set := flag.Lookup("rapid.checks").Value; set.String() == fmt.Sprint(checks) {
			few(t, n)
		}
		if set := flag.Lookup("rapid.seed").Value; set.String() == "0" {
			if err := set.Set("4"); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = set.Set("0") }()
		}
		rapid.Check(t, law)
		return
	}
	seed := rand.Uint64() >> 1
	runs := 0
	for began := time.Now(); time.Since(began) < *long && !t.Failed(); seed++ {
		if err := flag.Set("rapid.seed", fmt.Sprint(seed)); err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			runs++
			law(t)
		})
	}
	t.Logf("%d histories", runs)
}

// few makes a test check so many cases.
func few(t *testing.T, n int) {
	set := func(n int) {
		if err := flag.Set("rapid.checks", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	set(n)
	t.Cleanup(func() { set(checks) })
}

// watch ends the process, with the stacks of all goroutines, when a test comes to no end.
func watch(t *testing.T) (stop func()) {
	limit := 20*time.Minute + *long // a net: a busy machine may starve a process for some
	timer := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "%s does not end\n", t.Name())
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		os.Exit(2)
	})
	return func() { timer.Stop() }
}
