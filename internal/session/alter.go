package session

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/analyze"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// placed gives an error that has no place in the query one.
func placed(err error, o plan.Origin) error {
	if e, ok := errors.AsType[*errclass.Error](err); ok && o.Context != nil && len(e.Context) == 0 {
		e.WithContext(*o.Context)
	}
	return err
}

// tableAt is table for a name with its place.
func (s *Session) tableAt(parts []string, o plan.Origin) (catalog.Table, error) {
	t, err := s.table(parts)
	return t, placed(err, o)
}

// relationAt is what a name with its place stands for, resolved for a look at its columns.
func (s *Session) relationAt(ctx context.Context, parts []string, o plan.Origin) (plan.Node, error) {
	n, err := s.Analyze(ctx, &plan.Named{Parts: parts, Origin: o})
	if errclass.Has(err, batchScan) {
		return s.Analyze(ctx, &plan.Named{Parts: parts, Origin: o, Stream: true})
	}
	return n, err
}

// alterTable runs ALTER TABLE and ALTER VIEW.
func (s *Session) alterTable(ctx context.Context, st *plan.AlterTable) error {
	if done, err := s.alterDelta(ctx, st); done || err != nil {
		return err
	}
	if s.isTemp(st.Table.Parts) {
		return s.alterTempView(ctx, st)
	}
	t, err := s.tableAt(st.Table.Parts, st.Table.Origin)
	if err != nil {
		return err
	}
	if err := checkKind(t, st); err != nil {
		return err
	}
	if rename, ok := st.Change.(*plan.RenameTo); ok {
		return s.renameTable(t, rename.Name)
	}
	if ok, err := s.changePartitions(ctx, t, st); ok || err != nil {
		return err
	}
	changed, err := s.changed(ctx, t, st)
	if err != nil {
		return err
	}
	return s.server.tables.Create(changed, true)
}

// checkKind refuses ALTER TABLE of a view, and the other way round.
func checkKind(t catalog.Table, st *plan.AlterTable) error {
	isView := t.Kind == catalog.View
	if isView == st.View {
		return nil
	}
	_, rename := st.Change.(*plan.RenameTo)
	switch st.Change.(type) {
	case *plan.RenameTo:
		if isView {
			return errclass.New("EXPECT_TABLE_NOT_VIEW.USE_ALTER_VIEW", "viewName", errclass.Ident(st.Table.Parts...), "operation", "ALTER TABLE")
		}
		return errclass.New("EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE", "tableName", errclass.Ident(st.Table.Parts...), "operation", "ALTER VIEW")
	case *plan.SetProperties, *plan.UnsetProperties:
		rename = true
	}
	operation := "ALTER TABLE ... " + plan.ChangeName(st.Change)
	class, key := "EXPECT_TABLE_NOT_VIEW", "viewName"
	if st.View {
		operation = "ALTER VIEW ... " + plan.ChangeName(st.Change)
		class, key = "EXPECT_VIEW_NOT_TABLE", "tableName"
	}
	switch {
	case !rename:
		class += ".NO_ALTERNATIVE"
	case st.View:
		class += ".USE_ALTER_TABLE"
	default:
		class += ".USE_ALTER_VIEW"
	}
	return placed(errclass.New(class, key, tableIdent(t), "operation", operation), st.Table.Origin)
}

