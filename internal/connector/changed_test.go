package connector

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

// parsed are formats in which a file of other bytes cannot be read; the others find records in any, or none.
var parsed = []string{"avro", "parquet"}

// A file may be another when it is read than when it was listed. It is read as it is then; one that is gone, or cannot be read, fails the
// query by name, or is passed over where the options say so. That holds for all formats, for batches and for streams.
func TestChangedFiles(t *testing.T) {
	RegisterAll()
	s, err := types.ParseDDL("s STRING, p INT")
	if err != nil {
		t.Fatal(err)
	}
	texts := func(word string, n int) (rows []types.Row) {
		for i := range n {
			rows = append(rows, types.Row{fmt.Sprint(word, i), int32(0)})
		}
		return rows
	}
	const missing, corrupt = "ignoreMissingFiles", "ignoreCorruptFiles"
	for _, format := range []string{"avro", "csv", "json", "parquet", "text", "xml"} {
		// file is what a file with these rows holds.
		file := func(t *testing.T, rows []types.Row) []byte {
			dir := t.TempDir()
			write(t, format, s, dir+"/out", rows)
			found, err := filepath.Glob(dir + "/out/p=0/part-*")
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			b, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for _, tt := range []struct {
			name    string
			change  func(t *testing.T) []byte // nil: the file goes
			rows    []types.Row               // of the file
			class   string
			options []string // with which it is passed over
		}{
			{name: "gone", class: "FAILED_READ_FILE.FILE_NOT_EXIST", options: []string{missing}},
			{name: "grown", change: func(t *testing.T) []byte { return file(t, texts("row", 400)) }, rows: texts("row", 400)},
			{name: "smaller", change: func(t *testing.T) []byte { return file(t, texts("other", 3)) }, rows: texts("other", 3)},
			{name: "replaced", change: func(t *testing.T) []byte { return file(t, texts("new", 40)) }, rows: texts("new", 40)},
			{name: "damaged", change: func(*testing.T) []byte { return []byte(strings.Repeat("bytes", 100)) }, class: "FAILED_READ_FILE.NO_HINT", options: []string{corrupt}},
			{
				name: "cut short", class: "FAILED_READ_FILE.NO_HINT", options: []string{corrupt},
				change: func(t *testing.T) []byte { b := file(t, texts("row", 40)); return b[:len(b)/3] },
			},
		} {
			if tt.class == "FAILED_READ_FILE.NO_HINT" && !slices.Contains(parsed, format) {
				continue
			}
			for _, ignored := range [][]string{nil, {missing}, {corrupt}, {missing, corrupt}} {
				for _, read := range []struct {
					name string
					rows func(t *testing.T, table source.Table, change func()) ([]string, error)
				}{{"batch", batchRows}, {"stream", streamRows}} {
					t.Run(strings.Join(append([]string{format, tt.name, read.name}, ignored...), "/"), func(t *testing.T) {
						dir := t.TempDir()
						put := func(name string, b []byte) {
							if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
								t.Fatal(err)
							}
						}
						name := "changed." + format
						put(name, file(t, texts("row", 40)))
						put("kept."+format, file(t, texts("kept", 1)))
						of := maps.Clone(options)
						for _, o := range ignored {
							of[o] = "true"
						}
						data := types.Struct(types.NewField("s", types.String))
						table, err := source.Lookup(format).Open(t.Context(), source.Request{
							Format: format, Schema: &data, Stream: read.name == "stream", Paths: []string{dir}, Options: of, Env: sourcetest.Env(),
						})
						if err != nil {
							t.Fatal(err)
						}
						got, err := read.rows(t, table, func() {
							if tt.change == nil {
								if err := os.Remove(filepath.Join(dir, name)); err != nil {
									t.Fatal(err)
								}
								return
							}
							put(name, tt.change(t))
						})
						if tt.class != "" && !slices.ContainsFunc(tt.options, func(o string) bool { return slices.Contains(ignored, o) }) {
							if !errclass.Has(err, tt.class) || !strings.Contains(err.Error(), name) {
								t.Errorf("%q, %v; want %s with the name of the file", got, err, tt.class)
							}
							return
						}
						want := []string{"kept0"}
						for _, row := range tt.rows {
							want = append(want, row[0].(string))
						}
						slices.Sort(got)
						slices.Sort(want)
						if d := cmp.Diff(want, got); d != "" || err != nil {
							t.Errorf("%v\n%s", err, d)
						}
					})
				}
			}
		}
	}
}

// batchRows reads a table whose files change when they have been listed.
func batchRows(t *testing.T, table source.Table, change func()) ([]string, error) {
	splits, err := table.(source.Batch).Scan(t.Context(), source.Projection{Columns: []string{"s"}})
	if err != nil {
		t.Fatal(err)
	}
	change()
	return sourcetest.ReadRows(t.Context(), splits)
}

// streamRows reads a batch whose files change when its range is settled.
func streamRows(t *testing.T, table source.Table, change func()) ([]string, error) {
	s, err := table.(source.Streamer).Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(t.TempDir()), Want: source.Projection{Columns: []string{"s"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	end, err := s.LatestOffset(t.Context(), nil, source.LimitDefault)
	if err != nil {
		t.Fatal(err)
	}
	change()
	splits, err := s.Plan(t.Context(), nil, end)
	if err != nil {
		return nil, err
	}
	return sourcetest.ReadRows(t.Context(), splits)
}
