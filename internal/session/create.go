package session

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/analyze"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// createTable runs CREATE TABLE and its kin.
func (s *Session) createTable(ctx context.Context, st *plan.CreateTable) error {
	if s.makesDelta(st) {
		return s.createDeltaTable(ctx, st)
	}
	db, name, err := s.tableName(st.Name)
	if err != nil {
		return err
	}
	if err := s.refuseTable(st, errclass.Ident(catalog.Name, db, name)); err != nil {
		return err
	}
	_, exists, err := s.server.tables.Find(db, name)
	if err != nil {
		return err
	}
	if exists && st.IfNotExists && st.Query == nil {
		return nil
	}
	taken := errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(catalog.Name, db, name))
	if exists && st.Query == nil && len(st.Columns) == 0 {
		return taken
	}
	var n plan.Node
	if st.Query != nil {
		if n, err = s.Analyze(ctx, st.Query); err != nil {
			return err
		}
	}
	t, err := s.tableOf(ctx, st, catalog.Table{Database: db, Name: name}, n)
	if err != nil {
		return err
	}
	switch {
	case exists && st.IfNotExists:
		return nil
	case exists:
		return taken
	}
	if n == nil {
		if err := s.withColumns(ctx, &t); err != nil {
			return err
		}
		_, err = s.newTable(t)
		return err
	}
	return s.filledTable(t, func(t catalog.Table) error {
		_, err := s.fill(ctx, t, n, firstMode(t), nil)
		return err
	})
}

// refuseTable refuses what tables of the engine cannot have.
func (s *Session) refuseTable(st *plan.CreateTable, ident string) error {
	refuse := func(operation string) error {
		return errclass.New("UNSUPPORTED_FEATURE.TABLE_OPERATION", "tableName", ident, "operation", operation)
	}
	switch {
	case st.Replace:
		if st.Query != nil {
			return refuse("REPLACE TABLE AS SELECT")
		}
		return refuse("REPLACE TABLE")
	case st.Hive:
		return errclass.New("NOT_SUPPORTED_COMMAND_WITHOUT_HIVE_SUPPORT", "cmd", "CREATE Hive TABLE (AS SELECT)")
	case st.External && st.Location == "" && !hasPath(st.Options):
		return errclass.New("_LEGACY_ERROR_TEMP_1069")
	}
	for _, c := range st.Columns {
		if c.Refused == "generated columns" || c.Refused == "identity columns" {
			return refuse(c.Refused)
		}
	}
	if st.Constrained || slices.ContainsFunc(st.Columns, func(c plan.ColumnDef) bool { return c.Refused == "CONSTRAINT" }) {
		return refuse("CONSTRAINT")
	}
	return nil
}

func hasPath(options map[string]string) bool {
	_, ok := sink.Options(options).Get("path")
	return ok
}

// tableOf is the table that a statement describes, with the columns of n when it has none of its own.
func (s *Session) tableOf(ctx context.Context, st *plan.CreateTable, t catalog.Table, n plan.Node) (catalog.Table, error) {
	t.Format, t.Location, t.Options, t.Properties, t.Comment = st.Format, st.Location, st.Options, st.Properties, st.Comment
	if p, ok := sink.Options(st.Options).Get("path"); ok && t.Location == "" {
		t.Location = p
	}
	var err error
	if t.Collation, err = defaultCollation(st.Collation); err != nil {
		return t, err
	}
	for _, c := range st.Columns {
		f, err := s.withDefault(ctx, c, "CREATE TABLE", t.Format)
		if err != nil {
			return t, err
		}
		f.Type = types.Collated(f.Type, t.Collation)
		t.Schema.Fields = append(t.Schema.Fields, f)
	}
	if n != nil {
		t.Schema = plan.Schema(n)
	}
	if err := analyze.Bytewise(t.Schema); err != nil {
		return t, err
	}
	for i, f := range t.Schema.Fields {
		if t.Schema.IndexFold(f.Name) < i {
			return t, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(f.Name)))
		}
		if n != nil && f.Type == types.Null {
			return t, errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "columnName", errclass.Ident(f.Name), "columnType", errclass.Expr("VOID"), "format", orDefault(t.Format, s.Conf.Value(setting.Source)))
		}
	}
	return s.partitioned(st, t)
}

