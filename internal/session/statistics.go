package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/types"
)

// analyzeTable runs ANALYZE TABLE and ANALYZE TABLES.
func (s *Session) analyzeTable(ctx context.Context, st *plan.AnalyzeTable) error {
	if st.All {
		db, err := s.namespaceName(st.Name)
		if err != nil {
			return err
		}
		tables, err := s.server.tables.Tables(db)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if t.Kind == catalog.View {
				continue
			}
			if err := s.measure(ctx, t, st.NoScan, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if s.isTemp(st.Name) {
		return errclass.New("EXPECT_PERMANENT_VIEW_NOT_TEMP", "viewName", errclass.Ident(st.Name...), "operation", "ANALYZE TABLE")
	}
	if _, byPath := s.deltaPath(st.Name); byPath {
		return errclass.New("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE", "cmd", "ANALYZE TABLE")
	}
	t, err := s.table(st.Name)
	if err != nil {
		return err
	}
	if t.Kind == catalog.View {
		return errclass.New("UNSUPPORTED_FEATURE.ANALYZE_VIEW")
	}
	for _, v := range st.Partition {
		if !slices.ContainsFunc(t.PartitionBy, func(p string) bool { return strings.EqualFold(p, v.Name) }) {
			return errclass.New("PARTITIONS_NOT_FOUND", "partitionList", errclass.Ident(v.Name), "tableName", tableIdent(t))
		}
	}
	if len(st.Partition) > 0 {
		return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "ANALYZE TABLE ... PARTITION")
	}
	columns := st.Columns
	if st.AllColumns {
		columns = t.Schema.Names()
	}
	for i, name := range columns {
		at := t.Schema.IndexFold(name)
		if at < 0 {
			return errclass.New("COLUMN_NOT_FOUND", "colName", errclass.Ident(name), "caseSensitiveConfig", errclass.Conf(setting.CaseSensitive)).WithKind(errclass.Analysis)
		}
		columns[i] = t.Schema.Fields[at].Name
		if st.AllColumns || !types.IsNested(t.Schema.Fields[at].Type) {
			continue
		}
		return errclass.New("UNSUPPORTED_FEATURE.ANALYZE_UNSUPPORTED_COLUMN_TYPE", "columnType", errclass.Expr(t.Schema.Fields[at].Type.SQL()),
			"columnName", errclass.Ident(name), "tableName", tableIdent(t))
	}
	return s.measure(ctx, t, st.NoScan, columns)
}

// measure keeps a table's statistics: bytes, rows unless noScan is set, and what is known of some columns.
func (s *Session) measure(ctx context.Context, t catalog.Table, noScan bool, columns []string) error {
	bytes, err := treeSize(s.server.Runtime.FS, t.Location)
	if err != nil {
		return err
	}
	st := catalog.Statistics{Bytes: bytes}
	if old := t.Statistics; old != nil {
		st.Columns = maps.Clone(old.Columns)
		if noScan && old.Bytes == bytes {
			st.Rows = old.Rows
		}
	}
	if !noScan {
		if st.Rows, st.Columns, err = s.scanStatistics(ctx, t, columns, st.Columns); err != nil {
			return err
		}
	}
	t.Statistics = &st
	return s.server.tables.Create(t, true)
}

// treeSize is the size of the files below a directory that hold data; 0 for one that is not there.
func treeSize(fsys fs.FS, dir string) (int64, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	size := int64(0)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_") {
			continue
		}
		if e.IsDir() {
			n, err := treeSize(fsys, filepath.Join(dir, e.Name()))
			if err != nil {
				return 0, err
			}
			size += n
		} else if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	return size, nil
}

// scanStatistics counts a table's rows and looks at some of its columns.
func (s *Session) scanStatistics(ctx context.Context, t catalog.Table, columns []string, known map[string]catalog.ColumnStatistics) (int64, map[string]catalog.ColumnStatistics, error) {
	want := []string{"count(*)"}
	var read []string
	for _, name := range columns {
		f := t.Schema.Fields[t.Schema.Index(name)]
		if types.IsNested(f.Type) {
			continue
		}
		read = append(read, name)
		c := errclass.Ident(name)
		low, high := "CAST(NULL AS STRING)", "CAST(NULL AS STRING)"
		long, longest := strconv.Itoa(defaultSize(f.Type)), strconv.Itoa(defaultSize(f.Type))
		if types.IsString(f.Type) || f.Type == types.Binary {
			long, longest = "ceil(avg(length("+c+")))", "max(length("+c+"))"
		} else {
			low, high = "CAST(min("+c+") AS STRING)", "CAST(max("+c+") AS STRING)"
		}
		want = append(want, "count("+c+")", "least(approx_count_distinct("+c+"), count("+c+"))", low, high,
			"CAST(coalesce("+long+", 0) AS BIGINT)", "CAST(coalesce("+longest+", 0) AS BIGINT)")
	}
	q, err := sql.ParseQuery("SELECT "+strings.Join(want, ", ")+" FROM "+errclass.Ident(t.Database, t.Name), s.SQLOptions())
	if err != nil {
		return 0, nil, err
	}
	rows, _, err := s.Rows(ctx, q)
	if err != nil {
		return 0, nil, err
	}
	row := rows[0]
	count, _ := row[0].(int64)
	for i, name := range read {
		v := row[1+6*i:]
		c := catalog.ColumnStatistics{}
		filled, _ := v[0].(int64)
		c.Nulls = count - filled
		c.Distinct, _ = v[1].(int64)
		c.Min, _ = v[2].(string)
		c.Max, _ = v[3].(string)
		c.AvgLen, _ = v[4].(int64)
		c.MaxLen, _ = v[5].(int64)
		if known == nil {
			known = map[string]catalog.ColumnStatistics{}
		}
		known[name] = c
	}
	return count, known, nil
}

// defaultSize is what a value of a type is taken to need.
func defaultSize(t types.DataType) int {
	switch t {
	case types.Boolean, types.Byte:
		return 1
	case types.Short:
		return 2
	case types.Integer, types.Float, types.Date:
		return 4
	}
	if d, ok := t.(types.DecimalType); ok && d.Precision > 18 {
		return 16
	}
	return 8
}

// statisticsText is the line about statistics in DESCRIBE EXTENDED.
func statisticsText(st *catalog.Statistics) string {
	return fmt.Sprintf("%d bytes, %d rows", st.Bytes, st.Rows)
}
