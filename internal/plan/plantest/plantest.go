package plantest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// DB is a catalog of tables in memory.
type DB struct {
	// Legacy switches ANSI mode off: what would fail is null.
	Legacy bool
	tables map[string]*Table
}

// Add makes a table of rows, cut into splits of batches: split i has the i-th list.
func (db *DB) Add(name string, schema types.StructType, splits ...[]types.Row) error {
	t := &Table{schema: schema}
	for _, rows := range splits {
		b, err := Batch(schema, rows)
		if err != nil {
			return err
		}
		t.splits = append(t.splits, b)
	}
	if db.tables == nil {
		db.tables = map[string]*Table{}
	}
	db.tables[strings.ToLower(name)] = t
	return nil
}

// Define makes a table of the rows of a query.
func (db *DB) Define(name, query string) error {
	n, err := db.Resolve(query)
	if err != nil {
		return err
	}
	rows, err := Run(n, 1)
	if err != nil {
		return err
	}
	return db.Add(name, plan.Schema(n), rows)
}

// Batch is rows as one batch.
func Batch(schema types.StructType, rows []types.Row) (*vec.Batch, error) {
	out := vec.NewBatch(len(rows))
	for c, b := range vec.NewBuilders(schema) {
		for _, r := range rows {
			if err := b.AppendValue(r[c]); err != nil {
				return nil, err
			}
		}
		out.Cols = append(out.Cols, b.Finish())
	}
	return out, nil
}

// Resolve analyses a query.
func (db *DB) Resolve(query string) (plan.Node, error) {
	n, err := sql.ParseQuery(query, sql.Options{Zone: time.UTC, Now: Now, Seed: func() int64 { return 42 }})
	if err != nil {
		return nil, err
	}
	conf := analyze.Conf{ANSI: !db.Legacy, Zone: time.UTC}
	return analyze.New(catalog{db}, conf, source.Env{}).Resolve(context.Background(), n)
}

// Now is the time at which all queries run.
var Now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Run plans and runs a resolved query.
func Run(n plan.Node, workers int) ([]types.Row, error) {
	p := physical.Planner{Zone: time.UTC, Now: Now.UnixMicro()}
	op, err := p.Plan(n)
	if err != nil {
		return nil, err
	}
	task := &exec.Task{Workers: workers, Partitions: 3, Batch: &expr.BatchParams{Now: Now.UnixMicro(), Zone: time.UTC, Seed: 7}}
	list, err := exec.Collect(context.Background(), task, op)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, b := range list {
		for i := range b.N {
			rows = append(rows, vec.RowAt(b, i))
		}
	}
	return rows, nil
}

// Text draws a plan. Columns are numbered in the order in which they come in the text, and scans show their filters.
func Text(n plan.Node) string {
	return renumber(plan.TreeString(withFilters(n)))
}

// withFilters shows the filters of scans in their names.
func withFilters(n plan.Node) plan.Node {
	n, _ = plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		s, ok := n.(*plan.Scan)
		if !ok || len(s.Filters) == 0 {
			return n, nil
		}
		c := *s
		texts := make([]string, len(s.Filters))
		for i, f := range s.Filters {
			texts[i] = plan.TreeText(f)
		}
		c.Name += ", filters: " + strings.Join(texts, ", ")
		return &c, nil
	})
	return n
}

var columnID = regexp.MustCompile(`#\d+`)

func renumber(text string) string {
	seen := map[string]string{}
	return columnID.ReplaceAllStringFunc(text, func(id string) string {
		if _, ok := seen[id]; !ok {
			seen[id] = "#" + strconv.Itoa(len(seen)+1)
		}
		return seen[id]
	})
}

// Format writes rows, one a line.
func Format(rows []types.Row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}

// Sorted are rows as texts without their order, for queries that promise none.
func Sorted(rows []types.Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = fmt.Sprintf("%#v", []any(r))
	}
	slices.Sort(out)
	return out
}

// catalog is a DB as the analyser sees it. Every use of a table has columns of its own.
type catalog struct{ db *DB }

// LookupView implements analyze.Catalog.
func (c catalog) LookupView([]string) (plan.Node, bool) { return nil, false }

// LookupTable implements analyze.Catalog.
func (c catalog) LookupTable(_ context.Context, n *plan.Named) (plan.Node, error) {
	t := c.db.tables[strings.ToLower(strings.Join(n.Parts, "."))]
	if t == nil {
		return nil, nil
	}
	return &plan.Scan{ID: plan.NewID(), Source: t, Name: strings.Join(n.Parts, "."), Out: plan.Attrs(t.schema)}, nil
}

// LookupRemote implements analyze.Catalog.
func (c catalog) LookupRemote(string) (plan.Node, bool) { return nil, false }
