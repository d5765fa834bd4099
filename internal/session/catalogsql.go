package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// runCatalog runs the statements about tables and databases.
func (s *Session) runCatalog(ctx context.Context, st plan.Statement) (plan.Node, error) {
	switch st := st.(type) {
	case *plan.CreateTable:
		return after(s.createTable(ctx, st))
	case *plan.DropTable:
		if len(st.Name) == 1 && s.DropView(st.Name[0], false) {
			return nothing()
		}
		return after(s.dropTable(st))
	case *plan.Truncate:
		return after(s.truncate(ctx, st))
	case *plan.AnalyzeTable:
		return after(s.analyzeTable(ctx, st))
	case *plan.RepairTable:
		return after(s.repairTable(st))
	case *plan.Insert:
		return after(s.insert(ctx, st))
	case *plan.CreateNamespace:
		return after(s.createDatabase(st))
	case *plan.DropNamespace:
		return after(s.dropDatabase(st))
	case *plan.AlterTable:
		return after(s.alterTable(ctx, st))
	case *plan.AlterNamespace:
		return after(s.alterNamespace(st))
	case *plan.CommentOn:
		return after(s.commentOn(st))
	case *plan.CreateTableLike:
		return after(s.createTableLike(ctx, st))
	case *plan.InsertDirectory:
		return after(s.insertDirectory(ctx, st))
	case *plan.Inserts:
		for _, one := range st.Each {
			if err := s.insert(ctx, one); err != nil {
				return nil, err
			}
		}
		return nothing()
	case *plan.LoadData:
		return after(s.loadData(st))
	case *plan.UseNamespace:
		if len(st.Name) == 1 && strings.EqualFold(st.Name[0], catalog.Name) {
			return nothing() // the only catalog, where the session is
		}
		if len(st.Name) > 2 {
			return nil, errclass.New("SCHEMA_NOT_FOUND", "schemaName", errclass.Ident(append([]string{catalog.Name}, st.Name...)...))
		}
		name, err := s.namespaceName(st.Name)
		if err != nil {
			return nil, err
		}
		s.SetNamespace(name)
		return nothing()
	case *plan.SetCatalog:
		if !strings.EqualFold(st.Name, catalog.Name) {
			return nil, errclass.New("CATALOG_NOT_FOUND", "catalogName", errclass.Ident(st.Name), "config", errclass.Conf("spark.sql.catalog."+st.Name))
		}
		return nothing()
	case *plan.Delete, *plan.Update, *plan.Merge, *plan.Vacuum, *plan.DescribeHistory, *plan.DescribeDetail, *plan.Optimize, *plan.Restore,
		*plan.AddConstraint, *plan.DropConstraint:
		return s.runChange(ctx, st)
	}
	return s.runShow(ctx, st)
}

// runShow runs the statements that tell about tables and databases.
func (s *Session) runShow(ctx context.Context, st plan.Statement) (plan.Node, error) {
	switch st := st.(type) {
	case *plan.ShowTables:
		if st.Extended {
			return s.showExtended(ctx, st)
		}
		return s.showTables(st.Namespace, st.Pattern)
	case *plan.ShowViews:
		return s.showViews(st.Namespace, st.Pattern)
	case *plan.ShowNamespaces:
		return s.showNamespaces(st)
	case *plan.ShowCatalogs:
		return plan.LocalRows(types.Struct(text1("catalog")), filterRows([]types.Row{{catalog.Name}}, 0, st.Pattern))
	case *plan.ShowColumns:
		return s.showColumns(ctx, st)
	case *plan.ShowFunctions:
		return s.showFunctions(st)
	case *plan.ShowCurrentNamespace:
		return plan.LocalRows(types.Struct(text1("catalog"), text1("namespace")), []types.Row{{catalog.Name, s.Namespace()}})
	case *plan.DescribeFunction:
		return s.describeFunction(st)
	case *plan.ShowProperties:
		return s.showProperties(ctx, st)
	case *plan.ShowPartitions:
		return s.showPartitions(ctx, st.Table, st.Partition, "SHOW PARTITIONS")
	case *plan.ShowCreateTable:
		return s.showCreateTable(st)
	case *plan.DescribeTable:
		return s.describeTable(ctx, st)
	case *plan.DescribeNamespace:
		return s.describeNamespace(st)
	}
	name := strings.TrimPrefix(fmt.Sprintf("%T", st), "*plan.")
	return nil, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", name)
}

