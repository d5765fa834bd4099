package delta

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// RecordedJob writes rows of a table together with what its change data feed is to have of them: one pass over the rows, so that both have
// the same values. The last column of the rows says what became of each; rows for which it is null are only copied.
type RecordedJob struct {
	table, feed *Job
	from        types.StructType
}

// recordedMessage is what a writer of both hands over.
type recordedMessage struct{ table, feed sink.Message }

// NewRecordedJob prepares the writing of rows of a schema into a table that looks like m.
func NewRecordedJob(ctx context.Context, log *core.Log, m *core.Metadata, from types.StructType, req sink.Request) (*RecordedJob, error) {
	rows := types.StructType{Fields: from.Fields[:len(from.Fields)-1]}
	j := &RecordedJob{from: from}
	var err error
	if j.table, err = NewJob(ctx, log, m, rows, "", req); err != nil {
		return nil, err
	}
	j.feed, err = NewChangesJob(ctx, log, m, from, req)
	return j, err
}

// Writer implements sink.Batch.
func (j *RecordedJob) Writer(ctx context.Context, part int) (sink.Writer, error) {
	return &recordedWriter{j: j, table: j.table.writer(part), feed: j.feed.writer(part)}, nil
}

// Commit implements sink.Batch for those who commit elsewhere: it waits until all files are durable.
func (j *RecordedJob) Commit(ctx context.Context, _ []sink.Message) error {
	return errors.Join(j.table.Sync(ctx), j.feed.Sync(ctx))
}

// Abort implements sink.Batch.
func (j *RecordedJob) Abort(ctx context.Context) {
	j.table.Abort(ctx)
	j.feed.Abort(ctx)
}

// Files are the files of writers, in the order of their parts: those of the table and those of the feed.
func (j *RecordedJob) Files(messages []sink.Message) (adds []*core.Add, changes []*core.CDC) {
	var table, feed []sink.Message
	for _, m := range messages {
		if m, ok := m.(recordedMessage); ok {
			table, feed = append(table, m.table), append(feed, m.feed)
		}
	}
	adds, _, _ = j.table.Files(table)
	return adds, j.feed.Changes(feed)
}

type recordedWriter struct {
	j           *RecordedJob
	table, feed *writer
	kept, told  []uint32
}

// Write implements sink.Writer.
func (w *recordedWriter) Write(ctx context.Context, rec arrow.RecordBatch) error {
	b, err := vec.FromArrow(rec, w.j.from)
	if err != nil {
		return err
	}
	return w.WriteBatch(ctx, b)
}

// WriteBatch writes the rows of a batch that count. It keeps nothing of it.
func (w *recordedWriter) WriteBatch(ctx context.Context, b *vec.Batch) error {
	b = b.Compact(nil)
	last := len(b.Cols) - 1
	w.kept, w.told = w.kept[:0], w.told[:0]
	for i := range b.N {
		if b.Cols[last].IsNull(i) {
			w.kept = append(w.kept, uint32(i))
			continue
		}
		w.told = append(w.told, uint32(i))
		switch core.ChangeKind(b.Cols[last].BytesAt(i)) {
		case core.RowInserted, core.RowAfter:
			w.kept = append(w.kept, uint32(i))
		}
	}
	rows := &vec.Batch{N: b.N, Cols: b.Cols[:last]}
	if err := w.table.WriteBatch(ctx, rows.Take(w.kept, nil)); err != nil {
		return err
	}
	return w.feed.WriteBatch(ctx, b.Take(w.told, nil))
}

// Close implements sink.Writer.
func (w *recordedWriter) Close(ctx context.Context) (sink.Message, error) {
	table, err := w.table.Close(ctx)
	if err != nil {
		w.feed.Abort()
		return nil, err
	}
	feed, err := w.feed.Close(ctx)
	return recordedMessage{table, feed}, err
}

// Abort implements sink.Writer.
func (w *recordedWriter) Abort() {
	w.table.Abort()
	w.feed.Abort()
}
