package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// mostBuckets is how many buckets a table may have.
const mostBuckets = 100_000

// checkBuckets refuses buckets that a table of a schema cannot have, and writes their columns as the schema does.
func checkBuckets(t *catalog.Table) error {
	b := t.Buckets
	if b == nil {
		return nil
	}
	if b.N <= 0 || b.N > mostBuckets {
		return badBuckets(fmt.Sprint(b.N), fmt.Sprintf("a table has from 1 to %d buckets.", mostBuckets))
	}
	for _, columns := range [][]string{b.By, b.SortBy} {
		for i, name := range columns {
			at := t.Schema.IndexFold(name)
			if at < 0 {
				return errclass.New("COLUMN_NOT_DEFINED_IN_TABLE", "colType", "bucket", "colName", errclass.Ident(name),
					"tableName", tableIdent(*t), "tableCols", errclass.Idents(t.Schema.Names()))
			}
			columns[i] = t.Schema.Fields[at].Name
			if slices.ContainsFunc(t.PartitionBy, func(p string) bool { return strings.EqualFold(p, name) }) {
				return badBuckets(name, "the rows of a partition all have one value in that column.")
			}
		}
	}
	return nil
}

func badBuckets(value, requirement string) error {
	return errclass.New("INVALID_OPTION_VALUE", "option", "bucketBy", "format", "table", "value", value, "requirement", requirement).WithKind(errclass.Analysis)
}

// sameBuckets refuses to append to a table with other buckets than it has.
func sameBuckets(t catalog.Table, asked *catalog.Buckets) error {
	text := func(b *catalog.Buckets) string {
		if b == nil {
			return "none"
		}
		return fmt.Sprintf("%d by %s sorted by %s", b.N, strings.Join(b.By, ", "), strings.Join(b.SortBy, ", "))
	}
	if !strings.EqualFold(text(t.Buckets), text(asked)) {
		return badBuckets(text(asked), tableIdent(t)+" has other buckets: "+text(t.Buckets)+".")
	}
	return nil
}

// bucketed gives rows for a table with buckets the number of their bucket, as the last column, and sorts them by bucket and what the
// table wants them sorted by: then the rows of a file are sorted whoever writes it.
func (s *Session) bucketed(ctx context.Context, t catalog.Table, n plan.Node) (plan.Node, error) {
	column := func(name string) plan.Expr { return &plan.Column{Parts: []string{name}, PlanID: -1} }
	var keys []plan.Expr
	for _, name := range t.Buckets.By {
		keys = append(keys, column(name))
	}
	call := func(name string, args ...plan.Expr) plan.Expr { return &plan.Func{Name: []string{name}, Args: args} }
	number := call("pmod", call("hash", keys...), &plan.Literal{Value: int32(t.Buckets.N), T: types.Integer})
	n = &plan.Project{Cols: []plan.Expr{&plan.Star{PlanID: -1}, &plan.Alias{Child: number, Name: filesink.BucketColumn}}, Child: n}
	if len(t.Buckets.SortBy) > 0 {
		sorted := &plan.Sort{Global: true, Child: n}
		for _, name := range slices.Concat(t.PartitionBy, []string{filesink.BucketColumn}, t.Buckets.SortBy) {
			sorted.Orders = append(sorted.Orders, &plan.SortOrder{Child: column(name), NullsFirst: true})
		}
		n = sorted
	}
	return s.Analyze(ctx, n)
}

// bucketRows are the rows about buckets in DESCRIBE EXTENDED.
func bucketRows(b *catalog.Buckets) []types.Row {
	if b == nil {
		return nil
	}
	return []types.Row{
		{"Num Buckets", fmt.Sprint(b.N), ""}, {"Bucket Columns", "[" + errclass.Idents(b.By) + "]", ""}, {"Sort Columns", "[" + errclass.Idents(b.SortBy) + "]", ""},
	}
}
