package session

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// ListPartitions lists the partitions of a table, as SHOW PARTITIONS does.
func (s *Session) ListPartitions(ctx context.Context, parts []string) (plan.Node, error) {
	return s.showPartitions(ctx, parts, nil, "Catalog.listPartitions")
}

// RecoverPartitions makes the partitions of a table known that were in its directory before it was made.
func (s *Session) RecoverPartitions(parts []string) error {
	return s.repairPartitions(parts, "recoverPartitions()", true)
}

// repairTable runs MSCK REPAIR TABLE. Partitions whose directories are gone are none any more, so that there is nothing to drop.
func (s *Session) repairTable(st *plan.RepairTable) error {
	return s.repairPartitions(st.Name, "MSCK REPAIR TABLE", st.Add)
}

func (s *Session) repairPartitions(parts []string, operation string, add bool) error {
	t, err := s.onlyTable(parts, operation)
	if err != nil {
		return err
	}
	if len(t.PartitionBy) == 0 {
		return errclass.New("NOT_A_PARTITIONED_TABLE", "operation", operation, "tableIdentWithDB", errclass.Ident(catalog.Name, t.Database, t.Name))
	}
	if !add || t.Unknown == nil {
		return nil
	}
	t.Unknown, t.Statistics = nil, nil
	if err := s.server.tables.Create(t, true); err != nil {
		return err
	}
	return s.RefreshPath(t.Location)
}

// strangers are the partitions that are in the directory of a table which is about to be made: as long as nobody writes to them or
// has them repaired they are none of the table's.
func (s *Session) strangers(t catalog.Table) (found []string, err error) {
	if len(t.PartitionBy) > 0 && t.Location != "" && !deltatable.Is(t.Format) {
		err = s.walkPartitions(t.Location, "", t.PartitionBy, func(partition string) { found = append(found, partition) })
	}
	return found, err
}

// writtenTo is called before rows are written to a table. What it returns is called afterwards, and notes what has become of the table:
// its statistics are void, and partitions with new files known.
func (s *Session) writtenTo(t catalog.Table) func() error {
	files := func(partition string) string {
		entries, err := s.server.Runtime.FS.ReadDir(filepath.Join(t.Location, filepath.FromSlash(partition)))
		if err != nil {
			return ""
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, "/")
	}
	before := map[string]string{}
	for _, p := range t.Unknown {
		before[p] = files(p)
	}
	return func() error {
		now, ok, err := s.server.tables.Find(t.Database, t.Name)
		if err != nil || !ok || now.Statistics == nil && len(now.Unknown) == 0 {
			return err
		}
		now.Statistics = nil
		now.Unknown = slices.DeleteFunc(slices.Clone(now.Unknown), func(p string) bool { return files(p) != before[p] || before[p] == "" })
		return s.server.tables.Create(now, true)
	}
}

// onlyTable finds a table that must be no view.
func (s *Session) onlyTable(parts []string, operation string) (catalog.Table, error) {
	if s.isTemp(parts) {
		return catalog.Table{}, errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "operation", operation, "viewName", errclass.Ident(parts...))
	}
	t, err := s.table(parts)
	if err == nil && t.Kind == catalog.View {
		err = errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "operation", operation,
			"viewName", errclass.Ident(catalog.Name, t.Database, t.Name))
	}
	return t, err
}

func (s *Session) showPartitions(ctx context.Context, parts []string, spec []plan.PartitionValue, operation string) (plan.Node, error) {
	t, byPath, err := s.deltaPathTable(ctx, parts)
	if !byPath {
		t, err = s.onlyTable(parts, operation)
	}
	if err == nil {
		t, err = s.described(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	if deltatable.Is(t.Format) {
		return s.deltaPartitions(ctx, &plan.Named{Parts: parts}, t, spec)
	}
	if len(t.PartitionBy) == 0 {
		return nil, errclass.New("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY", "name", tableIdent(t))
	}
	want, err := s.partitionSpec(ctx, t, spec, plan.Origin{})
	if err != nil {
		return nil, err
	}
	found, err := s.partitionsOf(t, want)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, p := range found {
		rows = append(rows, types.Row{p})
	}
	return plan.LocalRows(types.Struct(text1("partition")), rows)
}

// walkPartitions finds the directories column=value, one level a column. above is the path from the table's directory.
func (s *Session) walkPartitions(dir, above string, columns []string, found func(string)) error {
	entries, err := s.server.Runtime.FS.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		column, _, ok := strings.Cut(e.Name(), "=")
		if !ok || !e.IsDir() || !strings.EqualFold(column, columns[0]) {
			continue
		}
		at := above + e.Name()
		if len(columns) == 1 {
			found(at)
		} else if err := s.walkPartitions(filepath.Join(dir, e.Name()), at+"/", columns[1:], found); err != nil {
			return err
		}
	}
	return nil
}
