package stream

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// failing runs a query and returns its failure.
func (w *world) failing(n plan.Node, mode string) error {
	w.t.Helper()
	q, err := w.m.Start(w.t.Context(), w.request(n, mode, Trigger{Kind: AvailableNow}))
	if err != nil {
		return err
	}
	_, err = q.AwaitTermination(w.t.Context(), -1)
	return err
}

// TestChangedQuery restarts a query with changes that keep its state usable, and with such that do not.
func TestChangedQuery(t *testing.T) {
	w := newWorld(t)
	s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
	s.PerBatch = 1
	view := func(delay string) { w.views["e"] = marked(streamOf(s), "ts", delay) }
	step := func(query string, want ...string) {
		t.Helper()
		q := w.run(w.resolve(query), "update")
		if d := cmp.Diff(want, ran(q, w.sink.Rows)); d != "" {
			t.Errorf("%s (-want +got)\n%s", query, d)
		}
	}
	refused := func(query, class string) {
		t.Helper()
		if err := w.failing(w.resolve(query), "update"); !errclass.Has(err, class) {
			t.Errorf("%s: got %v, want %s", query, err, class)
		}
	}
	view("5m")
	s.Add([]any{"10:01", "a", int32(1)}, []any{"10:04", "b", int32(2)})
	s.Add([]any{"10:08", "a", int32(3)})
	s.Add([]any{"11:05", "a", int32(4)})
	step("SELECT window(ts, '10 minutes'), sum(v) FROM e GROUP BY window(ts, '10 minutes')",
		"batch 0 in 2 wm 0 rows [10:00,10:10] 3", "  op stateStoreSave tot 1 upd 1 rem 0 late 0 inst 2",
		"batch 1 in 1 wm 09:59 rows [10:00,10:10] 6", "  op stateStoreSave tot 1 upd 1 rem 0 late 0 inst 2",
		"batch 2 in 1 wm 10:03 rows [11:00,11:10] 4", "  op stateStoreSave tot 2 upd 1 rem 0 late 0 inst 2",
		"batch 3 in 0 wm 11:00 rows none", "  op stateStoreSave tot 1 upd 0 rem 1 late 0 inst 2")
	s.Add([]any{"11:06", "a", int32(40)})
	// Other names, another order of output columns, a filter on the result, a changed projection below.
	step("SELECT sum(value) AS total, w FROM (SELECT window(at, '10 minutes') AS w, v AS value FROM (SELECT ts AS at, v FROM e)) GROUP BY w HAVING sum(value) > 0",
		"batch 4 in 1 wm 11:00 rows 44 [11:00,11:10]", "  op stateStoreSave tot 1 upd 1 rem 0 late 0 inst 2",
		"batch 5 in 0 wm 11:01 rows none", "  op stateStoreSave tot 1 upd 0 rem 0 late 0 inst 2")
	view("1m")
	s.Add([]any{"11:07", "a", int32(40)})
	step("SELECT window(ts, '10 minutes'), sum(v) FROM e GROUP BY window(ts, '10 minutes')",
		"batch 6 in 1 wm 11:01 rows [11:00,11:10] 84", "  op stateStoreSave tot 1 upd 1 rem 0 late 0 inst 2",
		"batch 7 in 0 wm 11:06 rows none", "  op stateStoreSave tot 1 upd 0 rem 0 late 0 inst 2")

	s.Add([]any{"11:08", "a", int32(40)})
	refused("SELECT window(ts, '20 minutes'), sum(v) FROM e GROUP BY window(ts, '20 minutes')", "STATE_STORE_MEANING_NOT_COMPATIBLE")
	refused("SELECT window(ts, '10 minutes', '5 minutes'), sum(v) FROM e GROUP BY window(ts, '10 minutes', '5 minutes')", "STATE_STORE_MEANING_NOT_COMPATIBLE")
	refused("SELECT window(ts, '10 minutes'), k, sum(v) FROM e GROUP BY window(ts, '10 minutes'), k", "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")
	refused("SELECT window(ts, '10 minutes'), sum(v), count(*) FROM e GROUP BY window(ts, '10 minutes')", "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE")
	refused("SELECT window(ts, '10 minutes'), max(v) FROM e GROUP BY window(ts, '10 minutes')", "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE")
	refused("SELECT k, v FROM e", "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA")
	if err := w.failing(w.query("dedup e k"), "update"); !errclass.Has(err, "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA") {
		t.Errorf("aggregation to dedup: %v", err)
	}
	// None of them has done harm.
	step("SELECT window(ts, '10 minutes'), sum(v) FROM e GROUP BY window(ts, '10 minutes')",
		"batch 8 in 1 wm 11:06 rows [11:00,11:10] 124", "  op stateStoreSave tot 1 upd 1 rem 0 late 0 inst 2",
		"batch 9 in 0 wm 11:07 rows none", "  op stateStoreSave tot 1 upd 0 rem 0 late 0 inst 2")
}

