package millrace

import (
	"context"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// Catalog looks after databases, tables, views and functions. A name may be qualified: "db.table". Errors are Spark's, such as
// TABLE_OR_VIEW_NOT_FOUND. Where a method takes a pattern, * stands for any text, | parts alternatives, and an empty pattern is for all.
type Catalog struct{ s *Session }

// Catalog is the session's catalog.
func (s *Session) Catalog() Catalog { return Catalog{s} }

// TableInfo describes a table or view.
type TableInfo struct {
	Name        string
	Catalog     *string
	Namespace   []string
	Description *string
	TableType   string // MANAGED, EXTERNAL, VIEW or TEMPORARY
	IsTemporary bool
}

// DatabaseInfo describes a database.
type DatabaseInfo struct {
	Name        string
	Catalog     *string
	Description *string
	LocationURI string `millrace:"locationUri"`
}

// CatalogInfo describes a catalog.
type CatalogInfo struct {
	Name        string
	Description *string
}

// FunctionInfo describes a function.
type FunctionInfo struct {
	Name        string
	Catalog     *string
	Namespace   []string
	Description *string
	ClassName   string
	IsTemporary bool
}

// ColumnInfo describes a column of a table or view.
type ColumnInfo struct {
	Name        string
	Description *string
	DataType    string // as DDL
	Nullable    bool
	IsPartition bool
	IsBucket    bool
	IsCluster   bool
}

// TableDefinition is what CreateTable makes.
type TableDefinition struct {
	// Format is parquet and others; empty for the session's default.
	Format string
	// Path is where the rows are, or will be. A table with a path is external: dropping it leaves them there.
	Path string
	// Schema may be left out for rows that are there and tell it.
	Schema types.StructType
	// Description is a comment on the table.
	Description string
	// Options are those of the format.
	Options map[string]string
}

func (c Catalog) frame(m *connectpb.Catalog) *DataFrame {
	return newDataFrame(c.s, &connectpb.Relation{RelType: &connectpb.Relation_Catalog{Catalog: m}})
}

// only runs a catalog relation whose result is a single value.
func only[T any](ctx context.Context, c Catalog, m *connectpb.Catalog) (T, error) {
	r, err := c.frame(m).single(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return getAt[T](r, 0)
}

// list runs a catalog relation whose result is a list.
func list[T any](ctx context.Context, c Catalog, m *connectpb.Catalog) ([]T, error) {
	return CollectAs[T](ctx, c.frame(m))
}

// item runs a catalog relation whose result is one description.
func item[T any](ctx context.Context, c Catalog, m *connectpb.Catalog) (T, error) {
	d := c.frame(m)
	if d.err == nil {
		for v, err := range RowsAs[T](ctx, d) {
			return v, err
		}
	}
	var none T
	return none, firstError(d.err, ErrNoRows)
}

// run runs a catalog relation for what it does.
func (c Catalog) run(ctx context.Context, m *connectpb.Catalog) error {
	_, err := c.frame(m).Collect(ctx)
	return err
}

// given is an optional field: nil for an empty text.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// CurrentCatalog is the catalog that names without one refer to.
func (c Catalog) CurrentCatalog(ctx context.Context) (string, error) {
	return only[string](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_CurrentCatalog{CurrentCatalog: &connectpb.CurrentCatalog{}}})
}

// SetCurrentCatalog changes what CurrentCatalog says.
func (c Catalog) SetCurrentCatalog(ctx context.Context, name string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_SetCurrentCatalog{SetCurrentCatalog: &connectpb.SetCurrentCatalog{CatalogName: name}}})
}

// ListCatalogs lists the catalogs that have been used.
func (c Catalog) ListCatalogs(ctx context.Context, pattern string) ([]CatalogInfo, error) {
	return list[CatalogInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_ListCatalogs{ListCatalogs: &connectpb.ListCatalogs{Pattern: given(pattern)}}})
}

// CurrentDatabase is the database that names without one refer to.
func (c Catalog) CurrentDatabase(ctx context.Context) (string, error) {
	return only[string](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_CurrentDatabase{CurrentDatabase: &connectpb.CurrentDatabase{}}})
}

// SetCurrentDatabase changes what CurrentDatabase says.
func (c Catalog) SetCurrentDatabase(ctx context.Context, name string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_SetCurrentDatabase{SetCurrentDatabase: &connectpb.SetCurrentDatabase{DbName: name}}})
}

