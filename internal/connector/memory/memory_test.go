package memory

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// session remembers the table that it was given.
type session struct {
	name  string
	table source.Batch
}

func (s *session) KeepTable(name string, t source.Batch) error {
	s.name, s.table = name, t
	return nil
}

var schema = types.StructType{Fields: []types.Field{{Name: "n", Type: types.Long, Nullable: true}}}

func record(ns ...int64) arrow.RecordBatch {
	b := array.NewInt64Builder(arrowmem.NewGoAllocator())
	b.AppendValues(ns, nil)
	return array.NewRecordBatch(types.ArrowSchema(schema, types.ArrowOptions{}), []arrow.Array{b.NewArray()}, int64(len(ns)))
}

func write(t *testing.T, s sink.Sink, id int64, ns ...int64) (skipped bool) {
	t.Helper()
	ctx := context.Background()
	b, skip, err := s.Begin(ctx, id)
	if err != nil || skip {
		return skip
	}
	w, err := b.Writer(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, record(ns...)); err != nil {
		t.Fatal(err)
	}
	m, err := w.Close(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(ctx, []sink.Message{m}); err != nil {
		t.Fatal(err)
	}
	return false
}

func content(t *testing.T, table source.Batch) (ns []int64) {
	t.Helper()
	splits, err := table.Scan(context.Background(), source.Projection{Columns: []string{"n"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range splits {
		r, err := s.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for {
			rec, err := r.Next(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			ns = append(ns, rec.Column(0).(*array.Int64).Int64Values()...)
		}
	}
	return ns
}

func open(t *testing.T, mode sink.Mode) (sink.Sink, *session) {
	t.Helper()
	s := &session{}
	out, err := Format{}.Open(context.Background(), sink.Request{Schema: schema, Stream: true, QueryName: "q", Mode: mode, Env: sink.Env{Session: s}})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.(sink.Starter).Started(); err != nil {
		t.Fatal(err)
	}
	return out, s
}

func TestAppendAddsCompleteReplaces(t *testing.T) {
	for _, c := range []struct {
		mode sink.Mode
		want int
	}{{sink.Append, 3}, {sink.Update, 3}, {sink.Complete, 1}} {
		out, s := open(t, c.mode)
		if s.name != "q" || len(content(t, s.table)) != 0 {
			t.Fatalf("mode %d: table %q has rows before the first batch", c.mode, s.name)
		}
		write(t, out, 0, 1, 2)
		if !write(t, out, 0, 1, 2) {
			t.Errorf("mode %d: batch 0 is written twice", c.mode)
		}
		write(t, out, 1, 3)
		if got := content(t, s.table); len(got) != c.want {
			t.Errorf("mode %d: rows %v, want %d", c.mode, got, c.want)
		}
		if got := out.Info().Recovers; got != (c.mode == sink.Complete) {
			t.Errorf("mode %d: recovers is %t", c.mode, got)
		}
	}
}

func TestNameIsNeeded(t *testing.T) {
	_, err := Format{}.Open(context.Background(), sink.Request{Schema: schema, Stream: true, Env: sink.Env{Session: &session{}}})
	if !errclass.Has(err, "INVALID_STREAMING_OPTION.NO_QUERY_NAME") {
		t.Errorf("got %v", err)
	}
}

// TestColumnsOfOneName: the second time a name is asked for, the next column of that name is meant.
func TestColumnsOfOneName(t *testing.T) {
	f := func(name string) types.Field { return types.Field{Name: name, Type: types.Long} }
	table := &Table{schema: types.StructType{Fields: []types.Field{f("x"), f("y"), f("x")}}}
	for _, c := range []struct {
		names []string
		want  []int
	}{{nil, nil}, {[]string{"x", "y", "x"}, []int{0, 1, 2}}, {[]string{"y", "x"}, []int{1, 0}}, {[]string{"x", "x", "x"}, nil}, {[]string{"z"}, nil}} {
		got, err := table.columns(source.Projection{Columns: c.names})
		if !slices.Equal(got, c.want) || err != nil != (c.want == nil && c.names != nil) {
			t.Errorf("%v: got %v, %v; want %v", c.names, got, err, c.want)
		}
	}
}
