package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/sink"
)

// Sink writes each batch of a stream to a file of its own, named by the number of the batch, with the columns of a row divided by tabs. A batch
// is there as a whole or not at all, and once, however often it comes: its name is what remembers it.
type Sink struct{}

// Open implements sink.Format.
func (Sink) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	switch {
	case !req.Stream:
		return nil, errors.New("journal: only streams are written to journals")
	case req.Mode != sink.Append:
		return nil, errors.New("journal: what is in a journal stays; use append mode")
	case len(req.PartitionBy) > 0:
		return nil, errors.New("journal: partitionBy does not work with journals")
	}
	path := req.Path
	if path == "" {
		path, _ = req.Options.Get("path")
	}
	if path == "" {
		return nil, errors.New("journal: name the folder to write to")
	}
	return &folder{path}, nil
}

type folder struct{ path string }

// Info implements sink.Sink. The rows outlive the query, so it must remember where it was.
func (f *folder) Info() sink.Info {
	return sink.Info{Description: "journal[" + f.path + "]", CountsRows: true, NeedsCheckpoint: true, Recovers: true}
}

func (f *folder) name(id int64) string { return filepath.Join(f.path, fmt.Sprintf("%012d", id)) }

// Begin implements sink.Sink.
func (f *folder) Begin(_ context.Context, id int64) (sink.Batch, bool, error) {
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return nil, false, err
	}
	switch _, err := os.Stat(f.name(id)); {
	case err == nil:
		return nil, true, nil // a crash has kept the query from noting that it was written
	case !errors.Is(err, fs.ErrNotExist):
		return nil, false, err
	}
	return &batch{f, id}, false, nil
}

// Close implements sink.Sink.
func (f *folder) Close() error { return nil }

type batch struct {
	f  *folder
	id int64
}

// Writer implements sink.Batch.
func (b *batch) Writer(context.Context, int) (sink.Writer, error) { return &writer{}, nil }

// Commit implements sink.Batch. The messages come in the order of the parts, and their texts are put behind one another.
func (b *batch) Commit(_ context.Context, messages []sink.Message) error {
	tmp, err := os.CreateTemp(b.f.path, ".batch-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	for _, m := range messages {
		if _, err = tmp.WriteString(m.(string)); err != nil {
			break
		}
	}
	if err == nil {
		err = tmp.Sync() // a name must not lead to a file whose content is lost
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), b.f.name(b.id)); err != nil {
		return err
	}
	dir, err := os.Open(b.f.path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Abort implements sink.Batch. Nothing has been written yet.
func (b *batch) Abort(context.Context) {}

// writer keeps the text of a part. Parts are written side by side, each by a writer of its own.
type writer struct{ text strings.Builder }

// Write implements sink.Writer.
func (w *writer) Write(ctx context.Context, rows arrow.RecordBatch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range int(rows.NumRows()) {
		for c, col := range rows.Columns() {
			if c > 0 {
				w.text.WriteByte('\t')
			}
			w.text.WriteString(col.ValueStr(i))
		}
		w.text.WriteByte('\n')
	}
	return nil
}

// Close implements sink.Writer.
func (w *writer) Close(context.Context) (sink.Message, error) { return w.text.String(), nil }

// Abort implements sink.Writer.
func (w *writer) Abort() {}
