// Package memory is the sink that keeps a stream's rows in a table of the session, under the query's name.
//
// Append and update add rows, complete replaces them. The table outlives the query. It is for tests and for looking at small
// results: nothing of it is durable, so a query in append or update mode cannot go on from a used checkpoint.
package memory

import (
	"context"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Tables is what the sink needs of the session: a place for the table. It is asked for through sink.Env.Session.
type Tables interface {
	// KeepTable makes a table known under a name, in the place of an earlier one.
	KeepTable(name string, t source.Batch) error
}

// Format opens memory sinks.
type Format struct{}

// Open implements sink.Format.
func (Format) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	if !req.Stream {
		return nil, errclass.New("UNSUPPORTED_FEATURE.OPERATOR", "operator", "batch write to memory")
	}
	name := req.QueryName
	if name == "" {
		if given, ok := req.Options.Get("queryName"); ok {
			name = given
		}
	}
	if len(req.PartitionBy) > 0 {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.PARTITION_BY", "sink", "memory")
	}
	if name == "" {
		return nil, errclass.New("INVALID_STREAMING_OPTION.NO_QUERY_NAME", "sink", "memory")
	}
	tables, ok := req.Env.Session.(Tables)
	if !ok {
		return nil, errclass.New("UNSUPPORTED_FEATURE.OPERATOR", "operator", "memory sink outside of a session")
	}
	return &memorySink{name: name, tables: tables, mode: req.Mode, table: &Table{schema: req.Schema}, last: -1}, nil
}

type memorySink struct {
	name   string
	tables Tables
	mode   sink.Mode
	table  *Table
	last   int64
}

// Info implements sink.Sink.
func (s *memorySink) Info() sink.Info {
	return sink.Info{Description: "MemorySink", CountsRows: true, Recovers: s.mode == sink.Complete}
}

// Started implements sink.Starter: the table exists from the moment the query does.
func (s *memorySink) Started() error { return s.tables.KeepTable(s.name, s.table) }

// Begin implements sink.Sink.
func (s *memorySink) Begin(_ context.Context, id int64) (sink.Batch, bool, error) {
	if id <= s.last {
		return nil, true, nil
	}
	return &batch{s: s, id: id}, false, nil
}

// Stage lets the stream compute batches before they are logged: nothing of a batch can be seen before Commit.
func (s *memorySink) Stage(context.Context, sink.Batch, []sink.Message, *fs.Round) error { return nil }

// Close implements sink.Sink. The table stays.
func (s *memorySink) Close() error { return nil }

type batch struct {
	s  *memorySink
	id int64
}

// Writer implements sink.Batch.
func (b *batch) Writer(context.Context, int) (sink.Writer, error) { return &writer{}, nil }

// Commit implements sink.Batch.
func (b *batch) Commit(_ context.Context, messages []sink.Message) error {
	var rows []arrow.RecordBatch
	for _, m := range messages {
		rows = append(rows, m.([]arrow.RecordBatch)...)
	}
	b.s.table.add(rows, b.s.mode == sink.Complete)
	b.s.last = b.id
	return nil
}

// Abort implements sink.Batch.
func (b *batch) Abort(context.Context) {}

type writer struct{ rows []arrow.RecordBatch }

// Write implements sink.Writer.
func (w *writer) Write(_ context.Context, rows arrow.RecordBatch) error {
	if rows.NumRows() > 0 {
		w.rows = append(w.rows, rows)
	}
	return nil
}

// Close implements sink.Writer.
func (w *writer) Close(context.Context) (sink.Message, error) { return w.rows, nil }

// Abort implements sink.Writer.
func (w *writer) Abort() { w.rows = nil }

// Table is the rows that have been written so far. Readers see those of the moment at which they began.
type Table struct {
	schema types.StructType
	mu     sync.Mutex
	rows   []arrow.RecordBatch
}

func (t *Table) add(rows []arrow.RecordBatch, replace bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if replace {
		t.rows = rows
		return
	}
	t.rows = append(t.rows, rows...)
}

// Schema implements source.Table.
func (t *Table) Schema() types.StructType { return t.schema }

// splitRows is how many rows one split has at least, so that many tiny batches do not become many tiny splits.
const splitRows = 1 << 16

// Scan implements source.Batch.
func (t *Table) Scan(_ context.Context, want source.Projection) ([]source.Split, error) {
	t.mu.Lock()
	rows := t.rows[:len(t.rows):len(t.rows)]
	t.mu.Unlock()
	cols, err := t.columns(want)
	if err != nil {
		return nil, err
	}
	var splits []source.Split
	var part []arrow.RecordBatch
	n := int64(0)
	for _, r := range rows {
		part, n = append(part, r), n+r.NumRows()
		if n >= splitRows {
			splits, part, n = append(splits, &split{part, cols}), nil, 0
		}
	}
	if len(part) > 0 {
		splits = append(splits, &split{part, cols})
	}
	return splits, nil
}

func (t *Table) columns(want source.Projection) ([]int, error) {
	if want.Columns == nil {
		return nil, nil
	}
	cols := make([]int, len(want.Columns))
	from := map[string]int{} // behind the column of this name that was asked for last: several may have one name
	for i, name := range want.Columns {
		cols[i] = -1
		for k := from[name]; k < len(t.schema.Fields); k++ {
			if t.schema.Fields[k].Name == name {
				cols[i], from[name] = k, k+1
				break
			}
		}
		if cols[i] < 0 {
			return nil, errclass.New("INTERNAL_ERROR", "message", "the memory table has no column "+name)
		}
	}
	return cols, nil
}

type split struct {
	rows []arrow.RecordBatch
	cols []int
}

// Open implements source.Split.
func (s *split) Open(context.Context) (source.Reader, error) {
	return &reader{rows: s.rows, cols: s.cols}, nil
}

type reader struct {
	rows []arrow.RecordBatch
	cols []int
}

// Next implements source.Reader.
func (r *reader) Next(context.Context) (arrow.RecordBatch, error) {
	if len(r.rows) == 0 {
		return nil, io.EOF
	}
	rec := r.rows[0]
	r.rows = r.rows[1:]
	if r.cols == nil {
		return rec, nil
	}
	fields, cols := make([]arrow.Field, len(r.cols)), make([]arrow.Array, len(r.cols))
	for i, c := range r.cols {
		fields[i], cols[i] = rec.Schema().Field(c), rec.Column(c)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, rec.NumRows()), nil
}

// Close implements source.Reader.
func (r *reader) Close() error { return nil }
