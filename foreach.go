package millrace

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
)

// BatchFunc handles a micro-batch of a streaming query. See DataStreamWriter.ForeachBatch.
type BatchFunc func(ctx context.Context, batch *DataFrame, batchID int64) error

// ForeachBatch makes the query call a function for each batch, with its rows, instead of writing them to a sink. Format and path do not
// matter then. It works with an engine in this process and with a millrace server; the function runs in this process in either case.
//
// The batch is a DataFrame like one that was read from a table, and lives as long as the call. Its rows are computed once and are the same
// however often it is used. It belongs to a session of the query, batch.Session(): a clone of the one that has started the query, as it
// was then. Views that the function makes are the query's own, and SQL over them goes through that session. Joins with DataFrames of
// the session that has started the query work.
//
// The query commits a batch when the function has returned nil. An error, or a panic, ends the query, which then fails with
// FOREACH_BATCH_USER_FUNCTION_ERROR and the error as its cause. A batch may come again after a failure, a restart or a crash, with the
// same number and the same rows: a function that writes elsewhere should remember the number there to have every row once.
//
// ctx ends with the query. Stop waits for the function, unless it is the function that stops its query.
func (w *DataStreamWriter) ForeachBatch(f BatchFunc) *DataStreamWriter {
	if f == nil {
		w.attend = &attendWith{err: mistake(errclass.New("CANNOT_BE_EMPTY", "item", "function"))}
		return w
	}
	w.attend = &attendWith{wants: connectpb.AttendQuery_WANTS_BATCHES, name: "ForeachBatch", work: func(ctx context.Context, b *attended) error {
		return f(ctx, b.frame(b.m.GetRelationId()), b.m.GetBatchId())
	}}
	return w
}

// ForeachWriter takes the rows of a streaming query one by one. T is what rows become, as by CollectAs: a struct takes columns by name, any
// other type a single column, Row all.
//
// For each partition of each batch, the writer, a pointer to a struct, is copied as an assignment would; the copies work side by side, and what
// pointers in them lead to is shared. A copy's Open comes first. If it answers false the rows of the partition are passed over. Close
// comes last, whenever Open has returned without an error, with the error that has kept the writer from seeing all rows, or nil.
//
// An error ends the query, which then fails with FOREACH_USER_FUNCTION_ERROR. A batch that is run again has the same rows, but they
// may be divided into other partitions if the number of workers is another.
type ForeachWriter[T any] interface {
	Open(ctx context.Context, partition int, batchID int64) (bool, error)
	Process(ctx context.Context, row T) error
	Close(ctx context.Context, failure error) error
}

// Foreach is the function Foreach for writers of Rows.
func (w *DataStreamWriter) Foreach(writer ForeachWriter[Row]) *DataStreamWriter {
	return Foreach(w, writer)
}

// Foreach makes the query give its rows to a writer of the program instead of a sink. It works where ForeachBatch does.
func Foreach[T any](w *DataStreamWriter, writer ForeachWriter[T]) *DataStreamWriter {
	if writer == nil {
		w.attend = &attendWith{err: mistake(errclass.New("CANNOT_BE_EMPTY", "item", "writer"))}
		return w
	}
	w.attend = &attendWith{
		wants: connectpb.AttendQuery_WANTS_ROWS, name: "Foreach",
		work: func(ctx context.Context, b *attended) error { return writeParts(ctx, b, writer) },
		check: func(ctx context.Context, d *DataFrame) error {
			if reflect.TypeFor[T]() == reflect.TypeFor[Row]() {
				return nil
			}
			s, err := d.Schema(ctx)
			if err != nil {
				return err
			}
			return fits[T](s)
		},
	}
	return w
}

// errAborted is what a writer is told when another one has failed.
var errAborted = errors.New("the batch is given up because another partition has failed")

// writeParts runs a copy of a writer for each partition, some of them side by side. The error is that of the first partition that fails
// by itself.
func writeParts[T any](ctx context.Context, b *attended, writer ForeachWriter[T]) error {
	count := int(b.m.GetPartitions())
	errs := make([]error, count)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int, count)
	for i := range count {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(count, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				if errs[i] = writePart(ctx, b, i, copyOf(writer)); errs[i] != nil {
					cancel(errAborted)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, errAborted) {
			return err
		}
	}
	return context.Cause(ctx)
}

func writePart[T any](ctx context.Context, b *attended, part int, w ForeachWriter[T]) (err error) {
	defer recovered(&err)
	ok, err := w.Open(ctx, part, b.m.GetBatchId())
	if err != nil {
		return err
	}
	open := true
	defer func() { // also when Process panics
		if open {
			_ = w.Close(ctx, errPanicked)
		}
	}()
	if ok {
		err = processRows(ctx, b.frame(b.m.GetRelationId()+"/"+strconv.Itoa(part)), w)
	}
	open = false
	return firstError(err, w.Close(ctx, err))
}

var errPanicked = errors.New("the writer has panicked")

func processRows[T any](ctx context.Context, d *DataFrame, w ForeachWriter[T]) error {
	var rows rowReader[T]
	for rec, err := range d.Records(ctx) {
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		if rows.schema.Len() == 0 {
			dec, err := newDecoder(rec.Schema())
			if err != nil {
				return err
			}
			rows.schema = *dec.schema
		}
		for from := int64(0); from < rec.NumRows(); from += processor.ChunkRows {
			n := int(min(processor.ChunkRows, rec.NumRows()-from))
			if err := rows.bind([]arrow.RecordBatch{rec.NewSlice(from, from+int64(n))}); err != nil {
				return err
			}
			for i := range n {
				row, err := rows.at(i, n)
				if err == nil {
					err = w.Process(ctx, *row)
				}
				if err != nil {
					return err
				}
				if i%blockRows == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
			}
		}
	}
	return nil
}

// recovered turns a panic of the program's function into an error.
func recovered(err *error) { recoveredValue(recover(), err) }

func recoveredValue(v any, err *error) {
	switch v := v.(type) {
	case nil:
	case error:
		*err = fmt.Errorf("panic: %w", v)
	default:
		*err = fmt.Errorf("panic: %v", v)
	}
}
