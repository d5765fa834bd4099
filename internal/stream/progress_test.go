package stream

import (
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

func example() *Progress {
	at := time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC)
	return &Progress{
		ID: "7d0f6a52-0000-4000-8000-000000000001", RunID: "7d0f6a52-0000-4000-8000-000000000002", Name: "orders_per_window",
		Timestamp: at, BatchID: 3, BatchDuration: 120, NumInputRows: 40, InputRowsPerSecond: 8, ProcessedRowsPerSecond: 1000.0 / 3,
		DurationMs: map[string]int64{"triggerExecution": 120, "addBatch": 80},
		EventTime: &EventTimeProgress{
			Seen: true, Watermark: at.Add(-10 * time.Minute), Min: at.Add(-2 * time.Minute), Max: at,
			Avg: at.Add(-time.Minute),
		},
		StateOperators: []StateOperatorProgress{{OperatorName: "stateStoreSave", NumRowsTotal: 4, CustomMetrics: map[string]int64{"b": 2, "a": 1}}},
		Sources: []SourceProgress{{
			Description: "FileStreamSource[file:/in]", StartOffset: json.RawMessage(`{"logOffset":2}`),
			EndOffset: json.RawMessage(`{"logOffset":3}`), NumInputRows: 40, InputRowsPerSecond: 8, ProcessedRowsPerSecond: 1000.0 / 3,
		}},
		Sink: SinkProgress{Description: "MemorySink", NumOutputRows: 1},
	}
}

func TestReplyJSON(t *testing.T) {
	want := `{"id":"7d0f6a52-0000-4000-8000-000000000001","runId":"7d0f6a52-0000-4000-8000-000000000002","name":"orders_per_window",` +
		`"timestamp":"2026-03-01T12:00:05.000Z","batchId":3,"batchDuration":120,"durationMs":{"addBatch":80,"triggerExecution":120},` +
		`"eventTime":{"avg":"2026-03-01T11:59:05.000Z","max":"2026-03-01T12:00:05.000Z","min":"2026-03-01T11:58:05.000Z","watermark":"2026-03-01T11:50:05.000Z"},` +
		`"stateOperators":[{"operatorName":"stateStoreSave","numRowsTotal":4,"numRowsUpdated":0,"allUpdatesTimeMs":0,"numRowsRemoved":0,` +
		`"allRemovalsTimeMs":0,"commitTimeMs":0,"memoryUsedBytes":0,"numRowsDroppedByWatermark":0,"numShufflePartitions":0,"numStateStoreInstances":0,` +
		`"customMetrics":{"a":1,"b":2}}],` +
		`"sources":[{"description":"FileStreamSource[file:/in]","startOffset":"{\"logOffset\":2}","endOffset":"{\"logOffset\":3}","latestOffset":null,` +
		`"numInputRows":40,"inputRowsPerSecond":8.0,"processedRowsPerSecond":333.3333333333333,"metrics":{}}],` +
		`"sink":{"description":"MemorySink","numOutputRows":1,"metrics":{}},"observedMetrics":{}}`
	if d := cmp.Diff(want, example().ReplyJSON()); d != "" {
		t.Error(d)
	}
}

func TestEventJSON(t *testing.T) {
	want := `{"id":"7d0f6a52-0000-4000-8000-000000000001","runId":"7d0f6a52-0000-4000-8000-000000000002","name":"orders_per_window",` +
		`"timestamp":"2026-03-01T12:00:05.000Z","batchId":3,"batchDuration":120,"numInputRows":40,"inputRowsPerSecond":8.0,"processedRowsPerSecond":333.3,` +
		`"durationMs":{"addBatch":80,"triggerExecution":120},` +
		`"eventTime":{"avg":"2026-03-01T11:59:05.000Z","max":"2026-03-01T12:00:05.000Z","min":"2026-03-01T11:58:05.000Z","watermark":"2026-03-01T11:50:05.000Z"},` +
		`"stateOperators":[{"operatorName":"stateStoreSave","numRowsTotal":4,"numRowsUpdated":0,"allUpdatesTimeMs":0,"numRowsRemoved":0,` +
		`"allRemovalsTimeMs":0,"commitTimeMs":0,"memoryUsedBytes":0,"numRowsDroppedByWatermark":0,"numShufflePartitions":0,"numStateStoreInstances":0,` +
		`"customMetrics":{"a":1,"b":2}}],` +
		`"sources":[{"description":"FileStreamSource[file:/in]","startOffset":{"logOffset":2},"endOffset":{"logOffset":3},"latestOffset":null,` +
		`"numInputRows":40,"inputRowsPerSecond":8.0,"processedRowsPerSecond":333.3}],` +
		`"sink":{"description":"MemorySink","numOutputRows":1}}`
	if d := cmp.Diff(want, example().EventJSON()); d != "" {
		t.Error(d)
	}
}

