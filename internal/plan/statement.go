package plan

import "github.com/millrace/millrace/types"

// Statement is what a SQL text asks for: a query or a command. Names are unresolved.
type Statement interface{ statement() }

// Query runs a query and gives its rows.
type Query struct{ Plan Node }

// CreateView makes a temporary or a permanent view of a query.
type CreateView struct {
	Name        []string
	Columns     []ViewColumn // nil: those of the query
	Temp        bool
	Global      bool // a global temporary view; Temp is set, too
	Replace     bool
	IfNotExists bool
	Comment     string
	Properties  map[string]string
	Collation   string
	SchemaMode  string // of WITH SCHEMA: "BINDING", "COMPENSATION", "TYPE EVOLUTION", "EVOLUTION", or ""
	Query       Node
	Text        string // the query as written
}

// ViewColumn is a column of a view.
type ViewColumn struct{ Name, Comment string }

// CreateViewUsing makes a temporary view of a data source.
type CreateViewUsing struct {
	Name    []string
	Global  bool
	Replace bool
	Schema  *types.StructType // nil: the source's own
	Format  string
	Options map[string]string
}

// DropView removes a view.
type DropView struct {
	Name     []string
	IfExists bool
}

// ColumnDef is a column of CREATE TABLE. Comments are in the field's metadata.
type ColumnDef struct {
	Field types.Field
	// Default and Generated are expressions, with their texts; nil for none.
	Default, Generated         Expr
	DefaultText, GeneratedText string
	// Refused names what the column has that no table of the engine has: "identity columns", "CONSTRAINT", or "".
	Refused string
}

// Partitioning is a partitioning: a column, or a function of one such as bucket(16, id).
type Partitioning struct {
	Name   string // "identity" for a column
	Args   []Expr
	Sorted []*SortOrder // of buckets
}

// CreateTable makes a table, of a query's rows when Query is set.
type CreateTable struct {
	Name        []string
	IfNotExists bool
	Replace     bool // CREATE OR REPLACE TABLE, or REPLACE TABLE
	MustExist   bool // REPLACE TABLE without CREATE
	External    bool
	Hive        bool // STORED AS, ROW FORMAT and the like
	Constrained bool // a constraint on the table
	Collation   string
	Columns     []ColumnDef
	Format      string // "" for the default
	Options     map[string]string
	Partitions  []Partitioning
	ClusterBy   [][]string
	Location    string
	Comment     string
	Properties  map[string]string
	Query       Node
}

// DropTable removes a table.
type DropTable struct {
	Name     []string
	IfExists bool
	Purge    bool
}

// Insert writes a query's rows to a table.
type Insert struct {
	Table     Node // a Named, with its options
	Overwrite bool
	// IfNotExists leaves a partition alone that is there already.
	IfNotExists bool
	ByName      bool
	Columns     []string // nil: all, in order
	// Partition are the columns of PARTITION (...), a nil value for those that take theirs from the query.
	Partition []PartitionValue
	// ReplaceWhere are the rows that INSERT INTO ... REPLACE WHERE replaces.
	ReplaceWhere Expr
	Query        Node
	Origin       Origin // all but the query
}

// PartitionValue is a partition column with its value.
type PartitionValue struct {
	Name  string
	Value Expr
}

// SetConf sets a configuration value.
type SetConf struct{ Key, Value string }

// ShowConf lists configuration values: all that were set, all there are with their meaning (Verbose), or that of Key.
type ShowConf struct {
	Key     string
	Verbose bool
}

// ResetConf takes back what SET did, for one key or for all.
type ResetConf struct{ Key string }

// SetTimeZone is SET TIME ZONE. Zone is a name, "LOCAL", or empty when Offset is set.
type SetTimeZone struct {
	Zone   string
	Offset *types.DayTime
}

// ShowTables lists tables and views of a database. Extended asks for details.
type ShowTables struct {
	Namespace []string // nil: the current one
	Pattern   string
	Extended  bool
	Partition []PartitionValue
}

// ShowViews lists views.
type ShowViews struct {
	Namespace []string
	Pattern   string
}

// ShowNamespaces lists databases.
type ShowNamespaces struct {
	In      []string
	Pattern string
}

// ShowCurrentNamespace tells the current catalog and database.
type ShowCurrentNamespace struct{}

