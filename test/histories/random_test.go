package histories

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millrace/millrace"
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
	units [2][][]record
	log   []string

	first  int64 // batch of this run
	before int64 // how many batches were reported before this run
	noData bool
	taken  [2]int64 // units that the model has been given
	total  int      // rows that the model has given
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
	opts := []milltest.Option{
		milltest.Conf("spark.sql.ansi.enabled", "false"),
		milltest.Partitions(rapid.IntRange(1, 7).Draw(t, "partitions")),
		milltest.VectorRows(rapid.SampledFrom([]int{1, 3, 4096}).Draw(t, "vectors")),
		milltest.Workers(rapid.IntRange(1, 5).Draw(t, "workers")),
		milltest.Splits(rapid.IntRange(1, 3).Draw(t, "splits")),
		milltest.StateProvider(rapid.SampledFrom([]string{"millrace.mem", "millrace.lsm"}).Draw(t, "provider")),
		milltest.Conf("spark.sql.streaming.minBatchesToRetain", strconv.Itoa(rapid.SampledFrom([]int{2, 3, 100}).Draw(t, "retain"))),
	}
	h := &story{t: t, s: s, m: newModel(s.root), noData: rapid.IntRange(0, 3).Draw(t, "noData") > 0}
	opts = append(opts, milltest.Conf("spark.sql.streaming.noDataMicroBatches.enabled", fmt.Sprint(h.noData)))
	h.w = newWideWorld(t, opts...)
	limit := rapid.IntRange(0, 2).Draw(t, "limit")
	h.w.e.LimitPerBatch(limit)
	h.w.f.LimitPerBatch(limit)
	h.q = h.w.Start(h.open(), milltest.Mode(millrace.OutputMode(s.mode)))
	if limit > 0 {
		h.say("a batch takes %d units of a stream", limit)
	}
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

func newWideWorld(t *rapid.T, opts ...milltest.Option) *world {
	w := &world{Engine: milltest.New(t, opts...), t: t}
	w.e, w.f = w.Stream(wide), w.Stream(wide)
	w.view(w.Session.CreateDataFrameDDL([][]any{{1, "one"}, {2, "two"}, {2, "deux"}, {nil, "none"}}, "ua INT, us STRING"), "u")
	return w
}

// open makes the query's views in the engine.
func (h *story) open() *millrace.DataFrame {
	for i, in := range []*milltest.Stream{h.w.e, h.w.f} {
		df := in.DataFrame()
		if c := h.s.below[i]; c != nil {
			df = df.Filter(c.sql)
		}
		if d := h.s.delays[i]; d != noMark {
			df = df.WithWatermark("ts", fmt.Sprintf("%d milliseconds", d))
		}
		h.w.view(df, []string{"e", "f"}[i])
	}
	for _, v := range h.s.views {
		if v.do != nil {
			h.w.view(v.do(h.w.Session.Table(v.of)), v.name)
		} else {
			h.w.view(h.w.sql(v.text), v.name)
		}
	}
	return h.w.Session.Table(h.s.last)
}