func TestJSONOfTheRest(t *testing.T) {
	p := &Progress{Timestamp: time.Unix(0, 0), InputRowsPerSecond: math.NaN()}
	p.Sink.Metrics = map[string]string{"numOutputRows": "7"}
	inner := types.StructType{Fields: []types.Field{{Name: "day", Type: types.Date, Nullable: true}}}
	p.Observed = []ObservedRow{{Name: "m", Schema: types.StructType{Fields: []types.Field{
		{Name: "n", Type: types.Long},
		{Name: "t", Type: types.Timestamp, Nullable: true},
		{Name: "d", Type: types.Double},
		{Name: "x", Type: types.Double, Nullable: true},
		{Name: "day", Type: types.Date},
		{Name: "s", Type: inner},
		{Name: "l", Type: types.ArrayType{Element: inner}},
		{Name: "m", Type: types.MapType{Key: types.String, Value: types.Date}},
		{Name: "o", Type: types.MapType{Key: types.Long, Value: types.Long}},
	}}, Values: []any{
		int64(2), types.Micros(1767261660000000), 2.0, nil, types.Days(1),
		types.Row{types.Days(1)},
		[]any{types.Row{nil}},
		types.MapValue{{Key: "k", Value: types.Days(2)}},
		types.MapValue{{Key: int64(1), Value: nil}},
	}}}
	for text, want := range map[string]string{
		p.ReplyJSON(): `"observedMetrics":{"m":{"values":[2,1767261660000,2.0,null,86400000,{"values":[86400000],"schema":` + inner.JSON() +
			`},[{"values":[null],"schema":` + inner.JSON() + `}],{"k":172800000},{"1":null}],"schema":` + p.Observed[0].Schema.JSON() + `}}}`,
		p.EventJSON(): `"sink":{"description":"","numOutputRows":0,"metrics":{"numOutputRows":"7"}},"observedMetrics":{"m":{"n":2,"t":"2026-01-01 10:01:00","d":2.0,"x":null,` +
			`"day":"1970-01-02","s":{"day":"1970-01-02"},"l":[{"day":null}],"m":{"k":"1970-01-03"},"o":[{"key":1,"value":null}]}}}`,
	} {
		if !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %s", text)
		}
		if len(text) < len(want) || text[len(text)-len(want):] != want {
			t.Errorf("%s\ndoes not end with\n%s", text, want)
		}
	}
	cause := errclass.New("DIVIDE_BY_ZERO", "config", "x")
	for _, e := range []Event{
		{Kind: QueryStarted, Tags: []string{"a", "b"}},
		{Kind: QueryIdle},
		{Kind: QueryTerminated},
		{Kind: QueryProgress, Progress: p},
		{Kind: QueryTerminated, Err: errclass.New("STREAM_FAILED", "id", "", "runId", "", "message", "").WithCause(cause)},
	} {
		if !json.Valid([]byte(e.JSON())) {
			t.Errorf("no JSON: %s", e.JSON())
		}
	}
	if got := (Event{Kind: QueryTerminated, ID: "i", RunID: "r"}).JSON(); got != `{"id":"i","runId":"r","exception":null,"errorClassOnException":null}` {
		t.Error(got)
	}
	if got := (Event{Kind: QueryStarted, ID: "i", RunID: "r", Timestamp: time.Unix(0, 5e6), Tags: []string{"t"}}).JSON(); got != `{"id":"i","runId":"r","name":null,"timestamp":"1970-01-01T00:00:00.005Z","jobTags":["t"]}` {
		t.Error(got)
	}
}

func TestRingKeepsOneLess(t *testing.T) {
	r := ring{size: 5}
	for i := range 20 {
		r.add(&Progress{BatchID: int64(i)})
	}
	if len(r.list) != 4 || r.list[0].BatchID != 16 || r.last().BatchID != 19 {
		t.Errorf("kept %d from %d", len(r.list), r.list[0].BatchID)
	}
	for _, size := range []int{1, 0, -1} {
		none := ring{size: size}
		none.add(&Progress{BatchID: 1})
		if none.last() != nil || len(none.list) != 0 {
			t.Errorf("a ring of %d keeps nothing", size)
		}
	}
}