// TestIdleInputHoldsTheWatermark: with min an input without rows pins the watermark, and after a restart every input must deliver again.
func TestIdleInputHoldsTheWatermark(t *testing.T) {
	w := newWorld(t)
	l, r := streamtest.NewSource("ts TIMESTAMP"), streamtest.NewSource("ts TIMESTAMP")
	l.PerBatch, r.PerBatch = 1, 1
	w.views["l"], w.views["r"] = marked(streamOf(l), "ts", "5m"), marked(streamOf(r), "ts", "5m")
	const query = "SELECT window(ts, '10 minutes'), count(*) FROM (SELECT * FROM l UNION ALL SELECT * FROM r) GROUP BY window(ts, '10 minutes')"
	marks := func() (out []string) {
		for _, line := range ran(w.run(w.resolve(query), "append"), w.sink.Rows) {
			if strings.HasPrefix(line, "batch") {
				out = append(out, line)
			}
		}
		return out
	}
	l.Add([]any{"10:01"})
	r.Add([]any{"10:02"})
	l.Add([]any{"10:20"})
	l.Add([]any{"11:04"})
	if d := cmp.Diff([]string{"batch 0 in 2 wm 0 rows none", "batch 1 in 1 wm 09:56 rows none", "batch 2 in 1 wm 09:57 rows none"}, marks()); d != "" {
		t.Error(d)
	}
	l.Add([]any{"15:00"})
	l.Add([]any{"16:00"})
	if d := cmp.Diff([]string{"batch 3 in 1 wm 09:57 rows none", "batch 4 in 1 wm 09:57 rows none"}, marks()); d != "" {
		t.Error(d)
	}
	r.Add([]any{"12:00"})
	if d := cmp.Diff([]string{"batch 5 in 1 wm 09:57 rows none"}, marks()); d != "" { // the left one has not delivered in this run
		t.Error(d)
	}
}

// TestNoBatchForCleaningAtRestart: what the last watermark of a run closed waits for new data.
func TestNoBatchForCleaningAtRestart(t *testing.T) {
	w := newWorld(t)
	w.feed("A")
	query := "SELECT window(ts, '10 minutes'), count(*) FROM a GROUP BY window(ts, '10 minutes')"
	w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.noDataMicroBatches.enabled": "false"})
	if n := len(ran(w.run(w.resolve(query), "append"), w.sink.Rows)) / 2; n != 6 {
		t.Errorf("%d batches without those for cleaning, want 6", n)
	}
	w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.noDataMicroBatches.enabled": "true"})
	if got := ran(w.run(w.resolve(query), "append"), w.sink.Rows); len(got) != 0 {
		t.Errorf("a restart without data ran %q", got)
	}
}

func TestSettingsOfTheCheckpoint(t *testing.T) {
	w, s := simple(t)
	const query = "SELECT k, count(*) FROM e GROUP BY k"
	partitions := func() int64 {
		s.Add(row("a", 1))
		return w.run(w.resolve(query), "update").LastProgress().StateOperators[0].NumShufflePartitions
	}
	w.conf = streamtest.Conf{}
	w.rt = engine.New(engine.Runtime{FS: w.mem, Parallelism: 3})
	w.m = NewManager(w.rt, NewRegistry())
	if n := partitions(); n != 3 {
		t.Errorf("a new query without a setting has %d partitions, want one a core", n)
	}
	w.conf = streamtest.Conf{keyPartitions: "5"}
	if n := partitions(); n != 3 {
		t.Errorf("a restart has %d partitions, want those of the checkpoint", n)
	}
	text, err := fs.ReadFile(w.mem, checkpointDir+"/offsets/1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"spark.sql.shuffle.partitions":"3"`, `"spark.sql.streaming.stateStore.providerClass":"millrace.mem"`, `"spark.sql.streaming.multipleWatermarkPolicy":"min"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("offset log without %s: %s", want, text)
		}
	}
}

func TestStateOfAnotherProvider(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1))
	w.run(w.resolve("SELECT * FROM e"), "append") // no state: Spark could go on
	text, err := fs.ReadFile(w.mem, checkpointDir+"/offsets/0")
	if err != nil || !strings.Contains(string(text), sparkProvider) {
		t.Errorf("%s %v", text, err)
	}
	s.Add(row("b", 1))
	if err := w.failing(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update"); !errclass.Has(err, "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY") {
		t.Errorf("no state: got %v", err)
	}
	const operator = `{"operatorInfo":{"operatorId":0,"operatorName":"stateStoreSave"},"stateStoreInfo":[{"storeName":"default","numColsPrefixKey":0,"numPartitions":2}]}`
	dir := checkpointDir + "/state/0/_metadata"
	if err := errors.Join(fs.MakeDirs(w.mem, dir), fs.WriteOnce(t.Context(), w.mem, dir+"/metadata", []byte("v1\n"+operator))); err != nil {
		t.Fatal(err)
	}
	if err := w.failing(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update"); !errclass.Has(err, "STATE_OF_SPARK") {
		t.Errorf("state of Spark: got %v", err)
	}
}

