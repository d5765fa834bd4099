package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// partitionValue is a partition column with its value as directories and messages write it.
type partitionValue struct {
	column, text string
	null         bool
}

// dir is the directory of the value.
func (v partitionValue) dir() string {
	text := v.text
	if v.null {
		text = files.DefaultPartition
	} else {
		text = files.EscapePart(text)
	}
	return v.column + "=" + text
}

// partitionSpec evaluates PARTITION (column = value, ...), in the order of the table's partition columns. place is where to say that
// a value cannot be one of the column.
func (s *Session) partitionSpec(ctx context.Context, t catalog.Table, spec []plan.PartitionValue, place plan.Origin) ([]partitionValue, error) {
	var unknown []string
	for _, v := range spec {
		if !slices.ContainsFunc(t.PartitionBy, func(p string) bool { return strings.EqualFold(p, v.Name) }) {
			unknown = append(unknown, errclass.Ident(v.Name))
		}
	}
	if len(unknown) > 0 {
		return nil, errclass.New("PARTITIONS_NOT_FOUND", "partitionList", strings.Join(unknown, ", "), "tableName", tableIdent(t))
	}
	var out []partitionValue
	for _, column := range t.PartitionBy {
		for _, v := range spec {
			if !strings.EqualFold(v.Name, column) || v.Value == nil {
				continue
			}
			field := t.Schema.Fields[t.Schema.IndexFold(column)]
			row, _, err := s.evaluate(ctx, &plan.Cast{Child: &plan.Cast{Child: v.Value, To: field.Type}, To: types.String})
			if err != nil {
				return nil, placed(err, place)
			}
			p := partitionValue{column: field.Name}
			if p.text, _ = row[0].(string); row[0] == nil || p.text == "" {
				p.null = true
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// specText is a partition as messages write it.
func specText(values []partitionValue) string {
	var parts []string
	for _, v := range values {
		text := v.text
		if v.null {
			text = "null"
		}
		parts = append(parts, errclass.Ident(v.column)+" = "+text)
	}
	return "PARTITION (" + strings.Join(parts, ", ") + ")"
}

// partitionsOf lists the partitions of a table that have some values, as paths below its directory, sorted.
func (s *Session) partitionsOf(t catalog.Table, want []partitionValue) ([]string, error) {
	var out []string
	if t.Location == "" {
		return nil, nil
	}
	err := s.walkPartitions(t.Location, "", t.PartitionBy, func(partition string) {
		if slices.Contains(t.Unknown, partition) {
			return
		}
		dirs := strings.Split(partition, "/")
		for _, v := range want {
			if !slices.ContainsFunc(dirs, func(d string) bool {
				return strings.EqualFold(d, v.dir()) && strings.HasSuffix(d, "="+v.dir()[len(v.column)+1:])
			}) {
				return
			}
		}
		out = append(out, partition)
	})
	slices.Sort(out)
	return out, err
}

// wholeSpec evaluates a partition, of which all columns must have a value.
func (s *Session) wholeSpec(ctx context.Context, t catalog.Table, spec []plan.PartitionValue, place plan.Origin) ([]partitionValue, string, error) {
	values, err := s.partitionSpec(ctx, t, spec, place)
	if err != nil {
		return nil, "", err
	}
	if len(values) < len(t.PartitionBy) {
		var keys []string
		for _, v := range spec {
			keys = append(keys, v.Name)
		}
		return nil, "", errclass.New("_LEGACY_ERROR_TEMP_1232", "specKeys", strings.Join(keys, ", "), "partitionColumnNames", strings.Join(t.PartitionBy, ", "),
			"tableName", tableIdent(t))
	}
	var dirs []string
	for _, v := range values {
		dirs = append(dirs, v.dir())
	}
	return values, strings.Join(dirs, "/"), nil
}

func (s *Session) exists(path string) (bool, error) {
	_, err := s.server.Runtime.FS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// shortIdent is a table's name without its catalog, as some messages have it.
func shortIdent(t catalog.Table) string { return errclass.Ident(t.Database, t.Name) }

func partitionMissing(t catalog.Table, values []partitionValue) error {
	return errclass.New("PARTITIONS_NOT_FOUND", "partitionList", specText(values), "tableName", shortIdent(t))
}

// changePartitions runs the changes of partitions; ok is false for any other.
func (s *Session) changePartitions(ctx context.Context, t catalog.Table, st *plan.AlterTable) (ok bool, err error) {
	switch c := st.Change.(type) {
	case *plan.AddPartitions:
		return true, s.addPartitions(ctx, t, c, st.Origin)
	case *plan.DropPartitions:
		return true, s.dropPartitions(ctx, t, c, st.Origin)
	case *plan.RenamePartition:
		from, old, err := s.wholeSpec(ctx, t, c.From, st.Origin)
		if err != nil {
			return true, err
		}
		to, name, err := s.wholeSpec(ctx, t, c.To, st.Origin)
		if err != nil {
			return true, err
		}
		return true, s.renamePartition(t, from, to, old, name)
	case *plan.RecoverPartitions:
		if len(t.PartitionBy) == 0 {
			return true, errclass.New("NOT_A_PARTITIONED_TABLE", "operation", "ALTER TABLE RECOVER PARTITIONS", "tableIdentWithDB", tableIdent(t))
		}
		return true, s.RecoverPartitions([]string{t.Database, t.Name})
	}
	return false, nil
}

func notPartitioned(t catalog.Table) error {
	return errclass.New("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY", "name", tableIdent(t))
}

func (s *Session) addPartitions(ctx context.Context, t catalog.Table, c *plan.AddPartitions, place plan.Origin) error {
	if len(t.PartitionBy) == 0 {
		return notPartitioned(t)
	}
	var dirs []string
	for _, p := range c.Partitions {
		values, dir, err := s.wholeSpec(ctx, t, p.Spec, place)
		if err != nil {
			return err
		}
		if p.Location != "" {
			return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "ALTER TABLE ADD PARTITION with LOCATION")
		}
		there, err := s.exists(filepath.Join(t.Location, dir))
		if err != nil {
			return err
		}
		if i := slices.Index(t.Unknown, dir); i >= 0 { // its files were there before the table knew of them
			t.Unknown = slices.Delete(slices.Clone(t.Unknown), i, i+1)
			there = false
		}
		if there && !c.IfNotExists {
			return errclass.New("PARTITIONS_ALREADY_EXIST", "partitionList", specText(values), "tableName", shortIdent(t))
		}
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if err := s.server.Runtime.FS.MkdirAll(filepath.Join(t.Location, dir)); err != nil {
			return err
		}
	}
	return s.server.tables.Create(t, true)
}

func (s *Session) dropPartitions(ctx context.Context, t catalog.Table, c *plan.DropPartitions, place plan.Origin) error {
	if len(t.PartitionBy) == 0 {
		return notPartitioned(t)
	}
	var dirs []string
	for _, spec := range c.Specs {
		values, err := s.partitionSpec(ctx, t, spec, place)
		if err != nil {
			return err
		}
		if len(values) < len(t.PartitionBy) { // as Spark does, which wants all values here
			if !c.IfExists {
				return partitionMissing(t, values)
			}
			continue
		}
		found, err := s.partitionsOf(t, values)
		if err != nil {
			return err
		}
		if len(found) == 0 && !c.IfExists {
			return partitionMissing(t, values)
		}
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		if err := s.removePartition(t, dir); err != nil {
			return err
		}
	}
	return nil
}

// removePartition removes a partition's directory, and those above it that are empty then.
func (s *Session) removePartition(t catalog.Table, dir string) error {
	fsys := s.server.Runtime.FS
	if err := fsys.RemoveAll(filepath.Join(t.Location, dir)); err != nil {
		return err
	}
	for dir = filepath.Dir(dir); dir != "."; dir = filepath.Dir(dir) {
		left, err := fsys.ReadDir(filepath.Join(t.Location, dir))
		if err != nil || len(left) > 0 {
			return err
		}
		if err := fsys.RemoveAll(filepath.Join(t.Location, dir)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) renamePartition(t catalog.Table, from, to []partitionValue, old, name string) error {
	fsys := s.server.Runtime.FS
	there, err := s.exists(filepath.Join(t.Location, old))
	if err != nil {
		return err
	}
	if !there {
		return partitionMissing(t, from)
	}
	if there, err = s.exists(filepath.Join(t.Location, name)); err != nil {
		return err
	} else if there {
		return errclass.New("PARTITIONS_ALREADY_EXIST", "partitionList", specText(to), "tableName", shortIdent(t))
	}
	if err := fsys.MkdirAll(filepath.Dir(filepath.Join(t.Location, name))); err != nil {
		return err
	}
	if err := fsys.Rename(filepath.Join(t.Location, old), filepath.Join(t.Location, name)); err != nil {
		return err
	}
	return s.removePartition(t, old)
}

func (s *Session) truncate(ctx context.Context, st *plan.Truncate) error {
	if _, byPath := s.deltaPath(st.Table); byPath {
		return s.truncateDelta(ctx, st.Table)
	}
	if s.isTemp(st.Table) {
		return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", errclass.Ident(st.Table...), "operation", "TRUNCATE TABLE"), st.Origin)
	}
	t, err := s.tableAt(st.Table, st.Origin)
	if err != nil {
		return err
	}
	fsys := s.server.Runtime.FS
	switch {
	case deltatable.Is(t.Format) && len(st.Partition) == 0:
		return s.truncateDelta(ctx, st.Table)
	case t.Kind == catalog.View:
		return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", tableIdent(t), "operation", "TRUNCATE TABLE"), st.Origin)
	case t.Kind == catalog.External:
		return errclass.New("_LEGACY_ERROR_TEMP_1266", "tableIdentWithDB", tableIdent(t))
	case len(st.Partition) > 0 && len(t.PartitionBy) == 0:
		return errclass.New("_LEGACY_ERROR_TEMP_1267", "tableIdentWithDB", tableIdent(t))
	case len(st.Partition) > 0:
		values, err := s.partitionSpec(ctx, t, st.Partition, st.Origin)
		if err != nil {
			return err
		}
		found, err := s.partitionsOf(t, values)
		if err != nil {
			return err
		}
		for _, dir := range found {
			full := filepath.Join(t.Location, dir)
			if err := errors.Join(fsys.RemoveAll(full), fsys.MkdirAll(full)); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(fsys.RemoveAll(t.Location), fsys.MkdirAll(t.Location))
}

// partitionDetails are the facts about one partition.
func (s *Session) partitionDetails(ctx context.Context, t catalog.Table, spec []plan.PartitionValue, action string) ([]detail, error) {
	if len(t.PartitionBy) == 0 {
		return nil, errclass.New("_LEGACY_ERROR_TEMP_1251", "action", action, "tableName", t.Name)
	}
	values, dir, err := s.wholeSpec(ctx, t, spec, plan.Origin{})
	if err != nil {
		return nil, err
	}
	full := filepath.Join(t.Location, dir)
	info, err := s.server.Runtime.FS.Stat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, partitionMissing(t, values)
	}
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, v := range values {
		texts = append(texts, v.column+"="+v.text)
	}
	number, size := 0, int64(0)
	entries, err := s.server.Runtime.FS.ReadDir(full)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f, err := e.Info()
		if err != nil {
			return nil, err
		}
		number++
		size += f.Size()
	}
	changed := info.ModTime()
	return []detail{
		{title: "Partition Values", text: "[" + strings.Join(texts, ", ") + "]"},
		{title: "Location", text: fs.Location(full)},
		{title: "Partition Parameters", text: fmt.Sprintf("[numFiles=%d, totalSize=%d, transient_lastDdlTime=%d]", number, size, changed.Unix())},
		{title: "Created Time", text: changed.In(s.Zone()).Truncate(time.Second).Format(createdTime)},
		{title: "Last Access", text: "UNKNOWN"},
	}, nil
}

// describePartition is DESCRIBE [EXTENDED] t PARTITION (...).
func (s *Session) describePartition(ctx context.Context, t catalog.Table, st *plan.DescribeTable) (plan.Node, error) {
	facts, err := s.partitionDetails(ctx, t, st.Partition, "DESC PARTITION")
	if err != nil {
		return nil, err
	}
	rows := describedRows(t, t.Schema)
	if st.Extended {
		rows = append(rows, types.Row{"", "", ""}, types.Row{"# Detailed Partition Information", "", ""},
			types.Row{"Database", t.Database, ""}, types.Row{"Table", t.Name, ""})
		for _, d := range facts {
			rows = append(rows, types.Row{d.title, d.text, ""})
		}
		rows = append(rows, types.Row{"", "", ""}, types.Row{"# Storage Information", "", ""}, types.Row{"Location", fs.Location(t.Location), ""})
	}
	return plan.LocalRows(describedColumns, rows)
}
