package session

import (
	"context"
	"errors"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Namespace is the current database.
func (s *Session) Namespace() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.namespace
}

// SetNamespace makes a database the current one.
func (s *Session) SetNamespace(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.namespace = name
}

// tableName is the database and the name that a name of one to three parts means.
func (s *Session) tableName(parts []string) (db, name string, err error) {
	if len(parts) > 2 && strings.EqualFold(parts[0], catalog.Name) {
		parts = parts[1:]
	}
	switch len(parts) {
	case 1:
		return s.Namespace(), parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	} // a catalog that nobody knows is part of a database's name
	return "", "", errclass.New("REQUIRES_SINGLE_PART_NAMESPACE", "sessionCatalog", catalog.Name, "identifier", errclass.Ident(parts...))
}

// notFound is the error for a table or view that is not there.
func (s *Session) notFound(parts []string) error {
	if db, name, err := s.tableName(parts); err == nil {
		parts = []string{catalog.Name, db, name}
	}
	return errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(parts...))
}

// table finds a table that must be there.
func (s *Session) table(parts []string) (catalog.Table, error) {
	db, name, err := s.tableName(parts)
	if err != nil {
		return catalog.Table{}, err
	}
	t, ok, err := s.server.tables.Find(db, name)
	if err == nil && !ok {
		err = errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(parts...))
	}
	return t, err
}

// lookupTable finds a table that is no temporary view; nil when there is none.
func (s *Session) lookupTable(_ context.Context, n *plan.Named) (plan.Node, error) {
	db, name, err := s.tableName(n.Parts)
	if err != nil {
		return nil, err
	}
	t, ok, err := s.server.tables.Find(db, name)
	if err != nil || !ok {
		return nil, err
	}
	if n.Time != nil {
		return nil, errclass.New("UNSUPPORTED_FEATURE.TIME_TRAVEL", "relationId", errclass.Ident(n.Parts...))
	}
	if t.Kind == catalog.View {
		return s.viewPlan(t, n)
	}
	return s.read(t, n.Options, n.Stream), nil
}

// read is a table as a source.
func (s *Session) read(t catalog.Table, options map[string]string, stream bool) *plan.Read {
	all := map[string]string{}
	for k, v := range t.Options {
		all[k] = v
	}
	for k, v := range options {
		all[k] = v
	}
	r := &plan.Read{Format: t.Format, Options: all, Stream: stream, ID: plan.NewID()}
	if len(t.Schema.Fields) > 0 {
		r.Schema = types.JSON(t.Schema)
	}
	if t.Location != "" {
		r.Paths = []string{t.Location}
	}
	return r
}

// viewPlan is the query of a persistent view, under the view's column names.
func (s *Session) viewPlan(t catalog.Table, n *plan.Named) (plan.Node, error) {
	if n.Stream {
		return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "STREAM of a view")
	}
	q, err := sql.ParseQuery(t.Text, s.SQLOptions())
	if err != nil {
		return nil, err
	}
	return &plan.View{Name: []string{catalog.Name, t.Database, t.Name}, Child: &plan.ToNames{Names: t.Schema.Names(), Child: q}}, nil
}

func (s *Session) createPersistentView(ctx context.Context, st *plan.CreateView) (plan.Node, error) {
	db, name, err := s.tableName(st.Name)
	if err != nil {
		return nil, err
	}
	if st.IfNotExists {
		if _, ok, err := s.server.tables.Find(db, name); ok || err != nil {
			return after(err)
		}
	}
	n, err := s.Analyze(ctx, st.Query)
	if err != nil {
		return nil, err
	}
	if st.Columns != nil {
		if n, err = s.namedColumns(ctx, name, n, st.Columns); err != nil {
			return nil, err
		}
	}
	t := catalog.Table{
		Database: db, Name: name, Kind: catalog.View, Schema: plan.Schema(n), Text: st.Text, Comment: st.Comment,
		Properties: st.Properties, Created: s.server.Runtime.Clock.Now().UTC(),
	}
	return after(s.server.tables.Create(t, st.Replace))
}

// after is the empty answer of a statement that ended with err.
func after(err error) (plan.Node, error) {
	if err != nil {
		return nil, err
	}
	return nothing()
}

func (s *Session) dropPersistentView(_ context.Context, parts []string) (bool, error) {
	db, name, err := s.tableName(parts)
	if err != nil {
		return false, err
	}
	t, ok, err := s.server.tables.Find(db, name)
	if err != nil || !ok {
		return false, err
	}
	if t.Kind != catalog.View {
		return false, errclass.New("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE", "tableName", errclass.Ident(catalog.Name, db, name), "operation", "DROP VIEW")
	}
	_, ok, err = s.server.tables.Drop(db, name)
	return ok, err
}

// dropTable removes a table, and its files when they are its own.
func (s *Session) dropTable(st *plan.DropTable) error {
	db, name, err := s.tableName(st.Name)
	if err != nil {
		return err
	}
	t, ok, err := s.server.tables.Find(db, name)
	if err != nil {
		return err
	}
	if !ok {
		if st.IfExists {
			return nil
		}
		return s.notFound(st.Name)
	}
	if t.Kind == catalog.View {
		return errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", errclass.Ident(catalog.Name, db, name), "operation", "DROP TABLE")
	}
	if _, _, err := s.server.tables.Drop(db, name); err != nil {
		return err
	}
	return s.dropFiles(t)
}