// alterTempView runs the changes that temporary views take: another name and another query.
func (s *Session) alterTempView(ctx context.Context, st *plan.AlterTable) error {
	parts := st.Table.Parts
	global := len(parts) == 2
	switch c := st.Change.(type) {
	case *plan.RenameTo:
		name, err := viewName(c.Name, global)
		if err != nil {
			return err
		}
		n, _ := lookup{s: s}.LookupView(parts)
		if err := s.PutView(name, n, global, false); err != nil {
			return err
		}
		s.DropView(parts[len(parts)-1], global)
		return nil
	case *plan.SetViewQuery:
		return s.CreateView(ctx, parts[len(parts)-1], c.Query, global, true)
	case *plan.SetProperties, *plan.UnsetProperties:
		if st.View {
			return placed(errclass.New("EXPECT_PERMANENT_VIEW_NOT_TEMP", "viewName", errclass.Ident(parts...), "operation", "ALTER VIEW ... "+plan.ChangeName(c)), st.Table.Origin)
		}
		return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.USE_ALTER_VIEW", "viewName", errclass.Ident(parts...), "operation", "ALTER TABLE ... "+plan.ChangeName(c)), st.Table.Origin)
	}
	if st.View {
		return placed(errclass.New("EXPECT_PERMANENT_VIEW_NOT_TEMP", "viewName", errclass.Ident(parts...), "operation", "ALTER VIEW ... "+plan.ChangeName(st.Change)), st.Table.Origin)
	}
	return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", errclass.Ident(parts...), "operation", "ALTER TABLE ... "+plan.ChangeName(st.Change)), st.Table.Origin)
}

// renameTable gives a table or view another name in its database. The files of a managed table move along.
func (s *Session) renameTable(t catalog.Table, to []string) error {
	db, name := t.Database, ""
	if len(to) == 3 && strings.EqualFold(to[0], catalog.Name) {
		to = to[1:]
	}
	switch len(to) {
	case 1:
		name = to[0]
	case 2:
		db, name = to[0], to[1]
	default:
		return errclass.New("IDENTIFIER_TOO_MANY_NAME_PARTS", "identifier", errclass.Ident(to...), "limit", "2")
	}
	if !strings.EqualFold(db, t.Database) {
		return errclass.New("_LEGACY_ERROR_TEMP_1073", "db", t.Database, "newDb", db)
	}
	if err := validName(name); err != nil {
		return err
	}
	old := t
	t.Name = name
	_, taken, err := s.server.tables.Find(t.Database, name)
	if err != nil {
		return err
	}
	if taken {
		return errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(catalog.Name, t.Database, name))
	}
	if place, err := s.server.tables.Place(old.Database, old.Name); err != nil {
		return err
	} else if old.Kind == catalog.Managed && old.Location == place {
		if t.Location, err = s.server.tables.Place(t.Database, name); err != nil {
			return err
		}
		if t.Location != old.Location {
			if err := s.server.tables.Vacant(t); err != nil {
				return err
			}
		}
	}
	return s.server.tables.Rename(old.Database, old.Name, t)
}

// refusedChange is the error for a change that the engine's tables do not take.
func refusedChange(t catalog.Table, operation string) error {
	return errclass.New("UNSUPPORTED_FEATURE.TABLE_OPERATION", "tableName", tableIdent(t), "operation", operation)
}

// changed is a table with a change made.
func (s *Session) changed(ctx context.Context, t catalog.Table, st *plan.AlterTable) (catalog.Table, error) {
	t.Schema.Fields = slices.Clone(t.Schema.Fields)
	t.Properties, t.Options = maps.Clone(t.Properties), maps.Clone(t.Options)
	switch c := st.Change.(type) {
	case *plan.SetProperties:
		return setProperties(t, c)
	case *plan.UnsetProperties:
		for _, k := range c.Keys {
			delete(t.Properties, k)
		}
		return t, nil
	case *plan.SetSerde:
		return t, errclass.New("UNSUPPORTED_FEATURE.ALTER_TABLE_SERDE_FOR_DATASOURCE_TABLE", "tableName", tableIdent(t))
	case *plan.SetLocation:
		if len(c.Partition) > 0 {
			return t, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "ALTER TABLE ... PARTITION ... SET LOCATION")
		}
		location, err := s.databaseLocation(c.Location)
		t.Location = location
		return t, err
	case *plan.AddColumns:
		return s.addColumns(ctx, t, c)
	case *plan.RenameColumn:
		if err := hasColumn(t, c.Column, st.Origin); err != nil {
			return t, err
		}
		return t, refusedChange(t, "RENAME COLUMN")
	case *plan.DropColumns:
		for _, column := range c.Columns {
			if err := hasColumn(t, column, st.Origin); err != nil && !c.IfExists {
				return t, err
			}
		}
		return t, refusedChange(t, "DROP COLUMN")
	case *plan.AlterColumns:
		return s.alterColumn(ctx, t, c, st.Origin)
	case *plan.SetClustering:
		for _, column := range c.Columns {
			if err := hasColumn(t, column, st.Origin); err != nil {
				return t, err
			}
		}
		t.ClusterBy = c.Columns
		return t, nil
	case *plan.SetCollation:
		name, err := defaultCollation(c.Collation)
		t.Collation = name
		return t, err
	case *plan.SetViewBinding:
		t.SchemaMode = c.Mode
		return t, nil
	case *plan.SetViewQuery:
		return s.viewTable(ctx, t, c.Query, c.Text, nil)
	case *plan.RefusedChange:
		return t, refusedChange(t, c.Operation)
	}
	return t, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "ALTER TABLE ... "+plan.ChangeName(st.Change))
}

