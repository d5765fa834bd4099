package connector

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

// write writes parts of a table with partition column p.
func write(t *testing.T, format string, s types.StructType, path string, parts ...[]types.Row) {
	t.Helper()
	out, err := sink.Lookup(format).Open(t.Context(), sink.Request{
		Format: format, Schema: s, Path: path, PartitionBy: []string{"p"}, Mode: sink.ErrorIfExists, Options: sink.Options{"header": "true"}, Env: sinktest.Env(),
	})
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := out.Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []sink.Message
	for i, rows := range parts {
		bs := vec.NewBuilders(s)
		batch := vec.NewBatch(len(rows))
		for c, builder := range bs {
			for _, row := range rows {
				if err := builder.AppendValue(row[c]); err != nil {
					t.Fatal(err)
				}
			}
			batch.Cols = append(batch.Cols, builder.Finish())
		}
		rec, err := vec.ToArrow(batch, types.ArrowSchema(s, types.ArrowOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		w, err := b.Writer(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		msg, err := w.Close(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, msg)
	}
	if err := b.Commit(t.Context(), msgs); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every file format reads what it writes and is a table as any other.
func TestFormats(t *testing.T) {
	RegisterAll()
	for format, ddl := range map[string]string{
		"json":    "s STRING, l BIGINT, a ARRAY<INT>, ts TIMESTAMP, p INT",
		"parquet": "s STRING, l BIGINT, a ARRAY<INT>, ts TIMESTAMP, p INT",
		"csv":     "s STRING, l BIGINT, ts TIMESTAMP, p INT",
		"text":    "s STRING, p INT",
	} {
		t.Run(format, func(t *testing.T) {
			s, err := types.ParseDDL(ddl)
			if err != nil {
				t.Fatal(err)
			}
			var parts [][]types.Row
			var want int
			for part := range 3 {
				var rows []types.Row
				for i := range 20 {
					row := types.Row{}
					for _, f := range s.Fields {
						var v any
						switch f.Name {
						case "s":
							v = fmt.Sprintf("row %d, \"%d\"", part, i)
						case "p":
							v = int32(i % 2)
						case "l":
							if i%5 > 0 {
								v = int64(i) << 40
							}
						case "a":
							v = []any{int32(i), nil}
						case "ts":
							v = types.Micros(int64(part*100+i) * 1_000_001)
						}
						row = append(row, v)
					}
					rows = append(rows, row)
					want++
				}
				parts = append(parts, rows)
			}
			path := t.TempDir() + "/out"
			write(t, format, s, path, parts...)
			open := func(t *testing.T) source.Batch {
				table, err := source.Lookup(format).Open(t.Context(), source.Request{
					Format: format, Schema: &s, Paths: []string{path}, Options: source.Options{"header": "true"}, Env: sourcetest.Env(),
				})
				if err != nil {
					t.Fatal(err)
				}
				return table.(source.Batch)
			}
			splits, err := open(t).Scan(t.Context(), source.Projection{Columns: []string{"s", "p"}})
			if err != nil {
				t.Fatal(err)
			}
			var wantRows []string
			for p := range int32(2) {
				for _, rows := range parts {
					for _, row := range rows {
						if row[len(row)-1] == p {
							wantRows = append(wantRows, fmt.Sprintf("%s | %d", row[0], p))
						}
					}
				}
			}
			if d := cmp.Diff(wantRows, sourcetest.Rows(t, splits)); d != "" || len(wantRows) != want {
				t.Fatalf("-written +read:\n%s", d)
			}
			sourcetest.Batch(t, open)
		})
	}
}
