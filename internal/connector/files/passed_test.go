package files_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/files/filestest"
	"github.com/millrace/millrace/internal/connector/textfile"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Files that filters pass over have a say in the partition columns, as in Spark 4.2.0; hidden ones have not.
func TestPartitionsOfFilesPassedOver(t *testing.T) {
	format := files.Format{Kind: textfile.Kind{}, FS: fs.Local()}
	for _, tc := range []struct {
		name, other, ddl, want, condition string
		opts                              []string
	}{
		{name: "another type", other: "p=x/b.csv", opts: []string{"pathGlobFilter", "*.txt"}, want: "struct<value:string,p:string>"},
		{name: "the same type", other: "p=2/b.csv", opts: []string{"pathGlobFilter", "*.txt"}, want: "struct<value:string,p:int>"},
		{name: "nothing is left", other: "p=x/b.csv", opts: []string{"modifiedBefore", "2000-01-01T00:00:00"}, want: "struct<value:string,p:string>"},
		{name: "hidden", other: "p=x/_b.txt", want: "struct<value:string,p:int>"},
		{name: "another column", other: "q=2/b.csv", opts: []string{"pathGlobFilter", "*.txt"}, condition: "CONFLICTING_PARTITION_COLUMN_NAMES"},
		{name: "a type that is given", other: "p=x/b.csv", ddl: "value STRING, p INT", opts: []string{"pathGlobFilter", "*.txt"}, condition: "INVALID_PARTITION_VALUE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			filestest.Put(t, dir+"/p=1/a.txt", "a\n")
			filestest.Put(t, dir+"/"+tc.other, "b\n")
			table, err := format.Open(t.Context(), filestest.Request(t, "text", tc.ddl, dir, tc.opts...))
			if tc.condition != "" {
				if !errclass.Has(err, tc.condition) {
					t.Errorf("opening it ended with %v, not %s", err, tc.condition)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, table.Schema().SimpleString()); d != "" {
				t.Error(d)
			}
		})
	}
}
