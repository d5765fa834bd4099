package session

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// What spark.catalog answers, as relations with the columns that clients expect.

func maybe(name string) types.Field { return types.NewField(name, types.String) }

var (
	databaseColumns = types.Struct(maybe("name"), maybe("catalog"), maybe("description"), maybe("locationUri"))
	tableColumns    = types.Struct(maybe("name"), maybe("catalog"), types.NewField("namespace", types.ArrayOf(types.String)),
		maybe("description"), maybe("tableType"), yesNo("isTemporary"))
	functionColumns = types.Struct(maybe("name"), maybe("catalog"), types.NewField("namespace", types.ArrayOf(types.String)),
		maybe("description"), maybe("className"), yesNo("isTemporary"))
	columnColumns = types.Struct(maybe("name"), maybe("description"), maybe("dataType"), yesNo("nullable"), yesNo("isPartition"),
		yesNo("isBucket"), yesNo("isCluster"))
)

// ListDatabases lists the databases whose names fit a pattern.
func (s *Session) ListDatabases(pattern string) (plan.Node, error) {
	all, err := s.server.tables.Databases()
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, d := range all {
		rows = append(rows, databaseRow(d))
	}
	return plan.LocalRows(databaseColumns, filterRows(rows, 0, pattern))
}

func databaseRow(d catalog.Database) types.Row {
	return types.Row{d.Name, catalog.Name, d.Comment, fs.Location(d.Location)}
}

// GetDatabase describes a database.
func (s *Session) GetDatabase(name string) (plan.Node, error) {
	name, err := s.namespaceName(strings.Split(name, "."))
	if err != nil {
		return nil, err
	}
	d, err := s.server.tables.Database(name)
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(databaseColumns, []types.Row{databaseRow(d)})
}

// DatabaseExists looks for a database.
func (s *Session) DatabaseExists(name string) bool {
	_, err := s.namespaceName(strings.Split(name, "."))
	return err == nil
}

// ListTables lists tables and views of a database, the current one when it is empty.
func (s *Session) ListTables(_ context.Context, db, pattern string) (plan.Node, error) {
	var parts []string
	if db != "" {
		parts = strings.Split(db, ".")
	}
	ns, err := s.listedNamespace(parts)
	if err != nil {
		return nil, err
	}
	tables, err := s.server.tables.Tables(ns)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, t := range tables {
		rows = append(rows, tableRow(t))
	}
	for _, v := range s.tempViews(ns) {
		rows = append(rows, viewRow(v[1].(string), v[0].(string)))
	}
	return plan.LocalRows(tableColumns, filterRows(rows, 0, pattern))
}

func tableRow(t catalog.Table) types.Row {
	r := types.Row{t.Name, catalog.Name, []any{t.Database}, nil, string(t.Kind), false}
	if t.Comment != "" {
		r[3] = t.Comment
	}
	return r
}

func viewRow(name, namespace string) types.Row {
	ns := []any{}
	if namespace != "" {
		ns = []any{namespace}
	}
	return types.Row{name, nil, ns, nil, "TEMPORARY", true}
}

// GetTable describes a table or view.
func (s *Session) GetTable(ctx context.Context, parts []string) (plan.Node, error) {
	if _, err := s.relation(ctx, parts); err != nil {
		return nil, err
	}
	if _, ok := (lookup{s: s}).LookupView(parts); ok {
		ns := ""
		if len(parts) == 2 {
			ns = globalNamespace
		}
		return plan.LocalRows(tableColumns, []types.Row{viewRow(parts[len(parts)-1], ns)})
	}
	t, err := s.table(parts)
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(tableColumns, []types.Row{tableRow(t)})
}

// TableExists looks for a table or view.
func (s *Session) TableExists(ctx context.Context, parts []string) (bool, error) {
	_, err := s.relation(ctx, parts)
	if errclass.Has(err, "TABLE_OR_VIEW_NOT_FOUND") || errclass.Has(err, "SCHEMA_NOT_FOUND") {
		return false, nil
	}
	return err == nil, err
}

// ListColumns lists the columns of a table or view.
func (s *Session) ListColumns(ctx context.Context, parts []string) (plan.Node, error) {
	n, err := s.relation(ctx, parts)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, f := range plan.Schema(n).Fields {
		r := types.Row{f.Name, nil, f.Type.SimpleString(), f.Nullable, false, false, false}
		if c, ok := f.Comment(); ok {
			r[1] = c
		}
		rows = append(rows, r)
	}
	return plan.LocalRows(columnColumns, rows)
}