func (s *Session) dropFiles(t catalog.Table) error {
	if t.Kind != catalog.Managed {
		return nil
	}
	return s.server.Runtime.FS.RemoveAll(t.Location)
}

func (s *Session) truncate(st *plan.Truncate) error {
	t, err := s.table(st.Table)
	if err != nil {
		return err
	}
	if len(st.Partition) > 0 || t.Kind != catalog.Managed {
		return errclass.New("UNSUPPORTED_FEATURE.TABLE_OPERATION", "tableName", errclass.Ident(t.Name), "operation", "TRUNCATE")
	}
	fsys := s.server.Runtime.FS
	if err := fsys.RemoveAll(t.Location); err != nil {
		return err
	}
	return fsys.MkdirAll(t.Location)
}

// newTable makes a table known. schema is that of the columns given, or of the query whose rows go into it.
func (s *Session) newTable(t catalog.Table, replace bool) (catalog.Table, error) {
	if t.Format == "" {
		t.Format = s.Conf.Value(KeySource)
	}
	if source.Lookup(t.Format) == nil && sink.Lookup(t.Format) == nil {
		return t, errclass.New("DATA_SOURCE_NOT_FOUND", "provider", t.Format)
	}
	t.Created = s.server.Runtime.Clock.Now().UTC()
	for _, p := range t.PartitionBy {
		if t.Schema.IndexFold(p) < 0 {
			return t, errclass.New("PARTITION_COLUMN_NOT_FOUND", "column", errclass.Ident(p), "schema", t.Schema.SQL())
		}
	}
	t.Schema = partitionsLast(types.NullableSchema(t.Schema), t.PartitionBy)
	var err error
	if t.Location == "" {
		t.Kind = catalog.Managed
		if t.Location, err = s.server.tables.Place(t.Database, t.Name); err != nil {
			return t, err
		}
	} else {
		t.Kind = catalog.External
		if t.Location, err = fs.ParseLocation(t.Location); err != nil {
			return t, err
		}
	}
	if err := s.server.tables.Create(t, replace); err != nil {
		return t, err
	}
	return t, s.server.Runtime.FS.MkdirAll(t.Location)
}

// partitionsLast moves partition columns behind the others, where they are when files are read.
func partitionsLast(st types.StructType, by []string) types.StructType {
	out := types.StructType{}
	isPart := func(name string) bool {
		for _, p := range by {
			if strings.EqualFold(p, name) {
				return true
			}
		}
		return false
	}
	for _, f := range st.Fields {
		if !isPart(f.Name) {
			out.Fields = append(out.Fields, f)
		}
	}
	for _, p := range by {
		out.Fields = append(out.Fields, st.Fields[st.IndexFold(p)])
	}
	return out
}

// createTable runs CREATE TABLE and its kin.
func (s *Session) createTable(ctx context.Context, st *plan.CreateTable) error {
	db, name, err := s.tableName(st.Name)
	if err != nil {
		return err
	}
	old, exists, err := s.server.tables.Find(db, name)
	if err != nil {
		return err
	}
	switch {
	case exists && st.IfNotExists:
		return nil
	case exists && !st.Replace:
		return errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(catalog.Name, db, name))
	case !exists && st.MustExist:
		return s.notFound(st.Name)
	case len(st.ClusterBy) > 0:
		return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE with CLUSTER BY")
	}
	t := catalog.Table{
		Database: db, Name: name, Format: st.Format, Location: st.Location, Options: st.Options, Properties: st.Properties, Comment: st.Comment,
	}
	if p, ok := sink.Options(st.Options).Get("path"); ok && t.Location == "" {
		t.Location = p
	}
	for _, c := range st.Columns {
		if c.Default != nil || c.Generated != nil {
			return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE with default or generated columns")
		}
		t.Schema.Fields = append(t.Schema.Fields, c.Field)
	}
	for _, p := range st.Partitions {
		col, ok := p.Args[0].(*plan.Column)
		if p.Name != "identity" || !ok {
			return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE partitioned by "+p.Name)
		}
		t.PartitionBy = append(t.PartitionBy, col.Parts[len(col.Parts)-1])
	}
	if exists {
		if err := s.dropFiles(old); err != nil {
			return err
		}
	}
	if st.Query == nil {
		if len(t.Schema.Fields) == 0 {
			// Files that are there already tell their columns.
			n, err := s.Analyze(ctx, &plan.Read{Format: orDefault(t.Format, s.Conf.Value(KeySource)), Options: t.Options, Paths: []string{t.Location}})
			if err != nil {
				return err
			}
			t.Schema = plan.Schema(n)
		}
		_, err = s.newTable(t, st.Replace)
		return err
	}
	n, err := s.Analyze(ctx, st.Query)
	if err != nil {
		return err
	}
	t.Schema = plan.Schema(n)
	if t, err = s.newTable(t, st.Replace); err != nil {
		return err
	}
	_, err = s.fill(ctx, t, n, sink.Append, nil)
	return s.orUndo(t, err)
}

// orUndo removes a table that was made for rows which did not come.
func (s *Session) orUndo(t catalog.Table, err error) error {
	if err == nil {
		return nil
	}
	if _, _, derr := s.server.tables.Drop(t.Database, t.Name); derr != nil {
		return errors.Join(err, derr)
	}
	return errors.Join(err, s.dropFiles(t))
}

func orDefault(v, otherwise string) string {
	if v == "" {
		return otherwise
	}
	return v
}
