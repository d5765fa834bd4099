package millrace

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

func TestAddresses(t *testing.T) {
	for address, want := range map[string]int{"local": 1, "local[3]": 3, "local[x]": -1, "local[0]": -1, "local[]": -1, "sc://h": 0} {
		n, ok, err := localWorkers(address)
		if want < 0 && err == nil || want > 0 && (!ok || n != want) || want == 0 && (ok || err != nil) {
			t.Errorf("%s gives %d, %v, %v", address, n, ok, err)
		}
	}
	for address, class := range map[string]string{"nowhere": "INVALID_CONNECT_URL", "local[-1]": "INVALID_CONNECT_URL"} {
		if _, err := Connect(t.Context(), address); !errclass.Has(err, class) {
			t.Errorf("%s gives %v", address, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := Connect(ctx, "sc://127.0.0.1:1")
	if !errclass.Has(err, "CONNECTION_FAILED") || !strings.Contains(err.Error(), "sc://127.0.0.1:1") {
		t.Errorf("got %v", err)
	}
}

func TestLocation(t *testing.T) {
	at := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]int{
		"UTC": 0, "Europe/Berlin": 7200, "+05:30": 19800, "-08:00": -28800, "GMT+2": 7200, "UTC-1:15:30": -4530, "no/where": 0, "+x": 0, "": 0,
	} {
		if _, got := at.In(location(name)).Zone(); got != want {
			t.Errorf("%s is %d s from UTC, want %d", name, got, want)
		}
	}
}

func TestIntervalText(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{IntervalText("5 minutes"), "5 minutes"},
		{IntervalText(90 * time.Second), "90000 milliseconds"},
		{IntervalText(1500 * time.Microsecond), "1500 microseconds"},
		{IntervalText(time.Duration(0)), "0 milliseconds"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestProgressInBothDialects(t *testing.T) {
	const reply = `{"id":"i","runId":"r","name":null,"timestamp":"2026-03-01T12:00:05.000Z","batchId":3,"batchDuration":120,
		"durationMs":{"addBatch":80},"eventTime":{"watermark":"2026-03-01T11:50:00.000Z"},"stateOperators":[{"operatorName":"stateStoreSave",
		"numRowsTotal":4,"customMetrics":{"x":1}}],"sources":[{"description":"d","startOffset":"{\"logOffset\":2}","endOffset":"3",
		"latestOffset":null,"numInputRows":40,"inputRowsPerSecond":8.0,"processedRowsPerSecond":333.25,"metrics":{}}],
		"sink":{"description":"MemorySink","numOutputRows":1,"metrics":{}},"observedMetrics":{}}`
	const event = `{"id":"i","runId":"r","name":null,"timestamp":"2026-03-01T12:00:05.000Z","batchId":3,"batchDuration":120,"numInputRows":40,
		"inputRowsPerSecond":8.0,"processedRowsPerSecond":333.25,"durationMs":{"addBatch":80},
		"eventTime":{"watermark":"2026-03-01T11:50:00.000Z"},"stateOperators":[{"operatorName":"stateStoreSave","numRowsTotal":4,
		"customMetrics":{"x":1}}],"sources":[{"description":"d","startOffset":{"logOffset":2},"endOffset":3,"latestOffset":null,
		"numInputRows":40,"inputRowsPerSecond":8.0,"processedRowsPerSecond":333.25}],"sink":{"description":"MemorySink","numOutputRows":1}}`
	want := StreamingQueryProgress{
		ID: "i", RunID: "r", Timestamp: time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC), BatchID: 3, BatchDuration: 120,
		DurationMs: map[string]int64{"addBatch": 80}, EventTime: map[string]string{"watermark": "2026-03-01T11:50:00.000Z"},
		StateOperators: []StateOperatorProgress{{OperatorName: "stateStoreSave", NumRowsTotal: 4, CustomMetrics: map[string]int64{"x": 1}}},
		Sources: []SourceProgress{{
			Description: "d", StartOffset: `{"logOffset":2}`, EndOffset: "3", NumInputRows: 40, InputRowsPerSecond: 8, ProcessedRowsPerSecond: 333.25,
		}},
		Sink: SinkProgress{Description: "MemorySink", NumOutputRows: 1},
	}
	for _, text := range []string{reply, event} {
		got, err := parseProgress([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got.JSON() != text || got.NumInputRows() != 40 || got.InputRowsPerSecond() != 8 || got.ProcessedRowsPerSecond() != 333.25 {
			t.Errorf("got %+v", got)
		}
		got.text = ""
		if len(got.Sources[0].Metrics) == 0 {
			got.Sources[0].Metrics, got.Sink.Metrics, got.ObservedMetrics = nil, nil, nil
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(StreamingQueryProgress{})); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if _, err := parseProgress([]byte("{")); !errclass.Has(err, "UNEXPECTED_RESPONSE") {
		t.Errorf("got %v", err)
	}
}

func TestTextsOfColumns(t *testing.T) {
	for want, c := range map[string]Column{
		"((a + 1) > b)":                       Col("a").Add(1).Gt(Col("b")),
		"sum(DISTINCT x) AS s":                CallDistinct("sum", "x").As("s"),
		"CAST('5' AS INT) DESC NULLS LAST":    Lit("5").Cast("int").Desc(),
		"t.*":                                 Col("t.*"),
		"transform(ar, (x_1) -> (x_1 * 2))":   Call("transform", "ar", Lambda(1, func(a ...Column) Column { return a[0].Mul(2) })),
		"m['k']":                              Col("m").GetItem("k"),
		"upper(s || 'x')":                     Expr("upper(s || 'x')"),
		"row_number() OVER (...)":             Call("row_number").Over(NewWindow()),
		"TIMESTAMP '1970-01-01 00:00:01Z'":    Lit(types.Micros(1e6)),
		"named_struct('a', array(0, NULL))":   Lit(struct{ A []*int32 }{[]*int32{new(int32), nil}}),
		"s WITH f":                            Col("s").WithField("f", Lit(1)),
		"when((a = 1), 'one', 'other') AS x":  Call("when", Col("a").Eq(1), Lit("one")).Otherwise("other").As("x"),
		"INTERVAL '1m0s'":                     Lit(time.Minute),
		"X'00ff'":                             Lit([]byte{0, 255}),
		"DATE '1970-01-02'":                   Lit(types.Days(1)),
		"TIMESTAMP_NTZ '1970-01-01 00:00:00'": Lit(types.MicrosNTZ(0)),
		"1.50":                                Lit(types.DecimalFromInt64(150, 2)),
	} {
		if got := c.String(); got != "Column("+want+")" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMethodNames(t *testing.T) {
	for in, want := range map[string]string{
		"github.com/millrace/millrace.(*DataFrame).Select":      "Select",
		"github.com/millrace/millrace/functions.Sum[...]":       "Sum",
		"github.com/millrace/millrace/functions.Sum[...].func1": "Sum",
		"github.com/millrace/millrace.Column.Add":               "Add",
	} {
		if got := methodName(in); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}
