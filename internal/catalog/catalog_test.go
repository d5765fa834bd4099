package catalog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/types"
)

func names(t *testing.T, c *catalog.Catalog, db string) []string {
	t.Helper()
	tables, err := c.Tables(db)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range tables {
		out = append(out, x.Name)
	}
	return out
}

func wantError(t *testing.T, err error, class string) {
	t.Helper()
	if !errclass.Has(err, class) {
		t.Errorf("got %v, want %s", err, class)
	}
}

// What is in a catalog is there for the next process, too.
func TestCatalogOutlivesItsProcess(t *testing.T) {
	dir := t.TempDir()
	c := catalog.Open(fs.Local(), dir)
	want := catalog.Table{
		Database: catalog.Default, Name: "Events", Kind: catalog.Managed, Format: "parquet", Location: dir + "/events",
		Schema:      types.Struct(types.NewField("ts", types.Timestamp), types.NewField("p", types.Integer)),
		PartitionBy: []string{"p"}, Options: map[string]string{"compression": "zstd"}, Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	if err := c.Create(want, false); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateDatabase(catalog.Database{Name: "sales"}); err != nil {
		t.Fatal(err)
	}
	odd := catalog.Table{Database: "sales", Name: "a/b ü", Kind: catalog.View, Text: "SELECT 1"}
	if err := c.Create(odd, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*catalog.Catalog{c, catalog.Open(fs.Local(), dir)} {
		got, ok, err := c.Find("DEFAULT", "eVENTS")
		if err != nil || !ok {
			t.Fatalf("find: %t, %v", ok, err)
		}
		if !types.Equal(got.Schema, want.Schema) {
			t.Errorf("schema %s", got.Schema.SQL())
		}
		got.Schema, want.Schema = types.StructType{}, got.Schema
		w := want
		w.Schema = types.StructType{}
		if d := cmp.Diff(w, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"a/b ü"}, names(t, c, "sales")); d != "" {
			t.Error(d)
		}
	}
}

func TestCatalogErrors(t *testing.T) {
	c := catalog.Open(fs.Local(), t.TempDir())
	x := catalog.Table{Database: catalog.Default, Name: "t", Kind: catalog.Managed}
	if err := c.Create(x, false); err != nil {
		t.Fatal(err)
	}
	wantError(t, c.Create(x, false), "TABLE_OR_VIEW_ALREADY_EXISTS")
	if err := c.Create(x, true); err != nil {
		t.Errorf("replaced: %v", err)
	}
	x.Database = "nope"
	wantError(t, c.Create(x, false), "SCHEMA_NOT_FOUND")
	_, err := c.Database("nope")
	wantError(t, err, "SCHEMA_NOT_FOUND")
	wantError(t, c.CreateDatabase(catalog.Database{Name: "DEFAULT"}), "SCHEMA_ALREADY_EXISTS")
	if err := c.DropDatabase(catalog.Default, true); err == nil {
		t.Error("the default database was dropped")
	}
	if err := c.CreateDatabase(catalog.Database{Name: "d"}); err != nil {
		t.Fatal(err)
	}
	x.Database = "d"
	if err := c.Create(x, false); err != nil {
		t.Fatal(err)
	}
	wantError(t, c.DropDatabase("d", false), "SCHEMA_NOT_EMPTY")
	if err := c.DropDatabase("d", true); err != nil {
		t.Errorf("cascade: %v", err)
	}
	if _, ok, err := c.Drop(catalog.Default, "t"); err != nil || !ok {
		t.Errorf("drop: %t, %v", ok, err)
	}
	if _, ok, err := c.Drop(catalog.Default, "t"); err != nil || ok {
		t.Errorf("drop again: %t, %v", ok, err)
	}
	if got := names(t, c, catalog.Default); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}
