package connector

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

// options are those without which a format would not read what it writes.
var options = map[string]string{"header": "true", "rowTag": "row"}

// write adds parts of a table with partition column p.
func write(t *testing.T, format string, s types.StructType, path string, parts ...[]types.Row) {
	t.Helper()
	out, err := sink.Lookup(format).Open(t.Context(), sink.Request{
		Format: format, Schema: s, Path: path, PartitionBy: []string{"p"}, Mode: sink.Append, Options: options, Env: sinktest.Env(),
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
		"avro":    "s STRING, l BIGINT, a ARRAY<INT>, ts TIMESTAMP, p INT",
		"csv":     "s STRING, l BIGINT, ts TIMESTAMP, p INT",
		"text":    "s STRING, p INT",
		"xml":     "s STRING, l BIGINT, a ARRAY<INT>, ts TIMESTAMP, p INT",
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
					Format: format, Schema: &s, Paths: []string{path}, Options: options, Env: sourcetest.Env(),
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
			got := sourcetest.Rows(t, splits)
			slices.Sort(wantRows) // the order of the files depends on their sizes
			slices.Sort(got)
			if d := cmp.Diff(wantRows, got); d != "" || len(wantRows) != want {
				t.Fatalf("-written +read:\n%s", d)
			}
			sourcetest.Batch(t, open)
		})
	}
}

// Every file format is a stream as any other.
func TestStreams(t *testing.T) {
	RegisterAll()
	for _, format := range []string{"avro", "binaryFile", "csv", "json", "parquet", "text", "xml"} {
		t.Run(format, func(t *testing.T) {
			ddl := "s STRING, p INT"
			if format == "binaryFile" {
				ddl = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY, p INT"
			}
			s, err := types.ParseDDL(ddl)
			if err != nil {
				t.Fatal(err)
			}
			path, n := t.TempDir()+"/in", 0
			add := func(t *testing.T) {
				n++
				if format == "binaryFile" { // which nothing writes
					dir := fmt.Sprintf("%s/p=%d", path, n%2)
					if err := os.MkdirAll(dir, 0o777); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(fmt.Sprintf("%s/file%d", dir, n), fmt.Append(nil, "bytes ", n), 0o666); err != nil {
						t.Fatal(err)
					}
					return
				}
				write(t, format, s, path, []types.Row{{fmt.Sprintf("row %d", n), int32(n % 2)}, {fmt.Sprintf("row %d again", n), int32(n % 2)}})
			}
			add(t) // a folder that is not there is no stream
			of := maps.Clone(options)
			of["maxFilesPerTrigger"] = "1"
			sourcetest.Stream(t, sourcetest.StreamHarness{
				Open: func(t *testing.T) source.Streamer {
					table, err := source.Lookup(format).Open(t.Context(), source.Request{
						Format: format, Schema: &s, Stream: true, Paths: []string{path}, Options: of, Env: sourcetest.Env(),
					})
					if err != nil {
						t.Fatal(err)
					}
					return table.(source.Streamer)
				},
				Add: add,
			})
		})
	}
}

// Every file format is written by streams as any other. The numbers of the parts are partitions: text has room for the texts alone.
func TestSinks(t *testing.T) {
	RegisterAll()
	for _, format := range []string{"avro", "csv", "json", "parquet", "text", "xml"} {
		t.Run(format, func(t *testing.T) {
			path, s := t.TempDir()+"/out", sinktest.Schema()
			data := types.Struct(types.NewField("text", types.String), types.NewField("part", types.Integer))
			sinktest.Stream(t, sinktest.Harness{
				Open: func(t *testing.T) sink.Sink {
					out, err := sink.Lookup(format).Open(t.Context(), sink.Request{
						Format: format, Schema: s, Path: path, PartitionBy: []string{"part"}, Mode: sink.Append, Stream: true, Options: options, Env: sinktest.Env(),
					})
					if err != nil {
						t.Fatal(err)
					}
					return out
				},
				Read: func(t *testing.T) []string {
					if _, err := os.Stat(path + "/_spark_metadata/0"); err != nil {
						return nil
					}
					table, err := source.Lookup(format).Open(t.Context(), source.Request{
						Format: format, Schema: &data, Paths: []string{path}, Options: options, Env: sourcetest.Env(),
					})
					if err != nil {
						t.Fatal(err)
					}
					splits, err := table.(source.Batch).Scan(t.Context(), source.Projection{Columns: []string{"part", "text"}})
					if err != nil {
						t.Fatal(err)
					}
					return sourcetest.Rows(t, splits)
				},
				Unordered: true, // files of a batch are read in the order of their paths
			})
		})
	}
}