// ListDatabases lists the databases of the current catalog.
func (c Catalog) ListDatabases(ctx context.Context, pattern string) ([]DatabaseInfo, error) {
	return list[DatabaseInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_ListDatabases{ListDatabases: &connectpb.ListDatabases{Pattern: given(pattern)}}})
}

// GetDatabase describes a database.
func (c Catalog) GetDatabase(ctx context.Context, name string) (DatabaseInfo, error) {
	return item[DatabaseInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_GetDatabase{GetDatabase: &connectpb.GetDatabase{DbName: name}}})
}

// DatabaseExists tells whether there is a database of that name.
func (c Catalog) DatabaseExists(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_DatabaseExists{DatabaseExists: &connectpb.DatabaseExists{DbName: name}}})
}

// CreateDatabase makes a database. One that is there already is an error, unless ifNotExists is set.
func (c Catalog) CreateDatabase(ctx context.Context, name string, ifNotExists bool, properties map[string]string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_CreateDatabase{
		CreateDatabase: &connectpb.CreateDatabase{DbName: name, IfNotExists: ifNotExists, Properties: properties},
	}})
}

// DropDatabase drops a database. One that is not there is an error, unless ifExists is set; so is one that holds tables, unless cascade is
// set, which drops them too.
func (c Catalog) DropDatabase(ctx context.Context, name string, ifExists, cascade bool) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_DropDatabase{
		DropDatabase: &connectpb.DropDatabase{DbName: name, IfExists: ifExists, Cascade: cascade},
	}})
}

// ListFunctions lists the functions of a database, or of the current one for an empty name, and the temporary and built-in ones.
func (c Catalog) ListFunctions(ctx context.Context, database, pattern string) ([]FunctionInfo, error) {
	return list[FunctionInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_ListFunctions{
		ListFunctions: &connectpb.ListFunctions{DbName: given(database), Pattern: given(pattern)},
	}})
}

// GetFunction describes a function.
func (c Catalog) GetFunction(ctx context.Context, name string) (FunctionInfo, error) {
	return item[FunctionInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_GetFunction{GetFunction: &connectpb.GetFunction{FunctionName: name}}})
}

// FunctionExists tells whether there is a function of that name.
func (c Catalog) FunctionExists(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_FunctionExists{FunctionExists: &connectpb.FunctionExists{FunctionName: name}}})
}

// ListTables lists the tables and views of a database, or of the current one for an empty name, and the temporary views.
func (c Catalog) ListTables(ctx context.Context, database, pattern string) ([]TableInfo, error) {
	return list[TableInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_ListTables{
		ListTables: &connectpb.ListTables{DbName: given(database), Pattern: given(pattern)},
	}})
}

// ListViews is ListTables of views only.
func (c Catalog) ListViews(ctx context.Context, database, pattern string) ([]TableInfo, error) {
	return list[TableInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_ListViews{
		ListViews: &connectpb.ListViews{DbName: given(database), Pattern: given(pattern)},
	}})
}

// GetTable describes a table or view.
func (c Catalog) GetTable(ctx context.Context, name string) (TableInfo, error) {
	return item[TableInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_GetTable{GetTable: &connectpb.GetTable{TableName: name}}})
}

// TableExists tells whether there is a table or view of that name.
func (c Catalog) TableExists(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_TableExists{TableExists: &connectpb.TableExists{TableName: name}}})
}

// ListColumns lists the columns of a table or view.
func (c Catalog) ListColumns(ctx context.Context, table string) ([]ColumnInfo, error) {
	return list[ColumnInfo](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_ListColumns{ListColumns: &connectpb.ListColumns{TableName: table}}})
}

// ListPartitions lists the partitions of a table, each in the form "day=2026-01-02/hour=3".
func (c Catalog) ListPartitions(ctx context.Context, table string) ([]string, error) {
	return list[string](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_ListPartitions{ListPartitions: &connectpb.ListPartitions{TableName: table}}})
}

