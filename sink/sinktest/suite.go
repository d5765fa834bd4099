package sinktest

import (
	"context"
	"strconv"
	"strings"
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

	s := h.Open(t)
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
		for _, again := range []sink.Sink{s, h.Open(t)} {
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
	if err := s.Close(); err != nil {
		t.Error(err)
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