// namespaceName checks the name of a database and gives its one part; the current one for no parts.
func (s *Session) namespaceName(parts []string) (string, error) {
	name := s.Namespace()
	switch {
	case len(parts) == 1:
		name = parts[0]
	case len(parts) == 2 && strings.EqualFold(parts[0], catalog.Name):
		name = parts[1]
	case len(parts) > 0:
		return "", errclass.New("REQUIRES_SINGLE_PART_NAMESPACE", "sessionCatalog", catalog.Name, "identifier", errclass.Ident(parts...))
	}
	d, err := s.server.tables.Database(name)
	return d.Name, err
}

func (s *Session) createDatabase(st *plan.CreateNamespace) error {
	if len(st.Name) == 2 && strings.EqualFold(st.Name[0], catalog.Name) {
		st.Name = st.Name[1:]
	}
	if len(st.Name) != 1 {
		return errclass.New("REQUIRES_SINGLE_PART_NAMESPACE", "sessionCatalog", catalog.Name, "identifier", errclass.Ident(st.Name...))
	}
	if _, err := s.server.tables.Database(st.Name[0]); err == nil && st.IfNotExists {
		return nil
	}
	if st.Collation != "" {
		return errclass.New("UNSUPPORTED_FEATURE.SCHEMA_LEVEL_COLLATIONS")
	}
	if err := validName(st.Name[0]); err != nil {
		return err
	}
	comment := st.Comment
	if c, ok := st.Properties["comment"]; ok && comment == "" {
		comment = c
		delete(st.Properties, "comment")
	}
	d := catalog.Database{Name: strings.ToLower(st.Name[0]), Comment: comment, Properties: st.Properties}
	if st.Location != nil {
		var err error
		if d.Location, err = s.databaseLocation(*st.Location); err != nil {
			return err
		}
	}
	return s.server.tables.CreateDatabase(d)
}

func (s *Session) dropDatabase(st *plan.DropNamespace) error {
	if _, err := s.namespaceName(st.Name); errclass.Has(err, "SCHEMA_NOT_FOUND") && st.IfExists {
		return nil
	}
	err := s.server.tables.DropDatabase(st.Name[len(st.Name)-1], st.Cascade)
	if errclass.Has(err, "SCHEMA_NOT_FOUND") && st.IfExists {
		return nil
	}
	return err
}

// tempViews are the temporary views that a listing of a database shows: those of the session, after the global ones in their own
// database.
func (s *Session) tempViews(namespace string) []types.Row {
	var rows []types.Row
	if strings.EqualFold(namespace, globalNamespace) {
		for _, name := range s.server.globals.names() {
			rows = append(rows, types.Row{globalNamespace, name, true})
		}
	}
	for _, name := range s.views.names() {
		rows = append(rows, types.Row{"", name, true})
	}
	return rows
}

func (s *Session) listedNamespace(parts []string) (string, error) {
	if len(parts) == 1 && strings.EqualFold(parts[0], globalNamespace) {
		return globalNamespace, nil
	}
	return s.namespaceName(parts)
}

func filterRows(rows []types.Row, column int, pattern string) []types.Row {
	var out []types.Row
	for _, r := range rows {
		if name, _ := r[column].(string); like(pattern, name) {
			out = append(out, r)
		}
	}
	return out
}

func (s *Session) showTables(namespace []string, pattern string) (plan.Node, error) {
	rows, err := s.listed(namespace, pattern, false)
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(types.Struct(text1("namespace"), text1("tableName"), yesNo("isTemporary")), rows)
}

func (s *Session) showViews(namespace []string, pattern string) (plan.Node, error) {
	rows, err := s.listed(namespace, pattern, true)
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(types.Struct(text1("namespace"), text1("viewName"), yesNo("isTemporary")), rows)
}

func (s *Session) listed(namespace []string, pattern string, onlyViews bool) ([]types.Row, error) {
	ns, err := s.listedNamespace(namespace)
	if err != nil {
		return nil, err
	}
	tables, err := s.server.tables.Tables(ns)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, t := range tables {
		if !onlyViews || t.Kind == catalog.View {
			rows = append(rows, types.Row{t.Database, t.Name, false})
		}
	}
	return filterRows(append(rows, s.tempViews(ns)...), 1, pattern), nil
}

// isTemp tells whether a name means a temporary view.
func (s *Session) isTemp(parts []string) bool {
	_, ok := lookup{s: s}.LookupView(parts)
	return ok
}