// ListFunctions lists functions.
func (s *Session) ListFunctions(db, pattern string) (plan.Node, error) {
	if db != "" {
		if _, err := s.namespaceName(strings.Split(db, ".")); err != nil {
			return nil, err
		}
	}
	var rows []types.Row
	for _, name := range s.functionNames() {
		if like(pattern, name) {
			rows = append(rows, functionRow(name))
		}
	}
	for _, f := range append(s.routines.all(), s.server.routines.all()...) {
		if like(pattern, f.Name[len(f.Name)-1]) {
			rows = append(rows, routineRow(f))
		}
	}
	return plan.LocalRows(functionColumns, rows)
}

func functionRow(name string) types.Row {
	return types.Row{name, nil, nil, "", "millrace." + name, true}
}

// routineRow is the row about a function that was created.
func routineRow(f *plan.Routine) types.Row {
	n := len(f.Name) - 1
	r := types.Row{f.Name[n], nil, nil, "N/A.", f.Class, n == 0}
	if f.Class == "" {
		r[4] = "sqlFunction."
	}
	if f.Comment != "" {
		r[3] = f.Comment
	}
	if n > 0 {
		r[1], r[2] = f.Name[0], []any{f.Name[1]}
	}
	return r
}

// FunctionExists looks for a function that was not created.
func (s *Session) FunctionExists(name string) bool {
	return fn.Lookup(name) != nil || agg.Lookup(name) != nil || s.namedFunction(name) != nil
}

// functionNames are the names of all functions, those of the program among them.
func (s *Session) functionNames() []string {
	names := FunctionNames()
	for o := s; o != nil; o = o.parent {
		o.mu.Lock()
		names = slices.AppendSeq(names, maps.Keys(o.named))
		o.mu.Unlock()
	}
	names = slices.AppendSeq(names, maps.Keys(s.server.functions))
	slices.Sort(names)
	return slices.Compact(names)
}

// RoutineExists looks for a function of any kind.
func (s *Session) RoutineExists(parts []string) bool {
	return (lookup{s: s}).LookupRoutine(parts) != nil || s.FunctionExists(parts[len(parts)-1]) && builtinPath(parts[:len(parts)-1])
}

func builtinPath(path []string) bool {
	return len(path) == 0 || strings.EqualFold(strings.Join(path, "."), "system.builtin") || strings.EqualFold(strings.Join(path, "."), "builtin")
}

// GetFunction describes a function.
func (s *Session) GetFunction(parts []string) (plan.Node, error) {
	if f := (lookup{s: s}).LookupRoutine(parts); f != nil {
		return plan.LocalRows(functionColumns, []types.Row{routineRow(f)})
	}
	name := parts[len(parts)-1]
	if len(parts) > 3 {
		return nil, errclass.New("REQUIRES_SINGLE_PART_NAMESPACE", "sessionCatalog", catalog.Name, "identifier", errclass.Ident(parts...))
	}
	if !s.FunctionExists(name) || !builtinPath(parts[:len(parts)-1]) {
		return nil, errclass.New("UNRESOLVED_ROUTINE", "routineName", errclass.Ident(name),
			"searchPath", "["+errclass.Ident("system", "builtin")+", "+errclass.Ident("system", "session")+", "+errclass.Ident(catalog.Name, s.Namespace())+"]")
	}
	return plan.LocalRows(functionColumns, []types.Row{functionRow(strings.ToLower(name))})
}

// ListCatalogs lists the one catalog.
func (s *Session) ListCatalogs(pattern string) (plan.Node, error) {
	return plan.LocalRows(types.Struct(maybe("name"), maybe("description")), filterRows([]types.Row{{catalog.Name, nil}}, 0, pattern))
}

// FunctionNames are the names of all functions, sorted.
func FunctionNames() []string {
	names := append(fn.Names(), agg.Names()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// ListViews lists the views of a database, the current one when it is empty.
func (s *Session) ListViews(db, pattern string) (plan.Node, error) {
	var parts []string
	if db != "" {
		parts = strings.Split(db, ".")
	}
	ns, err := s.listedNamespace(parts)
	if err != nil {
		return nil, err
	}
	tables, err := s.server.tables.Tables(ns)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, t := range tables {
		if t.Kind == catalog.View {
			rows = append(rows, tableRow(t))
		}
	}
	for _, v := range s.tempViews(ns) {
		rows = append(rows, viewRow(v[1].(string), v[0].(string)))
	}
	return plan.LocalRows(tableColumns, filterRows(rows, 0, pattern))
}
