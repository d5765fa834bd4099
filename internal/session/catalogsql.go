package session

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
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
		return after(s.truncate(st))
	case *plan.Insert:
		return after(s.insert(ctx, st))
	case *plan.CreateNamespace:
		return after(s.createDatabase(st))
	case *plan.DropNamespace:
		return after(s.dropDatabase(st))
	case *plan.UseNamespace:
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
	}
	return s.runShow(ctx, st)
}

// runShow runs the statements that tell about tables and databases.
func (s *Session) runShow(ctx context.Context, st plan.Statement) (plan.Node, error) {
	switch st := st.(type) {
	case *plan.ShowTables:
		if st.Extended {
			break
		}
		return s.showTables(st.Namespace, st.Pattern)
	case *plan.ShowViews:
		return s.showViews(st.Namespace, st.Pattern)
	case *plan.ShowNamespaces:
		all, err := s.server.tables.Databases()
		if err != nil {
			return nil, err
		}
		var rows []types.Row
		for _, d := range all {
			rows = append(rows, types.Row{d.Name})
		}
		return LocalRows(types.Struct(text1("namespace")), filterRows(rows, 0, st.Pattern))
	case *plan.ShowCatalogs:
		return LocalRows(types.Struct(text1("catalog")), filterRows([]types.Row{{catalog.Name}}, 0, st.Pattern))
	case *plan.ShowColumns:
		n, err := s.relation(ctx, append(append([]string{}, st.Namespace...), st.Table...))
		if err != nil {
			return nil, err
		}
		var rows []types.Row
		for _, a := range n.Output() {
			rows = append(rows, types.Row{a.Name})
		}
		return LocalRows(types.Struct(text1("col_name")), rows)
	case *plan.ShowFunctions:
		var rows []types.Row
		for _, name := range FunctionNames() {
			if st.Scope != "USER" && like(st.Pattern, name) {
				rows = append(rows, types.Row{name})
			}
		}
		return LocalRows(types.Struct(text1("function")), rows)
	case *plan.ShowProperties:
		return s.showProperties(ctx, st)
	case *plan.ShowCreateTable:
		return s.showCreateTable(st.Table)
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
	d := catalog.Database{Name: strings.ToLower(st.Name[0]), Comment: st.Comment, Properties: st.Properties}
	if st.Location != "" {
		var err error
		if d.Location, err = fs.ParseLocation(st.Location); err != nil {
			return err
		}
		if d.Location, err = filepath.Abs(d.Location); err != nil {
			return err
		}
	}
	return s.server.tables.CreateDatabase(d)
}

func (s *Session) dropDatabase(st *plan.DropNamespace) error {
	if _, err := s.namespaceName(st.Name); errclass.Has(err, "SCHEMA_NOT_FOUND") && st.IfExists {
		return nil
	}
	tables, err := s.server.tables.DropDatabase(st.Name[len(st.Name)-1], st.Cascade)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := s.dropFiles(t); err != nil {
			return err
		}
	}
	return nil
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
	return LocalRows(types.Struct(text1("namespace"), text1("tableName"), yesNo("isTemporary")), rows)
}

func (s *Session) showViews(namespace []string, pattern string) (plan.Node, error) {
	rows, err := s.listed(namespace, pattern, true)
	if err != nil {
		return nil, err
	}
	return LocalRows(types.Struct(text1("namespace"), text1("viewName"), yesNo("isTemporary")), rows)
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
	_, ok := lookup{s}.LookupView(parts)
	return ok
}

func (s *Session) showProperties(ctx context.Context, st *plan.ShowProperties) (plan.Node, error) {
	if s.isTemp(st.Table) {
		return LocalRows(keyValue, nil)
	}
	t, err := s.table(st.Table)
	if err != nil {
		return nil, err
	}
	if st.Key != "" {
		v, ok := t.Properties[st.Key]
		if !ok {
			v = "Table " + catalog.Name + "." + t.Database + "." + t.Name + " does not have property: " + st.Key
		}
		return LocalRows(keyValue, []types.Row{{st.Key, v}})
	}
	var rows []types.Row
	for _, k := range slices.Sorted(maps.Keys(t.Properties)) {
		rows = append(rows, types.Row{k, t.Properties[k]})
	}
	return LocalRows(keyValue, rows)
}

