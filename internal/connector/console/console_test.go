package console

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

func TestBatchIsPrintedAsATable(t *testing.T) {
	ctx := context.Background()
	schema := types.StructType{Fields: []types.Field{{Name: "n", Type: types.Long, Nullable: true}}}
	var out strings.Builder
	s, err := Format{Out: &out}.Open(ctx, sink.Request{Schema: schema, Options: sink.Options{"numRows": "2"}, Env: sink.Env{Zone: time.UTC}})
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := s.Begin(ctx, 7)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := b.Writer(ctx, 0)
	nums := array.NewInt64Builder(memory.NewGoAllocator())
	nums.AppendValues([]int64{1, 22, 333}, nil)
	if err := w.Write(ctx, array.NewRecordBatch(types.ArrowSchema(schema, types.ArrowOptions{}), []arrow.Array{nums.NewArray()}, 3)); err != nil {
		t.Fatal(err)
	}
	m, _ := w.Close(ctx)
	if err := b.Commit(ctx, []sink.Message{m}); err != nil {
		t.Fatal(err)
	}
	want := `-------------------------------------------
Batch: 7
-------------------------------------------
+---+
|  n|
+---+
|  1|
| 22|
+---+
only showing top 2 rows

`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestBadOptions(t *testing.T) {
	for option, class := range map[string]string{"numRows": "INVALID_STREAMING_OPTION.NOT_A_NUMBER", "truncate": "INVALID_STREAMING_OPTION.VALUE"} {
		s, err := (Format{}).Open(t.Context(), sink.Request{Options: sink.Options{option: "many"}})
		if err != nil {
			t.Fatalf("%s: %v at the start", option, err)
		}
		if _, _, err := s.Begin(t.Context(), 0); !errclass.Has(err, class) {
			t.Errorf("%s: got %v, want %s", option, err, class)
		}
	}
}