func setProperties(t catalog.Table, c *plan.SetProperties) (catalog.Table, error) {
	into := &t.Properties
	if c.Serde {
		if len(c.Partition) > 0 {
			return t, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "ALTER TABLE ... PARTITION ... SET SERDEPROPERTIES")
		}
		into = &t.Options
	}
	if *into == nil {
		*into = map[string]string{}
	}
	maps.Copy(*into, c.Properties)
	return t, nil
}

// hasColumn checks that a table has a column.
func hasColumn(t catalog.Table, path []string, o plan.Origin) error {
	in := types.DataType(t.Schema)
	for i, name := range path {
		st, ok := in.(types.StructType)
		at := -1
		if ok {
			at = st.IndexFold(name)
		}
		if at < 0 {
			return placed(errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(path[:i+1]...), "proposal", errclass.Idents(t.Schema.Names())), o)
		}
		in = st.Fields[at].Type
	}
	return nil
}

// addColumns adds columns behind those of the data, before those of the partitions.
func (s *Session) addColumns(ctx context.Context, t catalog.Table, c *plan.AddColumns) (catalog.Table, error) {
	if c.Replace {
		return t, refusedChange(t, "REPLACE COLUMNS")
	}
	data := len(t.Schema.Fields) - len(t.PartitionBy)
	var added []types.Field
	for _, n := range c.Columns {
		if len(n.Path) > 1 {
			if err := hasColumn(t, n.Path[:len(n.Path)-1], n.Origin); err != nil {
				return t, err
			}
			return t, refusedChange(t, "ADD COLUMN with qualified column")
		}
		if !n.Field.Nullable {
			return t, errclass.New("_LEGACY_ERROR_TEMP_1052")
		}
		f, err := s.withDefault(ctx, n.ColumnDef, "ALTER TABLE ADD COLUMNS", t.Format)
		if err != nil {
			return t, err
		}
		if t.Schema.IndexFold(f.Name) >= 0 || slices.ContainsFunc(added, func(o types.Field) bool { return strings.EqualFold(o.Name, f.Name) }) {
			return t, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(f.Name)))
		}
		f.Type = types.Collated(f.Type, t.Collation)
		if err := analyze.Bytewise(f.Type); err != nil {
			return t, err
		}
		added = append(added, f)
	}
	t.Schema.Fields = slices.Insert(t.Schema.Fields, data, added...)
	return t, nil
}

