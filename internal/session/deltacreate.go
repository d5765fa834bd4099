package session

import (
	"context"

	"github.com/millrace/millrace/internal/catalog"
	conn "github.com/millrace/millrace/internal/connector/delta"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// makesDelta tells whether CREATE TABLE is about a Delta table.
func (s *Session) makesDelta(st *plan.CreateTable) bool {
	if _, byPath := s.deltaPath(st.Name); byPath {
		return true
	}
	return deltatable.Is(orDefault(st.Format, s.Conf.Value(setting.Source)))
}

// createDeltaTable runs CREATE TABLE ... USING delta and its kin.
func (s *Session) createDeltaTable(ctx context.Context, st *plan.CreateTable) error {
	t := catalog.Table{Format: deltatable.Format, Location: st.Location, Options: st.Options, Properties: st.Properties, Comment: st.Comment}
	if p, ok := sink.Options(st.Options).Get("path"); ok && t.Location == "" {
		t.Location = p
	}
	path, byPath := s.deltaPath(st.Name)
	if byPath {
		t.Location = path
	} else {
		var err error
		if t.Database, t.Name, err = s.tableName(st.Name); err != nil {
			return err
		}
		old, exists, err := s.server.tables.Find(t.Database, t.Name)
		switch {
		case err != nil:
			return err
		case exists && st.IfNotExists:
			return nil
		case exists && !st.Replace:
			return errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(catalog.Name, t.Database, t.Name))
		case !exists && st.MustExist:
			return s.notFound(st.Name)
		case exists && deltatable.Is(old.Format) && t.Location == "":
			t.Location = old.Location
			defer func() { _ = s.keepKind(old) }()
		case exists:
			if _, _, err := s.server.tables.Drop(t.Database, t.Name); err != nil {
				return err
			}
		}
	}
	if st.Constrained {
		return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE of a Delta table with constraints; add them with ALTER TABLE")
	}
	if len(st.ClusterBy) > 0 {
		return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE with CLUSTER BY")
	}
	for _, c := range st.Columns {
		switch {
		case c.Refused != "" && c.Generated == nil:
			return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE of a Delta table with "+c.Refused)
		case c.Default != nil:
			return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE of a Delta table with the default of a column (the table feature allowColumnDefaults)")
		}
		t.Schema.Fields = append(t.Schema.Fields, deltatable.ColumnField(c))
	}
	for _, p := range st.Partitions {
		col, ok := p.Args[0].(*plan.Column)
		if p.Name != "identity" || !ok {
			return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE TABLE partitioned by "+p.Name)
		}
		t.PartitionBy = append(t.PartitionBy, col.Parts[len(col.Parts)-1])
	}
	return s.createDelta(ctx, st, t, byPath)
}

// keepKind gives a table that was made anew at its place the kind that it had: its files still go with it, or stay.
func (s *Session) keepKind(old catalog.Table) error {
	t, ok, err := s.server.tables.Find(old.Database, old.Name)
	if err != nil || !ok || t.Kind == old.Kind {
		return err
	}
	t.Kind = old.Kind
	return s.server.tables.Create(t, true)
}

// createDelta runs CREATE TABLE and its kin for a Delta table, in the catalog or at a path. t is what the statement says; its location is
// empty for one that the warehouse is to hold.
func (s *Session) createDelta(ctx context.Context, st *plan.CreateTable, t catalog.Table, byPath bool) error {
	managed := false
	if t.Location == "" {
		var err error
		if t.Location, err = s.server.tables.Place(t.Database, t.Name); err != nil {
			return err
		}
		managed = true
	}
	place, err := conn.Place(t.Location)
	if err != nil {
		return err
	}
	t.Location, t.Format = place, deltatable.Format
	d, err := deltatable.At(ctx, s, t.Location)
	if err != nil {
		return err
	}
	var query plan.Node
	if st.Query != nil {
		if query, err = s.Analyze(ctx, st.Query); err != nil {
			return err
		}
		t.Schema, _ = types.Nullable(plan.Schema(query)).(types.StructType)
	}
	switch {
	case d.Exists() && byPath && !st.Replace:
		if st.IfNotExists {
			return nil
		}
		if err := d.Same(t, st); err != nil || st.Query == nil {
			return err
		}
	case d.Exists() && !st.Replace:
		if st.Query != nil {
			return errclass.New("DELTA_PATH_EXISTS", "path", t.Location)
		}
		if err := d.Same(t, st); err != nil {
			return err
		}
		return s.enterDelta(t, managed, false)
	}
	if byPath || d.Exists() {
		if err := d.Define(ctx, t, st, query, managed); err != nil || byPath {
			return err
		}
		return s.enterDelta(t, managed, st.Replace)
	}
	entered := s.deltaEntry(t, managed)
	if err := s.server.tables.Begin(entered); err != nil {
		return err
	}
	if err = d.Define(ctx, t, st, query, managed); err == nil {
		err = s.server.tables.Create(entered, true)
	}
	return s.orUndo(entered, err)
}

// enterDelta notes a table in the catalog.
func (s *Session) enterDelta(t catalog.Table, managed, replace bool) error {
	return s.server.tables.Create(s.deltaEntry(t, managed), replace)
}

// deltaEntry is what the catalog has to know of a table.
func (s *Session) deltaEntry(t catalog.Table, managed bool) catalog.Table {
	t.Kind = catalog.External
	if managed {
		t.Kind = catalog.Managed
	}
	t.Created = s.server.Runtime.Clock.Now().UTC()
	t.Properties, t.PartitionBy, t.Schema = nil, nil, types.StructType{} // the log has them
	return t
}

// newDeltaSinkTable makes the Delta table that a stream is to be written to.
func (s *Session) newDeltaSinkTable(ctx context.Context, t catalog.Table) (catalog.Table, error) {
	t.Schema, _ = types.Nullable(t.Schema).(types.StructType)
	if err := s.createDelta(ctx, &plan.CreateTable{}, t, false); err != nil {
		return t, err
	}
	made, _, err := s.server.tables.Find(t.Database, t.Name)
	return made, err
}
