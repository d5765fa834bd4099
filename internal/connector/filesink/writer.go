package filesink

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// BucketColumn is the name of the last partition column of writes to a table with buckets. Its values, the numbers of buckets, become
// part of the names of files and not a directory.
const BucketColumn = "__bucket__"

// Writer writes the rows of one part. Beside sink.Writer it takes vectors, for callers inside the engine.
type Writer struct {
	job    *job
	files  RowFiles
	done   []Written
	always bool // write a file even without rows, if it is one of its own
	keys   *keyer
}

// newWriter writes a part into files of its own.
func newWriter(j *job, part int) *Writer {
	w := &Writer{job: j}
	w.files = NewOpenFiles(j.output(part, func(f Written) { w.done = append(w.done, f) }))
	w.always = !j.s.req.Stream && part == 0
	return w
}

// output is for the files whose names begin with a number.
func (j *job) output(number int, done func(Written)) Output {
	return Output{
		Set: j.Set, Enc: j.s.enc, Schema: j.s.schema, Limits: j.s.limits,
		Place: func(dir string, n int) (string, error) { return j.place(number, dir, n) },
		Done:  func(_ string, _ File, f Written) { done(f) },
	}
}

// Write implements sink.Writer.
func (w *Writer) Write(ctx context.Context, rec arrow.RecordBatch) error {
	b, err := vec.FromArrow(rec, w.job.s.req.Schema)
	if err != nil {
		return err
	}
	return w.WriteBatch(ctx, b)
}

// WriteBatch writes the rows of a batch that count. It keeps nothing of it.
func (w *Writer) WriteBatch(_ context.Context, b *vec.Batch) error {
	b = b.Compact(nil)
	if b.N == 0 {
		return nil
	}
	s := w.job.s
	data := vec.NewBatch(b.N)
	for _, i := range s.data {
		data.Cols = append(data.Cols, b.Cols[i])
	}
	if len(s.parts) == 0 {
		return w.files.Write("", data)
	}
	if w.keys == nil {
		w.keys = newKeyer(s)
	}
	for _, g := range w.keys.group(b) {
		rows := data
		if len(g.rows) < b.N {
			rows = data.Take(g.rows, nil)
		}
		if err := w.files.Write(g.dir, rows); err != nil {
			return err
		}
	}
	return nil
}

// place is where the n-th file of a partition lies.
func (j *job) place(number int, dir string, n int) (string, error) {
	id := j.name
	if id == "" {
		id = uuid.NewString()
	}
	place := dir
	if bucket, ok := strings.CutPrefix(filepath.Base(dir), BucketColumn+"="); ok { // of the name, not a directory
		b, err := strconv.Atoi(bucket)
		if err != nil {
			return "", fmt.Errorf("bucket %q: %w", bucket, err)
		}
		id += fmt.Sprintf("_%05d", b)
		place = filepath.Dir(dir)
	}
	return filepath.Join(j.root, place, FileName(number, id, dir != "", n, j.s.enc.Ext())), nil
}

// Close implements sink.Writer.
func (w *Writer) Close(context.Context) (sink.Message, error) {
	if f, own := w.files.(*OpenFiles); own && w.always && f.None() && len(w.job.s.parts) == 0 {
		if err := f.Begin(""); err != nil {
			return nil, err
		}
	}
	if err := w.files.Close(); err != nil {
		return nil, err
	}
	return w.done, nil
}

// Abort implements sink.Writer. The files are removed when the batch is aborted.
func (w *Writer) Abort() { w.files.Abort() }

// fieldTypes are the types of some columns.
func fieldTypes(s types.StructType, cols []int) []types.DataType {
	ts := make([]types.DataType, len(cols))
	for i, c := range cols {
		ts[i] = s.Fields[c].Type
	}
	return ts
}
