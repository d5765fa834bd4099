package session

import (
	"context"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	conn "github.com/millrace/millrace/internal/connector/delta"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/types"
)

// deltaPath is the folder that delta.`path` means; ok is false for other names.
func (s *Session) deltaPath(parts []string) (path string, ok bool) {
	if len(parts) != 2 || !deltatable.Is(parts[0]) {
		return "", false
	}
	if _, found, err := s.server.tables.Find(parts[0], parts[1]); err != nil || found {
		return "", false
	}
	path, err := fs.ParseLocation(parts[1])
	return path, err == nil
}

// LookupChanges implements analyze.ChangeFeeds.
func (lookup) LookupChanges(function, table string) (*plan.Named, error) {
	if function == "table_changes_by_path" {
		return &plan.Named{Parts: []string{deltatable.Format, table}}, nil
	}
	parts, err := sql.ParseIdentifier(table)
	return &plan.Named{Parts: parts}, err
}

// runDelta runs a statement about a Delta table; done is false when the table is of another format.
func (s *Session) runDelta(ctx context.Context, st plan.Statement, named *plan.Named, operation string) (n plan.Node, done bool, err error) {
	var target plan.Node = named
	switch st := st.(type) {
	case *plan.Delete:
		target = st.Table
	case *plan.Update:
		target = st.Table
	case *plan.Merge:
		target = st.Target
	}
	t, err := deltatable.Target(ctx, s, target)
	if upkeep(st) {
		if _, byPath := s.deltaPath(named.Parts); byPath && (errclass.Has(err, "PATH_NOT_FOUND") || errclass.Has(err, "DELTA_TABLE_NOT_FOUND")) {
			return nil, true, errclass.New("DELTA_MISSING_DELTA_TABLE", "tableName", strings.Join(named.Parts, "."))
		}
		if err == nil && t == nil {
			return nil, true, errclass.New("DELTA_ONLY_OPERATION", "operation", operation)
		}
	}
	if err != nil || t == nil {
		return nil, false, err
	}
	n, err = t.Run(ctx, st, s.catalogName(named.Parts))
	return n, true, err
}

// upkeep tells the statements that only Delta tables know.
func upkeep(st plan.Statement) bool {
	switch st.(type) {
	case *plan.Vacuum, *plan.DescribeHistory, *plan.DescribeDetail, *plan.Optimize, *plan.Restore:
		return true
	}
	return false
}

// catalogName is how a table in the catalog is called in full; nil for one that is named by its path.
func (s *Session) catalogName(parts []string) any {
	if _, byPath := s.deltaPath(parts); byPath {
		return nil
	}
	db, name, err := s.tableName(parts)
	if err != nil {
		return nil
	}
	return catalog.Name + "." + db + "." + name
}

// alterDelta runs ALTER TABLE for a Delta table; done is false for tables of other formats, and for another name.
func (s *Session) alterDelta(ctx context.Context, st *plan.AlterTable) (done bool, err error) {
	if _, rename := st.Change.(*plan.RenameTo); rename || st.View {
		return false, nil
	}
	if _, byPath := s.deltaPath(st.Table.Parts); !byPath {
		if t, err := s.table(st.Table.Parts); err != nil || !deltatable.Is(t.Format) {
			return false, nil //nolint:nilerr // who looks next says what is wrong
		}
	}
	t, err := deltatable.Target(ctx, s, &plan.Named{Parts: st.Table.Parts, Origin: st.Table.Origin})
	if err != nil || t == nil {
		return t != nil, err
	}
	return true, t.Alter(ctx, st.Change)
}

// truncateDelta removes all rows of a Delta table.
func (s *Session) truncateDelta(ctx context.Context, parts []string) error {
	t, err := deltatable.Target(ctx, s, &plan.Named{Parts: parts})
	if err != nil {
		return err
	}
	if t == nil {
		return errclass.New("DELTA_ONLY_OPERATION", "operation", "TRUNCATE")
	}
	_, err = t.Delete(ctx, nil)
	return err
}

// described is a table of the catalog with what the log of a Delta table says of it.
func (s *Session) described(ctx context.Context, t catalog.Table) (catalog.Table, error) {
	if !deltatable.Is(t.Format) {
		return t, nil
	}
	d, err := deltatable.At(ctx, s, t.Location)
	if err != nil || !d.Exists() {
		return t, err
	}
	return d.Describe(t), nil
}

// deltaPathTable is a table that is named by its path as one of the catalog; ok is false for other names.
func (s *Session) deltaPathTable(ctx context.Context, parts []string) (_ catalog.Table, ok bool, err error) {
	path, ok := s.deltaPath(parts)
	if !ok {
		return catalog.Table{}, false, nil
	}
	d, err := deltatable.At(ctx, s, path)
	if err == nil && !d.Exists() {
		err = errclass.New("DELTA_TABLE_NOT_FOUND", "tableName", path)
	}
	if err != nil {
		return catalog.Table{}, true, err
	}
	return d.Describe(catalog.Table{Database: deltatable.Format, Name: path, Format: deltatable.Format, Location: path, Kind: catalog.External}), true, nil
}

// deltaPartitions are the values of a Delta table's partition columns, each in its own column, unlike SHOW PARTITIONS of other tables.
func (s *Session) deltaPartitions(ctx context.Context, named *plan.Named, t catalog.Table, spec []plan.PartitionValue) (plan.Node, error) {
	if len(t.PartitionBy) == 0 {
		return nil, errclass.New("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE", "tableName", strings.Join(named.Parts, "."))
	}
	if _, err := s.partitionSpec(ctx, t, spec, named.Origin); err != nil {
		return nil, err
	}
	columns := &plan.Project{Child: named}
	if cond := partitionCondition(spec); cond != nil {
		columns.Child = &plan.Filter{Cond: cond, Child: named}
	}
	sorted := &plan.Sort{Global: true, Child: &plan.Distinct{Child: columns}}
	for _, name := range t.PartitionBy {
		columns.Cols = append(columns.Cols, &plan.Column{Parts: []string{name}, PlanID: -1})
		sorted.Orders = append(sorted.Orders, &plan.SortOrder{Child: &plan.Column{Parts: []string{name}, PlanID: -1}})
	}
	return s.Analyze(ctx, sorted)
}

// ShapeRows implements the Shaper of package connector/delta.
func (s *Session) ShapeRows(ctx context.Context, from types.StructType, to conn.Target) (func(part int) conn.RowShaper, error) {
	return deltatable.Shape(ctx, s, from, to)
}
