package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SideOutput takes rows that leave a micro-batch beside its result. Parts write to it side by side.
type SideOutput struct {
	out    sink.Batch // nil when an earlier run of the batch has written them
	schema *arrow.Schema

	mu      sync.Mutex
	written []sideFile
	rows    int64
}

type sideFile struct {
	part    int
	message sink.Message
}

// NewSideOutput returns an output with columns of the given schema. A nil batch takes rows and drops them.
func NewSideOutput(out sink.Batch, schema types.StructType) *SideOutput {
	return &SideOutput{out: out, schema: types.ArrowSchema(schema, types.ArrowOptions{})}
}

// Messages are what the sink wants at the commit, in the order of the parts.
func (o *SideOutput) Messages() []sink.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.SortStableFunc(o.written, func(a, b sideFile) int { return a.part - b.part })
	var ms []sink.Message
	for _, f := range o.written {
		ms = append(ms, f.message)
	}
	return ms
}

// Rows is the number of rows that came.
func (o *SideOutput) Rows() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows
}

// SideWriter writes the rows of one part. It makes no file without rows. It belongs to one goroutine.
type SideWriter struct {
	o    *SideOutput
	part int
	w    sink.Writer
	rows int64
}

// Writer returns the writer of one part.
func (o *SideOutput) Writer(part int) *SideWriter { return &SideWriter{o: o, part: part} }

// Write writes the rows of b that count. It keeps nothing of it.
func (w *SideWriter) Write(ctx context.Context, b *vec.Batch) (err error) {
	w.rows += int64(b.Rows())
	if w.o.out == nil || b.Rows() == 0 {
		return nil
	}
	if w.w == nil {
		if w.w, err = w.o.out.Writer(ctx, w.part); err != nil {
			return err
		}
	}
	return WriteBatch(ctx, w.w, b, w.o.schema)
}

// Close ends the part.
func (w *SideWriter) Close(ctx context.Context) error {
	var m sink.Message
	if w.w != nil {
		var err error
		if m, err = w.w.Close(ctx); err != nil {
			return err
		}
	}
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	w.o.rows += w.rows
	if w.w != nil {
		w.o.written = append(w.o.written, sideFile{w.part, m})
	}
	w.w, w.rows = nil, 0
	return nil
}

// Abort drops what was written and not closed.
func (w *SideWriter) Abort() {
	if w.w != nil {
		w.w.Abort()
		w.w = nil
	}
}
