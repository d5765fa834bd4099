// Package filestest is how the tests of file formats read files: with a format, as a query does. What the formats' sources have in common
// is tested in package files, what they share as tables in package connector.
package filestest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

// Put writes a file, and the folders above it.
func Put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Request asks for the files of a path, with a schema unless ddl is empty; opts are names and values of options.
func Request(t testing.TB, format, ddl, path string, opts ...string) source.Request {
	t.Helper()
	req := source.Request{Format: format, Paths: []string{path}, Options: source.Options{}, Env: sourcetest.Env()}
	if ddl != "" {
		s, err := types.ParseDDL(ddl)
		if err != nil {
			t.Fatal(err)
		}
		req.Schema = &s
	}
	for i := 0; i < len(opts); i += 2 {
		req.Options[opts[i]] = opts[i+1]
	}
	return req
}

// Open opens what is asked for.
func Open(t testing.TB, format files.Format, req source.Request) *files.Table {
	t.Helper()
	table, err := format.Open(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return table.(*files.Table)
}

// Scan reads columns, all of them if none is named.
func Scan(t testing.TB, table *files.Table, cols ...string) []string {
	t.Helper()
	splits, err := table.Scan(t.Context(), source.Projection{Columns: cols})
	if err != nil {
		t.Fatal(err)
	}
	return sourcetest.Rows(t, splits)
}
