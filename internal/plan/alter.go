package plan

import "github.com/millrace/millrace/types"

// TableName is the name of a table or view in a statement, with its place.
type TableName struct {
	Parts  []string
	Origin Origin
}

// AlterTable changes a table or, when View is set, a view.
type AlterTable struct {
	Table  TableName
	View   bool
	Change Change
	Origin Origin // the statement
}

// Change is what ALTER TABLE and ALTER VIEW do.
type Change interface{ change() }

// RenameTo gives a table or view another name.
type RenameTo struct{ Name []string }

// SetProperties sets properties; those of the database's or the table's storage when Serde is set.
type SetProperties struct {
	Properties map[string]string
	Serde      bool
	Partition  []PartitionValue
}

// SetSerde is SET SERDE, which tables of this engine refuse.
type SetSerde struct{ Class string }

// UnsetProperties removes properties.
type UnsetProperties struct {
	Keys     []string
	IfExists bool
}

// SetLocation moves a table, or a partition of it, to other files.
type SetLocation struct {
	Location  string
	Partition []PartitionValue
}

// NewColumn is a column that ALTER TABLE adds.
type NewColumn struct {
	Path []string // the columns around it, and its own name
	ColumnDef
	First  bool
	After  string
	Origin Origin
}

// AddColumns adds columns behind those that are there, or replaces all of them.
type AddColumns struct {
	Columns []NewColumn
	Replace bool
}

// RenameColumn gives a column another name.
type RenameColumn struct {
	Column []string
	Name   string
}

// DropColumns removes columns.
type DropColumns struct {
	Columns  [][]string
	IfExists bool
}

// ColumnChange is what ALTER COLUMN does to one column.
type ColumnChange struct {
	Column      []string
	Type        types.DataType // nil: unchanged
	Comment     *string
	Null        *bool // SET NOT NULL, DROP NOT NULL
	Default     Expr  // nil: unchanged
	DefaultText string
	DropDefault bool
	First       bool
	After       string
}

// AlterColumns changes columns.
type AlterColumns struct{ Columns []ColumnChange }

// AddPartitions makes partitions.
type AddPartitions struct {
	IfNotExists bool
	Partitions  []NewPartition
}

// NewPartition is a partition with its place, or "".
type NewPartition struct {
	Spec     []PartitionValue
	Location string
}

// DropPartitions removes partitions and their rows.
type DropPartitions struct {
	Specs    [][]PartitionValue
	IfExists bool
	Purge    bool
}

// RenamePartition gives a partition other values.
type RenamePartition struct{ From, To []PartitionValue }

// RecoverPartitions looks for partitions among the files.
type RecoverPartitions struct{}

// SetClustering is CLUSTER BY (columns), or NONE when there are none.
type SetClustering struct{ Columns [][]string }

// SetCollation is DEFAULT COLLATION.
type SetCollation struct{ Collation string }

// RefusedChange is a change that no table of the engine takes, by the words that messages use.
type RefusedChange struct{ Operation string }

// SetViewQuery is ALTER VIEW v AS query.
type SetViewQuery struct {
	Query Node
	Text  string
}

// SetViewBinding is ALTER VIEW v WITH SCHEMA mode.
type SetViewBinding struct{ Mode string }

func (*RenameTo) change()          {}
func (*SetProperties) change()     {}
func (*SetSerde) change()          {}
func (*UnsetProperties) change()   {}
func (*SetLocation) change()       {}
func (*AddColumns) change()        {}
func (*RenameColumn) change()      {}
func (*DropColumns) change()       {}
func (*AlterColumns) change()      {}
func (*AddPartitions) change()     {}
func (*DropPartitions) change()    {}
func (*RenamePartition) change()   {}
func (*RecoverPartitions) change() {}
func (*SetClustering) change()     {}
func (*SetCollation) change()      {}
func (*RefusedChange) change()     {}
func (*SetViewQuery) change()      {}
func (*SetViewBinding) change()    {}

// AlterNamespace changes a database: properties that are set or removed, its place, its collation.
type AlterNamespace struct {
	Name      []string
	Set       map[string]string
	Unset     []string
	Location  *string
	Collation string
}

// CommentOn sets the comment of a table, or of a database when Namespace is set. Nil removes it.
type CommentOn struct {
	Name      TableName
	Namespace bool
	Comment   *string
}

// CreateTableLike makes a table with the columns of another table or view.
type CreateTableLike struct {
	Name        []string
	Source      TableName
	IfNotExists bool
	Format      string
	Location    string
	Properties  map[string]string
}

// InsertDirectory writes a query's rows to a directory.
type InsertDirectory struct {
	Local   bool
	Path    string
	Format  string // "" for Hive's, which is refused
	Options map[string]string
	Query   Node
}

// Inserts writes the rows of several queries over one relation, in turn.
type Inserts struct{ Each []*Insert }

// LoadData is LOAD DATA, which tables of this engine refuse.
type LoadData struct {
	Table TableName
}

// AddResource is ADD JAR, FILE or ARCHIVE; ListResources lists what was added.
type AddResource struct {
	Kind  string // "JAR", "FILE", "ARCHIVE"
	Paths []string
}

// ListResources is LIST JARS, FILES or ARCHIVES.
type ListResources struct {
	Kind  string
	Paths []string
}

// ShowCollations lists collations.
type ShowCollations struct{ Pattern string }

// RefreshFunction is REFRESH FUNCTION.
type RefreshFunction struct {
	Name   []string
	Origin Origin
}

func (*AlterTable) statement()      {}
func (*AlterNamespace) statement()  {}
func (*CommentOn) statement()       {}
func (*CreateTableLike) statement() {}
func (*InsertDirectory) statement() {}
func (*Inserts) statement()         {}
func (*LoadData) statement()        {}
func (*AddResource) statement()     {}
func (*ListResources) statement()   {}
func (*ShowCollations) statement()  {}
func (*RefreshFunction) statement() {}

// ChangeName is a change by the name that messages have for it, behind "ALTER TABLE ... " or "ALTER VIEW ... ".
func ChangeName(c Change) string {
	switch c := c.(type) {
	case *AddColumns:
		if c.Replace {
			return "REPLACE COLUMNS"
		}
		return "ADD COLUMNS"
	case *RenameColumn:
		return "RENAME COLUMN"
	case *DropColumns:
		return "DROP COLUMNS"
	case *AlterColumns:
		return "ALTER COLUMN"
	case *SetProperties:
		if c.Serde {
			return "SET [SERDE|SERDEPROPERTIES]"
		}
		return "SET TBLPROPERTIES"
	case *SetSerde:
		return "SET [SERDE|SERDEPROPERTIES]"
	case *UnsetProperties:
		return "UNSET TBLPROPERTIES"
	case *SetLocation:
		return "SET LOCATION"
	case *AddPartitions:
		return "ADD PARTITION"
	case *DropPartitions:
		return "DROP PARTITION"
	case *RenamePartition:
		return "RENAME PARTITION"
	case *RecoverPartitions:
		return "RECOVER PARTITIONS"
	case *SetClustering:
		return "CLUSTER BY"
	case *SetCollation:
		return "DEFAULT COLLATION"
	case *RefusedChange:
		return c.Operation
	case *SetViewBinding:
		return "WITH SCHEMA"
	case *SetViewQuery:
		return "AS"
	}
	return "RENAME TO"
}
