package sinktest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Schema is that of the rows that the suite writes.
func Schema() types.StructType {
	return types.Struct(types.NewField("part", types.Integer), types.NewField("text", types.String))
}

// Env is an environment for sinks under test: UTC and no settings.
func Env() sink.Env {
	return sink.Env{Now: time.Now, Zone: time.UTC, Conf: func(string) string { return "" }}
}

// Harness lets Stream work a sink.
type Harness struct {
	// Open opens the sink again, as a restarted query does. It must refer to the same output every time.
	Open func(t *testing.T) sink.Sink
	// Read gives the rows that a reader of the output sees now, the columns divided by " | ", in the order of the output.
	Read func(t *testing.T) []string
	// Unordered is set when the output keeps no order.
	Unordered bool
	// Volatile is set when the output ends with the sink: then it is not opened again.
	Volatile bool
	// Repeats is set for sinks that do not know batches that were committed: then they are not asked to skip them.
	Repeats bool
}

// Rows makes a record of texts for a part.
func Rows(part int, texts ...string) arrow.RecordBatch {
	schema := types.ArrowSchema(Schema(), types.ArrowOptions{})
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for _, s := range texts {
		b.Field(0).(*array.Int32Builder).Append(int32(part))
		b.Field(1).(*array.StringBuilder).Append(s)
	}
	return b.NewRecordBatch()
}

// Stream checks a sink that is written by a stream in append mode.
func Stream(t *testing.T, h Harness) {
	ctx := t.Context()
	var want []string
	check := func(what string) {
		t.Helper()
		got := h.Read(t)
		if h.Unordered {
			got, want = sorted(got), sorted(want)
		}
		if d := cmp.Diff(want, got, cmp.Transformer("", func(s []string) []string { return append([]string{}, s...) })); d != "" {
			t.Fatalf("%s: output (-want +got):\n%s", what, d)
		}
	}
	write := func(s sink.Sink, id int64, parts ...[]string) (sink.Batch, []sink.Message) {
		t.Helper()
		b, skip, err := s.Begin(ctx, id)
		if err != nil || skip {
			t.Fatalf("batch %d: skip %t, %v", id, skip, err)
		}
		var messages []sink.Message
		writers := make([]sink.Writer, len(parts))
		// Writers work side by side, and the first part need not be the first to begin.
		for i := len(parts) - 1; i >= 0; i-- {
			if writers[i], err = b.Writer(ctx, i); err != nil {
				t.Fatal(err)
			}
		}
		for i, texts := range parts {
			for k := range texts {
				if err := writers[i].Write(ctx, Rows(i, texts[k])); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range writers {
			m, err := writers[i].Close(ctx)
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, m)
		}
		return b, messages
	}

	s := h.start(t)
	if s.Info().Description == "" {
		t.Error("the sink has no description")
	}
	b, m := write(s, 0, []string{"a", "b"}, []string{"c"})
	check("before the first commit")
	if err := b.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
	want = append(want, "0 | a", "0 | b", "1 | c")
	check("after the first commit")

	b, _ = write(s, 1, []string{"dropped"})
	b.Abort(context.WithoutCancel(ctx))
	check("after an abort")

	b, m = write(s, 1, []string{"d"})
	if err := b.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
	want = append(want, "0 | d")
	check("after the second commit")

	if !h.Repeats {
		opened := []sink.Sink{s}
		if !h.Volatile {
			opened = append(opened, h.start(t))
		}
		for _, again := range opened {
			for id := range int64(2) {
				if _, skip, err := again.Begin(ctx, id); err != nil || !skip {
					t.Errorf("batch %d again: skip %t, %v", id, skip, err)
				}
			}
		}
		check("after batches came again")
	}

	// A writer that is given up leaves nothing, and a batch without rows is one too.
	b, skip, err := s.Begin(ctx, 2)
	if err != nil || skip {
		t.Fatal(skip, err)
	}
	w, err := b.Writer(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, Rows(0, "given up")); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	b.Abort(ctx)
	b, m = write(s, 2)
	if err := b.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
	check("after a batch without rows")

	many := make([]string, 50)
	for i := range many {
		many[i] = strings.Repeat("x", i) + strconv.Itoa(i)
		want = append(want, "0 | "+many[i])
	}
	b, m = write(s, 3, many)
	if err := b.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
	check("after many rows")

	b, m = together(t, s, 4)
	if err := b.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
	for part := range workers {
		for k := range workers {
			want = append(want, strconv.Itoa(part)+" | "+strconv.Itoa(k))
		}
	}
	check("after writers have worked side by side")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if h.Volatile {
		return
	}

	// A crash before the commit: what it has left behind is nobody's business.
	write(h.start(t), 5, []string{"lost"})
	s = h.start(t)
	b, m = write(s, 5, []string{"kept"})
	check("after a crash")
	if err := b.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
	want = append(want, "0 | kept")
	check("after the batch that a crash has cut short")
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	// A query that is stopped: calls come back, and nothing is seen of the batch.
	s = h.start(t)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if b, _, err := s.Begin(stopped, 6); err == nil && b != nil {
		if w, err := b.Writer(stopped, 0); err == nil {
			_ = w.Write(stopped, Rows(0, "stopped"))
			w.Abort()
		}
		b.Abort(ctx)
	}
	check("after a batch that was told to stop")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// start opens the sink as a query does that starts.
func (h Harness) start(t *testing.T) sink.Sink {
	t.Helper()
	s := h.Open(t)
	if st, ok := s.(sink.Starter); ok {
		if err := st.Started(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// workers is how many write side by side.
const workers = 2

// together writes a batch whose parts are written at once.
func together(t *testing.T, s sink.Sink, id int64) (sink.Batch, []sink.Message) {
	t.Helper()
	b, skip, err := s.Begin(t.Context(), id)
	if err != nil || skip {
		t.Fatalf("batch %d: skip %t, %v", id, skip, err)
	}
	messages, errs := make([]sink.Message, workers), make([]error, workers)
	var wg sync.WaitGroup
	for part := range workers {
		wg.Go(func() {
			w, err := b.Writer(t.Context(), part)
			for k := 0; k < workers && err == nil; k++ {
				err = w.Write(t.Context(), Rows(part, strconv.Itoa(k)))
			}
			if err == nil {
				messages[part], err = w.Close(t.Context())
			}
			errs[part] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return b, messages
}

// Complete checks a sink that is written by a stream in complete mode: each batch takes the place of the one before.
func Complete(t *testing.T, h Harness) {
	ctx := t.Context()
	s := h.start(t)
	defer s.Close()
	for id, texts := range [][]string{{"a", "b"}, {"c"}, nil, {"d"}} {
		b, skip, err := s.Begin(ctx, int64(id))
		if err != nil || skip {
			t.Fatalf("batch %d: skip %t, %v", id, skip, err)
		}
		var messages []sink.Message
		var want []string
		if len(texts) > 0 { // there is no writer of a part without rows
			w, err := b.Writer(ctx, 0)
			if err == nil {
				err = w.Write(ctx, Rows(0, texts...))
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := w.Close(ctx)
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, m)
			for _, text := range texts {
				want = append(want, "0 | "+text)
			}
		}
		if err := b.Commit(ctx, messages); err != nil {
			t.Fatal(err)
		}
		got := h.Read(t)
		if h.Unordered {
			got, want = sorted(got), sorted(want)
		}
		if strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Errorf("batch %d: the output is %q, not %q", id, got, want)
		}
	}
}

func sorted(s []string) []string {
	out := append([]string{}, s...)
	for i := range out {
		for k := i; k > 0 && out[k] < out[k-1]; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}
