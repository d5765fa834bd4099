// Package foreach is the sink that gives each batch of a query to somebody outside of the engine: the function of foreachBatch, the
// writer of foreach.
//
// The rows of a batch are computed once, into a Frame, and handed over when the state of the batch is durable. A Frame is a table that
// can be read as often as its taker likes, with the same rows each time; what does not fit into memory lies in files. The package knows
// nothing of who takes frames; tests take them by a function.
package foreach

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Take is given a batch, which is gone when it returns. Its error fails the query; ctx ends when the query does.
type Take func(ctx context.Context, batch int64, f *Frame) error

// Format opens the sink of one query.
type Format struct {
	// Name is foreachBatch or foreach.
	Name string
	Take Take
	// Runtime has the memory and the files that frames may take.
	Runtime *engine.Runtime
}

// Open implements sink.Format.
func (f Format) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	if len(req.PartitionBy) > 0 {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.PARTITION_BY", "sink", f.Name)
	}
	return &foreach{f: f, schema: req.Schema}, nil
}

type foreach struct {
	f      Format
	schema types.StructType
}

// Info implements sink.Sink. Spark counts the rows of a writer, and does not know those of a function.
func (s *foreach) Info() sink.Info {
	if s.f.Name == "foreach" {
		return sink.Info{Description: "ForeachWriterTable", CountsRows: true, Recovers: true}
	}
	return sink.Info{Description: "ForeachBatchSink", Recovers: true}
}

// Begin implements sink.Sink. Whether a batch was taken before only its taker can know.
func (s *foreach) Begin(_ context.Context, id int64) (sink.Batch, bool, error) {
	scope := spill.NewScope(s.f.Runtime)
	frame := &Frame{schema: s.schema, scope: scope, parts: map[int][]piece{}}
	for _, f := range s.schema.Fields {
		frame.types = append(frame.types, f.Type)
	}
	frame.files = scope.NewSet(frame.types)
	return &batch{s: s, id: id, frame: frame}, false, nil
}

// Close implements sink.Sink.
func (s *foreach) Close() error { return nil }

// batch fills a frame. The frame's memory is given back by whichever of Commit and Abort comes first.
type batch struct {
	s     *foreach
	id    int64
	frame *Frame
}

// Parts tells how many parts there are, with rows or without.
func (b *batch) Parts(n int) { b.frame.count = n }

// Writer implements sink.Batch.
func (b *batch) Writer(_ context.Context, part int) (sink.Writer, error) {
	return &writer{frame: b.frame, part: part}, nil
}

// Commit implements sink.Batch: it hands the frame over and waits for its taker.
func (b *batch) Commit(ctx context.Context, _ []sink.Message) (err error) {
	defer b.frame.scope.CloseInto(&err)
	if err := b.frame.files.Seal(); err != nil {
		return err
	}
	return b.s.f.Take(ctx, b.id, b.frame)
}

// Abort implements sink.Batch.
func (b *batch) Abort(context.Context) { _ = b.frame.scope.Close() }

// writer keeps the rows of one part.
type writer struct {
	frame *Frame
	part  int
	kept  []piece
	held  int64
}

// minSpill is how much a writer holds at least before it goes to a file: many small batches cost more than they free.
const minSpill = 1 << 20

// WriteBatch takes vectors, for callers inside the engine.
func (w *writer) WriteBatch(_ context.Context, b *vec.Batch) error {
	own := b.Own()
	if own.N == 0 {
		return nil
	}
	size := int64(own.SizeBytes())
	w.kept = append(w.kept, piece{batch: own})
	w.held += size
	scope := w.frame.scope
	if scope.Grow(size) || w.held < min(minSpill, scope.Limit()/16) {
		return nil
	}
	return w.spill()
}

// spill moves what the writer holds in memory to a file.
func (w *writer) spill() error {
	file, err := w.frame.files.Take()
	if err != nil {
		return err
	}
	defer w.frame.files.Put(file)
	for i, p := range w.kept {
		if p.batch == nil {
			continue
		}
		at, err := file.Append(p.batch)
		if err != nil {
			return err
		}
		w.kept[i] = piece{file: file, at: at, n: p.batch.N}
	}
	w.frame.scope.Release(w.held)
	w.held = 0
	return nil
}

// Write implements sink.Writer.
func (w *writer) Write(ctx context.Context, rows arrow.RecordBatch) error {
	b, err := vec.FromArrow(rows, w.frame.schema)
	if err != nil {
		return err
	}
	return w.WriteBatch(ctx, b)
}

// Close implements sink.Writer.
func (w *writer) Close(context.Context) (sink.Message, error) {
	f := w.frame
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, twice := f.parts[w.part]; twice {
		return nil, errclass.Internal(fmt.Errorf("foreach: part %d is written twice", w.part))
	}
	f.parts[w.part] = w.kept
	f.count = max(f.count, w.part+1)
	for _, p := range w.kept {
		f.rows += p.rows()
	}
	return nil, nil
}

// Abort implements sink.Writer. What is held is given back with the batch.
func (w *writer) Abort() { w.kept = nil }

// piece is some rows of a part: a batch, or batch at of a file.
type piece struct {
	batch *vec.Batch
	file  *spill.File
	at, n int
}

func (p piece) rows() int64 {
	if p.batch != nil {
		return int64(p.batch.N)
	}
	return int64(p.n)
}

func (p piece) load() (*vec.Batch, error) {
	if p.batch != nil {
		return p.batch, nil
	}
	return p.file.Read(p.at)
}
