package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// qualified is a table's whole name: catalog, database, table.
func (s *Session) qualified(parts []string) []string {
	switch len(parts) {
	case 1:
		return []string{CatalogName, s.Namespace(), parts[0]}
	case 2:
		return append([]string{CatalogName}, parts...)
	}
	return parts
}

// Namespace is the current database.
func (s *Session) Namespace() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.namespace
}

// namespaceName checks the name of a database and gives its one part.
func (s *Session) namespaceName(parts []string) (string, error) {
	name := s.Namespace()
	switch {
	case len(parts) == 1:
		name = parts[0]
	case len(parts) == 2 && strings.EqualFold(parts[0], CatalogName):
		name = parts[1]
	case len(parts) > 0:
		return "", errclass.New("REQUIRES_SINGLE_PART_NAMESPACE", "sessionCatalog", CatalogName, "namespace", errclass.Ident(parts...))
	}
	if !s.namespaceExists(name) {
		return "", errclass.New("SCHEMA_NOT_FOUND", "schemaName", errclass.Ident(CatalogName, name))
	}
	return name, nil
}

func (s *Session) namespaceExists(name string) bool { return strings.EqualFold(name, defaultNamespace) }

// lookupTable finds a table that is no temporary view; nil when there is none.
func (s *Session) lookupTable(context.Context, *plan.Named) (plan.Node, error) {
	return nil, nil
}

func (s *Session) createPersistentView(_ context.Context, _ *plan.CreateView) (plan.Node, error) {
	return nil, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE VIEW without TEMPORARY")
}

func (s *Session) dropPersistentView(context.Context, []string) (bool, error) { return false, nil }

// runCatalog runs the statements about tables and databases.
func (s *Session) runCatalog(ctx context.Context, st plan.Statement) (plan.Node, error) {
	switch st := st.(type) {
	case *plan.ShowTables:
		if st.Extended {
			break
		}
		return s.showTables(st.Namespace, st.Pattern)
	case *plan.ShowViews:
		return s.showViews(st.Namespace, st.Pattern)
	case *plan.ShowNamespaces:
		var rows []types.Row
		if like(st.Pattern, defaultNamespace) {
			rows = append(rows, types.Row{defaultNamespace})
		}
		return LocalRows(types.Struct(text1("namespace")), rows)
	case *plan.ShowCatalogs:
		var rows []types.Row
		if like(st.Pattern, CatalogName) {
			rows = append(rows, types.Row{CatalogName})
		}
		return LocalRows(types.Struct(text1("catalog")), rows)
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
	case *plan.DescribeTable:
		return s.describeTable(ctx, st)
	case *plan.UseNamespace:
		name, err := s.namespaceName(st.Name)
		if err != nil {
			return nil, err
		}
		s.SetNamespace(name)
		return nothing()
	case *plan.SetCatalog:
		if !strings.EqualFold(st.Name, CatalogName) {
			return nil, errclass.New("CATALOG_NOT_FOUND", "catalogName", errclass.Ident(st.Name), "config", errclass.Conf("spark.sql.catalog."+st.Name))
		}
		return nothing()
	case *plan.DropTable:
		if len(st.Name) == 1 && s.DropView(st.Name[0], false) {
			return nothing()
		}
		if st.IfExists {
			return nothing()
		}
		return nil, s.notFound(st.Name)
	}
	name := strings.TrimPrefix(fmt.Sprintf("%T", st), "*plan.")
	return nil, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", name)
}

// SetNamespace makes a database the current one.
func (s *Session) SetNamespace(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.namespace = name
}

// FunctionNames are the names of all functions, sorted.
func FunctionNames() []string {
	return mergeSorted(fn.Names(), agg.Names())
}

func mergeSorted(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case len(a) > 0 && a[0] == b[0]:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// TempViews are the names of the temporary views that a listing of a database shows: those of the session, after the global ones
// in their own database.
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
	ns, err := s.listedNamespace(namespace)
	if err != nil {
		return nil, err
	}
	return LocalRows(types.Struct(text1("namespace"), text1("tableName"), yesNo("isTemporary")), filterRows(s.tempViews(ns), 1, pattern))
}

func (s *Session) showViews(namespace []string, pattern string) (plan.Node, error) {
	ns, err := s.listedNamespace(namespace)
	if err != nil {
		return nil, err
	}
	return LocalRows(types.Struct(text1("namespace"), text1("viewName"), yesNo("isTemporary")), filterRows(s.tempViews(ns), 1, pattern))
}

func (s *Session) describeTable(ctx context.Context, st *plan.DescribeTable) (plan.Node, error) {
	n, err := s.relation(ctx, st.Table)
	if err != nil {
		return nil, err
	}
	schema := plan.Schema(n)
	if len(st.Column) == 0 {
		return describeColumns(schema)
	}
	i := schema.IndexFold(strings.Join(st.Column, "."))
	if i < 0 {
		return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(st.Column...),
			"proposal", errclass.Ident(schema.Names()...))
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

// WriteTable writes a plan's rows to a table. insert asks for a table that is there.
func (s *Session) WriteTable(_ context.Context, name string, _ Write, _ bool) ([]Observation, error) {
	return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "writing the table "+name)
}

// TableSink is the sink of a stream that is written to a table. format is what the writer asked for, or "".
func (s *Session) TableSink(_ context.Context, name, _ string) (sink.Format, error) {
	return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "streaming into the table "+name)
}
