package textfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/types"
)

func TestSink(t *testing.T) {
	st := types.Struct(types.NewField("v", types.String))
	for sep, want := range map[string]string{"": "a\n\nb c\n", "|": "a||b c|"} {
		dir := t.TempDir() + "/out"
		req := sink.Request{Schema: st, Path: dir, Mode: sink.Append, Env: sinktest.Env(), Options: sink.Options{}}
		if sep != "" {
			req.Options["lineSep"] = sep
		}
		s, err := filesink.Format{Kind: SinkKind{}, FS: fs.Local()}.Open(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := s.Begin(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := b.Writer(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		rb := array.NewRecordBuilder(memory.NewGoAllocator(), types.ArrowSchema(st, types.ArrowOptions{}))
		col := rb.Field(0).(*array.StringBuilder)
		col.Append("a")
		col.AppendNull()
		col.Append("b c")
		var rec arrow.RecordBatch = rb.NewRecordBatch()
		if err := w.Write(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		m, err := w.Close(t.Context())
		if err == nil {
			err = b.Commit(t.Context(), []sink.Message{m})
		}
		if err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(dir + "/part-00000-*-c000.txt")
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if text, err := os.ReadFile(names[0]); err != nil || string(text) != want {
			t.Errorf("%q, %v; want %q", text, err, want)
		}
	}
}

func TestSinkErrors(t *testing.T) {
	for ddl, want := range map[string]string{"v INT": "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "v STRING, w INT": "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "v STRING, w STRING": "INVALID_OPTION_VALUE"} {
		st, err := types.ParseDDL(ddl)
		if err != nil {
			t.Fatal(err)
		}
		_, err = filesink.Format{Kind: SinkKind{}, FS: fs.Local()}.Open(t.Context(), sink.Request{Schema: st, Path: t.TempDir() + "/o", Mode: sink.Append, Env: sinktest.Env()})
		if !errclass.Has(err, want) {
			t.Errorf("%s: %v", ddl, err)
		}
	}
}