// TestIdleReports: one report of nothing each ten seconds, with the number of the batch that would come next and the state as the last
// batch left it.
func TestIdleReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.Add(row("a", 1), row("b", 1))
		q := w.start(w.request(w.query("SELECT k, count(*) FROM e GROUP BY k"), "update", Trigger{}))
		w.allDone(q)
		time.Sleep(35 * time.Second)
		w.stop(q)
		ps := q.RecentProgress()
		if len(ps) != 4 {
			t.Fatalf("%d reports, want the batch and 3", len(ps))
		}
		for _, p := range ps[1:] {
			_, added := p.DurationMs["addBatch"]
			o := p.StateOperators[0]
			if p.BatchID != 1 || p.NumInputRows != 0 || added || o.NumRowsTotal != 2 || o.NumRowsUpdated != 0 || p.Sink.NumOutputRows != 0 {
				t.Errorf("idle report %s", p.ReplyJSON())
			}
			if string(p.Sources[0].StartOffset) != "0" || string(p.Sources[0].EndOffset) != "0" {
				t.Errorf("offsets %s %s", p.Sources[0].StartOffset, p.Sources[0].EndOffset)
			}
		}
	})
}

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := simple(t)
		s.PerBatch = 1
		s.Add(row("a", 1), row("b", 1))
		s.Add(row("a", 1), row("b", 1), row("c", 1))
		w.sink.Fail = func(call string, _ int64) error {
			if call == "Commit" {
				time.Sleep(2 * time.Second)
			}
			return nil
		}
		q := w.run(w.query("SELECT * FROM e"), "append")
		ps := q.RecentProgress()
		if ps[0].InputRowsPerSecond != 0 || ps[0].ProcessedRowsPerSecond != 1 || ps[0].DurationMs["addBatch"] != 2000 || ps[0].BatchDuration != 2000 {
			t.Errorf("first: %s", ps[0].EventJSON())
		}
		if ps[1].InputRowsPerSecond != 1.5 || ps[1].ProcessedRowsPerSecond != 1.5 || ps[1].Sources[0].InputRowsPerSecond != 1.5 {
			t.Errorf("second: %s", ps[1].EventJSON())
		}
		if ps[0].Sources[0].StartOffset != nil || string(ps[0].Sources[0].EndOffset) != "0" || string(ps[1].Sources[0].StartOffset) != "0" {
			t.Error("offsets")
		}
	})
}

func TestSinkThatDoesNotCount(t *testing.T) {
	w, s := simple(t)
	w.sink.Info.CountsRows = false
	s.Add(row("a", 1), row("b", 1))
	q := w.run(w.query("SELECT * FROM e"), "append")
	if got := q.LastProgress().Sink; got.NumOutputRows != -1 || got.Metrics["numOutputRows"] != "2" {
		t.Errorf("%+v", got)
	}
}

// TestReportOfASkippedBatch: a file sink that has a batch already is reported to have been given nothing.
func TestReportOfASkippedBatch(t *testing.T) {
	w, s := simple(t)
	w.sink.Info.CountsRows = false
	s.Add(row("a", 1), row("b", 1))
	w.run(w.query("SELECT k, count(*) FROM e GROUP BY k"), "update")
	if err := w.mem.Remove(checkpointDir + "/commits/0"); err != nil {
		t.Fatal(err)
	}
	p := w.run(w.query("SELECT k, count(*) FROM e GROUP BY k"), "update").LastProgress()
	op := p.StateOperators[0]
	if p.BatchID != 0 || p.NumInputRows != 0 || op.NumRowsTotal != 0 || op.NumRowsUpdated != 0 || p.Sink.Metrics["numOutputRows"] != "0" {
		t.Errorf("%s", p.EventJSON())
	}
	s.Add(row("a", 1))
	if got := w.run(w.query("SELECT k, count(*) FROM e GROUP BY k"), "update").LastProgress().StateOperators[0]; got.NumRowsTotal != 2 {
		t.Errorf("the batch after it: %+v", got)
	}
}

func TestExplain(t *testing.T) {
	w, s := simple(t)
	q := w.start(w.request(w.query("SELECT k FROM e WHERE v > 1"), "append", Trigger{Kind: AvailableNow}))
	if _, err := q.AwaitTermination(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	if got := q.Explain(true); got != "No physical plan. Waiting for data." {
		t.Error(got)
	}
	s.Add(row("a", 2))
	q = w.run(w.query("SELECT k FROM e WHERE v > 1"), "append")
	want := "== Physical Plan ==\nProject [1 columns]\n+- Filter\n   +- MicroBatchScan memory\n"
	if d := cmp.Diff(want, q.Explain(false)); d != "" {
		t.Error(d)
	}
}