// partitioned adds how a table's rows are laid out.
func (s *Session) partitioned(st *plan.CreateTable, t catalog.Table) (catalog.Table, error) {
	missing := func(name, kind string) error {
		if len(t.Schema.Fields) == 0 || t.Schema.IndexFold(name) >= 0 {
			return nil
		}
		return errclass.New("COLUMN_NOT_DEFINED_IN_TABLE", "colType", kind, "colName", errclass.Ident(name), "tableName", tableIdent(t), "tableCols", errclass.Idents(t.Schema.Names()))
	}
	for _, p := range st.Partitions {
		if p.Name == "bucket" {
			var err error
			if t.Buckets, err = s.bucketsOf(p, missing); err != nil {
				return t, err
			}
			continue
		}
		col, ok := p.Args[0].(*plan.Column)
		if p.Name != "identity" || !ok {
			args := make([]string, len(p.Args))
			for i, a := range p.Args {
				args[i] = a.SQL()
			}
			return t, errclass.New("UNSUPPORTED_PARTITION_TRANSFORM", "transform", errclass.Ident(p.Name+"("+strings.Join(args, ", ")+")"))
		}
		name := col.Parts[len(col.Parts)-1]
		if err := missing(name, "partition"); err != nil {
			return t, err
		}
		if slices.ContainsFunc(t.PartitionBy, func(o string) bool { return strings.EqualFold(o, name) }) {
			return t, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(name)))
		}
		if i := t.Schema.IndexFold(name); i >= 0 {
			f := t.Schema.Fields[i]
			if text, isText := f.Type.(types.StringType); types.IsNested(f.Type) || isText && text.Collation != "" {
				return t, errclass.New("INVALID_PARTITION_COLUMN_DATA_TYPE", "type", errclass.Expr(f.Type.SQL()))
			}
			name = f.Name
		}
		t.PartitionBy = append(t.PartitionBy, name)
	}
	if len(t.Schema.Fields) > 0 && len(t.PartitionBy) == len(t.Schema.Fields) {
		return t, errclass.New("ALL_PARTITION_COLUMNS_NOT_ALLOWED")
	}
	for _, path := range st.ClusterBy {
		if err := missing(path[0], "clustering"); err != nil {
			return t, err
		}
	}
	t.ClusterBy = st.ClusterBy
	return t, nil
}

// bucketsOf are the buckets of CLUSTERED BY ... INTO n BUCKETS, or of bucket(n, column) among the partitions.
func (s *Session) bucketsOf(p plan.Partitioning, missing func(name, kind string) error) (*catalog.Buckets, error) {
	n := int64(0)
	if l, ok := p.Args[0].(*plan.Literal); ok {
		switch v := l.Value.(type) {
		case int32:
			n = int64(v)
		case int64:
			n = v
		}
	}
	most := s.Conf.Int(setting.MaxBuckets)
	if n <= 0 || n > int64(most) {
		return nil, errclass.New("INVALID_BUCKET_COUNT", "bucketingMaxBuckets", strconv.FormatInt(int64(most), 10), "numBuckets", strconv.FormatInt(n, 10))
	}
	b := &catalog.Buckets{N: int(n)}
	for _, a := range p.Args[1:] {
		c, ok := a.(*plan.Column)
		if !ok {
			return nil, errclass.New("UNSUPPORTED_PARTITION_TRANSFORM", "transform", errclass.Ident("bucket"))
		}
		b.By = append(b.By, c.Parts[len(c.Parts)-1])
	}
	for _, o := range p.Sorted {
		if c, ok := o.Child.(*plan.Column); ok {
			b.SortBy = append(b.SortBy, c.Parts[len(c.Parts)-1])
		}
	}
	for _, name := range append(b.By[:len(b.By):len(b.By)], b.SortBy...) {
		if err := missing(name, "bucket"); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// createTableLike runs CREATE TABLE t LIKE source.
func (s *Session) createTableLike(ctx context.Context, st *plan.CreateTableLike) error {
	db, name, err := s.tableName(st.Name)
	if err != nil {
		return err
	}
	t := catalog.Table{Database: db, Name: name, Properties: st.Properties, Location: st.Location}
	if s.isTemp(st.Source.Parts) {
		n, err := s.relationAt(ctx, st.Source.Parts, st.Source.Origin)
		if err != nil {
			return err
		}
		t.Schema = plan.Schema(n)
	} else {
		from, err := s.tableAt(st.Source.Parts, st.Source.Origin)
		if err != nil {
			return err
		}
		t.Schema, t.PartitionBy, t.Collation, t.ClusterBy = from.Schema, from.PartitionBy, from.Collation, from.ClusterBy
		if from.Kind != catalog.View {
			t.Format = from.Format
			if st.Format == "" {
				t.Options, t.Elsewhere = from.Storage(), from.Elsewhere
			}
		}
	}
	t.Format = orDefault(st.Format, t.Format)
	_, exists, err := s.server.tables.Find(db, name)
	if err != nil {
		return err
	}
	if exists {
		if st.IfNotExists {
			return nil
		}
		return errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", shortIdent(t))
	}
	_, err = s.newTable(t)
	return err
}

// insertDirectory runs INSERT OVERWRITE DIRECTORY.
func (s *Session) insertDirectory(ctx context.Context, st *plan.InsertDirectory) error {
	if st.Format == "" {
		return errclass.New("NOT_SUPPORTED_COMMAND_WITHOUT_HIVE_SUPPORT", "cmd", "INSERT OVERWRITE DIRECTORY with the Hive format")
	}
	path := st.Path
	if path == "" {
		path, _ = sink.Options(st.Options).Get("path")
	}
	location, err := fs.ParseLocation(path)
	if err != nil {
		return err
	}
	_, err = s.Write(ctx, Write{Plan: st.Query, Format: st.Format, Path: location, Mode: sink.Overwrite, Options: st.Options})
	return err
}
