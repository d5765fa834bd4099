package foreach_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/stream/foreach"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

func open(t *testing.T, rt *engine.Runtime, take foreach.Take) sink.Sink {
	t.Helper()
	s, err := foreach.Format{Name: "foreachBatch", Take: take, Runtime: rt}.Open(t.Context(), sink.Request{Schema: sinktest.Schema(), Stream: true, Env: sinktest.Env()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is taken is the rows of a batch that is committed, whether they lie in memory or in files; nothing of them is left afterwards.
func TestContract(t *testing.T) {
	for name, limit := range map[string]int64{"memory": 1 << 30, "files": 64} {
		t.Run(name, func(t *testing.T) {
			disk := errfs.NewMem()
			rt := engine.New(engine.Runtime{FS: disk, Scratch: "/scratch", Memory: engine.NewMemory(limit)})
			var rows []string
			take := func(ctx context.Context, _ int64, f *foreach.Frame) error {
				splits, err := f.Scan(ctx, source.Projection{})
				if err != nil {
					return err
				}
				got, err := sourcetest.ReadRows(ctx, splits)
				rows = append(rows, got...)
				return err
			}
			sinktest.Stream(t, sinktest.Harness{
				Open:    func(t *testing.T) sink.Sink { return open(t, rt, take) },
				Read:    func(*testing.T) []string { return slices.Clone(rows) },
				Repeats: true,
				// A batch that a crash has cut short is given back by the next process, not by this one.
				Volatile: true,
			})
			if used := rt.Memory.Used(); used != 0 {
				t.Errorf("%d bytes are still held", used)
			}
			if left, _ := disk.ReadDir("/scratch"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A batch is a table like any other.
func TestFrameContract(t *testing.T) {
	for name, limit := range map[string]int64{"memory": 1 << 30, "files": 64} {
		t.Run(name, func(t *testing.T) {
			rt := engine.New(engine.Runtime{FS: errfs.NewMem(), Scratch: "/scratch", Memory: engine.NewMemory(limit)})
			s := open(t, rt, func(_ context.Context, _ int64, f *foreach.Frame) error {
				sourcetest.Batch(t, func(*testing.T) source.Batch { return f })
				sourcetest.Batch(t, func(*testing.T) source.Batch { return f.Partition(1) })
				if size, ok := f.Size(); !ok || size.Rows != 3 || f.Partitions() != 3 {
					t.Errorf("%v rows in %d partitions", size, f.Partitions())
				}
				return nil
			})
			b, _, err := s.Begin(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			b.(interface{ Parts(n int) }).Parts(3)
			for part, texts := range [][]string{{"a", "b"}, {"c"}} {
				w, err := b.Writer(t.Context(), part)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Write(t.Context(), sinktest.Rows(part, texts...)); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Commit(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	_, err := foreach.Format{Name: "foreach"}.Open(t.Context(), sink.Request{PartitionBy: []string{"part"}})
	if !errclass.Has(err, "UNSUPPORTED_STREAMING_OPERATION.PARTITION_BY") {
		t.Errorf("got %v", err)
	}
	no := errors.New("no")
	s := open(t, engine.New(engine.Runtime{}), func(context.Context, int64, *foreach.Frame) error { return no })
	b, _, err := s.Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), nil); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
}
