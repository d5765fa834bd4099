package milltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// written is what a query has written, over all its runs: a sink that takes a batch again and compares it with what it has.
type written struct {
	e      *Engine
	schema types.StructType

	mu      sync.Mutex
	batches map[int64][]types.Row
	begun   []int64 // in this run
	differ  []string
}

func newWritten(e *Engine) *written { return &written{e: e, batches: map[int64][]types.Row{}} }

// sinks are the sinks of this process, by id.
var sinks sinkRegistry

type sinkRegistry struct {
	once sync.Once
	mu   sync.Mutex
	byID map[string]*written
}

func (r *sinkRegistry) add(id string, w *written) {
	r.once.Do(func() { sink.Register(Format, r) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[string]*written{}
	}
	r.byID[id] = w
}

func (r *sinkRegistry) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

// Open implements sink.Format.
func (r *sinkRegistry) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	id, _ := req.Options.Get("sink")
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.byID[id]
	if w == nil {
		return nil, fmt.Errorf("milltest: there is no query %q in this process", id)
	}
	return &opened{w, req.Schema}, nil
}

type opened struct {
	w      *written
	schema types.StructType
}

// Info implements sink.Sink.
func (o *opened) Info() sink.Info {
	return sink.Info{Description: "MilltestSink", CountsRows: true, Recovers: true}
}

// Begin implements sink.Sink.
func (o *opened) Begin(_ context.Context, id int64) (sink.Batch, bool, error) {
	if err := o.w.e.disk.alive(); err != nil {
		return nil, false, err
	}
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	o.w.begun = append(o.w.begun, id)
	return &sinkBatch{o: o, id: id}, false, nil
}

// Close implements sink.Sink.
func (o *opened) Close() error { return nil }

type sinkBatch struct {
	o  *opened
	id int64
}

// Writer implements sink.Batch.
func (b *sinkBatch) Writer(context.Context, int) (sink.Writer, error) { return &writer{b: b}, nil }

// Commit implements sink.Batch.
func (b *sinkBatch) Commit(_ context.Context, messages []sink.Message) error {
	w := b.o.w
	if err := w.e.disk.alive(); err != nil {
		return err
	}
	rows := []types.Row{}
	for _, m := range messages {
		rows = append(rows, m.([]types.Row)...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if old, again := w.batches[b.id]; again {
		if was, is := formatOrdered(old), formatOrdered(rows); was != is {
			w.differ = append(w.differ, fmt.Sprintf("batch %d was run again and gave other rows: first\n%s\nthen\n%s", b.id, was, is))
		}
	}
	w.batches[b.id], w.schema = rows, b.o.schema
	w.e.disk.sinkCommitted()
	return nil
}

func formatOrdered(rows []types.Row) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = FormatRow(r)
	}
	return strings.Join(lines, "\n")
}

// Abort implements sink.Batch.
func (b *sinkBatch) Abort(context.Context) {}

type writer struct {
	b    *sinkBatch
	rows []types.Row
}

// Write implements sink.Writer.
func (w *writer) Write(_ context.Context, rec arrow.RecordBatch) error {
	if err := w.b.o.w.e.disk.alive(); err != nil {
		return err
	}
	b, err := vec.FromArrow(rec, w.b.o.schema)
	if err != nil {
		return err
	}
	for i := range b.N {
		w.rows = append(w.rows, vec.RowAt(b, i))
	}
	return nil
}

// Close implements sink.Writer.
func (w *writer) Close(context.Context) (sink.Message, error) { return w.rows, nil }

// Abort implements sink.Writer.
func (w *writer) Abort() {}

func (w *written) rows(batch int64) []types.Row {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.batches[batch]
}

// ids are the batches that were written, in order.
func (w *written) ids() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []int64
	for id := range w.batches {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// complaints returns what was found wrong since the last call.
func (w *written) complaints() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.differ
	w.differ = nil
	return out
}