// ShowCatalogs lists catalogs.
type ShowCatalogs struct{ Pattern string }

// ShowColumns lists a table's columns.
type ShowColumns struct {
	Table     []string
	Namespace []string
	Origin    Origin
}

// ShowFunctions lists functions. Scope is "ALL", "SYSTEM" or "USER".
type ShowFunctions struct {
	Scope     string
	Namespace []string
	Pattern   string
}

// ShowProperties lists a table's properties, or one of them.
type ShowProperties struct {
	Table  []string
	Key    string
	Origin Origin
}

// ShowCreateTable gives the statement that makes a table.
type ShowCreateTable struct {
	Table  []string
	Serde  bool
	Origin Origin
}

// ShowPartitions lists a table's partitions.
type ShowPartitions struct {
	Table     []string
	Partition []PartitionValue
}

// DescribeTable gives a table's columns, or one of them.
type DescribeTable struct {
	Table     []string
	Extended  bool
	Column    []string
	Partition []PartitionValue
	JSON      bool
	Origin    Origin
}

// DescribeQuery gives a query's columns.
type DescribeQuery struct{ Query Node }

// DescribeFunction explains a function.
type DescribeFunction struct {
	Name     []string
	Extended bool
	Origin   Origin
}

// DescribeNamespace describes a database.
type DescribeNamespace struct {
	Name     []string
	Extended bool
}

// Explain shows how a statement would run. Mode is "SIMPLE", "EXTENDED", "CODEGEN", "COST" or "FORMATTED".
type Explain struct {
	Mode      string
	Statement Statement
}

// UseNamespace changes the current database, and catalog.
type UseNamespace struct{ Name []string }

// SetCatalog changes the current catalog.
type SetCatalog struct{ Name string }

// CreateNamespace makes a database.
type CreateNamespace struct {
	Name        []string
	IfNotExists bool
	Comment     string
	Location    *string
	Properties  map[string]string
	Collation   string
}

// DropNamespace removes a database.
type DropNamespace struct {
	Name     []string
	IfExists bool
	Cascade  bool
}

// CacheTable keeps a table's or a query's rows in memory.
type CacheTable struct {
	Name    []string
	Lazy    bool
	Options map[string]string
	Query   Node // nil: an existing table
	Origin  Origin
}

// UncacheTable drops kept rows.
type UncacheTable struct {
	Name     []string
	IfExists bool
	Origin   Origin
}

// ClearCache drops all kept rows.
type ClearCache struct{}

// RefreshTable looks at a table's files again.
type RefreshTable struct {
	Name   []string
	Origin Origin
}

// RefreshPath looks at the files below a path again.
type RefreshPath struct{ Path string }

// Truncate removes all rows of a table or a partition.
type Truncate struct {
	Table     []string
	Partition []PartitionValue
	Origin    Origin
}

func (*Query) statement()                {}
func (*CreateView) statement()           {}
func (*CreateViewUsing) statement()      {}
func (*DropView) statement()             {}
func (*CreateTable) statement()          {}
func (*DropTable) statement()            {}
func (*Insert) statement()               {}
func (*SetConf) statement()              {}
func (*ShowConf) statement()             {}
func (*ResetConf) statement()            {}
func (*SetTimeZone) statement()          {}
func (*ShowTables) statement()           {}
func (*ShowViews) statement()            {}
func (*ShowNamespaces) statement()       {}
func (*ShowCatalogs) statement()         {}
func (*ShowCurrentNamespace) statement() {}
func (*ShowColumns) statement()          {}
func (*ShowFunctions) statement()        {}
func (*ShowProperties) statement()       {}
func (*ShowCreateTable) statement()      {}
func (*ShowPartitions) statement()       {}
func (*DescribeTable) statement()        {}
func (*DescribeQuery) statement()        {}
func (*DescribeFunction) statement()     {}
func (*DescribeNamespace) statement()    {}
func (*Explain) statement()              {}
func (*UseNamespace) statement()         {}
func (*SetCatalog) statement()           {}
func (*CreateNamespace) statement()      {}
func (*DropNamespace) statement()        {}
func (*CacheTable) statement()           {}
func (*UncacheTable) statement()         {}
func (*ClearCache) statement()           {}
func (*RefreshTable) statement()         {}
func (*RefreshPath) statement()          {}
func (*Truncate) statement()             {}
