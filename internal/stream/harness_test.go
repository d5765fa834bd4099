package stream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/stream/streamtest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// views is a catalog of streams and tables made in memory.
type views map[string]plan.Node

func (v views) LookupView(parts []string) (plan.Node, bool) {
	n, ok := v[strings.ToLower(strings.Join(parts, "."))]
	return n, ok
}

func (v views) LookupTable(context.Context, *plan.Named) (plan.Node, error) { return nil, nil }
func (v views) LookupRemote(string) (plan.Node, bool)                       { return nil, false }

// streamOf is a streaming relation over a source.
func streamOf(s *streamtest.Source) *plan.Scan {
	return &plan.Scan{ID: plan.NewID(), Source: s, Name: "memory", Out: plan.Attrs(s.Schema()), Stream: true}
}

// marked puts a watermark on the first column named ts or ending in t.
func marked(n plan.Node, col, delay string) plan.Node {
	d, err := time.ParseDuration(delay)
	if err != nil {
		panic(err)
	}
	for _, a := range n.Output() {
		if a.Name == col {
			return &plan.Watermark{Col: a, Delay: types.Interval{Micros: d.Microseconds()}, DelayText: delay, Child: n, ID: plan.NewID()}
		}
	}
	panic("no column " + col)
}

// world is what outlives runs: files, sources, the sink.
type world struct {
	t     testing.TB
	mem   *errfs.Mem
	rt    *engine.Runtime
	sink  *streamtest.Sink
	conf  streamtest.Conf
	views views
	m     *Manager

	sources []*streamtest.Source
}

const checkpointDir = "/ck"

func newWorld(t testing.TB) *world {
	w := &world{t: t, mem: errfs.NewMem(), sink: streamtest.NewSink(), views: views{}, conf: streamtest.Conf{"spark.sql.shuffle.partitions": "2"}}
	w.rt = engine.New(engine.Runtime{FS: w.mem, Parallelism: 2})
	w.m = NewManager(w.rt, NewRegistry())
	return w
}

// resolve analyses SQL text over the world's views.
func (w *world) resolve(query string) plan.Node {
	w.t.Helper()
	n, err := sql.ParseQuery(query, sql.Options{})
	if err != nil {
		w.t.Fatalf("parse %s: %v", query, err)
	}
	return w.analyse(n)
}

func (w *world) analyse(n plan.Node) plan.Node {
	w.t.Helper()
	n, err := analyze.New(w.views, analyze.Conf{ANSI: true}, source.Env{}).Resolve(context.Background(), n)
	if err != nil {
		w.t.Fatalf("resolve: %v", err)
	}
	return n
}

func (w *world) request(n plan.Node, mode string, trig Trigger) StartRequest {
	return StartRequest{
		Plan: n, OutputMode: mode, Trigger: trig, Sink: w.sink, Conf: w.conf, Zone: time.UTC,
		Options: map[string]string{"checkpointLocation": checkpointDir},
	}
}

// run runs a query until its input is used up.
func (w *world) run(n plan.Node, mode string) *Query {
	w.t.Helper()
	q := w.start(w.request(n, mode, Trigger{Kind: AvailableNow}))
	if _, err := q.AwaitTermination(context.Background(), -1); err != nil {
		w.t.Fatalf("query: %v", err)
	}
	return q
}

func (w *world) start(r StartRequest) *Query {
	w.t.Helper()
	q, err := w.m.Start(context.Background(), r)
	if err != nil {
		w.t.Fatalf("start: %v", err)
	}
	return q
}

// ran lists the batches of a run: number, input rows, watermark, output rows and the figures of the operators.
func ran(q *Query, rows func(batch int64) []string) []string {
	var out []string
	for _, p := range q.RecentProgress() {
		if _, executed := p.DurationMs["addBatch"]; !executed {
			continue
		}
		wm := "none"
		if p.EventTime != nil {
			wm = streamtest.Clock(p.EventTime.Watermark)
			if p.EventTime.Watermark.UnixMilli() == 0 {
				wm = "0"
			}
		}
		text := strings.Join(rows(p.BatchID), "; ")
		if text == "" {
			text = "none"
		}
		out = append(out, fmt.Sprintf("batch %d in %d wm %s rows %s", p.BatchID, p.NumInputRows, wm, text))
		for _, o := range p.StateOperators {
			line := fmt.Sprintf("  op %s tot %d upd %d rem %d late %d inst %d", o.OperatorName, o.NumRowsTotal, o.NumRowsUpdated,
				o.NumRowsRemoved, o.NumRowsDroppedByWatermark, o.NumStateStoreInstances)
			if n, ok := o.CustomMetrics["numDroppedDuplicateRows"]; ok {
				line += fmt.Sprintf(" dup %d", n)
			}
			out = append(out, line)
		}
	}
	return out
}