// alterColumn changes what can be changed of a column without touching its values: the comment, the default.
func (s *Session) alterColumn(ctx context.Context, t catalog.Table, c *plan.AlterColumns, o plan.Origin) (catalog.Table, error) {
	for _, x := range c.Columns {
		if err := hasColumn(t, x.Column, o); err != nil {
			return t, err
		}
	}
	x := c.Columns[0]
	switch {
	case len(c.Columns) > 1:
		return t, refusedChange(t, "ALTER COLUMN in bulk")
	case len(x.Column) > 1:
		return t, refusedChange(t, "ALTER COLUMN with qualified column")
	case x.First || x.After != "":
		return t, refusedChange(t, "ALTER COLUMN ... FIRST | AFTER")
	case x.Null != nil:
		return t, refusedChange(t, "ALTER COLUMN ... SET NOT NULL")
	}
	f := &t.Schema.Fields[t.Schema.IndexFold(x.Column[0])]
	if x.Type != nil && !types.Equal(x.Type, f.Type) {
		if !types.IsString(x.Type) || !types.IsString(f.Type) || slices.Contains(t.PartitionBy, f.Name) {
			return t, placed(errclass.New("NOT_SUPPORTED_CHANGE_COLUMN", "table", tableIdent(t), "originName", errclass.Ident(f.Name),
				"originType", errclass.Expr(f.Type.SQL()), "newName", errclass.Ident(f.Name), "newType", errclass.Expr(x.Type.SQL())), o)
		}
		if err := analyze.Bytewise(x.Type); err != nil {
			return t, err
		}
		f.Type = x.Type
	}
	if x.Comment != nil {
		*f = f.WithMetadata(types.CommentKey, *x.Comment)
	}
	if x.DropDefault {
		*f = f.WithoutMetadata(plan.CurrentDefaultKey)
	}
	if x.Default != nil {
		def := plan.ColumnDef{Field: *f, Default: x.Default, DefaultText: x.DefaultText}
		with, err := s.withDefault(ctx, def, "ALTER TABLE ALTER COLUMN", t.Format)
		if err != nil {
			return t, err
		}
		// Rows that are there keep the value that they have.
		text, _ := columnDefault(with)
		*f = f.WithMetadata(plan.CurrentDefaultKey, text)
	}
	return t, nil
}

// validName refuses names that could not be those of directories.
func validName(name string) error {
	for _, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return errclass.New("INVALID_SCHEMA_OR_RELATION_NAME", "name", errclass.Ident(name))
		}
	}
	return nil
}

// databaseLocation reads the place that a statement gives.
func (s *Session) databaseLocation(text string) (string, error) {
	if text == "" {
		return "", errclass.New("INVALID_EMPTY_LOCATION", "location", text)
	}
	location, err := fs.ParseLocation(text)
	if err != nil {
		return "", err
	}
	return filepath.Abs(location)
}

// alterNamespace runs ALTER DATABASE.
func (s *Session) alterNamespace(st *plan.AlterNamespace) error {
	name, err := s.namespaceName(st.Name)
	if err != nil {
		return err
	}
	d, err := s.server.tables.Database(name)
	if err != nil {
		return err
	}
	d.Properties = maps.Clone(d.Properties)
	if d.Properties == nil {
		d.Properties = map[string]string{}
	}
	switch {
	case st.Collation != "":
		return errclass.New("UNSUPPORTED_FEATURE.SCHEMA_LEVEL_COLLATIONS")
	case st.Location != nil:
		if d.Location, err = s.databaseLocation(*st.Location); err != nil {
			return err
		}
	}
	maps.Copy(d.Properties, st.Set)
	for _, k := range st.Unset {
		delete(d.Properties, k)
	}
	return s.server.tables.AlterDatabase(d)
}

// commentOn runs COMMENT ON.
func (s *Session) commentOn(st *plan.CommentOn) error {
	comment := ""
	if st.Comment != nil {
		comment = *st.Comment
	}
	if st.Namespace {
		name, err := s.namespaceName(st.Name.Parts)
		if err != nil {
			return err
		}
		d, err := s.server.tables.Database(name)
		if err != nil {
			return err
		}
		d.Comment = comment
		return s.server.tables.AlterDatabase(d)
	}
	const operation = "COMMENT ON TABLE"
	if s.isTemp(st.Name.Parts) {
		return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", errclass.Ident(st.Name.Parts...), "operation", operation), st.Name.Origin)
	}
	t, err := s.tableAt(st.Name.Parts, st.Name.Origin)
	if err != nil {
		return err
	}
	if t.Kind == catalog.View {
		return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", tableIdent(t), "operation", operation), st.Name.Origin)
	}
	t.Comment = comment
	return s.server.tables.Create(t, true)
}

func (s *Session) loadData(st *plan.LoadData) error {
	t, err := s.tableAt(st.Table.Parts, st.Table.Origin)
	if err != nil {
		return err
	}
	return errclass.New("_LEGACY_ERROR_TEMP_1261", "tableIdentWithDB", tableIdent(t))
}