func (s *Session) showCreateTable(parts []string) (plan.Node, error) {
	if s.isTemp(parts) {
		return nil, errclass.New("EXPECT_PERMANENT_VIEW_NOT_TEMP", "viewName", errclass.Ident(parts...), "operation", "SHOW CREATE TABLE")
	}
	t, err := s.table(parts)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	name := catalog.Name + "." + t.Database + "." + t.Name
	if t.Kind == catalog.View {
		fmt.Fprintf(&b, "CREATE VIEW %s (\n  %s)\nAS %s\n", name, strings.Join(t.Schema.Names(), ",\n  "), t.Text)
	} else {
		var cols []string
		for _, f := range t.Schema.Fields {
			cols = append(cols, f.Name+" "+f.Type.SQL())
		}
		fmt.Fprintf(&b, "CREATE TABLE %s (\n  %s)\nUSING %s\n", name, strings.Join(cols, ",\n  "), t.Format)
		if len(t.PartitionBy) > 0 {
			fmt.Fprintf(&b, "PARTITIONED BY (%s)\n", strings.Join(t.PartitionBy, ", "))
		}
		if t.Comment != "" {
			fmt.Fprintf(&b, "COMMENT %s\n", errclass.Text(t.Comment))
		}
		if t.Kind == catalog.External {
			fmt.Fprintf(&b, "LOCATION %s\n", errclass.Text(t.Location))
		}
	}
	return LocalRows(types.Struct(text1("createtab_stmt")), []types.Row{{b.String()}})
}

func (s *Session) describeTable(ctx context.Context, st *plan.DescribeTable) (plan.Node, error) {
	n, err := s.relation(ctx, st.Table)
	if err != nil {
		return nil, err
	}
	schema := plan.Schema(n)
	if len(st.Column) > 0 {
		return describeColumn(schema, st.Column)
	}
	rows := columnRows(schema)
	if s.isTemp(st.Table) {
		return LocalRows(describedColumns, rows)
	}
	t, err := s.table(st.Table)
	if err != nil {
		return LocalRows(describedColumns, rows)
	}
	if len(t.PartitionBy) > 0 {
		rows = append(rows, types.Row{"# Partition Information", "", ""}, types.Row{"# col_name", "data_type", "comment"})
		rows = append(rows, columnRows(types.StructType{Fields: t.Schema.Fields[len(t.Schema.Fields)-len(t.PartitionBy):]})...)
	}
	if st.Extended {
		rows = append(rows,
			types.Row{"", "", ""}, types.Row{"# Detailed Table Information", "", ""}, types.Row{"Catalog", catalog.Name, ""},
			types.Row{"Database", t.Database, ""}, types.Row{"Table", t.Name, ""},
			types.Row{"Created Time", t.Created.Format("Mon Jan 02 15:04:05 MST 2006"), ""}, types.Row{"Type", string(t.Kind), ""})
		if t.Format != "" {
			rows = append(rows, types.Row{"Provider", t.Format, ""}, types.Row{"Location", fs.Location(t.Location), ""})
		}
		if t.Text != "" {
			rows = append(rows, types.Row{"View Text", t.Text, ""})
		}
	}
	return LocalRows(describedColumns, rows)
}

func describeColumn(schema types.StructType, name []string) (plan.Node, error) {
	i := schema.IndexFold(strings.Join(name, "."))
	if i < 0 {
		return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(name...), "proposal", identList(schema.Names()))
	}
	f := schema.Fields[i]
	comment, ok := f.Comment()
	if !ok {
		comment = "NULL"
	}
	return LocalRows(types.Struct(text1("info_name"), text1("info_value")), []types.Row{
		{"col_name", f.Name}, {"data_type", f.Type.SimpleString()}, {"comment", comment},
	})
}

func (s *Session) describeNamespace(st *plan.DescribeNamespace) (plan.Node, error) {
	name, err := s.namespaceName(st.Name)
	if err != nil {
		return nil, err
	}
	d, err := s.server.tables.Database(name)
	if err != nil {
		return nil, err
	}
	return LocalRows(types.Struct(text1("info_name"), maybe("info_value")), []types.Row{
		{"Catalog Name", catalog.Name}, {"Namespace Name", d.Name}, {"Comment", d.Comment}, {"Location", fs.Location(d.Location)},
	})
}
