package session

import (
	"context"
	"errors"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
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
func (s *Session) lookupTable(ctx context.Context, n *plan.Named) (plan.Node, error) {
	if path, ok := s.deltaPath(n.Parts); ok {
		return deltatable.Read(ctx, s, path, n, nil)
	}
	db, name, err := s.tableName(n.Parts)
	if err != nil {
		return nil, err
	}
	if n.Home != "" && len(n.Parts) == 1 {
		db = n.Home
	}
	t, ok, err := s.server.tables.Find(db, name)
	if err != nil || !ok {
		return nil, err
	}
	if deltatable.Is(t.Format) {
		return deltatable.Read(ctx, s, t.Location, n, t.Options)
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
	if len(t.Schema.Fields) > 0 && t.Elsewhere != catalog.Told {
		r.Schema = types.JSON(t.Schema)
	}
	switch {
	case t.Elsewhere != "":
		if t.Kind == catalog.External {
			r.Paths = []string{t.Location}
		}
	case t.Location != "":
		r.Paths = []string{t.Location}
		if !stream {
			all[files.OptionMaybeMissing] = "true"
			if len(t.Unknown) > 0 {
				all[files.OptionLeaveOut] = strings.Join(t.Unknown, "\n")
			}
		}
	}
	return r
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
		return false, wrongKind(t, "DROP VIEW", "VIEW or METRIC_VIEW", "DROP TABLE")
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
	_, ok, err := s.server.tables.Drop(db, name)
	if err == nil && !ok && !st.IfExists {
		err = s.notFound(st.Name)
	}
	return err
}

func wrongKind(t catalog.Table, operation, required, alternative string) error {
	return errclass.New("WRONG_COMMAND_FOR_OBJECT_TYPE", "operation", operation, "requiredType", required,
		"objectName", strings.Join([]string{catalog.Name, t.Database, t.Name}, "."), "foundType", string(t.Kind), "alternative", alternative)
}

// newTable makes a table known. It has the columns that were given, or those of the query whose rows go into it.
func (s *Session) newTable(t catalog.Table) (catalog.Table, error) {
	return s.enterTable(t, func(t catalog.Table) error { return s.server.tables.Create(t, false) })
}

// filledTable makes a table known, for good when fill has brought its rows.
func (s *Session) filledTable(t catalog.Table, fill func(catalog.Table) error) error {
	t, err := s.enterTable(t, s.server.tables.Begin)
	if err != nil {
		return err
	}
	if err = fill(t); err == nil {
		if now, ok, ferr := s.server.tables.Find(t.Database, t.Name); ok && ferr == nil {
			t = now // with what writing has told
		}
		err = s.server.tables.Create(t, true)
	}
	return s.orUndo(t, err)
}

// replacedTable puts a table in the place of old. Its rows are written beside those that are there, which stay until the new ones are
// complete: nothing that fails, and no crash, leaves less than one of the two.
func (s *Session) replacedTable(old, t catalog.Table, fill func(t catalog.Table, mode sink.Mode) error) error {
	t, err := s.planTable(t)
	if err != nil {
		return err
	}
	t.Unknown = nil // the files that are there go
	if t.Kind == catalog.External {
		if err := fill(t, sink.Overwrite); err != nil {
			return err
		}
		return s.server.tables.Replace(t, "")
	}
	if old.Kind == catalog.Managed {
		t.Location = old.Location
	} else if err := s.server.tables.Vacant(t); err != nil {
		return err
	}
	folder, err := s.server.tables.Beside(t)
	if err != nil {
		return err
	}
	beside := t
	beside.Location = folder
	if err := fill(beside, sink.Append); err != nil {
		return errors.Join(err, s.server.tables.Abandon(t, folder))
	}
	if err := s.server.tables.Replace(t, folder); err != nil {
		return err
	}
	return s.RefreshPath(t.Location)
}

func (s *Session) enterTable(t catalog.Table, enter func(catalog.Table) error) (catalog.Table, error) {
	t, err := s.planTable(t)
	if err != nil {
		return t, err
	}
	if t.Kind == catalog.Managed {
		if err := s.server.tables.Vacant(t); err != nil {
			return t, err
		}
	}
	if err := s.server.Runtime.FS.MkdirAll(t.Location); err != nil {
		return t, err
	}
	return t, enter(t)
}

// planTable works out what a new table will be.
func (s *Session) planTable(t catalog.Table) (catalog.Table, error) {
	if t.Format == "" {
		t.Format = s.Conf.Value(setting.Source)
	}
	if source.Lookup(t.Format) == nil && sink.Lookup(t.Format) == nil {
		return t, errclass.New("DATA_SOURCE_NOT_FOUND", "provider", t.Format)
	}
	t.Created = s.server.Runtime.Clock.Now().UTC()
	for _, p := range t.PartitionBy {
		if t.Schema.IndexFold(p) < 0 {
			var cols []string
			for _, name := range t.Schema.Names() {
				cols = append(cols, errclass.Ident(name))
			}
			return t, errclass.New("COLUMN_NOT_DEFINED_IN_TABLE", "colType", "partition", "colName", errclass.Ident(p),
				"tableName", errclass.Ident(catalog.Name, t.Database, t.Name), "tableCols", strings.Join(cols, ", "))
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
	if err := checkBuckets(&t); err != nil {
		return t, err
	}
	t.Unknown, err = s.strangers(t)
	return t, err
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

// orUndo removes a table that was made for rows which did not come.
func (s *Session) orUndo(t catalog.Table, err error) error {
	if err == nil {
		return nil
	}
	_, _, derr := s.server.tables.Drop(t.Database, t.Name)
	return errors.Join(err, derr)
}

func orDefault(v, otherwise string) string {
	if v == "" {
		return otherwise
	}
	return v
}