// TableProperties are the properties of a table.
func (c Catalog) TableProperties(ctx context.Context, table string) (map[string]string, error) {
	rows, err := c.frame(&connectpb.Catalog{CatType: &connectpb.Catalog_GetTableProperties{
		GetTableProperties: &connectpb.GetTableProperties{TableName: table},
	}}).Collect(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		key, err := getAt[string](r, 0)
		if err != nil {
			return nil, err
		}
		if out[key], err = getAt[string](r, 1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CreateTableText is the CREATE TABLE statement that makes a table as it is.
func (c Catalog) CreateTableText(ctx context.Context, table string) (string, error) {
	return only[string](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_GetCreateTableString{
		GetCreateTableString: &connectpb.GetCreateTableString{TableName: table},
	}})
}

// CreateTable makes a table, which must not be there yet, and returns it.
func (c Catalog) CreateTable(ctx context.Context, name string, t TableDefinition) (*DataFrame, error) {
	m := &connectpb.CreateTable{
		TableName: name, Path: given(t.Path), Source: given(t.Format), Description: given(t.Description), Options: t.Options,
	}
	if len(t.Schema.Fields) > 0 {
		m.Schema = typepb.Message(t.Schema)
	}
	if err := c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_CreateTable{CreateTable: m}}); err != nil {
		return nil, err
	}
	return c.s.Table(name), nil
}

// DropTable drops a table. One that is not there is an error, unless ifExists is set.
func (c Catalog) DropTable(ctx context.Context, name string, ifExists bool) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_DropTable{DropTable: &connectpb.DropTable{TableName: name, IfExists: ifExists}}})
}

// DropView drops a view that is not temporary. One that is not there is an error, unless ifExists is set.
func (c Catalog) DropView(ctx context.Context, name string, ifExists bool) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_DropView{DropView: &connectpb.DropView{ViewName: name, IfExists: ifExists}}})
}

// DropTempView drops a temporary view and tells whether there was one.
func (c Catalog) DropTempView(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_DropTempView{DropTempView: &connectpb.DropTempView{ViewName: name}}})
}

// DropGlobalTempView drops a view of all sessions and tells whether there was one.
func (c Catalog) DropGlobalTempView(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{
		CatType: &connectpb.Catalog_DropGlobalTempView{DropGlobalTempView: &connectpb.DropGlobalTempView{ViewName: name}},
	})
}

// TruncateTable drops all rows of a table.
func (c Catalog) TruncateTable(ctx context.Context, name string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_TruncateTable{TruncateTable: &connectpb.TruncateTable{TableName: name}}})
}

// AnalyzeTable collects statistics of a table: its size and, unless noScan is set, the number of its rows.
func (c Catalog) AnalyzeTable(ctx context.Context, name string, noScan bool) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_AnalyzeTable{AnalyzeTable: &connectpb.AnalyzeTable{TableName: name, NoScan: noScan}}})
}

// RecoverPartitions looks for partitions of a table that were made behind the catalog's back.
func (c Catalog) RecoverPartitions(ctx context.Context, name string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_RecoverPartitions{RecoverPartitions: &connectpb.RecoverPartitions{TableName: name}}})
}

// IsCached tells whether the rows of a table or view are kept.
func (c Catalog) IsCached(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_IsCached{IsCached: &connectpb.IsCached{TableName: name}}})
}

// CacheTable keeps the rows of a table or view after they have been read for the first time.
func (c Catalog) CacheTable(ctx context.Context, name string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_CacheTable{CacheTable: &connectpb.CacheTable{TableName: name}}})
}

// UncacheTable drops what CacheTable keeps.
func (c Catalog) UncacheTable(ctx context.Context, name string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_UncacheTable{UncacheTable: &connectpb.UncacheTable{TableName: name}}})
}

// ClearCache drops all rows that are kept.
func (c Catalog) ClearCache(ctx context.Context) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_ClearCache{ClearCache: &connectpb.ClearCache{}}})
}

// RefreshTable drops what is kept of a table's rows and files, so that they are looked at again.
func (c Catalog) RefreshTable(ctx context.Context, name string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_RefreshTable{RefreshTable: &connectpb.RefreshTable{TableName: name}}})
}

// RefreshByPath is RefreshTable for everything that reads below a path.
func (c Catalog) RefreshByPath(ctx context.Context, path string) error {
	return c.run(ctx, &connectpb.Catalog{CatType: &connectpb.Catalog_RefreshByPath{RefreshByPath: &connectpb.RefreshByPath{Path: path}}})
}
