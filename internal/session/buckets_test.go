package session_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/sink"
)

// The rows of a bucket are in files with its number, which is that of Apache Spark 4.2.0.
func TestBuckets(t *testing.T) {
	s := newShell(t)
	s.want("create temp view v as select cast(id % 7 as int) k, concat('n', id % 5) name, id v from range(40)")
	write := func(name string, b *catalog.Buckets, mode sink.Mode, by ...string) error {
		_, err := s.WriteTable(t.Context(), name, session.Write{
			Plan: &plan.Named{Parts: []string{"v"}}, Format: "json", Mode: mode, Buckets: b, PartitionBy: by,
		}, false)
		return err
	}
	four := &catalog.Buckets{N: 4, By: []string{"NAME"}, SortBy: []string{"v"}}
	if err := write("b", four, sink.ErrorIfExists); err != nil {
		t.Fatal(err)
	}
	s.want("select regexp_extract(input_file_name(), '_([0-9]+)[.]c000', 1) b, name, count(*) from b group by 1, 2 order by 1, 2",
		"00000|n2|8", "00000|n3|8", "00001|n1|8", "00001|n4|8", "00003|n0|8")
	s.want("select count(*) from (select collect_list(v) l from b group by input_file_name()) where l <> sort_array(l)", "0")
	s.want("insert into b values (1, 'n1', 100); select regexp_extract(input_file_name(), '_([0-9]+)[.]c000', 1) from b where v = 100", "00001")
	rows, condition := s.try("describe extended b")
	for _, want := range []string{"Num Buckets|4|", "Bucket Columns|[`name`]|", "Sort Columns|[`v`]|"} {
		if !slices.Contains(rows, want) {
			t.Errorf("DESCRIBE lacks %s: %q %s", want, rows, condition)
		}
	}
	if err := write("b", four, sink.Append); err != nil {
		t.Error(err)
	}
	for _, b := range []*catalog.Buckets{nil, {N: 2, By: []string{"v"}}} {
		if err := write("b", b, sink.Append); !errclass.Has(err, "INVALID_OPTION_VALUE") {
			t.Errorf("appended with other buckets: %v", err)
		}
	}
	s.want("select count(*) from b", "81")

	if err := write("p", &catalog.Buckets{N: 2, By: []string{"name"}}, sink.ErrorIfExists, "k"); err != nil {
		t.Fatal(err)
	}
	s.want("select count(*), max(k) from p", "40|6")
	place, err := filepath.Glob(filepath.Join(s.sv.Runtime.Warehouse, "p", "k=3", "part*"))
	var names []string
	for _, f := range place {
		names = append(names, regexp.MustCompile(`part-\d+-[0-9a-f-]+_`).ReplaceAllString(filepath.Base(f), ""))
	}
	slices.Sort(names)
	if d := cmp.Diff([]string{"00000.c000.json", "00001.c000.json"}, slices.Compact(names)); d != "" || err != nil {
		t.Error(d, err)
	}

	for _, tt := range []struct {
		buckets catalog.Buckets
		want    string
	}{
		{catalog.Buckets{N: 100_001, By: []string{"v"}}, "INVALID_OPTION_VALUE"},
		{catalog.Buckets{N: 2, By: []string{"nope"}}, "COLUMN_NOT_DEFINED_IN_TABLE"},
		{catalog.Buckets{N: 2, By: []string{"v"}, SortBy: []string{"nope"}}, "COLUMN_NOT_DEFINED_IN_TABLE"},
		{catalog.Buckets{N: 2, By: []string{"k"}}, "INVALID_OPTION_VALUE"},
	} {
		if err := write("x", &tt.buckets, sink.ErrorIfExists, "k"); !errclass.Has(err, tt.want) {
			t.Errorf("%v: %v, want %s", tt.buckets, err, tt.want)
		}
	}
}