// step is one thing that happens.
func (h *story) step(i int) {
	who := 0
	if len(h.s.sources) > 1 || h.s.sources[0] == 1 {
		who = rapid.IntRange(0, 2).Draw(h.t, "who")
	}
	for n, in := range []*milltest.Stream{h.w.e, h.w.f} {
		if who == n || who == 2 {
			rows := unit(h.t, i)
			in.AddRows(rows)
			h.units[n] = append(h.units[n], rows)
			h.say("add %s\n  %s", []string{"e", "f"}[n], strings.Join(lines(rows), "\n  "))
		}
	}
	switch rapid.IntRange(0, 9).Draw(h.t, "event") {
	case 0: // more comes before anything is processed
	case 1:
		h.say("restart")
		h.q.Stop()
		h.again()
		h.q.Restart()
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

// crash processes until power fails at a write, and again while it recovers, some times.
func (h *story) crash(at int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	h.say("crash at write %d, survivors by %d", at, seed)
	_, crashed := h.q.CrashAtWrite(at)
	for crashed {
		h.w.PowerOn(rng.IntN)
		h.again()
		if rng.IntN(3) > 0 {
			h.q.Restart()
			return
		}
		k := 1 + rng.IntN(50)
		h.say("crash at write %d of the recovery", k)
		var err error
		if crashed, err = h.q.RestartCrashingAt(k); err != nil {
			h.fail("restart: %v", err)
		}
	}
}

// fault processes while the disk has an error, which the query does not survive, or does not notice.
func (h *story) fault(at int) {
	h.say("error at use %d of the disk", at)
	h.w.FailAt(at)
	_, err := h.q.TryProcess()
	if err != nil {
		h.q.Bury()
	}
	h.w.PowerOn(nil)
	if err == nil {
		return
	}
	if !strings.Contains(err.Error(), "input/output error") {
		h.fail("query: %v", err)
	}
	h.again()
	h.q.Restart()
}

func (h *story) process() {
	h.say("process")
	if _, err := h.q.TryProcess(); err != nil {
		h.fail("query: %v", err)
	}
}

// again is called between two runs: the model is given what the old one has done for good.
func (h *story) again() {
	h.account()
	h.m.started()
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
		h.check(b)
	}
	h.before, h.first = int64(len(reports)), end
}

// logged is a batch as the offset log has it.
func (h *story) logged(id int64) milltest.Batch {
	b := milltest.Batch{ID: id, Rows: h.q.Rows(id)}
	from := make([]string, len(h.s.sources))
	if id > 0 {
		_, from = h.entry(id - 1)
	}
	at, to := h.entry(id)
	b.Watermark = at
	for i := range to {
		b.Progress.Sources = append(b.Progress.Sources, millrace.SourceProgress{StartOffset: millrace.SourceOffset(from[i]), EndOffset: millrace.SourceOffset(to[i])})
	}
	return b
}

// entry reads an entry of the offset log.
func (h *story) entry(id int64) (watermark time.Time, offsets []string) {
	content, err := h.q.ReadFile(fmt.Sprintf("offsets/%d", id))
	if err != nil {
		h.fail("%v", err)
	}
	lines := strings.Split(string(content), "\n")
	var meta struct{ BatchWatermarkMs int64 }
	if err := json.Unmarshal([]byte(lines[1]), &meta); err != nil {
		h.fail("%v", err)
	}
	return time.UnixMilli(meta.BatchWatermarkMs), lines[2:]
}

// check gives the model a batch and compares.
func (h *story) check(got milltest.Batch) {
	b := &batch{id: got.ID}
	news := false
	for i, s := range h.s.sources {
		from, to := offsetOf(got.Progress.Sources[i].StartOffset), offsetOf(got.Progress.Sources[i].EndOffset)
		if from != h.taken[s] || to < from {
			h.fail("batch %d reads stream %d from %d to %d, and the batches before came to %d", got.ID, s, from, to, h.taken[s])
		}
		b.units[s], h.taken[s] = h.units[s][from:to], to
		news = news || to > from
	}
	if !news && (!h.noData || h.m.ran && !h.m.due()) {
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
	keepers := h.m.keepers()
	ops := got.Progress.StateOperators
	if ops == nil {
		return
	}
	if len(ops) != len(keepers) {
		h.fail("batch %d has %d stateful operators, want %d", got.ID, len(ops), len(keepers))
	}
	for i, k := range keepers {
		if o := ops[len(ops)-1-i]; k.size() >= 0 && o.NumRowsTotal != int64(k.size()) {
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
func TestHistories(t *testing.T) {
	stop := watch(t)
	defer stop()
	if *long == 0 {
		rapid.Check(t, tell)
		return
	}
	seed := rand.Uint64() >> 1
	for began := time.Now(); time.Since(began) < *long && !t.Failed(); seed++ {
		if err := flag.Set("rapid.seed", fmt.Sprint(seed)); err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, tell)
	}
}

// watch ends the process, with the stacks of all goroutines, when a test comes to no end.
func watch(t *testing.T) (stop func()) {
	limit := 5*time.Minute + *long
	timer := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "%s does not end\n", t.Name())
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		os.Exit(2)
	})
	return func() { timer.Stop() }
}
