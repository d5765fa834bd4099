package sourcetest

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/source"
)

// Batch checks a table. open opens it; it must have rows, at least one column, and refer to the same data every time.
func Batch(t *testing.T, open func(t *testing.T) source.Batch) {
	t.Run("scans", func(t *testing.T) { scans(t, open(t), open(t)) })
	t.Run("columns", func(t *testing.T) { columns(t, open(t)) })
	t.Run("filters", func(t *testing.T) { filters(t, open(t)) })
	t.Run("readers", func(t *testing.T) { readers(t, open(t)) })
}

func scan(t *testing.T, table source.Batch, want source.Projection) []source.Split {
	t.Helper()
	splits, err := table.Scan(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

// scans: rows and their order are the same in every scan, in every read of its splits and in whatever order these are read.
func scans(t *testing.T, table, again source.Batch) {
	splits := scan(t, table, source.Projection{})
	want := Rows(t, splits)
	if len(want) == 0 {
		t.Fatal("the table has no rows")
	}
	var backwards []string
	for _, s := range slices.Backward(splits) {
		backwards = append(Rows(t, []source.Split{s}), backwards...)
	}
	for name, got := range map[string][]string{
		"splits read again":     Rows(t, splits),
		"splits read backwards": backwards,
		"scanned again":         Rows(t, scan(t, table, source.Projection{})),
		"opened again":          Rows(t, scan(t, again, source.Projection{})),
	} {
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: other rows (-first +then):\n%s", name, d)
		}
	}
}

// columns: splits deliver the columns that are asked for, in that order, by the types of the schema; none at all still counts rows.
func columns(t *testing.T, table source.Batch) {
	names := table.Schema().Names()
	all := Rows(t, scan(t, table, source.Projection{}))
	turned := slices.Clone(names)
	slices.Reverse(turned)
	for _, want := range [][]string{names, turned, names[len(names)-1:], {}} {
		var expect []string
		for _, row := range all {
			cells := strings.Split(row, " | ")
			var kept []string
			for _, name := range want {
				kept = append(kept, cells[slices.Index(names, name)])
			}
			expect = append(expect, strings.Join(kept, " | "))
		}
		if d := cmp.Diff(expect, Rows(t, scan(t, table, source.Projection{Columns: want}))); d != "" {
			t.Errorf("columns %v (-want +got):\n%s", want, d)
		}
	}
	if _, err := table.Scan(t.Context(), source.Projection{Columns: []string{"no such column"}}); err == nil {
		t.Error("a column that is not there is no error")
	}
}

// filters: no row that meets a filter is missing. What fails it may be left out, but is not changed.
func filters(t *testing.T, table source.Batch) {
	all := Rows(t, scan(t, table, source.Projection{}))
	for i, name := range table.Schema().Names() {
		for _, op := range []source.FilterOp{source.IsNull, source.IsNotNull} {
			got := Rows(t, scan(t, table, source.Projection{Filters: []source.Filter{{Column: name, Op: op}}}))
			rest := got
			for _, row := range all {
				null := strings.Split(row, " | ")[i] == "(null)"
				switch {
				case len(rest) > 0 && rest[0] == row:
					rest = rest[1:]
				case null == (op == source.IsNull):
					t.Errorf("%s: the row %q is missing", name, row)
				}
			}
			if len(rest) > 0 {
				t.Errorf("%s: rows that the table does not have: %q", name, rest)
			}
		}
	}
}

// readers: a reader may be closed before its end, and stops when it is told to.
func readers(t *testing.T, table source.Batch) {
	splits := scan(t, table, source.Projection{})
	for _, s := range splits {
		r, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(t.Context()); err != nil && err != io.EOF {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range splits {
		r, err := s.Open(ctx)
		if err != nil {
			continue
		}
		for err == nil {
			_, err = r.Next(ctx)
		}
		// A reader that has all its rows already need not look at the context.
		if err != io.EOF && ctx.Err() == nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