func TestChangedSources(t *testing.T) {
	w, s := simple(t)
	other := streamtest.NewSource("k STRING, v INT")
	w.views["f"] = streamOf(other)
	s.Add(row("a", 1))
	w.run(w.resolve("SELECT * FROM e"), "append")
	if err := w.failing(w.resolve("SELECT * FROM e UNION ALL SELECT * FROM f"), "append"); !errclass.Has(err, "CHECKPOINT_SOURCE_MISMATCH") {
		t.Errorf("got %v", err)
	}
}

func TestSinkThatCannotRecover(t *testing.T) {
	w, s := simple(t)
	w.sink.Info.Recovers = false
	s.Add(row("a", 1))
	w.run(w.resolve("SELECT * FROM e"), "append")
	if err := w.failing(w.resolve("SELECT * FROM e"), "append"); !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.CHECKPOINT_RECOVERY") {
		t.Errorf("got %v", err)
	}
}

func TestMissingMetadata(t *testing.T) {
	w, s := simple(t)
	s.Add(row("a", 1))
	w.run(w.resolve("SELECT * FROM e"), "append")
	if err := w.mem.Remove(checkpointDir + "/metadata"); err != nil {
		t.Fatal(err)
	}
	_, err := w.m.Start(t.Context(), w.request(w.resolve("SELECT * FROM e"), "append", Trigger{}))
	if !errclass.Has(err, "STREAMING_CHECKPOINT_MISSING_METADATA_FILE") {
		t.Errorf("got %v", err)
	}
	w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.checkpoint.verifyMetadataExists.enabled": "false"})
	w.run(w.resolve("SELECT * FROM e"), "append")
}

func TestLeftoversAtBatchZero(t *testing.T) {
	w, _ := simple(t)
	if err := w.mem.MkdirAll(checkpointDir + "/state/0"); err != nil {
		t.Fatal(err)
	}
	if err := w.failing(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update"); !errclass.Has(err, "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY") {
		t.Errorf("got %v", err)
	}
}

// TestOldFilesGo: of logs and state only what the last hundred batches need is kept, and a query can still go on.
func TestOldFilesGo(t *testing.T) {
	w, s := simple(t)
	s.PerBatch = 1
	w.conf = w.conf.With(streamtest.Conf{"spark.sql.streaming.minBatchesToRetain": "5"})
	for range 450 {
		s.Add(row("a", 1))
	}
	w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
	counts := map[string]int{}
	for name := range w.mem.Tree() {
		for _, dir := range []string{"offsets", "commits", "state"} {
			if strings.HasPrefix(name, checkpointDir[1:]+"/"+dir+"/") || strings.HasPrefix(name, checkpointDir+"/"+dir+"/") {
				counts[dir]++
			}
		}
	}
	if counts["offsets"] > 8 || counts["commits"] > 8 || counts["state"] > 260 || counts["offsets"] < 5 {
		t.Errorf("files: %v", counts)
	}
	s.Add(row("a", 1))
	w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
	if d := cmp.Diff([]string{"a 451"}, w.sink.Rows(450)); d != "" {
		t.Error(d)
	}
}

// The work on old files goes on beside the batches, and the end of a query waits for it: what is due is there then, and what nobody needs
// is gone.
func TestEndWaitsForOldFiles(t *testing.T) {
	w := newWorld(t)
	w.conf["spark.sql.streaming.minBatchesToRetain"] = "2"
	s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
	s.PerBatch = 1
	w.views["e"] = streamOf(s)
	for range 2 {
		for i := range 105 {
			s.Add([]any{"10:00", "a", int32(i)})
		}
		w.run(w.resolve("SELECT k, count(*) FROM e GROUP BY k"), "update")
	}
	var kept []string
	for name := range w.mem.Tree() {
		if dir, file := filepath.Split(name); strings.HasSuffix(dir, "state/0/0/") {
			kept = append(kept, file)
		}
	}
	slices.Sort(kept)
	want := []string{"200.snapshot"}
	for v := 201; v <= 210; v++ {
		want = append(want, fmt.Sprint(v, ".delta"))
	}
	if d := cmp.Diff(want, kept); d != "" {
		t.Error(d)
	}
}
