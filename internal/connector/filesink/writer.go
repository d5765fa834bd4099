package filesink

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// maxOpen is how many files of partitions one writer keeps open. Beyond it the one that was written to longest ago is finished, and
// its partition goes on in another file.
const maxOpen = 128

// bufferSize is that of each file being written.
const bufferSize = 256 << 10

// Writer writes the rows of one part. Beside sink.Writer it takes vectors, for callers inside the engine.
type Writer struct {
	job    *job
	part   int
	open   map[string]*output // by partition directory; "" without partitions
	clock  int64
	count  map[string]int // files of each partition directory
	done   []written
	always bool // write a file even without rows
	keys   *keyer
}

// output is a file being written.
type output struct {
	path string
	w    fs.Writer
	buf  *bufio.Writer
	size int64
	rows int64
	file File
	used int64 // clock of the last write
}

// Write counts bytes on their way.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.size += int64(n)
	return n, err
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
		return w.writeTo("", data)
	}
	if w.keys == nil {
		w.keys = newKeyer(s)
	}
	for _, g := range w.keys.group(b) {
		rows := data
		if len(g.rows) < b.N {
			rows = data.Take(g.rows, nil)
		}
		if err := w.writeTo(g.dir, rows); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes rows to the file of a partition.
func (w *Writer) writeTo(dir string, b *vec.Batch) error {
	most := w.maxRecords()
	for off := 0; off < b.N; {
		o, err := w.output(dir)
		if err != nil {
			return err
		}
		n := b.N - off
		if most > 0 {
			n = int(min(int64(n), most-o.rows))
		}
		if err := o.file.Write(b.Slice(off, n)); err != nil {
			return writeError(o.path, err)
		}
		o.rows += int64(n)
		off += n
		if most > 0 && o.rows >= most {
			if err := w.finish(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) maxRecords() int64 {
	text, ok := w.job.s.req.Options.Get("maxRecordsPerFile")
	if !ok {
		text = w.job.s.conf("spark.sql.files.maxRecordsPerFile")
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// output gives the open file of a partition.
func (w *Writer) output(dir string) (*output, error) {
	w.clock++
	if o := w.open[dir]; o != nil {
		o.used = w.clock
		return o, nil
	}
	if len(w.open) >= maxOpen {
		oldest := ""
		for d, o := range w.open {
			if oldest == "" || o.used < w.open[oldest].used {
				oldest = d
			}
		}
		if err := w.finish(oldest); err != nil {
			return nil, err
		}
	}
	if w.count == nil {
		w.count = map[string]int{}
	}
	j := w.job
	id, dash := j.name, "-"
	if id == "" {
		id = uuid.NewString()
	}
	if dir != "" {
		dash = "."
	}
	name := fmt.Sprintf("part-%05d-%s%sc%03d%s", w.part, id, dash, w.count[dir], j.s.enc.Ext())
	w.count[dir]++
	o := &output{path: filepath.Join(j.root, dir, name), used: w.clock}
	var err error
	if o.w, err = j.create(o.path); err != nil {
		return nil, writeError(o.path, err)
	}
	o.buf = bufio.NewWriterSize(o, bufferSize)
	if o.file, err = j.s.enc.Create(o.buf, j.s.schema); err != nil {
		return nil, writeError(o.path, errors.Join(err, o.w.Close()))
	}
	w.open[dir] = o
	return o, nil
}

// finish completes the file of a partition.
func (w *Writer) finish(dir string) error {
	o := w.open[dir]
	delete(w.open, dir)
	err := o.file.Close()
	if err == nil {
		err = o.buf.Flush()
	}
	if err != nil {
		return writeError(o.path, errors.Join(err, o.w.Close()))
	}
	w.job.sync(o.path, o.w)
	w.done = append(w.done, written{o.path, o.size, o.rows})
	return nil
}

// Close implements sink.Writer.
func (w *Writer) Close(context.Context) (sink.Message, error) {
	s := w.job.s
	if len(w.done) == 0 && len(w.open) == 0 && len(s.parts) == 0 && (w.always || !s.req.Stream && w.part == 0) {
		if _, err := w.output(""); err != nil {
			return nil, err
		}
	}
	for _, dir := range sortedKeys(w.open) {
		if err := w.finish(dir); err != nil {
			w.Abort()
			return nil, err
		}
	}
	return w.done, nil
}

// Abort implements sink.Writer. The files are removed when the batch is aborted.
func (w *Writer) Abort() {
	for dir, o := range w.open {
		_ = o.w.Close()
		delete(w.open, dir)
	}
}

// fieldTypes are the types of some columns.
func fieldTypes(s types.StructType, cols []int) []types.DataType {
	ts := make([]types.DataType, len(cols))
	for i, c := range cols {
		ts[i] = s.Fields[c].Type
	}
	return ts
}
